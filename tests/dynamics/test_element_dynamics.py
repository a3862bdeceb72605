"""Force elements on trees with balls and followers, with loops, and with links that bend."""

from dataclasses import replace

import casadi as ca
import numpy as np
from flexible_trees import mixed
from mapped_trees import random_mapped_tree
from random_trees import over

from ocp import Formulation, forward_dynamics, inverse_dynamics
from ocp.certificate.checks.simulation import accelerations
from ocp.dynamics import FORMULATIONS, closed_loops, hybrid_dynamics
from ocp.mechanics import (
    Armature,
    Damper,
    Spring,
    Strut,
    close_coordinates,
    close_rates,
    element_loss,
    kinetic_energy,
    potential_energy,
)
from ocp.models.arms.two_link import two_link
from ocp.models.mechanisms.four_bar import four_bar


def of_joints(tree):
    """A tree with elements at its first joint that turns or slides, and at its last point."""
    single = next(joint.name for joint in tree.moving if not joint.ball)
    return replace(
        tree,
        elements=(
            Armature(joint=single, inertia=0.02, gear=3.0),
            Spring(joint=single, stiffness=4.0),
            Damper(joint=single, damping=0.5),
            Strut(name="s", start=tree.points[-1].name, end=(4, 5, 6), stiffness=3, damping=0.4),
        ),
    )


@over(range(2))
def test_balls_and_followers_feel_elements_and_rotors(seed):
    rng = np.random.default_rng(seed)
    tree = of_joints(random_mapped_tree(rng, 4, followers=seed % 2))
    q, qd, qdd = (ca.DM(part) for part in rng.uniform(-1, 1, (3, tree.dof)))
    torques = inverse_dynamics(tree, q, qd, qdd)
    for name in ("lie_group", "uicker_kahn"):
        other = inverse_dynamics(tree, q, qd, qdd, (), FORMULATIONS[name])
        assert np.abs(np.array(other - torques)).max() < 1e-9
    assert np.abs(np.array(forward_dynamics(tree, q, qd, torques) - qdd)).max() < 1e-8
    active = [row % 2 == 0 for row in range(tree.dof)]
    known = ca.DM([float(qdd[row] if flag else torques[row]) for row, flag in enumerate(active)])
    rates, given = hybrid_dynamics(tree, q, qd, known, active)
    assert np.abs(np.array(rates - qdd)).max() < 1e-8
    assert np.abs(np.array(given - torques)).max() < 1e-8
    place, rate = ca.SX.sym("q", tree.dof), ca.SX.sym("qd", tree.dof)
    energy = kinetic_energy(tree, place, rate) + potential_energy(tree, place)
    for joint, rows in zip(tree.joints, tree.spans):
        if joint.ball:  # the lengths of quaternions have a fictitious inertia of one
            energy += ca.jtimes(ca.norm_2(place[list(rows)]), place, rate) ** 2 / 2
    gained = ca.jtimes(energy, place, rate) + ca.jtimes(energy, rate, qdd)
    lost = gained - ca.dot(torques, rate) + element_loss(tree, place, rate)
    assert abs(float(ca.Function("lost", [place, rate], [lost])(q, qd))) < 1e-9


@over(range(1))
def test_links_that_bend_feel_them_too(seed):
    tree = of_joints(mixed(seed)[0])
    rng = np.random.default_rng(seed)
    q, qd, qdd = (ca.DM(part) for part in rng.uniform(-0.3, 0.3, (3, tree.dof)))
    torques = inverse_dynamics(tree, q, qd, qdd)
    assert np.abs(np.array(forward_dynamics(tree, q, qd, torques) - qdd)).max() < 1e-8
    by_energy = ca.evalf(accelerations(tree, None, q, qd, torques, ()))
    assert np.abs(np.array(by_energy - qdd)).max() < 1e-8


def test_closed_loops_move_by_elements_alike_whoever_gives_the_mass_matrix():
    arm = four_bar()
    hinge = arm.names[0]
    arm = replace(
        arm,
        elements=(
            Armature(joint=hinge, inertia=0.05),
            Spring(joint=hinge, stiffness=3.0, rest=0.4),
            Damper(joint=hinge, damping=0.3),
        ),
    )
    q = close_coordinates(arm, [0.8, 0.5, 1.0], [hinge])
    qd = ca.DM(close_rates(arm, q, [1.5, 0.0, 0.0], [hinge]))
    q, still = ca.DM(q), ca.DM.zeros(arm.dof)
    one, other = (
        closed_loops.forward(arm, q, qd, still, dynamics=dynamics)[0]
        for dynamics in (None, FORMULATIONS["hollerbach_3x3"].inverse)
    )
    assert np.abs(np.array(one - other)).max() < 1e-9
    free = closed_loops.forward(replace(arm, elements=()), q, qd, still)[0]
    assert np.abs(np.array(one - free)).max() > 0.1
    needed, _ = closed_loops.inverse(arm, q, qd, one, [hinge])
    assert np.abs(np.array(needed)).max() < 1e-9


def test_a_damper_does_what_an_own_formulation_with_friction_does():
    def rubbing(tree, q, qd, qdd, loads=()):
        return FORMULATIONS["newton_euler"].inverse(tree, q, qd, qdd, loads) + 0.5 * qd

    arm = two_link(gravity=9.81)
    damped = replace(arm, elements=[Damper(joint=name, damping=0.5) for name in arm.names])
    motion = [ca.DM(part) for part in ((0.3, -0.5), (1.0, 2.0), (0.7, -3.0))]
    own = inverse_dynamics(arm, *motion, (), Formulation(name="rubbing", inverse=rubbing))
    assert np.abs(np.array(inverse_dynamics(damped, *motion) - own)).max() < 1e-12
