"""Trees with balls and followers: every formulation agrees with every other and with Lagrange's
equations, and derivatives are exact."""

import casadi as ca
import numpy as np
import pytest
from mapped_trees import numbers, random_mapped_tree
from random_trees import over, random_link, random_loads, random_motion

from ocp.certificate import simulate
from ocp.dynamics import FORMULATIONS, TABLE, derivatives_of, forward_dynamics, mass_matrix
from ocp.dynamics.derivatives.charts import INERTIA
from ocp.dynamics.derivatives.published_recursions import published_provider
from ocp.dynamics.tree_dynamics import hybrid_dynamics
from ocp.mechanics import (
    Link,
    Load,
    Loop,
    Point,
    Tree,
    ball,
    close_coordinates,
    exp_rotation,
    free,
    polynomial,
    prismatic,
    revolute,
)
from ocp.mechanics.kinematics import kinematics
from ocp.mechanics.kinematics.loop_closure import gap
from ocp.mechanics.kinematics.rotations import quaternion


def lagrange(tree, q, qd, qdd, loads):
    """Torques of Lagrange's equations from the energies, the quaternions' lengths with theirs."""
    place, rate = ca.SX.sym("q", tree.dof), ca.SX.sym("qd", tree.dof)
    kinetic = kinematics.kinetic_energy(tree, place, rate)
    for joint, rows in zip(tree.joints, tree.spans):
        if joint.ball:
            length = ca.norm_2(place[list(rows)])
            kinetic += INERTIA / 2 * ca.jtimes(length, place, rate) ** 2
    momentum = ca.gradient(kinetic, rate)
    torques = ca.jtimes(momentum, place, rate) + ca.jtimes(momentum, rate, qdd)
    torques += ca.gradient(kinematics.potential_energy(tree, place) - kinetic, place)
    torques -= ca.gradient(kinematics.load_power(tree, place, rate, loads), rate)
    return numbers(torques, ca.vertcat(place, rate), ca.vertcat(q, qd))


@over(range(2))
def test_all_formulations_agree_with_lagranges_equations(seed):
    rng = np.random.default_rng(seed)
    tree = random_mapped_tree(rng, 4)
    motion, loads = list(map(ca.DM, random_motion(rng, tree))), random_loads(rng, tree, 2)
    right = lagrange(tree, *motion, loads)
    for name, formulation in FORMULATIONS.items():
        got = np.array(formulation.inverse(tree, *motion, loads))
        assert np.abs(got - right).max() < 1e-10 * max(np.abs(right).max(), 1.0), name


@over(range(2))
def test_forward_dynamics_and_the_mass_matrix_invert_the_inverse(seed):
    rng = np.random.default_rng(seed)
    tree = random_mapped_tree(rng, 4, followers=seed % 2 == 0)
    q, qd, qdd = map(ca.DM, random_motion(rng, tree))
    loads, inverse = random_loads(rng, tree, 1), FORMULATIONS["newton_euler"].inverse
    torques = inverse(tree, q, qd, qdd, loads)
    got = forward_dynamics(tree, q, qd, torques, loads)
    np.testing.assert_allclose(np.array(got), np.array(qdd), atol=1e-9)
    rest = inverse(tree, q, qd, ca.DM.zeros(tree.dof), loads)
    moved = mass_matrix(tree, q) @ qdd + rest
    np.testing.assert_allclose(np.array(moved), np.array(torques), atol=1e-10)
    active = [row % 2 == 0 for row in range(tree.dof)]
    known = ca.vertcat(*(qdd[k] if flag else torques[k] for k, flag in enumerate(active)))
    for part, right in zip(hybrid_dynamics(tree, q, qd, known, active, loads), (qdd, torques)):
        np.testing.assert_allclose(np.array(part), np.array(right), atol=1e-8)


def test_numbers_give_numbers_where_loops_are_closed_too():
    """Only of numbers it can be told that nothing determines the accelerations."""
    crank = revolute("crank")
    rod = prismatic("rod", "crank", axis=(1, 0, 0), follows=polynomial("crank", 0.5))
    tree = Tree(
        links=(random_link(np.random.default_rng(0)), Link(), Link(mass=1.0)),
        joints=(crank, rod, prismatic("slide", axis=(1, 0, 0))),
        points=(Point(name="pin", link="rod"), Point(name="eye", link="slide")),
        loops=(Loop(name="joint", start="pin", end="eye", position="x"),),
    )
    torques = np.array([1.0, 2.0])
    turned = np.array([0.3, 0.5 * np.cos(0.3)])
    assert isinstance(forward_dynamics(tree, turned, 0 * turned, torques), ca.DM)


