"""A measured person's walk predicted: that of a walk of which all is known comes back, and so does
what a change does to it; springs and weights count as they are said to."""

from dataclasses import replace
from functools import cache, partial

import casadi as ca
import numpy as np
import pytest
from lab_trials import MASS, RATE, SEGMENTS, STATURE, Z_UP, standing, striding, truth

from ocp import Series, Solver, Transcription
from ocp.estimation.marker_residuals import point_places
from ocp.mechanics import element_torques
from ocp.models.human import Person, springs_of, wearing_springs
from ocp.problems.gait import Accuracy, Carried, Gait, Muscles, problem, walk, walk_from
from ocp.problems.gait.card.stride import stride_of
from ocp.problems.lab import Change, analyse, predicted_walk, scale, track, what_if
from ocp.problems.lab.what_if import predicted_measures, speed_and_step

WHO = Person(mass=MASS, stature=STATURE, segments=SEGMENTS)
SPEED, STEP = 1.1, 0.58
WEAK = Muscles(ankles=0.6)
FEW = Accuracy(points=14)


@cache
def strode():
    return analyse(scale(standing(), mass=MASS, stature=STATURE), striding()[2])


@cache
def known(muscles=Muscles()):
    """The walk that the trial is made of, and how it is with other muscles."""
    stated = problem(Gait(speed=SPEED, step=STEP), WHO, muscles, accuracy=FEW)
    way = walk if muscles == Muscles() else partial(walk_from, known())
    return way(stated, Transcription(), Solver()).require(coarse=True)


@cache
def tracked():
    """One stride and a half of the known walk, by markers and plates."""
    stride, (tree, names) = stride_of(known()), truth()
    t = np.arange(0, 1.7 * stride.duration, 1 / RATE)
    percent = 100 * t / stride.duration + 5
    turns, within = np.divmod(percent, 100)

    def at(rows, way=None):
        found = np.array([np.interp(within, stride.percent, row) for row in rows])
        return found if way is None else found + np.outer(way, turns)

    slides = np.zeros(stride.tree.dof)
    slides[stride.tree.coordinate("glob_tz")] = stride.way[2]
    marked = [point for point in tree.points if point.name in names]
    body = replace(stride.tree, points=(*stride.tree.points, *marked))
    places = np.split(point_places(body, names, at(stride.q, slides))[0], len(names))
    pushes = {}
    for foot in ("right", "left"):
        push = stride.mass * 9.81 * at(stride.forces[foot])
        place = at(stride.pressures[foot], stride.way)
        place[1] = 0.0
        push[:, push[1] < 20.0] = 0.0
        pushes[foot] = np.vstack([np.cross(place.T, push.T).T, push])
    seen = Series(t=t, values=dict(zip(names, places)), source="walk.trc").rotate(Z_UP.T)
    plates = Series(t=t, values=pushes, source="walk_grf.mot").rotate(Z_UP.T)
    return analyse(scale(standing(), mass=MASS, stature=STATURE), seen, plates)


@cache
def followed():
    """That trial tracked with dynamics from before the left foot strikes until it does again."""
    return track(tracked(), span=(0.3, 1.6)).trial


@pytest.mark.commands
def test_a_walk_of_which_all_is_known_comes_back_and_so_does_what_weak_ankles_do():
    """A prediction from markers and plates has angles within 2 %, moments, power and costs within
    5 %, and of what weak ankles do 90 to 110 %."""
    found = what_if(tracked(), Change(muscles=WEAK), accuracy=FEW)
    assert found.tracked["speed (m/s)"] == pytest.approx(SPEED, rel=0.015)
    assert found.tracked["step (m)"] == pytest.approx(STEP, rel=0.015)
    true, weak = predicted_measures(known()), predicted_measures(known(WEAK))
    before, after = predicted_measures(found.unchanged), predicted_measures(found.changed)
    for name, number in true.items():
        assert before[name] == pytest.approx(number, rel=0.02 if "(deg)" in name else 0.05), name
        own, other = after[name] - before[name], weak[name] - number
        if abs(other) > 0.03 * abs(number):
            assert 0.9 * abs(other) < np.sign(other) * own < 1.1 * abs(other), name
    for name in ("hip flexion, range (deg)", "knee flexion, most (deg)", "ankle, range (deg)"):
        assert found.tracked[name] == pytest.approx(true[name], rel=0.01), name
    push_off = "ankle power, most (W/kg)"
    assert found.tracked[push_off] == pytest.approx(true[push_off], rel=0.08)
    assert min(r for r, _ in found.likeness.values()) > 0.95


