"""Systems that are condensed to a core have the solutions and the inertia of the whole."""

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest
from compilers import compiler_needed
from repeated_cases import for_each

from ocp.codegen.assembler import unsupported_reason
from ocp.interior_point.condensed_systems import Condensed, row_space
from ocp.interior_point.elimination import eliminate
from ocp.interior_point.kernels import native_kernels
from ocp.interior_point.kernels.native_kernels import (
    NativeEngine,
    compiled_engine,
    fastest_engine,
)
from ocp.interior_point.kernels.sparse_products import Sparse, dense_pieces
from ocp.interior_point.kernels.tall_matrices import Engine, Tall, group_rows, invert_triangle
from ocp.interior_point.nullspace import Basis, drop_growing_blocks
from ocp.interior_point.scaled_program import Derivatives, Patterns, Program
from ocp.interior_point.sparse_systems import Augmented
from ocp.interior_point.system_and_initial_point import choose_system
from ocp.solvers import NLP, Unsuited
from ocp.solvers.nlp import with_derivatives

here = pytest.mark.skipif(bool(unsupported_reason()), reason=unsupported_reason())
ENGINES = [
    pytest.param(Engine, id="numpy"),
    pytest.param(fastest_engine, id="machine code", marks=here),
    pytest.param(compiled_engine, id="compiled", marks=compiler_needed),
]


def nodes(rng, count=5, motion=6, own=3):
    """Equalities (m, n) of a spline with torques and wrenches: at each node two rows with a wrench
    of two components, and `own` rows with a torque each, the wrench, and part of the motion."""
    width = motion + count * (own + 2)
    matrix = []
    for node in range(count):
        begin = motion + node * (own + 2)
        for row in range(own + 2):
            line = np.zeros(width)
            line[: motion - (node % 2)] = rng.standard_normal(motion - (node % 2))
            line[begin : begin + 2] = rng.standard_normal(2)
            if row >= 2:
                line[begin + row] = 2.0
            matrix.append(line)
    mirror = np.zeros((2, width))
    mirror[0, [0, 5]], mirror[1, [1, 4]] = (1.0, -1.0), (1.0, 1.0)
    return np.vstack([*matrix, mirror])


def sparse(matrix):
    """A dense matrix as Sparse, and its entries."""
    rows, columns = np.nonzero(matrix)
    return Sparse(rows=rows, columns=columns, shape=matrix.shape), matrix[rows, columns]


def test_rows_that_own_variables_are_eliminated_whatever_they_are_called():
    matrix = nodes(np.random.default_rng(1))[:, np.random.default_rng(2).permutation(31)]
    pattern, values = sparse(matrix)
    found = eliminate(pattern.rows, pattern.columns, values, pattern.shape)
    assert len(found.rest) == 0 and len(found.free) == 31 - 27
    basis = Basis(found, pattern, Engine())
    basis.update(values)
    assert np.abs(matrix @ basis.Z).max() < 1e-12
    assert np.linalg.matrix_rank(basis.Z) == 4


@pytest.mark.parametrize("made", ENGINES)
def test_a_basis_solves_rows_and_multipliers(made):
    rng = np.random.default_rng(3)
    matrix = nodes(rng)
    pattern, values = sparse(matrix)
    basis = Basis(eliminate(pattern.rows, pattern.columns, values, matrix.shape), pattern, made())
    basis.update(values)
    right, y = rng.standard_normal(27), rng.standard_normal(27)
    assert matrix @ basis.particular(right) == pytest.approx(right, abs=1e-11)
    assert basis.multipliers(matrix.T @ y) == pytest.approx(y, abs=1e-11)
    u, push = rng.standard_normal(len(basis.free)), rng.standard_normal(matrix.shape[1])
    assert basis.times(u) == pytest.approx(basis.Z @ u, abs=1e-12)
    assert basis.transposed_times(push) == pytest.approx(basis.Z.T @ push, abs=1e-12)