def test_light_fingers_on_a_heavy_trunk_keep_their_digits():
    """Rows of tonnes beside rows of milligrams lose none, as they do where Q R mixes them."""
    light = Link(mass=1e-6, com=(0.01, 0.002, 0.0), inertia=np.diag([1e-9, 2e-9, 2e-9]))
    heavy = Link(mass=500.0, com=(0.1, 0.2, 0.05), inertia=np.diag([20.0, 20.0, 30.0]))
    joints = (
        prismatic("lift", axis=(1, 0, 0)),
        revolute("head", "lift", axis=(0, 1, 0)),
        revolute("nod", "head", axis=(1, 0, 0), home=(0.1, 0.2, 0.0)),
        revolute("finger", "nod", axis=(0, 1, 0), home=(0.3, 0.1, 0.0)),
        revolute("tip", "finger", home=(0.02, 0.0, 0.0)),
        revolute("thumb", "nod", axis=(0, 1, 0), follows=polynomial("finger", 0.0, -1.0)),
    )
    tree = Tree(links=(heavy,) * 3 + (light,) * 3, joints=joints, gravity=(3, 0, -9.81))
    q, qd, qdd = map(ca.DM, np.random.default_rng(3).uniform(-2.0, 2.0, (3, tree.dof)))
    torques = FORMULATIONS["newton_euler"].inverse(tree, q, qd, qdd)
    got = forward_dynamics(tree, q, qd, torques)
    np.testing.assert_allclose(np.array(got), np.array(qdd), rtol=1e-12)


def gymnast(rng):
    """A free trunk with an arm, a ball at its end, and what follows the arm."""
    arm = revolute("arm", "trunk", axis=(0, 1, 0), home=(0.1, 0.2, 0.3))
    hand = ball("hand", "arm", home=(0.2, -0.1, 0.1))
    cuff = prismatic("cuff", "arm", axis=(1, 0, 0), follows=polynomial("arm", 0.1, 0.2, 0.3))
    return Tree(
        links=(Link(), Link(), Link(), *(random_link(rng) for _ in range(4))),
        joints=(*free("trunk"), arm, hand, cuff),
        points=(Point(name="tip", link="hand", position=(0.1, 0.2, 0.3)),),
        gravity=(0.3, 0.0, -9.81),
    )


def test_slopes_and_curvature_are_those_of_automatic_differentiation():
    rng = np.random.default_rng(1)
    tree = gymnast(rng)
    n, multipliers = tree.dof, ca.DM(rng.standard_normal(tree.dof))
    motion, wrench = [ca.SX.sym(name, n) for name in ("q", "qd", "qdd")], ca.SX.sym("wrench", 6)
    loads = (Load(point="tip", moment=wrench[:3], force=wrench[3:]),)
    symbols, here = ca.vertcat(*motion, wrench), ca.DM(rng.uniform(-1, 1, 3 * n + 6))
    torques = FORMULATIONS["newton_euler"].inverse(tree, *motion, loads)
    slope = numbers(ca.jacobian(torques, symbols), symbols, here)
    provider = derivatives_of("newton_euler", "recursive", tree)
    methods = [formulation for formulation in FORMULATIONS.values() if formulation.sensitivity]
    for own in (provider, published_provider(FORMULATIONS["lie_group"])):
        parts = own.slope_parts(tree, *motion, loads)
        got = numbers(ca.horzcat(*own.join_slopes(tree, parts)), symbols, here)
        np.testing.assert_allclose(got, slope, atol=1e-10)
    for formulation in methods[::2]:
        parts = ca.horzcat(*formulation.sensitivity(tree, *motion, loads))
        got = numbers(parts, symbols, here)
        np.testing.assert_allclose(got, slope[:, : 3 * n], atol=1e-10)
    hessian, gradient = ca.hessian(ca.dot(multipliers, torques), symbols)
    full = numbers(hessian, symbols, here)
    parts = provider.curvature_parts(tree, multipliers, *motion, loads)
    got = [numbers(part, symbols, here) for part in provider.join_curvature(tree, parts)]
    a, b, c, d = slice(0, n), slice(n, 2 * n), slice(2 * n, 3 * n), slice(3 * n, 3 * n + 6)
    right = [np.triu(full[a, a]), full[a, b], full[a, c], np.triu(full[b, b]), full[a, d]]
    for one, other in zip(got, [*right, numbers(gradient, symbols, here)]):
        np.testing.assert_allclose(one, other, atol=1e-9)


