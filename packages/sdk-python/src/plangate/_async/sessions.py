"""Sessions (contract/plan-review.md §1)."""

from __future__ import annotations

from typing import Optional

from .. import _requests as requests
from ..models import Session, SessionSummary, SessionTask, SessionTurn
from .transport import Transport


class SessionMethods(Transport):
    """What can be done with sessions."""

    async def list_sessions(
        self, *, limit: int = 20, offset: int = 0, timeout: Optional[float] = None
    ) -> tuple[list[SessionSummary], int]:
        """One's own sessions, and how many there are in all."""
        return await self._send(requests.list_sessions({"limit": limit, "offset": offset}), timeout)

    async def get_session(self, session_id: str, timeout: Optional[float] = None) -> Session:
        """A session."""
        return await self._send(requests.get_session(session_id), timeout)

    async def get_session_history(self, session_id: str, timeout: Optional[float] = None) -> list[SessionTask]:
        """All tasks of a session, oldest first."""
        return await self._send(requests.get_session_history(session_id), timeout)

    async def get_session_events(
        self,
        session_id: str,
        *,
        limit: int = 10,
        offset: int = 0,
        timeout: Optional[float] = None,
    ) -> tuple[list[SessionTurn], int]:
        """The tasks of a session with what happened in them, and how many there are in all."""
        query = {"limit": limit, "offset": offset, "include_payload": "true"}
        return await self._send(requests.get_session_events(session_id, query), timeout)

    async def update_session_title(self, session_id: str, title: str, timeout: Optional[float] = None) -> str:
        """Give a session another title, 60 characters at most; the title as it is kept."""
        return await self._send(requests.update_session_title(session_id, title), timeout)

    async def delete_session(self, session_id: str, timeout: Optional[float] = None) -> None:
        """Remove a session; again is no error."""
        await self._send(requests.delete_session(session_id), timeout)
