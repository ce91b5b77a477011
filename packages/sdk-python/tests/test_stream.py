from __future__ import annotations

from contextlib import closing
from types import SimpleNamespace

import anyio
import pytest
from faces import Face, TrioFace
from scripted_gateway import DONE, Reply, ScriptedGateway, error, event, events

from plangate import (
    APIConnectionError,
    AsyncPlangate,
    AuthenticationError,
    Event,
    Gap,
    NotFoundError,
    Plangate,
    PlangateError,
)

QUICK = ": connected to workflow task-1\nretry: 10\n\n"


def seqs(items: list[Event | Gap]) -> list[int]:
    return [item.seq for item in items if isinstance(item, Event)]


def test_a_stream_ends_at_done(face: Face) -> None:
    with ScriptedGateway(events(QUICK, event(1), ": ping\n\n", event(2), DONE, event(3))) as gateway:
        items = face(gateway.url, api_key="pg_1").stream("task-1", types=["PROGRESS", "LLM_OUTPUT"])

    assert seqs(items) == [1, 2]
    (asked,) = gateway.asked
    assert (asked.path, asked.headers["x-api-key"]) == ("/api/v1/stream/sse", "pg_1")
    assert asked.query == {"workflow_id": "task-1", "types": "PROGRESS,LLM_OUTPUT"}
    first = items[0]
    assert isinstance(first, Event)
    assert (first.type, first.message, first.agent_id, first.stream_id) == (
        "PROGRESS",
        "message 1",
        "planner",
        "1700-1",
    )
    assert first.timestamp is not None
    assert first.timestamp.isoformat() == "2026-01-15T10:30:00+00:00"


def test_P45_what_comes_twice_after_a_break_is_told_once(face: Face) -> None:
    with ScriptedGateway(
        events(QUICK, event(1), event(2), event(3), breaks=True),
        events(QUICK, event(1), event(2), event(3), event(4), DONE),
    ) as gateway:
        items = face(gateway.url).stream("task-1")

    assert seqs(items) == [1, 2, 3, 4]
    again = gateway.asked[1]
    assert again.headers["last-event-id"] == again.query["last_event_id"] == "1700-3"


@pytest.mark.parametrize(
    "fault",
    [
        Reply(resets=True),
        error(503, "store_unavailable", headers={"retry_after": 0}),
        Reply(502, "<h1>Bad gateway</h1>", {"content-type": "text/html"}),
        events(QUICK),
    ],
    ids=["reset", "503", "502 of a proxy", "clean end without done"],
)
def test_a_stream_that_is_under_way_comes_back_after(face: Face, fault: Reply) -> None:
    with ScriptedGateway(events(QUICK, event(1), breaks=True), fault, events(QUICK, event(2), DONE)) as gateway:
        assert seqs(face(gateway.url).stream("task-1")) == [1, 2]
        assert len(gateway.asked) == 3


def test_a_stream_goes_on_after_a_given_event(face: Face) -> None:
    with ScriptedGateway(events(QUICK, event(8), DONE)) as gateway:
        face(gateway.url).stream("task-1", last_event_id="1700-7")
    assert gateway.asked[0].headers["last-event-id"] == "1700-7"


def test_a_gap_is_told_in_its_place(face: Face) -> None:
    gap = 'event: gap\ndata: {"requested": 1, "earliest": 5, "latest": 6}\n\n'
    with ScriptedGateway(events(QUICK, gap, event(5), event(6), DONE)) as gateway:
        items = face(gateway.url).stream("task-1", last_event_id="1")
    assert items[0] == Gap(requested=1, earliest=5, latest=6)
    assert seqs(items) == [5, 6]


def test_the_report_and_its_parts_stand_in_message(face: Face) -> None:
    part = (
        "id: 1-1\nevent: thread.message.delta\n"
        'data: {"delta":"ab","workflow_id":"task-1","seq":1,"stream_id":"1-1"}\n\n'
    )
    whole = (
        "id: 1-2\nevent: thread.message.completed\n"
        'data: {"response":"abc","workflow_id":"task-1","seq":2,"stream_id":"1-2"}\n\n'
    )
    with ScriptedGateway(events(QUICK, part, whole, DONE)) as gateway:
        items = face(gateway.url).stream("task-1")
    assert [(item.type, item.message) for item in items if isinstance(item, Event)] == [
        ("thread.message.delta", "ab"),
        ("thread.message.completed", "abc"),
    ]


