"""Rigid contact that the motion finds: gap and force of a point, slip and friction, complementary.

Forces are sought with the motion, in components along the plane's normal and, where the tree can
feel them, along its tangents. What they ask for, relaxed by a leak, stands in
`ocp.transcription.laws.complementarity_laws`. (Posa, Cantu & Tedrake 2014; Patel et al. 2019)
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NoReturn

import casadi as ca
import numpy as np

from ocp.mechanics.kinematics import kinematics
from ocp.mechanics.kinematics.zero_moment import tangents
from ocp.mechanics.model.loads import Load
from ocp.mechanics.model.tree import Tree
from ocp.mechanics.values.parameters import Number, matrix
from ocp.mechanics.values.types import Matrix, Numbers
from ocp.mechanics.values.validation import check_type, positive, set_fields
from ocp.problem.motion_state import MotionState
from ocp.spelling import suggest_fields

LEAK = 1e-3  # J
FELT = 1e-9  # of a unit vector: nothing


@suggest_fields
@dataclass(frozen=True, slots=True, kw_only=True)
class Complementarity:
    """How rigid contact goes: the coefficient of `friction`, and the `leak` (J), what gap times
    force may be, and slip in the motion's duration times what friction has left.

    Both may be open: a leak that is a Parameter is brought down without building anything anew.
    Raises ValueError for a friction below 0, and a leak that is not above.
    """

    friction: Number = 0.8
    leak: Number = LEAK

    def __post_init__(self) -> None:
        friction = positive("complementarity: friction", self.friction, zero=True, unit="")
        leak = positive("complementarity: leak", self.leak, unit="J")
        set_fields(self, friction=friction, leak=leak)


@suggest_fields
@dataclass(frozen=True, slots=True, kw_only=True)
class Touch:
    """The named `point` on a plane through `place` (3, m) with the upward unit `normal` (3), by a
    force that is sought with the motion, as its `model` says.

    Its components are along the normal, and along the `ways`, unit vectors of the plane in which
    the tree feels a force. Its `name` tells it apart.
    """

    name: str
    point: str
    model: Complementarity
    normal: Numbers
    place: Numbers
    ways: Numbers

    def __post_init__(self) -> None:
        check_type(f"contact {self.name!r}: model", self.model, Complementarity)

    @property
    def varies(self) -> bool:
        """False: its force is sought at the end too, as the image of that at the start."""
        return False

    @property
    def size(self) -> int:
        """Number of components of the force."""
        return 1 + len(self.ways)

    @property
    def grip(self) -> Matrix:
        """Friction along each way over the normal force: of two, by the pyramid in the cone."""
        return matrix(self.model.friction) / np.sqrt(max(1, len(self.ways)))

    @property
    def axes(self) -> Matrix:
        """The directions (3, components) of normal and ways."""
        return ca.horzcat(matrix(self.normal), *(matrix(way) for way in self.ways))

    def load_at(self, at: MotionState) -> Load:
        """Return the load that it is at an instant."""
        return self.load(at.contact(self))

    def load(self, components: Matrix) -> Load:
        """Return the load of a force with these components (N)."""
        return Load(point=self.point, force=self.axes @ components)

    def at(self, t: Matrix) -> NoReturn:
        """Raise ValueError: the force is sought with a motion."""
        raise ValueError(
            f"contact {self.name!r}: its force is sought with the motion, and not known here; "
            "take a Compliant model, or give the force as a Load"
        )

    def gap(self, at: MotionState) -> Matrix:
        """Return the height (m) of the point above the plane."""
        return ca.dot(matrix(self.normal), at.position(self.point) - matrix(self.place))

    def gap_rates(self, at: MotionState) -> tuple[Matrix, Matrix]:
        """Return rate (m/s) and acceleration (m/s2) of the gap."""
        normal = matrix(self.normal)
        rate, bend = at.velocity(self.point), at.acceleration(self.point)
        return ca.dot(normal, rate), ca.dot(normal, bend)

    def slip(self, at: MotionState) -> Matrix:
        """Return the velocity (ways,) of the point along the ways (m/s)."""
        return ca.vertcat(*(ca.dot(matrix(way), at.velocity(self.point)) for way in self.ways))


def touches(loads: Sequence[object]) -> tuple[Touch, ...]:
    """Return the contacts whose forces are sought, in order."""
    return tuple(load for load in loads if isinstance(load, Touch))


def touch_size(loads: Sequence[object]) -> int:
    """Return the number of components of their forces."""
    return sum(touch.size for touch in touches(loads))


def touch_labels(loads: Sequence[object]) -> tuple[str, ...]:
    """Return the names of the contacts."""
    return tuple(touch.name for touch in touches(loads))


def rows_of(loads: Sequence[object], touch: Touch) -> slice:
    """Return the places of a contact's components among those of all."""
    every = touches(loads)
    number = touch_labels(loads).index(touch.name)
    first = sum(each.size for each in every[:number])
    return slice(first, first + touch.size)


def felt_ways(tree: Tree, point: str, normal: Sequence[float]) -> tuple[np.ndarray, ...]:
    """Return unit vectors of a plane along which the tree feels a force at a point: two, or of a
    tree in a plane upright on it the one that lies in both.

    Seeded postures tell.
    """
    up = np.asarray(normal, dtype=float)
    flat = np.eye(3) - np.outer(up, up)
    axes, sizes, _ = np.linalg.svd(flat @ kinematics.point_slopes(tree, point))
    felt = [axes[:, k] for k in range(2) if sizes[k] > FELT * max(sizes[0], FELT)]
    if len(felt) == 2:
        return tangents(tuple(up))
    return tuple(axis * np.sign(axis[np.argmax(np.abs(axis))]) for axis in felt)
