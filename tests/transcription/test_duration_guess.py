"""Durations of first guesses: flights last as their ends say, what stands beside them as long."""

from math import sqrt

import pytest

import ocp
from ocp.problems.hopping import pogo_hop
from ocp.transcription.phases.duration_guess import phase_durations
from ocp.transcription.phases.phase_guess import root_gravity
from ocp.transcription.transcribe import transcribe

G, MOTION, LONG = 9.81, ocp.BSpline(points=6), (0.01, 5.0)
STONE = ocp.Tree(
    links=(ocp.Link(), ocp.Link(mass=2.0)),
    joints=(
        ocp.prismatic("x", axis=(1, 0, 0), actuated=False),
        ocp.prismatic("y", "x", axis=(0, 1, 0), actuated=False),
    ),
    points=(ocp.Point(name="stone", link="y"),),
    gravity=(0.0, -G, 0.0),
)
NOTHING = ocp.integral("nothing", lambda at: 0 * at.q[0])


def times(*phases, **parts):
    """Return the durations (s) of the first guess of phases that follow each other."""
    links = (ocp.continuous(),) * (len(phases) - 1)
    problem = ocp.Problem(tree=STONE, phases=phases, links=links, objective=NOTHING, **parts)
    return phase_durations([*problem.parts.values()], problem.transitions, root_gravity)


def flight(*constraints, duration=LONG):
    return ocp.Phase("flight", motion=MOTION, duration=duration, constraints=constraints)


def begins(**stated):
    return ocp.at_start(STONE, **stated)


def ends(**stated):
    return ocp.at_end(STONE, **stated)


def test_a_hop_stands_and_flies_as_long_as_a_ball_thrown_up():
    program = transcribe(pogo_hop.problem(height=0.2, gravity=3.7))
    x, wanted = program.guess, 2 * sqrt(2 * 0.2 / 3.7)
    guessed = [x[columns[0]] for columns in program.columns]
    assert guessed == pytest.approx([wanted, wanted], rel=1e-12)


def test_a_throw_from_place_to_place_takes_the_time_of_the_arc_of_least_speed():
    (T,) = times(flight(begins(q=(0.0, 1.0)), ends(q=(3.0, -3.0))))
    assert pytest.approx(sqrt(2 * 5.0 / G), rel=1e-12) == T
    vx, vy = 3.0 / T, -4.0 / T + G * T / 2
    least = G * (sqrt(3.0**2 + 4.0**2) - 4.0)  # v^2 of the slowest throw so far down
    assert vx**2 + vy**2 == pytest.approx(least, rel=1e-12)


@pytest.mark.parametrize("v", [0.0, 2.0, 6.0])
def test_a_stone_thrown_up_from_a_ledge_lands_when_it_falls_by_its_height(v):
    (T,) = times(flight(begins(q={"y": 1.5}, qd={"y": v}), ends(q={"y": 0.0})))
    assert 1.5 + v * T - G * T**2 / 2 == pytest.approx(0.0, abs=1e-12)


def test_speeds_of_both_ends_or_of_one_say_how_long_a_flight_is():
    assert times(flight(begins(qd={"y": 2.0}), ends(qd={"y": -4.0}))) == pytest.approx([6.0 / G])
    assert times(flight(begins(qd={"y": 2.0}))) == pytest.approx([4.0 / G])
    assert times(flight(ends(qd={"y": -3.0}))) == pytest.approx([6.0 / G])


def test_a_jump_flies_by_the_speed_at_which_it_is_said_to_leave_and_pushes_as_long():
    ground = ocp.Ground(feet=(ocp.point_contact(STONE, "stone"),), normal=(0, 1, 0))
    leaving = ends(qd={"y": 3.0})
    short = ocp.Phase("crouch", motion=MOTION, duration=(0.1, 0.4), ground=ground)
    push = ocp.Phase("push", motion=MOTION, duration=(0.1, 1.6), ground=ground, constraints=leaving)
    *pushed, flown = times(short, push, flight())
    assert flown == pytest.approx(6.0 / G)
    assert sum(pushed) == pytest.approx(flown)
    assert pushed[1] == pytest.approx(2 * pushed[0])  # as the bounds have it


def test_what_says_nothing_keeps_the_middle_of_its_bounds_and_bounds_are_kept():
    assert times(flight(duration=(0.2, 0.8))) == pytest.approx([0.4])
    assert times(flight(begins(qd={"y": 9.0}), duration=(0.2, 0.8))) == pytest.approx([0.8])
    assert times(flight(begins(qd={"y": 9.0}), duration=0.3)) == pytest.approx([0.3])
    assert times(flight(begins(q=0.0), ends(q=0.0), duration=(0.2, 0.8))) == pytest.approx([0.4])
