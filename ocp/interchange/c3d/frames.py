"""Frames of C3D files: points, and the analog samples taken between two frames."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from struct import unpack_from

import numpy as np

from ocp.interchange.c3d.parameters import (
    BLOCK,
    FLOAT,
    INTEGER,
    ORDERS,
    Parameters,
    decode_numbers,
    read_parameters,
)

LONG = 65535  # frames, beyond which parameters count them


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """Contents of a C3D file.

    `points` (frames, points, 3) are in the file's unit, nan where one was not seen; `samples`
    (frames, samples, channels) are analog values before their scales, of integers that are
    `unsigned` or not. Frames follow each other at `rate` (Hz), the first `first` steps after 0.
    """

    parameters: Parameters
    points: np.ndarray
    samples: np.ndarray
    unsigned: bool
    rate: float
    first: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """Numbers of a header: of `points` and analog `values` in a frame, of the `first` frame and the
    `last`, of the `block` where they begin, of `samples` in a frame; the `scale` of integer
    coordinates, which of floats is not above 0.
    """

    points: int
    values: int
    first: int
    last: int
    scale: float
    block: int
    samples: int


def read_recording(path: Path, content: bytes) -> Recording:
    """Return the Recording of a C3D file of these bytes; raise ValueError naming the file if it
    is none, contradicts itself or is cut off."""
    parameters = read_parameters(path, content)
    header = _header(parameters, content)
    samples_each, channels = _analog(path, header)
    _check_counts(parameters, {"POINT:USED": header.points, "ANALOG:USED": channels})
    if not isfinite(header.scale):
        raise ValueError(f"{path}: the header's scale: expected a number, got {header.scale}")
    rate = parameters.number("POINT:RATE")
    if not rate > 0:
        raise ValueError(f"{path}: POINT:RATE: expected a number above 0 Hz, got {rate:g}")
    width = 4 * header.points + header.values
    if not width:
        raise ValueError(f"{path}: expected markers or force plates, got neither")
    size = INTEGER if header.scale > 0 else FLOAT
    first, count = _frames(parameters, header, len(content), size * width)
    start = BLOCK * (header.block - 1)
    rows = content[start : start + count * size * width]
    unsigned = parameters.text("ANALOG:FORMAT").upper() == "UNSIGNED"
    table = decode_numbers(rows, size, parameters.processor).reshape(count, width)
    points = table[:, : 4 * header.points].reshape(count, header.points, 4)
    samples = table[:, 4 * header.points :].reshape(count, samples_each, channels)
    if size == INTEGER and unsigned:
        samples = samples % 2**16
    scale = header.scale if size == INTEGER else 1.0
    seen = points[:, :, 3:] >= 0  # the word of residuals and cameras is -1 where it was not
    return Recording(
        parameters=parameters,
        points=np.where(seen, scale * points[:, :, :3], np.nan),
        samples=samples,
        unsigned=unsigned,
        rate=rate,
        first=first,
    )


def _header(parameters: Parameters, content: bytes) -> Header:
    order = ORDERS[parameters.processor]
    points, values, first, last = unpack_from(f"{order}4H", content, 2)
    block, samples = unpack_from(f"{order}2H", content, 16)
    return Header(
        points=points,
        values=values,
        first=first,
        last=last,
        scale=float(decode_numbers(content[12:16], FLOAT, parameters.processor)[0]),
        block=block,
        samples=samples,
    )


def _analog(path: Path, header: Header) -> tuple[int, int]:
    """Return the number of analog samples in a frame, and of channels."""
    samples = max(header.samples, 1)
    if header.values % samples:
        raise ValueError(
            f"{path}: the header says {header.values} analog values in a frame, which are not "
            f"{samples} of each channel"
        )
    return samples, header.values // samples


def _check_counts(parameters: Parameters, counts: Mapping[str, int]) -> None:
    """Raise ValueError for a count of a parameter that is not the header's."""
    for name, count in counts.items():
        stated = parameters.number(name, unsigned=True) if name in parameters else count
        if stated != count:
            raise ValueError(f"{parameters.path}: the header says {count}, {name} says {stated:g}")


def _frames(parameters: Parameters, header: Header, length: int, size: int) -> tuple[int, int]:
    """Return steps before the first frame and the number of frames; raise ValueError if the file is
    shorter.

    Args:
        parameters, header: of the file.
        length: of the file, in bytes.
        size: of a frame, in bytes.
    """
    path = parameters.path
    start = BLOCK * (header.block - 1)
    if start < BLOCK:
        raise ValueError(f"{path}: the header says that frames begin in block {header.block}")
    first, last = _first_and_last(parameters, header)
    if last < first:
        raise ValueError(f"{path}: the header says frames {first} to {last}")
    stated, present = last - first + 1, max(length - start, 0) // size
    if present < stated:
        raise ValueError(f"{path}: the header says {stated} frames, got {present}: it is cut off")
    return max(first - 1, 0), stated


def _first_and_last(parameters: Parameters, header: Header) -> tuple[int, int]:
    """Return the numbers of the first and last frame, of parameters where the header cannot
    count them."""
    if header.last < LONG:
        return header.first, header.last
    ends = ("TRIAL:ACTUAL_START_FIELD", "TRIAL:ACTUAL_END_FIELD")
    if all(end in parameters for end in ends):
        first, last = (_long(parameters, end) for end in ends)
        return first, last
    for name in ("POINT:LONG_FRAMES", "POINT:FRAMES"):
        if name in parameters:
            return header.first, header.first + int(parameters.number(name, unsigned=True)) - 1
    return header.first, header.last


def _long(parameters: Parameters, name: str) -> int:
    """Return a number of two words, of which the second counts 65536s."""
    words = parameters.numbers(name, unsigned=True).ravel()
    if len(words) != 2:
        raise ValueError(f"{parameters.path}: {name}: expected 2 numbers, got {len(words)}")
    return int(words[0] + 2**16 * words[1])
