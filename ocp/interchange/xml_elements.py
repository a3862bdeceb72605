"""XML files as elements that know their line, so that every error names its place."""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from xml.parsers import expat

from ocp.storage.atomic_files import bytes_of

ENCODING = re.compile(rb"""\s*<\?xml[^>]*?encoding\s*=\s*["']([^"']+)""")
WIDE = (b"\xff\xfe", b"\xfe\xff")  # first bytes of UTF-16
ENDLESS = 1e100  # in any unit: what is beyond is no number that was meant


class Misstated(ValueError):
    """A file states something wrong; the message begins with its place."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Element:
    """An element of an XML file: its `tag`, attributes, children and own `content`, and the `line`
    where it begins.

    Its methods raise ValueError naming file, line, element and attribute.
    """

    tag: str
    attributes: Mapping[str, str]
    children: Sequence["Element"]
    file: str
    line: int
    content: str = ""

    def __repr__(self) -> str:
        return f"Element({self.place})"

    @property
    def place(self) -> str:
        """File, line and element, as messages name them: robot.urdf:12: <joint name="hip">."""
        name = self.attributes.get("name")
        named = "" if name is None else f' name="{name}"'
        return f"{self.file}:{self.line}: <{self.tag}{named}>"

    def wrong(self, what: str) -> Misstated:
        """Return the error that says what is wrong with this element."""
        return Misstated(f"{self.place}: {what}")

    def every(self, tag: str) -> tuple["Element", ...]:
        """Return the children of that tag, in the file's order."""
        return tuple(child for child in self.children if child.tag == tag)

    def one(self, tag: str) -> "Element | None":
        """Return the only child of that tag; None if there is none."""
        known = self.every(tag)
        if len(known) > 1:
            raise self.wrong(f"expected one <{tag}>, got {len(known)}")
        return known[0] if known else None

    def child(self, tag: str) -> "Element":
        """Return the only child of that tag, which must be there."""
        known = self.one(tag)
        if known is None:
            raise self.wrong(f"<{tag}> is missing")
        return known

    def text(self, attribute: str) -> str:
        """Return an attribute that must be there and not be empty."""
        value = self.attributes.get(attribute, "").strip()
        if not value:
            raise self.wrong(f"{attribute} is missing")
        return value

    def number(self, attribute: str, default: float | None = None) -> float:
        """Return an attribute as a finite number, `default` where it is not there."""
        return self.numbers(attribute, 1, None if default is None else (default,))[0]

    def numbers(
        self, attribute: str, count: int, default: Sequence[float] | None = None
    ) -> tuple[float, ...]:
        """Return an attribute as `count` finite numbers, `default` where it is not there."""
        if default is not None and attribute not in self.attributes:
            return tuple(default)
        words = self.text(attribute).split()
        try:
            values = tuple(float(word) for word in words)
        except ValueError:
            values = ()
        if len(values) != count or not all(abs(value) < ENDLESS for value in values):
            wanted = "a finite number" if count == 1 else f"{count} finite numbers"
            raise self.wrong(f"{attribute}: expected {wanted}, got {' '.join(words)!r}")
        return values

    @contextmanager
    def located_errors(self) -> Iterator[None]:
        """Name this element in the ValueErrors of the block."""
        try:
            yield
        except Misstated:
            raise
        except ValueError as error:
            raise self.wrong(str(error)) from None


def file_content(path: str | PathLike[str]) -> bytes:
    """Return the bytes of a file; raise ValueError naming one that cannot be read."""
    try:
        return bytes_of(path)
    except OSError as error:
        raise ValueError(f"{path}: cannot be read: {error.strerror or error}") from None


def check_includes(path: Path, pattern: bytes) -> None:
    """Raise ValueError naming a file that a model includes and that is no regular one.

    A reader of another program would wait for a pipe without end. Files that are not there are left
    to that reader, which knows their line.

    Args:
        path: of the model.
        pattern: of an include, whose first group is the name of a file.
    """
    waiting, seen = [path], set[Path]()
    while waiting:
        file = waiting.pop()
        seen.add(file)
        names = [os.fsdecode(name) for name in re.findall(pattern, file_content(file))]
        places = {folder / name for name in names for folder in (path.parent, file.parent)}
        waiting += [each for each in places - seen if each.exists() and not each.is_dir()]


def parse_xml(content: bytes, file: str) -> Element:
    """Return the root of an XML file's content; raise Misstated naming file and line.

    Bytes that are no UTF-8 are read as Latin-1 where the file does not name another encoding.
    """
    reader = expat.ParserCreate(_encoding(content))
    reader.ordered_attributes = False
    above: list[dict] = [{"children": []}]

    def start(tag: str, attributes: dict[str, str]) -> None:
        line = reader.CurrentLineNumber
        above.append(
            {"tag": tag, "attributes": attributes, "children": [], "line": line, "content": []}
        )

    def end(_: str) -> None:
        fields = above.pop()
        children = tuple(fields.pop("children"))
        content = "".join(fields.pop("content")).strip()
        above[-1]["children"].append(
            Element(**fields, children=children, content=content, file=file)
        )

    def add(text: str) -> None:
        above[-1]["content"].append(text)

    reader.StartElementHandler, reader.EndElementHandler = start, end
    reader.CharacterDataHandler = add
    try:
        reader.Parse(content, True)
    except expat.ExpatError as error:
        raise Misstated(f"{file}:{error.lineno}: no XML: {expat.ErrorString(error.code)}") from None
    except LookupError as error:  # what it says of its encoding
        raise Misstated(f"{file}:1: no XML: {error}") from None
    root: Element = above[0]["children"][0]
    return root


def _encoding(content: bytes) -> str | None:
    """Return the encoding of XML, None for the one that the file names."""
    named = ENCODING.match(content[:200])
    if named is None or named[1].lower() == b"utf-8":
        try:
            content.decode("utf-8")
        except UnicodeDecodeError:
            return None if content[:2] in WIDE else "iso-8859-1"
    return None