@pytest.mark.parametrize("made", ENGINES)
def test_levels_that_did_not_change_are_kept_and_others_are_not(made):
    matrix = nodes(np.random.default_rng(4))
    pattern, values = sparse(matrix)
    basis = Basis(eliminate(pattern.rows, pattern.columns, values, matrix.shape), pattern, made())
    basis.update(values)
    nearly = values * np.random.default_rng(5).uniform(0.5, 1.5, len(values))
    of_nodes, of_mirror = (np.where((pattern.rows < 25) == side, nearly, values) for side in (1, 0))
    for changed in (of_nodes, values, of_mirror, nearly):
        basis.update(changed)
        dense = np.zeros(matrix.shape)
        dense[pattern.rows, pattern.columns] = changed
        assert np.abs(dense @ basis.Z).max() < 1e-11


@pytest.mark.parametrize("made", ENGINES)
def test_an_entry_that_is_zero_at_first_may_be_any_number_later(made):
    rng = np.random.default_rng(8)
    matrix = nodes(rng)
    pattern, values = sparse(matrix)
    at_first = np.where((rng.random(len(values)) < 0.3) & (pattern.rows < 25), 0.0, values)
    basis = Basis(eliminate(pattern.rows, pattern.columns, at_first, matrix.shape), pattern, made())
    basis.update(values)
    kept = np.setdiff1d(np.arange(len(matrix)), basis.rest)
    assert len(kept) > 20 and np.abs((matrix @ basis.Z)[kept]).max() < 1e-9


def test_a_chain_that_grows_is_left_to_the_core():
    """x_k+1 = 30 x_k: solved one after another, the last of 12 would be 30^12 of the first."""
    matrix = np.zeros((12, 13))
    matrix[np.arange(12), np.arange(12)], matrix[np.arange(12), np.arange(1, 13)] = -30.0, 1.0
    matrix[0, 1:], matrix[0, 0] = 0.0, 1e-3
    matrix[0, 12] = 1.0
    pattern, values = sparse(matrix)
    found = eliminate(pattern.rows, pattern.columns, values, matrix.shape)
    tamed = drop_growing_blocks(found, pattern, values)
    basis = Basis(tamed, pattern, Engine())
    basis.update(values)
    assert np.abs(basis.Z).max() < 1e5
    assert len(tamed.rest) + sum(each.rows.size for level in tamed.levels for each in level) == 12


def chain(growth):
    """Rows x_1 = x_0, x_k+1 = growth x_k, and a bound, of 13 variables with unit bounds."""
    x = ca.MX.sym("x", 13)
    ratio = ca.vertcat(1.0, *[growth] * 11)
    return with_derivatives(
        NLP(
            lower=np.full(13, -1.0),
            upper=np.ones(13),
            g_lower=np.zeros(12),
            g_upper=np.zeros(12),
            objective=ca.Function("f", [x], [ca.sumsqr(x)]),
            constraints=ca.Function("g", [x], [x[1:] - ratio * x[:-1]]),
        )
    )


def test_the_basis_of_one_search_serves_the_next_while_its_variables_stay_small():
    nlp = chain(2.0)
    system = Condensed(Patterns(nlp, "exact", Engine()))
    program = Program(nlp, np.ones(13), system.patterns)
    derivatives = program.derivatives(np.ones(program.size))
    curvature = np.ones(len(program.curvature.rows))
    system.update(curvature, derivatives)
    first = system.basis
    again = replace(derivatives, entries=derivatives.entries * 1.0)
    assert system.elimination(again.entries) is first.elimination
    system.update(curvature, again)
    assert system.basis is first
    grown = replace(
        derivatives, entries=np.where(derivatives.entries == -2.0, -30.0, derivatives.entries)
    )
    assert system.elimination(grown.entries) is not first.elimination
    system.update(curvature, grown)
    assert system.basis is not first and np.abs(system.basis.Z).max() < 1e5


