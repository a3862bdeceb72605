"""An acrobot with two driven legs at the tip of a passive trunk, after Sohl & Bobrow (2001).

It is that of their figure 7, which prints no parameters: those here are chosen, of uniform rods.
"""

from math import inf

import numpy as np

from ocp import Joint, Link, Point, Tree, revolute
from ocp.mechanics import rotate_z
from ocp.models.flat import flat

LENGTH, TRUNK, LEG = 1.0, 1.0, 0.5  # m, kg, kg
SPREAD, GRAVITY = np.deg2rad(30.0), 9.81  # rad, m/s2
SIDES = {"left": SPREAD, "right": -SPREAD}  # how far a leg leans from the trunk


def branched_acrobot(torque: float = inf) -> Tree:
    """Return the tree: the trunk's angle from x, with y up, the legs' from the trunk.

    A leg's is 0 at 30 degrees to its side. `torque`: limit at the legs (N m).
    """
    feet = [Point(name=f"{name} foot", link=name, position=(LENGTH, 0, 0)) for name in SIDES]
    return Tree(
        links=(_rod(TRUNK), _rod(LEG), _rod(LEG)),
        joints=(
            revolute("trunk", actuated=False),
            *(_leg(name, angle, torque) for name, angle in SIDES.items()),
        ),
        points=feet,
        gravity=(0.0, -GRAVITY, 0.0),
    )


def _rod(mass: float) -> Link:
    return flat(mass, (LENGTH / 2, 0.0), mass * LENGTH**2 / 12)


def _leg(name: str, angle: float, torque: float) -> Joint:
    home = np.array(rotate_z(angle), dtype=float)
    home[0, 3] = LENGTH
    return revolute(name, "trunk", home=home, torque=torque)
