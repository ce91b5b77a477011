"""When another attempt is worth while, and after how long. No I/O here."""

from __future__ import annotations

from typing import Optional

from .errors import APIConnectionError, APITimeoutError, ConflictError, PlangateError, StatusError

_FIRST_DELAY_SECONDS = 0.5
_LONGEST_DELAY_SECONDS = 8.0


def is_passing(error: Exception) -> bool:
    """True for faults that pass by themselves. A limit of the caller that is used up is none of them."""
    if isinstance(error, APIConnectionError):
        return not isinstance(error, APITimeoutError)
    if not isinstance(error, StatusError):
        return False
    if error.status in (429, 503):
        return True
    # A proxy whose gateway is away; a 502 of the gateway itself says that a model failed.
    return error.body is None and error.status in (502, 504)


def is_in_progress(error: Exception) -> bool:
    """True where the gateway is still at work on the same change, whose first answer was lost."""
    return isinstance(error, ConflictError) and error.retry_after_seconds is not None


def delay_seconds(error: Optional[PlangateError], attempt: int, chance: float) -> float:
    """How long to wait: what ``Retry-After`` says, else growing with the attempts; spread by ``chance`` (0 to 1)."""
    asked = error.retry_after_seconds if isinstance(error, StatusError) else None
    if asked is not None:
        return float(asked + chance * 0.25)
    grown = min(_LONGEST_DELAY_SECONDS, _FIRST_DELAY_SECONDS * 2.0**attempt)
    return grown * (0.75 + chance / 4)
