"""Nonlinear programs and their solution by any solver plugin of CasADi; nothing here knows of mechanics.

minimise f(x) subject to lower <= x <= upper and g_lower <= g(x) <= g_upper
"""
import signal
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

import casadi as ca
import numpy as np

HESSIANS = ("exact", "gauss-newton", "lbfgs")
FEASIBLE = 1e-6                                    # an interrupted solve prefers the best objective among iterates this feasible
_SILENT_SQP = {"print_header": False, "print_iteration": False, "print_status": False}
_QUIET = {"ipopt": {"print_level": 0, "sb": "yes"}, "sqpmethod": _SILENT_SQP, "feasiblesqpmethod": _SILENT_SQP,
          "qrsqp": {"print_header": False, "print_iteration": False}}


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

    Raises ValueError naming an unknown plugin, Hessian, option, or an option's unusable value.
    """

    plugin: str = "ipopt"
    hessian: str = "exact"
    options: Mapping = field(default_factory=dict)

    def __post_init__(self):
        object.__setattr__(self, "options", MappingProxyType(dict(self.options)))
        if self.hessian not in HESSIANS:
            raise ValueError(f"hessian: expected one of {', '.join(HESSIANS)}, got {self.hessian!r}")
        if not self.plugin.isidentifier() or not ca.has_nlpsol(self.plugin):
            raise ValueError(f"plugin {self.plugin!r}: this CasADi has no such solver")
        known = ca.nlpsol_options(self.plugin)
        if self.hessian == "lbfgs" and self.plugin != "ipopt" and "hessian_approximation" not in known:
            raise ValueError(f"hessian 'lbfgs': plugin {self.plugin!r} has no limited-memory mode")
        if self.hessian == "gauss-newton" and self.plugin not in _HANDED_OVER:
            raise ValueError(f"hessian 'gauss-newton': plugin {self.plugin!r} does not take a Hessian")
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
    """What a solver returned: the point, its values and multipliers, its status in the solver's own words, and the history."""

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


def feasibility(nlp):
    """Return the program with the same constraints and nothing to minimise."""
    x, p = ca.MX.sym("x", len(nlp.lower)), ca.MX.sym("p", 0)
    lam_f, lam_g = ca.MX.sym("lam_f"), ca.MX.sym("lam_g", len(nlp.g_lower))
    nothing = ca.Function("f", [x], [ca.MX(0)], ["x"], ["f"])
    if nlp.jacobian is None:
        return replace(nlp, objective=nothing)
    return replace(
        nlp, objective=nothing,
        gradient=ca.Function("grad_f", [x, p], [ca.MX(0), ca.MX.zeros(len(nlp.lower))], ["x", "p"], ["f", "grad_f_x"]),
        hessian=lambda kind: ca.Function("hess_lag", [x, p, lam_f, lam_g], [nlp.hessian(kind)(x, p, 0, lam_g)],
                                         ["x", "p", "lam_f", "lam_g"], ["triu_hess_gamma_x_x"]))


def minimize(nlp, solver, x, *, x_multipliers=None, g_multipliers=None, watch=None):
    """Solve from the point x, and return the Outcome; failure to converge is a status, not an exception.

    With multipliers the solver starts warm. `watch(iteration)` is called at every Iteration. After Ctrl-C the outcome is the best iterate
    seen: the lowest objective among feasible ones, else the least violation.
    """
    begin = time.perf_counter()
    warm = x_multipliers is not None
    monitor = _Monitor(nlp, watch)
    symbol = ca.MX.sym("x", len(nlp.lower))
    program = {"x": symbol, "f": nlp.objective(symbol), "g": nlp.constraints(symbol)}
    if solver.hessian == "gauss-newton" and nlp.hessian is None:
        raise ValueError("hessian 'gauss-newton': this NLP leaves its derivatives to the solver, which cannot know the residuals")
    try:
        function = ca.nlpsol("solver", solver.plugin, program, _plugin_options(nlp, solver, warm, monitor))
    except RuntimeError as error:
        raise ValueError(f"plugin {solver.plugin!r} cannot be set up: {_reason(error)}") from None
    start = {"x0": x, "lbx": nlp.lower, "ubx": nlp.upper, "lbg": nlp.g_lower, "ubg": nlp.g_upper}
    if warm:
        start |= {"lam_x0": x_multipliers, "lam_g0": g_multipliers}
    built = monitor.begin = time.perf_counter()
    values, status, success, count = _run(function, start, monitor)
    solved = time.perf_counter()
    return Outcome(
        x=values["x"], f=float(nlp.objective(values["x"])), g=values["g"], x_multipliers=values["lam_x"], g_multipliers=values["lam_g"],
        status=status, success=success, iterations=count, history=tuple(monitor.history),
        build_seconds=built - begin, solve_seconds=solved - built,
    )


