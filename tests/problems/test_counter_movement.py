"""A jump with a counter-movement: it begins upright, without arms that swing."""

import numpy as np
import pytest
from ocp.problems.counter_movement import problem
from ocp.problems.jump import STANDING

from ocp.mechanics import center_of_mass


def test_it_begins_and_ends_upright_with_arms_that_hang():
    stated = problem(points=7, intervals=6)
    names = [joint.name for joint in stated.tree.moving]
    assert "shoulder" not in names
    ends = [each for each in stated.constraints if each.name in ("at_start.q", "at_end.q")]
    assert len(ends) == 2
    for each in ends:
        np.testing.assert_allclose(each.lower, [STANDING[name] for name in names])
    upright = np.array([STANDING[name] for name in names])
    assert float(center_of_mass(stated.tree, upright)[1]) == pytest.approx(1.005, abs=0.05)
    assert "shoulder" in [joint.name for joint in problem(arms=True).tree.moving]


def test_torques_lag_behind_what_excites_them():
    def weights(lag):
        push = problem(lag=lag, points=7, intervals=6).phases[0]
        return [weight for weight, term in push.objective.terms if "rate" in term.name]

    assert weights(0.1) == pytest.approx([1e-8])
    assert weights(0.2) == pytest.approx([4e-8])
    with pytest.raises(ValueError, match="lag: expected a number of at least 0"):
        problem(lag=-0.1)
