"""Remaining part of a planned motion, as the guess of the next plan."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ocp.motion.basis import Array
from ocp.solution.solution import Solution
from ocp.transcription.variables.layout import free_duration
from ocp.transcription.variables.named_multipliers import Multipliers


def shift_solution(solution: Solution, by: float, duration: float | None = None) -> Solution:
    """Return a guess for planning anew after `by` (s): the rest of a motion.

    Of a free duration that much is left less; where the motion ends before its `duration` (s), by
    default a given one, it stays at its end. Multipliers along the path are those of the same
    instants of time, the last ones after the end.
    """
    problem, before = solution.problem, solution.duration
    free = max(before - by, problem.duration[0]) if free_duration(problem) else before
    left = free if duration is None else duration

    def onward(s: Array) -> Array:
        return (by + np.asarray(s, dtype=float) * left) / before

    def curve(s: Array, order: int) -> Array:
        at = onward(s)
        slopes = solution.points @ problem.motion.values(np.minimum(at, 1.0), order).T
        return slopes * (left / before) ** order * ((at <= 1.0) | (order == 0))

    return replace(
        solution,
        points=problem.motion.through(curve),
        duration=left,
        lifted=_resample(solution.lifted, solution.nodes, onward),
        multipliers={
            name: _shift_multipliers(each, onward) for name, each in solution.multipliers.items()
        },
    )


def _shift_multipliers(known: Multipliers, onward: Callable[[Array], Array]) -> Multipliers:
    """Return multipliers along the path those of later instants, others as they are."""
    if len(known.s) < 2:
        return known
    return replace(known, values=_resample(known.values, known.s, onward))


def _resample(values: Array, s: Array, onward: Callable[[Array], Array]) -> Array:
    """Return lines of values (m, N) at instants s (N,) as they are later."""
    later = onward(s)
    lines = [np.interp(later, s, line) for line in values]
    return np.array(lines) if lines else values
