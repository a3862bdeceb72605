"""Dynamics of closed mechanisms: against closed forms of the four-bar, virtual work, energy, and
forward against inverse."""

from functools import cache

import casadi as ca
import numpy as np
import pytest
from closed_trees import case, numbers, spatial
from random_trees import over

from ocp.dynamics import FORMULATIONS, closed_loops
from ocp.dynamics.formulations.newton_euler import reactions
from ocp.mechanics.kinematics import kinematics, loop_assembly, loop_closure
from ocp.models.mechanisms.five_bar import five_bar
from ocp.models.mechanisms.four_bar import LENGTHS, four_bar

SEEDS = range(6)


# The four-bar's closed form


def cross(a, b):
    """z component of a plane cross product."""
    return a[0] * b[1] - a[1] * b[0]


def side(vector):
    """A plane vector turned left by a right angle."""
    return np.array([-vector[1], vector[0]])


def toward(angle):
    """Unit vector (2,) at an angle from x."""
    return np.array([np.cos(angle), np.sin(angle)])


def closed_form(lengths, masses, coms, inertias, gravity, crank, assembly):
    """Angles, rates and accelerations (3,) of the links from x, driving torque, and pin forces (4,
    2): of ground on crank, crank on coupler, coupler on rocker, ground on rocker.

    Angle of the rocker from the loop equation a e1 + b e2 = (g, 0) + c e3 with e2 eliminated, K + L
    cos + M sin = 0, by t = tan(angle / 2); rates and accelerations by linear equations in two
    unknowns; forces by moments about the far pins of coupler and rocker, then by forces.
    """
    g, a, b, c = lengths
    angle, rate, push = crank
    arm = np.array([g, 0.0]) - a * toward(angle)
    k, l, m = arm @ arm + c**2 - b**2, 2 * c * arm[0], 2 * c * arm[1]
    third = 2 * np.arctan((-m + assembly * np.sqrt(m**2 + l**2 - k**2)) / (k - l))
    to_b = arm + c * toward(third)
    angles = np.array([angle, np.arctan2(to_b[1], to_b[0]), third])
    bars = [length * toward(each) for length, each in zip((a, b, c), angles)]
    system = np.column_stack([side(bars[1]), -side(bars[2])])
    rates = np.append(rate, np.linalg.solve(system, -rate * side(bars[0])))
    centripetal = rates[0] ** 2 * bars[0] + rates[1] ** 2 * bars[1] - rates[2] ** 2 * bars[2]
    pushes = np.append(push, np.linalg.solve(system, centripetal - push * side(bars[0])))
    offsets = [
        np.column_stack([toward(each), side(toward(each))]) @ com for each, com in zip(angles, coms)
    ]
    starts = [
        np.zeros(2),
        push * side(bars[0]) - rate**2 * bars[0],
        np.zeros(2),
    ]  # accelerations of the links' first pins
    needs = [
        mass * (start + alpha * side(r) - omega**2 * r + (0.0, gravity))
        for mass, start, alpha, omega, r in zip(masses, starts, pushes, rates, offsets)
    ]
    turns = [
        inertia * alpha + cross(r, need)
        for inertia, alpha, r, need in zip(inertias, pushes, offsets, needs)
    ]
    # moments about the coupler's first pin and the rocker's pivot:
    # -bar x F = turn of the coupler, bar x F = turn of the rocker
    on_rocker = np.linalg.solve([-side(bars[1]), side(bars[2])], turns[1:])
    on_coupler = needs[1] + on_rocker
    forces = [needs[0] + on_coupler, on_coupler, on_rocker, needs[2] - on_rocker]
    return angles, rates, pushes, turns[0] + cross(bars[0], on_coupler), np.array(forces)


@cache
def mechanism(seed):
    """A random four-bar that closes, its closed form, and the tree's q, qd, qdd."""
    rng = np.random.default_rng(seed)
    while True:
        lengths = rng.uniform(0.1, 0.5, 4)
        crank = (rng.uniform(-np.pi, np.pi), *rng.uniform(-5, 5, 2))
        reach = np.linalg.norm((lengths[0], 0) - lengths[1] * toward(crank[0]))
        if abs(lengths[2] - lengths[3]) + 0.05 < reach < lengths[2] + lengths[3] - 0.05:
            break
    masses = rng.uniform(0.2, 2.0, 3)
    coms = rng.uniform(-0.2, 0.3, (3, 2))
    inertias = rng.uniform(0.001, 0.05, 3)
    gravity = rng.uniform(0, 10)
    form = closed_form(lengths, masses, coms, inertias, gravity, crank, rng.choice((-1, 1)))
    tree = four_bar(lengths, masses, coms, inertias, gravity=gravity)
    return tree, form, *(np.array([each[0], each[1] - each[0], each[2]]) for each in form[:3])


