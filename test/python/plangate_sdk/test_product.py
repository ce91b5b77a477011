"""Both clients of the package against the running product."""

from __future__ import annotations

import asyncio
import hashlib
import uuid
from typing import Any, Callable

import pytest
from plangate import (
    AsyncPlangate,
    AuthenticationError,
    BadRequestError,
    ConflictError,
    Event,
    NotFoundError,
    PermissionDeniedError,
    Plangate,
    RateLimitError,
    TaskEndedError,
    TaskStatus,
)

from product import Product, until

QUERY = "What causes tides and how are they predicted?"
REVIEWED = {"require_review": True}


def finish(client: Plangate, task_id: str) -> Any:  # noqa: ANN401
    return client.wait(task_id, timeout=60, poll_interval=0.1)


def test_a_task_goes_from_submit_to_the_cited_report(client: Plangate) -> None:
    handle = client.submit_task(QUERY, context=REVIEWED, research_strategy="quick", session_id=f"s-{uuid.uuid4()}")
    first = client.wait_for_review(handle.workflow_id)
    second = client.submit_review_feedback(handle.workflow_id, "Focus on tide tables", version=first.version)
    edited = client.edit_review(handle.workflow_id, second.current_plan + "\nBe brief.", version=second.version)
    extended = client.extend_review(handle.workflow_id, 60, version=edited.version)
    approval = client.approve_review(handle.workflow_id, version=extended.version)
    task = finish(client, handle.task_id)

    assert (first.status, first.round, first.version, first.intent) == ("reviewing", 1, 1, "ready")
    assert (second.round, second.version, second.plan.intent) == (2, 2, "ready")
    assert [r.role for r in second.rounds] == ["assistant", "user", "assistant"]
    assert (edited.version, edited.current_plan) == (3, second.current_plan + "\nBe brief.")
    assert (extended.expires_at - edited.expires_at).total_seconds() == 60
    assert (approval.status, approval.message) == ("approved", "Research started")
    assert (task.status, task.error) == (TaskStatus.COMPLETED, "")
    assert "[1]" in task.result
    assert [citation.n for citation in task.citations] == list(range(1, len(task.citations) + 1))
    assert task.citations[0].title == "Tide tables"
    assert task.citations[0].passage_id
    assert task.metadata["plan_sha256"] == hashlib.sha256(edited.current_plan.encode()).hexdigest()
    assert task.session_id == handle.session_id
    assert task.completed_at

    versions = client.get_review_versions(handle.workflow_id)
    assert [(v.version, v.author) for v in versions] == [(1, "assistant"), (2, "assistant"), (3, "user")]
    diff = client.get_review_diff(handle.workflow_id, 2, 3)
    assert (diff.from_version, diff.to_version) == (2, 3)
    assert "".join(c.text for c in diff.changes if c.op != "delete") == edited.current_plan
    audit = client.get_review_audit(handle.workflow_id)
    assert {"feedback", "edit", "extend", "approve"} <= {entry.action for entry in audit}
    decided = client.get_review_state(handle.workflow_id)
    assert decided.decision
    assert decided.decision.action == "approve"


def test_a_plan_is_rejected_with_its_reason(client: Plangate) -> None:
    handle = client.submit_task(QUERY, context=REVIEWED)
    review = client.get_review_state(handle.workflow_id)

    rejected = client.reject_review(handle.workflow_id, "too broad", version=review.version)
    task = finish(client, handle.task_id)

    assert rejected.status == "rejected"
    assert (task.status, task.error) == (TaskStatus.CANCELLED, "research plan rejected: too broad")
    with pytest.raises(ConflictError, match="Review is closed: rejected"):
        client.approve_review(handle.workflow_id)


def test_a_stale_version_is_a_conflict_that_names_the_new_one(client: Plangate) -> None:
    handle = client.submit_task(QUERY, context=REVIEWED)
    client.get_review_state(handle.workflow_id)
    client.submit_review_feedback(handle.workflow_id, "Focus on tide tables", version=1)

    with pytest.raises(ConflictError) as raised:
        client.approve_review(handle.workflow_id, version=1)

    assert (raised.value.code, raised.value.current_version) == ("version_conflict", 2)
    assert raised.value.request_id


def test_control_pauses_resumes_and_cancels(client: Plangate) -> None:
    handle = client.submit_task(QUERY, context=REVIEWED)
    client.get_review_state(handle.workflow_id)

    assert client.pause_task(handle.task_id, "lunch")
    until(lambda: client.get_control_state(handle.task_id).is_paused)
    paused = client.get_control_state(handle.task_id)
    assert client.resume_task(handle.task_id)
    until(lambda: not client.get_control_state(handle.task_id).is_paused)
    assert client.cancel(handle.task_id, "enough")
    task = finish(client, handle.task_id)

    assert (paused.pause_reason, paused.paused_at is not None) == ("lunch", True)
    assert (task.status, task.error) == (TaskStatus.CANCELLED, "task cancelled: enough")


