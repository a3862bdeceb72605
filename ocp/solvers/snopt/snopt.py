"""SNOPT (Gill, Murray & Saunders 2005) as a Backend, by Drake's wheel.

It gets exact sparse first derivatives, and estimates curvature from gradients, in the metric of the
objective where rows are dense. There rows that are far within their bounds are left out, since each
lengthens the columns of a basis, and come back where a search has broken any of them.
"""

import importlib
import time
from collections.abc import Callable
from types import ModuleType

import numpy as np

from ocp.solvers.nlp import NLP, Iterate, Options
from ocp.solvers.snopt.drake_program import EvaluatedPoint, build_drake_program
from ocp.solvers.snopt.objective_metric import objective_metric
from ocp.solvers.solver_backend import Answer, Backend, See, Settings, Start
from ocp.solvers.statuses import SNOPT_DONE, SNOPT_STATUSES, snopt_status
from ocp.version import install_hint

MAJORS = 3000  # major iterations, and a thousand times as many minor ones
MET = 1e-6  # SNOPT's own feasibility tolerance


def check(options: Options) -> None:
    """Raise ValueError if Drake is missing, or an option is unknown to SNOPT or no number.

    A keyword ("QPSolver CG") has "" for one.
    """
    solvers, _ = _drake()
    for value in options.values():
        if isinstance(value, bool) or (not isinstance(value, (int, float)) and value != ""):
            raise ValueError(f"expected a number, or an empty text after a keyword, got {value!r}")
    program = solvers.MathematicalProgram()
    program.AddBoundingBoxConstraint(0.0, 1.0, program.NewContinuousVariables(1))
    try:
        solvers.SnoptSolver().Solve(program, np.zeros(1), _options(solvers, options))
    except RuntimeError as error:
        raise ValueError(f"SNOPT does not know it ({error})") from None


def prepare(nlp: NLP, solver: Settings, start: Start, see: See) -> Callable[[], Answer]:
    """Return the solver of an NLP by SNOPT; raise ValueError if Drake is not installed.

    Drake does not tell iterations: the Answer counts evaluated points. `see` gets every point,
    without multipliers.
    """
    solvers, differentiation = _drake()
    x = np.array(start.x, dtype=float).ravel()
    metric = objective_metric(nlp, x)
    if metric is not None:
        nlp, see, x = metric.program(), metric.watcher(see), metric.start(x)
    point = EvaluatedPoint(nlp, see)
    if metric is not None:
        point.kept = point.near(np.array(nlp.constraints(x)).ravel())
    given = {
        "Superbasics limit": len(nlp.lower) + 1,
        "Major iterations limit": MAJORS,
        "Iterations limit": 1000 * MAJORS,
        "Time limit": np.inf,
    } | dict(solver.options)
    limit = given.pop("Time limit")  # Drake's SNOPT accepts it, but does not obey it
    options, met = _options(solvers, given), float(given.get("Major feasibility tolerance", MET))

    def search(first: np.ndarray) -> tuple[int, Iterate]:
        """Return SNOPT's number and last iterate once it breaks no row that is left out."""
        while True:
            point.sound = first
            stated = build_drake_program(nlp, point, solvers, differentiation)
            try:
                result = solvers.SnoptSolver().Solve(stated.program, first, options)
            except RuntimeError:
                if not point.broken:
                    raise
                first, point.kept = point.sound, point.kept | point.near(point.g)
                continue
            point.left = time.perf_counter()
            info, last = result.get_solver_details().info, stated.iterate(result)
            point.leave()
            if info not in SNOPT_DONE or not point.breaks(last.g, met):
                return info, last
            first, point.kept = last.x, point.kept | point.near(last.g)

    def solve() -> Answer:
        point.deadline = time.perf_counter() + limit
        try:
            info, last = search(x)
        except RuntimeError as error:  # of an evaluation, Stop among them
            status = SNOPT_STATUSES[34] if point.late() else str(error).splitlines()[0]
            return Answer(
                iterate=None,
                status=status,
                success=False,
                iterations=point.count,
                calls=point.calls(),
            )
        return Answer(
            iterate=last if metric is None else metric.iterate(last),
            status=snopt_status(info),
            success=info in SNOPT_DONE,
            iterations=point.count,
            calls=point.calls(),
        )

    return solve


BACKEND = Backend(name="snopt", prepare=prepare, check=check, hessians=("exact", "lbfgs"))


def _options(solvers: ModuleType, options: Options) -> object:
    """Return Drake's record of SNOPT's options."""
    record = solvers.SolverOptions()
    for name, value in options.items():
        record.SetOption(solvers.SnoptSolver.id(), name, value)
    return record


def _drake() -> tuple[ModuleType, ModuleType]:
    """Return Drake's modules of solvers and of automatic differentiation."""
    try:
        solvers, differentiation = (
            importlib.import_module(f"pydrake.{name}") for name in ("solvers", "autodiffutils")
        )
    except ModuleNotFoundError:
        raise ValueError(f"plugin 'snopt': needs Drake: {install_hint('snopt')}") from None
    if not solvers.SnoptSolver().available():
        raise ValueError("plugin 'snopt': this Drake was built without SNOPT")
    return solvers, differentiation
