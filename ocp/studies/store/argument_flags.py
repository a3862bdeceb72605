"""Flags of a problem's arguments: one for each number or word, one for each field of a record.

An argument whose annotation is a frozen dataclass is such a record. Command lines, studies and
tables know its fields by their flags; a script hands over the record.
"""

import inspect
import typing
from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, dataclass, fields, is_dataclass, replace
from types import UnionType
from typing import Any, TypeAlias

Arguments: TypeAlias = Mapping[str, Any]  # by name, as functions take them and files have them
Keywords: TypeAlias = dict[str, Any]  # such, while they are gathered

EMPTY = inspect.Parameter.empty


@dataclass(frozen=True, slots=True, kw_only=True)
class Flag:
    """A value that a function takes: of its `argument`, or of the `field` of its `record` there.

    `name` is the flag's, `annotation` and `default` are those of the signature or the record.
    """

    name: str
    argument: str
    annotation: Any
    default: object
    field: str = ""
    record: type | None = None

    @property
    def place(self) -> str:
        """Name of the argument, or of the record's field."""
        return f"{self.argument}.{self.field}" if self.record else self.argument

    @property
    def words(self) -> tuple[object, ...]:
        """The closed set of what it may be, as its annotation has it; () of any other."""
        parts = [self.annotation]
        if typing.get_origin(self.annotation) in (typing.Union, UnionType):
            parts = list(typing.get_args(self.annotation))
        kinds = [part for part in parts if part is not type(None)]
        if any(typing.get_origin(kind) is not typing.Literal for kind in kinds):
            return ()
        words = [word for kind in kinds for word in typing.get_args(kind)]
        return (*words, *(None for part in parts if part is type(None)))

    @property
    def numbers(self) -> tuple[type, ...]:
        """The kinds of numbers that it may be, as its annotation has it, or its default."""
        parts = typing.get_args(self.annotation) or (self.annotation, type(self.default))
        return tuple(kind for kind in (float, int) if kind in parts)


def flags_of(function: Callable, first: int = 0) -> Mapping[str, Flag]:
    """Return the flags of a function by name, in the order of its arguments and of their fields.

    The `first` arguments, which are the framework's, have none.
    A field's flag is its name, or its metadata's "flag", in which {argument} stands for the name of
    the argument; an empty one makes no flag of it.

    Raises:
        ValueError: two flags have one name, or a record is not frozen.
    """
    hints, known = _annotations(function), dict[str, Flag]()
    for parameter in list(inspect.signature(function).parameters.values())[first:]:
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            continue
        for each in _flags(parameter, hints.get(parameter.name)):
            other = known.setdefault(each.name, each)
            if other is not each:
                raise ValueError(
                    f"--{each.name}: is the flag of {other.place} and of {each.place}; give one "
                    "field another name in its metadata, as {'flag': '{argument}_height'}"
                )
    return known


def call_by_flags(function: Callable, values: Arguments) -> Any:
    """Return the result of a function for values by the names of its flags.

    Raises:
        ValueError: a record refuses a value; the message names its flag and its field.
    """
    known, parameters = flags_of(function), inspect.signature(function).parameters
    arguments: Keywords = {}
    records: dict[str, dict[Flag, object]] = {}
    for name, value in values.items():
        entry = known.get(name)
        if entry is None or entry.record is None:
            arguments[name] = value  # the function itself refuses a name that it does not know
        else:
            records.setdefault(entry.argument, {})[entry] = value
    for argument, given in records.items():
        arguments[argument] = _record(parameters[argument].default, given)
    return function(**arguments)


def _record(default: Any, given: Mapping[Flag, object]) -> object:
    """Return a record with given fields in place of those of the argument's default."""
    flags = {each.field: each for each in given}
    values = {each.field: value for each, value in given.items()}
    try:
        record: Any = next(iter(given)).record
        return record(**values) if default is EMPTY else replace(default, **values)
    except ValueError as error:
        name, _, reason = str(error).partition(":")
        if not reason or name not in flags:
            raise
        raise ValueError(f"{flags[name].name}:{reason} ({flags[name].place})") from None


def _flags(parameter: inspect.Parameter, record: object) -> list[Flag]:
    """Return the flag of an argument, or those of the fields of a record."""
    name, stated = parameter.name, parameter.default
    if not (isinstance(record, type) and is_dataclass(record)):
        return [Flag(name=name, argument=name, annotation=parameter.annotation, default=stated)]
    if not record.__dataclass_params__.frozen:  # type: ignore[attr-defined]
        raise ValueError(f"{name}: expected a frozen record, {record.__name__} is not frozen")
    hints = _annotations(record)
    named = {entry: entry.metadata.get("flag", entry.name) for entry in fields(record)}
    return [
        Flag(
            name=text.format(argument=name),
            argument=name,
            annotation=hints.get(entry.name, entry.type),
            default=_default(entry) if stated is EMPTY else getattr(stated, entry.name),
            field=entry.name,
            record=record,
        )
        for entry, text in named.items()
        if entry.init and text
    ]


def _default(entry: Field) -> object:
    if entry.default_factory is not MISSING:
        return entry.default_factory()
    return EMPTY if entry.default is MISSING else entry.default


def _annotations(thing: object) -> Arguments:
    """Return evaluated annotations by name, none where one of them cannot be evaluated."""
    try:
        return typing.get_type_hints(thing)
    except (NameError, TypeError):
        return {}
