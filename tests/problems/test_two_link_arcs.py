"""Torques that jump between phases: the bang-bang arm in arcs of free duration."""

import numpy as np
import pytest

from ocp import solve
from ocp.problems.arms.two_link_arcs import problem

FASTEST = 0.39185454  # s: bang-bang, by shooting on the maximum principle
SWITCHES = (0.045709, 0.195927, 0.235300)  # s, of the elbow, the shoulder, and the elbow again


def test_arcs_of_free_duration_reach_the_bang_bang_time():
    solution = solve(problem()).require()
    assert solution.duration == pytest.approx(FASTEST, abs=1e-6)
    ends = np.cumsum([*solution.durations.values()])[:-1]
    np.testing.assert_allclose(ends, SWITCHES, atol=2e-5)
    torques = np.abs(solution.tau(solution.times(1001)))
    assert torques.max() < 10 + 1e-4
    assert np.mean(torques) == pytest.approx(10, abs=1e-3)


def test_three_arcs_cannot_hold_three_switches():
    solution = solve(problem(arcs=("++", "-+", "--"), points=8, degree=5))
    assert solution.duration > FASTEST + 1e-3


@pytest.mark.parametrize("signs", ["+", "+0", "+-+"])
def test_signs_of_an_arc_are_those_of_two_torques(signs):
    with pytest.raises(ValueError, match="arcs: expected the signs of two torques") as caught:
        problem(arcs=(signs,))
    assert repr(signs) in str(caught.value)
