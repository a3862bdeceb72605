"""Joints: one record for all of them, and the constructors that spell the usual cases.

The frame of a joint's link in its parent's is home @ exp([screw] q), the screw (angular, linear)
being given in the link's own frame (Sohl & Bobrow 2001, second form of the product of
exponentials). Revolute, prismatic and screw joints differ by the pitch alone; a fixed joint has no
screw, and neither has a ball, whose link turns by a quaternion of four coordinates
(`ocp.mechanics.model.quaternions_and_couplings`). A joint may follow another's coordinate, or its
own by a function. Where numbers are open, rotations and axes must be such whatever the parameters'
values.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import inf
from typing import Any

import numpy as np

from ocp.mechanics.kinematics.spatial import (
    cross_arrays,
    dh_pose,
    invert,
    move_screw,
    tidy,
    translate,
)
from ocp.mechanics.model.quaternions_and_couplings import COMPONENTS, Follows
from ocp.mechanics.values.degrees import warn_of_angles, warn_of_degrees
from ocp.mechanics.values.parameters import Number, any_nonzero, array, is_open
from ocp.mechanics.values.types import Numbers
from ocp.mechanics.values.validation import (
    freeze,
    is_identically_zero,
    limits,
    nominal_array,
    numbers,
    rigid_pose,
    set_fields,
    unit_of,
)
from ocp.spelling import suggest_fields

GROUND = "ground"
LIMITED = {  # limits, and what they are of
    "position": "q",
    "velocity": "qd",
    "torque": "tau",
    "jerk": "qddd",
    "torque_rate": "tau_rate",
}


@suggest_fields
@dataclass(frozen=True, slots=True, kw_only=True)
class Joint:
    """The joint before a link.

    `home` (4x4, or a translation of 3), `screw` (6, None when fixed), limits as (lower, upper).
    Limits of `position`, `velocity` and `torque` are in rad or m, rad/s or m/s, N m or N, those of
    `jerk` and `torque_rate` in rad/s3 or m/s3, N m/s or N/s; one number b stands for (-b, b).
    Without a drive, not `actuated`, a joint's torque is zero. A `ball` has no screw and no limits;
    its coordinates are the components w, x, y, z of a quaternion of any length. A joint that
    `follows` a coordinate has one of its own only if that is it. One with a `unit` is a state of an
    element (`ocp.mechanics.elements.element_states`), and no joint of a tree. The constructors
    `revolute`, `prismatic`, `screw`, `ball`, `fixed` and `dh` spell the usual cases, `free`,
    `planar` and `universal` rows of joints. Raises ValueError naming the joint.
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
    ball: bool = False
    follows: Follows | None = None
    unit: str | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name or self.name == GROUND:
            raise ValueError(
                f"joint name: expected a non-empty string other than {GROUND!r}, got {self.name!r}"
            )
        label = f"joint {self.name!r}"
        set_fields(self, home=freeze(_pose_of(f"{label}: home", self.home)))
        if self.screw is not None:
            set_fields(
                self,
                screw=freeze(_unit_screw(label, numbers(f"{label}: screw", self.screw, (6,), ""))),
            )
        for what, quantity in LIMITED.items():
            unit = "" if self.kind == "fixed" else unit_of(self, quantity)
            set_fields(self, **{what: limits(f"{label}: {what} limits", getattr(self, what), unit)})
        _check_coordinates(label, self)

    @property
    def kind(self) -> str:
        """Return "fixed", "revolute", "prismatic", "screw", "ball", or "state" of an element's.

        Where entries are open it is what it remains whatever their parameters' values.
        """
        if self.unit is not None:
            return "state"
        if self.screw is None:
            return "ball" if self.ball else "fixed"
        return _kind(self.screw)

    @property
    def pitch(self) -> Number:
        """Advance per radian (m/rad) of a joint that turns: w . v."""
        return _pitch(self.screw)

    @property
    def anchor(self) -> np.ndarray:
        """Point of the joint axis nearest the link frame's origin (3, m, link frame).

        The origin itself if nothing turns. Stays put in parent and link alike when the joint turns,
        so joint reactions are taken about it.
        """
        if self.screw is None or self.kind == "prismatic":
            return np.zeros(3)
        return cross_arrays(array(self.screw[:3]), array(self.screw[3:]))


