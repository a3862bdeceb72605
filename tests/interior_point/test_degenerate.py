"""Eighty random programs without regularity, by dense and by sparse systems: their optima and
multipliers are found, and where there is none, nothing is called one."""

from collections import Counter

import casadi as ca
import numpy as np
import pytest
from compilers import compiler_needed

from ocp.interior_point import restoration, system_and_initial_point
from ocp.interior_point.sparse_systems import Augmented
from ocp.solvers import NLP, Solver, kkt_residual, minimize

INF = np.inf
OURS = Solver(plugin="structured")
SEEDS = [range(first, first + 5) for first in range(0, 20, 5)]  # of each kind


@pytest.fixture(params=["dense", pytest.param("sparse", marks=compiler_needed)])
def systems(request, monkeypatch):
    """Linear systems of one kind, whatever the size; its name."""
    if request.param == "sparse":
        monkeypatch.setattr(system_and_initial_point, "choose_system", sparse_system)
        monkeypatch.setattr(restoration, "SMALL", 0)
    return request.param


def sparse_system(program, condensed, entries):
    """The sparse systems of a program, in place of a choice."""
    return Augmented(program, entries)


def program(f, rows, size, least, most):
    """Minimise f(x) with rows(x) within (least, most)."""
    x = ca.SX.sym("x", size)
    made = rows(x)
    low, high = (np.broadcast_to(np.array(each, float), made.numel()) for each in (least, most))
    return NLP(
        lower=np.full(size, -INF),
        upper=np.full(size, INF),
        g_lower=low,
        g_upper=high,
        objective=ca.Function("f", [x], [f(x)]),
        constraints=ca.Function("g", [x], [made]),
    )


def convex(rng, size):
    """Matrix and centre of a convex quadratic function, as arrays and as a function."""
    root, centre = rng.normal(size=(size, size)), rng.normal(size=size)
    matrix = root @ root.T + 0.1 * np.eye(size)

    def value(x):
        return (x - centre).T @ matrix @ (x - centre) / 2

    return matrix, centre, value


def least(matrix, centre, rows, right):
    """The least point of the quadratic function on rows that may depend on each other."""
    size = len(centre)
    system = np.block([[matrix, rows.T], [rows, np.zeros((len(rows), len(rows)))]])
    known = np.concatenate([matrix @ centre, right])
    return np.linalg.lstsq(system, known, rcond=1e-12)[0][:size]


def dependent_rows(rng):
    """Equalities of which one to three follow from the others."""
    size = int(rng.integers(3, 9))
    own = rng.normal(size=(int(rng.integers(1, size)), size))
    following = rng.normal(size=(int(rng.integers(1, 4)), len(own))) @ own
    rows = rng.permutation(np.vstack([own, following]))
    right = rows @ rng.normal(size=size)
    matrix, centre, value = convex(rng, size)
    best = value(least(matrix, centre, rows, right))
    return program(value, lambda x: ca.DM(rows) @ x, size, right, right), best


def vanishing_slacks(rng):
    """Pairs of inequalities that leave no room between them, and one that touches the optimum and
    has no multiplier there."""
    size = int(rng.integers(3, 9))
    own = rng.normal(size=(int(rng.integers(1, size)), size))
    right = own @ rng.normal(size=size)
    matrix, centre, value = convex(rng, size)
    point, touching = least(matrix, centre, own, right), rng.normal(size=size)
    rows = np.vstack([own, -own, touching])
    most = np.concatenate([right, -right, [touching @ point]])
    return program(value, lambda x: ca.DM(rows) @ x, size, -INF, most), value(point)


def infeasible(rng):
    """A ball and a half space apart, or two half spaces within a ball."""
    size = int(rng.integers(2, 7))
    normal, gap = rng.normal(size=size), rng.uniform(0.1, 3.0)
    along = ca.DM(normal / np.linalg.norm(normal)).T
    _, _, value = convex(rng, size)
    if rng.random() < 0.5:
        return program(
            value, lambda x: ca.vertcat(ca.sumsqr(x), along @ x), size, (-INF, 1 + gap), (1, INF)
        )
    return program(
        value,
        lambda x: ca.vertcat(along @ x, along @ x, ca.sumsqr(x)),
        size,
        (-INF, gap, -INF),
        (0, INF, 100),
    )


def unbounded(rng):
    """A slope along equalities that leave a direction free."""
    size = int(rng.integers(2, 7))
    rows = rng.normal(size=(int(rng.integers(1, size)), size))
    free = np.linalg.svd(rows)[2][-1]  # at right angles to all rows
    slope = free + rows.T @ rng.normal(size=len(rows))
    right = rows @ rng.normal(size=size)
    return program(lambda x: ca.DM(slope).T @ x, lambda x: ca.DM(rows) @ x, size, right, right)


@pytest.mark.parametrize("kind", [dependent_rows, vanishing_slacks])
@pytest.mark.parametrize("seeds", SEEDS, ids=str)
@pytest.mark.usefixtures("systems")
def test_optima_and_multipliers_of_degenerate_programs_are_found(kind, seeds):
    for seed in seeds:
        rng = np.random.default_rng(seed)
        nlp, best = kind(rng)
        outcome = minimize(nlp, OURS, rng.normal(size=len(nlp.lower)))
        assert outcome.success, seed
        assert outcome.f == pytest.approx(best, rel=1e-6, abs=1e-6), seed
        multipliers = outcome.x_multipliers, outcome.g_multipliers
        assert kkt_residual(nlp, outcome.x, *multipliers) < 1e-5, seed


def ends_of(kind, solver=OURS):
    """Statuses of ten programs of a kind, none of which succeeds, with their numbers."""
    ends = Counter()
    for seed in range(10):
        rng = np.random.default_rng(seed)
        nlp = kind(rng)
        outcome = minimize(nlp, solver, rng.normal(size=len(nlp.lower)))
        assert not outcome.success, seed
        ends[outcome.status] += 1
    return ends


def test_programs_without_a_feasible_point_are_told_so(systems):
    told, slow = "Infeasible_Problem_Detected", "Maximum_Iterations_Exceeded"
    if systems == "dense":
        assert ends_of(infeasible) == {told: 10}
    else:  # sparse systems let dependent rows give way a little: some go on in short steps
        ends = ends_of(infeasible, Solver(plugin="structured", options={"max_iter": 300}))
        assert {*ends} <= {told, slow} and ends[told] >= 7


def test_programs_without_a_least_value_are_told_so():
    assert ends_of(unbounded) == {"Diverging_Iterates": 10}
