"""Kinematics of random trees with all joint kinds: velocities, accelerations, momentum and energy
are what positions imply."""

from functools import cache

import casadi as ca
import numpy as np
import pytest
from random_trees import over, random_loads, random_motion, random_tree

from ocp import Load, Point, Tree, fixed, revolute
from ocp.dynamics.formulations.newton_euler import inverse, reactions
from ocp.mechanics.kinematics import kinematics, rigid_kinematics

SEEDS = range(8)
KINDS = ("revolute", "prismatic", "screw", "fixed")
ABOUT = (0.3, -0.2, 0.5)  # a fixed point (m) off every axis


@cache
def case(seed):
    """A random tree of 3 to 8 joints, its root of each kind in turn, and a motion."""
    rng, first = np.random.default_rng(seed), seed % len(KINDS)
    tree = random_tree(rng, int(rng.integers(3, 9)), kinds=KINDS[first:] + KINDS[:first])
    assert tree.dof > 0
    return tree, *random_motion(rng, tree)


def symbols(tree):
    """SX symbols q, qd, qdd of a tree."""
    return tuple(ca.SX.sym(name, tree.dof) for name in ("q", "qd", "qdd"))


def value(expression, at, *, of):
    """Numbers of an expression, as an array, of the symbols `of` taken `at` their values."""
    return np.array(ca.Function("value", list(of), [expression])(*at))


def rate(expression, q, qd, qdd):
    """Time derivative of an expression of q and qd."""
    return ca.jtimes(expression, ca.vertcat(q, qd), ca.vertcat(qd, qdd))


def assert_close(actual, expected, tolerance=1e-12):
    """Two arrays agree relative to the greatest entry expected, or to one where that is smaller."""
    scale = max(1.0, np.abs(expected).max())
    np.testing.assert_allclose(actual, expected, rtol=0, atol=tolerance * scale)


def numeric(function, *arguments):
    """A function of the kinematics at numbers, as an array."""
    return np.array(function(*arguments))


@over(SEEDS)
def test_poses_chain_home_and_moved_screws(seed):
    tree, q, _, _ = case(seed)
    frames = [np.array(pose) for pose in kinematics.poses(tree, ca.DM(q))]
    for k, (joint, parent, row) in enumerate(zip(tree.joints, tree.parents, tree.rows)):
        before = np.eye(4) if parent < 0 else frames[parent]
        local = np.array(rigid_kinematics.joint_pose(joint, None if row is None else q[row]))
        np.testing.assert_allclose(frames[k], before @ local, rtol=0, atol=1e-13)


@over(SEEDS)
def test_velocity_and_acceleration_are_time_derivatives_of_position(seed):
    tree, *motion = case(seed)
    names = [point.name for point in tree.points]
    q, qd, qdd = symbols(tree)
    place = ca.horzcat(*(kinematics.position(tree, q, name) for name in names))
    speed = ca.horzcat(*(kinematics.velocity(tree, q, qd, name) for name in names))
    push = ca.horzcat(*(kinematics.acceleration(tree, q, qd, qdd, name) for name in names))
    for derived, given in ((rate(place, q, qd, qdd), speed), (rate(speed, q, qd, qdd), push)):
        assert_close(value(given, motion, of=(q, qd, qdd)), value(derived, motion, of=(q, qd, qdd)))


@over(SEEDS)
def test_angular_velocity_and_acceleration_are_those_of_the_rotations(seed):
    """dR/dt = [w] R, and the angular acceleration is dw/dt."""
    tree, *motion = case(seed)
    q, qd, qdd = symbols(tree)
    for link in kinematics.motions(tree, q, qd, qdd):
        spin = rate(link.rotation, q, qd, qdd) @ link.rotation.T
        assert_close(
            value(ca.skew(link.angular), motion, of=(q, qd, qdd)),
            value(spin, motion, of=(q, qd, qdd)),
        )
        assert_close(
            value(link.angular_acceleration, motion, of=(q, qd, qdd)),
            value(rate(link.angular, q, qd, qdd), motion, of=(q, qd, qdd)),
        )


