"""Electromyograms beside a trial: whose columns are muscles' and what is wrong with them."""

from dataclasses import replace

import numpy as np
import pytest
from muscled_arm import muscle
from test_modelled_person import model, walked

from ocp import Series
from ocp.interchange import Table, save_table
from ocp.problems.lab import (
    LabSettings,
    analyse,
    electromyograms,
    lab,
    muscle_forces,
    person_of_model,
)
from ocp.problems.lab.muscles.electromyograms import envelopes_at

T = np.linspace(0.0, 1.2, 241)
ROWS = np.array([0.5 + 0.4 * np.sin(5 * T), 0.3 + 0.2 * np.cos(5 * T)])


def table(rows=ROWS, labels=("vasti", "hamstrings"), t=T):
    return Table(t=t, labels=labels, values=rows, source="walk_emg.sto")


NAMES = {"vasti": ("extensor_r",), "hamstrings": ("flexor_r",)}


def muscled():
    """The model of a scaled person, with two muscles across the right knee."""
    pair = (
        muscle(name, lever, joint="knee_angle_r", force=5000.0)
        for name, lever in (("flexor_r", 0.03), ("extensor_r", -0.04))
    )
    return replace(model(), elements=tuple(pair))


def plate():
    """A force that the right heel takes all along."""
    t, *_, seen = walked()
    force = np.repeat([[5.0], [150.0], [0.0]], len(t), axis=1)
    at = seen.values["R.Heel"] * np.array([[1.0], [0.0], [1.0]])
    return Series(t=t, values={"p": np.vstack([np.cross(at.T, force.T).T, force])}, source="p.mot")


def test_one_column_may_be_of_several_muscles_and_one_of_none():
    found = electromyograms(table(), {"vasti": ("a", "b"), "hamstrings": ()})
    assert set(found.values) == {"a", "b"}
    assert np.array_equal(found.values["b"][0], ROWS[0])


def test_what_a_filter_leaves_below_nought_is_nought():
    rows = ROWS.copy()
    rows[0, :5] = -0.02
    assert electromyograms(table(rows)).values["vasti"].min() == 0.0


@pytest.mark.parametrize(
    ("rows", "columns", "words"),
    [
        (ROWS - 0.5, {}, "walk_emg.sto: column 'vasti': .* rectify and filter"),
        (100 * ROWS, {}, "walk_emg.sto: column 'vasti': expected units of activation"),
        (ROWS, {"vastus": ("a",)}, "walk_emg.sto: no column 'vastus'.*did you mean 'vasti'"),
        (ROWS, {"vasti": ("a",), "hamstrings": ("a",)}, "muscle 'a' has two columns"),
    ],
)
def test_raw_signals_other_units_and_names_are_told_by_name(rows, columns, words):
    with pytest.raises(ValueError, match=words):
        electromyograms(table(rows), columns)


def test_envelopes_of_another_time_are_told_and_beyond_theirs_nothing_is_known():
    seen = electromyograms(table())
    with pytest.raises(ValueError, match=r"walk_emg.sto: .* from 0 to 1.2 s, markers from 5"):
        envelopes_at(seen, np.array((5.0, 6.0)))
    row = envelopes_at(seen, np.linspace(1.0, 1.4, 9)).envelopes["vasti"]
    assert np.isfinite(row).tolist() == [True] * 5 + [False] * 4


def test_muscles_of_a_trial_are_near_to_their_electromyograms():
    *_, seen = walked()
    person = person_of_model(muscled(), seen)
    found = analyse(person, seen, plate(), emg=electromyograms(table(), NAMES))
    near, fit = found.muscles, found.fit
    alone = muscle_forces(
        person.muscled, fit.t, fit.q, fit.qd, found.torques, joints=("knee_angle_r",)
    )
    assert alone.nearness == {} and set(near.nearness) == {"flexor_r", "extensor_r"}
    envelopes = np.array([np.interp(fit.t, T, ROWS[k]) for k in (1, 0)])
    off = [np.nanmean((each.activations - envelopes) ** 2) for each in (alone, near)]
    assert off[1] < 0.6 * off[0]
    both = [np.nanmean(each.activations.min(axis=0)) for each in (alone, near)]
    assert both[0] < 0.02 < 0.1 < both[1]  # work against each other


def test_electromyograms_without_muscles_or_forces_are_left_out_and_that_is_said():
    *_, seen = walked()
    found = analyse(person_of_model(model(), seen), seen, emg=electromyograms(table(), NAMES))
    assert found.muscles is None
    words = "walk_emg.sto: left out, as there are no muscles, which a model has and no forces"
    assert any(words in doubt for doubt in found.doubts)


def test_a_folder_s_electromyograms_of_unknown_muscles_are_refused_by_name(tmp_path, monkeypatch):
    *_, seen = walked()
    labels = [f"{name}.{axis}" for name in seen.values for axis in "xyz"]
    rows = np.vstack(list(seen.values.values()))
    save_table(Table(t=seen.t, labels=labels, values=rows), tmp_path / "walk.trc")
    save_table(table(), tmp_path / "walk_emg.sto")
    force = plate().values["p"]
    axes = ("x", "y", "z")
    columns = [f"ground_force_v{a}" for a in axes] + [f"ground_force_p{a}" for a in axes]
    place = np.vstack([force[2] / force[4], 0 * force[0], -force[0] / force[4]])
    columns += [f"ground_torque_{a}" for a in axes]
    turn = force[:3] - np.cross(place.T, force[3:].T).T
    values = np.vstack([force[3:], place, turn])
    save_table(Table(t=seen.t, labels=columns, values=values), tmp_path / "walk_grf.mot")
    monkeypatch.setattr("ocp.problems.lab.report.load_model", lambda file: muscled())
    model_file = tmp_path / "somebody.osim"
    model_file.write_text("")
    page = lab(tmp_path, LabSettings(model=model_file))
    assert "walk_emg.sto: the model has no muscle &#x27;vasti&#x27;" in page.read_text("utf-8")
    known = LabSettings(model=model_file, emg=tuple(NAMES.items()))
    text = lab(tmp_path, known).read_text("utf-8")
    assert "Refused" not in text and "electromyograms, as moments allow" in text
