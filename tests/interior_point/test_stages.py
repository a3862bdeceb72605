"""Cores that are factorised in stages have the solutions and the inertia of dense ones."""

import casadi as ca
import numpy as np
import pytest

from ocp.interior_point import stages
from ocp.interior_point.condensed import Condensed
from ocp.interior_point.elimination import Elimination
from ocp.interior_point.kernels.compiled_products import fastest_engine
from ocp.interior_point.kernels.tall_matrices import Engine
from ocp.interior_point.program import Program
from ocp.interior_point.stages import StagedCore, order_stages
from ocp.solvers import NLP, Solver, minimize
from ocp.solvers.nlp import with_derivatives


@pytest.fixture
def cheap_stages(monkeypatch):
    """Stages whose calls cost nothing, so that small programs have many."""
    monkeypatch.setattr(stages, "STAGE", 0.0)


def banded(rng, *, nodes=12, width=6, rows=3, border=2, periodic=False, dependent=False):
    """A Hessian (k, k) and rows (m, k) of nodes that are coupled to the next ones, the last to the
    first if `periodic`, and all to a border; variables are shuffled.

    The first node's rows are zero in its own variables, or nearly, so that they must be delayed.
    """
    size = nodes * width + border
    hessian, matrix = np.zeros((size, size)), []
    for node in range(nodes):
        after = (node + 1) % nodes
        if after < node and not periodic:
            continue
        own = node * width + np.arange(width), after * width + np.arange(width)
        at = np.concatenate([*own, nodes * width + np.arange(border)])
        root = rng.standard_normal((len(at), len(at)))
        hessian[np.ix_(at, at)] += (root + root.T) / 2
        line = np.zeros((rows, size))
        line[:, at] = rng.standard_normal((rows, len(at)))
        if node % 4 == 0:
            line[:, own[0]] *= 0.0 if node else 1e-7
        matrix.append(line)
    whole = np.vstack(matrix)
    if dependent:
        whole = np.vstack([whole, whole[0] + whole[rows], whole[-1]])
    order = rng.permutation(size)
    return hessian[np.ix_(order, order)], whole[:, order]


