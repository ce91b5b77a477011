"""Every request of the API as a value: what is sent, and what its answer means. No I/O here."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Callable, Generic, Optional, TypeVar, Union

from . import models
from ._decode import decode
from .errors import PlangateError

T = TypeVar("T")
_ID = re.compile(r"[A-Za-z0-9:_.\-]{1,128}")


@dataclass(frozen=True)
class Answer:
    """A success of the gateway."""

    headers: Mapping[str, str]
    #: None where there is no body.
    body: Any


@dataclass(frozen=True)
class Request(Generic[T]):
    """A request, and how its answer is read."""

    method: str
    path: str
    read: Callable[[Answer], T]
    query: Mapping[str, Any] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    json: Optional[Mapping[str, Any]] = None


def result_of(request: Request[T], answer: Answer) -> T:
    """What a success means.

    Raises:
        PlangateError: where the body has another shape, so that what answered cannot be Plangate.
    """
    try:
        return request.read(answer)
    except (KeyError, TypeError, ValueError) as error:
        raise PlangateError(
            f"{request.method} {request.path}: the response is not as it should be ({type(error).__name__}: {error}): "
            "is base_url that of a Plangate gateway?"
        ) from error


def submit_task(body: Mapping[str, Any], headers: Mapping[str, str]) -> Request[models.TaskHandle]:
    return Request("POST", "/api/v1/tasks", _read_handle, headers=headers, json=_given(body))


def submit_and_stream(body: Mapping[str, Any], headers: Mapping[str, str]) -> Request[tuple[models.TaskHandle, str]]:
    def read(answer: Answer) -> tuple[models.TaskHandle, str]:
        return _read_handle(answer), str(answer.body["stream_url"])

    return Request("POST", "/api/v1/tasks/stream", read, headers=headers, json=_given(body))


def get_status(task_id: models.TaskRef) -> Request[models.Task]:
    return Request("GET", _task(task_id), _reads(models.Task))


def list_tasks(query: Mapping[str, Any]) -> Request[tuple[list[models.TaskSummary], int]]:
    def read(answer: Answer) -> tuple[list[models.TaskSummary], int]:
        return _list(models.TaskSummary, answer, "tasks"), int(answer.body["total_count"])

    return Request("GET", "/api/v1/tasks", read, query=_given(query))


def get_task_events(task_id: models.TaskRef, query: Mapping[str, Any]) -> Request[list[models.Event]]:
    return Request("GET", f"{_task(task_id)}/events", _reads_list(models.Event, "events"), query=_given(query))


def get_task_timeline(task_id: models.TaskRef) -> Request[list[models.Event]]:
    return Request("GET", f"{_task(task_id)}/timeline", _reads_list(models.Event, "events"))


def control(task_id: models.TaskRef, action: str, reason: Optional[str], headers: Mapping[str, str]) -> Request[bool]:
    def read(answer: Answer) -> bool:
        return bool(answer.body["success"])

    body = _given({"reason": reason})
    return Request("POST", f"{_task(task_id)}/{action}", read, headers=headers, json=body)


def get_control_state(task_id: models.TaskRef) -> Request[models.ControlState]:
    return Request("GET", f"{_task(task_id)}/control-state", _reads(models.ControlState))


def get_review_state(workflow_id: models.TaskRef, wait: Optional[int]) -> Request[models.ReviewState]:
    return Request("GET", f"{_task(workflow_id)}/review", _reads(models.ReviewState), query=_given({"wait": wait}))


def act(
    model: type[T],
    workflow_id: models.TaskRef,
    action: Mapping[str, Any],
    version: Optional[int],
    headers: Mapping[str, str],
) -> Request[T]:
    """An action on a review; ``version`` is sent as ``If-Match``."""
    condition = {} if version is None else {"If-Match": f'"{version}"'}
    return Request(
        "POST",
        f"{_task(workflow_id)}/review",
        _reads(model),
        headers={**headers, **condition},
        json=_given(action),
    )


def get_review_versions(workflow_id: models.TaskRef) -> Request[list[models.PlanVersion]]:
    return Request("GET", f"{_task(workflow_id)}/review/versions", _reads_list(models.PlanVersion, "versions"))


def get_review_diff(workflow_id: models.TaskRef, from_version: int, to_version: int) -> Request[models.PlanDiff]:
    query = {"from": from_version, "to": to_version}
    return Request("GET", f"{_task(workflow_id)}/review/diff", _reads(models.PlanDiff), query=query)


def get_review_audit(workflow_id: models.TaskRef) -> Request[list[models.AuditEntry]]:
    return Request("GET", f"{_task(workflow_id)}/review/audit", _reads_list(models.AuditEntry, "entries"))


def list_sessions(query: Mapping[str, Any]) -> Request[tuple[list[models.SessionSummary], int]]:
    def read(answer: Answer) -> tuple[list[models.SessionSummary], int]:
        return _list(models.SessionSummary, answer, "sessions"), int(answer.body["total_count"])

    return Request("GET", "/api/v1/sessions", read, query=_given(query))


def get_session(session_id: str) -> Request[models.Session]:
    return Request("GET", _session(session_id), _reads(models.Session))


def get_session_history(session_id: str) -> Request[list[models.SessionTask]]:
    return Request("GET", f"{_session(session_id)}/history", _reads_list(models.SessionTask, "tasks"))


def get_session_events(session_id: str, query: Mapping[str, Any]) -> Request[tuple[list[models.SessionTurn], int]]:
    def read(answer: Answer) -> tuple[list[models.SessionTurn], int]:
        return _list(models.SessionTurn, answer, "turns"), int(answer.body["count"])

    return Request("GET", f"{_session(session_id)}/events", read, query=_given(query))


def update_session_title(session_id: str, title: str) -> Request[str]:
    def read(answer: Answer) -> str:
        return str(answer.body["title"])

    return Request("PATCH", _session(session_id), read, json={"title": title})


def delete_session(session_id: str) -> Request[None]:
    return Request("DELETE", _session(session_id), lambda _: None)


def get_document(path: str) -> Request[dict[str, Any]]:
    """A JSON document as it is, such as ``/health``."""

    def read(answer: Answer) -> dict[str, Any]:
        if not isinstance(answer.body, Mapping):
            raise TypeError("no JSON object")
        return dict(answer.body)

    return Request("GET", path, read)


def stream_query(
    workflow_id: models.TaskRef, types: Union[str, list[str], None], last_event_id: Optional[str]
) -> Mapping[str, str]:
    types_query = types if isinstance(types, str) else ",".join(types or []) or None
    query: Mapping[str, str] = _given(
        {"workflow_id": id_of(workflow_id), "types": types_query, "last_event_id": last_event_id}
    )
    return query


def id_of(task: models.TaskRef) -> str:
    """The id of a task that was given by its handle or its id.

    Raises:
        ValueError: for what is neither.
    """
    return _checked(task.task_id if isinstance(task, models.TaskHandle) else task)


def _task(task_id: models.TaskRef) -> str:
    return f"/api/v1/tasks/{id_of(task_id)}"


def _session(session_id: str) -> str:
    return f"/api/v1/sessions/{_checked(session_id)}"


def _checked(id_: str) -> str:
    """An id that cannot lead to another route."""
    if not isinstance(id_, str) or not _ID.fullmatch(id_) or id_ in (".", ".."):
        raise ValueError(f"not an id of a task or session: {id_!r}; pass a handle or its task_id")
    return id_


def _given(values: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: value.value if isinstance(value, Enum) else value for name, value in values.items() if value is not None
    }


def _reads(model: type[T]) -> Callable[[Answer], T]:
    return lambda answer: decode(model, answer.body)


def _reads_list(model: type[T], name: str) -> Callable[[Answer], list[T]]:
    return lambda answer: _list(model, answer, name)


def _list(model: type[T], answer: Answer, name: str) -> list[T]:
    items = answer.body.get(name) if isinstance(answer.body, Mapping) else None
    if not isinstance(items, list):
        raise PlangateError(f"the response has no list of {model.__name__}: is base_url that of a Plangate gateway?")
    return [decode(model, item) for item in items]


def _read_handle(answer: Answer) -> models.TaskHandle:
    handle = decode(models.TaskHandle, answer.body)
    session_id = answer.headers.get("x-session-id", handle.session_id)
    return models.TaskHandle(handle.task_id, handle.workflow_id, session_id)
