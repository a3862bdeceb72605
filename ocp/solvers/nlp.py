"""Nonlinear programs and their solution by any solver plugin of CasADi; nothing here knows of mechanics.

minimise f(x) subject to lower <= x <= upper and g_lower <= g(x) <= g_upper
"""

import re
import signal
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

import casadi as ca
import numpy as np

from ocp.solvers import plugins, snopt

HESSIANS = ("exact", "gauss-newton", "lbfgs")
INTERRUPTED = "User_Requested_Stop"
FEASIBLE = 1e-6  # an interrupted solve prefers the best objective among iterates this feasible


@dataclass(frozen=True, slots=True, kw_only=True)
class NLP:
    """A nonlinear program: bounds as arrays, functions of x as CasADi Functions.

    `gradient`, `jacobian` and `hessian` hand exact sparse derivatives to the solver, with the signatures CasADi's solvers expect:
    (x, p) -> (f, grad f), (x, p) -> (g, J), and hessian(kind): (x, p, lam_f, lam_g) -> upper triangle of the Lagrangian's Hessian, kind
    being "exact" or "gauss-newton". Where they are None the solver differentiates f and g itself.
    """

    lower: np.ndarray
    upper: np.ndarray
    g_lower: np.ndarray
    g_upper: np.ndarray
    objective: ca.Function
    constraints: ca.Function
    gradient: ca.Function | None = None
    jacobian: ca.Function | None = None
    hessian: Callable[[str], ca.Function] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Solver:
    """How an NLP is minimised: a CasADi plugin, the Hessian ("exact", "gauss-newton", "lbfgs"), and the plugin's own options.

    Plugin "snopt" is the solver SNOPT that Drake brings (extra `snopt`). It and "alpaqa" always estimate curvature from gradients, so
    "exact", the default, and "lbfgs" are the same to them.
    Raises ValueError naming an unknown plugin, Hessian, option, or an option's unusable value.
    """

    plugin: str = "ipopt"
    hessian: str = "exact"
    options: Mapping = field(default_factory=dict)

    def __post_init__(self):
        object.__setattr__(self, "options", MappingProxyType(dict(self.options)))
        if self.hessian not in HESSIANS:
            raise ValueError(
                f"hessian: expected one of {', '.join(HESSIANS)}, got {self.hessian!r}"
            )
        own = self.plugin == "snopt"
        if not own and (not self.plugin.isidentifier() or not ca.has_nlpsol(self.plugin)):
            raise ValueError(f"plugin {self.plugin!r}: this CasADi has no such solver")
        if self.hessian == "lbfgs" and not own and self.plugin not in plugins.LIMITED:
            raise ValueError(f"hessian 'lbfgs': plugin {self.plugin!r} has no limited-memory mode")
        if self.hessian == "gauss-newton" and self.plugin in plugins.QUASI_NEWTON:
            raise ValueError(
                f"hessian 'gauss-newton': plugin {self.plugin!r} does not take a Hessian"
            )
        _check_options(self.plugin, self.options)


