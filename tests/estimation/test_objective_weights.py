"""Weights of an objective from motions: what is found, how well, and what cannot be."""

from dataclasses import replace
from functools import lru_cache

import numpy as np
import pytest

from ocp import (
    BSpline,
    Parameter,
    Problem,
    Recording,
    Solver,
    at_end,
    at_start,
    duration,
    effort,
    identify_objective,
    jerk,
    prepare,
    solve,
    squares,
    torque_limits,
    torque_rate,
)
from ocp.estimation.objective_weights.identify_objective import _with_open_weights
from ocp.models.arms.two_link import two_link

TRUTH = {"effort": 0.05, "jerk": 1e-5, "torque_rate": 2e-3}
START = {"effort": 0.2, "jerk": 1e-4, "torque_rate": 1e-3}
TIGHT = Solver(options={"tol": 1e-11})
TIMES = 41


def reach(weights, *, torque=10.0, elbow=-0.9, **changes):
    """A reach of two links in free time, by duration, effort, jerk and rates of torques."""
    arm = two_link(torque=torque)
    terms = {"effort": effort(), "jerk": jerk(), "torque_rate": torque_rate()}
    stated = Problem(
        tree=arm,
        motion=BSpline(points=10),
        duration=(0.3, 3.0),
        objective=duration() + sum(weights[name] * terms[name] for name in weights),
        constraints=(
            at_start(arm, q=(0.0, -2.0), qd=0.0, qdd=0.0),
            at_end(arm, q=(1.2, elbow), qd=0.0, qdd=0.0),
            torque_limits(arm),
        ),
        outputs={"tip": lambda at: at.position("tip")[:2]},
    )
    return replace(stated, **changes)


@lru_cache
def true_reach(torque=10.0):
    """The reach that is optimal with the true weights."""
    return solve(reach(TRUTH, torque=torque), solver=TIGHT).require(coarse=True)


def recorded(solution, deviation=None, seed=None):
    """Angles of a solution, with noise of a deviation (rad)."""
    t = solution.times(TIMES)
    q = solution.q(t)
    if deviation:
        q = q + deviation * np.random.default_rng(seed).standard_normal(q.shape)
    return Recording(t=t, q=q, encoder=deviation)


def distance(found, truth=TRUTH):
    """Logarithms of weights found over true ones."""
    return np.array([np.log(found.weights[name] / truth[name]) for name in found.terms])


def test_first_order_conditions_alone_give_the_weights_of_a_computed_motion():
    found = identify_objective(reach(START), [true_reach()], solver=TIGHT)
    assert found.stationarity < 1e-6
    assert dict(found.inverse) == pytest.approx(TRUTH, rel=1e-5)
    assert dict(found.weights) == pytest.approx({"duration": 1.0, **TRUTH}, rel=1e-5)
    assert solve(found.problem).duration == pytest.approx(true_reach().duration, rel=1e-6)


def test_exact_angles_give_the_weights_back():
    found = identify_objective(reach(START), [recorded(true_reach())], solver=TIGHT)
    assert found.success
    assert np.abs(distance(found)).max() < 1e-4
    assert found.rms < 1e-6 * found.rms_before


def test_weights_a_hundred_times_off_are_found_by_way_of_the_first_order_conditions():
    far = {name: w * 100.0 ** (-1) ** k for k, (name, w) in enumerate(TRUTH.items())}
    found = identify_objective(reach(far), [recorded(true_reach())], solver=TIGHT)
    rough = [np.log(found.inverse[name] / TRUTH[name]) for name in TRUTH]
    assert np.abs(rough).max() < np.log(3)
    assert np.abs(distance(found)).max() < 1e-4


def test_slopes_are_those_of_motions_solved_anew():
    problem = _with_open_weights(reach(START), tuple(START))
    plan = prepare(problem, solver=TIGHT)
    found = identify_objective(reach(START), [recorded(true_reach(), 0.01, 0)], iterations=0)
    middle = found.solutions[0]
    for column in range(len(START)):
        ends = [
            plan.solve(middle, **{f"objective_weight_{column}": np.exp(step)}).require(coarse=True)
            for step in (1e-3, -1e-3)
        ]
        t = np.linspace(0, 1, TIMES)
        away = [each.q(t * each.duration) / 0.01 for each in ends]
        measured = (away[0] - away[1]) / 2e-3
        ours = found.slopes[0][: measured.size, column].reshape(measured.shape, order="F")
        assert np.abs(ours - measured).max() < 1e-4 * np.abs(measured).max()


