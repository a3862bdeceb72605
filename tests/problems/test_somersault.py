"""A gymnast's somersault: attitudes as quaternions from the guess to the certificate and back."""

import casadi as ca
import numpy as np
import pytest

import ocp
from ocp import Radau, Transcription, load, verify
from ocp.certificate.checks.flight_momentum import free_axes
from ocp.certificate.checks.replay_motion import quaternion_length_error, scale_quaternions
from ocp.mechanics.kinematics import kinematics
from ocp.mechanics.model.tree_structure import structure
from ocp.problems.human.somersault import TakeOff, evenly, problem, report, turning
from ocp.transcription.initial_guess import normalise_quaternions

COARSE = Transcription(method=Radau(intervals=18, order=5))


@pytest.fixture(scope="module")
def layout_turn():
    """One and a half somersaults without a twist, on a coarse mesh."""
    return turning(problem(1.5, 0.0, duration=1.2), COARSE).require()


def test_angular_momentum_is_that_of_take_off_all_along(layout_turn):
    data = report(layout_turn)
    momentum = np.array(data["momentum"])
    assert abs(momentum[[0, 2]]).max() < 1e-9 < 10 < momentum[1]
    assert data["momentum_changes"] < 1e-4 * momentum[1]
    assert data["somersaults"] == pytest.approx(1.5, abs=1e-6)
    assert data["length"] < 1e-6


def test_a_body_lands_forward_or_backward_and_not_aside():
    assert problem(2.0, 1.5).duration == (1.6, 1.6)
    with pytest.raises(ValueError, match=r"twists: expected a multiple of one half, got 0\.3"):
        problem(2.0, 0.3)


def test_the_certificate_tells_lengths_and_flight_and_passes(layout_turn):
    certificate = verify(layout_turn).require(1e-2)
    (flight,) = certificate.flights
    assert flight.phase == "motion"
    assert max(flight.force, flight.moment) < 1e-9
    assert max(flight.parabola, flight.angular) < 1e-5
    assert certificate.lengths == quaternion_length_error(layout_turn) < 1e-6
    assert "quaternions" in str(certificate) and "parabola" in str(certificate)


def test_a_file_keeps_the_balls_of_a_tree(layout_turn, tmp_path):
    path = tmp_path / "turn.npz"
    ocp.save(layout_turn, path)
    again = load(path)
    assert again.problem.tree == layout_turn.problem.tree
    np.testing.assert_array_equal(again.points, layout_turn.points)


def test_the_first_guess_turns_as_often_as_it_is_told():
    begin = TakeOff(2.0, 1.0)
    np.testing.assert_allclose(begin.attitude(1.0), [-1, 0, 0, 0], atol=1e-15)
    waypoints = evenly(problem(2.0, 1.0))
    np.testing.assert_allclose(np.linalg.norm(waypoints[3:7], axis=0), 1.0)
    turns = np.linalg.norm(np.diff(waypoints[3:7], axis=1), axis=0)
    assert turns.max() < 0.2  # no sign jumps


def test_the_root_of_a_free_body_is_three_slides_and_its_quaternion():
    tree = problem().tree
    known = structure(tree)
    assert known.root == tuple(range(7)) and known.adrift and not known.floating
    assert tree.balls == ((3, 4, 5, 6),) and tree.neutral == (0, 0, 0, 1, 0, 0, 0, 0, 0)
    ways, turns = free_axes(tree)
    assert ways.shape == turns.shape == (3, 3)


def test_a_guess_keeps_quaternions_off_zero():
    tree = problem().tree
    points = np.zeros((tree.dof, 5))
    points[3] = np.linspace(1.0, -1.0, 5)
    got = normalise_quaternions(tree, points)
    np.testing.assert_allclose(np.linalg.norm(got[3:7], axis=0), 1.0)
    np.testing.assert_allclose(got[3, [0, 4]], [1.0, -1.0])
    np.testing.assert_array_equal(got[[0, 1, 2, 7, 8]], 0.0)


def test_a_replay_counts_turns_and_no_lengths():
    tree = problem().tree
    rng = np.random.default_rng(0)
    state = rng.standard_normal((2 * tree.dof, 1))
    p, rate = state[3:7, 0], state[12:16, 0]
    other = state.copy()
    other[3:7, 0], other[12:16, 0] = 1.7 * p, 1.7 * rate + 0.3 * p
    np.testing.assert_allclose(
        scale_quaternions(tree, other), scale_quaternions(tree, state), atol=1e-14
    )
    small = 1e-6
    spun = state.copy()
    across = np.array([-p[1], p[0], p[3], -p[2]]) / 2  # p turned about x
    spun[3:7, 0] += small * across
    apart = np.linalg.norm((scale_quaternions(tree, spun) - scale_quaternions(tree, state))[3:7])
    assert apart == pytest.approx(small, rel=1e-5)


def test_take_off_asks_for_the_body_axes_rates():
    tree = problem().tree
    q = np.array([0, 0, 0, 1, 0, 0, 0, 1, 1])
    qd = np.array([0, 0, 0, 0, 0.1, 0.2, 0.3, 0, 0])
    angular = kinematics.motions(tree, ca.DM(q), ca.DM(qd))[3].angular
    np.testing.assert_allclose(np.array(angular).ravel(), [0.2, 0.4, 0.6])
