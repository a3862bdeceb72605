"""Motions planned again and again while the mechanism moves."""

from dataclasses import replace
from math import pi

import numpy as np
import pytest

import ocp
from ocp.models.arms.two_link import two_link
from ocp.models.swing_ups.cart_pole import cart_pole
from ocp.mpc import simulated_plant
from ocp.mpc.end_distances import end_distances
from ocp.mpc.receding_horizon import SAMPLES, command_torques
from ocp.mpc.shifted_guess import shift_solution

REST = ((0.0, -2.0), (0.0, 0.0))
PUSH = np.array([0.0, 0.0, 1.5, 4.5])  # m/s and rad/s of the cart and of its pole


def open_start(tree, q):
    """The initial state as parameters, at rest at q unless it is given."""
    names = [joint.name for joint in tree.moving]
    places = [ocp.Parameter(name, value) for name, value in zip(names, q)]
    rates = [ocp.Parameter(f"{name}_rate", 0.0) for name in names]
    return ocp.at_start(tree, q=places, qd=rates)


def reaching(seconds=1.0, objective=ocp.effort):
    """A two-link arm that comes to rest at a goal left open, in a time that may be a parameter."""
    arm = two_link(torque=10.0)
    goal = [ocp.Parameter("goal_shoulder", 1.0, "rad"), ocp.Parameter("goal_elbow", -1.0, "rad")]
    return ocp.Problem(
        tree=arm,
        motion=ocp.BSpline(points=12, degree=5),
        duration=seconds,
        objective=objective(),
        constraints=(
            open_start(arm, REST[0]),
            ocp.at_end(arm, q=goal, qd=0.0),
            ocp.torque_limits(arm),
        ),
    )


def balancing():
    """A cart that stands upright at the origin two seconds from now."""
    cart = cart_pole()
    return ocp.Problem(
        tree=cart,
        motion=ocp.BSpline(points=24, degree=5),
        duration=2.0,
        objective=ocp.effort(cart, ("cart",)),
        constraints=(
            open_start(cart, (0.0, pi)),
            ocp.at_end(cart, q=(0.0, pi), qd=0.0),
            ocp.torque_limits(cart),
        ),
    )


@pytest.fixture(scope="module")
def arm():
    return ocp.prepare(reaching())


@pytest.fixture(scope="module")
def left():
    """The arm, whose duration is what is left of it."""
    return ocp.prepare(reaching(ocp.Parameter("left", 1.0, "s", lower=0.3)))


@pytest.fixture(scope="module")
def quick():
    """The arm in minimum time."""
    return ocp.prepare(reaching((0.1, 5.0), ocp.duration))


@pytest.fixture(scope="module")
def cart():
    return ocp.prepare(balancing())


def pushed(plan, period):
    """The plant of a plan, pushed as the first period ends."""
    undisturbed = simulated_plant(plan.problem, period)

    def plant(t, state, torques):
        states = undisturbed(t, state, torques)
        states[:, -1] += PUSH * (t == 0)
        return states

    return plant


def test_the_rest_of_a_motion_is_that_motion_later(quick):
    whole = quick.solve().require(coarse=True)
    rest = shift_solution(whole, 0.15)
    assert rest.duration == pytest.approx(whole.duration - 0.15)
    t = rest.times(41)
    np.testing.assert_allclose(rest.q(t), whole.q(t + 0.15), rtol=0, atol=2e-3)
    bound = whole.multipliers["torque_limits"]
    later = rest.multipliers["torque_limits"]
    at = (0.15 + bound.s * rest.duration) / whole.duration
    for before, now in zip(bound.values, later.values):
        np.testing.assert_allclose(now, np.interp(at, bound.s, before), rtol=0, atol=1e-12)
        assert np.abs(now - before).max() > 0.1 * np.abs(before).max()


