"""Poses as targets: reached at and near half turns from the default guess, kept to and followed;
what cannot be reached is named."""

from dataclasses import replace
from math import pi

import casadi as ca
import numpy as np
import pytest
from refusals import refused

import ocp
from ocp.mechanics import (
    exp_rotation,
    interpolate_pose,
    log_pose,
    motions,
    orientation,
    quaternion,
    relative_pose,
    translate,
)
from ocp.mechanics.kinematics import kinematics
from ocp.models.arms.flexible_arm import flexible_arm
from ocp.models.arms.two_link import two_link
from ocp.models.arms.ur5_like import ur5_like
from ocp.problem.constraints.poses import pose_error
from ocp.problems.benchmarks import reached_poses

ARM = replace(ur5_like(), points=(ocp.Point(name="tool", link="joint5", position=(0, 0, 0.1)),))
HOME = np.array([0.0, -1.2, 1.5, -0.4, 1.5, 0.0])  # rad
SHIFT = np.array([0.2, -0.1, 0.1])  # m
AXIS = np.array([0.48, -0.6, 0.64])


def tool(q):
    """Pose (4x4) of the tool at q."""
    moves = motions(ARM, ca.DM(q))
    return np.array(kinematics.point_motion(ARM, moves, "tool").pose)


def turned(angle, axis=AXIS, shift=SHIFT):
    """Pose of the tool at HOME, shifted (m), then turned about an axis of its own (rad)."""
    pose = tool(HOME)
    pose[:3, 3] += shift
    pose[:3, :3] = pose[:3, :3] @ np.array(exp_rotation(np.array(axis) * angle))
    return pose


def reaching(*constraints, objective=None, points=10):
    """A motion of the arm from HOME, at rest."""
    return ocp.Problem(
        tree=ARM,
        motion=ocp.BSpline(points=points),
        duration=1.0,
        objective=ocp.smoothness(ARM) if objective is None else objective,
        constraints=(ocp.at_start(ARM, q=HOME, qd=0.0), *constraints),
    )


def missed(solution, target, t=1.0):
    """Twist by which the tool is off a target, its largest entry (m, rad)."""
    return np.abs(np.array(log_pose(relative_pose(target, tool(solution.q(t).ravel()))))).max()


@pytest.mark.parametrize("angle", [pi - 1e-6, pi + 1e-9, 3.3])
def test_a_pose_is_reached_from_the_default_guess(angle):
    target = turned(angle)
    problem = reaching(ocp.at_end(ARM, qd=0.0), ocp.pose_at_end(ARM, "tool", target), points=8)
    assert missed(ocp.solve(problem).require(), target) < 1e-8


@pytest.fixture(scope="module")
def flipped():
    """A motion that ends half a turn from its start."""
    return ocp.solve(
        reaching(ocp.pose_at_end(ARM, "tool", turned(pi)), objective=ocp.effort())
    ).require(coarse=True)


def test_half_a_turn_is_reached_and_certified(flipped):
    assert missed(flipped, turned(pi)) < 1e-8
    assert ocp.verify(flipped).violations["pose_at_end.tool"].dense < 1e-8


@pytest.mark.parametrize("axis", np.eye(3)[1:2], ids="y")
def test_half_turns_about_the_axes_are_reached(axis):
    target = turned(pi, axis, (0.3, -0.1, 0.1))
    assert (
        missed(
            ocp.solve(reaching(ocp.pose_at_end(ARM, "tool", target), points=6)).require(), target
        )
        < 1e-8
    )


def test_a_file_keeps_a_pose_as_data(flipped, tmp_path):
    ocp.save(flipped, tmp_path / "reach.npz")
    again = ocp.load(tmp_path / "reach.npz")
    assert ocp.verify(again).violations["pose_at_end.tool"].dense < 1e-8


def test_a_motion_may_begin_at_a_pose():
    target = turned(0.4)
    ends = ocp.pose_at_start(ARM, "tool", target), ocp.at_end(ARM, q=HOME, qd=0.0)
    problem = reaching(*ends, objective=ocp.effort())
    solution = ocp.solve(replace(problem, constraints=problem.constraints[2:])).require()
    assert missed(solution, target, 0.0) < 1e-8


