"""Work of the Newton-Euler recursion: linear in the joints, small, and none for what is fixed."""

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest
from random_trees import random_link, random_pose, random_tree

from ocp import fixed
from ocp.dynamics import NEWTON_EULER
from ocp.mechanics import GROUND
from ocp.models.arms.ur5_like import ur5_like


def operations(tree):
    """Multiplications and additions (n,) in the torque graph."""
    q, qd, qdd = (ca.SX.sym(name, tree.dof) for name in ("q", "qd", "qdd"))
    graph = ca.Function("graph", [q, qd, qdd], ca.cse([NEWTON_EULER.inverse(tree, q, qd, qdd)]))
    codes = [graph.instruction_id(k) for k in range(graph.n_instructions())]
    return np.array(
        [
            sum(code in kind for code in codes)
            for kind in ((ca.OP_MUL, ca.OP_SQ), (ca.OP_ADD, ca.OP_SUB, ca.OP_TWICE))
        ]
    )


def chain(joints, seed=0):
    """A general serial chain of revolute joints."""
    return random_tree(
        np.random.default_rng(seed), joints, kinds=("revolute",), branching=0, massless=0
    )


def test_work_grows_exactly_linearly_with_the_joints():
    counts = np.array([operations(chain(n)) for n in range(1, 11)])
    growth = np.diff(counts, axis=0)[1:]  # from two joints to three on
    assert (growth == growth[0]).all() and (growth > 0).all()


@pytest.mark.parametrize(
    ("tree", "most"), [(chain(6), (410, 352)), (ur5_like(), (184, 137))], ids=["general-6R", "UR5"]
)
def test_work_stays_as_small_as_it_is(tree, most):
    """Counted with CasADi 3.8.2. Without regrouped inertias 594 and 489, 251 and 176; Hollerbach's
    (1980) table II has 852 and 738."""
    assert (operations(tree) <= most).all()


def with_fixed_link(rng, tree, before):
    """A chain with a body welded in before joint number `before`; after the last, it is a tool."""
    weld = fixed("weld", tree.names[before - 1] if before else GROUND, home=random_pose(rng))
    after = tree.joints[before:]
    after = [replace(joint, parent="weld") for joint in after[:1]] + list(after[1:])
    return replace(
        tree,
        joints=(*tree.joints[:before], weld, *after),
        links=(*tree.links[:before], random_link(rng), *tree.links[before:]),
    )


@pytest.mark.parametrize("before", range(5))
def test_fixed_links_and_their_inertia_cost_nothing(before):
    for seed in range(5):
        bare = chain(4, seed)
        assert (
            operations(with_fixed_link(np.random.default_rng(seed), bare, before)).tolist()
            == operations(bare).tolist()
        )
