"""Minimal constraint relaxation of infeasible problems, and relaxed programs."""

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest
from muscled_arm import excitations, muscle

from ocp import Attempt, BSpline, Problem, Radau, Solver, Transcription, path, solve, squares
from ocp.diagnosis.elastic_weights import equal_price, is_limit, is_stated, row_prices
from ocp.diagnosis.explain import rows_at
from ocp.models.mechanisms.four_bar import four_bar
from ocp.problems.benchmarks.broken import BROKEN, NAMED, arm, is_named
from ocp.problems.benchmarks.motions.compare_ladder import lift
from ocp.solvers.budget import budget, relaxation_solver
from ocp.solvers.elastic_program import Prices, relax
from ocp.solvers.minimize import minimize
from ocp.solvers.nlp import NLP
from ocp.transcription import transcribe_phase
from ocp.transcription.transcribe import transcribe

TWICE = (Attempt(), Attempt(feasible_first=True))
QUICK = (
    *("joint limits of 1 rad", "a given duration of 0.05 s", "a place at the start out of reach"),
    *("spheres as large as the arm", "a stride of 3 m", "a cart at the end of a short rail"),
)


@pytest.mark.parametrize("name", QUICK)
def test_the_culprit_is_among_the_first_rows_that_are_named(name):
    broken = BROKEN[name]
    try:
        solution = solve(broken.problem(), attempts=TWICE)
    except ValueError as error:
        assert is_named(broken, ("", str(error)))
        return
    assert not solution.success and is_named(broken, solution.explanation)


def test_rows_that_are_asked_for_at_no_instant_are_not_looked_at():
    """As those of stages that states of passive loops have, of which none can be the farthest."""
    plain = four_bar()
    loose = [replace(each, actuated=False) for each in plain.joints]
    fibre = muscle("fore", 0.03, "crank", tendon="compliant", force=900.0)
    tree = replace(plain, joints=loose, elements=(*plain.elements, fibre))
    objective = squares("excitation", excitations)
    stated = Problem(tree=tree, motion=BSpline(points=8), duration=0.5, objective=objective)
    program = transcribe(stated, Transcription(method=Radau(intervals=3)))
    asked = [row.any() for part in program.parts for group in part.groups for row in group.active]
    rows = list(rows_at(program, np.full(len(program.nlp.lower), 0.1)))
    assert len(rows) == sum(asked) < len(asked) and all(row.values.size for row in rows)


def test_thirty_kinds_of_demands_are_broken():
    assert len(BROKEN) >= 30
    assert len({culprit for broken in BROKEN.values() for culprit in broken.culprits}) >= 25


def test_a_lift_without_a_motion_names_the_torque_limits_with_joint_amount_and_time():
    statement = lift(11, 12)
    lines = solve(statement, attempts=TWICE).explanation[1 : 1 + NAMED]
    assert lines[0].startswith(("torque_limits (elbow): must give", "torque_limits (shoulder): m"))
    amount = float(lines[0].split("must give way by ")[1].split(" N m at t = ")[0])
    strong = statement.tree.joints[0].torque[1] + 1.05 * amount
    relieved = replace(lift(11, 12), constraints=_with_torque(statement, strong))
    assert solve(relieved).success


def _with_torque(statement, torque):
    return [
        replace(one, lower=-torque, upper=torque) if one.name == "torque_limits" else one
        for one in statement.requirements
    ]


def test_one_of_two_demands_that_contradict_each_other_is_named_with_the_gap_between_them():
    def bent(tree):
        return (
            path("low", lambda at: at.q[1], upper=0.7, when=(0.5, 0.5), units="rad"),
            path("high", lambda at: at.q[1], lower=0.74, when=(0.5, 0.5), units="rad"),
        )

    first, second, *_ = solve(arm(more=bent), attempts=TWICE).explanation[1:]
    assert first.split()[0] in ("low", "high") and "must give way by 0.04 rad at" in first
    assert second.startswith("or instead") and "must give way by 0.04 rad at" in second


def test_rows_are_listed_once_and_the_worst_relative_to_its_bound_first():
    def reach(tree):
        return tuple(
            path(name, lambda at: at.position("tip")[0], lower=least, labels=("tip",), units="m")
            for name, least in (("large", 1000.0), ("medium", 5.0), ("small", 0.9))
        )

    stopped = solve(arm(more=reach), solver=Solver(options={"max_iter": 0}))
    names = [line.split(":")[0] for line in stopped.explanation if ": violated by" in line]
    assert len(names) == len(set(names))
    assert [name for name in names if "tip" in name] == [
        "small (tip)",
        "medium (tip)",
        "large (tip)",
    ]


