"""Tables of the peers' rows: the quickest settings, or all of them."""

from collections.abc import Iterator, Sequence

import numpy as np

from ocp.problems.benchmarks.peers.running import Row
from ocp.problems.benchmarks.peers.tasks import MOTIONS, ROBOTS
from ocp.studies import markdown

HEADER = (
    "system",
    "by",
    "size",
    "error",
    "build and solve (s)",
    "times ours",
    "from a cold start (s)",
    "end missed",
    "limits exceeded (%)",
)
WITHIN = 0.02  # of its limits, that a motion may leave them by between the nodes
RATES = ("robot", "system", "by", "torques (us)", "Jacobian (us)", "accelerations (us)", "differs")


def lines(rows: Sequence[Row], all_settings: bool = False) -> Iterator[str]:
    """Yield the text: a table for each motion, one of the robots' dynamics, what was left out."""
    for task, motion in MOTIONS.items():
        solved = [row for row in rows if row.task == task and row.runs and not row.refusal]
        if not solved:
            continue
        chosen = solved if all_settings else best(solved)
        title = (
            f"{task}: {motion.reference:.9g} by {motion.source}; the goal is an error of "
            f"{motion.goal:g} {motion.unit}"
        )
        yield markdown(title, HEADER, [_text(row, solved) for row in chosen], padded=False)
    dynamics = [row for row in rows if row.task in ROBOTS and row.runs and not row.refusal]
    if dynamics:
        title = "dynamics on a fixed base; differences from Pinocchio in parts of the largest entry"
        yield markdown(title, RATES, [_rates(row, dynamics) for row in dynamics], padded=False)
    yield from _left_out(rows)


def best(rows: Sequence[Row]) -> list[Row]:
    """Return every way's quickest row that reaches the goal, or its most accurate one.

    A row reaches it if all finer ones of its way do: what a coarse mesh hits by chance is no merit.
    """
    chosen = []
    for name in dict.fromkeys((row.system, row.way) for row in rows):
        own = [row for row in rows if (row.system, row.way) == name]
        good = reaching(own)
        chosen.append(
            min(good, key=lambda row: row.seconds) if good else min(own, key=lambda row: row.error)
        )
    return chosen


def reaching(rows: Sequence[Row]) -> list[Row]:
    """Return the rows of a way, given from coarse to fine, that reach the goal for good."""
    good: list[Row] = []
    for row in reversed(rows):
        if not (row.error <= MOTIONS[row.task].goal and row.beyond <= WITHIN):
            break
        good.append(row)
    return good


def quickest(rows: Sequence[Row], system: str) -> Row | None:
    """Return a system's quickest row that reaches the goal, if one does."""
    own = [row for row in rows if row.system == system]
    ways = dict.fromkeys(row.way for row in own)
    good = [row for way in ways for row in reaching([row for row in own if row.way == way])]
    return min(good, key=lambda row: row.seconds, default=None)


def _text(row: Row, rows: Sequence[Row]) -> tuple[str, ...]:
    """Return a row's entries; `rows`: all of its task."""
    check, ours = row.runs[-1]["check"], quickest(rows, "ocp")
    way = [other for other in rows if (other.system, other.way) == (row.system, row.way)]
    compared = ours is not None and row in reaching(way)
    return (
        row.system,
        row.way,
        str(row.size),
        f"{row.error:.1e}",
        f"{row.seconds:.3f}",
        f"{row.seconds / ours.seconds:.1f}" if compared and ours else "",
        f"{row.cold:.2f}",
        f"{check['missed']:.1e}",
        f"{100 * check['beyond']:.2g}",
    )


def _rates(row: Row, rows: Sequence[Row]) -> tuple[str, ...]:
    """Return the times, and how far numbers are from Pinocchio's, as a part of the largest."""
    runs = [run["microseconds"] for run in row.runs]
    times = [f"{np.median([run[key] for run in runs]):.3g}" for key in runs[0]]
    references = [other for other in rows if (other.task, other.system) == (row.task, "pinocchio")]
    differs = ""
    if references:
        values, theirs = (one.runs[-1]["values"] for one in (row, references[0]))
        differs = f"{max(map(_difference, values.values(), theirs.values())):.0e}"
    return row.task, row.system, row.way, *times, differs


def _difference(values: Sequence[float], references: Sequence[float]) -> float:
    one, other = np.array(values), np.array(references)
    return float(np.abs(one - other).max() / np.abs(other).max())


def _left_out(rows: Sequence[Row]) -> Iterator[str]:
    said = dict.fromkeys(
        row.refusal
        if "not installed" in row.refusal
        else f"{row.task}: {row.system}, {row.way}, {row.size}: {row.refusal}"
        for row in rows
        if row.refusal
    )
    if said:
        yield "\nleft out:"
        yield from (f"- {line}" for line in said)
