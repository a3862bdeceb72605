"""Every problem as a command: flags, output, report, exit status.

Errors name the thing and leave nothing behind.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from ocp import Solution, load
from ocp.cli.commands.run import run_task
from ocp.cli.output.brief_report import LINES
from ocp.problems.arms.pr_mixed import TASK as SLIDING
from ocp.problems.arms.two_link_lift import TASK as LIFT
from ocp.problems.arms.two_link_time import TASK as FASTEST

ROOT = Path(__file__).parents[2]
REPORTED = {
    *("problem", "arguments", "status", "success", "objective", "objective_terms", "duration"),
    *("variables", "constraints", "jacobian_nonzeros", "hessian_nonzeros", "iterations"),
    *("build_seconds", "solve_seconds", "total_seconds", "solver", "versions", "violations"),
    *("verification", "published"),
}


@pytest.fixture
def inside(tmp_path, monkeypatch):
    """An empty working folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_report_has_everything_a_paper_needs(inside, capsys):
    assert (
        run_task(LIFT, ["--points", "12", "--report", "r.json", "--verify", "0.01", "--quiet"]) == 0
    )
    report = json.loads(
        Path("r.json").read_text(), parse_constant=lambda text: pytest.fail(f"{text} is no JSON")
    )
    assert set(report) >= REPORTED
    assert report["problem"] == "two_link_lift"
    assert report["arguments"]["points"] == 12
    assert report["success"]
    assert set(report["objective_terms"]) == {"duration", "effort"} and report["variables"] == 25
    assert report["violations"]["torque_limits"]["unit"] == "N m"
    assert report["violations"]["torque_limits"]["nodes"] < 1e-6
    assert report["verification"]["simulation_drift"] < 1e-6
    assert report["verification"]["kkt"] < 1e-6
    assert report["verification"]["energy_error"] < 1e-9
    published = report["published"]["T (s), Xiang et al. 2009, example 2"]
    assert published["value"] == 0.520 and published["ours"] == report["duration"]
    assert {"casadi", "numpy", "python", "ocp"} <= set(report["versions"])
    assert len(capsys.readouterr().out.splitlines()) == 1


def test_details_are_a_line_per_iteration_and_then_the_whole_block(inside, capsys):
    assert run_task(FASTEST, ["--points", "10", "--details"]) == 0
    out = capsys.readouterr().out
    for word in (
        *("iteration", "status", "Solve_Succeeded", "nonzeros", "versions", "at_start.qd"),
        *("published", "Barman 2020"),
    ):
        assert word in out
    assert out.splitlines()[1].split()[0] == "0"


def test_by_default_a_run_says_what_tells_most(inside, capsys):
    assert run_task(FASTEST, ["--points", "10", "--verify", "1"]) == 0
    out, errors = capsys.readouterr()
    assert len(out.splitlines()) <= LINES and not errors
    assert "Solve_Succeeded" in out and "torque_limits" in out and "Barman 2020" in out
    assert "problem" in out and "points=10" in out and "torque=" not in out  # but for defaults
    assert "versions" not in out and "iteration " not in out and "--details" in out


def test_a_published_number_is_shown_only_for_its_own_data(inside, capsys):
    run_task(SLIDING, ["--points", "8", "--stroke", "0.5"])
    assert "one datum altered" in (out := capsys.readouterr().out) and "literal data" not in out
    run_task(SLIDING, ["--points", "8", "--u", "0.02"])
    assert "published" not in capsys.readouterr().out
    with pytest.raises(SystemExit):
        run_task(SLIDING, ["--details", "--quiet"])


def test_save_and_guess_work_together(inside, capsys):
    assert run_task(FASTEST, ["--points", "10", "--save", "a.npz", "--quiet"]) == 0
    assert (
        run_task(FASTEST, ["--points", "10", "--guess", "a.npz", "--quiet", "--report", "r.json"])
        == 0
    )
    report = json.loads(Path("r.json").read_text())
    assert report["iterations"] <= 3 and report["solver"]["warm_start"]
    assert isinstance(load("a.npz", FASTEST.problem(points=10)), Solution)
    assert run_task(FASTEST, ["--points", "20", "--guess", "a.npz", "--quiet"]) == 0


@pytest.mark.parametrize(
    "flags",
    [
        ["--dynamics", "hollerbach_4x4"],
        ["--derivatives", "solver"],
        ["--nodes", "2"],
        ["--quadrature", "trapezoid"],
        ["--quadrature", "simpson", "--panels", "2"],
        ["--hessian", "gauss-newton", "--tol", "1e-7"],
        ["--hessian", "lbfgs", "--tol", "1e-5"],
        ["--plugin", "sqpmethod", "--tol", "1e-7"],
        ["--option", "max_iter=400", "--option", "mu_strategy=adaptive"],
    ],
    ids=lambda flags: " ".join(flags),
)
def test_every_common_flag_works(flags, inside, capsys):
    assert run_task(LIFT, ["--points", "8", "--quiet", "--report", "r.json", *flags]) == 0
    assert json.loads(Path("r.json").read_text())["objective"] == pytest.approx(0.8457, abs=0.002)


def test_pictures_are_written_where_asked(inside, capsys):
    assert (
        run_task(FASTEST, ["--points", "8", "--quiet", "--plot", "p.png", "--animate", "a.html"])
        == 0
    )
    assert Path("p.png").read_bytes().startswith(b"\x89PNG")
    assert Path("a.html").stat().st_size > 1000


