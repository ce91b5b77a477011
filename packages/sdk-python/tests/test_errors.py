from __future__ import annotations

import pickle
from datetime import datetime, timezone

import pytest
from faces import Face
from scripted_gateway import Reply, ScriptedGateway, error

import plangate
from plangate import PlangateError, StatusError
from plangate._advice import _BY_CODE, advice_for
from plangate.errors import retry_after_of


@pytest.mark.parametrize(
    ("status", "name"),
    [
        (400, "BadRequestError"),
        (401, "AuthenticationError"),
        (403, "PermissionDeniedError"),
        (404, "NotFoundError"),
        (409, "ConflictError"),
        (413, "StatusError"),
        (422, "UnprocessableEntityError"),
        (428, "PreconditionRequiredError"),
        (429, "RateLimitError"),
        (500, "InternalServerError"),
        (502, "BadGatewayError"),
        (503, "ServiceUnavailableError"),
        (504, "InternalServerError"),
    ],
)
def test_every_status_has_its_class(face: Face, status: int, name: str) -> None:
    with ScriptedGateway(error(status, "some_code", "Some text")) as gateway, pytest.raises(StatusError) as raised:
        face(gateway.url, max_retries=0).call("get_status", "task-1")

    assert type(raised.value) is getattr(plangate, name)
    assert (raised.value.status, raised.value.code, raised.value.text) == (status, "some_code", "Some text")
    assert raised.value.request_id == "req-1"
    assert str(raised.value).startswith(f"GET /api/v1/tasks/task-1: Some text ({status} some_code).")


@pytest.mark.parametrize("code", _BY_CODE)
def test_advice_has_nothing_left_to_fill_in(code: str) -> None:
    for body, retry_after in (({"code": code}, None), ({"code": code, "version": 3}, "5")):
        advice = advice_for(409, body, retry_after)
        assert advice.endswith(".")
        assert "{version}" not in advice
        assert "{soon}" not in advice


def test_a_conflict_says_the_version_and_what_to_do(face: Face) -> None:
    conflict = error(409, "version_conflict", "Conflict: state has been modified", version=4)
    with ScriptedGateway(conflict) as gateway, pytest.raises(plangate.ConflictError) as raised:
        face(gateway.url).call("submit_review_feedback", "task-1", "more", version=3)

    assert raised.value.current_version == 4
    assert str(raised.value) == (
        "POST /api/v1/tasks/task-1/review: Conflict: state has been modified (409 version_conflict). "
        "The review is at version 4 now. Read it with get_review_state() and decide on what it shows. Request req-1."
    )


def test_the_version_of_a_conflict_may_stand_in_its_etag(face: Face) -> None:
    closed = error(409, "review_closed", "Review is closed: rejected", headers={"etag": '"7"'})
    with ScriptedGateway(closed) as gateway, pytest.raises(plangate.ConflictError) as raised:
        face(gateway.url).call("approve_review", "task-1")
    assert raised.value.current_version == 7


def test_an_answer_of_something_else_says_so(face: Face) -> None:
    page = Reply(404, "<h1>Not here</h1>", {"content-type": "text/html"})
    with ScriptedGateway(page) as gateway, pytest.raises(plangate.NotFoundError) as raised:
        face(gateway.url).call("get_status", "task-1")
    assert (raised.value.code, raised.value.body) == ("unknown", None)
    assert "HTTP 404 without an error of Plangate" in str(raised.value)


@pytest.mark.parametrize("body", ["<h1>Hello</h1>", "[]", '{"task_id": "task-1"}', '{"task_id": 1, "status": "?"}'])
def test_a_success_that_is_no_answer_of_plangate_is_an_error(face: Face, body: str) -> None:
    with (
        ScriptedGateway(Reply(body=body)) as gateway,
        pytest.raises(PlangateError, match="is base_url that of a Plangate gateway"),
    ):
        face(gateway.url).call("get_status", "task-1")


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("3", 3.0),
        ("0", 0.0),
        ("Thu, 15 Jan 2026 10:30:10 GMT", 10.0),
        ("Thu, 15 Jan 2026 10:29:00 GMT", 0.0),
        ("soon", None),
        ("-1", None),
    ],
)
def test_retry_after_is_a_number_or_a_date(value: str, seconds: float | None) -> None:
    now = datetime(2026, 1, 15, 10, 30, tzinfo=timezone.utc)
    assert retry_after_of({"retry-after": value}, now) == seconds


def test_an_error_goes_through_pickle_as_it_is(face: Face) -> None:
    conflict = error(409, "version_conflict", headers={"etag": '"7"'})
    with ScriptedGateway(conflict) as gateway, pytest.raises(plangate.ConflictError) as raised:
        face(gateway.url).call("approve_review", "task-1", version=2)
    again = pickle.loads(pickle.dumps(raised.value))
    assert (type(again), str(again), again.current_version) == (plangate.ConflictError, str(raised.value), 7)


@pytest.mark.parametrize("body", ["[]", "null", "3", '"x"'])
@pytest.mark.parametrize(
    ("method", "arguments"),
    [
        ("submit_and_stream", ("q",)),
        ("list_tasks", ()),
        ("cancel", ("task-1",)),
        ("get_session_events", ("session-1",)),
        ("update_session_title", ("session-1", "title")),
        ("health", ()),
    ],
)
def test_a_success_of_another_shape_is_an_error_of_the_package(
    face: Face, method: str, arguments: tuple[str, ...], body: str
) -> None:
    with ScriptedGateway(Reply(body=body)) as gateway, pytest.raises(PlangateError, match="is base_url that of a"):
        face(gateway.url).call(method, *arguments)


def test_an_answer_that_cannot_be_read_is_an_error_of_the_package(face: Face) -> None:
    torn = Reply(body=b"torn", headers={"content-encoding": "gzip", "content-type": "text/event-stream"})
    with ScriptedGateway(torn) as gateway:
        with pytest.raises(PlangateError, match="cannot be read"):
            face(gateway.url).call("get_status", "task-1")
        with pytest.raises(PlangateError, match="cannot be read"):
            face(gateway.url).stream("task-1")
        assert len(gateway.asked) == 2