@dataclass(frozen=True, slots=True, kw_only=True)
class Iteration:
    """One iteration as it happens: number, objective, largest violation of any bound, seconds since the start."""

    number: int
    objective: float
    violation: float
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a solver returned: the point, its values and multipliers, its status in the solver's own words, and the history.

    `calls`: {function: (times called, seconds)} of what the solver evaluated.
    """

    x: np.ndarray
    f: float
    g: np.ndarray
    x_multipliers: np.ndarray
    g_multipliers: np.ndarray
    status: str
    success: bool
    iterations: int
    history: tuple
    build_seconds: float
    solve_seconds: float
    calls: Mapping = field(default_factory=dict)


def feasibility(nlp):
    """Return the program with the same constraints and nothing to minimise."""
    x, p = ca.MX.sym("x", len(nlp.lower)), ca.MX.sym("p", 0)
    lam_f, lam_g = ca.MX.sym("lam_f"), ca.MX.sym("lam_g", len(nlp.g_lower))
    nothing = ca.Function("f", [x], [ca.MX(0)], ["x"], ["f"])
    if nlp.jacobian is None:
        return replace(nlp, objective=nothing)
    return replace(
        nlp,
        objective=nothing,
        gradient=ca.Function(
            "grad_f", [x, p], [ca.MX(0), ca.MX.zeros(len(nlp.lower))], ["x", "p"], ["f", "grad_f_x"]
        ),
        hessian=lambda kind: ca.Function(
            "hess_lag",
            [x, p, lam_f, lam_g],
            [nlp.hessian(kind)(x, p, 0, lam_g)],
            ["x", "p", "lam_f", "lam_g"],
            ["triu_hess_gamma_x_x"],
        ),
    )


def minimize(nlp, solver, x, *, x_multipliers=None, g_multipliers=None, watch=None):
    """Solve from the point x, and return the Outcome; failure to converge is a status, not an exception.

    With multipliers the solver starts warm. `watch(iteration)` is called at every Iteration. After Ctrl-C the outcome is the best iterate
    seen: the lowest objective among feasible ones, else the least violation.
    """
    begin = time.perf_counter()
    if solver.hessian == "gauss-newton" and nlp.hessian is None:
        raise ValueError(
            "hessian 'gauss-newton': this NLP leaves its derivatives to the solver, which cannot know the residuals"
        )
    record, warm = _Record(nlp, watch), x_multipliers is not None
    start = {"x0": x, "lam_x0": x_multipliers, "lam_g0": g_multipliers} if warm else {"x0": x}
    if solver.plugin == "snopt":
        run = snopt.prepare(
            nlp if nlp.jacobian is not None else _differentiated(nlp), solver.options, record
        )
    else:
        run = _prepare(nlp, solver, warm, record)
    built = record.begin = time.perf_counter()
    with _Interruptible(record):
        values, status, success, count, calls = run(start)
    solved = time.perf_counter()
    if record.interrupted:
        values, status, success = (values or {}) | (record.best or {}), INTERRUPTED, False
    if not values:
        values = record.best or _nowhere(nlp, x)
    return Outcome(
        x=values["x"],
        f=float(nlp.objective(values["x"])),
        g=values["g"],
        x_multipliers=values["lam_x"],
        g_multipliers=values["lam_g"],
        status=status,
        success=success,
        iterations=count,
        history=tuple(record.history),
        calls=calls,
        build_seconds=built - begin,
        solve_seconds=solved - built,
    )


def _prepare(nlp, solver, warm, record):
    """Return what solves from a start by a plugin of CasADi, and returns values or None, status, success, iterations and calls."""
    symbol, monitor = ca.MX.sym("x", len(nlp.lower)), _Monitor(nlp, record)
    program = {"x": symbol, "f": nlp.objective(symbol), "g": nlp.constraints(symbol)}
    try:
        options = plugins.options(
            solver.plugin, solver.options, hessian=solver.hessian, warm=warm
        ) | {"iteration_callback": monitor}
        if nlp.jacobian is not None:
            options |= plugins.derivatives(nlp, solver.plugin, solver.hessian)
        function = ca.nlpsol("solver", solver.plugin, program, options)
    except RuntimeError as error:
        raise ValueError(f"plugin {solver.plugin!r} cannot be set up: {_reason(error)}") from None

    def run(start, keep=monitor):
        try:
            result = function(
                **start, lbx=nlp.lower, ubx=nlp.upper, lbg=nlp.g_lower, ubg=nlp.g_upper
            )
        except RuntimeError as error:  # some plugins raise where others return a status
            return None, _reason(error), False, len(record.history), {}
        stats = function.stats()
        calls = {
            name[7:]: (int(count), float(stats.get(f"t_wall_{name[7:]}", 0.0)))
            for name, count in stats.items()
            if name.startswith("n_call_")
        }
        begun = sum(count for count, _ in calls.values()) if calls else 1
        values = {key: np.array(result[key]).ravel() for key in ("x", "g", "lam_x", "lam_g")}
        status = str(stats.get("return_status") or "")
        status = (
            stats.get("unified_return_status", "unknown")
            if not status or status.isdigit()
            else status
        )
        return (
            values,
            status,
            bool(stats["success"]),
            int(stats.get("iter_count", 0)) if begun else 0,
            calls,
        )  # else uninitialised

    return run


def _nowhere(nlp, x):
    """Return the values of a solver that came back with none and had no iterate: those of the start."""
    return {
        "x": np.array(x, dtype=float).ravel(),
        "g": np.array(nlp.constraints(x)).ravel(),
        "lam_x": np.zeros(len(nlp.lower)),
        "lam_g": np.zeros(len(nlp.g_lower)),
    }


def _differentiated(nlp):
    """Return the NLP with the gradient and the Jacobian that CasADi finds."""
    x, p = ca.MX.sym("x", len(nlp.lower)), ca.MX.sym("p", 0)
    f, g = nlp.objective(x), nlp.constraints(x)
    return replace(
        nlp,
        gradient=ca.Function(
            "grad_f", [x, p], [f, ca.gradient(f, x)], ["x", "p"], ["f", "grad_f_x"]
        ),
        jacobian=ca.Function("jac_g", [x, p], [g, ca.jacobian(g, x)], ["x", "p"], ["g", "jac_g_x"]),
    )


def _reason(error):
    """Return the last line of what CasADi says, which is the cause, without the place in its sources."""
    return re.sub(r"^\S+\.[ch]pp:\d+: ", "", str(error).strip().splitlines()[-1].strip())


def violation(value, lower, upper):
    """Return the amount by which each value lies outside its bounds."""
    return np.maximum(0.0, np.maximum(lower - value, value - upper))


def kkt_residual(nlp, x, x_multipliers, g_multipliers):
    """Return the largest violation of the first-order conditions: stationarity, feasibility, and multiplier times distance to bound.

    The Lagrangian is differentiated by the front end, not by the NLP's own derivatives; variables fixed by their bounds are left out.
    """
    symbol = ca.MX.sym("x", len(x))
    lagrangian = nlp.objective(symbol) + ca.dot(g_multipliers, nlp.constraints(symbol))
    slope = (
        np.array(ca.Function("slope", [symbol], [ca.gradient(lagrangian, symbol)])(x)).ravel()
        + x_multipliers
    )
    g, free = np.array(nlp.constraints(x)).ravel(), nlp.lower < nlp.upper
    parts = [
        np.abs(slope[free]),
        violation(x, nlp.lower, nlp.upper),
        violation(g, nlp.g_lower, nlp.g_upper),
        _slackness(x, x_multipliers, nlp.lower, nlp.upper)[free],
        _slackness(g, g_multipliers, nlp.g_lower, nlp.g_upper),
    ]
    return float(max(np.max(part, initial=0.0) for part in parts))


def _slackness(value, multiplier, lower, upper):
    with np.errstate(invalid="ignore"):
        distance = np.where(multiplier > 0, upper - value, value - lower)
        products = np.abs(np.where(multiplier == 0, 0.0, multiplier * distance))
    return np.where(np.isfinite(products), products, np.abs(multiplier))


def _check_options(plugin, options):
    """Try every option on a tiny program, so that a wrong one is known by name before any work is done."""
    x = ca.MX.sym("x")
    program = {"x": x, "f": x**2, "g": x}

    def build(trial):
        try:
            if plugin == "snopt":
                snopt.check(trial)
            else:
                probe = ca.nlpsol("probe", plugin, program, plugins.options(plugin, trial))
                if plugin in plugins.LATE:
                    probe(x0=1.0)
        except Exception as error:  # CasADi raises bare exceptions of several types
            return _reason(error)
        return None

    for name, value in options.items():
        if isinstance(value, float) and np.isnan(value):
            raise ValueError(f"option {name!r}: expected a number, got nan")
    if options and build(dict(options)) is not None:
        for name, value in options.items():
            reason = build({name: value})
            if reason is not None:
                raise ValueError(
                    f"option {name!r} = {value!r}: refused by plugin {plugin!r}: {reason}"
                )


class _Record:
    """What is kept of the iterates that a solver shows: the history, and the best of them."""

    def __init__(self, nlp, watch):
        self.nlp, self.watch, self.begin = nlp, watch, time.perf_counter()
        self.history, self.best, self.interrupted, self.rank = [], None, False, (True, np.inf)

    def see(self, f, **values):
        """Take an iterate: f, and the arrays x, g, lam_x, lam_g; tell whether the solver is to stop."""
        worst = max(
            np.max(violation(values["x"], self.nlp.lower, self.nlp.upper), initial=0.0),
            np.max(violation(values["g"], self.nlp.g_lower, self.nlp.g_upper), initial=0.0),
        )
        iteration = Iteration(
            number=len(self.history),
            objective=f,
            violation=float(worst),
            seconds=time.perf_counter() - self.begin,
        )
        self.history.append(iteration)
        rank = (False, f) if worst <= FEASIBLE else (True, worst)
        if rank < self.rank:
            self.rank, self.best = rank, values
        if self.watch is not None:
            self.watch(iteration)
        return self.interrupted


class _Monitor(ca.Callback):
    """CasADi's view of a record, to which it shows every iteration."""

    def __init__(self, nlp, record):
        ca.Callback.__init__(self)
        self.record = record
        sizes = {
            "x": len(nlp.lower),
            "f": 1,
            "g": len(nlp.g_lower),
            "lam_x": len(nlp.lower),
            "lam_g": len(nlp.g_lower),
            "lam_p": 0,
        }
        self.sizes = [sizes[name] for name in ca.nlpsol_out()]
        self.construct("monitor")

    def get_n_in(self):
        return ca.nlpsol_n_out()

    def get_n_out(self):
        return 1

    def get_name_in(self, i):
        return ca.nlpsol_out(i)

    def get_sparsity_in(self, i):
        return ca.Sparsity.dense(self.sizes[i], 1)

    def eval(self, arguments):
        values = dict(zip(ca.nlpsol_out(), arguments))
        return [
            int(
                self.record.see(
                    float(values["f"]),
                    **{key: np.array(values[key]).ravel() for key in ("x", "g", "lam_x", "lam_g")},
                )
            )
        ]


class _Interruptible:
    """While active, Ctrl-C asks the solver to stop at its next iterate instead of raising; only the main thread can hear it."""

    def __init__(self, record):
        self.record = record

    def __enter__(self):
        self.heard = threading.current_thread() is threading.main_thread()
        if self.heard:
            self.previous = signal.signal(signal.SIGINT, self.stop)

    def stop(self, *_):
        self.record.interrupted = True

    def __exit__(self, *_):
        if self.heard:
            signal.signal(signal.SIGINT, self.previous)
