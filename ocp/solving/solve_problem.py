"""Solution of a problem, in one solve or by refinement."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ocp.problem.statement import Problem
from ocp.solution.solution import Solution
from ocp.solvers.iteration_log import Iteration
from ocp.solvers.minimize import Solver
from ocp.solving.arguments import check_solve
from ocp.solving.ladder import LADDER, Attempt
from ocp.solving.plan import solve_once
from ocp.solving.refinement.refine import refine as refined
from ocp.solving.starts.warm_start import Guesses
from ocp.transcription.transcribe import Transcription


def solve(
    problem: Problem,
    transcription: Transcription = Transcription(),
    solver: Solver = Solver(),
    *,
    guess: Guesses = None,
    watch: Callable[[Iteration], Any] | None = None,
    attempts: Iterable[Attempt] = LADDER,
    certify: bool = False,
    refine: float | None = None,
    values: Mapping[str, float] | None = None,
) -> Solution:
    """Return the Solution of a problem; not converging is a status, on which `.require()` insists.

    `guess` is a Guess, or a Solution (of any spline basis) that also lends its multipliers; by
    default the straight line between the prescribed ends. `watch(iteration)` sees every iteration;
    what it raises ends the solve and is raised here.
    `attempts` are made one after the other until one succeeds or is interrupted, by default a
    plain one, one that is feasible first, and starts that wander: their options are IPOPT's, under
    those of `solver`, whose limits of iterations and time hold for all of them together; to other
    plugins an attempt with options is the first one or none. Iterations and seconds of all are
    added up in the statistics, and their statuses listed. Where all fail, the solution is that of
    the last that ended by itself, and unless it was the only one the explanation names first what
    must give way. With `certify` it carries its Verification; with `refine`, a
    tolerance, it is solved on finer and finer bases until that holds: see `ocp.refine`. `values`
    {name: number} are those of the problem's parameters, as `Plan.solve` takes them. Raises
    ValueError before the solve for anything wrong with the statement.
    """
    check_solve(problem, transcription, solver, watch, attempts)
    settings: dict[str, Any] = {"guess": guess, "watch": watch, "attempts": attempts}
    settings["values"] = values
    if refine is not None:
        return refined(problem, refine, transcription, solver, **settings)
    return solve_once(problem, transcription, solver, certify=certify, **settings)
