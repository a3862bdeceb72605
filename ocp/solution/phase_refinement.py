"""Refinement of motions of phases: each phase's basis is made finer where its own errors are.

Rounds, budget and when it ends are those of a motion without phases.
"""

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ocp.motion.basis import Basis
from ocp.motion.part import Part
from ocp.problem.statement import Problem
from ocp.solution.budget import Budget, budget
from ocp.solution.certificate import Verification, verify
from ocp.solution.phase_statements import on_bases
from ocp.solution.refinement import (
    SETTLED,
    Round,
    broken,
    fault_of,
    finer_basis,
    finished,
    fruitless,
    settled,
    spent,
    spread_of,
    worst_row,
)
from ocp.solution.remeshing import Look, look
from ocp.solution.solution import Solution
from ocp.solution.solving import solve
from ocp.solvers.minimizing import INTERRUPTED, Solver
from ocp.transcription.methods import Collocation
from ocp.transcription.transcribe import Transcription, in_phases


def check_phases(problem: Problem) -> None:
    """Raise ValueError naming a phase that cannot be refined, or a problem without objective."""
    for phase in problem.phases:
        if isinstance(phase.motion, Part):
            raise ValueError(
                f"refine: phase {phase.name!r}: is part of a spline, which is not refined in "
                "parts; give the phase a basis of its own"
            )
    if not any(part.objective.terms for part in problem.parts):
        raise ValueError("refine: the problem has no objective, so no certificate can hold")


def refine_phases(
    problem: Problem,
    tolerance: float,
    transcription: Transcription,
    solver: Solver,
    *,
    guess: Any,
    rounds: int,
    points: int,
    settings: Mapping[str, Any],
) -> Solution:
    """Return the Solution of a problem of phases, each on a basis that was refined; as `refine`."""
    check_phases(problem)
    table: list[Round] = []
    grant, begin, held = budget(solver), guess, 0
    problem = on_bases(problem, _begun(problem, transcription, settings.get("values") or {}))
    while True:
        clocks = time.perf_counter(), time.process_time()
        solution = solve(problem, transcription, grant.limit(solver), guess=begin, **settings)
        certificate = verify(solution)
        seconds = time.perf_counter() - clocks[0]
        table.append(_round(solution, certificate, seconds))
        grant = spent(grant, solution, time.process_time() - clocks[1])
        fault = fault_of(solution, certificate, tolerance)
        if not fault and settled(table, tolerance):
            return finished(solution, certificate, table, ())
        seen = [_seen(solution, phase, tolerance) for phase in solution.phases.values()]
        held += not fault and not any(each.pending for each in seen)
        finer = _finer(problem, transcription, solution, seen, 0 if fault else held)
        reason = _stop(table, grant, solution, finer, rounds, points)
        if reason:
            share = SETTLED * tolerance
            why = fault or (f"the objective has not settled to {share:g} of itself",)
            return finished(solution, certificate, table, (f"refine: {reason}", *why))
        problem = on_bases(problem, finer)
        fresh = any(each.gross for each in seen) or not solution.success
        begin = guess if fresh else solution


def _begun(
    problem: Problem, transcription: Transcription, values: Mapping[str, float]
) -> list[Basis]:
    """Return the bases of the first round, whose pieces end where the phases' statements break."""
    parts = in_phases(transcription, problem.parts)
    made = [broken(part, settings, values) for part, settings in parts]
    return [_basis(part, settings) for part, settings in made]


def _basis(part: Problem, transcription: Transcription) -> Basis:
    """Return the basis of a phase that is solved so."""
    method = transcription.method
    return method.mesh() if isinstance(method, Collocation) else part.motion


def _seen(solution: Solution, phase: Solution, tolerance: float) -> Look:
    """Return the Look at a phase, whose quadrature is measured by the objective of all."""
    return look(replace(phase, objective=solution.objective), tolerance)


def _finer(
    problem: Problem,
    transcription: Transcription,
    solution: Solution,
    seen: list[Look],
    held: int,
) -> list[Basis]:
    """Return the bases of the next round: where some phases have errors those of others stay."""
    asked = [each.gross or bool(each.pending) or bool((each.errors > 1).any()) for each in seen]
    parts, finer = in_phases(transcription, problem.parts), []
    for (part, settings), phase, own, wanted in zip(parts, solution.phases.values(), seen, asked):
        if not held and any(asked) and not wanted:
            finer.append(phase.problem.motion)
        else:
            finer.append(_basis(*finer_basis(part, settings, phase, own, held)))
    return finer


def _round(solution: Solution, certificate: Verification, seconds: float) -> Round:
    """Return what a round came to; sizes are those of all phases together."""
    phases = solution.phases.values()
    worst, excess = worst_row(certificate)
    return Round(
        points=sum(phase.problem.motion.points for phase in phases),
        spread=sum(spread_of(phase.problem.motion) for phase in phases),
        nodes=sum(len(phase.transcription.method.grid(phase.problem)) for phase in phases),
        status=solution.status,
        solved=solution.success,
        objective=solution.objective,
        iterations=solution.statistics["iterations"],
        worst=worst,
        excess=excess,
        defect=certificate.defect,
        seconds=seconds,
    )


def _stop(
    table: list[Round],
    grant: Budget,
    solution: Solution,
    finer: list[Basis],
    rounds: int,
    points: int,
) -> str:
    """Return why there is no further round, nothing if there is one."""
    motions = [phase.problem.motion for phase in solution.phases.values()]
    most = max(len(motion.nodes) for motion in finer)
    reasons = (
        (solution.status == INTERRUPTED, "interrupted"),
        (grant.spent, "the limit of iterations or time is used up"),
        fruitless(table),
        (len(table) >= rounds, f"given up after {len(table)} rounds"),
        (list(finer) == motions, "given up, nothing is left to split"),
        (most > points, f"given up before {most} points per joint, more than {points}"),
    )
    return next((reason for applies, reason in reasons if applies), "")
