"""Walks by muscles beside measured people: when muscles are on, and the claims of the benchmark."""

from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from ocp import Solver
from ocp.models.human import human
from ocp.models.human.muscles.leg_muscles import leg_muscles
from ocp.problem import LAWS
from ocp.problems.gait.benchmark import CONDITIONS, __main__, design
from ocp.problems.gait.benchmark.design import chosen, nearer, on_the_way
from ocp.problems.gait.benchmark.tables import by_laws, cheapest, claims, data, table
from ocp.problems.gait.by_muscles.emg_timing import ON, PARTS, PEOPLE, emg_timing
from ocp.problems.gait.muscle_gait import problem
from ocp.studies import Study, flags_of
from ocp.studies.store.row_format import Cell

NAMES = tuple(part for parts in PARTS.values() for part in parts)


@cache
def body():
    """A human whose eight muscles are elements."""
    muscles = leg_muscles(human(), 1.75, 75.0, only=NAMES)
    return replace(human(), elements=muscles)


def stride(on):
    """A stride {muscle: spans (%)} of excitations, standing for 62 % of the cycle."""
    percent = np.linspace(0.0, 100.0, 401)
    rows = {joint.name: row for row, joint in enumerate(body().moving)}
    drives = np.full((len(rows), len(percent)), 0.01)
    for name, spans in on.items():
        for part in PARTS[name]:
            for a, b in spans:
                drives[rows[f"{part}_r.activation"], (percent >= a) & (percent <= b)] = 2.0 * ON
    weights = np.gradient(percent) / 100.0
    weights[[0, -1]] /= 2.0
    return SimpleNamespace(
        tree=body(),
        percent=percent,
        drives=drives,
        weights=weights,
        toe_off=62.0,
        joint=lambda values, name: values[rows[name]],
    )


def test_muscles_on_as_perry_s_agree_with_her_whole_cycle():
    told = emg_timing(stride(PEOPLE["Perry"].on))
    assert told["agreement"]["Perry"] == pytest.approx(1.0)
    assert told["overlap"]["Perry"] == pytest.approx(1.0)
    assert 0.8 < told["agreement"]["pyCGM2"] < 1.0 and len(told["muscles"]) == 8
    assert told["muscles"]["soleus"]["on"] == [[3.0, 52.0]]


def test_muscles_that_are_never_on_agree_where_people_s_are_off():
    told = emg_timing(stride({}))
    assert told["overlap"]["Perry"] == 0.0
    assert told["muscles"]["rectus femoris"]["agreement"]["Perry"] == pytest.approx(0.89, abs=0.01)
    assert told["muscles"]["soleus"]["on"] == []


def test_a_body_without_these_muscles_has_no_times():
    few = leg_muscles(human(), 1.75, 75.0, only=("soleus",))
    bare = SimpleNamespace(tree=replace(human(), elements=few))
    assert emg_timing(bare) == {}


def cell(condition, cost=1.0, status="solved"):
    spent = cost * (condition.people or 1.0)
    known = {"metabolic_J_kg_m": spent, "muscles_J_kg_m": spent, "certified": 1.0}
    known |= {f"{law}_J_kg_m": 2.0 * spent for law in LAWS}
    measured = known if status == "solved" else {}
    return Cell(id="", parameters=condition.arguments, content={}, status=status, measured=measured)


def test_conditions_differ_and_are_asked_of_the_walk_by_muscles():
    assert len({condition.name for condition in CONDITIONS}) == len(CONDITIONS)
    known = set(flags_of(problem))
    assert all(set(condition.arguments) <= known for condition in CONDITIONS)
    assert {each.set for each in chosen(["loads", "slopes"])} == {"loads", "slopes"}


def test_walks_start_from_the_next_that_departs_less_from_the_first():
    starts = {each.name: nearer(each).name for each in CONDITIONS}
    assert starts["loads: foot=4 kg"] == "loads: foot=2 kg"
    assert starts["steep: +15 %"] == "steep: +7 %" and starts["slow: -8 %"] == "slow: +0 %"
    assert starts["rates: -20 % of the rate"] == "rates: -10 % of the rate"
    assert (
        starts["speeds: +0.9 m/s"] == "speeds: +1.1 m/s" and starts["trunk: +16 kg"][-5:] == "+0 kg"
    )
    first = [name for name, near in starts.items() if near == CONDITIONS[0].name]
    assert {"loads: none kg", "loads: waist=16 kg", "slopes: +0 %", "speeds: +1.4 m/s"} < {*first}


def test_a_walk_comes_after_the_one_from_which_it_starts():
    order = on_the_way(CONDITIONS[::-1])
    assert {each.name for each in order} == {each.name for each in CONDITIONS}
    places = {each.name: place for place, each in enumerate(order)}
    first, *others = order
    assert first is CONDITIONS[0] is nearer(first)
    assert all(places[nearer(each).name] < places[each.name] for each in others)
    (last,) = [each for each in CONDITIONS if each.name == "rates: +20 % of the rate"]
    assert [each.value for each in on_the_way([last])] == ["", 0.0, 10.0, 20.0]


