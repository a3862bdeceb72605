"""Stages of a whole run, from when each of them ended."""

from pathlib import Path

import pytest

from ocp.problems.benchmarks import build_costs
from ocp.problems.benchmarks.build_costs import STAGES, shown, summed

ROOT = Path(__file__).parents[2]
MARKS = [("import", 0.5), ("graphs", 1.5), ("solver", 1.6), ("graphs", 1.7), ("solve", 3.7)]


def test_times_between_marks_are_those_of_stages():
    run = summed([*MARKS, ("report", 4.0)], 120.0)
    assert run["graphs"] == pytest.approx(1.1) and run["solve"] == pytest.approx(2.0)
    assert run["build"] == pytest.approx(1.7) and run["command"] == 4.0
    assert sum(run[stage] for stage in STAGES[:6]) == pytest.approx(run["command"])


def test_a_certificate_is_compared_with_build_and_solve():
    run = summed([*MARKS, ("verify", 5.3), ("report", 5.5)], 120.0)
    assert run["verify"] == pytest.approx(1.6) and run["share"] == pytest.approx(0.5)


def test_ratios_are_medians_of_runs_side_by_side():
    one = summed([*MARKS, ("verify", 3.9), ("report", 4.0)], 120.0)
    twice = {stage: 2 * value for stage, value in one.items()}
    lines = shown("walk", [twice, twice, one], [one, one, one]).splitlines()
    assert [float(word) for word in lines[1].split()[1:]] == [2.0] * len(STAGES)


def test_runs_are_printed_as_they_end(monkeypatch, capsys):
    printed = []

    def run(directory, flags):
        printed.append(capsys.readouterr().out.splitlines())
        return summed([*MARKS, ("report", 4.0)], 120.0)

    monkeypatch.setattr(build_costs, "run", run)
    build_costs.main(["--runs", "2", "--of", "effort,walk"])
    assert [lines[-1].split()[0] for lines in printed[1:]] == ["effort", "walk", "effort"]
    assert [len(lines) for lines in printed] == [2, 1, 1, 1]


@pytest.mark.commands
def test_a_run_with_a_certificate_says_what_that_takes():
    assert build_costs.run(ROOT, build_costs.RUNS["effort-verified"])["verify"] > 0.0
