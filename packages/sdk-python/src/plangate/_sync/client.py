"""The synchronous client, made from the asynchronous one by ``scripts/make_sync.py``: change that one."""

from __future__ import annotations

import random
import time
import uuid
from collections.abc import Iterator
from time import monotonic
from types import TracebackType
from typing import Any, Optional, TypeVar, Union

import httpx
from httpx_sse import EventSource, SSEError

from .. import _requests as requests
from .._cursor import Cursor
from .._http import address, answer_of, credentials, failure_of, fault_of
from .._retry import delay_seconds, is_in_progress, is_passing
from ..errors import (
    NotFoundError,
    PlangateError,
    TaskEndedError,
    WaitTimeoutError,
)
from ..models import (
    Approval,
    AuditEntry,
    ControlState,
    Event,
    FeedbackAnswer,
    Gap,
    PlanDiff,
    PlanVersion,
    ReviewState,
    Session,
    SessionSummary,
    SessionTask,
    SessionTurn,
    Task,
    TaskHandle,
    TaskSummary,
)

T = TypeVar("T")

#: Longest wait of the gateway for a first plan, in seconds.
_PLAN_SECONDS = 25
#: How long a gateway that has answered before may be away while somebody waits or follows a stream.
_AWAY_SECONDS = 300.0
#: Longest silence of a stream in seconds: the gateway sends at least a comment every ten.
_SILENCE_SECONDS = 45.0
_LONGEST_PAUSE_SECONDS = 30.0


