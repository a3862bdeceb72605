"""Joints of OpenSim's models as rows of turns and slides.

The frame M of the child moves in the frame F of the parent. A CustomJoint slides along three axes
of F first and then turns about three axes, each of which the ones before have turned:

    X_FM = slide(f4 a4 + f5 a5 + f6 a6) turn(a1, f1) turn(a2, f2) turn(a3, f3)

with functions f of coordinates. Axes are normalised, those of slides too.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import TypeAlias

import casadi as ca
import numpy as np

from ocp.interchange.opensim.coordinates import Way, coordinates_of
from ocp.interchange.opensim.functions import (
    IDENTITY,
    Curve,
    function_in,
    stated_function,
    terms_in,
)
from ocp.interchange.opensim.properties import name_of, numbers_of, words_of
from ocp.interchange.root_joints import Row
from ocp.interchange.xml_elements import Element
from ocp.mechanics.kinematics.spatial import exp_screw, invert, move_screw, tidy
from ocp.mechanics.model.joints import Joint
from ocp.mechanics.model.quaternions_and_couplings import Follows, Polynomial
from ocp.mechanics.model.tree import Link
from ocp.mechanics.values.parameters import array

X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
STILL = (0.0, 0.0, 0.0)
AXES = ("translation1", "translation2", "translation3", "rotation1", "rotation2", "rotation3")
SLIDES = AXES[:3]


@dataclass(frozen=True, slots=True, kw_only=True)
class Motion:
    """A turn about an axis (rad), or a slide along it (m), by a curve of a coordinate.

    `axis` is a unit vector (3,), `name` what the file calls it; without a `coordinate` it stands
    still at the curve's value.
    """

    name: str
    axis: Sequence[float]
    turns: bool
    coordinate: str | None
    curve: Curve = IDENTITY


@dataclass(frozen=True, slots=True, kw_only=True)
class Seat:
    """A joint of a file between two bodies, with the poses (4x4) of its frames F and M on them.

    It is called by its `name`. One that is `turned` leads from its child to its parent in the tree.
    """

    name: str
    element: Element
    parent: str
    child: str
    home: np.ndarray
    on_child: np.ndarray
    turned: bool = False

    @property
    def reverse(self) -> "Seat":
        """The same joint with its parent and its child changed round."""
        return Seat(
            name=self.name,
            element=self.element,
            parent=self.child,
            child=self.parent,
            home=self.on_child,
            on_child=self.home,
            turned=not self.turned,
        )

    @property
    def motions(self) -> list[Motion]:
        """Its turns and slides, from the parent to the child.

        Raises ValueError naming a joint of another class.
        """
        joint = self.element
        if joint.tag not in KINDS:
            raise joint.wrong(
                f"joints of this class are not read, but {', '.join(KINDS)}; put a CustomJoint in "
                "its place"
            )
        motions = KINDS[joint.tag](joint)
        if not self.turned:
            return motions
        return [
            replace(each, axis=tuple(-entry for entry in each.axis)) for each in reversed(motions)
        ]


def _plain(kinds: str, order: Sequence[int], turns: str) -> Callable[[Element], list[Motion]]:
    """Return the reader of a joint whose coordinates are its turns and slides.

    Args:
        kinds: axis letters, slides before turns.
        order: which coordinate moves each.
        turns: of each "t" for a turn, "s" for a slide.
    """

    def motions(joint: Element) -> list[Motion]:
        names = coordinate_names(joint, len(kinds))
        axes = dict(zip("xyz", (X, Y, Z)))
        return [
            Motion(
                name=f"{'rotation' if kind == 't' else 'translation'}_{letter}",
                axis=axes[letter],
                turns=kind == "t",
                coordinate=names[number],
            )
            for letter, number, kind in zip(kinds, order, turns)
        ]

    return motions


def coordinate_names(joint: Element, count: int | None = None) -> list[str]:
    """Return the names of a joint's coordinates; those of OpenSim where it states none."""
    stated = coordinates_of(joint, count)
    if not stated and count:
        label = joint.attributes.get("name") or joint.tag
        return [f"{label}_coord_{k}" for k in range(count)]
    return [name_of(each) for each in stated]


