"""Reference of the book: a page for every wing, made from the docstrings of its public names."""

import ast
import importlib
import inspect
import re
import textwrap
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, TypeAlias

from ocp.dynamics import Formulation

App: TypeAlias = Any  # of the optional package sphinx

WINGS = (
    "mechanics",
    "motion",
    "dynamics",
    "problem",
    "transcription",
    "codegen",
    "solvers",
    "interior_point",
    "solving",
    "solution",
    "certificate",
    "report",
    "sensitivity",
    "diagnosis",
    "estimation",
    "mpc",
    "storage",
    "interchange",
    "plots",
    "studies",
    "cli",
)
TYPES = {  # as signatures name them
    "Matrix": "a CasADi matrix, SX, MX or DM alike, or what makes one: numbers, lists, arrays.",
    "ArrayLike": "what numpy reads as an array: numbers, lists, arrays.",
    "Numbers": "what numpy reads as an array, kept as tuples.",
    "Number": "a float, or a number left open by a `Parameter`.",
}
PLAIN = {*TYPES, "Sequence", "Iterable", "Mapping", "Callable", "tuple", "list", "dict", "None"}
PLAIN |= {"float", "int", "str", "bool"}
UNTYPED = re.compile(r"\bAny\b|_SupportsArray|dtype")  # as Python shows what has no type
FENCE = "=" * 60
SECTIONS = ("Args:", "Attributes:", "Returns:", "Raises:", "Yields:")  # of docstrings
NEXT_FORMULA = re.compile(r", {3,}(?=\S)")
SENTENCE_END = re.compile(r"(?<=[.])(?<!al[.]) (?=[A-Z`])")  # but not after "et al."


def public() -> dict[str, object]:
    """Return {dotted name: object} of every public name: those of `ocp` first, then the wings' own.

    A name that `ocp` gives is not repeated by its wing.
    """
    house = importlib.import_module("ocp")
    names = {f"ocp.{name}": getattr(house, name) for name in sorted(house.__all__)}
    given = [id(value) for value in names.values()]
    for wing in WINGS:
        face = importlib.import_module(f"ocp.{wing}")
        for name in sorted(getattr(face, "__all__", ())):
            value = getattr(face, name)
            if id(value) not in given:
                names[f"ocp.{wing}.{name}"] = value
                if inspect.isclass(value):  # described once, by its module
                    given.append(id(value))
    return {name: value for name, value in names.items() if not inspect.ismodule(value)}


def home(name: str, value: object) -> str:
    """Return the wing on whose page a public name stands."""
    parts = name.split(".")
    if len(parts) > 2:
        return parts[1]
    place = getattr(value, "__module__", "") if callable(value) else _keeper(parts[1])
    wing = place.split(".")[1] if place.startswith("ocp.") else ""
    return wing if wing in WINGS else "cli"


