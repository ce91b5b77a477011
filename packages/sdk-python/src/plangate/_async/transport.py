"""Requests and their further attempts."""

from __future__ import annotations

import random
import uuid
from time import monotonic
from typing import Optional, TypeVar

import anyio
import httpx

from .. import _requests as requests
from .._http import address, answer_of, credentials, fault_of
from .._retry import delay_seconds, is_in_progress, is_passing
from ..errors import APITimeoutError, PlangateError

T = TypeVar("T")

#: How long a gateway that has answered before may be away while somebody waits or follows a stream, in seconds.
AWAY_SECONDS = 300.0


class Transport:
    """A connection to a gateway; sends requests, and again where that is worth while."""

    def __init__(
        self,
        base_url: str,
        api_key: Optional[str],
        bearer_token: Optional[str],
        default_timeout: float,
        max_retries: int,
        http_client: Optional[httpx.AsyncClient],
    ) -> None:
        self._base_url = address(base_url)
        self._headers = credentials(api_key, bearer_token)
        if default_timeout <= 0 or max_retries < 0:
            raise ValueError("default_timeout must be more than 0, max_retries not less")
        self._timeout = default_timeout
        self._max_retries = max_retries
        #: When the gateway last did what it was asked for.
        self._reached: Optional[float] = None
        self._owns_http = http_client is None
        self._http = http_client or httpx.AsyncClient()

    async def close(self) -> None:
        """Close the connections."""
        if self._owns_http:
            await self._http.aclose()

    async def _send(self, request: requests.Request[T], timeout: Optional[float]) -> T:
        limit = self._timeout if timeout is None else timeout
        if limit <= 0:
            raise ValueError("timeout must be more than 0")
        ends = monotonic() + limit
        attempt = 0
        while True:
            try:
                # A pause may have been longer than it should; the network takes no time below zero.
                return await self._attempt(request, max(ends - monotonic(), 0.01))
            except PlangateError as error:
                pause = delay_seconds(error, attempt, random.random())
                # While the first attempt is at work, asking for its answer is no further attempt at it.
                is_attempt = not is_in_progress(error)
                if is_attempt and (not is_passing(error) or attempt >= self._max_retries):
                    raise
                if monotonic() + pause >= ends:
                    raise
                attempt += is_attempt
            await anyio.sleep(pause)

    async def _attempt(self, request: requests.Request[T], seconds: float) -> T:
        url = f"{self._base_url}{request.path}"
        try:
            response = await self._http.request(
                request.method,
                url,
                params=dict(request.query) or None,
                json=None if request.json is None else dict(request.json),
                headers={**self._headers, **request.headers},
                timeout=seconds,
            )
        except httpx.RequestError as error:
            raise fault_of(error, request.method, url) from error
        result = requests.result_of(request, answer_of(response))
        self._reached = monotonic()
        return result

    def _outlives(self, error: PlangateError) -> bool:
        """True for a fault that a long wait outlives: it passes, and the gateway was there not too long ago.

        That no answer came in time passes too: the limit was the one of a single look.
        """
        passes = is_passing(error) or isinstance(error, APITimeoutError)
        return passes and self._reached is not None and monotonic() - self._reached <= AWAY_SECONDS


def once(idempotency_key: Optional[str]) -> dict[str, str]:
    """A key of its own for every call, so that further attempts at it do nothing twice."""
    return {"Idempotency-Key": idempotency_key or str(uuid.uuid4())}
