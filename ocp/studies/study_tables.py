"""Tables: of a study's cells, as comma-separated values and as curves; and of any rows, as text."""

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np

from ocp.plots import Curve, check_suffix, lines
from ocp.storage.atomic_files import write
from ocp.studies.store.argument_flags import Arguments, Keywords
from ocp.studies.store.row_format import Cell

NUMBERS = ("iterations", "build_seconds", "solve_seconds")
REASON = "reason"
HEAD, TAIL = ("status", "objective", "duration"), (*NUMBERS, "seconds", REASON)
CURVES = 12  # with more combinations of the other parameters, cells are drawn as points alone
Row = Keywords


def table(cells: Sequence[Cell]) -> list[Row]:
    """Return the cells as dictionaries of the same keys, None where a cell has no such number.

    The keys are those of `columns`.
    """
    known = columns(cells)
    return [{column: _entry(one, *source) for column, source in known.items()} for one in cells]


def columns(cells: Sequence[Cell]) -> dict[str, tuple[str, str]]:
    """Return {column: (kind, name)} of all that cells have, in their order.

    Kinds are "parameter", "outcome", "term" and "measured". Outcomes have their own names as
    columns; anything else that has such a name, or that of a column before it, has its kind before
    its own: "parameter.objective".
    """
    parts = [
        *(("parameter", name) for name in _names(cells, lambda one: one.parameters)),
        *(("outcome", name) for name in HEAD),
        *(("term", name) for name in _names(cells, lambda one: one.terms)),
        *(("measured", name) for name in _names(cells, lambda one: one.measured)),
        *(("outcome", name) for name in TAIL),
    ]
    known: dict[str, tuple[str, str]] = {}
    for kind, name in parts:
        column = name
        while kind != "outcome" and (column in known or column in (*HEAD, *TAIL)):
            column = f"{kind}.{column}"
        known[column] = kind, name
    return known


def columns_of(cells: Sequence[Cell], kind: str) -> list[str]:
    """Return the columns of a kind."""
    return [column for column, (other, _) in columns(cells).items() if other == kind]


def column_titles(cells: Sequence[Cell]) -> dict[str, str]:
    """Return {parameter: its name with the unit in parentheses} of those that have a unit."""
    stated = [entry for each in cells for entry in each.content.get("parameters", {}).items()]
    return {name: f"{name} ({entry['unit']})" for name, entry in stated if entry["unit"]}


def write_table(cells: Sequence[Cell], path: str | Path) -> None:
    """Write the table, whole or not at all."""
    rows = table(cells)
    write(path, comma_separated(list(rows[0]) if rows else ["status"], rows))


def comma_separated(header: Sequence[str], rows: Iterable[Arguments]) -> str:
    """Return rows {column: value} as the text of a CSV file, the header first."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(header), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def draw_study(cells: Sequence[Cell], path: str | Path, y: str = "objective") -> tuple[Path, ...]:
    """Draw the column `y` of the solved cells over every parameter that varies; return the paths.

    Over those with numbers, or with words where there are only such; one curve for each
    combination of the others, or points where these are many, or over words; parameters with their
    units. Raises ValueError naming a column that is not there.
    """
    check_suffix(path)
    rows = _rows_with(cells, y)
    own = columns_of(cells, "parameter")
    varied = [name for name in own if len({repr(row[name]) for row in rows}) > 1]
    names = [name for name in varied if _all_numbers(rows, name)] or varied
    if not names:
        raise ValueError("plot: no parameter varies")
    paths, titles = [], column_titles(cells)
    for name in names:
        stem = f"{Path(path).stem}-{name.replace('.', '-')}"
        paths.append(Path(path) if len(names) == 1 else Path(path).with_stem(stem))
        others = [other for other in varied if other != name]
        lines(paths[-1], _curves(rows, name, others, y), x=titles.get(name, name), y=y)
    return tuple(paths)


def markdown(
    title: str, header: Sequence[object], rows: Iterable[Sequence[object]], *, padded: bool = True
) -> str:
    """Return a header and rows as text that is Markdown too, under a title unless that is empty.

    The first column stands to the left, the others to the right; not `padded`, all to the left in
    as few letters as Markdown needs. A last column named "reason" has words of any length, which
    widen no other row.
    """
    lines = [[str(entry) for entry in line] for line in (header, *rows)]
    widths = [max(3, *map(len, column)) if padded else 0 for column in zip(*lines)]
    if lines[0][-1] == REASON:
        widths[-1] = len(REASON)
    rule = ["-" * (widths[0] + 2), *("-" * (width + 1) + ":" for width in widths[1:])]
    head, *body = (_markdown_line(line, widths) for line in lines)
    under = f"|{'|'.join(rule)}|" if padded else f"|{' --- |' * len(widths)}"
    return "\n".join([*([f"{title}\n"] if title else []), head, under, *body, ""])


def markdown_lines(header: Sequence[object], rows: Iterable[Sequence[object]]) -> Iterator[str]:
    """Yield a table in Markdown line by line, its rows as soon as they come: cells are as wide as
    the header's at least."""
    widths = [len(str(entry)) for entry in header]
    yield _markdown_line(header, widths)
    yield f"|{' --- |' * len(widths)}"
    for row in rows:
        yield _markdown_line(row, widths)


