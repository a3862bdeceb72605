"""Costs of phases, on an arm."""

import numpy as np
import pytest

from ocp.problems.benchmarks.motions import compare_phases
from ocp.problems.benchmarks.motions.compare_phases import Stamps, run
from ocp.solvers.progress import Iteration


def test_a_motion_in_phases_takes_the_iterations_of_the_whole(monkeypatch, capsys):
    monkeypatch.setattr(compare_phases, "MANY", 1)
    assert run(["arm"]) == 0
    lines = capsys.readouterr().out.splitlines()[2:]
    whole, parts = ([entry.strip() for entry in line.strip("|").split("|")] for line in lines)
    assert whole[1] == parts[1] and whole[2] == parts[2]
    assert {whole[-1], parts[-1]} == {"0.0e+00"}


def test_iterations_are_timed_within_a_solve_and_without_the_first(monkeypatch):
    times = iter((0.0, 5.0, 6.0, 8.0, 100.0, 101.0, 102.0))
    monkeypatch.setattr(compare_phases.time, "process_time", lambda: next(times))
    stamps = Stamps()
    assert np.isnan(stamps.mean)
    for number in (0, 1, 2, 3, 0, 1, 2):
        stamps(Iteration(number=number, objective=0.0, violation=0.0, seconds=0.0, stage=""))
    assert stamps.mean == pytest.approx((1.0 + 2.0 + 1.0) / 3)
