"""Solution of a first or a last step, from postures between standing and walking."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ocp import Attempt, Guess, Problem, Solution, Solver, Transcription, prepare, solve
from ocp.mechanics import array, position
from ocp.models.human import mirror
from ocp.problem import STRENGTH, mirror_symmetry
from ocp.problems.gait.solve_step import (
    AFTER,
    CAREFUL,
    QUICK,
    TUNED,
    closely,
    joined,
    left_of,
    onward,
    over,
    prepared,
    quickest,
    strong,
)
from ocp.solving import with_stage

STRIKES = ("second double", "last double")  # phases that begin with the strike of a foot
STANDS = ("unloading", "settling")  # that begin as one stands
WAYPOINTS = 9  # of a first guess, in each phase


def by_way(
    problem: Problem,
    transcription: Transcription,
    solver: Solver,
    *,
    guess: Any = None,
    watch: Callable[..., Any] | None = None,
) -> Solution:
    """Solve a first step or a last one from a guess, or from straight ways between standing, the
    state of the walk and its mirror image. A failed attempt is followed by a more careful one;
    people with strength over angle begin with constant limits, as `by_limits` says."""
    transcription = closely(problem, transcription)
    if guess is None and strong(problem):
        solved = by_limits(problem, transcription, solver, watch=watch)
        if solved is not None:
            return solved
    begun = straight(problem) if guess is None else guess
    attempts = [Attempt(options={**TUNED, "max_iter": 300}), Attempt(options=CAREFUL)]
    given: dict[str, Any] = {"guess": begun, "attempts": attempts, "watch": watch}
    return solve(problem, transcription, quickest(solver, transcription), **given)


def by_limits(
    problem: Problem,
    transcription: Transcription,
    solver: Solver,
    *,
    watch: Callable[..., Any] | None = None,
) -> Solution | None:
    """Solve a first step or a last one of people with strength over angle from one that has
    constant torque limits alone, which ends roughly. Statistics are of both, those of the first
    `constant_limits`. None where either fails."""
    plan = prepare(problem, transcription, quickest(solver, transcription))
    rough = [Attempt(options=QUICK | {"tol": 1e-3, "max_iter": 250})]
    begun: dict[str, Any] = {"attempts": rough, "watch": with_stage(watch, "constant limits")}
    first = plan.without(STRENGTH).solve(straight(problem), **begun)
    if not over(first, solver):
        return None
    first = replace(first, statistics=prepared(plan, first.statistics))
    near, left = [Attempt(options=AFTER)], left_of(first, plan.solver)
    seen = onward(first, watch)
    last = replace(plan, solver=left).solve(first, attempts=near, watch=seen)
    return joined("constant_limits", first, last, solver)


def straight(problem: Problem) -> dict[str, Guess]:
    """Return a guess of each phase: straight ways from posture to posture."""
    times = np.cumsum(
        [0.0, *(float(np.sqrt(np.prod(each.duration))) for each in problem.parts.values())]
    )
    known = dict(postures(problem))
    reached = times[list(known)]
    guesses = {}
    for k, phase in enumerate(problem.phases):
        t = np.linspace(times[k], times[k + 1], WAYPOINTS)
        rows = (np.interp(t, reached, row) for row in np.transpose(list(known.values())))
        guesses[phase.name] = Guess(q=np.array(list(rows)))
    return guesses


def postures(problem: Problem) -> Iterator[tuple[int, np.ndarray]]:
    """Yield (number of a phase, or of all, posture q (n,) as it begins) of those that are known."""
    asked: Mapping[str, Any] = {each.name: np.array(each.lower) for each in problem.constraints}
    start, end = asked["at_start.q"], asked["at_end.q"]
    walks = np.abs(asked["at_end.qd"]).max() > 0
    stands, moves = (start, end) if walks else (end, start)
    yield 0, start
    for k, phase in enumerate(problem.phases):
        if phase.name in STANDS:
            yield k, stands
        elif phase.name in STRIKES:
            yield k, _image(problem, k, moves)
    yield len(problem.phases), end


def _image(problem: Problem, k: int, q: np.ndarray) -> np.ndarray:
    """Return the mirror image (n,) of a posture of walking, where the foot that strikes as the k-th
    phase begins has its heel."""
    tree, ground = problem.tree, problem.phases[k].ground
    assert ground is not None
    image = mirror_symmetry(tree, *mirror(tree)).image(q)
    foot = next(each for each in ground.feet if each.bears[0] == 0.0)
    pin = foot.supports[0].pins[0]
    heel = np.array(array(position(tree, image, pin.point)), dtype=float).ravel()
    image[tree.coordinate("glob_tz")] += float(pin.target[2]) - heel[2]
    return image