def test_a_motion_of_given_duration_stays_at_its_end(arm):
    whole = arm.solve().require()
    rest = shift_solution(whole, 0.5)
    assert rest.duration == whole.duration
    t = np.array([0.0, 0.2, 0.4])
    np.testing.assert_allclose(rest.q(t), whole.q(t + 0.5), rtol=0, atol=2e-2)
    np.testing.assert_allclose(rest.q([0.7, 1.0]).T, [whole.q(1.0)] * 2, rtol=0, atol=2e-2)


def test_undisturbed_a_plan_made_anew_is_the_rest_of_the_one_before(quick):
    done = ocp.track(quick, REST, period=0.05, periods=4)
    ends = [turn.t + turn.solution.duration for turn in done.replans]
    assert min(ends) > 0.3918 and max(ends) < ends[0] + 2e-3  # s, where 0.39185 is the optimum
    assert done.dropped_plans == 0 and len(done.t) == 4 * (SAMPLES - 1) + 1
    whole, early = done.replans[0].solution, done.t[done.t <= 0.05]
    np.testing.assert_allclose(done.q[:, : len(early)], whole.q(early), rtol=0, atol=1e-3)


def test_an_arm_follows_a_goal_that_moves(arm):
    def goals(t):
        return {"goal_shoulder": 1.0 if t < 0.3 else 0.5}

    done = ocp.track(arm, REST, period=0.1, periods=18, goals=goals)
    np.testing.assert_allclose(done.q[:, -1], (0.5, -1.0), rtol=0, atol=0.03)
    assert np.abs(done.tau).max() <= 10.0 * (1 + 1e-2)  # N m, between the nodes too


def test_torques_told_are_those_of_the_solution(arm, left):
    for plan in (arm, left):
        solution = plan.solve(goal_elbow=-0.5).require()
        t = np.linspace(0.0, 1.2, 7)
        expected = solution.tau(np.minimum(t, 1.0))
        np.testing.assert_allclose(command_torques(plan)(solution, t), expected, rtol=0, atol=1e-10)


def test_a_horizon_that_shrinks_ends_where_the_first_plan_would_have(left):
    done = ocp.track(left, REST, period=0.1, periods=14, horizon="shrinking")
    lengths = [turn.solution.duration for turn in done.replans]
    assert lengths == pytest.approx([*np.arange(1.0, 0.25, -0.1), *[0.3] * 6])
    first = done.replans[0].solution
    early = done.t <= 0.8
    np.testing.assert_allclose(done.q[:, early], first.q(done.t[early]), rtol=0, atol=2e-3)
    assert max(done.iterations[:7]) <= 5  # each begins with the rest of the one before
    assert np.abs(done.q[:, -1] - (1.0, -1.0)).max() < 5e-3


def test_how_far_off_the_end_asked_is_told_for_every_constraint_of_it(arm):
    def goals(t):
        return {"goal_shoulder": 1.0 if t < 0.15 else 0.5}

    done = ocp.track(arm, REST, period=0.1, periods=3, goals=goals)
    wanted = np.where(done.t <= 0.2 + 1e-9, 1.0, 0.5)
    np.testing.assert_allclose(done.off["at_end.q"][0], np.abs(done.q[0] - wanted), atol=1e-12)
    np.testing.assert_allclose(done.off["at_end.qd"], np.abs(done.qd), rtol=0, atol=1e-12)
    assert f"at_end.q off by {done.off['at_end.q'][:, -1].max():.2g}" in repr(done)


def test_an_end_asked_by_points_and_accelerations_is_told_where_the_state_says_it(quick):
    arm = quick.problem.tree
    start = quick.problem.constraints[:2]
    above = ocp.path("above", lambda at: at.position("tip")[1], lower=0.7, when="end", units="m")
    stated = replace(quick.problem, constraints=(*start, above, ocp.at_end(arm, qdd=0.0)))
    states = np.array([[0.3, 0.2, 0.0, 0.0], [1.5, 0.0, 0.1, 0.0]]).T
    plan = ocp.prepare(stated)
    off = end_distances(plan)(plan.solve(), states)
    heights = [float(ocp.kinematics.position(arm, q, "tip")[1]) for q in states[:2].T]
    np.testing.assert_allclose(off["above"][0], np.maximum(0.7 - np.array(heights), 0.0))
    assert np.isnan(off["at_end.qdd"]).all()