@pytest.mark.parametrize("made", [Engine, fastest_engine])
@pytest.mark.parametrize("dependent", [False, True])
@pytest.mark.parametrize("periodic", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_a_staged_core_has_the_solution_and_the_inertia_of_a_dense_one(
    seed, periodic, dependent, made, cheap_stages
):
    rng = np.random.default_rng(seed)
    hessian, rows = banded(rng, border=seed, periodic=periodic, dependent=dependent)
    core = StagedCore(hessian != 0, rows != 0, made())
    assert len(core.stages) > 2 and core.widest < len(hessian)
    core.update(rows)
    along = np.linalg.svd(rows)[2][np.linalg.matrix_rank(rows) :].T
    least = np.linalg.eigvalsh(along.T @ hessian @ along).min()
    for shift in (0.0, -least - 1e-3, -least + 1e-3, -least + 10.0):
        shifted = hessian + shift * np.eye(len(hessian))
        assert core.factorise(np.tril(shifted)) == (shift > -least)
    u, y = rng.standard_normal(len(hessian)), rng.standard_normal(len(rows))
    g, h = shifted @ u + rows.T @ y, rows @ u
    found, multipliers = core.solve(g, h)
    assert found == pytest.approx(u, abs=1e-7)
    assert shifted @ found + rows.T @ multipliers == pytest.approx(g, abs=1e-6)


def test_what_is_coupled_to_all_is_eliminated_last(cheap_stages):
    hessian, rows = banded(np.random.default_rng(1), nodes=40, border=3)
    found = order_stages(hessian != 0, rows != 0)
    border = np.flatnonzero((hessian != 0).sum(axis=1) == len(hessian))
    assert len(border) == 3 and set(border) <= set(found[-1].own.tolist())
    assert len(found) > 10 and max(len(each.left) for each in found) <= 30
    assert sorted(np.concatenate([each.own for each in found])) == list(range(len(hessian)))
    assert sorted(np.concatenate([each.rows for each in found])) == list(range(len(rows)))


def test_a_dense_core_is_one_stage_and_so_is_none():
    full = np.ones((9, 9), dtype=bool)
    assert len(order_stages(full, full[:3])) == 1
    assert len(order_stages(full[:0, :0], full[:2, :0])) == 1
    core = StagedCore(full[:0, :0], full[:2, :0], Engine())
    core.update(np.zeros((2, 0)))
    assert core.factorise(np.zeros((0, 0)))
    u, y = core.solve(np.zeros(0), np.ones(2))
    assert u.shape == (0,) and y == pytest.approx(np.zeros(2))


def chain(rng, *, nodes=14, width=3, inputs=2, dependent=False):
    """An optimal control problem on a mesh: states that follow each other, a free duration and a
    parameter in every row, an end like the start, bounds on inputs."""
    count = nodes * (width + inputs)
    z = ca.SX.sym("z", count + 2)
    nodal = ca.reshape(z[:count], width + inputs, nodes)
    A, B, shift = (
        ca.DM(rng.standard_normal(shape))
        for shape in ((width, width), (width, inputs), (width, nodes))
    )
    rows, cost = [], 20 * (z[count] - 0.1) ** 2 + 20 * (z[count + 1] - 1.0) ** 2
    for k in range(nodes):
        x, u = nodal[:width, k], nodal[width:, k]
        cost += ca.sumsqr(x) / 2 + ca.sumsqr(u) + x[0] * u[0] / 2
        if k + 1 < nodes:
            slope = A @ ca.sin(x) + B @ u + z[count + 1] * shift[:, k]
            rows.append(nodal[:width, k + 1] - x - z[count] * slope)
    rows.append(nodal[:width, nodes - 1] - nodal[:width, 0])
    if dependent:
        rows.append((rows[3] - 2 * rows[4])[:2])
    g = ca.vertcat(*rows)
    lower, upper = np.full(count + 2, -np.inf), np.full(count + 2, np.inf)
    for k in range(nodes):
        at = k * (width + inputs) + width
        lower[at : at + inputs], upper[at : at + inputs] = -0.3, 0.3
    lower[count] = 0.05
    return NLP(
        lower=lower,
        upper=upper,
        g_lower=np.zeros(g.numel()),
        g_upper=np.zeros(g.numel()),
        objective=ca.Function("f", [z], [cost]),
        constraints=ca.Function("g", [z], [g]),
    )


@pytest.mark.parametrize("dependent", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_programs_solved_in_stages_end_where_ipopt_does(seed, dependent, cheap_stages, monkeypatch):
    counts, made = [], StagedCore.__init__

    def counted(self, *arguments):
        made(self, *arguments)
        counts.append(len(self.stages))

    monkeypatch.setattr(StagedCore, "__init__", counted)
    monkeypatch.setattr("ocp.interior_point.condensed.eliminate", nothing_eliminated)
    nlp = chain(np.random.default_rng(seed), dependent=dependent)
    start = np.full(len(nlp.lower), 0.2)
    ours = minimize(nlp, Solver(plugin="structured"), start)
    theirs = minimize(nlp, Solver(plugin="ipopt"), start)
    assert ours.success and theirs.success and min(counts) > 2
    assert ours.f == pytest.approx(theirs.f, abs=1e-6)
    assert ours.x == pytest.approx(theirs.x, abs=1e-4)


def nothing_eliminated(rows, columns, values, shape, most):
    """An elimination that leaves all to the core."""
    return Elimination(levels=(), rest=np.arange(shape[0]), free=np.arange(shape[1]))


def test_an_infeasible_program_in_stages_is_told(cheap_stages, monkeypatch):
    monkeypatch.setattr("ocp.interior_point.condensed.eliminate", nothing_eliminated)
    nlp = chain(np.random.default_rng(2))
    g_lower = nlp.g_lower.copy()
    g_lower[0] = 50.0
    lower, upper = np.maximum(nlp.lower, -1.0), np.minimum(nlp.upper, 1.0)
    stated = NLP(
        lower=lower,
        upper=upper,
        g_lower=g_lower,
        g_upper=g_lower.copy(),
        objective=nlp.objective,
        constraints=nlp.constraints,
    )
    found = minimize(stated, Solver(plugin="structured"), np.full(len(lower), 0.2))
    assert not found.success and found.status == "Infeasible_Problem_Detected"


@pytest.mark.parametrize(("ratio", "fewer"), [(0.5, True), (0.7, False), (2.0, False)])
def test_fewer_rows_are_eliminated_where_stages_then_cost_much_less(ratio, fewer, monkeypatch):
    made, asked = Condensed._eliminated, []

    def costing(self, most):
        basis, core = made(self, most)
        core.cost = ratio if most == 4 else 1.0
        asked.append((most, basis))
        return basis, core

    monkeypatch.setattr(Condensed, "_eliminated", costing)
    nlp = chain(np.random.default_rng(3), nodes=30, width=4, inputs=3)
    start = np.full(len(nlp.lower), 0.2)
    program = Program(with_derivatives(nlp), "exact", start, Engine())
    system = Condensed(program, Engine())
    entries = np.zeros(len(program.hessian_kept))
    system.update(entries, program.derivatives(np.full(program.size, 0.2)))
    assert [most for most, _ in asked] == [32, 4]
    assert system.basis is asked[1 if fewer else 0][1]
    ours = minimize(nlp, Solver(plugin="structured"), start)
    theirs = minimize(nlp, Solver(plugin="ipopt"), start)
    assert ours.success and ours.f == pytest.approx(theirs.f, abs=1e-6)
