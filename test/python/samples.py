"""The samples of the plan-review documentation, which are run as they stand there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from product import Product

FIXTURES = Path(__file__).parent / "fixtures"


def run_sample(name: str, product: Product, changes: dict[str, str]) -> dict[str, Any]:
    """Runs a sample with another address and these changes; what it defined."""
    source = (FIXTURES / name).read_text(encoding="utf-8")
    for old, new in {"http://localhost:8080": product.open, **changes}.items():
        assert old in source
        source = source.replace(old, new)
    defined: dict[str, Any] = {}
    exec(compile(source, name, "exec"), defined)
    return defined
