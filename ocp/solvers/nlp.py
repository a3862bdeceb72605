"""Nonlinear programs as values, points of them, and first-order residuals.

    minimise f(x) subject to lower <= x <= upper and g_lower <= g(x) <= g_upper

Nothing here knows of mechanics.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, partial
from typing import Any, TypeAlias

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

# Options by the solvers' own names, whose kinds only they know
Option: TypeAlias = Any


class Values:
    """What an NLP has of x by machine code on numbers, and by a graph on expressions, which alone
    can be differentiated and is built when it is first asked for."""

    def __init__(self, fast: ca.Function, build: Callable[[], ca.Function]) -> None:
        self.fast, self._build = fast, build

    @cached_property
    def graph(self) -> ca.Function:
        """The same as a graph."""
        return self._build()

    def __call__(self, x: Option) -> Option:
        return (self.graph if isinstance(x, ca.MX | ca.SX) else self.fast)(x)


def graph_of(function: "ca.Function | Values") -> ca.Function:
    """Return an NLP's function as a graph that can be differentiated."""
    return function.graph if isinstance(function, Values) else function


def fast_version(function: "ca.Function | Values") -> ca.Function:
    """Return the fast version of an NLP's function, or the function if there is none."""
    return function.fast if isinstance(function, Values) else function


def by_versions(
    values: "Sequence[ca.Function | Values]", make: Callable[..., ca.Function]
) -> "ca.Function | Values":
    """Return the function that `make` gives of functions, in both versions if any has two."""
    if not any(isinstance(each, Values) for each in values):
        return make(*values)
    return Values(make(*map(fast_version, values)), lambda: make(*map(graph_of, values)))


KEPT = 8  # solvers that an NLP keeps: cold and warm ones, and those of its quadratic model
Options: TypeAlias = Mapping[str, Option]
Exact: TypeAlias = Any  # an NLP that has derivatives


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class NLP:
    """A nonlinear program: bounds as arrays, functions of x as CasADi Functions.

    Args:
        lower, upper: bounds of variables (variables,).
        g_lower, g_upper: bounds of constraints (constraints,).
        objective, constraints: f and g, functions of x, or their Values.
        gradient: (x, p) -> (f, grad f), as CasADi's solvers expect; p is empty.
        jacobian: (x, p) -> (g, J), sparse.
        hessian: hessian(kind) is the function (x, p, lam_f, lam_g) -> upper triangle of the
            Lagrangian's Hessian; kind is "exact" or "gauss-newton".
        made: solvers that were set up for these functions; programs with other bounds share them.

    Derivatives that are None are left to the solver.
    """

    lower: np.ndarray
    upper: np.ndarray
    g_lower: np.ndarray
    g_upper: np.ndarray
    objective: ca.Function | Values
    constraints: ca.Function | Values
    gradient: ca.Function | None = None
    jacobian: ca.Function | None = None
    hessian: Callable[[str], ca.Function] | None = None
    made: dict = field(default_factory=dict, compare=False)

    @property
    def functions(self) -> tuple[object, ...]:
        """The objective, the constraints and their derivatives."""
        return self.objective, self.constraints, self.gradient, self.jacobian, self.hessian

    def keep(self, key: tuple, ready: tuple) -> None:
        """Keep a solver with the NLP, and the others that ran last."""
        self.made[key] = ready
        for oldest in list(self.made)[:-KEPT]:
            self.made.pop(oldest, None)

    def __repr__(self) -> str:
        given = [
            name for name in ("gradient", "jacobian", "hessian") if getattr(self, name) is not None
        ]
        return (
            f"NLP({len(self.lower)} variables, {len(self.g_lower)} constraints, "
            f"derivatives: {', '.join(given) or 'left to the solver'})"
        )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Iterate:
    """A point `x` (variables,) of a program, `g` (constraints,) there, and multipliers of both.

    A multiplier is positive where an upper bound holds its value down, negative where a lower one
    holds it up: grad f + J' g_multipliers + x_multipliers = 0.
    """

    x: np.ndarray
    g: np.ndarray
    x_multipliers: np.ndarray
    g_multipliers: np.ndarray

    def __repr__(self) -> str:
        return f"Iterate({len(self.x)} variables, {len(self.g)} constraints)"


def iterate_at(nlp: NLP, x: np.ndarray) -> Iterate:
    """Return the Iterate at x (variables,), with multipliers of zero."""
    return Iterate(
        x=np.array(x, dtype=float).ravel(),
        g=np.array(nlp.constraints(x)).ravel(),
        x_multipliers=np.zeros(len(nlp.lower)),
        g_multipliers=np.zeros(len(nlp.g_lower)),
    )