def test_slopes_are_central_differences():
    rng = np.random.default_rng(2)
    tree = Tree(links=(random_link(rng),), joints=(ball("body"),), gravity=(0, 0, -9.81))
    inverse, motion = FORMULATIONS["lie_group"].inverse, ca.DM(random_motion(rng, tree))
    q, qd, qdd = (motion[k, :].T for k in range(3))
    slopes = FORMULATIONS["lie_group"].sensitivity(tree, q, qd, qdd)
    for which, slope in enumerate(slopes):
        for column in range(4):
            steps = []
            for step in (1e-5, -1e-5):
                moved = ca.DM(motion)
                moved[which, column] += step
                steps.append(inverse(tree, *(moved[k, :].T for k in range(3))))
            got = (steps[0] - steps[1]) / 2e-5
            np.testing.assert_allclose(np.array(got), np.array(slope[:, column]), atol=1e-8)


def euler_root(link):
    """The same body on three slides and three turns."""
    joints = [prismatic("x", axis=(1, 0, 0)), prismatic("y", "x", axis=(0, 1, 0))]
    joints += [prismatic("z", "y"), revolute("a", "z"), revolute("b", "a", axis=(0, 1, 0))]
    joints += [revolute("c", "b", axis=(1, 0, 0))]
    points = (Point(name="tip", link="c", position=(0.3, 0.1, -0.2)),)
    links = (*(Link() for _ in range(5)), link)
    return Tree(links=links, joints=joints, points=points, gravity=(0, 0, -9.81))


def test_a_free_body_moves_as_one_on_three_slides_and_three_turns():
    rng = np.random.default_rng(3)
    link = random_link(rng)
    other = euler_root(link)
    tip = Point(name="tip", link="body", position=(0.3, 0.1, -0.2))
    tree = Tree(
        links=(Link(), Link(), Link(), link),
        joints=free("body"),
        points=(tip,),
        gravity=(0, 0, -9.81),
    )
    q, qd = rng.uniform(-1, 1, (2, 6))
    load = (Load(point="tip", force=(1.0, 2.0, 3.0), moment=(0.1, 0.2, 0.3)),)
    moves = kinematics.motions(other, ca.DM(q), ca.DM(qd))[-1]
    spin = np.array(moves.rotation).T @ np.array(moves.angular).ravel()
    p = np.array(quaternion(moves.rotation)).ravel()
    rate = np.array(_product(p, np.array([0.0, *spin]))) / 2
    y, yd = ca.DM([*q[:3], *p]), ca.DM([*qd[:3], *rate])
    ydd = forward_dynamics(tree, y, yd, ca.DM.zeros(7), load)
    qdd = forward_dynamics(other, ca.DM(q), ca.DM(qd), ca.DM.zeros(6), load)
    got = kinematics.acceleration(tree, y, yd, ydd, "tip")
    right = kinematics.acceleration(other, ca.DM(q), ca.DM(qd), qdd, "tip")
    np.testing.assert_allclose(np.array(got), np.array(right), rtol=1e-12, atol=1e-12)


def _product(p, r):
    a, u, b, v = p[0], p[1:], r[0], r[1:]
    return [a * b - u @ v, *(a * v + b * u + np.cross(u, v))]


def test_the_mass_matrix_is_regular_at_every_attitude():
    rng = np.random.default_rng(4)
    tree = Tree(links=(random_link(rng),), joints=(ball("body"),))
    sizes = []
    for pitch in np.linspace(-np.pi, np.pi, 9):  # where Euler angles lose a turn too
        p = quaternion(exp_rotation([0.0, pitch, 0.0]))
        sizes.append(np.linalg.eigvalsh(np.array(mass_matrix(tree, p))))
    np.testing.assert_allclose(sizes, np.tile(sizes[0], (9, 1)), rtol=1e-12)
    assert sizes[0][0] > 0


