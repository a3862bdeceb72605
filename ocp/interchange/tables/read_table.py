"""Tables read from files: .mot and .sto of OpenSim, .trc of markers, .csv, and C3D."""

import csv
import re
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from ocp.interchange.c3d.reader import read_c3d
from ocp.interchange.tables.number_rows import lines_of, numbers_in
from ocp.interchange.tables.table import Table
from ocp.interchange.tables.units import in_si

WORDS = ("inDegrees", "units", "nRows", "nColumns", "datarows", "datacolumns")  # of a header
BARE = ("indegrees", "nrows", "ncolumns", "datarows", "datacolumns")  # of older programs, without =
TRUTHS = {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False}
APART = 0.05  # of a rate that a header states, by which times may differ from it
UNIT = re.compile(r"^(?P<label>.*?)\s*[(\[](?P<unit>[^()\[\]]*)[)\]]\s*$")
MARKS = {",": "commas", ";": "semicolons", "\t": "tabs"}  # between entries
Rows = list[tuple[int, list[str]]]


def read_table(path: str | Path) -> Table:
    """Return the table of a file by its ending: .mot, .sto, .trc, .csv or .c3d.

    In .mot and .sto a header line `units` names those of all columns, and `inDegrees=yes` has turns
    in degrees; without either they are radians. In .trc the header's Units hold; in .csv labels
    end with theirs, as `knee (deg)`, SI where there is none. Markers are columns NAME.x, NAME.y and
    NAME.z. Empty entries and nan are missing. C3D gives its markers, and wrenches of its force
    plates.

    Raises:
        ValueError: the content is wrong (the message names line and column), or no regular file.
        OSError: the file cannot be read.
    """
    readers: dict[str, Callable[[Path], Table]] = {
        ".mot": _storage,
        ".sto": _storage,
        ".trc": _markers,
        ".csv": _comma_separated,
        ".c3d": read_c3d,
    }
    path = Path(path)
    if path.suffix.lower() not in readers:
        endings = ", ".join(readers)
        raise ValueError(f"{path}: expected a file that ends in {endings}, got {path.suffix!r}")
    return readers[path.suffix.lower()](path)


def _storage(path: Path) -> Table:
    """Return the table of a .mot or .sto file: a header to `endheader`, labels, rows."""
    lines = lines_of(path)
    end = next((k for k, text in enumerate(lines) if text.strip().lower() == "endheader"), None)
    if end is None:
        raise ValueError(f"{path}: expected a line 'endheader' below the header, got none")
    header = _header(lines[:end])
    first = next((k for k in range(end + 1, len(lines)) if lines[k].strip()), None)
    if first is None:
        raise ValueError(f"{path}: line {end + 1}: expected a line of labels below it, got none")
    tabs = "\t" in lines[first].strip()
    labels = [label.strip() for label in lines[first].strip().split("\t" if tabs else None)]
    _check_labels(path, first + 1, labels, ("time",))
    rows = _rows(lines, first + 1, "\t" if tabs else None, len(labels))
    _check_count(path, header, ("nRows", "datarows"), len(rows), "rows")
    _check_count(path, header, ("nColumns", "datacolumns"), len(labels), "columns")
    values = numbers_in(path, rows, labels, "tabs" if tabs else "blanks")
    words = header.get("units", "")
    units = [unit.strip() for unit in words.split(",")] if words else [""] * len(labels[1:])
    if len(units) != len(labels) - 1:
        raise ValueError(
            f"{path}: units: expected {len(labels) - 1}, one for each column, got {len(units)}"
        )
    said = header.get("inDegrees", "no").lower()
    if said not in TRUTHS:
        raise ValueError(f"{path}: inDegrees: expected yes or no, got {said!r}")
    return Table(
        t=values[0],
        labels=labels[1:],
        values=values[1:],
        units=units,
        degrees=TRUTHS[said],
        header=header,
        source=str(path),
        lines=[line for line, _ in rows],
    )


