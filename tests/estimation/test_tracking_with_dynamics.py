"""Tracking with dynamics: a known motion and its forces come back from noisy markers and plates."""

import re
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from lab_trials import MASS, STATURE, Z_UP, one_leg, seen, standing, truth

from ocp import Series, load, measured_torques, save, verify
from ocp.estimation import (
    Stance,
    inverse_kinematics,
    measured_noise,
    tracking_problem,
)
from ocp.models.human.muscles.leg_muscles import leg_muscles
from ocp.problems.lab import analyse, muscle_forces, scale, track

PLATES = (5.0, 0.01)
NOISE = 2e-3  # m
SLOW = 6.0  # Hz: of a motion of 1 Hz, to which more is noise
INNER = slice(10, -10)  # frames: accelerations of any spline are poor at its ends
PUSH, SHIFT = np.array((4.0, -6.0, 3.0)), np.array((0.012, 0.0, -0.015))  # N, m: of the plate
MUSCLES = ("soleus", "tib_ant", "vas_lat", "bifemsh", "glut_max2", "psoas")
LEG = ("hip_flex_r", "hip_abd_r", "knee_flex_r", "ankle_df_r", "ankle_inv_r")


@cache
def muscled():
    """The person of the static trial, with some muscles of each leg."""
    person = scale(standing(), mass=MASS, stature=STATURE)
    muscles = leg_muscles(person.tree, STATURE, MASS, only=MUSCLES)
    return replace(person, muscled=replace(person.tree, elements=muscles))


@cache
def measured():
    """Somebody on one leg: markers with 2 mm of noise, a plate that is off by PUSH and SHIFT."""
    true = Z_UP @ one_leg()[3].values["plate_1"].reshape(2, 3, -1)
    place = np.array([true[0, 2], 0 * true[0, 0], -true[0, 0]]) / true[1, 1]
    free = true[0] - np.cross(place.T, true[1].T).T
    push = true[1] + PUSH[:, None]
    rows = np.vstack([np.cross((place + SHIFT[:, None]).T, push.T).T + free, push])
    plate = replace(one_leg()[3].rotate(Z_UP), values={"plate_1": rows}).rotate(Z_UP.T)
    return analyse(muscled(), seen(one_leg()[1], noise=NOISE), plate, cutoff=SLOW)


@cache
def tracked():
    return track(measured())


def off_moments(torques, frames=slice(None)):
    """How far moments of the standing leg are off the true ones (rms, N m)."""
    rows, true = (
        [tree.coordinate(name) for name in LEG] for tree in (measured().person.tree, truth()[0])
    )
    return float(np.sqrt(np.mean((torques[rows] - one_leg()[2][true][:, frames])[:, INNER] ** 2)))


def off_angles(q, frames=slice(None)):
    """How far angles are off the true ones (rms, deg)."""
    tree, own = measured().person.tree, truth()[0]
    names = [joint.name for joint in tree.moving if joint.kind == "revolute"]
    rows, true = ([each.coordinate(name) for name in names] for each in (tree, own))
    off = (q[rows] - one_leg()[1][true][:, frames])[:, INNER]
    return float(np.degrees(np.sqrt(np.mean(off**2))))


@pytest.mark.commands
def test_moments_angles_and_forces_are_nearer_to_the_true_ones_than_before():
    """Errors of moments are a seventh of inverse dynamics' and less than the consistent motion's,
    those of angles less than inverse kinematics', those of forces a fifth of the plate's."""
    trial, found = measured(), tracked()
    after = found.trial
    frames = np.isin(trial.fit.t, after.fit.t)
    off = off_moments(after.torques, frames)
    assert off < off_moments(trial.torques) / 7
    assert off < off_moments(trial.consistent.torques[:, frames], frames)
    assert off_angles(after.fit.q, frames) < off_angles(trial.fit.q)
    true = one_leg()[3].rotate(Z_UP).values["plate_1"][3:][:, frames]
    wrong = after.feet.at(after.fit.t)["r"][3:] - true
    assert np.sqrt(np.mean(wrong[:, INNER] ** 2)) < 0.2 * np.sqrt(np.mean(PUSH**2))


@pytest.mark.commands
def test_constant_errors_of_the_plate_are_found():
    """But for the height at which forces act, of which upright loads tell little."""
    ((push, place),) = tracked().errors.values()
    assert push == pytest.approx(PUSH, abs=1.0)
    assert place[[0, 2]] == pytest.approx(SHIFT[[0, 2]], abs=2e-3)


@pytest.mark.commands
def test_the_motion_is_certified_simulated_and_kept(tmp_path):
    """Nothing pushes the root, a simulation of the whole trial stays near, and so from its file."""
    found = tracked().solution
    certificate = found.verification
    certificate.require(1e-4)
    assert certificate.violations["dynamics"].dense < 1e-6  # N, N m
    assert certificate.drift < 1e-2
    save(found, tmp_path / "tracked.npz")
    kept = load(tmp_path / "tracked.npz")
    assert not kept.missing
    assert verify(kept).tightest < 1e-4


