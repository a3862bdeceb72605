"""The comparison of solvers: benchmark curves with known answers, verdicts by the certificate.

Runs that end badly, and what is printed.
"""

import os
import signal
import subprocess
from dataclasses import replace
from math import inf

import pytest

from ocp import Attempt, Integrated, Solver, Spline, Transcription, solve
from ocp.cli.commands.compare import command
from ocp.problems.arms.two_link_lift import problem as lift
from ocp.problems.arms.two_link_time import TASK as FASTEST
from ocp.problems.swing_ups.cart_pole_swing import problem as swing
from ocp.studies.comparison import comparison
from ocp.studies.comparison import limited_run as solver_runs
from ocp.studies.comparison.best_known import own_verdict, with_best_known
from ocp.studies.comparison.comparison import compare
from ocp.studies.comparison.comparison_tables import (
    costs,
    draw,
    ratios,
    read_runs,
    report,
    runs_as_csv,
    table,
)
from ocp.studies.comparison.limited_run import ANOTHER, Run
from ocp.studies.comparison.profiles import curves, data_profile, performance_profile, share
from ocp.studies.comparison.profiles import ratios as cost_ratios
from ocp.studies.comparison.verdict import (
    COARSE,
    GAVE_UP,
    SOLVED,
    UNSAID,
    WRONG,
    first_order,
    judge_solution,
)

TABLE = {"a": {"p": 1.0, "q": 4.0, "r": 2.0}, "b": {"p": 2.0, "q": 1.0, "r": inf}, "c": {"s": inf}}
GOOD = Run(
    problem="p",
    solver="ipopt",
    hessian="exact",
    verdict=SOLVED,
    objective=2.0,
    solve=0.5,
    evaluations=7,
    iterations=3,
    build=0.1,
)


def test_ratios_are_to_the_best_solver_and_nobodys_problems_are_left_out():
    assert cost_ratios(TABLE) == {
        "a": {"p": 1.0, "q": 4.0, "r": 1.0},
        "b": {"p": 2.0, "q": 1.0, "r": inf},
        "c": {"p": inf, "q": inf, "r": inf},
    }


def test_a_performance_profile_has_the_shares_of_dolan_and_more():
    profile = performance_profile(TABLE)
    assert [share(profile["a"], tau) for tau in (1.0, 3.9, 4.0)] == [2 / 3, 2 / 3, 1.0]
    assert [share(profile["b"], tau) for tau in (1.0, 1.9, 2.0, 1e9)] == [
        1 / 3,
        1 / 3,
        2 / 3,
        2 / 3,
    ]
    assert share(profile["c"], 1e9) == 0.0


def test_a_data_profile_counts_problems_that_nobody_solved():
    profile = data_profile(TABLE, ["p", "q", "r", "s"])
    assert [share(profile["a"], budget) for budget in (0.5, 1.0, 2.0, 4.0)] == [
        0.0,
        0.25,
        0.5,
        0.75,
    ]
    assert [share(profile["b"], budget) for budget in (0.5, 1.0, 2.0)] == [0.0, 0.25, 0.5]


def test_curves_are_staircases_from_start_to_end_the_best_solver_first():
    first, *_ = found = curves(performance_profile(TABLE), 1.0, 10.0)
    assert [curve.label for curve in found] == ["a", "b", "c"]
    assert (first.x, first.y) == ((1.0, 4.0, 4.0, 10.0), (2 / 3, 2 / 3, 1.0, 1.0))


def test_a_cost_that_is_not_positive_is_refused_by_name():
    with pytest.raises(ValueError, match="cost of a on p: expected a positive number, got 0"):
        performance_profile({"a": {"p": 0.0}})


def test_the_certificate_and_not_the_solver_decides():
    solution = solve(lift(points=8))
    assert judge_solution(solution)[:2] == (SOLVED, "")
    assert judge_solution(replace(solution, success=False, status="lost"))[:2] == (
        UNSAID,
        "solver says: lost",
    )
    moved = replace(solution, points=solution.points + 1e-2)
    verdict, reason, numbers = judge_solution(moved)
    assert verdict == WRONG and "violated by" in reason and numbers["nodes"] > 1e-3
    assert judge_solution(replace(moved, success=False))[0] == GAVE_UP
    verdict, reason, numbers = judge_solution(
        replace(solution, points=solution.points * float("nan"))
    )
    assert verdict == WRONG and numbers["kkt"] is None


