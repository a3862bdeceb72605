"""Flags made once: from the signatures of functions and the fields of records."""

import argparse
import inspect
import re
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import MISSING, dataclass, fields
from functools import reduce
from operator import or_
from types import NoneType, UnionType
from typing import Any, Literal, Union

from ocp.mechanics import Open
from ocp.spelling import suggestion
from ocp.studies.store.qualified_names import module_at
from ocp.studies.task import task_of

NOTHING = inspect.Parameter.empty
SILENT: tuple = (NOTHING, None, "", False, (), [])  # defaults that say nothing
TRUTHS = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}
FLAG = re.compile(r"--[\w.-]+")
NEGATIVE = re.compile(r"-(\d|\.\d|inf\b)")
WORDS = {bool: "true or false", int: "a whole number", float: "a number"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """What a flag sets: its `name`, the `kind` of its values (an annotation), default and words."""

    name: str
    kind: Any = NOTHING
    default: Any = NOTHING
    words: str = ""
    choices: tuple = ()


def of_function(function: Callable, without: Iterable[str] = ()) -> tuple[Setting, ...]:
    """Return the settings that are a function's parameters; its docstring says `name`: words."""
    kinds, words = kinds_of(function), explained(function)
    return tuple(
        Setting(
            name=name,
            kind=kinds.get(name, NOTHING),
            default=parameter.default,
            words=words.get(name, ""),
        )
        for name, parameter in inspect.signature(function).parameters.items()
        if name not in without
        and parameter.kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY)
    )


def of_record(record: type, without: Iterable[str] = ()) -> tuple[Setting, ...]:
    """Return the settings that are a record's fields; their metadata say `help` and `choices`."""
    kinds, words = kinds_of(record), explained(record)
    return tuple(
        Setting(
            name=entry.name,
            kind=kinds.get(entry.name, NOTHING),
            default=NOTHING if entry.default is MISSING else entry.default,
            words=entry.metadata.get("help", words.get(entry.name, "")),
            choices=tuple(entry.metadata.get("choices", ())),
        )
        for entry in fields(record)
        if entry.name not in without
    )


def explained(thing: Any) -> dict[str, str]:
    """Return {name: words} of all that a docstring explains as `name`: words."""
    page = inspect.getdoc(thing) or ""
    return {
        name: " ".join(words.split()).rstrip(";.")
        for name, words in re.findall(r"`(\w+)`:\s+([^`]*)", page)
    }


def add(group: Any, prefix: str, setting: Setting, **options: Any) -> None:
    """Add the flag of a setting to a group of a parser; its value is then known as "prefix.name".

    Where the name is taken, as by a parameter of the problem, the flag is --prefix.name.
    """
    flag = setting.name.replace("_", "-")
    options = _options(setting) | {"dest": f"{prefix}.{setting.name}"} | options
    try:
        group.add_argument(f"--{flag}", **options)
    except argparse.ArgumentError:
        group.add_argument(f"--{prefix}.{flag}", **options)


def read_line(
    parser: argparse.ArgumentParser,
    arguments: Sequence[str] | None,
    parameters: Callable[[argparse.Namespace], Iterable[str]] | None = None,
) -> argparse.Namespace:
    """Return what a command line says, as the parser's own method does; of a flag that there is not
    the error names the one that is most like it, or how `parameters` of a problem are set that are
    no flags of this command."""
    values, odd = parser.parse_known_args(arguments)
    if odd:
        wrong = next((text for text in odd if text.startswith("-")), "")
        flag, _, value = wrong.partition("=")
        name = flag.removeprefix("--").replace("-", "_")
        if parameters is not None and name in parameters(values):
            value = value or next(iter(odd[odd.index(wrong) + 1 :]), "VALUE")
            parser.error(f"{flag}: is a parameter of the problem: --set {name}={value}")
        near = suggestion(flag, FLAG.findall(parser.format_help())) if flag else ""
        parser.error(f"unrecognized arguments: {' '.join(odd)}{near}")
    return values


def parameters_of(names: Iterable[str]) -> set[str]:
    """Return the names of all parameters of problems; nothing where there is no such problem."""
    with suppress(ValueError):
        functions = [task_of(module_at(name)).problem for name in names]
        return {name for each in functions for name in inspect.signature(each).parameters}
    return set()


