"""Problems of the gallery by IPOPT and by our interior point: status, optimum, iterations, seconds.

    python -m problems.benchmarks.solvers.gallery_costs [NAME ...]
        [--by ipopt,structured] [--limit 300] [--kept]

Each solve has a process of its own, and builds its programs in an empty folder; `--kept` solves
twice, and counts the second one, which finds them. Seconds are of its processor: of the search
alone, and with building; whether the mesh is too coarse is not looked at, which is neither.
A solve ends after `--limit` seconds of its processor; where the first plugin's does, ratios to
that are upper bounds. Plugins: auto, ipopt, structured. The last lines are what each came to.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass

import numpy as np

from ocp import Solver
from ocp.cli import modules
from ocp.solving import keep_plans
from ocp.studies import Task

PLUGINS = ("auto", "ipopt", "structured")
SAME = 1e-6  # relative: objectives that count as one
MATTERS = 0.3  # s: quicker problems are left out of medians
KILLED = "killed at the limit"


@dataclass(frozen=True, slots=True, kw_only=True)
class Solved:
    """A solve: its `status` in the solver's words, and seconds of the search, and of all."""

    success: bool
    status: str
    iterations: int
    objective: float
    search: float
    total: float


def tasks() -> dict[str, Task]:
    """Return {name: Task} of the problems that come with the package."""
    every = modules().items()
    return {name: module.TASK for name, module in every if hasattr(module, "TASK")}


def solved_here(name: str, plugin: str) -> Solved:
    """Return a problem of the gallery Solved in this process."""
    task = tasks()[name]
    begin = time.process_time()
    try:
        with keep_plans({}, check_mesh=False):
            solution = task.method(task.problem(), task.transcription, Solver(plugin=plugin))
    except (ValueError, np.linalg.LinAlgError) as error:
        spent = time.process_time() - begin
        return failure(str(error).splitlines()[0], spent)
    return Solved(
        success=bool(solution.success),
        status=str(solution.status),
        iterations=int(solution.statistics["iterations"]),
        objective=float(solution.objective),
        search=float(solution.statistics["solve_cpu_seconds"]),
        total=time.process_time() - begin,
    )


def failure(status: str, seconds: float) -> Solved:
    """Return a solve without a result."""
    return Solved(
        success=False,
        status=status,
        iterations=0,
        objective=float("nan"),
        search=seconds,
        total=seconds,
    )


def solved_aside(name: str, plugin: str, limit: float, *, kept: bool = False) -> Solved:
    """Return a problem of the gallery Solved in a process that ends after `limit` processor s, its
    programs built there, or `kept` by another one before."""
    command = [sys.executable, "-m", "problems.benchmarks.solvers.gallery_costs", name]
    command += ["--by", plugin, "--here", "--limit", str(limit)]
    with tempfile.TemporaryDirectory() as folder:
        own = {**os.environ, "OCP_CACHE": folder}
        for _ in range(1 + kept):
            done = subprocess.run(command, capture_output=True, text=True, env=own)
    if done.returncode == -9:  # by the limit; other signals are failures
        return failure(KILLED, limit)
    if done.returncode:
        return failure((done.stderr.strip().splitlines() or ["no words"])[-1], 0.0)
    return Solved(**json.loads(done.stdout.strip().splitlines()[-1]))


def line(name: str, found: Mapping[str, Solved]) -> str:
    """Return the line of a problem."""
    first = next(iter(found.values()))
    parts = [f"{name:24}"]
    for each in found.values():
        mark = " " if each.success else "!"
        apart = abs(each.objective - first.objective) > SAME * max(1.0, abs(first.objective))
        parts.append(
            f"{each.iterations:5d}{mark}{each.objective:14.8g}{'*' if apart else ' '}"
            f"{each.search:8.2f}{each.total:8.2f}{each.total / max(first.total, 1e-9):6.2f}"
        )
    parts += [each.status for each in found.values() if not each.success]
    return " ".join(parts)


def summary(every: Sequence[Mapping[str, Solved]]) -> Iterator[str]:
    """Yield a line of what each plugin came to beside the first one."""
    base = next(iter(every[0]))
    for name in every[0]:
        both = [(found[base], found[name]) for found in every]
        done = [pair for pair in both if pair[0].success and pair[1].success]
        ended = [pair for pair in both if pair[0].status == KILLED and pair[1].success]
        long = [pair for pair in done + ended if pair[0].total > MATTERS]
        ratios = np.array([own.total / first.total for first, own in long] or [np.nan])
        counts = np.array([own.iterations for _, own in done] or [np.nan])
        apart = sum(
            abs(own.objective - first.objective) > SAME * max(1.0, abs(first.objective))
            for first, own in done
        )
        yield (
            f"{name:11} {sum(own.success for _, own in both)} of {len(both)} solved, {apart} at "
            f"another optimum; {np.median(counts):.0f} iterations in the median; of those above "
            f"{MATTERS} s seconds {ratios.min():.2f} to {ratios.max():.2f} of {base}'s, "
            f"{np.median(ratios):.2f} in the median"
        )


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", help="of problems, by default all")
    parser.add_argument("--by", default="ipopt,structured", help=f"some of {', '.join(PLUGINS)}")
    parser.add_argument("--limit", type=int, default=300, help="processor s of a solve")
    parser.add_argument("--kept", action="store_true", help="programs are kept from a run before")
    parser.add_argument("--here", action="store_true", help="in this process, told as JSON")
    given = parser.parse_args(arguments)
    plugins, known = given.by.split(","), tasks()
    for kind, odd in (
        ("by", set(plugins) - set(PLUGINS)),
        ("names", set(given.names) - set(known)),
    ):
        if odd:
            parser.error(f"{kind}: unknown: {', '.join(sorted(odd))}")
    names = given.names or list(known)
    if given.here:
        resource.setrlimit(resource.RLIMIT_CPU, (given.limit, given.limit))
        for name in names:
            print(json.dumps(asdict(solved_here(name, plugins[0]))))
        return
    print("In order: iterations (! failed), objective (* another), s of search, of all, ratio")
    every = []
    for name in names:
        every.append(
            {each: solved_aside(name, each, given.limit, kept=given.kept) for each in plugins}
        )
        print(line(name, every[-1]), flush=True)
    print("\n".join(summary(every)))


if __name__ == "__main__":
    main()
