"""Contents of records as texts, by which results that follow from these are kept."""

from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import cache

import numpy as np

from ocp.codegen.kept_results import is_source

PLAIN = {str, bytes, int, float, bool, type(None)}


def record_content(record: object) -> tuple[str, bool]:
    """Return a text of all numbers and words of a record, and whether that is the whole of it:
    functions and expressions in it, whose values stand in graphs, are told by their type, and so
    are methods of records whose sources are not those that kept results are known by."""
    parts: list[str] = []
    whole = _add_content(record, parts)
    return "".join(parts), whole


def _add_content(value: object, parts: list[str]) -> bool:
    """Add the text of a value to `parts`, and tell whether it is whole."""
    kind: type = type(value)
    whole = True
    if kind in PLAIN or isinstance(value, np.number):
        parts.append(f"{value!r},")
    elif is_dataclass(value):
        parts.append(f"{kind.__qualname__}(")
        for each in _stated_fields(kind):
            whole &= _add_content(getattr(value, each), parts)
        parts.append("),")
        whole &= is_source(kind.__module__)
    elif isinstance(value, np.ndarray) and value.dtype != object:
        parts.append(f"{value.dtype.str}{value.shape}{value.tobytes().hex()},")
    elif isinstance(value, Mapping):
        parts.append("of ")
        whole = _add_content([*value.items()], parts)
    elif isinstance(value, Sequence):
        parts.append("[")
        for each in value:
            whole &= _add_content(each, parts)
        parts.append("],")
    else:
        parts.append(f"{kind.__qualname__},")
        whole = False
    return whole


@cache
def _stated_fields(kind: type) -> tuple[str, ...]:
    """Return the names of the fields of a record that its functions may follow from."""
    return tuple(each.name for each in fields(kind) if each.name != "visuals")
