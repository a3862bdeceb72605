"""Dynamics of trees whose elements have states, by every formulation."""

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest

from models.arms.two_link import two_link
from ocp import Tree
from ocp.dynamics import FORMULATIONS, forward_dynamics, hybrid_dynamics, inverse_dynamics
from ocp.dynamics.catalogue import derivatives_of
from ocp.mechanics import angular_momentum, kinetic_energy
from ocp.mechanics.muscles import GivenPath, Muscle

METHODS = [name for name in FORMULATIONS if name != "book"]


def length(x):
    return 0.3 - 0.03 * x[0] - 0.02 * x[1] ** 2


def arms() -> tuple[Tree, Tree]:
    plain = two_link()
    joints = tuple(joint.name for joint in plain.moving)
    muscle = Muscle(
        name="calf",
        path=GivenPath(joints=joints, function=length),
        force=300.0,
        fibre=0.1,
        slack=0.2,
        tendon="compliant",
    )
    return plain, replace(plain, elements=(muscle,))


def motion(seed=0):
    rng = np.random.default_rng(seed)
    return [ca.DM(rng.uniform(0.1, 0.6, 4)) for _ in range(3)]


@pytest.mark.parametrize("name", METHODS)
def test_bodies_do_not_know_states(name):
    plain, tree = arms()
    method, values = FORMULATIONS[name], motion()
    given = np.array(method.inverse(tree, *values)).ravel()
    bodies = np.array(method.inverse(plain, *(each[:2] for each in values))).ravel()
    assert given == pytest.approx([*bodies, 0.0, 0.0], abs=1e-14)


@pytest.mark.parametrize("name", [each for each in METHODS if FORMULATIONS[each].derivatives])
def test_slopes_and_curvature_are_those_of_the_inverse(name):
    _, tree = arms()
    method = FORMULATIONS[name]
    provider = derivatives_of(method, "recursive", tree)
    symbols = [ca.SX.sym(what, 4) for what in ("q", "qd", "qdd")]
    weights, stacked = ca.SX.sym("weights", 4), ca.vertcat(*symbols)
    value = method.inverse(tree, *symbols)
    slopes = provider.join_slopes(tree, provider.slope_parts(tree, *symbols, ()))
    second = provider.join_curvature(tree, provider.curvature_parts(tree, weights, *symbols, ()))
    hessian, gradient = ca.hessian(ca.dot(weights, value), stacked)
    blocks = [hessian[:4, :4], hessian[:4, 4:8], hessian[:4, 8:], hessian[4:8, 4:8]]
    upper = [ca.triu(each) if k in (0, 3) else each for k, each in enumerate(blocks)]
    ours = ca.vertcat(
        *(ca.vec(each) for each in slopes[:3]),
        *(ca.vec(ca.densify(each)) for each in second[:4]),
        second[5],
    )
    right = ca.vertcat(
        ca.vec(ca.jacobian(value, stacked)),
        *(ca.vec(ca.densify(each)) for each in upper),
        gradient,
    )
    look = ca.Function("look", [*symbols, weights], [ca.densify(ours), ca.densify(right)])
    got, expected = look(*motion(1), ca.DM([0.3, -0.7, 1.0, 2.0]))
    assert np.array(got) == pytest.approx(np.array(expected), abs=1e-11)


def test_forward_dynamics_undo_inverse_dynamics():
    _, tree = arms()
    q, qd, qdd = motion(2)
    tau = inverse_dynamics(tree, q, qd, qdd)
    expected = [*np.array(qdd[:2]).ravel(), 0.0, 0.0]
    assert np.array(forward_dynamics(tree, q, qd, tau)).ravel() == pytest.approx(expected)
    known = ca.vertcat(qdd[0], tau[1:])
    mixed, torques = hybrid_dynamics(tree, q, qd, known, (True, False, False, False))
    assert np.array(mixed).ravel() == pytest.approx(expected)
    assert np.array(torques).ravel() == pytest.approx(np.array(tau).ravel())


def test_energy_and_momentum_leave_states_out():
    plain, tree = arms()
    q, qd, _ = motion(3)
    for what in (kinetic_energy, angular_momentum):
        ours, bodies = what(tree, q, qd), what(plain, q[:2], qd[:2])
        assert np.array(ours) == pytest.approx(np.array(bodies), abs=1e-15)
