"""Lifts of people with tissue and strength over the angle: what holds at the ends, and costs."""

import casadi as ca
import numpy as np
import pytest

from ocp import BSpline, Solver, Transcription
from ocp.mechanics import element_torques, torques_by_element
from ocp.models.human import human
from ocp.models.human.strength.tissue import LEG
from ocp.problems.benchmarks.motions.compare_lifts import postural_index
from ocp.problems.gait.statement.objective_terms import WALKING
from ocp.problems.lifting import Accuracy, Goal, Manner, solve_lifts
from ocp.problems.lifting.report.low_back import BACK
from ocp.problems.lifting.solve_lifts import _before, _simpler
from ocp.problems.lifting.statement.graded_knots import graded
from ocp.problems.lifting.statement.lift import problem
from ocp.problems.lifting.statement.standing_body import lifter

WHO = {"stature": 1.75, "mass": 75.0, "sex": "male", "muscles": 75.0}


class At:
    """A posture with torques, at rest."""

    def __init__(self, body, tau=(), q=()):
        self.q, self.tau, self.qd = (ca.DM.zeros(body.dof) for _ in range(3))
        for vector, entries in ((self.q, dict(q)), (self.tau, dict(tau))):
            for name, value in entries.items():
                vector[body.coordinate(name)] = value
        self.elements = element_torques(body, self.q, self.qd)


@pytest.fixture(scope="module")
def body():
    return lifter(WHO, True, True)


def test_the_spine_fully_flexed_is_held_by_what_was_measured_of_men(body):
    """120 N m in their mean (Dolan, Mannion & Adams 1994), 150 of a man as strong as these limits;
    and hardly anything in the first half of its range."""
    row = body.coordinate(BACK)
    held = [
        float(At(body, q={BACK: np.radians(angle)}.items()).elements[row]) for angle in (25, 12.5)
    ]
    assert held[0] == pytest.approx(-150.0, abs=1.5)
    assert held[1] == pytest.approx(-10.8, abs=1.5)