def test_dense_pieces_multiply_as_the_matrix_does():
    rng = np.random.default_rng(5)
    matrix = rng.standard_normal((40, 60)) * (rng.random((40, 60)) < 0.2)
    pattern, values = sparse(matrix)
    tall, product = rng.standard_normal((60, 9)), np.zeros((40, 9))
    made = dense_pieces(pattern.rows, pattern.columns, np.arange(len(values)))
    assert len(made) == 2
    for piece in made:
        product[piece.rows] += piece.times(values, tall)
    assert product == pytest.approx(matrix @ tall)
    nothing = np.zeros(0, dtype=int)
    assert dense_pieces(nothing, nothing, nothing) == []
    vector, back = rng.standard_normal(60), rng.standard_normal(40)
    assert pattern.times(values, vector) == pytest.approx(matrix @ vector)
    assert pattern.transposed_times(values, back) == pytest.approx(matrix.T @ back)


def tall_of(rng, rows, width):
    """A tall matrix with numbers in rows of one column, of a few and of about half."""
    share = rng.choice([1.5 / width, 3 / width, 0.5], size=(rows, 1))
    tall = Tall(rng.random((rows, width)) < share)
    tall.array[tall.support] = rng.standard_normal(tall.support.sum())
    return tall


@pytest.mark.parametrize("made", ENGINES)
@pytest.mark.parametrize(("width", "seed"), [(1, 0), (8, 1), (9, 2), (37, 3), (130, 4)])
def test_products_with_tall_matrices_are_those_of_dense_ones(width, seed, made):
    rng, how = np.random.default_rng(seed), made()
    tall = tall_of(rng, 60, width)
    matrix = rng.standard_normal((40, 60)) * (rng.random((40, 60)) < 0.2)
    pattern, values = sparse(matrix)
    wanted = np.flatnonzero(rng.random(40) < 0.7)
    product = how.sparse_times_tall(
        wanted, pattern.rows, pattern.columns, np.arange(len(values)), tall
    )
    for factor in (1.0, -2.0):  # what it was is forgotten
        result = product.times(factor * values)
        assert result.array == pytest.approx(factor * matrix[wanted] @ tall.array)
    assert not result.array[~result.support].any()
    rows, weights = rng.permutation(60)[:50], rng.standard_normal(50)
    core = np.zeros((tall.array.shape[1],) * 2)
    how.tall_product(tall, rows).add(core, weights)
    left = tall.array[rows]
    assert np.tril(core) == pytest.approx(np.tril(left.T @ (weights[:, None] * left)))
    core, few = np.ones_like(core), rng.integers(len(wanted), size=50)
    how.tall_product(tall, rows, result, few).add(core)
    assert core - 1 == pytest.approx(left.T @ result.array[few])


@pytest.mark.parametrize("made", ENGINES)
@for_each("size", (1, 2, 7, 8, 65))
def test_a_core_is_solved_by_its_lower_triangle(size, made):
    rng = np.random.default_rng(size)
    root = np.tril(rng.standard_normal((size, size))) + 3 * np.eye(size)
    core, right = root @ root.T, rng.standard_normal(size)
    given = np.tril(core) + np.triu(rng.standard_normal((size, size)), 1)
    before = right.copy()
    assert core @ made().cholesky(given).solve(right) == pytest.approx(before)
    assert (right == before).all()
    with pytest.raises(np.linalg.LinAlgError):
        made().cholesky(-core)


@pytest.mark.parametrize("most", [300, 7])
def test_groups_take_little_more_than_rows_alone(most, monkeypatch):
    monkeypatch.setattr("ocp.interior_point.kernels.tall_matrices.MASKS", most)
    rng, tiles = np.random.default_rng(9), np.zeros((300, 20), dtype=bool)
    for row, begin in enumerate(rng.integers(16, size=299)):
        tiles[row, [begin, *rng.choice(np.arange(begin, begin + 4), 3)]] = True
    groups = group_rows(tiles)
    assert sorted(groups.order) == list(range(299))  # a row of zeros adds nothing
    parts = list(zip(groups.begin, groups.begin[1:], groups.tiles))
    for begin, end, own in parts:
        members = tiles[groups.order[begin:end]]
        assert set(np.flatnonzero(members.any(axis=0))) == set(own) and len(members) <= 96
    alone = (tiles.sum(axis=1) ** 2).sum()
    assert alone <= sum((end - begin) * len(own) ** 2 for begin, end, own in parts) < 2 * alone
    assert len(parts) < 120