def test_the_error_of_a_pose_has_full_rank_and_no_jump_around_half_turns():
    """Along a turn that passes half a turn off the target, by the arm's last joint."""
    q = ca.SX.sym("q", 6)
    pose = kinematics.point_motion(ARM, motions(ARM, q), "tool").pose
    target, home = ca.DM(turned(pi, (0, 0, 1))), orientation(ARM, ca.DM(HOME), "tool")
    error = pose_error(pose, orientation(ARM, q, "tool"), target, home)
    look = ca.Function("look", [q], [error, ca.jacobian(error, q)])
    before = None
    for angle in np.linspace(-0.3, 0.3, 61):
        value, slope = map(np.array, look(HOME + (0.0, 0.1, 0.0, 0.0, 0.0, angle)))
        assert np.linalg.svd(slope)[1][-1] > 0.02
        assert before is None or np.abs(value - before).max() < 0.05
        before = value


def test_within_reach_of_the_target_either_way_round_counts():
    """A full turn too far is no error."""
    far = HOME + (0, 0, 0, 0, 0, 2 * pi)
    unit, origin = orientation(ARM, ca.DM(far), "tool"), orientation(ARM, ca.DM(HOME), "tool")
    assert float(ca.dot(unit, origin)) == pytest.approx(-1.0)
    error = pose_error(ca.DM(tool(far)), unit, ca.DM(tool(HOME)), origin)
    assert np.abs(np.array(error)).max() < 1e-14


def test_the_orientation_of_a_chain_is_that_of_its_pose():
    rng = np.random.default_rng(0)
    for q in rng.uniform(-pi, pi, (20, 6)):
        unit = np.array(orientation(ARM, ca.DM(q), "tool")).ravel()
        expected = np.array(quaternion(tool(q)[:3, :3])).ravel()
        np.testing.assert_allclose(unit * np.sign(unit @ expected), expected, rtol=0, atol=1e-14)


def test_a_point_and_a_link_have_poses(flipped):
    def pose_at_the_end(name):
        column = flipped.trace(lambda at: ca.vec(at.pose(name)), [1.0])
        return column.reshape((4, 4), order="F")

    point, link = pose_at_the_end("tool"), pose_at_the_end("joint5")
    np.testing.assert_allclose(point, link @ translate(0, 0, 0.1), rtol=0, atol=1e-14)
    np.testing.assert_allclose(point, tool(flipped.q(1.0).ravel()), rtol=0, atol=1e-14)


def test_a_link_may_be_asked_for_by_its_name():
    target = turned(0.3)
    solution = ocp.solve(reaching(ocp.pose_at_end(ARM, "joint5", target), points=6)).require()
    expected = target @ translate(0, 0, 0.1)
    assert missed(solution, expected) < 1e-8


def test_a_screw_motion_is_kept_to_within_tolerances_and_followed():
    first, last = tool(HOME), turned(1.0)

    def straight(at):
        return interpolate_pose(first, last, at.s**2 * (3 - 2 * at.s))

    kept = ocp.solve(
        reaching(
            ocp.pose_along(ARM, "tool", straight, place=2e-3, turn=5e-3),
            objective=ocp.smoothness(ARM),
        )
    ).require()
    followed = ocp.solve(
        reaching(objective=ocp.pose_tracking(ARM, "tool", straight) + 1e-8 * ocp.smoothness(ARM))
    ).require()
    for solution, bound in ((kept, 5.1e-3), (followed, 2e-2)):
        for s in (0.3, 0.7, 1.0):
            target = interpolate_pose(first, last, s**2 * (3 - 2 * s))
            assert missed(solution, np.array(target), s) < bound


