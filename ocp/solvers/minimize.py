"""Minimisation of an NLP by any solver: its settings, its outcome, and the function."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from types import MappingProxyType

import numpy as np

from ocp.pickling import portable
from ocp.solvers import casadi_plugins
from ocp.solvers.linear_algebra.blas_threads import one_thread
from ocp.solvers.nlp import (
    NLP,
    Iterate,
    Options,
    iterate_at,
    own_residual,
    violation,
    with_derivatives,
)
from ocp.solvers.progress import Interruptible, Iteration, Record, keep_interrupts
from ocp.solvers.solver_backend import HESSIANS, Backend, Start
from ocp.solvers.statuses import ACCEPTABLE, CUT_SHORT, INTERRUPTED, STALLED
from ocp.spelling import suggest_fields, suggestion

BACKENDS = {  # modules that have a BACKEND, beside the plugins of CasADi
    "snopt": "ocp.solvers.snopt.snopt",
    "structured": "ocp.interior_point.interior_point_backend",
}
AUTO, USUAL = "auto", "ipopt"  # the default plugin, and the one that it means
OPTIMAL = 1e-3  # residual of a success by loose tolerances, over max(1, |objective|)
MET = 1e-4  # and its violation of bounds, IPOPT's own `constr_viol_tol`
TOLERANCES = {"tol": 1e-8, "acceptable_tol": 1e-6}  # of IPOPT, by default
COMMON: dict[str, object] = {  # options that are asked for most, to suggest, with values they take
    **dict.fromkeys(("max_iter", "print_level", "acceptable_iter"), 5),
    **dict.fromkeys(("tol", "acceptable_tol", "constr_viol_tol", "mu_init"), 1e-6),
    **dict.fromkeys(("max_cpu_time", "max_wall_time"), 1e6),
    "linear_solver": "mumps",
    "mu_strategy": "adaptive",
}
LARGE = 100.0  # mean multiplier above which IPOPT divides residuals, `s_max`


@portable
@suggest_fields
@dataclass(frozen=True, slots=True, kw_only=True)
class Solver:
    """Settings of a solver.

    Args:
        plugin: a plugin of CasADi; "structured", the interior point of this package; "snopt", which
            Drake brings (extra `snopt`); a Backend; or "auto": IPOPT, or in
            attempts at a problem ours, where an estimate from counts says that it is quicker.
        hessian: "exact", "gauss-newton" or "lbfgs". SNOPT and "alpaqa" always estimate curvature
            from gradients, so that "exact" and "lbfgs" are the same to them.
        options: of the solver, by its own names.

    Raises:
        ValueError: naming an unknown plugin, Hessian or option, or an option's unusable value.
    """

    plugin: str | Backend = AUTO
    hessian: str = "exact"
    options: Options = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not isinstance(self.plugin, str | Backend):
            raise ValueError(f"plugin: expected a name or a Backend, got {self.plugin!r}")
        if not isinstance(self.options, Mapping):
            raise ValueError(f"options: expected a mapping by name, got {self.options!r}")
        object.__setattr__(self, "options", MappingProxyType(dict(self.options)))
        if self.hessian not in HESSIANS:
            raise ValueError(
                f"hessian: expected one of {', '.join(HESSIANS)}, got {self.hessian!r}"
                f"{suggestion(self.hessian, HESSIANS)}"
            )
        if self.hessian not in self.backend.hessians:
            lack = (
                "has no limited-memory mode"
                if self.hessian == "lbfgs"
                else "does not take a Hessian"
            )
            raise ValueError(f"hessian {self.hessian!r}: plugin {self.name!r} {lack}")
        _check_options(self.backend, self.options)

    @property
    def name(self) -> str:
        """The name of the plugin or Backend that solves."""
        if isinstance(self.plugin, Backend):
            return self.plugin.name
        return USUAL if self.plugin == AUTO else self.plugin

    @property
    def backend(self) -> Backend:
        """The Backend that solves; raises ValueError for an unknown plugin."""
        if isinstance(self.plugin, Backend):
            return self.plugin
        if self.name in BACKENDS:
            return import_module(BACKENDS[self.name]).BACKEND
        if not casadi_plugins.has_plugin(self.name):
            known = [AUTO, *BACKENDS, *casadi_plugins.names()]
            raise ValueError(
                f"plugin: expected one of {', '.join(known)}, or a Backend, got "
                f"{self.name!r}{suggestion(self.name, known)}"
            )
        return casadi_plugins.plugin(self.name)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Outcome:
    """Result of a solver: point, values, multipliers, status in its words, iterations, history.

    `x`, `x_multipliers` (variables,), `g`, `g_multipliers` (constraints,). `success` tells that the
    solver is done, and that the point is an optimum if it stopped by looser tolerances than were
    set. `calls` are {function: (times called, seconds)}; `solve_cpu_seconds` are the processor's,
    which other work does not lengthen.
    """

    x: np.ndarray
    f: float
    g: np.ndarray
    x_multipliers: np.ndarray
    g_multipliers: np.ndarray
    status: str
    success: bool
    iterations: int
    history: tuple[Iteration, ...]
    build_seconds: float
    solve_seconds: float
    solve_cpu_seconds: float = 0.0
    calls: Mapping[str, tuple[int, float]] = field(default_factory=dict)

    def __repr__(self) -> str:
        return (
            f"Outcome(status={self.status!r}, f={self.f:.9g}, {len(self.x)} variables, "
            f"{self.iterations} iterations)"
        )


@one_thread()
def minimize(
    nlp: NLP,
    solver: Solver,
    x: np.ndarray,
    *,
    x_multipliers: np.ndarray | None = None,
    g_multipliers: np.ndarray | None = None,
    watch: Callable[[Iteration], object] | None = None,
    most: int | None = None,
    seconds: float = np.inf,
) -> Outcome:
    """Solve an NLP from a point and return the Outcome.

    Failure to converge is a status, not an exception. After Ctrl-C, or a limit, the outcome is the
    best iterate seen: the lowest objective among feasible ones, else the least violation.

    Args:
        nlp: the program.
        solver: settings.
        x: first point (variables,).
        x_multipliers, g_multipliers: of a warm start.
        watch: called with every Iteration; what it raises stops the solver.
        most: limit of iterations.
        seconds: limit of time, which no iteration may exceed.

    Raises:
        ValueError: for a Hessian that this NLP cannot give, or a solver that cannot be set up.
    """
    begin = time.perf_counter()
    if solver.hessian == "gauss-newton" and nlp.hessian is None:
        raise ValueError(
            "hessian 'gauss-newton': this NLP leaves its derivatives to the solver, "
            "which cannot know the residuals"
        )
    backend = solver.backend
    step = (
        solver.options.get(casadi_plugins.SHOWN, 1)
        if backend.prepare is casadi_plugins.prepare
        else 1
    )
    record = Record(nlp, watch, most, seconds, step)
    start = Start(x=x, x_multipliers=x_multipliers, g_multipliers=g_multipliers)
    program = nlp if backend.prepare is casadi_plugins.prepare else with_derivatives(nlp)
    with keep_interrupts():
        run = backend.prepare(program, solver, start, record.see)
    built, processor = time.perf_counter(), time.process_time()
    record.begin = built
    with Interruptible(record):
        answer = run()
    if record.raised is not None:
        raise record.raised
    solved, spent = time.perf_counter(), time.process_time() - processor
    stopped = record.interrupted or (record.full and not answer.success)
    if stopped and record.step > 1 and answer.iterate is not None:  # which was not shown
        record.rank(float(nlp.objective(answer.iterate.x)), answer.iterate)
    last = record.best if stopped else answer.iterate
    cut = CUT_SHORT if stopped else answer.status
    point = last or record.best or answer.iterate or iterate_at(nlp, x)
    value, success = float(nlp.objective(point.x)), answer.success and not record.interrupted
    if not stopped and solver.name == "ipopt" and answer.status == STALLED:
        success = _is_acceptable(program, point, solver.options)
        cut = ACCEPTABLE[0] if success else cut
    if success and cut in ACCEPTABLE:
        success = _is_minimum(program, point, value)
    return Outcome(
        x=point.x,
        f=value,
        g=point.g,
        x_multipliers=point.x_multipliers,
        g_multipliers=point.g_multipliers,
        status=INTERRUPTED if record.interrupted else cut,
        success=success,
        iterations=answer.iterations,
        history=tuple(record.history),
        calls=answer.calls,
        build_seconds=built - begin,
        solve_seconds=solved - built,
        solve_cpu_seconds=spent,
    )


def _is_minimum(nlp: NLP, point: Iterate, value: float) -> bool:
    """Tell whether a point meets bounds and first-order conditions, in the program's own units.

    IPOPT's acceptable tolerance is in scaled units, in which a residual of any size may look small.
    """
    feasible = _outside(nlp, point) <= MET
    return bool(feasible and own_residual(nlp, point) <= OPTIMAL * max(1.0, abs(value)))


def _is_acceptable(nlp: NLP, point: Iterate, options: Options) -> bool:
    """Tell whether a point meets the looser of IPOPT's tolerances, in the program's own units.

    The residual is divided by the mean multiplier if that is large (Waechter & Biegler 2006,
    equations 5 and 6).
    """
    tolerance = max(float(options.get(name, known)) for name, known in TOLERANCES.items())
    sizes = np.abs(np.append(point.x_multipliers, point.g_multipliers))
    scale = max(LARGE, float(np.mean(sizes))) / LARGE
    met = _outside(nlp, point) <= tolerance
    return bool(met and own_residual(nlp, point) <= scale * tolerance)


def _outside(nlp: NLP, point: Iterate) -> float:
    """Return the largest violation of any bound."""
    outside = np.concatenate(
        [violation(point.x, nlp.lower, nlp.upper), violation(point.g, nlp.g_lower, nlp.g_upper)]
    )
    return float(np.max(outside, initial=0.0))


def _check_options(backend: Backend, options: Options) -> None:
    """Try all options, then each alone, so that an error names the wrong one."""
    for name, value in options.items():
        if isinstance(value, float) and np.isnan(value):
            raise ValueError(f"option {name!r}: expected a number, got nan")
    if not options or _refusal(backend, options) is None:
        return
    reasons = {name: _refusal(backend, {name: value}) for name, value in options.items()}
    refused = {name: reason.rstrip() for name, reason in reasons.items() if reason is not None}
    if refused:
        known = [name for name, value in COMMON.items() if _refusal(backend, {name: value}) is None]
        lines = [
            f"option {name!r} = {options[name]!r}: refused by plugin {backend.name!r}: {reason}"
            f"{'' if name in known else suggestion(name, known)}"
            for name, reason in refused.items()
        ]
        raise ValueError("\n".join(lines))


def _refusal(backend: Backend, options: Options) -> str | None:
    """Return the reason why a solver refuses options, None if it takes them."""
    try:
        backend.check(options)
    except ValueError as error:
        return str(error)
    return None
