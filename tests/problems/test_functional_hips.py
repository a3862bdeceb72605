"""Hips are where thighs turn about, not where a regression has them."""

import re
from dataclasses import replace

import numpy as np
import pytest
from lab_trials import MASS, STATURE, seen, standing, truth

from ocp.interchange import Table, save_table
from ocp.problems.lab import LabSettings, lab, scale
from ocp.problems.lab.measured_person import places_of

FORWARD = 0.02  # m: of markers of the pelvis from where the regression expects them


def swung(noise=0.0, aside=0.25):
    """Thighs that circle below a pelvis that sways."""
    tree, _ = truth()
    angle = np.linspace(0, 4 * np.pi, 200)
    q = np.zeros((tree.dof, len(angle)))
    q[tree.coordinate("glob_rz")] = 0.1 * np.sin(0.7 * angle)
    q[tree.coordinate("glob_tz")] = 0.05 * angle
    for side in "rl":
        q[tree.coordinate(f"hip_flex_{side}")] = 0.3 + 0.4 * np.sin(angle)
        q[tree.coordinate(f"hip_abd_{side}")] = 0.2 + aside * np.cos(angle)
    return seen(q, "hips.trc", noise=noise)


def off(person):
    """Distances (m) of hips from the true ones."""
    tree = truth()[0]
    here, there = places_of(person.tree, person.q), places_of(tree, np.zeros(tree.dof))
    return [float(np.linalg.norm(here[name] - there[name])) for name in ("hip_r", "hip_l")]


def with_wrong_front(markers):
    """The ASIS are seen farther in front, so that the regression is off."""
    values = dict(markers.values)
    for name in ("LASI", "RASI"):
        values[name] = values[name] + np.array([[FORWARD], [0.0], [0.0]])  # x is ahead
    return replace(markers, values=values)


@pytest.mark.parametrize(("noise", "near"), [(0.0, 1e-3), (1e-3, 6e-3)])
def test_hips_are_those_about_which_thighs_turn(noise, near):
    """The regression's are off by more than 1 cm, as its landmarks are; 1 mm of noise moves the
    others by 5 mm, as thighs that turn by 14 degrees aside leave spheres flat."""
    size = {"mass": MASS, "stature": STATURE}
    static, swing = with_wrong_front(standing()), with_wrong_front(swung(noise))
    assert min(off(scale(static, **size))) > 0.01
    assert max(off(scale(static, **size, functional=swing))) < near


def test_a_thigh_that_does_not_swing_leaves_its_hip_to_the_regression_and_says_so():
    """Whose markers are seen in one posture alone."""
    swing = swung()
    values = {
        name: np.where(np.arange(rows.shape[1]) < 1, rows, np.nan) if name == "LTHI" else rows
        for name, rows in swing.values.items()
    }
    one = replace(swing, values=values)
    found = scale(standing(), mass=MASS, stature=STATURE, functional=one)
    assert any("hip_l: the thigh does not swing" in doubt for doubt in found.doubts)
    assert not any("hip_r: the thigh" in doubt for doubt in found.doubts)


def test_thighs_that_do_not_swing_to_the_side_are_told_by_name():
    with pytest.raises(ValueError, match="no functional trial: no thigh swings"):
        scale(standing(), mass=MASS, stature=STATURE, functional=swung(aside=0.0))


def written(markers, path):
    labels = [f"{name}.{axis}" for name in markers.values for axis in "xyz"]
    rows = np.vstack(list(markers.values.values()))
    save_table(Table(t=markers.t, labels=labels, values=rows, units=["m"] * len(labels)), path)


def test_a_folder_s_functional_trial_is_found_by_its_name_or_named(tmp_path):
    """And it is no trial to be analysed; a model's hips are its own."""
    written(with_wrong_front(standing()), tmp_path / "static.trc")
    written(with_wrong_front(swung()), tmp_path / "hips.trc")
    size = {"mass": MASS, "stature": STATURE}
    page = lab(tmp_path, LabSettings(**size, functional="hips"))
    assert re.search(r"hip_r is where the thigh turns: 1\d mm off", page.read_text("utf-8"))
    assert not list(page.parent.glob("hips*"))
    with pytest.raises(ValueError, match="functional: no trial 'hip'.*did you mean 'hips'"):
        lab(tmp_path, LabSettings(**size, functional="hip"))
    with pytest.raises(ValueError, match="functional: a model has its hips"):
        lab(tmp_path, LabSettings(model="somebody.osim", functional="hips"))
    (tmp_path / "hips.trc").rename(tmp_path / "hips_functional.trc")
    assert "hip_l is where the thigh turns" in lab(tmp_path, LabSettings(**size)).read_text("utf-8")
