"""How requests and answers stand in terms of httpx, for both clients. No I/O here."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Optional

import httpx

from ._requests import Answer
from .errors import APIConnectionError, APITimeoutError, Failure, PlangateError, StatusError, error_of

_HEADER_VALUE = re.compile(r"[\x21-\x7e]+")


def credentials(api_key: Optional[str], bearer_token: Optional[str]) -> dict[str, str]:
    """The header that says who asks; checked here, as an error later would show it."""
    if api_key and bearer_token:
        raise ValueError("pass api_key or bearer_token, not both")
    for name, value in (("api_key", api_key), ("bearer_token", bearer_token)):
        if value and not _HEADER_VALUE.fullmatch(value):
            raise ValueError(f"{name} has characters that no credential has")
    if bearer_token:
        return {"Authorization": f"Bearer {bearer_token}"}
    return {"X-API-Key": api_key} if api_key else {}


def address(base_url: str) -> str:
    """The address without a slash at its end."""
    try:
        is_address = bool(re.match(r"https?://[^/]", base_url) and httpx.URL(base_url).host)
    except httpx.InvalidURL:
        is_address = False
    if not is_address:
        raise ValueError(f"base_url is no address: {base_url!r}; one is http://localhost:8080")
    return base_url.rstrip("/")


def answer_of(response: httpx.Response) -> Answer:
    """A success with its body, which has been read.

    Raises:
        StatusError: for every other answer.
    """
    if not response.is_success:
        raise failure_of(response)
    if response.status_code == 204:
        return Answer(response.headers, None)
    try:
        return Answer(response.headers, response.json())
    except ValueError as error:
        raise PlangateError(
            f"{_name(response.request)}: the response is not JSON: is base_url that of a Plangate gateway?"
        ) from error


def failure_of(response: httpx.Response) -> StatusError:
    """The error for an answer that is no success; its body has been read."""
    return error_of(Failure(response.status_code, response.headers, _error_body(response), _name(response.request)))


def fault_of(error: httpx.RequestError, method: str, url: str) -> PlangateError:
    """The error for no answer, or one that cannot be read."""
    reason = str(error) or type(error).__name__
    if isinstance(error, httpx.TimeoutException):
        return APITimeoutError(
            f"{method} {url}: no answer in time ({type(error).__name__}); it may have been done nevertheless. "
            "Ask again, or give it more with timeout=."
        )
    if not isinstance(error, httpx.TransportError):
        return PlangateError(f"{method} {url}: the response cannot be read ({reason}): check base_url and the proxy")
    return APIConnectionError(
        f"{method} {url}: no answer ({reason}). Is the gateway running there? `npm start` starts one."
    )


def _error_body(response: httpx.Response) -> Optional[Mapping[str, Any]]:
    try:
        body = response.json()
    except ValueError:
        return None
    return body if isinstance(body, dict) and "error" in body and "code" in body else None


def _name(request: httpx.Request) -> str:
    return f"{request.method} {request.url.path}"
