"""Force elements at one joint: dampers, dry friction, rotors, springs, bumpers.

Coordinates x are those of the named joint (rad or m), or the amplitude of a link that bends; what
is N m at a joint that turns is N at one that slides.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import isfinite
from typing import Any, Protocol

import casadi as ca
import numpy as np

from ocp.mechanics.elements.smooth_curves import Cubic, cubic, friction, ramp, ramp_area, ramp_slope
from ocp.mechanics.model.tree_validation import Mechanism
from ocp.mechanics.model.unilateral_joints import End
from ocp.mechanics.values.parameters import Number, expression_of, is_open, nominal
from ocp.mechanics.values.types import Matrix, Numbers
from ocp.mechanics.values.validation import (
    check_units,
    freeze,
    limits,
    numbers,
    positive,
    set_fields,
)
from ocp.spelling import suggest_fields

# Of a joint that turns and of one that slides
FORCES = "N m", "N"
INERTIAS = "kg m2", "kg"
STIFFNESSES = "N m/rad", "N/m"
DAMPINGS = "N m s/rad", "N s/m"
RATES = "rad/s", "m/s"
PLACES = "rad", "m"


class MotionState(Protocol):
    """A state of motion of a tree as its elements see it, whose modules it stands on."""

    @property
    def q(self) -> Matrix: ...
    @property
    def qd(self) -> Matrix: ...
    def row(self, joint: str) -> int: ...
    def place(self, end: End) -> Matrix: ...
    def point_slides(self, end: str) -> dict[int, Matrix]: ...
    def link_frame(self, link: str) -> tuple[Matrix, Matrix]: ...
    def link_slides(self, link: str, place: Matrix) -> dict[int, Matrix]: ...
    def link_screws(self, link: str, place: Matrix) -> dict[int, Matrix]: ...
    def length(self, path: Sequence[End]) -> Matrix: ...
    def length_slope(self, path: Sequence[End]) -> dict[int, Matrix]: ...
    def length_rate(self, path: Sequence[End]) -> Matrix: ...


def row_of(label: str, tree: Mechanism, joint: str) -> int:
    """Return the row of q of an element's joint; raise ValueError naming the element."""
    try:
        return int(tree.coordinate(joint))
    except ValueError as error:
        raise ValueError(f"{label}: {error}") from None


def check_joint_units(
    label: str, tree: Mechanism, joint: str, units: Mapping[str, tuple[object, tuple[str, str]]]
) -> None:
    """Raise ValueError naming an open number of an element that has another unit than its joint
    asks for; `units`: {words: (value, the units at a joint that turns and at one that slides)}."""
    coordinate = tree.moving[row_of(label, tree, joint)]
    if coordinate.ball:
        raise ValueError(
            f"{label}: {joint!r} is a number of a quaternion, and no angle; a PassiveMoment of all "
            "four can have an energy"
        )
    slides = coordinate.kind == "prismatic"
    for what, (value, pair) in units.items():
        check_units(f"{label}: {what}", value, pair[slides])


def check_name(record: Any, kind: str) -> str:
    """Check an element's joint and name, by default its joint's and its kind; return its label."""
    if not isinstance(record.joint, str) or not record.joint:
        raise ValueError(f"{kind}: joint: expected a joint's name, got {record.joint!r}")
    if not isinstance(record.name, str):
        raise ValueError(f"{kind} at {record.joint!r}: name: expected a word, got {record.name!r}")
    set_fields(record, name=record.name or f"{record.joint} {kind}")
    return f"{kind} {record.name!r}"


@suggest_fields
@dataclass(frozen=True, slots=True, kw_only=True)
class Damper:
    """Viscous damping of a `joint`: -d x', with `damping` d (N m s/rad or N s/m) above 0.

    By its `name` it is known in reports, by default that of the joint with "damper". Raises
    ValueError naming it.
    """

    joint: str
    damping: Number
    name: str = ""

    def __post_init__(self) -> None:
        label = check_name(self, "damper")
        set_fields(self, damping=positive(f"{label}: damping", self.damping, unit=""))

    def check(self, tree: Mechanism) -> None:
        """Raise ValueError unless the tree has its joint, with a coordinate."""
        units = {"damping": (self.damping, DAMPINGS)}
        check_joint_units(f"damper {self.name!r}", tree, self.joint, units)

    def torques(self, state: MotionState) -> dict[int, Matrix]:
        """Return {row of q: what it gives there} (N m or N)."""
        row = state.row(self.joint)
        return {row: -graph_number(self.damping) * state.qd[row]}

    def stored_energy(self, state: MotionState) -> Matrix:
        """Return the stored energy: none."""
        return 0.0

    def loss(self, state: MotionState) -> Matrix:
        """Return the power (W) that it takes: d x'^2."""
        return graph_number(self.damping) * state.qd[state.row(self.joint)] ** 2


