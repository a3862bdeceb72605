"""Logarithms of rotations and poses: what they undo is a power series of matrices, at every angle
from none to half a turn."""

from math import pi

import casadi as ca
import numpy as np
import pytest
from random_trees import random_pose, random_rotation
from refusals import refused
from repeated_cases import for_each

from ocp.mechanics import (
    exp_rotation,
    exp_twist,
    interpolate_pose,
    log_pose,
    log_rotation,
    quaternion,
    relative_pose,
    rotate_x,
    rotate_z,
)
from ocp.mechanics.kinematics.rotations import quaternion_conjugate, quaternion_product
from ocp.mechanics.kinematics.spatial import screw_matrix

NONE = [0.0, 1e-300, 1e-15, 1e-9, 1e-6, 1e-3]
SEAM = [0.09999, 0.1, 0.10001, 0.2, 0.20034, 0.2004]  # where series end
MIDDLE = [1.0, pi / 2, 2.0, 3.0]
NEAR = [pi - 1e-3, pi - 1e-6, pi - 1e-9, pi - 1e-12]
ANGLES = [*NONE, *SEAM, *MIDDLE, *NEAR, pi]


def matrix_exponential(matrix):
    """Power series of a matrix halved eight times, then squared as often."""
    halved, term, total = matrix / 2**8, np.eye(len(matrix)), np.eye(len(matrix))
    for k in range(1, 14):
        term = term @ halved / k
        total = total + term
    for _ in range(8):
        total = total @ total
    return total


def twists(angle, count=6):
    """Random twists (6,) of an angle."""
    rng = np.random.default_rng(int(1e4 * angle))
    for _ in range(count):
        axis = rng.standard_normal(3)
        yield np.append(angle * axis / np.linalg.norm(axis), rng.standard_normal(3))


def plain(matrix):
    """A CasADi vector or matrix as numpy's."""
    array = np.array(matrix)
    return array.ravel() if array.shape[1] == 1 else array


@for_each("angle", ANGLES)
def test_the_exponential_is_the_power_series(angle):
    for twist in twists(angle):
        expected = matrix_exponential(screw_matrix(twist))
        np.testing.assert_allclose(plain(exp_twist(twist)), expected, rtol=0, atol=1e-12)
        np.testing.assert_allclose(
            plain(exp_rotation(twist[:3])), expected[:3, :3], rtol=0, atol=1e-12
        )


@for_each("angle", [angle for angle in ANGLES if angle < 3.14159265])
def test_the_logarithm_gives_back_the_twist(angle):
    for twist in twists(angle):
        pose = matrix_exponential(screw_matrix(twist))
        np.testing.assert_allclose(plain(log_pose(pose)), twist, rtol=0, atol=1e-12)
        np.testing.assert_allclose(plain(log_rotation(pose[:3, :3])), twist[:3], rtol=0, atol=1e-12)


@for_each("angle", [*NEAR, pi])
def test_near_and_at_half_turns_either_sign_is_the_same_pose_to_all_digits(angle):
    for twist in twists(angle):
        pose = plain(exp_twist(twist))
        log = plain(log_pose(pose))
        assert np.linalg.norm(log[:3]) == pytest.approx(angle, abs=1e-12)
        np.testing.assert_allclose(matrix_exponential(screw_matrix(log)), pose, rtol=0, atol=1e-12)
        if log @ twist > 0:
            np.testing.assert_allclose(log, twist, rtol=0, atol=2e-12)


def test_the_logarithm_of_random_poses_is_undone():
    rng = np.random.default_rng(1)
    for _ in range(60):
        pose = random_pose(rng)
        back = matrix_exponential(screw_matrix(plain(log_pose(pose))))
        np.testing.assert_allclose(back, pose, rtol=0, atol=1e-12)


@pytest.mark.parametrize("axis", [(1, 0, 0), (0, 1, 0), (0, 0, 1), (0.6, 0.0, 0.8)])
def test_exact_half_turns_have_an_exact_logarithm(axis):
    turn = 2 * np.outer(axis, axis) - np.eye(3)
    np.testing.assert_allclose(plain(log_rotation(turn)), pi * np.array(axis), rtol=0, atol=1e-15)


