from __future__ import annotations

import threading
from datetime import timezone

import pytest
from shannon import ShannonClient, TaskNotFoundError, TaskStatusEnum, ValidationError

from shannon_sdk.tasks import QUERY, REVIEWED, SOON, approve_and_wait, submit_reviewed


def test_get_review_state_right_after_submit_waits_for_the_plan(client: ShannonClient) -> None:
    handle = client.submit_task(QUERY, context=REVIEWED)

    state = client.get_review_state(handle.workflow_id)

    assert (state.status, state.round, state.version, state.query) == ("reviewing", 1, 1, QUERY)
    assert state.current_plan
    assert [(r.role, r.message) for r in state.rounds] == [("assistant", state.current_plan)]
    assert state.rounds[0].timestamp is not None
    assert state.rounds[0].timestamp.tzinfo == timezone.utc


def test_submit_review_feedback_answers_with_the_whole_new_state(client: ShannonClient) -> None:
    handle, first = submit_reviewed(client)

    updated = client.submit_review_feedback(
        handle.workflow_id, "Focus on tide tables and add the Moon", version=first.version
    )

    assert (updated.status, updated.round, updated.version, updated.query) == ("reviewing", 2, 2, QUERY)
    assert updated.current_plan
    assert updated.current_plan != first.current_plan
    assert [r.role for r in updated.rounds] == ["assistant", "user", "assistant"]
    assert updated.rounds[2].message == updated.current_plan
    assert client.get_review_state(handle.workflow_id) == updated


@pytest.mark.parametrize(
    "message",
    ["Add an economics section", "knowledge graphs", "I do not like it"],
)
def test_words_in_a_feedback_never_approve(client: ShannonClient, message: str) -> None:
    """P47"""
    handle, _ = submit_reviewed(client)

    assert client.submit_review_feedback(handle.workflow_id, message).status == "reviewing"
    assert client.get_review_state(handle.workflow_id).status == "reviewing"


def test_approve_review_starts_the_research_and_may_be_said_twice(client: ShannonClient) -> None:
    handle, state = submit_reviewed(client)

    approved = client.approve_review(handle.workflow_id, version=state.version)
    again = client.approve_review(handle.workflow_id, version=state.version)

    assert approved == again == {"status": "approved", "message": "Research started"}
    assert client.get_review_state(handle.workflow_id).status == "approved"
    assert client.wait(handle.task_id, timeout=60, poll_interval=SOON).status == TaskStatusEnum.COMPLETED


def test_a_stale_version_is_a_validation_error_409(client: ShannonClient) -> None:
    handle, first = submit_reviewed(client)
    client.submit_review_feedback(handle.workflow_id, "Focus on tide tables", version=first.version)

    with pytest.raises(ValidationError) as feedback:
        client.submit_review_feedback(handle.workflow_id, "Focus on the Moon", version=first.version)
    with pytest.raises(ValidationError) as approve:
        client.approve_review(handle.workflow_id, version=first.version)

    assert str(feedback.value) == "[409] Conflict: state has been modified"
    assert str(approve.value) == "[409] Conflict: plan has been updated. Please review the latest version."
    assert client.get_review_state(handle.workflow_id).version == 2


def test_of_four_feedbacks_at_once_one_is_taken_and_the_others_are_told(client: ShannonClient) -> None:
    handle, state = submit_reviewed(client)
    outcomes: list[str] = []

    def give_feedback(n: int) -> None:
        with ShannonClient(base_url=client._async_client.base_url) as own:
            try:
                own.submit_review_feedback(handle.workflow_id, f"Focus on tide tables {n}", version=state.version)
                outcomes.append("accepted")
            except ValidationError as error:
                outcomes.append(str(error.code))

    threads = [threading.Thread(target=give_feedback, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(outcomes) == ["409", "409", "409", "accepted"]
    review = client.get_review_state(handle.workflow_id)
    assert (review.version, len(review.rounds)) == (2, 3)


def test_feedback_after_the_approval_is_a_validation_error_409(client: ShannonClient) -> None:
    handle, _ = submit_reviewed(client)
    approve_and_wait(client, handle)

    with pytest.raises(ValidationError) as error:
        client.submit_review_feedback(handle.workflow_id, "One thing more")

    assert (error.value.code, error.value.message) == ("409", "Review already approved")


def test_a_blank_feedback_is_a_validation_error_400(client: ShannonClient) -> None:
    handle, _ = submit_reviewed(client)

    with pytest.raises(ValidationError) as error:
        client.submit_review_feedback(handle.workflow_id, " ")

    assert str(error.value) == "[400] message is required for feedback"


def test_a_plan_is_not_approved_while_there_is_none(client: ShannonClient) -> None:
    handle, state = submit_reviewed(client, "量子重力理論の未解決問題")
    assert state.current_plan == ""
    assert state.rounds[-1].message

    with pytest.raises(ValidationError) as error:
        client.approve_review(handle.workflow_id)

    assert error.value.code == "400"
    assert error.value.message.startswith("No research plan to approve.")


def test_an_unknown_review_is_task_not_found(client: ShannonClient) -> None:
    with pytest.raises(TaskNotFoundError) as error:
        client.get_review_state("task-unknown")

    assert str(error.value) == "[404] Review session not found or expired"
