"""Tables of rows, and the exponents with which their quantities grow."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from math import isfinite
from typing import Any

from ocp.problems.benchmarks.scale.entries import Entry
from ocp.problems.benchmarks.scale.growth import exponent
from ocp.problems.benchmarks.scale.paper import HEADER, constants_of, lines
from ocp.studies import markdown

Row = Mapping[str, Any]
Columns = Mapping[str, tuple[str, str]]  # quantity of a row -> its heading, how it is written
PROGRAMS: Columns = {
    "variables": ("variables", "{:.0f}"),
    "rows": ("rows", "{:.0f}"),
    "jacobian": ("Jacobian", "{:.0f}"),
    "hessian": ("Hessian", "{:.0f}"),
    "iterations": ("iterations", "{:.0f}"),
    "iteration": ("ms an iteration", "{:.1f}"),
    "functions": ("functions", "{:.1f}"),
    "systems": ("systems", "{:.1f}"),
    "rest": ("rest", "{:.1f}"),
    "build": ("build (s)", "{:.2f}"),
    "solve": ("solve (s)", "{:.2f}"),
    "megabytes": ("MB", "{:.0f}"),
}
STUDIES: Columns = {
    "coordinator": ("coordinator (ms)", "{:.2f}"),
    "database": ("of it data base", "{:.2f}"),
    "waiting": ("waiting", "{:.3f}"),
    "commit": ("commit (ms, clock)", "{:.1f}"),
    "clock": ("in all (ms, clock)", "{:.1f}"),
    "bytes": ("bytes of a result", "{:.0f}"),
    "file": ("in the file", "{:.0f}"),
    "cell": ("solve (ms)", "{:.0f}"),
}
CLUSTER: Columns = {
    "solved": ("solved", "{:.0f}"),
    "objective": ("sum of objectives", "{:.10g}"),
    "workers": ("workers (s)", "{:.2f}"),
    "own": ("coordinator (s)", "{:.2f}"),
    "start": ("start of a node (s)", "{:.2f}"),
    "first": ("until its first cell", "{:.2f}"),
    "scheduler": ("task: scheduler (ms)", "{:.2f}"),
    "client": ("client", "{:.2f}"),
    "node": ("node", "{:.2f}"),
    "megabyte": ("megabyte (ms)", "{:.1f}"),
}
COLUMNS: Mapping[str, Columns] = {"studies": STUDIES, "cluster": CLUSTER}  # of parts, or PROGRAMS
GROWING = ("jacobian", "hessian", "iteration", "functions", "systems", "build", "megabytes")
WITHIN: Mapping[str, tuple[float, float]] = {"chains": (10, 130)}  # sizes that exponents are of
SOLVED = ("Solve_Succeeded", "Solved_To_Acceptable_Level")
MINUTE = 60.0  # s
CELLS = {"of a second": 1.0, "of ten seconds": 10.0, "of a minute": 60.0}  # s of the processor


def tables(entries: Sequence[Entry], rows: Mapping[str, Row]) -> str:
    """Return the tables of all parts, each with the exponents of its lines; the largest problem
    that was solved within a minute of the processor; and the model of many workers, where what it
    takes is known."""
    parts = []
    for part, of_part in groupby(entries, key=lambda each: each.part):
        own, columns = list(of_part), COLUMNS.get(part, PROGRAMS)
        heads = ("", "size", *(heading for heading, _ in columns.values()))
        body = [(each.line, str(each.size), *cells(rows[each.name], columns)) for each in own]
        parts.append(markdown(part, heads, body).rstrip())
        grown = list(exponents(own, rows, WITHIN.get(part, (0.0, float("inf")))))
        if grown:
            parts.append(markdown(f"{part}: exponents", ("", *GROWING), grown).rstrip())
    best = largest(rows)
    parts += [] if best is None else [f"largest solved within a minute: {best}"]
    return "\n\n".join([*parts, *_on_paper(rows)])


def cells(row: Row, columns: Columns) -> list[str]:
    """Return the cells of a row; iterations of a solve that was stopped have a +."""
    texts = [form.format(row[name]) if name in row else "" for name, (_, form) in columns.items()]
    if row.get("status", SOLVED[0]) not in SOLVED:
        texts[list(columns).index("iterations")] += "+"
    return texts if "failed" not in row else [row["failed"], *texts[1:]]


def _on_paper(rows: Mapping[str, Row]) -> list[str]:
    """Return the table of the model where the rows that it takes are known, else nothing."""
    handed = [row for name, row in rows.items() if name.startswith("studies") and "bytes" in row]
    nodes = [row for row in rows.values() if "scheduler" in row]
    if not (handed and nodes):
        return []
    slowest = max(row["commit"] for row in handed)
    known = constants_of({**handed[-1], "commit": slowest}, nodes[-1])
    kinds = {"two links": handed[-1]["cell"] / 1e3, **CELLS}
    return [markdown("a thousand workers, on paper", HEADER, lines(known, kinds)).rstrip()]


def exponents(
    entries: Sequence[Entry], rows: Mapping[str, Row], within: tuple[float, float]
) -> Iterable[tuple[str, ...]]:
    """Yield a line of exponents for each line of a part of which more than two rows are known."""
    for line in dict.fromkeys(each.line for each in entries):
        own = [(each.size, rows[each.name]) for each in entries if each.line == line]
        powers = [
            _power([pair for pair in own if name in pair[1]], name, within) for name in GROWING
        ]
        if any(isfinite(power) for power in powers):
            yield (line, *(f"{power:.2f}" if isfinite(power) else "" for power in powers))


def _power(own: Sequence[tuple[int, Row]], name: str, within: tuple[float, float]) -> float:
    pairs = [(size, row[name]) for size, row in own if row[name] > 0]
    if sum(within[0] <= size <= within[1] for size, _ in pairs) < 3:
        return float("nan")
    return exponent(*zip(*pairs), within)


def largest(rows: Mapping[str, Row]) -> str | None:
    """Return in words the problem of most variables that was built and solved within a minute of
    the processor, None where none was."""
    done = {
        name: row
        for name, row in rows.items()
        if row.get("status") in SOLVED and row.get("build", MINUTE) + row["solve"] <= MINUTE
    }
    if not done:
        return None
    name, row = max(done.items(), key=lambda pair: pair[1]["variables"])
    states, instants = 2 * row["joints"] * row["instants"], row["instants"]
    known = f" ({states} states at {instants} instants)" if instants else ""
    return (
        f"{name}: {row['variables']} variables{known}, "
        f"{row['rows']} rows, {row['jacobian'] + row['hessian']} nonzeros, "
        f"{row['build'] + row['solve']:.0f} s"
    )
