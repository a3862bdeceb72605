"""A run's default text: few lines in two columns, of which the most telling come first."""

import pytest

from ocp import solve, verify
from ocp.cli.commands.run import run_task
from ocp.cli.output.brief_report import COLUMNS, LINES, ROOMY, brief
from ocp.cli.output.run_report import describe
from ocp.problems.arms.two_link_time import problem as fastest
from ocp.studies.task import Task

TASK = Task(fastest)
MANY = [f"row {k:<20}{'word ' * 40}" for k in range(100)]


@pytest.fixture(scope="module")
def said():
    solution = solve(fastest(points=8))
    return describe(TASK, {"points": 8}, solution, verify(solution))


def crowded(said):
    """The report with much more of everything."""
    terms = {f"term {k}": {"weight": 1.0, "value": float(k)} for k in range(20)}
    worst = {
        f"constraint {k}": entry | {"relative": 10.0**-k, "dense": 1.0}
        for k, entry in enumerate([*said["violations"].values()] * 5)
    }
    parameters = {f"p{k}": {"value": 1.0, "unit": "m", "how": "found"} for k in range(30)}
    return said | {"objective_terms": terms, "violations": worst, "parameters": parameters}


def test_any_report_fits_a_screen(said):
    for report in (said, crowded(said)):
        lines = brief(report, TASK.defaults, MANY).splitlines()
        assert len(lines) <= LINES and max(map(len, lines)) <= COLUMNS
        assert lines[0].split() == ["problem", said["problem"], "points=8"]
        assert lines[-1].startswith("--details")
    fewer = brief(crowded(said), TASK.defaults, MANY, room=15).splitlines()
    assert len(fewer) <= 15


def test_arguments_are_told_with_their_units(said):
    slow = said | {"arguments": {"torque": 8.0, "points": 8}}
    assert brief(slow, TASK.defaults).splitlines()[0].split("  ")[-1].strip() == (
        "fastest torque=8 N m, points=8".replace("fastest", said["problem"])
    )


def test_texts_stand_in_one_column(said):
    lines = brief(said, TASK.defaults, ["range     3 m", "  of it   2 m"]).splitlines()[:-1]
    starts = {line[:20].rstrip(): line[20:21] for line in lines if line[:1] != " "}
    assert {"problem", "status", "range", "forward simulation"} <= set(starts)
    assert all(letter.strip() for letter in starts.values())
    (inner,) = [line for line in lines if line.startswith("  of it")]
    assert inner[20:] == "2 m"


def test_the_worst_rows_come_first_and_are_counted(said):
    text = brief(crowded(said), TASK.defaults)
    shown = [line.split()[1] for line in text.splitlines() if line.startswith("  constraint")]
    assert shown == ["0", "1", "2", "3", "4"]
    assert "9 of 30 above 1e-09 of their bounds" in text
    none = {name: entry | {"relative": 0.0} for name, entry in said["violations"].items()}
    assert "none of 6 above" in brief(said | {"violations": none}, TASK.defaults)


def test_only_the_largest_terms_are_named(said):
    text = brief(crowded(said), TASK.defaults)
    assert [f"term {k}" in text for k in (0, 16, 17, 18, 19)] == [False, False, True, True, True]


def test_lines_of_waiting_count_too(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("ocp.cli.output.status_line.PATIENCE", {True: 0.0, False: 0.0})
    assert run_task(TASK, ["--points", "12", "--verify", "1"]) == 0
    out, errors = capsys.readouterr()
    assert len(errors.splitlines()) > 3
    assert "certificate         certified to 1\n" in out
    assert len(out.splitlines()) <= max(ROOMY, LINES - len(errors.splitlines()))
