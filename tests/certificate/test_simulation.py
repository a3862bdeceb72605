"""The simulator moves trees as their mechanics say, whatever form their torques are given in."""

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest
from random_trees import random_tree

from ocp import Link, Parameter, Tree, prismatic, revolute, simulate, solve
from ocp.certificate.checks.simulation import (
    march,
    massless_rows,
    ramp_integrator,
    ramp_parameters,
)
from ocp.dynamics import NEWTON_EULER, mass_matrix
from ocp.mechanics import close_coordinates, close_rates, with_values
from ocp.mechanics.kinematics.loop_assembly import closed_configurations
from ocp.mechanics.kinematics.loop_closure import gap
from ocp.models.arms.two_link import two_link
from ocp.models.mechanisms.four_bar import four_bar
from ocp.problems.arms.two_link_lift import problem as lift

G = 9.81


def pendulum():
    """A mathematical one of 1 kg and 1 m, its hinge turning about z, y upward."""
    link = Link(mass=1.0, com=(0.0, -1.0, 0.0))
    return Tree(links=(link,), joints=(revolute("hinge", axis=(0, 0, 1)),), gravity=(0, -G, 0))


def test_a_pendulum_swings_with_its_period_and_keeps_its_energy():
    motion = simulate(pendulum(), [0.0], ([0.3], [0.0]), 4.0)
    energy = motion.qd[0] ** 2 / 2 - G * np.cos(motion.q[0])
    assert motion.t.shape == (201,) and motion.q.shape == motion.qd.shape == (1, 201)
    assert np.ptp(energy) < 1e-8 * G
    quarter = np.interp(0.0, -motion.q[0, :60], motion.t[:60])
    period = 2 * np.pi / np.sqrt(G) * (1 + 0.3**2 / 16 + 11 * 0.3**4 / 3072)
    assert quarter == pytest.approx(period / 4, rel=1e-3)


def test_torques_are_numbers_a_function_or_a_table():
    arm, start = two_link(), ([0.1, -0.4], [0.0, 0.2])
    constant = simulate(arm, [1.0, -0.5], start, 0.5, count=11)
    function = simulate(arm, lambda t, q, qd: [1.0 + 0 * t, -0.5], start, 0.5, count=11)
    table = simulate(arm, np.outer([1.0, -0.5], np.ones(11)), start, 0.5)
    ramp = simulate(arm, np.outer([1.0, -0.5], np.linspace(0, 1, 11)), start, 0.5)
    same = simulate(arm, lambda t, q, qd: [2.0 * t, -1.0 * t], start, 0.5, count=11)
    assert np.allclose(constant.q, function.q, atol=1e-9)
    assert np.allclose(constant.q, table.q, atol=1e-9) and np.allclose(ramp.q, same.q, atol=1e-9)
    assert not np.allclose(ramp.q, table.q, atol=1e-3)


def test_a_controller_and_a_formulation_of_ones_own_take_part():
    held = simulate(pendulum(), lambda t, q, qd: -50 * q - 20 * qd, ([0.5], [0.0]), 5.0)
    assert abs(held.q[0, -1]) < 1e-3
    by_itself = simulate(pendulum(), [0.0], ([0.3], [0.0]), 1.0, formulation=NEWTON_EULER)
    assert np.allclose(by_itself.q, simulate(pendulum(), [0.0], ([0.3], [0.0]), 1.0).q, atol=1e-8)


def test_the_torques_of_a_plan_move_the_arm_along_it():
    plan = solve(lift(points=12))
    t, tree = plan.times(2001), plan.problem.tree
    loads = plan.problem.loads
    motion = simulate(tree, plan.tau(t), (plan.q(0.0), plan.qd(0.0)), plan.duration, loads)
    assert np.abs(motion.q - plan.q(t)).max() < 1e-4