def _header(lines: Sequence[str]) -> dict[str, str]:
    """Return {word: text} of header lines `word=text`, of some words also `word text`; the first
    may be a
    name.

    Words count however they are spelled, capital or not. Sentences, as OpenSim has them in headers
    of
    results, are left out: "Units are S.I. units (second, meters, Newtons, ...)".
    """
    header = {}
    spelled = {word.lower(): word for word in WORDS}
    for number, text in enumerate(lines):
        word, sign, rest = (part.strip() for part in text.partition("="))
        if number == 0 and not sign:
            header["name"] = word.removeprefix("name ")
        elif sign and len(word.split()) == 1:
            header[spelled.get(word.lower(), word)] = rest
        elif len(words := word.split()) == 2 and words[0].lower() in BARE:
            header[spelled[words[0].lower()]] = words[1]
    return header


def _check_count(
    path: Path, header: dict[str, str], words: Sequence[str], count: int, of: str
) -> None:
    """Warn of a header that counts otherwise, as those of some files that OpenSim distributes; so
    does that of a file that is cut off."""
    for word in words:
        if word in header and header[word] != str(count):
            said = f"{path}: {word}: the header says {header[word]}, got {count} {of}"
            warnings.warn(f"{said}, which are read as they are", stacklevel=4)


def _check_labels(
    path: Path, line: int, labels: Sequence[str], times: Sequence[str] = ("time", "t")
) -> None:
    """Raise ValueError unless the first label is that of time, and others have names of their
    own."""
    if labels[0].lower() not in times:
        counted = labels[0].lower() in ("frame", "frames", "sample", "index")
        cure = "; divide what it counts by the sampling rate" if counted else ""
        raise ValueError(
            f"{path}: line {line}: expected the label 'time' (s) first, got {labels[0]!r}{cure}"
        )
    if len(labels) < 2:
        raise ValueError(f"{path}: line {line}: expected labels of columns beside time, got none")
    for number, label in enumerate(labels):
        if not label:
            raise ValueError(f"{path}: line {line}: column {number + 1} has no label")
        if label in labels[:number]:
            raise ValueError(f"{path}: line {line}: column {label!r}: the label is used twice")


def _rows(lines: Sequence[str], first: int, apart: str | None, count: int) -> Rows:
    """Return (line, entries) of the lines from `first` on that are not empty; a mark at the end
    of a row of `count` entries makes no entry."""
    texts = ((k + 1, lines[k]) for k in range(first, len(lines)))
    rows = [(k, text.strip("\r\n").split(apart)) for k, text in texts if text.strip()]
    return [(k, _without_tail(row, count)) for k, row in rows]


def _markers(path: Path) -> Table:
    """Return the table of a .trc file: five lines of header, rows of number, time, markers."""
    lines = lines_of(path)
    if len(lines) < 6 or not lines[0].startswith("PathFileType"):
        raise ValueError(f"{path}: line 1: expected PathFileType and five lines of header")
    words, texts = lines[1].split(), lines[2].split()
    if len(texts) < len(words):
        raise ValueError(
            f"{path}: line 3: expected {len(words)} entries, as line 2 has words, got {len(texts)}"
        )
    header = dict(zip(words, texts))
    for word in ("DataRate", "NumFrames", "NumMarkers", "Units"):
        if word not in header:
            raise ValueError(f"{path}: line 2: expected the word {word}, got {' '.join(words)}")
    try:
        unit, factor = in_si(header["Units"])
    except ValueError as error:
        raise ValueError(f"{path}: line 3: Units: {error}") from None
    if unit != "m":
        raise ValueError(f"{path}: line 3: Units: expected m or mm, got {header['Units']!r}")
    names = [name.strip() for name in lines[3].split("\t")[2:] if name.strip()]
    if header["NumMarkers"] != str(len(names)):
        raise ValueError(
            f"{path}: line 4: expected {header['NumMarkers']} markers, got {len(names)}"
        )
    _check_markers(path, names, lines[4].split())
    labels = [f"{name}.{axis}" for name in names for axis in "xyz"]
    rows = _rows(lines, 5, "\t", len(labels) + 2)
    _check_count(path, header, ("NumFrames",), len(rows), "rows")
    values = numbers_in(path, rows, ["Frame#", "time", *labels], "tabs")
    table = Table(
        t=values[1],
        labels=labels,
        values=factor * values[2:],
        units=["m"] * len(labels),
        header=header,
        source=str(path),
        lines=[line for line, _ in rows],
    )
    _check_rate(path, header["DataRate"], table.t)
    return table