def test_a_feasible_point_that_is_not_optimal_is_wrong():
    solution = solve(
        lift(points=8),
        solver=Solver(options={"max_iter": 300}),
        attempts=[Attempt(feasible_first=True)],
    )
    feasible = solve(replace(lift(points=8), duration=(solution.duration * 1.3,) * 2))
    slower = replace(solution, points=feasible.points, duration=feasible.duration)
    verdict, reason, numbers = judge_solution(slower)
    assert verdict == WRONG and "first-order residual" in reason and numbers["nodes"] < 1e-6


def test_multipliers_of_our_own_replace_those_that_a_solver_does_not_return():
    solution = solve(lift(points=8))
    assert first_order(replace(solution, multipliers={})) < 1e-4
    assert first_order(replace(solution, points=solution.points + 1e-3)) > 1e-4


@pytest.mark.commands
def test_a_process_that_crashes_and_one_that_overruns_its_time_have_their_verdicts(monkeypatch):
    monkeypatch.setattr(solver_runs, "GRACE", 0.5)
    (crashed,) = compare(FASTEST, ["sqpmethod-hpipm"], seconds=30).runs
    assert (crashed.verdict, crashed.reason[:7]) == ("crashed", "SIGSEGV")
    (late,) = compare(lift, ["sqpmethod-superscs"], seconds=0.4).runs
    assert late.verdict == "time" and late.memory > 20


def test_a_process_that_never_says_that_it_has_begun_is_killed(tmp_path, monkeypatch):
    monkeypatch.setattr(solver_runs, "GRACE", 0.0)
    monkeypatch.setattr(solver_runs, "STARTING", 0.1)
    with subprocess.Popen(["sleep", "60"]) as process:
        late, _ = solver_runs._wait(process, tmp_path / "result.json", 0.1)
    assert late and process.returncode == -signal.SIGKILL


def test_a_process_that_ends_just_before_it_is_stopped_is_waited_for_here(tmp_path, monkeypatch):
    wait4, answers = os.wait4, []

    def slow(pid, flags):
        answers.append(wait4(pid, flags))
        if len(answers) == 2:  # it ends after it was looked at, and before it is stopped
            os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
        return answers[-1]

    monkeypatch.setattr(os, "wait4", slow)
    monkeypatch.setattr(solver_runs, "GRACE", 0.0)
    result = tmp_path / "result.json"
    result.write_text('{"stage": "solve"}')
    with subprocess.Popen(["sleep", "0.2"]) as process:
        late, usage = solver_runs._wait(process, result, 0.0)
    assert late and usage.ru_maxrss > 0 and process.returncode == 0 and len(answers) == 3


@pytest.mark.commands
def test_a_run_brings_home_its_numbers_and_one_without_memory_says_so():
    (one,) = compare(FASTEST, ["ipopt"], seconds=60).runs
    assert one.verdict == SOLVED and one.objective == pytest.approx(0.3926897, rel=1e-5)
    assert one.evaluations > one.iterations > 5
    (poor,) = compare(FASTEST, ["ipopt"], seconds=60, memory=0.12).runs
    assert poor.verdict in ("memory", "crashed")


