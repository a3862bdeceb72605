"""Interpolation of lifted variables: polynomials between kinks, linear where feet share."""

from dataclasses import replace

import numpy as np
import pytest
from bipeds import LEAVE, STRIKE, crouch, posture
from repeated_cases import for_each

from ocp import BSpline, Spline, Transcription
from ocp.problems.arms.two_link_lift import problem as lift
from ocp.transcription import transcribe_phase
from ocp.transcription.row_requests import schedule_grid
from ocp.transcription.variables.interpolation import (
    STEPS,
    lifted_quadrature,
    polynomial_runs,
    slope_instants,
    torque_interpolation,
    wrench_interpolation,
)
from ocp.transcription.variables.layout import join_variables

FINE = np.linspace(0.0, 1.0, 401)


def standing(nodes=4, **changes):
    """A body that two feet share in the middle, and the nodes of its motion."""
    problem = crouch(motion=BSpline(points=5), **changes)
    return problem, schedule_grid(problem, nodes)


def test_at_a_node_it_is_what_it_is_there_and_a_constant_stays_one():
    problem, nodes = standing()
    for between in (torque_interpolation, wrench_interpolation):
        np.testing.assert_array_equal(between(problem, nodes, nodes), np.eye(len(nodes)))
        np.testing.assert_array_equal(between(problem, nodes, nodes + 1e-12), np.eye(len(nodes)))
        np.testing.assert_allclose(between(problem, nodes, FINE).sum(axis=1), 1.0, rtol=1e-12)
        beyond = between(problem, nodes[:-1], np.array([0.95, 1.0]))  # stays after the last node
        np.testing.assert_array_equal(beyond[-1], np.eye(len(nodes) - 1)[-1])


def test_forces_that_feet_share_are_between_those_at_the_nodes():
    """So that a mixture of two wrenches that push, within friction and soles, does too."""
    problem, nodes = standing()
    shared = (FINE >= STRIKE) & (FINE <= LEAVE)
    matrix = wrench_interpolation(problem, nodes, FINE)
    assert (matrix[shared] >= 0).all() and ((matrix[shared] > 0).sum(axis=1) <= 2).all()
    line = np.interp(FINE, nodes, np.sin(9 * nodes))
    np.testing.assert_allclose((matrix @ np.sin(9 * nodes))[shared], line[shared], atol=1e-12)
    np.testing.assert_array_equal(
        torque_interpolation(problem, nodes, FINE)[shared], matrix[shared]
    )
    feet = [replace(foot, bears=(-np.inf, np.inf)) for foot in problem.ground.feet]
    stands = replace(problem, ground=replace(problem.ground, feet=feet))  # no load passes over
    assert (torque_interpolation(stands, nodes, FINE) < 0).any()
    assert (wrench_interpolation(stands, nodes, FINE)[shared] >= 0).all()


def test_forces_that_feet_share_smoothly_run_as_elsewhere():
    """By polynomials from switch to switch and knot to knot, which one foot alone has anyway."""
    problem, nodes = standing()
    smooth = replace(problem, ground=replace(problem.ground, sharing="smooth"))
    parts = polynomial_runs(smooth, nodes, wrenches=True)
    assert {0.5, STRIKE, LEAVE, 1.0} <= {nodes[part[-1]] for part in parts}
    assert len(parts) < len(polynomial_runs(problem, nodes, wrenches=True))
    shared = (FINE >= STRIKE) & (FINE <= LEAVE)
    matrix = wrench_interpolation(smooth, nodes, FINE)
    assert (matrix[shared] < 0).any()
    np.testing.assert_array_equal(torque_interpolation(smooth, nodes, FINE), matrix)
    with pytest.raises(ValueError, match="ground: sharing: expected straight or smooth, got 'so'"):
        replace(problem.ground, sharing="so")


def test_curves_without_kinks_are_followed_to_the_degree_of_their_nodes():
    problem = lift(points=5)
    nodes = schedule_grid(problem, 4)
    curve = np.polynomial.Polynomial([1.0, -2.0, 3.0, 0.5, -4.0])
    torques = torque_interpolation(problem, nodes, FINE) @ curve(nodes)
    np.testing.assert_allclose(torques, curve(FINE), atol=1e-12)
    s, weights = lifted_quadrature(problem, nodes)
    exact = (curve**2).integ()(1.0)
    assert weights @ (torque_interpolation(problem, nodes, s) @ curve(nodes)) ** 2 == pytest.approx(
        exact
    )


