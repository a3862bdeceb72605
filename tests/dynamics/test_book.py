"""Flexible trees: Book's forms against particles and AD, frequencies, energy, the rigid limit,
stiffening, refusals, operation counts."""

from dataclasses import replace
from functools import cache

import casadi as ca
import numpy as np
import pytest
from flexible_trees import mixed
from random_trees import over, random_motion

from ocp import Link, Tree, prismatic, revolute
from ocp.dynamics import FORMULATIONS
from ocp.dynamics.formulations import book
from ocp.mechanics import with_stiffness_factor
from ocp.mechanics.flexible.flexible_kinematics import damping_power
from ocp.mechanics.kinematics import kinematics
from ocp.mechanics.kinematics.spatial import exp_screw
from ocp.models.arms.flexible_arm import flexible_arm
from ocp.problems.benchmarks.dynamics.compare_book import (
    ADDITIONS,
    APART,
    MULTIPLICATIONS,
    ORTHOGONAL,
    STATED,
    chain,
    counted,
    polynomial,
    rigid_for,
    savings,
    table,
)

SEEDS = range(5)
ZERO = ca.DM.zeros


def lagrange(tree, particles, q, qd, qdd, loads):
    """Forces (n,) by Lagrange's equations from the places of particles, and the inertia matrix, all
    by AD."""
    at, rate = ca.SX.sym("q", tree.dof), ca.SX.sym("qd", tree.dof)
    potential, cloud, masses = 0, [], []

    def local(k, place):
        link, rows, matrix = tree.links[k], tree.amplitude_rows[k], ca.DM.eye(4)
        if link.modes is not None:
            weights = [np.prod([at[rows[i]] for i in term]) for term in link.modes.terms]
            matrix = matrix + sum(
                weight * ca.DM(m) for weight, m in zip(weights, link.modes.at(place))
            )
        return matrix

    frames = []
    for k, (joint, parent, row) in enumerate(zip(tree.joints, tree.parents, tree.rows)):
        before = (
            ca.DM.eye(4)
            if parent < 0
            else frames[parent] @ local(parent, np.array(joint.home)[:3, 3])
        )
        frames.append(
            before
            @ ca.DM(np.array(joint.home))
            @ (ca.DM.eye(4) if row is None else exp_screw(joint.screw, at[row]))
        )
        for place, mass in zip(*particles[k]):
            cloud.append((frames[k] @ local(k, place) @ ca.DM([*place, 1]))[:3])
            masses.append(mass)
            potential -= mass * ca.dot(ca.DM(tree.gravity), cloud[-1])
        if tree.links[k].modes is not None:
            d = ca.vertcat(*(at[i] for i in tree.amplitude_rows[k]))
            potential += ca.bilin(ca.DM(np.array(tree.links[k].modes.stiffness)), d, d) / 2
    speed, outer = ca.jtimes(ca.vertcat(*cloud), at, rate), 0
    kinetic = ca.dot(ca.DM(np.repeat(masses, 3)), speed**2) / 2
    for load in loads:
        point = tree.point(load.point)
        k = tree.link_index(point.link)
        frame = frames[k] @ local(k, point.position)
        outer += ca.jacobian(frame @ ca.DM([*point.position, 1]), at)[:3, :].T @ ca.DM(load.force)
        slope = [
            ca.reshape(column, 3, 3) @ frame[:3, :3].T
            for column in ca.horzsplit(ca.jacobian(frame[:3, :3], at))
        ]
        outer += ca.vertcat(
            *(ca.dot(ca.inv_skew(matrix - matrix.T) / 2, ca.DM(load.moment)) for matrix in slope)
        )
    momentum = ca.gradient(kinetic, rate)
    mass = ca.jacobian(momentum, rate)
    force = (
        mass @ qdd + ca.jtimes(momentum, at, rate) - ca.gradient(kinetic - potential, at) - outer
    )
    force += ca.gradient(damping_power(tree, rate), rate) / 2
    return [np.array(part) for part in ca.Function("lagrange", [at, rate], [force, mass])(q, qd)]


@cache
def oracle(seed):
    """Forces and inertia matrix of a mixed case by AD of its particles."""
    return lagrange(*mixed(seed))


