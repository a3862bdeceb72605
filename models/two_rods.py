"""Planar arm of two equal uniform rods, for the example of Sohl & Bobrow (2001), section 5.1, which prints no parameters."""

from ocp.mechanics.joints import revolute
from ocp.mechanics.tree import Link, Point, Tree

MASS, LENGTH, GRAVITY = (
    0.5,
    1.0,
    9.81,
)  # kg, m, m/s2: chosen, so that the printed pair of costs is near


def two_rods():
    """Return the tree: angles relative, the first from x, with y up."""
    inertia = MASS * LENGTH**2 / 12
    rod = Link(
        mass=MASS, com=(LENGTH / 2, 0, 0), inertia=((0, 0, 0), (0, inertia, 0), (0, 0, inertia))
    )
    return Tree(
        links=(rod, rod),
        joints=(revolute("shoulder"), revolute("elbow", "shoulder", home=(LENGTH, 0, 0))),
        points=(Point(name="tip", link="elbow", position=(LENGTH, 0, 0)),),
        gravity=(0.0, -GRAVITY, 0.0),
    )
