"""The comparison of what could be chosen otherwise: the same optimum, by every choice."""

import numpy as np

from ocp.problems.benchmarks.dynamics.compare_choices import (
    BAD_ARGUMENTS,
    CASES,
    CHOICES,
    DONE,
    compared,
    run,
)


def test_all_choices_end_at_the_same_least_time():
    rows = [*compared(CASES["two_link_time"](), 1)]
    assert [row[:2] for row in rows] == [*CHOICES]
    objectives = np.array([[float(cell) for cell in row[2:4]] for row in rows])
    assert np.ptp(objectives) < 1e-6
    assert all(row[4].isdecimal() and float(row[5]) > 0 for row in rows)


def test_a_table_names_problem_and_coordinates(capsys):
    assert run(["spring_arm", "--rounds", "1"]) == DONE
    text = capsys.readouterr().out
    assert "spring_arm: 2 coordinates" in text and text.count("| variables") == 2


def test_what_is_unknown_is_told(capsys):
    assert run(["spring"]) == run(["--rounds", "0"]) == BAD_ARGUMENTS
    assert "unknown problem 'spring'" in capsys.readouterr().err
