"""Plans: transcribed once, solved with other values of parameters and with free ones."""

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest

from ocp import BSpline, Parameter, Problem, at_start, duration, path, prepare, solve, verify
from ocp.models.arms.two_link import two_link
from ocp.problem.objectives import final, mixed_criterion

ARM = two_link()
POINTS = 12


def reach(peak=10.0, goal=1.0, objective=None):
    """The arm from rest to rest, its torques below a peak."""
    rest = path("rest", lambda at: at.qd, lower=0.0, upper=0.0, when="end")
    end = path("goal", lambda at: at.q, lower=(goal, -1.0), upper=(goal, -1.0), when="end")
    strong = path("strong", lambda at: at.tau, lower=-peak, upper=peak, labels=("one", "two"))
    return Problem(
        tree=ARM,
        motion=BSpline(points=POINTS),
        duration=(0.1, 5.0),
        objective=objective or duration(),
        constraints=(at_start(ARM, q=(0.0, -2.0), qd=0.0), end, rest, strong),
    )


def test_a_plan_solves_what_a_problem_of_numbers_states():
    peak = Parameter("peak", 10.0, "N m", 1.0, 50.0)
    goal = Parameter("goal", 1.0, "rad")
    plan = prepare(reach(peak, goal))
    for values in ({}, {"peak": 8.0, "goal": 0.8}):
        given = {"peak": 10.0, "goal": 1.0} | values
        planned, stated = plan.solve(**values), solve(reach(**given))
        assert planned.objective == stated.objective and planned.parameters == given
        assert planned.statistics["iterations"] == stated.statistics["iterations"]
        assert not planned.problem.requirements[-1].open


def test_a_plan_builds_no_graph_when_it_solves(monkeypatch):
    plan = prepare(reach(Parameter("peak", 10.0, "N m", 1.0, 50.0)))
    first = plan.solve()
    built = []
    for kind, name in ((ca, "nlpsol"), (ca, "Function"), (ca.SX, "sym"), (ca.MX, "sym")):
        made = getattr(kind, name)
        monkeypatch.setattr(
            kind, name, lambda *a, made=made, name=name, **k: (built.append(name), made(*a, **k))[1]
        )
    again = plan.solve(first, peak=9.0)
    assert again.success and 4 <= built.count("nlpsol") <= 6  # warm ones and models, and options
    built.clear()
    assert plan.solve(again, peak=9.5).success and built == []


def test_a_free_parameter_is_found_where_a_search_outside_finds_it():
    peak = Parameter("peak", 10.0, "N m", 1.0, 50.0, free=True)
    price = duration() + 0.02 * final("peak", lambda at: peak.expression)
    plan = prepare(reach(peak, objective=price))
    best = plan.solve()
    sides = [
        plan.solve(peak=best.parameters["peak"] + step).objective for step in (-0.01, 0.0, 0.01)
    ]
    assert best.success and abs(sides[1] - best.objective) < 1e-8
    assert min(sides[0], sides[2]) > sides[1]
    curvature = (sides[0] - 2 * sides[1] + sides[2]) / 1e-4
    assert abs(sides[2] - sides[0]) / 0.02 / curvature < 1e-3  # N m from the least
    check = verify(best)
    assert check.kkt is not None
    assert check.kkt < 1e-6
    assert best.multipliers["strong"].values.shape[0] == 2


def test_a_weight_moves_along_a_plan():
    share = Parameter("share", 0.0, "", 0.0, 1.0)
    weighed = (1 - share) * mixed_criterion(0.0) + share * mixed_criterion(1.0)
    plan = prepare(reach(objective=weighed))
    for u in (0.0, 0.3):
        assert plan.solve(share=u).objective == pytest.approx(
            solve(reach(objective=mixed_criterion(u))).objective, rel=1e-9
        )


def test_an_open_duration_is_the_duration():
    T = Parameter("T", 0.6, "s", 0.4, 2.0)
    plan = prepare(replace(reach(20.0, objective=mixed_criterion(1.0)), duration=T))
    stated = solve(replace(reach(20.0, objective=mixed_criterion(1.0)), duration=0.7))
    planned = plan.solve(T=0.7)
    assert planned.duration == 0.7
    assert planned.objective == pytest.approx(stated.objective, rel=1e-9)
    assert np.allclose(planned.points, stated.points, atol=1e-6)
    t = planned.times(9)
    assert planned.tau(t) == pytest.approx(replace(planned, plan=None).tau(t), abs=1e-12)


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        (lambda p, twin: reach(p, twin), "parameter 'peak': two parameters have this name"),
        (
            lambda p, twin: reach(p, objective=p * duration()),
            "objective: weight: parameter 'peak' is free",
        ),
    ],
)
def test_what_cannot_be_prepared_is_refused_by_name(statement, words):
    peak = Parameter("peak", 10.0, "N m", 1.0, 50.0, free=True)
    with pytest.raises(ValueError, match=words):
        prepare(statement(peak, Parameter("peak", 1.0)))


def test_wrong_values_are_refused_by_name():
    plan = prepare(reach(Parameter("peak", 10.0, "N m", 1.0, 50.0)))
    with pytest.raises(ValueError, match="parameter 'peek': the problem has no such parameter"):
        plan.solve(peek=3.0)
    with pytest.raises(ValueError, match="'peak': expected a number within 1 and 50 N m, got 60"):
        plan.solve(peak=60.0)
    with pytest.raises(ValueError, match="free: the problem has no parameter 'speed'"):
        prepare(reach(), free=("speed",))
