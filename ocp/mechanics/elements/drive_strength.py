"""Strength of drives: torque over speed of motors, of people over angle and speed.

They act by no force of their own; a problem keeps its torques within them.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import casadi as ca

from ocp.mechanics.elements.joint_elements import (
    FORCES,
    RATES,
    check_joint_units,
    check_name,
    graph_number,
    row_of,
)
from ocp.mechanics.elements.smooth_curves import ramp
from ocp.mechanics.model.tree_validation import Mechanism
from ocp.mechanics.values.callback_checks import check_callback
from ocp.mechanics.values.parameters import Number
from ocp.mechanics.values.types import Matrix
from ocp.mechanics.values.validation import check_callable, freeze, numbers, positive, set_fields
from ocp.pickling import portable
from ocp.spelling import suggest_fields

Capacity: TypeAlias = Callable[[Matrix, Matrix], Matrix]
LEAST = 0.02  # of the largest strength: over which it runs out smoothly
SIDES = {1: "upwards", -1: "downwards"}


def check_drives(label: str, tree: Mechanism, joint: str) -> None:
    """Raise ValueError unless a joint has a coordinate and a drive."""
    if not tree.moving[row_of(label, tree, joint)].actuated:
        raise ValueError(f"{label}: joint {joint!r} has no drive; expected an actuated one")


@suggest_fields
@dataclass(frozen=True, slots=True, kw_only=True)
class TorqueSpeed:
    """The torque that a motor at a `joint` has at its speed, at a given voltage, both ways.

        -tau_s <= tau + tau_s x' / w_0 <= tau_s

    with its `stall` torque tau_s (N m or N) and its `no_load` speed w_0 (rad/s or m/s) at the
    joint: V = R i + K w of the armature, tau = K i. The joint's own `torque` limits hold beside it.
    `name` as in `Damper`. Raises ValueError naming it.
    """

    joint: str
    stall: Number
    no_load: Number
    name: str = ""

    def __post_init__(self) -> None:
        label = check_name(self, "torque over speed")
        for what in ("stall", "no_load"):
            set_fields(self, **{what: positive(f"{label}: {what}", getattr(self, what), unit="")})

    def check(self, tree: Mechanism) -> None:
        """Raise ValueError unless the tree has its joint, with a drive."""
        label = f"torque over speed {self.name!r}"
        units = {"stall": (self.stall, FORCES), "no_load": (self.no_load, RATES)}
        check_joint_units(label, tree, self.joint, units)
        check_drives(label, tree, self.joint)

    def room(self, tau: Matrix, q: Matrix, qd: Matrix) -> tuple[Matrix, ...]:
        """Return the strength left (2,) at its joint's torque, coordinate and rate, N m or N."""
        stall = graph_number(self.stall)
        asked = tau + stall / graph_number(self.no_load) * qd
        return stall - asked, stall + asked

    def bounds(self, q: Matrix, qd: Matrix) -> dict[int, Matrix]:
        """Return {side: the torque up to which it goes there}, N m or N; 1 is upwards."""
        stall = graph_number(self.stall)
        lost = stall / graph_number(self.no_load) * qd
        return {1: stall - lost, -1: -stall - lost}

    @property
    def sides(self) -> tuple[str, ...]:
        """Names of the rows of `room`."""
        return SIDES[1], SIDES[-1]


