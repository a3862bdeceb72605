"""Limits of rates: where there are any, what is said where there are none, how they are kept."""

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest
from bipeds import crouch
from rated_motions import limited, mass, moved

import ocp
from ocp.certificate.merged_violations import violations
from ocp.models.arms.two_link import two_link
from ocp.problems.mechanisms.four_bar_effort import problem as four_bar
from ocp.problems.mechanisms.hoist import problem as hoist
from ocp.storage.problem_data import problem_data, problem_from_data
from ocp.transcription import transcribe_phase


@pytest.mark.parametrize(
    "what, changes, words",
    [
        (
            "degree 2",
            {"motion": ocp.BSpline(points=9, degree=2)},
            "constraint 'jerk_limits': no rate is known: accelerations of a spline with degree 2",
        ),
        (
            "a knot twice",
            {"motion": ocp.BSpline(points=6, degree=3, inner=(0.5, 0.5))},
            r"accelerations of a spline with knots at \[0.5\] jump",
        ),
        (
            "hull",
            {"constraints": (ocp.path("c", lambda at: at.qddd, upper=1.0, when="hull"),)},
            "constraint 'c': how things change in time is not known here",
        ),
        (
            "both ends",
            {"constraints": (ocp.path("c", lambda a, b: a.qddd, upper=1.0, when="joined"),)},
            "constraint 'c': how things change in time is not known here",
        ),
        (
            "twice",
            {"objective": ocp.integral("snap", lambda at: at.rate(at.qddd[0]))},
            "objective 'snap': no rate is known: it contains a rate already",
        ),
    ],
)
def test_where_there_is_no_rate_it_is_said(what, changes, words):
    with pytest.raises(ValueError, match=words):
        transcribe_phase(moved(**changes))


def test_rows_with_and_without_rates_are_stated_apart():
    both = ocp.path("both", lambda at: ca.vertcat(at.q[0], at.tau_rate), lower=-50, upper=50)
    with pytest.raises(ValueError, match="constraint 'both': its rows hold at different instants"):
        transcribe_phase(moved(constraints=(both,)))


def test_rates_of_joints_that_nothing_drives_stay_out_of_the_program():
    """Those of a floating root, whose limits are met by themselves, beside driven joints'."""
    problem = crouch(motion=ocp.BSpline(points=5))
    joints = tuple(replace(one, torque_rate=1e4) for one in problem.tree.joints)
    tree = replace(problem.tree, joints=joints)
    limits = ocp.torque_rate_limits(tree)
    limited = replace(problem, tree=tree, constraints=(*problem.constraints, limits))
    solution = ocp.solve(limited).require(coarse=True)
    values = solution.multipliers["torque_rate_limits"].values
    assert values.shape[0] == tree.dof and not values[:6].any()


def test_limits_of_rates_around_a_loop():
    """Which looks at the ends of what is stated for closures that follow from it."""
    stated_one = four_bar(points=24)
    joints = tuple(
        replace(one, torque_rate=14.0, jerk=3500.0) if one.name == "crank" else one
        for one in stated_one.tree.joints
    )
    tree = replace(stated_one.tree, joints=joints)
    limits = ocp.torque_rate_limits(tree), ocp.jerk_limits(tree)
    problem = replace(stated_one, tree=tree, constraints=(*stated_one.constraints, *limits))
    missed = violations(ocp.solve(problem).require())
    for name in ("torque_rate_limits", "jerk_limits"):
        assert missed[name].nodes < 1e-6 and missed[name].relative < 0.1


def test_forces_that_jump_have_no_rates():
    cable = hoist()
    joints = tuple(replace(one, torque_rate=9.0, jerk=1e3) for one in cable.tree.joints)
    tree = replace(cable.tree, joints=joints)
    for limits, words in (
        (ocp.torque_rate_limits, "forces jump where stays cable, floor close"),
        (ocp.jerk_limits, r"accelerations of a spline with knots at \[0.7\] jump"),
    ):
        with pytest.raises(ValueError, match=f"'{limits.__name__}': no rate is known: {words}"):
            transcribe_phase(
                replace(cable, tree=tree, constraints=(*cable.constraints, limits(tree)))
            )


