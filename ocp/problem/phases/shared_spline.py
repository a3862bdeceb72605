"""Phases that share one spline: the control points that they have in common, and the rows at seams.

Parts of one spline go over into each other by themselves, so that no row says that q, qd and qdd
are the same on both sides. Torques and the ground's wrenches at the end of a part are those at the
start of the next, of whose contacts they follow.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from ocp.mechanics.values.parameters import Number, nominal
from ocp.mechanics.values.types import Numbers
from ocp.motion.basis import Array, Basis
from ocp.motion.spline_part import Part
from ocp.problem.contact.state_dependent_forces import Acting
from ocp.problem.phases.phases import Phase, Statement, Transition

OWN, IMAGE, SHARED = "own", "image", "shared"  # what stands at the end of a phase
ALIKE = 1e-9  # of durations and instants that are the same
EVER = ("q", "qd")  # what is always the same within one motion


def ends_of(problem: Statement, transitions: tuple[Transition, ...]) -> tuple[str, ...]:
    """Return the kind of end of each phase of a `problem`.

    Raises ValueError naming phases of one spline that cannot go over into each other.
    """
    ends = [SHARED if _meet(before, after) else OWN for before, after in pairwise(problem.phases)]
    for k, end in enumerate(ends):
        if end == SHARED:
            _check(problem.phases[k], problem.phases[k + 1], transitions)
    first, last = problem.phases[0], problem.phases[-1]
    image = problem.symmetry is not None and problem.symmetry.accelerations
    closed = image and closes(last.motion, (*last.loads, *problem.loads))
    return *ends, IMAGE if closed and _one(first, last) else OWN


def closes(motion: Basis, loads: Sequence[Acting]) -> bool:
    """Tell whether an end whose accelerations are the image of others has the image of their forces
    too: not on a mesh, whose ends have values of their own, nor under loads that vary in time."""
    return not motion.collocated and not any(load.varies for load in loads)


def moving_points(problem: Statement) -> Array:
    """Return the abscissae of the control points that move a problem's curve: of a part whose end
    is the next one's start all up to that."""
    motion = problem.motion
    return motion.nodes[: motion.reach] if problem.end == SHARED else motion.nodes


def seams(problem: Statement) -> tuple[bool, ...]:
    """Tell of each transition of a `problem` whether it lies within one motion."""
    pairs = [
        (before, after)
        for (before, part), (after, _) in pairwise(problem.parts.items())
        if part.end == SHARED
    ]
    return tuple((each.before, each.after) in pairs for each in problem.transitions)


def _meet(before: Phase, after: Phase) -> bool:
    """Tell whether the motion of one phase goes on in that of another."""
    first: Any = before.motion
    second: Any = after.motion
    return _one(before, after) and bool(abs(first.end - second.start) < ALIKE)


def _one(phase: Phase, other: Phase) -> bool:
    """Tell whether two phases move on the same spline."""
    motions = phase.motion, other.motion
    if not all(isinstance(each, Part) for each in motions):
        return False
    return motions[0].whole == motions[1].whole  # type: ignore[attr-defined]


def _check(before: Phase, after: Phase, transitions: tuple[Transition, ...]) -> None:
    """Raise ValueError unless one spline can be the motion of both."""
    what = f"phases {before.name!r} and {after.name!r}: parts of one motion"
    link = next(
        each for each in transitions if (each.before, each.after) == (before.name, after.name)
    )
    if link.strikes or link.symmetry is not None or not set(EVER) <= set(link.quantities):
        raise ValueError(
            f"{what} go over into each other smoothly; give them splines of their own where "
            "something strikes"
        )
    wholes: list[float] = []
    for phase in (before, after):
        lower, upper = nominal(_both(phase.duration))
        if lower != upper:
            raise ValueError(f"{what}: expected given durations, got {phase.duration!r}")
        wholes.append(lower / phase.motion.length)  # type: ignore[attr-defined]
    if abs(wholes[0] - wholes[1]) > ALIKE * wholes[0]:
        raise ValueError(
            f"{what}: expected durations in proportion to the shares of the spline, got those "
            f"of a whole of {wholes[0]:g} s and of {wholes[1]:g} s"
        )


def _both(duration: Numbers) -> tuple[Number, ...]:
    return tuple(duration) if isinstance(duration, tuple | list) else (duration, duration)
