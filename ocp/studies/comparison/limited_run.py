"""One run of a comparison of solvers: a solve in a process of its own, under limits.

The limits are of time and memory; on Unix systems only. What the process does: solver_process.py.
"""

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from ocp.storage.atomic_files import write
from ocp.studies.comparison.verdict import GAVE_UP, SOLVED, UNSAID
from ocp.studies.store.argument_flags import Arguments, Keywords
from ocp.studies.worker_processes import ONE_THREAD

GRACE = 20.0  # s: for a solver that was told to stop, and for the certificate
POLL = 0.02  # s
STARTING = 120.0  # s in which a process has to say that it has begun
ENTRY = (
    "import json, sys; sys.path[:] = json.load(open(sys.argv[1]))['path']; "
    "from ocp.studies.comparison.child_process import main; main(*sys.argv[1:])"
)
TIME, MEMORY, CRASHED, MISSING = "time", "memory", "crashed", "not available"
ANOTHER = "another optimum"  # than the best that any run of the problem has found


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What is run, and what came of it: `verdict` and `reason`, numbers of the certificate.

    These are `nodes` (largest violation at the nodes), `dense` (relative, between them), `drift`
    (rad or m), `energy` (relative) and `kkt` (relative). What is run is a `problem` by a `solver`,
    with its `hessian`, `derivatives`, `dynamics` and `transcription`; `stated` is a digest of the
    problem as it was built. What was spent: `iterations`, `evaluations`; s to `build`, to `solve`,
    and of these in `functions` and in the `bridge` to another library's solver; `memory` in MB.
    `objective` and `status` are the solver's.
    """

    problem: str
    solver: str
    hessian: str
    derivatives: str = "auto"
    dynamics: str = "auto"
    transcription: str = "spline"
    stated: str = ""
    verdict: str = ""
    reason: str = ""
    objective: float | None = None
    iterations: int | None = None
    evaluations: int | None = None
    build: float | None = None
    solve: float | None = None
    functions: float | None = None
    bridge: float | None = None
    memory: float | None = None
    nodes: float | None = None
    dense: float | None = None
    drift: float | None = None
    energy: float | None = None
    kkt: float | None = None
    status: str = ""

    @property
    def key(self) -> tuple[str, ...]:
        """What was run, without what came of it."""
        return (self.problem, self.solver, *self.settings, self.stated)

    @property
    def settings(self) -> tuple[str, ...]:
        """Hessian, derivatives, dynamics and transcription."""
        return (self.hessian, self.derivatives, self.dynamics, self.transcription)

    @property
    def good(self) -> bool:
        """Whether its point is an optimum that passes the certificate, and the best one known."""
        return self.verdict in (SOLVED, UNSAID)


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A Run with all that its process needs to know, as plain data; limits in s and GB.

    `problem`, `method`, `solver` and `transcription` are those of a cell's content; `environment`
    must be set before the process starts.
    """

    run: Run
    problem: str
    arguments: Arguments
    method: Callable
    how: Arguments
    solver: Arguments
    transcription: Arguments
    environment: Mapping[str, str]
    seconds: float
    memory: float


def execute(job: Job) -> Run:
    """Return the Run with its results, from a process of its own within the limits."""
    with tempfile.TemporaryDirectory(prefix="ocp-run-") as folder:
        task, result = Path(folder) / "run.json", Path(folder) / "result.json"
        write(task, json.dumps(asdict(job) | {"path": [str(Path(p).resolve()) for p in sys.path]}))
        with tempfile.TemporaryFile() as output:
            process = subprocess.Popen(
                [sys.executable, "-c", ENTRY, str(task), str(result)],
                stdout=output,
                stderr=output,
                env=os.environ | ONE_THREAD | dict(job.environment),
            )
            try:
                late, usage = _wait(process, result, job.seconds)
            except BaseException:
                process.kill()
                raise
            output.seek(0)
            printed = output.read().decode(errors="replace")
        left: Keywords = {"stage": "start"}
        if result.exists():
            left = json.loads(result.read_text())
        values = left.get("values", {})
        run = replace(job.run, memory=round(usage.ru_maxrss / 1024, 1), **values)
        return _conclude(run, left, process.returncode, late, printed)


def _wait(process: subprocess.Popen, result: Path, seconds: float) -> tuple[bool, Any]:
    """Return whether the process overran its time, and its resource usage, when it has ended.

    It is interrupted first, and killed later; not by its own methods, which may learn of its end
    before it is waited for here.
    """
    launched = time.perf_counter()
    begun: float | None = None
    stopped: float | None = None
    while True:
        pid, status, usage = os.wait4(process.pid, os.WNOHANG)
        if pid:
            process.returncode = os.waitstatus_to_exitcode(status)
            return stopped is not None, usage
        now = time.perf_counter()
        if begun is None and result.exists():
            begun = now
        spent = now - (launched + STARTING if begun is None else begun)
        solving = begun is not None and stopped is None
        if spent > seconds and solving and json.loads(result.read_text())["stage"] == "solve":
            stopped = now
            os.kill(process.pid, signal.SIGINT)
        if spent > seconds + (3 * GRACE if stopped is None else GRACE):
            stopped = stopped or now
            os.kill(process.pid, signal.SIGKILL)
        time.sleep(POLL)


def _conclude(run: Run, left: Arguments, code: int, late: bool, printed: str) -> Run:
    """Return the Run with its verdict, from what its process left behind and printed."""
    stage = left["stage"]
    if stage == "refused":
        return replace(run, verdict=MISSING, reason=left["reason"])
    exhausted = code and ("bad_alloc" in printed or "MemoryError" in printed)
    if stage == "memory" or exhausted:
        return replace(run, verdict=MEMORY, reason="asked for more than it was allowed")
    if late:
        stopped = left["stage"] == "done"  # one that heard of it leaves its best iterate
        good = stopped and left["verdict"] in (SOLVED, UNSAID)
        reason = f"{'stopped' if stopped else 'killed'} in stage 'solve'"
        reason += f" after {run.iterations} iterations" if run.iterations else ""
        reason += f", {left['verdict']} by then" if good else ""
        return replace(run, verdict=TIME, reason=reason)
    if stage != "done":
        cause = signal.Signals(-code).name if code < 0 else f"exit status {code}"
        reason = f"{cause} in stage {stage!r}: {_last(printed)}"
        return replace(run, verdict=CRASHED, reason=reason)
    complaint = _complaint(printed) if left["verdict"] == GAVE_UP else ""
    reason = f"{left['reason']}; it prints: {complaint}" if complaint else left["reason"]
    return replace(run, verdict=left["verdict"], reason=reason)


def _complaint(printed: str) -> str:
    """Return the first line of a solver's output that complains, without its decoration."""
    for line in printed.splitlines():
        bare = line.strip(" *-|")
        if re.search("error|infeasib|fail|could not", bare, re.I) and not bare.endswith(":"):
            return bare
    return ""


def _last(printed: str) -> str:
    lines = [line.strip() for line in printed.splitlines() if line.strip()]
    return lines[-1] if lines else "no output"
