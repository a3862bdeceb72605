"""First guesses of phases: straight together, standing where contacts hold, on arcs in flight."""

from itertools import pairwise

import numpy as np
import pytest

import ocp
from ocp.mechanics import position
from ocp.models.arms.two_link import two_link
from ocp.models.walkers.monoped import monoped, pogo
from ocp.problem import Ground
from ocp.transcription.phases.phase_guess import root_gravity
from ocp.transcription.transcribe import transcribe

ARM = two_link()


def guessed(problem, *, method=None):
    """Return (basis, control points (n, points), duration (s)) of every phase of the first
    guess."""
    settings = {} if method is None else {"method": method}
    program = transcribe(problem, ocp.Transcription(**settings))
    x, motions = program.guess, []
    for part, columns in zip(program.parts, program.columns):
        own, stated = x[columns], part.layout.problem
        lower, upper = stated.duration
        first = int(lower != upper)
        count = stated.tree.dof * stated.motion.points
        points = np.reshape(own[first : first + count], (stated.tree.dof, -1), order="F")
        motions.append((stated.motion, points, own[0] if first else lower))
    return motions


def at(motion, s, order=0):
    """Return the coordinates (n,), or their derivatives by time, of a phase at s."""
    basis, points, T = motion
    return points @ basis.values([s], order)[0] / T**order


@pytest.mark.parametrize("method", [None, ocp.HermiteSimpson(intervals=6)], ids=["spline", "mesh"])
def test_a_straight_motion_goes_on_through_phases_of_any_length(method):
    durations = (0.3, 0.1, 0.6)
    phases = tuple(
        ocp.Phase(str(k), motion=ocp.BSpline(points=6), duration=T) for k, T in enumerate(durations)
    )
    ends = ocp.at_start(ARM, q=(0.2, -2.0)), ocp.at_end(ARM, q=(1.2, -1.0))
    problem = ocp.Problem(
        tree=ARM,
        phases=phases,
        links=(ocp.continuous("q"),) * 2,
        constraints=ends,
        objective=ocp.effort(),
    )
    for motion, before in zip(guessed(problem, method=method), np.cumsum((0.0, *durations))):
        for s in (0.0, 0.4, 1.0):
            t = before + s * motion[2]
            np.testing.assert_allclose(at(motion, s), (0.2 + t, -2.0 + t), atol=2e-4)
            np.testing.assert_allclose(at(motion, s, 1), (1.0, 1.0), atol=2e-3)


@pytest.mark.parametrize("seed", range(6))
def test_postures_where_phases_meet_reach_what_both_sides_ask(seed):
    draw = np.random.default_rng(seed)
    goals = [
        np.array(position(ARM, draw.uniform((-1, -2.5), (1, -0.4)), "tip")).ravel() for _ in "abc"
    ]
    phases = tuple(
        ocp.Phase(
            str(k),
            motion=ocp.BSpline(points=int(draw.integers(5, 9))),
            duration=(0.1, 1.0),
            constraints=(_reached(goal, "end"),),
        )
        for k, goal in enumerate(goals)
    )
    problem = ocp.Problem(
        tree=ARM,
        phases=phases,
        links=(ocp.continuous(),) * 2,
        constraints=(ocp.at_start(ARM, q=(0.0, -1.0), qd=0.0),),
        objective=ocp.effort(),
    )
    motions = guessed(problem)
    for before, after in pairwise(motions):
        np.testing.assert_allclose(at(before, 1.0), at(after, 0.0), atol=1e-6)
        np.testing.assert_allclose(at(before, 1.0, 1), at(after, 0.0, 1), atol=1e-4)
    for motion, goal in zip(motions, goals):
        tip = np.array(position(ARM, at(motion, 1.0), "tip")).ravel()
        np.testing.assert_allclose(tip, goal, atol=1e-5)


def _reached(goal, when):
    return ocp.path(
        "reached",
        lambda instant: instant.position("tip")[:2],
        lower=goal[:2],
        upper=goal[:2],
        when=when,
    )


def test_a_body_in_flight_follows_its_parabola():
    tree = pogo()
    phases = (ocp.Phase("flight", motion=ocp.BSpline(points=6), duration=0.4),)
    problem = ocp.Problem(
        tree=tree,
        phases=phases,
        constraints=(ocp.at_start(tree, q=(0.8, 0.8)), ocp.at_end(tree, q=(0.8, 0.8))),
        objective=ocp.effort(),
    )
    (motion,) = guessed(problem)
    for s in (0.1, 0.5, 0.8):
        t = s * 0.4
        assert at(motion, s)[0] == pytest.approx(0.8 + 9.81 * t * (0.4 - t) / 2, abs=1e-4)
        assert at(motion, s)[1] == pytest.approx(0.8, abs=1e-6)


@pytest.mark.parametrize("seed", range(4))
def test_a_hopper_stands_on_its_foot_and_leaves_it(seed):
    draw = np.random.default_rng(seed)
    tree, stride = monoped(), draw.uniform(-0.1, 0.2)
    standing = Ground(feet=(ocp.point_contact(tree, "foot", at=(stride, 0, 0)),), normal=(0, 1, 0))
    phases = (
        ocp.Phase("flight", motion=ocp.BSpline(points=8), duration=(0.1, 0.4)),
        ocp.Phase("stance", motion=ocp.BSpline(points=9), duration=(0.1, 0.6), ground=standing),
    )
    start = ocp.at_start(tree, q={"x": 0.0, "y": 0.7, "torso": 0.1})
    links = (ocp.impact("foot", normal=(0, 1, 0)),)
    problem = ocp.Problem(
        tree=tree, phases=phases, links=links, constraints=start, objective=ocp.effort()
    )
    pulls = [root_gravity(part).tolist() for part in problem.parts.values()]
    assert pulls == [[0, -9.81, 0, 0, 0], [0] * 5]
    flight, stance = guessed(problem)
    np.testing.assert_allclose(at(flight, 1.0), at(stance, 0.0), atol=1e-6)
    for s in (0.0, 0.3, 1.0):
        foot = np.array(position(tree, at(stance, s), "foot")).ravel()
        np.testing.assert_allclose(foot, (stride, 0.0, 0.0), atol=2e-2 if 0 < s < 1 else 1e-5)
    assert at(stance, 0.5)[4] < -0.1  # the knee is bent backward


def test_what_cannot_hold_leaves_a_guess_all_the_same():
    phases = tuple(
        ocp.Phase(
            name,
            motion=ocp.BSpline(points=6),
            duration=0.3,
            constraints=(_reached((3.0, 0.0), "end"),),
        )
        for name in "ab"
    )
    problem = ocp.Problem(
        tree=ARM, phases=phases, links=(ocp.continuous(),), objective=ocp.effort()
    )
    assert all(np.isfinite(points).all() for _, points, _ in guessed(problem))
