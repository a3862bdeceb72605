"""A run: its phases, how feet stand in them, what is least, and how it begins."""

import casadi as ca
import numpy as np
import pytest

from ocp import HermiteSimpson, Spline, Transcription
from ocp.mechanics import array, positions
from ocp.models.human import human
from ocp.problem.contact.transmitted_wrenches import is_corrected, passive_rows
from ocp.problems.gait.statement.objective_terms import mechanical_work
from ocp.problems.running import Effort, Gait, problem
from ocp.problems.running.contact_schedule import FLIGHT, STRIKES, stance, swinging
from ocp.problems.running.exertion import TENDONS
from ocp.problems.running.solve import SPARSE, coarser, lifted
from ocp.problems.running.statement import SHARES, as_usual, smoother
from ocp.transcription.laws.transition_laws import law_handover


@pytest.mark.parametrize("strike", STRIKES)
def test_phases_are_those_of_the_strike_and_their_durations_free(strike):
    stated = problem(gait=Gait(strike=strike))
    names = [phase.name for phase in stated.phases]
    assert names == [*STRIKES[strike], FLIGHT]
    assert stated.phases[-1].ground is None
    assert all(lower < upper for lower, upper in (phase.duration for phase in stated.phases))
    assert sum(SHARES[strike].values()) == pytest.approx(1.0)
    first = coarser(as_usual(stated), 6)
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


def test_the_root_s_law_is_asked_for_once_where_force_begins_or_ends():
    """In stance the ground's wrenches follow from the motion between nodes, and at its ends are
    none: there the law holds for the flight beside it too."""
    stated = problem()
    given = law_handover(stated)
    assert given == {"flat": set(range(6)), "toes": set(), FLIGHT: set(range(6))}
    for name in ("flat", "toes"):
        part = stated.parts[name]
        assert is_corrected(part.tree, part.ground) and not passive_rows(part.tree, part.ground)


def weights(stated):
    """Return {term: its weight} of an objective."""
    return {term.name: weight for weight, term in stated.objective.terms}


def test_what_people_spare_has_the_weights_asked_for_and_starts_smoother():
    stated = problem(effort=Effort(excitation=0.2, work=0.3))
    given = weights(stated)
    assert (given["excitation"], given["work"]) == pytest.approx((0.2, 0.3))
    assert "momentum" not in given
    first = weights(smoother(stated, 40.0))
    assert first.pop("smoothness") == pytest.approx(40 * given.pop("smoothness"))
    assert first == given


class Knee:
    """A right knee that turns at 2 rad/s against a torque that changes, everything else at rest."""

    def __init__(self, body, torque, rate=0.0):
        self.tree = body
        self.tau, self.qd, self.tau_rate = (ca.DM(body.dof, 1) for _ in range(3))
        row = body.coordinate("knee_flex_r")
        self.tau[row], self.qd[row], self.tau_rate[row] = torque, 2.0, rate


MAN = {"stature": 1.75, "mass": 75.0, "muscles": 75.0}


@pytest.mark.parametrize("tendons", [{}, TENDONS])
def test_work_counts_power_both_ways_in_weights_times_metres(tendons):
    body = human()
    term, weight = mechanical_work(body, MAN, tendons).terms[-1][1], 75.0 * 9.81
    for torque in (weight, -weight):
        assert float(term.function(Knee(body, torque))) == pytest.approx(2.0, abs=0.04)
    assert float(term.function(Knee(body, 0.0))) == pytest.approx(0.0, abs=1e-12)


def test_a_tendon_that_takes_up_the_turn_leaves_muscles_without_work():
    body = human()
    rate = -2.0 * TENDONS["knee_flex"]  # N m/s: the tendon gives back what the knee turns
    works = (mechanical_work(body, MAN, tendons) for tendons in (TENDONS, {}))
    behind, stiff = (work.terms[-1][1].function for work in works)
    assert float(behind(Knee(body, 100.0, rate))) == pytest.approx(0.0, abs=1e-12)
    assert float(stiff(Knee(body, 100.0, rate))) > 0.2


def test_steps_are_given_by_their_rate_or_sought():
    given = problem(gait=Gait(speed=4.0, frequency=180.0))
    assert max(given.symmetry.shift) == pytest.approx(4.0 / 3.0)
    sought = problem(gait=Gait(frequency=0.0))
    step = next(each for each in sought.symmetry.shift if not isinstance(each, float | int))
    assert "step" in str(step)
    with pytest.raises(ValueError, match="strike: expected one of heel, mid, fore, got 'hind'"):
        problem(gait=Gait(strike="hind"))


def test_stages_are_coarse_first_and_ask_the_same():
    stated = problem()
    fewer = coarser(stated, 8)
    assert any(phase.motion.curves for phase in stated.phases)
    assert coarser(stated).phases[:-1] == stated.phases[:-1]
    for before, after in zip(stated.phases, fewer.phases):
        assert after.motion.points == min(8, before.motion.points)
        assert not after.motion.curves
        assert after.constraints == before.constraints
        assert after.duration == before.duration
    assert max(phase.motion.points for phase in stated.phases) > 8


def test_torques_are_variables_in_flight_too_unless_something_else_is_asked():
    usual = lifted(Transcription()).method
    assert (usual.torques, usual.nodes) == ("variables", Spline().nodes)
    assert lifted(Transcription(), SPARSE).method.nodes == SPARSE < usual.nodes
    explicit = Transcription(method=Spline(torques="explicit", nodes=1))
    assert lifted(explicit, SPARSE) == explicit
    mesh = Transcription(method=HermiteSimpson())
    assert lifted(mesh, SPARSE) == mesh
