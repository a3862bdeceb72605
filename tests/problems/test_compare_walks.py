"""Default walks compared, told of a step that nobody solved for and of statements alone."""

from dataclasses import replace

import pytest
from made_up_steps import made_up_step

from ocp.models.human import somebody
from ocp.problems.benchmarks.motions import compare_walks
from ocp.problems.benchmarks.motions.compare_walks import (
    CHANGES,
    Judgement,
    Tally,
    changed,
    drawn,
    run,
    usual_step,
)
from ocp.problems.gait import problem
from ocp.problems.gait.statement.objective_terms import STIFF, human_cost
from ocp.solvers.progress import Iteration

GOOD = Judgement(certified=True, worst="contact", relative=1e-3, moved=9e-3)


@pytest.fixture(scope="module")
def stated():
    return problem()


@pytest.fixture
def walks(monkeypatch):
    """Let solves give these, one after the other, each by two solves of three iterations."""
    step, given = replace(made_up_step(), success=True), []

    def walk(problem, transcription, solver, *, guess, watch):
        for number in (0, 1, 2, 3) * 2:
            watch(Iteration(number=number, objective=0.0, violation=0.0, seconds=0.0, stage=""))
        return replace(step, success=given.pop(0), status="stuck")

    monkeypatch.setattr(compare_walks, "walk", walk)
    monkeypatch.setattr(compare_walks, "judge", lambda found, finer: GOOD)
    return given


def weights(stated):
    return {term.name: weight for weight, term in stated.objective.terms}


def test_each_weight_is_left_out_halved_and_doubled_and_all_others_stay(stated):
    own = weights(stated)
    cases = {name: weights(other) for name, other in changed(stated)}
    assert len(cases) == 3 * len(own) == 3 * 9
    for term, weight in own.items():
        for words, share in CHANGES.items():
            expected = own | {term: share * weight}
            assert {term: 0.0} | cases[f"{term} {words}"] == pytest.approx(expected)


def test_what_has_no_weight_has_no_term(stated):
    terms = {term.name for _, term in human_cost(stated.tree, somebody(), STIFF).terms}
    assert {*weights(stated)} - terms == {"head"}
    assert STIFF.head == 0.0


def test_usual_steps_grow_with_speed_and_with_legs():
    assert usual_step(None) == usual_step(1.2) == 0.6
    assert usual_step(1.8) == pytest.approx(0.6 * 1.5**0.42)
    assert usual_step(1.2, "f5") < 0.6 < usual_step(1.2, "m95")


def test_random_walks_are_the_same_in_parts():
    few, more = dict(drawn(2)), dict(drawn(3))
    assert list(few.items()) == list(more.items())[:2] and len(more) == 3
    for walk in more.values():
        assert 0.8 <= walk["speed"] <= 1.8 and 0.0 <= walk["backpack"] <= 15.0
        usual = usual_step(walk["speed"], walk["person"])
        assert 0.85 * usual <= walk["step"] <= 1.15 * usual


def test_solves_and_iterations_are_counted_with_those_that_failed():
    tally = Tally()
    for number in (0, 1, 2, 0, 1):
        tally(Iteration(number=number, objective=0.0, violation=0.0, seconds=0.0, stage=""))
    assert (tally.solves, tally.iterations) == (2, 3)


def test_random_walks_miss_their_claim_where_too_few_are_solved(walks, capsys):
    walks += [True, False]
    assert run(["random", "--first", "3", "--count", "2", "--converged"]) == 1
    *lines, claim = capsys.readouterr().out.splitlines()
    solved, stuck = ([part.strip() for part in line.split("|")[1:-1]] for line in lines[-3:-1])
    assert solved[0].startswith("3: ") and solved[1:4] == ["solved", "2", "6"] and all(solved)
    assert stuck[0].startswith("4: ") and stuck[1:4] == ["stuck", "2", "6"] and not any(stuck[5:])
    assert claim.startswith(
        "MISSED:  1 of 2 solved, 1 certified to 0.01, 1 converged to 0.02 in their "
    )
    assert "; iterations 6 (median)" in claim


def test_a_walk_from_another_is_tried_again_from_farther_off(walks, stated):
    walks += [False, True]
    case = compare_walks.solved("near", stated, made_up_step())
    assert case.solution.success and (case.solves, case.iterations) == (4, 12)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["random", "--count", "0"], "--first, --count: expected"),
        (["terms", "--norms", "nowhere.csv"], "nowhere.csv"),
    ],
)
def test_bad_arguments_are_refused(arguments, words, capsys):
    assert run(arguments) == 2
    error = capsys.readouterr().err
    assert error.startswith("compare_walks: error: ") and words in error