@suggest_fields
@dataclass(frozen=True, slots=True, kw_only=True)
class Friction:
    """Dry friction of a `joint`, smooth about rest.

        -(f_d tanh(4 u) + (f_s - f_d) u / (u^2 / 4 + 3/4)^2),   u = x' / v_t

    (Brown & McPhee 2016, eq. 9) with the `dynamic` level f_d, the `static` one f_s, by default the
    same (N m or N), and the speed of `transition` v_t (rad/s or m/s), at which it has its peak:
    slower than that it creeps under any force. `name` as in `Damper`. Raises ValueError naming it.
    """

    joint: str
    dynamic: Number
    static: Number | None = None
    transition: Number = 0.1
    name: str = ""

    def __post_init__(self) -> None:
        label = check_name(self, "friction")
        static = self.dynamic if self.static is None else self.static
        for what, value in (("dynamic", self.dynamic), ("static", static)):
            set_fields(self, **{what: positive(f"{label}: {what} level", value, unit="")})
        set_fields(self, transition=positive(f"{label}: transition", self.transition, unit=""))
        low, high = nominal((self.dynamic, self.static))
        if high < low:
            raise ValueError(
                f"{label}: static level: expected at least the dynamic one, {low:g}, got {high:g}"
            )

    def check(self, tree: Mechanism) -> None:
        """Raise ValueError unless the tree has its joint, with a coordinate."""
        units = {
            "dynamic level": (self.dynamic, FORCES),
            "static level": (self.static, FORCES),
            "transition": (self.transition, RATES),
        }
        check_joint_units(f"friction {self.name!r}", tree, self.joint, units)

    def torques(self, state: MotionState) -> dict[int, Matrix]:
        """Return {row of q: what it gives there} (N m or N)."""
        row = state.row(self.joint)
        share = state.qd[row] / graph_number(self.transition)
        return {row: -friction(share, graph_number(self.static), graph_number(self.dynamic))}

    def stored_energy(self, state: MotionState) -> Matrix:
        """Return the stored energy: none."""
        return 0.0

    def loss(self, state: MotionState) -> Matrix:
        """Return the power (W) that it takes."""
        row = state.row(self.joint)
        return -self.torques(state)[row] * state.qd[row]


@suggest_fields
@dataclass(frozen=True, slots=True, kw_only=True)
class Armature:
    """A rotor that turns with a `joint`, `gear` times as fast: it adds i J to the mass matrix.

    `inertia` J (kg m2, or kg where the joint slides and so does the rotor) is above 0, and i the
    square of the `gear` ratio (Featherstone 2008, section 9.6, without gyroscopic moments). `name`
    as in `Damper`. Raises ValueError naming it.
    """

    joint: str
    inertia: Number
    gear: Number = 1.0
    name: str = ""

    def __post_init__(self) -> None:
        label = check_name(self, "armature")
        set_fields(self, inertia=positive(f"{label}: inertia", self.inertia, unit=""))
        gear = numbers(f"{label}: gear", self.gear, (), "")
        if nominal(gear.item()) == 0:
            raise ValueError(f"{label}: gear: expected a ratio other than 0")
        set_fields(self, gear=freeze(gear[()]))

    @property
    def reflected(self) -> Number:
        """What it adds to the mass matrix (kg m2 or kg): the inertia times the square of gear."""
        return self.inertia * self.gear**2

    def check(self, tree: Mechanism) -> None:
        """Raise ValueError unless the tree has its joint, with a coordinate."""
        units = {"inertia": (self.inertia, INERTIAS)}
        check_joint_units(f"armature {self.name!r}", tree, self.joint, units)

    def torques(self, state: MotionState) -> dict[int, Matrix]:
        """Return the torques in a state of motion: none, since they follow from accelerations."""
        return {}

    def stored_energy(self, state: MotionState) -> Matrix:
        """Return its potential energy, none; the kinetic one is counted with that of the links."""
        return 0.0

    def loss(self, state: MotionState) -> Matrix:
        """Return the power that it takes: none."""
        return 0.0


