"""Point of a program that is nearest to measurements.

It meets all constraints, at the least of the squared differences r(x)'r(x) / 2 and a share of the
objective, which decides what the measurements leave open.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import casadi as ca
import numpy as np

from ocp.solvers.minimize import Solver, minimize
from ocp.solvers.nlp import NLP, Exact, gradient_function, hessian_function

SHARE = 1e-3  # of the squared differences at the start: the objective's there [assumed]


def nearest_point(
    nlp: NLP, residuals: ca.Function, x: np.ndarray, solver: Solver
) -> np.ndarray | None:
    """Return the variables (variables,) nearest to measurements, None where none are found.

    Args:
        nlp: a program with exact derivatives.
        residuals: x -> (r, dr/dx).
        x: start (variables,).
        solver: settings.
    """
    off = np.array(residuals(x)[0]).ravel()
    share = SHARE * float(off @ off) / max(abs(float(nlp.objective(x))), 1e-300)
    outcome = minimize(_tracking(nlp, residuals, share), solver, x)
    return outcome.x if outcome.success else None


def _tracking(nlp: NLP, residuals: ca.Function, share: float) -> NLP:
    """Return the program with half the squared residuals and a share of the objective."""
    exact: Exact = nlp
    x, p = ca.MX.sym("x", len(nlp.lower)), ca.MX.sym("p", 0)
    off, by_x = residuals(x)
    value, slope = exact.gradient(x, p)
    squares = ca.sumsqr(off) / 2
    return replace(
        nlp,
        objective=ca.Function("f", [x], [squares + share * nlp.objective(x)], ["x"], ["f"]),
        gradient=gradient_function(x, p, squares + share * value, by_x.T @ off + share * slope),
        hessian=partial(_tracking_hessian, nlp, residuals, share),
        made={},
    )


def _tracking_hessian(nlp: NLP, residuals: ca.Function, share: float, kind: str) -> ca.Function:
    """Return the Hessian of the Lagrangian, the residuals' by Gauss-Newton."""
    exact: Exact = nlp
    whole: Callable = exact.hessian(kind)

    def upper(x: ca.MX, p: ca.MX, lam_f: ca.MX, lam_g: ca.MX) -> ca.MX:
        by_x = residuals(x)[1]
        return whole(x, p, share * lam_f, lam_g) + lam_f * ca.triu(by_x.T @ by_x)

    return hessian_function(len(nlp.lower), len(nlp.g_lower), upper)