@over(SEEDS)
def test_the_projections_find_the_closed_forms_motion(seed):
    tree, _, q, qd, qdd = mechanism(seed)
    np.testing.assert_allclose(numbers(loop_closure.gap(tree, ca.DM(q))), 0, rtol=0, atol=1e-14)
    near = q + (0, *np.random.default_rng(seed).uniform(-0.05, 0.05, 2))
    np.testing.assert_allclose(
        loop_assembly.close_coordinates(tree, near, fixed=["crank"]), q, rtol=0, atol=1e-9
    )
    rates = loop_assembly.close_rates(tree, q, (qd[0], 0, 0), fixed=["crank"])
    np.testing.assert_allclose(rates, qd, rtol=0, atol=1e-9)
    np.testing.assert_allclose(
        loop_assembly.close_accelerations(tree, q, qd, (qdd[0], 0, 0), fixed=["crank"]),
        qdd,
        rtol=1e-12,
        atol=1e-9,
    )


@over(SEEDS)
def test_torque_and_pin_forces_are_those_of_the_closed_form(seed):
    tree, (angles, _, _, torque, forces), *motion = mechanism(seed)
    motion = [ca.DM(part) for part in motion]
    torques, multipliers = closed_loops.inverse(tree, *motion)
    np.testing.assert_allclose(numbers(torques), (torque, 0, 0), rtol=0, atol=1e-9)
    np.testing.assert_allclose(numbers(multipliers), forces[2], rtol=0, atol=1e-9)
    _, passed = reactions(tree, *motion, loop_closure.loop_loads(tree, motion[0], multipliers))
    for k, pin in ((0, 0), (1, 1), (2, 3)):
        turn = np.column_stack([toward(angles[k]), side(toward(angles[k]))])
        np.testing.assert_allclose(turn @ np.array(passed)[:2, k], forces[pin], rtol=0, atol=1e-9)


@over(SEEDS)
def test_forward_dynamics_returns_the_closed_forms_acceleration(seed):
    tree, (*_, torque, forces), q, qd, qdd = mechanism(seed)
    accelerations, multipliers = closed_loops.forward(tree, q, qd, (torque, 0, 0))
    np.testing.assert_allclose(numbers(accelerations), qdd, rtol=1e-10, atol=1e-8)
    np.testing.assert_allclose(numbers(multipliers), forces[2], rtol=1e-10, atol=1e-8)


@pytest.mark.parametrize("name", FORMULATIONS)
def test_every_formulation_drives_the_mechanism_alike(name):
    tree, (*_, torque, _), *motion = mechanism(1)
    torques, _ = closed_loops.inverse(tree, *motion, dynamics=FORMULATIONS[name].inverse)
    assert float(torques[0]) == pytest.approx(torque, abs=1e-9)


def test_redundant_closing_changes_no_torque_and_no_force_in_the_plane():
    tree, (*_, torque, forces), *motion = mechanism(2)
    torques, multipliers = closed_loops.inverse(spatial(tree, orientation="xy"), *motion)
    np.testing.assert_allclose(numbers(torques), (torque, 0, 0), rtol=0, atol=1e-9)
    assert np.linalg.norm(numbers(multipliers)[:2]) == pytest.approx(
        np.linalg.norm(forces[2]), abs=1e-9
    )
    np.testing.assert_array_equal(numbers(multipliers)[2:], 0)


# Any mechanism


def motion_of(tree, rng, near, driven):
    """A closed motion in which the driven joints move at random; q, qd, qdd."""
    q = loop_assembly.close_coordinates(tree, near)
    qd = loop_assembly.close_rates(tree, q, rng.uniform(-3, 3, tree.dof), fixed=driven)
    return (
        q,
        qd,
        loop_assembly.close_accelerations(tree, q, qd, rng.uniform(-9, 9, tree.dof), fixed=driven),
    )


def drives_of(tree, q):
    """Joints that can drive the mechanism: those that stay when the closing takes the coordinates
    it determines best."""
    slope = np.array(loop_closure.gap_jacobian(tree, ca.DM(q)))[
        list(loop_assembly.independent_rows(tree, q).rows)
    ]
    taken = []
    for _ in slope:  # Gram-Schmidt with the largest column first
        column = int(np.argmax(np.linalg.norm(slope, axis=0)))
        taken.append(column)
        unit = slope[:, column] / np.linalg.norm(slope[:, column])
        slope = slope - np.outer(unit, unit @ slope)
    return [joint.name for row, joint in enumerate(tree.moving) if row not in taken]


