"""`ocp list --solve`: rows of problems solved and certified, as they are ready, and in files."""

import csv
import json
from pathlib import Path

import pytest

from ocp.cli.commands import certified_list
from ocp.cli.commands.certified_list import row_lines
from ocp.cli.commands.list_problems import command, tasks
from ocp.problems.robots import ur5_replan
from ocp.problems.swing_ups import cart_pole_mpc
from ocp.studies.comparison import certified_runs

STATED = """
from ocp.problems.arms.two_link_time import problem as fastest
def problem(points: int = {points}, torque: float = {torque}):
    {first}
    return fastest(points=points, torque=torque)
"""
STUCK = """
from ocp import PLAIN, Solver, Task, solve
from ocp.problems.arms.two_link_time import problem as fastest
def problem(points: int = 14):
    return fastest(points=points)
def stuck(statement, transcription, solver, **settings):
    few = Solver(options={"max_iter": 2})
    return solve(statement, transcription, few, attempts=PLAIN, **settings)
TASK = Task(problem, method=stuck)
"""
PROBLEMS = {  # file: points, torque, a line before
    "good": (14, 10.0, "pass"),
    "coarse": (8, 10.0, "pass"),
    "wrong": (10, -1.0, "pass"),
    "lacking": (10, 10.0, "import no_such_library"),
}

VERDICTS = ["certified", "not certified", "failed", "not available"]


@pytest.fixture(autouse=True)
def inside(tmp_path, monkeypatch):
    """A working folder with problems of a user's own."""
    monkeypatch.chdir(tmp_path)
    for name, (points, torque, first) in PROBLEMS.items():
        text = STATED.format(points=points, torque=torque, first=first)
        Path(f"{name}.py").write_text(text)
    return tmp_path


def test_each_problem_has_a_row_with_status_iterations_seconds_and_certificate(capsys):
    names = [f"./{name}.py" for name in PROBLEMS]
    files = ["--csv", "rows.csv", "--json", "rows.json"]
    assert command(["--solve", *names, "--workers", "0", "--verify", "1e-3", *files]) == 1
    lines = capsys.readouterr().out.splitlines()
    head, good, coarse = (line.split(maxsplit=4) for line in lines[:3])
    assert head == ["problem", "status", "iterations", "seconds", "certificate"]
    assert good[:2] == ["./good.py", "Solve_Succeeded"] and good[4] == "certified to 0.001"
    assert int(good[2]) > 5 and float(good[3]) > 0
    assert coarse[0] == "./coarse.py" and coarse[4].startswith("not certified: torque_limits")
    assert "failed: joint 'shoulder'" in (text := "\n".join(lines))
    assert "not available: No module named 'no_such_library'" in text
    assert lines[-2].startswith("1 of 4 certified to 0.001, ") and "processor" in lines[-1]
    data = json.loads(Path("rows.json").read_text())
    assert [row["verdict"] for row in data] == VERDICTS
    table = list(csv.DictReader(Path("rows.csv").read_text().splitlines()))
    assert [line["problem"] for line in table] == names and table[0]["objective"]
    assert table[1]["reasons"].startswith("torque_limits")


def test_a_row_tells_how_far_the_next_basis_is(capsys):
    flags = ["--workers", "0", "--verify", "1e-3", "--json", "rows.json"]
    assert command(["--solve", "./good.py", "--converged", *flags]) == 0
    (row,) = json.loads(Path("rows.json").read_text())
    assert row["convergence"].startswith("on 25 points the objective changes by ")
    assert capsys.readouterr().out.splitlines()[2].strip() == row["convergence"]


def test_a_row_may_be_of_a_problem_with_arguments_under_a_name_of_its_own():
    cases = {"weak": ("./good.py", {"torque": 5.0}), "strong": ("./good.py", {})}
    weak, strong = certified_runs.certified_runs(cases, 1e-3, workers=0)
    assert (weak.problem, strong.problem) == ("weak", "strong")
    assert weak.duration > strong.duration and weak.is_certified


def test_a_problem_that_is_not_solved_is_not_certified():
    Path("stuck.py").write_text(STUCK)
    row = certified_runs.solve_and_certify("./stuck.py", 1e-2)
    assert (row.verdict, row.status) == ("not solved", "Maximum_Iterations_Exceeded")
    assert row.iterations == 2 and row.certificate_seconds is None and not row.is_certified


def test_rows_are_told_one_by_one_and_files_hold_those_that_are_ready(monkeypatch, capsys):
    """An interrupted run leaves its rows."""
    solved = certified_runs.solve_and_certify

    def second_interrupts(name, tolerance, converged, arguments):
        if name == "./coarse.py":
            raise KeyboardInterrupt
        return solved(name, tolerance)

    monkeypatch.setattr(certified_runs, "solve_and_certify", second_interrupts)
    names = ["./good.py", "./coarse.py"]
    assert command(["--solve", *names, "--workers", "0", "--json", "rows.json"]) == 130
    out, errors = capsys.readouterr()
    assert "./good.py" in out and errors.strip() == "ocp list: interrupted"
    assert [row["problem"] for row in json.loads(Path("rows.json").read_text())] == names[:1]


def test_a_problem_whose_process_dies_is_a_row():
    Path("dies.py").write_text("import os\ndef problem():\n    os._exit(3)\n")
    (row,) = certified_runs.certified_runs(["./dies.py"], 1e-2, seconds=60.0)
    assert (row.verdict, row.reasons) == ("failed", ("exit status 3",))


def test_problems_of_more_than_one_solve_say_what_their_certificate_is_of():
    for module in (cart_pole_mpc, ur5_replan):
        assert module.TASK.certifies == "the first plan"
    row = certified_runs.solve_and_certify("cart_pole_mpc", 1e-2)
    assert row.is_certified and row.certifies == "the first plan"
    (line,) = row_lines(row, 1e-2)
    assert line.endswith("certified to 0.01, the first plan")


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (["--solve", "nothing"], "nothing: there is no such problem"),
        (["--solve", "--without", "gait,nothing"], "--without: nothing: expected one of acrobot"),
        (["--solve", "--topics", "gait,sea"], "--topics: sea: expected some of arms, "),
        (["--solve", "./good.py", "--verify", "-1"], "--verify: expected a number above 0"),
        (["--solve", "./good.py", "--verify", "5"], "5 % is 0.05"),
        (["--solve", "./good.py", "--workers", "-1"], "workers: expected a whole number"),
        (["--solve", "./good.py", "--csv", "no/rows.csv"], "no/rows.csv"),
        (["--workers", "2"], "--workers: is a flag of --solve"),
    ],
)
def test_wrong_flags_are_refused_by_name(flags, words, capsys):
    assert command(flags) == 2
    assert words in capsys.readouterr().err


def test_problems_may_be_left_out(monkeypatch, capsys):
    asked = []
    monkeypatch.setattr(
        certified_list, "certified_runs", lambda names, *_, **__: asked.extend(names)
    )
    assert command(["--solve", "--without", "gait,running"]) == 0
    assert asked == [name for name in tasks() if name not in ("gait", "running")]