@over(SEEDS)
def test_the_jacobian_maps_rates_to_angular_and_linear_velocity(seed):
    tree, q, qd, _ = case(seed)
    for k, point in enumerate(tree.points):
        twist = numeric(kinematics.jacobian, tree, ca.DM(q), point.name) @ qd
        assert_close(
            twist[:3], np.array(kinematics.motions(tree, ca.DM(q), ca.DM(qd))[k].angular).ravel()
        )
        assert_close(
            twist[3:], numeric(kinematics.velocity, tree, ca.DM(q), ca.DM(qd), point.name).ravel()
        )


@over(SEEDS)
def test_the_jacobian_ignores_joints_that_do_not_carry_the_point(seed):
    tree, q, _, _ = case(seed)
    for k, point in enumerate(tree.points):
        columns, carriers = numeric(kinematics.jacobian, tree, ca.DM(q), point.name), set()
        while k >= 0:
            carriers.add(tree.rows[k])
            k = tree.parents[k]
        assert {row for row in range(tree.dof) if columns[:, row].any()} == carriers - {None}


@over(SEEDS)
def test_the_centre_of_mass_balances_the_links_and_carries_the_momentum(seed):
    tree, *motion = case(seed)
    q, qd, qdd = symbols(tree)
    mass = sum(link.mass for link in tree.links)
    center = value(kinematics.center_of_mass(tree, q), motion, of=(q, qd, qdd)).ravel()
    homes = [
        np.array(pose) @ (*link.com, 1.0)
        for link, pose in zip(tree.links, kinematics.poses(tree, ca.DM(motion[0])))
    ]
    assert_close(
        sum(link.mass * (home[:3] - center) for link, home in zip(tree.links, homes)), np.zeros(3)
    )
    carried = mass * rate(kinematics.center_of_mass(tree, q), q, qd, qdd)
    assert_close(
        value(kinematics.momentum(tree, q, qd)[1], motion, of=(q, qd, qdd)),
        value(carried, motion, of=(q, qd, qdd)),
    )


def applied_wrench(tree, q, qd, qdd, loads):
    """Moment about ABOUT and force, in global axes, that the ground, gravity and loads together
    apply to the tree."""
    frames = [np.array(pose) for pose in kinematics.poses(tree, ca.DM(q))]
    moments, forces = (
        np.array(part) for part in reactions(tree, ca.DM(q), ca.DM(qd), ca.DM(qdd), loads)
    )
    actions = []  # (place, force, moment)
    for k, (link, frame, parent) in enumerate(zip(tree.links, frames, tree.parents)):
        actions.append((frame @ (*link.com, 1.0), link.mass * np.array(tree.gravity), np.zeros(3)))
        if parent < 0:
            actions.append(
                (
                    frame @ (*tree.joints[k].anchor, 1.0),
                    frame[:3, :3] @ forces[:, k],
                    frame[:3, :3] @ moments[:, k],
                )
            )
    for load in loads:
        place = numeric(kinematics.position, tree, ca.DM(q), load.point).ravel()
        actions.append((place, np.array(load.force), np.array(load.moment)))
    return (
        sum(moment + np.cross(place[:3] - ABOUT, force) for place, force, moment in actions),
        sum(force for _, force, _ in actions),
    )


@over(SEEDS)
def test_momentum_grows_by_what_ground_gravity_and_loads_apply(seed):
    tree, *motion = case(seed)
    q, qd, qdd = symbols(tree)
    loads = random_loads(np.random.default_rng(seed), tree, 2)
    angular, linear = kinematics.momentum(tree, q, qd, about=ABOUT)
    moment, force = applied_wrench(tree, *motion, loads)
    assert_close(value(rate(angular, q, qd, qdd), motion, of=(q, qd, qdd)).ravel(), moment)
    assert_close(value(rate(linear, q, qd, qdd), motion, of=(q, qd, qdd)).ravel(), force)


@over(SEEDS)
def test_kinetic_energy_is_half_the_rates_times_the_mass_matrix(seed):
    """M = d tau / d qdd is symmetric, and E = 1/2 qd' M qd."""
    tree, *motion = case(seed)
    q, qd, qdd = symbols(tree)
    mass = value(ca.jacobian(inverse(tree, q, qd, qdd), qdd), motion, of=(q, qd, qdd))
    assert_close(mass, mass.T)
    energy = numeric(kinematics.kinetic_energy, tree, ca.DM(motion[0]), ca.DM(motion[1]))
    assert_close(energy.item(), motion[1] @ mass @ motion[1] / 2)


