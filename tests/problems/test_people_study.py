"""People at random and their walks: who is drawn, what is open, and what a study tells of them."""

import json
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from pictured import misplaced

from ocp import Parameter
from ocp.mechanics import parameters_of, position, with_values
from ocp.models.human import SURVEY, Segment, human, normative
from ocp.problems.gait.card.curves import CURVES
from ocp.problems.gait.card.norms import norms
from ocp.problems.gait.people import __main__ as command
from ocp.problems.gait.people import people, picture, problem
from ocp.problems.gait.people.bands import summary, tables
from ocp.problems.gait.people.measures import NUMBERS, curves
from ocp.problems.gait.people.picture import plot_bands
from ocp.problems.gait.people.statement import alike
from ocp.studies import Study
from ocp.studies.store.row_format import Cell

SHARES = "thigh_length", "shank_length", "thigh_mass", "shank_mass"


@pytest.fixture(scope="module")
def drawn():
    return people(200, seed=3)


def test_people_at_random_are_as_the_survey_has_them(drawn):
    assert people(200, seed=3) == drawn and people(200, seed=4) != drawn
    for sex in ("female", "male"):
        sizes = np.array([(one["stature"], one["mass"]) for one in drawn if one["sex"] == sex])
        for rank, (stature, mass) in SURVEY[sex].items():
            found = np.percentile(sizes, rank, axis=0)
            assert found[0] == pytest.approx(stature, abs=0.02)
            assert found[1] == pytest.approx(mass, rel=0.07)
        assert 0.35 < np.corrcoef(sizes.T)[0, 1] < 0.65


def test_every_band_of_proportions_and_strength_has_one_person(drawn):
    ranks = np.sort([one["percentile"] for one in drawn])
    assert np.diff(ranks).max() < 1.0 and 1.0 <= ranks[0] < ranks[-1] <= 99.0
    for name in SHARES:
        values = np.array([one[name] for one in drawn])
        assert values.mean() == pytest.approx(1.0, abs=0.002)
        assert values.std() == pytest.approx(0.04 if name.endswith("length") else 0.08, rel=0.05)


def test_who_is_long_of_leg_is_no_taller():
    """Legs, masses and strength are the person's; all of them may be open."""
    who = {"stature": 1.7, "mass": 60.0, "thigh_length": 1.1, "shank_length": 0.95}
    who |= {"thigh_mass": 1.2, "shank_mass": 0.9, "percentile": 30.0}
    ready = {name: Parameter(name, value) for name, value in who.items()}
    stated = problem(sex="female", **ready)
    assert {each.name for each in parameters_of(stated)} == {*who}
    tree = with_values(stated.tree, {each: who[each.name] for each in ready.values()})
    there = np.zeros(tree.dof)
    assert float(position(tree, there, "head_top")[1]) == pytest.approx(1.7)
    thigh = position(tree, there, "hip_r") - position(tree, there, "knee_r")
    assert float(thigh[1]) == pytest.approx(0.42875 / 1.75 * 1.7 * 1.1)
    assert sum(link.mass for link in tree.links) == pytest.approx(60.0)
    assert tree.links[tree.link_index("hip_rot_r")].mass == pytest.approx(1.2 * 0.1478 * 60, 1e-3)
    numbers = human(1.7, 60.0, sex="female", passive=True, strength="angle", percentile=30.0)
    for one, other in zip(tree.moving, numbers.moving):
        assert one.name == other.name
        assert not one.actuated or one.torque == pytest.approx(other.torque)


def test_a_segment_may_be_open_but_not_impossible():
    long = Parameter("long", 0.45, "m")
    legs = human(segments={"thigh": Segment(length=long, mass=Parameter("heavy", 9.0, "kg"))})
    knee = with_values(legs, {each: each.value for each in parameters_of(legs)})
    assert knee.links[knee.link_index("hip_rot_l")].mass == pytest.approx(9.0)
    with pytest.raises(ValueError, match="thigh.length: expected more than 0 m and less than 1.75"):
        human(segments={"thigh": Segment(length=2.0 * long + 1.0)})
    with pytest.raises(ValueError, match="percentile: expected 1 to 99, got 0.5"):
        human(percentile=Parameter("rank", 0.5))


@dataclass(frozen=True)
class Walked:
    """What of a Solution a start needs."""

    problem: Any
    points: np.ndarray
    lifted: np.ndarray
    multipliers: Any


def test_a_start_has_lengths_and_forces_of_the_persons_size():
    problem = SimpleNamespace(tree=human(1.755, 84.6))
    walked = Walked(problem, np.ones((38, 10)), np.ones((50, 4)), {"law": 1})
    start = alike(walked, human(0.9 * 1.755, 1.2 * 84.6, sex="female"))
    assert start.points[:3] == pytest.approx(0.9) and start.points[3:] == pytest.approx(1.0)
    assert start.lifted[:38] == pytest.approx(1.08) and start.multipliers == walked.multipliers
    wrench = start.lifted[-6:]
    assert wrench[:3] == pytest.approx(1.08) and wrench[3:] == pytest.approx(1.2)


