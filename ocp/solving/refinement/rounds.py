"""Rounds of a refinement: solves on finer and finer bases until the certificate holds.

Every round measures the mesh errors of the last motion, splits the segments that have them, and
starts from that motion and its multipliers. A motion that misses the laws of motion grossly is
discarded: the next round starts where the first did. (Patterson, Hager & Rao 2015; Betts 2010,
section 4.7)
"""

import time
from dataclasses import asdict, dataclass, replace

import numpy as np

from ocp.certificate.certify_solution import certify
from ocp.certificate.verification import NotVerified, Verification
from ocp.motion.basis import Basis
from ocp.motion.spline import BSpline, coarsest_curve
from ocp.problem.statement import Problem
from ocp.solution.solution import Solution, Statistics
from ocp.solvers.budget import Budget, budget
from ocp.solvers.minimize import INTERRUPTED, Solver
from ocp.solvers.nlp import Options
from ocp.solving.plan import solve_once
from ocp.solving.refinement.refined_bases import (
    GROWN,
    SETTLED,
    first_round,
    measure_errors,
    next_round,
)
from ocp.solving.solution_from_outcome import total_statistics
from ocp.solving.starts.warm_start import Guesses
from ocp.transcription.transcription_settings import SizeError, Transcription

FRUITLESS = 3  # rounds in a row that find no motion: finer ones will not either


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """One solve of a refinement: its size, and what the certificate finds.

    `points` per joint and `spread`, those of its segments that enclose no jump, `nodes` where
    inequalities hold; whether it was `solved`; the `worst` row with its `excess` relative to its
    bound (absolute below 1), the segments' `defect` (rad or m); `seconds` of solve and certificate.
    """

    points: int
    spread: int
    nodes: int
    status: str
    solved: bool
    objective: float
    iterations: int
    worst: str
    excess: float
    defect: float
    seconds: float


def refine_in_rounds(
    problem: Problem,
    transcription: Transcription,
    solver: Solver,
    tolerance: float,
    *,
    guess: Guesses,
    rounds: int,
    points: int,
    settle: bool,
    settings: Options,
) -> Solution:
    """Return the Solution of a problem that is refined round by round, as `refine` says."""
    problem, transcription = first_round(problem, transcription, settings.get("values") or {})
    table: list[Round] = []
    each_round: list[Statistics] = []
    last: tuple[Solution, Verification] | None = None
    grant, begin, held = budget(solver), guess, 0
    while True:
        clocks = time.perf_counter(), time.process_time()
        limited = grant.limit(solver)
        try:
            solution = solve_once(problem, transcription, limited, guess=begin, **settings)
        except SizeError as error:
            if last is None:
                raise
            reasons = "refine: given up, no memory holds the next round", str(error)
            return final_solution(*last, table, each_round, reasons)
        certificate = certify(solution)
        last = solution, certificate
        seconds = time.perf_counter() - clocks[0]
        table.append(_round(solution, certificate, seconds))
        each_round.append(dict(solution.statistics) | {"total_seconds": seconds})
        grant = remaining_budget(grant, solution, time.process_time() - clocks[1])
        fault = fault_of(solution, certificate, tolerance)
        if not fault and (not settle or has_settled(table, tolerance)):
            return final_solution(solution, certificate, table, each_round, ())
        seen = measure_errors(solution, tolerance)
        held += not fault and not any(each.open_jumps for each in seen)
        finer = next_round(problem, transcription, solution, seen, 0 if fault else held)
        reason = _stop(table, grant, solution, finer[2], rounds, points)
        if reason:
            share = SETTLED * tolerance
            why = fault or (f"the objective has not settled to {share:g} of itself",)
            lacking = f"refine: {reason}", *why
            return final_solution(solution, certificate, table, each_round, lacking)
        problem, transcription, _ = finer
        fresh = any(each.gross for each in seen) or not solution.success
        begin = guess if fresh else solution


