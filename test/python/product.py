"""The running product, as the suites in Python see it."""

from __future__ import annotations

import json
import os
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Callable, TypeVar

PROJECT = Path(__file__).parents[2]
PROGRAM = PROJECT / "packages" / "devstack" / "src" / "python" / "product.ts"
T = TypeVar("T")


@dataclass
class Product:
    """Two gateways over one store: ``open`` needs no credentials, ``guarded`` wants one of ``keys``."""

    open: str
    guarded: str
    keys: dict[str, str]
    _process: subprocess.Popen[str] = field(repr=False)

    def kill_gateway(self) -> None:
        """Ends the open gateway with SIGKILL."""
        self._command("kill open")

    def restart_gateway(self) -> None:
        """Starts the open gateway again at the same address; returns when it serves."""
        self._command("restart open")

    def stop(self) -> None:
        assert self._process.stdin
        self._process.stdin.close()
        self._process.wait(60)

    def _command(self, line: str) -> None:
        assert self._process.stdin
        self._process.stdin.write(f"{line}\n")
        self._process.stdin.flush()
        assert _answer(self._process) == "ok"


def start_product() -> Product:
    """Starts the product under Node 24 (``PLANGATE_NODE``, or ``node`` on PATH) and waits until it serves."""
    process = subprocess.Popen(
        [os.environ.get("PLANGATE_NODE", "node"), str(PROGRAM)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    return Product(**_answer(process), _process=process)


def _answer(process: subprocess.Popen[str]) -> Any:  # noqa: ANN401
    assert process.stdout
    line = process.stdout.readline()
    if not line:
        raise RuntimeError("the product did not start, or ended; its reason stands above")
    return json.loads(line)


def until(look: Callable[[], T | None], limit_seconds: float = 30) -> T:
    """What ``look`` returns as soon as that is true; looks often."""
    end = time.monotonic() + limit_seconds
    while True:
        seen = look()
        if seen:
            return seen
        assert time.monotonic() < end, f"not within {limit_seconds} s"
        time.sleep(0.05)
