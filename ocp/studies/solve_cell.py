"""The solve of one cell of a study, wherever that runs; what comes back is plain data.

Numbers, words, and the bytes of the solution's file.
"""

import threading
import time
from dataclasses import replace

from ocp.certificate.certify_solution import certify
from ocp.certificate.verification import Verification
from ocp.dynamics import Formulation
from ocp.problem import Problem
from ocp.report.report import output_ranges
from ocp.solution.solution import Solution
from ocp.solvers import INTERRUPTED
from ocp.solvers.optimum.predicted_optimum import near_path
from ocp.solving.plan import Kept, keep_plans
from ocp.solving.starts.random_starts import random_guess
from ocp.solving.starts.warm_start import Guesses
from ocp.storage.atomic_files import plain, versions
from ocp.storage.result_bytes import solution_bytes
from ocp.storage.result_files import read_solution as from_archive
from ocp.studies.parameter_slopes import slopes
from ocp.studies.shared_problems import open_problem
from ocp.studies.store.argument_flags import Keywords
from ocp.studies.store.cell_specification import (
    Content,
    Find,
    method_at,
    open_statement,
    settings,
    single_attempt,
    solver,
    statement,
    transcription,
)
from ocp.studies.store.digests import problem_digest
from ocp.studies.store.function_addresses import resolve
from ocp.studies.store.row_format import FAILED, SOLVED
from ocp.transcription.transcription_methods import METHODS
from ocp.transcription.transcription_settings import Transcription

STOPPED = "stopped"  # of a cell that was interrupted, which is no result
NOTHING: Keywords = {
    "objective": None,
    "duration": None,
    "archive": None,
    "seconds": None,
    "terms": {},
    "measured": {},
    "statistics": {},
}
CHANGED = (
    "the problem is built otherwise here than where the study began: its file was edited since, "
    "and the same command goes on with it as it is now, or it is a random one"
)
PUSH = 1e-2  # off bounds: what IPOPT pushes a cold start (Waechter & Biegler 2006, section 3.6)
# from a neighbour's solution, beside which other bounds may be active, IPOPT begins with distances
# and multipliers of at least that, and so with the barrier that is their product
NEARBY = near_path(PUSH * PUSH, PUSH)
_ALONE = threading.Lock()  # MUMPS is not thread-safe: in one process, one solve at a time
Seed = tuple[Keywords, bytes]
Result = Keywords


def run_cell(data: Content, seed: Seed | None = None, checked: bool = False) -> Result:
    """Solve a cell from its content and return what came of it as plain data.

    The content is that of a sweep under way, which has made it; none that was read from a file may
    come here, since the functions that it names are imported and called. Whatever goes wrong is its
    status and reason. `seed` = (arguments, archive) of a solved neighbour is where the solve
    starts; should it fail from there, it starts anew on its own. If `checked`, on the computer that
    made the content, the problem must be the one whose digest it has.
    """
    begin = time.perf_counter()
    try:
        with _ALONE:
            result = NOTHING | _solve_cell(data, seed, checked)
    except Exception as error:  # a study goes on; the reason stays with the cell
        result = lost_result(f"{type(error).__name__}: {error}")
    return result | {"seconds": time.perf_counter() - begin}


def lost_result(reason: str) -> Result:
    """Return the result of a cell that did not come to one."""
    return NOTHING | {"status": FAILED, "reason": reason}


def restore_solution(archive: bytes, name: str, data: Content, find: Find) -> Solution:
    """Return the Solution of a cell's content from the bytes of its file, with its functions.

    Raises ValueError, which begins with the `name` of the cell, if they are of another problem.
    """
    return _read_archive(archive, name, statement(data, find), transcription(data, find))


def _read_archive(
    archive: bytes, name: str, problem: Problem, settled: Transcription, own: bool = False
) -> Solution:
    """Return the Solution of a file's bytes, with its problem; `own` ones are this study's."""
    method = METHODS.get(settled.method.name) is not type(settled.method)
    dynamics = settled.dynamics if isinstance(settled.dynamics, Formulation) else None
    parts = dynamics, settled.method if method else None
    return from_archive(archive, name, problem, *parts, own=own)


