"""Contacts whose forces are sought: blocks that land, rest and slide, a leg that pushes off."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from dropped_bodies import GRAVITY, MASS, X, Z, ball, block, piston, raised

import ocp
from ocp.problem import (
    Complementarity,
    Ground,
    Phase,
    contact_outputs,
    contacts,
    continuous,
    touches,
)
from ocp.problem.contact.complementarity import felt_ways

WEIGHT = MASS * GRAVITY
EULER = ocp.Transcription(method=ocp.Radau(intervals=16, order=1))
NOTHING = ocp.integral("nothing", lambda at: 0 * at.q[0])


def slab():
    """The block in the plane of x and z."""
    return ocp.Tree(
        links=(ocp.Link(), ocp.Link(mass=MASS)),
        joints=(
            ocp.prismatic("along", "ground", axis=X, actuated=False),
            ocp.prismatic("up", "along", axis=Z, actuated=False),
        ),
        points=(ocp.Point(name="sole", link="up"),),
        gravity=(0.0, 0.0, -GRAVITY),
    )


def left_alone(tree, push=(0.0, 0.0, 0.0), duration=0.4, leak=1e-4, **start):
    """The tree under a push, and nothing sought but its motion."""
    loads = contacts(tree, "sole", model=Complementarity(friction=0.5, leak=leak))
    return ocp.Problem(
        tree=tree,
        motion=ocp.BSpline(points=10),
        duration=duration,
        objective=NOTHING,
        loads=(*loads, ocp.Load(point="sole", force=push)),
        outputs=contact_outputs(loads),
        constraints=(ocp.at_start(tree, **{"q": 0.0, "qd": 0.0} | start),),
    )


@cache
def dropped():
    """The block thrown forward and dropped from 0.3 m."""
    statement = left_alone(block(), q=(0, 0, 0.3), qd=(1, 0, 0))
    return ocp.tighten(statement, EULER, loose=1e-2).require(coarse=True)


def test_what_is_dropped_lands_without_a_bounce_and_rests():
    solution = dropped()
    t = solution.nodes * solution.duration
    height, push = solution.q(t)[2], solution.output("force on sole", t)[2]
    lands = int(np.argmax(push > 1e-2))
    assert height[:lands].min() > 0.01
    assert np.abs(height[lands:]).max() < 1e-5
    assert push[-1] == pytest.approx(WEIGHT, rel=1e-4)
    assert np.abs(solution.qd(solution.duration)[[1, 2]]).max() < 1e-4
    carried = push.mean() * solution.duration  # from rest to rest the ground gives all of gravity's
    assert carried == pytest.approx(WEIGHT * solution.duration, rel=1e-4)


def test_a_blow_slows_what_slides_by_its_friction():
    solution = dropped()
    speed = solution.qd(solution.duration)[0]
    blow = np.sqrt(2 * GRAVITY * 0.3) + GRAVITY * (0.4 - np.sqrt(2 * 0.3 / GRAVITY))
    assert speed == pytest.approx(max(0.0, 1 - 0.5 / np.sqrt(2) * blow), abs=2e-2)


@pytest.mark.parametrize(("tree", "part"), [(slab, 0.8), (block, 1.4)])
def test_what_is_pushed_slides_beyond_its_friction(tree, part):
    grip = 0.5 * WEIGHT / (1 if tree is slab else np.sqrt(2))
    statement = left_alone(tree(), push=(part * grip, 0.0, 0.0))
    method = ocp.Transcription(method=ocp.Radau(intervals=4))
    solution = ocp.solve(statement, method).require()
    pushed = max(0.0, part - 1) * grip / MASS
    assert solution.qd(0.4)[0] == pytest.approx(0.4 * pushed, abs=4e-3)
    assert solution.output("force on sole", 0.2)[0] == pytest.approx(-min(1, part) * grip, rel=1e-2)


def test_a_slope_holds_what_its_friction_holds():
    normal = (-np.sin(0.3), 0.0, np.cos(0.3))
    for friction, slides in ((1.1 * np.tan(0.3), False), (0.5 * np.tan(0.3), True)):
        tree, model = slab(), Complementarity(friction=friction, leak=1e-4)
        loads = contacts(tree, "sole", model=model, normal=normal)
        statement = replace(left_alone(tree), loads=loads, outputs={})
        method = ocp.Transcription(method=ocp.Radau(intervals=4))
        speed = ocp.solve(statement, method).require().qd(0.4)[0]
        expected = -0.4 * GRAVITY * np.sin(0.3) * np.cos(0.3) * 0.5 if slides else 0.0
        assert speed == pytest.approx(expected, abs=4e-3)


def crouch(leak=1e-4):
    """The mass let down and raised again in 0.6 s, on a foot that nothing else holds."""
    return raised(piston(), Complementarity(leak=leak), 0.0, (0.0, 0.5), points=12)


@cache
def fixed():
    """The least effort on a foot that is fixed: of m^2 (g + a)^2, with 12 d^2 / T^3 of a's."""
    return MASS**2 * (GRAVITY**2 * 0.6 + 12 * 0.1**2 / 0.6**3)


