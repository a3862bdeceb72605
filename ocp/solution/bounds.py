"""How far a finished motion lies outside the bounds of its constraints.

At the nodes, and on a dense grid between them.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ocp.problem.statement import Constraint
from ocp.solution.sampling import DENSER, traces
from ocp.solution.solution import Solution
from ocp.solvers.nlp import violation
from ocp.transcription.distinct import among, distinct
from ocp.transcription.laws import laws
from ocp.transcription.requests import looked_at


@dataclass(frozen=True, slots=True, kw_only=True)
class Violation:
    """The worst violation of one constraint.

    At its nodes, on the dense grid, relative to the bound there, and where that is.

    `nodes` and `dense` in `unit`; `relative` to the bound, or absolute for bounds below 1; `label`
    names the row that is worst on the dense grid, `time` (s) when.
    """

    name: str
    unit: str
    nodes: float
    dense: float
    relative: float
    label: str
    time: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Worst:
    """The worst row and instant of a constraint on one grid."""

    amount: float
    relative: float
    unit: str
    label: str
    time: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Grids:
    """Instants s: the `nodes` of inequalities, those of equalities, the `dense` ones, and of laws.

    `lawful` has those of each law by its name.
    """

    nodes: np.ndarray
    equalities: np.ndarray
    dense: np.ndarray
    lawful: dict[str, np.ndarray]

    @property
    def everywhere(self) -> np.ndarray:
        """All of them."""
        grids = (self.dense, self.nodes, self.equalities, *self.lawful.values())
        return distinct(np.concatenate(grids))[0]

    def met(self, constraint: Constraint) -> tuple[np.ndarray, np.ndarray]:
        """Return the instants at which the NLP holds unequal bounds, and equal ones."""
        if constraint.when in ("start", "end", "ends"):
            return self.nodes, self.nodes
        return self.nodes, self.lawful.get(constraint.name, self.equalities)


def violations(solution: Solution) -> dict[str, Violation]:
    """Return {name: Violation} for every constraint of a solution, and for its tree's own laws."""
    problem, duration = solution.problem, solution.duration
    stated = laws(problem, problem.motion.collocated)
    grids = _grids(solution, stated)
    constraints = (*problem.requirements, *(law for law, _ in stated))
    along = {each.name: each.function for each in constraints if each.when != "joined"}
    s = grids.everywhere
    values = traces(solution, along, s * duration)
    table = {}
    for constraint in constraints:
        if constraint.when == "joined":
            ends = solution.trace_ends(constraint.function)[:, None]
            coarse = fine = _worst(constraint, np.zeros(1), ends, 0.0)
        else:
            rows = values[constraint.name]
            coarse = _worst_along(constraint, s, rows, grids.met(constraint), duration)
            fine = _worst_along(constraint, s, rows, (grids.dense, grids.dense), duration)
        table[constraint.name] = Violation(
            name=constraint.name,
            nodes=coarse.amount,
            dense=fine.amount,
            relative=fine.relative,
            unit=fine.unit,
            label=fine.label,
            time=fine.time,
        )
    return table


def _grids(solution: Solution, stated: Iterable[tuple[Constraint, Any]]) -> Grids:
    """Return the instants at which a solution's constraints are looked at."""
    problem, motion = solution.problem, solution.problem.motion
    method = solution.transcription.method
    equalities = motion.abscissae(0)
    return Grids(
        nodes=method.grid(problem),
        equalities=equalities,
        dense=looked_at(problem, DENSER * method.steps),
        lawful={
            law.name: equalities if s is None else distinct(np.concatenate(s))[0]
            for law, s in stated
        },
    )


def _worst_along(
    constraint: Constraint,
    s: np.ndarray,
    values: np.ndarray,
    instants: tuple[np.ndarray, np.ndarray],
    duration: float,
) -> Worst:
    """Return the worst of the rows with unequal bounds and with equal ones, at their `instants`."""
    candidates = []
    for grid_, equal in zip(instants, (False, True)):
        at = among(s, _within(constraint.when, grid_))
        candidates.append(_worst(constraint, s[at], values[:, at], duration, equal))
    return max(candidates, key=lambda worst: worst.amount)


def _within(when: Any, s: np.ndarray) -> np.ndarray:
    """Return those instants of s at which a constraint holds.

    The nearest to its middle if it holds at none.
    """
    if when in ("path", "hull"):
        return s
    if isinstance(when, str):
        return s[{"start": [0], "end": [-1], "ends": [0, -1]}[when]]
    kept = s[when.holds(s)]
    return kept if len(kept) else s[[np.argmin(np.abs(s - (when.start + when.end) / 2))]]


def _worst(
    constraint: Constraint,
    s: np.ndarray,
    values: np.ndarray,
    duration: float,
    equal: bool | None = None,
) -> Worst:
    """Return the Worst of all rows, or of those whose bounds are `equal` or not.

    Not a number is worse than any.
    """
    lower, upper = constraint.bounds(len(values))
    worst = Worst(
        amount=0.0, relative=0.0, unit=constraint.unit(0), label=constraint.label(0), time=0.0
    )
    rows = np.arange(len(values)) if equal is None else np.nonzero((lower == upper) == equal)[0]
    for row in rows.tolist():
        amounts = violation(values[row], lower[row], upper[row])
        k = int(np.argmax(np.where(np.isnan(amounts), np.inf, amounts)))
        if not amounts[k] <= worst.amount:
            bound = upper[row] if values[row, k] > upper[row] else lower[row]
            worst = Worst(
                amount=float(amounts[k]),
                relative=float(amounts[k] / max(1.0, abs(bound))),
                unit=constraint.unit(row),
                label=constraint.label(row),
                time=float(s[k] * duration),
            )
    return worst
