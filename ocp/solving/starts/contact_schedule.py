"""Contact schedule found by a motion with complementary contacts.

Forces at the nodes tell which contacts bear, and from when to when.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ocp.mechanics.kinematics.zero_moment import body_weight
from ocp.mechanics.values.types import Matrix
from ocp.problem.contact.complementarity import Touch, touches
from ocp.problem.instant import Instant
from ocp.problem.phases.phase_problems import refuse_phases
from ocp.solution.solution import Solution
from ocp.solution.validation import check_solution

BEARING = 0.02  # of the weight: what pushes more stands
FLIGHT = "flight"


@dataclass(frozen=True, slots=True, kw_only=True)
class Stretch:
    """A part of a motion, from the instants s `start` to `end`, in which the contacts `standing`
    (names) bear and no other."""

    name: str
    start: float
    end: float
    standing: tuple[str, ...]


def schedule_found(solution: Solution, *, bearing: float = BEARING) -> tuple[Stretch, ...]:
    """Return the stretches of a motion whose contacts are complementary, in order.

    What lasts less than an interval counts as its surroundings, and changes within one interval
    happen at once.

    Args:
        solution: a Solution with complementary contacts.
        bearing: share of the weight: a contact stands where it pushes with more, at the nodes.

    Raises:
        ValueError: for a motion without such contacts.
    """
    check_solution("schedule found", solution)
    refuse_phases("schedule found", solution.problem, "its phases are the schedule")
    every = touches(solution.problem.loads)
    if not every:
        raise ValueError(
            "schedule found: the motion has no complementary contacts; those that give way are "
            "smooth, and refined as they are"
        )
    least = bearing * body_weight(solution.problem.tree)
    width, s = 1 / solution.problem.motion.segments, solution.nodes
    runs = {}
    for touch in every:
        push = solution.trace(_push(touch), s * solution.duration)
        runs[touch.name] = _runs(np.ravel(push) > least, s, width)
    return tuple(_stretches(runs, width))


def _push(touch: Touch) -> Callable[[Instant], Matrix]:
    """Return the function of an Instant that is how a contact pushes (N)."""
    return lambda at: at.contact(touch)[0]


def _runs(stands: np.ndarray, s: np.ndarray, width: float) -> list[tuple[bool, float, float]]:
    """Return (stands, from, to) over s from 0 to 1, each longer than a `width` if it is not all."""
    changes = np.flatnonzero(np.diff(stands.astype(int)))
    edges = [0.0, *((s[changes] + s[changes + 1]) / 2).tolist(), 1.0]
    runs = [(bool(stands[0]) ^ bool(k % 2), a, b) for k, (a, b) in enumerate(pairwise(edges))]
    while len(runs) > 1:
        k = min(range(len(runs)), key=lambda k: runs[k][2] - runs[k][1])
        if runs[k][2] - runs[k][1] >= width:
            break
        first, last = max(k - 1, 0), min(k + 1, len(runs) - 1)
        runs[first : last + 1] = [(not runs[k][0], runs[first][1], runs[last][2])]
    return runs


def _stretches(
    runs: Mapping[str, list[tuple[bool, float, float]]], width: float
) -> Iterator[Stretch]:
    """Yield the stretches of contacts that stand in `runs`, cut where any of them changes."""
    cuts: list[list[float]] = [[0.0]]
    for edge in sorted({end for each in runs.values() for _, _, end in each if end < 1.0}):
        if edge - cuts[-1][-1] < width and len(cuts) > 1:
            cuts[-1].append(edge)
        else:
            cuts.append([edge])
    instants, used = [*(float(np.mean(cut)) for cut in cuts), 1.0], []
    for a, b in pairwise(instants):
        middle = (a + b) / 2
        standing = tuple(
            name
            for name, each in runs.items()
            if any(stands and start < middle < end for stands, start, end in each)
        )
        used.append(" and ".join(standing) or FLIGHT)
        count = used.count(used[-1])
        name = used[-1] if count == 1 else f"{used[-1]}, {count}"
        yield Stretch(name=name, start=a, end=b, standing=standing)
