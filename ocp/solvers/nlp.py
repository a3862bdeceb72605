"""Nonlinear programs as values, and what can be said of a point of one.

Nothing here knows of mechanics.

    minimise f(x) subject to lower <= x <= upper and g_lower <= g(x) <= g_upper
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cache, partial
from weakref import WeakKeyDictionary

import casadi as ca
import numpy as np

JACOBIAN = ["g", "jac_g_x"]  # what CasADi's solvers call these
FAST_VERSIONS: WeakKeyDictionary[ca.Function, ca.Function] = WeakKeyDictionary()


def fast_version(function: ca.Function) -> ca.Function:
    """Return what gives the same as a function of an NLP, and cannot be differentiated; where there
    is none, the function."""
    return FAST_VERSIONS.get(function, function)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class NLP:
    """A nonlinear program: bounds as arrays, functions of x as CasADi Functions.

    `lower`, `upper` (variables,), `g_lower`, `g_upper` (constraints,); `objective`(x) and
    `constraints`(x). `gradient`, `jacobian` and `hessian` hand exact sparse derivatives to the
    solver, with the signatures CasADi's solvers expect: (x, p) -> (f, grad f), (x, p) -> (g, J),
    and hessian(kind): (x, p, lam_f, lam_g) -> upper triangle of the Lagrangian's Hessian, kind
    being "exact" or "gauss-newton". Where they are None the solver differentiates f and g itself.
    `made` keeps the solvers that were set up for these functions, which a program with other bounds
    shares.
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
    made: dict = field(default_factory=dict, compare=False)

    @property
    def functions(self) -> tuple:
        """The objective, the constraints and what differentiates them."""
        return self.objective, self.constraints, self.gradient, self.jacobian, self.hessian

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


def iterate(nlp: NLP, x: np.ndarray) -> Iterate:
    """Return the Iterate at x (variables,), with multipliers of zero."""
    return Iterate(
        x=np.array(x, dtype=float).ravel(),
        g=np.array(nlp.constraints(x)).ravel(),
        x_multipliers=np.zeros(len(nlp.lower)),
        g_multipliers=np.zeros(len(nlp.g_lower)),
    )


def feasibility(nlp: NLP) -> NLP:
    """Return the program with the same constraints and nothing to minimise."""
    x, p = ca.MX.sym("x", len(nlp.lower)), ca.MX.sym("p", 0)
    nothing = ca.Function("f", [x], [ca.MX(0)], ["x"], ["f"])
    if nlp.jacobian is None:
        return replace(nlp, objective=nothing)
    flat = [ca.MX(0), ca.MX.zeros(len(nlp.lower))]
    return replace(
        nlp,
        objective=nothing,
        gradient=ca.Function("grad_f", [x, p], flat, ["x", "p"], ["f", "grad_f_x"]),
        hessian=None if nlp.hessian is None else partial(_without_objective, nlp),
    )


def with_rows(nlp: NLP, kept: np.ndarray) -> NLP:
    """Return the program with the rows `kept` (k,) of its constraints alone, evaluated by the same
    functions."""
    x, p, count = ca.MX.sym("x", len(nlp.lower)), ca.MX.sym("p", 0), len(nlp.g_lower)
    rows = kept.tolist()
    fewer = replace(
        nlp,
        g_lower=nlp.g_lower[kept],
        g_upper=nlp.g_upper[kept],
        constraints=ca.Function("g", [x], [nlp.constraints(x)[rows]], ["x"], ["g"]),
        made={},
    )
    if nlp.jacobian is None:
        return fewer
    g, slopes = nlp.jacobian(x, p)
    return replace(
        fewer,
        jacobian=ca.Function("jac_g", [x, p], [g[rows], slopes[rows, :]], ["x", "p"], JACOBIAN),
        hessian=nlp.hessian and cache(partial(_of_rows, nlp, rows, count)),
    )