def parse(parser: argparse.ArgumentParser, arguments: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Return {prefix: {name: value}} of a command line's flags."""
    values: dict[str, dict[str, Any]] = {}
    for key, value in vars(read_line(parser, joined(arguments))).items():
        prefix, _, name = key.rpartition(".")
        values.setdefault(prefix, {})[name] = value
    return values


def joined(arguments: Sequence[str]) -> list[str]:
    """Return the arguments with `--flag -1,2` as `--flag=-1,2`, which is no flag -1,2."""
    result: list[str] = []
    for text in arguments:
        flag = result[-1] if result else ""
        if NEGATIVE.match(text) and flag.startswith("--") and "=" not in flag:
            result[-1] = f"{flag}={text}"
        else:
            result.append(text)
    return result


def read(text: str, kind: Any = NOTHING, default: Any = NOTHING) -> Any:
    """Return a text as a value of the kind that an annotation names, or else of the default's.

    Numbers, words, truth values, choices, None, and tuples of these as 1,-1. Raises ValueError.
    """
    origin, parts = typing.get_origin(kind), typing.get_args(kind)
    if kind in READERS:
        return READERS[kind](text)
    if origin is Literal:
        return _choice(text, parts)
    if origin in (Union, UnionType):
        return _alternative(text, parts)
    if origin in (tuple, list) or kind in (tuple, list):
        return _several(text, kind, default)
    if kind is not NOTHING or default in (NOTHING, None):
        return literal(text)
    if isinstance(default, (tuple, list)):
        return _several(text, type(default), default)
    return read(text, type(default)) if type(default) in READERS else literal(text)


def literal(text: str) -> Any:
    """Return a text as the number or the truth value that it spells, or as it is."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return {"true": True, "false": False}.get(text.lower(), text)


def described(kind: Any, default: Any = NOTHING) -> str:
    """Return what a flag's value looks like, as its help shows it."""
    origin, parts = typing.get_origin(kind), typing.get_args(kind)
    if origin is Literal:
        return "|".join(map(str, parts))
    if origin in (Union, UnionType):
        return "|".join(described(part) for part in parts if part is not NoneType)
    if origin in (tuple, list):
        inner = [described(part) for part in parts if part is not ...]
        return ",".join([*inner, "..."] if ... in parts or origin is list else inner)
    if kind is NOTHING or kind in (tuple, list):
        return _described_default(default)
    return getattr(kind, "__name__", "value").upper()


def _described_default(default: Any) -> str:
    if isinstance(default, (tuple, list)):
        return ",".join(described(type(entry)) for entry in default)
    return "VALUE" if default in (NOTHING, None) else type(default).__name__.upper()


def shown(value: Any) -> str:
    """Return a value as a flag takes it."""
    return ",".join(map(str, value)) if isinstance(value, (tuple, list)) else str(value)


def kinds_of(thing: Any) -> dict[str, Any]:
    """Return annotations by name, also where they are texts; those as they are that cannot be.

    Open numbers, which no text is, are left out of alternatives.
    """
    try:
        kinds = typing.get_type_hints(thing)
    except (NameError, TypeError):
        return dict(getattr(thing, "__annotations__", {}))
    return {name: _spelled(kind) for name, kind in kinds.items()}


def _spelled(kind: Any) -> Any:
    """Return an annotation without Open among its alternatives."""
    if typing.get_origin(kind) not in (Union, UnionType):
        return kind
    return reduce(or_, (part for part in typing.get_args(kind) if part is not Open))


def _options(setting: Setting) -> dict[str, Any]:
    kind, default = setting.kind, setting.default
    required = {"required": True} if default is NOTHING else {"default": default}
    words = setting.words or "of the problem"
    if setting.choices:
        words += f": {', '.join(map(str, setting.choices))}"
    if default not in SILENT:
        words += f" (default: {shown(default)})"
    words = words.replace("%", "%%")
    if {*(typing.get_args(kind) or (kind,))} <= {bool, NoneType} or isinstance(default, bool):
        return {"action": argparse.BooleanOptionalAction, "help": words} | required

    def value(text: str) -> Any:
        try:
            return read(text, kind, default)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    return {"type": value, "metavar": described(kind, default), "help": words} | required


def _choice(text: str, choices: Sequence) -> Any:
    known = {str(choice): choice for choice in choices}
    if text not in known:
        near = suggestion(text, known)
        raise ValueError(f"expected one of {', '.join(known)}, got {text!r}{near}")
    return known[text]


def _alternative(text: str, kinds: Sequence) -> Any:
    """Return the text as the first of several kinds that it can be."""
    if NoneType in kinds and text.lower() == "none":
        return None
    reasons = []
    for kind in (kind for kind in kinds if kind is not NoneType):
        try:
            return read(text, kind)
        except ValueError as error:
            reasons.append(str(error))
    raise ValueError("; or ".join(reasons))


def listed(text: str) -> list[str]:
    """Return the names of a list by commas; those within brackets are a name's own."""
    depth, names = 0, [""]
    for letter in text:
        depth += (letter == "(") - (letter == ")")
        if letter == "," and depth <= 0:
            names.append("")
        else:
            names[-1] += letter
    return [name.strip() for name in names if name.strip()]


def _several(text: str, kind: Any, default: Any) -> Any:
    """Return a text such as 1,-1 as a tuple or list, each entry of its kind."""
    container, parts = typing.get_origin(kind) or kind, typing.get_args(kind)
    entries = [entry.strip() for entry in text.strip("()[] ").split(",") if entry.strip()]
    if ... in parts or (len(parts) == 1 and container is list):
        kinds = parts[:1] * len(entries)
    elif parts:
        kinds = parts
    else:
        kinds = (NOTHING,) * (len(default) if isinstance(default, (tuple, list)) else len(entries))
    if len(kinds) != len(entries):
        raise ValueError(
            f"expected {len(kinds)} values as {described(kind, default)}, got {text!r}"
        )
    return container(read(entry, one) for entry, one in zip(entries, kinds))


def _reader(kind: type) -> Callable[[str], Any]:
    def value(text: str) -> Any:
        try:
            return TRUTHS[text.lower()] if kind is bool else kind(text)
        except (ValueError, KeyError):
            raise ValueError(f"expected {WORDS[kind]}, got {text!r}") from None

    return value


READERS: Mapping[Any, Callable[[str], Any]] = {
    bool: _reader(bool),
    int: _reader(int),
    float: _reader(float),
    str: str,
}
