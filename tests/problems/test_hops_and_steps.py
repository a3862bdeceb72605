"""Steps and hops beside what is printed, or follows in closed form."""

import numpy as np
import pytest

from ocp import Radau, Transcription, kinematics, verify
from ocp.problems.hopping import biped_walk, monoped_hop, pogo_hop
from ocp.problems.robots import quadruped_trot

LOGGED = biped_walk.PUBLISHED[0]
WEIGHTLESS = {"masses": (20.0, 0.0, 0.0), "inertias": (2.22, 0.0, 0.0)}


def solved(task, *settings, **changes):
    return task.method(task.problem(**changes), *settings).require(coarse=True)


@pytest.fixture(name="walk", scope="module")
def walking():
    return solved(biped_walk.TASK, points=14, **LOGGED.arguments)


def test_a_step_costs_what_kellys_log_prints(walk):
    assert LOGGED.ours(walk) == pytest.approx(LOGGED.value, rel=1e-4)


def test_steps_on_a_mesh_and_on_splines_agree(walk):
    radau = Transcription(method=Radau(intervals=8, order=4))
    mesh = solved(biped_walk.TASK, radau, points=14, **LOGGED.arguments)
    assert mesh.objective == pytest.approx(302.2547, rel=1e-5)  # 25 intervals of Kelly's balances
    assert walk.objective == pytest.approx(mesh.objective, rel=1e-3)


def test_the_foot_strikes_where_the_step_ends_and_energy_is_lost_by_the_impulse(walk):
    tree, end = walk.problem.tree, walk.duration
    q, before = walk.q(end).ravel(), walk.qd(end).ravel()
    after = walk.qd(0.0).ravel()[list(biped_walk.EXCHANGED)]
    place = np.array(kinematics.position(tree, q, "right foot")).ravel()
    np.testing.assert_allclose(place, [0.4, 0.0, 0.0], atol=1e-9)
    kinetic = [float(kinematics.kinetic_energy(tree, q, rates)) for rates in (before, after)]
    speed = np.array(kinematics.velocity(tree, q, before, "right foot")).ravel()
    (impulse,) = (push["right foot"] for push in walk.impulses.values())
    assert kinetic[0] - kinetic[1] == pytest.approx(-impulse @ speed / 2, rel=1e-9)
    assert impulse[1] > 0


def test_a_hop_on_a_leg_without_mass_is_the_closed_form():
    hop = solved(pogo_hop.TASK, height=0.2, mass=4.0, gravity=3.7)
    assert hop.objective == pytest.approx(pogo_hop.closed_form(0.2, 4.0, 3.7), rel=1e-6)
    assert hop.durations["stance"] == pytest.approx(hop.durations["flight"], rel=1e-6)
    assert hop.durations["flight"] == pytest.approx(2 * np.sqrt(2 * 0.2 / 3.7), rel=1e-6)
    (landing,) = verify(hop).impacts
    assert landing.balance < 1e-6 and abs(landing.lost) < 1e-9


def test_a_torso_on_a_leg_without_mass_flies_as_a_stone():
    hop = solved(monoped_hop.TASK, points=8, **WEIGHTLESS)
    flight, stance = hop.phases["flight"], hop.phases["stance"]
    t = np.linspace(0.0, flight.duration, 9)
    centre = flight.trace(lambda at: kinematics.center_of_mass(at.tree, at.q), t)
    first, rate = centre[:, :1], (centre[:, -1:] - centre[:, :1]) / flight.duration
    drop = 9.81 / 2 * t * (flight.duration - t)
    stone = first + rate * t + np.array([[0.0], [1.0], [0.0]]) * drop
    np.testing.assert_allclose(centre, stone, atol=1e-4)
    t = np.linspace(0.0, stance.duration, 2001)
    pushes = stance.trace(lambda at: at.reaction.force("foot"), t)[1]
    (impulse,) = (push["foot"] for push in hop.impulses.values())
    carried = np.trapezoid(pushes, t) + impulse[1]
    assert carried == pytest.approx(20.0 * 9.81 * hop.duration, rel=1e-4)


def test_certificates_judge_what_is_sought_of_phases_on_a_mesh():
    radau = Transcription(method=Radau(intervals=3, order=3))
    hop = solved(monoped_hop.TASK, radau, points=8)
    certificate, phase = verify(hop), hop.phases["flight"]
    law = certificate.violations["flight: dynamics"]
    joint = hop.problem.tree.coordinate(law.label)  # a driven one counts in torques that it needs
    assert law.label in ("hip", "knee")
    t = np.linspace(0.0, phase.duration, 2001)
    largest = np.abs(phase.trace(lambda at: at.required_torques[joint], t)).max()
    assert law.relative == pytest.approx(law.dense / largest, rel=1e-3)
    assert certificate.refusals == ()
    assert certificate.kkt < 1e-3
    (flight,) = certificate.flights
    assert max(flight.force, flight.moment) < 1e-9


@pytest.mark.parametrize("made", [monoped_hop.problem, quadruped_trot.problem])
@pytest.mark.parametrize("speed", [0.0, -1.0])
def test_who_goes_nowhere_is_refused_by_that(made, speed):
    with pytest.raises(ValueError, match="^speed: expected"):
        made(speed=speed)


@pytest.mark.parametrize("method", [Transcription(), Transcription(method=Radau(intervals=3))])
def test_what_moves_no_mass_goes_as_planned_in_a_simulation(method):
    certificate = verify(solved(pogo_hop.TASK, method))
    assert certificate.drift < 1e-8
    assert certificate.phases["stance"].deviations.defect < 1e-8
