"""Numbers of Hollerbach (1980): tables I and II, and what the text makes of them."""

from collections.abc import Callable
from functools import cache, partial
from math import inf

import casadi as ca
import numpy as np

from ocp.models.arms.general_chain import general_chain
from ocp.problems.benchmarks.derivative_costs import microseconds
from ocp.problems.benchmarks.operations import METHODS, PRODUCTS, TABLE_I, TABLE_II, dense, leading
from ocp.problems.published.row import Row

SOURCE = "Hollerbach 1980"
NAMES = {
    "uicker_kahn": "Uicker/Kahn",
    "waters": "Waters",
    "hollerbach_4x4": "recursive Lagrangian, 4x4",
    "hollerbach_3x3": "recursive Lagrangian, 3x3",
    "newton_euler": "Newton-Euler",
    "configuration_space": "configuration space",
}
WORK = ("multiplications", "additions")
BY = "`compare_formulations`, dense"
JOINTS = 6  # of table II
LARGEST = 8  # joints of the chains whose counts tell an order
KEPT = "fewer: what is there already is kept, no new algorithm"
LOOKED_UP = "looked up in tables; what symmetry makes equal is taken once"
REMARKS = {
    ("uicker_kahn", 0): "171 1/4 and 53 1/3, halves in the scan, make 67143 at n = 6",
    ("uicker_kahn", 1): "66 1/3 and 42 1/3, halves in the scan, make the 51548 of table II",
    ("waters", 0): "106 2/3, a half in the scan, makes the 7051 of table II",
    ("configuration_space", 0): LOOKED_UP,
    ("configuration_space", 1): LOOKED_UP,
}


def order(method: str) -> float:
    """Return the order in n of a method's counts by Hollerbach's rule; NaN if it is no power."""
    term = leading(lambda n: dense(method, n), LARGEST)
    return float("nan") if term is None else float(term[0])


@cache
def polynomial(method: str, kind: int) -> tuple[float, ...]:
    """Return the coefficients, highest power first, of a method's dense counts from n = 2 on.

    Of multiplications (`kind` 0) or additions (1); not numbers if two more counts do not follow.
    """
    degree = len(TABLE_I[method][kind]) - 1
    joints = np.arange(2, degree + 5)
    counts = np.array([dense(method, n)[kind] for n in joints], dtype=float)
    powers = np.polyfit(joints[: degree + 1], counts[: degree + 1], degree)
    if np.abs(np.polyval(powers, joints) - counts).max() > 1e-6 * counts.max():
        return (float("nan"),) * (degree + 1)
    return tuple(float(one) for one in np.round(powers * 24) / 24)


def powers_of(number: int) -> tuple[str, ...]:
    """Return the names of that many powers of n, highest first."""
    return tuple("" if k == 0 else "n" if k == 1 else f"n^{k}" for k in reversed(range(number)))


def saving(first: str, second: str) -> float:
    """Return by how many percent a method takes fewer operations than another at six joints."""
    return 100.0 * (1 - sum(dense(first, JOINTS)) / sum(dense(second, JOINTS)))


def slope_saving() -> float:
    """Return the percentage of multiplications per joint that 3x3 matrices save beside 4x4."""
    smaller, larger = (polynomial(f"hollerbach_{size}", 0)[0] for size in ("3x3", "4x4"))
    return 100.0 * (1 - smaller / larger)


def product(size: int) -> float:
    """Return the multiplications of two full matrices of that size."""
    first, second = (ca.SX.sym(name, size, size) for name in "ab")
    graph = ca.Function("product", [first, second], [first @ second])
    return float(sum(graph.instruction_id(k) in PRODUCTS for k in range(graph.n_instructions())))


def crossing() -> float:
    """Return from how many joints on Newton-Euler takes fewer multiplications than tables."""
    table, recursion = polynomial("configuration_space", 0), polynomial("newton_euler", 0)
    joints = range(2, 30)
    return float(next((n for n in joints if np.polyval(table, n) > np.polyval(recursion, n)), inf))


def seconds() -> float:
    """Return the time (s) of the torques of Uicker/Kahn for six joints, as CasADi evaluates it."""
    tree = general_chain(JOINTS)
    motion = [ca.SX.sym(name, JOINTS) for name in ("q", "qd", "qdd")]
    tau = METHODS["uicker_kahn"].inverse(tree, *motion)
    return 1e-6 * microseconds([ca.Function("tau", motion, [tau])])[0]


def _count(method: str, kind: int) -> float:
    return float(dense(method, JOINTS)[kind])


def _rows() -> tuple[Row, ...]:
    listed = []
    for method, tables in TABLE_I.items():
        for kind, powers in enumerate(tables):
            listed.append(
                Row(
                    source=f"{SOURCE}, table I",
                    quantity=f"{NAMES[method]}, {WORK[kind]}",
                    printed=tuple(powers),
                    ours=partial(polynomial, method, kind),
                    terms=powers_of(len(powers)),
                    by=BY,
                    remark=REMARKS.get((method, kind), KEPT),
                )
            )
    for method, counts in TABLE_II.items():
        for kind, count in enumerate(counts):
            misprint = (method, kind) == ("uicker_kahn", 0)
            listed.append(
                Row(
                    source=f"{SOURCE}, table II",
                    quantity=f"{NAMES[method]}, {WORK[kind]}, n = 6",
                    printed=count,
                    ours=partial(_count, method, kind),
                    by=BY,
                    remark="misprint: table I gives 67143" if misprint else KEPT,
                )
            )
    return tuple(listed)


def _said(
    place: str,
    quantity: str,
    printed: float,
    ours: Callable[[], float],
    within: float | None = 0.0,
    remark: str = "",
) -> Row:
    return Row(
        source=f"{SOURCE}, {place}",
        quantity=quantity,
        printed=printed,
        ours=ours,
        by=BY,
        within=within,
        remark=remark,
    )


ROWS = (
    *_rows(),
    *(
        _said("text to table I", f"order in n of {NAMES[key]}", power, partial(order, key))
        for key, power in (
            ("uicker_kahn", 4),
            ("waters", 2),
            ("hollerbach_4x4", 1),
            ("hollerbach_3x3", 1),
            ("newton_euler", 1),
            ("configuration_space", 3),
        )
    ),
    _said("3x3 matrices", "multiplications of two 3x3 matrices", 27, partial(product, 3)),
    _said("3x3 matrices", "multiplications of two 4x4 matrices", 64, partial(product, 4)),
    _said(
        "3x3 matrices", "% that 3x3 saves of 4x4, at least", 50, slope_saving, 0.05, "table I: 50.4"
    ),
    _said(
        "Newton-Euler",
        "% that Newton-Euler saves of 3x3, n = 6",
        60,
        partial(saving, "newton_euler", "hollerbach_3x3"),
        0.1,
        "table II makes 61 and 57",
    ),
    _said(
        "configuration space",
        "n from which tables take more than Newton-Euler",
        9,
        crossing,
        None,
        "table I: 9 by multiplications, 11 by additions",
    ),
    Row(
        source=f"{SOURCE}, Uicker/Kahn",
        quantity="time (s) of one point, n = 6, cited",
        printed=7.9,
        ours=seconds,
        by="timed, CasADi",
        remark="Luh's estimate for a PDP 11/45: not comparable",
    ),
)
