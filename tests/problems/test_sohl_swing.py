"""Swing-ups as they were published: eq. 83 to the letter, and what the paper tells of them."""

from dataclasses import replace
from math import pi

import numpy as np
import pytest
from refusals import refused

from ocp import Integrated, Published, Radau, Transcription, solve
from ocp.cli.book.gallery import beside
from ocp.mechanics import kinetic_energy, potential_energy
from ocp.problems.swing_ups import acrobot_swing, branched_acrobot_swing
from ocp.problems.swing_ups.sohl_swing import TASK, descend, first_path, report
from ocp.problems.swing_ups.sohl_swing import problem as swing
from ocp.transcription import transcribe


@pytest.fixture(scope="module")
def solution():
    """The acrobot's, coarsely."""
    return TASK.method(swing(points=12), TASK.transcription).require()


def test_the_cost_is_that_of_equation_83(solution):
    """c1 (q1 - pi/2)^2 + c2 q1'^2 at the end, and half the integral of the squared torque."""
    t, dt = np.linspace(0, 3, 6001, retstep=True)
    torque = solution.tau(t)
    effort = 0.5 * dt * (np.sum(torque**2) - 0.5 * (torque[:, 0] ** 2 + torque[:, -1] ** 2).sum())
    (angle, _), (rate, _) = solution.q(3.0), solution.qd(3.0)
    expected = 1000 * (angle - pi / 2) ** 2 + 1000 * rate**2 + effort
    assert solution.objective == pytest.approx(expected, rel=1e-4)
    assert np.array_equal(solution.tau(t)[0], 0 * t)


def test_driven_joints_alone_are_splined_and_alone_held_at_the_end():
    statement = swing(points=12)
    nlp = transcribe(statement, TASK.transcription).nlp
    assert isinstance(TASK.transcription.method, Integrated)
    assert len(nlp.lower) == 12 + 2  # the passive joint's angle and rate at the start
    ends = {one.name: one.labels for one in statement.constraints if one.when == "end"}
    assert ends == {"at_end.q": ("elbow",), "at_end.qd": ("elbow",)}


@pytest.mark.parametrize("robot", ["acrobot", "branched"])
def test_the_first_guess_does_not_even_begin_to_swing_up(robot):
    """Driven joints rest; the passive one falls freely and keeps its energy."""
    statement = swing(robot, points=12)
    first = first_path(statement, TASK.transcription)
    t = first.times(50)
    q, qd = first.q(t), first.qd(t)
    assert np.abs(q[1:]).max() < 1e-12 and q[0].max() < -0.99 and q[0].min() < -pi / 2
    tree = statement.tree
    energy = [
        float(kinetic_energy(tree, a, b) + potential_energy(tree, a)) for a, b in zip(q.T, qd.T)
    ]
    assert np.ptp(energy) < 2e-2 * abs(energy[0])


def test_the_motion_pumps_and_swings_up(solution):
    data = report(solution)
    assert data["first_highest"] < -0.99 and data["first_objective"] > 100 * solution.objective
    assert data["reversals"] >= 2 and 0 < data["angle_left"] < 0.2 and abs(data["rate_left"]) < 0.1


def test_heavier_penalties_come_nearer_to_the_vertical(solution):
    near = solve(swing(points=12, c1=2e3, c2=2e3), TASK.transcription, guess=solution).require()
    assert report(near)["angle_left"] < report(solution)["angle_left"]


def test_penalties_are_asked_for_by_a_flag_of_either_swing_too():
    statement = acrobot_swing.problem(points=12, ends="penalty", c1=1e3, c2=1e3)
    literal = swing(points=12)
    assert statement.objective.terms[1][0] == 1e3 and len(statement.objective.terms) == 3
    assert [one.labels for one in statement.constraints] == [
        one.labels for one in literal.constraints
    ]
    legs = branched_acrobot_swing.problem(points=8, ends="penalty")
    assert legs.constraints[2].labels == ("left", "right")
    with refused("c1: a weight of ends 'penalty', got it with ends 'exact'"):
        acrobot_swing.problem(c1=10.0)
    with refused("c1: expected a weight of at least 0, got -1"):
        acrobot_swing.problem(ends="penalty", c1=-1.0)
    with refused("number: expected a whole number of at least 0, got -1"):
        descend(literal, number=-1)


def test_other_methods_know_penalties(solution):
    """Collocation starts where the integrated program ends, and can only do better."""
    other = solve(
        acrobot_swing.problem(points=12, ends="penalty"),
        Transcription(method=Radau(intervals=25, order=4)),
        guess=solution,
    ).require(coarse=True)
    assert 20 < other.objective < solution.objective


def test_the_book_solves_a_number_with_its_own_data(solution):
    number = Published(
        quantity="s",
        value=2.0,
        source="",
        ours=lambda one: one.duration,
        arguments={"duration": 2.0, "points": 8},
        comparable=False,
    )
    said = beside(replace(TASK, published=(number,)), solution)
    assert "ours     2\n" in f"{said}\n"
