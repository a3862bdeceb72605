"""The acrobot: two links in a vertical plane with a motor at the elbow alone (Spong 1995)."""

from ocp.mechanics.joints import revolute
from ocp.mechanics.tree import Link, Point, Tree

MASSES, LENGTHS, CENTRES, INERTIAS, GRAVITY = (
    (1.0, 1.0),
    (1.0, 2.0),
    (0.5, 1.0),
    (0.083, 0.33),
    9.8,
)  # kg, m, m, kg m2, m/s2


def acrobot(torque=float("inf")):
    """Return the tree: angles relative, the first from x, with y up; `torque`: limit at the elbow (N m)."""
    shoulder, elbow = (
        Link(mass=mass, com=(centre, 0, 0), inertia=((0, 0, 0), (0, inertia, 0), (0, 0, inertia)))
        for mass, centre, inertia in zip(MASSES, CENTRES, INERTIAS)
    )
    return Tree(
        links=(shoulder, elbow),
        joints=(
            revolute("shoulder", actuated=False),
            revolute("elbow", "shoulder", home=(LENGTHS[0], 0, 0), torque=torque),
        ),
        points=(Point(name="tip", link="elbow", position=(LENGTHS[1], 0, 0)),),
        gravity=(0.0, -GRAVITY, 0.0),
    )
