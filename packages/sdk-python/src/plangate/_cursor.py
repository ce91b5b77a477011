"""The position of a reader on a stream of events. No I/O here."""

from __future__ import annotations

import json
from typing import Any, Optional, Union

from httpx_sse import ServerSentEvent

from ._decode import decode
from .models import Event, Gap

#: How many ids are remembered: more than a gateway sends again.
_REMEMBERED = 10_000

#: Names of a stream under which the text stands in another field than ``message``.
_TEXT_FIELDS = {"thread.message.delta": "delta", "thread.message.completed": "response"}


class Cursor:
    """Knows what has been told already, where to go on, and when all is told."""

    def __init__(self, last_event_id: Optional[str]) -> None:
        #: Id of the last event that was taken.
        self.last_event_id = last_event_id
        #: What the gateway asks for before coming back.
        self.retry_seconds = 2.0
        #: True once ``done`` has come.
        self.is_done = False
        self._seen: dict[str, None] = {}

    def take(self, frame: ServerSentEvent) -> Optional[Union[Event, Gap]]:
        """What a frame tells; None where that is nothing new."""
        if frame.retry is not None:
            self.retry_seconds = frame.retry / 1000
        if frame.data == "":
            return None
        if frame.event == "done":
            self.is_done = True
            return None
        data = _json(frame.data)
        if data is None:
            return None
        if frame.event == "gap":
            return decode(Gap, data)
        if frame.id:
            if frame.id in self._seen:
                return None
            self._seen[frame.id] = None
            if len(self._seen) > _REMEMBERED:
                del self._seen[next(iter(self._seen))]
            self.last_event_id = frame.id
        text = _TEXT_FIELDS.get(frame.event)
        message = data.get(text or "message", "")
        return decode(Event, {**data, "type": frame.event, "message": message})


def _json(text: str) -> Optional[dict[str, Any]]:
    """Data that is no JSON object is no event of Plangate and left out."""
    try:
        data = json.loads(text)
    except ValueError:
        return None
    return data if isinstance(data, dict) else None