def test_no_rows_are_no_groups():
    assert group_rows(np.zeros((3, 2), dtype=bool)).begin == (0,)


@here
def test_machine_code_is_made_here_without_a_compiler(monkeypatch):
    monkeypatch.setenv("CC", "no-such-compiler")
    assert isinstance(fastest_engine.__wrapped__(), NativeEngine)


@compiler_needed
@pytest.mark.parametrize(
    ("name", "value"),
    [("unsupported_reason", lambda: "not here"), ("is_fused", lambda: False)],
)
def test_elsewhere_it_is_compiled_and_numpy_is_left_where_it_cannot_be(name, value, monkeypatch):
    monkeypatch.setattr(native_kernels, name, value)
    assert isinstance(fastest_engine.__wrapped__(), NativeEngine)
    monkeypatch.setenv("CC", "no-such-compiler")
    assert type(fastest_engine.__wrapped__()) is Engine


def test_a_triangle_is_inverted_by_halves():
    lower = np.tril(np.random.default_rng(6).standard_normal((130, 130))) + 20 * np.eye(130)
    assert invert_triangle(lower) @ lower == pytest.approx(np.eye(130), abs=1e-12)


@pytest.mark.parametrize("dependent", [False, True])
def test_rows_of_a_core_are_met_also_where_they_depend_on_each_other(dependent):
    rng = np.random.default_rng(7)
    rows = rng.standard_normal((4, 9))
    if dependent:
        rows[3] = rows[0] - 2 * rows[1]
    found, u, y = row_space(rows), rng.standard_normal(9), rng.standard_normal(4)
    left = 6 if dependent else 5
    along = np.array([found.point(each) for each in np.eye(left)]).T
    assert np.abs(rows @ along).max() < 1e-12
    assert along.T @ along == pytest.approx(np.eye(left), abs=1e-12)
    assert found.along(u) == pytest.approx(along.T @ u)
    core = rng.standard_normal((9, 9))
    core += core.T
    assert found.within(core) == pytest.approx(along.T @ core @ along, abs=1e-12)
    assert rows @ found.least_solution(rows @ u) == pytest.approx(rows @ u)
    assert rows.T @ found.multipliers(rows.T @ y) == pytest.approx(rows.T @ y)


def of_nodes(rng, equalities, inner):
    """A program whose rows are those of a spline, and two dense inequalities."""
    m, n = equalities.shape
    x = ca.MX.sym("x", n)
    rows = ca.vertcat(ca.DM(ca.sparsify(ca.DM(equalities))) @ x, ca.DM(inner) @ x)
    return with_derivatives(
        NLP(
            lower=np.full(n, -1.0),
            upper=np.full(n, np.inf),
            g_lower=np.concatenate([np.zeros(m), np.full(len(inner), -2.0)]),
            g_upper=np.concatenate([np.zeros(m), np.full(len(inner), 2.0)]),
            objective=ca.Function(
                "f", [x], [ca.sumsqr(x) / 2 + x[0] ** 3 - x[3] * x[-1] + ca.dot(x[4:20], x[11:27])]
            ),
            constraints=ca.Function("g", [x], [rows]),
        )
    )


def condensed(program, entries):
    """The condensed systems of a program."""
    return Condensed(program.patterns)


def augmented(program, entries):
    """The sparse systems of a program."""
    return Augmented(program, entries)


SYSTEMS = [
    *(pytest.param(condensed, *each.values, id=each.id, marks=each.marks) for each in ENGINES),
    pytest.param(augmented, Engine, id="sparse", marks=compiler_needed),
]