METHODS = {
    "spline": ocp.Transcription(method=ocp.Spline()),
    "hermite-simpson": ocp.Transcription(method=ocp.HermiteSimpson(intervals=5)),
    "radau": ocp.Transcription(method=ocp.Radau(intervals=4)),
    "forward": ocp.Transcription(method=ocp.Radau(intervals=4, form="explicit")),
}


@cache
def crouched(method):
    return ocp.solve(crouch(), METHODS[method]).require()


@pytest.mark.parametrize("method", METHODS)
def test_by_every_method_a_foot_that_bears_stays_where_it_is(method):
    solution = crouched(method)
    assert solution.objective == pytest.approx(fixed(), rel=1e-4)
    assert np.abs(solution.q(solution.times())[0]).max() < 1e-4
    certificate = ocp.verify(solution)
    assert certificate.deviations.error < 1e-4
    assert certificate.energy_error < 1e-3


def test_phases_take_contacts():
    half = {"motion": ocp.BSpline(points=8), "duration": 0.3}
    parts = {"phases": (Phase("first", **half), Phase("second", **half)), "links": (continuous(),)}
    whole = crouch()
    stated = {name: getattr(whole, name) for name in ("tree", "objective", "loads", "constraints")}
    solution = ocp.solve(ocp.Problem(**stated, **parts)).require()
    assert solution.objective == pytest.approx(fixed(), rel=1e-6)


def test_files_keep_contacts(tmp_path):
    solution = crouched("spline")
    ocp.save(solution, tmp_path / "crouch.npz")
    again, t = ocp.load(tmp_path / "crouch.npz"), solution.times(9)
    assert touches(again.problem.loads) == touches(solution.problem.loads)
    assert np.allclose(again.output("force on sole", t), solution.output("force on sole", t))
    assert ocp.verify(again).deviations.error == pytest.approx(
        ocp.verify(solution).deviations.error
    )


def test_a_leak_that_is_brought_down_on_one_plan_takes_the_creep_away():
    pushed = left_alone(slab(), (0.4 * WEIGHT, 0, 0), leak=ocp.Parameter("leak", 1e-3, "J"))
    plan = ocp.prepare(pushed, ocp.Transcription(method=ocp.Radau(intervals=4)))
    loose = plan.solve()
    tight = plan.solve(loose, leak=1e-5)
    creeps = [solution.q(0.4)[0] for solution in (loose, tight)]
    assert creeps[0] > 5 * creeps[1] > 0


def test_a_contact_feels_what_its_tree_feels():
    assert len(felt_ways(block(), "sole", (0.0, 0.0, 1.0))) == 2
    (way,) = felt_ways(ball(), "centre", (0.0, 0.0, 1.0))
    assert np.allclose(way, X)
    (slick,) = contacts(block(), "sole", model=Complementarity(friction=0.0))
    assert slick.size == 1


TOUCHING = contacts(piston(), "sole", model=Complementarity())


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda: Complementarity(leak=0.0), "complementarity: leak: expected a number above 0"),
        (lambda: Complementarity(friction=-1.0), "friction: expected a number of at least 0"),
        (lambda: replace(crouch(), loads=TOUCHING * 2), "loads: two contacts are 'sole'"),
        (
            lambda: ocp.solve(crouch(), ocp.Transcription(method=ocp.Integrated())),
            "contacts sole are unknowns",
        ),
        (
            lambda: ocp.solve(crouch(), ocp.Transcription(method=ocp.Spline(torques="explicit"))),
            "torques 'explicit': forces of contacts sole are unknowns",
        ),
        (
            lambda: ocp.solve(replace(crouch(), motion=ocp.BSpline(points=9, knots="free"))),
            "motion: free knots: forces of contacts sole",
        ),
        (
            lambda: ocp.simulate(piston(), np.zeros(2), (np.zeros(2), np.zeros(2)), 0.1, TOUCHING),
            "contact 'sole': its force is sought with the motion",
        ),
        (
            lambda: ocp.tighten(replace(crouch(), loads=(), outputs={})),
            "tighten: .* no stays .* nor",
        ),
    ],
)
def test_contacts_where_they_cannot_be_are_refused(wrong, message):
    with pytest.raises(ValueError, match=message):
        wrong()


def test_contacts_and_a_ground_are_refused():
    with pytest.raises(ValueError, match="contacts sole find the ground by themselves"):
        replace(crouch(), ground=Ground.__new__(Ground))
