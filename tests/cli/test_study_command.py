"""`ocp study`: what it prints and writes, how its values are read, what it refuses."""

import os
import re
from pathlib import Path

import pytest

from ocp.cli.commands.compare import command as compare
from ocp.cli.commands.study import command, values


@pytest.fixture(autouse=True)
def inside(tmp_path, monkeypatch):
    """An empty working folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.commands
def test_the_command_sweeps_and_tells(capsys):
    design = ["--set", "torque=8:10:2", "--set", "points=6,3"]
    assert command(["two_link_time", *design, "--workers", "0", "--csv", "t.csv", "--chain"]) == 1
    out = capsys.readouterr().out
    assert "4/4 cells, 2 failed, 0:00 left; torque 10, points 3: failed" in out
    assert "4 cells, 2 failed, in two_link_time-study.sqlite" in out
    assert "at least 4, got 3" in out and Path("t.csv").exists()


@pytest.mark.commands
def test_the_command_draws_fronts_and_ranks_starts(capsys):
    quiet = ["--workers", "0", "--quiet"]
    assert command(["two_link_time", "--set", "points=6", "--starts", "2", *quiet]) == 0
    assert re.search(r"1 +0\.4\d+ +0\.4\d+ +2 of 2 +0, 1\n", capsys.readouterr().out)
    over = ["--set", "u=0.3,0.7", "--set", "points=6", "--pareto", "duration,effort"]
    assert command(["two_link_lift", *over, "--plot", "f.png", *quiet]) == 0
    assert "front of 2 points" in capsys.readouterr().out and Path("f.png").exists()
    over = ["--set", "torque=9:10", "--latin", "3", "--measure", "speeds", "--y", "fastest"]
    assert command(["study_cells", *over, "--plot", "l.png", *quiet]) == 0


def test_tuples_and_names_of_one_s_own_are_values():
    assert values("1,-1;2,-2", tuple[float, float]) == [(1.0, -1.0), (2.0, -2.0)]
    assert values("1,-1", tuple[int, int]) == [(1, -1)]


def test_values_are_read_as_meant():
    assert values("0.8:1.6:5") == pytest.approx([0.8, 1.0, 1.2, 1.4, 1.6])
    assert values("5:9:3") == [5, 7, 9]
    assert values("2:7:1") == [2]
    assert values("1,2.5,all") == [1, 2.5, "all"]
    assert values("true") is True
    assert values("1:2") == (1, 2)
    assert str(values("1:2", float)) == str(values("1:2", float | None)) == "(1.0, 2.0)"
    assert str(values("1:2", int)) == str(values("1:2", int | float)) == "(1, 2)"


def test_samples_of_a_real_parameter_are_real_whatever_its_bounds_are_written_as(inside, capsys):
    Path("own.py").write_text(
        "from ocp.problems.arms.two_link_time import problem as stated\n\n\n"
        "def problem(torque=10.0):\n    return stated(torque=torque, points=6)\n"
    )
    over = ["--latin", "2", "--set", "torque=4:12"]
    assert command(["./own.py", *over, "--workers", "0", "--quiet", "--csv", "t.csv"]) == 0
    rows = Path("t.csv").read_text().splitlines()[1:]
    assert all(not float(row.split(",")[0]).is_integer() for row in rows)


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        ("nonesuch", "nonesuch: there is no such problem"),
        ("two_link_time --set torque", "--set: expected PARAMETER=VALUES, got 'torque'"),
        ("two_link_time --set speed=1", "speed: two_link_time.problem has no such parameter"),
        ("random_trees", "random_trees: has no TASK and no function 'problem'"),
        ("two_link_time --set torque=1:2", "torque: bounds LOW:HIGH are for --latin"),
        ("two_link_time --set torque=a:b:c", "LOW:HIGH:COUNT"),
        ("two_link_time --set torque=1 --set torque=2", "torque: is set twice"),
        ("two_link_time --pareto effort", "--pareto: expected two goals"),
        ("two_link_time --starts 3 --set torque=5,6", "--starts: of one problem only"),
        ("two_link_time --plot a.doc", "suffix '.doc'"),
        ("two_link_time --csv nowhere/a.csv", "folder nowhere does not exist"),
        ("two_link_time --seconds 5 --workers 0", "seconds: only worker processes can be stopped"),
        ("two_link_time --measure beauty", "has no function 'beauty'"),
        (
            "two_link_time --file nowhere/a.sqlite",
            "nowhere/a.sqlite: folder nowhere does not exist",
        ),
    ],
)
def test_bad_arguments_are_named_and_leave_nothing(flags, message, inside, capsys):
    assert command(flags.split()) == 2
    captured = capsys.readouterr()
    assert captured.err.startswith("study: error: ")
    assert message in captured.err
    assert captured.out == ""
    assert os.listdir(inside) == []


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        ("gait --objective effort", "--objective: is a parameter of the problem: --set objective="),
        ("two_link_time --torque=8", "--torque: is a parameter of the problem: --set torque=8\n"),
        ("two_link_time --set torque 8", "--set torque: no value: --set torque=8\n"),
        ("two_link_time --torqe 8", "unrecognized arguments: --torqe 8"),
        ("nonesuch --torque 8", "unrecognized arguments: --torque 8"),
    ],
)
def test_a_flag_that_is_a_parameter_says_how_that_is_set(flags, message, capsys):
    for entry in (command, compare):
        with pytest.raises(SystemExit):
            entry(flags.split())
        assert message in capsys.readouterr().err
