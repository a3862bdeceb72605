"""Walks over their conditions, told of numbers that nobody solved for and of a made-up step."""

import json
from dataclasses import replace

import numpy as np
import pytest
from made_up_steps import made_up_step

from ocp.models.human import wearing
from ocp.problems.gait.card.stride import stride_of
from ocp.problems.gait.conditions import CONDITIONS, __main__, measuring, people
from ocp.problems.gait.conditions.design import chosen
from ocp.problems.gait.conditions.measuring import legs_work, measured
from ocp.problems.gait.conditions.picture import plot_conditions
from ocp.problems.gait.conditions.tables import along, claims, data, table
from ocp.problems.gait.statement.step import problem
from ocp.studies import flags_of
from ocp.studies.store.row_format import Cell

LEVEL = {
    "step_m": 0.65,
    "cadence_steps_min": 110.0,
    **dict.fromkeys(("hip_deg", "knee_deg", "ankle_deg", "up_mm", "sideways_mm"), 40.0),
    **dict.fromkeys(("negative_J_kg_m", "legs_positive_J_kg_m", "legs_negative_J_kg_m"), 1.0),
    **dict.fromkeys(("r_hip", "r_knee", "r_abduction", "r_vertical"), 0.96),
    "positive_J_kg_m": 1.0,
    "certified": 1.0,
}


def numbers(condition):
    """What people would do in a condition, as `people` tells of it."""
    asked = condition.arguments
    share = people.BROWNING.get(asked["load"], 1.0)
    sine = np.sin(np.radians(asked["slope"]))
    return LEVEL | {
        "step_m": people.grieve_step(asked["speed"]),
        "cadence_steps_min": 110.0 * share,
        "positive_J_kg_m": 1.0 + people.POSITIVE_OVER_SINE * sine,
    }


def cell(condition, status="solved", **changes):
    known = numbers(condition) | changes if status == "solved" else {}
    return Cell(id="", parameters=condition.arguments, content={}, status=status, measured=known)


@pytest.fixture
def done():
    return [(condition, cell(condition)) for condition in CONDITIONS]


def test_conditions_differ_and_are_asked_of_the_walk():
    assert len({condition.name for condition in CONDITIONS}) == len(CONDITIONS)
    known = set(flags_of(problem))
    assert all(set(condition.arguments) <= known for condition in CONDITIONS)
    assert [each.name for each in chosen(["crouch"])][:2] == ["usual", "crouch 20 deg"]


def test_the_usual_walk_is_of_every_axis(done):
    assert [value for value, _ in along(done, "slope")] == [-8.0, -5.71, 0.0, 5.71, 8.0]
    assert 1.2 in dict(along(done, "speed")) and "none" in dict(along(done, "load"))


def test_people_hold_to_what_walks_are_held_to(done):
    assert all(holds for holds, _ in claims(done))


@pytest.mark.parametrize(
    ("name", "changes", "words"),
    [
        ("speed 0.8 m/s", {"step_m": 0.52}, "0.8 m/s: step 0.520 m, 0.88 of Inman's, 0.90 of"),
        ("slope +5.71 deg", {"positive_J_kg_m": 1.9}, "positive work rises by 6.9"),
        ("slope -5.71 deg", {"r_abduction": 0.4}, "slope -5.71: r abduction 0.40 (asked 0.75)"),
        ("load foot=4 kg", {"cadence_steps_min": 110.0}, "foot=4 kg: frequency 1.000"),
        ("usual", {"certified": 0.0}, f"{len(CONDITIONS) - 1} of {len(CONDITIONS)} certified"),
    ],
)
def test_a_walk_unlike_people_is_told(done, name, changes, words):
    walks = [
        (condition, cell(condition, **changes) if condition.name == name else each)
        for condition, each in done
    ]
    (missed,) = (text for holds, text in claims(walks) if not holds)
    assert missed.startswith(words)


def test_a_walk_that_failed_is_told_without_numbers(done):
    walks = [(done[0][0], cell(done[0][0], "failed")), *done[1:]]
    solved = f"{len(CONDITIONS) - 1} of {len(CONDITIONS)} solved; not usual"
    assert claims(walks)[0] == (False, solved)
    assert "failed" in table(walks) and data(walks)["walks"]["usual"]["numbers"] == {}


def test_people_take_the_steps_that_are_told_of_them():
    assert people.inman_step(1.2) == pytest.approx(0.72)
    assert people.grieve_step(1.6) / people.grieve_step(0.8) == pytest.approx(2.0**0.43)
    assert people.measured_step(1.4) == pytest.approx(1.4 / 2 / 1.102)
    assert np.isnan(people.measured_step(0.6))


def test_work_is_of_the_body_without_what_it_wears(monkeypatch):
    monkeypatch.setattr(measuring, "certified", lambda solution: {"certified": 1.0})
    step = replace(made_up_step(), success=True)
    found, stride = measured(step), stride_of(step)
    assert found["step_m"] * found["cadence_steps_min"] == pytest.approx(60 * found["speed_m_s"])
    assert 0 < found["legs_positive_J_kg_m"] < found["positive_J_kg_m"]
    twice = legs_work(stride, 0.5)
    assert twice["legs_positive_J_kg_m"] == pytest.approx(2 * found["legs_positive_J_kg_m"])
    laden = wearing(step.problem.tree, {"trunk": 75.0})
    assert measuring.bare_share(laden) == pytest.approx(0.5)


def test_the_page_has_every_axis(done):
    figure = plot_conditions(done)
    assert len(figure.axes) == 16
    labels = [text.get_text() for text in figure.axes[1].get_legend().get_texts()]
    assert labels == ["ours", "Franz & Kram, 1.25 m/s", "Koelewijn, 1.3 m/s"]


def test_the_command_tells_writes_and_judges(monkeypatch, tmp_path, capsys):
    study = type("Swept", (), {"cells": [cell(each) for each in chosen(["slope"])]})
    monkeypatch.setattr(__main__, "swept", lambda conditions, **options: study)
    path = tmp_path / "walks.json"
    assert __main__.run(["--only", "slope", "--json", str(path)]) == 0
    assert "| slope +5.71 deg" in capsys.readouterr().out
    assert json.loads(path.read_text())["walks"]["slope +5.71 deg"]["arguments"]["slope"] == 5.71


@pytest.mark.parametrize("axes", ["pace", ""])
def test_unknown_axes_are_refused(axes, capsys):
    assert __main__.run(["--only", axes]) == 2
    assert "--only: expected some of speed, slope, crouch, load" in capsys.readouterr().err
