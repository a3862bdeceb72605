"""An arm of six joints like the UR5 of Universal Robots, on which operations are counted."""

import numpy as np

from ocp import Link, Tree, dh
from ocp.mechanics import GROUND
from ocp.models.arms.ur5 import COMS, MASSES, ROWS

# kg m2, about the centres of mass: rough [assumed]
MOMENTS = (
    (0.0067, 0.0064, 0.0067),
    (0.0149, 0.3564, 0.3553),
    (0.0025, 0.0551, 0.0546),
    (0.0012, 0.0012, 0.0009),
    (0.0012, 0.0012, 0.0009),
    (0.0001, 0.0001, 0.0001),
)


def ur5_like() -> Tree:
    """Return the arm standing on the ground, z up, without limits."""
    return Tree(
        links=[
            Link(mass=mass, com=com, inertia=np.diag(moment))
            for mass, com, moment in zip(MASSES, COMS, MOMENTS)
        ],
        joints=[
            dh(f"joint{k}", f"joint{k - 1}" if k else GROUND, d=d, a=a, alpha=alpha)
            for k, (d, a, alpha) in enumerate(ROWS)
        ],
        gravity=(0, 0, -9.81),
    )
