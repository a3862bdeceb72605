"""The same motion stated whole and in phases: what is asked, and what comes of it."""

from dataclasses import replace

import numpy as np
import pytest
from bipeds import LEAVE, STRIKE, TIGHT, biped, crouch, steps

import ocp
from ocp.models.arms.two_link import two_link
from ocp.motion import Mesh, Part
from ocp.problem import Span, bearing_slots, ground_between, in_phases, mirror_symmetry
from ocp.transcription import transcribe_phase
from ocp.transcription.transcribe import transcribe

ARM = two_link()
ENDS = {"down": STRIKE, "over": LEAVE, "stand": 1.0}


def pressed():
    """A body that goes down while one foot takes over from the other, on soles."""
    whole = crouch(shared_by_distance=False)
    rules = ocp.pressure_inside(whole.tree, whole.ground)
    return replace(whole, constraints=(*whole.constraints, *rules))


def swung(**changes):
    """An arm that swings and comes back, mirrored in nothing but itself."""
    stated = ocp.Problem(
        tree=ARM,
        motion=ocp.BSpline(points=8),
        duration=0.8,
        objective=ocp.effort(),
        constraints=(
            ocp.at_start(ARM, q=(0.0, -2.0)),
            ocp.path("there", lambda at: at.q[0], lower=0.5, upper=0.6, when=(0.5, 0.5)),
        ),
    )
    return replace(stated, **changes)


def test_a_step_in_phases_has_the_program_of_the_step():
    whole, parts = transcribe_phase(pressed()), transcribe(in_phases(pressed(), ENDS))
    assert len(parts.nlp.lower) == len(whole.nlp.lower)
    assert len(parts.nlp.g_lower) == len(whole.nlp.g_lower)


def test_a_step_in_phases_has_the_optimum_of_the_step():
    step = crouch(shared_by_distance=False)
    whole = ocp.solve(step, solver=TIGHT).require()
    parts = ocp.solve(in_phases(step, ENDS), solver=TIGHT, guess=whole).require()
    assert parts.objective == pytest.approx(whole.objective, rel=1e-9)
    t = np.linspace(0, 0.8, 41)
    np.testing.assert_allclose(parts.q(t), whole.q(t), atol=1e-6)


def test_a_cycle_in_phases_has_the_optimum_of_the_cycle():
    image = mirror_symmetry(ARM, range(2), (1, 1), shift={})
    whole = swung(symmetry=image)
    parts = in_phases(whole, {"out": 0.4, "back": 1.0})  # at a knot
    assert [part.end for part in parts.parts.values()] == ["shared", "image"]
    assert len(transcribe(parts).nlp.g_lower) == len(transcribe(whole).nlp.g_lower)
    expected = ocp.solve(whole, solver=TIGHT).objective
    assert ocp.solve(parts, solver=TIGHT).objective == pytest.approx(expected, rel=1e-9)


def test_the_ground_of_a_phase_is_that_of_the_whole_there():
    ground = steps(strike=0.25, leave=0.6)
    for a, b in ((0.0, 0.25), (0.25, 0.6), (0.6, 1.0)):
        for s in np.linspace(0.0, 1.0, 5)[1:-1]:
            own = ground_between(ground, a, b)
            assert set(bearing_slots(own, s)) == set(bearing_slots(ground, a + (b - a) * s))


@pytest.mark.parametrize(
    ("span", "kept"),
    [
        (Span(start=0.2, end=0.8, between=2), ((0.4, 1.0, True), (0.0, 0.6, False))),
        (Span(start=0.5, end=0.5), (None, (0.0, 0.0, False))),
        (Span(start=0.1, end=0.5, open_end=True), ((0.2, 1.0, True), None)),
        (Span(start=0.5, end=1.0, open_start=True), (None, (0.0, 1.0, False))),
    ],
)
def test_every_instant_is_asked_for_in_one_phase(span, kept):
    rule = ocp.path("rule", lambda at: at.q[0], lower=-9.0, when=span)
    parts = in_phases(swung(constraints=(rule,)), {"first": 0.5, "last": 1.0}).phases
    for phase, expected in zip(parts, kept):
        whens = [each.when for each in phase.constraints]
        got = [(each.start, each.end, each.open_end) for each in whens]
        assert all(each.between == span.between for each in whens)
        assert got == ([] if expected is None else [pytest.approx(expected)])


