"""Makes the dataclasses of ``models`` out of JSON."""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable, Mapping
from datetime import datetime
from enum import Enum
from functools import cache
from typing import Any, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from .errors import PlangateError

T = TypeVar("T")


def decode(model: type[T], data: object) -> T:
    """A ``model`` with what ``data`` has of it.

    Raises:
        PlangateError: where a field is missing or no such thing, so that what answered cannot be Plangate.
    """
    try:
        return _object(model, data)
    except (KeyError, TypeError, ValueError) as error:
        raise PlangateError(
            f"the response is not a {model.__name__} ({type(error).__name__}: {error}): is base_url that of a "
            "Plangate gateway?"
        ) from error


def _object(model: type[T], data: object) -> T:
    if not isinstance(data, Mapping):
        raise TypeError("no JSON object")
    values: dict[str, Any] = {}
    for name, wire, hint, required in _fields(cast(Hashable, model)):
        if wire in data:
            values[name] = _value(hint, data[wire])
        elif required:
            raise KeyError(wire)
    return model(**values)


@cache
def _fields(model: Hashable) -> list[tuple[str, str, Any, bool]]:
    assert isinstance(model, type)
    assert dataclasses.is_dataclass(model)
    hints = get_type_hints(model)
    return [
        (
            field.name,
            field.metadata.get("wire", field.name),
            hints[field.name],
            field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING,
        )
        for field in dataclasses.fields(model)
    ]


def _value(hint: Any, value: Any) -> Any:  # noqa: ANN401
    if get_origin(hint) is Union:
        kinds = [kind for kind in get_args(hint) if kind is not type(None)]
        if len(kinds) > 1:
            return value
        return None if value is None or value == "" else _value(kinds[0], value)
    if get_origin(hint) is list:
        return [_value(get_args(hint)[0], item) for item in value]
    if hint is datetime:
        return datetime.fromisoformat(value.replace("Z", "+00:00"))
    if dataclasses.is_dataclass(hint) and isinstance(hint, type):
        return _object(hint, value)
    if isinstance(hint, type) and issubclass(hint, Enum):
        return hint(value)
    return value
