"""Steps of a plan in real time."""

from dataclasses import replace

import numpy as np
import pytest

from ocp import Parameter, Solver, at_end, at_start, effort, path, prepare, track
from ocp.interior_point import interior_point_backend
from ocp.interior_point.iterate import Bounds, centre
from ocp.models.arms.two_link import two_link
from ocp.problems.arms.two_link_time import problem as least_time
from ocp.problems.robots.ur5_replan import problem as reach
from ocp.problems.swing_ups.cart_pole_mpc import problem as balance
from ocp.solving.real_time_newton import FLOOR
from ocp.transcription.parameters.parameter_bounds import ParameterBounds

STATE = [Parameter(name, value) for name, value in zip("abcd", (0.0, -2.0, 0.0, 0.0))]
GOAL = Parameter("goal", 1.0, "rad", -2.0, 2.0)
STRENGTH = Parameter("strength", 8.0, "N m", 1.0, 50.0)


@pytest.fixture(scope="module")
def arm():
    tree = two_link(torque=10.0)
    limit = path(
        "strength",
        lambda at: at.tau,
        lower=-STRENGTH,
        upper=STRENGTH,
        labels=("shoulder", "elbow"),
    )
    statement = replace(
        least_time(),
        tree=tree,
        duration=0.8,
        objective=effort(tree),
        constraints=(
            at_start(tree, q=STATE[:2], qd=STATE[2:]),
            at_end(tree, q=(GOAL, -1.0), qd=0.0),
            limit,
        ),
    )
    return prepare(statement)


@pytest.fixture(scope="module")
def first(arm):
    return arm.solve().require(coarse=True)


def values(plan, **given):
    return np.array([given.get(each.name, each.value) for each in plan.parameters])


def test_steps_converge_to_the_optimum_of_new_values(arm, first):
    new = {"goal": 1.3, "strength": 6.0}
    expected = arm.solve(first, **new).require(coarse=True)
    step = first
    for _ in range(12):
        step = arm.step(step, values(arm, **new))
    assert step.newton == 1 and step.violation < 1e-9
    assert np.abs(step.points - expected.points).max() < 0.02
    assert abs(step.solution.objective / expected.objective - 1.0) < 0.01
    assert not step.solution.success and step.solution.parameters["goal"] == 1.3


def test_steps_take_torques_to_their_limit_but_not_past_it(arm, first):
    step = arm.step(first, values(arm, goal=1.3, strength=5.5), newton=30)
    step = arm.step(step, values(arm, goal=1.3, strength=5.5), newton=30)
    peak = np.abs(step.solution.tau(step.solution.times())).max()
    assert 4.5 < peak < 5.6


def test_a_newton_step_evaluates_each_derivative_once(arm, first):
    step = arm.step(first, values(arm))
    evaluators = step._running.core.program.evaluators
    before = {name: each.calls for name, each in evaluators.items()}
    arm.step(step, values(arm, goal=1.1))
    taken = {name: each.calls - before[name] for name, each in evaluators.items()}
    assert taken == {"f": 0, "g": 0, "grad_f": 1, "jac_g": 1, "hess_l": 1}


def test_after_a_jump_more_steps_are_taken_until_rows_are_met(arm, first):
    step = arm.step(first, values(arm, goal=0.6), newton=30)
    assert 1 < step.newton < 30 and step.violation <= 1e-3
    step = arm.step(step, values(arm, goal=0.6), newton=30)
    assert arm.step(step, values(arm, goal=0.6), newton=30).newton == 1


def test_a_deadline_that_has_passed_leaves_the_former_plan(arm, first):
    step = arm.step(first, values(arm))
    late = arm.step(step, values(arm), seconds=-1.0)
    assert late.newton == 0 and np.array_equal(late.x, step.x)


def test_time_that_has_passed_leaves_the_rest_of_the_motion(arm, first):
    step = arm.step(first, values(arm))
    state = np.concatenate([step.solution.q(0.1), step.solution.qd(0.1)])
    new = values(arm, **dict(zip("abcd", state)))
    rest = arm.step(step, new, passed=0.1, seconds=-1.0)
    for t in (0.0, 0.2, 0.5):
        assert np.abs(rest.solution.q(t) - step.solution.q(t + 0.1)).max() < 1e-2
    assert np.abs(rest.solution.q(0.8) - step.solution.q(0.8)).max() < 1e-2
    onward = arm.step(step, new, passed=0.1, newton=30)
    assert np.abs(onward.solution.q(0.0) - state[:2]).max() < 1e-9 and onward.violation <= 1e-3


