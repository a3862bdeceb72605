"""A planar biped of five links with point feet: the robot RABBIT.

Its numbers are those of Westervelt, Grizzle & Koditschek (2003) as Kelly (2017, appendix) has them:
his centre of mass of the torso is 0.2 m below the shoulders. The root floats: two slides and a
turn that nothing drives.
"""

from dataclasses import dataclass
from math import pi
from typing import Any

from ocp import Joint, Link, Point, Tree, prismatic, revolute
from ocp.models.flat import flat

GRAVITY = 9.81  # m/s2
SIDES = ("left", "right")


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """A flat link: mass (kg), length (m), centre of mass (m) from its joint with the body, inertia
    about it (kg m2)."""

    mass: Any
    length: Any
    centre: Any
    inertia: Any


TORSO = Segment(mass=20.0, length=0.625, centre=0.425, inertia=2.22)
THIGH = Segment(mass=6.8, length=0.4, centre=0.163, inertia=1.08)
SHANK = Segment(mass=3.2, length=0.4, centre=0.128, inertia=0.93)


def five_link(
    torque: float = 100.0,
    torso: Segment = TORSO,
    thigh: Segment = THIGH,
    shank: Segment = SHANK,
    extension: float = 0.0,
) -> Tree:
    """Return the tree in the x-y plane, forward along x, with y up.

    Coordinates are the hip's place x, y (m), the torso's lean backward from the vertical, and hip
    and knee (rad) of the left and of the right leg, each from the link before: all angles are
    positive about z, knees bend backward to negative ones. `torque`: limit at hips and knees (N m);
    `extension`: how far knees bend forward (rad).
    """
    legs = [leg(f"{side} hip", f"{side} knee", thigh, torque, extension) for side in SIDES]
    return Tree(
        links=(Link(), Link(), upright(torso), *2 * (hanging(thigh), hanging(shank))),
        joints=(*planar_root(), *legs[0], *legs[1]),
        points=(
            Point(name="shoulder", link="torso", position=(0, torso.length, 0)),
            *(foot(f"{side} foot", f"{side} knee", shank) for side in SIDES),
        ),
        gravity=(0.0, -GRAVITY, 0.0),
    )


def planar_root() -> tuple[Joint, Joint, Joint]:
    """Return the joints of a torso that floats in the x-y plane: two slides and its turn."""
    return (
        prismatic("x", axis=(1.0, 0.0, 0.0), actuated=False),
        prismatic("y", "x", axis=(0.0, 1.0, 0.0), actuated=False),
        revolute("torso", "y", actuated=False),
    )


def leg(
    hip: str, knee: str, thigh: Segment, torque: float, extension: float = 0.0
) -> tuple[Joint, Joint]:
    """Return the driven hip, at the torso's origin, and the knee, both straight at zero."""
    home = (0, -thigh.length, 0)
    return (
        revolute(hip, "torso", torque=torque),
        revolute(knee, hip, home=home, position=(-pi, extension), torque=torque),
    )


def foot(name: str, knee: str, shank: Segment) -> Point:
    """Return the point at the shank's end."""
    return Point(name=name, link=knee, position=(0, -shank.length, 0))


def upright(segment: Segment) -> Link:
    """Return the link that stands on its joint."""
    return flat(segment.mass, (0.0, segment.centre), segment.inertia)


def hanging(segment: Segment) -> Link:
    """Return the link that hangs from its joint."""
    return flat(segment.mass, (0.0, -segment.centre), segment.inertia)