def _of_rows(nlp: NLP, rows: list[int], count: int, kind: str) -> ca.Function:
    """Return the Hessian of the Lagrangian with no multipliers but those of some of `count`
    rows."""
    assert nlp.hessian is not None
    x, p = ca.MX.sym("x", len(nlp.lower)), ca.MX.sym("p", 0)
    lam_f, lam_g = ca.MX.sym("lam_f"), ca.MX.sym("lam_g", len(rows))
    every = ca.MX(count, 1)
    every[rows] = lam_g
    return ca.Function(
        "hess_lag",
        [x, p, lam_f, lam_g],
        [nlp.hessian(kind)(x, p, lam_f, ca.densify(every))],
        ["x", "p", "lam_f", "lam_g"],
        ["triu_hess_gamma_x_x"],
    )


def _without_objective(nlp: NLP, kind: str) -> ca.Function:
    """Return the Hessian of the Lagrangian without its objective, as an NLP's `hessian` does."""
    assert nlp.hessian is not None
    x, p = ca.MX.sym("x", len(nlp.lower)), ca.MX.sym("p", 0)
    lam_f, lam_g = ca.MX.sym("lam_f"), ca.MX.sym("lam_g", len(nlp.g_lower))
    return ca.Function(
        "hess_lag",
        [x, p, lam_f, lam_g],
        [nlp.hessian(kind)(x, p, 0, lam_g)],
        ["x", "p", "lam_f", "lam_g"],
        ["triu_hess_gamma_x_x"],
    )


def with_derivatives(nlp: NLP) -> NLP:
    """Return the NLP with first derivatives: its own, or those that CasADi finds."""
    if nlp.gradient is not None and nlp.jacobian is not None:
        return nlp
    x, p = ca.MX.sym("x", len(nlp.lower)), ca.MX.sym("p", 0)
    f, g = nlp.objective(x), nlp.constraints(x)
    return replace(
        nlp,
        gradient=ca.Function(
            "grad_f", [x, p], [f, ca.gradient(f, x)], ["x", "p"], ["f", "grad_f_x"]
        ),
        jacobian=ca.Function("jac_g", [x, p], [g, ca.jacobian(g, x)], ["x", "p"], JACOBIAN),
    )


def violation(
    value: np.ndarray, lower: np.ndarray | float, upper: np.ndarray | float
) -> np.ndarray:
    """Return the amount by which each value lies below `lower` or above `upper`, 0 in between."""
    return np.maximum(0.0, np.maximum(lower - value, value - upper))


def kkt_residual(
    nlp: NLP, x: np.ndarray, x_multipliers: np.ndarray, g_multipliers: np.ndarray
) -> float:
    """Return the largest violation of the first-order conditions; not a number if one is none.

    These are stationarity, feasibility, and multiplier times distance to bound. The Lagrangian is
    differentiated by the front end, not by the NLP's own derivatives; variables fixed by their
    bounds are left out.
    """
    symbol = ca.MX.sym("x", len(x))
    lagrangian = nlp.objective(symbol) + ca.dot(g_multipliers, nlp.constraints(symbol))
    slope = ca.Function("slope", [symbol], [ca.gradient(lagrangian, symbol)])(x)
    g = np.array(nlp.constraints(x)).ravel()
    point = Iterate(x=x, g=g, x_multipliers=x_multipliers, g_multipliers=g_multipliers)
    return _residual(nlp, point, np.array(slope).ravel())


def own_residual(nlp: NLP, point: Iterate) -> float:
    """Return what `kkt_residual` does, by the NLP's own derivatives where it brings them.

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
    """Return multiplier times distance to the bound that it is of.

    The multiplier where there is no bound.
    """
    with np.errstate(invalid="ignore"):
        distance = np.where(multiplier > 0, upper - value, value - lower)
        products = np.abs(np.where(multiplier == 0, 0.0, multiplier * distance))
    return np.where(np.isfinite(products), products, np.abs(multiplier))