def _program():
    """minimise (x - 3)^2 + y^2 with x y >= 4, x + y = 3, 0 <= x <= 4, |y| <= 1."""
    x = ca.MX.sym("x", 2)
    return NLP(
        lower=np.array([0.0, -1.0]),
        upper=np.array([4.0, 1.0]),
        g_lower=np.array([4.0, 3.0]),
        g_upper=np.array([np.inf, 3.0]),
        objective=ca.Function("f", [x], [(x[0] - 3) ** 2 + x[1] ** 2], ["x"], ["f"]),
        constraints=ca.Function("g", [x], [ca.vertcat(x[0] * x[1], x[0] + x[1])], ["x"], ["g"]),
    )


def _prices(*, x=np.inf, product=np.inf, total=np.inf):
    rows = np.array([product, total])
    return Prices(lower=np.full(2, x), upper=np.full(2, x), g_lower=rows, g_upper=rows)


@pytest.mark.parametrize(
    ("chosen", "paid"),
    [
        ({"product": 1.0}, 2.0),  # x = 2, y = 1
        ({"product": 0.5}, 1.0),
        ({"total": 1.0}, 2.0),  # x = 4, y = 1
        ({"product": 10.0, "total": 1.0}, 2.0),
    ],
)
def test_the_least_that_is_paid_for_a_contradiction(chosen, paid):
    eased = relax(_program(), _prices(**chosen), np.array([1.0, 1.0]))
    outcome = minimize(eased.nlp, Solver(), eased.begin)
    assert outcome.success and outcome.f == pytest.approx(paid, abs=1e-4)


def test_bounds_of_variables_give_way_too_but_no_farther_than_the_widest():
    x = np.array([1.0, 1.0])
    chosen = _prices(x=1.0, product=100.0, total=1.0)
    free = relax(_program(), chosen, x)
    far = np.full(2, np.inf)
    narrow = relax(_program(), chosen, x, (-far, np.array([4.0, 1.0])))
    costs = [minimize(one.nlp, Solver(), one.begin).f for one in (free, narrow)]
    assert costs == pytest.approx([4 * np.sqrt(2.0) - 4, 2.0], abs=1e-4)


def test_a_relaxed_program_brings_the_derivatives_of_what_it_relaxes():
    transcribed = transcribe_phase(lift(9, 12))
    costs = row_prices(transcribed, is_stated, equal_price)
    rng = np.random.default_rng(3)
    eased = relax(transcribed.nlp, costs, transcribed.guess).nlp
    z = rng.uniform(0.2, 1.0, len(eased.lower))
    multipliers = rng.uniform(-1.0, 1.0, len(eased.g_lower))
    symbol = ca.MX.sym("z", len(z))
    f, g = eased.objective(symbol), eased.constraints(symbol)
    plain = ca.Function("plain", [symbol], [ca.gradient(f, symbol), ca.jacobian(g, symbol)])
    bend = ca.Function("bend", [symbol], [ca.hessian(0.7 * f + ca.dot(multipliers, g), symbol)[0]])
    ours = (eased.gradient(z, [])[1], eased.jacobian(z, [])[1])
    for own, theirs in zip(ours, plain(z)):
        assert np.abs(np.array(own) - np.array(theirs)).max() < 1e-9
    upper = np.array(eased.hessian("exact")(z, [], 0.7, multipliers))
    assert np.abs(upper - np.triu(np.array(bend(z)))).max() < 1e-8


def test_prices_are_relative_to_bounds_on_the_average_of_instants():
    transcribed = transcribe_phase(lift(9, 12))
    torque = lift(9, 12).tree.joints[0].torque[1]
    costs = row_prices(transcribed, is_limit, equal_price)
    (limits,) = (rows for rows in transcribed.rows if rows.name == "torque_limits")
    assert np.unique(costs.g_upper[limits.row]) == pytest.approx([1.0 / len(limits.s) / torque])
    asked = np.delete(costs.g_upper, limits.row.ravel())
    assert np.isinf(asked).all() and np.isinf(costs.lower).all() and np.isinf(costs.upper).all()


@pytest.mark.parametrize(
    "solver",
    [
        Solver(hessian="lbfgs"),
        Solver(plugin="sqpmethod", options={"max_iter": 400, "qpsol": "qrqp"}),
    ],
    ids=["lbfgs", "sqpmethod"],
)
def test_what_must_give_way_is_found_with_exact_curvature_whatever_solver_was_asked_for(solver):
    broken = BROKEN["a place at the start out of reach"]
    few = (Attempt(options={"max_iter": 3}),) * 2
    problem = broken.problem()
    eased = relaxation_solver(solver)
    assert eased.name == "ipopt" and eased.hessian == "exact"
    if solver.name == "ipopt":
        assert is_named(broken, solve(problem, solver=solver, attempts=few).explanation)
    grant = budget(solver)
    left = grant.after(100, 1.0, 1.0).limit(eased).options
    assert left.get("max_iter", 300) == 300
