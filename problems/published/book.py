"""Numbers of Book (1983): counts of section 6, and what the text makes of them."""

from functools import cache, partial
from itertools import count

import casadi as ca
import numpy as np

from ocp.dynamics import mass_matrix
from ocp.dynamics.formulations import book, newton_euler
from ocp.models.arms.general_chain import general_chain
from ocp.problems.benchmarks.dynamics.compare_book import (
    ADDITIONS,
    MULTIPLICATIONS,
    POWERS,
    PRODUCTS,
    STATED,
    chain,
    counted,
    polynomial,
)
from ocp.problems.benchmarks.operations import dense, operations
from ocp.problems.published.hollerbach import WORK
from ocp.problems.published.row import Row

SOURCE = "Book 1983"
BY = "`compare_book`"
CASE = (6, 2, 3)  # joints, flexible links, modes on each: the text's example
DEGREES = CASE[0] + CASE[1] * CASE[2]  # of freedom of it
# Further powers of n, n_f and m that our count has: the first link and the last two are special
FURTHER = ((0, 0, 1), (0, 0, 2), (0, 2, 0), (1, 0, 1), (1, 0, 2), (1, 1, 2), (2, 0, 1), (2, 0, 2))
ALL = (*POWERS, *FURTHER)
CASES = tuple((n, f, m) for n in (4, 5, 6) for f in range(2, n - 1) for m in (1, 2, 3))
CHECK = (7, 3, 2)  # a case that the others do not determine, but for the polynomial


def term(powers: tuple[int, int, int]) -> str:
    """Return the name of a product of powers of n, n_f and m."""
    names = zip(("n", "n_f", "m"), powers)
    return " ".join(name if power == 1 else f"{name}^{power}" for name, power in names if power)


def values(case: tuple[int, int, int]) -> list[int]:
    """Return all products of powers for joints, flexible links and modes."""
    n, flexible, modes = case
    return [n**a * flexible**b * modes**c for a, b, c in ALL]


@cache
def fitted(kind: int) -> tuple[float, ...]:
    """Return the coefficients of our count, multiplications (`kind` 0) or additions (1).

    Exact where at least two links at the end are rigid and two are flexible; else not numbers.
    """
    matrix = np.array([values(case) for case in CASES], dtype=float)
    counts = np.array([_counted(case)[kind] for case in CASES], dtype=float)
    powers = np.round(4 * np.linalg.solve(matrix, counts)) / 4
    exact = values(CHECK) @ powers == _counted(CHECK)[kind]
    return tuple(float(one) if exact else float("nan") for one in powers)


_counted = cache(lambda case: counted(*case))


@cache
def rigid(n: int) -> int:
    """Return the multiplications of mass matrix and bias of a general chain of n rigid links.

    Unsolved, as Book counts his own.
    """
    tree = general_chain(n)
    q, qd = (ca.SX.sym(name, n) for name in ("q", "qd"))
    bias = newton_euler.inverse(tree, q, qd, ca.SX.zeros(n))
    parts = ca.cse([ca.triu(mass_matrix(tree, q)), bias])
    return operations(ca.Function("rigid", [q, qd], parts), PRODUCTS)[0]


def flexible() -> float:
    """Return our multiplications for the text's example."""
    return float(_counted(CASE)[0])


def affordable() -> float:
    """Return the number of rigid joints that take fewer multiplications than the text's example."""
    return float(next(n for n in count(2) if rigid(n + 1) >= flexible()))


def entries() -> tuple[float, ...]:
    """Return the coefficients of the distinct entries of J over the number of its variables."""
    counts = {}
    for case in ((2, 1, 1), (2, 1, 3), (3, 2, 2), (4, 2, 2)):
        tree = chain(*case)
        matrix = ca.triu(book.inertia(tree, ca.SX.sym("q", tree.dof), printed=True))
        counts[tree.dof] = matrix.nnz()
    return tuple(float(one) for one in np.round(np.polyfit(*zip(*counts.items()), 2), 9) + 0.0)


def inverse_ratio() -> float:
    """Return multiplications of the 3x3 Lagrangian over Newton-Euler's at 12 joints."""
    return dense("hollerbach_3x3", DEGREES)[0] / dense("newton_euler", DEGREES)[0]


SOLVED = "unsolved, as his; solved, by articulated inertias, `compare_book` finds more"
ROWS = (
    *(
        Row(
            source=f"{SOURCE}, section 6 (pp. 17, 18)",
            quantity=WORK[kind],
            printed=(*powers, *(0.0,) * len(FURTHER)),
            ours=partial(fitted, kind),
            terms=tuple(map(term, ALL)),
            by=BY,
            remark="products of whole matrices there, a graph without its zeros here",
        )
        for kind, powers in enumerate((MULTIPLICATIONS, ADDITIONS))
    ),
    Row(
        source=f"{SOURCE}, section 6 (p. 18)",
        quantity="multiplications, 6 joints, 2 flexible links, 3 modes each",
        printed=STATED,
        ours=flexible,
        by=BY,
        remark=f"misprint: the polynomial makes {polynomial(MULTIPLICATIONS, *CASE):.0f}",
    ),
    Row(
        source=f"{SOURCE}, section 6 (p. 18), cited",
        quantity="multiplications of Walker's method 3, 12 rigid joints",
        printed=4491,
        ours=lambda: float(rigid(DEGREES)),
        by="counted: mass matrix and bias",
        remark="neither is solved for accelerations",
    ),
    Row(
        source=f"{SOURCE}, section 6 (p. 18)",
        quantity="multiplications, flexible over rigid, 12 degrees of freedom",
        printed=2.67,
        ours=lambda: flexible() / rigid(DEGREES),
        by=BY,
        remark="2.53 by the polynomial",
    ),
    Row(
        source=f"{SOURCE}, section 1.1 (p. 2)",
        quantity="the same, rounded",
        printed=2.7,
        ours=lambda: flexible() / rigid(DEGREES),
        by=BY,
        remark="2.67 in section 6",
    ),
    Row(
        source=f"{SOURCE}, section 5.2.4 (p. 14)",
        quantity="distinct entries of the inertia matrix of n_t variables",
        printed=(0.5, 0.5, 0.0),
        within=0.0,
        ours=entries,
        terms=("n_t^2", "n_t", ""),
        by="counted",
    ),
    Row(
        source=f"{SOURCE}, section 6 (p. 18)",
        quantity="multiplications, 3x3 over Newton-Euler, 12 rigid joints",
        printed=2.66,
        within=0.15,
        ours=inverse_ratio,
        by="`compare_formulations`, dense",
        remark="follows from Hollerbach's table I",
    ),
    Row(
        source=f"{SOURCE}, sections 1.1 and 6 (pp. 2, 18)",
        quantity="rigid joints for as many multiplications",
        printed=21,
        ours=affordable,
        by="counted: mass matrix and bias",
        remark=SOLVED,
    ),
    Row(
        source=f"{SOURCE}, sections 1.1 and 6 (pp. 2, 18)",
        quantity="of these, in place of the 6 flexible degrees of freedom",
        printed=15,
        ours=lambda: affordable() - CASE[0],
        by="counted: mass matrix and bias",
        remark=SOLVED,
    ),
    Row(
        source=f"{SOURCE}, section 1.1 (p. 2)",
        quantity="degrees of freedom, 6 of them joints",
        printed=12,
        within=0.0,
        ours=lambda: float(DEGREES),
        by=BY,
    ),
)
