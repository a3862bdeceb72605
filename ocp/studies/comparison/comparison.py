"""Solvers compared on problems: each run in a process of its own, judged by its certificate.

The runs are problems by solvers, Hessians, derivatives, formulations and transcriptions; each
solves as the problem's own command does.
"""

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ocp.problem import Problem
from ocp.storage.atomic_files import bytes_of, check_writable, write
from ocp.studies.comparison.best_known import with_best_known
from ocp.studies.comparison.child_process import WITHIN
from ocp.studies.comparison.comparison_jobs import DEFAULTS, Compared, Limits, Solvers, jobs
from ocp.studies.comparison.comparison_tables import draw, read_runs, report, runs_as_csv
from ocp.studies.comparison.limited_run import Run, execute
from ocp.studies.comparison.solvers import SOLVERS
from ocp.studies.store.argument_flags import Arguments
from ocp.studies.task import Task
from ocp.studies.worker_processes import EngineError

SETTINGS = (*DEFAULTS, "arguments", "again")


@dataclass(frozen=True, slots=True, repr=False)
class Comparison:
    """The runs of a comparison in the order of its design; as text it is their tables."""

    runs: tuple[Run, ...]

    def __str__(self) -> str:
        return report(self.runs)

    def __repr__(self) -> str:
        return f"Comparison({len(self.runs)} runs, {sum(one.good for one in self.runs)} solved)"

    def plot(self, path: str | Path) -> None:
        """Draw the performance profile, and data profiles over time and evaluations."""
        draw(self.runs, path)

    def write_csv(self, path: str | Path) -> None:
        """Write a table with a line per run."""
        write(path, runs_as_csv(self.runs))


def compare(
    problem: Compared | Iterable[Compared],
    solvers: Solvers = tuple(SOLVERS),
    *,
    seconds: float = 120.0,
    memory: float = 4.0,
    workers: int = 1,
    file: str | Path | None = None,
    watch: Callable[[Run], object] | None = None,
    **settings: Any,
) -> Comparison:
    """Return the Comparison of solvers on a problem, or on several.

    Each run has a process of its own. Runs that end more than 1 % above the best certified
    objective
    of their problem have found "another optimum".

    Args:
        problem: a Task, a function that makes a Problem, a Problem that a module binds to a name,
            or
            several of these.
        solvers: names of known ones, or {name: Entry or Solver}.
        seconds: limit of a solve.
        memory: limit of a run, GB.
        workers: runs at a time; with 1 their times can be compared.
        file: CSV to which runs are added as they finish; those that it has, of the same problem as
            it
            is built now, are not run again.
        watch: called with each Run.
        settings: `hessians` ("best" is each solver's own), `derivatives`, `dynamics` and
            `transcriptions`, names of each, of which all combinations are run; `arguments` of the
            problem; `again`, to run all anew.

    Raises:
        ValueError: a name that there is not.
        EngineError: a script that is not guarded by `if __name__ == "__main__"`.
    """
    _check(settings, seconds=seconds, memory=memory, workers=workers)
    single = isinstance(problem, (Task, Problem)) or callable(problem)
    problems: Any = [problem] if single else problem
    runs = _runs_of_file(file, settings.pop("again", False))
    design = jobs(problems, solvers, settings, Limits(seconds=seconds, memory=memory))
    missing = [job for job in design if job.run.key not in runs]
    keys = [job.run.key for job in design]
    with ThreadPoolExecutor(workers) as pool:
        for run in pool.map(execute, missing):
            runs[run.key] = run
            if file is not None:
                write(file, runs_as_csv(runs.values()))
            if watch is not None:
                watch(run)
    runs |= {run.key: run for run in with_best_known(runs[key] for key in keys)}
    if file is not None and design:
        write(file, runs_as_csv(runs.values()))
    return Comparison(tuple(runs[key] for key in keys))


def _check(settings: Arguments, **positive: float) -> None:
    """Refuse a comparison begun by one of its own runs, unknown settings, limits of nothing."""
    if WITHIN:
        raise EngineError(
            "a script that begins a comparison needs the line `if __name__ == '__main__':` before"
        )
    odd = next((name for name in settings if name not in SETTINGS), None)
    if odd is not None:
        raise TypeError(f"compare: no option {odd!r}; expected one of {', '.join(SETTINGS)}")
    for name, value in positive.items():
        if not value > 0:
            raise ValueError(f"{name}: expected a positive number, got {value}")


def _runs_of_file(file: str | Path | None, again: bool) -> dict[tuple[str, ...], Run]:
    """Return the runs of a file by what they ran; none if there is no such file."""
    if file is None:
        return {}
    check_writable(file)
    if again or not Path(file).exists():
        return {}
    return {run.key: run for run in read_runs(bytes_of(file).decode())}
