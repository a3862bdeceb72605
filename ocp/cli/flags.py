"""Flags of the command line, made from signatures of functions and fields of records."""

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
from typing import Any, Literal, TypeAlias, Union

from ocp.mechanics import Open
from ocp.mechanics.values.validation import positive
from ocp.spelling import suggestion
from ocp.studies.store.argument_flags import Keywords, flags_of
from ocp.studies.store.function_addresses import module_at
from ocp.studies.task import task_of

Annotation: TypeAlias = Any  # of a parameter or field: a type, a union, a Literal, NOTHING
NOTHING = inspect.Parameter.empty
SILENT: tuple = (NOTHING, None, "", False, (), [])  # defaults that say nothing
HOST = "127.0.0.1"  # this machine alone
TRUTHS = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}
FLAG = re.compile(r"--[\w.-]+")
NEGATIVE = re.compile(r"-(\d|\.\d|inf\b)")
CONVERGED = (  # the help of a flag of run and verify
    "solve on the next basis too, of half as long segments: the certificate then holds only where "
    "objective and duration change by less than its tolerance, and curves by less than twice that"
)
WORDS = {bool: "true or false", int: "a whole number", float: "a number"}
UNITS = {"m", "mm", "s", "ms", "h", "kg", "N", "J", "W", "Hz", "rad", "deg", "%"}  # of settings
ARGUMENTS = re.compile(r"^Args:\n((?:[ \t]+.*\n?)+)", re.MULTILINE)
ARGUMENT = re.compile(r"^ {4}(\w+): (.*(?:\n {5,}.*)*)", re.MULTILINE)


def add_address(parser: argparse.ArgumentParser, port: int) -> None:
    """Add the flags of where a page is served: to this machine alone, at a port, 0 for a free one,
    unless something else is asked."""
    told = port or "a free one"
    parser.add_argument("--host", default=HOST, help=f"where it is served (default: {HOST})")
    parser.add_argument("--port", type=int, default=port, help=f"at which port (default: {told})")


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """A flag: its `name`, the `kind` of its values (an annotation), default, words and choices."""

    name: str
    kind: Annotation = NOTHING
    default: object = NOTHING
    words: str = ""
    choices: tuple = ()

    @property
    def unit(self) -> str:
        """The unit that the words say of the numbers: "of walking (m/s)"; "" if none."""
        said = re.search(r"\(([^()]+(?:\([^()]+\))?)\)", self.words)
        symbols = re.findall(r"[^\d\s/()]+", said[1]) if said else []
        return said[1] if said and symbols and set(symbols) <= UNITS else ""


def of_function(function: Callable, first: int = 0) -> tuple[Setting, ...]:
    """Return the settings that are a function's parameters, or fields of its records.

    The `first` parameters, which are the framework's, are none. Their help is in the function's
    docstring, by the names of the flags, or in the record's.
    """
    texts, settings = parameter_help(function), []
    flags = flags_of(function, first)
    for argument in {flag.argument for flag in flags.values() if flag.record}:
        texts.pop(argument, None)  # of the record, which may have a field of its name
    for name, flag in flags.items():
        owner, part = (flag.record, flag.field) if flag.record else (function, flag.argument)
        kind = parameter_kinds(owner).get(part, NOTHING)
        words = texts.get(name) or parameter_help(owner).get(part, "")
        settings.append(Setting(name=name, kind=kind, default=flag.default, words=words))
    return tuple(settings)


def of_record(record: type, without: Iterable[str] = ()) -> tuple[Setting, ...]:
    """Return the settings that are a record's fields; their metadata have `help` and `choices`."""
    kinds, words = parameter_kinds(record), parameter_help(record)
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


def parameter_help(thing: object) -> dict[str, str]:
    """Return {name: words} of what a docstring explains: as `name`: words, or in its list Args."""
    page = inspect.getdoc(thing) or ""
    words = dict(re.findall(r"`(\w+)`:\s+([^`]*)", ARGUMENTS.split(page)[0]))
    for section in ARGUMENTS.findall(page):
        words |= dict(ARGUMENT.findall(section))
    return {name: " ".join(text.split()).rstrip(";.") for name, text in words.items()}


def add(group: argparse._ActionsContainer, prefix: str, setting: Setting, **options: Any) -> None:
    """Add the flag of a setting to a group of a parser; its value is then known as "prefix.name".

    Where the name is taken, as by a parameter of the problem, the flag is --prefix.name.

    Args:
        group: of a parser, or what else has `add_argument`.
        prefix: of the value's name.
        setting: the flag.
        options: of `add_argument`, in place of the setting's own.
    """
    flag = setting.name.replace("_", "-")
    options = _options(setting) | {"dest": f"{prefix}.{setting.name}"} | options
    try:
        group.add_argument(f"--{flag}", **options)
    except argparse.ArgumentError:
        group.add_argument(f"--{prefix}.{flag}", **options)