@portable
@suggest_fields
@dataclass(frozen=True, slots=True, kw_only=True)
class Strength:
    """What muscles about a `joint` can, at most, in one `direction`: 1 is that of its coordinate.

        direction tau <= capacity(x, direction x')

    `capacity` is a function of the coordinate (rad or m) and of the speed with which they shorten,
    greater than 0 where they do work, in N m or N, as `Voluntary` is. `name` by default tells joint
    and direction. Raises ValueError naming it.
    """

    joint: str
    direction: int
    capacity: Capacity
    name: str = ""

    def __post_init__(self) -> None:
        if self.direction not in SIDES:
            raise ValueError(
                f"strength at {self.joint!r}: direction: expected 1 or -1, got {self.direction!r}"
            )
        label = check_name(self, f"strength {SIDES[self.direction]}")
        check_callback(
            f"{label}: capacity", check_callable(f"{label}: capacity", self.capacity), (1, 1), 1
        )

    def check(self, tree: Mechanism) -> None:
        """Raise ValueError unless the tree has its joint, with a drive."""
        label = f"strength {self.name!r}"
        check_joint_units(label, tree, self.joint, {})
        check_drives(label, tree, self.joint)

    def room(self, tau: Matrix, q: Matrix, qd: Matrix) -> tuple[Matrix, ...]:
        """Return the strength left (1,) at its joint's torque, coordinate and rate, N m or N."""
        capacity = self.capacity(q, self.direction * qd)
        return (capacity - self.direction * tau,)

    def bounds(self, q: Matrix, qd: Matrix) -> dict[int, Matrix]:
        """Return {direction: the torque up to which it goes there}, N m or N."""
        return {self.direction: self.direction * self.capacity(q, self.direction * qd)}

    @property
    def sides(self) -> tuple[str, ...]:
        """Names of the rows of `room`."""
        return (SIDES[self.direction],)


@suggest_fields
@dataclass(frozen=True, slots=True, kw_only=True)
class Voluntary:
    """The strength (N m) of a voluntary exertion over angle x (rad) and shortening speed w (rad/s).

        c_1 cos(c_2 (x - c_3)) f(w) g(w)
        f = (2 c_4 c_5 + w (c_5 - 3 c_4)) / (2 c_4 c_5 + w (2 c_5 - 4 c_4))             w > 0
        g = (2 c_4 c_5 - w (c_5 - 3 c_4)) / (2 c_4 c_5 - w (2 c_5 - 4 c_4)) (1 - c_6 w)   w < 0

    (Anderson, Madigan & Nussbaum 2007, eq. 9), with f and g one elsewhere. Here w is
    max(w, 0) and min(w, 0) rounded over `rounding` (rad/s), and the cosine and f run out smoothly
    at nothing. `peak` c_1 (N m) is their figure times a person's weight and height, `narrowing` c_2
    (1/rad), `best` c_3 (rad, in the joint's own sign), `three_quarters` c_4 and `half` c_5 the
    speeds (rad/s) at which so much of the peak is left, `eccentric` c_6 (s/rad).
    """

    peak: Number
    narrowing: Number
    best: Number
    three_quarters: Number
    half: Number
    eccentric: Number
    rounding: float = 0.1

    def __post_init__(self) -> None:
        for what in ("peak", "narrowing", "three_quarters", "half", "rounding"):
            value = positive(f"voluntary strength: {what}", getattr(self, what), unit="")
            set_fields(self, **{what: value})
        for what in ("best", "eccentric"):
            entry = numbers(f"voluntary strength: {what}", getattr(self, what), (), "")
            set_fields(self, **{what: freeze(entry[()])})

    def __call__(self, x: Matrix, speed: Matrix) -> Matrix:
        """Return the strength (N m) at angle x (rad), shortening at a speed (rad/s)."""
        c4, c5 = graph_number(self.three_quarters), graph_number(self.half)
        over = ca.cos(graph_number(self.narrowing) * (x - graph_number(self.best)))
        shorter, longer = ramp(speed, self.rounding), ramp(-speed, self.rounding)
        doing = _hyperbola(shorter, c4, c5)
        bearing = _hyperbola(longer, c4, c5) * (1 + graph_number(self.eccentric) * longer)
        return graph_number(self.peak) * ramp(over, LEAST) * ramp(doing, LEAST) * bearing


def _hyperbola(speed: Matrix, c4: Number, c5: Number) -> Matrix:
    """Return the share of strength that is left at a speed of at least 0."""
    whole = 2 * c4 * c5
    return (whole + speed * (c5 - 3 * c4)) / (whole + speed * (2 * c5 - 4 * c4))