@lru_cache(maxsize=1024)
def _kind(screw: Numbers) -> str:
    """Return the kind of a joint with a screw."""
    if not any_nonzero(screw[:3]):
        return "prismatic"
    pitch = _pitch(screw)
    return "screw" if is_open(pitch) or abs(pitch) >= 1e-14 else "revolute"


def _pitch(screw: Numbers) -> Number:
    """Return the pitch of a screw (m/rad)."""
    return _open_pitch(screw) if is_open(screw) else float(np.dot(screw[:3], screw[3:]))


def revolute(
    name: str,
    parent: str = GROUND,
    *,
    axis: Numbers = (0.0, 0.0, 1.0),
    home: Numbers = (0.0, 0.0, 0.0),
    **options: Any,
) -> Joint:
    """Return a joint that turns about `axis` (unit, 3) through the link frame's origin.

    `options` are the other fields of Joint. Warns of limits that are likely in degrees.
    """
    screw = (*_direction(name, axis), 0.0, 0.0, 0.0)
    return _with_units_checked(Joint(name=name, parent=parent, home=home, screw=screw, **options))


def _with_units_checked(joint: Joint) -> Joint:
    """Return a joint after a warning of limits that are likely in degrees."""
    warn_of_degrees("position limits", [(joint, bound) for bound in joint.position])
    warn_of_degrees("velocity limits", [(joint, bound) for bound in joint.velocity], rates=True)
    return joint


def prismatic(
    name: str,
    parent: str = GROUND,
    *,
    axis: Numbers = (0.0, 0.0, 1.0),
    home: Numbers = (0.0, 0.0, 0.0),
    **options: Any,
) -> Joint:
    """Return a joint that slides along `axis` (unit, 3)."""
    screw = (0.0, 0.0, 0.0, *_direction(name, axis))
    return Joint(name=name, parent=parent, home=home, screw=screw, **options)


def screw(
    name: str,
    parent: str = GROUND,
    *,
    pitch: float,
    axis: Numbers = (0.0, 0.0, 1.0),
    home: Numbers = (0.0, 0.0, 0.0),
    **options: Any,
) -> Joint:
    """Return a joint that turns about `axis` and advances along it by `pitch` (m/rad).

    `options` are the other fields of Joint. Warns of limits that are likely in degrees.
    """
    turn = _direction(name, axis)
    advance = freeze(numbers(f"joint {name!r}: pitch", pitch, (), "m/rad")[()]) * turn
    screw = (*turn, *advance)
    return _with_units_checked(Joint(name=name, parent=parent, home=home, screw=screw, **options))


def ball(
    name: str, parent: str = GROUND, *, home: Numbers = (0.0, 0.0, 0.0), actuated: bool = True
) -> Joint:
    """Return a joint that turns any way about the link frame's origin, by a quaternion.

    Its coordinates are "NAME.w", "NAME.x", "NAME.y" and "NAME.z", of any common length; `actuated`
    says whether moments drive it.
    """
    return Joint(name=name, parent=parent, home=home, ball=True, actuated=actuated)


def free(
    name: str, parent: str = GROUND, *, home: Numbers = (0.0, 0.0, 0.0), actuated: bool = False
) -> tuple[Joint, Joint, Joint, Joint]:
    """Return the four joints by which a link moves any way: three slides and a ball.

    The slides are NAME_x, NAME_y and NAME_z along the axes of `home`, each with a link (massless)
    of its own, and the ball is NAME; `actuated` says whether they are driven.
    """
    ways = dict(zip("xyz", np.eye(3)))
    slides = make_slides(name, parent, home, ways, actuated)
    return (*slides, ball(name, slides[-1].name, actuated=actuated))  # type: ignore[return-value]


