"""Rigid motions against definitions: a screw's exponential is the matrix power series, everything
else follows from it."""

from math import cos, pi, sin

import casadi as ca
import numpy as np
import pytest
from random_trees import random_pose, random_screw

from ocp.mechanics import dh_pose, rotate_x, rotate_y, rotate_z, translate
from ocp.mechanics.kinematics.spatial import (
    exp_screw,
    invert,
    move_screw,
    pose,
    screw_matrix,
    skew,
    tidy,
)

KINDS = ("revolute", "prismatic", "screw")


def matrix_exponential(matrix):
    """Power series of a matrix halved ten times, then squared ten times; its rounding stays near
    1e-14 for entries of order one."""
    halved, term, total = matrix / 2**10, np.eye(len(matrix)), np.eye(len(matrix))
    for k in range(1, 12):  # entries below 1e-2 to the 12th power over 12! vanish
        term = term @ halved / k
        total = total + term
    for _ in range(10):
        total = total @ total
    return total


def screws(kind, count=50):
    """Random screws of a kind, each with an amount q in (-4, 4)."""
    rng = np.random.default_rng(KINDS.index(kind))
    return [(np.array(random_screw(rng, kind)), rng.uniform(-4, 4)) for _ in range(count)]


def moved(screw, q):
    """exp([S] q) as a numpy array."""
    return np.array(exp_screw(screw, ca.DM(q)))


@pytest.mark.parametrize("kind", KINDS)
def test_a_moved_screw_is_the_exponential_of_its_matrix(kind):
    for screw, q in screws(kind):
        np.testing.assert_allclose(
            moved(screw, q), matrix_exponential(screw_matrix(screw) * q), rtol=0, atol=1e-12
        )


@pytest.mark.parametrize("kind", KINDS)
def test_a_moved_screw_is_a_rigid_pose(kind):
    for screw, q in screws(kind):
        matrix = moved(screw, q)
        np.testing.assert_allclose(matrix[:3, :3] @ matrix[:3, :3].T, np.eye(3), rtol=0, atol=3e-15)
        assert np.linalg.det(matrix[:3, :3]) == pytest.approx(1.0, abs=3e-15)
        assert matrix[3].tolist() == [0, 0, 0, 1]


@pytest.mark.parametrize("kind", KINDS)
def test_amounts_about_one_screw_add_up_and_none_is_the_identity(kind):
    for screw, q in screws(kind):
        np.testing.assert_allclose(
            moved(screw, q) @ moved(screw, 0.7), moved(screw, q + 0.7), rtol=0, atol=5e-15
        )
        np.testing.assert_array_equal(moved(screw, 0.0), np.eye(4))


@pytest.mark.parametrize("kind", KINDS)
def test_the_slope_of_a_moved_screw_is_itself_times_the_screw_matrix(kind):
    q = ca.SX.sym("q")
    for screw, amount in screws(kind, 10):
        slope = ca.Function("slope", [q], [ca.jacobian(exp_screw(screw, q), q)])
        expected = moved(screw, amount) @ screw_matrix(screw)
        np.testing.assert_allclose(
            np.array(slope(amount)).reshape((4, 4), order="F"), expected, rtol=0, atol=1e-14
        )


@pytest.mark.parametrize("kind", KINDS)
def test_a_screw_described_in_another_frame_makes_the_same_motion(kind):
    rng = np.random.default_rng(3)
    for screw, q in screws(kind):
        frame = random_pose(rng)
        np.testing.assert_allclose(
            moved(move_screw(frame, screw), q),
            frame @ moved(screw, q) @ invert(frame),
            rtol=0,
            atol=1e-14,
        )


def test_the_inverse_undoes_a_pose():
    rng = np.random.default_rng(4)
    for _ in range(50):
        frame = random_pose(rng)
        np.testing.assert_allclose(invert(frame) @ frame, np.eye(4), rtol=0, atol=3e-15)


def test_skew_is_the_cross_product():
    u, v = np.random.default_rng(5).standard_normal((2, 3))
    np.testing.assert_array_equal(np.array(skew(ca.DM(v)) @ ca.DM(u)).ravel(), np.cross(v, u))


@pytest.mark.parametrize(("rotate", "axis"), [(rotate_x, 0), (rotate_y, 1), (rotate_z, 2)])
def test_a_turn_about_an_axis_is_that_screw_moved(rotate, axis):
    for angle in (-3.0, -0.4, 0.0, 1.1, 2.9):
        np.testing.assert_allclose(rotate(angle), moved(np.eye(6)[axis], angle), rtol=0, atol=1e-15)


@pytest.mark.parametrize("rotate", [rotate_x, rotate_y, rotate_z])
def test_four_quarter_turns_are_exactly_the_identity(rotate):
    quarter = rotate(pi / 2)
    assert set(quarter.ravel()) == {-1.0, 0.0, 1.0} and not np.signbit(quarter[quarter == 0]).any()
    np.testing.assert_array_equal(quarter @ quarter @ quarter @ quarter, np.eye(4))


def test_a_dh_row_is_the_classic_matrix():
    """The matrix as printed (Xiang, Arora & Abdel-Malek 2009, eq. 1)."""
    for theta, d, a, alpha in np.random.default_rng(6).uniform(-3, 3, (20, 4)):
        classic = [
            [cos(theta), -cos(alpha) * sin(theta), sin(alpha) * sin(theta), a * cos(theta)],
            [sin(theta), cos(alpha) * cos(theta), -sin(alpha) * cos(theta), a * sin(theta)],
            [0, sin(alpha), cos(alpha), d],
            [0, 0, 0, 1],
        ]
        np.testing.assert_allclose(dh_pose(theta, d, a, alpha), classic, rtol=0, atol=2e-15)


def test_a_pose_stacks_rotation_and_translation():
    frame = random_pose(np.random.default_rng(7))
    np.testing.assert_array_equal(np.array(pose(ca.DM(frame[:3, :3]), ca.DM(frame[:3, 3]))), frame)
    np.testing.assert_array_equal(translate(1.0, 2.0, 3.0) @ (4, 5, 6, 1), (5, 7, 9, 1))


def test_tidying_touches_only_rounding_next_to_minus_one_zero_and_one():
    given = np.array([1 - 5e-16, -1 + 5e-16, -5e-16, 2 + 4.5e-16, 1e-14, 1 - 1e-14, 0.3])
    np.testing.assert_array_equal(tidy(given), [1, -1, 0, 2 + 4.5e-16, 1e-14, 1 - 1e-14, 0.3])
    assert not np.signbit(tidy(given)[2])
    assert tidy([1 - 1e-9], tolerance=1e-8).tolist() == [1.0]


@pytest.mark.parametrize("symbol", [ca.SX.sym, ca.MX.sym], ids=["SX", "MX"])
@pytest.mark.parametrize("kind", KINDS)
def test_expressions_move_a_screw_as_numbers_do(symbol, kind):
    q = symbol("q")
    for screw, amount in screws(kind, 5):
        graph = ca.Function("graph", [q], [exp_screw(screw, q)])
        np.testing.assert_allclose(
            np.array(graph(amount)), moved(screw, amount), rtol=0, atol=1e-15
        )
