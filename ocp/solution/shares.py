"""A start of a whole motion, shared among its phases."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from ocp.mechanics.structure import structure
from ocp.problem.ground import Ground, slots
from ocp.solution.solution import Solution
from ocp.transcription.between import torques_between, wrenches_between
from ocp.transcription.transcribe import Transcribed


def edges_of(parts: Sequence[Transcribed]) -> list[tuple[float, float]]:
    """Return (start, end) of each phase in s of the whole, where durations are free in the shares
    of the geometric means of their bounds."""
    lengths = [float(np.sqrt(np.prod(part.problem.duration))) for part in parts]
    edges = np.cumsum([0.0, *lengths]) / sum(lengths)
    edges[-1] = 1.0
    return list(pairwise(edges.tolist()))


def shared_waypoints(q: np.ndarray, a: float, b: float) -> np.ndarray:
    """Return waypoints (n, k) from s = a to s = b of a motion along waypoints q."""
    s = np.linspace(0.0, 1.0, q.shape[1])
    own = np.linspace(a, b, 2 * max(2, q.shape[1]))
    return np.array([np.interp(own, s, line) for line in q])


def shared_solution(part: Transcribed, guess: Solution, a: float, b: float) -> Solution:
    """Return what a solution without phases has from s = a to s = b as one of a phase, without its
    multipliers: torques as they run between its nodes, and wrenches of feet that stand in both."""
    problem, motion = part.problem, guess.problem.motion
    points = problem.motion.through(
        lambda s, order: (b - a) ** order * guess.points @ motion.values(a + (b - a) * s, order).T,
        rough=motion.collocated,
    )
    return replace(
        guess,
        problem=problem,
        points=points,
        duration=(b - a) * guess.duration,
        nodes=part.layout.nodes,
        lifted=_lifted(part, guess, a + (b - a) * part.layout.nodes),
        multipliers={},
    )


def _lifted(part: Transcribed, guess: Solution, s: np.ndarray) -> np.ndarray:
    """Return what is lifted at instants s (N,) of a whole motion, in the rows of a phase."""
    lifted = np.zeros(part.layout.place.shape)
    internal = structure(part.problem.tree).internal
    if not len(guess.nodes) or not part.layout.lifts or guess.problem.motion.collocated:
        return np.empty((0, 0))
    of = guess.problem, guess.nodes, s
    lifted[:internal] = guess.lifted[:internal] @ torques_between(*of).T
    wrenches = guess.lifted[internal:] @ wrenches_between(*of).T
    known, wanted = _names(guess.problem.ground), _names(part.problem.ground)
    for k, name in enumerate(wanted):
        if name in known:
            first = 6 * known.index(name)
            lifted[internal + 6 * k : internal + 6 * k + 6] = wrenches[first : first + 6]
    return lifted


def _names(ground: Ground | None) -> tuple[tuple[str, str], ...]:
    return () if ground is None else slots(ground)