def test_tissue_holds_both_ends_of_all_ranges_but_those_that_are_measured(body):
    still = torques_by_element(body, *(ca.DM.zeros(body.dof) for _ in range(3)))
    ends = {name.removeprefix("end of ") for name in still if name.startswith("end of ")}
    driven = {joint.name for joint in body.moving if joint.actuated}
    assert ends == {name for name in driven if not name.startswith(LEG)}
    for name in ("wri_rad_r", "shou_rot_r"):
        joint = body.moving[body.coordinate(name)]
        for side, bound in zip((1, -1), joint.position):
            q = At(body, q={name: bound}.items()).q
            given = torques_by_element(body, q, 0 * q, 0 * q)[f"end of {name}"]
            holds = side * float(given[body.coordinate(name)])
            assert holds == pytest.approx(0.725 * -side * joint.torque[(1 - side) // 2], rel=0.02)


def test_tissue_grows_with_people():
    small = lifter({**WHO, "stature": 1.4, "mass": 50.0, "muscles": 50.0}, True, True)
    bent = {BACK: np.radians(25)}.items()
    whole, part = (
        float(At(each, q=bent).elements[each.coordinate(BACK)])
        for each in (lifter(WHO, True, True), small)
    )
    assert part / whole == pytest.approx(1.4 * 50 / (1.75 * 75))


def test_who_lifts_spares_what_people_spare_by_the_weights_of_walking_and_the_smoothness_asked():
    time = problem().duration[0]
    weights = {term.name: time * float(weight) for weight, term in problem().objective.terms}
    assert weights["excitation"] == pytest.approx(WALKING.excitation)
    assert weights["passive"] == pytest.approx(WALKING.passive)
    assert weights["work"] / weights["smoothness"] == pytest.approx(
        WALKING.work / WALKING.smoothness
    )
    asked = problem(goal=Goal(smooth=3 * WALKING.smoothness)).objective.terms[-1]
    assert time * float(asked[0]) == pytest.approx(3 * weights["smoothness"])
    hanging = {"arms", "posture", "upright", "momentum", "head"}
    assert not hanging & weights.keys()


def test_without_tissue_bodies_have_constant_strength_and_the_narrower_ranges():
    plain = lifter(WHO, True)
    assert plain.elements == ()
    assert problem(passive=False).objective.terms[0][1].name == ("dynamic_effort")
    knee = plain.coordinate("spine1_flex")
    assert np.degrees(plain.moving[knee].position) == pytest.approx((-4.0, 25.0))
    assert human().elements == ()


def test_a_lift_of_two_objectives_names_what_it_costs_with_tissue_and_without():
    stated, plain = (problem(goal=Goal(weight=0.5), passive=passive) for passive in (True, False))
    assert stated.tree.elements and plain.tree.elements == ()
    beside = ["stability", "smoothness"]
    names = ["excitation", "passive", "work", *beside]
    assert [term.name for _, term in stated.objective.terms] == names
    assert [term.name for _, term in plain.objective.terms] == ["dynamic_effort", *beside]
    heaviest = problem(goal=Goal(maximum=True), passive=True)
    assert heaviest.objective.terms[0][1].name == "mass"


def test_a_style_asks_for_knees_at_the_start_and_goes_on_from_the_best_lift():
    for style, (least, most) in {"squat": (90.0, 140.0), "stoop": (0.0, 20.0)}.items():
        stated = problem(manner=Manner(style=style))
        rule = next(each for each in stated.constraints if each.name == "style")
        assert rule.labels == ("knee_flex_r",) and rule.when == "start"
        assert np.degrees([rule.lower_of(0), rule.upper_of(0)]) == pytest.approx([least, most])
        best = _simpler(stated)
        assert "style" not in [each.name for each in best.constraints]
        assert best.tree == stated.tree and best.motion == stated.motion
    with pytest.raises(ValueError, match="style: expected one of squat, stoop or none, got 'sit'"):
        problem(manner=Manner(style="sit"))


def test_lifts_that_spare_what_people_spare_have_graded_knots_and_smooth_loads():
    for turn in (0.0, 60.0):
        stated = problem(manner=Manner(turn=turn))
        assert stated.motion == graded(13) and stated.ground.sharing == "smooth"
    for plain in (problem(passive=False), problem(passive=False, accuracy=Accuracy(points=9))):
        assert plain.motion == BSpline(points=9) and plain.ground.sharing == "straight"
    for passive in (True, None):
        heaviest = problem(goal=Goal(maximum=True), passive=passive)
        assert heaviest.motion == BSpline(points=11) and heaviest.ground.sharing == "straight"


def test_a_lift_goes_on_from_a_rough_one_on_half_of_its_segments_and_a_style_from_both(monkeypatch):
    tried = []

    def took(stated, transcription, solver, begun, rough, **how):
        tried.append((stated.motion, rough))
        return type("Lifted", (), {"statistics": {}})

    monkeypatch.setattr(solve_lifts, "go_on", took)
    monkeypatch.setattr(solve_lifts, "after", lambda lifted, before: lifted)
    for style, motions in {"": [graded(9)], "squat": [graded(9), graded(13)]}.items():
        tried.clear()
        _before(problem(manner=Manner(style=style)), Transcription(), Solver())
        assert tried == [(motion, True) for motion in motions]


def test_postures_between_stoop_and_squat_have_their_index():
    """Flexion of knees over that of ankles, hips and spine (Burgess-Limerick & Abernethy 1997)."""
    assert postural_index({"knee": 0.0, "ankle": -5.0, "hip": 60.0, "lumbar": 45.0}) == 0.0
    assert postural_index({"knee": 120.0, "ankle": 20.0, "hip": 90.0, "lumbar": 10.0}) == 1.0
