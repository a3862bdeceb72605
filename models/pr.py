"""Planar arm with a sliding and a turning joint of Barman (2020), tables 4.3 and 4.4."""

from math import pi

from ocp.mechanics.joints import GROUND, dh
from ocp.mechanics.tree import Link, Point, Tree

LENGTH, MASS, INERTIA = (
    0.4,
    0.5,
    0.1,
)  # m, kg, kg m2 about the centre of mass (Barman 2020, table 4.4)


def pr(force=10.0, torque=10.0):
    """Return the arm: link 1 slides along the global z axis, link 2 turns in a plane that holds it; no gravity acts.

    `force`: limit of the slide (N); `torque`: limit of the hinge (N m). The table is read literally: theta_2 = pi/2 + q_2, so that link 2
    lies along the slide at q_2 = 0.
    """
    slider = Link(
        mass=MASS, com=(0, -LENGTH / 2, 0), inertia=((INERTIA, 0, 0), (0, 0, 0), (0, 0, INERTIA))
    )
    arm = Link(
        mass=MASS, com=(-LENGTH / 2, 0, 0), inertia=((0, 0, 0), (0, INERTIA, 0), (0, 0, INERTIA))
    )
    return Tree(
        links=(slider, arm),
        joints=(
            dh("slide", GROUND, theta=pi / 2, alpha=pi / 2, kind="prismatic", torque=force),
            dh("hinge", "slide", theta=pi / 2, a=LENGTH, torque=torque),
        ),
        points=(Point(name="tip", link="hinge"),),
    )
