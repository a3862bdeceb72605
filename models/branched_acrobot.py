"""An acrobot with two driven legs at the tip of a passive trunk, as in Sohl & Bobrow (2001), fig. 7, which prints no parameters."""

import numpy as np

from ocp.mechanics.joints import revolute
from ocp.mechanics.spatial import rotate_z
from ocp.mechanics.tree import Link, Point, Tree

LENGTH, TRUNK, LEG, SPREAD, GRAVITY = (
    1.0,
    1.0,
    0.5,
    np.deg2rad(30.0),
    9.81,
)  # m, kg, kg, rad, m/s2: chosen, uniform rods


def branched_acrobot(torque=float("inf")):
    """Return the tree: the trunk's angle from x, with y up, the legs' from 30 degrees to either side; `torque`: limit at the legs (N m)."""

    def rod(mass):
        inertia = mass * LENGTH**2 / 12
        return Link(
            mass=mass, com=(LENGTH / 2, 0, 0), inertia=((0, 0, 0), (0, inertia, 0), (0, 0, inertia))
        )

    def leg(name, angle):
        home = np.array(rotate_z(angle), dtype=float)
        home[0, 3] = LENGTH
        return revolute(name, "trunk", home=home, torque=torque)

    return Tree(
        links=(rod(TRUNK), rod(LEG), rod(LEG)),
        joints=(revolute("trunk", actuated=False), leg("left", SPREAD), leg("right", -SPREAD)),
        points=tuple(
            Point(name=f"{name} foot", link=name, position=(LENGTH, 0, 0))
            for name in ("left", "right")
        ),
        gravity=(0.0, -GRAVITY, 0.0),
    )
