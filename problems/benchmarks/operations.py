"""Operations of the torques of every formulation, beside the tables of Hollerbach (1980).

Dense counts: every matrix entry a symbol, as the paper counts. Folded counts: numbers in the graph,
its zeros, ones and repetitions gone; sines and cosines are not counted.
"""

from collections.abc import Callable, Sequence
from functools import cache
from math import factorial

import casadi as ca
import numpy as np

from ocp import Tree
from ocp.dynamics import FORMULATIONS
from ocp.dynamics.formulations import (
    configuration_space,
    hollerbach_3x3,
    hollerbach_4x4,
    newton_euler_dense,
    uicker_kahn,
    waters,
)
from ocp.models.arms.pr import pr
from ocp.models.arms.two_link import two_link
from ocp.models.arms.ur5_like import ur5_like

Pair = tuple[int, int]  # multiplications, additions
PRODUCTS = (ca.OP_MUL, ca.OP_SQ)
SUMS = (ca.OP_ADD, ca.OP_SUB, ca.OP_TWICE)
# Hollerbach (1980), multiplications and additions: polynomials in n, highest power first
TABLE_I = {
    "uicker_kahn": (
        (32.5, 86 + 5 / 12, 171.25, 53 + 1 / 3, -128),
        (25, 66 + 1 / 3, 129.5, 42 + 1 / 3, -96),
    ),
    "waters": ((106 + 2 / 3, 620.5, -512), (82, 514, -384)),
    "hollerbach_4x4": ((830, -592), (675, -464)),
    "hollerbach_3x3": ((412, -277), (320, -201)),
    "newton_euler": ((150, -48), (131, -48)),
    "configuration_space": ((2, 1, 0, 0), (1, 1, 2, 0)),
}
# The same at n = 6
TABLE_II = {
    "uicker_kahn": (66271, 51548),
    "waters": (7051, 5652),
    "hollerbach_4x4": (4388, 3586),
    "hollerbach_3x3": (2195, 1719),
    "newton_euler": (852, 738),
    "configuration_space": (468, 264),
}
DENSE = {
    "uicker_kahn": uicker_kahn.dense,
    "waters": waters.dense,
    "hollerbach_4x4": hollerbach_4x4.dense,
    "hollerbach_3x3": hollerbach_3x3.dense,
    "newton_euler": newton_euler_dense.dense,
    "configuration_space": configuration_space.dense,
}
METHODS = FORMULATIONS
MODELS = {"two_link": lambda: two_link(gravity=9.8062), "pr": pr, "ur5_like": ur5_like}


def operations(function: ca.Function, products: Sequence[int] = PRODUCTS) -> Pair:
    """Return multiplications and additions of a scalar graph; `products`: codes of the former."""
    codes = [function.instruction_id(k) for k in range(function.n_instructions())]
    return sum(code in products for code in codes), sum(code in SUMS for code in codes)


@cache
def dense(method: str, n: int) -> Pair:
    """Return multiplications and additions for n joints by the paper's rule."""
    inputs, tau = DENSE[method](n)
    return operations(ca.Function("tau", inputs, [tau]))


@cache
def folded(method: str, tree: Tree) -> Pair:
    """Return multiplications and additions of the torques of a tree of numbers."""
    motion = [ca.SX.sym(name, tree.dof) for name in ("q", "qd", "qdd")]
    tau = METHODS[method].inverse(tree, *motion)
    return operations(ca.Function("tau", motion, ca.cse([tau])))


def printed(method: str, n: int) -> Pair:
    """Return the counts of table I for n joints, its misprints corrected."""
    times, plus = (round(float(np.polyval(powers, n))) for powers in TABLE_I[method])
    return times, plus


def exponent(count: Callable[[int], Pair], largest: int) -> float:
    """Return the slope of log(count(n)) over log(n), fitted to n from half of `largest`.

    It is not a number if that is one n alone.
    """
    joints = list(range(max(2, largest // 2), largest + 1))
    if len(joints) < 2:
        return float("nan")
    return float(np.polyfit(np.log(joints), np.log([sum(count(n)) for n in joints]), 1)[0])


def leading(count: Callable[[int], Pair], largest: int) -> tuple[int, tuple[float, float]] | None:
    """Return degree and leading coefficients (2,) of the polynomials that counts are, or None.

    They have to be polynomials from n = 2 to `largest`.
    """
    counts = np.array([count(n) for n in range(2, largest + 1)])
    for degree in range(1, len(counts) - 1):  # at least two differences have to agree
        steps = np.diff(counts, degree, axis=0)
        if (steps == steps[0]).all():
            times, plus = (float(step) / factorial(degree) for step in steps[0])
            return degree, (times, plus)
    return None
