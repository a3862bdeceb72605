"""Balls turn by quaternions, followers by functions; kinematics knows both."""

import json
from dataclasses import replace

import casadi as ca
import numpy as np
import pytest
from mapped_trees import numbers, random_mapped_tree
from random_trees import over, random_motion

from ocp.mechanics import (
    Follows,
    Joint,
    Link,
    Point,
    Polynomial,
    Tree,
    Wrench,
    ball,
    exp_rotation,
    free,
    planar,
    polynomial,
    prismatic,
    revolute,
    rotation_from_quaternion,
    spline_through,
    universal,
)
from ocp.mechanics.kinematics import kinematics
from ocp.mechanics.kinematics.rotations import quaternion
from ocp.mechanics.model.quaternions_and_couplings import spin_matrix, spin_rate
from ocp.storage.tree_data import tree_data, tree_of


def test_a_quaternion_of_any_length_turns_as_its_rotation_does():
    turn = ca.DM([0.3, -1.1, 0.7])
    rotation = exp_rotation(turn)
    for length in (1.0, -2.5, 0.3):
        got = rotation_from_quaternion(length * quaternion(rotation))
        np.testing.assert_allclose(np.array(got), np.array(rotation), atol=1e-15)


def test_spin_is_the_angular_velocity_in_the_links_axes_and_spin_rate_its_derivative():
    p, rate, acceleration = (ca.SX.sym(name, 4) for name in ("p", "pd", "pdd"))
    turn = rotation_from_quaternion(p)
    turned = turn.T @ ca.reshape(ca.jtimes(ca.vec(turn), p, rate), 3, 3)  # R' dR/dt = [w]
    angular = ca.vertcat(turned[2, 1], turned[0, 2], turned[1, 0])
    second = ca.jtimes(angular, p, rate) + ca.jtimes(angular, rate, acceleration)
    symbols = ca.vertcat(p, rate, acceleration)
    values = ca.DM(np.random.default_rng(0).uniform(-1, 1, 12))
    for got, right in (
        (spin_matrix(p) @ rate, angular),
        (spin_rate(p, rate, acceleration), second),
    ):
        np.testing.assert_allclose(numbers(got - right, symbols, values), 0, atol=1e-13)


@over(range(6))
def test_velocities_accelerations_and_jacobians_are_derivatives_of_places(seed):
    rng = np.random.default_rng(seed)
    tree = random_mapped_tree(rng, 5)
    values = ca.DM(random_motion(rng, tree).ravel())
    q, qd, qdd = motion = [ca.SX.sym(name, tree.dof) for name in ("q", "qd", "qdd")]
    symbols, point = ca.vertcat(*motion), tree.points[-1].name
    place = kinematics.position(tree, q, point)
    rate = ca.jtimes(place, q, qd)
    second = ca.jtimes(rate, q, qd) + ca.jtimes(rate, qd, qdd)
    slope = kinematics.jacobian(tree, q, point)
    move = kinematics.point_motion(tree, kinematics.motions(tree, q, qd), point)
    for wrong in (
        kinematics.velocity(tree, q, qd, point) - rate,
        kinematics.acceleration(tree, q, qd, qdd, point) - second,
        slope[3:, :] - ca.jacobian(place, q),
        slope[:3, :] @ qd - move.angular,
    ):
        np.testing.assert_allclose(numbers(wrong, symbols, values), 0, atol=1e-11)


@over(range(4))
def test_generalized_forces_of_a_wrench_are_its_power_by_rates(seed):
    rng = np.random.default_rng(seed)
    tree = random_mapped_tree(rng, 5)
    q, point = ca.DM(random_motion(rng, tree)[0]), tree.points[-1]
    moment, force = ca.DM(rng.standard_normal(3)), ca.DM(rng.standard_normal(3))
    wrench = Wrench(link=point.link, moment=moment, force=force)
    given = kinematics.wrench_torques(tree, kinematics.motions(tree, q), wrench)
    slope, place = kinematics.jacobian(tree, q, point), kinematics.position(tree, q, point)
    about = moment - ca.cross(place, force)
    right = slope.T @ ca.vertcat(about, force)
    np.testing.assert_allclose(np.array(given), np.array(right), atol=1e-12)