class Plangate:
    """A client of Plangate.

    Every method takes ``timeout``: seconds for the answer, further attempts included. 429, 503 and broken
    connections are tried again after ``Retry-After``; every POST carries an ``Idempotency-Key``, so that it is
    done once. The methods raise the classes of ``plangate.errors``.
    """

    def __init__(
        self,
        base_url: str = "http://localhost:8080",
        api_key: Optional[str] = None,
        bearer_token: Optional[str] = None,
        default_timeout: float = 120.0,
        *,
        max_retries: int = 2,
        http_client: Optional[httpx.Client] = None,
    ) -> None:
        """Make a client.

        Args:
            base_url: Where the gateway is.
            api_key: Sent as ``X-API-Key``.
            bearer_token: Sent as ``Authorization: Bearer``, instead of a key.
            default_timeout: Seconds for an answer; a feedback takes as long as the model, a minute at most.
            max_retries: Further attempts after faults that pass.
            http_client: A client of one's own for proxies, certificates and the like; it is not closed.
        """
        self._base_url = address(base_url)
        self._headers = credentials(api_key, bearer_token)
        if default_timeout <= 0 or max_retries < 0:
            raise ValueError("default_timeout must be more than 0, max_retries not less")
        self._timeout = default_timeout
        self._max_retries = max_retries
        self._owns_http = http_client is None
        self._http = http_client or httpx.Client()

    # Tasks

    def submit_task(
        self,
        query: str,
        *,
        session_id: Optional[str] = None,
        context: Optional[dict[str, Any]] = None,
        mode: Optional[str] = None,
        model_tier: Optional[str] = None,
        model_override: Optional[str] = None,
        provider_override: Optional[str] = None,
        research_strategy: Optional[str] = None,
        max_concurrent_agents: Optional[int] = None,
        max_iterations: Optional[int] = None,
        enable_verification: Optional[bool] = None,
        idempotency_key: Optional[str] = None,
        timeout: Optional[float] = None,
    ) -> TaskHandle:
        """Submit a task. ``context={"require_review": True}`` makes its plan wait for a person."""
        body = {
            "query": query,
            "session_id": session_id,
            "context": context,
            "mode": mode,
            "model_tier": model_tier,
            "model_override": model_override,
            "provider_override": provider_override,
            "research_strategy": research_strategy,
            "max_concurrent_agents": max_concurrent_agents,
            "max_iterations": max_iterations,
            "enable_verification": enable_verification,
        }
        return self._send(requests.submit_task(body, _once(idempotency_key)), timeout)

    def submit_and_stream(
        self,
        query: str,
        *,
        session_id: Optional[str] = None,
        context: Optional[dict[str, Any]] = None,
        mode: Optional[str] = None,
        model_tier: Optional[str] = None,
        model_override: Optional[str] = None,
        provider_override: Optional[str] = None,
        research_strategy: Optional[str] = None,
        max_concurrent_agents: Optional[int] = None,
        max_iterations: Optional[int] = None,
        enable_verification: Optional[bool] = None,
        idempotency_key: Optional[str] = None,
        timeout: Optional[float] = None,
    ) -> tuple[TaskHandle, str]:
        """Submit a task; also the path of its events, which ``stream(handle.workflow_id)`` follows."""
        body = {
            "query": query,
            "session_id": session_id,
            "context": context,
            "mode": mode,
            "model_tier": model_tier,
            "model_override": model_override,
            "provider_override": provider_override,
            "research_strategy": research_strategy,
            "max_concurrent_agents": max_concurrent_agents,
            "max_iterations": max_iterations,
            "enable_verification": enable_verification,
        }
        return self._send(requests.submit_and_stream(body, _once(idempotency_key)), timeout)

    def get_status(self, task_id: str, timeout: Optional[float] = None) -> Task:
        """A task as it stands, with its result once there is one."""
        return self._send(requests.get_status(task_id), timeout)

    def list_tasks(
        self,
        *,
        limit: int = 20,
        offset: int = 0,
        status: Optional[str] = None,
        session_id: Optional[str] = None,
        timeout: Optional[float] = None,
    ) -> tuple[list[TaskSummary], int]:
        """One's own tasks, newest first, and how many there are in all."""
        query = {"limit": limit, "offset": offset, "status": status, "session_id": session_id}
        return self._send(requests.list_tasks(query), timeout)

    def get_task_events(
        self, task_id: str, *, limit: int = 50, offset: int = 0, timeout: Optional[float] = None
    ) -> list[Event]:
        """A page of the events so far."""
        query = {"limit": limit, "offset": offset}
        return self._send(requests.get_task_events(task_id, query), timeout)

    def get_task_timeline(self, task_id: str, timeout: Optional[float] = None) -> list[Event]:
        """All events so far."""
        return self._send(requests.get_task_timeline(task_id), timeout)

    def wait(self, task_id: str, timeout: Optional[float] = None, poll_interval: float = 2.0) -> Task:
        """Wait until a task is over, whichever way; ``status``, ``result`` and ``error`` say which.

        Args:
            task_id: The task.
            timeout: Longest wait in seconds; default: as long as it takes.
            poll_interval: Seconds between two looks.

        Raises:
            WaitTimeoutError: The task goes on.
        """
        began = monotonic()
        reached: Optional[float] = None
        while True:
            left = None if timeout is None else timeout - (monotonic() - began)
            try:
                task = self.get_status(task_id, self._timeout if left is None else max(left, 1.0))
                reached = monotonic()
                if task.status.is_over:
                    return task
            except PlangateError as error:
                if not is_passing(error) or reached is None or monotonic() - reached > _AWAY_SECONDS:
                    raise
            if left is not None and left <= poll_interval:
                raise WaitTimeoutError(f"task {task_id} is not over after {timeout} s; it goes on")
            time.sleep(poll_interval)

    def cancel(self, task_id: str, reason: Optional[str] = None, timeout: Optional[float] = None) -> bool:
        """Cancel a task. True where that is on its way; again is no error."""
        return self._send(requests.control(task_id, "cancel", reason, _once(None)), timeout)

    def pause_task(self, task_id: str, reason: Optional[str] = None, timeout: Optional[float] = None) -> bool:
        """Pause a task; the deadline of its review goes on."""
        return self._send(requests.control(task_id, "pause", reason, _once(None)), timeout)

    def resume_task(self, task_id: str, reason: Optional[str] = None, timeout: Optional[float] = None) -> bool:
        """Let a paused task go on."""
        return self._send(requests.control(task_id, "resume", reason, _once(None)), timeout)

    def get_control_state(self, task_id: str, timeout: Optional[float] = None) -> ControlState:
        """Whether a task is paused or cancelled, by whom and why."""
        return self._send(requests.get_control_state(task_id), timeout)

    # The review of a plan

    def get_review_state(
        self, workflow_id: str, *, wait: Optional[int] = None, timeout: Optional[float] = None
    ) -> ReviewState:
        """A review as it stands. Where the first plan is still being made, the gateway waits for it.

        Args:
            workflow_id: The task.
            wait: How long the gateway may wait, 0 to 25 seconds; default 20.
            timeout: Seconds for the answer.

        Raises:
            NotFoundError: There is no review, or not yet.
        """
        return self._send(requests.get_review_state(workflow_id, wait), timeout)

    def wait_for_review(self, workflow_id: str, timeout: Optional[float] = None) -> ReviewState:
        """Wait, however long it takes, until there is a first plan or a question of the planner.

        Raises:
            TaskEndedError: The task ended without one.
            NotFoundError: The task is none whose plan is reviewed.
            WaitTimeoutError: There is none after ``timeout`` seconds; the task goes on.
        """
        began = monotonic()
        while True:
            left = None if timeout is None else timeout - (monotonic() - began)
            if left is not None and left <= 0:
                raise WaitTimeoutError(f"task {workflow_id} has no plan after {timeout} s; it goes on")
            wait = _PLAN_SECONDS if left is None else min(_PLAN_SECONDS, int(left))
            asked = monotonic()
            try:
                return self.get_review_state(workflow_id, wait=wait)
            except NotFoundError as error:
                if error.code != "review_not_found":
                    raise
                task = self.get_status(workflow_id)
                if task.status.is_over:
                    raise TaskEndedError(task) from error
                # The gateway waits only where a review will come.
                if monotonic() - asked < wait / 2:
                    raise
                time.sleep(0.2)

    def submit_review_feedback(
        self,
        workflow_id: str,
        message: str,
        *,
        version: Optional[int] = None,
        idempotency_key: Optional[str] = None,
        timeout: Optional[float] = None,
    ) -> FeedbackAnswer:
        """Ask the planner to change the plan, or answer its question. Takes as long as the model does.

        Args:
            workflow_id: The task.
            message: What to change.
            version: The version that was read; without it, whatever is there now is changed.
            idempotency_key: To ask again later without doing it twice.
            timeout: Seconds for the answer.

        Raises:
            ConflictError: The review is no longer the one that was read, or its rounds are used up.
            BadGatewayError: The model failed; nothing has changed.
        """
        action = {"action": "feedback", "message": message}
        headers = _once(idempotency_key)
        return self._send(requests.act(FeedbackAnswer, workflow_id, action, version, headers), timeout)

    def approve_review(
        self,
        workflow_id: str,
        *,
        version: Optional[int] = None,
        idempotency_key: Optional[str] = None,
        timeout: Optional[float] = None,
    ) -> Approval:
        """Approve the plan: with ``version``, exactly the one that was read is executed.

        Raises:
            ConflictError: It is no longer the plan, or the review is closed.
        """
        action = {"action": "approve"}
        headers = _once(idempotency_key)
        return self._send(requests.act(Approval, workflow_id, action, version, headers), timeout)

    def edit_review(
        self,
        workflow_id: str,
        plan: str,
        *,
        version: Optional[int] = None,
        idempotency_key: Optional[str] = None,
        timeout: Optional[float] = None,
    ) -> ReviewState:
        """Put a text of one's own in the place of the plan; without a model, and without using a round."""
        action = {"action": "edit", "plan": plan}
        headers = _once(idempotency_key)
        return self._send(requests.act(ReviewState, workflow_id, action, version, headers), timeout)

    def reject_review(
        self,
        workflow_id: str,
        reason: Optional[str] = None,
        *,
        version: Optional[int] = None,
        idempotency_key: Optional[str] = None,
        timeout: Optional[float] = None,
    ) -> ReviewState:
        """Refuse the plan for good; the task ends, and the reason stands in its ``error``."""
        action = {"action": "reject", "reason": reason}
        headers = _once(idempotency_key)
        return self._send(requests.act(ReviewState, workflow_id, action, version, headers), timeout)

    def extend_review(
        self,
        workflow_id: str,
        seconds: int,
        *,
        version: Optional[int] = None,
        idempotency_key: Optional[str] = None,
        timeout: Optional[float] = None,
    ) -> ReviewState:
        """Move the deadline by so many seconds."""
        action = {"action": "extend", "seconds": seconds}
        headers = _once(idempotency_key)
        return self._send(requests.act(ReviewState, workflow_id, action, version, headers), timeout)

    def get_review_versions(self, workflow_id: str, timeout: Optional[float] = None) -> list[PlanVersion]:
        """Every text that was the plan."""
        return self._send(requests.get_review_versions(workflow_id), timeout)

    def get_review_diff(
        self, workflow_id: str, from_version: int, to_version: int, timeout: Optional[float] = None
    ) -> PlanDiff:
        """What changed between two of them, word by word."""
        return self._send(requests.get_review_diff(workflow_id, from_version, to_version), timeout)

    def get_review_audit(self, workflow_id: str, timeout: Optional[float] = None) -> list[AuditEntry]:
        """Every step and every refusal, chained by hash."""
        return self._send(requests.get_review_audit(workflow_id), timeout)

    # Sessions

    def list_sessions(
        self, *, limit: int = 20, offset: int = 0, timeout: Optional[float] = None
    ) -> tuple[list[SessionSummary], int]:
        """One's own sessions, and how many there are in all."""
        return self._send(requests.list_sessions({"limit": limit, "offset": offset}), timeout)

    def get_session(self, session_id: str, timeout: Optional[float] = None) -> Session:
        """A session."""
        return self._send(requests.get_session(session_id), timeout)

    def get_session_history(self, session_id: str, timeout: Optional[float] = None) -> list[SessionTask]:
        """All tasks of a session, oldest first."""
        return self._send(requests.get_session_history(session_id), timeout)

    def get_session_events(
        self,
        session_id: str,
        *,
        limit: int = 10,
        offset: int = 0,
        timeout: Optional[float] = None,
    ) -> tuple[list[SessionTurn], int]:
        """The tasks of a session with what happened in them, and how many there are in all."""
        query = {"limit": limit, "offset": offset, "include_payload": "true"}
        return self._send(requests.get_session_events(session_id, query), timeout)

    def update_session_title(self, session_id: str, title: str, timeout: Optional[float] = None) -> str:
        """Give a session another title, 60 characters at most; the title as it is kept."""
        return self._send(requests.update_session_title(session_id, title), timeout)

    def delete_session(self, session_id: str, timeout: Optional[float] = None) -> None:
        """Remove a session; again is no error."""
        self._send(requests.delete_session(session_id), timeout)

    # The gateway

    def health(self, timeout: Optional[float] = None) -> dict[str, Any]:
        """Whether the gateway is up."""
        return self._send(requests.get_document("/health"), timeout)

    def readiness(self, timeout: Optional[float] = None) -> dict[str, Any]:
        """Whether every part that it needs answers; a ``ServiceUnavailableError`` otherwise."""
        return self._send(requests.get_document("/readiness"), timeout)

    def get_openapi_spec(self, timeout: Optional[float] = None) -> dict[str, Any]:
        """The description of the API."""
        return self._send(requests.get_document("/openapi.json"), timeout)

    # Events

    def stream(
        self,
        workflow_id: str,
        *,
        types: Optional[list[str]] = None,
        last_event_id: Optional[str] = None,
    ) -> Iterator[Union[Event, Gap]]:
        """Every event of a workflow once, in order, to its end.

        A stream that breaks off is opened again after the last event that was taken. A ``Gap`` says that
        events in between are no longer kept.

        Args:
            workflow_id: The task.
            types: Only these, such as ``["RESEARCH_PLAN_READY"]``.
            last_event_id: ``stream_id`` of the event to go on after; default: from the first.

        Raises:
            NotFoundError: There is no such task.
            APIConnectionError: The gateway cannot be reached, or was away for more than five minutes.
        """
        cursor = Cursor(last_event_id)
        reached: Optional[float] = None
        failures = 0
        while True:
            fault: Optional[PlangateError] = None
            url = f"{self._base_url}/api/v1/stream/sse"
            query = requests.stream_query(workflow_id, types, cursor.last_event_id)
            headers = {**self._headers, "Accept": "text/event-stream", "Cache-Control": "no-store"}
            if cursor.last_event_id:
                headers["Last-Event-ID"] = cursor.last_event_id
            limits = httpx.Timeout(self._timeout, read=_SILENCE_SECONDS)
            try:
                with self._http.stream("GET", url, params=query, headers=headers, timeout=limits) as response:
                    if response.status_code != 200:
                        response.read()
                        if response.is_success:
                            return
                        raise failure_of(response)
                    reached = monotonic()
                    for frame in EventSource(response).iter_sse():
                        item = cursor.take(frame)
                        if cursor.is_done:
                            return
                        if item is not None:
                            failures = 0
                            yield item
                        reached = monotonic()
            except SSEError as error:
                raise PlangateError(f"GET {url}: no event stream ({error}): check base_url") from error
            except httpx.TransportError as error:
                fault = fault_of(error, "GET", url)
                if reached is None:
                    raise fault from error
            except PlangateError as error:
                if not is_passing(error) or reached is None:
                    raise
                fault = error
            if fault is not None and reached is not None and monotonic() - reached > _AWAY_SECONDS:
                raise fault
            grown = min(_LONGEST_PAUSE_SECONDS, cursor.retry_seconds * 2.0**failures)
            asked = delay_seconds(fault, 0, random.random())
            failures += 1
            time.sleep(max(grown * (0.75 + random.random() / 4), asked))

    # The connection

    def close(self) -> None:
        """Close the connections."""
        if self._owns_http:
            self._http.close()

    def __enter__(self) -> Plangate:
        return self

    def __exit__(
        self,
        exc_type: Optional[type[BaseException]],
        exc: Optional[BaseException],
        traceback: Optional[TracebackType],
    ) -> None:
        self.close()

    def _send(self, request: requests.Request[T], timeout: Optional[float]) -> T:
        limit = self._timeout if timeout is None else timeout
        if limit <= 0:
            raise ValueError("timeout must be more than 0")
        ends = monotonic() + limit
        attempt = 0
        while True:
            try:
                return self._attempt(request, ends - monotonic())
            except PlangateError as error:
                pause = delay_seconds(error, attempt, random.random())
                worthwhile = is_passing(error) or is_in_progress(error)
                if not worthwhile or attempt >= self._max_retries or monotonic() + pause >= ends:
                    raise
            attempt += 1
            time.sleep(pause)

    def _attempt(self, request: requests.Request[T], seconds: float) -> T:
        url = f"{self._base_url}{request.path}"
        try:
            response = self._http.request(
                request.method,
                url,
                params=dict(request.query) or None,
                json=None if request.json is None else dict(request.json),
                headers={**self._headers, **request.headers},
                timeout=seconds,
            )
        except httpx.TransportError as error:
            raise fault_of(error, request.method, url) from error
        return request.read(answer_of(response))


def _once(idempotency_key: Optional[str]) -> dict[str, str]:
    """A key of its own for every call, so that further attempts at it do nothing twice."""
    return {"Idempotency-Key": idempotency_key or str(uuid.uuid4())}
