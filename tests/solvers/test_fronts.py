"""Our factorisation behind IPOPT's MA27: solutions, inertia, singular systems, and IPOPT's."""

import ctypes

import numpy as np
import pytest
from compilers import compiler_needed

from ocp import Solver, solve
from ocp.problems.arms.two_link_lift import problem as lift
from ocp.solvers import casadi_plugins, fronts


class Factorisation:
    """MA27's three calls, as IPOPT makes them: a pattern, then values, then right-hand sides.

    The pattern is that of a matrix, or the rows and columns of entries of one of n rows.
    """

    def __init__(self, matrix, pattern=None):
        self.library, n = ctypes.CDLL(str(fronts.library())), len(matrix)
        if pattern is None:
            kept = np.tril(matrix) != 0
            np.fill_diagonal(kept, True)
            pattern = np.nonzero(kept)
        self.row, self.col = (each.astype(np.int32) for each in pattern)
        self.keep, self.work, self.info = (np.zeros(3 * n + 20, np.int32) for _ in range(3))
        self.sizes = {
            "n": np.int32([n]),
            "nz": np.int32([len(self.row)]),
            "la": np.int32([0]),
            "small": np.zeros(30, np.int32),
            "reals": np.zeros(5),
        }
        self.a, self.rhs = np.zeros(0), np.zeros(0)
        self.call("ad", "n nz row col work la keep small small small small reals info reals")

    def call(self, name, order):
        has = {**self.sizes, "row": self.row + 1, "col": self.col + 1, "keep": self.keep}
        has |= {"work": self.work, "info": self.info, "a": self.a, "rhs": self.rhs}
        numbers = [has[word].ctypes.data_as(ctypes.c_void_p) for word in order.split()]
        getattr(self.library, f"ma27{name}_")(*numbers)

    def factorise(self, matrix):
        """Return what MA27 says, 0 or an error, and how many eigenvalues are negative."""
        return self.factorise_entries(matrix[self.row, self.col])

    def factorise_entries(self, values):
        for _ in range(5):
            self.a = np.zeros(max(self.sizes["la"][0], len(values)))
            self.a[: len(values)] = values
            self.sizes["la"][0] = len(self.a)
            words = "n nz row col a la work small keep small small small small reals info"
            self.call("bd", words)
            if self.info[0] != -4:
                return self.info[0], self.info[14]
            self.sizes["la"][0] = self.info[1]
        raise AssertionError("asks for room again and again")

    def seconds(self):
        """Return the estimate of a factorisation's time."""
        self.library.planned_seconds.restype = ctypes.c_double
        return self.library.planned_seconds(self.work.ctypes.data_as(ctypes.c_void_p))

    def solve(self, rhs):
        self.rhs = rhs.copy()
        self.call("cd", "n a la work small reals small rhs small small small reals")
        return self.rhs


def saddle(rng, dense, rows, curvature=1.0):
    """Return the matrix of an interior point: variables, slacks, multipliers of equations and of
    inequalities. Rows bind all of the `dense` variables, and one each of others, as the laws of
    motion bind torques; `curvature` bends the dense ones either way."""
    n, half = dense + rows, rows // 2
    size, slack, law = n + half + rows, n + np.arange(half), n + half + np.arange(rows)
    bend = rng.normal(size=(dense, dense))
    whole = np.zeros((size, size))
    whole[np.arange(n), np.arange(n)] = rng.uniform(0.1, 2.0, n)
    whole[:dense, :dense] += curvature * (bend + bend.T)
    whole[slack, slack] = 10.0 ** rng.uniform(-6, 6, half)
    whole[np.ix_(law, np.arange(dense))] = rng.normal(size=(rows, dense))
    whole[law, dense + np.arange(rows)] = 1.0
    whole[law[-half:], slack] = -1.0
    lower = np.tril(whole)
    return lower + np.tril(lower, -1).T


@compiler_needed
@pytest.mark.parametrize("seed", range(12))
def test_it_solves_and_counts_negative_eigenvalues(seed):
    rng = np.random.default_rng(seed)
    matrix = saddle(rng, int(rng.integers(1, 40)), int(rng.integers(2, 60)))
    made = Factorisation(matrix)
    scale = 1 / np.sqrt(np.abs(matrix).max(axis=0))
    assert made.factorise(matrix) == (
        0,
        (np.linalg.eigvalsh(matrix * scale * scale[:, None]) < 0).sum(),
    )
    rhs = rng.normal(size=len(matrix))
    x = made.solve(rhs)
    assert np.abs(matrix @ x - rhs).max() < 1e-9 * (np.abs(matrix) @ np.abs(x)).max()