def test_noisy_angles_give_weights_within_their_errors():
    squares_of = []
    for seed in range(4):
        found = identify_objective(reach(START), [recorded(true_reach(), 0.005, seed)])
        away = distance(found)
        squares_of.append(away @ np.linalg.solve(found.covariance, away))
        assert 0.5 < found.misfit < 1.6
    assert max(squares_of) < 16.27  # 999 of 1000 of three squared normal deviates are less
    assert 2.2 < sum(squares_of) < 32.9  # and so are, and are more, sums of twelve


def test_weights_are_found_where_torques_are_at_their_limits():
    weak = 1.6
    motion = true_reach(weak)
    assert np.abs(motion.tau(motion.times())).max() > 0.99 * weak
    found = identify_objective(reach(START, torque=weak), [recorded(motion)], solver=TIGHT)
    assert found.changes[0] > 0  # rows became active or were left on the way
    assert np.abs(distance(found)).max() < 1e-3


def test_outputs_alone_tell_weights_too():
    t = true_reach().times(TIMES)
    tip = Recording(t=t, outputs={"tip": true_reach().output("tip", t)}, deviations={"tip": 1e-4})
    found = identify_objective(reach(START), [tip], solver=TIGHT)
    assert np.abs(distance(found)).max() < 1e-3


def test_terms_that_no_motion_tells_apart_are_named():
    again = squares("effort again", lambda at: at.tau)
    doubled = replace(reach(START), objective=reach(START).objective + 0.1 * again)
    found = identify_objective(doubled, [recorded(true_reach())], solver=TIGHT)
    (words,) = found.unidentifiable
    assert "effort^" in words
    assert "effort again^" in words
    assert "jerk" not in words
    assert found.errors["effort"] == np.inf
    assert found.errors["jerk"] < 1
    both = found.weights["effort"] + found.weights["effort again"]
    assert both == pytest.approx(TRUTH["effort"], rel=1e-3)


def test_a_term_that_moves_nothing_is_named():
    idle = squares("idle", lambda at: 0.0 * at.q)
    with_idle = replace(reach(START), objective=reach(START).objective + idle)
    found = identify_objective(with_idle, [recorded(true_reach())], solver=TIGHT)
    assert found.unidentifiable == ("idle has no influence",)


def test_weights_from_some_reaches_tell_another_one():
    elbow = Parameter("elbow", -0.9)
    values = [{"elbow": goal} for goal in (-0.9, -1.6, -0.3)]
    true_plan = prepare(reach(TRUTH, elbow=elbow), solver=TIGHT)
    motions = [
        recorded(true_plan.solve(**each).require(coarse=True), 0.005, k)
        for k, each in enumerate(values)
    ]
    stated = reach(START, elbow=elbow)
    found = identify_objective(stated, motions, values=values, validate=True)
    alone = identify_objective(stated, motions[:1], values=values[:1])
    assert (found.held_out < 1.3).all()
    assert (found.held_out_before > 3 * found.held_out).all()
    assert all(found.errors[name] < alone.errors[name] for name in found.terms)


def test_terms_that_are_not_named_keep_their_weights():
    stated = reach({**TRUTH, "effort": 0.2})
    found = identify_objective(stated, [recorded(true_reach())], "effort", solver=TIGHT)
    assert found.terms == ("effort",)
    assert found.weights["effort"] == pytest.approx(TRUTH["effort"], rel=1e-4)
    assert found.weights["jerk"] == TRUTH["jerk"]


@pytest.mark.parametrize(
    ("problem", "motion", "arguments", "words"),
    [
        (reach(START), {}, {"terms": ("efort",)}, "no term 'efort'.*mean 'effort'"),
        (reach(START), {}, {"values": [{}, {}]}, "values: expected 1"),
        (reach(START), {"q": np.zeros((3, 9))}, {}, "q: expected 2 rows, got 3"),
        (reach(START), {"outputs": {"tap": np.zeros(9)}}, {}, "no such output.*'tip'"),
        (reach(START), {"q": None}, {}, "expected coordinates or outputs"),
        (reach(START, duration=2.0), {}, {}, "lasts 1 s, the problem 2 s"),
        (reach(START), {}, {"validate": True}, "two motions"),
        (reach({"effort": 0.0}), {}, {}, "weight other than 0"),
        (reach(START, objective=effort()), {}, {}, "two terms or more"),
        (reach(START, objective=effort() + effort()), {}, {}, "two terms have the name"),
    ],
)
def test_what_cannot_be_identified_is_refused_by_name(problem, motion, arguments, words):
    fields = {"t": np.linspace(0, 1, 9), "q": np.zeros((2, 9)), **motion}
    with pytest.raises(ValueError, match=words):
        identify_objective(problem, [Recording(**fields)], **arguments)
