"""C3D files as processors of Intel, DEC and MIPS write them, for the tests of their reader."""

from collections.abc import Mapping
from struct import pack
from typing import Any

import numpy as np

BLOCK = 512
INTEL, DEC, MIPS = 84, 85, 86
FRAMES = 8
CORNERS = np.array([[0.2, 0, 0, 0.2], [0, 0, 0.6, 0.6], [0, 0, 0, 0]])  # m; z into the ground


def numbers(values: Any, kind: str, processor: int) -> bytes:
    """Numbers as bytes: kind "f" floats, "i" or "u" integers of two bytes."""
    values = np.asarray(values, dtype=float).ravel(order="F")
    if kind == "f" and processor == DEC:  # a quarter of what its words in order are elsewhere
        return (4 * values).astype(">f4").view(">u2").astype("<u2").tobytes()
    size = 4 if kind == "f" else 2
    order = ">" if processor == MIPS else "<"
    return (
        np.round(values).astype(f"{order}{kind}{size}").tobytes()
        if size == 2
        else (values.astype(f"{order}f4").tobytes())
    )


def record(name: str, number: int, rest: bytes, processor: int) -> bytes:
    """A group, of a negative number, or a parameter of that group."""
    order = ">" if processor == MIPS else "<"
    return pack("bb", len(name), number) + name.encode() + pack(f"{order}H", len(rest) + 2) + rest


def stated(value: Any, processor: int) -> bytes:
    """Kind, dimensions and content of a parameter: texts, floats, or integers."""
    if isinstance(value, (list, tuple)) and (not value or isinstance(value[0], str)):
        texts = [text.encode() for text in value]
        length = max((len(text) for text in texts), default=0)
        content = b"".join(text.ljust(length) for text in texts)
        return pack("bBBB", -1, 2, length, len(texts)) + content + b"\0"
    array = np.asarray(value)
    whole = array.dtype.kind in "iu"
    content = numbers(array, "u" if whole else "f", processor)
    shape = bytes(array.shape)
    return pack("bB", 2 if whole else 4, len(shape)) + shape + content + b"\0"


def section(parameters: Mapping[str, Any], processor: int) -> bytes:
    """The parameters of a file by GROUP:NAME, in whole blocks."""
    groups = list(dict.fromkeys(name.partition(":")[0] for name in parameters))
    body = b"".join(
        record(group, -number, b"\0", processor) for number, group in enumerate(groups, 1)
    )
    for name, value in parameters.items():
        group, _, word = name.partition(":")
        body += record(word, groups.index(group) + 1, stated(value, processor), processor)
    blocks = -(-(len(body) + 6) // BLOCK)
    return (bytes([1, 80, blocks, processor]) + body).ljust(BLOCK * blocks, b"\0")


def c3d_bytes(
    points: np.ndarray,
    samples: np.ndarray,
    parameters: Mapping[str, Any],
    *,
    processor: int = INTEL,
    scale: float = -1.0,
    first: int = 1,
) -> bytes:
    """A file of points (frames, n, 4), in its unit and the word that is -1 where one is unseen, and
    samples (frames, per frame, channels); in integers where the `scale` is above 0."""
    count, seen = len(points), points[:, :, 3:]
    coordinates = points[:, :, :3] / (scale if scale > 0 else 1.0)
    rows = np.concatenate([coordinates, seen], axis=2).reshape(count, -1)
    rows = np.hstack([rows, samples.reshape(count, -1)])
    counts = {"POINT:USED": points.shape[1], "ANALOG:USED": samples.shape[2]}
    used = {name: np.int16(count) for name, count in counts.items()}
    body = section(used | dict(parameters), processor)
    order = ">" if processor == MIPS else "<"
    last = min(first + count - 1, 65535)
    counts = pack(f"{order}5H", points.shape[1], samples[0].size, first, last, 10)
    start = pack(f"{order}2H", 2 + len(body) // BLOCK, samples.shape[1])
    head = bytes([2, 80]) + counts + numbers([scale], "f", processor) + start
    head += numbers([100.0], "f", processor)
    data = numbers(rows.ravel(), "i" if scale > 0 else "f", processor)
    padding = -len(data) % BLOCK
    return head.ljust(BLOCK, b"\0") + body + data + b"\0" * padding


def two_markers() -> np.ndarray:
    """Points of KNEE and HIP at 100 Hz in mm, one unseen in a frame."""
    points = np.zeros((FRAMES, 2, 4))
    points[:, :, :3] = np.arange(6.0 * FRAMES).reshape(3, 2, FRAMES).T
    points[4, 1] = (0, 0, 0, -1)
    return points


def plate_parameters(kind: int, channels: int, **others: Any) -> dict[str, Any]:
    """Parameters of two markers in mm and of a plate at 200 Hz whose channels have no scales."""
    units = {1: ["mm", "mm", "Nmm"], 2: ["Nmm"] * 3, 3: ["N"] * 5, 4: ["V"] * 3}[kind]
    return {
        "POINT:RATE": 100.0,
        "POINT:SCALE": -1.0,
        "POINT:FRAMES": np.int16(FRAMES),
        "POINT:DATA_START": np.int16(0),
        "POINT:LABELS": ["KNEE", "HIP"],
        "POINT:UNITS": ["mm"],
        "ANALOG:LABELS": [f"C{k + 1}" for k in range(channels)],
        "ANALOG:RATE": 200.0,
        "ANALOG:GEN_SCALE": 1.0,
        "ANALOG:SCALE": np.ones(channels),
        "ANALOG:OFFSET": np.zeros(channels, dtype=np.int16),
        "ANALOG:UNITS": [*(["V"] * 3 if kind == 4 else ["N"] * 3), *units][:channels],
        "FORCE_PLATFORM:USED": np.int16(1),
        "FORCE_PLATFORM:TYPE": np.array([kind], dtype=np.int16),
        "FORCE_PLATFORM:ZERO": np.array([0, 0], dtype=np.int16),
        "FORCE_PLATFORM:CHANNEL": np.arange(1, channels + 1, dtype=np.int16).reshape(-1, 1),
        "FORCE_PLATFORM:CORNERS": 1e3 * CORNERS[:, :, None],
        "FORCE_PLATFORM:ORIGIN": np.array([[0.0], [0.0], [0.0]]),
        **{name.replace("__", ":"): value for name, value in others.items()},
    }


def plain_file(processor: int = INTEL, scale: float = -1.0, **others: Any) -> bytes:
    """Two markers, and a plate of kind 2 under 700 N that bears a moment of 1 N m on average."""
    samples = np.zeros((FRAMES, 2, 6))
    samples[:, :, 2], samples[:, 0, 3] = -700.0, 2000.0
    parameters = plate_parameters(2, 6, POINT__SCALE=float(scale), **others)
    return c3d_bytes(two_markers(), samples, parameters, processor=processor, scale=scale)
