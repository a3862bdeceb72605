"""Process of a run in a comparison: a solve within limits, its result written stage by stage."""

import json
import resource
from pathlib import Path

from ocp.problem import Problem
from ocp.solution.solution import Solution
from ocp.storage.atomic_files import plain, write
from ocp.studies.comparison.verdict import judge_solution
from ocp.studies.store import cell_specification
from ocp.studies.store.function_addresses import resolve

INNER = ("callback_fun", "bridge")  # called within others, which are timed too
COUNTED = ("nlp_f", "nlp_g", "nlp_fg", "nlp_psi")
WITHIN: list[str] = []  # the run that this process does


def main(task: str, result: str) -> None:
    """Solve the run of a task's file, and write what comes of it to the result's."""
    job = json.loads(Path(task).read_text())
    WITHIN.append(job["run"]["problem"])
    limit = int(job["memory"] * 2**30)
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    def tell(stage: str, **values: object) -> None:
        write(result, json.dumps({"stage": stage} | values))

    try:
        solver = cell_specification.solver(job, resolve)
        settings = cell_specification.transcription(job, resolve)
        stated = resolve(job["problem"])
        made = isinstance(stated, Problem)
        problem = stated if made else cell_specification.statement(dict(job), resolve)
        method = cell_specification.method_at(job["method"], resolve)
        tell("solve")
        how = cell_specification.settings(job, resolve) | cell_specification.single_attempt(method)
        solution = method(problem, settings, solver, **how)
    except ValueError as error:
        tell("refused", reason=str(error))
        return
    except MemoryError:
        tell("memory")
        return
    values = numbers(solution)
    tell("verify", values=values)
    verdict, reason, certified = judge_solution(solution)
    tell("done", values=values | certified, verdict=verdict, reason=reason)


def numbers(solution: Solution) -> dict[str, object]:
    """Return the numbers of a solution that a Run keeps, finite ones only."""
    statistics = solution.statistics
    every = statistics.get("calls", {})
    calls = {name: call for name, call in every.items() if name not in INNER}
    counts = [count for name, (count, _) in calls.items() if name in COUNTED]
    times = [spent for name, (_, spent) in calls.items() if name.startswith(("nlp", "fwd"))]
    values = {
        "objective": solution.objective,
        "iterations": statistics["iterations"],
        "evaluations": max(counts, default=None),
        "build": statistics["build_seconds"],
        "solve": statistics["solve_seconds"],
        "status": solution.status,
        "functions": sum(times),
        "bridge": every.get("bridge", (0, 0.0))[1],
    }
    return plain(values, null=True)
