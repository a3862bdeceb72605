"""A ball that leaves the hand where a phase ends: ranges in closed form, and what the arm gives."""

import numpy as np
import pytest

from ocp.mechanics import kinetic_energy, potential_energy
from ocp.problems.arms.throw import TASK, farthest_of_one, lines, problem, reach, report

SPEED, LENGTH = 20.0, 0.6


@pytest.mark.parametrize("height", [0.7, 1.4, 30.0])
def test_the_closed_form_is_the_farthest_of_all_releases_of_one_link(height):
    angle = np.linspace(0.0, 1.5, 300001)
    place = np.array([LENGTH * np.sin(angle), height - LENGTH * np.cos(angle)])
    velocity = SPEED * LENGTH * np.array([np.cos(angle), np.sin(angle)])
    ranges = np.array(reach(place, velocity)).ravel()
    assert farthest_of_one(SPEED, height, LENGTH) == pytest.approx(ranges.max(), rel=1e-9)


def test_an_arm_of_one_link_throws_as_far_as_its_closed_form():
    solution = TASK.method(problem(links=1, u=1e-6, points=12)).require()
    thrown = report(solution)["throw"]
    assert thrown["range"] == pytest.approx(farthest_of_one(20.0), rel=1e-6)
    assert "closed form" in lines(report(solution))[-1]


@pytest.fixture(scope="module")
def thrown():
    """Return the throw of an arm of two links."""
    return TASK.method(problem(points=16)).require(coarse=True)


def test_two_links_throw_farther_than_one_and_below_the_bound_of_their_speed(thrown):
    entry = report(thrown)["throw"]
    assert entry["range"] > 1.5 * farthest_of_one(20.0)
    assert 0.9 * entry["best_angle"] < entry["range"] < entry["best_angle"]


def test_work_of_the_joints_is_the_energy_of_arm_and_ball_then_of_the_arm_alone(thrown):
    for phase in thrown.phases.values():
        tree, t = phase.problem.tree, phase.times(20001)
        power = (phase.tau(t) * phase.qd(t)).sum(axis=0)
        energies = [
            float(kinetic_energy(tree, phase.q(end), phase.qd(end)))
            + float(potential_energy(tree, phase.q(end)))
            for end in (0.0, phase.duration)
        ]
        assert np.trapezoid(power, t) == pytest.approx(np.diff(energies)[0], abs=1e-4)


def test_the_ball_is_carried_in_the_swing_alone(thrown):
    swing, rest = thrown.phases.values()
    masses = [sum(link.mass for link in each.problem.tree.links) for each in (swing, rest)]
    assert masses[0] - masses[1] == pytest.approx(0.2)
    np.testing.assert_allclose(swing.qd(swing.duration), rest.qd(0.0), atol=1e-9)
