"""Solution of lifts: one alone, with two objectives in their ranges, or a front."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, cast

import numpy as np

from ocp import (
    Attempt,
    BSpline,
    Constraint,
    Guess,
    Objective,
    Parameter,
    Problem,
    Solution,
    Solver,
    Transcription,
    prepare,
    solve,
)
from ocp.mechanics import parameters_of, with_values
from ocp.problems.lifting.report.disturbed_lifts import disturbed
from ocp.problems.lifting.statement.constraints import FAINT, GENTLE
from ocp.problems.lifting.statement.graded_knots import thinned
from ocp.problems.lifting.statement.standing_body import STYLE
from ocp.solvers import INTERRUPTED
from ocp.solving import posture, total_statistics

TUNED = {
    "tol": 1e-6,
    "max_iter": 250,
    "mumps_permuting_scaling": 0,
    "mumps_pivot_order": 0,
    "min_refinement_steps": 0,
    "mu_init": 3e-2,
}
CAREFUL = {"tol": 1e-6, "max_iter": 400, "mumps_pivtol": 1e-4}
ATTEMPTS = (
    Attempt(options=TUNED),
    Attempt(options=CAREFUL),
    Attempt(options=CAREFUL, feasible_first=True),
)
CLOSE = {"bound_push": 1e-2, "bound_frac": 1e-2}  # what others have found is near its bounds
# From multipliers: the parameter of each step collapses while what is new is far from stationary
ONWARD = TUNED | CLOSE | {"mu_strategy": "monotone", "mu_init": 3e-3}
NEAR = TUNED | {"mu_init": 1e-2}
ROUGH = {"tol": 1e-1}
INSIDE = {"bound_push": 0.1, "bound_frac": 0.1}  # from standing, which is far from any lift
NEXT = (Attempt(options=NEAR), *ATTEMPTS)  # from another lift
BEFORE = {"elb_flex": float(np.pi / 2)}  # hands where a box can be: at the sides it is in the legs
BUILT = ("build_seconds", "total_seconds")
SLIGHT = 1e-6  # of a lift's objective: by which another must be less to better it
Weights = tuple[float, float, float]  # of effort, stability and accelerations
GROUPS = {"stability": 1, GENTLE: 2}  # whose weight a term has, that of effort unless named
Run = Callable[[Weights, Any], Solution]  # with these weights from a guess
OPEN = tuple(  # weights that move along a front, each over the duration
    Parameter(f"{name}_weight", 1.0, lower=0.0) for name in ("effort", "stability", "smoothness")
)


def lift(
    problem: Problem,
    transcription: Transcription,
    solver: Solver,
    *,
    guess: Any = None,
    watch: Callable[..., Any] | None = None,
    pareto: int = 0,
    runs: int = 0,
    noise: float = 0.01,
    values: Mapping[str, float] | None = None,
) -> Solution:
    """Solve a lift from standing with level forearms, or from a guess.

    One of a style is first solved as it is best, roughly, and goes on from there, multipliers too;
    so is one on graded knots on about half of them.
    A failed attempt is followed by a more careful one. Where both objectives count, they are
    counted in the ranges between their own optima and their values where the other one is optimal,
    which are found first; all these lifts are of one plan. `pareto`: number of weights from 1 to 0
    whose lifts make the front of effort against stability, or 0 for the one lift alone. The front
    is in the statistics, as a list of plain records. `runs`: simulations with feedback under
    `noise`, a share of the largest torques; what became of them is in the statistics too. `values`
    are those of the problem's parameters.
    """
    given: dict[str, Any] = dict(values or {})
    span = problem.duration[0]
    weights = _numbers({term.name: span * one for one, term in problem.objective.terms}, given)
    if pareto and (pareto < 2 or "stability" not in weights):
        raise ValueError(
            f"pareto: expected at least 2 weights, and a box of known mass, got {pareto}"
        )
    alone = "stability" not in weights or (weights["stability"] == 0 and not pareto)
    attempts = NEXT if problem.tree.elements or _style(problem) else ATTEMPTS

    how: dict = {"watch": watch, "values": given}
    last = _before(problem, transcription, solver, **how) if guess is None else None
    begun = guess or last or _standing(problem)
    if alone and guess is not None:
        lifted = solve(problem, transcription, solver, guess=guess, attempts=attempts, **how)
    elif alone:
        lifted = go_on(problem, transcription, solver, begun, **how)
    else:
        still = begun if last is None else replace(last, multipliers={})
        how |= {"attempts": attempts, "pareto": pareto}
        lifted = _weighed(problem, transcription, solver, still, weights, **how)
    lifted = lifted if last is None else after(lifted, last)
    if not (runs and lifted.success):
        return lifted
    told = {"disturbed": disturbed(lifted, runs, noise)}
    return replace(lifted, statistics=dict(lifted.statistics) | told)


def _before(
    problem: Problem, transcription: Transcription, solver: Solver, **how: object
) -> Solution | None:
    """Return the rough lift from which to go on to a problem, None where it begins from standing.

    `how` are the watcher and the values of parameters.
    """
    simpler = _simpler(problem)
    if simpler is None:
        return None
    first = None if _style(problem) is None else _before(simpler, transcription, solver, **how)
    begun = first or _standing(simpler)
    lifted = go_on(simpler, transcription, solver, begun, rough=True, **how)
    return lifted if first is None else after(lifted, first)


def _standing(problem: Problem) -> Guess:
    """Return the posture of standing with level forearms as a guess."""
    q = posture(problem, BEFORE)
    return Guess(q=np.transpose([q, q]))


def go_on(
    problem: Problem,
    transcription: Transcription,
    solver: Solver,
    begun: Guess | Solution,
    *,
    rough: bool = False,
    watch: Callable[..., Any] | None = None,
    values: Mapping[str, float] | None = None,
) -> Solution:
    """Return a lift of effort from a guess or another lift, whose multipliers it takes over;
    `rough` ends it as what others go on from."""
    end = ROUGH if rough else {}
    attempts = (Attempt(options=NEAR | INSIDE | end), *ATTEMPTS) if rough else ATTEMPTS
    if isinstance(begun, Solution):
        onward = Attempt(options=ONWARD | end, warm=bool(begun.multipliers))
        still = replace(begun, multipliers={})
        attempts = onward, *(replace(each, guess=still) for each in NEXT)
    known: dict = {"guess": begun, "attempts": attempts, "values": values}
    return solve(problem, transcription, solver, watch=watch, **known)


def _weighed(
    problem: Problem,
    transcription: Transcription,
    solver: Solver,
    begun: Guess | Solution,
    weights: Mapping[str, float],
    *,
    attempts: Sequence[Attempt],
    pareto: int,
    watch: Callable[..., Any] | None,
    values: Mapping[str, float],
) -> Solution:
    """Return a lift of two objectives in their ranges, as `lift` says, all of one plan."""
    share = round(1.0 - weights["stability"], 9)
    own = {
        name: 1.0 if name in GROUPS else weight / max(share, FAINT)
        for name, weight in weights.items()
    }
    plan = prepare(_opened(problem, own), transcription, solver, attempts=attempts)

    def run(weighed: Weights, start: Any) -> Solution:
        moving = {each.name: weight for each, weight in zip(OPEN, weighed)}
        return plan.solve(start, watch=watch, **values, **moving)

    count = partial(_counted, own)
    lifted = _balanced((share, weights[GENTLE]), count, _unstopped(run), begun, pareto)
    seconds = {name: lifted.statistics[name] + plan.seconds for name in BUILT}
    return replace(lifted, statistics=dict(lifted.statistics) | seconds)


def _simpler(problem: Problem) -> Problem | None:
    """Return the lift from which to go on to one of a style or on graded knots, None where it
    begins from standing."""
    if _style(problem) is None:
        motion = thinned(cast(BSpline, problem.motion))
        return None if motion is None else replace(problem, motion=motion)
    others = tuple(each for each in problem.constraints if each.name != STYLE)
    return replace(problem, constraints=others)


def _style(problem: Problem) -> Constraint | None:
    """Return the requirements of a style, None without one."""
    return next((each for each in problem.constraints if each.name == STYLE), None)


def after(lifted: Solution, before: Solution) -> Solution:
    """Return a lift with all that was tried and taken before it in its statistics."""
    own = lifted.statistics
    total = total_statistics([before.statistics, own])
    tried = [*before.statistics["attempts"], *own["attempts"]]
    return replace(lifted, statistics=dict(own) | total | {"attempts": tried})


def _numbers(weights: Mapping[str, Any], given: Mapping[str, float]) -> dict[str, float]:
    """Return weights by name with numbers for parameters, those that are `given` by name."""
    known = parameters_of(weights)
    return with_values(weights, {each: given.get(each.name, each.value) for each in known})


def _opened(statement: Problem, own: Mapping[str, float]) -> Problem:
    """Return the statement with open weights of effort, stability and accelerations, per duration;
    terms have their `own` ones within these."""
    terms = tuple(
        (own[term.name] * OPEN[GROUPS.get(term.name, 0)] / statement.duration[0], term)
        for _, term in statement.objective.terms
    )
    return replace(statement, objective=Objective(terms=terms))


def _counted(own: Mapping[str, float], lifted: Solution) -> Weights:
    """Return effort, stability and accelerations of a lift, whose terms have their `own` weights
    within these."""
    sums = [0.0] * len(OPEN)
    for name, _, value in lifted.terms:
        sums[GROUPS.get(name, 0)] += own[name] * value
    effort, off, gentle = sums
    return effort, off, gentle


def _unstopped(run: Run) -> Run:
    """Return a run that Ctrl-C ends with all others: it raises KeyboardInterrupt."""

    def whole(weighed: Weights, start: Any) -> Solution:
        solution = run(weighed, start)
        if solution.status == INTERRUPTED:
            raise KeyboardInterrupt
        return solution

    return whole


def _balanced(
    weights: tuple[float, float],
    count: Callable[[Solution], Weights],
    run: Run,
    guess: Any,
    pareto: int,
) -> Solution:
    """Return the lift whose objectives count in their ranges, by the `weights` of effort against
    stability and of accelerations; `count` gives what it takes of all three.

    The front is in its statistics.
    """
    share, smooth = weights
    lazy = run((1.0, 0.0, smooth), guess)
    stable = run((FAINT, 1.0, smooth), replace(lazy, multipliers={}))
    ranges = [abs(b - a) for a, b in list(zip(count(lazy), count(stable)))[:2]]
    lifts = {1.0: lazy, 0.0: stable}
    last = lazy

    def scaled(wanted: float) -> Weights:
        return max(wanted, FAINT) / ranges[0], (1 - wanted) / ranges[1], smooth / ranges[0]

    def between(wanted: float, start: Solution) -> Solution:
        return run(scaled(wanted), replace(start, multipliers={}))

    for wanted in sorted({share, *np.linspace(0.0, 1.0, pareto or 2).tolist()}, reverse=True):
        if wanted not in lifts:
            last = lifts[wanted] = between(wanted, last)
    made = list(lifts.values())

    def cost(wanted: float, lifted: Solution) -> float:
        return float(np.dot(scaled(wanted), count(lifted))) if lifted.success else np.inf

    for wanted, better in bettered(lifts, cost).items():
        made.append(between(wanted, better))
        lifts[wanted] = min(lifts[wanted], made[-1], key=partial(cost, wanted))
    front = [_record(weight, lifts[weight], count) for weight in sorted(lifts, reverse=True)]
    return _summed(
        lifts[share],
        made,
        references=dict(zip(("effort", "stability"), ranges)),
        front=front if pareto else [],
    )


def bettered(
    lifts: Mapping[float, Solution], cost: Callable[[float, Solution], float]
) -> dict[float, Solution]:
    """Return {weight: the lift of another weight that is better at this one's}, without the ends.

    What is bettered ended in a poorer one of several local optima. `cost`(weight, lift) is what a
    lift costs at a weight, infinite of one that failed.
    """
    better = {}
    for wanted, own in lifts.items():
        here = partial(cost, wanted)
        best = min(lifts.values(), key=here)
        if 0 < wanted < 1 and here(best) < here(own) - SLIGHT * abs(here(best)):
            better[wanted] = best
    return better


def _summed(chosen: Solution, lifts: Sequence[Solution], **others: Any) -> Solution:
    """Return a lift with the iterations, calls and seconds of all in its statistics, and others."""
    total = total_statistics([each.statistics for each in lifts])
    return replace(chosen, statistics=dict(chosen.statistics) | total | others)


def _record(
    weight: float, solution: Solution, count: Callable[[Solution], Weights]
) -> dict[str, Any]:
    effort, off, _ = count(solution)
    return {
        "weight": weight,
        "status": solution.status,
        "effort": effort,
        "stability": off,
        "iterations": solution.statistics["iterations"],
        "solve_seconds": solution.statistics["solve_seconds"],
    }
