"""A walking human on a ground that gives way, and the regulator of its step."""

from dataclasses import replace

import numpy as np
import pytest

from ocp.mechanics import body_weight
from ocp.problems.benchmarks.balance.pushed_walk import between, force_of, solved, walked
from ocp.problems.benchmarks.balance.step_regulator import PERIOD, bearing, regulator
from ocp.problems.benchmarks.balance.walker import CORNERS, STEP, ground_step, walker

IDLE = (0.0, 0.0, 0.0)


@pytest.fixture(scope="module")
def body():
    return walker(solved())


@pytest.fixture(scope="module")
def plan(body):
    return regulator(body)


@pytest.fixture(scope="module")
def kept(body, plan):
    """Three steps without a push."""
    return walked(body, {1.2: plan}, 3, IDLE)


def uncontrolled(body):
    """No torques, and no limits on them."""
    n = body.tree.dof
    return np.zeros(n), np.zeros((n, n)), np.array([[-np.inf], [np.inf]]) * np.ones(n)


def test_in_flight_momentum_is_what_weight_and_push_give(body):
    """Of all of the body along its three slides, after a step in the air under a push."""
    q, qd = body.solution.q(0.2), 0.3 * body.solution.qd(0.2)
    slides = [body.tree.coordinate(f"glob_t{axis}") for axis in "xyz"]
    q[slides[1]] += 1.0
    push = np.array([300.0, 0.0, -200.0])
    later, rates, forces = ground_step(body, (q, qd), uncontrolled(body), push)
    assert not forces.any()

    def momentum(q, qd):
        return (np.array(body.mechanics(q, qd)[0]) @ qd)[slides]

    given = STEP * (push - [0.0, body_weight(body.tree), 0.0])
    np.testing.assert_allclose(
        momentum(later, rates) - momentum(q, qd), given, rtol=0, atol=0.02 * np.abs(given).max()
    )


def test_the_ground_pushes_only_what_is_in_it(body):
    q, qd = body.solution.q(0.2), body.solution.qd(0.2)
    q[body.tree.coordinate("glob_ty")] -= 0.004
    forces = ground_step(body, (q, qd), uncontrolled(body), IDLE)[2]
    deep = np.array(body.mechanics(q, qd)[4])[1] < 0
    assert (forces >= 0).all() and not forces[~deep].any() and forces[deep].sum() > 500


def test_corners_bear_as_the_plan_says(body):
    def names(s):
        return {name for name, on in zip(CORNERS, bearing(body, s)) if on}

    assert {name.partition("_")[0] + name[-2:] for name in names(0.05)} == {
        "heel_r",
        "ball_l",
        "toe_l",
    }
    assert names(0.4) == {name for name in CORNERS if name.endswith("_r")}
    assert not any(name.startswith("heel") or name.endswith("_l") for name in names(0.8))


@pytest.mark.commands
def test_unpushed_it_walks_as_planned(body, kept):
    assert kept.steps == 3
    np.testing.assert_allclose(np.diff(kept.struck), body.solution.duration, atol=6 * PERIOD)
    assert np.abs(kept.off[:, 0]).max() < 0.03 and np.abs(kept.off[:, 1]).max() < 0.1


def test_the_next_step_is_between_those_of_the_speeds_on_both_sides(plan):
    """States, torques and gains in one share; beyond the slowest and the fastest those of these."""
    slow, fast = (replace(plan, torques=k * plan.torques, gains=k * plan.gains) for k in (2, 4))
    plans = {0.7: slow, 0.9: plan, 1.2: fast}
    for pace, share in ((0.8, 1.5), (1.1, 3.0), (0.9, 1.0), (0.2, 2.0), (3.0, 4.0)):
        step = between(plans, pace)
        np.testing.assert_allclose(step.states, plan.states)
        np.testing.assert_allclose(step.torques, share * plan.torques)
        np.testing.assert_allclose(step.gains, share * plan.gains)


@pytest.mark.commands
def test_by_its_joints_alone_it_goes_astray(body, plan, kept):
    """The regulator's share of the gains keeps the feet where they are planned."""
    alone = plan.gains.copy()
    alone[:, :, list(body.root)] = 0.0
    alone[:, :, [body.tree.dof + row for row in body.root]] = 0.0
    lost = walked(body, {1.2: replace(plan, gains=alone)}, 3, IDLE)
    far = [np.abs(walk.off).max() if walk.steps == 3 else np.inf for walk in (kept, lost)]
    assert far[0] < far[1]


def test_directions_go_round():
    np.testing.assert_allclose(force_of(0, 30.0), (0.0, 0.0, 300.0))
    np.testing.assert_allclose(force_of(5, 30.0), (0.0, 0.0, -300.0), atol=1e-9)
    assert force_of(2, 30.0)[0] > 0