@pytest.mark.parametrize("problem", [reach, balance], ids=["reach", "balance"])
def test_bounds_for_new_values_are_those_of_the_closed_problem(problem):
    plan = prepare(problem())
    bounds = ParameterBounds(plan.transcribed.only_part)
    rng = np.random.default_rng(3)
    for _ in range(5):
        new = values(plan) + 1e-2 * rng.standard_normal(len(plan.parameters))
        nlp = plan.at(dict(zip((each.name for each in plan.parameters), new.tolist()))).nlp
        for own, other in zip(bounds(new), (nlp.lower, nlp.upper, nlp.g_lower, nlp.g_upper)):
            assert np.array_equal(own, other)


def test_open_limits_of_rows_and_of_a_duration_are_those_of_the_closed_problem():
    longest = Parameter("longest", 2.0, "s", 0.5, 5.0)
    peak = Parameter("peak", 8.0, "N m", 1.0, 50.0)
    limited = path("peak", lambda at: at.tau, lower=-peak, upper=2.0 * peak)
    statement = replace(
        least_time(),
        duration=(0.1, longest),
        constraints=(*least_time().constraints, limited),
    )
    plan = prepare(statement)
    new = values(plan, longest=1.5, peak=7.0)
    nlp = plan.at({"longest": 1.5, "peak": 7.0}).nlp
    own = ParameterBounds(plan.transcribed.only_part)(new)
    assert own[1][0] == 1.5
    for side, other in zip(own, (nlp.lower, nlp.upper, nlp.g_lower, nlp.g_upper)):
        assert np.array_equal(side, other)


def test_a_receding_horizon_of_steps_arrives(arm):
    done = track(
        arm,
        ((0.0, -2.0), (0.0, 0.0)),
        period=0.05,
        periods=6,
        goals=lambda t: {"goal": 1.0 if t < 0.1 else 1.1},
        newton=20,
    )
    assert done.dropped_plans == 0 and all(turn.followed for turn in done.replans)
    assert {turn.solution.status for turn in done.replans[1:]} == {"Real_Time_Step"}
    assert max(turn.solution.statistics["violation"] for turn in done.replans[1:]) <= 1e-3


def test_what_cannot_be_is_refused_by_name(arm, first):
    with pytest.raises(ValueError, match=r"step: values: expected shape \(6,\), got \(2,\)"):
        arm.step(first, [1.0, 2.0])
    with pytest.raises(ValueError, match="parameter 'goal'"):
        arm.step(first, values(arm, goal=3.0))
    with pytest.raises(ValueError, match="step: newton: expected"):
        arm.step(first, values(arm), newton=0)
    with pytest.raises(ValueError, match=r"step: seconds: expected a number \(s\), inf for no"):
        arm.step(first, values(arm), seconds=np.nan)
    with pytest.raises(ValueError, match="step: former: expected a Solution, or a Step of this"):
        arm.step(None, values(arm))
    other = prepare(balance())
    with pytest.raises(ValueError, match="step: former: expected a Solution, or a Step of this"):
        other.step(arm.step(first, values(arm)), values(other))


def test_the_central_path_keeps_the_difference_of_distance_and_multiplier():
    bounds = Bounds(np.array([0.0, -np.inf, -1.0]), np.array([np.inf, 2.0, 1.0]))
    v, z_lower, z_upper = centre(
        np.array([0.0, 1.0, 1.0]), np.array([-0.5, 0.0, 0.3]), bounds, FLOOR
    )
    assert np.allclose([v[0] * z_lower[0], (2.0 - v[1]) * z_upper[1]], FLOOR)
    assert np.allclose(v[0] - z_lower[0], -0.5) and np.allclose((2 - v[1]) - z_upper[1], 1.0)
    assert np.allclose((1.0 - v[2]) - z_upper[2], -0.3)
    assert z_upper[0] == 0.0 and z_lower[1] == 0.0


def test_a_warm_solve_of_the_interior_point_begins_on_the_central_path(monkeypatch):
    seen = []
    search = interior_point_backend.Search.search_from

    def watched(self, point):
        bounds = self.stage.bounds
        low, high = bounds.below, bounds.above
        products = point.z_lower[low] * point.below[low], point.z_upper[high] * point.above[high]
        seen.append((self.mu, np.concatenate(products)))
        return search(self, point)

    monkeypatch.setattr(interior_point_backend.Search, "search_from", watched)
    plan = prepare(balance(), solver=Solver(plugin="structured"))
    cold = plan.solve()
    warm = plan.solve(cold, speed=1.02)
    (_, _), (mu, products) = seen
    assert warm.success and mu == 1e-6 and np.allclose(products, mu)
    assert warm.statistics["iterations"] < cold.statistics["iterations"]
