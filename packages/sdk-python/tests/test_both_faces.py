from __future__ import annotations

import importlib.util
import inspect
from pathlib import Path
from typing import Any

import pytest

from plangate import AsyncPlangate, Plangate

SCRIPT = Path(__file__).parents[1] / "scripts" / "make_sync.py"


def public(client: type) -> dict[str, Any]:
    return {name: getattr(client, name) for name in dir(client) if not name.startswith("_")}


def test_the_synchronous_client_is_made_from_the_asynchronous_one_as_it_stands() -> None:
    spec = importlib.util.spec_from_file_location("make_sync", SCRIPT)
    assert spec
    assert spec.loader
    make_sync = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(make_sync)

    assert make_sync.read(make_sync.TARGET) == make_sync.make()


def test_both_clients_have_the_same_methods() -> None:
    assert list(public(Plangate)) == list(public(AsyncPlangate))


@pytest.mark.parametrize("name", public(Plangate))
def test_a_method_is_the_same_in_both_clients(name: str) -> None:
    sync, asynchronous = public(Plangate)[name], public(AsyncPlangate)[name]

    assert inspect.signature(sync).parameters == inspect.signature(asynchronous).parameters
    assert sync.__doc__ == asynchronous.__doc__
    assert sync.__doc__
    if name == "stream":
        assert inspect.isgeneratorfunction(sync)
        assert inspect.isasyncgenfunction(asynchronous)
    else:
        assert not inspect.iscoroutinefunction(sync)
        assert inspect.iscoroutinefunction(asynchronous)