def planar(
    name: str, parent: str = GROUND, *, home: Numbers = (0.0, 0.0, 0.0), actuated: bool = False
) -> tuple[Joint, Joint, Joint]:
    """Return the three joints by which a link moves in the plane x, y of `home`.

    Slides NAME_x and NAME_y, each with a link (massless) of its own, and NAME, which turns about z;
    `actuated` says whether they are driven.
    """
    ways = dict(zip("xy", np.eye(3)))
    slides = make_slides(name, parent, home, ways, actuated)
    turn = revolute(name, slides[-1].name, actuated=actuated)
    return (*slides, turn)  # type: ignore[return-value]


def universal(
    name: str,
    parent: str = GROUND,
    *,
    axes: tuple[Sequence[float], Sequence[float]] = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0)),
    home: Numbers = (0.0, 0.0, 0.0),
    actuated: bool = True,
) -> tuple[Joint, Joint]:
    """Return the two joints by which a link turns about two crossing `axes` (unit, 3 each).

    NAME_1 about the first, with a link (massless) of its own, then NAME about the second, both
    `actuated` or not.
    """
    first = revolute(f"{name}_1", parent, axis=axes[0], home=home, actuated=actuated)
    return first, revolute(name, first.name, axis=axes[1], actuated=actuated)


def fixed(name: str, parent: str = GROUND, *, home: Numbers = (0.0, 0.0, 0.0)) -> Joint:
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
    before: Numbers = (0.0, 0.0, 0.0),
    **options: Any,
) -> Joint:
    """Return the joint of one row of a Denavit-Hartenberg table (standard convention; Xiang et al.
    2009, eqs. 1, 2).

    The row turns by `theta` (rad) about z and slides by `d` (m) along it, then slides by `a` (m)
    along x and turns by `alpha` (rad) about it. The variable of a joint of `kind` "revolute" adds
    to `theta`, that of a "prismatic" one to `d`. `before` is a constant pose (4x4, or a
    translation) between the parent's frame and the row. Warns of angles and limits that are likely
    in degrees.
    """
    if kind not in ("revolute", "prismatic"):
        raise ValueError(f"joint {name!r}: kind: expected 'revolute' or 'prismatic', got {kind!r}")
    entries = {"theta": (theta, "rad"), "d": (d, "m"), "a": (a, "m"), "alpha": (alpha, "rad")}
    given = {
        what: freeze(numbers(f"joint {name!r}: DH row: {what}", value, (), unit)[()])
        for what, (value, unit) in entries.items()
    }
    row = dh_pose(*given.values())
    axis = np.eye(6)[2 if kind == "revolute" else 5]
    home = _pose_of(f"joint {name!r}: before", before) @ row
    screw = tidy(move_screw(invert(row), axis))
    warn_of_angles((f"joint {name!r}: DH row: {what}", given[what]) for what in ("theta", "alpha"))
    return _with_units_checked(Joint(name=name, parent=parent, home=home, screw=screw, **options))


def make_slides(
    name: str, parent: str, home: Numbers, ways: Mapping[str, Numbers], actuated: bool
) -> tuple[Joint, ...]:
    """Return slides NAME_x, ..., one after the other, along `ways` {letter: direction (3)} in the
    axes of `home`; `actuated` says whether they are driven."""
    slides: list[Joint] = []
    for letter, axis in ways.items():
        slides.append(
            prismatic(
                f"{name}_{letter}",
                slides[-1].name if slides else parent,
                axis=axis,
                home=(0.0, 0.0, 0.0) if slides else home,
                actuated=actuated,
            )
        )
    return tuple(slides)