def _run(function, start, monitor):
    """Return the solver's values, status, success and number of iterations; after Ctrl-C or an exception, the best iterate's."""
    with _Interruptible(monitor):
        try:
            result = function(**start)
        except RuntimeError as error:              # some plugins raise where others return a status
            status, result = _reason(error), None
    if result is not None:
        stats = function.stats()
        count = int(stats.get("iter_count", 0)) if stats.get("n_call_nlp_f", 1) else 0        # uninitialised if it never began
        values = {key: np.array(result[key]).ravel() for key in ("x", "g", "lam_x", "lam_g")}
        status, success = str(stats.get("return_status", "unknown")), bool(stats["success"])
        if not monitor.interrupted:
            return values, status, success, count
        return values | (monitor.best or {}), "User_Requested_Stop", False, count
    zeros = {"lam_x": np.zeros(len(start["lbx"])), "lam_g": np.zeros(len(start["lbg"]))}
    values = monitor.best or {"x": np.array(start["x0"]), "g": np.array(monitor.nlp.constraints(start["x0"])).ravel()} | zeros
    return values, "User_Requested_Stop" if monitor.interrupted else status, False, len(monitor.history)


def _reason(error):
    """Return the last line of what CasADi says, which is the cause."""
    return str(error).strip().splitlines()[-1].strip()


def violation(value, lower, upper):
    """Return the amount by which each value lies outside its bounds."""
    return np.maximum(0.0, np.maximum(lower - value, value - upper))


def kkt_residual(nlp, x, x_multipliers, g_multipliers):
    """Return the largest violation of the first-order conditions: stationarity, feasibility, and multiplier times distance to bound.

    The Lagrangian is differentiated by the front end, not by the NLP's own derivatives; variables fixed by their bounds are left out.
    """
    symbol = ca.MX.sym("x", len(x))
    lagrangian = nlp.objective(symbol) + ca.dot(g_multipliers, nlp.constraints(symbol))
    slope = np.array(ca.Function("slope", [symbol], [ca.gradient(lagrangian, symbol)])(x)).ravel() + x_multipliers
    g, free = np.array(nlp.constraints(x)).ravel(), nlp.lower < nlp.upper
    parts = [np.abs(slope[free]), violation(x, nlp.lower, nlp.upper), violation(g, nlp.g_lower, nlp.g_upper),
             _slackness(x, x_multipliers, nlp.lower, nlp.upper)[free], _slackness(g, g_multipliers, nlp.g_lower, nlp.g_upper)]
    return float(max(np.max(part, initial=0.0) for part in parts))


def _slackness(value, multiplier, lower, upper):
    with np.errstate(invalid="ignore"):
        distance = np.where(multiplier > 0, upper - value, value - lower)
        products = np.abs(np.where(multiplier == 0, 0.0, multiplier * distance))
    return np.where(np.isfinite(products), products, np.abs(multiplier))


def _plugin_options(nlp, solver, warm, monitor):
    options = _split(solver.plugin, _quiet(solver.plugin, solver.options) | (_warm(solver.plugin) if warm else {}) | dict(solver.options))
    options |= {"iteration_callback": monitor, "print_time": False}
    if solver.hessian == "lbfgs":
        (options["ipopt"] if solver.plugin == "ipopt" else options)["hessian_approximation"] = "limited-memory"
    if nlp.jacobian is not None and solver.plugin in _HANDED_OVER:
        options |= _HANDED_OVER[solver.plugin](nlp, None if solver.hessian == "lbfgs" else nlp.hessian(solver.hessian))
    return options


def _quiet(plugin, options):
    quiet = dict(_QUIET.get(plugin, {}))
    if plugin in ("sqpmethod", "feasiblesqpmethod") and "qpsol" not in options:
        quiet["qpsol_options"] = {"printLevel": "none"}
    return quiet


def _triangular(nlp, hessian):
    ours = {"grad_f": nlp.gradient, "jac_g": nlp.jacobian, "no_nlp_grad": True, "calc_lam_p": False}
    return ours if hessian is None else ours | {"hess_lag": hessian}


def _joined(nlp, hessian):
    x, p = ca.MX.sym("x", len(nlp.lower)), ca.MX.sym("p", 0)
    joined = ca.Function("jac_fg", [x, p], [*nlp.gradient(x, p), *nlp.jacobian(x, p)], ["x", "p"], ["f", "grad_f_x", "g", "jac_g_x"])
    return {"jac_fg": joined} | _symmetric(nlp, hessian)


