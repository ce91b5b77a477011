from __future__ import annotations

import uuid

import pytest
from shannon import SessionNotFoundError, ShannonClient, TaskNotFoundError, ValidationError

from shannon_sdk.tasks import QUERY, REVIEWED, SOON, approve_and_wait, submit_reviewed, wait_for_event


@pytest.fixture
def session_id(client: ShannonClient) -> str:
    """A session with one answered question."""
    session_id = f"session-{uuid.uuid4()}"
    handle = client.submit_task("What is a tide?", session_id=session_id)
    client.wait(handle.task_id, timeout=60, poll_interval=SOON)
    wait_for_event(client, handle.task_id, "STREAM_END")
    return session_id


def test_list_sessions_pages_newest_first(client: ShannonClient, session_id: str) -> None:
    newest, total = client.list_sessions(limit=1)
    second, _ = client.list_sessions(limit=1, offset=1)

    assert [s.session_id for s in newest] == [session_id]
    assert total >= 1
    assert session_id not in [s.session_id for s in second]
    assert (newest[0].message_count, newest[0].successful_tasks, newest[0].failed_tasks) == (1, 1, 0)
    assert newest[0].latest_task_query == "What is a tide?"
    assert newest[0].is_active is True
    assert newest[0].created_at.tzinfo is not None
    assert newest[0].last_activity_at is not None


def test_get_session_tells_what_it_holds(client: ShannonClient, session_id: str) -> None:
    session = client.get_session(session_id)

    assert (session.session_id, session.task_count, session.is_research_session) == (session_id, 1, False)
    assert session.user_id
    assert session.created_at <= session.updated_at


def test_get_session_history_lists_the_tasks_in_their_order(client: ShannonClient, session_id: str) -> None:
    handle = client.submit_task("How are tides predicted?", session_id=session_id)
    client.wait(handle.task_id, timeout=60, poll_interval=SOON)

    history = client.get_session_history(session_id)

    assert [item.query for item in history] == ["What is a tide?", "How are tides predicted?"]
    assert history[1].task_id == handle.task_id
    assert all(item.status == "COMPLETED" and item.result for item in history)
    assert all(item.completed_at and item.completed_at >= item.created_at for item in history)


def test_get_session_events_shows_the_conversation_of_a_review_again(client: ShannonClient) -> None:
    session_id = f"session-{uuid.uuid4()}"
    handle = client.submit_task(QUERY, context=REVIEWED, session_id=session_id)
    client.get_review_state(handle.workflow_id)
    client.submit_review_feedback(handle.workflow_id, "Focus on tide tables")
    done = approve_and_wait(client, handle)
    wait_for_event(client, handle.task_id, "STREAM_END")

    turns, count = client.get_session_events(session_id)

    assert (count, [turn.turn for turn in turns]) == (1, [1])
    turn = turns[0]
    assert (turn.task_id, turn.user_query, turn.final_output) == (handle.task_id, QUERY, done.result)
    types = [event.type for event in turn.events]
    for told in (
        "RESEARCH_PLAN_READY",
        "REVIEW_USER_FEEDBACK",
        "RESEARCH_PLAN_UPDATED",
        "RESEARCH_PLAN_APPROVED",
    ):
        assert types.count(told) == 1
    feedback = turn.events[types.index("REVIEW_USER_FEEDBACK")]
    assert feedback.message == "Focus on tide tables"


def test_update_session_title_is_seen_everywhere(client: ShannonClient, session_id: str) -> None:
    assert client.update_session_title(session_id, "潮汐について") is True

    assert client.get_session(session_id).title == "潮汐について"
    assert client.list_sessions(limit=1)[0][0].title == "潮汐について"
    with pytest.raises(ValidationError):
        client.update_session_title(session_id, "x" * 61)


def test_delete_session_may_be_said_twice(client: ShannonClient, session_id: str) -> None:
    assert client.delete_session(session_id) is True
    assert client.delete_session(session_id) is True

    with pytest.raises(SessionNotFoundError) as error:
        client.get_session(session_id)
    assert str(error.value) == "[404] Session not found"


def test_a_session_of_somebody_else_is_not_found(ada: ShannonClient, bob: ShannonClient) -> None:
    handle, _ = submit_reviewed(ada)
    assert handle.session_id
    assert ada.get_session(handle.session_id).task_count == 1

    for ask in (bob.get_session, bob.get_session_history, bob.get_session_events):
        with pytest.raises(SessionNotFoundError):
            ask(handle.session_id)
    assert handle.session_id not in [s.session_id for s in bob.list_sessions()[0]]
    with pytest.raises(TaskNotFoundError):
        bob.get_status(handle.task_id)