def _ellipsoid(joint: Element) -> list[Motion]:
    """Return three turns; on a ball of one radius the child stands off along its z axis."""
    radii = numbers_of(joint, "radii_x_y_z", 3)
    if max(radii) != min(radii):
        raise joint.wrong(
            f"<radii_x_y_z>: only equal radii are read, got {radii}; put a CustomJoint in its place"
        )
    off = Motion(name="radius", axis=Z, turns=False, coordinate=None, curve=Polynomial((radii[0],)))
    return [*_plain("xyz", (0, 1, 2), "ttt")(joint), off]


def _custom(joint: Element) -> list[Motion]:
    """Return the motions of a CustomJoint, slides first."""
    transform = joint.child("SpatialTransform")
    stated: dict[str, Element] = {}
    for each in transform.every("TransformAxis"):
        name = each.attributes.get("name", "")
        if name not in AXES or name in stated:
            raise each.wrong(f"name: expected each of {', '.join(AXES)} once at most")
        stated[name] = each
    own = coordinate_names(joint)
    motions = [
        each for name in AXES if name in stated for each in _axis_motions(stated[name], name, own)
    ]
    unused = [name for name in own if all(each.coordinate != name for each in motions)]
    if unused:
        raise joint.wrong(f"coordinate {unused[0]!r} moves nothing; leave it out")
    return motions


def _axis_motions(element: Element, name: str, own: Sequence[str]) -> list[Motion]:
    """Return the motion about or along an axis, or for a sum of functions of a coordinate each one
    after the other."""
    coordinates = words_of(element, "coordinates", "coordinate")
    for each in coordinates:
        if each not in own:
            raise element.wrong(f"coordinate {each!r} is none of the joint's, {', '.join(own)}")
    if len(coordinates) > 1:
        curves = _summands(element, coordinates)
    else:
        curve = function_in(element, "function")
        if curve is None:
            curve = IDENTITY if coordinates else Polynomial((0.0,))
        curves = {coordinates[0] if coordinates else None: curve}
    default = (X, Y, Z)[AXES.index(name) % 3]
    axis = np.array(numbers_of(element, "axis", 3, default))
    size, turns = float(np.linalg.norm(axis)), name not in SLIDES
    if not size:
        raise element.wrong("axis: expected a direction, got zeros")
    return [
        Motion(
            name=name if len(curves) == 1 else f"{name}_{coordinate or 'rest'}",
            axis=tuple((axis / size).tolist()),
            turns=turns,
            coordinate=coordinate,
            curve=curve,
        )
        for coordinate, curve in curves.items()
    ]


def _summands(element: Element, coordinates: Sequence[str]) -> dict[str | None, Curve]:
    """Return {coordinate: its curve} of an axis by several coordinates, None for a constant."""
    stated = stated_function(element, "function")
    terms = None if stated is None else terms_in(stated, len(coordinates))
    if terms is None or terms.mixed or len({*coordinates}) < len(coordinates):
        raise element.wrong(
            f"of {', '.join(coordinates)} a sum of functions of one coordinate each is read, by "
            "LinearFunction or MultivariatePolynomialFunction; put a CoordinateCouplerConstraint "
            "and functions of one in its place"
        )
    curves: dict[str | None, Curve] = {None: Polynomial((terms.constant,))}
    curves |= {name: terms.of_one(k) for k, name in enumerate(coordinates)}
    return curves