def _markdown_line(row: Sequence[object], widths: Sequence[int]) -> str:
    """Return a row with its first cell to the left of its width, the others to the right."""
    first, *others = map(str, row)
    return f"| {' | '.join([first.ljust(widths[0]), *map(str.rjust, others, widths[1:])])} |"


def align_columns(rows: Iterable[Sequence[object]]) -> str:
    """Return rows as text in columns, each to the left."""
    lines = [[str(entry) for entry in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*lines)]
    return "\n".join(
        "  ".join(entry.ljust(width) for entry, width in zip(line, widths)).rstrip()
        for line in lines
    )


def _rows_with(cells: Sequence[Cell], y: str) -> list[Row]:
    """Return the table with NaN as `y` of what was not solved; raise ValueError without such."""
    rows = table(cells)
    if not rows or y not in rows[0]:
        known = ", ".join(rows[0]) if rows else "none, there are no cells"
        raise ValueError(f"plot: no column {y!r}; expected one of {known}")
    for one, row in zip(cells, rows):
        row[y] = row[y] if one.solved and row[y] is not None else np.nan
    return rows


def _names(cells: Sequence[Cell], part: Callable[[Cell], Row]) -> dict[str, None]:
    return dict.fromkeys(name for one in cells for name in part(one))


def _all_numbers(rows: Sequence[Row], name: str) -> bool:
    return all(isinstance(row[name], (int, float)) for row in rows)


def _curves(rows: list[Row], name: str, others: Sequence[str], y: str) -> list[Curve]:
    words = not _all_numbers(rows, name)
    if words:  # in the order in which they come
        rows = [row | {name: _word(row[name])} for row in rows]
    else:
        rows = sorted(rows, key=lambda row: row[name])
    groups = _groups(rows, others)
    return [
        Curve(
            label=", ".join(map(" ".join, zip(others, map(_word, key or ())))) or y,
            x=tuple(row[name] for row in group),
            y=tuple(row[y] for row in group),
            colour=number,
            dash="points" if key is None or words else "solid",
        )
        for number, (key, group) in enumerate(groups.items())
    ]


def _groups(rows: list[Row], others: Sequence[str]) -> dict[tuple | None, list[Row]]:
    """Return the rows by the values of the other parameters, under None if these are too many."""
    groups: dict[tuple | None, list[Row]] = {}
    for row in rows:
        groups.setdefault(tuple(row[other] for other in others), []).append(row)
    alone = bool(others) and all(len(group) == 1 for group in groups.values())
    return {None: rows} if len(groups) > CURVES or alone else groups


def _entry(one: Cell, kind: str, name: str) -> object:
    """Return the entry of a cell of a kind by a name, None if it has no such."""
    if kind == "outcome":
        if name in NUMBERS:
            return one.statistics.get(name)
        value = getattr(one, name)
        return " / ".join(value.splitlines()) if name == REASON else value
    parts = {"parameter": one.parameters, "term": one.terms, "measured": one.measured}
    return parts[kind].get(name)


def _word(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
