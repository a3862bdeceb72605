"""Planar arm of two equal uniform rods, for the example of Sohl & Bobrow (2001), section 5.1.

That prints no parameters: those here are chosen so that the printed pair of costs is near.
"""

from ocp import Point, Tree, revolute
from ocp.models.flat import flat

MASS, LENGTH, GRAVITY = 0.5, 1.0, 9.81  # kg, m, m/s2


def two_rods(mass: float = MASS) -> Tree:
    """Return the tree: angles relative, the first from x, with y up; `mass` of each rod (kg)."""
    rod = flat(mass, (LENGTH / 2, 0.0), mass * LENGTH**2 / 12)
    return Tree(
        links=(rod, rod),
        joints=(revolute("shoulder"), revolute("elbow", "shoulder", home=(LENGTH, 0, 0))),
        points=(Point(name="tip", link="elbow", position=(LENGTH, 0, 0)),),
        gravity=(0.0, -GRAVITY, 0.0),
    )
