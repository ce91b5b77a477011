from __future__ import annotations

import time
from time import monotonic
from types import SimpleNamespace

import pytest
from faces import Face
from scripted_gateway import Reply, ScriptedGateway, error

from plangate import (
    APIConnectionError,
    APITimeoutError,
    AuthenticationError,
    BadGatewayError,
    BadRequestError,
    ConflictError,
    Plangate,
    ServiceUnavailableError,
    TaskEndedError,
    WaitTimeoutError,
    _async,
    _sync,
)

HANDLE = {"task_id": "task-1", "workflow_id": "task-1", "session_id": "session-1"}
APPROVED = {"status": "approved", "message": "Research started"}
TASK = {
    **HANDLE,
    "status": "TASK_STATUS_COMPLETED",
    "result": "report",
    "query": "q",
    "mode": "standard",
    "context": {},
    "created_at": "2026-01-15T10:30:00Z",
    "updated_at": "2026-01-15T10:30:00Z",
}


@pytest.mark.parametrize(
    "fault",
    [
        error(503, "store_unavailable", headers={"retry_after": 0}),
        error(429, "rate_limited", headers={"retry_after": 0}),
        error(409, "idempotency_running", headers={"retry_after": 0}),
        Reply(502, "<h1>Bad gateway</h1>", {"content-type": "text/html"}),
        Reply(resets=True),
        Reply(200, '{"task_id":', breaks=True),
    ],
    ids=["503", "429", "409 still running", "502 of a proxy", "reset", "broken answer"],
)
def test_a_fault_that_passes_is_asked_again_as_one_request(face: Face, fault: Reply) -> None:
    with ScriptedGateway(fault, Reply(body=HANDLE)) as gateway:
        handle = face(gateway.url).call("submit_task", "What is a tide?", context={"require_review": True})

    first, second = gateway.asked
    assert handle.task_id == "task-1"
    assert first.body == second.body == {"query": "What is a tide?", "context": {"require_review": True}}
    assert len(first.headers["idempotency-key"]) >= 32
    assert first.headers["idempotency-key"] == second.headers["idempotency-key"]


def test_retry_after_is_waited_for(face: Face) -> None:
    with ScriptedGateway(error(503, "store_unavailable", headers={"retry_after": 1}), Reply(body=APPROVED)) as gateway:
        began = monotonic()
        face(gateway.url).call("approve_review", "task-1", version=2)

        assert monotonic() - began >= 1
    assert [asked.headers["if-match"] for asked in gateway.asked] == ['"2"', '"2"']


def test_two_calls_have_two_idempotency_keys_and_a_given_one_is_kept(face: Face) -> None:
    with ScriptedGateway(Reply(body=APPROVED)) as gateway:
        client = face(gateway.url)
        client.call("approve_review", "task-1")
        client.call("approve_review", "task-1")
        client.call("approve_review", "task-1", idempotency_key="mine")

    keys = [asked.headers["idempotency-key"] for asked in gateway.asked]
    assert len(set(keys)) == 3
    assert keys[2] == "mine"
    assert "if-match" not in gateway.asked[0].headers


@pytest.mark.parametrize(
    ("fault", "raised"),
    [
        (error(400, "invalid_body"), BadRequestError),
        (error(409, "version_conflict", version=3), ConflictError),
        (error(502, "planner_failed"), BadGatewayError),
    ],
)
def test_a_fault_that_stays_is_raised_at_once(face: Face, fault: Reply, raised: type[Exception]) -> None:
    with ScriptedGateway(fault) as gateway, pytest.raises(raised):
        face(gateway.url).call("submit_review_feedback", "task-1", "more")
    assert len(gateway.asked) == 1


@pytest.mark.parametrize("max_retries", [0, 1, 2])
def test_max_retries_is_the_number_of_further_attempts(face: Face, max_retries: int) -> None:
    away = error(503, "store_unavailable", headers={"retry_after": 0})
    with ScriptedGateway(away) as gateway, pytest.raises(ServiceUnavailableError):
        face(gateway.url, max_retries=max_retries).call("get_status", "task-1")
    assert len(gateway.asked) == 1 + max_retries


def test_no_attempt_is_made_that_would_come_after_the_timeout(face: Face) -> None:
    away = error(503, "store_unavailable", headers={"retry_after": 60})
    with ScriptedGateway(away) as gateway, pytest.raises(ServiceUnavailableError) as raised:
        face(gateway.url).call("get_status", "task-1", timeout=5)
    assert len(gateway.asked) == 1
    assert raised.value.retry_after_seconds == 60


def test_no_answer_in_time_says_that_it_may_have_been_done(face: Face) -> None:
    with ScriptedGateway(Reply(hangs=True)) as gateway:
        with pytest.raises(APITimeoutError, match="may have been done nevertheless"):
            face(gateway.url).call("approve_review", "task-1", timeout=0.3)
        assert len(gateway.asked) == 1


def test_no_gateway_says_where_it_was_looked_for(face: Face) -> None:
    with ScriptedGateway(Reply()) as gateway:
        url = gateway.url
    with pytest.raises(APIConnectionError, match="Is the gateway running there") as raised:
        face(url, max_retries=0).call("get_status", "task-1")
    assert url in str(raised.value)