def _solve_cell(data: Content, seed: Seed | None, checked: bool) -> Result:
    settled = transcription(data, resolve)
    given: Keywords = {}
    plans: Kept = {}
    if data.get("parameters"):  # its numbers have been checked, the plan is that of all
        shared = open_problem(data)
        problem, plans, given = shared.problem, shared.plans, {"values": shared.values(data)}
        known = shared.digest if checked else ""
    else:
        problem = open_statement(data, resolve)
        known = problem_digest(lambda: problem, resolve(data["problem"])) if checked else ""
    if checked and known != data["stated"]["problem"]:
        raise ValueError(CHANGED)
    guesses: list[Guesses] = [_start(data, settled)]
    if seed is not None:
        guesses.insert(0, _neighbour(data, *seed))
    method = method_at(data["method"], resolve)
    for guess in guesses:  # one start of many is tried once, and so is a neighbour's motion
        last = guess is guesses[-1] and data["start"] is None
        how = settings(data, resolve) | given | ({} if last else single_attempt(method))
        chosen = solver(data, resolve)
        if given and isinstance(guess, Solution):
            own = NEARBY if chosen.name == "ipopt" else {}
            chosen = replace(chosen, options=own | dict(chosen.options))
        with keep_plans(plans):
            solution = method(problem, settled, chosen, guess=guess, **how)
        if solution.status == INTERRUPTED:
            return {"status": STOPPED, "reason": "interrupted"}
        if solution.success:
            break
    seeded = seed is not None and guess is guesses[0]
    return _outcome(data, solution) | {"statistics": _statistics(data, solution, seeded)}


def _neighbour(data: Content, arguments: Keywords, archive: bytes) -> Solution:
    """Return the solution of a neighbour with these arguments, for a start from it."""
    there = data | {"arguments": arguments}
    shared = bool(data.get("parameters"))
    problem = open_problem(data).at(there) if shared else statement(there, resolve)
    return _read_archive(archive, "neighbour", problem, transcription(data, resolve), own=True)


def _outcome(data: Content, solution: Solution) -> Result:
    """Return the numbers of a solution that a study keeps beside its statistics."""
    measured = {} if data["measure"] is None else resolve(data["measure"])(solution)
    return {
        "status": SOLVED if solution.success else FAILED,
        "reason": "" if solution.success else "\n".join([solution.status, *solution.explanation]),
        "objective": plain(solution.objective, null=True),
        "duration": plain(solution.duration, null=True),
        "terms": {name: plain(value, null=True) for name, _, value in solution.terms},
        "measured": plain({name: float(value) for name, value in measured.items()}, null=True),
        "archive": solution_bytes(solution),
    }


def _statistics(data: Content, solution: Solution, seeded: bool) -> Result:
    certificate = {"certificate": _certificate(certify(solution))} if data["certify"] else {}
    numbers = {"status": solution.status, "seeded": seeded, "versions": versions()}
    slope = {"slopes": slopes(solution)} if solution.success and solution.plan else {}
    return plain({**solution.statistics, **numbers, **certificate, **slope}, null=True)


def _start(data: Content, settled: Transcription) -> Guesses:
    start = data["start"]
    if start is None:
        return None
    stated = open_statement(data, resolve)
    return random_guess(
        stated, settled, start["number"], seed=start["seed"], spread=start["spread"]
    )


def _certificate(certificate: Verification) -> Keywords:
    worst = max(certificate.violations.values(), key=lambda one: one.relative, default=None)
    return {
        "drift": certificate.drift,
        "goal_drift": certificate.goal_drift,
        "defect": certificate.defect,
        "gathered": certificate.deviations.gathered,
        "energy_error": certificate.energy_error,
        "kkt": certificate.kkt,
        "objective_error": certificate.objective_error,
        "refusals": list(certificate.refusals),
        "worst": None if worst is None else worst.name,
        "worst_relative": 0.0 if worst is None else worst.relative,
    }


def outputs(solution: Solution) -> dict[str, float]:
    """Return the least and the greatest value over the motion of each row of the problem's outputs,
    as "tip 0 least", or "power most" of one that has one row alone."""
    measured: dict[str, float] = {}
    for name, ends in output_ranges(solution).items():
        rows = len(ends["least"])
        labels = [name] if rows == 1 else [f"{name} {row}" for row in range(rows)]
        for end, values in ends.items():
            measured |= {f"{label} {end}": value for label, value in zip(labels, values)}
    return measured
