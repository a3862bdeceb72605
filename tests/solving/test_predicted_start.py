"""Solves that begin where a solution with other values foretells."""

import casadi as ca
import numpy as np
import pytest

from ocp import Attempt, Parameter, Solver, prepare
from ocp.problems.arms.pr_mixed import problem as pr_mixed
from ocp.problems.swing_ups.cart_pole_swing import problem as cart_pole
from ocp.solving import plan as plans


def without_foresight(monkeypatch):
    monkeypatch.setattr(plans, "predict_start", lambda *arguments: arguments[-1])


@pytest.mark.parametrize(
    ("problem", "name", "values", "most"),
    [(pr_mixed, "stroke", (0.6854, 0.72), 10), (cart_pole, "travel", (1.0, 1.05), 5)],
    ids=["pr_mixed", "cart_pole"],
)
def test_few_iterations_lead_from_one_optimum_to_the_next(monkeypatch, problem, name, values, most):
    parameter = Parameter(name, values[0], "m")
    plan = prepare(problem(**{name: parameter}, points=16))
    solution = plan.solve()
    there = plan.solve(solution, **{name: values[1]}).require(coarse=True)
    assert there.statistics["iterations"] <= most < 0.5 * solution.statistics["iterations"] + 1
    assert there.statistics["prediction_iterations"] > 0
    without_foresight(monkeypatch)
    plain = plan.solve(solution, **{name: values[1]}).require(coarse=True)
    assert there.objective == pytest.approx(plain.objective, rel=1e-6)
    assert plain.statistics["iterations"] > there.statistics["iterations"]


@pytest.fixture(scope="module")
def arm():
    plan = prepare(pr_mixed(stroke=Parameter("stroke", 0.6, "m"), points=10))
    return plan, plan.solve().require()


def test_nothing_is_foretold_without_need_or_means(arm):
    plan, solution = arm
    for guess, solver, values in (
        (solution, plan.solver, {}),
        (None, plan.solver, {"stroke": 0.62}),
        (solution, Solver(hessian="lbfgs"), {"stroke": 0.62}),
    ):
        other = plans.replace(plan, solver=solver)
        assert other.solve(guess, **values).statistics["prediction_iterations"] == 0
    first = (Attempt(feasible_first=True),)
    there = plan.solve(solution, attempts=first, stroke=0.62)
    assert there.statistics["prediction_iterations"] == 0


def test_options_of_a_cold_start_do_not_reach_a_foretold_one_but_the_users_do(arm):
    plan, solution = arm
    tuned = (Attempt(options={"mu_init": 1.0, "max_iter": 100}),)
    there = plan.solve(solution, attempts=tuned, stroke=0.62).require()
    assert there.statistics["options"]["mu_init"] <= 1e-5
    assert there.statistics["options"]["max_iter"] == 100
    stated = plans.replace(plan, solver=Solver(options={"mu_init": 1e-3}))
    assert stated.solve(solution, stroke=0.62).statistics["options"]["mu_init"] == 1e-3


def test_a_solve_with_other_values_makes_no_graphs(arm, monkeypatch):
    plan, solution = arm
    plan.solve(solution, stroke=0.61)
    made = []
    for name in ("Function", "nlpsol"):
        original = getattr(ca, name)
        monkeypatch.setattr(ca, name, lambda *a, make=original: made.append(a[0]) or make(*a))
    there = plan.solve(solution, stroke=0.65).require()
    assert np.isclose(there.parameters["stroke"], 0.65) and made == []
