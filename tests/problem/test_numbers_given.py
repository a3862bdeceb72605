"""Closing: a problem with open numbers, closed with given ones, is the one stated with them."""

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest
from bipeds import biped, posture, steps

import ocp
from ocp.dynamics.formulations.newton_euler import inverse
from ocp.mechanics import Wrench, translate
from ocp.mechanics.values.parameters import evaluate, parameters_of, with_values
from ocp.models.arms.ur5_like import ur5_like
from ocp.problem import PointMass, apart, linear_split, off_box, swing_together, zmp_inside
from ocp.problem.contact.ground import slots
from ocp.problem.instant import Forces

SIZES = {
    "stride": (0.2, "m", 0.23),  # name: (own value, unit, given value)
    "grip": (0.6, "", 1.4),
    "radius": (0.05, "m", 0.08),
    "pace": (0.8, "s", 0.6),
    "carried": (3.0, "kg", 4.5),
    "weight": (0.2, "", 0.7),
}


def limited(tree, size):
    """The tree with limits of its hips that follow a number, lopsided ones of torque."""
    limits = {"torque": (-100 * size, 120.0), "position": (-2 * size, size)}
    hips = [replace(j, **limits) if j.name.startswith("hip") else j for j in tree.joints]
    return replace(tree, joints=tuple(hips))


def walker(stride, grip, radius, pace, carried, weight):
    """A problem of the biped in which six numbers are left open, or given."""
    tree, ground = limited(biped(), grip), steps(way=stride)
    feet = ("toe_left", "heel_right")
    return ocp.Problem(
        tree=tree,
        motion=ocp.BSpline(points=5),
        duration=(pace / 2, pace),
        ground=ground,
        objective=weight * ocp.dynamic_effort(tree)
        + (1 - weight) * ocp.smoothness(tree, turn=100 * grip, slide=pace)
        + ocp.mixed_criterion(weight) * grip,
        loads=(
            PointMass(point="head", mass=carried),
            ocp.Load(point="head", force=lambda t: ca.vertcat(0, carried * t, 0)),
        ),
        symmetry=ocp.periodic(tree, shift={"x": 2 * stride}, qdd=False),
        constraints=(
            ocp.joint_limits(tree),
            ocp.torque_limits(tree),
            ocp.at_end(tree, q={"z": 0.7, "y": stride}, qd={"x": stride / pace}),
            ocp.unilateral(tree, ground, least=grip / 2),
            ocp.friction(tree, ground, coefficient=grip, torsion=radius),
            ocp.pressure_inside(tree, ground),
            zmp_inside(tree, ground),
            linear_split(tree, ground),
            ocp.foot_contact(ground, position=radius / 10, velocity=2 * radius),
            swing_together("swing", ("head", "toe_left"), ("head", "toe_right"), slack=radius),
            apart("legs", [((feet[0], radius), (feet[1], 2 * radius))]),
            off_box(
                "box",
                lambda at: (ca.vertcat(stride, 0, 1), (ca.DM([0, 0, 1]), ca.DM([1, 0, 0]))),
                (radius, stride),
                dict.fromkeys(feet, radius),
            ),
            ocp.path("pull", lambda at: at.current_loads[0].force * grip, upper=carried),
        ),
        outputs={"work": lambda at: ca.dot(at.tau, at.qd) * weight},
    )


def reacher(stride, grip, radius, pace, carried, weight):
    """A problem of an arm whose target poses are open, or given."""
    arm = replace(ur5_like(), points=(ocp.Point(name="tool", link="joint5", position=(0, 0, 0.1)),))
    target = np.array(translate(0.3, 0.2, 0.3)).astype(object)
    target[:3, 3] = [0.4 + radius, stride, stride + weight / 5]
    return ocp.Problem(
        tree=arm,
        motion=ocp.BSpline(points=7),
        duration=pace,
        objective=ocp.pose_tracking(arm, "tool", target, place=radius, turn=grip) + ocp.duration(),
        constraints=(
            ocp.pose_at_end(arm, "tool", target),
            ocp.pose_along(arm, "tool", target, place=0.1 * carried, turn=grip),
        ),
    )