def test_orientation_is_a_balls_own_quaternion_and_changes_sign_with_it():
    tree = Tree(links=(Link(mass=1.0),), joints=(ball("body"),))
    p = np.array([0.5, -0.1, 0.7, 0.2])
    for sign in (1.0, -1.0):
        got = kinematics.orientation(tree, ca.DM(sign * p), "body")
        np.testing.assert_allclose(np.array(got).ravel(), sign * p / np.linalg.norm(p), atol=1e-15)


def test_rows_of_joints_have_the_names_that_are_told():
    def named(joints):
        links = (*(Link() for _ in joints[1:]), Link(mass=1.0))
        return [joint.name for joint in Tree(links=links, joints=joints).moving]

    assert named(free("a")) == ["a_x", "a_y", "a_z", "a.w", "a.x", "a.y", "a.z"]
    assert named(planar("a")) == ["a_x", "a_y", "a"]
    assert named(universal("a")) == ["a_1", "a"]
    assert not any(joint.actuated for joint in (*free("a"), *planar("a")))
    assert all(joint.actuated for joint in universal("a"))


def test_a_universal_joint_turns_about_two_axes_and_a_planar_one_moves_in_its_plane():
    tree = Tree(links=(Link(), Link(mass=1.0)), joints=universal("a", home=(0, 0, 1)))
    turn = np.array(kinematics.poses(tree, ca.DM([0.3, 0.5]))[1])
    right = exp_rotation([0.3, 0, 0]) @ exp_rotation([0, 0.5, 0])
    np.testing.assert_allclose(turn[:3, :3], np.array(right), atol=1e-15)
    flat = Tree(links=(Link(), Link(), Link(mass=1.0)), joints=planar("a"))
    pose = np.array(kinematics.poses(flat, ca.DM([1.0, 2.0, 0.5]))[2])
    np.testing.assert_allclose(pose[:3, 3], (1, 2, 0))
    np.testing.assert_allclose(pose[:3, :3], np.array(exp_rotation([0, 0, 0.5])), atol=1e-15)


def test_a_follower_has_no_coordinate_and_moves_by_another():
    crank = revolute("crank")
    slide = prismatic("slide", "crank", axis=(1, 0, 0), follows=polynomial("crank", 0.1, 2.0, 3.0))
    tree = Tree(links=(Link(mass=1.0), Link(mass=1.0)), joints=(crank, slide))
    assert tree.dof == 1 and tree.spans == ((0,), (0,)) and tree.rows == (0, None)
    place = np.array(kinematics.poses(tree, ca.DM([0.5]))[1])[:3, 3]
    way = 0.1 + 2.0 * 0.5 + 3.0 * 0.25
    np.testing.assert_allclose(place, (way * np.cos(0.5), way * np.sin(0.5), 0), atol=1e-15)


def test_a_joint_may_follow_its_own_coordinate_by_any_function():
    bend = revolute("bend", follows=Follows(coordinate="bend", function=ca.sin))
    tree = Tree(
        links=(Link(mass=1.0),),
        joints=(bend,),
        points=(Point(name="tip", link="bend", position=(1.0, 0.0, 0.0)),),
    )
    assert [joint.name for joint in tree.moving] == ["bend"]
    place = np.array(kinematics.position(tree, ca.DM([0.7]), "tip")).ravel()
    np.testing.assert_allclose(place, (np.cos(np.sin(0.7)), np.sin(np.sin(0.7)), 0), atol=1e-15)


