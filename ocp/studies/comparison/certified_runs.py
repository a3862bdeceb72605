"""Problems solved with default settings or given arguments, each outcome judged by its certificate.

Every problem is solved in a worker process within a limit of time; rows are handed out in the order
in which they are ready.
"""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import asdict, dataclass, fields, replace

from ocp.certificate.verification import NotVerified
from ocp.solvers import INTERRUPTED, Solver
from ocp.solving import verify
from ocp.storage.atomic_files import plain
from ocp.studies.store.argument_flags import Arguments
from ocp.studies.store.function_addresses import module_at
from ocp.studies.study_tables import comma_separated
from ocp.studies.task import task_of
from ocp.studies.worker_processes import EngineError
from ocp.studies.workers import Engine

CERTIFIED, REFUSED, UNSOLVED = "certified", "not certified", "not solved"
Cases = Mapping[str, tuple[str, Arguments]]
MISSING, FAILED = "not available", "failed"  # an extra is not installed; an error, or no time left


@dataclass(frozen=True, slots=True, kw_only=True)
class CertifiedRun:
    """A problem, the `verdict` on its solution with the `reasons` against it, and what was spent.

    `certifies` says what the certificate is of where that is not the whole task; `convergence` how
    far the motion is from that on the next basis, where that is asked. `seconds` are the
    processor's of building and solving, `certificate_seconds` of certifying. What is None is not
    known, since the solve did not come to an end.
    """

    problem: str
    verdict: str
    certifies: str = ""
    status: str = ""
    iterations: int | None = None
    objective: float | None = None
    duration: float | None = None
    seconds: float | None = None
    certificate_seconds: float | None = None
    reasons: tuple[str, ...] = ()
    convergence: str = ""

    @property
    def is_certified(self) -> bool:
        """Whether it is solved, and its certificate holds."""
        return self.verdict == CERTIFIED


def certified_runs(
    names: Sequence[str] | Cases,
    tolerance: float,
    *,
    converged: bool = False,
    seconds: float | None = None,
    workers: int = 1,
    watch: Callable[[CertifiedRun], object] | None = None,
) -> tuple[CertifiedRun, ...]:
    """Solve and certify problems, and return their rows in the order of the names.

    `names`: of the gallery, or files or modules, or {what a row is called: such a name and the
    problem's arguments}; `tolerance`: of the certificates; `converged`:
    solve on the next basis too, and say how far that is; `seconds`: limit
    of each problem, its certificate included (s), to which only worker processes can be held;
    `workers`: their number, 0 for none; `watch(CertifiedRun)` is called as each is ready. Raises
    ValueError naming a problem that is not there.
    """
    if not tolerance > 0:
        raise ValueError(f"tolerance: expected a positive number, got {tolerance!r}")
    cases = names if isinstance(names, Mapping) else {name: (name, {}) for name in names}
    for name, _ in cases.values():
        module_at(name)
    rows: dict[str, CertifiedRun] = {}
    waiting = list(cases)
    under_way: dict[Future, str] = {}
    with Engine(None, workers, seconds) as engine:
        while waiting or under_way:
            while waiting and len(under_way) < engine.width:
                label = waiting.pop(0)
                name, arguments = cases[label]
                job = engine.submit(solve_and_certify, name, tolerance, converged, arguments)
                under_way[job] = label
            for future in wait(under_way, return_when=FIRST_COMPLETED).done:
                label = under_way.pop(future)
                rows[label] = row = replace(_row_of(label, future), problem=label)
                if watch is not None:
                    watch(row)
    return tuple(rows[label] for label in cases)


def _row_of(name: str, future: Future) -> CertifiedRun:
    """Return the row of a job's result, also where its process died or ran out of time."""
    try:
        return future.result()
    except EngineError:
        raise
    except Exception as error:  # of the process, which died or overran its time
        return CertifiedRun(problem=name, verdict=FAILED, reasons=_lines(error))


def solve_and_certify(
    name: str, tolerance: float, converged: bool = False, arguments: Arguments | None = None
) -> CertifiedRun:
    """Solve one problem with its `arguments`, else its defaults, certify what comes of it, and
    return its row, with `converged` its convergence too."""
    begin = time.process_time()
    try:
        task = task_of(module_at(name))
        problem = task.state(arguments) if arguments else task.problem()
        solution = task.method(problem, task.transcription, Solver())
    except ModuleNotFoundError as error:
        return CertifiedRun(problem=name, verdict=MISSING, reasons=_lines(error))
    except Exception as error:  # the others go on; the reason stays with the problem
        return CertifiedRun(problem=name, verdict=FAILED, reasons=_lines(error))
    if solution.status == INTERRUPTED:
        raise KeyboardInterrupt
    solved = time.process_time()
    row = CertifiedRun(
        problem=name,
        verdict=UNSOLVED,
        certifies=task.certifies,
        status=solution.status,
        iterations=solution.statistics["iterations"],
        objective=plain(solution.objective, null=True),
        duration=plain(solution.duration, null=True),
        seconds=solved - begin,
        reasons=tuple(solution.explanation),
    )
    if not solution.success:
        return row
    doubts: tuple[str, ...] = ()
    certificate = verify(solution, finer=converged)
    convergence = certificate.convergence.words if certificate.convergence else ""
    try:
        replace(certificate, convergence=None).require(tolerance)
    except NotVerified as error:
        doubts = _doubts(error)
    return replace(
        row,
        verdict=REFUSED if doubts else CERTIFIED,
        reasons=doubts,
        convergence=convergence,
        certificate_seconds=time.process_time() - solved,
    )


def _doubts(error: NotVerified) -> tuple[str, ...]:
    """Return the lines on excesses of the tolerance, without the one that announces them."""
    first, *others = _lines(error)
    return tuple(others) or (first,)


def _lines(error: Exception) -> tuple[str, ...]:
    return tuple(str(error).splitlines()) or (type(error).__name__,)


def rows_as_data(rows: Iterable[CertifiedRun]) -> list[dict[str, object]]:
    """Return rows as plain data for JSON."""
    return [asdict(row) for row in rows]


def rows_as_csv(rows: Iterable[CertifiedRun]) -> str:
    """Return rows as comma-separated values, the reasons of each in one column."""
    data = ({**asdict(row), "reasons": " / ".join(row.reasons)} for row in rows)
    return comma_separated([field.name for field in fields(CertifiedRun)], data)