def test_sessions_are_listed_read_renamed_and_deleted(client: Plangate) -> None:
    session_id = f"session-{uuid.uuid4()}"
    handle = client.submit_task("What is a tide?", session_id=session_id)
    finish(client, handle.task_id)
    until(lambda: client.get_task_timeline(handle.task_id)[-1].type == "STREAM_END")

    assert session_id in [s.session_id for s in client.list_sessions(limit=100)[0]]
    assert client.update_session_title(session_id, "潮汐") == "潮汐"
    assert client.get_session(session_id).title == "潮汐"
    (item,) = client.get_session_history(session_id)
    assert (item.task_id, item.status) == (handle.task_id, "COMPLETED")
    (turn,), count = client.get_session_events(session_id)
    assert (turn.turn, turn.final_output, count) == (1, item.result, 1)
    assert turn.events == client.get_task_timeline(handle.task_id) == client.get_task_events(handle.task_id)
    tasks, total = client.list_tasks(session_id=session_id)
    assert ([t.task_id for t in tasks], total) == ([handle.task_id], 1)
    client.delete_session(session_id)
    client.delete_session(session_id)
    with pytest.raises(NotFoundError, match="Check the id"):
        client.get_session(session_id)


def test_the_gateway_tells_of_itself(client: Plangate) -> None:
    assert client.health()["status"] == "healthy"
    assert client.readiness()["status"] == "ready"
    assert client.get_openapi_spec()["openapi"].startswith("3.1")


def test_the_same_idempotency_key_submits_once(client: Plangate) -> None:
    key = str(uuid.uuid4())
    first = client.submit_task("What is a tide?", idempotency_key=key)
    again = client.submit_task("What is a tide?", idempotency_key=key)
    assert again == first


def test_wait_for_review_says_what_became_of_a_task_without_one(client: Plangate) -> None:
    handle = client.submit_task("What is a tide?")
    finish(client, handle.task_id)
    with pytest.raises(TaskEndedError) as raised:
        client.wait_for_review(handle.workflow_id, timeout=60)
    assert raised.value.task.status is TaskStatus.COMPLETED


def test_a_wrong_submission_says_what_is_wrong(client: Plangate) -> None:
    with pytest.raises(BadRequestError, match=r"did you mean 'context\.require_review'"):
        client.submit_task(QUERY, context={"requireReview": True})


def test_access_is_refused_with_advice(product: Product) -> None:
    with Plangate(product.guarded) as nobody, pytest.raises(AuthenticationError, match="Give the client an api_key"):
        nobody.list_tasks()
    with (
        Plangate(product.guarded, product.keys["ada"]) as ada,
        Plangate(product.guarded, bearer_token=product.keys["bob"]) as bob,
    ):
        handle = ada.submit_task(QUERY, context=REVIEWED)
        ada.get_review_state(handle.workflow_id)
        with pytest.raises(PermissionDeniedError, match="credential of the task's owner"):
            bob.approve_review(handle.workflow_id)
        with pytest.raises(NotFoundError):
            list(bob.stream(handle.workflow_id))


def test_too_many_requests_say_when_to_come_back(product: Product) -> None:
    with Plangate(product.guarded, product.keys["hasty"], max_retries=0) as hasty:
        with pytest.raises(RateLimitError, match=r"Come back in \d+ s\.") as raised:
            [hasty.list_tasks(limit=1) for _ in range(400)]
        assert raised.value.retry_after_seconds is not None
        assert 0 < raised.value.retry_after_seconds <= 60


@pytest.mark.parametrize("how", ["killed", "stopped"])
def test_a_stream_and_a_wait_outlive_a_restart_of_the_gateway(product: Product, how: str) -> None:
    def restart() -> None:
        if how == "killed":
            product.kill_gateway()
        product.restart_gateway()

    events, task = asyncio.run(follow_over(product.open, restart))

    assert [e.seq for e in events] == list(range(1, len(events) + 1))
    assert events[-1].type == "WORKFLOW_COMPLETED"
    assert task.status is TaskStatus.COMPLETED


async def follow_over(url: str, restart: Callable[[], None]) -> tuple[list[Event], Any]:
    """The events of a task whose gateway goes away and comes back while the plan waits for the approval."""
    async with AsyncPlangate(url) as client:
        handle = await client.submit_task(QUERY, context=REVIEWED)
        waiting = asyncio.create_task(client.wait(handle.task_id, timeout=90, poll_interval=0.1))
        events: list[Event] = []
        async for event in client.stream(handle.workflow_id):
            assert isinstance(event, Event)
            events.append(event)
            if event.type == "RESEARCH_PLAN_READY":
                await asyncio.to_thread(restart)
                await client.approve_review(handle.workflow_id)
        return events, await waiting