def test_a_pushed_cart_recovers_its_pole_and_falls_with_the_plan_it_had(cart):
    start = ((0.0, pi), (0.0, 0.0))
    done = ocp.track(cart, start, period=0.1, periods=22, plant=pushed(cart, 0.1))
    assert done.dropped_plans == 0
    assert (np.abs(done.q[:, -1] - (0.0, pi)) < (0.2, 0.1)).all()  # m, rad, and still returning
    assert np.abs(done.tau[0]).max() > 15.0 and not done.tau[1].any()  # nothing drives the pole
    alone = ocp.track(cart, start, period=0.1, periods=5, plant=pushed(cart, 0.1), deadline=1e-9)
    assert abs(alone.q[1, -1] - pi) > 1.0


def test_on_a_mesh_the_shifted_plan_is_near_the_new_one():
    arm = ocp.prepare(reaching(), ocp.Transcription(method=ocp.Radau(intervals=10, order=3)))
    done = ocp.track(arm, REST, period=0.1, periods=2)
    assert done.dropped_plans == 0 and done.iterations[0] < arm.solve().statistics["iterations"]
    first = done.replans[0].solution
    t = np.linspace(0.0, 1.0, 7)
    np.testing.assert_allclose(command_torques(arm)(first, t), first.tau(t), rtol=0, atol=1e-10)


def test_past_its_deadline_a_plan_is_dropped_and_the_former_goes_on(arm):
    def goals(t):
        return {"goal_shoulder": 1.0 + t}

    done = ocp.track(arm, REST, period=0.1, periods=3, goals=goals, deadline=1e-9)
    assert done.dropped_plans == 2
    assert [turn.followed for turn in done.replans] == [True, False, False]
    first = done.replans[0].solution
    np.testing.assert_allclose(done.tau, first.tau(done.t), rtol=0, atol=1e-9)
    assert "2 dropped" in repr(done) and "dropped" in repr(done.replans[1])


def test_a_replan_cut_short_is_the_best_iterate_seen(arm):
    former = arm.solve().require()
    cut = arm.replan(former, seconds=1e-9, goal_shoulder=0.0)
    whole = arm.replan(former, goal_shoulder=0.0)
    assert whole.success and whole.statistics["violation"] < 1e-6
    assert not cut.success and cut.statistics["violation"] > 1e-3
    assert len(cut.history) == 1
    assert whole.objective == pytest.approx(arm.solve(goal_shoulder=0.0).objective, rel=1e-6)


def test_a_replan_without_a_deadline_sees_few_iterates_and_goes_the_same_way(arm):
    former = arm.solve().require()
    seldom, each = (
        arm.replan(former, seconds=seconds, goal_shoulder=-1.0) for seconds in (np.inf, 1e3)
    )
    assert seldom.objective == each.objective and seldom.success and each.success
    count = seldom.statistics["iterations"]
    assert count == each.statistics["iterations"] == len(each.history) - 1
    assert [one.number for one in seldom.history] == list(range(0, count + 1, 10))
    assert seldom.history[0].violation == each.history[0].violation
    assert seldom.statistics["violation"] == each.statistics["violation"]


@pytest.mark.parametrize("seconds", [np.nan, "x", None, True, (1.0,)])
def test_a_deadline_that_is_no_number_is_refused(arm, seconds):
    with pytest.raises(ValueError, match=r"replan: seconds: expected a number \(s\), inf for no"):
        arm.replan(seconds=seconds, goal_shoulder=0.0)


