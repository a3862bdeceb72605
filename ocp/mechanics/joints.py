"""Joints: one record for all of them, and the constructors that spell the usual cases.

The frame of a joint's link in its parent's is home @ exp([screw] q), the screw (angular, linear)
being given in the link's own frame (Sohl & Bobrow 2001, second form of the product of
exponentials). Revolute, prismatic and screw joints differ by the pitch alone; a fixed joint has no
screw. Where numbers are open, rotations and axes must be such whatever the parameters' values.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import inf
from typing import Any

import numpy as np

from ocp.mechanics.checks import (
    at_own_values,
    frozen,
    limits,
    numbers,
    rigid_pose,
    set_fields,
    vanishes,
)
from ocp.mechanics.parameters import array, is_open, some
from ocp.mechanics.spatial import dh_pose, invert, move_screw, tidy, translate
from ocp.mechanics.types import Numbers

GROUND = "ground"
LIMITED = "position", "velocity", "torque", "jerk", "torque_rate"
_TURNING = "rad", "rad/s", "N m", "rad/s3", "N m/s"  # their units
UNITS = {
    "revolute": _TURNING,
    "screw": _TURNING,
    "prismatic": ("m", "m/s", "N", "m/s3", "N/s"),
    "fixed": ("",) * 5,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Joint:
    """The joint before a link.

    `home` (4x4, or a translation of 3), `screw` (6, None when fixed), limits as (lower, upper).
    Limits of `position`, `velocity` and `torque` are in rad or m, rad/s or m/s, N m or N, those of
    `jerk` and `torque_rate` in rad/s3 or m/s3, N m/s or N/s; one number b stands for (-b, b).
    Without a drive, not `actuated`, a joint's torque is zero. The constructors `revolute`,
    `prismatic`, `screw`, `fixed` and `dh` spell the usual cases. Raises ValueError naming the
    joint.
    """

    name: str
    parent: str = GROUND
    home: Numbers = (
        (1.0, 0.0, 0.0, 0.0),
        (0.0, 1.0, 0.0, 0.0),
        (0.0, 0.0, 1.0, 0.0),
        (0.0, 0.0, 0.0, 1.0),
    )
    screw: Numbers = None
    position: Numbers = (-inf, inf)
    velocity: Numbers = (-inf, inf)
    torque: Numbers = (-inf, inf)
    jerk: Numbers = (-inf, inf)
    torque_rate: Numbers = (-inf, inf)
    actuated: bool = True

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name or self.name == GROUND:
            raise ValueError(
                f"joint name: expected a non-empty string other than {GROUND!r}, got {self.name!r}"
            )
        label = f"joint {self.name!r}"
        set_fields(self, home=frozen(_pose_of(f"{label}: home", self.home)))
        if self.screw is not None:
            set_fields(
                self,
                screw=frozen(_unit_screw(label, numbers(f"{label}: screw", self.screw, (6,), ""))),
            )
        for what, unit in zip(LIMITED, UNITS[self.kind]):
            set_fields(self, **{what: limits(f"{label}: {what} limits", getattr(self, what), unit)})

    @property
    def kind(self) -> str:
        """Return "fixed", "revolute", "prismatic" or "screw".

        Where entries are open it is what it remains whatever their parameters' values.
        """
        if self.screw is None:
            return "fixed"
        if not some(self.screw[:3]):
            return "prismatic"
        pitch = self.pitch
        return "screw" if is_open(pitch) or abs(pitch) >= 1e-14 else "revolute"

    @property
    def pitch(self) -> float:
        """Advance per radian (m/rad) of a joint that turns: w . v."""
        if is_open(self.screw):
            return _open_pitch(self.screw)
        return float(np.dot(self.screw[:3], self.screw[3:]))

    @property
    def anchor(self) -> np.ndarray:
        """Point of the joint axis nearest the link frame's origin (3, m, link frame).

        The origin itself if nothing turns. Stays put in parent and link alike when the joint turns,
        so joint reactions are taken about it.
        """
        if self.screw is None or self.kind == "prismatic":
            return np.zeros(3)
        return np.cross(array(self.screw[:3]), array(self.screw[3:]))


def revolute(
    name: str,
    parent: str = GROUND,
    *,
    axis: Sequence[float] = (0.0, 0.0, 1.0),
    home: Any = (0.0, 0.0, 0.0),
    **options: Any,
) -> Joint:
    """Return a joint that turns about `axis` (unit, 3) through the link frame's origin."""
    return Joint(name=name, parent=parent, home=home, screw=(*axis, 0.0, 0.0, 0.0), **options)


