"""The arm UR5 of Universal Robots, series 3, with the data that its maker publishes.

Masses and centres: support article "DH parameters for calculations of kinematics and dynamics".
Inertias: the maker's own description of the robot (Universal_Robots_ROS2_Description,
config/ur5/physical_parameters.yaml), which takes each link for a solid cylinder, since none
measured are published; they leave out the rotors of drives and gears. Limits: user manual UR5/CB3
version 3.13 and support article "Max. joint torques" (as config/ur5/joint_limits.yaml there).
"""

from math import pi

import numpy as np

from ocp import Link, Point, Tree, dh
from ocp.mechanics import GROUND

NAMES = ("shoulder pan", "shoulder lift", "elbow", "wrist 1", "wrist 2", "wrist 3")
# d (m), a (m), alpha (CB3 user manual, robot parameters, table "UR5 serie 3")
ROWS = (
    (0.089159, 0, pi / 2),
    (0, -0.425, 0),
    (0, -0.39225, 0),
    (0.10915, 0, pi / 2),
    (0.09465, 0, -pi / 2),
    (0.0823, 0, 0),
)
# kg, and m in the frames of the table
MASSES = (3.7, 8.393, 2.33, 1.219, 1.219, 0.1879)
COMS = (
    (0, -0.02561, 0.00193),
    (0.2125, 0, 0.11336),
    (0.15, 0, 0.0265),
    (0, -0.0018, 0.01634),
    (0, 0.0018, 0.01634),
    (0, 0, -0.001159),
)
# kg m2 about the centre, across a cylinder and about its axis, and which axis of the frame that is
CYLINDERS = (
    (0.014972358333333331, 0.01040625, "y"),
    (0.13388583541666665, 0.0151074, "x"),
    (0.031216803515624995, 0.004095, "x"),
    (0.002013889583333333, 0.0021942, "y"),
    (0.0018310395833333333, 0.0021942, "y"),
    (8.062475833333332e-05, 0.0001321171875, "z"),
)
TURN, ELBOW = 2 * pi, pi  # rad; the elbow's halved there, since the upper arm is in its way
SPEED = pi  # rad/s
TORQUES = (150.0, 150.0, 150.0, 28.0, 28.0, 28.0)  # N m


def ur5(torque: float = 1.0, speed: float = 1.0) -> Tree:
    """Return the arm standing on the ground, z up; its point "tool" is the flange's centre.

    `torque`, `speed`: the limits used, as parts of the maker's.
    """
    bodies = (
        Link(mass=mass, com=com, inertia=_moments(*cylinder))
        for mass, com, cylinder in zip(MASSES, COMS, CYLINDERS)
    )
    joints = (
        dh(
            name,
            NAMES[k - 1] if k else GROUND,
            d=d,
            a=a,
            alpha=alpha,
            position=ELBOW if name == "elbow" else TURN,
            velocity=speed * SPEED,
            torque=torque * most,
        )
        for k, (name, (d, a, alpha), most) in enumerate(zip(NAMES, ROWS, TORQUES))
    )
    return Tree(
        links=tuple(bodies),
        joints=tuple(joints),
        points=(Point(name="tool", link=NAMES[-1]),),
        gravity=(0, 0, -9.81),
    )


def _moments(across: float, about: float, axis: str) -> np.ndarray:
    """Return the inertia (3x3, kg m2) of a cylinder along an axis of the link's frame."""
    return np.diag([about if name == axis else across for name in "xyz"])
