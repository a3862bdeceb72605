"""Cells solved in several ways, told side by side."""

import pytest

from ocp.problems.benchmarks.factorisation_costs import Solved, cells, line, main, summary


def solved(iterations, objective=2.0, seconds=1.0, success=True):
    return Solved(success=success, iterations=iterations, objective=objective, seconds=seconds)


def test_lines_tell_ratios_beside_the_first_way_and_mark_failures():
    told = line("m50", {"ipopt": solved(41), "structured": solved(43, 2.5, 0.4, False)})
    words = "m50 41 2.00000000 1.00 1.00 43! 2.50000000 0.40 0.40"
    assert told.split() == words.split()


def test_cells_are_drawn_once_each():
    drawn = [words for words, _ in cells(64)]
    assert len(set(drawn)) == 64 and [words for words, _ in cells(5)] == drawn[:5]


def test_a_summary_counts_solves_and_shared_optima():
    every = [
        {"ipopt": solved(40), "structured": solved(50, seconds=0.5)},
        {"ipopt": solved(60), "structured": solved(70, 2.1, 0.7, success=False)},
    ]
    first, other = summary(every)
    assert first.startswith("ipopt       2 of 2 solved, 2 at the optimum of ipopt")
    assert "1 of 2 solved, 1 at the optimum of ipopt; iterations 60 in the median" in other
    assert "70 at most; seconds 0.50 to 0.70 of its, 0.60 in the median" in other


def test_wrong_flags_end_in_a_line(capsys):
    for flags, words in (
        (["--by", "pardiso"], "by: expected some of"),
        (["--cells", "65"], "1 to 64"),
    ):
        with pytest.raises(SystemExit):
            main(flags)
        assert words in capsys.readouterr().err
