"""Derivatives of solutions by parameters, beside central differences of solves."""

from dataclasses import replace

import numpy as np
import pytest

import ocp
from ocp import PLAIN, BSpline, Parameter, Solver, prepare
from ocp.problem.objectives import final
from ocp.problems.arms.two_link_lift import problem as two_link_lift
from ocp.problems.mechanisms.four_bar_effort import problem as four_bar
from ocp.problems.swing_ups.cart_pole_swing import problem as cart_pole

TIGHT = Solver(options={"tol": 1e-10, "bound_relax_factor": 0.0})
LIFT = (
    Parameter("load", 10.0, "N", 0.0, 20.0),
    Parameter("gravity", 9.8062, "m/s2"),
    Parameter("torque", 10.0, "N m", 1.0, 100.0),
    Parameter("u", 0.01, "", 0.0, 1.0),
)


def solved(problem, parameters, **arguments):
    """The solution of a problem with parameters in place of its flags."""
    stated = problem(**{each.name: each for each in parameters}, **arguments)
    outputs = {"tip": lambda at: at.q[0] + at.q[1], "power": lambda at: at.tau * at.qd}
    return prepare(replace(stated, outputs=outputs), solver=TIGHT).solve().require(coarse=True)


def beside(solution, name):
    """Solutions to both sides of a parameter, and what they are apart."""
    step = 1e-4 * max(0.1, abs(solution.parameters[name]))
    values = dict(solution.parameters)
    ends = (
        solution.plan.solve(solution, **values | {name: values[name] + sign * step}).require(
            coarse=True
        )
        for sign in (1, -1)
    )
    return (*ends, 2 * step)


def agree(ours, measured, tolerance):
    assert np.abs(ours - measured).max() <= tolerance * np.abs(measured).max()


@pytest.fixture(scope="module")
def lift():
    return solved(two_link_lift, LIFT, points=12)


@pytest.mark.parametrize("name", [each.name for each in LIFT])
def test_a_lift_moves_as_its_solves_beside_it(lift, name):
    ahead, behind, apart = beside(lift, name)
    for of in ("objective", "duration"):
        measured = (getattr(ahead, of) - getattr(behind, of)) / apart
        assert ocp.derivative(lift, of, name) == pytest.approx(measured, rel=1e-5)
    t = np.linspace(0.0, 0.99 * lift.duration, 40)
    for of in ("q", "qd", "tau"):
        measured = (getattr(ahead, of)(t) - getattr(behind, of)(t)) / apart
        agree(ocp.derivative(lift, of, name)(t), measured, 1e-4)
    for of in ("tip", "power"):
        agree(
            ocp.derivative(lift, of, name)(t),
            (ahead.output(of, t) - behind.output(of, t)) / apart,
            1e-4,
        )
    terms = zip(ahead.terms, behind.terms)
    for (of, _, more), (_, _, less) in terms:
        assert ocp.derivative(lift, of, name) == pytest.approx((more - less) / apart, rel=1e-4)


@pytest.mark.parametrize(
    ("problem", "parameters", "arguments"),
    [
        (cart_pole, {"travel": 1.0, "duration": 2.0}, {"points": 14}),
        (four_bar, {"duration": 1.0, "gravity": 9.81}, {"points": 16}),
    ],
    ids=["cart_pole", "four_bar"],
)
def test_motions_move_as_their_solves_beside_them(problem, parameters, arguments):
    stated = [Parameter(name, value, "", 0.1, 20.0) for name, value in parameters.items()]
    solution = solved(problem, stated, **arguments)
    for name in parameters:
        ahead, behind, apart = beside(solution, name)
        t = np.linspace(0.0, 0.99 * solution.duration, 40)
        agree(ocp.derivative(solution, "q", name)(t), (ahead.q(t) - behind.q(t)) / apart, 1e-4)
        measured = (ahead.objective - behind.objective) / apart
        assert ocp.derivative(solution, "objective", name) == pytest.approx(measured, rel=1e-5)


