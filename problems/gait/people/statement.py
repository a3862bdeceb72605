"""The walk of people of any size, proportions and strength, from that of the median person."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from types import MappingProxyType
from typing import Any, Literal

import numpy as np

from ocp import Parameter, Problem, Solution, Solver, Task, Transcription, Tree
from ocp.mechanics import Open, position
from ocp.models.human import Person, person
from ocp.models.human.anthropometry import LENGTHS, STATURE, shares
from ocp.problems.gait.people.sampling import PROPORTIONS
from ocp.problems.gait.solve_step import walk as from_standing
from ocp.problems.gait.solve_step import walk_from, with_numbers
from ocp.problems.gait.statement.step import problem as gait
from ocp.problems.gait.statement.walking_task import Muscles

TRUNK = ("pelvis", "middle_trunk", "upper_trunk")
SLIDES, WRENCHES = 3, 12  # rows of the motion that are lengths; of what is lifted, of two feet
LIKELY = 50.0  # percentile of strength


def problem(
    sex: Literal["male", "female"] = "male",
    stature: float | Open = 1.755,
    mass: float | Open = 84.6,
    thigh_length: float | Open = 1.0,
    shank_length: float | Open = 1.0,
    thigh_mass: float | Open = 1.0,
    shank_mass: float | Open = 1.0,
    percentile: float | Open = LIKELY,
) -> Problem:
    """`sex`: male or female; `stature`: of the person (m); `mass`: of the person (kg);
    `thigh_length`: over what is usual at the stature, which stays, since the trunk makes up for it;
    `shank_length`: likewise; `thigh_mass`: over what is usual of the mass; `shank_mass`: likewise;
    `percentile`: of strength, 1 to 99."""
    longer = {"thigh": thigh_length, "shank": shank_length}
    heavier = {"thigh": thigh_mass, "shank": shank_mass}
    size = stature / STATURE
    added = sum(LENGTHS[name] * (factor - 1.0) for name, factor in longer.items())
    rest = 1.0 - added / sum(LENGTHS[name] for name in TRUNK)
    lengths = longer | dict.fromkeys(TRUNK, rest)
    own: dict[str, Any] = {
        name: {"length": LENGTHS[name] * factor * size} for name, factor in lengths.items()
    }
    for name, factor in heavier.items():
        own[name]["mass"] = shares(sex)[name] * factor * mass
    who = Person(stature=stature, mass=mass, sex=sex, segments=own)
    return gait(person=who, muscles=Muscles(percentile=percentile))


@cache
def usual(sex: str) -> Solution:
    """Return the walk of the median person of a sex, from standing, q = 0.

    Raises NotSolved where that fails.
    """
    median = problem(**person(sex, 50))
    return from_standing(median, Transcription(), Solver()).require(coarse=True)


def walk(
    problem: Problem,
    transcription: Transcription,
    solver: Solver,
    *,
    guess: Any = None,
    watch: Callable[..., Any] | None = None,
    values: Mapping[str, float] | None = None,
    sex: str = "male",
) -> Solution:
    """Solve the walk of somebody from that of the median person, and from standing if that fails.

    The motion is scaled as walks of people who are alike are (Hof 1996), and multipliers are the
    median's. `values` are those of the problem's parameters; `sex`: whose median person it starts
    from, male or female.
    """
    if guess is None:
        guess = alike(usual(sex), problem.tree, values or {})
    return walk_from(guess, problem, transcription, solver, watch=watch, values=values)


def alike(
    walked: Solution, body: Tree, values: Mapping[str, float] = MappingProxyType({})
) -> Solution:
    """Return a walk as a start of somebody's of another `body`, with these values of its
    parameters: lengths are in proportion to stature, forces to weight, moments and torques to
    both."""
    weight, length = (
        float(with_numbers(of(body), values)) / float(of(walked.problem.tree))
        for of in (_mass, _stature)
    )
    points, lifted = walked.points.copy(), weight * length * walked.lifted
    points[:SLIDES] *= length
    rows = lifted[-WRENCHES:].reshape(-1, 6, lifted.shape[1])
    rows[:, 3:] /= length
    return replace(walked, points=points, lifted=lifted)


def _mass(body: Tree) -> Any:
    return sum(link.mass for link in body.links)


def _stature(body: Tree) -> Any:
    return position(body, np.zeros(body.dof), "head_top")[1]


TASK = Task(
    problem,
    method=walk,
    parameters=(
        Parameter("stature", 1.755, "m", lower=1.0, upper=2.5),
        Parameter("mass", 84.6, "kg", lower=20.0, upper=300.0),
        *(Parameter(name, 1.0, lower=0.5, upper=2.0) for name in PROPORTIONS),
        Parameter("percentile", LIKELY, lower=1.0, upper=99.0),
    ),
)