def test_wait_outlives_a_gateway_that_is_away_for_a_while(face: Face) -> None:
    running = Reply(body={**TASK, "status": "TASK_STATUS_RUNNING"})
    away = error(503, "store_unavailable", headers={"retry_after": 0})
    with ScriptedGateway(running, away, Reply(resets=True), running, Reply(body=TASK)) as gateway:
        task = face(gateway.url, max_retries=0).call("wait", "task-1", poll_interval=0.01)
    assert (task.result, len(gateway.asked)) == ("report", 5)


@pytest.mark.parametrize(("timeout", "poll_interval"), [(0.3, 0.05), (0.5, 2.0)])
def test_wait_ends_with_its_timeout_and_not_before(face: Face, timeout: float, poll_interval: float) -> None:
    running = Reply(body={**TASK, "status": "TASK_STATUS_RUNNING"})
    began = monotonic()
    with ScriptedGateway(running) as gateway, pytest.raises(WaitTimeoutError, match="it goes on"):
        face(gateway.url).call("wait", "task-1", timeout=timeout, poll_interval=poll_interval)
    assert monotonic() - began >= timeout
    assert len(gateway.asked) >= 2


def test_asking_for_the_answer_of_an_attempt_that_is_at_work_is_no_further_attempt(face: Face) -> None:
    running = error(409, "idempotency_running", headers={"retry_after": 0})
    with ScriptedGateway(*[running] * 4, Reply(body=APPROVED)) as gateway:
        assert face(gateway.url, max_retries=0).call("approve_review", "task-1", version=2).status == "approved"
    assert len({asked.headers["idempotency-key"] for asked in gateway.asked}) == 1


def test_an_attempt_that_is_at_work_for_too_long_says_how_to_ask_again(face: Face) -> None:
    running = error(409, "idempotency_running", headers={"retry_after": 2})
    with ScriptedGateway(running) as gateway, pytest.raises(ConflictError, match="with the same idempotency_key"):
        face(gateway.url).call("approve_review", "task-1", version=2, timeout=1)


def test_waiting_for_a_plan_outlives_a_gateway_that_is_away_for_a_while(
    face: Face, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The script answers at once: as long a wait as the gateway is asked for.
    monkeypatch.setattr(_async.review, "_PLAN_SECONDS", 0)
    monkeypatch.setattr(_sync.review, "_PLAN_SECONDS", 0)
    missing = error(404, "review_not_found")
    running = Reply(body={**TASK, "status": "TASK_STATUS_RUNNING"})
    away = error(503, "store_unavailable", headers={"retry_after": 0})
    broken = Reply(resets=True)
    replies = [missing, broken, missing, running, away, away, missing, away, broken, missing, Reply(body=TASK)]
    with ScriptedGateway(*replies) as gateway, pytest.raises(TaskEndedError):
        face(gateway.url, max_retries=0).call("wait_for_review", "task-1")
    assert len(gateway.asked) == len(replies)


def test_waiting_for_a_plan_ends_with_its_timeout_whatever_retry_after_says(face: Face) -> None:
    missing, running = error(404, "review_not_found"), Reply(body={**TASK, "status": "TASK_STATUS_RUNNING"})
    away = error(503, "store_unavailable", headers={"retry_after": 60})
    began = monotonic()
    with ScriptedGateway(missing, running, away) as gateway, pytest.raises(WaitTimeoutError, match="has no plan"):
        face(gateway.url).call("wait_for_review", "task-1", timeout=1)
    assert monotonic() - began < 30


def test_a_wait_outlives_a_look_that_is_not_answered_in_time(face: Face) -> None:
    running = Reply(body={**TASK, "status": "TASK_STATUS_RUNNING"})
    with ScriptedGateway(running, Reply(hangs=True), Reply(body=TASK)) as gateway:
        client = face(gateway.url, default_timeout=0.5, max_retries=0)
        assert client.call("wait", "task-1", poll_interval=0.05).result == "report"


def test_a_wait_whose_last_look_is_not_answered_ends_with_its_timeout(face: Face) -> None:
    running = Reply(body={**TASK, "status": "TASK_STATUS_RUNNING"})
    with ScriptedGateway(running, Reply(hangs=True)) as gateway, pytest.raises(WaitTimeoutError, match="it goes on"):
        face(gateway.url).call("wait", "task-1", timeout=0.5, poll_interval=0.01)


def test_waiting_for_a_plan_looks_once_without_waiting_and_then_waits(face: Face) -> None:
    missing, running = error(404, "review_not_found"), Reply(body={**TASK, "status": "TASK_STATUS_RUNNING"})
    with ScriptedGateway(missing, running, Reply(resets=True), error(401, "invalid_token")) as gateway:
        with pytest.raises(AuthenticationError):
            face(gateway.url, max_retries=0).call("wait_for_review", "task-1")
        waits = [asked.query.get("wait") for asked in gateway.asked if asked.path.endswith("/review")]
    assert waits == ["0", "25", "25"]


def test_a_pause_that_took_too_long_is_no_error_of_the_argument(monkeypatch: pytest.MonkeyPatch) -> None:
    sleep = time.sleep
    late = SimpleNamespace(sleep=lambda seconds: sleep(seconds + 0.6))
    monkeypatch.setattr("plangate._sync.transport.time", late)
    away = error(503, "store_unavailable", headers={"retry_after": 0})
    with ScriptedGateway(away, Reply(body={"status": "healthy"})) as gateway, Plangate(gateway.url) as client:
        try:
            assert client.health(timeout=0.5) == {"status": "healthy"}
        except APITimeoutError:
            assert len(gateway.asked) == 2
