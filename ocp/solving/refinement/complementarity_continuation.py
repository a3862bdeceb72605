"""Continuation of complementarity problems: the leak is reduced step by step (Scholtes 2001).

It serves unilateral joints that the motion closes by itself, and contacts without a schedule.
"""

from collections.abc import Iterator
from dataclasses import replace

from ocp.mechanics.values.parameters import Parameter, nominal
from ocp.mechanics.values.validation import positive
from ocp.problem.contact.complementarity import Touch, touches
from ocp.problem.contact.state_dependent_forces import Acting
from ocp.problem.statement import Problem
from ocp.solution.solution import Solution
from ocp.solvers.minimize import Solver
from ocp.solvers.nlp import Option
from ocp.solvers.progress import say
from ocp.solving.plan import prepare
from ocp.solving.solution_from_outcome import total_statistics
from ocp.solving.solve_problem import solve
from ocp.solving.starts.warm_start import Guess
from ocp.transcription.transcription_settings import Transcription

LOOSE = 100.0  # J: the first leak
FACTOR = 10.0  # by which leaks shrink
OF_SOLVES = ("watch", "attempts", "certify")  # settings that a plan's solves have too


def tighten(
    problem: Problem,
    transcription: Transcription = Transcription(),
    solver: Solver = Solver(),
    *,
    guess: Guess | Solution | None = None,
    loose: float = LOOSE,
    **settings: Option,
) -> Solution:
    """Return the Solution of a problem that finds when its stays close, or when its contacts touch.

    The leak decreases by a factor of ten from solve to solve (Scholtes 2001), each started from the
    last; contacts are transcribed once, the leak being a parameter. Which order of closing and
    opening comes out depends on the start, and is a local optimum: prescribe it (`Stay.closed`,
    `Ground`) to make the motion exact.

    Args:
        problem, transcription, solver, guess: as in `solve`.
        loose: the first leak (J).
        settings: others of `solve`.

    Returns:
        The last Solution, with iterations, calls and seconds of all solves added up.

    Raises:
        ValueError: for a problem without such stays or contacts, or with both.
    """
    stays = [stay for stay in problem.tree.stays if stay.closed is None]
    found, loose = touches(problem.loads), positive("tighten: loose (J)", loose)
    if not stays and not found:
        raise ValueError(
            "tighten: the tree has no stays that the motion is to close, nor the problem contacts"
        )
    if stays and found:
        raise ValueError(
            "tighten: both stays and contacts are to be found; prescribe when stays are closed"
        )
    if found:
        return _tighten_contacts(problem, transcription, solver, guess, loose, settings)
    before: list[Solution] = []
    for leak in _leaks(loose, min(stay.leak for stay in stays)):
        say(f"tightens stays to {leak:g} J")
        guess = solve(
            _with_stay_leaks(problem, leak), transcription, solver, guess=guess, **settings
        )
        before.append(guess)
    solution = solve(problem, transcription, solver, guess=guess, **settings)
    return _with_statistics(solution, before)


def _leaks(loose: float, least: float) -> Iterator[float]:
    """Yield leaks (J) from a loose one on, that are above the least."""
    leak = loose
    while leak > least:
        yield leak
        leak /= FACTOR


def _tighten_contacts(
    problem: Problem,
    transcription: Transcription,
    solver: Solver,
    guess: Guess | Solution | None,
    loose: float,
    settings: dict[str, Option],
) -> Solution:
    """Solve a problem's contacts on one plan, and where it is to be refined, that at last."""
    opened, leak = _with_leak_parameter(problem)
    values = dict(settings.get("values") or {})
    least = float(values.pop(leak.name, leak.value))
    plan = prepare(opened, transcription, solver)
    chosen = {name: settings[name] for name in OF_SOLVES if name in settings}
    before: list[Solution] = []
    for now in _leaks(loose, least):
        say(f"tightens contacts to {now:g} J")
        guess = plan.solve(guess, **chosen | {"certify": False}, **values | {leak.name: now})
        before.append(guess)
    known = values | {leak.name: least}
    if settings.get("refine") is not None:
        last = settings | {"values": known, "guess": guess}
        return _with_statistics(solve(opened, transcription, solver, **last), before)
    return _with_statistics(plan.solve(guess, **chosen, **known), before)


def _with_leak_parameter(problem: Problem) -> tuple[Problem, Parameter]:
    """Return the problem with one leak for all its contacts that is a parameter, and that: theirs
    if it is one already, or else one that begins at the least of theirs."""
    leaks = [touch.model.leak for touch in touches(problem.loads)]
    known = [leak for leak in leaks if isinstance(leak, Parameter)]
    parameter = known[0] if known else Parameter("leak", min(nominal(leaks)), "J", lower=0.0)
    loads = [_with_leak(load, parameter) for load in problem.loads]
    return replace(problem, loads=loads), parameter


def _with_leak(load: Acting, leak: Parameter) -> Acting:
    if not isinstance(load, Touch):
        return load
    return replace(load, model=replace(load.model, leak=leak))


def _with_statistics(solution: Solution, before: list[Solution]) -> Solution:
    """Return the last solution with what all rounds took in its statistics."""
    every = [each.statistics for each in (*before, solution)]
    kept = {"tightening": [each["iterations"] for each in every]} | total_statistics(every)
    return replace(solution, statistics=dict(solution.statistics) | kept)


def _with_stay_leaks(problem: Problem, leak: float) -> Problem:
    """Return the problem with stays that leak so much, if that is more than they do."""
    stays = [replace(stay, leak=max(leak, stay.leak)) for stay in problem.tree.stays]
    return replace(problem, tree=replace(problem.tree, stays=tuple(stays)))