@pytest.mark.commands
def test_moments_of_a_walk_tracked_with_dynamics_do_not_jump_as_a_foot_strikes():
    """Before it and while both feet stand they are near to those of the consistent motion."""
    trial, found = tracked(), followed()
    assert trial.consistent is not None
    strike = found.fit.t < 0.7  # the left foot strikes at .48 s
    frames = np.isin(trial.fit.t.round(6), found.fit.t[strike].round(6))
    joints = [trial.person.tree.coordinate(name) for name in ("ankle_df_r", "ankle_df_l")]
    off = found.torques[joints][:, strike] - trial.consistent.torques[joints][:, frames]
    assert np.nanmax(np.abs(off)) < 8.0  # N m: of some 90


@pytest.mark.commands
def test_a_trial_tracked_with_dynamics_is_asked_as_any_other():
    """Of a stride tracked, the prediction and what weak ankles do to it come back, and angles and
    push-off are those of the known walk."""
    after = followed()
    assert [cycle.foot for cycle in after.cycles] == ["l"]
    found = what_if(after, Change(muscles=WEAK), accuracy=FEW)
    true, weak = predicted_measures(known()), predicted_measures(known(WEAK))
    assert found.tracked["speed (m/s)"] == pytest.approx(SPEED, rel=0.015)
    for name in ("hip flexion, range (deg)", "knee flexion, most (deg)", "ankle, range (deg)"):
        assert found.tracked[name] == pytest.approx(true[name], rel=0.02), name
    push_off = "ankle power, most (W/kg)"
    assert found.tracked[push_off] == pytest.approx(true[push_off], rel=0.08)
    before, changed = predicted_measures(found.unchanged), predicted_measures(found.changed)
    own, other = (now[push_off] - was[push_off] for now, was in ((changed, before), (weak, true)))
    assert 0.9 * abs(other) < np.sign(other) * own < 1.1 * abs(other)


def test_the_task_is_that_of_the_trial_over_ground_and_on_a_belt():
    trial = strode()
    speed, step = speed_and_step(trial)
    assert step == pytest.approx(speed / 2, rel=0.02)  # strides of a second
    stated = predicted_walk(trial)
    assert stated.duration == pytest.approx((step / speed, step / speed))
    assert sum(link.mass for link in stated.tree.links) == pytest.approx(MASS)
    q = trial.fit.q.copy()
    q[trial.person.tree.coordinate("glob_tz")] -= 0.8 * trial.fit.t
    belt = replace(trial, fit=replace(trial.fit, q=q))
    assert speed_and_step(belt) == pytest.approx((speed, step))


def test_another_speed_keeps_step_over_cadence_and_another_mass_the_strength():
    trial = strode()
    speed, step = speed_and_step(trial)
    slower = predicted_walk(trial, Change(gait=Gait(speed=speed / 2), mass=MASS + 10))
    assert slower.duration[0] == pytest.approx(2**0.5 * step / speed)
    assert sum(link.mass for link in slower.tree.links) == pytest.approx(MASS + 10)
    strengths = [
        each.tree.joints[each.tree.joint_index("knee_flex_r")].torque
        for each in (slower, predicted_walk(trial))
    ]
    assert strengths[0] == pytest.approx(strengths[1])


def test_weights_of_the_person_change_as_those_of_the_problem_do():
    trial = strode()
    usual = {term.name: weight for weight, term in predicted_walk(trial).objective.terms}
    change = Change(muscles=Muscles(hips=0.5, knees=0.5, ankles=0.5, trunk=0.5, arms=0.5))
    changed = predicted_walk(trial, change).objective.terms
    own = predicted_walk(trial, change, {"work": 3 * usual["work"]}).objective.terms
    for (before, term), (after, _) in zip(changed, own):
        assert after == pytest.approx((3 if term.name == "work" else 1) * before)
    with pytest.raises(ValueError, match="no term 'wrok'"):
        predicted_walk(trial, weights={"wrok": 1.0})


def test_springs_push_back_from_standing_beside_tissue_on_both_sides():
    bare = problem(Gait(), WHO).tree
    tree = wearing_springs(bare, springs_of("ankle_df=150"))
    q, ankles = np.zeros(tree.dof), [tree.coordinate(f"ankle_df_{side}") for side in "rl"]
    q[ankles] = 0.2
    more = element_torques(tree, q, 0 * q) - element_torques(bare, q, 0 * q)
    pushed = np.zeros(tree.dof)
    pushed[ankles] = -30.0
    assert np.array(ca.evalf(more)).ravel() == pytest.approx(pushed)


@pytest.mark.parametrize(
    ("springs", "words"),
    [
        ("ankle=150", "expected some of the driven joints"),
        ("ankle_df=-1", "got 'ankle_df=-1'"),
        ("ankle_df_r=150", "take stride full"),
    ],
)
def test_springs_that_no_step_can_have_are_told_by_name(springs, words):
    with pytest.raises(ValueError, match=words):
        problem(Gait(), WHO, carried=Carried(springs=springs))
