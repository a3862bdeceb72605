"""Solver status: a success only where the point is one."""

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest

from ocp.solvers import INTERRUPTED, NLP, Iterate, Solver, kkt_residual, minimize
from ocp.solvers.nlp import own_residual, with_derivatives
from ocp.solvers.solver_backend import Answer, Backend
from ocp.solvers.statuses import CUT_SHORT, STALLED, says_done, snopt_status

FREE = np.full(2, np.inf)
ACCEPTABLE = "Solved_To_Acceptable_Level"


def valley(floor=0.0):
    """A curved valley, (1 - x)^2 + 100 (y - x^2)^2, down to a height of x >= floor."""
    x = ca.MX.sym("x", 2)
    f = (1 - x[0]) ** 2 + 100 * (x[1] - x[0] ** 2) ** 2
    return NLP(
        lower=np.array([floor - 10.0, -10.0]),
        upper=FREE,
        g_lower=np.zeros(1),
        g_upper=np.full(1, np.inf),
        objective=ca.Function("f", [x], [f]),
        constraints=ca.Function("g", [x], [x[0] - floor]),
    )


def test_an_acceptable_point_that_is_none_is_no_success():
    """Far up the valley the slope is steep, so that one of 7 looks small beside it."""
    loose = {"tol": 1e-12, "acceptable_tol": 1e-2, "acceptable_iter": 1}
    outcome = minimize(valley(-9.0), Solver(options=loose), np.array([-9.0, 8.0]))
    residual = kkt_residual(valley(-9.0), outcome.x, outcome.x_multipliers, outcome.g_multipliers)
    assert (outcome.status, outcome.success) == (ACCEPTABLE, False) and residual > 1


def test_an_acceptable_point_that_is_one_is_a_success():
    loose = {"tol": 1e-12, "acceptable_tol": 1e-4, "acceptable_iter": 1}
    outcome = minimize(valley(), Solver(options=loose), np.array([1.1, 1.2]))
    assert (outcome.status, outcome.success) == (ACCEPTABLE, True)
    assert outcome.x == pytest.approx([1.0, 1.0], abs=1e-3)


def stalled(x, slope=0.0, floor=0.0, **options):
    """The Outcome of an IPOPT that comes no further than a point x in the valley, where a
    multiplier is off by a slope."""

    def prepare(nlp, solver, start, see):
        x_now = np.array(x)
        here = Iterate(
            x=x_now,
            g=np.array(nlp.constraints(x_now)).ravel(),
            x_multipliers=np.array([0.0, slope]),
            g_multipliers=np.zeros(1),
        )
        return lambda: Answer(iterate=here, status=STALLED, success=False, iterations=7)

    made_up = Backend(name="ipopt", prepare=prepare, check=lambda options: None)
    return minimize(valley(floor), Solver(plugin=made_up, options=options), np.zeros(2))


@pytest.mark.parametrize(
    ("slope", "options", "acceptable"),
    [
        (0.0, {}, True),
        (0.9e-6, {}, True),  # IPOPT's own acceptable tolerance
        (1.1e-6, {}, False),
        (1.1e-6, {"tol": 1e-5}, True),
        (1.1e-6, {"acceptable_tol": 1e-5}, True),
        (2e-3, {"acceptable_tol": 1.0}, False),  # no minimum in units of the program
        (np.nan, {}, False),
    ],
)
def test_where_ipopt_stalls_the_point_decides(slope, options, acceptable):
    outcome = stalled((1.0, 1.0), slope, **options)
    loose = options.get("acceptable_tol") == 1.0
    assert outcome.success == acceptable and outcome.iterations == 7
    assert outcome.status == (ACCEPTABLE if acceptable or loose else STALLED)
    assert says_done("ipopt", outcome.status) or not outcome.success


@pytest.mark.parametrize(("x", "floor"), [((1.0, 1.0), 1.0 + 2e-6), ((0.3, 0.2), 0.0)])
def test_a_stall_out_of_bounds_or_on_a_slope_is_a_failure(x, floor):
    outcome = stalled(x, floor=floor)
    assert (outcome.status, outcome.success) == (STALLED, False)


def test_words_of_success_are_those_of_the_solver():
    assert says_done("ipopt", "Solve_Succeeded") and says_done("bonmin", "SUCCESS")
    assert says_done("sleqp", "optimal")
    assert says_done("snopt", snopt_status(1)) and not says_done("snopt", snopt_status(13))
    assert not says_done("ipopt", "infeasible") and not says_done("ipopt", snopt_status(1))
    assert says_done("mine", "whatever I say")
    for solver in ("ipopt", "snopt", "mine"):
        assert not says_done(solver, INTERRUPTED) and not says_done(solver, CUT_SHORT)


@pytest.mark.parametrize(
    ("x", "of_variables", "of_rows", "residual"),
    [
        ((1.0, 1.0), (0.0, 0.0), 0.0, 0.0),
        ((1.0, 1.0), (0.0, 0.5), 0.0, 0.5),  # a slope that nothing balances
        ((1.0, 1.0), (-0.1, 0.0), 0.1, 1.1),  # 11 from the bound that the multiplier is of
        ((1.0, 1.0), (0.1, 0.0), -0.1, 0.1),  # of a bound that is not there
        ((1.0, np.nan), (0.0, 0.0), 0.0, np.nan),
        ((1.0, 1.0), (np.nan, 0.0), 0.0, np.nan),
        ((1.0, 1.0), (0.0, 0.0), np.nan, np.nan),
    ],
)
def test_every_first_order_condition_counts(x, of_variables, of_rows, residual):
    """Slope, feasibility, and multiplier times distance to its bound; by two derivatives."""
    nlp = valley()
    arguments = (np.array(x), np.array(of_variables), np.array([of_rows]))
    point = Iterate(
        x=arguments[0],
        g=np.array(nlp.constraints(arguments[0])).ravel(),
        x_multipliers=arguments[1],
        g_multipliers=arguments[2],
    )
    for value in (kkt_residual(nlp, *arguments), own_residual(with_derivatives(nlp), point)):
        assert value == pytest.approx(residual, nan_ok=True)


def test_a_multiplier_of_a_row_far_from_its_bound_is_a_residual():
    """21 from its lower bound, with a multiplier of 0.1."""
    nlp = replace(valley(), g_lower=np.full(1, -20.0))
    arguments = np.ones(2), np.array([0.1, 0.0]), np.array([-0.1])
    assert kkt_residual(nlp, *arguments) == pytest.approx(2.1)


def test_a_row_out_of_bounds_is_a_residual():
    nlp = replace(valley(), g_lower=np.full(1, 1.25))
    assert kkt_residual(nlp, np.ones(2), np.zeros(2), np.zeros(1)) == pytest.approx(0.25)
    nlp = replace(valley(), upper=np.array([np.inf, 0.5]))
    assert kkt_residual(nlp, np.ones(2), np.zeros(2), np.zeros(1)) == pytest.approx(0.5)
