"""Derivatives of muscles in closed form equal those by differentiation, in fewer instructions."""

import casadi as ca
import numpy as np
import pytest

from ocp import Link, Parameter, Tree, revolute
from ocp.dynamics.derivatives.muscle_derivatives import (
    muscle_column,
    muscle_curvature,
    muscle_slope,
)
from ocp.mechanics import element_torques, state_needs
from ocp.mechanics.muscles import ELBOW, Muscle, PolynomialPath
from ocp.problems.benchmarks.dynamics.muscle_costs import with_muscles
from ocp.problems.gait import effort_step

KINDS = {
    "rigid": {},
    "straight fibres": {"pennation": 0.0},
    "compliant": {"tendon": "compliant"},
    "tiring": {"tendon": "compliant", "fatigue": ELBOW},
    "steep switch": {"smoothing": 10.0},
    "open force": {"force": Parameter("strength", 700.0, unit="N")},
}


def two_links(**others):
    """A tree of two links, and two muscles over both joints and one over the last."""
    both, last = ("a", "b"), ("b",)
    paths = (
        PolynomialPath(
            joints=both,
            exponents=[(0, 0), (1, 0), (0, 1), (2, 1), (1, 3)],
            coefficients=[0.3, 0.03, -0.02, 0.01, 0.005],
        ),
        PolynomialPath(
            joints=both, exponents=[(0, 0), (1, 0), (2, 2)], coefficients=[0.29, -0.03, 0.01]
        ),
        PolynomialPath(joints=last, exponents=[(0,), (1,), (2,)], coefficients=[0.3, 0.02, 0.01]),
    )
    numbers = {"force": 600.0, "fibre": 0.1, "slack": 0.2, "pennation": 0.3} | others
    muscles = [Muscle(name=f"m{k}", path=path, **numbers) for k, path in enumerate(paths)]
    links = [Link(mass=1.0, com=(0.1, 0, 0), inertia=np.eye(3) * 0.01)] * 2
    joints = [revolute("a"), revolute("b", parent="a")]
    return Tree(links=tuple(links), joints=tuple(joints), elements=tuple(muscles))


def by_differentiation(tree, q, qd, weight):
    column = element_torques(tree, q, qd) + state_needs(tree, q, qd)
    place = ca.vertcat(q, qd)
    hessian, gradient = ca.hessian(ca.dot(weight, column), place)
    return column, ca.jacobian(column, place), ca.triu(hessian), gradient


def in_closed_form(tree, q, qd, weight):
    slope, column = muscle_slope(tree, q, qd)
    upper, gradient = muscle_curvature(tree, weight, q, qd)
    return column, slope, upper, gradient


@pytest.mark.parametrize("kind", KINDS)
def test_closed_forms_equal_differentiation(kind):
    tree = two_links(**KINDS[kind])
    n, random = tree.dof, np.random.default_rng(7)
    symbols = [ca.SX.sym(name, n) for name in ("q", "qd", "weight")]
    open_numbers = [each.expression for each in KINDS[kind].values() if isinstance(each, Parameter)]
    inputs = [*symbols, *open_numbers]
    place = [random.uniform(0.05, 0.4, n), random.uniform(-1, 1, n), random.uniform(-1, 1, n)]
    place += [700.0] * len(open_numbers)
    ours = ca.Function("ours", inputs, in_closed_form(tree, *symbols))(*place)
    theirs = ca.Function("theirs", inputs, by_differentiation(tree, *symbols))(*place)
    for one, other in zip(ours, theirs):
        np.testing.assert_allclose(np.array(one), np.array(other), rtol=1e-12, atol=1e-10)
    alone = ca.Function("alone", inputs, [muscle_column(tree, *symbols[:2])])(*place)
    np.testing.assert_allclose(np.array(alone), np.array(theirs[0]), rtol=1e-12)


def test_rows_without_a_weight_cost_nothing():
    tree = two_links()
    q, qd = ca.SX.sym("q", tree.dof), ca.SX.sym("qd", tree.dof)
    weight = ca.SX(ca.Sparsity.unit(tree.dof, 2), ca.SX.sym("weight"))  # the first excitation
    upper, gradient = muscle_curvature(tree, weight, q, qd)
    rows, columns = upper.sparsity().get_triplet()
    assert {*rows} == {*columns} == {2, 2 + tree.dof} and gradient.nnz() == 2


def test_ninety_two_muscles_cost_few_instructions():
    """Values, slopes with them, and curvatures, by polynomials of order 3: a fifth of those of
    differentiation."""
    tree, most = with_muscles(effort_step(), 3, "rigid").tree, (31_000, 46_000, 82_000)
    symbols = [ca.SX.sym(name, tree.dof) for name in ("q", "qd", "weight")]
    slope, column = muscle_slope(tree, *symbols[:2])
    upper, _ = muscle_curvature(tree, symbols[2], *symbols[:2])
    counts = [
        ca.Function("count", symbols, outputs).n_instructions()
        for outputs in ([column], [slope, column], [upper])
    ]
    assert all(count <= bound for count, bound in zip(counts, most)), counts