def movable():
    """Random trees of test_loops whose loops leave some freedom."""
    return [
        seed for seed in range(6) if len(loop_closure.gap_labels(case(seed)[0])) < case(seed)[0].dof
    ]


@over(movable())
def test_random_mechanisms_need_for_their_motion_what_moves_them_so(seed):
    tree, near, *_ = case(seed)
    rng = np.random.default_rng(seed)
    near = loop_assembly.close_coordinates(tree, near + rng.normal(0, 0.1, tree.dof))
    driven = drives_of(tree, near)
    q, qd, qdd = motion_of(tree, rng, near, driven)
    torques, multipliers = closed_loops.inverse(tree, q, qd, qdd, driven)
    again, forces = closed_loops.forward(tree, q, qd, torques)
    scale = np.abs(numbers(multipliers)).max() + np.abs(qdd).max()
    np.testing.assert_allclose(numbers(again), qdd, rtol=0, atol=1e-9 * scale)
    np.testing.assert_allclose(numbers(forces), numbers(multipliers), rtol=0, atol=1e-9 * scale)
    balance = FORMULATIONS["newton_euler"].inverse(tree, *(ca.DM(part) for part in (q, qd, qdd)))
    np.testing.assert_allclose(
        numbers(torques + loop_closure.loop_torques(tree, ca.DM(q), multipliers) - balance),
        0,
        rtol=0,
        atol=1e-9 * scale,
    )


def energy(tree, q, qd):
    """Kinetic and potential energy (J)."""
    return kinematics.kinetic_energy(tree, q, qd) + kinematics.potential_energy(tree, q)


@over(range(5))
def test_the_power_of_the_drives_is_the_growth_of_energy(seed):
    tree, rng = five_bar(payload=0.5), np.random.default_rng(seed)
    near = np.array([2.2, -1.3, 0.9, 1.3]) + rng.uniform(-0.2, 0.2, 4)
    q, qd, qdd = (ca.DM(part) for part in motion_of(tree, rng, near, ["left", "right"]))
    torques, _ = closed_loops.inverse(tree, q, qd, qdd)
    x, v = ca.SX.sym("q", 4), ca.SX.sym("qd", 4)
    growth = ca.Function("growth", [x, v], [ca.jacobian(energy(tree, x, v), ca.vertcat(x, v))])(
        q, qd
    ) @ ca.vertcat(qd, qdd)
    assert float(ca.dot(torques, qd)) == pytest.approx(float(growth), rel=1e-10)


def test_the_drives_of_the_five_bar_follow_from_virtual_work():
    """u = G' h with G = dq/d(left, right), by moving the cranks a little."""
    tree, rng = five_bar(), np.random.default_rng(3)
    q, qd, qdd = motion_of(tree, rng, (2.2, -1.3, 0.9, 1.3), ["left", "right"])
    columns, step = [], 1e-5
    for row in (0, 2):
        ends = [
            loop_assembly.close_coordinates(
                tree, q + sign * step * np.eye(4)[row], fixed=["left", "right"]
            )
            for sign in (1, -1)
        ]
        columns.append((ends[0] - ends[1]) / (2 * step))
    needed = numbers(
        FORMULATIONS["newton_euler"].inverse(tree, *(ca.DM(part) for part in (q, qd, qdd)))
    )
    torques, _ = closed_loops.inverse(tree, q, qd, qdd)
    np.testing.assert_allclose(
        numbers(torques)[[0, 2]], np.array(columns) @ needed, rtol=0, atol=1e-7
    )


def simulate(tree, q, qd, seconds, steps, **options):
    """States (2n, steps + 1) of free motion by the classical Runge-Kutta rule."""
    x, n = ca.SX.sym("x", 2 * tree.dof), tree.dof
    slope = ca.Function(
        "slope",
        [x],
        [ca.vertcat(x[n:], closed_loops.forward(tree, x[:n], x[n:], ca.DM.zeros(n), **options)[0])],
    )
    step, k = seconds / steps, [slope(x)]
    for part in (step / 2, step / 2, step):
        k.append(slope(x + part * k[-1]))
    walk = ca.Function("walk", [x], [x + step / 6 * (k[0] + 2 * k[1] + 2 * k[2] + k[3])]).mapaccum(
        steps
    )
    start = np.concatenate([q, qd])
    return np.column_stack([start, np.array(walk(start))])


