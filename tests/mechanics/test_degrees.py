"""Angles that are likely in degrees are told where they are stated."""

import warnings
from pathlib import Path

import pytest

from ocp import (
    Guess,
    Parameter,
    Problem,
    at_end,
    at_start,
    dh,
    effort,
    prismatic,
    revolute,
    screw,
    with_limits,
    with_locked_joints,
)
from ocp.models.arms.two_link import two_link
from ocp.models.swing_ups.cart_pole import cart_pole
from ocp.motion import BSpline
from ocp.solving.starts.postures import posture
from ocp.solving.starts.warm_start import start
from ocp.transcription import transcribe

ARM = two_link()
STATED = Problem(tree=ARM, motion=BSpline(points=5), duration=1.0, objective=effort())
PLAIN = transcribe(STATED)


@pytest.mark.parametrize(
    ("state", "words"),
    [
        (lambda: revolute("a", position=(-90, 0)), "joint 'a': -90 rad is 14.3 turns"),
        (lambda: screw("a", pitch=0.1, position=45), r"radians\(-45\) = -0.7854"),
        (lambda: dh("a", position=(0, 120)), r"radians\(120\) = 2.094"),
        (lambda: at_end(ARM, q={"elbow": -45}), "at_end: q: joint 'elbow': -45 rad is 7.2 turns"),
        (lambda: at_start(ARM, q=Parameter("turn", 90.0)), "at_start: q: joint 'shoulder': 90 rad"),
        (
            lambda: with_limits(ARM, position={"elbow": (0, 120)}),
            "with_limits: position: joint 'elbow'",
        ),
        (
            lambda: with_limits(ARM, velocity=180),
            "velocity: joint 'shoulder': -180 rad/s is 28.6 turns/s",
        ),
        (
            lambda: dh("a", velocity=120),
            "velocity limits: joint 'a': -120 rad/s is 19.1 turns/s",
        ),
        (lambda: at_end(ARM, q={"elbow": 8}), "joint 'elbow': 8 rad is 1.3 turns"),
        (lambda: dh("a", alpha=90), "joint 'a': DH row: alpha: 90 rad is 14.3 turns"),
        (lambda: dh("a", kind="prismatic", theta=-45), "joint 'a': DH row: theta: -45 rad"),
        (
            lambda: with_locked_joints(ARM, {"elbow": -90}),
            "with_locked_joints: joint 'elbow': -90 rad is 14.3 turns",
        ),
        (lambda: start(PLAIN, Guess(q=[[0, 1], [-120, -1]])), "guess: q: joint 'elbow': -120 rad"),
        (lambda: posture(STATED, {"elbow": 30.0}), "posture: joint 'elbow': 30 rad"),
    ],
)
def test_an_angle_of_many_turns_is_told_at_its_line(state, words):
    with pytest.warns(UserWarning, match=words) as told:
        state()
    assert len(told) == 1 and Path(told[0].filename) == Path(__file__)


def test_angles_of_a_turn_and_slides_and_limits_without_end_are_no_degrees():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        revolute("a", position=(-6.3, 6.9))
        revolute("a", position=1e4)
        prismatic("a", position=90.0)
        with_limits(ARM, velocity=45.0)
        at_end(with_limits(cart_pole(), position={"cart": 20.0}), q={"cart": 12.0})


def test_an_angle_outside_its_limits_is_refused_with_the_suspicion():
    with pytest.raises(ValueError, match=r"outside its limits \(-3, 3\); 90 rad is 14.3 turns; if"):
        at_end(with_limits(ARM, position=3.0), q={"elbow": 90.0})


def test_a_place_beyond_its_limits_is_refused_with_the_suspicion():
    with pytest.raises(ValueError, match="cannot be locked at -90 rad.*; -90 rad is 14.3 turns"):
        with_locked_joints(with_limits(ARM, position=3.0), {"elbow": -90})
