"""Gains along plans: closed forms of linear systems, and derivatives of the plans themselves."""

from dataclasses import replace

import numpy as np
import pytest

import ocp
from ocp.certificate.checks.simulation import march
from ocp.models.arms.two_link import two_link
from ocp.mpc.regulator import _period_maps, _state_slopes, exponential
from ocp.mpc.standing_plant import period_integrator

FREE = 1e4  # deviations that weigh nothing
MASS = 2.0  # kg


def slider(**changes):
    """A mass on a rail that goes from rest to rest with the least squared force in two seconds."""
    tree = ocp.Tree(
        links=(ocp.Link(mass=MASS),),
        joints=(ocp.prismatic("rail", axis=(1.0, 0.0, 0.0)),),
        gravity=(0.0, 0.0, 0.0),
    )
    start = ocp.Parameter("place", 0.0, "m"), ocp.Parameter("speed", 0.0, "m/s")
    problem = ocp.Problem(
        tree=tree,
        motion=ocp.BSpline(points=8, degree=5),
        duration=2.0,
        objective=ocp.effort(),
        constraints=(
            ocp.at_start(tree, q=start[:1], qd=start[1:]),
            ocp.at_end(tree, q=1.0, qd=0.0),
        ),
    )
    return replace(problem, **changes)


@pytest.fixture(scope="module")
def slid():
    return ocp.prepare(slider()).solve().require()


@pytest.fixture(scope="module")
def reached():
    """An arm between two postures, under gravity."""
    arm = two_link(torque=40.0)
    problem = ocp.Problem(
        tree=arm,
        motion=ocp.BSpline(points=12, degree=5),
        duration=1.0,
        objective=ocp.effort(),
        constraints=(
            ocp.at_start(arm, q=(0.0, -2.0), qd=0.0),
            ocp.at_end(arm, q=(1.0, -1.0), qd=0.0),
        ),
    )
    return ocp.solve(problem).require()


def test_gains_are_what_the_plan_itself_makes_of_another_start(slid):
    """The least effort to a given end: no weight on the way, and all of it on the end."""
    plan = ocp.feedback(slid, period=0.001, position=FREE, rate=FREE, torque=1.0, end=1e-4 / FREE)
    for column, name in enumerate(("place", "speed")):
        own = float(ocp.derivative(slid, of="tau", by=name)(0.0)[0])
        assert plan.gains[0, 0, column] == pytest.approx(own, rel=2e-3)
    closed = -MASS * np.array([6 / 2.0**2, 4 / 2.0])  # of the cubic that arrives after 2 s
    np.testing.assert_allclose(plan.gains[0, 0], closed, rtol=2e-3)


def test_gains_far_from_the_end_are_those_of_an_infinite_horizon():
    """K = -(sqrt(a), sqrt(b + 2 m sqrt(a))) of weights a, b, 1, at first order in the period."""
    long = ocp.solve(slider(duration=12.0)).require()
    a, b = 1 / 0.2**2, 1 / 0.5**2
    closed = -np.array([np.sqrt(a), np.sqrt(b + 2 * MASS * np.sqrt(a))])
    errors = []
    for period in (0.02, 0.01):
        plan = ocp.feedback(long, period=period, position=0.2, rate=0.5, torque=1.0, end=1.0)
        np.testing.assert_allclose(plan.gains[0], plan.gains[50], rtol=1e-9)
        errors.append(np.abs(plan.gains[0, 0] - closed))
    np.testing.assert_allclose(errors[0] / errors[1], 2.0, rtol=0.03)
    assert (errors[1] < 0.02 * np.abs(closed)).all()


def test_the_value_is_what_following_costs(slid):
    weights = {"position": 0.3, "rate": 0.7, "torque": 2.0, "end": 0.5}
    plan = ocp.feedback(slid, period=0.05, **weights)
    off = np.array([0.1, -0.2])
    done = ocp.follow(plan, (off[:1], off[1:]))
    far = np.vstack([done.q, done.qd]) - plan.states
    shares = far / np.array([[0.3], [0.7]])
    forces = (done.tau - plan.torques[:, :-1]) / 2.0
    h = plan.t[1]
    cost = h * ((shares[:, :-1] ** 2).sum() + (forces**2).sum()) + (shares[:, -1] ** 2).sum() / 0.25
    assert cost == pytest.approx(off @ plan.value @ off, rel=1e-4)


def test_transitions_are_differences_of_simulations(reached):
    """Of a period in the middle of an arm's motion under gravity."""
    period = 0.01
    t = np.array([0.5, 0.5 + period])
    (slopes,) = _state_slopes(reached.problem.tree, (), reached, t)
    by_state, by_torque = _period_maps(slopes, period)
    step = period_integrator(reached.problem.tree, (), period)
    state, ramp = np.append(reached.q(0.5), reached.qd(0.5)), reached.tau(t)

    def ahead(change):
        torques = ramp + change[4:, None]
        return march(step, state + change[:4], [[0.5, *torques.T.ravel()]])[:, 1]

    size = 1e-3
    slopes = [(ahead(size * each) - ahead(-size * each)) / (2 * size) for each in np.eye(6)]
    scale = np.abs(np.transpose(slopes)).max(axis=1, keepdims=True)
    np.testing.assert_allclose(
        np.hstack([by_state, by_torque]) / scale, np.transpose(slopes) / scale, rtol=0, atol=1e-3
    )


def test_anexponential_turns_by_the_angle():
    turn = np.array([[0.0, -3.0], [3.0, 0.0]])
    expected = [[np.cos(3.0), -np.sin(3.0)], [np.sin(3.0), np.cos(3.0)]]
    np.testing.assert_allclose(exponential(turn), expected, rtol=0, atol=1e-13)
    np.testing.assert_allclose(exponential(np.zeros((2, 2))), np.eye(2))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"period": 0.0}, "feedback: period"),
        ({"position": -1.0}, "feedback: position"),
        ({"rate": (1.0, 2.0)}, "feedback: rate"),
        ({"torque": 0.0}, "feedback: torque"),
        ({"end": 0.0}, "feedback: end"),
    ],
)
def test_weights_are_positive_numbers(slid, arguments, words):
    with pytest.raises(ValueError, match=words):
        ocp.feedback(slid, **arguments)


def test_a_problem_is_no_solution():
    with pytest.raises(ValueError, match="feedback: solution"):
        ocp.feedback(slider())


def test_what_has_no_feedback_is_named(slid):
    pulled = replace(slid.problem.tree, stays=(ocp.stop("buffer", "rail", lower=-5.0),))
    with pytest.raises(ValueError, match="feedback: stays"):
        ocp.feedback(replace(slid, problem=replace(slid.problem, tree=pulled)))