@cache
def forms(seed):
    """Book's inverse form, J, and R without torques, of a mixed case, as a function of numbers q,
    qd, qdd."""
    tree, *_, loads = mixed(seed)
    q, qd, qdd = (ca.SX.sym(name, tree.dof) for name in ("q", "qd", "qdd"))
    assert tree.flexible
    actual = [
        book.inverse(tree, q, qd, qdd, loads),
        book.inertia(tree, q),
        book.remainder(tree, q, qd, ZERO(tree.dof), loads),
    ]
    graph = ca.Function("forms", [q, qd, qdd], actual)
    return lambda *motion: [np.array(part) for part in graph(*motion)]


def numbers(expression):
    """The entries of a matrix of numbers."""
    return np.array(ca.DM(expression))


@over(SEEDS)
def test_the_inverse_form_is_lagrange_of_the_particles(seed):
    expected, actual = oracle(seed)[0], forms(seed)(*mixed(seed)[2:5])[0]
    np.testing.assert_allclose(actual, expected, rtol=0, atol=1e-10 * np.abs(expected).max())


@over(SEEDS)
def test_the_simulation_form_is_lagrange_of_the_particles(seed):
    _, _, q, qd, qdd, _ = mixed(seed)
    _, matrix, rest = forms(seed)(q, qd, qdd)
    np.testing.assert_allclose(matrix, oracle(seed)[1], rtol=0, atol=1e-10 * np.abs(matrix).max())
    np.testing.assert_allclose(
        oracle(seed)[0] + rest,
        matrix @ qdd[:, None],
        rtol=0,
        atol=1e-10 * np.abs(oracle(seed)[0]).max(),
    )


@over(SEEDS)
def test_the_inertia_matrix_is_symmetric_positive_and_what_the_inverse_form_needs(seed):
    tree, _, q, *_ = mixed(seed)
    rest, n = forms(seed)(q, 0, 0)[0], tree.dof
    matrix = np.hstack([forms(seed)(q, 0, unit)[0] - rest for unit in np.eye(n)])
    assert np.abs(matrix - matrix.T).max() < 1e-12 * np.abs(matrix).max()
    assert np.linalg.eigvalsh(matrix)[0] > 0
    np.testing.assert_allclose(
        forms(seed)(q, 0, 0)[1], matrix, rtol=0, atol=1e-11 * np.abs(matrix).max()
    )


def test_as_printed_the_forms_differ_by_what_is_of_second_order():
    tree, gaps = flexible_arm(bend=1, bend_y=1, gravity=9.81), []
    for size in (1e-2, 1e-3):
        at, rate = np.ones(tree.dof), np.ones(tree.dof)
        at[list(sum(tree.amplitude_rows, ()))] = size
        both = [
            (
                book.inertia(tree, ca.DM(at), printed),
                book.remainder(tree, ca.DM(at), ca.DM(rate), ZERO(tree.dof), printed=printed),
            )
            for printed in (False, True)
        ]
        gaps.append([np.abs(numbers(a - b)).max() for a, b in zip(*both)])
    ratio = np.array(gaps[0]) / np.array(gaps[1])
    assert (np.array(gaps[0]) > 1e-8).all() and ratio == pytest.approx([100, 100], rel=0.1)


@over(SEEDS[:3])
def test_kinematics_know_how_links_bend(seed):
    """Velocities and accelerations are derivatives of places, momentum of the centre of mass, power
    that of the energies."""
    tree, _, q, qd, qdd, loads = mixed(seed)
    at, rate, still = (ca.SX.sym(name, tree.dof) for name in ("q", "qd", "still"))
    asked = [kinematics.position(tree, at, point.name) for point in tree.points] + [
        kinematics.center_of_mass(tree, at)
    ]
    place = ca.vertcat(*asked)
    energy = kinematics.kinetic_energy(tree, at, rate) + kinematics.potential_energy(tree, at)
    speed = ca.jtimes(place, at, rate)
    gain = ca.jtimes(speed, at, rate) + ca.jtimes(speed, rate, still)
    power = ca.jtimes(energy, at, rate) + ca.jtimes(energy, rate, still)
    speed, gain, power = map(
        numbers, ca.Function("f", [at, rate, still], [speed, gain, power])(q, qd, qdd)
    )
    arguments = [tree, *map(ca.DM, (q, qd))]
    actual = ca.vertcat(*(kinematics.velocity(*arguments, point.name) for point in tree.points))
    np.testing.assert_allclose(numbers(actual), speed[:-3], atol=1e-11 * np.abs(speed).max())
    by_jacobian = ca.vertcat(
        *(
            (kinematics.jacobian(*arguments[:2], point.name) @ ca.DM(qd))[3:]
            for point in tree.points
        )
    )
    np.testing.assert_allclose(numbers(by_jacobian), speed[:-3], atol=1e-11 * np.abs(speed).max())
    actual = ca.vertcat(
        *(kinematics.acceleration(*arguments, ca.DM(qdd), point.name) for point in tree.points)
    )
    np.testing.assert_allclose(numbers(actual), gain[:-3], atol=1e-11 * np.abs(gain).max())
    mass = sum(link.mass for link in tree.links)
    np.testing.assert_allclose(
        numbers(kinematics.momentum(*arguments)[1]),
        mass * speed[-3:],
        atol=1e-11 * mass * np.abs(speed).max(),
    )
    tau = book.inverse(*arguments, ca.DM(qdd), loads)
    supplied = numbers(
        ca.dot(tau, ca.DM(qd))
        + kinematics.load_power(*arguments, loads)
        - damping_power(tree, ca.DM(qd))
    )
    np.testing.assert_allclose(
        supplied, power, atol=1e-10 * np.abs(numbers(tau)).max() * np.abs(qd).max()
    )


