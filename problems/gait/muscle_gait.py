"""A step of walking in space, legs driven by 86 muscles, predicted from the upright posture.

Body, tissue, contact and what is asked of a step are those of the walk by torques, with the
objective human (`ocp run gait --objective human`), whose trunk and arms torques move as there.
Joints of the legs have muscles with rigid tendons and, beside them, reserve torques of a few N m.
To that objective come the squared excitations of muscles, by volume, and the reserves. The walk by
torques is solved first; its motion alone is where this begins.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from ocp import (
    Attempt,
    Guess,
    Problem,
    Solution,
    Solver,
    Spline,
    Strength,
    Task,
    Transcription,
    path,
    solve,
    squares,
)
from ocp.cli import main
from ocp.mechanics import nominal
from ocp.mechanics.muscles import muscles_of
from ocp.models.human import Person, somebody
from ocp.models.human.muscles.leg_muscles import leg_muscles
from ocp.problem import mirror_symmetry, muscle_effort, muscle_outputs
from ocp.problems.gait import TASK as WALK
from ocp.problems.gait.solve_step import closely, counted, left_of, onward, quickest, walk
from ocp.problems.gait.statement.step import problem as step_problem
from ocp.problems.gait.statement.walking_task import Accuracy, Gait, Goal
from ocp.solving import with_stage

LEGS = ("hip_", "knee_", "ankle_", "toe_")  # joints that muscles move
EXCITATION = 10.0  # of muscles, beside the walk's own terms [assumed]
RATES = 1e-3  # s2: of activations, squared [assumed]
RESERVE, MOST = 10.0, 5.0  # N m: that counts one, and at most [assumed]
OWN = {"excitations of muscles", "rates of activations", "reserves"}  # terms beside the walk's
WAYPOINTS = 41  # of the walk by torques, from which this begins
NODES = 6  # of a segment: excitations stay within their bounds between them
OPTIONS = {"tol": 1e-4, "max_iter": 300, "mu_init": 1e-2, "mu_strategy": "adaptive"}


def problem(
    gait: Gait = Gait(), person: Person = Person(), accuracy: Accuracy = Accuracy()
) -> Problem:
    """Return one step of a walk by muscles.

    Args:
        gait: speed, length and timing of steps, in one phase.
        person: whose body.
        accuracy: fineness of the motion, and tolerances.
    """
    if gait.stride != "half" or gait.free_timing or gait.free:
        raise ValueError(
            "muscle_gait: expected stride half, its timing and lengths given: a step in one phase"
        )
    stated = step_problem(gait, person, goal=Goal(objective="human"), accuracy=accuracy)
    body, who, symmetry = stated.tree, somebody(person), stated.symmetry
    assert symmetry is not None
    muscles = leg_muscles(body, nominal(who["stature"]), nominal(who["muscles"]))
    others = tuple(each for each in body.elements if not _is_of_leg(each))
    tree = replace(body, elements=(*others, *muscles))
    names = [joint.name for joint in tree.moving]
    images = [*symmetry.index, *(names.index(_twin(name)) for name in names[body.dof :])]
    shift = dict(zip(names, symmetry.shift))
    rows = [row for row, name in enumerate(names[: body.dof]) if name.startswith(LEGS)]
    states = list(tree.states)
    share = 10.0 / stated.duration[0]
    return replace(
        stated,
        tree=tree,
        symmetry=mirror_symmetry(
            tree,
            images,
            [*symmetry.sign, *[1.0] * len(states)],
            shift={name: value for name, value in shift.items() if nominal(value)},
            qdd=symmetry.accelerations,
        ),
        objective=stated.objective
        + share * EXCITATION * muscle_effort(tree, weights="volume")
        + share * RATES * squares("rates of activations", lambda at: at.qd[states])
        + share * squares("reserves", lambda at: at.tau[rows] / RESERVE),
        constraints=(
            *stated.constraints,
            path("reserves", lambda at: at.tau[rows], lower=-MOST, upper=MOST),
        ),
        outputs=muscle_outputs(tree),
    )


def _is_of_leg(element: object) -> bool:
    """Tell whether an element is the strength of a leg's joint."""
    return isinstance(element, Strength) and element.joint.startswith(LEGS)


def _twin(name: str) -> str:
    """Return the name of the state on the other side."""
    head, tail = name.split(".")
    return f"{head[:-1]}{'l' if head.endswith('r') else 'r'}.{tail}"


def by_torques(problem: Problem) -> Problem:
    """Return a step without its muscles, legs driven by torques."""
    known = {each.name for each in muscles_of(problem.tree)}
    tree, symmetry = problem.tree, problem.symmetry
    assert symmetry is not None
    kept = tuple(each for each in tree.elements if each.name not in known)
    bare = replace(tree, elements=kept)
    terms = tuple(each for each in problem.objective.terms if each[1].name not in OWN)
    return replace(
        problem,
        tree=bare,
        symmetry=mirror_symmetry(
            bare,
            symmetry.index[: bare.dof],
            symmetry.sign[: bare.dof],
            shift={
                joint.name: value
                for joint, value in zip(bare.moving, symmetry.shift)
                if nominal(value)
            },
            qdd=symmetry.accelerations,
        ),
        objective=replace(problem.objective, terms=terms),
        constraints=tuple(each for each in problem.constraints if each.name != "reserves"),
        outputs={},
    )


def walk_by_muscles(
    problem: Problem,
    transcription: Transcription,
    solver: Solver,
    *,
    guess: Any = None,
    watch: Callable[..., Any] | None = None,
) -> Solution:
    """Solve the walk by muscles from that by torques, which begins at the upright posture, or from
    a guess. Statistics are of both; a walk by torques that fails is returned."""
    transcription = closely(problem, transcription)
    if solver.plugin == "auto":  # estimates know nothing of muscles, and ours has not been tried
        solver = replace(solver, plugin="ipopt")
    attempts = (Attempt(options=OPTIONS),)
    if guess is not None:
        return solve(problem, transcription, solver, guess=guess, attempts=attempts, watch=watch)
    seen = with_stage(watch, "by torques")
    first = walk(by_torques(problem), WALK.transcription, solver, watch=seen)
    if not first.success:
        return first
    begin = Guess(q=first.q(np.linspace(0.0, first.duration, WAYPOINTS)))
    last = solve(
        problem,
        transcription,
        quickest(left_of(first, solver), transcription),
        guess=begin,
        attempts=attempts,
        watch=onward(first, watch),
    )
    return counted("by_torques", first, last)


TASK = Task(
    problem,
    transcription=Transcription(method=Spline(nodes=NODES)),
    method=walk_by_muscles,
    views=WALK.views,
)

if __name__ == "__main__":
    main(TASK)
