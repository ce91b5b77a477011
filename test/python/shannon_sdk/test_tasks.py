from __future__ import annotations

from datetime import datetime, timezone

import httpx
import pytest
from shannon import ConnectionError, EventType, ShannonClient, TaskStatusEnum

from product import Product, until
from shannon_sdk.tasks import QUERY, REVIEWED, SOON, approve_and_wait, submit_reviewed, wait_for_event


def test_submit_task_answers_with_a_handle_that_waits_and_gives_the_result(client: ShannonClient) -> None:
    handle = client.submit_task("What is a tide?", session_id="session-of-a-handle", mode="simple")

    assert handle.task_id.startswith("task-")
    assert handle.workflow_id == handle.task_id
    assert handle.session_id == "session-of-a-handle"
    assert client.wait(handle.task_id, timeout=60, poll_interval=SOON).result


def test_submit_task_takes_every_option(client: ShannonClient) -> None:
    handle = client.submit_task(
        QUERY,
        context={"force_research": True, "research_strategy": "quick", "max_iterations": 3, "team": "blue"},
        idempotency_key="every-option",
        traceparent="00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        model_tier="small",
        model_override="offline-extractive",
        provider_override="offline",
        mode="standard",
        force_swarm=True,
    )

    task = client.wait(handle.task_id, timeout=60, poll_interval=SOON)
    assert (task.status, task.error_message) == (TaskStatusEnum.COMPLETED, "")
    assert task.context is not None
    assert task.context["team"] == "blue"
    assert task.provider == "offline"


def test_submit_and_stream_answers_with_a_handle_and_the_address_of_the_stream(
    product: Product, client: ShannonClient
) -> None:
    handle, stream_url = client.submit_and_stream("What is a tide?")

    assert stream_url == f"/api/v1/stream/sse?workflow_id={handle.workflow_id}"
    assert handle.session_id
    types = [event.type for event in client.stream(handle.workflow_id)]
    assert types[0] == EventType.WORKFLOW_STARTED
    assert types[-1] == EventType.STREAM_END
    assert httpx.get(f"{product.open}{stream_url}", timeout=30).status_code == 200


def test_get_status_tells_all_of_a_task_from_review_to_report(client: ShannonClient) -> None:
    handle, _ = submit_reviewed(client)
    during = client.get_status(handle.task_id)
    assert (during.status, during.result, during.error_message) == (TaskStatusEnum.RUNNING, None, "")

    done = approve_and_wait(client, handle)

    assert done.status == TaskStatusEnum.COMPLETED
    assert done.workflow_id == handle.workflow_id
    assert done.query == QUERY
    assert done.session_id == handle.session_id
    assert "[1]" in (done.result or "")
    assert done.error_message == ""
    assert done.created_at is not None
    assert done.updated_at is not None
    assert done.created_at.tzinfo == timezone.utc
    assert done.created_at <= done.updated_at <= datetime.now(timezone.utc)
    assert done.context is not None
    assert done.context["confirmed_plan"]
    assert set(done.usage or {}) == {"input_tokens", "output_tokens", "total_tokens", "estimated_cost"}
    assert (done.metadata or {})["citations"]


def test_list_tasks_pages_and_filters(client: ShannonClient) -> None:
    session = "session-of-a-list"
    ids = [client.submit_task("What is a tide?", session_id=session).task_id for _ in range(3)]
    for task_id in ids:
        client.wait(task_id, timeout=60, poll_interval=SOON)

    tasks, total = client.list_tasks(session_id=session, limit=2)
    assert ([task.task_id for task in tasks], total) == ([ids[2], ids[1]], 3)
    tasks, total = client.list_tasks(session_id=session, limit=2, offset=2)
    assert ([task.task_id for task in tasks], total) == ([ids[0]], 3)
    assert tasks[0].completed_at is not None
    assert tasks[0].completed_at >= tasks[0].created_at
    assert tasks[0].total_token_usage is not None
    assert client.list_tasks(session_id=session, status="COMPLETED")[1] == 3
    assert client.list_tasks(session_id=session, status="FAILED") == ([], 0)