def test_not_solved_is_status_one_with_the_reason(inside, capsys):
    assert (
        run_task(FASTEST, ["--points", "8", "--option", "max_iter=3", "--quiet", "--save", "a.npz"])
        == 1
    )
    captured = capsys.readouterr()
    assert "Maximum_Iterations_Exceeded: ran out of iterations" in captured.err
    assert "violated by" in captured.err
    assert not load("a.npz").success


def test_solved_but_not_verified_is_status_one(inside, capsys):
    assert run_task(FASTEST, ["--points", "8", "--nodes", "1", "--quiet", "--verify", "1e-3"]) == 1
    assert "not verified to 0.001" in (err := capsys.readouterr().err)
    assert "torque_limits" in err
    assert "N m at t =" in err


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--points", "3"], "control points: a spline of degree 3 needs at least 4, got 3"),
        (["--torque", "nan"], "joint 'shoulder': torque limits: expected numbers"),
        (
            ["--torque", "-5"],
            "joint 'shoulder': torque limits: lower bound 5 is above upper bound -5",
        ),
        (["--dynamics", "lagrange"], "dynamics: expected one of newton_euler"),
        (["--derivatives", "fd"], "derivatives: expected one of recursive, published, ad"),
        (["--plugin", "nonesuch"], "plugin: expected one of auto, snopt, structured, alpaqa, "),
        (["--hessian", "bfgs"], "hessian: expected one of exact"),
        (["--quadrature", "romberg"], "quadrature: expected one of gauss"),
        (["--nodes", "0"], "nodes: expected a whole number of at least 1"),
        (["--option", "nonesuch=1"], "option 'nonesuch' = 1: refused"),
        (["--option", "tol"], "--option: expected NAME=VALUE, got 'tol'"),
        (["--plugin", "sleqp", "--tol", "1e-6"], "--tol: unknown for plugin"),
        (["--guess", "absent.npz"], "absent.npz"),
        (["--guess", "text.npz"], "text.npz: not a result file"),
        (["--save", "nowhere/a.npz"], "nowhere/a.npz: folder nowhere does not exist"),
        (["--report", "a/.."], "a/..: folder a does not exist"),
        (["--motion", ""], "--motion: expected the name of a file, got ''"),
        (["--report", "."], "--report: expected the name of a file, got '.'"),
        (["--plot", "p.doc"], "--plot: expected a file ending in .png"),
        (["--animate", "a.avi"], "--animate: expected a file ending in .gif"),
        (["--save", "text.npz/a.npz"], "text.npz"),
    ],
)
def test_bad_arguments_are_status_two_named_and_leave_nothing(flags, message, inside, capsys):
    (inside / "text.npz").write_text("no result")
    assert run_task(FASTEST, ["--points", "8", "--save", "good.npz", *flags]) == 2
    captured = capsys.readouterr()
    assert captured.err.startswith("two_link_time: error: ") and message in captured.err
    assert captured.out == "" and os.listdir(inside) == ["text.npz"]


@pytest.mark.parametrize(
    "flags", [["--bogus"], ["--points", "many"], ["--verify", "much"], ["stray"], ["--point", "8"]]
)
def test_unknown_flags_and_values_are_status_two(flags, inside, capsys):
    with pytest.raises(SystemExit) as stop:
        run_task(FASTEST, flags)
    assert stop.value.code == 2 and flags[-1] in capsys.readouterr().err


@pytest.mark.skipif(
    not Path("/proc/self").exists(), reason="needs a folder in which nobody may write"
)
def test_a_protected_folder_is_found_before_the_solve(inside, capsys):
    assert run_task(FASTEST, ["--points", "8", "--save", "/proc/a.npz"]) == 2
    captured = capsys.readouterr()
    assert "/proc/a.npz: cannot write in folder /proc" in captured.err and captured.out == ""


@pytest.mark.commands
def test_the_commands_run_as_a_user_types_them():
    def command(*arguments):
        return subprocess.run(
            [sys.executable, "-m", *arguments],
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=120,
        )

    listing = command("problems")
    assert listing.returncode == 0 and "python -m problems.two_link_time" in listing.stdout
    solved = command("problems.arms.two_link_time", "--points", "8", "--quiet")
    assert solved.returncode == 0 and "Solve_Succeeded" in solved.stdout and solved.stderr == ""
    refused = command("problems.arms.two_link_time", "--points", "2")
    assert refused.returncode == 2 and "Traceback" not in refused.stderr


def test_a_run_is_refined_until_its_certificate_holds(capsys):
    flags = ["--points", "8", "--refine", "1e-2", "--verify", "1e-2", "--quiet"]
    assert run_task(FASTEST, flags) == 0
    assert "Solve_Succeeded" in capsys.readouterr().out


def test_knots_are_freed_by_a_flag_and_the_report_says_where_they_went(capsys):
    flags = ["--points", "10", "--degree", "4", "--knots", "free", "--spacing", "0.01"]
    assert run_task(FASTEST, flags) == 1  # its mesh is too coarse
    text = capsys.readouterr().out
    assert "free: 6 segments, " in text and "(spacing 0.01)" in text
    assert run_task(FASTEST, ["--knots", "loose"]) == 2
    assert "knots: expected given or free, got 'loose'" in capsys.readouterr().err
    assert run_task(FASTEST, ["--spacing", "0.01"]) == 2
    assert "spacing: is that of free knots, and these are given" in capsys.readouterr().err
    assert run_task(FASTEST, ["--degree", "4", "--method", "radau"]) == 2
    assert "degree: is that of splines, and method 'radau'" in capsys.readouterr().err
