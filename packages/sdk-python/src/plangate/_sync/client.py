"""The synchronous client. Made from the asynchronous one by ``scripts/make_sync.py``: change that one."""

from __future__ import annotations

from types import TracebackType
from typing import Optional

import httpx

from .events import EventMethods
from .gateway import GatewayMethods
from .review import ReviewMethods
from .sessions import SessionMethods
from .tasks import TaskMethods


class Plangate(TaskMethods, ReviewMethods, EventMethods, SessionMethods, GatewayMethods):
    """A client of Plangate.

    Every method but ``stream`` takes ``timeout`` in seconds: no attempt begins after it, and none waits longer for
    the network to go on. 429, 503 and broken connections are tried again after ``Retry-After``; every POST carries
    an ``Idempotency-Key``, so that it is done once. The methods raise the classes of ``plangate.errors``.
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
        super().__init__(base_url, api_key, bearer_token, default_timeout, max_retries, http_client)

    def __enter__(self) -> Plangate:
        return self

    def __exit__(
        self,
        exc_type: Optional[type[BaseException]],
        exc: Optional[BaseException],
        traceback: Optional[TracebackType],
    ) -> None:
        self.close()