@pytest.mark.parametrize(("kind", "made"), SYSTEMS)
@for_each("dependent", (False, True))
@for_each("seed", range(20))
def test_a_system_has_the_solution_and_the_inertia_of_the_whole(seed, dependent, kind, made):
    rng = np.random.default_rng(seed)
    equalities = nodes(rng)[:, rng.permutation(31)]
    if dependent:
        equalities = np.vstack([equalities, equalities[3] + equalities[-1]])
    stated = of_nodes(rng, equalities, rng.standard_normal((2, 31)))
    program = Program(stated, np.ones(31), Patterns(stated, "exact", made()))
    v = rng.standard_normal(program.size)
    derivatives = program.derivatives(v)
    system, matrix = kind(program, derivatives.entries), program.jacobian
    hessian_entries = rng.standard_normal(len(program.curvature.rows))
    system.update(hessian_entries, derivatives)
    n, size = program.variables, program.size
    J = np.hstack([np.zeros((program.rows, n)), np.zeros((program.rows, size - n))])
    J[matrix.rows, matrix.columns] = derivatives.entries
    J[np.arange(program.equalities, program.rows), np.arange(n, size)] = -1.0
    W = np.zeros((size, size))
    curve = program.curvature
    W[curve.rows, curve.columns] = W[curve.columns, curve.rows] = hessian_entries
    diagonal = rng.random(size) * 0.3
    for shift in (0.0, 0.5, 5.0):
        H = W + np.diag(diagonal + shift)
        along = np.linalg.svd(J)[2][np.linalg.matrix_rank(J) :].T
        is_sufficient = np.linalg.eigvalsh(along.T @ H @ along).min() > 0
        assert system.factorise(diagonal, shift) == is_sufficient
    x, y = rng.standard_normal(size), rng.standard_normal(program.rows)
    a, b = H @ x + J.T @ y, J @ x
    dv, dy = system.solve(a, b)
    if kind is augmented and dependent:  # whose rows give way a little
        assert dv == pytest.approx(x, abs=1e-6)
        return
    assert dv == pytest.approx(x, abs=1e-9)
    assert H @ dv + J.T @ dy == pytest.approx(a, abs=1e-9)
    assert J.T @ dy == pytest.approx(program.jacobian_t_times(derivatives, dy), abs=1e-12)
    assert J @ dv == pytest.approx(program.jacobian_times(derivatives, dv), abs=1e-12)
    assert W @ dv == pytest.approx(program.patterns.hessian_times(hessian_entries, dv), abs=1e-12)
    assert isinstance(derivatives, Derivatives)


def stated_by_nodes(rng):
    """A program of a spline, and entries of its Jacobian."""
    stated = of_nodes(rng, nodes(rng), np.ones((2, 31)))
    program = Program(stated, np.ones(31), Patterns(stated, "exact", Engine()))
    return program, program.derivatives(np.ones(program.size)).entries


def test_a_large_core_is_refused_by_its_size_without_a_compiler(monkeypatch):
    monkeypatch.setattr("ocp.interior_point.condensed_systems.CORE", 3)
    monkeypatch.setattr("ocp.solvers.fronts.available", lambda: False)
    program, entries = stated_by_nodes(np.random.default_rng(0))
    with pytest.raises(Unsuited, match="a core of 4 variables"):
        choose_system(program, Condensed(program.patterns), entries)


@compiler_needed
def test_systems_are_sparse_where_a_core_is_large_or_slow_and_dense_elsewhere(monkeypatch):
    program, entries = stated_by_nodes(np.random.default_rng(0))
    assert isinstance(choose_system(program, Condensed(program.patterns), entries), Condensed)
    monkeypatch.setattr("ocp.interior_point.system_and_initial_point.QUICK", 0.0)
    assert isinstance(choose_system(program, Condensed(program.patterns), entries), Augmented)
    monkeypatch.setattr(Augmented, "seconds", lambda self: 1.0)
    assert isinstance(choose_system(program, Condensed(program.patterns), entries), Condensed)
    monkeypatch.setattr("ocp.interior_point.condensed_systems.CORE", 3)
    assert isinstance(choose_system(program, Condensed(program.patterns), entries), Augmented)
