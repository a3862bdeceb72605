"""Inverse dynamics on random trees and by hand: the methods agree, links obey Newton and Euler,
energy is kept, graphs stay small."""

from dataclasses import dataclass, fields, replace
from functools import cache
from math import cos, pi, sin

import casadi as ca
import numpy as np
import pytest
from random_trees import over, random_link, random_loads, random_motion, random_tree
from repeated_cases import for_each

from ocp import Link, Load, Tree, revolute, screw
from ocp.dynamics import FORMULATIONS, NEWTON_EULER
from ocp.dynamics.formulation_record import align_frames
from ocp.mechanics.kinematics import kinematics
from ocp.models.arms.pr import pr
from ocp.models.arms.two_link import two_link

KINDS = ("revolute", "prismatic", "screw", "fixed")

every_tree = over(range(16))  # one for each kind of root and number of loads
every_method = pytest.mark.parametrize("method", FORMULATIONS.values(), ids=FORMULATIONS)


@dataclass(frozen=True, kw_only=True)
class Case:
    """A tree, a motion of it as numbers (n,), and loads."""

    tree: Tree
    q: tuple
    qd: tuple
    qdd: tuple
    loads: tuple = ()

    @property
    def arguments(self):
        """(tree, q, qd, qdd, loads) as every method takes them."""
        return self.tree, ca.DM(self.q), ca.DM(self.qd), ca.DM(self.qdd), self.loads


