"""Both clients under one face, so that every test is a test of both."""

from __future__ import annotations

from typing import Any, Union

import anyio

from plangate import AsyncPlangate, Event, Gap, Plangate

Client = Union[Plangate, AsyncPlangate]


class SyncFace:
    """The synchronous client."""

    def __init__(self, url: str, **options: Any) -> None:  # noqa: ANN401
        self._url, self._options = url, options

    def call(self, method: str, *args: Any, **options: Any) -> Any:  # noqa: ANN401
        with Plangate(self._url, **self._options) as client:
            return getattr(client, method)(*args, **options)

    def stream(self, *args: Any, **options: Any) -> list[Union[Event, Gap]]:  # noqa: ANN401
        with Plangate(self._url, **self._options) as client:
            return list(client.stream(*args, **options))


class AsyncFace:
    """The asynchronous client, on the given loop."""

    backend = "asyncio"

    def __init__(self, url: str, **options: Any) -> None:  # noqa: ANN401
        self._url, self._options = url, options

    def call(self, method: str, *args: Any, **options: Any) -> Any:  # noqa: ANN401
        async def run() -> Any:  # noqa: ANN401
            async with AsyncPlangate(self._url, **self._options) as client:
                return await getattr(client, method)(*args, **options)

        return anyio.run(run, backend=self.backend)

    def stream(self, *args: Any, **options: Any) -> list[Union[Event, Gap]]:  # noqa: ANN401
        async def run() -> list[Union[Event, Gap]]:
            async with AsyncPlangate(self._url, **self._options) as client:
                return [item async for item in client.stream(*args, **options)]

        return anyio.run(run, backend=self.backend)


class TrioFace(AsyncFace):
    """The asynchronous client on trio."""

    backend = "trio"


FACES = [SyncFace, AsyncFace]
Face = Union[type[SyncFace], type[AsyncFace]]
