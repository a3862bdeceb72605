"""Joints that nothing drives: their torque is zero in every transcription, and the motion is one
that the control alone brings about."""

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest
from bipeds import biped, steps
from random_trees import random_tree

import ocp
from ocp.dynamics import NEWTON_EULER
from ocp.dynamics.formulations.lie_group import hybrid
from ocp.mechanics import structure
from ocp.models.swing_ups.acrobot import acrobot
from ocp.models.swing_ups.branched_acrobot import branched_acrobot
from ocp.models.swing_ups.cart_pole import CART, GRAVITY, LENGTH, POLE, cart_pole
from ocp.problem.contact.transmitted_wrenches import passive_rows
from ocp.problems.arms import two_link_effort
from ocp.problems.swing_ups import acrobot_swing, branched_acrobot_swing, cart_pole_swing
from ocp.problems.swing_ups.upright_ends import ROUGH, swing
from ocp.studies import random_guess
from ocp.transcription import transcribe_phase, transcription_of
from ocp.transcription.transcribe import transcribe

SWING = 58.8077  # N2 s: cart and pole, by collocation on refined meshes of both kinds


@pytest.mark.parametrize("degree", [2, 3, 4, 5])
def test_a_law_of_accelerations_stands_at_as_many_instants_as_they_have_freedom(degree):
    motion = ocp.BSpline(points=9, degree=degree)
    s = motion.abscissae(2)
    assert len(s) == motion.points - 2 and (np.diff(s) > 0).all() and s[0] >= 0 and s[-1] <= 1


def test_a_pendulum_without_any_drive_is_simulated():
    """With its start given it has no freedom left, and must fall as integration says."""
    tree = replace(
        cart_pole(), joints=tuple(replace(joint, actuated=False) for joint in cart_pole().joints)
    )
    problem = ocp.Problem(
        tree=tree,
        motion=ocp.BSpline(points=60, degree=5),
        duration=1.0,
        objective=ocp.effort(),
        constraints=(ocp.at_start(tree, q=(0.0, 1.0), qd=0.0),),
    )
    solution = ocp.solve(problem).require()
    nlp = transcribe(problem).nlp
    assert (
        len(nlp.lower) == len(nlp.g_lower) + (nlp.lower == nlp.upper).sum()
    )  # as many equations as unknowns
    assert ocp.verify(solution).drift < 1e-5 and np.abs(solution.tau(solution.times())).max() == 0


@pytest.mark.parametrize("torques", ["explicit", "variables"])
def test_passive_torques_vanish_where_the_law_holds(torques):
    solution = ocp.solve(
        cart_pole_swing.problem(points=30), ocp.Transcription(method=ocp.Spline(torques=torques))
    ).require(coarse=True)
    s = solution.problem.motion.abscissae(2)
    assert np.abs(solution.trace(lambda at: at.required_torques[1], s * 2.0)).max() < 1e-7
    assert np.array_equal(solution.tau(s * 2.0)[1], 0 * s)
    assert solution.objective == pytest.approx(SWING, rel=2e-2)


def test_the_mode_with_variables_asks_no_more_of_passive_joints_than_they_can_give():
    rows = {
        row.name: row
        for row in transcribe_phase(
            cart_pole_swing.problem(points=12),
            ocp.Transcription(method=ocp.Spline(torques="variables")),
        ).rows
    }
    assert rows["dynamics"].row.shape[0] == 1 and rows["passive_joints"].row.shape == (1, 10)


def test_a_swing_of_the_cart_converges_to_what_collocation_finds():
    first = ocp.solve(
        cart_pole_swing.problem(), ocp.Transcription(method=ocp.HermiteSimpson(intervals=20))
    ).require(coarse=True)
    solution = ocp.solve(cart_pole_swing.problem(points=80), guess=first).require()
    assert solution.objective == pytest.approx(SWING, rel=1e-5)
    certificate = ocp.verify(solution)
    assert certificate.goal_drift < 1e-2
    assert certificate.violations["passive_joints"].dense < 1e-2
    assert certificate.kkt < 1e-6


