"""A study at a glance: its cells as a table of comma-separated values, and as curves over each parameter."""

import csv
import io
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from ocp.plots import Curve, check_suffix, lines
from ocp.solution.files import write

NUMBERS = ("iterations", "build_seconds", "solve_seconds")
CURVES = 12  # with more combinations of the other parameters, cells are drawn as points alone


def table(cells):
    """Return the cells as dictionaries of the same keys, None where a cell has no such number."""
    rows = [_row(one) for one in cells]
    parameters, terms, measured = (
        list(dict.fromkeys(key for one in cells for key in part(one)))
        for part in (lambda one: one.parameters, lambda one: one.terms, lambda one: one.measured)
    )
    names = [
        *parameters,
        "status",
        "objective",
        "duration",
        *terms,
        *measured,
        *NUMBERS,
        "seconds",
        "reason",
    ]
    return [{name: row.get(name) for name in dict.fromkeys(names)} for row in rows]


def write_table(cells, path):
    """Write the table, whole or not at all."""
    text, rows = io.StringIO(), table(cells)
    writer = csv.DictWriter(text, list(rows[0]) if rows else ["status"], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    write(path, text.getvalue())


def draw_study(cells, path, y="objective"):
    """Draw the column `y` of the solved cells over every parameter with numbers that varies, or with words where there are only such; return the
    paths written.

    One curve for each combination of the others, or points where these are many, or over words. Raises ValueError naming a column that is
    not there.
    """
    check_suffix(path)
    rows = table(cells)
    if not rows or y not in rows[0]:
        raise ValueError(
            f"plot: no column {y!r}; expected one of {', '.join(rows[0]) if rows else 'none, there are no cells'}"
        )
    for one, row in zip(cells, rows):
        row[y] = row[y] if one.solved and row[y] is not None else np.nan
    varied = [name for name in cells[0].parameters if len({repr(row[name]) for row in rows}) > 1]
    numeric = [name for name in varied if all(isinstance(row[name], (int, float)) for row in rows)]
    if not varied:
        raise ValueError("plot: no parameter varies")
    paths = []
    for name in numeric or varied:
        paths.append(
            Path(path)
            if len(numeric or varied) == 1
            else Path(path).with_stem(f"{Path(path).stem}-{name.replace('.', '-')}")
        )
        lines(
            paths[-1],
            _curves(rows, name, [other for other in varied if other != name], y),
            x=name,
            y=y,
        )
    return tuple(paths)


def _curves(rows, name, others, y):
    groups, words = {}, not all(isinstance(row[name], (int, float)) for row in rows)
    if words:  # in the order in which they come
        rows = [row | {name: _word(row[name])} for row in rows]
    else:
        rows = sorted(rows, key=lambda row: row[name])
    for row in rows:
        groups.setdefault(tuple(row[other] for other in others), []).append(row)
    if len(groups) > CURVES or others and all(len(group) == 1 for group in groups.values()):
        groups = {None: rows}
    curves = []
    for number, (key, group) in enumerate(groups.items()):
        label = (
            ", ".join(f"{other} {_word(value)}" for other, value in zip(others, key)) if key else y
        )
        curves.append(
            Curve(
                label=label,
                x=tuple(row[name] for row in group),
                y=tuple(row[y] for row in group),
                colour=number,
                dash="points" if key is None or words else "solid",
            )
        )
    return curves


def _row(one):
    numbers = {key: one.statistics.get(key) for key in NUMBERS}
    return (
        one.terms
        | one.measured
        | numbers
        | {
            "status": one.status,
            "objective": one.objective,
            "duration": one.duration,
            "seconds": one.seconds,
            "reason": " / ".join(one.reason.splitlines()),
        }
        | one.parameters
    )


def _word(value):
    return f"{value:g}" if isinstance(value, float) else str(value)


def markdown(
    title: str,
    header: Sequence[object],
    rows: Iterable[Sequence[object]],
    *,
    padded: bool = True,
) -> str:
    """Return a header and rows as a table that reads as text and as Markdown, under a title if any.

    The first column stands to the left, the others to the right; not `padded`, all to the left in
    as few letters as Markdown needs.
    """
    lines = [[str(entry) for entry in line] for line in (header, *rows)]
    widths = [max(3, *map(len, column)) if padded else 0 for column in zip(*lines)]
    texts = [
        " | ".join([line[0].ljust(widths[0]), *map(str.rjust, line[1:], widths[1:])])
        for line in lines
    ]
    rule = ["-" * (widths[0] + 2), *("-" * (width + 1) + ":" for width in widths[1:])]
    head, *body = (f"| {text} |" for text in texts)
    under = f"|{'|'.join(rule)}|" if padded else f"|{' --- |' * len(widths)}"
    return "\n".join([*([f"{title}\n"] if title else []), head, under, *body, ""])


def aligned(rows: Iterable[Sequence[object]]) -> str:
    """Return rows as text in columns, each to the left."""
    lines = [[str(entry) for entry in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*lines)]
    return "\n".join(
        "  ".join(entry.ljust(width) for entry, width in zip(line, widths)).rstrip()
        for line in lines
    )
