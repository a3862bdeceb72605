"""The acrobot: two links in a vertical plane with a motor at the elbow alone (Spong 1995)."""

from math import inf

from ocp import Point, Tree, revolute
from ocp.models.flat import flat

MASSES, LENGTHS, CENTRES = (1.0, 1.0), (1.0, 2.0), (0.5, 1.0)  # kg, m, m
INERTIAS, GRAVITY = (0.083, 0.33), 9.8  # kg m2, m/s2


def acrobot(torque: float = inf) -> Tree:
    """Return the tree: angles relative, the first from x, with y up.

    `torque`: limit at the elbow (N m).
    """
    coms = [(centre, 0.0) for centre in CENTRES]
    return Tree(
        links=tuple(map(flat, MASSES, coms, INERTIAS)),
        joints=(
            revolute("shoulder", actuated=False),
            revolute("elbow", "shoulder", home=(LENGTHS[0], 0, 0), torque=torque),
        ),
        points=(Point(name="tip", link="elbow", position=(LENGTHS[1], 0, 0)),),
        gravity=(0.0, -GRAVITY, 0.0),
    )
