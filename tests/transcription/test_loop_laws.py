"""Closed loops in the optimiser: one optimum by every way, gaps between the instants, no rows that
say nothing new, pins by other means."""

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest
from turning_crank import CASES, TREE, WAY, WAYS, equalities, gap_of, solved, turning

import ocp
from ocp.dynamics import FORMULATIONS
from ocp.dynamics.closed_loops import inverse
from ocp.mechanics.kinematics import loop_assembly
from ocp.transcription import transcription_of


@pytest.mark.parametrize(("way", "ends"), CASES)
def test_every_transcription_finds_the_same_optimum(way, ends):
    assert solved(way, ends).objective == pytest.approx(
        solved("explicit", "all", 60).objective, rel=1e-3
    )


def test_integrated_loops_find_the_same_optimum():
    solution = ocp.solve(
        turning(points=16), ocp.Transcription(method=ocp.Integrated()), guess=solved("explicit")
    ).require()
    assert solution.objective == pytest.approx(solved("explicit", "all", 60).objective, rel=2e-3)
    assert gap_of(solution) < 1e-3
    assert np.abs(solution.q(0.5) - WAY[:, -1]).max() < 1e-3


def test_the_gap_of_an_optimal_motion_stays_below_a_micrometre():
    assert gap_of(solved("explicit", "all", 60)) < 1e-6
    assert (
        gap_of(ocp.solve(turning(), ocp.Transcription(method=ocp.Radau(intervals=25, order=4))))
        < 1e-6
    )


def test_an_optimal_motion_carries_its_certificate():
    found = ocp.verify(solved("explicit", "all", 60)).require(1e-5)
    assert found.violations["loops"].dense < 1e-6
    ocp.verify(ocp.solve(turning(), ocp.Transcription(dynamics="lie_group"))).require(1e-3)


def test_the_certificate_sees_a_gap():
    solution = solved("explicit", "all", 60)
    points = solution.points.copy()
    points[1, 30] += 1e-3
    assert ocp.verify(replace(solution, points=points)).violations["loops"].dense > 1e-5


@pytest.mark.parametrize(("way", "ends"), CASES)
def test_no_equality_that_follows_from_others_reaches_the_solver(way, ends):
    solution = solved(way, ends)
    slopes = equalities(turning(ends), transcription_of(WAYS[way]), solution)
    assert slopes.shape[0] <= slopes.shape[1]
    assert np.linalg.svd(slopes, compute_uv=False)[-1] > 1e-6


@pytest.mark.parametrize("accelerations", [False, True])
def test_nor_does_one_of_a_motion_that_repeats_itself(accelerations):
    tree = TREE
    around = {"crank": 2 * np.pi, "coupler": -2 * np.pi}
    problem = ocp.Problem(
        tree=tree,
        motion=ocp.BSpline(points=80, degree=5),
        duration=1.0,
        objective=ocp.effort(tree, ("crank",)),
        constraints=(ocp.at_start(tree, q={"crank": 0.0}),),
        symmetry=ocp.periodic(tree, shift=around, qdd=accelerations),
    )
    full = loop_assembly.close_coordinates(
        tree, np.vstack([np.linspace(0, 2 * np.pi, 31), np.ones(31), 2 * np.ones(31)]), ["crank"]
    )
    solution = ocp.solve(problem, guess=ocp.Guess(q=full)).require()
    slopes = equalities(problem, ocp.Transcription(), solution)
    assert np.linalg.svd(slopes, compute_uv=False)[-1] > 1e-3
    ends = solution.trace(lambda at: ca.vertcat(at.qd, at.qdd), np.array([0.0, 1.0]))
    assert np.allclose(*ends[: 3 * (1 + accelerations)].T, atol=1e-6)
    assert gap_of(solution) < 1e-4


def test_prescribed_accelerations_leave_room_for_the_loops():
    tree = TREE
    problem = turning(points=20)
    problem = replace(
        problem,
        constraints=(*problem.constraints, ocp.at_start(tree, qdd=0.0), ocp.at_end(tree, qdd=0.0)),
    )
    slopes = equalities(problem, ocp.Transcription(), ocp.solve(problem).require())
    assert np.linalg.svd(slopes, compute_uv=False)[-1] > 1e-3


@pytest.mark.parametrize(
    "name",
    [
        name
        for name, method in FORMULATIONS.items()
        if not method.flexible and name != "configuration_space"
    ],
)
def test_every_formulation_finds_the_same_optimum(name):
    derivatives = "ad" if name != "newton_euler" else "recursive"
    solution = ocp.solve(
        turning(points=12), ocp.Transcription(dynamics=name, derivatives=derivatives)
    ).require()
    assert solution.objective == pytest.approx(solved("explicit", "all", 12).objective, rel=1e-9)