def test_the_length_of_a_quaternion_keeps_its_rate_where_nothing_acts_on_it():
    rng = np.random.default_rng(5)
    tree = Tree(links=(random_link(rng),), joints=(ball("body"),), gravity=(0, 0, -9.81))
    p, pd = (ca.DM(rng.standard_normal(4)) for _ in range(2))
    pdd = forward_dynamics(tree, p, pd, ca.DM.zeros(4))
    squared = ca.dot(p, pdd) + ca.dot(pd, pd) - ca.dot(p, pd) ** 2 / ca.dot(p, p)
    assert abs(float(squared)) < 1e-11


def test_reactions_of_a_ball_are_those_of_three_turns_at_its_place():
    rng = np.random.default_rng(6)
    link = random_link(rng)
    tree = Tree(links=(link,), joints=(ball("body", home=(0.1, 0.2, 0.3)),), gravity=(0, 0, -9.81))
    names, axes = ("a", "b", "c"), np.eye(3)
    turns = [
        revolute(name, parent, axis=axis, home=(0.1, 0.2, 0.3) if name == "a" else (0, 0, 0))
        for name, parent, axis in zip(names, ("ground", "a", "b"), axes.tolist())
    ]
    other = Tree(links=(Link(), Link(), link), joints=turns, gravity=(0, 0, -9.81))
    reactions = FORMULATIONS["newton_euler"].reactions
    rates = ca.DM([0.3, -0.5, 0.7])
    rate, back = ca.vertcat(0, rates / 2), ca.DM([-float(ca.sumsqr(rates)) / 4, 0, 0, 0])
    got = reactions(tree, ca.DM([1, 0, 0, 0]), rate, back, ())
    crossed = -ca.vertcat(rates[1] * rates[2], -rates[0] * rates[2], rates[0] * rates[1])
    right = reactions(other, ca.DM.zeros(3), rates, crossed, ())
    for one, two in zip(got, right):
        np.testing.assert_allclose(np.array(one)[:, 0], np.array(two)[:, 2], atol=1e-13)
    assert got[0].shape == (3, 1)


def test_tables_refuse_a_ball_by_name():
    tree = Tree(links=(Link(mass=1.0),), joints=(ball("body"),))
    with pytest.raises(ValueError, match="joint 'body' is a ball"):
        TABLE.inverse(tree, ca.DM.ones(4), ca.DM.ones(4), ca.DM.ones(4))


def test_matrix_expressions_are_refused_by_what_takes_their_place():
    tree = Tree(links=(Link(mass=1.0),), joints=(ball("body"),))
    q = ca.MX.sym("q", 4)
    with pytest.raises(TypeError, match="balls or followers: expected SX or numbers, got MX"):
        FORMULATIONS["newton_euler"].inverse(tree, q, q, q)


def test_a_spatial_four_bar_on_balls_stays_closed_and_keeps_its_energy():
    """RSSR: a crank and a rocker, a coupler on a ball at one and pinned to the other."""
    rod = Link(mass=1.0, com=(0.5, 0, 0), inertia=np.diag((0.002, 0.08, 0.08)))
    arm = Link(mass=1.0, com=(0.1, 0, 0), inertia=np.diag((0.01, 0.01, 0.02)))
    tree = Tree(
        links=(arm, rod, arm),
        joints=(
            revolute("crank"),
            ball("coupler", "crank", home=(0.2, 0, 0), actuated=False),
            revolute("rocker", axis=(0, 1, 0), home=(1.1, 0.1, 0.1), actuated=False),
        ),
        points=(
            Point(name="end", link="coupler", position=(1.0, 0, 0)),
            Point(name="tip", link="rocker", position=(0.3, 0, 0.1)),
        ),
        loops=(Loop(name="pin", start="end", end="tip", axes="global"),),
        gravity=(0, 0, -9.81),
    )
    q = close_coordinates(tree, np.array([0.3, 1, 0.05, 0.1, 0.05, 0.2]))
    motion = simulate(tree, np.zeros(6), (q, np.zeros(6)), 0.4, count=5, tolerance=1e-10)
    states = list(zip(motion.q.T, motion.qd.T))
    energies = [
        float(kinematics.kinetic_energy(tree, *state) + kinematics.potential_energy(tree, state[0]))
        for state in states
    ]
    assert np.abs(motion.qd[0]).max() > 0.1 and np.ptp(energies) < 1e-8
    gaps = [np.array(gap(tree, ca.DM(place))) for place, _ in states]
    np.testing.assert_allclose(gaps, 0.0, atol=1e-8)
