"""Pareto fronts: the cells of a study of which no other is better in two goals."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ocp.solvers import Solver
from ocp.studies.store.row_format import Cell
from ocp.studies.study import Design, Function, Study, sweep
from ocp.transcription.transcription_settings import Transcription


@dataclass(frozen=True, slots=True, kw_only=True)
class Front:
    """What two goals allow: `points` (cell, first, second), and the whole study.

    No point is worse than another in both goals, whose `names` these are; they are in the order of
    the first.
    """

    study: Study
    names: tuple[str, str]
    points: tuple[tuple[Cell, float, float], ...]


def pareto(
    problem: Function,
    over: Design,
    goals: Sequence[str],
    transcription: Transcription | None = None,
    solver: Solver = Solver(),
    *,
    chain: bool = True,
    **options: Any,
) -> Front:
    """Sweep a design, of weights or of bounds, and return the Front of two goals.

    Args:
        problem, over, transcription, solver, options: as of `sweep`.
        goals: names of two terms of the objective, whose unweighted values count, or of two
            `measure`d numbers, both the smaller the better.
        chain: start each cell from the solution of its neighbour.

    Raises:
        ValueError: some cell does not have a goal.
    """
    done = sweep(problem, over, transcription, solver, chain=chain, **options)
    first, second = goals
    points = [(one, _goal(one, first), _goal(one, second)) for one in done.solved]
    least, front = np.inf, []
    for point in sorted(points, key=lambda point: point[1:]):
        if point[2] < least:
            least = point[2]
            front.append(point)
    return Front(study=done, names=(first, second), points=tuple(front))


def _goal(one: Cell, name: str) -> float:
    value = (one.terms | one.measured | {"duration": one.duration}).get(name)
    if value is None:
        raise ValueError(f"pareto: {name}: some cell has no such term and measures no such number")
    return value