def test_angular_momentum_about_the_ground_axis_changes_by_the_joint_torque():
    arm, rng = flexible_arm(torsion=1), np.random.default_rng(1)
    at, rate = (ca.SX.sym(name, arm.dof) for name in ("q", "qd"))
    spin = kinematics.momentum(arm, at, rate)[0][2]
    q, qd, qdd = 0.1 * random_motion(rng, arm)
    change = ca.Function(
        "f", [at, rate], [ca.jtimes(spin, at, rate) + ca.gradient(spin, rate).T @ ca.DM(qdd)]
    )(q, qd)
    tau = book.inverse(arm, *map(ca.DM, (q, qd, qdd)))
    assert float(change) == pytest.approx(float(tau[0]), rel=1e-11)


# Rigid limit, energy, stiffening


def settled(tree, q, qd, qdd):
    """Torques of the joints (n,) where every amplitude rests at what its force balances, and the
    amplitudes."""
    rows = list(sum(tree.amplitude_rows, ()))
    at = [ca.SX.sym("d") if row in rows else value for row, value in enumerate(q)]
    balance = book.inverse(tree, ca.vertcat(*at), ca.DM(qd), ca.DM(qdd))
    d = ca.vertcat(*(at[row] for row in rows))
    actual = ca.rootfinder(
        "rest", "newton", {"x": d, "g": balance[rows]}, {"abstol": 1e-11, "line_search": False}
    )(x0=ZERO(len(rows)))["x"]
    others = [row for row in range(tree.dof) if row not in rows]
    return numbers(ca.Function("tau", [d], [balance[others]])(actual)).ravel(), numbers(
        actual
    ).ravel()


@over(SEEDS)
def test_stiff_links_are_rigid_links(seed):
    """With 10^6 times the stiffness; and the gap closes as stiffness rises."""
    tree, _, q, qd, qdd, _ = mixed(seed)
    rows = sum(tree.amplitude_rows, ())
    qd, qdd, others = qd.copy(), qdd.copy(), [row for row in range(tree.dof) if row not in rows]
    qd[list(rows)] = qdd[list(rows)] = 0.0
    rigid = replace(tree, links=tuple(replace(link, modes=None) for link in tree.links))
    expected = numbers(
        FORMULATIONS["newton_euler"].inverse(rigid, *(ca.DM(part[others]) for part in (q, qd, qdd)))
    ).ravel()
    gaps, size = [], max(np.abs(expected).max(initial=0), 1)
    for factor in (1e4, 1e6):
        stiff = [
            link
            if link.modes is None
            else replace(link, modes=with_stiffness_factor(link.modes, factor))
            for link in tree.links
        ]
        gaps.append(
            np.abs(settled(replace(tree, links=stiff), q, qd, qdd)[0] - expected).max(initial=0)
            / size
        )
    assert gaps[1] < 1e-6 and gaps[1] < 0.02 * gaps[0] + 1e-9


# The tree, refusals, counts


