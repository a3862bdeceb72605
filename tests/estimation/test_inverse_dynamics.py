"""Torques of recorded motions under recorded forces."""

import casadi as ca
import numpy as np
import pytest

from ocp import Series, measured_torques
from ocp.interchange import force_table, wrenches
from ocp.problems.arms.two_link_time import problem as fastest


def test_a_motion_without_forces_needs_the_torques_of_its_solution(quick):
    solution = quick
    t = solution.times(31)
    torques = measured_torques(
        solution.problem.tree, t, solution.q(t), solution.qd(t), solution.qdd(t)
    )
    np.testing.assert_allclose(torques, solution.tau(t), rtol=0, atol=1e-10)


def test_measured_ground_forces_leave_nothing_to_a_root_that_nothing_drives(hopping):
    stance = hopping.phases["stance"]
    forces = wrenches(force_table(hopping, rate=2000))
    t = np.linspace(0.0, 0.9 * stance.duration, 21)
    motion = (stance.q(t), stance.qd(t), stance.qdd(t))
    torques = measured_torques(stance.problem.tree, t, *motion, forces, {"foot": "leg"})
    body, leg = torques
    assert np.abs(body).max() < 0.01 * np.abs(forces.values["foot"]).max()
    np.testing.assert_allclose(leg, stance.tau(t)[1], rtol=0.01)


def test_where_a_force_is_missing_torques_are_too(hopping):
    stance = hopping.phases["stance"]
    t = stance.times(11)
    rows = np.zeros((6, 11))
    rows[:, 4] = np.nan
    forces = Series(t=t, values={"foot": rows})
    motion = (stance.q(t), stance.qd(t), stance.qdd(t))
    torques = measured_torques(stance.problem.tree, t, *motion, forces, {"foot": "leg"})
    assert np.isnan(torques).all(axis=0).tolist() == [k == 4 for k in range(11)]


def test_a_wrench_stays_where_it_is_while_the_link_moves(quick):
    solution = quick
    tree, t = solution.problem.tree, solution.times(11)
    motion = (solution.q(t), solution.qd(t), solution.qdd(t))
    force, place = np.array([3.0, -2.0, 0.0]), np.array([0.1, 0.7, 0.0])
    rows = np.concatenate([np.cross(place, force), force])[:, None] * np.ones(11)
    series = Series(t=t, values={"hand": rows})
    less = measured_torques(tree, t, *motion) - measured_torques(
        tree, t, *motion, series, {"hand": "elbow"}
    )
    elbow = solution.trace(lambda at: ca.vec(at.frames[0][:3, 3]), t)  # where the second axis is
    expected = [np.cross(place - elbow[:, k], force)[2] for k in range(11)]
    np.testing.assert_allclose(less[1], expected, atol=1e-12)
    np.testing.assert_allclose(less[0], np.cross(place, force)[2], atol=1e-12)


@pytest.mark.parametrize(
    ("links", "words"),
    [
        ({}, "arm.mot: plate 'hand': expected the link that it pushes"),
        ({"hand": "elbow", "foot": "elbow"}, "links: no plate 'foot'; they are hand"),
        ({"hand": "knee"}, "links: plate 'hand': unknown link 'knee'; the links are shoulder, elb"),
        (["elbow"], "measured_torques: links: expected Mapping, got list"),
    ],
)
def test_plates_and_links_that_do_not_match_are_refused(links, words):
    t = np.linspace(0.0, 1.0, 5)
    tree, still = fastest(points=12).tree, np.zeros((2, 5))
    series = Series(t=t, values={"hand": np.zeros((6, 5))}, source="arm.mot")
    with pytest.raises(ValueError, match=words):
        measured_torques(tree, t, still, still, still, series, links)


@pytest.mark.parametrize("t", [np.linspace(1.0, 0.0, 5), np.full(5, np.nan), "late"])
def test_times_that_do_not_increase_are_refused(t):
    tree, still = fastest(points=12).tree, np.zeros((2, 5))
    with pytest.raises(ValueError, match="measured_torques: t: expected"):
        measured_torques(tree, t, still, still, still)
    with pytest.raises(ValueError, match="measured_torques: forces: expected Series, got dict"):
        measured_torques(tree, np.linspace(0, 1, 5), still, still, still, {"hand": still})


def test_a_motion_and_forces_without_a_common_time_are_refused():
    t = np.linspace(0.0, 1.0, 5)
    tree, still = fastest(points=12).tree, np.zeros((2, 5))
    late = Series(t=t + 3.0, values={"hand": np.zeros((6, 5))}, source="arm.mot")
    words = "arm.mot: forces from 3 to 4 s, the motion from 0 to 1 s: no time"
    with pytest.raises(ValueError, match=words):
        measured_torques(tree, t, still, still, still, late, {"hand": "elbow"})
