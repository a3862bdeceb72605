"""A laboratory's files give back the person, angles and moments that they were made of; what is
wrong with them is told by name."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from lab_trials import MASS, SEGMENTS, STATURE, one_leg, seen, standing, striding, truth

from ocp import Series
from ocp.interchange import Table, save_table
from ocp.problems.lab import LabSettings, analyse, known_sets, lab, scale
from ocp.problems.lab.marker_sets import recognise
from ocp.problems.lab.plates import treads
from ocp.problems.lab.trials import trials


@cache
def person():
    return scale(standing(), mass=MASS, stature=STATURE)


@cache
def leg():
    _t, q, _torques, plate = one_leg()
    return analyse(person(), seen(q), plate)


def worst(found, true, joints):
    tree, own = truth()[0], found.person.tree
    rows = {"q": found.fit.q, "tau": found.torques}
    inner = slice(8, -8)
    return {
        kind: max(
            float(
                np.abs(rows[kind][own.coordinate(j)] - true[kind][tree.coordinate(j)])[inner].max()
            )
            for j in joints
        )
        for kind in rows
    }


LEGS = [f"{joint}_{side}" for joint in ("hip_flex", "knee_flex", "ankle_df") for side in "rl"]


def test_the_person_is_recovered_from_a_static_trial():
    found = person()
    assert found.table.name == "Plug-in Gait" and (found.axes.up, found.axes.ahead) == ("z", "x")
    for name in ("thigh", "shank"):
        assert found.lengths[f"{name}_r"] == pytest.approx(SEGMENTS[name]["length"], abs=1e-6)
    assert sum(link.mass for link in found.tree.links) == pytest.approx(MASS)
    assert (
        max(off for name, off in found.off.items() if name[:4] in ("hip_", "knee", "ankl")) < 1e-4
    )
    assert any("elbow_r" in doubt for doubt in found.doubts)


def test_angles_and_moments_of_a_known_motion_come_back():
    _t, q, torques, _ = one_leg()
    off = worst(leg(), {"q": q, "tau": torques}, LEGS)
    assert off["q"] < np.radians(0.5)
    assert off["tau"] < 0.05 * np.abs(torques[6:]).max()
    assert leg().residuals[0] < 5.0 and max(leg().segments.values()) < 5e-3


def test_the_plate_goes_to_the_foot_that_stands_on_it_and_doubts_are_said():
    (tread,) = leg().treads
    assert tread.foot == "r" and tread.cut and tread.off < 0.05 < 0.1 < tread.other
    assert any("cut in mid-step" in doubt for doubt in leg().doubts)
    assert "Hz" in leg().smoothing


def test_a_plate_far_from_both_feet_is_told_by_name():
    _t, q, _, plate = one_leg()
    rows = plate.values["plate_1"]
    aside = rows.copy()
    aside[0] += 0.8 * rows[5]  # the force 0.8 m to the left
    with pytest.raises(ValueError, match="plate 'plate_1' bears .* plates are exchanged"):
        analyse(person(), seen(q), replace(plate, values={"plate_1": aside}))


def test_a_plate_a_little_aside_is_told_by_the_moment_that_it_leaves_unexplained():
    _t, q, _, plate = one_leg()
    rows = plate.values["plate_1"].copy()
    rows[0] += 0.12 * rows[5]  # the force 0.12 m to the left, and less than ASIDE off the foot
    found = analyse(person(), seen(q), replace(plate, values={"plate_1": rows}))
    assert any("N m (rms) at the pelvis are unexplained" in doubt for doubt in found.doubts)
    assert not any("unexplained" in doubt for doubt in leg().doubts)


def test_strides_are_found_without_plates():
    _t, q, markers = striding(noise=1e-3)
    found = analyse(person(), markers)
    right = [cycle for cycle in found.cycles if cycle.foot == "r"]
    assert right and all(cycle.end - cycle.start == pytest.approx(1.0, abs=0.03) for cycle in right)
    knee = q[truth()[0].coordinate("knee_flex_r")]
    assert np.ptp(right[0].curves["knee_flex_deg"]) == pytest.approx(
        np.degrees(np.ptp(knee)), abs=1.0
    )
    assert "knee_flex_Nm_kg" not in right[0].curves


def test_a_marker_that_is_missing_or_moved_is_told_by_name():
    _, _, markers = striding()
    rows = markers.values["RTIB"].copy()
    rows[:, : rows.shape[1] // 2] = np.nan
    found = analyse(person(), replace(markers, values={**markers.values, "RTIB": rows}))
    assert any("RTIB is missing in 49 %" in doubt for doubt in found.doubts)
    values = dict(markers.values)
    values["RTHI"], values["LTHI"] = values["LTHI"], values["RTHI"]
    found = analyse(person(), replace(markers, values=values))
    assert any("RTHI is" in doubt and "its name is another's" in doubt for doubt in found.doubts)


def test_a_marker_at_the_origin_was_not_seen_and_pulls_nothing():
    _, _, markers = striding()
    nought = np.zeros_like(markers.values["RTIB"])
    found = analyse(person(), replace(markers, values={**markers.values, "RTIB": nought}))
    assert any("RTIB is missing in all frames" in doubt for doubt in found.doubts)
    assert "RTIB" not in found.fit.rms and max(found.fit.rms.values()) < 0.01


def exchanged(markers):
    other = {"R": "L", "L": "R"}
    swap = {n: other[n[0]] + n[1:] if n[0] in other and n[1:] != "" else n for n in markers.values}
    return replace(markers, values={swap[name]: rows for name, rows in markers.values.items()})


def scaled(markers, factor):
    return replace(markers, values={n: factor * rows for n, rows in markers.values.items()})


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (exchanged, "left and right are exchanged"),
        (lambda markers: scaled(markers, 1 / 0.3048), "are they in feet"),
        (lambda markers: scaled(markers, 1e3), "are they in millimetres"),
        (lambda markers: striding()[2], "no static trial: the pelvis moves"),
        (lambda markers: markers.only(["RKNE", "LKNE", "C7"]), "markers of no set that is known"),
    ],
)
def test_bad_static_trials_are_told_by_name(make, words):
    with pytest.raises(ValueError, match=words):
        scale(make(standing()), mass=MASS)


@pytest.mark.parametrize("name", list(known_sets()))
def test_every_set_is_recognised_by_its_own_names(name):
    found = recognise([f"Anna:{marker}" for marker in known_sets()[name]], "walk.c3d")
    assert found.name == name


def test_a_table_of_ones_own_is_checked():
    own = {"k1": ("thigh_r", "knee_lat_r")}
    assert recognise(["k1", "x"], "walk.c3d", own).landmark("knee_lat_r") == "k1"
    with pytest.raises(ValueError, match="'k1': expected a segment"):
        recognise(["k1"], "walk.c3d", {"k1": ("leg", "")})


def test_two_plates_under_one_foot_are_both_its():
    t = np.arange(50) / 100
    heel, toe = np.zeros((3, 50)), np.zeros((3, 50))
    toe[2] = 0.25
    far = np.array(((0.3,), (0.0,), (0.0,)))
    force = np.zeros((6, 50))
    force[4, 5:40] = 400.0
    found = treads(
        Series(t=t, values={"a": force, "b": force}),
        {"r": (heel, toe), "l": (heel + far, toe + far)},
    )
    assert [tread.foot for tread in found] == ["r", "r"] and not found[0].cut


def written(markers, path):
    labels = [f"{name}.{axis}" for name in markers.values for axis in "xyz"]
    rows = np.vstack(list(markers.values.values()))
    save_table(Table(t=markers.t, labels=labels, values=rows, units=["m"] * len(labels)), path)


def test_a_folder_becomes_a_page_and_resumes(tmp_path):
    written(striding()[2], tmp_path / "walk.trc")
    with pytest.raises(ValueError, match="no static trial: none of walk"):
        lab(tmp_path, LabSettings(mass=MASS))
    written(standing(), tmp_path / "stand_static.trc")
    with pytest.raises(ValueError, match="no plate has the weight"):
        lab(tmp_path)
    written(scaled(striding()[2], 5.0), tmp_path / "wrong.trc")
    page = lab(tmp_path, LabSettings(mass=MASS, stature=STATURE))
    text = page.read_text(encoding="utf-8")
    assert "Refused" in text and "Plug-in Gait" in text and "<svg" in text
    kept = page.parent / "walk_angles.mot"
    before = kept.stat().st_mtime_ns
    assert lab(tmp_path, LabSettings(mass=MASS, stature=STATURE)) == page
    assert kept.stat().st_mtime_ns == before


def test_a_folder_that_is_not_there_or_has_no_trials_is_told_apart(tmp_path):
    with pytest.raises(ValueError, match="gone: no such folder"):
        trials(tmp_path / "gone")
    with pytest.raises(ValueError, match="expected trials in .c3d or .trc files"):
        trials(tmp_path)
