"""Muscle synergies: patterns that are known come back, and share moments with fewer drives."""

import numpy as np
import pytest
from muscled_arm import arm

from ocp.problems.lab import muscle_forces
from ocp.problems.lab.muscles.synergies import muscle_synergies

T = np.linspace(0.0, 1.0, 101)


def patterns(count=3, muscles=12, seed=1):
    """Patterns (m, k), each without some muscles, and drives (k, N), each at rest at times."""
    random = np.random.default_rng(seed)
    weights = random.uniform(0.2, 1.0, (muscles, count))
    for k in range(count):
        weights[k::count, (k + 1) % count] = 0.0
    places = (np.arange(count) + 0.5) / count
    drives = np.maximum(1.0 - (3 * (T - places[:, None])) ** 2, 0.0)
    return weights, drives


def test_patterns_of_which_activations_are_made_come_back():
    weights, drives = patterns()
    found = muscle_synergies(weights @ drives, 3)
    assert found.accounted > 1 - 1e-6
    order = [int(row.argmax()) for row in found.drives]
    order = np.argsort(order)
    own = weights / np.linalg.norm(weights, axis=0)
    assert found.weights[:, order] == pytest.approx(own, abs=0.02)
    assert (found.weights >= 0).all() and (found.drives >= 0).all()


def test_more_patterns_account_for_more_and_all_for_everything():
    activations = np.random.default_rng(2).uniform(0.0, 1.0, (6, 40))
    shares = [muscle_synergies(activations, count).accounted for count in range(1, 7)]
    assert (np.diff(shares) > 0).all() and 0.5 < shares[0] < shares[-1] <= 1.0
    assert shares[-1] > 0.999


def test_times_that_are_not_known_are_left_out():
    weights, drives = patterns()
    rows = weights @ drives
    rows[:, 10:20] = np.nan
    found = muscle_synergies(rows, 3)
    assert np.isnan(found.drives[:, 10:20]).all() and np.isfinite(found.drives[:, 20:]).all()


def test_drives_of_synergies_share_the_moments():
    """With as many patterns as muscles nothing is lacking; one alone pulls one way, and reserves
    give the other."""
    tree, t = arm(), np.linspace(0.0, 1.0, 21)
    q, qd = np.array([0.3 * np.sin(t)]), np.array([0.3 * np.cos(t)])
    moments = np.array([3.0 * np.sin(6 * t)])
    given = (tree, t, q, qd, moments)
    free = muscle_forces(*given, joints=("elbow",), reserve=0.1)
    both = muscle_forces(*given, joints=("elbow",), reserve=0.1, synergies=2)
    one = muscle_forces(*given, joints=("elbow",), reserve=0.1, synergies=1)
    assert free.synergies is None and both.synergies.accounted > 0.999
    assert both.largest_reserve < 0.02 < 1.0 < one.largest_reserve
    assert both.activations == pytest.approx(both.synergies.weights @ both.synergies.drives)
    assert np.abs(both.activations - free.activations).max() < 0.02


def test_activations_of_synergies_stay_within_their_bounds():
    """A moment that is more than the flexor has: it is fully active, and reserves give the rest, as
    without synergies."""
    tree, t = arm(), np.linspace(0.0, 1.0, 21)
    q, qd = np.array([0.3 * np.sin(t)]), np.array([0.3 * np.cos(t)])
    given = (tree, t, q, qd, np.array([30.0 * np.sin(6 * t)]))
    free = muscle_forces(*given, joints=("elbow",), reserve=0.1)
    both = muscle_forces(*given, joints=("elbow",), reserve=0.1, synergies=2)
    assert 1.0 - 1e-3 < both.activations.max() < 1.0 + 1e-5
    assert both.largest_reserve == pytest.approx(free.largest_reserve, rel=1e-3)


@pytest.mark.parametrize("count", [-1, 3])
def test_synergies_that_cannot_be_are_told(count):
    tree, t = arm(), np.linspace(0.0, 1.0, 5)
    q = 0.1 * t[None]
    with pytest.raises(ValueError, match="synergies: expected 1 to 2, of 2 muscles at 5 times"):
        muscle_forces(tree, t, q, 0 * q, 1 + q, joints=("elbow",), synergies=count)
