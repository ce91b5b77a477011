from __future__ import annotations

import pytest
from faces import Face
from scripted_gateway import Reply, ScriptedGateway

from plangate import Plangate, TaskHandle, TaskStatus


@pytest.mark.parametrize(
    "base_url", ["localhost:8080", "", "ftp://localhost", "http://", "http://localhost:port", "http://[::1"]
)
def test_an_address_that_is_none_is_refused_with_an_example(base_url: str) -> None:
    with pytest.raises(ValueError, match="one is http://localhost:8080"):
        Plangate(base_url)


def test_a_key_with_a_line_break_is_refused_and_not_shown() -> None:
    with pytest.raises(ValueError, match="api_key has characters") as raised:
        Plangate(api_key="pg_secret\n")
    assert "secret" not in str(raised.value)


def test_a_key_and_a_token_are_one_too_many() -> None:
    with pytest.raises(ValueError, match="not both"):
        Plangate(api_key="a", bearer_token="b")


@pytest.mark.parametrize(
    ("credential", "header", "value"),
    [({"api_key": "pg_1"}, "x-api-key", "pg_1"), ({"bearer_token": "ey.1"}, "authorization", "Bearer ey.1")],
)
def test_the_credential_is_sent(face: Face, credential: dict[str, str], header: str, value: str) -> None:
    with ScriptedGateway(Reply(body={"status": "healthy"})) as gateway:
        face(gateway.url + "/", **credential).call("health")
    assert gateway.asked[0].path == "/health"
    assert gateway.asked[0].headers[header] == value


def test_a_redirect_is_not_followed_as_it_would_take_the_key_along(face: Face) -> None:
    with (
        ScriptedGateway(Reply()) as elsewhere,
        ScriptedGateway(Reply(302, headers={"location": elsewhere.url})) as here,
    ):
        with pytest.raises(Exception, match="302"):
            face(here.url, api_key="pg_1").call("health")
        assert elsewhere.asked == []


@pytest.mark.parametrize("task_id", ["", "..", "a/b", "a?b", "x" * 129])
def test_an_id_that_leads_elsewhere_is_refused_before_anything_is_sent(face: Face, task_id: str) -> None:
    with ScriptedGateway(Reply()) as gateway:
        for method in ("get_status", "approve_review", "delete_session"):
            with pytest.raises(ValueError, match="not an id"):
                face(gateway.url).call(method, task_id)
        with pytest.raises(ValueError, match="not an id"):
            face(gateway.url).stream(task_id)
        assert gateway.asked == []


def test_only_what_is_given_is_sent(face: Face) -> None:
    handle = {"task_id": "task-1", "workflow_id": "task-1"}
    with ScriptedGateway(Reply(body=handle, headers={"x-session-id": "session-1"})) as gateway:
        submitted = face(gateway.url).call("submit_task", "q", max_iterations=3, enable_verification=False)
    assert gateway.asked[0].body == {"query": "q", "max_iterations": 3, "enable_verification": False}
    assert submitted.session_id == "session-1"


def test_a_task_is_given_by_its_handle_or_its_id(face: Face) -> None:
    with ScriptedGateway(Reply(body={"is_paused": False, "is_cancelled": False})) as gateway:
        face(gateway.url).call("get_control_state", TaskHandle("task-1", "task-1"))
        face(gateway.url).call("get_control_state", "task-1")
    assert [asked.path for asked in gateway.asked] == ["/api/v1/tasks/task-1/control-state"] * 2


def test_a_status_is_sent_as_its_value(face: Face) -> None:
    with ScriptedGateway(Reply(body={"tasks": [], "total_count": 0})) as gateway:
        face(gateway.url).call("list_tasks", status=TaskStatus.RUNNING)
    assert gateway.asked[0].query["status"] == "TASK_STATUS_RUNNING"


def test_one_type_alone_and_a_number_to_go_on_after_are_taken(face: Face) -> None:
    with ScriptedGateway(Reply(204)) as gateway:
        assert face(gateway.url).stream("task-1", types="PROGRESS", last_event_id=7) == []
    assert gateway.asked[0].query == {"workflow_id": "task-1", "types": "PROGRESS", "last_event_id": "7"}
    assert gateway.asked[0].headers["last-event-id"] == "7"


def test_a_status_of_a_newer_gateway_is_unknown_and_not_over() -> None:
    status = TaskStatus("TASK_STATUS_DREAMING")
    assert (status, status.is_over) == (TaskStatus.UNKNOWN, False)