@pytest.mark.parametrize("given", [{}, {"free": True, "lower": 0.1}])
def test_a_duration_that_cannot_shrink_is_refused(given):
    plan = ocp.prepare(reaching(ocp.Parameter("left", 1.0, "s", **{"upper": 2.0} | given)))
    words = (
        "expected a lower bound above 0 s" if not given else "expected a Parameter that is given"
    )
    with pytest.raises(ValueError, match=f"track: horizon 'shrinking': .*{words}"):
        ocp.track(plan, REST, period=0.1, periods=1, horizon="shrinking")


def closed_state():
    tree = two_link()
    return replaced(reaching(), ocp.at_start(tree, q=(ocp.Parameter("a", 0.0), -2.0), qd=0.0))


def one_for_two():
    tree, same = two_link(), ocp.Parameter("same", 0.0)
    return replaced(reaching(), ocp.at_start(tree, q=(same, same), qd=(same, same)))


def replaced(problem, start):
    """A problem from another start."""
    kept = [each for each in problem.constraints if not each.name.startswith("at_start")]
    return replace(problem, constraints=(start, *kept))


@pytest.mark.parametrize(
    ("problem", "words"),
    [
        (closed_state, "at_start.q: joint 'elbow': expected a Parameter that is given"),
        (one_for_two, "parameter 'same' stands for two numbers of the initial state"),
    ],
)
def test_an_initial_state_that_cannot_be_given_is_refused(problem, words):
    with pytest.raises(ValueError, match=words):
        ocp.track(ocp.prepare(problem()), REST, period=0.1, periods=1)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"period": 0.0}, "track: period: expected a number above 0"),
        ({"periods": 0}, "track: periods: expected a whole number of at least 1"),
        ({"periods": 2.5}, "track: periods: expected a whole number"),
        ({"goals": lambda t: {"gaol": t}}, "gaol"),
        ({"goals": {"goal_elbow": 1.0}}, "track: goals: expected"),
        ({"deadline": 0.0}, "track: deadline: expected a number above 0"),
        ({"horizon": "growing"}, "track: horizon: expected receding or shrinking, got 'growing'"),
        ({"horizon": "shrinking"}, "'shrinking': duration: expected a Parameter that is given"),
        ({"plant": 3}, "track: plant: expected"),
        ({"plant": lambda t, x, u: x}, r"track: plant: expected states \(4, 11\) .* got \(4,\)"),
        ({"plant": lambda t, x, u: np.full((4, 11), np.nan)}, "from t = 0 s on, got numbers that"),
    ],
)
def test_bad_settings_are_refused(arm, settings, words):
    with pytest.raises(ValueError, match=words):
        ocp.track(arm, REST, **{"period": 0.1, "periods": 1, **settings})


def test_a_start_of_the_wrong_size_is_refused(arm):
    with pytest.raises(ValueError, match=r"track: start: q: expected"):
        ocp.track(arm, ((0.0,), (0.0, 0.0)), period=0.1, periods=1)


def test_without_a_first_plan_nothing_moves():
    hopeless = ocp.prepare(reaching(0.05), attempts=ocp.PLAIN)
    with pytest.raises(ocp.NotSolved):
        ocp.track(hopeless, REST, period=0.01, periods=1)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"plan": reaching()}, r"track: plan: expected a Plan, got Problem .*; prepare\(problem\)"),
        ({"period": 1.5}, "period: expected at most a plan's horizon, 1 s, got 1.5 s"),
        ({"goals": lambda t: (1.0, 2.0)}, r"goals\(0\): expected Mapping, got tuple"),
        ({"goals": lambda a, b: {}}, r"goals: expected a function of \(t\), got one of \(a, b\)"),
        (
            {"plant": lambda state, torques: state},
            r"plant: expected a function of \(t, state, torques\), got one of \(state, torques\)",
        ),
    ],
)
def test_what_cannot_be_tracked_with_is_told_before_anything_is_solved(given, message):
    plan = given.pop("plan") if "plan" in given else ocp.prepare(reaching())
    with pytest.raises(ValueError, match=message):
        ocp.track(plan, REST, **({"period": 0.1, "periods": 2} | given))
