"""The planar arm identified: base parameters and friction of seeded trials, and their errors."""

from dataclasses import replace
from functools import lru_cache

import numpy as np
import pytest

from ocp import BSpline, noisy
from ocp.problems.arms.identify_arm import (
    beyond,
    excitation,
    identified,
    measurable,
    outcome,
    planned,
    run,
    statement,
    summary,
    true_values,
    uncertainty,
)

STATED = statement()
BASE = list(STATED.base)


@lru_cache
def exact():
    """Exact torques along a motion that is sampled 50 times in a second."""
    recorded = measurable(STATED, excitation(2, rate=50.0), noise=0.2, bandwidth=25.0)
    return replace(recorded, motion=BSpline(points=120, degree=5))


@lru_cache
def answers():
    """What twenty seeded trials find."""
    angles_alone = replace(exact(), qd=None, qdd=None)
    return [identified(STATED, noisy(angles_alone, seed)) for seed in range(20)]


def test_exact_torques_give_the_true_base_parameters_and_friction():
    answer = identified(STATED, exact())
    values, _ = answer.estimate(list(STATED.base.values()))
    assert answer.success
    assert values == pytest.approx([true_values(STATED)[name] for name in BASE], abs=1e-9)
    for name in answer.values:
        if name.endswith(("viscous", "dry")):
            assert answer.values[name] == pytest.approx(STATED.truth[name], abs=1e-9)


def test_six_changes_of_sixteen_inertial_numbers_change_no_torque():
    answer = identified(STATED, exact())
    assert len(answer.unidentifiable) == 6
    assert all("viscous" not in words and "dry" not in words for words in answer.unidentifiable)
    assert np.isinf(answer.errors["tool_mass"])
    assert np.isfinite(answer.errors["tool_dry"])


def test_base_parameters_are_within_two_of_their_standard_errors_as_often_as_these_say():
    outcomes = [outcome(STATED, answer, BASE) for answer in answers()]
    within = np.array([np.abs(each.off) <= 2 for each in outcomes])
    assert within.sum() >= 0.925 * within.size
    assert sum(each.probability >= 0.0455 for each in outcomes) >= 19
    assert np.sqrt(np.mean([each.off**2 for each in outcomes])) == pytest.approx(1, abs=0.12)
    assert "of 200 within two standard errors (expected 191)" in summary("base", outcomes)


def test_noise_of_the_angles_spoils_what_it_is_not_told_of():
    angles_alone = replace(exact(), qd=None, qdd=None, motion=None, encoder=3e-3)
    rough = identified(STATED, replace(noisy(angles_alone, 0), encoder=None))
    assert outcome(STATED, rough, BASE).probability < 1e-3
    assert rough.explanation


def test_of_several_motions_the_one_that_tells_most_is_chosen():
    settings = {"noise": 0.2, "bandwidth": 10.0}
    chosen = uncertainty(STATED, identified(STATED, planned(STATED, 3, rate=20.0, **settings)))
    others = (measurable(STATED, excitation(seed, 20.0), **settings) for seed in range(3))
    sizes = [uncertainty(STATED, identified(STATED, other)) for other in others]
    assert chosen == pytest.approx(min(sizes))
    assert np.ptp(sizes) > 0.1


def test_probabilities_are_those_of_chi_squares():
    assert beyond(0.0, 10) == 1
    assert beyond(18.307, 10) == pytest.approx(0.05, abs=1e-5)  # of its printed tables
    assert beyond(5.991, 2) == pytest.approx(0.05, abs=1e-4)


@pytest.mark.commands
def test_the_command_prints_both_tables(capsys):
    assert run(["--trials", "2", "--draws", "1", "--rate", "40", "--bandwidth", "20"]) == 0
    printed = capsys.readouterr().out
    assert "| shoulder.J" in printed and "| tool_dry" in printed
    assert "not identifiable: " in printed


def test_a_command_that_asks_for_nothing_is_refused(capsys):
    assert run(["--trials", "0"]) == 2
    assert "--trials: expected at least 1" in capsys.readouterr().err
    assert run(["--rate", "1"]) == 2
    assert "--rate: expected at least 10" in capsys.readouterr().err
    assert run(["--bandwidth", "-1", "--draws", "1"]) == 2
    assert "bandwidth" in capsys.readouterr().err