def write_pages(folder: Path) -> None:
    """Write a page for each wing, and one that lists all names, to a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    shelves: dict[str, list[str]] = {wing: [] for wing in WINGS}
    entries = public()
    for name, value in entries.items():
        shelves[home(name, value)].append(_entry(name, value))
    for wing, shelf in shelves.items():
        purpose = summary(importlib.import_module(f"ocp.{wing}"))
        head = [f"ocp.{wing}", FENCE, "", plain(purpose), ""]
        (folder / f"{wing}.rst").write_text("\n".join([*head, *shelf]), encoding="utf-8")
    (folder / "index.rst").write_text("\n".join(_index(entries)), encoding="utf-8")


def _index(entries: dict[str, object]) -> Iterator[str]:
    yield from ("Reference", FENCE, "", "Import from ``ocp``, or from a wing where it says so.", "")
    for alias, words in TYPES.items():
        yield f"- ``{alias}``: {plain(words)}"
    yield ""
    yield from (".. toctree::", "   :maxdepth: 1", "", *(f"   {wing}" for wing in WINGS), "")
    yield from (".. list-table::", "   :widths: 30 70", "")
    for name, value in entries.items():
        role = "class" if inspect.isclass(value) else "func" if callable(value) else "data"
        yield f"   * - :py:{role}:`{name}`"
        yield f"     - {plain(summary(value))}"


def _entry(name: str, value: object) -> str:
    """Return the directive that documents a name."""
    kind = "class" if inspect.isclass(value) else "function"
    if kind == "class" or inspect.isroutine(value):
        return f".. auto{kind}:: {name}\n{_options(value)}"
    words = plain(_constant_line(value))
    return f".. py:data:: {name}\n   :type: {type(value).__name__}\n\n   {words}\n"


def _options(value: object) -> str:
    """Return the options of a directive: fields are listed where they say more than their names."""
    explained = is_dataclass(value) and any(field.metadata.get("help") for field in fields(value))
    return "   :undoc-members:\n" if explained else ""


def summary(value: object) -> str:
    """Return the first sentence of a module's, function's, class's or constant's description."""
    if inspect.ismodule(value) or inspect.isclass(value) or inspect.isroutine(value):
        opening = (inspect.getdoc(value) or "").partition("\n\n")[0]
        return SENTENCE_END.split(" ".join(opening.split()), maxsplit=1)[0]
    return _constant_line(value)


def _constant_line(value: object) -> str:
    """Return a line about a constant: the keys of a table, the name of a record, or its value."""
    if isinstance(value, dict):
        return "Keys: " + ", ".join(f"`{key}`" for key in value) + "."
    if isinstance(value, Formulation):
        page = inspect.getmodule(value.inverse)
        return f"The Formulation `{value.name}`" + (f": {summary(page)}" if page else ".")
    return f"`{value}`"


def _keeper(name: str) -> str:
    """Return the first wing, as a dotted name, whose face gives a constant."""
    places = (f"ocp.{wing}" for wing in WINGS)
    return next((place for place in places if hasattr(importlib.import_module(place), name)), "")


# Docstrings ------------------------------------------------------------------------------------


def plain(text: str) -> str:
    """Return prose as reStructuredText that says the same: `code` literal, the rest plain."""
    parts = re.split(r"`([^`\n]+)`", text)
    prose = [re.sub(r"([\\*_|`])", r"\\\1", part) for part in parts]
    for k in range(1, len(parts), 2):
        prose[k] = f"\\ ``{parts[k].strip()}``\\ "
    return "".join(prose)


def restructured_text(lines: list[str]) -> Iterator[str]:
    """Yield a docstring's lines as reStructuredText: what is indented is an equation, and Args,
    Returns and Raises are lists."""
    previous = ""
    for kind, block in _blocks(lines):
        text = "\n".join(block)
        if kind == "equations":
            yield from ("::", "", *("   " + line for line in _formulas(block)), "")
        elif kind == "section":
            yield from _section(block)
        elif kind == "item":
            yield from ([] if previous == "item" else [""])
            yield from plain(text).splitlines()
        else:
            yield from ("", "\\ " + plain(text).lstrip(), "")
        previous = kind
    yield ""


def _formulas(block: list[str]) -> Iterator[str]:
    """Yield equations one a line: those that a line has beside its first stand below it."""
    for line in block:
        first, *others = NEXT_FORMULA.split(line)
        indent = " " * (len(line) - len(line.lstrip()) + 4)
        yield first
        yield from (indent + each for each in others)


def _section(block: list[str]) -> Iterator[str]:
    """Yield a list such as Args: an item for each entry, its name as code."""
    heading, _, rest = block[0].partition(":")
    yield from ("", f"**{heading}**", "")
    entries: list[str] = [rest.strip()] if rest.strip() else []
    for line in block[1:]:
        if line.startswith("     ") and entries:  # goes on with an entry
            entries[-1] += f" {line.strip()}"
        else:
            entries.append(line.strip())
    for entry in entries:
        words, colon, text = entry.partition(": ")
        names = words.split(", ")
        named = colon and all(name.isidentifier() for name in names)
        shown = ", ".join(f"``{name}``" for name in names)
        yield f"- {shown}: {plain(text)}" if named else f"- {plain(entry)}"
    yield ""


def _blocks(lines: list[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield kind (prose, item, section or equations) and lines of each block of a docstring."""
    kind, block = "", list[str]()
    for line in lines:
        now = _kind(line, kind)
        if block and (now != kind or line.startswith(("- ", *SECTIONS))):
            yield kind, block
            block = []
        kind = now
        if line.strip():
            block.append(line)
    if block:
        yield kind, block


