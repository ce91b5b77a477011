"""What goes wrong, as classes: one per status of the gateway, and one for no answer at all."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from typing import Any, Optional

from ._advice import advice_for
from .models import Task


@dataclass(frozen=True)
class Failure:
    """What is known of an answer that is no success."""

    status: int
    headers: Mapping[str, str]
    #: The error body; None where what answered was not Plangate, such as a proxy.
    body: Optional[Mapping[str, Any]]
    #: ``POST /api/v1/tasks``, for the message.
    request: str


class PlangateError(Exception):
    """Every error of this package; mistakes in arguments aside, which are ``ValueError``."""


class APIConnectionError(PlangateError):
    """No answer: the gateway could not be reached, or the connection broke before the answer was there."""


class APITimeoutError(APIConnectionError):
    """No answer in time. What was asked may have been done all the same."""


class WaitTimeoutError(PlangateError):
    """A task was not over in time; it goes on."""


class TaskEndedError(PlangateError):
    """A task ended before there was what was waited for."""

    def __init__(self, task: Task) -> None:
        super().__init__(f"task {task.task_id} is over ({task.status.value}): {task.error or 'it has its result'}")
        #: The task as it ended.
        self.task = task

    def __reduce__(self) -> tuple[type[TaskEndedError], tuple[Task]]:
        return type(self), (self.task,)


class StatusError(PlangateError):
    """The gateway answered with a status that is no success; the message says what to do."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(_message(failure))
        body = failure.body or {}
        #: Status of HTTP.
        self.status = failure.status
        #: Slug for programs, as in the table of error codes; ``unknown`` where the answer was not Plangate's.
        self.code = str(body.get("code", "unknown"))
        #: What the gateway said, without advice.
        self.text = str(body.get("error", f"HTTP {failure.status}"))
        #: ``X-Request-ID``, which stands in the gateway's log.
        self.request_id = failure.headers.get("x-request-id")
        #: The whole error body, further fields such as ``limit`` included.
        self.body = failure.body
        #: When to come back, in seconds; None where the gateway does not say.
        self.retry_after_seconds = retry_after_of(failure.headers)
        #: Version of the review now, where a 409 says it.
        self.current_version = _version_of(failure)
        self._failure = failure

    def __reduce__(self) -> tuple[type[StatusError], tuple[Failure]]:
        return type(self), (self._failure,)


class BadRequestError(StatusError):
    """400: something in the request is wrong."""


class AuthenticationError(StatusError):
    """401: no credential, or a wrong one."""


class PermissionDeniedError(StatusError):
    """403: the credential may not do this."""


class NotFoundError(StatusError):
    """404: there is no such thing, or it belongs to somebody else."""


class ConflictError(StatusError):
    """409: the state of a review or task forbids it, or the review is no longer the one that was read."""


class UnprocessableEntityError(StatusError):
    """422: the idempotency key was used for another request."""


class PreconditionRequiredError(StatusError):
    """428: the gateway wants every decision to say which version it was made on."""


class RateLimitError(StatusError):
    """429: too many requests or streams."""


class InternalServerError(StatusError):
    """500 and other faults of the gateway."""


class BadGatewayError(InternalServerError):
    """502: the model behind the gateway failed, or a proxy did not reach the gateway."""


class ServiceUnavailableError(InternalServerError):
    """503: a part that this request needs is away; it comes back."""


_CLASSES: dict[int, type[StatusError]] = {
    400: BadRequestError,
    401: AuthenticationError,
    403: PermissionDeniedError,
    404: NotFoundError,
    409: ConflictError,
    422: UnprocessableEntityError,
    428: PreconditionRequiredError,
    429: RateLimitError,
    502: BadGatewayError,
    503: ServiceUnavailableError,
}


def error_of(failure: Failure) -> StatusError:
    """The class that stands for the status of an answer."""
    fallback = InternalServerError if failure.status >= 500 else StatusError
    return _CLASSES.get(failure.status, fallback)(failure)


def retry_after_of(headers: Mapping[str, str], now: Optional[datetime] = None) -> Optional[float]:
    """``Retry-After`` in seconds, sent as a number or as a date (RFC 9110 §10.2.3)."""
    value = headers.get("retry-after")
    if value is None:
        return None
    if value.isascii() and value.isdigit():
        return float(value)
    try:
        at = parsedate_to_datetime(value)
    except (TypeError, ValueError):
        return None
    if at.tzinfo is None:
        at = at.replace(tzinfo=timezone.utc)
    return max(0.0, (at - (now or datetime.now(timezone.utc))).total_seconds())


def _version_of(failure: Failure) -> Optional[int]:
    if failure.status != 409:
        return None
    version = (failure.body or {}).get("version")
    if isinstance(version, int):
        return version
    tag = failure.headers.get("etag", "").strip('"')
    return int(tag) if tag.isascii() and tag.isdigit() else None


def _message(failure: Failure) -> str:
    body = failure.body
    said = (
        f"{body.get('error')} ({failure.status} {body.get('code')})"
        if body
        else f"HTTP {failure.status} without an error of Plangate"
    )
    request_id = failure.headers.get("x-request-id")
    parts = [
        f"{failure.request}: {said.rstrip('.')}.",
        advice_for(failure.status, body, failure.headers.get("retry-after")),
        f"Request {request_id}." if request_id else "",
    ]
    return " ".join(part for part in parts if part)