@cache
def case(seed):
    """A random tree of 1 to 10 joints, now and then to 30, small ones more often, its root of each
    kind in turn, with up to three loads."""
    rng, first, largest = np.random.default_rng(seed), seed % len(KINDS), 10 if seed % 15 else 30
    tree = random_tree(
        rng, 1 + int(largest * rng.random() ** 2), kinds=KINDS[first:] + KINDS[:first]
    )
    q, qd, qdd = map(tuple, random_motion(rng, tree))
    return Case(
        tree=tree, q=q, qd=qd, qdd=qdd, loads=random_loads(rng, tree, seed // len(KINDS) % 4)
    )


@cache
def torques(method, c):
    """Joint torques of a case, (n,)."""
    return np.array(method.inverse(*c.arguments)).ravel()


@cache
def reactions(c):
    """Moments and forces (3, links) through the joints of a case."""
    return tuple(np.array(part) for part in NEWTON_EULER.reactions(*c.arguments))


def motions(c):
    """The Motion of every link, as numpy arrays."""
    moves = kinematics.motions(*c.arguments[:4])
    return [
        kinematics.Motion(
            **{field.name: np.array(getattr(move, field.name)).squeeze() for field in fields(move)}
        )
        for move in moves
    ]


def greatest(*arrays):
    """The greatest absolute entry; 0 if there is none."""
    return max(np.abs(array).max(initial=0.0) for array in arrays)


def joint_action(c, k, move):
    """What joint k passes to its link, in global axes: place of its anchor, force, and moment about
    it."""
    moments, forces = reactions(c)
    return (
        move.origin + move.rotation @ c.tree.joints[k].anchor,
        move.rotation @ forces[:, k],
        move.rotation @ moments[:, k],
    )


def actions(c, moves):
    """Per link, all that acts on it as (place, force, moment) in global axes: gravity, its joint,
    its children's joints, loads."""
    result = [
        [(m.origin + m.rotation @ link.com, np.multiply(link.mass, c.tree.gravity), np.zeros(3))]
        for m, link in zip(moves, c.tree.links)
    ]
    for k, parent in enumerate(c.tree.parents):
        place, force, moment = joint_action(c, k, moves[k])
        result[k].append((place, force, moment))
        if parent >= 0:
            result[parent].append((place, -force, -moment))
    for load in c.loads:
        point = c.tree.point(load.point)
        k = c.tree.link_index(point.link)
        result[k].append(
            (
                moves[k].origin + moves[k].rotation @ point.position,
                np.array(load.force),
                np.array(load.moment),
            )
        )
    return result


def demanded(link, move):
    """Centre of mass of a link, and the force m a and the moment I dw + w x I w about it that its
    motion demands."""
    w, dw, arm = move.angular, move.angular_acceleration, move.rotation @ link.com
    inertia = move.rotation @ np.array(link.inertia) @ move.rotation.T
    push = move.linear_acceleration + np.cross(dw, arm) + np.cross(w, np.cross(w, arm))
    return move.origin + arm, link.mass * push, inertia @ dw + np.cross(w, inertia @ w)


@every_tree
def test_joint_reactions_balance_every_link_about_its_centre_of_mass(seed):
    c, moves = case(seed), motions(case(seed))
    moments, forces = reactions(c)
    for link, move, acting in zip(c.tree.links, moves, actions(c, moves)):
        center, force, moment = demanded(link, move)
        turning = sum(turn + np.cross(place - center, push) for place, push, turn in acting)
        np.testing.assert_allclose(
            sum(push for _, push, _ in acting), force, rtol=0, atol=1e-10 * greatest(forces)
        )
        np.testing.assert_allclose(turning, moment, rtol=0, atol=1e-10 * greatest(forces, moments))


@every_tree
def test_joint_torques_are_the_reactions_components_along_the_screws(seed):
    c = case(seed)
    along = [
        np.dot((*(moment + np.cross(joint.anchor, force)), *force), joint.screw)
        for joint, moment, force in zip(c.tree.joints, *(part.T for part in reactions(c)))
        if joint.screw is not None
    ]
    np.testing.assert_allclose(
        torques(NEWTON_EULER, c), along, rtol=0, atol=1e-10 * greatest(along)
    )


@every_tree
def test_energy_grows_by_the_power_of_torques_and_loads(seed):
    c = case(seed)
    q, qd = ca.SX.sym("q", c.tree.dof), ca.SX.sym("qd", c.tree.dof)
    energy = kinematics.kinetic_energy(c.tree, q, qd) + kinematics.potential_energy(c.tree, q)
    rate = ca.jtimes(energy, ca.vertcat(q, qd), ca.DM([*c.qd, *c.qdd]))
    growth = float(ca.Function("growth", [q, qd], [rate])(c.q, c.qd))
    fed = torques(NEWTON_EULER, c) * c.qd
    loaded = float(kinematics.load_power(c.tree, ca.DM(c.q), ca.DM(c.qd), c.loads))
    assert fed.sum() + loaded == pytest.approx(
        growth, rel=0, abs=1e-8 * greatest(growth, loaded, fed)
    )


@every_tree
def test_a_resting_tree_carries_its_weight(seed):
    still = (0.0,) * case(seed).tree.dof
    c = replace(case(seed), qd=still, qdd=still, loads=())
    place, force, moment = joint_action(c, 0, motions(c)[0])
    weight = sum(link.mass for link in c.tree.links) * np.array(c.tree.gravity)
    center = np.array(kinematics.center_of_mass(c.tree, ca.DM(c.q))).ravel()
    np.testing.assert_allclose(force, -weight, rtol=0, atol=1e-10 * greatest(weight))
    np.testing.assert_allclose(
        moment, -np.cross(center - place, weight), rtol=0, atol=1e-10 * greatest(weight)
    )


@every_tree
def test_aligned_frames_describe_the_same_mechanism_about_z(seed):
    c = case(seed)
    better, turns = align_frames(c.tree)
    old, new = (
        [np.array(pose) for pose in kinematics.poses(tree, ca.DM(c.q))] for tree in (c.tree, better)
    )
    for before, after, turn in zip(old, new, turns):
        np.testing.assert_allclose(before @ turn, after, rtol=0, atol=1e-12)
    for here, there in zip(c.tree.points, better.points):
        k = c.tree.link_index(here.link)
        np.testing.assert_allclose(
            new[k] @ (*there.position, 1), old[k] @ (*here.position, 1), rtol=0, atol=1e-12
        )
    for joint, turned in zip(c.tree.joints, better.joints):
        axis = {"fixed": None, "prismatic": (0, 0, 0, 0, 0, 1)}.get(
            joint.kind, (0, 0, 1, 0, 0, joint.pitch if joint.kind == "screw" else 0)
        )
        assert turned == replace(joint, home=turned.home, screw=axis)
    energies = [
        float(kinematics.kinetic_energy(tree, ca.DM(c.q), ca.DM(c.qd))) for tree in (c.tree, better)
    ]
    assert energies[1] == pytest.approx(energies[0], rel=1e-12)


@every_method
def test_loads_act_through_the_transposed_jacobian(method):
    for seed in range(12):
        c = replace(case(seed), loads=random_loads(np.random.default_rng(seed), case(seed).tree, 3))
        carried = torques(method, replace(c, loads=())) - torques(method, c)
        pushed = sum(
            np.array(kinematics.jacobian(c.tree, ca.DM(c.q), load.point)).T
            @ (*load.moment, *load.force)
            for load in c.loads
        )
        np.testing.assert_allclose(
            carried, pushed, rtol=0, atol=1e-10 * greatest(torques(method, c))
        )


@every_method
@pytest.mark.parametrize("kind", [ca.SX, ca.MX], ids=["SX", "MX"])
def test_expressions_give_what_numbers_give(method, kind):
    for seed in range(12, 14):
        c = case(seed)
        strength = kind.sym("strength")
        symbols = [kind.sym(name, case(seed).tree.dof) for name in ("q", "qd", "qdd")]
        loads = [
            replace(load, force=strength * ca.DM(load.force), moment=strength * ca.DM(load.moment))
            for load in c.loads
        ]
        graphs, numbers = [method.inverse(c.tree, *symbols, loads)], [torques(method, c)]
        if method.reactions is not None:
            graphs, numbers = (
                graphs + list(method.reactions(c.tree, *symbols, loads)),
                numbers + list(reactions(c)),
            )
        actual = ca.Function("found", [*symbols, strength], graphs).call(
            [*c.arguments[1:4], ca.DM(1.0)]
        )
        for graph, number in zip(actual, numbers):
            np.testing.assert_allclose(
                np.array(graph).reshape(number.shape), number, rtol=0, atol=1e-13 * greatest(number)
            )


@cache
def nearly_parallel(tilt):
    """A chain whose last axis is off the one before by `tilt`, as a Case, and its torques by
    Lagrange's equations, d/dt dL/dqd - dL/dq."""
    rng = np.random.default_rng(0)
    joints = (
        revolute("a"),
        revolute("b", "a", home=(0.3, 0.2, 0), axis=(0, 1, 0)),
        revolute("c", "b", home=(0.3, 0.2, 0.1), axis=(0, cos(tilt), sin(tilt))),
    )
    tree = Tree(links=[random_link(rng) for _ in joints], joints=joints, gravity=(0, -9.81, 0))
    motion, (q, qd, qdd) = (
        [*map(tuple, random_motion(rng, tree))],
        (ca.SX.sym(name, tree.dof) for name in ("q", "qd", "qdd")),
    )
    lagrangian = kinematics.kinetic_energy(tree, q, qd) - kinematics.potential_energy(tree, q)
    rate = ca.jtimes(ca.gradient(lagrangian, qd), ca.vertcat(q, qd), ca.vertcat(qd, qdd))
    expected = np.array(
        ca.Function("tau", [q, qd, qdd], [rate - ca.gradient(lagrangian, q)])(*motion)
    ).ravel()
    return Case(tree=tree, q=motion[0], qd=motion[1], qdd=motion[2]), expected


@every_method
@for_each("tilt", (0.0, 1e-10, 1e-8, 1e-7, 2e-6, 1e-5, 1e-4, 1e-3, 1e-2, pi - 1e-5, pi))
def test_nearly_parallel_axes_lose_no_accuracy(method, tilt):
    """A calibrated robot's axes are parallel only nearly."""
    bent, expected = nearly_parallel(tilt)
    tau = torques(method, bent)
    np.testing.assert_allclose(tau, expected, rtol=0, atol=1e-10 * greatest(expected))


@every_method
def test_the_two_link_arm_obeys_its_closed_form(method):
    """Xiang, Arora & Abdel-Malek (2009), eqs. 69, 70, constants of table 1, with gravity and a load
    f down at the tip."""
    big_l, m, inertia, l, g, f = 0.4, 0.5, 0.1, 0.2, 9.8062, 10.0
    (t1, t2), (v1, v2), (a1, a2) = (0.7, -1.9), (1.3, -2.1), (3.1, -0.8)
    near, far, coupled = g * m * l * cos(t1), (m * g * l + f * big_l) * cos(t1 + t2), m * big_l * l
    tau1 = (
        (2 * inertia + m * l**2 + m * (big_l**2 + l**2) + 2 * coupled * cos(t2)) * a1
        + (inertia + m * l**2 + coupled * cos(t2)) * a2
        - coupled * sin(t2) * (2 * v1 * v2 + v2**2)
        + near
        + far
        + (m * g + f) * big_l * cos(t1)
    )
    tau2 = (
        (inertia + m * l**2) * a2
        + (inertia + m * l**2 + coupled * cos(t2)) * a1
        + coupled * v1**2 * sin(t2)
        + far
    )
    arm = Case(
        tree=two_link(gravity=g),
        q=(t1, t2),
        qd=(v1, v2),
        qdd=(a1, a2),
        loads=(Load(point="tip", force=(0, -f, 0)),),
    )
    np.testing.assert_allclose(torques(method, arm), (tau1, tau2), rtol=1e-13)


@every_method
def test_the_sliding_arm_obeys_its_closed_form(method):
    """F = (m1 + m2) a1 - m2 l2 (sin th a2 + cos th v2^2), tau = (I2 + m2 l2^2) a2 - m2 l2 sin th a1
    (Barman 2020, tables 4.3, 4.4)."""
    m, inertia, l, th, v2, a1, a2 = 0.5, 0.1, 0.2, 0.6, 2.3, 1.7, -3.1
    force = 2 * m * a1 - m * l * (sin(th) * a2 + cos(th) * v2**2)
    torque = (inertia + m * l**2) * a2 - m * l * sin(th) * a1
    np.testing.assert_allclose(
        torques(method, Case(tree=pr(), q=(0.3, th), qd=(-1.1, v2), qdd=(a1, a2))),
        (force, torque),
        rtol=1e-13,
    )


@every_method
def test_a_nut_on_a_vertical_screw_turns_and_lifts(method):
    """tau = I qdd + pitch m (pitch qdd + g)."""
    body = Link(mass=2.0, com=(0, 0, 0.1), inertia=np.diag([0.03, 0.03, 0.05]))
    nut = Tree(links=(body,), joints=(screw("nut", pitch=0.02),), gravity=(0, 0, -9.81))
    tau = torques(method, Case(tree=nut, q=(0.4,), qd=(3.0,), qdd=(7.0,)))
    np.testing.assert_allclose(tau, 0.05 * 7 + 0.02 * 2 * (0.02 * 7 + 9.81), rtol=1e-14)


@every_method
def test_a_load_of_time_acts_with_its_value_at_that_instant(method):
    pushed = Load(point="tip", force=lambda t: (0.0, -t, 0.0), moment=lambda t: (0.0, 0.0, 2 * t))
    arm = Case(
        tree=two_link(), q=(0.5, 0.1), qd=(0.0, 0.0), qdd=(0.0, 0.0), loads=(pushed.at(3.0),)
    )
    elbow = 3 * 0.4 * cos(0.6) - 6
    np.testing.assert_allclose(
        torques(method, arm), (elbow + 3 * 0.4 * cos(0.5), elbow), rtol=1e-13
    )


@pytest.mark.parametrize(
    "function", [*(method.inverse for method in FORMULATIONS.values()), NEWTON_EULER.reactions]
)
def test_a_load_on_a_stranger_is_refused_by_name(function):
    with pytest.raises(ValueError, match="^unknown point 'toe'; the points are tip$"):
        function(two_link(), ca.DM([0, 0]), ca.DM([0, 0]), ca.DM([0, 0]), (Load(point="toe"),))
