"""Problems that are planned again and again: an arm whose goal jumps, a cart that is pushed."""

from math import pi

import casadi as ca
import numpy as np
import pytest

from ocp import Solver, kinematics, mass_matrix
from ocp.mechanics.values.parameters import nominal
from ocp.models.swing_ups.cart_pole import cart_pole
from ocp.problems.robots import replan_report, ur5_replan
from ocp.problems.swing_ups import cart_pole_mpc


@pytest.fixture(scope="module")
def arm():
    """The arm after two jumps of its goal, certified."""
    task = ur5_replan.TASK
    return task.method(ur5_replan.problem(), task.transcription, Solver(), moves=2, certified=2e-3)


@pytest.fixture(scope="module")
def cart():
    """The cart after a push."""
    task = cart_pole_mpc.TASK
    settings = {"pushes": 1, "seconds": 4.0, "period": 0.1, "hardest": 1.0, "seed": 3}
    return task.method(cart_pole_mpc.problem(), task.transcription, Solver(), **settings)


def test_the_arm_is_planned_anew_at_every_jump_and_every_plan_is_certified(arm):
    turns = arm.require().statistics["replans"]
    assert (turns["count"], turns["solved"], turns["dropped"]) == (2, 2, 0)
    assert turns["certified"] == 2 and turns["violation"] <= 2e-3
    text = "\n".join(replan_report.lines(replan_report.report(arm)))
    assert "2 times, 2 solved, 0 not followed" in text and "2 to 0.002; worst violation" in text


def test_the_arms_tool_comes_to_rest_at_its_goal(arm):
    tool = arm.trace(lambda at: at.position("tool"), arm.duration)
    np.testing.assert_allclose(tool, (-0.4, 0.3, 0.3), rtol=0, atol=1e-8)
    assert np.abs(arm.qd(arm.times())).max() <= 0.5 * pi * (1 + 2e-3)


def test_goals_jump_within_reach_and_box():
    goals = ur5_replan.jumps(np.array([-0.4, 0.3, 0.3]), 500, 0.2, seed=1)
    assert (goals >= ur5_replan.BOX[:, 0]).all() and (goals <= ur5_replan.BOX[:, 1]).all()
    assert 0.15 < np.abs(np.diff(goals, axis=0)).max() <= 0.2
    again = ur5_replan.jumps(np.array([-0.4, 0.3, 0.3]), 500, 0.2, seed=1)
    assert np.array_equal(goals, again)


def test_a_pushed_cart_brings_its_pole_back(cart):
    pushes, turns = cart.require().statistics["pushes"], cart.statistics["replans"]
    assert (pushes["drawn"], pushes["recoverable"], pushes["recovered"]) == (1, 1, 1)
    assert turns["count"] == 40 and turns["dropped"] == 0 and turns["median_iterations"] <= 5
    text = "\n".join(cart_pole_mpc.lines(cart_pole_mpc.report(cart)))
    assert "1: 1 of 1 recovered from" in text and "40 times, 40 solved" in text


def test_a_push_gives_the_momenta_of_the_tree():
    tree = nominal(cart_pole_mpc.problem().tree)
    q = ca.SX.sym("q", 2)
    places = [kinematics.position(tree, q, "tip")[0], q[0]]
    tip, cart = (ca.evalf(ca.substitute(ca.jacobian(x, q), q, ca.DM([0, pi]))) for x in places)
    momenta = np.array(0.7 * cart - 0.2 * tip).ravel()
    mass = np.array(ca.DM(mass_matrix(cart_pole(), ca.DM([0, pi]))))
    expected = np.linalg.solve(mass, momenta)
    np.testing.assert_allclose(cart_pole_mpc.rates(0.7, -0.2), expected, rtol=0, atol=1e-12)


def test_without_pushes_nothing_is_reported():
    task = cart_pole_mpc.TASK
    solution = task.method(cart_pole_mpc.problem(), task.transcription, Solver())
    assert solution.success and not task.views.report(solution)


@pytest.mark.parametrize(
    ("module", "settings", "words"),
    [
        (ur5_replan, {"moves": -1}, "moves, reach, period: expected at least 0"),
        (ur5_replan, {"moves": 1, "reach": 0.0}, "got 1, 0 and 0.1"),
        (ur5_replan, {"certified": 3e-3}, r"certified: .* got 0.003 for none: set moves"),
        (cart_pole_mpc, {"pushes": 1, "seconds": 0.0}, "got 1, 0.05 and 0"),
    ],
)
def test_bad_settings_are_refused(module, settings, words):
    with pytest.raises(ValueError, match=words):
        module.TASK.method(module.problem(), module.TASK.transcription, Solver(), **settings)