def test_no_polynomial_runs_over_a_knot_a_switch_a_jump_or_many_steps():
    problem, nodes = standing(nodes=9)
    parts = polynomial_runs(problem, nodes, wrenches=False)
    assert {0.5, STRIKE, LEAVE, 1.0} <= {nodes[part[-1]] for part in parts}
    assert max(map(len, parts)) == STEPS + 1
    assert [part[0] for part in parts[1:]] == [part[-1] for part in parts[:-1]]
    jumping = replace(lift(points=7), motion=BSpline(points=7, inner=(0.3, 0.5, 0.5)))
    steps = schedule_grid(jumping, 4)
    left, right = steps[np.abs(steps - 0.5) < 1e-6]
    weights = torque_interpolation(jumping, steps, np.array([0.45, 0.55]))
    assert not weights[0, steps >= right].any() and not weights[1, steps <= left].any()


def test_a_switch_of_one_foot_alone_is_a_kink_of_torques():
    """As where the heel leaves the ground: the wrench passes to another link of the same foot."""
    problem, _ = standing()
    (foot, _), ground = problem.ground.feet, problem.ground
    rolls = [replace(foot.supports[0], when=when) for when in ((0.0, 0.3), (0.3, 1.0))]
    feet = [replace(foot, supports=rolls, bears=(-np.inf, np.inf))]
    rolling = replace(problem, ground=replace(ground, feet=feet), constraints=())
    nodes = schedule_grid(rolling, 4)
    parts = polynomial_runs(rolling, nodes, wrenches=False)
    assert [nodes[part[-1]] for part in parts] == [0.3, 0.5, 1.0]


def test_steps_stand_at_switches_closest_after_a_strike():
    _, nodes = standing(strike=0.26, leave=0.61)
    steps = np.diff(nodes)
    assert {0.26, 0.61} <= set(nodes.tolist()) and len(nodes) == 11
    after = np.searchsorted(nodes, 0.26)
    assert steps[after] == pytest.approx(0.06) == steps[after + 1]  # half a step of 0.12 each
    for a, b in ((0.0, 0.26), (0.26, 0.5), (0.5, 0.61), (0.61, 1.0)):
        assert ((nodes > a) & (nodes < b)).any()
    assert np.array_equal(schedule_grid(lift(points=5), 4), np.linspace(0, 1, 9))


def test_slopes_are_those_of_the_curves_between_the_nodes():
    """At a kink from the right; torques are told by as many instants as they have freedom."""
    problem, nodes = standing()
    s, h = np.linspace(0.013, 0.987, 57), 1e-6
    s = s[np.abs(s[:, None] - nodes).min(axis=1) > 1e-4]
    for between in (torque_interpolation, wrench_interpolation):
        expected = (between(problem, nodes, s + h) - between(problem, nodes, s - h)) / (2 * h)
        slopes = between(problem, nodes, s, 1)
        np.testing.assert_allclose(slopes, expected, rtol=1e-6, atol=1e-6)
        later = between(problem, nodes, nodes[:-1] + 1e-7, 1)
        np.testing.assert_allclose(between(problem, nodes, nodes[:-1], 1), later, atol=1e-3)
    told = torque_interpolation(problem, nodes, slope_instants(problem, nodes), 1)
    lost = [len(members) - 1 for members in polynomial_runs(problem, nodes, wrenches=False)]
    assert len(told) == sum(lost) == np.linalg.matrix_rank(told)


@for_each("spans", ((STRIKE, LEAVE), (0.31, 0.57)))
def test_torques_that_follow_from_the_motion_are_integrated_from_switch_to_switch(spans):
    """Ways of standing change inside a segment and torques jump there: without a cut the sums of 12
    and 96 points are 3e-4 and 8e-4 apart, with one what is left is the bend of shared forces."""
    stated = crouch(False, strike=spans[0], leave=spans[1])
    rng = np.random.default_rng(0)
    q, _, _ = posture(stated.tree, rng)
    points = q[:, None] + 0.05 * rng.normal(size=(stated.tree.dof, stated.motion.points))
    values = []
    for panels in (12, 96):
        method = Spline(torques="explicit", panels=panels)
        part = transcribe_phase(stated, Transcription(method=method, derivatives="solver"))
        x = join_variables(part.layout, points, 0.8)
        values.append(float(np.array(part.terms(x)).ravel()[0]))
    assert values[0] == pytest.approx(values[1], rel=1e-4)
