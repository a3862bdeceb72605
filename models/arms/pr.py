"""Planar arm with a sliding and a turning joint of Barman (2020), tables 4.3 and 4.4."""

from math import pi

import numpy as np

from ocp import Link, Point, Tree, dh
from ocp.mechanics import GROUND
from ocp.models.flat import flat

LENGTH, MASS = 0.4, 0.5  # m, kg (Barman 2020, table 4.4)
INERTIA = 0.1  # kg m2 about the centre of mass (the same)
GRAVITY = 9.81  # m/s2, across the plane


def pr(force: float = 10.0, torque: float = 10.0) -> Tree:
    """Return the arm: link 1 slides along the global z axis, link 2 turns in a plane that holds it.

    The plane is horizontal (section 4.2): gravity acts across it, along the global -x, so that the
    joints bear the links' weight. `force`: limit of the slide (N); `torque`: limit of the hinge
    (N m). The table is read literally: theta_2 = pi/2 + q_2, so that link 2 lies along the slide at
    q_2 = 0.
    """
    slider = Link(mass=MASS, com=(0, -LENGTH / 2, 0), inertia=np.diag((INERTIA, 0.0, INERTIA)))
    return Tree(
        links=(slider, flat(MASS, (-LENGTH / 2, 0.0), INERTIA)),
        joints=(
            dh("slide", GROUND, theta=pi / 2, alpha=pi / 2, kind="prismatic", torque=force),
            dh("hinge", "slide", theta=pi / 2, a=LENGTH, torque=torque),
        ),
        points=(Point(name="tip", link="hinge"),),
        gravity=(-GRAVITY, 0.0, 0.0),
    )