Steps: TypeAlias = list[tuple[np.ndarray, Motion]]  # motions, each after a pose (4x4)
KINDS: dict[str, Callable[[Element], list[Motion]]] = {
    "WeldJoint": lambda joint: [],
    "PinJoint": _plain("z", (0,), "t"),
    "SliderJoint": _plain("x", (0,), "s"),
    "UniversalJoint": _plain("xy", (0, 1), "tt"),
    "BallJoint": _plain("xyz", (0, 1, 2), "ttt"),
    "GimbalJoint": _plain("xyz", (0, 1, 2), "ttt"),
    "PlanarJoint": _plain("xyz", (1, 2, 0), "sst"),
    "FreeJoint": _plain("xyzxyz", (3, 4, 5, 0, 1, 2), "sssttt"),
    "EllipsoidJoint": _ellipsoid,
    "CustomJoint": _custom,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Moving:
    """What is known of a model's coordinates: their ways by name, the range (rad or m) of each, and
    the limits (N m or N) of those that are driven."""

    ways: Mapping[str, Way]
    ranges: Mapping[str, tuple[float, float]]
    drives: Mapping[str, tuple[float, float]]


def row_of_joint(seat: Seat, link: Link, moving: Moving) -> Row:
    """Return the joints of a file's joint, and the links that they carry, the last the body.

    The first that turns or slides by a coordinate alone is called as that; every other by the
    file's joint and axis, and follows a coordinate.
    """
    steps, tail = _steps(seat, moving.ways)
    if not steps:
        home = seat.home @ tail @ invert(seat.on_child)
        return [Joint(name=f"{seat.name}_weld", parent=seat.parent, home=home)], [link]
    carriers = _carriers(seat, steps, moving.ways)
    joints: list[Joint] = []
    links: list[Link] = []
    home = seat.home
    for k, (before, motion) in enumerate(steps):
        last = k == len(steps) - 1
        after = tail @ invert(seat.on_child) if last else np.eye(4)
        home = home @ before
        parent = links[-1].name if links else seat.parent
        own = carriers.get(motion.coordinate or "") is motion
        joint = _joint(seat, motion, str(parent), own, moving)
        if last:
            screw = move_screw(invert(after), np.array(joint.screw))
            joint = replace(joint, home=home @ array(joint.home) @ after, screw=tidy(screw))
        else:
            joint = replace(joint, home=home @ array(joint.home))
        joints.append(joint)
        links.append(link if last else Link(name=f"{seat.name}_{motion.name}"))
        home = np.eye(4)
    return joints, links


def _steps(
    seat: Seat, ways: Mapping[str, Way]
) -> tuple[list[tuple[np.ndarray, Motion]], np.ndarray]:
    """Return the motions of a joint that move, each after a pose (4x4), and the pose after them."""
    steps: Steps = []
    still = np.eye(4)
    for motion in seat.motions:
        way = (
            Way(leader=None, curve=motion.curve)
            if motion.coordinate is None
            else _way(ways, motion.coordinate).of(motion.curve)
        )
        if way.leader is None:
            still = still @ _pose_at(motion, way.value)
        else:
            steps.append((still, replace(motion, coordinate=way.leader, curve=way.curve)))
            still = np.eye(4)
    return steps, still


def _way(ways: Mapping[str, Way], name: str) -> Way:
    """Return the Way of a coordinate; one that the file does not state is free."""
    return ways.get(name, Way(leader=name, curve=IDENTITY))


def _carriers(seat: Seat, steps: Steps, ways: Mapping[str, Way]) -> dict[str, Motion]:
    """Return {coordinate: the motion that carries it}, of a joint's own free coordinates."""
    carriers: dict[str, Motion] = {}
    for name in dict.fromkeys(each.coordinate for each in seat.motions):
        if name is None or _way(ways, name).leader != name:
            continue
        moved = [motion for _, motion in steps if motion.coordinate == name]
        if not moved:
            raise seat.element.wrong(f"coordinate {name!r} moves nothing; leave it out or lock it")
        carriers[name] = next((each for each in moved if _unit_line(each.curve)), moved[0])
    return carriers


def _unit_line(curve: Curve) -> bool:
    """Tell whether a curve is x or -x, and a number beside it."""
    if not isinstance(curve, Polynomial) or len(curve.coefficients) < 2:
        return False
    return abs(curve.coefficients[1]) == 1 and not any(curve.coefficients[2:])


def _joint(seat: Seat, motion: Motion, parent: str, own: bool, moving: Moving) -> Joint:
    """Return the joint of a motion, its link in the frame that the motion moves."""
    axis, name = np.array(motion.axis), str(motion.coordinate)
    screw = np.array([*axis, *STILL] if motion.turns else [*STILL, *axis])
    home, follows = np.eye(4), None
    if own and isinstance(motion.curve, Polynomial) and _unit_line(motion.curve):
        offset, slope = motion.curve.coefficients[:2]
        home, screw = _pose_at(motion, offset), screw * slope
    else:
        follows = Follows(coordinate=name, function=motion.curve)
    called = name if own else f"{seat.name}_{motion.name}"
    joint = Joint(name=called, parent=parent, home=home, screw=screw, follows=follows)
    if not own:
        return joint
    drive = moving.drives.get(name)
    limited = replace(
        joint, position=moving.ranges.get(name, (-inf, inf)), actuated=drive is not None
    )
    return limited if drive is None else replace(limited, torque=drive)


def _pose_at(motion: Motion, value: float) -> np.ndarray:
    """Return the pose (4x4) of a motion at a value (rad or m)."""
    screw = np.array([*motion.axis, *STILL] if motion.turns else [*STILL, *motion.axis])
    pose: np.ndarray = np.array(ca.DM(exp_screw(screw, value)))
    return pose