def test_closed_loops_stay_closed():
    bar = four_bar()
    q = close_coordinates(bar, (0.0, 1.0, 2.0), ["crank"])
    qd = close_rates(bar, q, (3.0, 0.0, 0.0), ["crank"])
    motion = simulate(bar, np.zeros(3), (q, qd), 1.0, count=11)
    assert np.abs(motion.q[0, -1] - q[0]) > 0.5
    assert np.abs(np.array(gap(bar, motion.q[:, -1]))).max() < 1e-6


def test_a_function_that_gives_one_torque_for_several_joints_is_refused():
    message = "torques: expected 2 expressions, got 1"
    with pytest.raises(ValueError, match=message):
        simulate(two_link(), lambda t, q, qd: 0.0, (np.zeros(2), np.zeros(2)), 1.0)


def test_an_open_tree_is_simulated_with_numbers_in_place_of_its_parameters():
    fall = Parameter("fall", 1.0, "m/s2")
    tree = replace(pendulum(), gravity=(0, -fall, 0))
    with pytest.raises(ValueError, match="simulate: expected numbers, got the parameters fall"):
        simulate(tree, [0.0], ([0.3], [0.0]), 0.1)
    given, stated = (
        simulate(each, [0.0], ([0.3], [0.0]), 0.1, count=3)
        for each in (with_values(tree, {fall: G}), pendulum())
    )
    np.testing.assert_array_equal(given.q, stated.q)


def test_a_motion_that_blows_up_is_no_number_from_there_on():
    blown = simulate(pendulum(), lambda t, q, qd: 1e3 * q**9 + 1e3, ([1.0], [0.0]), 5.0, count=6)
    assert np.isfinite(blown.q[0, 0]) and np.isnan(blown.q[0, -1]) and "blown up" in repr(blown)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"torques": [1.0, 2.0]}, "torques: expected"),
        ({"torques": np.ones((2, 5))}, r"torques: expected finite numbers of shape \(1,\)"),
        ({"torques": lambda t, q, qd: [t, t]}, "torques: expected 1 expressions, got 2"),
        ({"start": ([0.0, 1.0], [0.0])}, "start: q: expected"),
        ({"duration": 0.0}, "duration, count: expected a positive number"),
        ({"count": 1}, "duration, count: expected"),
    ],
)
def test_what_does_not_fit_is_refused_by_name(changes, message):
    given = {"torques": [0.0], "start": ([0.0], [0.0]), "duration": 1.0} | changes
    with pytest.raises(ValueError, match=message):
        simulate(pendulum(), **given)


@pytest.mark.parametrize("seed", range(4))
def test_coordinates_that_move_no_mass_are_those_of_an_empty_diagonal(seed):
    tree = random_tree(np.random.default_rng(seed), 5)
    last = revolute("last", parent=tree.joints[seed].name, axis=(0, 0, 1), home=(0.1, 0, 0))
    tree = replace(tree, links=(*tree.links, Link()), joints=(*tree.joints, last))
    diagonals = [
        np.diag(np.array(ca.DM(mass_matrix(tree, q)))) for q in closed_configurations(tree)
    ]
    largest = np.max(diagonals, axis=0)
    empty = np.flatnonzero(largest <= 1e-14 * largest.max(initial=0.0))
    assert massless_rows(tree) == tuple(empty) == (tree.dof - 1,) and massless_rows(
        tree
    ) is massless_rows(tree)


def test_a_replay_that_is_lost_ends_there():
    """A mass of 1 kg under 100 N is 12.5 m off a plan that rests after 0.5 s."""
    slide = prismatic("x", axis=(1, 0, 0))
    tree = Tree(links=(Link(mass=1.0),), joints=(slide,), gravity=(0, 0, 0))
    t, table = np.linspace(0.0, 1.0, 11), np.full((1, 11), 100.0)
    steps, rest = ramp_parameters(t, table), np.zeros((2, 11))
    states = march(ramp_integrator(tree, 0.1), rest[:, 0], steps, plan=rest)
    assert states[0, :5] == pytest.approx(50.0 * t[:5] ** 2)
    assert np.isnan(states[:, 5:]).all()
