"""Random trees for derivatives, and other ways to a derivative."""

from itertools import count

import casadi as ca
import numpy as np
import pytest
from random_trees import over, random_loads, random_motion, random_tree

from ocp import Load
from ocp.dynamics import BARMAN, FORMULATIONS
from ocp.dynamics.derivatives import composite_bodies

KINDS = ("revolute", "prismatic", "screw", "fixed")
METHODS = FORMULATIONS | {"barman": BARMAN}
RECURSIONS = {name: method.sensitivity for name, method in METHODS.items() if method.sensitivity}
RECURSIONS["composite"] = lambda *motion: composite_bodies.sensitivity(*motion)[:3]
TREES = 20  # of 1 to 5 joints, five with each kind of root
every_recursion = pytest.mark.parametrize("name", RECURSIONS)
every_tree = over(range(TREES))
some_trees = over(range(0, TREES, 3))  # of each size and kind of root too
branched_trees = over(range(8, TREES, 3))  # of 3 joints and more


def mechanism(seed, branching=0.3, largest=5):
    """A random tree of 1 to `largest` joints, its root of each kind in turn (a fixed one carries
    them), q, qd and qdd as one vector, up to three loads as another."""
    rng, first = np.random.default_rng(seed), seed % len(KINDS)
    joints = 1 + seed // len(KINDS) % largest + (KINDS[first] == "fixed")
    kinds = KINDS[first:] + KINDS[:first]
    tree = next(
        tree
        for tree in (random_tree(rng, joints, kinds=kinds, branching=branching) for _ in count())
        if tree.dof
    )
    loads = random_loads(rng, tree, int(rng.integers(4)))
    return (
        tree,
        random_motion(rng, tree).ravel(),
        np.array([(*load.moment, *load.force) for load in loads]).ravel(),
        loads,
    )


def symbolic(tree, loads, kind=ca.SX):
    """Symbols of the motion, q over qd over qdd, and of the loads, moment over force; arguments of
    a formulation made of them."""
    motion, wrenches = kind.sym("motion", 3 * tree.dof), kind.sym("wrenches", 6 * len(loads))
    parts = ca.vertsplit(wrenches, 3)
    acting = tuple(
        Load(point=load.point, moment=parts[2 * k], force=parts[2 * k + 1])
        for k, load in enumerate(loads)
    )
    return motion, wrenches, (*ca.vertsplit(motion, tree.dof), acting)


def valued(symbols, expression, *values):
    """The value (array) of an expression; several columns of values give several results side by
    side."""
    return np.array(ca.Function("valued", symbols, [ca.densify(expression)])(*values))


def assert_close(actual, expected, tolerance):
    """Equality within a part of the largest entry that is expected."""
    np.testing.assert_allclose(
        actual, expected, rtol=0, atol=tolerance * np.abs(expected).max(initial=0)
    )


def differences(function, at, step=0.02):
    """Central differences of eighth order of a function that takes many columns at once: (m, n)
    from (n,) -> (m,).

    In a joint variable the dynamics are sines and cosines of it and its double, times polynomials:
    the error is of order (2 step)^8 / 630.
    """
    weights = {1: 4 / 5, 2: -1 / 5, 3: 4 / 105, 4: -1 / 280}
    moved = np.hstack(
        [at[:, None] + sign * k * step * np.eye(len(at)) for k in weights for sign in (1, -1)]
    )
    values = function(moved).reshape(-1, len(weights), 2, len(at))
    return np.einsum("mkn,k->mn", values[:, :, 0] - values[:, :, 1], list(weights.values())) / step


def unrelated(tree):
    """Whether neither of two joints carries the other, (n, n)."""
    carried = np.zeros((tree.dof, tree.dof), dtype=bool)
    for k, row in enumerate(tree.rows):
        while row is not None and k >= 0:
            if tree.rows[k] is not None:
                carried[row, tree.rows[k]] = True
            k = tree.parents[k]
    return ~(carried | carried.T)


def stored(matrix):
    """Where a matrix has entries that are not structurally zero."""
    return np.array(ca.DM(matrix.sparsity(), 1)) != 0
