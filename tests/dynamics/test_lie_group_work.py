"""Free motions by the Lie-group recursions, and the work of their graphs."""

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest
from lie_group_cases import symbols
from random_trees import over, random_motion, random_tree

from ocp.dynamics import exponentials
from ocp.dynamics.formulations import lie_group
from ocp.mechanics.kinematics import kinematics


def free_motion(tree, start, tolerance):
    """States (2n, 11) at equal times in 0 to 5 s without torques, by CVODES."""
    q, qd, _ = symbols(tree)
    ode = {
        "x": ca.vertcat(q, qd),
        "ode": ca.vertcat(qd, lie_group.forward(tree, q, qd, [0.0] * tree.dof)),
    }
    times = np.linspace(0.5, 5, 10)
    flow = ca.integrator(
        "flow",
        "cvodes",
        ode,
        0,
        times,
        {"abstol": tolerance, "reltol": tolerance, "max_num_steps": 100000},
    )
    return np.column_stack([start, np.array(flow(x0=start)["xf"])])


@over(range(3))
def test_free_motion_keeps_its_energy_and_its_momentum_about_a_vertical_root_axis(seed):
    """What is lost is the integrator's: it falls with its tolerance."""
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, 4 + seed % 2, massless=0)
    turn, root = np.array(tree.joints[0].home), tree.joints[0]
    axis, foot = turn[:3, :3] @ root.screw[:3], turn[:3, :3] @ root.anchor + turn[:3, 3]
    tree = replace(tree, gravity=-9.81 * axis)
    q, qd, _ = symbols(tree)
    kept = [
        kinematics.kinetic_energy(tree, q, qd),
        kinematics.potential_energy(tree, q),
        ca.dot(ca.DM(axis), kinematics.momentum(tree, q, qd, about=foot)[0]),
    ]
    quantities = ca.Function("kept", [ca.vertcat(q, qd)], [ca.vertcat(*kept)])
    start, lost = np.concatenate(random_motion(rng, tree)[:2]), []
    for tolerance in (1e-10, 1e-12):
        kinetic, potential, momentum = np.array(quantities(free_motion(tree, start, tolerance)))
        lost.append(
            (
                np.ptp(kinetic + potential) / kinetic.max(),
                np.ptp(momentum) / max(1, abs(momentum[0])),
            )
        )
    assert max(lost[1]) < 1e-8 and max(lost[0]) < 1e-6
    assert (np.array(lost[1]) < np.array(lost[0]) / 10).all()


# Work


def operations(outputs, inputs):
    """Multiplications, additions and divisions (3,) in a graph, repetitions folded."""
    graph = ca.Function("graph", inputs, ca.cse(list(outputs)))
    codes = [graph.instruction_id(k) for k in range(graph.n_instructions())]
    kinds = (ca.OP_MUL, ca.OP_SQ), (ca.OP_ADD, ca.OP_SUB, ca.OP_TWICE), (ca.OP_DIV, ca.OP_INV)
    return np.array([sum(code in kind for code in codes) for kind in kinds])


def chain(joints, kind="revolute", seed=0):
    """A general serial chain."""
    return random_tree(np.random.default_rng(seed), joints, kinds=(kind,), branching=0, massless=0)


@pytest.mark.parametrize("kind", ["revolute", "prismatic", "screw"])
@pytest.mark.parametrize("function", [lie_group.inverse, lie_group.forward])
def test_work_grows_exactly_linearly_with_the_joints(function, kind):
    counts = []
    for n in range(4, 9):  # from four joints on; near the ground products with zero vanish
        inputs = symbols(chain(n, kind))
        counts.append(operations([function(chain(n, kind), *inputs)], inputs))
    growth = np.diff(counts, axis=0)
    assert (growth == growth[0]).all() and (growth[0, :2] > 0).all()


@over(range(2))
def test_work_for_a_general_arm_of_six_joints_stays_small(seed):
    """Multiplications and additions; Hollerbach's (1980) table II has 852 and 738 for inverse
    dynamics."""
    tree = chain(6, seed=seed)
    inputs = symbols(tree)
    q, qd, x = inputs
    assert (operations([lie_group.inverse(tree, q, qd, x)], inputs) <= (540, 405, 0)).all()
    assert (operations([lie_group.forward(tree, q, qd, x)], inputs) <= (990, 835, 31)).all()
    assert (operations(lie_group.sensitivity(tree, q, qd, x), inputs) <= (2600, 2100, 0)).all()
    rates, _ = lie_group.hybrid_sensitivity(tree, q, qd, x, (False,) * 6)
    by_casadi = [ca.jacobian(lie_group.forward(tree, q, qd, x), y) for y in inputs]
    assert (operations(rates, inputs)[:2] < 0.5 * operations(by_casadi, inputs)[:2]).all()


def test_active_joints_near_the_ground_need_no_articulated_inertia():
    tree = chain(6)
    inputs = symbols(tree)
    work = [
        operations(lie_group.hybrid(tree, *inputs, (True,) * k + (False,) * (6 - k)), inputs)
        for k in range(7)
    ]
    assert (np.diff(work, axis=0)[1:, 0] < 0).all()
    assert work[6][2] == 0
    assert (work[6] == operations([lie_group.inverse(tree, *inputs)], inputs)).all()


def test_an_inertia_goes_through_a_joint_by_functions_that_are_built_once(monkeypatch):
    """One of each axis, whatever the number of links."""
    turn, counts = exponentials._turn_block, []
    monkeypatch.setattr(exponentials, "_turn_block", lambda *args: counts.append(1) or turn(*args))
    exponentials._inertia_transport.cache_clear()
    tree = random_tree(np.random.default_rng(0), 12)
    lie_group.forward(tree, *symbols(tree))
    assert 0 < len(counts) <= 3 * 4