def test_rows_that_no_joint_moves_are_left_out_or_named():
    arm = two_link()
    reached = np.array(kinematics.point_motion(arm, motions(arm, ca.DM([0.3, 0.5])), "tip").pose)
    place = ocp.pose_at_end(arm, "tip", reached, rows=("x", "y", "z", "about x"))
    assert (place.labels, place.units) == (("x", "y"), ("m", "m"))
    with refused(
        "pose_at_end.tip: z: the target is 0.01 m away in a direction in which no joint moves the "
        "point"
    ):
        ocp.pose_at_end(arm, "tip", translate(-0.05, 0, 0.01) @ reached, rows=("x", "y", "z"))
    with refused(
        "pose_at_end.tip: the joints move the point in 2 independent ways, which cannot meet 3 "
        "rows: x, y, about z; name 2 of them in rows"
    ):
        ocp.pose_at_end(arm, "tip", reached)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (
            lambda: ocp.pose_at_end(ARM, "tool", turned(0.0, shift=(3.0, 0.0, 0.0))),
            "pose_at_end.tool: the target lies 2.293 m from joint 'joint0', and 'tool' is never "
            "more than 1.109 m from it",
        ),
        (
            lambda: ocp.pose_at_end(ARM, "tool", 2 * np.eye(4)),
            "pose_at_end.tool: target: expected a rigid pose",
        ),
        (
            lambda: ocp.pose_tracking(ARM, "tool", np.eye(3)),
            "pose_tracking.tool: target: expected shape (4, 4), got (3, 3)",
        ),
        (
            lambda: ocp.pose_at_end(flexible_arm(), "tip", np.eye(4)),
            "pose_at_end.tip: link 'shoulder' is flexible; poses are prescribed of rigid trees",
        ),
        (
            lambda: ocp.pose_at_end("arm", "tip", np.eye(4)),
            "pose_at_end.tip: tree: expected Tree, got str 'arm'",
        ),
        (
            lambda: ocp.pose_at_start(ARM, "hand", np.eye(4)),
            "unknown point 'hand'; the points are tool",
        ),
        (
            lambda: ocp.pose_at_end(ARM, "tool", turned(0.0), rows=("x", "roll")),
            "pose_at_end.tool: rows: expected some of x, y, z, about x, about y, about z, got "
            "('x', 'roll')",
        ),
        (
            lambda: ocp.pose_along(ARM, "tool", turned(0.0), place=-1.0),
            "pose_along.tool: place: expected a number of at least 0, got -1",
        ),
    ],
)
def test_wrong_targets_are_refused(build, message):
    with refused(message):
        build()


@pytest.mark.parametrize(
    ("target", "message"),
    [
        (lambda at: np.eye(3), "pose_at_end.tool: target: expected shape (4, 4), got (3, 3)"),
        (lambda at: ca.SX.eye(4)[:3, :] * at.s, "pose_at_end.tool: target: expected shape (4, 4)"),
        (lambda at: 2 * ca.SX.eye(4), "pose_at_end.tool: target: expected a rigid pose"),
    ],
)
def test_what_a_targets_function_gives_is_refused_unless_a_pose(target, message):
    with refused(message):
        ocp.solve(reaching(ocp.pose_at_end(ARM, "tool", target), points=4))


def test_a_target_between_reach_and_bound_is_explained_by_name():
    target = turned(0.0, shift=(0.0, 0.0, 0.0))
    target[:3, 3] = 0.97, 0.0, 0.2
    solution = ocp.solve(reaching(ocp.pose_at_end(ARM, "tool", target), points=4))
    assert not solution.success
    assert any(
        "pose_at_end.tool (" in line and line.endswith("at t = 1 s")
        for line in solution.explanation
    )


def test_the_comparison_of_errors_draws_what_can_be_reached_and_counts():
    start, target = next(reached_poses.cases(1, 0))
    assert (
        np.linalg.norm(np.array(log_pose(relative_pose(reached_poses.tip(start), target)))[:3])
        > pi - 0.06
    )
    assert reached_poses.has_posture(target, np.random.default_rng(1))
    far = translate(3.0, 0.0, 0.0) @ target
    assert not reached_poses.has_posture(far, np.random.default_rng(1), tries=1)
    line = reached_poses.row("error", [(True, 10, 2.0), (False, 99, 0.0), (True, 20, 4.0)])
    assert line == ("error", "2 of 3", "15", "3")