def test_coordinates_stand_link_by_link():
    arm = flexible_arm(torsion=1)
    names = [
        f"{link}{end}"
        for link in ("shoulder", "elbow")
        for end in ("", ".bend_z1", ".bend_z2", ".torsion1")
    ]
    assert [joint.name for joint in arm.moving] == names
    assert arm.dof == 8
    assert arm.flexible == ("shoulder", "elbow")
    assert arm.rows == (0, 4) and arm.amplitude_rows == ((1, 2, 3), (5, 6, 7))
    assert [arm.coordinate(name) for name in names] == list(range(8))
    assert [joint.actuated for joint in arm.moving] == [True, False, False, False] * 2
    assert [joint.kind for joint in arm.moving] == [
        "revolute",
        "prismatic",
        "prismatic",
        "revolute",
    ] * 2
    rigid = flexible_arm(bend=0)
    assert rigid.dof == 2
    assert not rigid.flexible
    assert [link.mass for link in rigid.links] == pytest.approx([1.175, 0.925])
    with pytest.raises(ValueError, match="unknown joint 'elbow.bend_z3'"):
        arm.coordinate("elbow.bend_z3")
    with pytest.raises(ValueError, match="flexible_arm: links: expected 1 or 2, got 3"):
        flexible_arm(3)


@pytest.mark.parametrize(
    "name", [name for name, method in FORMULATIONS.items() if not method.flexible]
)
def test_rigid_methods_refuse_flexible_links_by_name(name):
    arm = flexible_arm()
    with pytest.raises(
        ValueError,
        match="^link 'shoulder' is flexible, which only the formulation 'book' knows, with "
        "derivatives 'ad'$",
    ):
        FORMULATIONS[name].inverse(arm, ZERO(6), ZERO(6), ZERO(6))


def test_what_cannot_be_meant_is_refused():
    arm = flexible_arm()
    cart = Tree(
        links=(Link(mass=1.0), arm.links[0]), joints=(prismatic("cart"), revolute("pole", "cart"))
    )
    for function in (book.inverse, book.remainder):
        with pytest.raises(
            ValueError,
            match="^book: joint 'cart' is prismatic: in a tree with flexible links .here pole. the "
            "method treats",
        ):
            function(cart, ZERO(4), ZERO(4), ZERO(4))
    for ask in (
        lambda: kinematics.jacobian_at(arm, kinematics.motions(arm, ZERO(6)), "tip"),
        lambda: kinematics.offset(arm, ZERO(6), "tip", "tip"),
    ):
        with pytest.raises(ValueError, match="flexible"):
            ask()
    with pytest.raises(ValueError, match="link modes: expected Modes or None, got 3"):
        Link(modes=3)


def test_operation_counts_stand_beside_the_papers():
    n, flexible, modes = 6, 2, 3
    times, plus = counted(n, flexible, modes)
    assert (
        polynomial(MULTIPLICATIONS, n, flexible, modes) == 11361 == STATED - 648
    )  # the paper disagrees with itself
    assert polynomial(ADDITIONS, n, flexible, modes) == 11273
    assert (times, plus) <= (5476, 4773)
    shown = table(((2, 1, 1),))
    assert "11,361" in shown and "1,562" in shown


def test_shapes_that_are_orthogonal_in_each_direction_save_work():
    """Those that are so as a whole save none: products of unlike shapes remain as matrices."""
    for kind, rest in ((ORTHOGONAL, False), (APART, True)):
        modes = chain(2, 1, 2, shapes=kind).links[0].modes
        assert modes.masses[0, 1] == pytest.approx(0.0, abs=1e-12)
        assert np.allclose(modes.coupling[0][1], 0.0, atol=1e-15) == rest
    whole, parted = sum(counted(2, 1, 2)), sum(counted(2, 1, 2, APART))
    assert parted < 0.98 * whole and sum(counted(2, 1, 2, ORTHOGONAL)) > 0.99 * whole
    assert "3.0 %" in savings(((2, 1, 2),))


def test_flexible_links_cost_as_much_as_more_rigid_joints_than_they_have_freedoms():
    assert rigid_for(2, 1, 1) > 3


def test_what_the_paper_drops_of_the_inertia_can_make_it_indefinite():
    """Three shapes to first order, a centimetre large: Book (1983), eq. 37."""
    arm, rng = flexible_arm(bend=3, stiffening=False), np.random.default_rng(0)
    bent = [0.0 if joint.actuated else 0.01 * rng.standard_normal() for joint in arm.moving]
    least = [
        np.linalg.eigvalsh(np.array(ca.DM(book.inertia(arm, ca.DM(bent), printed=printed))))[0]
        for printed in (False, True)
    ]
    assert least[0] > 1e-4 and least[1] < -1e-4
