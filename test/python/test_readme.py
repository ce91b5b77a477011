"""The Python examples of the README, run as they stand there; only the address is another."""

from __future__ import annotations

import re

import pytest

from product import PROJECT, Product


def example(file: str, heading: str) -> str:
    """The first Python example under a heading."""
    text = (PROJECT / file).read_text(encoding="utf-8")
    section = re.search(rf"^#+ {re.escape(heading)}\n(.*?)(?=^#+ |\Z)", text, re.MULTILINE | re.DOTALL)
    assert section, heading
    code = re.search(r"^```python\n(.*?)^```", section[1], re.MULTILINE | re.DOTALL)
    assert code, heading
    return code[1]


@pytest.mark.parametrize(
    ("file", "heading"),
    [
        ("README.md", "Existing Shannon clients"),
        ("README.md", "Python SDK"),
        ("packages/sdk-python/README.md", "plangate"),
    ],
)
def test_the_example_ends_with_the_report(
    product: Product, capsys: pytest.CaptureFixture[str], file: str, heading: str
) -> None:
    code = example(file, heading)
    assert "http://localhost:8080" in code

    exec(compile(code.replace("http://localhost:8080", product.open), heading, "exec"), {})

    assert "[1]" in capsys.readouterr().out
