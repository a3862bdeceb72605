"""A folder whose trials are tracked with dynamics: the page and the command tell of it, and why a
trial is not tracked."""

from dataclasses import replace

import numpy as np
import pytest
from lab_trials import MASS, STATURE, one_leg, seen, standing, striding

from ocp import load
from ocp.cli.commands import lab
from ocp.interchange import Table, save_table

NOISE = 2e-3  # m
AXES = "xyz"


def first(series, frames=41):
    """The first frames of a trial, of which a part takes less time to track."""
    values = {name: rows[:, :frames] for name, rows in series.values.items()}
    return replace(series, t=series.t[:frames], values=values)


def write_markers(markers, path):
    labels = [f"{name}.{axis}" for name in markers.values for axis in AXES]
    rows = np.vstack(list(markers.values.values()))
    save_table(Table(t=markers.t, labels=labels, values=rows, units=["m"] * len(labels)), path)


def write_plate(plate, path):
    """Write a wrench by its moment about the origin."""
    (rows,) = plate.values.values()
    parts = ("force_v", rows[3:], "N"), ("force_p", 0 * rows[3:], "m"), ("torque_", rows[:3], "N m")
    labels = [f"ground_{word}{axis}" for word, _, _ in parts for axis in AXES]
    units = [unit for *_, unit in parts for _ in AXES]
    values = np.vstack([part for _, part, _ in parts])
    save_table(Table(t=plate.t, labels=labels, values=values, units=units), path)


@pytest.mark.commands
def test_the_page_has_weights_with_sources_changes_and_the_certificate(tmp_path, capsys):
    """Of a trial on one leg; one without plates is not tracked, and one without markers is
    refused, each with the reason."""
    write_markers(standing(), tmp_path / "static.trc")
    write_markers(first(seen(one_leg()[1], noise=NOISE)), tmp_path / "leg.trc")
    write_plate(first(one_leg()[3]), tmp_path / "leg_grf.mot")
    write_markers(striding()[2], tmp_path / "walk.trc")
    write_plate(one_leg()[3], tmp_path / "x.mot")
    (tmp_path / "x.mot").rename(tmp_path / "plates.trc")
    flags = ["--mass", str(MASS), "--stature", str(STATURE), "--cutoff", "6", "--track"]
    assert lab.command([str(tmp_path), *flags]) == 1
    told = capsys.readouterr().out
    print(told)
    assert "  tracked from 0.00 to 0.40 s: certified to " in told
    assert "  not tracked: track: the trial has no plates: what the ground does" in told
    assert "plates: refused: " in told
    page = (tmp_path / "lab" / "index.html").read_text(encoding="utf-8")
    for words in (
        "<h3>Tracked with dynamics</h3>",
        "<b>Certificate: certified to ",
        "<code>ocp verify leg_tracked.npz</code>",
        "<td>plates, of constant errors</td><td>5 N; 10 mm of the pressure's centre</td>"
        "<td>assumed</td>",
        "what inverse kinematics leave of each about its mean",
        "<th>off its plates (N, rms)</th>",
        "<th>markers off before (mm rms)</th>",
        "<td>RTIB</td>",
        "<td>r_1</td>",
        "<td>hip_flex_r</td>",
        "<b>Not tracked:</b> track: the trial has no plates",
    ):
        assert words.replace("'", "&#x27;") in page, words
    assert load(tmp_path / "lab" / "leg_tracked.npz").problem.ground.feet[0].name == "r_1"
