"""A run: its phases, how feet stand in them, what is least, and how it begins."""

import casadi as ca
import numpy as np
import pytest
from ocp.models.human import human
from ocp.problems.running import problem
from ocp.problems.running.exertion import RATES, WORK, exerted
from ocp.problems.running.solving import coarser
from ocp.problems.running.stance import FLIGHT, STRIKES, stance, swinging
from ocp.problems.running.statement import SHARES, begun

from ocp.mechanics import array, positions


@pytest.mark.parametrize("strike", STRIKES)
def test_phases_are_those_of_the_strike_and_their_durations_free(strike):
    stated = problem(strike=strike)
    names = [phase.name for phase in stated.phases]
    assert names == [*STRIKES[strike], FLIGHT]
    assert stated.phases[-1].ground is None
    assert all(lower < upper for lower, upper in (phase.duration for phase in stated.phases))
    assert sum(SHARES[strike].values()) == pytest.approx(1.0)
    first = begun(stated, 6)
    time = sum(phase.duration for phase in first.phases)
    assert time == pytest.approx(60 / 165)
    assert [phase.motion.points for phase in first.phases] == [6] * len(names)


def test_feet_stand_where_they_rest_at_zero():
    body = human()
    for name in ("heel", "flat", "toes"):
        foot = stance(body, name, 0.04, first=True, last=False).foot("right")
        support = foot.supports[0]
        names = [pin.point for pin in support.pins]
        places = [array(each).ravel() for each in positions(body, np.zeros(body.dof), names)]
        targets = [np.array(pin.target) for pin in support.pins]
        for place, target in zip(places, targets):
            np.testing.assert_allclose(place - target, places[0] - targets[0], atol=1e-12)
        assert np.ptp(np.array(support.polygon)[:, 1]) == pytest.approx(0.0, abs=1e-12)
        assert len(support.polygon) >= 4
        assert len(np.unique(np.round(support.polygon, 9), axis=0)) == len(support.polygon)
        assert foot.bears == (0.0, np.inf)
    assert not any(foot.supports for foot in swinging("left", "right").feet)


def weights(stated):
    """Return {term: its weight} of an objective."""
    return {term.name: weight for weight, term in stated.objective.terms}


def test_effort_is_that_of_excitation_and_first_of_torques_alone():
    given = weights(problem(work=0.3))
    assert given[RATES] == pytest.approx(0.0375**2)
    assert given[WORK] == pytest.approx(0.3)
    first = weights(begun(problem(work=0.3), 6))
    assert first["smoothness"] == pytest.approx(40 * given["smoothness"])
    assert set(first) == {"dynamic_effort", "smoothness"}
    assert not {RATES, WORK} & set(weights(problem(lag=0.0)))


def test_work_counts_power_both_ways_in_weights_times_metres():
    body = human()
    term = exerted(body, 0.0, 1.0, 0.0).terms[-1][1]

    class At:
        """A knee that turns at 2 rad/s against a torque, everything else at rest."""

        def __init__(self, torque):
            self.tau, self.qd = ca.DM(body.dof, 1), ca.DM(body.dof, 1)
            knee = body.coordinate("knee_flex_r")
            self.tau[knee], self.qd[knee] = torque, 2.0

    weight = 75.0 * 9.81
    for torque in (weight, -weight):
        assert float(term.function(At(torque))) == pytest.approx(2.0, abs=0.04)
    assert float(term.function(At(0.0))) == pytest.approx(0.0, abs=1e-12)


def test_steps_are_given_by_their_rate_or_sought():
    given = problem(speed=4.0, frequency=180.0)
    assert max(given.symmetry.shift) == pytest.approx(4.0 / 3.0)
    sought = problem(frequency=0.0)
    step = next(each for each in sought.symmetry.shift if not isinstance(each, float | int))
    assert "step" in str(step)
    with pytest.raises(ValueError, match="strike: expected one of heel, mid, fore, got 'hind'"):
        problem(strike="hind")


def test_stages_are_coarse_first_and_ask_the_same():
    stated = problem()
    fewer = coarser(stated, 16)
    for before, after in zip(stated.phases, fewer.phases):
        assert after.motion.points == min(16, before.motion.points)
        assert after.constraints == before.constraints
        assert after.duration == before.duration
    assert max(phase.motion.points for phase in stated.phases) > 16