def test_files_keep_runs_and_the_same_command_runs_only_what_is_missing(
    tmp_path, monkeypatch, capsys
):
    asked = []

    def pretend(job):
        asked.append(job.run.solver)
        return replace(
            job.run,
            verdict=SOLVED,
            objective=1.0,
            solve=float(len(asked)),
            build=0.1,
            iterations=3,
            evaluations=5,
            memory=80.0,
            functions=0.5,
            bridge=0.25,
        )

    monkeypatch.setattr(comparison, "execute", pretend)
    file, picture = tmp_path / "runs.csv", tmp_path / "profile.png"
    assert command(["two_link_time", "--solvers", "ipopt,snopt", "--csv", str(file)]) == 0
    assert (
        command(
            [
                "two_link_time",
                "--solvers",
                "ipopt,sleqp,snopt",
                "--csv",
                str(file),
                "--plot",
                str(picture),
            ]
        )
        == 0
    )
    told = capsys.readouterr().out
    assert "two_link_time sleqp exact auto auto spline: solved\n" in told
    assert asked == ["ipopt", "snopt", "sleqp"] and picture.stat().st_size > 10_000
    assert [one.solver for one in read_runs(file.read_text())] == ["ipopt", "snopt", "sleqp"]
    assert (
        "two_link_time: IPOPT : SNOPT = 1 s : 2 s = 1 : 2; of SNOPT's time 0.5 s are functions and "
        "derivatives, 0.25 s the bridge to Drake, 1.25 s SNOPT itself"
    ) in told


def test_a_file_is_read_as_it_was_written():
    runs = [
        GOOD,
        replace(
            GOOD,
            solver="x",
            verdict="crashed",
            reason='a "quoted", reason',
            objective=None,
            solve=None,
        ),
    ]
    assert read_runs(runs_as_csv(runs)) == runs
    with pytest.raises(ValueError, match="holds another table"):
        read_runs("a,b\n1,2\n")


def test_a_table_has_gaps_to_the_best_certified_objective_and_times_in_those_of_ipopt():
    slow = replace(GOOD, solver="slow", objective=2.2, solve=2.0)
    liar = replace(
        GOOD,
        solver="liar",
        objective=1.0,
        solve=0.1,
        verdict=WRONG,
        reason="optimal: torque violated by 1e+01 N m",
    )
    lines = table("p", [liar, slow, GOOD]).splitlines()
    assert lines[0] == "p: auto, auto, spline"
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]
    rows = [dict(zip(cells[0], row)) for row in cells[2:]]
    assert [(row["solver"], row["gap"], row["times ipopt's"]) for row in rows] == [
        ("ipopt", "+0.0e+00", "1.0"),
        ("slow", "+1.0e-01", "4.0"),
        ("liar", "", ""),
    ]


def test_a_motion_that_the_certificate_does_not_pass_is_coarse_whoever_solves():
    knots = Transcription(method=Spline(nodes=1, quadrature="trapezoid"))
    solution = solve(FASTEST.problem(points=6), knots)
    verdict, reason, numbers = judge_solution(solution)
    assert verdict == COARSE and solution.statistics["coarse"]
    assert reason.startswith("not certified to 0.01: torque_limits (shoulder): violated by 0.8")
    assert numbers["nodes"] < 1e-6 and numbers["dense"] > 0.05
    assert judge_solution(replace(solution, success=False, status="lost"))[0] == COARSE


def test_a_law_that_a_method_meets_by_integration_is_no_row_of_its_solver():
    solution = solve(swing(points=10), Transcription(method=Integrated()))
    verdict, reason, numbers = judge_solution(solution)
    assert (verdict, numbers["nodes"]) == (COARSE, pytest.approx(0.0, abs=1e-9))
    assert reason.startswith("not certified to 0.01: passive_joints (pole): violated by 1.6")


def test_a_run_that_ends_above_the_best_has_found_another_optimum():
    near = replace(GOOD, solver="near", objective=2.01)
    above = replace(GOOD, solver="above", objective=2.22)
    unsaid = replace(above, solver="unsaid", verdict=UNSAID, reason="solver says: lost")
    coarse = replace(GOOD, solver="coarse", verdict=COARSE, objective=1.0)
    other = replace(above, problem="q", objective=9.0)
    runs = with_best_known([GOOD, near, above, unsaid, coarse, other])
    verdicts = [one.verdict for one in runs]
    assert verdicts == [SOLVED, SOLVED, ANOTHER, ANOTHER, COARSE, SOLVED]
    assert runs[2].reason == "its objective is 11 % above the best, 2"
    assert [own_verdict(one) for one in runs] == [GOOD, near, above, unsaid, coarse, other]
    assert with_best_known([above, *runs[3:]])[0].verdict == SOLVED


