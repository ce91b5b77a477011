"""An HTTP server on loopback that answers by script and keeps what it was asked."""

from __future__ import annotations

import json
import socket
import struct
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Optional, Union
from urllib.parse import parse_qsl, urlsplit


@dataclass(frozen=True)
class Reply:
    """One answer."""

    status: int = 200
    body: Union[bytes, str, Mapping[str, Any]] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    #: What becomes of the connection after the body: a whole answer, or one that breaks off.
    breaks: bool = False
    #: How long the connection stays open after the body, in seconds.
    lasts: float = 0.0
    #: True: no answer at all, the connection is reset.
    resets: bool = False
    #: True: no answer before the server ends.
    hangs: bool = False


@dataclass(frozen=True)
class Asked:
    """One request."""

    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: Any


class ScriptedGateway:
    """Gives the replies in their order, then the last one again and again."""

    def __init__(self, *replies: Reply) -> None:
        self.asked: list[Asked] = []
        self._replies = list(replies)
        self._ended = threading.Event()
        gateway = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def handle_any(self) -> None:
                gateway._answer(self)

            do_GET = do_POST = do_PATCH = do_DELETE = handle_any

            def log_message(self, format: str, *args: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)

    def __enter__(self) -> ScriptedGateway:
        self._thread.start()
        return self

    def __exit__(
        self,
        exc_type: Optional[type[BaseException]],
        exc: Optional[BaseException],
        traceback: Optional[TracebackType],
    ) -> None:
        self._ended.set()
        self._server.shutdown()
        self._server.server_close()

    def _answer(self, handler: BaseHTTPRequestHandler) -> None:
        length = int(handler.headers.get("content-length", 0))
        sent = handler.rfile.read(length)
        url = urlsplit(handler.path)
        self.asked.append(
            Asked(
                handler.command,
                url.path,
                dict(parse_qsl(url.query)),
                {name.lower(): value for name, value in handler.headers.items()},
                json.loads(sent) if sent else None,
            )
        )
        reply = self._replies.pop(0) if len(self._replies) > 1 else self._replies[0]
        handler.close_connection = True
        if reply.hangs:
            self._ended.wait(30)
            return
        if reply.resets:
            _reset(handler.connection)
            return
        body = reply.body
        content = json.dumps(body).encode() if isinstance(body, Mapping) else _bytes(body)
        handler.send_response(reply.status)
        headers = {
            "content-type": "application/json",
            "x-request-id": "req-1",
            "connection": "close",
            **reply.headers,
        }
        if reply.status != 204:
            headers["content-length"] = str(len(content) + (1 if reply.breaks else 0))
        for name, value in headers.items():
            handler.send_header(name, value)
        handler.end_headers()
        if reply.status != 204:
            handler.wfile.write(content)
        self._ended.wait(reply.lasts)


def events(*frames: str, breaks: bool = False, lasts: float = 0.0) -> Reply:
    """A stream of events; ``breaks``: it breaks off before its end, after so many seconds."""
    return Reply(body="".join(frames), headers={"content-type": "text/event-stream"}, breaks=breaks, lasts=lasts)


def event(seq: int, type_: str = "PROGRESS", message: Optional[str] = None) -> str:
    data = {
        "workflow_id": "task-1",
        "type": type_,
        "agent_id": "planner",
        "message": f"message {seq}" if message is None else message,
        "timestamp": "2026-01-15T10:30:00.000Z",
        "seq": seq,
        "stream_id": f"1700-{seq}",
    }
    return f"id: 1700-{seq}\nevent: {type_}\ndata: {json.dumps(data, ensure_ascii=False)}\n\n"


DONE = "id: 1700-99\nevent: done\ndata: [DONE]\n\n"


def error(status: int, code: str, text: str = "No", **more: Any) -> Reply:  # noqa: ANN401
    headers = {name.replace("_", "-"): str(value) for name, value in more.pop("headers", {}).items()}
    return Reply(status, {"error": text, "code": code, **more}, headers)


def _bytes(body: Union[bytes, str]) -> bytes:
    return body if isinstance(body, bytes) else body.encode()


def _reset(connection: socket.socket) -> None:
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()
