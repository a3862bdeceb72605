"""Derivatives of optima beside differences, told of an arm alone, which is quick."""

from dataclasses import replace
from functools import partial

from ocp.problems.benchmarks.motions import compare_slopes
from ocp.problems.benchmarks.motions.compare_slopes import CASES, run


def short(monkeypatch, **changes):
    """Let the lift of few points and two parameters be all that is compared."""
    lift = CASES["two_link_lift"]
    less = replace(lift, problem=partial(lift.problem, points=8), open_flags=lift.open_flags[:1])
    monkeypatch.setattr(compare_slopes, "CASES", {"lift": replace(less, **changes)})


def test_derivatives_agree_with_differences_of_solves(monkeypatch, capsys):
    short(monkeypatch)
    assert run([]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[1] for line in lines if line.startswith("| ")] == ["by", "load", "payload"]
    assert sum(line.startswith("holds:") for line in lines) == 2


def test_differences_that_are_too_wide_miss_the_claim(monkeypatch, capsys):
    short(monkeypatch, step=0.05, beside=())
    assert run(["lift"]) == 1 and "MISSED:  lift: objective off by" in capsys.readouterr().out


def test_an_unknown_problem_is_refused(capsys):
    assert run(["run"]) == 2 and "unknown problem 'run'" in capsys.readouterr().err


def test_ten_parameters_of_the_gait_and_five_of_each_other_are_compared():
    counts = {name: len(case.open_flags) + len(case.beside) for name, case in CASES.items()}
    assert counts.pop("gait") == 10 and set(counts.values()) == {5}