def gradient_function(x: ca.MX, p: ca.MX, f: ca.MX, slope: ca.MX) -> ca.Function:
    """Return (x, p) -> (f, grad f) with the names that CasADi's solvers expect."""
    return ca.Function("grad_f", [x, p], [f, slope], ["x", "p"], ["f", "grad_f_x"])


def jacobian_function(x: ca.MX, p: ca.MX, g: ca.MX, slopes: ca.MX) -> ca.Function:
    """Return (x, p) -> (g, J) with the names that CasADi's solvers expect."""
    return ca.Function("jac_g", [x, p], [g, slopes], ["x", "p"], ["g", "jac_g_x"])


def hessian_function(
    size: int, rows: int, upper: Callable[[ca.MX, ca.MX, ca.MX, ca.MX], ca.MX]
) -> ca.Function:
    """Return (x, p, lam_f, lam_g) -> `upper` of these, the upper triangle of a Hessian.

    Args:
        size: number of variables.
        rows: number of constraints.
        upper: expression of the symbols.
    """
    x, p = ca.MX.sym("x", size), ca.MX.sym("p", 0)
    lam_f, lam_g = ca.MX.sym("lam_f"), ca.MX.sym("lam_g", rows)
    return ca.Function(
        "hess_lag",
        [x, p, lam_f, lam_g],
        [upper(x, p, lam_f, lam_g)],
        ["x", "p", "lam_f", "lam_g"],
        ["triu_hess_gamma_x_x"],
    )


def feasibility(nlp: NLP) -> NLP:
    """Return the program with the same constraints and nothing to minimise."""
    x, p = ca.MX.sym("x", len(nlp.lower)), ca.MX.sym("p", 0)
    nothing = ca.Function("f", [x], [ca.MX(0)], ["x"], ["f"])
    if nlp.jacobian is None:
        return replace(nlp, objective=nothing)
    return replace(
        nlp,
        objective=nothing,
        gradient=gradient_function(x, p, ca.MX(0), ca.MX.zeros(len(nlp.lower))),
        hessian=None if nlp.hessian is None else partial(_without_objective, nlp),
    )


def _without_objective(nlp: NLP, kind: str) -> ca.Function:
    """Return the Hessian of the Lagrangian without its objective."""
    assert nlp.hessian is not None
    whole = nlp.hessian(kind)
    return hessian_function(
        len(nlp.lower), len(nlp.g_lower), lambda x, p, lam_f, lam_g: whole(x, p, 0, lam_g)
    )


def with_rows(nlp: NLP, kept: np.ndarray) -> NLP:
    """Return the program with only the rows `kept` (k,) of its constraints.

    The same functions evaluate it.
    """
    x, p = ca.MX.sym("x", len(nlp.lower)), ca.MX.sym("p", 0)
    rows = kept.tolist()
    fewer = replace(
        nlp,
        g_lower=nlp.g_lower[kept],
        g_upper=nlp.g_upper[kept],
        constraints=by_versions(
            [nlp.constraints], lambda g: ca.Function("g", [x], [g(x)[rows]], ["x"], ["g"])
        ),
        made={},
    )
    if nlp.jacobian is None:
        return fewer
    g, slopes = nlp.jacobian(x, p)
    return replace(
        fewer,
        jacobian=jacobian_function(x, p, g[rows], slopes[rows, :]),
        hessian=nlp.hessian and cache(partial(_hessian_of_rows, nlp, rows)),
    )


def _hessian_of_rows(nlp: NLP, rows: list[int], kind: str) -> ca.Function:
    """Return the Hessian of the Lagrangian with multipliers of some rows only."""
    assert nlp.hessian is not None
    whole = nlp.hessian(kind)

    def upper(x: ca.MX, p: ca.MX, lam_f: ca.MX, lam_g: ca.MX) -> ca.MX:
        every = ca.MX(len(nlp.g_lower), 1)
        every[rows] = lam_g
        return whole(x, p, lam_f, ca.densify(every))

    return hessian_function(len(nlp.lower), len(rows), upper)


def with_derivatives(nlp: NLP) -> NLP:
    """Return the NLP with first derivatives: its own, or those that CasADi finds."""
    if nlp.gradient is not None and nlp.jacobian is not None:
        return nlp
    x, p = ca.MX.sym("x", len(nlp.lower)), ca.MX.sym("p", 0)
    f, g = nlp.objective(x), nlp.constraints(x)
    return replace(
        nlp,
        gradient=gradient_function(x, p, f, ca.gradient(f, x)),
        jacobian=jacobian_function(x, p, g, ca.jacobian(g, x)),
        made={},
    )