def _separate(nlp, hessian):
    x, p = ca.MX.sym("x", len(nlp.lower)), ca.MX.sym("p", 0)
    return {"grad_f": ca.Function("grad_f", [x, p], [nlp.gradient(x, p)[1]], ["x", "p"], ["grad_f_x"]),
            "jac_g": ca.Function("jac_g", [x, p], [nlp.jacobian(x, p)[1]], ["x", "p"], ["jac_g_x"])} | _symmetric(nlp, hessian)


def _symmetric(nlp, hessian):
    if hessian is None:
        return {}
    inputs = [ca.MX.sym("x", len(nlp.lower)), ca.MX.sym("p", 0), ca.MX.sym("lam_f"), ca.MX.sym("lam_g", len(nlp.g_lower))]
    whole = ca.triu2symm(hessian(*inputs))
    return {"hess_lag": ca.Function("hess_lag", inputs, [whole], ["x", "p", "lam_f", "lam_g"], ["hess_gamma_x_x"])}


# The plugins that take derivatives, and the form in which each wants them; the others differentiate by themselves.
_HANDED_OVER = {"ipopt": _triangular, "bonmin": _triangular, "sqpmethod": _joined, "feasiblesqpmethod": _separate}


def _warm(plugin):
    if plugin != "ipopt":
        return {}
    return {"warm_start_init_point": "yes", "mu_init": 1e-6, "warm_start_bound_push": 1e-9, "warm_start_slack_bound_push": 1e-9,
            "warm_start_mult_bound_push": 1e-9, "warm_start_bound_frac": 1e-9, "warm_start_slack_bound_frac": 1e-9}


def _split(plugin, options):
    """Return the options as CasADi wants them: IPOPT's own ones in a dictionary of their own."""
    if plugin != "ipopt":
        return dict(options)
    known = ca.nlpsol_options(plugin)
    outer = {name: value for name, value in options.items() if name in known}
    return outer | {"ipopt": {name: value for name, value in options.items() if name not in known}}


def _check_options(plugin, options):
    """Try every option on a tiny program, so that a wrong one is known by name before any work is done."""
    x = ca.MX.sym("x")
    program = {"x": x, "f": x ** 2, "g": x}

    def build(trial):
        try:
            ca.nlpsol("probe", plugin, program, _split(plugin, _quiet(plugin, trial) | trial) | {"print_time": False})
        except Exception as error:                 # CasADi raises bare exceptions of several types
            return _reason(error)
        return None

    for name, value in options.items():
        if isinstance(value, float) and np.isnan(value):
            raise ValueError(f"option {name!r}: expected a number, got nan")
    if options and build(dict(options)) is not None:
        for name, value in options.items():
            reason = build({name: value})
            if reason is not None:
                raise ValueError(f"option {name!r} = {value!r}: refused by plugin {plugin!r}: {reason}")


class _Monitor(ca.Callback):
    """The solver's view of us at every iteration: keeps the history and the best iterate, and stops it after Ctrl-C."""

    def __init__(self, nlp, watch):
        ca.Callback.__init__(self)
        self.nlp, self.watch, self.begin = nlp, watch, time.perf_counter()
        self.history, self.best, self.interrupted, self.rank = [], None, False, (True, np.inf)
        sizes = {"x": len(nlp.lower), "f": 1, "g": len(nlp.g_lower), "lam_x": len(nlp.lower), "lam_g": len(nlp.g_lower), "lam_p": 0}
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
        x, g, f = np.array(values["x"]).ravel(), np.array(values["g"]).ravel(), float(values["f"])
        worst = max(np.max(violation(x, self.nlp.lower, self.nlp.upper), initial=0.0),
                    np.max(violation(g, self.nlp.g_lower, self.nlp.g_upper), initial=0.0))
        iteration = Iteration(number=len(self.history), objective=f, violation=float(worst), seconds=time.perf_counter() - self.begin)
        self.history.append(iteration)
        rank = (False, f) if worst <= FEASIBLE else (True, worst)
        if rank < self.rank:
            self.rank = rank
            self.best = {"x": x, "g": g, "lam_x": np.array(values["lam_x"]).ravel(), "lam_g": np.array(values["lam_g"]).ravel()}
        if self.watch is not None:
            self.watch(iteration)
        return [1 if self.interrupted else 0]


class _Interruptible:
    """While active, Ctrl-C asks the monitor to stop the solver instead of raising; only the main thread can hear it."""

    def __init__(self, monitor):
        self.monitor = monitor

    def __enter__(self):
        self.heard = threading.current_thread() is threading.main_thread()
        if self.heard:
            self.previous = signal.signal(signal.SIGINT, self.stop)

    def stop(self, *_):
        self.monitor.interrupted = True

    def __exit__(self, *_):
        if self.heard:
            signal.signal(signal.SIGINT, self.previous)
