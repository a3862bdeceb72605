"""Weights of a reach and of a planar walk, found again as the command prints them."""

from functools import lru_cache

import numpy as np
import pytest

from ocp.problems.arms.identify_arm import beyond
from ocp.problems.gait.identify_weights import case, inside, recorded, run

stated = lru_cache(case)


@pytest.mark.parametrize("what", ["reach", "planar"])
def test_exact_curves_give_all_weights_within_one_percent(what):
    this = stated(what, 0)
    found = this.identify([recorded(this.motion)])
    assert found.success
    assert np.abs(this.off(found)).max() < 1e-3


def test_a_noisy_planar_walk_gives_weights_within_their_errors():
    this = stated("planar", 0)
    found = this.identify([recorded(this.motion, 1)])
    assert inside(this, found)
    assert found.misfit == pytest.approx(1.0, abs=0.25)


@pytest.mark.parametrize(
    ("square", "count"), [(3.841, 1), (5.991, 2), (7.815, 3), (11.070, 5), (15.507, 8)]
)
def test_one_in_twenty_sums_of_squares_is_beyond_the_table_s_value(square, count):
    assert beyond(square, count) == pytest.approx(0.05, abs=5e-5)


def test_a_command_without_trials_is_refused(capsys):
    assert run(["--trials", "0"]) == 2
    assert "--trials" in capsys.readouterr().err