def test_line_separators_of_unicode_stay_in_their_text(face: Face) -> None:
    text = "a\u2028b\u2029c\u0085d\x0be 潮汐 👩‍👩‍👧"
    with ScriptedGateway(events(QUICK, event(1, message=text), DONE)) as gateway:
        (item,) = face(gateway.url).stream("task-1")
    assert isinstance(item, Event)
    assert item.message == text


def test_data_that_is_no_event_is_left_out(face: Face) -> None:
    with ScriptedGateway(events(QUICK, "event: news\ndata: hello\n\n", event(1), DONE)) as gateway:
        assert seqs(face(gateway.url).stream("task-1")) == [1]


def test_204_says_that_all_was_told(face: Face) -> None:
    with ScriptedGateway(Reply(204)) as gateway:
        assert face(gateway.url).stream("task-1", last_event_id="1700-99") == []


@pytest.mark.parametrize(
    ("fault", "raised"),
    [
        (error(404, "task_not_found"), NotFoundError),
        (error(401, "invalid_token"), AuthenticationError),
        (Reply(resets=True), APIConnectionError),
        (Reply(body={"hello": "world"}), PlangateError),
    ],
)
def test_a_stream_that_never_began_is_an_error(face: Face, fault: Reply, raised: type[Exception]) -> None:
    with ScriptedGateway(fault) as gateway:
        with pytest.raises(raised):
            face(gateway.url, max_retries=0).stream("task-1")
        assert len(gateway.asked) == 1


def test_a_task_that_is_gone_ends_a_stream_with_an_error(face: Face) -> None:
    with ScriptedGateway(events(QUICK, event(1), breaks=True), error(404, "task_not_found")) as gateway:
        with pytest.raises(NotFoundError):
            face(gateway.url).stream("task-1")
        assert len(gateway.asked) == 2


def test_the_asynchronous_client_runs_on_trio_too() -> None:
    with ScriptedGateway(events(QUICK, event(1), breaks=True), events(QUICK, event(2), DONE)) as gateway:
        assert seqs(TrioFace(gateway.url).stream("task-1")) == [1, 2]


@pytest.mark.parametrize(
    "fault",
    [
        Reply(resets=True),
        error(503, "store_unavailable", headers={"retry_after": 0}),
        error(429, "too_many_streams", headers={"retry_after": 0}),
    ],
    ids=["reset", "503", "429"],
)
def test_a_stream_is_opened_as_often_as_every_other_request_is_sent(face: Face, fault: Reply) -> None:
    with ScriptedGateway(fault, fault, events(event(1), DONE)) as gateway:
        assert seqs(face(gateway.url).stream("task-1")) == [1]
    with ScriptedGateway(fault) as gateway:
        with pytest.raises(PlangateError):
            face(gateway.url).stream("task-1")
        assert len(gateway.asked) == 3


def test_a_stream_on_which_nothing_was_told_for_long_comes_back_too(
    face: Face, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("_sync", "_async"):
        monkeypatch.setattr(f"plangate.{module}.events.AWAY_SECONDS", 0.5)
    with ScriptedGateway(events(QUICK, breaks=True, lasts=1), events(event(1), DONE)) as gateway:
        assert seqs(face(gateway.url).stream("task-1", types="RESEARCH_PLAN_APPROVED")) == [1]


def test_a_stream_comes_back_however_often_it_broke_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("plangate._sync.events.time", SimpleNamespace(sleep=lambda _: None))
    broken = [events(QUICK, breaks=True)] * 1_030
    with ScriptedGateway(*broken, events(event(1), DONE)) as gateway:
        with Plangate(gateway.url) as client:
            assert seqs(list(client.stream("task-1"))) == [1]
        assert len(gateway.asked) == 1_031


def test_a_stream_that_is_left_early_can_be_closed() -> None:
    async def leave(url: str) -> None:
        async with AsyncPlangate(url) as client:
            stream = client.stream("task-1")
            await stream.__anext__()
            await stream.aclose()
            with pytest.raises(StopAsyncIteration):
                await stream.__anext__()

    with ScriptedGateway(events(QUICK, event(1), event(2), breaks=True, lasts=30)) as gateway:
        with Plangate(gateway.url) as client, closing(client.stream("task-1")) as stream:
            assert seqs([next(stream)]) == [1]
        anyio.run(leave, gateway.url)