@pytest.mark.parametrize("symbol", [ca.SX.sym, ca.MX.sym], ids=["SX", "MX"])
def test_expressions_have_the_logarithm_that_numbers_have_and_finite_derivatives(symbol):
    entries = symbol("pose", 4, 4)
    graph = log_pose(entries)
    slope = ca.jacobian(graph, entries)
    bend = ca.hessian(ca.sumsqr(graph), ca.vec(entries))[0] if symbol is ca.SX.sym else slope
    look = ca.Function("look", [entries], [graph, slope, bend])
    for angle in ANGLES:
        for twist in twists(angle, 3):
            pose = exp_twist(twist)
            values = look(pose)
            np.testing.assert_allclose(plain(values[0]), plain(log_pose(pose)), rtol=0, atol=1e-12)
            assert all(np.isfinite(np.array(value)).all() for value in values)
    assert np.array_equal(plain(look(np.eye(4))[0]), np.zeros(6))


@pytest.mark.parametrize("angle", [0.0, 1e-6, 0.0999, 0.1001, 1.0, 3.0, pi - 1e-6])
def test_the_logarithm_has_the_slope_of_the_inverse_of_the_exponential(angle):
    """d log(exp(x)) / dx = 1, along all six directions of the twist."""
    x = ca.SX.sym("x", 6)
    slope = ca.Function("slope", [x], [ca.jacobian(log_pose(exp_twist(x)), x)])
    for twist in twists(angle, 3):
        np.testing.assert_allclose(np.array(slope(twist)), np.eye(6), rtol=0, atol=1e-9)


def test_a_screw_motion_runs_evenly_from_pose_to_pose():
    rng = np.random.default_rng(2)
    first, last = random_pose(rng), random_pose(rng)
    ends = [plain(interpolate_pose(first, last, s)) for s in (0.0, 1.0)]
    np.testing.assert_allclose(ends, [first, last], rtol=0, atol=1e-14)
    half = interpolate_pose(first, last, 0.5)
    step = relative_pose(first, half)
    np.testing.assert_allclose(plain(half @ step), last, rtol=0, atol=1e-14)


def test_quaternions_multiply_as_rotations_do():
    rng = np.random.default_rng(3)
    for _ in range(50):
        first, second = random_rotation(rng), random_rotation(rng)
        together = plain(quaternion_product(quaternion(first), quaternion(second)))
        expected = plain(quaternion(first @ second))
        np.testing.assert_allclose(
            together * np.sign(together @ expected), expected, rtol=0, atol=1e-14
        )
        unit = quaternion(first)
        np.testing.assert_allclose(
            plain(quaternion_product(quaternion_conjugate(unit), unit)),
            (1, 0, 0, 0),
            rtol=0,
            atol=1e-15,
        )


def test_a_quaternion_has_the_half_angle_and_no_negative_scalar():
    half = np.array([np.cos(0.6), 0, 0, np.sin(0.6)])
    np.testing.assert_allclose(plain(quaternion(rotate_z(1.2)[:3, :3])), half, rtol=0, atol=1e-15)
    assert plain(quaternion(rotate_x(pi + 0.1)[:3, :3]))[0] > 0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: log_rotation(np.eye(4)), "rotation: expected shape (3, 3), got (4, 4)"),
        (lambda: log_pose(np.eye(3)), "pose: expected shape (4, 4), got (3, 3)"),
        (lambda: exp_rotation(np.zeros(6)), "turn: expected shape (3, 1), got (6, 1)"),
        (lambda: exp_twist(np.zeros(3)), "twist: expected shape (6, 1), got (3, 1)"),
        (
            lambda: interpolate_pose(np.eye(4), np.eye(3), 0.5),
            "last pose: expected shape (4, 4), got",
        ),
    ],
)
def test_what_has_another_shape_is_named(call, message):
    with refused(message):
        call()
