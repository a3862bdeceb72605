"""Random trees with joints active and passive, and what Newton and Euler say of them."""

from dataclasses import dataclass
from functools import cache

import casadi as ca
import numpy as np
from random_trees import random_loads, random_motion, random_tree

from ocp import Tree
from ocp.dynamics import NEWTON_EULER

KINDS = ("revolute", "prismatic", "screw", "fixed")


@dataclass(frozen=True, kw_only=True)
class Case:
    """A tree, loads, which joints are active, and a motion q, qd, qdd with its torques tau by
    Newton and Euler, (n,) each."""

    tree: Tree
    loads: tuple
    active: tuple
    q: ca.DM
    qd: ca.DM
    qdd: ca.DM
    tau: ca.DM

    @property
    def known(self):
        """What `hybrid` is given: qdd at active joints, tau at passive ones."""
        return ca.DM(
            [float(self.qdd[i] if flag else self.tau[i]) for i, flag in enumerate(self.active)]
        )


@cache
def case(seed, largest=8, massless=0.2):
    """A random tree of 1 to `largest` joints, its root of each kind in turn, with up to three
    loads; half of the joints are active."""
    rng, first = np.random.default_rng(seed), seed % len(KINDS)
    tree = random_tree(
        rng,
        int(rng.integers(1, largest + 1)),
        kinds=KINDS[first:] + KINDS[:first],
        massless=massless,
    )
    motion = [*map(ca.DM, random_motion(rng, tree))]
    loads = random_loads(rng, tree, seed // len(KINDS) % 4)
    return Case(
        tree=tree,
        loads=loads,
        active=tuple((rng.random(tree.dof) < 0.5).tolist()),
        q=motion[0],
        qd=motion[1],
        qdd=motion[2],
        tau=NEWTON_EULER.inverse(tree, *motion, loads),
    )


def symbols(tree, kind=ca.SX):
    """Three symbols (n,): q, qd, and qdd, tau or `known`."""
    return [kind.sym(name, tree.dof) for name in ("q", "qd", "known")]


@cache
def by_newton_and_euler(seed, **options):
    """dtau/dq, dtau/dqd, and M, (n, n) each, by automatic differentiation of newton_euler."""
    c = case(seed, **options)
    inputs = symbols(c.tree)
    tau = NEWTON_EULER.inverse(c.tree, *inputs, c.loads)
    slopes = ca.Function("slopes", inputs, [ca.jacobian(tau, x) for x in inputs])
    return [np.array(part) for part in slopes.call([c.q, c.qd, c.qdd])]


def assert_close(actual, expected, tolerance):
    """Equal up to that part of the greatest entry."""
    actual, expected = np.array(actual), np.array(expected)
    np.testing.assert_allclose(
        actual, expected, rtol=0, atol=tolerance * np.abs(expected).max(initial=1e-300)
    )


def split(c):
    """Rows of active and of passive joints."""
    return np.flatnonzero(c.active), np.flatnonzero(~np.array(c.active, dtype=bool))
