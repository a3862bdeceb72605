"""Plans followed under noise, pushes and wrong starts."""

from math import pi

import numpy as np
import pytest

import ocp
from ocp.models.swing_ups.cart_pole import cart_pole
from ocp.mpc import spread

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


def test_where_runs_leave_the_linear_range_the_covariances_say_so(plan):
    """What is of second order grows with the noise; of a pole that falls linear mechanics know
    nothing."""
    small, twice, far = (spread(plan, noise=each) for each in (0.01, 0.02, 0.5))
    np.testing.assert_allclose(twice.nonlinear, 2 * np.array(small.nonlinear), rtol=0.3)
    assert not twice.doubts
    assert f"of {len(far.nonlinear)} trials under 3 times the noise leave" in repr(far)


def test_a_solution_is_no_plan_with_feedback(swung):
    with pytest.raises(ValueError, match="follow: plan"):
        ocp.follow(swung)


def test_variances_of_a_free_mass_are_those_of_a_sum():
    """A push w over a period h, j periods before the end, moves a mass by w h (h / 2 + h j) / m."""
    link = ocp.Link(mass=2.0, inertia=((0, 0, 0), (0, 0.1, 0), (0, 0, 0.1)))
    tree = ocp.Tree(
        links=(link,),
        joints=(ocp.prismatic("slider", axis=(1.0, 0.0, 0.0)),),
        gravity=(0.0, 0.0, 0.0),
    )
    problem = ocp.Problem(
        tree=tree,
        motion=ocp.BSpline(points=8),
        duration=1.0,
        objective=ocp.effort(),
        constraints=(
            ocp.at_start(tree, q=0.0, qd=0.0),
            ocp.at_end(tree, q=1.0, qd=0.0),
        ),
    )
    plan = ocp.feedback(ocp.solve(problem).require(), period=0.05)
    told = spread(plan, noise=0.1, open_loop=True)
    h, size = plan.t[1], 0.1 * np.abs(plan.torques).max()
    pushes = size * h * (h / 2 + h * np.arange(len(plan.gains))) / 2.0
    assert told.deviations[0, -1] == pytest.approx(np.sqrt((pushes**2).sum()), rel=1e-9)
    assert told.torque_deviations == pytest.approx(size, rel=1e-12)
    begun = np.diag([1e-4, 4e-4])
    alone = spread(plan, noise=0.0, start=begun, open_loop=True)
    assert alone.states[-1, 0, 0] == pytest.approx(1e-4 + 4e-4, rel=1e-9)  # after one second
    held = spread(plan, noise=0.0, start=begun)
    assert held.deviations[0, -1] < 0.1 * alone.deviations[0, -1]
    with pytest.raises(ValueError, match="expected a covariance"):
        spread(plan, start=-begun)


def test_predicted_variances_are_those_of_simulations(plan):
    """The mean square of 20 simulations is off by a third by chance."""
    told = spread(plan, noise=0.01).deviations[:2]
    seen = [ocp.follow(plan, noise=0.01, seed=seed).q - plan.states[:2] for seed in range(20)]
    ratio = (told**2).sum() / np.mean([(each**2).sum() for each in seen])
    assert 0.5 < ratio < 2.0
