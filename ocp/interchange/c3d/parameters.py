"""Parameters of C3D files: names in groups, texts and numbers in several dimensions.

The format is that of the C3D user guide (Motion Lab Systems 2008): numbers are as processors of
Intel, DEC or MIPS write them. Nothing is read beyond the end of a file, whatever its numbers say.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from pathlib import Path
from struct import unpack

import numpy as np

BLOCK, MARK = 512, 80  # bytes of a block; the second byte of the header and of the parameters
DEC = 85  # a processor whose numbers are floats of a VAX
ORDERS = {84: "<", DEC: "<", 86: ">"}  # of bytes, by the processor: Intel, DEC, MIPS
TEXT, BYTE, INTEGER, FLOAT = -1, 1, 2, 4  # kinds of parameters: of numbers, their bytes
DIMENSIONS = 7  # that a parameter has at most
PADDING = " \t\r\n\0"  # after a text that is shorter than its place


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """A parameter of a file: its kind, its dimensions, of which the first varies quickest, and
    its bytes."""

    kind: int
    shape: tuple[int, ...]
    content: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameters:
    """Parameters of the file at `path`, by GROUP:NAME, and the `processor` that wrote its numbers.

    Its methods raise ValueError naming file and parameter.
    """

    path: Path
    processor: int
    stated: Mapping[str, Parameter]

    def __contains__(self, name: str) -> bool:
        return name in self.stated

    def texts(self, name: str) -> list[str]:
        """Return the texts of a parameter, without their padding."""
        stated = self._known(name)
        if stated.kind != TEXT:
            raise ValueError(f"{self.path}: {name}: expected texts, got numbers")
        length = stated.shape[0] if stated.shape else 1
        parts = range(0, len(stated.content), max(length, 1))
        return [_decode_text(stated.content[k : k + length]).rstrip(PADDING) for k in parts]

    def text(self, name: str) -> str:
        """Return the first text of a parameter, "" where there is none."""
        return next(iter(self.texts(name)), "") if name in self else ""

    def numbers(self, name: str, *, unsigned: bool = False) -> np.ndarray:
        """Return the finite numbers of a parameter in its dimensions; `unsigned`: its integers
        are."""
        stated = self._known(name)
        if stated.kind == TEXT:
            raise ValueError(f"{self.path}: {name}: expected numbers, got texts")
        values = decode_numbers(stated.content, stated.kind, self.processor, unsigned)
        endless = values[~np.isfinite(values)]
        if endless.size:
            raise ValueError(f"{self.path}: {name}: expected finite numbers, got {endless[0]}")
        return values.reshape(stated.shape, order="F")

    def number(self, name: str, *, unsigned: bool = False) -> float:
        """Return the first number of a parameter."""
        values = self.numbers(name, unsigned=unsigned)
        if not values.size:
            raise ValueError(f"{self.path}: {name}: expected a number, got none")
        return float(values.flat[0])

    def names(self, name: str) -> list[str]:
        """Return a parameter and its continuations beyond 255 entries: NAME, NAME2, .."""
        following = re.compile(re.escape(name) + r"(\d*)")
        matches = [match for each in self.stated if (match := following.fullmatch(each))]
        return [match[0] for match in sorted(matches, key=lambda match: int(match[1] or 1))]

    def series(self, name: str, *, unsigned: bool = False) -> np.ndarray:
        """Return the numbers of a parameter and of its continuations, one after the other."""
        self._known(name)
        parts = [self.numbers(each, unsigned=unsigned).ravel() for each in self.names(name)]
        return np.concatenate(parts)

    def _known(self, name: str) -> Parameter:
        if name not in self.stated:
            raise ValueError(f"{self.path}: {name}: the parameter is missing")
        return self.stated[name]


def decode_numbers(content: bytes, size: int, processor: int, unsigned: bool = False) -> np.ndarray:
    """Return numbers of bytes: of 1 or 2 bytes integers, of 4 floats of the processor."""
    if size == FLOAT and processor == DEC:
        return _of_vax(content)
    letter = "f" if size == FLOAT else "u" if unsigned or size == BYTE else "i"
    return np.frombuffer(content, f"{ORDERS[processor]}{letter}{size}").astype(float)


def _of_vax(content: bytes) -> np.ndarray:
    """Return floats of a VAX, (0.5 + fraction / 2^24) 2^(exponent - 128), whose two words stand
    in the other order than the bytes in them."""
    words = np.frombuffer(content, "<u2").astype(np.int64).reshape(-1, 2)
    exponent = (words[:, 0] >> 7) & 0xFF
    fraction = ((words[:, 0] & 0x7F) << 16) | words[:, 1] | 0x800000
    sizes = np.ldexp(fraction.astype(float), (exponent - 128 - 24).astype(int))
    signs = np.where(words[:, 0] >> 15, -1.0, 1.0)
    return np.where(exponent == 0, 0.0, signs * sizes)


def _decode_text(part: bytes) -> str:
    try:
        return part.decode("utf-8")
    except UnicodeDecodeError:
        return part.decode("latin-1")


def read_parameters(path: Path, content: bytes) -> Parameters:
    """Return the parameters of a C3D file of these bytes; raise ValueError naming the file if it
    is none, or cut off."""
    if len(content) < BLOCK or content[1] != MARK:
        start = content[:20].decode("latin-1")
        text = start and re.fullmatch(r"[ -~\s]*", start) and f"it is text, beginning {start!r}"
        raise ValueError(
            f"{path}: cannot be read as C3D: {text or f'its second byte is not {MARK}'}; export it "
            "as C3D anew, or as .trc, .mot, .sto or .csv"
        )
    view, place = memoryview(content), BLOCK * (content[0] - 1)
    if place < BLOCK:
        raise ValueError(f"{path}: cannot be read as C3D: parameters begin in block {content[0]}")
    processor = _part(path, view, place, 4)[3]
    if processor not in ORDERS:
        raise ValueError(
            f"{path}: cannot be read as C3D: expected processor 84 (Intel), 85 (DEC) or 86 (MIPS), "
            f"got {processor}"
        )
    groups: dict[int, str] = {}
    members: list[tuple[int, str, Parameter]] = []
    place, step = place + 4, -1
    while step:
        size, group = unpack("bb", _part(path, view, place, 2))  # of a locked name it is negative
        if not size or not group:
            break
        name = _decode_text(bytes(_part(path, view, place + 2, abs(size)))).strip(PADDING).upper()
        place += 2 + abs(size)
        (step,) = unpack(f"{ORDERS[processor]}H", _part(path, view, place, 2))
        if group < 0:
            groups[-group] = name
        else:
            members.append((group, name, _read_parameter(path, view, place + 2, name)))
        place += step
    stated = {f"{groups.get(group, group)}:{name}": each for group, name, each in members}
    return Parameters(path=path, processor=processor, stated=stated)


def _read_parameter(path: Path, view: memoryview, place: int, name: str) -> Parameter:
    """Return the parameter whose kind, dimensions and numbers begin at a place."""
    kind, count = unpack("bB", _part(path, view, place, 2))
    if kind not in (TEXT, BYTE, INTEGER, FLOAT):
        raise ValueError(
            f"{path}: parameter {name!r}: expected a kind of -1, 1, 2 or 4, got {kind}"
        )
    if count > DIMENSIONS:
        raise ValueError(
            f"{path}: parameter {name!r}: expected {DIMENSIONS} dimensions at most, got {count}"
        )
    shape = tuple(_part(path, view, place + 2, count))
    content = _part(path, view, place + 2 + count, abs(kind) * prod(shape))
    return Parameter(kind=kind, shape=shape, content=bytes(content))


def _part(path: Path, view: memoryview, place: int, count: int) -> memoryview:
    if place + count > len(view):
        raise ValueError(
            f"{path}: cannot be read as C3D: its parameters go on beyond its end, to byte "
            f"{place + count} of {len(view)}"
        )
    return view[place : place + count]
