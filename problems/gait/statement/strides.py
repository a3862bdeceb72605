"""A step, or both steps of a stride, stated as phases: which foot stands how from one to the next.

With durations given the phases are parts of one spline; with free ones each has a spline of its
own, and the length of the steps is found too.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ocp import (
    BSpline,
    Constraint,
    Objective,
    Parameter,
    Phase,
    Problem,
    Tree,
    continuous,
)
from ocp.mechanics import Open, any_nonzero, array, matrix, nominal, positions
from ocp.models.human import carry, mirror
from ocp.problem import Foot, Ground, Pin, Support, Term, mirror_symmetry, periodic, phases_of
from ocp.problems.gait.statement.constraint_families import IMAGE, OTHER_SIDE
from ocp.problems.gait.statement.contact_schedule import Schedule, along
from ocp.problems.gait.statement.strength_groups import weaker

STRIDES = ("half", "phases", "full")
OTHER = {"right": "left", "left": "right"}
SMOOTH = ("q", "qd", "qdd")  # that goes on from phase to phase
ROOM = 0.25, 4.0  # of usual lengths and durations: within which those that are free are sought


Stated = Callable[[str], Problem]  # side that leads -> its step in one phase


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """How one goes: `speed` (m/s), and how far (m) the right foot steps before the left one, and
    the left before the right, on ground that goes up by a `slope` (deg); lengths may be parameters,
    to be found."""

    speed: Any
    right: Any
    left: Any
    slope: Any = 0.0

    def lead(self, side: str) -> Any:
        """Return the distance (m) by which the foot of a side steps ahead of the other."""
        return self.right if side == "right" else self.left

    def ahead(self, way: Any) -> dict[str, Any]:
        """Return {slide of the root: how far (m) it goes} on a way (m) along the ground."""
        if not any_nonzero((self.slope,)):
            return {"glob_tz": way}
        ahead, up = along(self.slope)
        return {"glob_ty": way * up, "glob_tz": way * ahead}


def scheduled(when: Schedule) -> dict[str, float]:
    """Return the end of each phase of a step, in shares of it: loading until the trailing foot's
    ball goes off or the leading one is flat, rolling until both are so, leaving until the trailing
    one is off, single support, and rising once the leading heel is off."""
    first, second = sorted((when.ball_off, when.flat))
    return {
        "loading": first,
        "rolling": second,
        "leaving": when.toe_off,
        "single": when.heel_off,
        "rising": 1.0,
    }


def supports(when: Schedule) -> dict[str, float]:
    """Return the ends of double and single support, in shares of the step."""
    return {"double": when.toe_off, "single": 1.0}


def pace(speed: Any, step: Any, *, free: bool, full: bool, slope: Any = 0.0) -> Pace:
    """Return the Pace of a speed (m/s) and a length of step (m) on a slope (deg): where lengths are
    free they are found, one for both sides unless the stride is `full`."""
    if not free:
        return Pace(speed=speed, right=step, left=step, slope=slope)
    usual = float(nominal(step))
    sought: dict = {"value": usual, "unit": "m", "free": True}
    lower, upper = (share * usual for share in ROOM)
    right = Parameter("right_step" if full else "step", lower=lower, upper=upper, **sought)
    left = Parameter("left_step", lower=lower, upper=upper, **sought) if full else right
    return Pace(speed=speed, right=right, left=left, slope=slope)


def in_stride(stated: Stated, chosen: Pace, *, stride: str, free: bool, when: Schedule) -> Problem:
    """Return a walk in phases: of one step, which its mirror image continues, or of both.

    `stated` says what one step asks for, in one phase; with `free` durations there are two phases
    in each, double support and single. Raises ValueError for another kind of stride.
    """
    if stride not in STRIDES:
        raise ValueError(f"stride: expected one of {', '.join(STRIDES)}, got {stride!r}")
    sides = ("right", "left") if stride == "full" else ("right",)
    steps = {side: stated(side) for side in sides}
    phases = (
        _timed(steps, when)
        if free
        else _scheduled(steps, scheduled(when) if stride == STRIDES[1] else supports(when))
    )
    body, way = steps["right"].tree, sum(chosen.lead(side) for side in sides)
    shift, usual = chosen.ahead(way), sum(step.duration[0] for step in steps.values())
    full, effort = len(sides) > 1, steps["right"].objective
    image = (
        periodic(body, shift=shift) if full else mirror_symmetry(body, *mirror(body), shift=shift)
    )
    shares = 10.0 * chosen.speed / way if free else 10.0 / usual
    return Problem(
        tree=body,
        phases=phases,
        links=(continuous(*SMOOTH),) * (len(phases) - 1),
        objective=shared(effort, shares) if free else shares * effort,
        loads=steps["right"].loads,
        symmetry=image,
        constraints=(progress(way, chosen.speed),) if free else (),
    )


def _scheduled(steps: Mapping[str, Problem], ends: Mapping[str, float]) -> tuple[Phase, ...]:
    """Return the phases of steps of given durations, in each step parts of its spline."""
    phases: list[Phase] = []
    for k, (side, step) in enumerate(steps.items()):
        phases += phases_of(step, _named(ends, side, len(steps)), last=k + 1 == len(steps))
    return tuple(phases)


def _timed(steps: Mapping[str, Problem], when: Schedule) -> tuple[Phase, ...]:
    """Return the phases of steps of free durations, a spline for each."""
    whole: Any = steps["right"].motion
    segments = max(2, whole.points - whole.degree)
    double = max(1, round(when.toe_off * segments))
    motions = [
        BSpline(points=part + whole.degree, degree=whole.degree)
        for part in (double, segments - double)
    ]
    phases: list[Phase] = []
    for k, (side, step) in enumerate(steps.items()):
        usual = float(nominal(step.duration[0]))
        durations = [
            tuple(room * share * usual for room in ROOM)
            for share in (when.toe_off, 1 - when.toe_off)
        ]
        named, last = _named(supports(when), side, len(steps)), k + 1 == len(steps)
        phases += phases_of(step, named, motions=motions, durations=durations, last=last)
    return tuple(phases)


def _named(ends: Mapping[str, float], side: str, count: int) -> dict[str, float]:
    """Return ends of phases by names that say who leads, where both do."""
    return {f"{side} {name}" if count > 1 else name: end for name, end in ends.items()}


def shared(objective: Objective, share: Any) -> Objective:
    """Return an objective of integrals times a share that may be sought, in their functions."""

    def scaled(term: Term) -> Term:
        factor, function = matrix([share]) ** (0.5 if term.kind == "squares" else 1), term.function
        return replace(term, function=lambda at: factor * function(at))

    return Objective(terms=tuple((weight, scaled(term)) for weight, term in objective.terms))


def progress(way: Any, speed: Any) -> Constraint:
    """Return the constraint that all phases together go a way (m) at a speed (m/s)."""
    return Constraint(
        name="progress",
        function=lambda durations: sum(durations.values()) - matrix([way / speed]),
        lower=0.0,
        upper=0.0,
        when="durations",
        units="s",
    )


def facing(ground: Ground, way: Any) -> Ground:
    """Return the ground of the step that follows: its mirror image, the other foot a `way` (m)
    ahead."""
    feet = (_facing(foot, way) for foot in ground.feet)
    return replace(ground, feet=tuple(sorted(feet, key=lambda foot: foot.name, reverse=True)))


def _facing(foot: Foot, way: Any) -> Foot:
    supports = tuple(_other_support(support, way) for support in foot.supports)
    return replace(
        foot, name=OTHER[foot.name], supports=supports, center=_other_place(foot.center, way)
    )


def _other_support(support: Support, way: Any) -> Support:
    pins = (
        Pin(point=_other(pin.point), axes=pin.axes, target=_other_place(pin.target, way))
        for pin in support.pins
    )
    polygon = [_other_place(corner, way) for corner in support.polygon]
    return replace(support, link=_other(support.link), pins=tuple(pins), polygon=polygon)


def _other(name: str) -> str:
    return name[:-1] + OTHER_SIDE[name[-1]]


def _other_place(place: Any, way: Any) -> Any:
    return IMAGE * np.array(place) + (0.0, 0.0, way)


def impaired(body: Tree, strength: float, mass: float | Open) -> Tree:
    """Return a body whose right ankle has a share of its `strength` both ways, and a `mass` (kg)
    at the middle of the right shank. Raises ValueError for a share that is none of 0 to 1."""
    if not 0 < strength <= 1:
        raise ValueError(f"ankle_strength: expected a share above 0 and up to 1, got {strength!r}")
    if strength < 1:
        body = weaker(body, "ankle_df_r", strength)
    if not any_nonzero((mass,)):
        return body
    knee, ankle = positions(body, np.zeros(body.dof), ("knee_r", "ankle_r"))
    middle = (array(knee) - array(ankle)).ravel() / 2
    return carry(body, "ankle_r", mass, tuple(middle))