def relative_tolerance(what: str, value: object) -> float:
    """Return a relative tolerance, above 0 and at most 1; raise ValueError naming `what`."""
    share = positive(what, value)
    if share > 1:
        raise ValueError(
            f"{what}: expected a share of at most 1, got {share:g}; {share:g} % is {share / 100:g}"
        )
    return share


def read_line(
    parser: argparse.ArgumentParser,
    arguments: Sequence[str] | None,
    parameters: Callable[[argparse.Namespace], Iterable[str]] | None = None,
) -> argparse.Namespace:
    """Return the values of a command line, as the parser's own method does.

    The error of an unknown flag names the flag that is most like it.

    Args:
        parser: of the command.
        arguments: of the command line, by default the program's own.
        parameters: from the values read so far the names of problems' parameters, which are no
            flags of this command: the error then says how they are set.
    """
    values, odd = parser.parse_known_args(arguments)
    if odd:
        wrong = next((text for text in odd if text.startswith("-")), "")
        flag, _, value = wrong.partition("=")
        name = flag.removeprefix("--").replace("-", "_")
        if parameters is not None and name in parameters(values):
            value = value or next(iter(odd[odd.index(wrong) + 1 :]), "VALUE")
            parser.error(f"{flag}: is a parameter of the problem: --set {name}={value}")
        bare = [text for text in getattr(values, "sets", ()) if "=" not in text]
        if bare and not flag:
            parser.error(f"--set {bare[-1]}: no value: --set {bare[-1]}={odd[0]}")
        near = suggestion(flag, FLAG.findall(parser.format_help())) if flag else ""
        where = near or f"; {parser.prog} --help tells those there are"
        parser.error(f"unrecognized arguments: {' '.join(odd)}{where}")
    return values


def parameters_of(names: Iterable[str]) -> set[str]:
    """Return the names of all parameters of problems; none where there is no such problem."""
    with suppress(ValueError):
        functions = [task_of(module_at(name)).problem for name in names]
        return {name for each in functions for name in flags_of(each)}
    return set()


def parse(parser: argparse.ArgumentParser, arguments: Sequence[str]) -> dict[str, Keywords]:
    """Return {prefix: {name: value}} of a command line's flags."""
    values: dict[str, Keywords] = {}
    for key, value in vars(read_line(parser, join_negatives(arguments))).items():
        prefix, _, name = key.rpartition(".")
        values.setdefault(prefix, {})[name] = value
    return values


def join_negatives(arguments: Sequence[str]) -> list[str]:
    """Return the arguments with `--flag -1,2` as `--flag=-1,2`: argparse takes -1,2 for a flag."""
    result: list[str] = []
    for text in arguments:
        flag = result[-1] if result else ""
        if NEGATIVE.match(text) and flag.startswith("--") and "=" not in flag:
            result[-1] = f"{flag}={text}"
        else:
            result.append(text)
    return result


def read_value(text: str, kind: Annotation = NOTHING, default: object = NOTHING) -> object:
    """Return a text as a value: a number, word, truth value, choice, None, or a tuple as 1,-1.

    Args:
        text: as the command line has it.
        kind: annotation that names the type.
        default: whose type counts where there is no annotation.

    Raises:
        ValueError: the text is no such value.
    """
    origin, parts = typing.get_origin(kind), typing.get_args(kind)
    if kind in READERS:
        return READERS[kind](text)
    if origin is Literal:
        known = {str(choice): choice for choice in parts}
        if text not in known:
            near = suggestion(text, known)
            raise ValueError(f"expected one of {', '.join(known)}, got {text!r}{near}")
        return known[text]
    if origin in (Union, UnionType):
        return _alternative(text, parts)
    if origin in (tuple, list) or kind in (tuple, list):
        return _several(text, kind, default)
    if kind is not NOTHING or default in (NOTHING, None):
        return literal(text)
    if isinstance(default, (tuple, list)):
        return _several(text, type(default), default)
    return read_value(text, type(default)) if type(default) in READERS else literal(text)