@over(SEEDS)
def test_potential_energy_falls_along_the_weight(seed):
    """dV/dq is the torque that holds the resting tree."""
    tree, q, _, _ = case(seed)
    symbol = ca.SX.sym("q", tree.dof)
    slope = value(
        ca.gradient(kinematics.potential_energy(tree, symbol), symbol), (q,), of=(symbol,)
    )
    rest = ca.DM.zeros(tree.dof)
    assert_close(slope, np.array(inverse(tree, ca.DM(q), rest, rest)))


@over(SEEDS)
def test_loads_feed_the_power_of_force_and_moment(seed):
    tree, q, qd, _ = case(seed)
    loads = random_loads(np.random.default_rng(seed), tree, 3)
    power = sum(
        (*load.moment, *load.force)
        @ (numeric(kinematics.jacobian, tree, ca.DM(q), load.point) @ qd)
        for load in loads
    )
    assert_close(float(kinematics.load_power(tree, ca.DM(q), ca.DM(qd), loads)), power)


def test_only_what_is_given_is_found():
    tree, q, qd, _ = case(1)
    for place, moving in zip(kinematics.motions(tree, q), kinematics.motions(tree, q, qd)):
        assert place.angular is place.linear is moving.linear_acceleration is None
        np.testing.assert_array_equal(np.array(place.pose), np.array(moving.pose))


def test_a_point_is_a_name_or_a_point():
    tree, q, _, _ = case(2)
    free = Point(name="anywhere", link=tree.names[-1], position=tree.points[-1].position)
    np.testing.assert_array_equal(
        numeric(kinematics.position, tree, q, free),
        numeric(kinematics.position, tree, q, tree.points[-1].name),
    )
    with pytest.raises(ValueError, match="unknown point 'elsewhere'; the points are point0"):
        kinematics.position(tree, q, "elsewhere")
    with pytest.raises(ValueError, match="unknown point 'elsewhere'"):
        kinematics.load_power(tree, q, q, (Load(point="elsewhere"),))


def test_a_fixed_link_moves_with_its_parent():
    tree, q, qd, qdd = case(3)
    stiff = Tree(
        links=(*tree.links, tree.links[0]),
        joints=(*tree.joints, fixed("tool", tree.names[-1], home=(0.1, 0.2, 0.3))),
    )
    parent, tool = kinematics.motions(stiff, q, qd, qdd)[-2:]
    assert_close(np.array(tool.angular), np.array(parent.angular))
    speed = kinematics.velocity(
        stiff, q, qd, Point(name="tip", link=tree.names[-1], position=(0.1, 0.2, 0.3))
    )
    assert_close(np.array(tool.linear), np.array(speed))


def test_a_turntable_has_the_textbook_centripetal_acceleration():
    tree = Tree(
        links=case(0)[0].links[:1],
        joints=(revolute("table"),),
        points=(Point(name="rim", link="table", position=(0.5, 0, 0)),),
    )
    push = numeric(kinematics.acceleration, tree, ca.DM(0.0), ca.DM(3.0), ca.DM(2.0), "rim").ravel()
    np.testing.assert_allclose(push, (-0.5 * 3.0**2, 0.5 * 2.0, 0), rtol=0, atol=1e-15)


@pytest.mark.parametrize("symbol", [ca.SX.sym, ca.MX.sym], ids=["SX", "MX"])
def test_expressions_give_what_numbers_give(symbol):
    for seed in range(5):
        tree, *motion = case(seed)
        q, qd, qdd = (symbol(name, tree.dof) for name in ("q", "qd", "qdd"))
        name, (x, v, a) = tree.points[-1].name, (ca.DM(part) for part in motion)
        pairs = [
            (
                kinematics.acceleration(tree, q, qd, qdd, name),
                kinematics.acceleration(tree, x, v, a, name),
            ),
            (kinematics.jacobian(tree, q, name), kinematics.jacobian(tree, x, name)),
            (kinematics.kinetic_energy(tree, q, qd), kinematics.kinetic_energy(tree, x, v)),
            (kinematics.momentum(tree, q, qd)[0], kinematics.momentum(tree, x, v)[0]),
            (kinematics.center_of_mass(tree, q), kinematics.center_of_mass(tree, x)),
        ]
        for graph, number in pairs:
            assert_close(value(graph, motion, of=(q, qd, qdd)), np.array(number), 1e-14)
