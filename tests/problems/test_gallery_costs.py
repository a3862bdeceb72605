"""Problems of the gallery solved by several plugins, told side by side."""

import pytest

from ocp.problems.benchmarks.solvers.gallery_costs import Solved, failure, line, main, summary


def solved(iterations, objective=2.0, seconds=1.0):
    return Solved(
        success=True,
        status="Solve_Succeeded",
        iterations=iterations,
        objective=objective,
        search=seconds / 2,
        total=seconds,
    )


def test_lines_mark_failures_and_other_optima_and_tell_ratios():
    told = line("hop", {"ipopt": solved(41), "structured": solved(43, 2.5, 0.4)})
    words = "hop 41 2 0.50 1.00 1.00 43 2.5* 0.20 0.40 0.40"
    assert told.split() == words.split()
    assert line("hop", {"ipopt": solved(41), "auto": failure("no", 3.0)}).endswith(" no")


def test_the_summary_leaves_out_what_failed_and_what_is_quick():
    every = [
        {"ipopt": solved(40), "structured": solved(50, seconds=0.5)},
        {"ipopt": solved(60), "structured": failure("no", 1.0)},
        {"ipopt": solved(9, seconds=0.1), "structured": solved(9, 2.5, 0.2)},
    ]
    told = list(summary(every))[1]
    assert told.startswith("structured  2 of 3 solved, 1 at another optimum; 30 iterations")
    assert told.endswith("0.50 to 0.50 of ipopt's, 0.50 in the median")


def test_unknown_names_are_refused(capsys):
    for given in (["nonesuch"], ["--by", "nonesuch"]):
        with pytest.raises(SystemExit):
            main(given)
        assert "unknown: nonesuch" in capsys.readouterr().err
