"""Static optimisation: activations that share moments at the least cost, within their bounds."""

import numpy as np
import pytest
from muscled_arm import arm
from refusals import refused

from ocp.models.arms.two_link import two_link
from ocp.problems.lab import Electromyograms, muscle_forces
from ocp.problems.lab.muscles.muscle_forces import least_activations


def cost(gains, wanted, reserve, a):
    return float(a @ a + np.sum((wanted - gains @ a) ** 2) / reserve**2)


@pytest.mark.parametrize("seed", range(20))
def test_no_other_activations_within_bounds_cost_less(seed):
    """First-order conditions to 1e-8, which for a convex cost are those of the least one."""
    random = np.random.default_rng(seed)
    count, joints = int(random.integers(3, 40)), int(random.integers(1, 6))
    gains = random.normal(size=(joints, count)) * 30.0
    lower, upper = np.full(count, 0.01), np.full(count, 1.0)
    wanted = gains @ random.uniform(0.0, 1.3, count) + random.normal(size=joints)
    a = least_activations(gains, wanted, 2.0, lower, upper)
    slope = a - gains.T @ (wanted - gains @ a) / 4.0
    size = np.abs(gains).max() * np.abs(wanted).max()
    assert (a >= lower).all() and (a <= upper).all()
    assert slope[a < upper - 1e-12].min(initial=0.0) > -1e-8 * size
    assert slope[a > lower + 1e-12].max(initial=0.0) < 1e-8 * size
    least = cost(gains, wanted, 2.0, a)
    for _ in range(50):
        other = np.clip(a + 0.1 * random.normal(size=count), lower, upper)
        assert cost(gains, wanted, 2.0, other) >= least - 1e-9 * max(1.0, least)


def test_forces_give_the_moment_but_for_the_reserve():
    tree, t = arm(), np.linspace(0.0, 1.0, 5)
    q, qd = np.array([0.3 * np.sin(t)]), np.array([0.3 * np.cos(t)])
    moments = np.array([[4.0, -3.0, np.nan, 0.1, 30.0]])
    found = muscle_forces(tree, t, q, qd, moments, joints=("elbow",), reserve=0.1)
    known = np.isfinite(moments[0])
    assert np.isnan(found.activations[:, ~known]).all()
    assert found.names == ("flexor", "extensor") and found.joints == ("elbow",)
    given = 0.03 * (found.forces[0] - found.forces[1])
    assert given[known] == pytest.approx((moments - found.reserves)[0, known], abs=1e-9)
    assert (found.activations[0] > 0.01).tolist() == [True, False, False, True, True]
    assert np.abs(found.reserves[0, [0, 1]]).max() < 0.02
    # more than the flexor has: it is fully active, and the reserve gives the rest
    assert found.activations[0, 4] == 1.0 and found.largest_reserve == found.reserves[0, 4] > 10.0


def co_contraction():
    """An elbow that both muscles cross, at work against each other: all but the activations, and
    these (2, N)."""
    tree, t = arm(), np.linspace(0.0, 1.0, 11)
    q, qd = np.array([0.3 * np.sin(t)]), np.array([0.3 * np.cos(t)])
    true = np.array([0.5 + 0.3 * np.sin(3 * t), 0.4 + 0.2 * np.cos(5 * t)])
    full = muscle_forces(tree, t, q, qd, np.ones((1, len(t))), joints=("elbow",))
    moments = 0.03 * np.array([(full.forces / full.activations * true).T @ (1.0, -1.0)])
    return (tree, t, q, qd, moments), true


def test_electromyograms_tell_muscles_that_work_against_each_other():
    """Cost alone has next to none of what both do together; envelopes of both, and of the
    extensor alone, have it."""
    given, true = co_contraction()
    alone = muscle_forces(*given, joints=("elbow",), reserve=0.1)
    assert np.abs(alone.activations - true).max() > 0.3
    for seen in ({"flexor": true[0], "extensor": true[1]}, {"extensor": true[1]}):
        emg = Electromyograms(envelopes=seen, weight=1e4)
        found = muscle_forces(*given, joints=("elbow",), reserve=1e-3, emg=emg)
        assert np.abs(found.activations - true).max() < 1e-3
        assert found.largest_reserve < 1e-3


def test_noise_of_envelopes_is_shared_with_the_moments():
    """Moments correct what both envelopes have too much of one side: activations are nearer to the
    true ones than the envelopes are."""
    given, true = co_contraction()
    noisy = np.clip(true + 0.05 * np.random.default_rng(0).standard_normal(true.shape), 0, 1)
    emg = Electromyograms(envelopes=dict(zip(("flexor", "extensor"), noisy)), weight=100.0)
    found = muscle_forces(*given, joints=("elbow",), reserve=0.01, emg=emg)
    assert np.std(found.activations - true) < 0.85 * np.std(noisy - true)


@pytest.mark.parametrize(
    ("emg", "words"),
    [
        (Electromyograms(envelopes={"flexer": np.ones(11)}), "no muscle 'flexer'"),
        (Electromyograms(envelopes={"flexor": np.ones(3)}), r"flexor: expected \(11,\)"),
        (Electromyograms(envelopes={"flexor": -np.ones(11)}), "flexor: expected an envelope"),
        (Electromyograms(envelopes={}, weight=0.0), "weight: expected a number above 0"),
    ],
)
def test_electromyograms_of_other_muscles_times_or_signs_are_told_by_name(emg, words):
    given, _ = co_contraction()
    with pytest.raises(ValueError, match=words):
        muscle_forces(*given, joints=("elbow",), emg=emg)


def test_a_model_without_muscles_is_refused():
    with refused("muscle_forces: the model has no muscles"):
        muscle_forces(two_link(), np.zeros(1), *3 * [np.zeros((2, 1))], joints=("elbow",))
