"""Comparison of formulations on random trees with elements, on a few of them."""

import pytest

from ocp.problems.benchmarks.dynamics.compare_elements import CLAIMS, main, measured


def test_random_trees_with_elements_keep_every_claim():
    """The second of them; the command measures the first."""
    for figure, (what, most) in zip(measured(1), CLAIMS.items()):
        assert figure < most, what


@pytest.mark.commands
def test_the_command_prints_every_figure_beside_what_it_may_be(capsys):
    assert main(["--trees", "1"]) == 0
    printed = capsys.readouterr().out.splitlines()
    assert [line.partition("  ")[0].strip() for line in printed] == list(CLAIMS)