def cells():
    """Three people, of whom one fails; the others' knees are those of Winter's adults, ever so."""
    knee = normative("winter").mean("knee_flex_deg", np.arange(101.0))
    for number, (arguments, shift) in enumerate(zip(people(3), (-1.0, 1.0, None))):
        measured = dict.fromkeys(NUMBERS, 1.0 * number) | {"certified": float(number)}
        for name in CURVES:
            line = knee + shift if shift is not None and name == "knee_flex" else np.ones(101)
            measured |= {f"{name} {k}": float(value) for k, value in enumerate(line)}
        solved = {"measured": measured, "statistics": {"iterations": 30}, "status": "solved"}
        state = (
            {"status": "failed", "reason": "Restoration_Failed\nno"} if shift is None else solved
        )
        yield Cell(id=str(number), parameters=arguments, content={}, seconds=2.0, **state)


@pytest.fixture
def study(tmp_path):
    return Study(path=tmp_path / "people.sqlite", cells=tuple(cells()))


def test_a_study_tells_bands_spreads_and_who_was_not_solved(study):
    told = json.loads(json.dumps(summary(study)))
    assert (told["asked"], told["solved"], told["certified"]) == (3, 2, 1)
    (failed,) = told["failed"]
    assert failed["person"]["sex"] == "female" and "method.sex" not in failed["person"]
    band, knee = told["curves"]["knee_flex"], norms()["winter"].bands["knee_flex"].mean
    assert band["median"] == pytest.approx(knee)
    assert np.array(band["high"]) - band["low"] == pytest.approx(1.8)  # of 2 deg, 90 %
    assert np.array(band["deviation"]) == pytest.approx(1.0)
    assert told["r"]["knee_flex"]["median"] == pytest.approx(0.975, abs=0.005)
    assert told["numbers"]["cadence"] == {"unit": "1/min", "low": 0.05, "median": 0.5, "high": 0.95}
    text = "\n".join(tables(told))
    assert "2 of 3 solved, 1 certified, 1 with a shoulder or an elbow at its bound; 30" in text
    assert "30 iterations in the median, 30 at most" in text
    assert "not solved: sex female" in text and text.count("Restoration_Failed") == 1


def test_curves_come_back_in_order(study):
    walks = [cell.measured for cell in study.solved]
    assert curves(walks)["knee_flex"].shape == (2, 101)
    assert curves(walks)["knee_flex"][1] - curves(walks)["knee_flex"][0] == pytest.approx(2.0)


@pytest.mark.commands
def test_the_command_leaves_numbers_table_and_picture(study, tmp_path, monkeypatch, capsys):
    asked = {}
    monkeypatch.setattr(command, "sweep", lambda *_, **given: asked.update(given) or study)
    monkeypatch.setattr(command, "plot_bands", lambda told, path, files: asked.update(path=path))
    assert command.run(["--count", "3", "--folder", str(tmp_path)]) == command.FAILED
    assert asked["file"] == tmp_path / "people.sqlite" and asked["measure"] is command.measured
    assert "2 of 3 solved" in capsys.readouterr().out
    assert json.loads((tmp_path / "people.json").read_text())["solved"] == 2
    header, *rows = (tmp_path / "people.csv").read_text().splitlines()
    assert header.startswith("sex,stature,mass,") and len(rows) == 3
    assert asked["path"] == tmp_path / "people.png"


def test_a_panel_of_each_curve_has_our_band_before_peoples(study, monkeypatch):
    few = {name: CURVES[name] for name in ("hip_flex", "knee_flex")}
    monkeypatch.setattr(picture, "CURVES", few)
    figure = plot_bands(summary(study))
    shown = {text.get_text() for text in figure.axes[0].texts}
    assert {"knee flexion (deg)", "hip flexion (deg)", "gait cycle (%)"} <= shown
    labels = {text.get_text() for text in figure.legends[0].get_texts()}
    assert {"ours, median", "ours, 5 to 95 %", "winter"} <= labels
    assert misplaced(figure) == []
    (*_, ours) = picture.tile(
        "knee_flex", summary(study)["curves"]["knee_flex"], {}, picture.MEASURED
    ).traces
    np.testing.assert_array_equal(ours.y, summary(study)["curves"]["knee_flex"]["median"])
    with pytest.raises(ValueError, match="nobody was solved"):
        plot_bands({"curves": None})


def test_nobody_is_no_study(tmp_path, capsys):
    assert command.run(["--count", "0", "--folder", str(tmp_path)]) == 2
    assert "expected a whole number of cells of at least 1, got 0" in capsys.readouterr().err
