"""Comparison of inverse kinematics, on an arm."""

import pytest

from ocp import solve
from ocp.problems.arms.two_link_time import problem as fastest
from ocp.problems.benchmarks.motions import compare_markers


def test_a_row_says_how_far_errors_are_from_what_the_covariance_says(capsys, monkeypatch):
    arm = solve(fastest(points=8)).require()
    monkeypatch.setattr(compare_markers, "problem", lambda: arm.problem)
    monkeypatch.setattr(compare_markers, "walk", lambda *_: arm)
    assert compare_markers.run(["--trials", "3"]) == 0
    lines = capsys.readouterr().out.strip().splitlines()[2:]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    known = [row for row in cells if row[0] == "8 points, degree 3"]
    assert len(cells) == 6 and len(known) == 3
    for row in known:
        assert float(row[6]) == pytest.approx(1.0, abs=0.5)
        assert float(row[8]) == pytest.approx(1.0, abs=0.1)  # mm
    assert compare_markers.run(["--trials", "1", "--lengths", "0.1"]) == 0
    row = capsys.readouterr().out.strip().splitlines()[2].strip("|").split("|")
    assert float(row[3]) < 0.3 and float(row[5]) < 3.0  # percent, and errors over deviations
    assert compare_markers.run(["--trials", "1", "--torques", "--frames", "60"]) == 0
    rows = [line.split("|") for line in capsys.readouterr().out.strip().splitlines()[2:]]
    known, chosen = ([float(entry) for entry in row[4:6]] for row in rows)
    assert chosen[1] < chosen[0] and known[0] < chosen[0]  # the ends are off most