def test_coarse_runs_and_other_optima_are_told_and_not_timed(tmp_path, monkeypatch):
    shown = []
    monkeypatch.setattr(
        "ocp.studies.comparison.comparison_tables.panels", lambda path, each: shown.append(each)
    )
    coarse = replace(GOOD, solver="a", verdict=COARSE, objective=1.0, solve=0.01)
    runs = with_best_known([GOOD, coarse, replace(GOOD, solver="b", objective=2.3, solve=0.02)])
    runs += [replace(GOOD, problem="q", solver=name) for name in "ab"]
    text = report(runs)
    assert "left out of gaps, times and profiles" in text and "| another optimum |" in text
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines()]
    gaps = {row[0]: (row[2], row[4], row[9]) for row in rows[2:7] if len(row) > 9}
    assert gaps["a"] == (COARSE, "", "") and gaps["b"] == (ANOTHER, "", "")
    assert costs(runs, "solve") == {
        "ipopt": {"p": 0.5},
        "a (1 coarse)": {"q": 0.5},
        "b (1 another optimum)": {"q": 0.5},
    }
    draw(runs, tmp_path / "some.png")
    assert {curve.label for curve in shown[0][0].curves} == set(costs(runs, "solve"))


def test_a_comparison_runs_again_what_was_edited(tmp_path, monkeypatch):
    asked, file = [], tmp_path / "runs.csv"

    def pretend(job):
        asked.append(job.run)
        return replace(job.run, verdict=SOLVED, objective=1.0, solve=1.0)

    monkeypatch.setattr(comparison, "execute", pretend)
    for torque in (10.0, 10.0, 9.0):
        monkeypatch.setattr(edited, "__defaults__", (torque,))
        (one,) = compare(edited, ["ipopt"], file=file).runs
    assert len(asked) == 2 and asked[0].stated != asked[1].stated == one.stated
    assert len(read_runs(file.read_text())) == 2


def edited(torque=10.0):
    """A problem whose statement changes under the same name."""
    return FASTEST.problem(torque=torque)


def test_the_reason_of_a_run_is_whole_and_widens_no_other_row():
    reason = "it said: " + "no, " * 60 + "never\nagain"
    text = table("p", [replace(GOOD, solver="x", verdict=GAVE_UP, reason=reason), GOOD])
    rows = text.splitlines()
    assert "never / again |" in text and len(rows[4]) < 200
    printed = f"Error: {reason.splitlines()[0]}"
    left = {"stage": "solve"}
    crashed = solver_runs._conclude(GOOD, left, -11, False, printed)
    assert crashed.reason == f"SIGSEGV in stage 'solve': {printed}"
    gave = {"stage": "done", "verdict": GAVE_UP, "reason": "lost"}
    assert solver_runs._conclude(GOOD, gave, 0, False, printed).reason.endswith(printed)


def test_failed_runs_have_no_cost_and_ratios_need_both_solvers(tmp_path):
    failed = replace(GOOD, solver="b", verdict=GAVE_UP)
    assert costs([GOOD, failed], "solve") == {"ipopt": {"p": 0.5}, "b": {}}
    assert list(ratios([GOOD, failed])) == []
    draw([GOOD, failed], tmp_path / "some.png")
    assert (tmp_path / "some.png").stat().st_size > 5_000


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nonesuch"], "nonesuch: there is no such problem"),
        (["published"], "ocp.problems.published: has no TASK and no function 'problem'"),
        (["two_link_time", "--solvers", "ipopt,best"], "solvers: expected some of ipopt, ipopt-"),
        (["two_link_time", "--hessians", "bfgs"], "hessians: expected some of best, exact"),
        (["two_link_time", "--dynamics", "lagrange"], "dynamics: expected one of newton_euler"),
        (["two_link_time", "--seconds", "0"], "seconds: expected a positive number, got 0.0"),
        (["two_link_time", "--set", "mass=3"], "mass: two_link_time.problem has no such"),
        (["two_link_time", "--plot", "here.txt"], "here.txt: suffix '.txt'"),
    ],
)
def test_bad_arguments_are_refused_by_name(arguments, message, capsys):
    assert command(arguments) == 2
    assert capsys.readouterr().err.startswith(f"compare: error: {message}")
