from __future__ import annotations

from collections.abc import Iterator

import pytest

from product import Product, start_product


@pytest.fixture(scope="session")
def product() -> Iterator[Product]:
    running = start_product()
    yield running
    running.stop()