def _check_markers(path: Path, names: Sequence[str], axes: Sequence[str]) -> None:
    """Raise ValueError for a marker named twice, and for columns in another order than x, y, z."""
    if not names:
        raise ValueError(f"{path}: line 4: expected names of markers, got none")
    twice = next((name for k, name in enumerate(names) if name in names[:k]), None)
    if twice is not None:
        raise ValueError(f"{path}: line 4: marker {twice!r} is named twice")
    letters = "".join(axis[:1].lower() for axis in axes)
    if letters.strip("xyz") == "" and letters != "xyz" * (len(letters) // 3):
        raise ValueError(
            f"{path}: line 5: expected columns in the order X, Y, Z, got {', '.join(axes[:3])}"
        )


def _without_tail(row: list[str], count: int) -> list[str]:
    """Return a row without the empty entry that a mark at its end makes."""
    return row[:-1] if len(row) == count + 1 and not row[-1].strip() else row


def _check_rate(path: Path, text: str, t: np.ndarray) -> None:
    if len(t) < 2:
        return
    step = float(t[-1] - t[0]) / (len(t) - 1)
    try:
        rate = float(text)
    except ValueError:
        raise ValueError(f"{path}: line 3: DataRate: expected a number, got {text!r}") from None
    if not abs(rate * step - 1) <= APART:
        raise ValueError(
            f"{path}: line 3: DataRate is {rate:g} Hz, but its times are {step:g} s apart"
        )


def _comma_separated(path: Path) -> Table:
    """Return the table of a .csv file: a line of labels with units, rows; # begins a remark."""
    lines = [(k + 1, text) for k, text in enumerate(lines_of(path))]
    lines = [(k, text) for k, text in lines if text.strip() and not text.startswith("#")]
    if not lines:
        raise ValueError(f"{path}: expected a line of labels, got none")
    mark = max(MARKS, key=lines[0][1].count)
    cells = [_cells(path, line, text, mark) for line, text in lines]
    first = _without_tail(cells[0], len(cells[0]) - 1)
    labels, units = zip(*(_label(text) for text in first))
    _check_labels(path, lines[0][0], labels)
    rows = [(line, _without_tail(r, len(labels))) for (line, _), r in zip(lines[1:], cells[1:])]
    values = numbers_in(path, rows, labels, MARKS[mark])
    if units[0] not in ("", "s", "ms"):
        raise ValueError(f"{path}: line {lines[0][0]}: time: expected s or ms, got {units[0]!r}")
    factor = 1e-3 if units[0] == "ms" else 1.0
    return Table(
        t=factor * values[0],
        labels=labels[1:],
        values=values[1:],
        units=units[1:],
        source=str(path),
        lines=[line for line, _ in rows],
    )


def _cells(path: Path, line: int, text: str, mark: str) -> list[str]:
    """Return the entries of a line, which may stand in quotes."""
    try:
        return next(csv.reader([text], delimiter=mark))
    except csv.Error as error:
        raise ValueError(f"{path}: line {line}: {error}") from None


def _label(text: str) -> tuple[str, str]:
    match = UNIT.match(text.strip())
    return (match["label"], match["unit"].strip()) if match else (text.strip(), "")
