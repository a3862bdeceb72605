"""Programs put together to one: what each asks of its own variables is asked of all."""

import casadi as ca
import numpy as np
import pytest
from whole_graphs import program_of

from ocp.solvers import Solver
from ocp.solvers.concatenate import Member, concatenate
from ocp.solvers.minimize import minimize
from ocp.solvers.nlp import NLP

SIZE = 6


def program(size, seed):
    """Return an NLP of a random cubic objective and random quadratic rows, with derivatives."""
    rng = np.random.default_rng(seed)
    x = ca.MX.sym("x", size)
    f = ca.dot(rng.normal(size=size), x**3) + ca.sumsqr(ca.DM(rng.normal(size=(size, size))) @ x)
    g = ca.vertcat(*(ca.dot(x, ca.DM(rng.normal(size=(size, size))) @ x) for _ in range(2)))
    sides = {"lower": rng.uniform(-2, -1, size), "upper": rng.uniform(1, 2, size)}
    return program_of(x, f, g, **sides, g_lower=-5.0, g_upper=5.0)


MEMBERS = (
    Member(nlp=program(3, 1), columns=np.array([0, 1, 5])),
    Member(nlp=program(4, 2), columns=np.array([5, 2, 3, 4])),
)


@pytest.fixture(scope="module")
def whole():
    return concatenate(MEMBERS, SIZE)


def test_derivatives_are_those_of_the_sum(whole):
    x, p, weights = ca.MX.sym("x", SIZE), ca.MX.sym("p", 0), np.array([0.3, -1.0, 0.7, 2.0])
    f = sum(each.nlp.objective(each.own(x)) for each in MEMBERS)
    g = ca.vertcat(*(each.nlp.constraints(each.own(x)) for each in MEMBERS))
    bend = ca.triu(ca.hessian(1.5 * f + ca.dot(weights, g), x)[0])
    expected = ca.Function("all", [x], [f, ca.gradient(f, x), g, ca.jacobian(g, x), bend])
    point = np.random.default_rng(3).normal(size=SIZE)
    found = *whole.gradient(point, p.size()[0] * [0]), *whole.jacobian(point, [])
    found += (whole.hessian("exact")(point, [], 1.5, weights),)
    for one, other in zip(found, expected(point)):
        np.testing.assert_allclose(np.array(ca.densify(one)), np.array(other), atol=1e-12)


def test_shared_variables_are_bounded_by_all(whole):
    first, second = MEMBERS
    for each in (whole, concatenate(MEMBERS[::-1], SIZE)):
        assert each.lower[5] == max(first.nlp.lower[2], second.nlp.lower[0])
        assert each.upper[5] == min(first.nlp.upper[2], second.nlp.upper[0])


def test_the_optimum_is_that_of_the_sum_without_given_derivatives(whole):
    bare = [Member(nlp=_bare(each.nlp), columns=each.columns) for each in MEMBERS]
    start, solver = np.full(SIZE, 0.1), Solver()
    one, other = minimize(whole, solver, start), minimize(concatenate(bare, SIZE), solver, start)
    assert one.success
    assert one.f == pytest.approx(other.f, rel=1e-9)


def _bare(nlp):
    return NLP(
        lower=nlp.lower,
        upper=nlp.upper,
        g_lower=nlp.g_lower,
        g_upper=nlp.g_upper,
        objective=nlp.objective,
        constraints=nlp.constraints,
    )
