"""Plans followed under noise, pushes and wrong starts."""

from math import pi

import numpy as np
import pytest

import ocp
from ocp.models.swing_ups.cart_pole import cart_pole

LIMIT = 20.0  # N


@pytest.fixture(scope="module")
def swung():
    """A cart that swings its pole up."""
    cart = cart_pole(force=LIMIT)
    problem = ocp.Problem(
        tree=cart,
        motion=ocp.BSpline(points=30, degree=5),
        duration=2.0,
        objective=ocp.effort(cart, ("cart",)),
        constraints=(
            ocp.at_start(cart, q=0.0, qd=0.0),
            ocp.at_end(cart, q=(0.0, pi), qd=0.0),
            ocp.torque_limits(cart),
        ),
    )
    return ocp.solve(problem).require(coarse=True)


@pytest.fixture(scope="module")
def plan(swung):
    return ocp.feedback(swung)


def end_error(plan, done):
    """Distance (m, rad) from the planned end."""
    return np.abs(done.q[:, -1] - plan.states[:2, -1]).max()


def test_undisturbed_the_plan_is_followed(plan):
    done = ocp.follow(plan)
    assert end_error(plan, done) < 2e-3
    assert np.abs(done.q - plan.states[:2]).max() < 5e-3


def test_feedback_ends_where_noise_alone_does_not(plan):
    for seed in range(3):
        held = ocp.follow(plan, noise=0.02, seed=seed)
        left = ocp.follow(plan, noise=0.02, seed=seed, open_loop=True)
        assert end_error(plan, held) < 0.02 < end_error(plan, left)


def test_the_same_seed_is_the_same_noise(plan):
    once, twice, other = (ocp.follow(plan, noise=0.01, seed=k) for k in (1, 1, 2))
    np.testing.assert_array_equal(once.q, twice.q)
    assert np.abs(once.q - other.q).max() > 1e-5


def test_noise_is_a_share_of_the_largest_torque(plan):
    noise = 0.01
    done = ocp.follow(plan, noise=noise, open_loop=True)
    errors = done.tau[0] - plan.torques[0, :-1]
    free = np.abs(plan.torques[0, :-1]) < 0.9 * LIMIT  # elsewhere the limit cuts it
    largest = np.abs(plan.torques[0]).max()
    assert np.std(errors[free]) == pytest.approx(noise * largest, rel=0.15)
    assert not done.tau[1].any()  # nothing drives the pole


def test_a_push_is_answered_within_the_limits(plan):
    """8 N for 50 ms, against the cart."""

    def force(t):
        return (8.0 * (t > 0.5) * (t < 0.55), 0.0, 0.0)

    (name,) = {point.name for point in plan.tree.points if point.link == "cart"} or {"tip"}
    push = ocp.Load(point=name, force=force)
    held, left = (ocp.follow(plan, loads=(push,), open_loop=each) for each in (False, True))
    assert end_error(plan, held) < 0.02 < 0.1 < end_error(plan, left)
    assert np.abs(held.tau).max() <= LIMIT


def test_a_wrong_start_is_made_good(plan):
    done = ocp.follow(plan, ((0.02, 0.03), (0.0, 0.0)))
    assert end_error(plan, done) < 2e-3


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"noise": -0.1}, "follow: noise"),
        ({"start": ((0.0,), (0.0, 0.0))}, "follow: start: q"),
        ({"start": ((0.0, 0.0), (np.nan, 0.0))}, "follow: start: qd"),
    ],
)
def test_disturbances_are_checked(plan, arguments, words):
    with pytest.raises(ValueError, match=words):
        ocp.follow(plan, **arguments)


def test_a_solution_is_no_plan_with_feedback(swung):
    with pytest.raises(ValueError, match="follow: plan"):
        ocp.follow(swung)
