from __future__ import annotations

from collections.abc import Iterator

import pytest
from plangate import Plangate

from product import Product


@pytest.fixture
def client(product: Product) -> Iterator[Plangate]:
    with Plangate(product.open) as plangate:
        yield plangate