def literal(text: str) -> Any:
    """Return a text as the number or the truth value that it spells, or as it is."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return {"true": True, "false": False}.get(text.lower(), text)


def value_form(kind: Annotation, default: object = NOTHING) -> str:
    """Return the form of a flag's value, as its help shows it."""
    origin, parts = typing.get_origin(kind), typing.get_args(kind)
    if origin is Literal:
        return "|".join(map(str, parts))
    if origin in (Union, UnionType):
        return "|".join(value_form(part) for part in parts if part is not NoneType)
    if origin in (tuple, list):
        inner = [value_form(part) for part in parts if part is not ...]
        return ",".join([*inner, "..."] if ... in parts or origin is list else inner)
    if kind is NOTHING or kind in (tuple, list):
        if isinstance(default, (tuple, list)):
            return ",".join(value_form(type(entry)) for entry in default)
        return "VALUE" if default in (NOTHING, None) else type(default).__name__.upper()
    return getattr(kind, "__name__", "value").upper()


def flag_text(value: object) -> str:
    """Return a value as a flag takes it."""
    return ",".join(map(str, value)) if isinstance(value, (tuple, list)) else str(value)


def parameter_kinds(thing: object) -> dict[str, Annotation]:
    """Return annotations by name, as they are written where they cannot be evaluated.

    Open numbers and mappings, which no text is, are left out of alternatives.
    """
    try:
        kinds = typing.get_type_hints(thing)
    except (NameError, TypeError):
        return dict(getattr(thing, "__annotations__", {}))
    unions = {name for name, kind in kinds.items() if typing.get_origin(kind) in (Union, UnionType)}
    for name in unions:
        parts = typing.get_args(kinds[name])
        kinds[name] = reduce(or_, (each for each in parts if not _beyond_texts(each)))
    return kinds


def _beyond_texts(kind: Annotation) -> bool:
    """Tell whether no text is of a kind: an open number, or a mapping."""
    return kind is Open or typing.get_origin(kind) is Mapping


def _options(setting: Setting) -> dict[str, Any]:
    kind, default = setting.kind, setting.default
    required = {"required": True} if default is NOTHING else {"default": default}
    words = setting.words or "of the problem"
    if setting.choices:
        words += f": {', '.join(map(str, setting.choices))}"
    if default not in SILENT:
        words += f" (default: {flag_text(default)})"
    words = words.replace("%", "%%")
    if {*(typing.get_args(kind) or (kind,))} <= {bool, NoneType} or isinstance(default, bool):
        return {"action": argparse.BooleanOptionalAction, "help": words} | required

    def value(text: str) -> object:
        try:
            return read_value(text, kind, default)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    return {"type": value, "metavar": value_form(kind, default), "help": words} | required


def _alternative(text: str, kinds: Sequence[Annotation]) -> object:
    """Return the text as the first of several kinds that it can be."""
    if NoneType in kinds and text.lower() == "none":
        return None
    reasons = []
    for kind in (kind for kind in kinds if kind is not NoneType):
        try:
            return read_value(text, kind)
        except ValueError as error:
            reasons.append(str(error))
    raise ValueError("; or ".join(reasons))


def split_names(text: str) -> list[str]:
    """Return the names of a list by commas; commas within brackets belong to a name."""
    depth, names = 0, [""]
    for letter in text:
        depth += (letter == "(") - (letter == ")")
        if letter == "," and depth <= 0:
            names.append("")
        else:
            names[-1] += letter
    return [name.strip() for name in names if name.strip()]


def _several(text: str, kind: Annotation, default: object) -> object:
    """Return a text such as 1,-1 as a tuple or list, each entry of its kind."""
    container: Annotation = typing.get_origin(kind) or kind
    parts = typing.get_args(kind)
    entries = [entry.strip() for entry in text.strip("()[] ").split(",") if entry.strip()]
    if ... in parts or (len(parts) == 1 and container is list):
        kinds = parts[:1] * len(entries)
    elif parts:
        kinds = parts
    else:
        kinds = (NOTHING,) * (len(default) if isinstance(default, (tuple, list)) else len(entries))
    if len(kinds) != len(entries):
        raise ValueError(
            f"expected {len(kinds)} values as {value_form(kind, default)}, got {text!r}"
        )
    return container(read_value(entry, one) for entry, one in zip(entries, kinds))


def _reader(kind: type) -> Callable[[str], object]:
    def value(text: str) -> object:
        try:
            return TRUTHS[text.lower()] if kind is bool else kind(text)
        except (ValueError, KeyError):
            raise ValueError(f"expected {WORDS[kind]}, got {text!r}") from None

    return value


READERS: Mapping[Annotation, Callable[[str], object]] = {
    bool: _reader(bool),
    int: _reader(int),
    float: _reader(float),
    str: str,
}