def test_the_name_of_the_law_is_taken_and_a_violated_law_is_reported():
    problem = cart_pole_swing.problem(points=12)
    with pytest.raises(
        ValueError, match="constraint 'passive_joints': the name is that of the law of motion"
    ):
        transcribe_phase(
            replace(
                problem, constraints=(ocp.path("passive_joints", lambda at: at.q[0], upper=1.0),)
            )
        )
    stopped = ocp.solve(problem, solver=ocp.Solver(options={"max_iter": 1}))
    assert any("passive_joints (pole)" in line for line in stopped.explanation)


def test_an_integrated_pole_swings_at_the_same_cost():
    near = ocp.solve(
        cart_pole_swing.problem(), ocp.Transcription(method=ocp.Radau(intervals=20, order=4))
    ).require()
    solver = ocp.Solver(options={"mu_init": 1e-4})  # so that the start's neighbourhood is kept
    solution = ocp.solve(
        cart_pole_swing.problem(points=40),
        ocp.Transcription(method=ocp.Integrated()),
        solver,
        guess=near,
    ).require()
    assert solution.objective == pytest.approx(SWING, rel=1e-5)
    certificate = ocp.verify(solution)
    assert certificate.goal_drift < 1e-3
    assert certificate.kkt < 1e-6
    assert certificate.violations["passive_joints"].dense < 2e-2


def test_an_integrated_program_has_the_unknowns_of_the_active_joints_and_of_the_start():
    transcribed = transcribe_phase(
        cart_pole_swing.problem(points=12), ocp.Transcription(method=ocp.Integrated())
    )
    assert len(transcribed.nlp.lower) == 12 + 2
    assert "passive_joints" not in [row.name for row in transcribed.rows]
    unknowns = transcribed.reduction.shrink(transcribed.guess)
    whole = transcribed.expand(unknowns)
    assert np.array_equal(whole[::2], transcribed.guess[::2])
    assert np.allclose(transcribed.reduction.shrink(whole), unknowns, atol=1e-12)


def test_only_undriven_joints_are_passive_and_a_root_is_unless_the_ground_bears_it():
    assert structure(acrobot()).passive == (0,)
    assert structure(branched_acrobot()).passive == (0,)
    assert structure(cart_pole()).passive == (1,)
    tree = biped()
    assert structure(tree).passive == structure(tree).root == tuple(range(6))
    assert passive_rows(tree, None) == tuple(range(6)) and passive_rows(tree, steps()) == ()


def test_the_cart_and_pole_are_those_of_the_textbook():
    """Closed form, with the force on the cart alone (Kelly 2017)."""
    theta, rate, force = 0.7, -1.3, 2.5
    qdd, _ = hybrid(
        cart_pole(), ca.DM([0.2, theta]), ca.DM([0.5, rate]), ca.DM([force, 0.0]), (False, False)
    )
    bottom = CART + POLE * (1 - np.cos(theta) ** 2)
    cart = (
        LENGTH * POLE * np.sin(theta) * rate**2
        + force
        + POLE * GRAVITY * np.cos(theta) * np.sin(theta)
    ) / bottom
    pole = -(
        LENGTH * POLE * np.cos(theta) * np.sin(theta) * rate**2
        + force * np.cos(theta)
        + (CART + POLE) * GRAVITY * np.sin(theta)
    ) / (LENGTH * bottom)
    assert np.allclose(np.array(qdd).ravel(), [cart, pole], rtol=1e-12)


@pytest.mark.parametrize("tree", [acrobot(), branched_acrobot()], ids=["acrobot", "branched"])
def test_the_acrobots_stand_upright_without_torque(tree):
    q = ca.DM([np.pi / 2] + [0.0] * (tree.dof - 1))
    torque = np.array(NEWTON_EULER.inverse(tree, q, 0 * q, 0 * q)).ravel()
    assert abs(torque[0]) < 1e-12 and abs(torque[1:].sum()) < 1e-12