def test_a_study_of_two_walks_plans_those_between_and_returns_the_two(monkeypatch):
    plans = []

    def carried_out(plan):
        plans.extend(plan)
        return Study(cells=tuple(cell for cell, _ in plan), path=Path())

    monkeypatch.setattr(design, "carry_out", carried_out)
    monkeypatch.setattr(design, "content_of", lambda way, arguments: {"arguments": arguments})
    last, first = CONDITIONS[2], CONDITIONS[0]
    study = design.swept([last, first])
    assert [start for _, start in plans] == [None, 0, 1]  # without a load, 2 kg, 4 kg
    assert plans[2][0].content["after"] == plans[1][0].id
    assert [cell.parameters["load"] for cell in study.cells] == ["foot=4", ""]


@pytest.mark.parametrize("helps", [True, False])
def test_a_walk_whose_certificate_fails_is_refined_and_kept_where_that_fails(monkeypatch, helps):
    @dataclass(frozen=True, kw_only=True)
    class Found:
        success: bool = True
        problem: object = None
        transcription: object = None
        statistics: dict = field(default_factory=lambda: {"plugin": "structured"})
        verification: object = None
        fine: bool = False

    asked = []

    def finer(*given, **settings):
        asked.append((given[1], settings["rounds"], settings["settle"], settings["guess"].fine))
        return Found(success=helps, fine=True)

    monkeypatch.setattr(design, "walk_by_muscles", lambda *given, **settings: Found())
    monkeypatch.setattr(design, "verify", lambda found: found)
    monkeypatch.setattr(design, "certified", lambda found: {"certified": float(found.fine)})
    monkeypatch.setattr(design, "refine", finer)
    monkeypatch.setattr(design, "counted", lambda name, first, last: last)
    assert design.walk_refined(None, None, Solver()).fine == helps
    assert asked == [(design.TOLERANCE, design.ROUNDS, False, False)]


def test_people_hold_to_what_walks_by_muscles_are_held_to():
    told = claims([(condition, cell(condition)) for condition in CONDITIONS])
    assert all(holds for holds, _ in told) and len(told) == 14


def test_changes_by_a_law_that_spends_twice_are_twice_people_s():
    lines = by_laws([(condition, cell(condition)) for condition in CONDITIONS]).splitlines()
    (line,) = [each for each in lines if "umberger_2010" in each]
    first, *shares, best = [float(each) for each in line.split("|")[2:-1]]
    assert first == 2.0 * CONDITIONS[0].people and set(shares) == {2.0} and len(shares) == 10
    assert 54.0 < best < 58.0


def test_costs_twice_people_s_are_told():
    done = [(condition, cell(condition, 2.0)) for condition in CONDITIONS]
    missed = [text for holds, text in claims(done) if not holds]
    assert any("people net 2.35" in text for text in missed)
    assert any("slopes from -8 to 8 %" in text and "2.00 of it" in text for text in missed)
    assert "loads: foot=4 kg" in table(done) and data(done)["claims"]


def test_a_walk_that_is_not_found_is_told():
    done = [(condition, cell(condition, status="failed")) for condition in CONDITIONS]
    holds, text = claims(done)[0]
    assert not holds and text.startswith(f"0 of {len(CONDITIONS)} solved; not loads: none kg, ")
    assert len(claims(done)) == 2


def test_a_walk_whose_certificate_fails_is_named_and_told_by_how_much():
    sound = cell(CONDITIONS[1])
    doubtful = replace(sound, measured={**sound.measured, "certified": 0.0, "gathered": 1.1e-2})
    done = [(CONDITIONS[0], cell(CONDITIONS[0])), (CONDITIONS[1], doubtful)]
    assert (False, "1 of 2 certified to 1e-2; not loads: foot=2 kg") in claims(done)
    assert "1.1e-02" in table(done).splitlines()[-1]


def test_the_page_has_the_rows_and_columns_that_the_command_prints():
    def cells(line):
        return [entry.strip() for entry in line.strip("|").split("|")]

    def of_table(lines):
        return [cells(line) for line in lines if line.startswith("|") and set(line) - {*"|-: "}]

    page = Path(__main__.__file__).with_name("walk_by_muscles.md").read_text(encoding="utf-8")
    printed = table([(condition, cell(condition)) for condition in CONDITIONS]).splitlines()
    (head, *rows), known = of_table(printed), of_table(page.splitlines())
    start = known.index(head)
    names = [row[0] for row in known[start : start + len(rows) + 1]]
    assert names == [head[0], *(row[0] for row in rows)]


def test_the_cheapest_rate_is_that_of_a_parabola_or_of_those_walked():
    rates = [-20.0, -10.0, 0.0, 10.0, 20.0]
    assert cheapest(rates, [(rate - 4.0) ** 2 + 3.0 for rate in rates]) == pytest.approx(4.0)
    assert cheapest(rates, [-(rate**2) - rate for rate in rates]) == 20.0


def test_an_unknown_set_is_refused(capsys):
    assert __main__.run(["--only", "moon"]) == 2
    assert "expected some of loads, trunk, slopes," in capsys.readouterr().err
