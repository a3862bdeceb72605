"""The Lie-group recursions: inverse, forward and hybrid dynamics against Newton and Euler, their
derivatives, free motions, their work."""

from dataclasses import dataclass, replace
from functools import cache

import casadi as ca
import numpy as np
import pytest
from ocp.models.two_link import two_link
from random_trees import (
    over,
    random_link,
    random_loads,
    random_motion,
    random_rotation,
    random_tree,
)

from ocp import Joint, Link, Load, Point, Tree, revolute, screw
from ocp.dynamics import NEWTON_EULER, lie_group
from ocp.mechanics import GROUND, kinematics, rotate_x

KINDS = ("revolute", "prismatic", "screw", "fixed")
KIND = pytest.mark.parametrize("kind", [ca.SX, ca.MX], ids=["SX", "MX"])


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
    motion, loads = (
        [*map(ca.DM, random_motion(rng, tree))],
        random_loads(rng, tree, seed // len(KINDS) % 4),
    )
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


def assert_close(found, expected, tolerance):
    """Equal up to that part of the greatest entry."""
    found, expected = np.array(found), np.array(expected)
    np.testing.assert_allclose(
        found, expected, rtol=0, atol=tolerance * np.abs(expected).max(initial=1e-300)
    )


def split(c):
    """Rows of active and of passive joints."""
    return np.flatnonzero(c.active), np.flatnonzero(~np.array(c.active, dtype=bool))


# Values


@over(range(10))
def test_inverse_agrees_with_newton_and_euler(seed):
    c = case(seed)
    assert_close(lie_group.inverse(c.tree, c.q, c.qd, c.qdd, c.loads), c.tau, 1e-10)


@over(range(8))
def test_forward_inverts_inverse(seed):
    c = case(seed)
    assert_close(lie_group.forward(c.tree, c.q, c.qd, c.tau, c.loads), c.qdd, 1e-9)


@over(range(8))
def test_hybrid_solves_the_partitioned_equations_of_motion(seed):
    c, (active, passive) = case(seed), split(case(seed))
    mass = by_newton_and_euler(seed)[2]
    h = np.array(NEWTON_EULER.inverse(c.tree, c.q, c.qd, ca.DM.zeros(c.tree.dof), c.loads)).ravel()
    known = np.array(c.known).ravel()
    qdd, tau = known.copy(), known.copy()
    driven = h[passive] + mass[np.ix_(passive, active)] @ known[active]
    qdd[passive] = np.linalg.solve(mass[np.ix_(passive, passive)], known[passive] - driven)
    tau[active] = mass[active] @ qdd + h[active]
    found = lie_group.hybrid(c.tree, c.q, c.qd, c.known, c.active, c.loads)
    assert_close(np.array(found[0]).ravel(), qdd, 1e-9)
    assert_close(np.array(found[1]).ravel(), tau, 1e-9)


def test_the_limits_of_hybrid_are_inverse_and_forward_dynamics():
    for seed in range(12):
        c = case(seed)
        qdd, tau = lie_group.hybrid(c.tree, c.q, c.qd, c.qdd, (True,) * c.tree.dof, c.loads)
        assert_close(qdd, c.qdd, 0)
        assert_close(tau, lie_group.inverse(c.tree, c.q, c.qd, c.qdd, c.loads), 0)
        qdd, tau = lie_group.hybrid(c.tree, c.q, c.qd, c.tau, (False,) * c.tree.dof, c.loads)
        assert_close(tau, c.tau, 0)
        assert_close(qdd, lie_group.forward(c.tree, c.q, c.qd, c.tau, c.loads), 0)


@over(range(10))
def test_mass_matrix_and_bias_make_up_the_torques(seed):
    c, expected = case(seed), by_newton_and_euler(seed)[2]
    mass, bias = lie_group.mass_matrix(c.tree, c.q), lie_group.bias(c.tree, c.q, c.qd, c.loads)
    assert_close(mass, expected, 1e-12)
    assert (np.array(mass) == np.array(mass).T).all()
    assert_close(mass @ c.qdd + bias, c.tau, 1e-10)


def test_the_mass_matrix_has_structural_zeros_between_branches():
    joints = [revolute("trunk"), *(revolute(f"arm{k}", "trunk", axis=(1, 0, 0)) for k in range(2))]
    tree = Tree(links=[random_link(np.random.default_rng(0)) for _ in joints], joints=joints)
    for q in (ca.DM([0.1, 0.2, 0.3]), ca.SX.sym("q", 3), ca.MX.sym("q", 3)):
        assert np.array(ca.DM(lie_group.mass_matrix(tree, q).sparsity(), 1)).tolist() == [
            [1, 1, 1],
            [1, 1, 0],
            [1, 0, 1],
        ]


@over(range(10))
def test_gravity_torques_are_the_slope_of_the_potential_energy(seed):
    c, q = case(seed), ca.SX.sym("q", case(seed).tree.dof)
    slope = ca.Function("slope", [q], [ca.gradient(kinematics.potential_energy(c.tree, q), q)])(c.q)
    assert_close(lie_group.gravity_torques(c.tree, c.q), slope, 1e-10)


def test_a_released_nut_turns_down_a_vertical_screw():
    """qdd = (tau - pitch m g) / (I + m pitch^2)."""
    body = Link(mass=2.0, com=(0, 0, 0.1), inertia=np.diag([0.03, 0.03, 0.05]))
    nut = Tree(links=(body,), joints=(screw("nut", pitch=0.02),), gravity=(0, 0, -9.81))
    expected = (0.1 - 0.02 * 2 * 9.81) / (0.05 + 2 * 0.02**2)
    assert_close(
        lie_group.forward(nut, ca.DM([0.4]), ca.DM([3.0]), ca.DM([0.1])), [[expected]], 1e-14
    )


@pytest.mark.parametrize(
    "tilt", [0.0, 1e-12, 1e-9, 1e-7, 1e-5, 1e-3, 0.02, 0.04, np.pi - 1e-7, np.pi]
)
def test_nearly_parallel_axes_lose_no_accuracy(tilt):
    """Against Lagrange's equations; the links' frames are turned at random."""
    rng, joints, before = np.random.default_rng(1), [], np.eye(3)
    for k in range(4):
        frame, home = random_rotation(rng), np.eye(4)
        home[:3, :3], home[:3, 3], axis = (
            before.T @ frame,
            0.3 * rng.standard_normal(3),
            frame.T @ rotate_x(k * tilt)[:3, 2],
        )
        joints.append(
            Joint(
                name=f"j{k}",
                parent=f"j{k - 1}" if k else GROUND,
                home=home,
                screw=(*axis, *np.cross((0.1, 0.2, -0.1), axis)),
            )
        )
        before = frame
    tree = Tree(links=[random_link(rng) for _ in joints], joints=joints, gravity=(1, 2, -9))
    (q, qd, qdd), motion = symbols(tree), [*map(ca.DM, random_motion(rng, tree))]
    lagrangian = kinematics.kinetic_energy(tree, q, qd) - kinematics.potential_energy(tree, q)
    torques = ca.jtimes(
        ca.gradient(lagrangian, qd), ca.vertcat(q, qd), ca.vertcat(qd, qdd)
    ) - ca.gradient(lagrangian, q)
    tau = ca.Function("tau", [q, qd, qdd], [torques])(*motion)
    assert_close(lie_group.inverse(tree, *motion), tau, 1e-11)
    assert_close(lie_group.forward(tree, *motion[:2], tau), motion[2], 1e-10)


@KIND
def test_expressions_give_what_numbers_give(kind):
    for seed in range(2):
        c, inputs, strength = case(seed), symbols(case(seed).tree, kind), kind.sym("strength")
        loads = tuple(
            replace(load, force=strength * ca.DM(load.force), moment=strength * ca.DM(load.moment))
            for load in c.loads
        )
        numbers = everything(c, [c.q, c.qd, c.known], c.loads)
        graphs = everything(c, inputs, loads)
        for found, expected in zip(
            ca.Function("found", [*inputs, strength], graphs).call([c.q, c.qd, c.known, 1.0]),
            numbers,
        ):
            assert_close(found, expected, 1e-12)


def everything(c, inputs, loads):
    """All that the module computes, for q, qd and a third vector."""
    tree, (q, qd, known) = c.tree, inputs
    rates, torques = lie_group.hybrid_sensitivity(tree, q, qd, known, c.active, loads)
    return [
        lie_group.inverse(tree, q, qd, known, loads),
        lie_group.forward(tree, q, qd, known, loads),
        *rates,
        *torques,
        *lie_group.hybrid(tree, q, qd, known, c.active, loads),
        lie_group.mass_matrix(tree, q),
        lie_group.bias(tree, q, qd, loads),
        lie_group.gravity_torques(tree, q),
        *lie_group.sensitivity(tree, q, qd, known, loads),
    ]


# Derivatives


@over(range(8))
def test_sensitivity_of_inverse_dynamics_agrees_with_newton_and_euler(seed):
    c = case(seed)
    for found, expected in zip(
        lie_group.LIE_GROUP.sensitivity(c.tree, c.q, c.qd, c.qdd, c.loads),
        by_newton_and_euler(seed),
    ):
        assert_close(found, expected, 1e-11)


@over(range(8))
def test_hybrid_sensitivity_equals_automatic_differentiation(seed):
    c, inputs = case(seed), symbols(case(seed).tree)
    outputs = lie_group.hybrid(c.tree, *inputs, c.active, c.loads)
    slopes = ca.Function(
        "slopes", inputs, [ca.jacobian(y, x) for y in outputs for x in inputs]
    ).call([c.q, c.qd, c.known])
    found = lie_group.hybrid_sensitivity(c.tree, c.q, c.qd, c.known, c.active, c.loads)
    for mine, expected in zip((*found[0], *found[1]), slopes):
        assert_close(mine, expected, 1e-9)


@over(range(8))
def test_hybrid_sensitivity_obeys_the_differentiated_equations_of_newton_and_euler(seed):
    """M dqdd/dx + dtau/dx at fixed qdd = dtau/dx; qdd of an active joint and tau of a passive one
    change with nothing but themselves."""
    c, n = case(seed), case(seed).tree.dof
    by_q, by_qd, mass = by_newton_and_euler(seed)
    rates, torques = lie_group.hybrid_sensitivity(c.tree, c.q, c.qd, c.known, c.active, c.loads)
    for part, rate, torque in zip(
        (by_q, by_qd, np.zeros((n, n))), map(np.array, rates), map(np.array, torques)
    ):
        terms = np.stack([mass @ rate, part, -torque])
        np.testing.assert_allclose(terms.sum(axis=0), 0, atol=1e-8 * np.abs(terms).max(initial=0))
    active, passive = split(c)
    for held, rows in ((rates, active), (torques, passive)):
        for slope, expected in zip(held, (0 * by_q, 0 * by_q, np.eye(n))):
            assert (np.array(slope)[rows] == expected[rows]).all()


@over(range(6))
def test_hybrid_sensitivity_is_the_limit_of_differences(seed):
    """Richardson's extrapolation of central differences along a random direction."""
    c, rng = case(seed, largest=6), np.random.default_rng(seed)
    base, ways = np.array(ca.horzcat(c.q, c.qd, c.known)).T, rng.standard_normal((3, c.tree.dof))
    at = lambda step: (
        np.array(
            ca.horzcat(
                *lie_group.hybrid(c.tree, *map(ca.DM, base + step * ways), c.active, c.loads)
            )
        ).T
    )
    slope = lambda step: (at(step) - at(-step)) / (2 * step)
    third = lambda step: (4 * slope(step / 2) - slope(step)) / 3
    expected = (16 * third(1e-3 / 2) - third(1e-3)) / 15
    found = lie_group.hybrid_sensitivity(c.tree, c.q, c.qd, c.known, c.active, c.loads)
    for parts, rate in zip(found, expected):
        assert_close(sum(np.array(part) @ way for part, way in zip(parts, ways)), rate, 1e-8)


# Motions


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
    assert (
        work[6][2] == 0
        and (work[6] == operations([lie_group.inverse(tree, *inputs)], inputs)).all()
    )


# Refusals


@pytest.mark.parametrize("function", [lie_group.hybrid, lie_group.hybrid_sensitivity])
def test_a_wrong_number_of_active_flags_is_refused_by_name(function):
    still = ca.DM([0, 0])
    with pytest.raises(
        ValueError,
        match=r"^active: expected a boolean for each of the 2 moving joints \(.*, .*\), got 3$",
    ):
        function(two_link(), still, still, still, (True, False, True))


def test_a_load_on_a_stranger_is_refused_by_name():
    with pytest.raises(ValueError, match="^unknown point 'toe'; the points are tip$"):
        lie_group.forward(
            two_link(), ca.DM([0, 0]), ca.DM([0, 0]), ca.DM([0, 0]), (Load(point="toe"),)
        )


def test_a_last_massless_link_has_no_acceleration_of_its_own():
    """Its articulated inertia is singular, as `hybrid` says; driven, it has a torque."""
    body = random_link(np.random.default_rng(0))
    tree = Tree(
        links=(body, Link()),
        joints=(revolute("a"), revolute("b", "a", axis=(1, 0, 0))),
        points=(Point(name="tip", link="b"),),
    )
    still = ca.DM([0.3, 0.2])
    assert not np.isfinite(np.array(lie_group.forward(tree, still, still, ca.DM([1, 1])))[1])
    accelerations, torques = lie_group.hybrid(tree, still, still, ca.DM([1, 1]), (False, True))
    assert np.isfinite(np.array(accelerations)).all() and float(torques[1]) == 0
