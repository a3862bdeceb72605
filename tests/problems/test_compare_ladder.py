"""Random lifts and broken statements by the default ladder: tables, claims, pieces."""

import json

import numpy as np
import pytest

from ocp.problems.benchmarks.motions import compare_ladder
from ocp.problems.benchmarks.motions.compare_ladder import CLAIMS, lift, run


def test_lifts_are_the_same_for_a_seed_and_other_ones_for_another():
    ends = [lift(3, seed).requirements[0].lower for seed in (12, 12, 13)]
    assert ends[0] == ends[1] and ends[0] != ends[2]
    assert max(np.abs(end).max() for end in ends) <= 3.0
    assert 1.0 <= lift(3, 12).tree.joints[0].torque[1] <= 10.0


def test_a_piece_of_the_lifts_is_kept_and_not_done_again(tmp_path, capsys, monkeypatch):
    path = tmp_path / "kept.json"
    arguments = ["lifts", "--tasks", "2", "--keep", str(path)]
    assert run(arguments) == 0
    table = capsys.readouterr().out
    assert "2 lifts, by what solves them" in table and "| the plain attempt |     2 |" in table
    assert len(json.loads(path.read_text())["lifts, seed 12, starts 20"]) == 2
    monkeypatch.setitem(compare_ladder.MAKE, "lifts", None)  # what would be done again fails
    assert run(arguments) == 0 and capsys.readouterr().out == table


@pytest.mark.parametrize(
    ("results", "holds"),
    [
        ({"starts": [], "named": ["torque_limits (elbow): must give way by 1 N m"]}, [True, True]),
        (
            {"starts": [4], "named": ["torque_limits (elbow): must give way by 1 N m"]},
            [False, True],
        ),
        ({"starts": [], "named": ["at_end.q (elbow): must give way by 1 rad"]}, [True, False]),
        ({"starts": [], "named": []}, [True, False]),
    ],
)
def test_an_unsolved_lift_holds_if_no_start_solves_it_and_the_torque_is_named(results, holds):
    flags = compare_ladder._parser().parse_args([])
    claims = CLAIMS["lifts"]({0: {"solved": False} | results}, flags)
    assert [claim for claim, _ in claims] == holds


@pytest.mark.parametrize("arguments", [["walks"], ["lifts", "--tasks", "0"]])
def test_what_cannot_be_met_is_named(arguments, capsys):
    assert run(arguments) == 2 and "compare_ladder: error: " in capsys.readouterr().err
