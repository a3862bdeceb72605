"""Planar two-link arm of Xiang, Arora & Abdel-Malek (2009) and of Barman (2020).

Its numbers are those of their tables 1 and 2, and 4.1 and 4.2.
"""

from ocp import Point, Tree, dh
from ocp.mechanics import GROUND
from ocp.models.flat import flat

LENGTH, MASS = 0.4, 0.5  # m, kg (Xiang et al. 2009, table 1)
INERTIA = 0.1  # kg m2 about the centre of mass (the same)


def two_link(torque: float = 10.0, gravity: float = 0.0, across: float = 0.0) -> Tree:
    """Return the arm in the x-y plane, angles relative, the first from x.

    `torque`: limit at both joints (N m); `gravity`: strength along -y (m/s2); `across`: strength
    along -z (m/s2), where the plane is horizontal and the joints bear the links' weight.
    """
    link = flat(MASS, (-LENGTH / 2, 0.0), INERTIA)
    return Tree(
        links=(link, link),
        joints=(
            dh("shoulder", GROUND, a=LENGTH, torque=torque),
            dh("elbow", "shoulder", a=LENGTH, torque=torque),
        ),
        points=(Point(name="tip", link="elbow"),),
        gravity=(0.0, -gravity, -across),
    )