@compiler_needed
def test_a_pattern_is_planned_once_and_other_values_go_through_it():
    rng = np.random.default_rng(3)
    matrix = saddle(rng, 12, 20)
    made, again = Factorisation(matrix), Factorisation(matrix)
    for each in (made, again, made):
        values = matrix * rng.uniform(0.5, 2.0)
        assert each.factorise(values)[0] == 0
        assert np.allclose(values @ each.solve(np.ones(len(matrix))), 1.0, atol=1e-8)
    assert (made.keep[:2] == again.keep[:2]).all()


@compiler_needed
def test_what_is_singular_is_said_to_be():
    matrix = saddle(np.random.default_rng(5), 6, 8)
    rows = [5, 6]  # twice the same equation
    matrix = np.vstack([matrix, matrix[-rows[0]]])
    matrix = np.column_stack([matrix, np.append(matrix[-1], 0.0)])
    assert Factorisation(matrix).factorise(matrix)[0] == 3


@compiler_needed
def test_rows_without_a_partner_of_their_own_wait():
    """Two equations of one variable: with any pair of them the other is left."""
    matrix = np.zeros((5, 5))
    matrix[:3, :3] = np.diag([1.0, 2.0, 3.0])
    matrix[3, :3], matrix[4, :3] = (1.0, 1.0, 0.0), (1.0, 1.0, 1.0)
    matrix += np.tril(matrix, -1).T
    made = Factorisation(matrix)
    assert made.factorise(matrix) == (0, 2)
    assert np.allclose(matrix @ made.solve(np.arange(5.0)), np.arange(5.0), atol=1e-12)


WIDTH, LIMITS = 12, 9  # variables and inequalities of a link


def chain(links):
    """Return rows, columns and values of a chain of so many links, and the places of slacks.

    The variables of a link and the next bend together; inequalities bind them, and a variable that
    all have, as a duration is.
    """
    count, limits = WIDTH * (links + 1) + 1, LIMITS * links
    slack, law = count + np.arange(limits), count + limits + np.arange(limits)
    entries = [(np.arange(count + limits), np.arange(count + limits), 4.0 * WIDTH)]
    for k in range(links):
        own = WIDTH * k + np.arange(2 * WIDTH)
        i, j = np.tril_indices(2 * WIDTH, -1)
        entries.append((own[i], own[j], np.cos(1.0 + i + 7.0 * j)))
        rows, columns = np.repeat(law[LIMITS * k :][:LIMITS], 2 * WIDTH), np.tile(own, LIMITS)
        entries.append((rows, columns, np.sin(1.0 + np.arange(len(rows)) ** 2)))
    entries.append((law, np.full(limits, count - 1), 1.0))
    entries += [(law, slack, -1.0), (law, law, 0.0)]
    rows, columns = (np.concatenate([each[k] for each in entries]) for k in (0, 1))
    return rows, columns, np.concatenate([np.broadcast_to(v, len(i)) for i, _, v in entries]), slack


@compiler_needed
def test_a_row_of_one_variable_leaves_what_is_beside_that_variable():
    # six variables, a slack, a row of the first variable alone, one of all variables and the slack
    matrix = np.diag([4.0] * 6 + [2.0, -1.0, -1.0])
    matrix[7, 0] = matrix[0, 7] = 1.0
    matrix[8, :7] = matrix[:7, 8] = 1.0
    made = Factorisation(matrix)
    assert made.factorise(matrix) == (0, 2)
    assert np.allclose(matrix @ made.solve(np.arange(9.0)), np.arange(9.0), atol=1e-12)


@compiler_needed
@pytest.mark.parametrize("held", [1, LIMITS])
def test_a_chain_is_planned_in_proportion_to_its_length_though_rows_of_it_wait(held):
    """`held` slacks in two links; of so many that all rows are ordered anew, too."""
    seconds = []
    for links in (30, 120):
        rows, columns, values, slack = chain(links)
        size = slack[-1] + 1 + len(slack)
        made = Factorisation(range(size), (rows, columns))
        # a slack that does not move leaves nothing of its row's pivot: the row is an equation
        fixed = slack[np.arange(len(slack)) % (2 * LIMITS) < held]
        values = np.where(np.isin(rows, fixed) & (rows == columns), 1e16, values)
        assert made.factorise_entries(values) == (0, len(slack))
        made.library.planned_seconds.restype = ctypes.c_double
        seconds.append(made.library.planned_seconds(made.work.ctypes.data_as(ctypes.c_void_p)))
        b, beside = np.sin(np.arange(size)), rows != columns
        left, x = b.copy(), made.solve(b)
        np.subtract.at(left, rows, values * x[columns])
        np.subtract.at(left, columns[beside], (values * x[rows])[beside])
        assert np.abs(left).max() < 1e-9 * np.abs(x).max()
    assert seconds[1] < 4.5 * seconds[0]


