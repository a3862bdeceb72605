"""How an NLP is minimised, as a value; and the one function that does it, by whatever solver."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from types import MappingProxyType
from typing import Any

import numpy as np

from ocp.pickling import portable
from ocp.solvers import nlpsol, plugins
from ocp.solvers.backend import HESSIANS, Backend, Start
from ocp.solvers.iteration_log import Interruptible, Iteration, Record, keep_interrupts
from ocp.solvers.linear_algebra.blas_threads import one_thread
from ocp.solvers.nlp import NLP, Iterate, iterate_at, own_residual, violation, with_derivatives
from ocp.solvers.statuses import ACCEPTABLE, CUT_SHORT, INTERRUPTED, STALLED
from ocp.spelling import suggest_fields, suggestion

BACKENDS = {  # beside the plugins of CasADi: where each BACKEND is
    "snopt": "ocp.solvers.snopt.snopt",
    "structured": "ocp.interior_point.backend",
}
AUTO, USUAL = "auto", "ipopt"  # the plugin that is chosen, and which it is if nothing else says
OPTIMAL = 1e-3  # first-order residual of a success by loose tolerances, over max(1, |objective|)
MET = 1e-4  # and its violation of bounds, IPOPT's own `constr_viol_tol`
TOLERANCES = {"tol": 1e-8, "acceptable_tol": 1e-6}  # of IPOPT, by default
LARGE = 100.0  # the mean of multipliers from which IPOPT measures conditions by them, `s_max`


@portable
@suggest_fields
@dataclass(frozen=True, slots=True, kw_only=True)
class Solver:
    """How an NLP is minimised: a solver, the kind of Hessian, and the solver's own options.

    `hessian` is "exact", "gauss-newton" or "lbfgs".

    `plugin` is the name of a plugin of CasADi; "structured", an interior point of ours; "snopt",
    the solver SNOPT that Drake brings (extra `snopt`); or a Backend of one's own; "auto" is IPOPT,
    unless a problem's own way of solving has a better one. SNOPT and
    "alpaqa" always estimate curvature from gradients, so "exact", the default, and "lbfgs" are the
    same to them.
    Raises ValueError naming an unknown plugin, Hessian, option, or an option's unusable value.
    """

    plugin: str | Backend = AUTO
    hessian: str = "exact"
    options: Mapping[str, Any] = field(default_factory=dict)

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
        """What solves; raises ValueError for an unknown plugin."""
        if isinstance(self.plugin, Backend):
            return self.plugin
        if self.name in BACKENDS:
            return import_module(BACKENDS[self.name]).BACKEND
        if not nlpsol.has_plugin(self.name):
            known = [AUTO, *BACKENDS, *nlpsol.names()]
            raise ValueError(
                f"plugin: expected one of {', '.join(known)}, or a Backend, got "
                f"{self.name!r}{suggestion(self.name, known)}"
            )
        return nlpsol.plugin(self.name)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Outcome:
    """What a solver returned: point, values, multipliers, status in its own words, history.

    `x`, `x_multipliers` (variables,), `g`, `g_multipliers` (constraints,); `calls`: {function:
    (times called, seconds)} of what the solver evaluated in its `iterations`; `success`: whether it
    calls itself done, and where it does so by looser tolerances than were asked for, is.
    `solve_cpu_seconds` are the processor's in `solve_seconds`, which other work does not lengthen.
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
    watch: Callable[[Iteration], Any] | None = None,
    most: int | None = None,
    seconds: float = np.inf,
) -> Outcome:
    """Solve from the point x (variables,), and return the Outcome.

    Failure to converge is a status, not an exception; where IPOPT stalls at a point that meets its
    acceptable tolerance, that is its status. With multipliers the solver starts warm.
    `watch(iteration)` is called at every Iteration. After Ctrl-C the outcome is the best iterate
    seen: the lowest objective among feasible ones, else the least violation. So it is where a solve
    is cut short, with that status: after `most` iterations, or before `seconds` have passed.
    Raises ValueError for a Hessian that this NLP cannot give, and for a solver that cannot be set
    up; and what `watch` raises, which stops the solver.
    """
    begin = time.perf_counter()
    if solver.hessian == "gauss-newton" and nlp.hessian is None:
        raise ValueError(
            "hessian 'gauss-newton': this NLP leaves its derivatives to the solver, "
            "which cannot know the residuals"
        )
    backend = solver.backend
    step = solver.options.get(plugins.SHOWN, 1) if backend.prepare is nlpsol.prepare else 1
    record = Record(nlp, watch, most, seconds, step)
    start = Start(x=x, x_multipliers=x_multipliers, g_multipliers=g_multipliers)
    program = nlp if backend.prepare is nlpsol.prepare else with_derivatives(nlp)
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
    if stopped and record.step > 1 and answer.iterate is not None:  # which nobody has seen yet
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

    What IPOPT calls acceptable is so in units of its own, in which a residual of any size may look
    small.
    """
    feasible = _outside(nlp, point) <= MET
    return bool(feasible and own_residual(nlp, point) <= OPTIMAL * max(1.0, abs(value)))


def _is_acceptable(nlp: NLP, point: Iterate, options: Mapping[str, Any]) -> bool:
    """Tell whether a point meets the tolerance by which IPOPT calls one acceptable, or is asked for
    where that is looser, in the program's own units.

    The first-order residual counts over the mean of multipliers where that is large
    (Waechter & Biegler 2006, eqs. 5 and 6).
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


def _check_options(backend: Backend, options: Mapping[str, Any]) -> None:
    """Try every option, so that a wrong one is known by name before any work is done."""
    for name, value in options.items():
        if isinstance(value, float) and np.isnan(value):
            raise ValueError(f"option {name!r}: expected a number, got nan")
    if not options or _refusal(backend, options) is None:
        return
    for name, value in options.items():
        reason = _refusal(backend, {name: value})
        if reason is not None:
            raise ValueError(
                f"option {name!r} = {value!r}: refused by plugin {backend.name!r}: {reason}"
            )


def _refusal(backend: Backend, options: Mapping[str, Any]) -> str | None:
    """Return why a solver refuses options; None if it takes them."""
    try:
        backend.check(options)
    except ValueError as error:
        return str(error)
    return None
