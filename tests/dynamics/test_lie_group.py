"""The Lie-group recursions: inverse, forward and hybrid dynamics against Newton and Euler, and what
they refuse."""

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest
from lie_group_cases import assert_close, by_newton_and_euler, case, split, symbols
from random_trees import over, random_link, random_motion, random_rotation

from ocp import Joint, Link, Load, Point, Tree, revolute, screw
from ocp.dynamics import NEWTON_EULER
from ocp.dynamics.formulations import lie_group
from ocp.mechanics import GROUND, rotate_x
from ocp.mechanics.kinematics import kinematics
from ocp.models.arms.two_link import two_link

KIND = pytest.mark.parametrize("kind", [ca.SX, ca.MX], ids=["SX", "MX"])


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
    actual = lie_group.hybrid(c.tree, c.q, c.qd, c.known, c.active, c.loads)
    assert_close(np.array(actual[0]).ravel(), qdd, 1e-9)
    assert_close(np.array(actual[1]).ravel(), tau, 1e-9)


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
        for actual, expected in zip(
            ca.Function("found", [*inputs, strength], graphs).call([c.q, c.qd, c.known, 1.0]),
            numbers,
        ):
            assert_close(actual, expected, 1e-12)


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
