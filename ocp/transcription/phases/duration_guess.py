"""Durations of phases at a first guess, from the ends of flights.

A body that nothing bears falls: what is stated of the ends of its flight, places d apart along the
slides of its root and rates v, w there, gives the flight's time T under gravity g,

    d = v T + g T^2 / 2,   w - v = g T;   of v alone T = -2 v / g, back where it left,
    of both places alone T^2 = 2 |d| / |g|, the arc of least speed from one to the other

What is stated of one end is so across a link that keeps it. The ground gives a body its weight in
the mean, over flights too: at twice the weight while it stands, phases on the ground last as long
as the flights beside them. Others last as the bounds of their durations say.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby

import casadi as ca
import numpy as np

from ocp.mechanics.values.parameters import nominal
from ocp.problem.statement import Problem
from ocp.transcription.laws.loop_boundaries import end_instants
from ocp.transcription.variables.layout import free_duration

ENDS = ("start", "end", "ends")
Stated = dict[tuple[str, int], float]  # {("q" or "qd", row): value}


def mean_duration(problem: Problem) -> float:
    """Return the duration (s) that the bounds of a problem's make: their geometric mean."""
    return float(np.sqrt(np.prod(problem.duration)))


def phase_durations(
    parts: Sequence[Problem],
    transitions: Sequence,
    pulls: Callable[[Problem], np.ndarray],
) -> list[float]:
    """Return the duration (s) of each of the `parts` of a motion at its first guess.

    `transitions` come after each part, one may lead back to the first; `pulls`(part) is gravity
    (n,; m/s2) along slides of a root that nothing bears.
    """
    times = [mean_duration(part) for part in parts]
    falls = [np.asarray(pulls(part)) for part in parts]
    flying = [bool(fall.any()) for fall in falls]
    if not any(fly and free_duration(part) for fly, part in zip(flying, parts)):
        return times
    known: dict[int, float] = {}
    stated = _carry_over([_stated_ends(part) for part in parts], transitions)
    for k, part in enumerate(parts):
        if flying[k]:
            lasts = (
                _flight_time(*stated[k], falls[k], _slides(part))
                if free_duration(part)
                else times[k]
            )
            if lasts is not None:
                known[k] = times[k] = float(np.clip(lasts, *part.duration))
    for run in _ground_runs(parts, flying):
        count = len(parts)
        beside = [k % count for k in (run[0] - 1, run[-1] + 1) if k % count in known]
        if beside:
            share = np.mean([known[k] for k in beside]) / sum(times[k] for k in run)
            for k in run:
                times[k] = float(np.clip(share * times[k], *parts[k].duration))
    return times


def _ground_runs(parts: Sequence[Problem], flying: Sequence[bool]) -> Iterator[list[int]]:
    """Yield the numbers of phases on the ground that follow each other, all of free durations."""
    for stands, run in groupby(
        range(len(parts)), key=lambda k: not flying[k] and parts[k].ground is not None
    ):
        numbers = list(run)
        if stands and all(free_duration(parts[k]) for k in numbers):
            yield numbers


def _stated_ends(problem: Problem) -> tuple[Stated, Stated]:
    """Return the coordinates and rates that a problem states of its start, and of its end."""
    problem = nominal(problem)
    z, ends, hidden = end_instants(problem)
    n, T = problem.tree.dof, mean_duration(problem)
    kept: tuple[Stated, Stated] = ({}, {})
    for constraint in problem.requirements:
        for end in (0, 1) if constraint.when in ENDS else ():
            if constraint.when == ENDS[1 - end]:
                continue
            rows = ca.vertcat(ca.SX(0, 1), constraint.function(ends[end]))
            lower, upper = constraint.bounds(rows.shape[0])
            if not (lower == upper).any() or ca.depends_on(rows, hidden):
                continue
            slopes = ca.jacobian(rows, z)
            if not slopes.is_constant():
                continue
            matrix = np.array(ca.DM(slopes))
            rest = np.array(ca.DM(ca.substitute(rows, z, ca.SX.zeros(z.shape)))).ravel()
            for row in np.flatnonzero(lower == upper):
                (places,) = np.nonzero(matrix[row])
                order, number = (
                    divmod(int(places[0]) - 3 * n * end, n) if len(places) == 1 else (2, 0)
                )
                if order < 2:
                    value = (lower[row] - rest[row]) / matrix[row, places[0]]
                    kept[end][("q", "qd")[order], number] = float(value) / T**order
    return kept


def _carry_over(
    stated: Sequence[tuple[Stated, Stated]], transitions: Sequence
) -> list[tuple[Stated, Stated]]:
    """Return the stated coordinates and rates of all ends, with those that links keep from one to
    the next."""
    count = len(stated)
    for k, each in enumerate(transitions):
        end, start = stated[k][1], stated[(k + 1) % count][0]
        if each.symmetry is None:
            for one, other in ((end, start), (start, end)):
                for key, value in tuple(one.items()):
                    if key[0] in each.quantities:
                        other.setdefault(key, value)
    return list(stated)


def _slides(problem: Problem) -> list[int]:
    """Return the rows of slides that nothing drives."""
    joints = enumerate(problem.tree.moving)
    return [row for row, one in joints if one.kind == "prismatic" and not one.actuated]


def _flight_time(
    start: Mapping[tuple[str, int], float],
    end: Mapping[tuple[str, int], float],
    falls: np.ndarray,
    slides: Sequence[int],
) -> float | None:
    """Return the time (s) of a flight whose ends are stated so, None where that does not say."""
    row = int(np.argmax(np.abs(falls)))
    g, v, w = falls[row], start.get(("qd", row)), end.get(("qd", row))
    known = ("q", row) in start and ("q", row) in end
    d = end["q", row] - start["q", row] if known else None
    if v is not None and w is not None:
        return (w - v) / g if (w - v) / g > 0 else None
    if v is not None or w is not None:
        rate, pull = (v, g) if v is not None else (w or 0.0, -g)
        room = 2 * pull * (d or 0.0) + rate**2
        if room < 0:
            return None
        times = [(side * np.sqrt(room) - rate) / pull for side in (-1.0, 1.0)]
        return max(times) if max(times) > 0 else None
    if all(("q", each) in start and ("q", each) in end for each in slides):
        far = np.linalg.norm([end["q", each] - start["q", each] for each in slides])
        return float(np.sqrt(2 * far / np.linalg.norm(falls))) or None
    return None
