"""Tables of studies: whatever parameters, terms and measured numbers are called, none is lost."""

import csv
from dataclasses import replace
from pathlib import Path

import pytest

from ocp.cli.output.study_report import cells_text
from ocp.studies.store.row_format import Cell
from ocp.studies.study_tables import (
    HEAD,
    TAIL,
    columns,
    draw_study,
    markdown_lines,
    table,
    write_table,
)

RESERVED = (*HEAD, *TAIL)
OUTCOME = {
    "status": "solved",
    "objective": 2.5,
    "duration": 0.75,
    "iterations": 17,
    "build_seconds": 0.125,
    "solve_seconds": 0.25,
    "seconds": 0.5,
    "reason": "it has one",
}
PARTS = ("parameters", "terms", "measured")
KINDS = dict(zip(PARTS, ("parameter", "term", "measured")))


def cell(key="a", **parts):
    """A cell with the outcome."""
    numbers = {name: OUTCOME[name] for name in ("iterations", "build_seconds", "solve_seconds")}
    outcome = {name: value for name, value in OUTCOME.items() if name not in numbers}
    parts = {"parameters": {"speed": 1.0}} | parts
    return Cell(id=key, content={}, statistics=numbers, **outcome, **parts)


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("name", RESERVED)
def test_a_name_of_a_column_is_told_apart(name, part, inside):
    cells = [cell(**{part: {name: 3.5 + k}}) for k in range(2)]
    column = f"{KINDS[part]}.{name}"
    write_table(cells, "t.csv")
    rows = list(csv.DictReader(Path("t.csv").read_text().splitlines()))
    for k, (row, text) in enumerate(zip(table(cells), rows)):
        assert row[column] == 3.5 + k and text[column] == str(3.5 + k)
        assert {known: row[known] for known in RESERVED} == OUTCOME
        assert {known: text[known] for known in RESERVED} == {
            known: str(value) for known, value in OUTCOME.items()
        }


@pytest.mark.parametrize("name", RESERVED)
def test_what_is_printed_and_drawn_has_both(name, inside, monkeypatch):
    drawn = []
    monkeypatch.setattr(
        "ocp.studies.study_tables.lines", lambda *a, **named: drawn.append((a, named))
    )
    cells = [cell(parameters={name: 3.5 + k}) for k in range(2)]
    header, first, _ = (line.split() for line in cells_text(cells).splitlines())
    shown = dict(zip(header, first))
    assert shown[f"parameter.{name}"] == "3.5" and shown["objective"] == "2.5"
    assert shown["status"] == "solved" and shown["iterations"] == "17"
    draw_study(cells, "t.png")
    ((_, (curve,)), named) = drawn[0]
    assert curve.x == (3.5, 4.5) and curve.y == (2.5, 2.5)
    assert named == {"x": f"parameter.{name}", "y": "objective"}


def test_names_that_parameters_terms_and_measures_share_are_told_apart():
    parts = {"parameters": {"effort": 1.0}, "terms": {"effort": 2.0}}
    one = cell(**parts, measured={"effort": 3.0, "term.effort": 4.0, "work": 5.0})
    own = {name: value for name, value in table([one])[0].items() if name not in RESERVED}
    assert own == {
        "effort": 1.0,
        "term.effort": 2.0,
        "measured.effort": 3.0,
        "measured.term.effort": 4.0,
        "work": 5.0,
    }
    assert columns([one])["measured.effort"] == ("measured", "effort")


def test_the_reason_of_a_failed_cell_is_whole(inside):
    reason = "ValueError: " + "it is long and " * 40 + "ends so\nwith a second line"
    failed = Cell(id="a", content={}, parameters={"speed": 1.0}, status="failed", reason=reason)
    whole = reason.replace("\n", " / ")
    write_table([failed], "t.csv")
    assert whole in cells_text([failed]) and whole in Path("t.csv").read_text()


def test_lines_of_a_table_come_with_their_rows():
    made = []

    def rows():
        for name in ("short", "a longer name"):
            made.append(name)
            yield name, 1.5

    lines = markdown_lines(("name", "value"), rows())
    assert [next(lines), next(lines)] == ["| name | value |", "| --- | --- |"] and made == []
    assert next(lines) == "| short |   1.5 |" and made == ["short"]
    assert list(lines) == ["| a longer name |   1.5 |"]


def test_a_parameter_has_its_unit_in_the_heading():
    known = {"parameters": {"speed": {"value": 1.2, "unit": "m/s", "lower": 0.1, "upper": 4.0}}}
    header, first = cells_text([replace(cell(), content=known)]).splitlines()
    assert header.startswith("speed (m/s)  status") and first.split()[:2] == ["1", "solved"]
