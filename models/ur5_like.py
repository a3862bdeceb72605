"""An arm of six joints like the UR5 of Universal Robots."""

from math import pi

import numpy as np

from ocp import Link, Tree, dh
from ocp.mechanics import GROUND

# d (m), a (m), alpha (CB3 user manual, robot parameters, table "UR5 serie 3")
ROWS = (
    (0.089159, 0, pi / 2),
    (0, -0.425, 0),
    (0, -0.39225, 0),
    (0.10915, 0, pi / 2),
    (0.09465, 0, -pi / 2),
    (0.0823, 0, 0),
)
# kg and m: those that its maker publishes (as in Corke's Robotics Toolbox, mdl_ur5)
MASSES = (3.7, 8.393, 2.33, 1.219, 1.219, 0.1879)
COMS = (
    (0, -0.02561, 0.00193),
    (0.2125, 0, 0.11336),
    (0.15, 0, 0.0265),
    (0, -0.0018, 0.01634),
    (0, 0.0018, 0.01634),
    (0, 0, -0.001159),
)
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
