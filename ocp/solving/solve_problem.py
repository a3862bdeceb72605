"""Solution of a problem, in one solve or by refinement."""

from collections.abc import Callable, Iterable, Mapping

from ocp.problem.statement import Problem
from ocp.solution.solution import Solution
from ocp.solvers.minimize import Solver
from ocp.solvers.nlp import Option
from ocp.solvers.progress import Iteration
from ocp.solving.plan import solve_once
from ocp.solving.preflight import check_solve
from ocp.solving.solver_attempts import LADDER, Attempt
from ocp.solving.starts.warm_start import Guesses
from ocp.transcription.transcription_settings import Transcription


def solve(
    problem: Problem,
    transcription: Transcription = Transcription(),
    solver: Solver = Solver(),
    *,
    guess: Guesses = None,
    watch: Callable[[Iteration], object] | None = None,
    attempts: Iterable[Attempt] = LADDER,
    certify: bool = False,
    refine: float | None = None,
    values: Mapping[str, float] | None = None,
) -> Solution:
    """Return the Solution of a problem; a failure is a status, on which `.require()` insists.

    Args:
        problem: a Problem.
        transcription: method, formulation and derivatives of the nonlinear program.
        solver: the solver and its options; its limits of iterations and time hold for all attempts.
        guess: a Guess, or a Solution (of any spline basis) that also lends its multipliers; by
            default the straight line between the prescribed ends. Of phases {name: guess} too.
        watch: called with every Iteration; what it raises ends the solve and is raised here.
        attempts: Attempts, made one after the other until one succeeds or is interrupted: by
            default a plain one, one that is feasible first, and random starts. Their options are
            IPOPT's, under those of `solver`; other plugins skip attempts that differ in options
            only.
        certify: whether the solution carries its Verification.
        refine: a tolerance: solve on finer and finer bases until the certificate holds, as
            `ocp.refine`.
        values: {name: number} of the problem's parameters, as `Plan.solve` takes them.

    Returns:
        A Solution whose statistics add up iterations and seconds of all attempts and list their
        statuses. If all fail it is that of the last that ended by itself, and unless it was the
        only one its explanation names first the rows that must be relaxed.

    Raises:
        ValueError: before the solve, for anything wrong with the statement.
    """
    check_solve(problem, transcription, solver, watch, attempts)
    settings: dict[str, Option] = {"guess": guess, "watch": watch, "attempts": attempts}
    settings["values"] = values
    if refine is not None:  # loads certificates, which a plain solve does without
        from ocp.solving.refinement.refine import refine as refined

        return refined(problem, refine, transcription, solver, **settings)
    return solve_once(problem, transcription, solver, certify=certify, **settings)