def test_get_task_events_and_get_task_timeline_tell_the_same_story(client: ShannonClient) -> None:
    handle, _ = submit_reviewed(client)
    approve_and_wait(client, handle)
    wait_for_event(client, handle.task_id, "STREAM_END")

    events = client.get_task_events(handle.task_id)
    timeline = client.get_task_timeline(handle.task_id)

    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    assert events[1].type == "RESEARCH_PLAN_READY"
    assert events[1].agent_id == "planner"
    assert all(event.workflow_id == handle.workflow_id and event.stream_id for event in events)
    assert timeline["workflow_id"] == handle.workflow_id
    assert [event["stream_id"] for event in timeline["events"]] == [event.stream_id for event in events]


def test_cancel_ends_a_task_in_review_and_may_be_said_twice(client: ShannonClient) -> None:
    handle, _ = submit_reviewed(client)

    assert client.cancel(handle.task_id, reason="changed my mind") is True
    assert client.cancel(handle.task_id) is True

    ended = client.wait(handle.task_id, timeout=60, poll_interval=SOON)
    assert ended.status == TaskStatusEnum.CANCELLED
    assert ended.error_message == "task cancelled: changed my mind"
    state = client.get_control_state(handle.task_id)
    assert (state.is_cancelled, state.cancel_reason) == (True, "changed my mind")
    assert state.cancelled_by


def test_pause_task_holds_the_research_until_resume_task(client: ShannonClient) -> None:
    handle, _ = submit_reviewed(client)
    assert client.get_control_state(handle.task_id).is_paused is False

    assert client.pause_task(handle.task_id, reason="lunch") is True
    until(lambda: client.get_control_state(handle.task_id).is_paused)

    state = client.get_control_state(handle.task_id)
    assert (state.is_paused, state.is_cancelled, state.pause_reason) == (True, False, "lunch")
    assert state.paused_by
    assert state.paused_at is not None
    assert state.paused_at.tzinfo is not None
    assert client.get_status(handle.task_id).status == TaskStatusEnum.PAUSED
    client.approve_review(handle.workflow_id)
    wait_for_event(client, handle.task_id, "RESEARCH_PLAN_APPROVED")
    assert client.get_status(handle.task_id).status == TaskStatusEnum.PAUSED

    assert client.resume_task(handle.task_id, reason="back") is True
    assert client.wait(handle.task_id, timeout=60, poll_interval=SOON).status == TaskStatusEnum.COMPLETED
    assert client.get_control_state(handle.task_id).is_paused is False


def test_wait_returns_a_failed_review_with_its_reason(client: ShannonClient) -> None:
    handle = client.submit_task(QUERY, context={**REVIEWED, "review_timeout": 1})

    ended = client.wait(handle.task_id, timeout=60, poll_interval=SOON)

    assert (ended.status, ended.result) == (TaskStatusEnum.COMPLETED, None)
    assert ended.error_message == "research plan review timed out"


def test_a_handle_waits_streams_and_gives_the_result(client: ShannonClient) -> None:
    handle = client.submit_task("What is a tide?")

    result = handle.result(timeout=60)

    assert result
    assert handle.wait(timeout=60).result == result
    assert [event.type for event in handle.stream(types=["WORKFLOW_COMPLETED"])] == [
        "WORKFLOW_COMPLETED",
        "done",
    ]


def test_a_handle_cancels(client: ShannonClient) -> None:
    handle, _ = submit_reviewed(client)
    assert handle.cancel(reason="not needed") is True
    assert handle.wait(timeout=60).error_message == "task cancelled: not needed"


def test_the_same_idempotency_key_submits_once(client: ShannonClient) -> None:
    first = client.submit_task("What is a tide?", idempotency_key="said-twice")
    again = client.submit_task("What is a tide?", idempotency_key="said-twice")

    assert again.task_id == first.task_id
    with pytest.raises(ConnectionError) as error:
        client.submit_task("What is a spring tide?", idempotency_key="said-twice")
    assert error.value.code == "422"
