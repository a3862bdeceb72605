"""Frozen records, made several times as quickly as `dataclasses` makes them up to Python 3.12.

There six methods of each of the house's hundreds of records are compiled apart, which was half of
what it took to import them. Here only `__init__` is; the others are the same for all. A record is a
dataclass in everything else: `fields`, `replace`, matching, `__post_init__`, slots and pickling.
"""

from collections.abc import Callable
from dataclasses import MISSING, Field, FrozenInstanceError, fields, is_dataclass
from dataclasses import dataclass as _dataclass
from operator import attrgetter
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any, NoReturn

set_field = object.__setattr__


def _made(stated: Any = None, /, *, frozen: bool = False, **options: Any) -> Any:
    """Return a class as a dataclass, or the decorator that makes it one of these `options`, of
    which frozen ones are made here."""
    if not frozen:
        return _dataclass(stated, **options)
    make = _dataclass(**options | {"init": False, "repr": False, "eq": False})

    def made(stated: type) -> type:
        own, above = dict(vars(stated)), [each for each in stated.__mro__[1:] if is_dataclass(each)]
        _freeze(above, False)  # or what is not frozen yet might not be made of them
        try:
            record: Any = make(stated)
        finally:
            _freeze(above, True)
        entries = fields(record)
        _freeze([record], True)
        methods = {"__init__": _init(record, entries), **_FROZEN}
        if options.get("slots"):
            methods |= _PICKLED
        if options.get("repr", True):
            methods["__repr__"] = _shown
        if options.get("eq", True):
            methods |= _compared([entry.name for entry in entries if entry.compare])
        for name, method in methods.items():
            if own.get(name) is None:
                setattr(record, name, method)
        return record

    return made


def _freeze(records: list[Any], frozen: bool) -> None:
    """Set what `dataclasses` takes records for."""
    for record in records:
        record.__dataclass_params__.frozen = frozen


def _init(record: type, entries: tuple[Field, ...]) -> Callable[..., None]:
    """Return the `__init__` of a record, whose default values and factories it finds as globals."""
    known: dict[str, Any] = {"set_field": set_field, "MADE": _Made()}
    heads: dict[bool, list[str]] = {False: [], True: []}
    lines = []
    for entry in entries:
        name, value, default = entry.name, entry.name if entry.init else "", ""
        if entry.default_factory is not MISSING:
            known[f"factory_{name}"], default = entry.default_factory, "=MADE"
            value = f"factory_{name}() if {value or 'MADE'} is MADE else {name}"
        elif entry.default is not MISSING:
            known[f"default_{name}"], default = entry.default, f"=default_{name}"
            value = value or f"default_{name}"
        if entry.init:
            known[f"type_{name}"] = entry.type
            heads[bool(entry.kw_only)].append(f"{name}: type_{name}{default}")
        if value:
            lines.append(f" set_field(self, {name!r}, {value})")
    if hasattr(record, "__post_init__"):
        lines.append(" self.__post_init__()")
    heads_of_all = ["self", *heads[False], *(["*"] if heads[True] else []), *heads[True]]
    body = "\n".join(lines) or " pass"
    exec(f"def __init__({', '.join(heads_of_all)}) -> None:\n{body}", known)
    init: Callable[..., None] = known["__init__"]
    init.__qualname__ = f"{record.__qualname__}.__init__"
    init.__module__ = record.__module__
    return init


class _Made:
    """What stands for a value that a factory makes."""

    def __repr__(self) -> str:
        return "<factory>"


def _set(self: Any, name: str, value: Any) -> NoReturn:
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _delete(self: Any, name: str) -> NoReturn:
    raise FrozenInstanceError(f"cannot delete field {name!r}")


def _state(self: Any) -> list[Any]:
    return [getattr(self, entry.name) for entry in fields(self)]


def _set_state(self: Any, state: list[Any]) -> None:
    for entry, value in zip(fields(self), state):
        set_field(self, entry.name, value)


@recursive_repr()
def _shown(self: Any) -> str:
    shown = (entry.name for entry in fields(self) if entry.repr)
    values = ", ".join(f"{name}={getattr(self, name)!r}" for name in shown)
    return f"{type(self).__qualname__}({values})"


def _compared(names: list[str]) -> dict[str, Callable[..., Any]]:
    """Return how records of a kind are compared and hashed, by the values of these fields."""
    values: Callable[[Any], Any] = (
        attrgetter(*names)
        if len(names) > 1
        else lambda record: tuple(getattr(record, name) for name in names)
    )

    def equal(self: Any, other: object) -> bool:
        if other.__class__ is not self.__class__:
            return NotImplemented
        return bool(values(self) == values(other))

    def hashed(self: Any) -> int:
        return hash(values(self))

    return {"__eq__": equal, "__hash__": hashed}


_FROZEN = {"__setattr__": _set, "__delattr__": _delete}
_PICKLED = {"__getstate__": _state, "__setstate__": _set_state}

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:
    dataclass = _made