def test_limits_of_rates_name_what_is_wrong():
    with pytest.raises(ValueError, match="jerk_limits: no joint of the tree has jerk limits"):
        ocp.jerk_limits(two_link())
    with pytest.raises(ValueError, match="no joint of the tree has torque_rate limits"):
        ocp.torque_rate_limits(two_link())
    with pytest.raises(ValueError, match="joint 'slide': jerk limits: lower bound 2 is above"):
        ocp.prismatic("slide", jerk=(2.0, 1.0))
    wrong = ocp.Parameter("bound", 3.0, "N m/s")
    with pytest.raises(ValueError, match="joint 'slide': torque_rate limits: expected N/s, got"):
        ocp.prismatic("slide", torque_rate=wrong)
    assert ocp.torque_rate_limits(limited(torque_rate=1.0)).units == ("N m/s",) * 2
    assert ocp.jerk_limits(mass("jerk", ocp.BSpline(points=6)).tree).units == ("m/s3",)
    with pytest.raises(ValueError, match=r"jerk: tree: expected a Tree, .* as in jerk\(tree"):
        ocp.jerk(joints=["elbow"])


def test_rows_hold_from_both_sides_of_a_knot():
    """There the rate of a torque jumps by a cubic spline."""
    problem = moved(ocp.BSpline(points=6))
    instants = {
        row.name: row.s
        for row in transcribe_phase(problem).rows
        if row.name == "torque_rate_limits"
    }["torque_rate_limits"]
    for knot in (1 / 3, 2 / 3):
        near = instants[np.abs(instants - knot) < 1e-6]
        assert len(near) == 2 and near[0] < knot <= near[1]


def test_a_bound_of_jerk_may_be_open():
    """One plan finds the closed form's time for any bound."""
    stated, bound = (
        mass("jerk", ocp.BSpline(points=11)),
        ocp.Parameter("bound", 12.0, "m/s3", 1.0, 99.0),
    )
    slide = replace(stated.tree.joints[0], jerk=bound)
    tree = replace(stated.tree, joints=(slide,))
    plan = ocp.prepare(
        replace(stated, tree=tree, constraints=(*stated.constraints[:-1], ocp.jerk_limits(tree)))
    )
    for jerks in (5.0, 12.0, 40.0):
        fastest = plan.solve(bound=jerks).require().duration
        assert fastest == pytest.approx((32 * 0.6 / jerks) ** (1 / 3), rel=1e-6)


def test_a_hand_of_least_jerk_goes_straight_at_the_published_speed():
    """Its way is 10 u^3 - 15 u^4 + 6 u^5 at u = t / T, and costs 720 d^2 / T^5 (Flash & Hogan
    1985)."""
    arm, T = two_link(), 0.8
    still = {"qd": 0.0, "qdd": 0.0}
    hand = ocp.squares("hand", lambda at: at.rate(at.acceleration("tip"))[:2])
    problem = ocp.Problem(
        tree=arm,
        motion=ocp.BSpline(points=13, degree=5),
        duration=T,
        objective=hand,
        constraints=(
            ocp.at_start(arm, q=(0.3, 1.6), **still),
            ocp.at_end(arm, q=(1.0, 0.9), **still),
        ),
    )
    solution = ocp.solve(problem).require()
    t = solution.times(11)
    place = solution.trace(lambda at: at.position("tip")[:2], t)
    way, u = place[:, -1] - place[:, 0], t / T
    straight = place[:, :1] + np.outer(way, 10 * u**3 - 15 * u**4 + 6 * u**5)
    np.testing.assert_allclose(place, straight, atol=1e-4)
    assert solution.objective == pytest.approx(720 * way @ way / T**5, rel=1e-4)


def test_limits_of_rates_are_kept_in_files_and_trees_without_any_are_as_they_were():
    limited_one, plain = moved(), moved(tree=two_link(gravity=9.81), constraints=())
    kept = problem_from_data(problem_data(limited_one))
    assert kept.tree == limited_one.tree and kept.tree.joints[0].torque_rate == (-40.0, 50.0)
    assert {"jerk", "torque_rate"}.isdisjoint(problem_data(plain).data["tree"]["joints"][0])
    assert problem_from_data(problem_data(plain)).tree == plain.tree