def prismatic(
    name: str,
    parent: str = GROUND,
    *,
    axis: Sequence[float] = (0.0, 0.0, 1.0),
    home: Any = (0.0, 0.0, 0.0),
    **options: Any,
) -> Joint:
    """Return a joint that slides along `axis` (unit, 3)."""
    return Joint(name=name, parent=parent, home=home, screw=(0.0, 0.0, 0.0, *axis), **options)


def screw(
    name: str,
    parent: str = GROUND,
    *,
    pitch: float,
    axis: Sequence[float] = (0.0, 0.0, 1.0),
    home: Any = (0.0, 0.0, 0.0),
    **options: Any,
) -> Joint:
    """Return a joint that turns about `axis` and advances along it by `pitch` (m/rad)."""
    return Joint(
        name=name,
        parent=parent,
        home=home,
        screw=(
            *axis,
            *(frozen(numbers(f"joint {name!r}: pitch", pitch, (), "m/rad")[()]) * array(axis)),
        ),
        **options,
    )


def fixed(name: str, parent: str = GROUND, *, home: Any = (0.0, 0.0, 0.0)) -> Joint:
    """Return a rigid connection without a coordinate."""
    return Joint(name=name, parent=parent, home=home)


def dh(
    name: str,
    parent: str = GROUND,
    *,
    theta: float = 0.0,
    d: float = 0.0,
    a: float = 0.0,
    alpha: float = 0.0,
    kind: str = "revolute",
    before: Any = (0.0, 0.0, 0.0),
    **options: Any,
) -> Joint:
    """Return the joint of one row of a Denavit-Hartenberg table (standard convention; Xiang et al.
    2009, eqs. 1, 2).

    The row turns by `theta` (rad) about z and slides by `d` (m) along it, then slides by `a` (m)
    along x and turns by `alpha` (rad) about it. The variable of a joint of `kind` "revolute" adds
    to `theta`, that of a "prismatic" one to `d`. `before` is a constant pose (4x4, or a
    translation) between the parent's frame and the row.
    """
    if kind not in ("revolute", "prismatic"):
        raise ValueError(f"joint {name!r}: kind: expected 'revolute' or 'prismatic', got {kind!r}")
    row = dh_pose(
        *(
            frozen(numbers(f"joint {name!r}: DH row", value, (), unit)[()])
            for value, unit in ((theta, "rad"), (d, "m"), (a, "m"), (alpha, "rad"))
        )
    )
    axis = np.eye(6)[2 if kind == "revolute" else 5]
    home = _pose_of(f"joint {name!r}: before", before) @ row
    return Joint(
        name=name, parent=parent, home=home, screw=tidy(move_screw(invert(row), axis)), **options
    )


def _pose_of(what, value):
    if np.shape(np.asarray(value, dtype=object)) == (3,) and not any(
        np.ndim(entry) for entry in value
    ):
        return translate(*numbers(what, value, (3,), "m").tolist())
    return rigid_pose(what, value, "m")


def _unit_screw(label, value):
    here = at_own_values(value)
    angular, linear = np.linalg.norm(here[:3]), np.linalg.norm(here[3:])
    norm = angular if angular > 0 else linear
    axis = value[:3] if angular > 0 else value[3:]
    always = not is_open(axis) or vanishes(axis @ axis - 1)
    if abs(norm - 1) > 1e-9 or not always:
        part = "angular" if angular > 0 else "linear"
        more = "" if always else " at its parameters' own values, and not at others"
        raise ValueError(
            f"{label}: the axis must have unit length; the {part} part of the screw has length "
            f"{norm:.9g}{more}"
        )
    return value if is_open(axis) else value / norm


@lru_cache(maxsize=512)
def _open_pitch(screw):
    pitch = np.dot(array(screw[:3]), array(screw[3:]))
    return 0.0 if vanishes(pitch) else pitch
