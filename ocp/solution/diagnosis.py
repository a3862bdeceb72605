"""After a failed solve: what its status means, what is violated, and what leans on its bounds."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ocp.dynamics.closed_loops import handedness
from ocp.mechanics.structure import structure
from ocp.problem.statement import Constraint, Problem
from ocp.solvers.minimizing import Outcome
from ocp.solvers.nlp import violation
from ocp.transcription.kernels import evaluate
from ocp.transcription.transcribe import Transcribed
from ocp.transcription.variables import split

MEANING = {
    "Infeasible_Problem_Detected": "converged to a point where the violation cannot be reduced "
    "locally: the requirements may contradict each other, or the start is far off",
    "Restoration_Failed": "the feasibility restoration failed: often badly scaled or redundant "
    "constraints",
    "Maximum_Iterations_Exceeded": "ran out of iterations: raise max_iter or start from a better "
    "guess",
    "Maximum_CpuTime_Exceeded": "ran out of CPU time",
    "Maximum_WallTime_Exceeded": "ran out of time",
    "Diverging_Iterates": "the iterates grow without bound: bound the duration or the joints",
    "Search_Direction_Becomes_Too_Small": "no further progress is possible, with tolerances not "
    "reached",
    "Invalid_Number_Detected": "a function or derivative became NaN or infinite on the way",
    "Invalid_Option": "the solver refused an option at its start; a linear solver that this "
    "installation lacks is the usual cause",
    "Not_Enough_Degrees_Of_Freedom": "more equalities than free variables: add control points or "
    "drop requirements",
    "User_Requested_Stop": "interrupted; this is the best iterate seen",
}
WORST = 5  # of a kind are named
VISIBLE = 1e-8  # a smaller violation is none
NEAR = 1e-6  # of a bound, relative: what lies so near leans on it


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A row of a constraint, with its values (N,) at the times t (N,), s, when it is asked for."""

    constraint: Constraint
    number: int
    values: np.ndarray
    t: np.ndarray

    @property
    def bounds(self) -> tuple[float, float]:
        """Lower and upper bound."""
        return self.constraint.lower_of(self.number), self.constraint.upper_of(self.number)

    @property
    def name(self) -> str:
        """What the row is called."""
        return row_name(self.constraint, self.number)

    @property
    def unit(self) -> str:
        """Its unit."""
        return self.constraint.unit(self.number)


def explain(transcribed: Transcribed, outcome: Outcome) -> tuple[str, ...]:
    """Return lines that say why a solve failed.

    The status in plain words, the worst rows, what leans on its bounds.
    """
    status = outcome.status
    points, duration, _ = split(transcribed.layout, outcome.x)
    violated: list[tuple[float, str]] = []
    leaning: dict[str, tuple[int, int]] = {}
    for row in _rows(transcribed, outcome, duration):
        violated += _violated(row)
        leaning |= _leaning(row)
    worst = sorted(violated, key=lambda pair: -pair[0])[:WORST]
    most = sorted(leaning.items(), key=lambda item: -item[1][0])[:WORST]
    return (
        f"{status}: {MEANING[status]}" if status in MEANING else status,
        *(text for _, text in worst),
        *_stuck(transcribed.problem, duration),
        *_torn(transcribed.problem, points),
        *(f"{text}: {count} of {total} instants" for text, (count, total) in most),
    )


def row_name(constraint: Constraint, number: int) -> str:
    """Return the name of a row: its constraint's, and its label."""
    return f"{constraint.name} ({constraint.label(number)})"


def _rows(transcribed: Transcribed, outcome: Outcome, duration: float) -> Iterator[Row]:
    """Yield all rows of all constraints with their values at the outcome."""
    for group in transcribed.groups:
        values = evaluate(group.kernel.values, group.inputs(outcome.x), group.s)
        for line, asked, (constraint, number) in zip(values, group.asked, group.owners):
            t = group.s[asked] * duration
            yield Row(constraint=constraint, number=number, values=line[asked], t=t)


def _violated(row: Row) -> list[tuple[float, str]]:
    """Return (amount, line) of every instant at which a row lies outside its bounds.

    Not a number is the worst.
    """
    amounts = violation(row.values, *row.bounds)
    amounts[np.isnan(row.values)] = np.inf
    return [
        (amount, f"{row.name}: violated by {amount:.4g} {row.unit} at t = {t:.4g} s")
        for amount, t in zip(amounts.tolist(), row.t.tolist())
        if amount > VISIBLE
    ]


def _leaning(row: Row) -> dict[str, tuple[int, int]]:
    """Return {line: (at how many instants, of how many)} of the bounds at which a row lies."""
    lower, upper = row.bounds
    counts = {}
    for side, bound in (("lower", lower), ("upper", upper)) if lower < upper else ():
        close = np.abs(row.values - bound) <= NEAR * max(1.0, abs(bound))
        if np.isfinite(bound) and close.any():
            where = f"{row.name} at its {side} bound {bound:g} {row.unit}"
            counts[where] = int(close.sum()), len(close)
    return counts


def _stuck(problem: Problem, duration: float) -> list[str]:
    """Return a line for the bound at which a free duration ended."""
    least, most = problem.duration
    return [
        f"duration stuck at its {side} bound {bound:g} s"
        for side, bound in (("lower", least), ("upper", most))
        if least < most and abs(duration - bound) <= 1e-4 * bound
    ]


def _torn(problem: Problem, points: np.ndarray) -> list[str]:
    """Return a line if a motion cannot pass from its start's assembly of the loops to its end's."""
    drawn = structure(problem.tree)
    if not drawn.closed:
        return []
    ends = problem.motion.values(np.array([0.0, 1.0])) @ points.T
    if len({handedness(problem.tree, q, drawn.passive) for q in ends}) == 1:
        return []
    return [
        "start and end lie in different assemblies of the loops: between them is a configuration "
        "in which the drives do not hold the mechanism; ocp.mechanics.closure.close follows "
        "one assembly"
    ]
