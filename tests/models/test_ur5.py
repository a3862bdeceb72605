"""The UR5 by Denavit and Hartenberg's rows is the robot of its maker's own description, whose links
have other frames; and its torques at rest are those of a lever."""

from math import pi

import casadi as ca
import numpy as np
import pytest

from ocp import Link, Tree, revolute
from ocp.dynamics import FORMULATIONS
from ocp.mechanics import GROUND
from ocp.models.arms.ur5 import MASSES, NAMES, TORQUES, ur5

# Universal_Robots_ROS2_Description, config/ur5: origins of links (m, then roll, pitch, yaw), ...
ORIGINS = (
    ((0, 0, 0.089159), (0, 0, 0)),
    ((0, 0, 0), (pi / 2, 0, 0)),
    ((-0.425, 0, 0), (0, 0, 0)),
    ((-0.39225, 0, 0.10915), (0, 0, 0)),
    ((0, -0.09465, 0), (pi / 2, 0, 0)),
    ((0, 0.0823, 0), (pi / 2, pi, pi)),
)
# ... centres of mass, the radius and length of each cylinder, the mass that it was made of, and its
# axis there
CENTRES = (
    (0, -0.00193, -0.02561),
    (-0.2125, 0, 0.11336),
    (-0.24225, 0, 0.0265),
    (0, -0.01634, -0.0018),
    (0, 0.01634, -0.0018),
    (0, 0, -0.001159),
)
CYLINDERS = (
    (0.075, 0.178, 3.7, 2),
    (0.06, 0.425, 8.393, 0),
    (0.06, 0.39225, 2.275, 0),
    (0.06, 0.095, 1.219, 2),
    (0.06, 0.085, 1.219, 2),
    (0.0375, 0.0305, 0.1879, 2),
)


def turn(roll, pitch, yaw):
    """Rotation (3, 3) about x, then y, then z."""
    (a, b, c), (d, e, f) = np.cos((roll, pitch, yaw)), np.sin((roll, pitch, yaw))
    about_x = np.array([[1, 0, 0], [0, a, -d], [0, d, a]])
    about_y = np.array([[b, 0, e], [0, 1, 0], [-e, 0, b]])
    return np.array([[c, -f, 0], [f, c, 0], [0, 0, 1]]) @ about_y @ about_x


def solid(radius, length, mass, axis):
    """Inertia (3, 3) of a solid cylinder along an axis."""
    moments = np.full(3, mass * (3 * radius**2 + length**2) / 12)
    moments[axis] = mass * radius**2 / 2
    return np.diag(moments)


def described():
    """The robot in the frames of the maker's description."""
    joints = []
    for k, (name, (place, angles)) in enumerate(zip(NAMES, ORIGINS)):
        home = np.eye(4)
        home[:3, :3], home[:3, 3] = turn(*angles), place
        joints.append(revolute(name, NAMES[k - 1] if k else GROUND, home=home))
    bodies = [
        Link(mass=mass, com=com, inertia=solid(*cylinder))
        for mass, com, cylinder in zip(MASSES, CENTRES, CYLINDERS)
    ]
    return Tree(links=bodies, joints=joints, gravity=(0, 0, -9.81))


def torques(tree, q, qd, qdd):
    """Joint torques (6,)."""
    inverse = FORMULATIONS["newton_euler"].inverse
    return np.array(ca.DM(inverse(tree, *map(ca.DM, (q, qd, qdd))))).ravel()


@pytest.mark.parametrize("seed", range(4))
def test_torques_are_those_of_the_makers_description(seed):
    q, qd, qdd = np.random.default_rng(seed).uniform(-3, 3, (3, 6))
    expected = torques(described(), q, qd, qdd)
    np.testing.assert_allclose(torques(ur5(), q, qd, qdd), expected, rtol=0, atol=1e-12 * 150)


def test_a_stretched_arm_is_held_as_a_lever():
    """Each mass at its distance along the arm, which lies level."""
    upper, fore = 0.425, 0.39225
    along = (0, 0.2125 - upper, 0.15 - fore - upper, *(3 * [-fore - upper]))
    lifted = torques(ur5(), np.zeros(6), np.zeros(6), np.zeros(6))[1]
    assert lifted == pytest.approx(9.81 * np.dot(MASSES, along), rel=1e-12)


def test_limits_are_parts_of_the_makers():
    arm = ur5(torque=0.5, speed=0.25)
    assert [joint.torque[1] for joint in arm.joints] == [each / 2 for each in TORQUES]
    assert all(joint.velocity == (-pi / 4, pi / 4) for joint in arm.joints)
    assert [joint.position[1] for joint in arm.joints] == [2 * pi, 2 * pi, pi, *[2 * pi] * 3]