class Evaluator:
    """A CasADi Function called on arrays without copies, with its calls and seconds counted."""

    def __init__(self, function: ca.Function) -> None:
        buffer: Any = function.buffer()
        self.function = function
        self.buffer, self.trigger = buffer
        self.inputs: list[Any] = [np.zeros(function.nnz_in(k)) for k in range(function.n_in())]
        self.outputs: list[Any] = [np.zeros(function.nnz_out(k)) for k in range(function.n_out())]
        for number, array in enumerate(self.inputs):
            if array.size:
                self.buffer.set_arg(number, memoryview(array))
        for number, array in enumerate(self.outputs):
            if array.size:
                self.buffer.set_res(number, memoryview(array))
        self.calls, self.seconds = 0, 0.0

    def __call__(self, *values: ArrayLike) -> list[np.ndarray]:
        """Return the nonzeros of every output, which the next call overwrites.

        They are not numbers if the evaluation fails.
        """
        for array, value in zip(self.inputs, values):
            array[:] = value
        begin = time.perf_counter()
        self.trigger()
        self.seconds += time.perf_counter() - begin
        if self.buffer.ret():
            for array in self.outputs:
                array[:] = np.nan
        self.calls += 1
        return self.outputs


def violation(
    value: np.ndarray, lower: np.ndarray | float, upper: np.ndarray | float
) -> np.ndarray:
    """Return the amount by which each value lies below `lower` or above `upper`, 0 in between."""
    return np.maximum(0.0, np.maximum(lower - value, value - upper))


def kkt_residual(
    nlp: NLP, x: np.ndarray, x_multipliers: np.ndarray, g_multipliers: np.ndarray
) -> float:
    """Return the largest violation of the first-order conditions; not a number if one is none.

    These are stationarity, feasibility, and multiplier times distance to bound. CasADi
    differentiates the Lagrangian anew, so that errors in the NLP's own derivatives show. Variables
    fixed by their bounds are left out.
    """
    symbol = ca.MX.sym("x", len(x))
    lagrangian = nlp.objective(symbol) + ca.dot(g_multipliers, nlp.constraints(symbol))
    slope = ca.Function("slope", [symbol], [ca.gradient(lagrangian, symbol)])(x)
    g = np.array(nlp.constraints(x)).ravel()
    point = Iterate(x=x, g=g, x_multipliers=x_multipliers, g_multipliers=g_multipliers)
    return _residual(nlp, point, np.array(slope).ravel())


def own_residual(nlp: NLP, point: Iterate) -> float:
    """Return the residual of `kkt_residual` by the NLP's own derivatives, if it brings them.

    That is quicker, and the only way where its functions are machine code.
    """
    if nlp.gradient is None or nlp.jacobian is None:
        return kkt_residual(nlp, point.x, point.x_multipliers, point.g_multipliers)
    nothing = ca.DM(0, 1)
    slope = nlp.gradient(point.x, nothing)[1]
    pull = nlp.jacobian(point.x, nothing)[1].T @ point.g_multipliers
    return _residual(nlp, point, np.array(slope + pull).ravel())


def _residual(nlp: NLP, point: Iterate, slope: np.ndarray) -> float:
    """Return the largest violation of the first-order conditions.

    `slope` (variables,) is that of the Lagrangian without the multipliers of variables.
    """
    free = nlp.lower < nlp.upper
    parts = [
        np.abs(slope + point.x_multipliers)[free],
        violation(point.x, nlp.lower, nlp.upper),
        violation(point.g, nlp.g_lower, nlp.g_upper),
        _slackness(point.x, point.x_multipliers, nlp.lower, nlp.upper)[free],
        _slackness(point.g, point.g_multipliers, nlp.g_lower, nlp.g_upper),
    ]
    return float(np.max(np.concatenate(parts), initial=0.0))


def _slackness(
    value: np.ndarray, multiplier: np.ndarray, lower: np.ndarray, upper: np.ndarray
) -> np.ndarray:
    """Return multiplier times distance to its bound, the multiplier if there is no bound."""
    with np.errstate(invalid="ignore"):
        distance = np.where(multiplier > 0, upper - value, value - lower)
        products = np.abs(np.where(multiplier == 0, 0.0, multiplier * distance))
    return np.where(np.isfinite(products), products, np.abs(multiplier))
