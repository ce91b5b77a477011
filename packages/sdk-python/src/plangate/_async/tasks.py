"""Tasks (contract/plan-review.md §1)."""

from __future__ import annotations

from time import monotonic
from typing import Any, Optional, Union

import anyio

from .. import _requests as requests
from ..errors import PlangateError, WaitTimeoutError
from ..models import ControlState, Event, Task, TaskHandle, TaskRef, TaskStatus, TaskSummary
from .transport import Transport, once


class TaskMethods(Transport):
    """What can be done with tasks."""

    async def submit_task(
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
        return await self._send(requests.submit_task(body, once(idempotency_key)), timeout)

    async def submit_and_stream(
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
        return await self._send(requests.submit_and_stream(body, once(idempotency_key)), timeout)

    async def get_status(self, task_id: TaskRef, timeout: Optional[float] = None) -> Task:
        """A task as it stands, with its result once there is one."""
        return await self._send(requests.get_status(task_id), timeout)

    async def list_tasks(
        self,
        *,
        limit: int = 20,
        offset: int = 0,
        status: Optional[Union[str, TaskStatus]] = None,
        session_id: Optional[str] = None,
        timeout: Optional[float] = None,
    ) -> tuple[list[TaskSummary], int]:
        """One's own tasks, newest first, and how many there are in all."""
        query = {"limit": limit, "offset": offset, "status": status, "session_id": session_id}
        return await self._send(requests.list_tasks(query), timeout)

    async def get_task_events(
        self, task_id: TaskRef, *, limit: int = 50, offset: int = 0, timeout: Optional[float] = None
    ) -> list[Event]:
        """A page of the events so far."""
        query = {"limit": limit, "offset": offset}
        return await self._send(requests.get_task_events(task_id, query), timeout)

    async def get_task_timeline(self, task_id: TaskRef, timeout: Optional[float] = None) -> list[Event]:
        """All events so far."""
        return await self._send(requests.get_task_timeline(task_id), timeout)

    async def wait(self, task_id: TaskRef, timeout: Optional[float] = None, poll_interval: float = 2.0) -> Task:
        """Wait until a task is over, whichever way; ``status``, ``result`` and ``error`` say which.

        Args:
            task_id: The task.
            timeout: Longest wait in seconds; default: as long as it takes.
            poll_interval: Seconds between two looks.

        Raises:
            WaitTimeoutError: The task goes on.
        """
        ends = None if timeout is None else monotonic() + timeout
        while True:
            limit = self._timeout if ends is None else max(ends - monotonic(), 1.0)
            try:
                task = await self.get_status(task_id, limit)
                if task.status.is_over:
                    return task
            except PlangateError as error:
                if not self._outlives(error):
                    raise
            if ends is not None and monotonic() >= ends:
                raise WaitTimeoutError(f"task {requests.id_of(task_id)} is not over after {timeout} s; it goes on")
            await anyio.sleep(poll_interval if ends is None else min(poll_interval, max(ends - monotonic(), 0.0)))

    async def cancel(self, task_id: TaskRef, reason: Optional[str] = None, timeout: Optional[float] = None) -> bool:
        """Cancel a task. True where that is on its way; again is no error."""
        return await self._send(requests.control(task_id, "cancel", reason, once(None)), timeout)

    async def pause_task(self, task_id: TaskRef, reason: Optional[str] = None, timeout: Optional[float] = None) -> bool:
        """Pause a task; the deadline of its review goes on."""
        return await self._send(requests.control(task_id, "pause", reason, once(None)), timeout)

    async def resume_task(
        self, task_id: TaskRef, reason: Optional[str] = None, timeout: Optional[float] = None
    ) -> bool:
        """Let a paused task go on."""
        return await self._send(requests.control(task_id, "resume", reason, once(None)), timeout)

    async def get_control_state(self, task_id: TaskRef, timeout: Optional[float] = None) -> ControlState:
        """Whether a task is paused or cancelled, by whom and why."""
        return await self._send(requests.get_control_state(task_id), timeout)
