"""Tables written to files: .mot and .sto of OpenSim, .trc of markers, .csv."""

import csv
import io
from pathlib import Path

import numpy as np

from ocp.interchange.tables.column_meanings import markers
from ocp.interchange.tables.table import Table, check_table
from ocp.storage import write


def save_table(table: Table, path: str | Path) -> None:
    """Write a table by its file's ending: .mot, .sto, .trc or .csv, whole or not at all.

    Numbers are written with all their digits. In .mot and .sto, the header has `inDegrees=no` and
    under `units` those of all columns; .trc takes markers alone, in m.

    Raises:
        ValueError: another ending, labels with a tab or a line end in them, or columns of a .trc
            that are no markers.
        OSError: nothing can be written there.
    """
    check_table("save_table", table)
    writers = {".mot": _storage, ".sto": _storage, ".trc": _markers, ".csv": _comma_separated}
    ending = Path(path).suffix.lower()
    if ending not in writers:
        raise ValueError(
            f"{path}: expected a file that ends in {', '.join(writers)}, got {ending!r}"
        )
    write(path, writers[ending](table, Path(path)))


def _storage(table: Table, path: Path) -> str:
    """Return the text of a .mot or .sto file; nColumns counts time, as OpenSim has it."""
    words = {
        "version": "1",
        "nRows": str(len(table.t)),
        "nColumns": str(len(table.labels) + 1),
        "inDegrees": "yes" if table.degrees else "no",
        "units": ",".join(table.units),
    }
    if not any(table.units):
        del words["units"]
    head = [path.name, *(f"{word}={text}" for word, text in words.items()), "endheader"]
    return _lines([*head, "\t".join(_labels(table, path, "time"))], _texts(table))


def _markers(table: Table, path: Path) -> str:
    """Return the text of a .trc file."""
    seen = markers(table)
    rate = f"{1 / np.median(np.diff(table.t)):.9g}"
    count = str(len(table.t))
    values = [rate, rate, count, str(len(seen.values)), "m", rate, "1", count]
    head = [
        f"PathFileType\t4\t(X/Y/Z)\t{path.name}",
        "DataRate\tCameraRate\tNumFrames\tNumMarkers\tUnits\tOrigDataRate\tOrigDataStartFrame"
        "\tOrigNumFrames",
        "\t".join(values),
        "\t".join(["Frame#", "Time", *(f"{name}\t\t" for name in seen.values)]).rstrip("\t"),
        "\t".join(["", "", *(f"{axis}{k + 1}" for k in range(len(seen.values)) for axis in "XYZ")]),
        "",
    ]
    places = np.vstack([seen.t, *seen.values.values()])
    rows = [
        [str(k + 1), *("" if np.isnan(number) else repr(number) for number in column)]
        for k, column in enumerate(places.T.tolist())
    ]
    return _lines(head, rows)


def _comma_separated(table: Table, path: Path) -> str:
    units = ("s", *table.units)
    labels = _labels(table, path, "time")
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(f"{label} ({unit})" if unit else label for label, unit in zip(labels, units))
    writer.writerows(_texts(table, missing=""))
    return text.getvalue()


def _labels(table: Table, path: Path, first: str) -> list[str]:
    for label in table.labels:
        if not label.strip() or any(mark in label for mark in "\t\r\n"):
            raise ValueError(f"{path}: column {label!r}: expected a label without tabs or lines")
    return [first, *table.labels]


def _texts(table: Table, missing: str = "nan") -> list[list[str]]:
    """Return the rows of a table as texts, times first."""
    columns = np.vstack([table.t, table.values]).T.tolist()
    return [[missing if number != number else repr(number) for number in row] for row in columns]


def _lines(head: list[str], rows: list[list[str]]) -> str:
    return "\n".join([*head, *("\t".join(row) for row in rows)]) + "\n"
