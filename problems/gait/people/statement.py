"""The walk of people of any size: one program for each sex, whose numbers are a person's."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from typing import Any

from ocp.models.human import person
from ocp.models.human.anthropometry import LENGTHS, STATURE, shares
from ocp.problems.gait.statement import problem as gait
from ocp.problems.gait.walking import TUNED
from ocp.problems.gait.walking import walk as from_standing

from ocp import Attempt, Parameter, Problem, Solution, Solver, Task, Transcription, prepare, solve
from ocp.mechanics import Open, closed

TRUNK = ("pelvis", "middle_trunk", "upper_trunk")
SLIDES, WRENCHES = 3, 12  # rows of the motion that are lengths; of what is lifted, of two feet
NEAR = {"mu_init": 1e-2, "max_iter": 120}  # from somebody else's walk
LIKELY = 50.0  # percentile of strength


def problem(
    sex: str = "male",
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
    who: dict[str, Any] = {"stature": stature, "mass": mass, "sex": sex, "segments": own}
    return gait(percentile=percentile, **who)


@cache
def usual(sex: str) -> Solution:
    """Return the walk of the median person of a sex, from standing, q = 0.

    Raises NotSolved where that fails.
    """
    return from_standing(problem(**_median(sex)), Transcription(), Solver()).require()


def _median(sex: str) -> dict[str, Any]:
    return person(sex, 50)


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

    The motion is scaled as walks of people who are alike are (Hof 1996). `values` are those of the
    problem's parameters. `sex`: whose median person it starts from, male or female.
    """
    plan = prepare(problem, transcription, solver)
    known = {each.name: each.value for each in plan.parameters} | dict(values or {})
    if guess is None and {"stature", "mass"} <= set(known):
        guess = alike(usual(sex), known["stature"], known["mass"], sex)
    if guess is not None:
        attempts = (Attempt(options=TUNED | NEAR),)
        given: dict[str, Any] = {"guess": guess, "attempts": attempts, "values": values}
        solution = solve(problem, transcription, solver, watch=watch, **given)
        if solution.success:
            return solution
    numbers = {each: known[each.name] for each in plan.parameters}
    return from_standing(closed(problem, numbers), transcription, solver, watch=watch)


def alike(walked: Solution, stature: float, mass: float, sex: str) -> Solution:
    """Return the walk of the median person of a sex as a start of somebody's of another `stature`
    (m) and `mass` (kg): lengths are in proportion to the one, forces to the other."""
    before = _median(sex)
    length, weight = stature / before["stature"], mass / before["mass"]
    points, lifted = walked.points.copy(), weight * length * walked.lifted
    points[:SLIDES] *= length
    rows = lifted[-WRENCHES:].reshape(-1, 6, lifted.shape[1])
    rows[:, 3:] /= length
    return replace(walked, points=points, lifted=lifted, multipliers={})


PARAMETERS = (
    Parameter("stature", 1.755, "m", lower=1.0, upper=2.5),
    Parameter("mass", 84.6, "kg", lower=20.0, upper=300.0),
    Parameter("thigh_length", 1.0, lower=0.5, upper=1.5),
    Parameter("shank_length", 1.0, lower=0.5, upper=1.5),
    Parameter("thigh_mass", 1.0, lower=0.3, upper=2.0),
    Parameter("shank_mass", 1.0, lower=0.3, upper=2.0),
    Parameter("percentile", LIKELY, lower=1.0, upper=99.0),
)
TASK = Task(problem, method=walk, parameters=PARAMETERS)