def test_the_best_known_swing_of_the_acrobot_is_reached_by_its_control_alone():
    """It is certified on the default spline too."""
    problem = acrobot_swing.problem()
    coarse = ocp.Transcription(method=ocp.Radau(intervals=25, order=4))
    fine = ocp.Transcription(method=ocp.Radau(intervals=50, order=5))
    rough = replace(problem, motion=ocp.BSpline(points=ROUGH, degree=5))
    first = ocp.solve(rough, coarse, guess=random_guess(rough, coarse, 3, spread=1.5)).require(
        coarse=True
    )
    solution = ocp.solve(problem, fine, guess=first).require()
    assert solution.objective == pytest.approx(29.1206, rel=1e-4)
    assert ocp.verify(solution).goal_drift < 1e-2
    assert ocp.verify(ocp.solve(problem, guess=solution).require()).require(1e-2).goal_drift < 1e-2


@pytest.mark.parametrize(
    "problem",
    [acrobot_swing.problem(points=8), branched_acrobot_swing.problem(points=8)],
    ids=["acrobot", "branched"],
)
def test_a_swing_starts_at_rest_and_ends_upright_at_rest(problem):
    spline = transcribe_phase(problem)
    stages = transcribe_phase(problem, ocp.Transcription(method=ocp.HermiteSimpson(intervals=4)))
    for transcribed in (spline, stages):
        fixed = transcribed.nlp.lower == transcribed.nlp.upper
        assert np.isclose(transcribed.nlp.lower[fixed], np.pi / 2).sum() == 1
        assert np.isclose(transcribed.nlp.lower[fixed], -1.0).sum() == 1


def test_two_rods_rise_for_a_tenth_of_the_first_path():
    assert two_link_effort.straight_cost() == pytest.approx(
        66, abs=1
    )  # 73.57 in the paper, which prints no parameters
    problem = two_link_effort.problem()
    solution = ocp.solve(
        problem, guess=random_guess(problem, ocp.Transcription(), 15, spread=1.5)
    ).require()
    assert solution.objective == pytest.approx(10.2, abs=0.1)  # 9.9 there


def test_rods_and_a_time_that_fit_give_both_printed_costs():
    """73.57 and 9.9 (Sohl & Bobrow 2001, section 5.1)."""
    assert two_link_effort.straight_cost(**two_link_effort.FITTED) == pytest.approx(73.57, rel=2e-4)
    problem = two_link_effort.problem(**two_link_effort.FITTED)
    solution = ocp.solve(
        problem, guess=random_guess(problem, ocp.Transcription(), 15, spread=1.5)
    ).require()
    assert solution.objective == pytest.approx(9.9, abs=0.05)


def test_a_problem_with_many_optima_begins_with_the_best_of_its_starts():
    solution = swing(two_link_effort.problem(points=10), starts=3).require()
    assert len(solution.statistics["starts"]) == 3
    assert min(solution.statistics["starts"]) == pytest.approx(solution.objective)


@pytest.mark.parametrize("seed", [12])
def test_a_random_tree_with_passive_joints_costs_the_same_in_every_transcription(seed):
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, 4, branching=0.5, massless=0.0)
    driven = [True, *(rng.random(len(tree.joints) - 1) < 0.5)]
    tree = replace(
        tree,
        joints=tuple(
            replace(joint, actuated=bool(flag)) for joint, flag in zip(tree.joints, driven)
        ),
    )
    active = [joint.name for joint in tree.moving if joint.actuated]
    goal = ocp.at_end(tree, q=dict.fromkeys(active, 0.3), qd=dict.fromkeys(active, 0.0))
    problem = ocp.Problem(
        tree=tree,
        motion=ocp.BSpline(points=24, degree=5),
        duration=0.4,
        objective=ocp.effort(),
        constraints=(ocp.at_start(tree, q=0.0, qd=0.0), goal),
    )
    assert structure(tree).passive
    costs = {}
    for name, settings in {
        "constrained": {},
        "variables": {"torques": "variables", "nodes": 8},
        "integrated": {"method": "integrated"},
        "hermite-simpson": {"method": "hermite-simpson", "intervals": 30},
        "radau": {"method": "radau", "intervals": 10, "order": 4},
    }.items():
        costs[name] = ocp.solve(problem, transcription_of(settings)).require().objective
    assert all(cost == pytest.approx(costs["radau"], rel=1e-3) for cost in costs.values()), costs