def test_what_is_found_moves_with_what_is_given():
    peak = Parameter("peak", 8.0, "N m", 1.0, 50.0, free=True)
    goal = Parameter("load", 10.0, "N")
    arm = two_link_lift(torque=peak, load=goal, points=12)
    least = replace(arm, duration=0.6, objective=final("peak", lambda at: peak.expression))
    solution = prepare(least, solver=TIGHT).solve().require(coarse=True)
    ahead, behind, apart = beside_found(solution)
    measured = (ahead.parameters["peak"] - behind.parameters["peak"]) / apart
    assert ocp.derivative(solution, "peak", "load") == pytest.approx(measured, rel=1e-5)
    assert ocp.derivative(solution, "objective", "load") == pytest.approx(measured, rel=1e-5)
    with pytest.raises(ValueError, match="by: parameter 'peak' was found, not given"):
        ocp.derivative(solution, "objective", "peak")


def test_a_free_parameter_that_is_held_is_given():
    peak = Parameter("peak", 8.0, "N m", 1.0, 50.0, free=True)
    plan = prepare(two_link_lift(torque=peak, points=10), solver=TIGHT)
    held = plan.solve(peak=9.0).require(coarse=True)
    ahead, behind = (
        plan.solve(held, peak=number).require(coarse=True) for number in (9.001, 8.999)
    )
    measured = (ahead.objective - behind.objective) / 0.002
    assert ocp.derivative(held, "objective", "peak") == pytest.approx(measured, rel=1e-6)


def beside_found(solution):
    """Solutions to both sides of the load, and what they are apart."""
    ends = (
        solution.plan.solve(solution, load=load).require(coarse=True) for load in (10.001, 9.999)
    )
    return (*ends, 0.002)


def test_derivatives_are_checked_on_request(lift, monkeypatch):
    value = ocp.derivative(lift, "duration", "load", verify=True)
    assert value == ocp.derivative(lift, "duration", "load")
    monkeypatch.setattr(
        "ocp.sensitivity.solution_sensitivity._named_derivative", lambda *_: 1.01 * value
    )
    with pytest.raises(ValueError, match="d duration / d load differs by .* central differences"):
        ocp.derivative(lift, "duration", "load", verify=True)


@pytest.mark.parametrize(
    ("of", "by", "message"),
    [
        ("objective", "weight", "no parameter 'weight'; it has torque, gravity, u, load"),
        ("speed", "load", "of: expected one of objective, duration, x, q, .*, got 'speed'"),
    ],
)
def test_unknown_names_are_refused(lift, of, by, message):
    with pytest.raises(ValueError, match=message):
        ocp.derivative(lift, of, by)


def test_what_has_no_plan_or_no_optimum_has_no_derivatives(lift):
    with pytest.raises(ValueError, match="no plan that leaves parameters open"):
        ocp.derivative(replace(lift, plan=None), "objective", "load")
    with pytest.raises(ValueError, match="no optimum: Maximum_Iterations_Exceeded"):
        failed = replace(lift, success=False, status="Maximum_Iterations_Exceeded")
        ocp.derivative(failed, "objective", "load")
    with pytest.raises(ValueError, match="no multipliers"):
        ocp.derivative(replace(lift, multipliers={}, duration=1.01 * lift.duration), "q", "load")


def test_curves_on_free_knots_are_refused():
    problem = two_link_lift(load=LIFT[0], points=6)
    free = replace(problem, motion=BSpline(points=6, knots="free"))
    one = Solver(options={"max_iter": 1})
    begun = prepare(free, solver=one, attempts=PLAIN).solve()
    with pytest.raises(ValueError, match="'q' is not known of a motion on free knots"):
        ocp.derivative(replace(begun, success=True), "q", "load")


def test_an_optimum_that_is_not_strict_is_refused_by_what_moves():
    load = Parameter("load", 10.0, "N")
    idle = replace(
        two_link_lift(load=load, points=12), objective=final("nothing", lambda at: 0 * at.T)
    )
    solution = prepare(idle).solve().require()
    with pytest.raises(ValueError, match="not strict: .* moves .*(shoulder|elbow|joint|T)"):
        ocp.derivative(solution, "q", "load")
