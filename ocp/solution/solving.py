"""The one verb: transcribe, check, minimise, and return the Solution."""

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ocp.problem.statement import Problem
from ocp.solution.arguments import check_solve
from ocp.solution.attempts import LADDER, Attempt, Climb, climb, ladder
from ocp.solution.budget import Watch
from ocp.solution.diagnosis import explain
from ocp.solution.elastic import Elastic, must_give_way
from ocp.solution.preflight import preflight
from ocp.solution.resolution import coarseness
from ocp.solution.solution import Solution
from ocp.solution.starts import Guess, start
from ocp.solvers.minimizing import Outcome, Solver
from ocp.solvers.nlp import NLP
from ocp.solvers.record import Iteration
from ocp.transcription.multipliers import name_multipliers
from ocp.transcription.transcribe import Transcribed, Transcription, transcribe
from ocp.transcription.variables import instants_at, motion_at, split


def solve(
    problem: Problem,
    transcription: Transcription = Transcription(),
    solver: Solver = Solver(),
    *,
    guess: Guess | Solution | None = None,
    watch: Callable[[Iteration], Any] | None = None,
    attempts: Iterable[Attempt] = LADDER,
    certify: bool = False,
    refine: float | None = None,
) -> Solution:
    """Return the Solution of a problem; not converging is a status, on which `.require()` insists.

    `guess` is a Guess, or a Solution (of any spline basis) that also lends its multipliers; by
    default the straight line between the prescribed ends. `watch(iteration)` sees every iteration.
    `attempts` are made one after the other until one succeeds or is interrupted, by default a
    plain one, one that is feasible first, and starts that wander: their options are IPOPT's, under
    those of `solver`, whose limits of iterations and time hold for all of them together; to other
    plugins an attempt with options is the first one or none. Iterations and seconds of all are
    added up in the statistics, and their statuses listed. Where all fail, the solution is that of
    the last that ended by itself, and unless it was the only one the explanation names first what
    must give way. With `certify` it carries its Verification; with `refine`, a
    tolerance, it is solved on finer and finer bases until that holds: see `ocp.refine`.
    Raises ValueError before the solve for anything wrong with the statement.
    """
    check_solve(problem, transcription, solver, watch, attempts)
    if refine is not None:
        from ocp.solution.refinement import refine as in_rounds  # each of which solves

        settings: dict[str, Any] = {"guess": guess, "watch": watch, "attempts": attempts}
        return in_rounds(problem, refine, transcription, solver, **settings)
    begin = time.perf_counter()
    transcribed = transcribe(problem, transcription)
    attempts = ladder(attempts, solver)
    guesses = [guess if attempt.guess is None else attempt.guess for attempt in attempts]
    distinct = {id(each): each for each in guesses}
    starts = {key: start(transcribed, each) for key, each in distinct.items()}
    for each in starts.values():
        preflight(transcribed, each.x, solver.hessian)
    ready = time.perf_counter()
    climbed = climb(transcribed, solver, attempts, [starts[id(each)] for each in guesses], watch)
    alone = len(attempts) == 1  # one start of many, which nobody asks why it failed
    elastic = Elastic() if alone else _elastic(transcribed, solver, climbed, watch)
    statistics = _statistics(transcribed, climbed)
    statistics["explanation_iterations"] = elastic.iterations
    statistics["build_seconds"] += ready - begin
    statistics["total_seconds"] = time.perf_counter() - begin
    solution = _solution(transcribed, climbed.best.outcome, statistics, elastic.lines)
    if not certify:
        return solution
    from ocp.solution.certificate import verify  # certificates load when one is asked for

    return replace(solution, verification=verify(solution))


def _elastic(
    transcribed: Transcribed, solver: Solver, climbed: Climb, watch: Watch | None
) -> Elastic:
    """Return what must give way, unless a motion was found or nothing more may be asked."""
    if not climbed.missed:
        return Elastic()
    still, x = transcribed.still(climbed.nearest)
    return must_give_way(still, solver, x, climbed.left, watch)


def _solution(
    transcribed: Transcribed, outcome: Outcome, statistics: dict[str, Any], yielding: Sequence[str]
) -> Solution:
    """Return the Solution that an Outcome of the transcribed problem's NLP is."""
    if transcribed.reduction is not None:
        x, x_multipliers, g_multipliers = transcribed.reduction.spread(outcome)
        outcome = replace(outcome, x=x, x_multipliers=x_multipliers, g_multipliers=g_multipliers)
    layout, problem = transcribed.layout, transcribed.problem
    coarse = coarseness(*transcribed.still(outcome.x)) if outcome.success else ""
    points, duration, lifted = split(layout, outcome.x)
    values = np.array(transcribed.terms(outcome.x)).ravel()
    weighed = problem.objective.terms
    named = name_multipliers(
        transcribed.rows, transcribed.asked, outcome.x_multipliers, outcome.g_multipliers
    )
    return Solution(
        problem=replace(problem, motion=motion_at(layout, outcome.x)) if layout.moving else problem,
        transcription=transcribed.transcription,
        points=points,
        duration=duration,
        nodes=instants_at(layout, outcome.x, layout.nodes),
        lifted=lifted,
        objective=outcome.f,
        status=outcome.status,
        terms=tuple(
            (term.name, weight, float(value)) for (weight, term), value in zip(weighed, values)
        ),
        success=outcome.success,
        statistics=statistics | {"coarse": coarse},
        history=outcome.history,
        multipliers={
            name: replace(each, s=instants_at(layout, outcome.x, each.s))
            for name, each in named.items()
        },
        explanation=(coarse,) * bool(coarse)
        if outcome.success
        else explain(transcribed, outcome, yielding),
    )


def _statistics(transcribed: Transcribed, climbed: Climb) -> dict[str, Any]:
    """Return sizes, settings, and what all trials together took.

    What only one has is that of the best.
    """
    nlp, last, trials = transcribed.nlp, climbed.best, climbed.trials
    stages = [stage for trial in trials for stage in trial.stages]
    return {
        "plugin": last.solver.name,
        "hessian": last.solver.hessian,
        "options": dict(last.solver.options),
        "variables": len(nlp.lower),
        "constraints": len(nlp.g_lower),
        "jacobian_nonzeros": _jacobian_nonzeros(nlp),
        "hessian_nonzeros": _hessian_nonzeros(nlp, last.solver),
        "iterations": sum(stage.iterations for stage in stages),
        "stages": [stage.status for stage in last.stages],
        "attempts": [trial.outcome.status for trial in trials],
        "build_seconds": sum(stage.build_seconds for stage in stages),
        "solve_seconds": sum(stage.solve_seconds for stage in stages),
        "warm_start": last.warm,
        "kernels": transcribed.kernels(),
        "calls": {name: list(call) for name, call in last.outcome.calls.items()},
    }


def _jacobian_nonzeros(nlp: NLP) -> int:
    if nlp.jacobian is not None:
        return nlp.jacobian.nnz_out(1)
    return nlp.constraints.jac_sparsity(0, 0).nnz()


def _hessian_nonzeros(nlp: NLP, solver: Solver) -> int | None:
    if nlp.hessian is None or solver.hessian == "lbfgs":
        return None
    return nlp.hessian(solver.hessian).nnz_out(0)