def test_torque_and_pin_forces_along_the_motion_are_those_of_inverse_dynamics():
    for way in ("explicit", "radau"):
        solution = solved(way)
        for t in (0.1, 0.3):
            q, qd, qdd = (
                loop_assembly.close_coordinates(TREE, solution.q(t)),
                solution.qd(t),
                solution.qdd(t),
            )
            qd = loop_assembly.close_rates(TREE, q, qd)
            torque, pins = inverse(TREE, q, qd, loop_assembly.close_accelerations(TREE, q, qd, qdd))
            assert np.allclose(
                solution.tau(t), np.array(torque).ravel(), atol=2e-2 * np.abs(solution.tau(t)).max()
            )
            assert np.allclose(
                solution.loop_forces(t), np.array(pins).ravel(), rtol=2e-2, atol=2e-2
            )


def test_reactions_know_the_pin_forces():
    """The rocker's own law: forces of its pivot, of the pin and of gravity accelerate its centre of
    mass."""
    solution, t = solved("explicit", "all", 60), 0.2
    _, force = solution.reactions(t)
    rocker = TREE.link_index("rocker")
    turn = (
        solution.trace(
            lambda at: ca.vertcat(ca.vec(at.frames[rocker][:3, :3]), at.frames[rocker][:3, 3]), t
        )[:9]
        .reshape(3, 3)
        .T
    )
    com = 0.1
    angle, rate, speedup = solution.q(t)[2], solution.qd(t)[2], solution.qdd(t)[2]
    along = np.array([np.cos(angle), np.sin(angle), 0.0])
    across = np.array([-np.sin(angle), np.cos(angle), 0.0])
    acceleration = com * (speedup * across - rate**2 * along)
    given = (
        turn @ force[:, rocker]
        + np.append(solution.loop_forces(t), 0.0)
        + TREE.links[rocker].mass * np.array(TREE.gravity)
    )
    assert np.allclose(given, TREE.links[rocker].mass * acceleration, atol=1e-9)


def test_drives_that_can_work_against_each_other_share_the_load():
    """Crank and rocker driven: the optimum with both costs less than with either's torque kept at
    zero."""
    joints = tuple(replace(joint, actuated=joint.name != "coupler") for joint in TREE.joints)
    tree = replace(TREE, joints=joints)
    both = replace(turning(tree=tree), objective=ocp.effort(tree, ("crank", "rocker")))
    solution = ocp.solve(both).require()
    assert solution.nodes.size and solution.objective < 0.9 * solved("variables").objective
    assert gap_of(solution) < 1e-4
    ocp.verify(solution).require(1e-2)
    slopes = equalities(both, ocp.Transcription(), solution)
    assert np.linalg.svd(slopes, compute_uv=False)[-1] > 1e-6
    meshed = ocp.solve(both, ocp.Transcription(method=ocp.Radau(intervals=10, order=4))).require()
    assert meshed.objective == pytest.approx(solution.objective, rel=5e-3)
    with pytest.raises(
        ValueError,
        match="torques 'explicit': around loops pin the drives can work against each other",
    ):
        ocp.solve(both, ocp.Transcription(method=ocp.Spline(torques="explicit")))


def test_a_pendulum_on_the_coupler_swings_by_itself():
    """One passive joint more than the loop holds: its lack of torque is a law of its own."""
    links = (*TREE.links, ocp.Link(mass=0.2, com=(0.1, 0, 0), inertia=np.diag((0.0, 1e-3, 1e-3))))
    joints = (*TREE.joints, ocp.revolute("pendulum", "coupler", home=(0.13, 0, 0), actuated=False))
    tree = replace(TREE, links=links, joints=joints)
    ends = (np.append(WAY[:, k], -np.pi / 2 - WAY[:2, k].sum()) for k in (0, -1))
    problem = ocp.Problem(
        tree=tree,
        motion=ocp.BSpline(points=36, degree=5),
        duration=0.8,
        objective=ocp.effort(tree, ("crank",)),
        constraints=[at(tree, q=q, qd=0.0) for at, q in zip((ocp.at_start, ocp.at_end), ends)],
    )
    solution = ocp.solve(problem).require(coarse=True)
    hanging = ocp.solve(
        problem, ocp.Transcription(method=ocp.Radau(intervals=40, order=4)), guess=solution
    ).require()
    assert hanging.objective == pytest.approx(solution.objective, rel=1e-3)
    assert np.abs(solution.trace(lambda at: at.required_torques, solution.times())[1:]).max() < 1e-2
    ocp.verify(hanging).require(1e-2)
    with pytest.raises(
        ValueError, match="torques 'variables': loops pin leave 1 passive joints free"
    ):
        ocp.solve(problem, ocp.Transcription(method=ocp.Spline(torques="variables")))