def _round(solution: Solution, certificate: Verification, seconds: float) -> Round:
    """Return the Round of a solve; sizes are those of all phases together."""
    pieces, (worst, excess) = solution.parts.values(), worst_row(certificate)
    return Round(
        points=sum(each.problem.motion.points for each in pieces),
        spread=sum(spread_of(each.problem.motion) for each in pieces),
        nodes=sum(len(each.transcription.method.grid(each.problem)) for each in pieces),
        status=solution.status,
        solved=solution.success,
        objective=solution.objective,
        iterations=solution.statistics["iterations"],
        worst=worst,
        excess=excess,
        defect=certificate.defect,
        seconds=seconds,
    )


def worst_row(certificate: Verification) -> tuple[str, float]:
    """Return the row that a certificate finds worst, and by how much it is violated, relative."""
    rows = certificate.violations.values()
    worst = max(rows, key=lambda row: np.nan_to_num(row.relative, nan=np.inf), default=None)
    return ("", 0.0) if worst is None else (f"{worst.name} ({worst.label})", worst.relative)


def spread_of(motion: Basis) -> int:
    """Return the number of segments that enclose no jump, of coordinates that follow no others."""
    motion = coarsest_curve(motion)
    enclosing = isinstance(motion, BSpline) and len(motion.jumps)
    return motion.segments - int(enclosing)


def remaining_budget(grant: Budget, solution: Solution, cpu_seconds: float) -> Budget:
    """Return the budget that a round leaves."""
    statistics = solution.statistics
    return grant.after(statistics["iterations"], statistics["solve_seconds"], cpu_seconds)


def fault_of(solution: Solution, certificate: Verification, tolerance: float) -> tuple[str, ...]:
    """Return why a solution is not certified, nothing if it is."""
    if not solution.success:
        return (f"not solved: {solution.status}", *solution.explanation)
    try:
        certificate.require(tolerance)
    except NotVerified as error:
        return tuple(str(error).splitlines())
    return ()


def has_settled(table: list[Round], tolerance: float) -> bool:
    """Tell whether the objective equals that of a clearly coarser round, far within the tolerance.

    Knots that only enclose a jump make no round finer.
    """
    last = table[-1]
    coarser = [one.objective for one in table if GROWN * one.spread <= last.spread]
    if not coarser:
        return False
    before, now = coarser[-1], last.objective
    return abs(now - before) <= SETTLED * tolerance * max(abs(now), abs(before), 1e-12)


def _stop(
    table: list[Round],
    grant: Budget,
    solution: Solution,
    finer: list[Basis],
    rounds: int,
    points: int,
) -> str:
    """Return why there is no further round, nothing if there is one."""
    motions = [each.problem.motion for each in solution.parts.values()]
    most = max(len(motion.nodes) for motion in finer)
    reasons = (
        (solution.status == INTERRUPTED, "interrupted"),
        (grant.is_empty, "the limit of iterations or time is used up"),
        is_fruitless(table),
        (len(table) >= rounds, f"given up after {len(table)} rounds"),
        (finer == motions, "given up, nothing is left to split"),
        (most > points, f"given up before {most} points per joint, more than {points}"),
    )
    return next((reason for applies, reason in reasons if applies), "")


def is_fruitless(table: list[Round]) -> tuple[bool, str]:
    """Tell whether the last rounds found no motion, and in words that it is given up."""
    missed = len(table) >= FRUITLESS and not any(each.solved for each in table[-FRUITLESS:])
    return missed, f"given up, {FRUITLESS} rounds in a row found no motion"


def final_solution(
    solution: Solution,
    certificate: Verification,
    table: list[Round],
    each_round: list[Statistics],
    why: tuple[str, ...],
) -> Solution:
    """Return the last solution with the report of all rounds, the statistics of `each_round` added
    up, and what it still lacks."""
    statistics = dict(solution.statistics) | total_statistics(each_round)
    statistics["refinement"] = [asdict(entry) for entry in table]
    return replace(
        solution,
        statistics=statistics,
        verification=certificate,
        success=solution.success and not why,
        explanation=why or solution.explanation,
    )
