"""Start of a motion of phases from a guess of the whole motion."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from ocp.mechanics.model.tree_structure import structure
from ocp.problem.contact.ground import Ground, slots
from ocp.problem.statement import Problem
from ocp.solution.solution import Solution
from ocp.transcription.transcribe_phase import TranscribedPhase
from ocp.transcription.variables.interpolation import torque_interpolation, wrench_interpolation


def phase_edges(parts: Sequence[TranscribedPhase]) -> list[tuple[float, float]]:
    """Return (start, end) of each phase in s of the whole, where durations are free in the shares
    of the geometric means of their bounds."""
    lengths = [float(np.sqrt(np.prod(part.problem.duration))) for part in parts]
    edges = np.cumsum([0.0, *lengths]) / sum(lengths)
    edges[-1] = 1.0
    return list(pairwise(edges.tolist()))


def phase_waypoints(q: np.ndarray, a: float, b: float) -> np.ndarray:
    """Return waypoints (n, k) from s = a to s = b of a motion along waypoints q."""
    s = np.linspace(0.0, 1.0, q.shape[1])
    own = np.linspace(a, b, 2 * max(2, q.shape[1]))
    return np.array([np.interp(own, s, line) for line in q])


def phase_solution(
    problem: Problem, nodes: np.ndarray, guess: Solution, a: float, b: float
) -> Solution:
    """Return the part of a solution without phases from s = a to s = b, as one of a phase's
    problem.

    It has torques interpolated at the phase's `nodes` (N,), wrenches of feet that stand in both,
    and no multipliers.
    """
    motion = guess.problem.motion
    points = problem.motion.through(
        lambda s, order: (b - a) ** order * guess.points @ motion.values(a + (b - a) * s, order).T,
        rough=motion.collocated,
    )
    return replace(
        guess,
        problem=problem,
        points=points,
        duration=(b - a) * guess.duration,
        nodes=nodes,
        lifted=_lifted_share(problem, guess, a + (b - a) * nodes),
        multipliers={},
    )


def _lifted_share(problem: Problem, guess: Solution, s: np.ndarray) -> np.ndarray:
    """Return lifted variables at instants s (N,) of a whole motion, in the rows of a phase."""
    if not len(guess.nodes) or not len(s) or guess.problem.motion.collocated:
        return np.empty((0, 0))
    known, wanted = _names(guess.problem.ground), _names(problem.ground)
    internal, of = structure(problem.tree).internal, (guess.problem, guess.nodes, s)
    lifted = np.zeros((internal + 6 * len(wanted), len(s)))
    lifted[:internal] = guess.lifted[:internal] @ torque_interpolation(*of).T
    wrenches = guess.lifted[internal:] @ wrench_interpolation(*of).T
    for k, name in enumerate(wanted):
        if name in known:
            first = 6 * known.index(name)
            lifted[internal + 6 * k : internal + 6 * k + 6] = wrenches[first : first + 6]
    return lifted


def _names(ground: Ground | None) -> tuple[tuple[str, str], ...]:
    return () if ground is None else slots(ground)