@pytest.mark.parametrize(
    "joints, words",
    [
        (lambda: (Joint(name="a", ball=True, screw=(0, 0, 1, 0, 0, 0)),), "ball has no screw"),
        (lambda: (Joint(name="a", ball=True, torque=3.0),), "torque limits: it takes none"),
        (lambda: (Joint(name="a", follows=polynomial("b", 1.0)),), "is fixed, and cannot follow"),
        (lambda: (revolute("a", follows="b"),), "expected a Follows record"),
        (lambda: (revolute("a", follows=polynomial("b", 1.0)),), "follows unknown coordinate 'b'"),
        (
            lambda: (ball("b"), revolute("a", "b", follows=polynomial("b.w", 0.0, 1.0))),
            "component of a ball",
        ),
        (
            lambda: (
                revolute("b"),
                revolute("a", "b", follows=polynomial("b", 0.0, 1.0), position=1),
            ),
            "they belong to 'b'",
        ),
        (lambda: Polynomial(()), "polynomial: expected finite numbers"),
        (lambda: Follows(coordinate="b", function=3.0), "follows 'b': expected a function"),
        (
            lambda: Follows(coordinate="b", function=lambda x: 1.0 if x > 0 else 0.0),
            "follows 'b': function: fails where it is handed .* Cannot compute the truth value",
        ),
        (
            lambda: Follows(coordinate="b", function=lambda x: (x, x)),
            "follows 'b': function: expected 1 values, got 2",
        ),
        (
            lambda: (revolute("b", follows=polynomial("b", 1.0)),),
            "joint 'b': follows its own coordinate by a constant, and never moves",
        ),
    ],
)
def test_what_cannot_be_is_refused_by_name(joints, words):
    with pytest.raises(ValueError, match=words):
        Tree(links=[Link(mass=1.0) for _ in joints()], joints=joints())


def test_a_ball_has_four_coordinates_and_says_so():
    tree = Tree(links=(Link(mass=1.0),), joints=(ball("hip"),))
    assert tree.coordinate("hip.y") == 2
    with pytest.raises(ValueError, match=r"ball, whose coordinates are hip\.w, hip\.x"):
        tree.coordinate("hip")


def test_a_curve_goes_through_its_points_and_straight_beyond():
    function = spline_through("knee", (-2.0, -1.0, 0.0), (-0.6, -0.1, 0.2)).function
    got = [float(function(x)) for x in (-2.0, -1.0, 0.0, 1.0, 2.0)]
    np.testing.assert_allclose(got[:3], (-0.6, -0.1, 0.2), atol=1e-15)
    assert got[4] - got[3] == pytest.approx(got[3] - got[2])
    with pytest.raises(ValueError, match="follows 'knee': places: expected two or more that incr"):
        spline_through("knee", (0.0, 0.0), (1.0, 2.0))


def test_trees_as_data_keep_balls_and_curves_and_refuse_functions_of_ones_own():
    curve = spline_through("knee", (-2.0, -1.0, 0.0), (-0.6, -0.1, 0.2))
    joints = (
        ball("hip"),
        revolute("knee", "hip"),
        prismatic("roll", "knee", follows=curve),
        prismatic("slide", "roll", follows=polynomial("knee", 0.0, 1.0, 2.0)),
    )
    tree = Tree(links=[Link(mass=1.0) for _ in joints], joints=joints)
    data = json.loads(json.dumps(tree_data(tree, kept=None)))
    assert tree_of(data, tape_of=None) == tree
    own = replace(joints[2], follows=Follows(coordinate="knee", function=ca.sin))
    with pytest.raises(ValueError, match="joint 'roll': follows 'knee' by a function of one's own"):
        tree_data(replace(tree, joints=(*joints[:2], own, joints[3])), kept=None)


def test_places_of_balls_and_followers_are_the_same_in_matrix_expressions():
    tree = random_mapped_tree(np.random.default_rng(2), 5)
    q, point = ca.MX.sym("q", tree.dof), tree.points[-1].name
    here = np.linspace(0.2, 1.0, tree.dof)
    parts = [kinematics.position(tree, q, point), kinematics.jacobian(tree, q, point)]
    right = [kinematics.position(tree, ca.DM(here), point)]
    right.append(kinematics.jacobian(tree, ca.DM(here), point))
    for one, other in zip(ca.Function("places", [q], parts)(here), right):
        np.testing.assert_allclose(np.array(one), np.array(other), atol=1e-14)
