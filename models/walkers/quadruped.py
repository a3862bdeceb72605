"""A planar quadruped, as a trotting dog seen from the side: MIT's Mini Cheetah.

Its numbers are those that its makers publish (Katz, Di Carlo & Kim 2019; Cheetah-Software,
MiniCheetah.h), of motion in the sagittal plane: the links at the hips go with the trunk, and rotors
are left out. The root floats: two slides and a turn that nothing drives.
"""

from math import acos, pi

from ocp import Joint, Link, Tree, revolute
from ocp.models.flat import flat
from ocp.models.walkers.five_link import Segment, foot, hanging, planar_root

GRAVITY = 9.81  # m/s2
TORQUE = 17.0  # N m, at its peak (Katz et al. 2019)
HALF = 0.19  # m, from the middle of the trunk to the hips
TRUNK_MASS, TRUNK_INERTIA = 3.3, 0.036203  # kg, kg m2 about the lateral axis
HIP_MASS, HIP_INERTIA = 0.54, 560e-6  # of each link between trunk and thigh
THIGH = Segment(mass=0.634, length=0.209, centre=0.02, inertia=2103e-6)
SHANK = Segment(mass=0.064, length=0.195, centre=0.061, inertia=248e-6)
LEGS = {"left fore": HALF, "right fore": HALF, "left hind": -HALF, "right hind": -HALF}  # m
FEET = tuple(f"{name} foot" for name in LEGS)


def quadruped(torque: float = TORQUE, gravity: float = GRAVITY) -> Tree:
    """Return the tree in the x-y plane, forward along x, with y up.

    Coordinates are the trunk's middle x, y (m) and its pitch, nose up, then hip and knee (rad) of
    each leg, from the link before: knees bend backward to negative angles. `torque`: limit at hips
    and knees (N m); `gravity`: its strength, down (m/s2).
    """
    joints = [joint for name, place in LEGS.items() for joint in _leg(name, place, torque)]
    return Tree(
        links=(Link(), Link(), _trunk(), *4 * (hanging(THIGH), hanging(SHANK))),
        joints=(*planar_root(), *joints),
        points=[foot(f"{name} foot", f"{name} knee", SHANK) for name in LEGS],
        gravity=(0.0, -gravity, 0.0),
    )


def exchanged() -> tuple[int, ...]:
    """Return the exchange of coordinates where left and right legs change places."""
    return (0, 1, 2, 5, 6, 3, 4, 9, 10, 7, 8)


def standing(height: float = 0.3, x: float = 0.0) -> tuple[float, ...]:
    """Return the posture (11) that stands still with its feet under its hips; `height` (m) of
    these, `x` (m) of the trunk's middle."""
    upper, lower = THIGH.length, SHANK.length
    knee = pi - _angle(upper, lower, height)
    hip = _angle(upper, height, lower)
    return (x, height, 0.0, *4 * (hip, -knee))


def _angle(one: float, other: float, opposite: float) -> float:
    """Return the angle between two sides of a triangle."""
    return acos((one**2 + other**2 - opposite**2) / (2 * one * other))


def _trunk() -> Link:
    """Return the trunk with the links at its hips."""
    inertia = TRUNK_INERTIA + 4 * (HIP_INERTIA + HIP_MASS * HALF**2)
    return flat(TRUNK_MASS + 4 * HIP_MASS, (0.0, 0.0), inertia)


def _leg(name: str, place: float, torque: float) -> tuple[Joint, Joint]:
    hip, knee = f"{name} hip", f"{name} knee"
    down = (0, -THIGH.length, 0)
    return (
        revolute(hip, "torso", home=(place, 0, 0), position=(-pi / 2, pi / 2), torque=torque),
        revolute(knee, hip, home=down, position=(-0.9 * pi, -0.1), torque=torque),
    )
