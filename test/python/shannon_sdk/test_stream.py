from __future__ import annotations

import asyncio
from typing import Callable

import pytest
from shannon import AsyncShannonClient, Event, EventType, ShannonClient

from product import Product
from shannon_sdk.tasks import QUERY, REVIEWED, approve_and_wait, submit_reviewed


def finished_task(client: ShannonClient) -> str:
    handle, _ = submit_reviewed(client)
    approve_and_wait(client, handle)
    workflow_id: str = handle.workflow_id
    return workflow_id


def test_stream_tells_everything_once_and_ends_by_itself(client: ShannonClient) -> None:
    workflow_id = finished_task(client)

    events = list(client.stream(workflow_id))

    told = events[:-1]
    assert [e.seq for e in told] == list(range(1, len(told) + 1))
    assert [e.type for e in told[:2]] == [EventType.WORKFLOW_STARTED, "RESEARCH_PLAN_READY"]
    assert "RESEARCH_PLAN_APPROVED" in [e.type for e in told]
    assert told[-2].type == EventType.THREAD_MESSAGE_COMPLETED
    assert told[-1].type == EventType.WORKFLOW_COMPLETED
    assert events[-1].type == EventType.STREAM_END
    assert all(e.stream_id and e.workflow_id == workflow_id for e in events)
    assert all(e.timestamp.tzinfo is not None for e in told if not e.type.startswith("thread.message"))


@pytest.mark.parametrize(
    ("types", "streamed"),
    [
        (
            ["RESEARCH_PLAN_READY", EventType.WORKFLOW_COMPLETED],
            ["RESEARCH_PLAN_READY", "WORKFLOW_COMPLETED"],
        ),
        (["LLM_OUTPUT"], ["thread.message.completed"]),
        ([EventType.THREAD_MESSAGE_COMPLETED], ["thread.message.completed"]),
    ],
)
def test_stream_filters_by_type(client: ShannonClient, types: list[str | EventType], streamed: list[str]) -> None:
    workflow_id = finished_task(client)

    names = [event.type for event in client.stream(workflow_id, types=types)]

    expected = ["thread.message.completed" if t == "LLM_OUTPUT" else str(getattr(t, "value", t)) for t in types]
    assert names == [*expected, "done"]


@pytest.mark.parametrize("resume_id", ["stream_id", "seq"])
def test_stream_goes_on_strictly_after_last_event_id(client: ShannonClient, resume_id: str) -> None:
    workflow_id = finished_task(client)
    events = list(client.stream(workflow_id))

    rest = list(client.stream(workflow_id, last_event_id=str(getattr(events[3], resume_id))))

    assert [e.stream_id for e in rest] == [e.stream_id for e in events[4:]]


def test_stream_after_the_last_event_ends_with_done_again(client: ShannonClient) -> None:
    """P41"""
    workflow_id = finished_task(client)
    events = list(client.stream(workflow_id))

    rest = list(client.stream(workflow_id, last_event_id=events[-1].stream_id))

    assert [e.type for e in rest] in ([], ["done"])


def test_stream_of_an_unknown_workflow_is_empty(client: ShannonClient) -> None:
    assert list(client.stream("task-unknown")) == []


def test_control_events_have_the_names_of_the_package(client: ShannonClient) -> None:
    handle, _ = submit_reviewed(client)
    client.pause_task(handle.task_id)
    client.resume_task(handle.task_id)
    client.cancel(handle.task_id)

    types = [event.type for event in client.stream(handle.workflow_id)]

    assert {EventType.WORKFLOW_CANCELLING, EventType.WORKFLOW_CANCELLED} <= set(types)
    assert types[-2:] == [EventType.WORKFLOW_CANCELLED, EventType.STREAM_END]


@pytest.mark.parametrize("how", ["killed", "stopped"])
def test_stream_comes_back_by_itself_when_the_gateway_was_restarted(product: Product, how: str) -> None:
    def restart() -> None:
        if how == "killed":
            product.kill_gateway()
        product.restart_gateway()

    events = asyncio.run(follow_over(product.open, restart))

    told = events[:-1]
    assert [e.seq for e in told] == list(range(1, len(told) + 1))
    assert [e.type for e in events[-2:]] == ["WORKFLOW_COMPLETED", "done"]


async def follow_over(url: str, restart: Callable[[], None]) -> list[Event]:
    """The events of a task whose gateway goes away and comes back while the stream waits for the approval."""
    async with AsyncShannonClient(base_url=url) as client:
        handle = await client.submit_task(QUERY, context=REVIEWED)
        events: list[Event] = []
        async for event in client.stream(handle.workflow_id):
            events.append(event)
            if event.type == "RESEARCH_PLAN_READY":
                await asyncio.to_thread(restart)
                await client.close()
                await client.approve_review(handle.workflow_id)
        return events