@suggest_fields
@dataclass(frozen=True, slots=True, kw_only=True)
class Spring:
    """A linear spring at a `joint`: -k (x - x_0).

    `stiffness` k (N m/rad or N/m) is above 0, `rest` x_0 (rad or m) where it gives nothing. `name`
    as in `Damper`. Raises ValueError naming it.
    """

    joint: str
    stiffness: Number
    rest: Number = 0.0
    name: str = ""

    def __post_init__(self) -> None:
        label = check_name(self, "spring")
        set_fields(self, stiffness=positive(f"{label}: stiffness", self.stiffness, unit=""))
        set_fields(self, rest=freeze(numbers(f"{label}: rest", self.rest, (), "")[()]))

    def check(self, tree: Mechanism) -> None:
        """Raise ValueError unless the tree has its joint, with a coordinate."""
        units = {"stiffness": (self.stiffness, STIFFNESSES), "rest": (self.rest, PLACES)}
        check_joint_units(f"spring {self.name!r}", tree, self.joint, units)

    def torques(self, state: MotionState) -> dict[int, Matrix]:
        """Return {row of q: what it gives there} (N m or N)."""
        row = state.row(self.joint)
        return {row: -graph_number(self.stiffness) * (state.q[row] - graph_number(self.rest))}

    def stored_energy(self, state: MotionState) -> Matrix:
        """Return the stored energy (J): k (x - x_0)^2 / 2."""
        stretch = state.q[state.row(self.joint)] - graph_number(self.rest)
        return graph_number(self.stiffness) * stretch**2 / 2

    def loss(self, state: MotionState) -> Matrix:
        """Return the power that it takes: none."""
        return 0.0


@suggest_fields
@dataclass(frozen=True, slots=True, kw_only=True)
class CurvedSpring:
    """A spring at a `joint` that gives `forces` (N, N m or N) at the coordinates `places` (N,).

    Between them it is the natural cubic spline through these points, beyond them it goes on
    straight; `places` increase (rad or m). `name` as in `Damper`. Raises ValueError naming it.
    """

    joint: str
    places: Numbers
    forces: Numbers
    name: str = ""

    def __post_init__(self) -> None:
        label = check_name(self, "curved spring")
        count = np.size(self.places)
        if count < 2 or np.ndim(self.places) != 1:
            raise ValueError(f"{label}: places: expected at least 2 numbers, got {self.places!r}")
        places = numbers(f"{label}: places", self.places, (count,))
        forces = numbers(f"{label}: forces", self.forces, (count,))
        if (np.diff(places) <= 0).any():
            raise ValueError(f"{label}: places: expected increasing numbers, got {places.tolist()}")
        set_fields(self, places=freeze(places), forces=freeze(forces))

    def check(self, tree: Mechanism) -> None:
        """Raise ValueError unless the tree has its joint, with a coordinate."""
        check_joint_units(f"curved spring {self.name!r}", tree, self.joint, {})

    def torques(self, state: MotionState) -> dict[int, Matrix]:
        """Return {row of q: what it gives there} (N m or N)."""
        row = state.row(self.joint)
        return {row: _curve(self.places, self.forces)(state.q[row])}

    def stored_energy(self, state: MotionState) -> Matrix:
        """Return the stored energy (J), zero at its first place."""
        return -_curve(self.places, self.forces).area(state.q[state.row(self.joint)])

    def loss(self, state: MotionState) -> Matrix:
        """Return the power that it takes: none."""
        return 0.0


@lru_cache(maxsize=128)
def _curve(places: tuple[float, ...], forces: tuple[float, ...]) -> Cubic:
    return cubic(places, forces)


