"""One run of a comparison of solvers: a solve in a process of its own under limits of time and memory, and what its certificate says.

`main(RUN.json, RESULT.json)` is what that process does; on Unix systems only.
"""

import importlib
import json
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

import casadi as ca
import numpy as np

from ocp.solution.certificate import verify
from ocp.solution.files import write
from ocp.solvers.minimizing import Solver, minimize
from ocp.solvers.nlp import NLP, kkt_residual
from ocp.studies.task import task_of
from ocp.studies.workers import ONE_THREAD
from ocp.transcription.transcribe import transcribe, transcription_of
from ocp.transcription.variables import join

FEASIBLE, OPTIMAL = (
    1e-4,
    1e-3,
)  # violation at the nodes (rad, m, N m, N); first-order residual, over max(1, |objective|)
ACTIVE = 1e-4  # of the distance to a bound that may have a multiplier, relative to bounds above 1
GRACE = 20.0  # s: for a solver that was told to stop, and for the certificate
POLL = 0.02  # s
ENTRY = "import sys; from ocp.studies.solver_runs import main; main(*sys.argv[1:])"
SOLVED, UNSAID, WRONG, GAVE_UP, TIME, MEMORY, CRASHED, MISSING = (
    "solved",
    "solved, unsaid",
    "wrong",
    "gave up",
    "time",
    "memory",
    "crashed",
    "not available",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A solver to be compared: plugin, its best `hessian` mode, options, and what its process needs in its `environment`."""

    plugin: str
    hessian: str = "exact"
    options: Mapping = field(default_factory=dict)
    environment: Mapping = field(default_factory=dict)


def _sqp(qpsol, hessian="exact", **more):
    return Entry(
        plugin="sqpmethod", hessian=hessian, options={"max_iter": 500, "qpsol": qpsol} | more
    )


SOLVERS = {
    "ipopt": Entry(plugin="ipopt"),
    "ipopt-spral": Entry(
        plugin="ipopt",
        options={"linear_solver": "spral"},
        environment={"OMP_CANCELLATION": "TRUE", "OMP_PROC_BIND": "TRUE"},
    ),  # before the process starts, says SPRAL
    "bonmin": Entry(plugin="bonmin"),
    "uno-ipopt": Entry(plugin="uno", options={"preset": "ipopt"}),
    "uno-filtersqp": Entry(plugin="uno"),
    "fatrop": Entry(plugin="fatrop"),
    "sleqp": Entry(plugin="sleqp"),
    "blocksqp": Entry(plugin="blocksqp", options={"max_iter": 500}),
    "sqpmethod-qpoases": _sqp("qpoases"),
    "sqpmethod-piqp": _sqp("piqp"),
    "sqpmethod-piqp-elastic": _sqp(
        "piqp", "gauss-newton", elastic_mode=True
    ),  # goes on where a program is infeasible
    "sqpmethod-proxqp": _sqp("proxqp", "gauss-newton"),
    "sqpmethod-osqp": _sqp("osqp"),
    "sqpmethod-daqp": _sqp("daqp", "gauss-newton"),
    "sqpmethod-highs": _sqp("highs", "gauss-newton"),
    "sqpmethod-qrqp": _sqp("qrqp"),
    "sqpmethod-ipqp": _sqp("ipqp"),
    "sqpmethod-superscs": _sqp("superscs", "gauss-newton"),
    "sqpmethod-hpipm": _sqp("hpipm"),
    "feasiblesqpmethod": Entry(plugin="feasiblesqpmethod", options={"max_iter": 500}),
    "qrsqp": Entry(plugin="qrsqp", options={"max_iter": 500}),
    "alpaqa": Entry(
        plugin="alpaqa",
        hessian="lbfgs",
        options={
            "alm.tolerance": 1e-5,
            "alm.dual_tolerance": 1e-5,
            "alm.penalty_update_factor": 3.0,
            "panoc.max_iter": 4000,
            "lbfgs.memory": 40,
        },
    ),
    "snopt": Entry(plugin="snopt", hessian="lbfgs"),
    "snopt-qn": Entry(
        plugin="snopt", hessian="lbfgs", options={"QPSolver QN": ""}
    ),  # no factors of the reduced Hessian
}
TRANSCRIPTIONS = {
    "spline": {},
    "explicit": {"torques": "explicit"},
    "variables": {"torques": "variables"},
    "trapezoid": {"quadrature": "trapezoid"},
    "hermite-simpson": {"method": "hermite-simpson"},
    "radau": {"method": "radau"},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What is run, and what came of it: `verdict` and `reason`; the certificate's `nodes` (largest violation at the nodes), `dense`
    (relative, between them), `drift` (rad or m), `energy` (relative) and `kkt` (relative); times in s, `memory` in MB."""

    problem: str
    solver: str
    hessian: str
    derivatives: str = "recursive"
    dynamics: str = "newton_euler"
    transcription: str = "spline"
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
    def key(self):
        """What was run, without what came of it."""
        return (
            self.problem,
            self.solver,
            self.hessian,
            self.derivatives,
            self.dynamics,
            self.transcription,
        )

    @property
    def good(self):
        """Whether its point passes the certificate."""
        return self.verdict in (SOLVED, UNSAID)


def execute(run, seconds, gigabytes):
    """Return the Run with its results, from a process of its own that is stopped after `seconds` of solving."""
    with tempfile.TemporaryDirectory(prefix="ocp-run-") as folder:
        task, result, page = (
            Path(folder) / name for name in ("run.json", "result.json", "output.txt")
        )
        write(task, json.dumps({"run": asdict(run), "seconds": seconds, "gigabytes": gigabytes}))
        with open(page, "wb") as output:
            process = subprocess.Popen(
                [sys.executable, "-c", ENTRY, str(task), str(result)],
                stdout=output,
                stderr=output,
                env=os.environ | ONE_THREAD | dict(SOLVERS[run.solver].environment),
            )
            try:
                late, usage = _wait(process, result, seconds)
            except BaseException:
                process.kill()
                raise
        found = json.loads(result.read_text()) if result.exists() else {"stage": "start"}
        return _concluded(
            run,
            found,
            process.returncode,
            late,
            usage.ru_maxrss / 1024,
            page.read_bytes().decode(errors="replace"),
        )


def _wait(process, result, seconds):
    """Return whether the process overran its time, and its resource usage, when it has ended; it is interrupted first, and killed later."""
    begun, told = None, None
    while True:
        pid, status, usage = os.wait4(process.pid, os.WNOHANG)
        if pid:
            process.returncode = os.waitstatus_to_exitcode(status)
            return told is not None, usage
        now = time.perf_counter()
        if begun is None and result.exists():
            begun = now
        if (
            begun is not None
            and told is None
            and now - begun > seconds
            and _stage(result) == "solve"
        ):
            told = now
            process.send_signal(signal.SIGINT)
        if begun is not None and now - begun > seconds + (GRACE if told is not None else 3 * GRACE):
            told = told or now
            process.kill()
        time.sleep(POLL)


def _stage(result):
    return json.loads(result.read_text())["stage"]


def _concluded(run, found, code, late, megabytes, output):
    """Return the Run with its verdict, from what its process left behind."""
    run = replace(run, memory=round(megabytes, 1), **found.get("values", {}))
    stage, last = found["stage"], _last(output)
    if stage == "refused":
        return replace(run, verdict=MISSING, reason=found["reason"])
    if stage == "memory" or code and ("bad_alloc" in output or "MemoryError" in output):
        return replace(run, verdict=MEMORY, reason="asked for more than it was allowed")
    if late:  # one that heard of it leaves its best iterate, certificate and all
        held = (
            f", {found['verdict']} by then"
            if stage == "done" and found["verdict"] in (SOLVED, UNSAID)
            else ""
        )
        far = f" after {run.iterations} iterations" if run.iterations else ""
        return replace(
            run,
            verdict=TIME,
            reason=f"{'stopped' if stage == 'done' else 'killed'} in stage 'solve'{far}{held}",
        )
    if stage != "done":
        cause = signal.Signals(-code).name if code and code < 0 else f"exit status {code}"
        return replace(run, verdict=CRASHED, reason=f"{cause} in stage {stage!r}: {last}")
    printed = _complaint(output) if found["verdict"] == GAVE_UP else ""
    return replace(
        run,
        verdict=found["verdict"],
        reason=f"{found['reason']}; it prints: {printed}" if printed else found["reason"],
    )


def _complaint(output):
    """Return the first line of a solver's output that complains of something, without its decoration."""
    lines = (line.strip(" *-|")[:120] for line in output.splitlines())
    return next(
        (
            line
            for line in lines
            if re.search("error|infeasib|fail|could not", line, re.I) and not line.endswith(":")
        ),
        "",
    )


def _last(output):
    return next(
        (line.strip()[:150] for line in reversed(output.splitlines()) if line.strip()), "no output"
    )


# The process of a run -------------------------------------------------------------------------------------------------------


def main(task, result):
    """Solve the run of a task's file, and write what comes of it, stage by stage, to the result's."""
    given = json.loads(Path(task).read_text())
    run, entry = Run(**given["run"]), SOLVERS[given["run"]["solver"]]
    limit = int(given["gigabytes"] * 2**30)
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    try:
        solver = Solver(plugin=entry.plugin, hessian=run.hessian, options=entry.options)
        task = task_of(importlib.import_module(f"ocp.problems.{run.problem}"))
        named = {"dynamics": run.dynamics, "derivatives": run.derivatives}
        settings = transcription_of(named | TRANSCRIPTIONS[run.transcription])
        write(result, json.dumps({"stage": "solve"}))
        solution = task.method(task.problem(), settings, solver)
    except ValueError as error:
        write(result, json.dumps({"stage": "refused", "reason": str(error).splitlines()[0]}))
        return
    except MemoryError:
        write(result, json.dumps({"stage": "memory"}))
        return
    values = _numbers(solution)
    write(result, json.dumps({"stage": "verify", "values": values}))
    verdict, reason, more = judged(solution)
    write(
        result,
        json.dumps(
            {"stage": "done", "values": values | more, "verdict": verdict, "reason": reason}
        ),
    )


def judged(solution):
    """Return verdict, reason and the certificate's numbers of a solution, whatever its solver says of it.

    A solver answers for the constraints at the nodes and for the first-order conditions. What happens between the nodes and in a forward
    simulation is the transcription's affair: it is measured, and alike for all that solve the same program.
    """
    certificate = verify(solution)
    worst = max(
        certificate.violations.values(),
        key=lambda found: np.inf if np.isnan(found.nodes) else found.nodes,
        default=None,
    )
    nodes, scale = 0.0 if worst is None else worst.nodes, max(1.0, abs(solution.objective))
    kkt = certificate.kkt
    if nodes <= FEASIBLE and (kkt is None or not kkt <= OPTIMAL * scale):
        kkt = min(
            (
                value
                for value in (kkt, first_order(solution))
                if value is not None and np.isfinite(value)
            ),
            default=kkt,
        )
    found = []
    if not nodes <= FEASIBLE:
        found.append(f"{worst.name} violated by {nodes:.1e} {worst.unit}")
    if kkt is None or not kkt <= OPTIMAL * scale:
        found.append(
            "no first-order residual" if kkt is None else f"first-order residual {kkt / scale:.1e}"
        )
    numbers = {
        "nodes": nodes,
        "dense": max((one.relative for one in certificate.violations.values()), default=0.0),
        "drift": certificate.drift,
        "energy": certificate.energy_error,
        "kkt": None if kkt is None else kkt / scale,
    }
    numbers = {
        name: value if value is not None and np.isfinite(value) else None
        for name, value in numbers.items()
    }
    said = solution.status.partition(". Set 'error_on_fail'")[0]
    if found:
        return WRONG if solution.success else GAVE_UP, f"{said}: {', '.join(found)}", numbers
    return (
        SOLVED if solution.success else UNSAID,
        "" if solution.success else f"solver says: {said}",
        numbers,
    )


def first_order(solution):
    """Return the first-order residual with multipliers of our own: the least squares of what they leave of the Lagrangian's slope.

    For solvers that return none, or wrong ones. Only rows and bounds that are active have one. None where the NLP has other unknowns than x.
    """
    transcribed = transcribe(
        solution.problem, replace(solution.transcription, derivatives="ad", compiled=False)
    )
    nlp = transcribed.nlp
    if transcribed.reduction is not None:
        return None
    x = join(transcribed.layout, solution.points, solution.duration, solution.lifted)
    slope, (g, jacobian) = nlp.gradient(x, ca.DM(0, 1))[1], nlp.jacobian(x, ca.DM(0, 1))
    value, lower, upper = (
        np.concatenate(pair)
        for pair in ((x, np.array(g).ravel()), (nlp.lower, nlp.g_lower), (nlp.upper, nlp.g_upper))
    )
    at_lower, at_upper = (
        np.isfinite(bound) & (np.abs(value - bound) <= ACTIVE * np.maximum(1.0, np.abs(bound)))
        for bound in (lower, upper)
    )
    multipliers, active = np.zeros(len(value)), np.flatnonzero(at_lower | at_upper)
    if len(active):
        normals = ca.vertcat(ca.DM.eye(len(x)), jacobian)[active.tolist(), :]
        multipliers[active] = _least(
            normals,
            slope,
            np.where(at_lower[active], -np.inf, 0.0),
            np.where(at_upper[active], np.inf, 0.0),
        )
    return kkt_residual(nlp, x, multipliers[: len(x)], multipliers[len(x) :])


def _least(normals, slope, lower, upper):
    """Return the multipliers y (m,) that minimise |slope + normals' y| within bounds; the rest is a variable of its own, for sparsity."""
    m, n = normals.shape
    unknown, zeros, free = ca.MX.sym("unknown", m + n), np.zeros(n), np.full(n, np.inf)
    program = NLP(
        lower=np.concatenate([lower, -free]),
        upper=np.concatenate([upper, free]),
        g_lower=zeros,
        g_upper=zeros,
        objective=ca.Function("f", [unknown], [ca.sumsqr(unknown[m:]) / 2]),
        constraints=ca.Function("g", [unknown], [slope + normals.T @ unknown[:m] - unknown[m:]]),
    )
    return minimize(program, Solver(options={"tol": 1e-9}), np.zeros(m + n)).x[:m]


def _numbers(solution):
    """Return what a Run keeps of a solution, finite numbers only."""
    numbers = solution.statistics
    calls = {
        name: call
        for name, call in numbers.get("calls", {}).items()
        if name not in ("callback_fun", "bridge")
    }
    evaluations = max(
        (
            count
            for name, (count, _) in calls.items()
            if name in ("nlp_f", "nlp_g", "nlp_fg", "nlp_psi")
        ),
        default=None,
    )
    found = {
        "objective": solution.objective,
        "iterations": numbers["iterations"],
        "evaluations": evaluations,
        "build": numbers["build_seconds"],
        "solve": numbers["solve_seconds"],
        "status": solution.status,
        "functions": sum(
            seconds for name, (_, seconds) in calls.items() if name.startswith(("nlp", "fwd"))
        ),
        "bridge": numbers.get("calls", {}).get("bridge", (0, 0.0))[1],
    }
    return {
        name: value if not isinstance(value, float) or np.isfinite(value) else None
        for name, value in found.items()
    }