def _check_coordinates(label: str, joint: "Joint") -> None:
    """Raise ValueError for a ball with a screw or limits, and a follower of one kind or another
    that cannot follow."""
    limited = [what for what in LIMITED if getattr(joint, what) != (-inf, inf)]
    if joint.ball and (joint.screw is not None or joint.follows is not None):
        raise ValueError(f"{label}: a ball has no screw and follows no coordinate")
    if joint.follows is not None and not isinstance(joint.follows, Follows):
        raise ValueError(f"{label}: follows: expected a Follows record, got {joint.follows!r}")
    if joint.follows is not None and joint.screw is None:
        raise ValueError(f"{label}: is fixed, and cannot follow {joint.follows.coordinate!r}")
    leader = joint.name if joint.follows is None else joint.follows.coordinate
    if limited and (joint.ball or leader != joint.name):
        where = (
            "ball_limits(tree, joint, swing=.., twist=..) bounds how far it turns, constraints of "
            "the problem its moments and rates"
            if joint.ball
            else f"they belong to {leader!r}, which it follows"
        )
        raise ValueError(f"{label}: {', '.join(limited)} limits: it takes none; {where}")


def own_coordinates(joint: Joint) -> tuple[Joint, ...]:
    """Return the records of a joint's own coordinates: none, itself, or a ball's components."""
    if joint.ball:
        return _components(joint.name, joint.actuated)
    follows = joint.follows is not None and joint.follows.coordinate != joint.name
    return () if joint.screw is None or follows else (joint,)


@lru_cache(maxsize=512)
def _components(name: str, actuated: bool) -> tuple[Joint, ...]:
    return tuple(
        Joint(name=f"{name}.{letter}", parent=name, ball=True, actuated=actuated)
        for letter in COMPONENTS
    )


def explain_no_coordinate(joint: Joint) -> str:
    """Return in words why a joint has no coordinate of its name."""
    if joint.ball:
        names = ", ".join(f"{joint.name}.{letter}" for letter in COMPONENTS)
        return f"joint {joint.name!r} is a ball, whose coordinates are {names}"
    if joint.follows is not None:
        return f"joint {joint.name!r} has no coordinate: it follows {joint.follows.coordinate!r}"
    return f"joint {joint.name!r} is fixed and has no coordinate"


@lru_cache(maxsize=512)
def amplitude_joints(
    name: str, modes: tuple[str, ...], units: tuple[str, ...]
) -> tuple[Joint, ...]:
    """Return the passive joints that stand for the amplitudes of a flexible link's modes."""
    axes = {"m": (0.0, 0.0, 0.0, 1.0, 0.0, 0.0), "rad": (1.0, 0.0, 0.0, 0.0, 0.0, 0.0)}
    return tuple(
        Joint(name=f"{name}.{mode}", parent=name, screw=axes[unit], actuated=False)
        for mode, unit in zip(modes, units)
    )


def _direction(name: str, axis: Numbers) -> np.ndarray:
    """Return a joint's axis (3); raise ValueError naming the joint unless it is three numbers."""
    what = f"joint {name!r}: axis"
    if isinstance(axis, str) or np.shape(np.asarray(axis, dtype=object)) != (3,):
        raise ValueError(f"{what}: expected three numbers, as (0, 0, 1), got {axis!r}")
    return numbers(what, axis, (3,), "")


def _pose_of(what: str, value: Numbers) -> np.ndarray:
    if np.shape(np.asarray(value, dtype=object)) == (3,) and not any(
        np.ndim(entry) for entry in value
    ):
        return translate(*numbers(what, value, (3,), "m").tolist())
    return rigid_pose(what, value, "m")


def _unit_screw(label: str, value: np.ndarray) -> np.ndarray:
    here = nominal_array(value)
    angular, linear = np.linalg.norm(here[:3]), np.linalg.norm(here[3:])
    norm = angular if angular > 0 else linear
    axis = value[:3] if angular > 0 else value[3:]
    always = not is_open(axis) or is_identically_zero(axis @ axis - 1)
    if abs(norm - 1) > 1e-9 or not always:
        part = "angular" if angular > 0 else "linear"
        more = "" if always else " at its parameters' own values, and not at others"
        raise ValueError(
            f"{label}: the axis must have unit length; the {part} part of the screw has length "
            f"{norm:.9g}{more}"
        )
    return value if is_open(axis) else value / norm


@lru_cache(maxsize=512)
def _open_pitch(screw: tuple[Number, ...]) -> Number:
    pitch = np.dot(array(screw[:3]), array(screw[3:]))
    return 0.0 if is_identically_zero(pitch) else pitch
