"""Makes the synchronous client from the asynchronous one: ``python scripts/make_sync.py [--check]``."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import unasync  # type: ignore[import-untyped]

PACKAGE = Path(__file__).parents[1]
SOURCE = PACKAGE / "src" / "plangate" / "_async"
TARGET = PACKAGE / "src" / "plangate" / "_sync"

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
    "The asynchronous client. The synchronous one is made from this folder by ``scripts/make_sync.py``.": (
        "The synchronous client. Made from the asynchronous one by ``scripts/make_sync.py``: change that one."
    ),
    "An asynchronous client of Plangate; runs on asyncio and on trio.": "A client of Plangate.",
}


def make() -> dict[str, str]:
    """The files of the synchronous client, by name."""
    with tempfile.TemporaryDirectory() as folder:
        written = Path(folder) / "_async"
        written.mkdir()
        for file in SOURCE.glob("*.py"):
            source = file.read_text(encoding="utf-8")
            for old, new in WORDS.items():
                source = source.replace(old, new)
            (written / file.name).write_text(source, encoding="utf-8")
        rule = unasync.Rule("/_async/", "/_sync/", additional_replacements=NAMES)
        unasync.unasync_files([str(file) for file in written.glob("*.py")], [rule])
        made = Path(folder) / "_sync"
        for command in (["check", "--select", "I", "--fix", "--quiet"], ["format", "--quiet"]):
            config = PACKAGE / "pyproject.toml"
            subprocess.run(
                [sys.executable, "-m", "ruff", *command, "--no-cache", "--config", str(config), str(made)],
                check=True,
            )
        return read(made)


def read(folder: Path) -> dict[str, str]:
    """The Python files of a folder, by name."""
    return {file.name: file.read_text(encoding="utf-8") for file in folder.glob("*.py")}


def main() -> int:
    if "--check" in sys.argv[1:]:
        if read(TARGET) == make():
            return 0
        print(f"{TARGET} is not made from {SOURCE} as it stands: run {Path(__file__).name}")
        return 1
    for name, source in make().items():
        (TARGET / name).write_text(source, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