@compiler_needed
@pytest.mark.parametrize("seed", range(12))
def test_rows_that_wait_move_up_again_and_again_and_systems_are_solved_as_before(seed):
    """Slacks that do not move make equations of their rows, others at each of six systems."""
    rng = np.random.default_rng(seed)
    rows, columns, values, slack = chain(8)
    size, diagonal = slack[-1] + 1 + len(slack), rows == columns
    made, plans = Factorisation(range(size), (rows, columns)), set()
    for _ in range(6):
        held = np.isin(rows, rng.choice(slack, 3)) & diagonal
        given = np.where(held, 1e16, values * rng.uniform(0.9, 1.1, len(values)))
        given[(rows >= slack[-1] + 1) & diagonal] = 0.0
        assert made.factorise_entries(given) == (0, len(slack))
        b = rng.normal(size=size)
        left, x = b.copy(), made.solve(b)
        np.subtract.at(left, rows, given * x[columns])
        np.subtract.at(left, columns[~diagonal], (given * x[rows])[~diagonal])
        assert np.abs(left).max() < 1e-9 * np.abs(x).max()
        plans.add(tuple(made.keep[:2].tolist()))
    assert len(plans) > 2


@compiler_needed
def test_rows_that_wait_in_one_solve_do_not_wait_in_the_next():
    rows, columns, values, slack = chain(2)
    held = np.isin(rows, slack[:3]) & (rows == columns)
    plans = []
    for _ in range(3):
        made = Factorisation(range(slack[-1] + 1 + len(slack)), (rows, columns))
        before = made.keep[:2].tolist()
        made.factorise_entries(values)
        made.factorise_entries(np.where(held, 1e16, values))
        plans.append((before, made.keep[:2].tolist()))
    assert plans[0][0] != plans[0][1]  # the rows of these slacks had to wait
    assert plans[0] == plans[1] == plans[2]


@compiler_needed
@pytest.mark.parametrize("seed", range(20))
def test_an_unknown_that_is_solved_for_by_large_numbers_waits_and_no_other(seed):
    rng = np.random.default_rng(seed)
    matrix = saddle(rng, 40, 60)  # of more than one front
    made = Factorisation(matrix)
    law, torque = len(matrix) - 60 + seed, 40 + seed
    dual = (np.arange(len(matrix)) >= len(matrix) - 60).astype(np.int32)

    def waiting(values):
        made.factorise(values)
        numbers = made.sizes["n"], made.a, made.work, made.keep, dual, np.array([1e5])
        addresses = (each.ctypes.data_as(ctypes.c_void_p) for each in numbers)
        return made.library.delay_weak_rows(*addresses)

    assert waiting(matrix) == 0
    matrix[[law, torque], [torque, law]] = 1e-6
    assert waiting(matrix) > 0
    while waiting(matrix):  # others than the torque, in its place, for example
        pass
    rhs = rng.normal(size=len(matrix))
    x = made.solve(rhs)
    assert np.abs(matrix @ x - rhs).max() < 1e-9 * (np.abs(matrix) @ np.abs(x)).max()


def bound_links(rng, links=16, width=14, laws=10, reach=4):
    """Return the matrix of variables of links, with Hessians of both signs, and of laws that each
    bind as many links as they reach; and the number of variables."""
    n, m = links * width, (links - reach + 1) * laws
    matrix = np.zeros((n + m, n + m))
    for k in range(links):
        own, bend = slice(k * width, (k + 1) * width), rng.normal(size=(width, width))
        matrix[own, own] = bend + bend.T
    for k in range(links - reach + 1):
        law, own = n + k * laws + np.arange(laws), k * width + np.arange(reach * width)
        matrix[np.ix_(law, own)] = rng.normal(size=(laws, reach * width))
    lower = np.tril(matrix)
    return lower + np.tril(lower, -1).T, n


@compiler_needed
@pytest.mark.parametrize("seed", range(6))
def test_multipliers_are_pivots_of_their_own_where_variables_have_a_curvature(seed):
    """A diagonal that is entered twice tells of it: fewer numbers are stored, and the solution and
    the inertia are as right."""
    matrix, n = bound_links(np.random.default_rng(seed))
    rows, columns = np.nonzero(np.tril(matrix))
    twice = np.append(rows, np.arange(n)), np.append(columns, np.arange(n))
    share = np.where((twice[0] == twice[1]) & (twice[0] < n), 0.5, 1.0)
    stored = []
    for pattern, part in (((rows, columns), 1.0), (twice, share)):
        made, sizes = Factorisation(range(len(matrix)), pattern), np.zeros(9, dtype=np.int64)
        found = made.factorise_entries(matrix[pattern] * part)
        assert found == (0, (np.linalg.eigvalsh(matrix) < 0).sum())
        x = made.solve(np.ones(len(matrix)))
        assert np.abs(matrix @ x - 1.0).max() < 1e-9 * (np.abs(matrix) @ np.abs(x)).max()
        addresses = (each.ctypes.data_as(ctypes.c_void_p) for each in (made.work, sizes))
        made.library.plan_sizes(*addresses)
        stored.append(sizes[3])
    assert stored[1] < 0.8 * stored[0]


