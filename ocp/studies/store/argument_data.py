"""Arguments of functions as plain data, in the types that the signatures name."""

import inspect
from collections.abc import Callable
from typing import Any

from ocp.spelling import suggestion
from ocp.storage.atomic_files import plain
from ocp.studies.parameter_designs import is_number
from ocp.studies.store.argument_flags import EMPTY, Arguments, Flag, Keywords, flags_of
from ocp.studies.task import FRAMEWORK

TYPES = {"float": float, "int": int, "str": str, "bool": bool}


def complete_arguments(function: Callable, given: Arguments, first: int = 0) -> Keywords:
    """Return the arguments with all defaults by their flags, in the types that these name.

    The `first` ones belong to the framework.
    """
    flags = flags_of(function, first)
    known = {name: one for name, one in flags.items() if name not in FRAMEWORK}
    module = inspect.getmodule(function)
    place = "" if module is None else module.__name__.rpartition(".")[2]
    name = f"{place}.{getattr(function, '__name__', 'function')}"
    odd = next((key for key in given if key not in known), None)
    if odd is not None:
        raise ValueError(
            f"{odd}: {name} has no such parameter{suggestion(odd, known)}; it has "
            f"{', '.join(known) or 'none'}"
        )
    for key, parameter in known.items():
        if parameter.default is EMPTY and key not in given:
            raise ValueError(f"{key}: expected a value, {name} has no default for it")
    return {
        key: _typed_value(key, given[key], parameter.annotation)
        if key in given
        else plain_value(key, parameter.default)
        for key, parameter in known.items()
    }


def call_arguments(function: Callable, arguments: Arguments, first: int = 0) -> Keywords:
    """Return plain arguments as a function takes them: tuples where its signature says so.

    The `first` ones belong to the framework.
    """
    parameters = flags_of(function, first)
    return {
        name: tuple(value) if isinstance(value, list) and _is_tuple(parameters[name]) else value
        for name, value in arguments.items()
    }


def _is_tuple(parameter: Flag) -> bool:
    return isinstance(parameter.default, tuple) or "tuple" in str(parameter.annotation)


def _typed_value(name: str, value: Any, annotation: Any) -> object:
    """Return the value in its annotation's type: for a float 5 is 5.0, so both are one cell."""
    number = is_number(value)
    kind: Any = TYPES.get(annotation, annotation) if isinstance(annotation, str) else annotation
    if kind is float and number:
        return float(value)
    if kind is int and number and float(value).is_integer():
        return int(value)
    wrong = kind in TYPES.values() and not isinstance(value, kind)
    if wrong or (kind is int and isinstance(value, bool)):
        raise ValueError(f"{name}: expected a value of type {kind.__name__}, got {value!r}")
    return value


def plain_value(name: str, value: object) -> Any:
    """Return the value as JSON has it; raise ValueError naming it if it is not plain."""
    try:
        data = plain(value)
        if data == plain(value, null=True):
            return data
    except (TypeError, ValueError):
        pass
    raise ValueError(
        f"{name}: expected plain values (finite numbers, words, lists of them), got {value!r}"
    )
