"""Makes the synchronous client from the asynchronous one: ``python scripts/make_sync.py [--check]``."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import unasync  # type: ignore[import-untyped]

PACKAGE = Path(__file__).parents[1]
SOURCE = PACKAGE / "src" / "plangate" / "_async" / "client.py"
TARGET = PACKAGE / "src" / "plangate" / "_sync" / "client.py"

NAMES = {
    "AsyncPlangate": "Plangate",
    "AsyncClient": "Client",
    "anyio": "time",
    "aiter_sse": "iter_sse",
    "aread": "read",
    "aclose": "close",
}

#: Words of docstrings, which are no names.
WORDS = {
    "The asynchronous client. The synchronous one is made from this file by ``scripts/make_sync.py``.": (
        "The synchronous client, made from the asynchronous one by ``scripts/make_sync.py``: change that one."
    ),
    "An asynchronous client of Plangate; runs on asyncio and on trio.": "A client of Plangate.",
}


def make() -> str:
    """The source of the synchronous client."""
    with tempfile.TemporaryDirectory() as folder:
        written = Path(folder) / "_async" / "client.py"
        written.parent.mkdir()
        source = SOURCE.read_text(encoding="utf-8")
        for old, new in WORDS.items():
            assert old in source, old
            source = source.replace(old, new)
        written.write_text(source, encoding="utf-8")
        rule = unasync.Rule("/_async/", "/_sync/", additional_replacements=NAMES)
        unasync.unasync_files([str(written)], [rule])
        made = Path(folder) / "_sync" / "client.py"
        for command in (["check", "--select", "I", "--fix", "--quiet"], ["format", "--quiet"]):
            config = PACKAGE / "pyproject.toml"
            subprocess.run(
                [sys.executable, "-m", "ruff", *command, "--no-cache", "--config", str(config), str(made)],
                check=True,
            )
        return made.read_text(encoding="utf-8")


def main() -> int:
    if "--check" in sys.argv[1:]:
        if TARGET.read_text(encoding="utf-8") == make():
            return 0
        print(f"{TARGET.name} is not made from {SOURCE.name} as it stands: run {Path(__file__).name}")
        return 1
    TARGET.write_text(make(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
