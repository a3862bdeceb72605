"""Saved solutions certified from the command line, and files that are not there."""

from dataclasses import replace

import pytest

import ocp
from ocp import solve
from ocp.cli.main import command
from ocp.problems.arms.two_link_time import problem
from ocp.version import VERSION


@pytest.fixture(scope="module")
def solution():
    return solve(problem(points=10)).require()


def test_a_saved_solution_is_certified(solution, tmp_path, capsys):
    path = str(tmp_path / "arm.npz")
    ocp.save(solution, path)
    assert command(["verify", path, "--tolerance", "0.1"]) == 0
    said = capsys.readouterr()
    assert said.out.startswith("certificate") and "torque_limits" in said.out and not said.err
    assert command(["verify", path, "--tolerance", "1e-9"]) == 1
    assert f"ocp verify: {path}: not verified to 1e-09:" in capsys.readouterr().err
    ocp.save(replace(solution, points=solution.points + 1.0), path)
    assert command(["verify", path]) == 1


def test_convergence_is_printed_judged_and_kept_in_the_file(tmp_path, capsys):
    path = str(tmp_path / "lift.npz")
    run = ["run", "two_link_lift", "--points", "8", "--converged", "--save", path]
    assert command([*run, "--verify", "1e-2"]) == 0
    assert "converged" in (said := capsys.readouterr().out) and "on 13 points" in said
    assert ocp.load(path).statistics["convergence"]["finer"] == "13 points"
    assert command(["verify", path, "--converged", "--tolerance", "1e-3"]) == 1
    assert "not converged: on 13 points" in capsys.readouterr().err
    assert command(run) == 2
    assert "--converged: is told by certificates; give --verify" in capsys.readouterr().err


@pytest.mark.parametrize("tolerance", ["0", "-1", "nan", "5"])
def test_a_tolerance_that_is_none_is_refused(solution, tmp_path, capsys, tolerance):
    ocp.save(solution, tmp_path / "arm.npz")
    assert command(["verify", str(tmp_path / "arm.npz"), f"--tolerance={tolerance}"]) == 2
    assert "ocp verify: error: --tolerance: expected" in capsys.readouterr().err


def test_a_tolerance_in_per_cent_is_refused_before_anything_is_solved(capsys):
    assert command(["run", "two_link_lift", "--verify", "5"]) == 2
    assert "--verify: expected a share of at most 1, got 5; 5 % is 0.05" in capsys.readouterr().err


@pytest.mark.parametrize(
    "words",
    [
        ["verify", "none.npz"],
        ["view", "none.npz"],
        ["view", "none.npz", "--html", "page.html"],
        ["run", "two_link_time", "--guess", "none.npz"],
        ["run", "none.py"],
        ["study", "none.py"],
        ["compare", "none.py"],
    ],
    ids=" ".join,
)
def test_a_file_that_is_not_there_is_named_in_words(words, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert command(words) == 2
    (line,) = capsys.readouterr().err.strip().splitlines()
    assert "none." in line and "no such file" in line and "Errno" not in line
    assert not list(tmp_path.iterdir())


def test_the_command_says_which_version_it_is(capsys):
    assert command(["--version"]) == 0
    assert capsys.readouterr().out == f"ocp {VERSION}\n"


@pytest.mark.parametrize(
    ("flags", "near"),
    [
        (["--hessian", "exat"], "exact"),
        (["--method", "radu"], "radau"),
        (["--kernels", "assembld"], "assembled"),
        (["--derivatives", "recursiv"], "recursive"),
        (["--dynamics", "newton_eular"], "newton_euler"),
        (["--quadrature", "gaus"], "gauss"),
        (["--pionts", "4"], "--points"),
    ],
    ids=lambda entry: " ".join(entry) if isinstance(entry, list) else entry,
)
def test_misspelt_flags_and_values_are_answered_with_the_nearest(flags, near, capsys):
    assert command(["run", "two_link_time", *flags]) == 2
    assert f"(did you mean {near!r}?)" in capsys.readouterr().err


def test_a_flag_that_is_like_none_is_answered_with_where_they_are_told(capsys):
    assert command(["run", "gait", "--velocity", "1.3"]) == 2
    line = capsys.readouterr().err.splitlines()[-1]
    assert line == (
        "ocp run gait: error: unrecognized arguments: --velocity 1.3; ocp run gait --help tells "
        "those there are"
    )
