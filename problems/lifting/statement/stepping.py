"""One step in a lift: a foot leaves the ground while the hands hold the box, and lands ahead."""

from dataclasses import dataclass, replace
from typing import Any

import casadi as ca
import numpy as np

from ocp import Constraint, Instant, Tree, path
from ocp.mechanics import Open
from ocp.models.human import SOLES
from ocp.problem import INSIDE, Foot, Ground, Span
from ocp.problems.lifting.statement.box_hold import UP
from ocp.problems.lifting.statement.standing_body import stance

CLEAR = 0.03  # m: of the sole at least above the ground in the middle of its swing [assumed]
AHEAD = "left ahead"  # the left foot where it has landed


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """A step of the left foot: its `length` (m), and from when to when it swings, of the lift.

    Raises ValueError unless the length is a number and the foot leaves before it lands, within the
    lift.
    """

    length: float
    leaves: float
    lands: float

    def __post_init__(self) -> None:
        if not np.isfinite(self.length):
            raise ValueError(f"step: expected a length in m, got {self.length}")
        if not 0 < self.leaves < self.lands < 1:
            raise ValueError(
                "leaves, lands: expected 0 < leaves < lands < 1 of the lift, "
                f"got {self.leaves:g} and {self.lands:g}"
            )


def stepping(body: Tree, apart: float | Open, pace: Pace) -> Ground:
    """Return the Ground of both feet, ankles `apart` (m), of which the left one takes a step.

    Each place where it stands is a Foot of its own, "left" and "left ahead", flat from its first
    instant to its last. Both share the load smoothly: torques straight from node to node are as
    coarse as the nodes, and their rates cost.
    """
    ground = stance(body, apart)
    right, left = ground.foot("right"), ground.foot("left")
    before = _bearing(left, (0.0, pace.leaves), 0.0, bears=(-np.inf, pace.leaves))
    after = _bearing(left, (pace.lands, 1.0), pace.length, bears=(pace.lands, np.inf))
    feet = right, before, replace(after, name=AHEAD)
    return replace(ground, feet=feet, sharing="smooth")


def _bearing(foot: Foot, when: tuple[float, float], ahead: float, bears: Any) -> Foot:
    """Return a foot that stands at a time alone, so far (m) `ahead`."""
    shift = np.array([0.0, 0.0, ahead])
    supports = [
        replace(
            support,
            when=when,
            pins=[replace(pin, target=pin.target + shift) for pin in support.pins],
            polygon=support.polygon + shift,
        )
        for support in foot.supports
    ]
    return replace(foot, supports=supports, center=foot.center + shift, bears=bears)


def square(width: float, most: float) -> Constraint:
    """Keep a box of a `width` (m) before the body: turned to a side by at most so much (rad)."""
    apart = width * float(np.sin(most))
    return path(
        "square",
        lambda at: at.position("grip_l")[2] - at.position("grip_r")[2],
        lower=-apart,
        upper=apart,
        when=INSIDE,
        labels=("turned",),
        units="m",
    )


def swinging(pace: Pace) -> Constraint:
    """Keep the left sole off the ground while it swings, by CLEAR in the middle of that.

    Its corners are above CLEAR (4 u (1 - u))^2, u from 0 to 1 over the swing.
    """

    def above(at: Instant) -> ca.SX:
        u = (at.s - pace.leaves) / (pace.lands - pace.leaves)
        wave = CLEAR * (4 * u * (1 - u)) ** 2
        return ca.vertcat(*(at.position(name)[UP.index(1.0)] - wave for name in SOLES["left"]))

    inside = Span(start=pace.leaves, end=pace.lands, open_start=True, open_end=True)
    return path("swing", above, lower=0.0, when=inside, labels=SOLES["left"], units="m")