def test_waypoints_of_phases_make_one_curve():
    parts = transcribe(in_phases(swung(), {"first": 0.3, "last": 1.0}))
    points = np.random.default_rng(1).normal(size=16)
    own = [part.layout.size for part in parts.parts]
    assert own == [16, 16]
    x = parts.join_phases([points * (np.arange(16) < 2 * 5), points])
    assert np.isfinite(x).all()
    np.testing.assert_array_equal(parts.join_phases([points, points]), points)


STEPS = {"first": 0.3, "last": 1.0}


@pytest.mark.parametrize(
    ("changes", "ends", "words"),
    [
        ({"motion": Mesh(method="radau", intervals=4)}, STEPS, "motion: expected a BSpline"),
        (
            {"motion": ocp.BSpline(points=8, knots="free")},
            STEPS,
            "motion: expected a BSpline on given",
        ),
        ({"duration": (0.5, 1.0)}, STEPS, "duration: parts of one spline keep their shares"),
        ({}, {"first": 0.3, "last": 0.9}, "the last at 1"),
        ({}, {"first": 0.3, "second": 0.2, "last": 1.0}, "in order"),
    ],
)
def test_what_has_no_phases_is_refused(changes, ends, words):
    with pytest.raises(ValueError, match=words):
        in_phases(swung(**changes), ends)


def one_motion(link=None, durations=(0.3, 0.5)):
    """State two parts of one spline."""
    whole = ocp.BSpline(points=8)
    phases = tuple(
        ocp.Phase(name, motion=Part(whole=whole, start=a, end=b), duration=T)
        for name, a, b, T in zip("ab", (0.0, 0.375), (0.375, 1.0), durations)
    )
    held = ocp.at_start(ARM, q=0, qd=0), ocp.at_end(ARM, q=1, qd=0)
    stated = {"tree": ARM, "phases": phases, "objective": ocp.effort(), "constraints": held}
    return ocp.Problem(**stated, links=(link or ocp.continuous(),))


def test_parts_of_one_spline_go_on_without_rows():
    parts = transcribe(one_motion())
    assert not parts.link_rows
    assert len(parts.nlp.lower) == 16


def test_parts_of_one_spline_go_on_smoothly():
    with pytest.raises(ValueError, match="'a' and 'b': parts of one motion go over .* smoothly"):
        one_motion(ocp.impact("tip"))


def test_parts_of_one_spline_last_as_their_shares():
    with pytest.raises(ValueError, match="in proportion to the shares of the spline"):
        one_motion(durations=(0.3, 0.4))
    with pytest.raises(ValueError, match="expected given durations"):
        one_motion(durations=((0.2, 0.4), 0.5))


def test_a_foot_that_bears_to_the_very_end_must_go_on():
    tree, ground = biped(), steps(strike=0.25, leave=0.625)
    left = replace(ground.foot("left"), bears=(-np.inf, np.inf))
    whole = crouch(False, ground=replace(ground, feet=(ground.foot("right"), left)))
    assert tree.dof
    with pytest.raises(ValueError, match="phase 'over': foot 'left' bears at its end"):
        transcribe(in_phases(whole, ENDS))


def test_a_foot_in_swing_never_bears():
    assert (
        ocp.Foot(name="idle", supports=(), center=(0, 0, 0), bears=(np.inf, -np.inf)).supports == ()
    )
    with pytest.raises(ValueError, match="in swing never bears"):
        ocp.Foot(name="idle", supports=(), center=(0, 0, 0))
    assert ocp.Support(link="foot", when=(0, 1)).when == (0, 1)
