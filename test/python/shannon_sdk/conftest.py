from __future__ import annotations

from collections.abc import Iterator

import pytest
from shannon import ShannonClient

from product import Product


@pytest.fixture
def client(product: Product) -> Iterator[ShannonClient]:
    with ShannonClient(base_url=product.open) as shannon:
        yield shannon


@pytest.fixture
def ada(product: Product) -> Iterator[ShannonClient]:
    with ShannonClient(base_url=product.guarded, api_key=product.keys["ada"]) as shannon:
        yield shannon


@pytest.fixture
def bob(product: Product) -> Iterator[ShannonClient]:
    """Somebody else in the tenant of ada."""
    with ShannonClient(base_url=product.guarded, api_key=product.keys["bob"]) as shannon:
        yield shannon


@pytest.fixture
def stranger(product: Product) -> Iterator[ShannonClient]:
    """The same name in another tenant."""
    with ShannonClient(base_url=product.guarded, api_key=product.keys["stranger"]) as shannon:
        yield shannon


@pytest.fixture
def busy(product: Product) -> Iterator[ShannonClient]:
    """Somebody who asks too often."""
    with ShannonClient(base_url=product.guarded, api_key=product.keys["busy"]) as shannon:
        yield shannon
