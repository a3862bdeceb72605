"""First-order prediction of the optimum for new parameter values, as the start of a solve."""

from dataclasses import replace

from ocp.solution.solution import Solution
from ocp.solvers.budget import Start
from ocp.solvers.minimize import Solver
from ocp.solvers.optimum.predicted_optimum import STARTS, predict_optimum
from ocp.solvers.solver_backend import Start as Begin
from ocp.solving.solver_attempts import TUNED_PLUGIN, Attempt, tuned_for
from ocp.solving.starts.warm_start import Guesses
from ocp.transcription.transcribe import Transcribed


def predict_start(
    transcribed: Transcribed,
    solver: Solver,
    attempt: Attempt,
    guess: Guesses,
    begin: Start,
) -> Start:
    """Return the Start that a solution of the same plan with other values predicts, or the one at
    hand where there is no such solution, or nothing to predict it with."""
    if not isinstance(guess, Solution) or not _is_predictable(
        transcribed, solver, attempt, guess, begin
    ):
        return begin
    _prepare_solvers(transcribed, solver, attempt, begin)
    ahead = predict_optimum(
        transcribed.nlp,
        begin.x,
        begin.multipliers["x_multipliers"],
        begin.multipliers["g_multipliers"],
        {**attempt.options, **solver.options},
    )
    if ahead is None:
        return begin
    multipliers = {"x_multipliers": ahead.x_multipliers, "g_multipliers": ahead.g_multipliers}
    return replace(
        begin,
        x=ahead.x,
        multipliers=multipliers,
        options=ahead.options,
        iterations=ahead.iterations,
    )


def _prepare_solvers(
    transcribed: Transcribed, solver: Solver, attempt: Attempt, begin: Start
) -> None:
    """Set up the solvers that a foretold start may need, which the program keeps: the first such
    solve makes them all, further ones nothing."""
    point = Begin(x=begin.x, **begin.multipliers)
    for options in STARTS:
        tuned = tuned_for(solver, attempt, replace(begin, options=options))
        tuned.backend.prepare(transcribed.nlp, tuned, point, lambda *_: False)


def _is_predictable(
    transcribed: Transcribed,
    solver: Solver,
    attempt: Attempt,
    guess: Solution,
    begin: Start,
) -> bool:
    """Tell whether a guess is an optimum of the same program for other values, and the solver uses
    its multipliers.
    """
    plan = guess.plan
    if plan is None or plan.recipe or plan.transcribed.made is not transcribed.made:
        return False
    values = {each.name: value for each, value in transcribed.layout.values.items()}
    known = solver.name == TUNED_PLUGIN and solver.hessian == "exact"
    plain = not (attempt.feasible_first or attempt.wandering)
    whole = transcribed.reduction is None and not any(
        part.layout.moving for part in transcribed.parts
    )
    exact = transcribed.nlp.hessian is not None and whole
    moved = any(guess.parameters[name] != value for name, value in values.items())
    return bool(guess.success and known and plain and exact and moved and begin.multipliers)