def instant(problem, seed):
    """A random instant of a problem, whose ground gives random wrenches."""
    rng, tree = np.random.default_rng(seed), problem.tree
    q, qd, qdd = posture(tree, rng) if problem.ground else rng.uniform(-1, 1, (3, tree.dof))
    pushes = {
        (foot, link): Wrench(
            link=link, moment=ca.DM(rng.normal(size=3)), force=ca.DM([*rng.normal(size=2), 90.0])
        )
        for foot, link in (slots(problem.ground) if problem.ground else ())
    }
    return ocp.Instant(
        tree=tree,
        s=0.4,
        T=0.5,
        q=ca.DM(q),
        qd=ca.DM(qd),
        qdd=ca.DM(qdd),
        loads=problem.loads,
        ground=problem.ground,
        forces=Forces(inverse=inverse, ground=lambda at: pushes),
    )


def numbers_of(problem, values, seed=0):
    """All numbers of a statement at random instants, of an open one with these values: {name: what
    its functions and bounds are}."""
    at, end = instant(problem, seed), instant(problem, seed + 1)
    asked = {}
    for each in problem.requirements:
        value = each.function(at, end) if each.when == "joined" else each.function(at)
        asked[each.name] = ca.vertcat(value, *np.atleast_1d(each.lower), *np.atleast_1d(each.upper))
    for number, (weight, term) in enumerate(problem.objective.terms):
        asked[f"{term.name} {number}"] = ca.vertcat(weight, term.function(at))
    asked |= {name: function(at) for name, function in problem.outputs.items()}
    asked["duration"] = ca.vertcat(*problem.duration)
    numbers = {name: evaluate(ca.SX(value), values) for name, value in asked.items()}
    return {name: np.array(value).ravel() for name, value in numbers.items()}


@pytest.mark.parametrize("build", [walker, reacher])
def test_a_closed_problem_is_the_one_that_was_stated_with_its_numbers(build):
    parameters = {name: ocp.Parameter(name, own, unit) for name, (own, unit, _) in SIZES.items()}
    given = {parameters[name]: value for name, (_, _, value) in SIZES.items()}
    open_one = build(**parameters)
    closed_one, plain = (
        with_values(open_one, given),
        build(**{each.name: given[each] for each in given}),
    )
    assert not parameters_of(closed_one)
    right = numbers_of(plain, {})
    for left in (numbers_of(closed_one, {}), numbers_of(open_one, given)):
        assert left.keys() == right.keys()
        for name in left:
            assert np.allclose(left[name], right[name], rtol=1e-12, atol=1e-12), name
    for one, other in zip(closed_one.requirements, plain.requirements):
        assert (one.when, one.labels, one.units) == (other.when, other.labels, other.units)


def test_every_parameter_of_a_problem_is_met_outside_of_functions_too():
    parameters = {name: ocp.Parameter(name, own, unit) for name, (own, unit, _) in SIZES.items()}
    assert set(parameters_of(walker(**parameters))) == set(parameters.values())


def test_targets_out_of_reach_are_refused_when_they_are_given():
    arm, far = ur5_like(), ocp.Parameter("far", 0.4, "m")
    target = np.array(translate(0.0, 0.2, 0.3)).astype(object)
    target[0, 3] = far
    aimed = ocp.pose_at_end(arm, "joint5", target, rows=("x", "y", "z"))
    assert with_values(aimed, {far: 0.5})
    with pytest.raises(ValueError, match="pose_at_end.joint5: the target lies 3.* m from joint"):
        with_values(aimed, {far: 3.0})


def test_values_that_change_which_corners_make_a_hull_are_refused_by_name():
    stride = ocp.Parameter("stride", 0.2, "m")
    shares = zmp_inside(biped(), steps(way=stride))
    assert all(with_values(each, {stride: 0.25}) for each in shares)
    with pytest.raises(ValueError, match=r"zmp.2: expected values with which the corners \(.*\) "):
        with_values(shares, {stride: 0.1})
