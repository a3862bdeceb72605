"""Excitations along a given motion: states that begin at rest and share moments as they must."""

from dataclasses import replace

import numpy as np
import pytest
from muscled_arm import arm
from refusals import refused

from ocp.models.arms.two_link import two_link
from ocp.problems.lab import muscle_excitations, muscle_forces
from ocp.problems.lab.muscles.muscle_excitations import NO_FIBRES, clenshaw, excitation_problem


def elbow(duration):
    """An arm whose elbow bends, times, the motion, and moments that change their sign."""
    t = 0.7 + np.linspace(0.0, duration, 101)
    u = (t - t[0]) / duration
    muscles = [replace(each, fibre_strain=NO_FIBRES) for each in arm().elements]
    q, moments = np.array([0.3 * np.sin(2 * u)]), np.array([4.0 - 8.0 * u**2])
    return replace(arm(), elements=tuple(muscles)), t, q, moments


def test_moments_that_change_slowly_are_shared_as_by_static_optimisation():
    tree, t, q, moments = elbow(60.0)
    given = {"joints": ("elbow",), "reserves": {}, "intervals": 12, "degree": 20}
    found = muscle_excitations(tree, t, q, moments, **given)
    assert found.solution.success and found.names == ("flexor", "extensor")
    qd = np.gradient(q[0], t)[None]
    still = muscle_forces(tree, t, q, qd, moments, joints=("elbow",), reserve=1e-3)
    states = np.array(list(found.states("activation", t).values()))
    away = np.abs(states - still.activations)[:, ::25]  # at nodes
    assert away.max() < 2e-3
    assert still.activations.max() > 0.05


def test_quick_moments_need_excitations_that_lead_activations():
    """What activations rise to, excitations have before: that costs more than slow moments do."""
    costs = []
    for duration in (0.2, 60.0):
        tree, t, q, moments = elbow(duration)
        reserves = {"elbow": 1.0}
        given = {"joints": ("elbow",), "reserves": reserves, "intervals": 12, "degree": 20}
        found = muscle_excitations(tree, t, q, moments, **given)
        assert found.solution.success
        costs.append(found.solution.objective / duration)
        begun = found.solution.problem.tree.coordinate("flexor.activation")
        assert found.solution.qd([0.0])[begun] == pytest.approx(0.0, abs=1e-6)
    assert costs[0] > 1.02 * costs[1]


def test_sums_of_chebyshev_polynomials_are_numpy_s():
    coefficients, x = np.array([0.3, -1.0, 0.5, 2.0]), 0.37
    expected = np.polynomial.chebyshev.chebval(x, coefficients)
    assert clenshaw(coefficients, x) == pytest.approx(expected, rel=1e-14)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"model": two_link()}, "muscle_excitations: the model has no muscles"),
        ({"joints": ("elbow", "knee")}, "unknown joint 'knee'"),
        ({"reserves": {"hip": 1.0}}, "reserves: 'hip' is none of the joints: elbow"),
        ({"degree": 40}, "t: expected 400 times or more, got 101"),
        (
            {"moments": np.full((1, 101), np.nan)},
            "muscle_excitations: expected finite numbers in q and moments",
        ),
    ],
)
def test_what_cannot_be_shared_is_refused_by_name(changes, words):
    tree, t, q, moments = elbow(1.0)
    given = {"model": tree, "t": t, "q": q, "moments": moments, "degree": 20}
    given |= {"joints": ("elbow",), "reserves": {}} | changes
    with refused(words):
        excitation_problem(**given)
