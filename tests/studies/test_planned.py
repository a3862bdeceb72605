"""Studies on plans: cells that differ in values of parameters alone share what was built."""

from collections import OrderedDict

import pytest
from study_cells import PLANNED, WEIGHED, objectives, problem, weighed

from ocp import Parameter, Task, solve
from ocp.solving import plan
from ocp.studies import open_study, pareto, shared_problems, sweep

TWO = {"torque": [8.0, 12.0]}
TORQUE = Parameter("torque", 10.0, "N m", 1.0, 50.0)


@pytest.fixture
def built(monkeypatch):
    """What is transcribed, as it happens, in a process that has not built anything."""
    calls, transcribe = [], plan.transcribe
    monkeypatch.setattr(shared_problems, "_PROBLEMS", OrderedDict())
    monkeypatch.setattr(
        plan, "transcribe", lambda *a, **k: (calls.append(a[0]), transcribe(*a, **k))[1]
    )
    return calls


def test_cells_that_differ_in_parameters_alone_are_built_once(built):
    over = {"torque": [8.0, 12.0], "points": [6, 7]}
    done = sweep(PLANNED, over, workers=0, chain=True)
    assert len(done.solved) == 4 and len(built) == 2
    alone = solve(problem(torque=12.0, points=7))
    cell = next(one for one in done.cells if one.parameters == {"torque": 12.0, "points": 7})
    assert cell.objective == pytest.approx(alone.objective, rel=1e-6)
    assert cell.statistics["seeded"] and cell.statistics["warm_start"]
    assert cell.statistics["iterations"] < alone.statistics["iterations"]


def test_a_front_is_one_plan_with_a_moving_weight(built):
    over = {"u": [0.2, 0.5, 0.8]}
    front = pareto(WEIGHED, over, ("duration", "effort"), workers=0)
    assert len(built) == 1 and len(front.points) >= 2
    for one in front.study.cells:
        alone = solve(weighed(**one.parameters))
        assert one.objective == pytest.approx(alone.objective, rel=1e-6)


def test_what_a_study_does_not_set_stays_a_number(built):
    done = sweep(PLANNED, {"points": [6, 7]}, workers=0)
    assert "parameters" not in done.cells[0].content
    assert done.cells[0].id == sweep(problem, {"points": [6, 7]}, workers=0).cells[0].id


def test_a_cell_of_a_plan_is_known_again_with_its_numbers():
    done = sweep(PLANNED, TWO, workers=0, file="a.sqlite")
    assert objectives(done) == objectives(sweep(problem, TWO, workers=0))
    stated = {"value": 10.0, "unit": "N m", "lower": 1.0, "upper": 50.0}
    assert done.cells[0].content["parameters"] == {"torque": stated}
    seen = []
    assert sweep(PLANNED, TWO, file="a.sqlite", watch=seen.append).cells == done.cells
    for trust in (PLANNED, ()):
        study = open_study("a.sqlite", trust)
        solution = study.solution(study.cells[0])
        assert solution.problem.tree.joints[0].torque == (-8.0, 8.0)
        assert solution.problem.requirements and solution.parameters == {"torque": 8.0}
    assert not seen


def test_a_process_keeps_few_plans(built, monkeypatch):
    monkeypatch.setattr(shared_problems, "MOST", 1)
    sweep(PLANNED, {"torque": [8.0, 9.0], "points": [6, 7]}, workers=0)
    assert len(built) == 4


def test_values_outside_the_bounds_of_a_parameter_are_refused_before_anything_runs():
    with pytest.raises(ValueError, match="'torque': expected a number within 1 and 50 N m, got 60"):
        sweep(PLANNED, {"torque": [8.0, 60.0]}, workers=0)


def shy(statement, transcription, solver, *, guess=None, watch=None):
    """A method that knows of no parameters."""
    return solve(statement, transcription, solver, guess=guess, watch=watch)


def test_a_method_that_knows_of_no_parameters_is_handed_numbers(built):
    done = sweep(PLANNED, TWO, workers=0, method=shy)
    assert len(done.solved) == len(built) == 2
    assert "parameters" not in done.cells[0].content


@pytest.mark.parametrize(
    ("parameter", "method", "words"),
    [
        (Parameter("points", 6.0), solve, "parameter 'points': is of type int, which shapes"),
        (Parameter("speed", 1.0), solve, "'speed': the problem has no such argument; it has torqu"),
        (Parameter("torque", 1.0, free=True), solve, "'torque': is free; what a study sets is giv"),
        (TORQUE, shy, "parameter 'torque': the method takes no `values` of parameters"),
        ("torque", solve, "parameters: expected Parameter records, got str"),
    ],
)
def test_what_a_problem_cannot_leave_open_is_refused_by_name(parameter, method, words):
    with pytest.raises(ValueError, match=words):
        Task(problem, parameters=(parameter,), method=method)