@suggest_fields
@dataclass(frozen=True, slots=True, kw_only=True)
class Bumper:
    """Soft stops of a `joint` at `lower` and `upper`, one or both (rad or m).

    With the depth e by which the coordinate is beyond one, e = lower - x or x - upper, it pushes
    back by

        r(k e + d s(e) e'),   r(f) = (f + sqrt(f^2 + (k w)^2)) / 2,   s = dr(e)/de at width w

    so it never pulls, and never gives back more than it got: `stiffness` k (N m/rad or N/m),
    `damping` d (N m s/rad or N s/m), and `rounding` w (rad or m), over which it sets in (after Chen
    & Harker 1993). Outside of it what is left is k w^2 / (4 |e|). A `Stay` (`stop`) is the rigid
    one. `name` as in `Damper`. Raises ValueError naming it.
    """

    joint: str
    lower: Number = -np.inf
    upper: Number = np.inf
    stiffness: Number
    damping: Number = 0.0
    rounding: Number = 0.01
    name: str = ""

    def __post_init__(self) -> None:
        label = check_name(self, "bumper")
        lower, upper = limits(f"{label}: ends", (self.lower, self.upper), "")
        set_fields(self, lower=lower, upper=upper)
        set_fields(self, stiffness=positive(f"{label}: stiffness", self.stiffness, unit=""))
        set_fields(self, damping=positive(f"{label}: damping", self.damping, True, unit=""))
        set_fields(self, rounding=positive(f"{label}: rounding", self.rounding, unit=""))
        if not np.isfinite(nominal((lower, upper))).any():
            raise ValueError(f"{label}: ends: expected a lower or an upper one, got none")

    def check(self, tree: Mechanism) -> None:
        """Raise ValueError unless the tree has its joint, with a coordinate."""
        units = {
            "ends": ((self.lower, self.upper), PLACES),
            "stiffness": (self.stiffness, STIFFNESSES),
            "damping": (self.damping, DAMPINGS),
            "rounding": (self.rounding, PLACES),
        }
        check_joint_units(f"bumper {self.name!r}", tree, self.joint, units)

    def torques(self, state: MotionState) -> dict[int, Matrix]:
        """Return {row of q: what it gives there} (N m or N)."""
        row = state.row(self.joint)
        pushes = (
            -way * push_force(self, depth, way * state.qd[row])
            for way, depth in self._depths(state)
        )
        return {row: sum(pushes, 0.0)}

    def stored_energy(self, state: MotionState) -> Matrix:
        """Return the stored energy (J), zero where the element sets in."""
        width = graph_number(self.rounding)
        areas = (ramp_area(depth, width) for _, depth in self._depths(state))
        return graph_number(self.stiffness) * sum(areas, 0.0)

    def loss(self, state: MotionState) -> Matrix:
        """Return the power (W) that it takes."""
        rate = state.qd[state.row(self.joint)]
        return sum((push_loss(self, depth, way * rate) for way, depth in self._depths(state)), 0.0)

    def _depths(self, state: MotionState) -> list[tuple[int, Matrix]]:
        """Return of each end (whether it is entered upwards, 1, or -1, how deep that is)."""
        x, ends = state.q[state.row(self.joint)], []
        if is_open(self.lower) or isfinite(self.lower):
            ends.append((-1, graph_number(self.lower) - x))
        if is_open(self.upper) or isfinite(self.upper):
            ends.append((1, x - graph_number(self.upper)))
        return ends


def push_force(record: Any, depth: Matrix, rate: Matrix) -> Matrix:
    """Return the force (N m or N) of what has `stiffness`, `damping` and `rounding` at a depth
    that grows at a rate: never less than 0."""
    stiffness, width = graph_number(record.stiffness), graph_number(record.rounding)
    whole = stiffness * depth
    if is_open(record.damping) or record.damping:
        whole = whole + graph_number(record.damping) * ramp_slope(depth, width) * rate
    return ramp(whole, stiffness * width)


def push_loss(record: Any, depth: Matrix, rate: Matrix) -> Matrix:
    """Return the power (W) that such a force takes, at least 0."""
    if not is_open(record.damping) and not record.damping:
        return 0.0
    stiffness, width = graph_number(record.stiffness), graph_number(record.rounding)
    return (push_force(record, depth, rate) - stiffness * ramp(depth, width)) * rate


def graph_number(number: Numbers) -> Matrix:
    """Return a number of an element as graphs take it."""
    return expression_of(number) if is_open(number) else number


def gradient_at(function: Callable[[Matrix], Matrix], place: Matrix) -> Matrix:
    """Return the gradient (k,) of a function at a place (k,), numbers or expressions."""
    kind: type[Matrix] = ca.MX if isinstance(place, ca.MX) else ca.SX
    x = kind.sym("x", *place.shape)
    slope = ca.substitute(ca.gradient(kind(function(x)), x), x, kind(ca.densify(place)))
    return ca.evalf(slope) if isinstance(place, ca.DM) and not ca.symvar(slope) else slope
