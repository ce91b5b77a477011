"""Events, live (contract/plan-review.md §3)."""

from __future__ import annotations

import random
import time
from collections.abc import Generator
from time import monotonic
from typing import Optional, Union

import httpx
from httpx_sse import EventSource, SSEError

from .. import _requests as requests
from .._cursor import Cursor
from .._http import failure_of, fault_of
from .._retry import delay_seconds, is_passing
from ..errors import PlangateError
from ..models import Event, Gap, TaskRef
from .transport import AWAY_SECONDS, Transport

#: Longest silence of a stream in seconds: the gateway sends at least a comment every ten.
_SILENCE_SECONDS = 45.0
_LONGEST_PAUSE_SECONDS = 30.0
#: How often a pause is doubled at most.
_LONGEST_GROWTH = 10


class EventMethods(Transport):
    """The events of a workflow."""

    def stream(
        self,
        workflow_id: TaskRef,
        *,
        types: Union[str, list[str], None] = None,
        last_event_id: Union[str, int, None] = None,
    ) -> Generator[Union[Event, Gap]]:
        """Every event of a workflow once, in order, to its end.

        A stream that breaks off is opened again after the last event that was taken. A ``Gap`` says that
        events in between are no longer kept. Where it is left before its end, closing it ends its connection at once.

        Args:
            workflow_id: The task.
            types: Only these, such as ``["RESEARCH_PLAN_READY"]``, or one alone.
            last_event_id: ``stream_id`` or ``seq`` of the event to go on after; default: from the first.

        Raises:
            NotFoundError: There is no such task.
            APIConnectionError: The gateway cannot be reached at first, or was away for more than five minutes.
        """
        cursor = Cursor(None if last_event_id is None else str(last_event_id))
        reached: Optional[float] = None
        failures = 0
        while True:
            fault: Optional[PlangateError] = None
            opened: Optional[float] = None
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
                    opened = reached = monotonic()
                    for frame in EventSource(response).iter_sse():
                        item = cursor.take(frame)
                        if cursor.is_done:
                            return
                        if item is not None:
                            failures = 0
                            yield item
            except SSEError as error:
                raise PlangateError(f"GET {url}: no event stream ({error}): check base_url") from error
            except httpx.RequestError as error:
                fault = fault_of(error, "GET", url)
                if not isinstance(error, httpx.TransportError):
                    raise fault from error
                fault.__cause__ = error
            except PlangateError as error:
                if not is_passing(error):
                    raise
                fault = error
            if opened is not None:
                # Also a stream on which nothing was told is a gateway that was there until now.
                reached = monotonic()
                failures = 0 if reached - opened > _LONGEST_PAUSE_SECONDS else failures
            asked = delay_seconds(fault, failures if reached is None else 0, random.random())
            if fault is not None and self._gives_up(fault, reached, failures, asked):
                raise fault
            grown = min(_LONGEST_PAUSE_SECONDS, cursor.retry_seconds * 2.0 ** min(failures, _LONGEST_GROWTH))
            failures += 1
            time.sleep(asked if reached is None else max(grown * (0.75 + random.random() / 4), asked))

    def _gives_up(self, fault: PlangateError, reached: Optional[float], failures: int, pause: float) -> bool:
        """True where opening a stream, or coming back to it, is hopeless."""
        if reached is None:
            return not is_passing(fault) or failures >= self._max_retries or pause > self._timeout
        return monotonic() - reached > AWAY_SECONDS