@pytest.mark.commands
def test_a_tracked_trial_goes_on_as_any_other():
    found = tracked()
    root = [k for k, j in enumerate(found.trial.person.tree.moving) if not j.actuated]
    tree, fit = found.trial.person.tree, found.trial.fit
    again = measured_torques(
        tree, fit.t, fit.q, fit.qd, fit.qdd, found.trial.feet, found.trial.person.feet
    )
    assert np.nanmax(np.abs(again[root])) < 1.0
    assert found.share < 0.02 and max(found.distance) < 2 * np.sqrt(3) * NOISE
    assert found.data()["status"] == found.solution.status


@pytest.mark.commands
def test_muscles_and_few_synergies_share_the_tracked_moments():
    """More synergies account for more of the activations, which stay within their bounds; what they
    lack of the moments is in their reserves."""
    found = tracked().trial
    fit, free = found.fit, found.muscles
    rows = [found.person.tree.coordinate(name) for name in free.joints]
    assert free.moments == pytest.approx(found.torques[rows]) and np.isfinite(free.reserves).all()
    few = [
        muscle_forces(
            muscled().muscled,
            fit.t,
            fit.q,
            fit.qd,
            found.torques,
            joints=free.joints,
            synergies=count,
        )
        for count in (2, 4, 5)
    ]
    shares = [each.synergies.accounted for each in few]
    assert 0.8 < shares[0] < shares[1] < shares[2] < 1.0
    for each in (*few, free):
        assert each.activations.max() < 1.0 + 1e-5
        assert 0 < free.largest_reserve < 1.01 * each.largest_reserve


@pytest.mark.commands
def test_a_trial_longer_than_what_is_tracked_is_told():
    assert str(tracked()) == "from 0.00 to 0.80 s"
    words = "from 0.00 to 0.80 s, part of 9.80 s in which plates tell all .at most 3 s"
    assert re.match(words, str(replace(tracked(), known=9.8)))


def test_noise_of_markers_and_plates_is_recovered():
    """Of markers on the right foot with 5 mm, all others with 2 mm; of samples with 8 N."""
    foot = ("RHEE", "RTOE", "RMT5")
    rng = np.random.default_rng(3)
    markers = seen(one_leg()[1], noise=NOISE)
    more = np.sqrt(5e-3**2 - NOISE**2)
    values = {
        name: rows + (more * rng.standard_normal(rows.shape) if name in foot else 0.0)
        for name, rows in markers.values.items()
    }
    fit = inverse_kinematics(
        measured().person.tree,
        replace(markers, values=values).rotate(Z_UP),
        motion=measured().fit.motion,
        start=measured().fit.q[:, 0],
    )
    rows = one_leg()[3].rotate(Z_UP).values["plate_1"].copy()
    rows[3:] += 8.0 * rng.standard_normal(rows[3:].shape)
    noise = measured_noise(fit, Series(t=fit.t, values={"r": rows}), PLATES)
    for name, size in noise.markers.items():
        assert size == pytest.approx(5e-3 if name in foot else NOISE, rel=0.2), name
    assert noise.instants[0] == pytest.approx(8.0, rel=0.2)
    assert noise.plates == PLATES


def stated(**changes):
    trial = measured()
    noise = measured_noise(trial.fit, trial.feet, PLATES)
    stance = Stance(name="r", plate="r", link=trial.person.feet["r"], start=-1.0, end=9.0)
    asked = {"fit": trial.fit, "forces": trial.feet, "stances": [stance], "noise": noise} | changes
    span = asked.pop("span", None)
    return tracking_problem(*asked.values(), span=span)


def test_plates_that_are_doubted_leave_their_errors_to_the_motion():
    problem = stated()
    names = [f"r_{what}_{axis}" for what in ("force", "pressure") for axis in "xyz"]
    (foot,) = problem.ground.feet
    assert foot.name == "r" and not problem.constraints
    terms = [term.name for _, term in problem.objective.terms]
    assert terms == ["marker_tracking", "smooth", "forces", "plate_errors"]
    assert len(names) == 6 and problem.duration == (0.8, 0.8)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"span": (0.2, 4.0)}, "span: expected times from 0 to 0.8 s"),
        (
            {"stances": [Stance(name="x", plate="q", link="a", start=0.0, end=1.0)]},
            "stance 'x': .* has no plate 'q'; it has r, l",
        ),
        (
            {"stances": [Stance(name="x", plate="r", link="shoe", start=0.0, end=1.0)]},
            "shoe",
        ),
    ],
)
def test_what_cannot_be_tracked_is_told_by_name(change, words):
    with pytest.raises(ValueError, match=words):
        stated(**change)


def test_markers_without_noise_and_trees_that_stand_are_refused():
    trial = measured()
    noise = measured_noise(trial.fit, trial.feet, PLATES)
    fewer = {name: size for name, size in noise.markers.items() if name != "RTOE"}
    with pytest.raises(ValueError, match="noise: marker 'RTOE' has none"):
        stated(noise=replace(noise, markers=fewer))
    with pytest.raises(ValueError, match="measured_noise: plates: force"):
        measured_noise(trial.fit, trial.feet, (-1.0, 0.01))


def test_a_trial_without_plates_or_beyond_what_they_tell_is_not_tracked():
    trial = measured()
    with pytest.raises(ValueError, match="track: plates never tell"):
        track(replace(trial, consistent=None))
    with pytest.raises(ValueError, match="track: the trial has no plates"):
        track(replace(trial, feet=None, consistent=None))
    with pytest.raises(ValueError, match="track: span: plates tell all from 0.00 to 0.80 s"):
        track(trial, span=(0.5, 2.0))
