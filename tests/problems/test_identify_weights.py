"""Weights of a reach and of walks, found again as the command prints them."""

from functools import lru_cache, partial

import numpy as np
import pytest

from ocp import identify_objective
from ocp.problems.arms.identify_arm import beyond
from ocp.problems.gait import Accuracy, identify_weights
from ocp.problems.gait.identify_weights import case, recorded, run
from ocp.problems.gait.kept_trials import KeptTrials, errors_of

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
    assert errors_of(this.off(found), found).inside
    assert found.misfit == pytest.approx(1.0, abs=0.25)


@pytest.mark.commands
def test_a_step_of_the_search_leads_to_the_weights_of_a_walk_whose_feet_stand_closely(monkeypatch):
    """Its active rows depend on each other: no active set of it has derivatives."""
    few = partial(identify_weights.step, accuracy=Accuracy(points=14))
    monkeypatch.setattr(identify_weights, "step", few)
    this = case("walk", 0)
    settings = {"transcription": this.transcription, "solver": this.solver, "guess": this.guess}
    known = [recorded(this.motion)]
    found = identify_objective(this.problem, known, this.sought, iterations=1, **settings)
    before = np.abs([np.log(this.factors[name]) for name in found.terms]).max()
    assert np.abs(this.off(found)).max() < 0.2 * before


@pytest.mark.parametrize(
    ("square", "count"), [(3.841, 1), (5.991, 2), (7.815, 3), (11.070, 5), (15.507, 8)]
)
def test_one_in_twenty_sums_of_squares_is_beyond_the_table_s_value(square, count):
    assert beyond(square, count) == pytest.approx(0.05, abs=5e-5)


def test_a_command_without_trials_is_refused(capsys):
    assert run(["--trials", "0"]) == 2
    assert "--trials" in capsys.readouterr().err


def test_speeds_of_another_problem_are_refused(capsys):
    assert run(["reach", "--speeds", "0.8"]) == 2
    assert "--speeds: of the walk alone" in capsys.readouterr().err


@pytest.mark.commands
def test_a_command_goes_on_from_its_file_and_prints_the_same(tmp_path, capsys, monkeypatch):
    """The second time nothing is solved; a file of another search is refused."""
    kept = str(tmp_path / "reach.json")
    assert run(["--trials", "1", "--file", kept]) in (0, 1)
    first = capsys.readouterr().out
    assert "largest error from exact curves" in first and "of 1 trials" in first
    with monkeypatch.context() as solved:
        solved.setattr(identify_weights, "case", None)
        run(["--trials", "1", "--file", kept])
        assert capsys.readouterr().out == first
        assert run(["--trials", "1", "--seed", "1", "--file", kept]) == 2
    assert "is about 'reach, true weights of seed 0" in capsys.readouterr().err
    run(["--trials", "2", "--file", kept, "--seconds", "0"])
    assert "1 of 2 trials are done: the same command goes on" in capsys.readouterr().out


def test_a_trial_that_fails_is_kept_as_one_outside(tmp_path):
    kept = KeptTrials.read(str(tmp_path / "reach.json"), "reach")
    kept.trials[3] = identify_weights.failure(2, ValueError("no motion is found"))
    kept.save()
    again = KeptTrials.read(str(tmp_path / "reach.json"), "reach").trials[3]
    assert not again.inside and again.status == "no motion is found" and not again.near.any()
