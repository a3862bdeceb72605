"""Measurements of building and solving a program: processor seconds, memory, parts of iterations.

IPOPT's own timing says what an iteration spends in the functions of the program and in linear
systems; all else, such as its line search and what shows iterates, is the rest.
"""

import re
import resource
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ocp import Attempt, Problem, Solver, Transcription, prepare
from ocp.problems.benchmarks.scale.cases.programs import Case
from ocp.problems.gait import walk

ITERATIONS, SECONDS = 300, 60.0  # of a solve at most; s of the processor
TIMING = re.compile(r"^ *([A-Za-z ]+?)\.*: +([\d.]+) \(sys: +([\d.]+) wall:", re.MULTILINE)
WHOLE, FUNCTIONS, SYSTEMS = "OverallAlgorithm", "Function Evaluations", "PDSystemSolverTotal"
MEGABYTE = 2**20
Row = dict[str, Any]


def measured(case: Case) -> Row:
    """Return the cost of a Case as plain data: see `of_program` and `of_iterations`; `build` and
    `solve` (s of the processor), its `status`, `iterations`, `objective`, and `megabytes`, the most
    that this process has had."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "ipopt.txt"
        options = {"print_timing_statistics": "yes", "output_file": str(log)}
        options |= {"file_print_level": 3, "max_iter": ITERATIONS, "max_cpu_time": SECONDS}
        begin = time.process_time()
        solver = Solver(options=options)
        plan = prepare(case.problem, case.transcription, solver)
        built = time.process_time()
        attempts = (Attempt(options=dict(case.options)),)
        solution = plan.solve(case.guess, attempts=attempts)
        solved = time.process_time()
        text = log.read_text(encoding="utf-8")
    count = solution.statistics["iterations"]
    row: Row = {"build": built - begin, "solve": solved - built, "status": solution.status}
    row |= {"iterations": count, "objective": float(solution.objective)}
    row |= {"joints": case.problem.tree.dof, "instants": _instants(solution)}
    row |= of_program(plan) | of_iterations(text, count)
    return row | {"megabytes": megabytes()}


def walked(problem: Problem) -> Row:
    """Return the cost of a walk as a user has it, by `walk` and the solver that suits: `solve` (s
    of the processor, with building), `status`, `iterations`, those of them `of one step` first,
    `objective`, and `megabytes`."""
    begin = time.process_time()
    solution = walk(problem, Transcription(), Solver(plugin="auto"))
    row: Row = {"solve": time.process_time() - begin, "megabytes": megabytes()}
    spent, first = solution.statistics, solution.statistics.get("one_step", {})
    row |= {"iterations": spent["iterations"], "of one step": first.get("iterations", 0)}
    return row | {"status": solution.status, "objective": float(solution.objective)}


def _instants(solution: Any) -> int:
    """Return the number of instants at which laws of motion or inequalities hold."""
    phases = solution.phases or {"": solution}
    return sum(len(phase.nodes) for phase in phases.values())


def of_program(plan: Any) -> Row:
    """Return the sizes of a plan's program: `variables`, `rows`, and nonzeros of the Jacobian and
    of the upper triangle of the Lagrangian's Hessian."""
    nlp = plan.transcribed.nlp
    return {
        "variables": len(nlp.lower),
        "rows": len(nlp.g_lower),
        "jacobian": nlp.jacobian.sparsity_out(1).nnz(),
        "hessian": nlp.hessian("exact").sparsity_out(0).nnz(),
    }


def of_iterations(text: str, count: int) -> Row:
    """Return the time of an iteration (ms of the processor), of `count`, from IPOPT's log: in all,
    in the program's functions, in linear systems, and in the rest; nothing where the log has none.
    """
    spent = timing(text)
    if WHOLE not in spent or not count:
        return {}
    each = {name: 1e3 * spent.get(name, 0.0) / count for name in (WHOLE, FUNCTIONS, SYSTEMS)}
    row = {"iteration": each[WHOLE], "functions": each[FUNCTIONS], "systems": each[SYSTEMS]}
    return row | {"rest": each[WHOLE] - each[FUNCTIONS] - each[SYSTEMS]}


def timing(text: str) -> Mapping[str, float]:
    """Return {part: s of the processor} of the last table of timing in a log of IPOPT."""
    return {name.strip(): float(own) + float(system) for name, own, system in TIMING.findall(text)}


def megabytes() -> float:
    """Return the most memory (MB) that this process has had.

    A process's own peak where the system tells it: what `getrusage` says may be the parent's.
    """
    status = Path("/proc/self/status")
    if status.exists():
        peak = re.search(r"VmHWM:\s+(\d+) kB", status.read_text(encoding="utf-8"))
        if peak:
            return int(peak[1]) * 1024 / MEGABYTE
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / MEGABYTE
