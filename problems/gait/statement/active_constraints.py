"""Active constraints of a step, counted as the thesis counts them (Barman 2020, 5.2)."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from ocp import Solution
from ocp.problems.gait.statement.constraint_families import FAMILIES, family_of
from ocp.transcription import Multipliers, RowValues, row_values


@dataclass(frozen=True, slots=True, kw_only=True)
class Activity:
    """Of a family of constraints: `rows` asked for, `equalities`, and inequalities `at_bounds`."""

    rows: int = 0
    equalities: int = 0
    at_bounds: int = 0

    @property
    def active(self) -> int:
        """Equalities, and inequalities at a bound."""
        return self.equalities + self.at_bounds

    def __add__(self, other: "Activity") -> "Activity":
        return Activity(
            rows=self.rows + other.rows,
            equalities=self.equalities + other.equalities,
            at_bounds=self.at_bounds + other.at_bounds,
        )


def activity(solution: Solution) -> dict[str, Activity]:
    """Return {family: Activity} of a solution, all at the instants where the program asks for rows.

    An inequality counts as active where its multiplier outweighs its distance from the bound, both
    on the scale of its room: what a solver of interior points leaves of complementarity is the
    product of the two, so that one of them is small.
    """
    counts = dict.fromkeys(FAMILIES, Activity())
    lines = row_values(
        solution.problem,
        solution.transcription,
        solution.points,
        solution.duration,
        solution.lifted,
    )
    pulls = {
        (name.removesuffix(" (equalities)"), label): (known, line)
        for name, known in solution.multipliers.items()
        for label, line in zip(known.labels, known.values)
    }
    for row in lines:
        family = family_of(row.constraint.name)
        if family is not None:
            counts[family] += of_row(row, pulls)
    return {name: count for name, count in counts.items() if count.rows}


def of_row(
    row: RowValues, pulls: Mapping[tuple[str, str], tuple[Multipliers, np.ndarray]]
) -> Activity:
    """Return the Activity of one row; `pulls` {(constraint, label): its multipliers}."""
    lower, upper = row.constraint.lower_of(row.number), row.constraint.upper_of(row.number)
    if lower == upper:
        return Activity(rows=len(row.s), equalities=len(row.s))
    key = row.constraint.name, row.constraint.label(row.number)
    pull = np.array(list(_pulls(row, *pulls[key]))) if key in pulls else np.zeros(len(row.s))
    room = upper - lower if np.isfinite([lower, upper]).all() else _size(lower, upper)
    distance = np.where(pull > 0, upper - row.values, row.values - lower)
    return Activity(
        rows=len(row.s),
        at_bounds=int(np.sum(np.abs(pull) * room > np.maximum(distance, 0.0) / room)),
    )


def _pulls(row: RowValues, known: Multipliers, line: np.ndarray) -> Iterator[float]:
    """Yield the multipliers of a row at its instants, 0 where none is known."""
    for s in row.s:
        here = np.isclose(known.s, s, rtol=0.0, atol=1e-9)
        yield float(line[here][0]) if here.any() else 0.0


def _size(lower: float, upper: float) -> float:
    """Return the scale of a row with one bound: that bound, at least 1."""
    bound = lower if np.isfinite(lower) else upper
    return max(1.0, abs(float(bound)))
