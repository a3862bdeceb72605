"""Records from plain data: a dataclass is made of its fields, by their annotations."""

from collections.abc import Callable
from dataclasses import is_dataclass
from functools import cache
from typing import Any, TypeVar, cast, get_args, get_type_hints

Data = dict[str, Any]
Record = TypeVar("Record")
# Kinds whose data are not simply their fields, as of a function among several: see `register`
_READERS: dict[type, Callable] = {}


def register(kind: type, reader: Callable) -> None:
    """Let records of a kind be read by `reader`(data)."""
    _READERS[kind] = reader


def record_from_data(kind: type[Record], data: Data) -> Record:
    """Return the record of a kind whose fields `data` holds; records within it are made too, and
    lists become tuples.

    Raises ValueError, TypeError or what the record itself raises for data that are none.
    """
    if kind in _READERS:
        made: Record = _READERS[kind](dict(data))
        return made
    hints = _field_kinds(cast(type, kind))
    return kind(**{name: _value(hints.get(name), value) for name, value in data.items()})


@cache
def _field_kinds(kind: type) -> dict[str, type]:
    """Return {field: the record, or float, in its annotation}, as `X | None` and `Sequence[X]`."""
    kinds: dict[str, type] = {}
    for name, hint in get_type_hints(kind).items():
        for part in (hint, *get_args(hint)):
            if isinstance(part, type) and (is_dataclass(part) or part is float):
                kinds[name] = part
    return kinds


def _value(kind: type | None, value: object) -> object:
    if kind is float:  # JSON has words for numbers that are not finite
        return tuple(map(float, value)) if isinstance(value, list) else value
    if kind not in (None, float) and isinstance(value, list | tuple):
        return tuple(record_from_data(kind, one) if isinstance(one, dict) else one for one in value)
    if kind is not None and isinstance(value, dict):
        return record_from_data(kind, value)
    return as_tuples(value)


def as_tuples(value: object) -> object:
    """Return lists, and lists in them, as tuples."""
    return tuple(map(as_tuples, value)) if isinstance(value, list) else value