@pytest.mark.parametrize("decay", [0.0, 20.0])
def test_a_swinging_mechanism_keeps_its_energy_and_stays_closed(decay):
    tree = four_bar()
    q = loop_assembly.close_coordinates(tree, (0.4, 0.5, 2.0), fixed=["crank"])
    path = simulate(tree, q, np.zeros(3), 2.0, 4000, decay=decay)
    start, *others = [
        float(energy(tree, ca.DM(state[:3]), ca.DM(state[3:]))) for state in path[:, ::400].T
    ]
    assert np.abs(path[3:]).max() > 3.0  # it does swing
    np.testing.assert_allclose(others, start, rtol=0, atol=1e-8)
    np.testing.assert_allclose(
        [numbers(loop_closure.gap(tree, ca.DM(state[:3]))) for state in path[:, ::400].T],
        0,
        rtol=0,
        atol=1e-8,
    )


def test_gaps_fade_with_the_decay():
    tree = four_bar()
    q = loop_assembly.close_coordinates(tree, (0.4, 0.5, 2.0), fixed=["crank"]) + (0, 1e-3, 0)
    path = simulate(tree, q, np.zeros(3), 1.0, 500, decay=10.0)
    begin, left = (
        np.linalg.norm(numbers(loop_closure.gap(tree, ca.DM(state))))
        for state in path[:3, [0, -1]].T
    )
    assert left == pytest.approx(begin * 11 * np.exp(-10), rel=0.05)  # (1 + c t) exp(-c t)


@pytest.mark.parametrize("symbol", [ca.SX.sym, ca.MX.sym], ids=["SX", "MX"])
def test_expressions_give_what_numbers_give(symbol):
    tree, _, *motion = mechanism(0)
    x = [symbol(name, 3) for name in ("q", "qd", "qdd")]
    for of in (closed_loops.inverse, closed_loops.forward):
        graph = ca.Function("graph", x, list(of(tree, *x)))(*motion)
        for one, other in zip(graph, of(tree, *motion)):
            np.testing.assert_allclose(
                numbers(one), numbers(other), rtol=0, atol=1e-9 * (1 + np.abs(numbers(other)).max())
            )


def test_what_has_no_answer_is_refused():
    tree, _, q, qd, qdd = mechanism(0)
    with pytest.raises(
        ValueError,
        match=r"has 1 degrees of freedom and 2 actuated joints \(crank, rocker\): drives could "
        r"work against",
    ):
        closed_loops.inverse(tree, q, qd, qdd, ("crank", "rocker"))
    with pytest.raises(
        ValueError,
        match=r"has 1 degrees of freedom and 0 actuated joints \(none\): it would not follow",
    ):
        closed_loops.inverse(tree, q, qd, qdd, ())
    for number, what in enumerate(("q", "qd", "qdd")):
        wrong = [part + 0.1 * (k == number) for k, part in enumerate((q, qd, qdd))]
        with pytest.raises(
            ValueError, match=f"inverse: {what} does not keep the loops closed: pin: position"
        ):
            closed_loops.inverse(tree, *wrong)


def test_dead_centres_are_refused():
    """The rocker cannot drive the mechanism where crank and coupler are in line; a rhomb folded
    flat may leave in two ways."""
    tree = four_bar()
    ground, crank, coupler, rocker = LENGTHS
    third = np.arccos((ground**2 + rocker**2 - (crank + coupler) ** 2) / (2 * ground * rocker))
    line = np.arctan2(rocker * np.sin(third), ground - rocker * np.cos(third))
    q, zero = np.array([line, 0.0, np.pi - third]), np.zeros(3)
    qdd = loop_assembly.close_accelerations(tree, q, zero, (1, 0, 0), fixed=["crank"])
    with pytest.raises(
        ValueError, match=r"the drives at rocker do not hold the mechanism here \(singular\)"
    ):
        closed_loops.inverse(tree, q, zero, qdd, ("rocker",))
    closed_loops.inverse(tree, q, zero, qdd)
    with pytest.raises(ValueError, match="singular configuration"):
        closed_loops.forward(four_bar(lengths=(0.2, 0.2, 0.2, 0.2)), zero, zero, zero)


def test_a_payload_is_a_mass_in_the_hand():
    laden, bare = five_bar(payload=0.7), five_bar()
    q, qd = ca.DM([2.2, -1.3, 0.9, 1.3]), ca.DM([1.0, -2.0, 0.5, 1.5])
    speed = kinematics.velocity(bare, q, qd, "hand")
    height = kinematics.position(bare, q, "hand")[1]
    assert float(energy(laden, q, qd) - energy(bare, q, qd)) == pytest.approx(
        float(0.35 * ca.dot(speed, speed) + 0.7 * 9.81 * height)
    )
