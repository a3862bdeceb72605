"""Solutions whose torques and ground wrenches were variables: between the nodes, in files, as
guesses."""

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest
from bipeds import LEAVE, STRIKE, SUMS, TIGHT, biped, crouch, crouched

import ocp
from ocp.mechanics import structure
from ocp.problems.arms.two_link_lift import problem as lift
from ocp.transcription import transcribe_phase, transcription_of


def test_at_the_nodes_wrenches_and_torques_are_those_found():
    solution, rows = crouched(), len(structure(crouched().problem.tree).drives)
    t = solution.nodes * solution.duration
    assert np.allclose(solution.tau(t)[6:], solution.lifted[:rows], atol=1e-6)
    for foot, wrench in solution.wrenches().items():
        found = solution.trace(
            lambda at, foot=foot: ca.vertcat(at.reaction.moment(foot), at.reaction.force(foot)), t
        )
        assert np.allclose(found, wrench, atol=1e-5)
        moment = solution.lifted[rows + 6 * ("left", "right")[::-1].index(foot) :][:3]
        center = np.array(solution.problem.ground.foot(foot).center)
        assert np.allclose(wrench[:3], moment + np.cross(center, wrench[3:].T).T, atol=1e-9)


def test_between_the_nodes_wrenches_run_straight_and_still_balance():
    solution = crouched()
    t = solution.times(97)
    s, torques = t / solution.duration, solution.tau(t)
    assert np.abs(torques[:6]).max() <= 1e-9 * np.abs(torques).max()
    found = {
        foot: solution.trace(lambda at, foot=foot: at.reaction.force(foot), t)
        for foot in ("right", "left")
    }
    needed = solution.trace(
        lambda at: at.torques_without_ground[:3], t
    )  # x, y, z slide along the global axes
    assert np.allclose(found["right"] + found["left"], needed, atol=1e-9)
    assert not found["right"][:, s <= STRIKE + 1e-9].any()
    assert not found["left"][:, s >= LEAVE - 1e-9].any()
    double = (s > STRIKE + 1e-6) & (s < LEAVE - 1e-6)
    straight = {
        foot: np.array([np.interp(s, solution.nodes, line) for line in wrench[3:]])
        for foot, wrench in solution.wrenches().items()
    }
    rest = needed - straight["right"] - straight["left"]
    share = np.maximum(straight["right"][2], 0) / sum(
        np.maximum(force[2], 0) for force in straight.values()
    )
    assert np.allclose(
        found["right"][:, double], (straight["right"] + share * rest)[:, double], atol=1e-8
    )


def test_an_unsolved_motion_balances_between_its_nodes_too():
    solution = ocp.solve(crouch(), transcription_of(SUMS), ocp.Solver(options={"max_iter": 2}))
    torques = solution.tau(solution.times(33))
    assert not solution.success and np.abs(torques[:6]).max() <= 1e-9 * np.abs(torques).max()


def test_a_solution_on_the_ground_is_certified_by_its_own_first_order_conditions():
    certificate = ocp.verify(crouched())
    assert certificate.kkt < 1e-6 and certificate.drift < 1e-5
    assert all(
        worst.nodes < 1e-7
        for name, worst in certificate.violations.items()
        if not name.startswith("split")
    )


def test_saving_and_loading_keeps_ground_and_wrenches(tmp_path):
    solution = crouched()
    ocp.save(solution, tmp_path / "crouch.npz")
    t = solution.times(13)
    for again in (ocp.load(tmp_path / "crouch.npz", crouch()), ocp.load(tmp_path / "crouch.npz")):
        assert np.array_equal(again.nodes, solution.nodes)
        assert np.array_equal(again.lifted, solution.lifted)
        assert np.array_equal(again.tau(t), solution.tau(t)) and again.stands
        forces = [
            each.trace(lambda at: at.reaction.pressure("left"), t[:5]) for each in (again, solution)
        ]
        assert np.array_equal(*forces)
        assert all(
            np.array_equal(again.wrenches()[foot], wrench)
            for foot, wrench in solution.wrenches().items()
        )
        assert [(foot.name, foot.bears, foot.center) for foot in again.problem.ground.feet] == [
            (foot.name, foot.bears, foot.center) for foot in solution.problem.ground.feet
        ]
        assert (
            again.problem.ground.feet[0].supports[0].pins
            == solution.problem.ground.feet[0].supports[0].pins
        )
    warm = ocp.solve(
        crouch(), transcription_of(SUMS), guess=ocp.load(tmp_path / "crouch.npz", crouch())
    )
    assert warm.statistics["iterations"] <= 3
    assert warm.objective == pytest.approx(solution.objective, rel=1e-7)


def test_a_lifted_solution_starts_one_with_other_nodes():
    finer = ocp.solve(
        crouch(), ocp.Transcription(method=ocp.Spline(nodes=8)), TIGHT, guess=crouched()
    ).require(coarse=True)
    assert (
        len(finer.nodes) == 18  # 8 in each segment, and one more at a switch
        and finer.history[0].violation < 0.5
        and finer.objective == pytest.approx(crouched().objective, rel=0.2)
    )


def test_without_a_ground_there_is_no_reaction():
    with pytest.raises(ValueError, match="reaction: this problem has no ground"):
        transcribe_phase(
            replace(
                lift(points=5),
                constraints=(ocp.path("push", lambda at: at.reaction.push(), lower=0.0),),
            )
        )


def test_effort_over_named_joints_and_relative_to_limits():
    tree = biped()
    torques = np.arange(tree.dof, dtype=float)
    at = type("Instant", (), {"tau": ca.DM(torques)})
    ((_, relative),) = ocp.dynamic_effort(tree).terms
    assert np.array(relative.function(at)).ravel() == pytest.approx(
        torques[6:] / [120, 400, 120, 400]
    )
    ((_, named),) = ocp.effort(tree, joints=("hip_left",)).terms
    assert np.array(named.function(at)).ravel().tolist() == [8.0]
    with pytest.raises(ValueError, match="dynamic_effort: no joint of the tree has torque limits"):
        ocp.dynamic_effort(
            replace(tree, joints=[replace(joint, torque=np.inf) for joint in tree.joints])
        )
