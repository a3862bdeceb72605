"""A jump of the human: what its height is made of, how feet stand, and how torques fade."""

import numpy as np
import pytest

from ocp import Attempt, Solver, Transcription, solve
from ocp.mechanics import array, positions
from ocp.models.human import human
from ocp.problems.gait.solve_step import limited
from ocp.problems.gait.statement.objective_terms import isometric_strength
from ocp.problems.human import counter_movement
from ocp.problems.human.jump import (
    APART,
    CROUCH,
    LANDING,
    SMOOTHER,
    apex,
    fading,
    height,
    lines,
    problem,
    report,
    rise,
    straight,
)
from ocp.problems.running.contact_schedule import stance
from ocp.problems.running.solve import COARSE, FIRST, SPARSE, lifted
from ocp.problems.running.statement import smoother


@pytest.fixture(scope="module")
def stated():
    return counter_movement.problem()


@pytest.fixture(scope="module")
def jumped():
    """A smooth jump on few points with constant limits, as the one that is solved first."""
    few = counter_movement.problem(points=COARSE)
    smooth = smoother(limited(few), SMOOTHER[0])
    how, attempts = lifted(Transcription(), SPARSE), (Attempt(options=FIRST),)
    begin = straight(few.tree)
    return solve(smooth, how, Solver(), guess=begin, attempts=attempts).require(coarse=True)


@pytest.mark.commands
def test_the_centre_of_mass_rises_as_it_does_by_its_speed_and_in_its_time(jumped):
    toes, flight = jumped.phases["toes"], jumped.phases["flight"]
    gravity = 9.81
    leaves, speed = float(flight.trace(height, 0.0)[0]), float(flight.trace(rise, 0.0)[0])
    highest = float(toes.trace(apex, toes.duration)[0])
    assert highest - leaves == pytest.approx(speed**2 / (2 * gravity), abs=1e-7)
    lands = float(flight.trace(height, flight.duration)[0])
    T = flight.duration
    assert lands - leaves == pytest.approx(speed * T - gravity * T**2 / 2, abs=5e-3)
    entry = report(jumped)["jump"]
    assert 0.05 < entry["height"] < 0.4 and entry["crouches"] > 0.05
    assert entry["height"] == pytest.approx(entry["raised"] + entry["rises"], abs=1e-8)
    assert len(lines(report(jumped))) == 2


@pytest.mark.commands
def test_feet_leave_and_touch_where_they_stand_both_alike(jumped):
    push, toes, flight = jumped.phases.values()
    ball = lambda at: at.position("ball_med_r")
    np.testing.assert_allclose(
        flight.trace(ball, flight.duration)[1:], push.trace(ball, 0.0)[1:], atol=1e-3
    )
    np.testing.assert_allclose(toes.qd(toes.duration), flight.qd(0.0), atol=1e-6)
    for side, sign in (("r", 1), ("l", -1)):
        heel = push.trace(lambda at, side=side: at.position(f"heel_{side}"), 0.0).ravel()
        np.testing.assert_allclose(heel, (-sign * APART / 2, 0.0, 0.0), atol=1e-3)
    force = toes.trace(lambda at: at.reaction.force("left"), toes.times(5))[1]
    np.testing.assert_allclose(
        force, toes.trace(lambda at: at.reaction.force("right"), toes.times(5))[1], atol=1e-4
    )
    assert force[0] > 100 and force[-1] == pytest.approx(0.0, abs=1e-6)
    joints = [flight.problem.tree.coordinate(name) for name in LANDING]
    assert np.all(abs(flight.q(flight.duration)[joints]) <= np.array(list(LANDING.values())) + 1e-6)


def test_both_feet_stand_where_they_rest_at_zero():
    body = human()
    for name in ("flat", "toes"):
        ground = stance(body, name, APART, first=False, last=True, both=True)
        for foot in ground.feet:
            pins = foot.supports[0].pins
            names = [pin.point for pin in pins]
            assert {each[-1] for each in names} == {foot.name[0]}
            places = [array(each).ravel() for each in positions(body, np.zeros(body.dof), names)]
            for place, pin in zip(places, pins):
                np.testing.assert_allclose(
                    place - np.array(pin.target), places[0] - np.array(pins[0].target), atol=1e-12
                )
            assert foot.bears == (-np.inf, 1.0)
        links = {foot.supports[0].link[-1] for foot in ground.feet}
        assert links == {"r", "l"}


def test_arms_hang_in_a_counter_movement_and_swing_in_a_jump(stated):
    swinging = {joint.name for joint in problem().tree.moving}
    still = {joint.name for joint in stated.tree.moving}
    assert {name[:-2] for name in swinging - still} == {"shou_flex", "elb_flex"}
    assert "toe_ext_r" in still


def test_the_first_guess_crouches_on_flat_feet(stated):
    tree = stated.tree
    guess = straight(tree)["push"].q
    crouch = guess[:, guess.shape[1] // 2]
    heel, ball, hip = (
        np.array(array(place), dtype=float).ravel()[1]
        for place in positions(tree, crouch, ("heel_r", "ball_med_r", "hip_r"))
    )
    (standing,) = positions(tree, np.zeros(tree.dof), ["hip_r"])
    assert hip == pytest.approx(float(array(standing).ravel()[1]) - CROUCH)
    assert heel == pytest.approx(0.0, abs=0.02) and ball == pytest.approx(heel, abs=1e-9)


def test_torques_fade_as_hill_says_from_what_is_left_at_the_angle(stated):
    body = stated.tree
    row, angle = body.coordinate("hip_flex_r"), 0.4
    limit = float(isometric_strength(body, "hip_flex_r", 1)(angle))

    class At:
        """A hip that flexes at a rate with a torque, everything else at rest."""

        def __init__(self, torque, rate):
            self.q, self.tau, self.qd = np.zeros((3, body.dof))
            self.q[row], self.tau[row], self.qd[row] = angle, torque, rate

    def share(torque, rate):
        return np.array(fading(body, 20.0).function(At(torque, rate)), dtype=float).max()

    assert share(limit, 0.0) == pytest.approx(1.0)
    for rate in (2.0, 10.0, 19.0):
        hill = limit * (1 - rate / 20) / (1 + rate / 5)
        assert share(hill, rate) == pytest.approx(1.0)
        assert share(1.01 * hill, rate) > 1.0
