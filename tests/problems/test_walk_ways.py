"""Solvers of a walk, its interruption and its limits of iterations."""

import pickle
import signal

import pytest
from human_bodies import FEW_JOINTS

from ocp import Parameter, Solver, Transcription
from ocp.problems.gait import Accuracy, Gait, Goal, Rules, problem, walk
from ocp.solvers import INTERRUPTED
from ocp.solving import plan
from ocp.solving.plan import keep_plans

STAGES = "motion alone", "constant limits", ""


@pytest.fixture(scope="module", autouse=True)
def built_once():
    """Graphs of equal problems are built once for all walks of this file."""
    transcribe, built = plan.transcribe, {}

    def kept(*stated, **settings):
        key = pickle.dumps((stated, settings))
        if key not in built:
            built[key] = transcribe(*stated, **settings)
        return built[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plan, "transcribe", kept)
        yield


QUICKLY = {  # to what few points and joints come in a second
    "active": FEW_JOINTS,
    "accuracy": Accuracy(points=12, contact=0.002, slip=0.1),
    "rules": Rules(dissipative=False),
}


@pytest.fixture(scope="module")
def person():
    return problem(**QUICKLY)


@pytest.mark.parametrize(
    ("plugin", "stage"), [*(("auto", stage) for stage in STAGES), ("ipopt", "constant limits")]
)
def test_an_interrupted_walk_ends_there_whichever_solve_it_was(person, stage, plugin):
    seen = []

    def stop(iteration):
        seen.append(iteration)
        if iteration.stage == stage and iteration.number == 2:
            signal.raise_signal(signal.SIGINT)

    stopped = walk(person, Transcription(), Solver(plugin=plugin), watch=stop)
    assert (stopped.status, stopped.success) == (INTERRUPTED, False)
    assert (seen[-1].stage, seen[-1].number) == (stage, 2)
    assert stopped.problem.tree is person.tree and stopped.duration == pytest.approx(0.5)
    assert [each.name for each in stopped.problem.constraints] == [
        each.name for each in person.constraints
    ]


def test_an_interrupted_stride_is_one_of_both_steps():
    stride = problem(gait=Gait(stride="full"), goal=Goal(objective="effort"), active=FEW_JOINTS)
    seen = []

    def stop(iteration):
        seen.append(iteration.stage)
        if len(seen) == 3:
            signal.raise_signal(signal.SIGINT)

    stopped = walk(stride, Transcription(), Solver(), watch=stop)
    assert stopped.status == INTERRUPTED and stopped.duration == pytest.approx(1.0)
    assert seen == ["one step first"] * 3


@pytest.mark.parametrize(("plugin", "limit"), [("auto", 25), ("ipopt", 5)])
def test_a_limit_of_iterations_holds_for_all_solves_of_a_walk_together(person, limit, plugin):
    solver, seen = Solver(plugin=plugin, options={"max_iter": limit}), []
    stopped = walk(person, Transcription(), solver, watch=lambda each: seen.append(each.number))
    assert stopped.status == "Maximum_Iterations_Exceeded"
    assert stopped.statistics["iterations"] == limit == sum(number > 0 for number in seen)
    assert stopped.explanation


def test_a_plan_of_parameters_goes_on_by_ours_from_multipliers_alone():
    speed = Parameter("speed", 1.2, "m/s", lower=0.1, upper=4.0)
    stated = problem(gait=Gait(speed=speed), goal=Goal(objective="effort"), active=FEW_JOINTS)
    plans = {}
    with keep_plans(plans):
        first = walk(stated, Transcription(), Solver(), values={"speed": 1.2}).require()
        near = walk(stated, Transcription(), Solver(), guess=first, values={"speed": 1.21})
    assert first.statistics["plugin"] == near.statistics["plugin"] == "structured"
    assert near.require().statistics["prediction_iterations"] == 0
    assert near.statistics["iterations"] < 0.5 * first.statistics["iterations"]


def test_people_with_strength_walk_on_a_plan_of_parameters_as_by_themselves(person):
    """By the same solves, on one plan; their motion alone, where they begin, has the values."""
    speed = Parameter("speed", 1.0, "m/s", lower=0.1, upper=4.0)
    stated, plans = problem(gait=Gait(speed=speed), **QUICKLY), {}
    with keep_plans(plans):
        again = walk(stated, Transcription(), Solver(), values={"speed": 1.2}).require(coarse=True)
    alone = walk(person, Transcription(), Solver()).require(coarse=True)
    assert again.objective == pytest.approx(alone.objective, abs=1e-7) and len(plans) == 1
    assert again.statistics["iterations"] == pytest.approx(alone.statistics["iterations"], abs=2)
    assert again.statistics["constant_limits"]["motion_alone"]["iterations"] > 0


def test_a_step_with_too_many_variables_for_ours_is_solved_by_ipopt(monkeypatch):
    monkeypatch.setattr("ocp.interior_point.condensed_systems.CORE", 3)
    monkeypatch.setattr("ocp.solvers.fronts.available", lambda: False)
    stated = problem(goal=Goal(objective="effort"), active=FEW_JOINTS)
    step = walk(stated, Transcription(), Solver()).require()
    assert step.statistics["plugin"] == "ipopt" and "structured" not in step.statistics
    assert step.objective == pytest.approx(2.56767697, abs=1e-7)


def test_without_a_compiler_a_step_too_large_for_dense_factors_is_left_to_ipopt(monkeypatch):
    monkeypatch.setattr("ocp.interior_point.condensed_systems.CORE", 3)
    monkeypatch.setattr("ocp.solvers.fronts.available", lambda: False)
    stated = problem(active=FEW_JOINTS, accuracy=Accuracy(points=12))  # whose feet stand closely
    stopped = walk(stated, Transcription(), Solver(options={"max_iter": 3}))
    assert stopped.status == "Maximum_Iterations_Exceeded"
    assert stopped.statistics["plugin"] == "ipopt"
