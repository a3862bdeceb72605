"""A jump of a planar human: what its height is made of, and how torques fade."""

import numpy as np
import pytest

from ocp import prepare
from ocp.models.walkers.five_link import GRAVITY
from ocp.models.walkers.jumper import jumper
from ocp.problems.human.jump import apex, fading, height, lines, problem, report, rise


@pytest.fixture(scope="module")
def plan():
    """A jump on a coarse basis."""
    return prepare(problem(points=7, intervals=6))


@pytest.fixture(scope="module")
def jumped(plan):
    """Return its solution."""
    return plan.solve().require(coarse=True)


def test_the_centre_of_mass_rises_as_it_does_by_its_speed_and_in_its_time(jumped):
    toes, flight = jumped.phases["toes"], jumped.phases["flight"]
    leaves, speed = float(flight.trace(height, 0.0)[0]), float(flight.trace(rise, 0.0)[0])
    highest = float(toes.trace(apex, toes.duration)[0])
    assert highest - leaves == pytest.approx(speed**2 / (2 * GRAVITY), abs=1e-7)
    lands = float(flight.trace(height, flight.duration)[0])
    T = flight.duration
    assert lands - leaves == pytest.approx(speed * T - GRAVITY * T**2 / 2, abs=5e-3)
    entry = report(jumped)["jump"]
    assert 0.35 < entry["height"] < 0.6  # more than on finer bases
    assert entry["height"] == pytest.approx(entry["raised"] + entry["rises"], abs=1e-8)
    assert len(lines(report(jumped))) == 2


def test_feet_leave_and_land_where_they_stand_and_bodies_fly(jumped):
    push, toes, flight, stand = jumped.phases.values()
    heel = lambda at: at.position("heel")[:2]
    np.testing.assert_allclose(push.trace(heel, 0.0), stand.trace(heel, stand.duration), atol=1e-6)
    assert toes.trace(heel, toes.duration)[1] > 0.01
    np.testing.assert_allclose(toes.qd(toes.duration), flight.qd(0.0), atol=1e-6)
    push_off = jumped.impulses["flight to stand"]
    assert push_off["heel"][1] + push_off["ball"][1] > 0


def test_the_first_guess_stands_on_its_feet(plan):
    program = plan.transcribed
    x = program.guess
    g = np.array(program.nlp.constraints(x)).ravel()
    for rows in program.rows:
        if "standing." in rows.constraint.name:
            chosen = rows.row[rows.row >= 0]
            assert np.abs(g[chosen]).max() < 1e-5


def test_torques_fade_as_hill_says():
    body = jumper()
    row = body.coordinate("hip")
    limit = body.moving[row].torque[1]

    class At:
        """A hip that flexes at a rate with a torque, everything else at rest."""

        def __init__(self, torque, rate):
            self.tau, self.qd = np.zeros(7), np.zeros(7)
            self.tau[row], self.qd[row] = torque, rate

    def share(torque, rate):
        return np.array(fading(body, 20.0, 0).function(At(torque, rate))).max()

    assert share(limit, 0.0) == pytest.approx(1.0)
    for rate in (2.0, 10.0, 19.0):
        hill = limit * (1 - rate / 20) / (1 + rate / 5)
        assert share(hill, rate) == pytest.approx(1.0)
        assert share(1.01 * hill, rate) > 1.0