@compiler_needed
@pytest.mark.parametrize("seed", range(6))
def test_an_inequality_at_its_bound_that_equations_imply_has_the_inertia_of_a_minimum(seed):
    """What is left of its multiplier is what the barrier gives it, minus one over its curvature."""
    rng, n = np.random.default_rng(seed), 40
    bend, equations = rng.normal(size=(n, n)), rng.normal(size=(2, n))
    matrix = np.zeros((n + 4, n + 4))  # variables, a slack, equations, and their sum less the slack
    matrix[:n, :n] = np.tril(bend @ bend.T + np.eye(n))
    matrix[n, n], matrix[n + 3, n] = 2e14, -1.0
    matrix[n + 1 : n + 3, :n], matrix[n + 3, :n] = equations, equations.sum(axis=0)
    matrix += np.tril(matrix, -1).T
    assert Factorisation(matrix).factorise(matrix) == (0, 3)


def arrow(rng, blocks, core):
    """Return a symmetric matrix of blocks, each beside some of a dense core."""
    size, own = 80, blocks * 80
    matrix = np.zeros((own + core, own + core))
    matrix[own:, own:] = rng.normal(size=(core, core)) + np.diag(rng.normal(0, 30, core))
    for block in range(blocks):
        here = slice(block * size, (block + 1) * size)
        beside = own + rng.choice(core, 20, replace=False)
        matrix[here, here] = rng.normal(size=(size, size)) + np.diag(rng.normal(0, 30, size))
        matrix[beside, here] = rng.normal(size=(20, size))
    lower = np.tril(matrix)
    return lower + np.tril(lower, -1).T


@compiler_needed
@pytest.mark.parametrize("seed", range(3))
def test_the_number_of_threads_changes_no_bit_of_a_solution(seed, monkeypatch):
    rng = np.random.default_rng(seed)
    matrix = arrow(rng, 8, 600 + 37 * seed)
    rhs, solutions = rng.normal(size=len(matrix)), []
    negative = (np.linalg.eigvalsh(matrix) < 0).sum()
    made = Factorisation(matrix)
    for threads in (1, 2, 5, *[3] * 10):
        monkeypatch.setenv("OMP_NUM_THREADS", str(threads))
        assert made.factorise(matrix) == (0, negative)
        solutions.append(made.solve(rhs))
    assert made.seconds() > 5e-3  # from which threads share it
    assert np.abs(matrix @ solutions[0] - rhs).max() < 1e-8
    for each in solutions[1:]:
        assert (each == solutions[0]).all()


@compiler_needed
def test_a_singular_row_is_found_by_whatever_thread(monkeypatch):
    """Rows of zeros in three blocks: each waits, in the same order by any threads."""
    rng = np.random.default_rng(7)
    matrix = arrow(rng, 8, 650)
    held = np.arange(5, 8 * 80, 240)
    matrix[held], matrix[:, held] = 0.0, 0.0
    matrix[held, 8 * 80] = matrix[8 * 80, held] = 1.0
    statuses = []
    for threads in (1, 2, 5):
        monkeypatch.setenv("OMP_NUM_THREADS", str(threads))
        statuses.append(Factorisation(matrix).factorise(matrix))
    assert statuses[0][0] == 3
    assert statuses == statuses[:1] * 3


@compiler_needed
def test_ipopt_goes_the_same_way_with_it():
    assert (
        casadi_plugins.options("ipopt", {"linear_solver": "fronts"})["ipopt"]["linear_solver"]
        == "ma27"
    )
    plain = solve(lift(points=8))
    ours = solve(lift(points=8), solver=Solver(options={"linear_solver": "fronts"}))
    assert ours.statistics["iterations"] == plain.statistics["iterations"]
    assert ours.objective == pytest.approx(plain.objective, rel=1e-9)


def test_without_a_compiler_it_says_what_it_needs(monkeypatch):
    fronts.library.cache_clear()
    monkeypatch.setenv("CC", "no-such-compiler")
    with pytest.raises(ValueError, match="'fronts' needs a C compiler: no C compiler found"):
        solve(lift(points=6), solver=Solver(options={"linear_solver": "fronts"}))