def _kind(line: str, before: str) -> str:
    if not line.strip():
        return ""
    if line.startswith(SECTIONS):
        return "section"
    if line.startswith("- "):
        return "item"
    if line.startswith(" "):
        return before if before in ("item", "section") else "equations"
    return "prose"


def setup(app: App) -> dict[str, bool]:
    """Let Sphinx read the house's docstrings."""
    app.connect("autodoc-process-docstring", _process_docstring)
    app.connect("autodoc-process-signature", _process_signature)
    return {"parallel_read_safe": True}


def _process_signature(
    app: App,
    what: str,
    name: str,
    value: object,
    options: object,
    given: str | None,
    returned: str | None,
) -> tuple[str | None, str | None]:
    """Return a signature that Sphinx can parse, with the types that the source names.

    Defaults of factories are an ellipsis.
    """
    types = {
        name: text
        for name, text in written_types(value).items()
        if {*re.findall(r"\w+", text)} & TYPES.keys() and {*re.findall(r"\w+", text)} <= PLAIN
    }
    given = given and _with_types(given.replace("<factory>", "..."), types)
    return given, types.get("return", returned) if returned else returned


def written_types(value: object) -> dict[str, str]:
    """Return {parameter or field: its type as it is written}, the result's as "return".

    Python forgets aliases such as `Matrix`, behind which there is no type.
    """
    if not (inspect.isclass(value) or inspect.isfunction(value)):
        return {}
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(value)))
    except (OSError, TypeError, SyntaxError):
        return {}
    top = tree.body[0]
    if isinstance(top, ast.ClassDef):
        rows = [row for row in top.body if isinstance(row, ast.AnnAssign)]
        return {ast.unparse(row.target): ast.unparse(row.annotation) for row in rows}
    if not isinstance(top, ast.FunctionDef):
        return {}
    every = (*top.args.posonlyargs, *top.args.args, *top.args.kwonlyargs)
    types = {each.arg: ast.unparse(each.annotation) for each in every if each.annotation}
    return types | ({"return": ast.unparse(top.returns)} if top.returns else {})


def _with_types(given: str, types: dict[str, str]) -> str:
    """Return a signature whose parameters without a type of their own have it as it is written."""
    try:
        (function,) = ast.parse(f"def function{given}: ...").body
    except SyntaxError:  # a default that is no expression
        return given
    assert isinstance(function, ast.FunctionDef)
    arguments = function.args
    for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
        if each.annotation and each.arg in types and UNTYPED.search(ast.unparse(each.annotation)):
            each.annotation = ast.parse(types[each.arg], mode="eval").body
    return f"({ast.unparse(arguments)})"


def _process_docstring(
    app: App, what: str, name: str, value: object, options: object, lines: list[str]
) -> None:
    """Replace a docstring's lines by their reStructuredText; a field has the help of its
    metadata."""
    if what in ("attribute", "property") and not lines:
        lines[:] = [_help(name)]
    lines[:] = "\n".join(restructured_text(lines)).splitlines()


def _help(name: str) -> str:
    """Return the help that a dataclass keeps in the metadata of a field, by its dotted name."""
    place, _, attribute = name.rpartition(".")
    place, _, owner = place.rpartition(".")
    record = getattr(importlib.import_module(place), owner, None) if place else None
    if record is None or not is_dataclass(record):
        return ""
    known = {field.name: field.metadata.get("help", "") for field in fields(record)}
    return known.get(attribute, "")
