"""What the gateway tells of itself."""

from __future__ import annotations

from typing import Any, Optional

from .. import _requests as requests
from .transport import Transport


class GatewayMethods(Transport):
    """What the gateway tells of itself."""

    def health(self, timeout: Optional[float] = None) -> dict[str, Any]:
        """Whether the gateway is up."""
        return self._send(requests.get_document("/health"), timeout)

    def readiness(self, timeout: Optional[float] = None) -> dict[str, Any]:
        """Whether every part that it needs answers; a ``ServiceUnavailableError`` otherwise."""
        return self._send(requests.get_document("/readiness"), timeout)

    def get_openapi_spec(self, timeout: Optional[float] = None) -> dict[str, Any]:
        """The description of the API."""
        return self._send(requests.get_document("/openapi.json"), timeout)
