"""Least-squares multipliers at a point of an NLP, for solvers that return none or wrong ones."""

import casadi as ca
import numpy as np

from ocp.solvers.minimize import Solver, minimize
from ocp.solvers.nlp import NLP

ACTIVE = 1e-4  # distance to a bound that may have a multiplier, relative to bounds above 1
PRECISE = Solver(options={"tol": 1e-9})


def least_multipliers(nlp: NLP, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return multipliers of bounds (variables,) and of constraints (rows,) at a point x.

    They minimise the squares of the Lagrangian's slope; only active rows and bounds have one.
    Raises ValueError if the NLP has no gradient or Jacobian.
    """
    if nlp.gradient is None or nlp.jacobian is None:
        raise ValueError("multipliers: expected an NLP with a gradient and a Jacobian")
    slope, (g, jacobian) = nlp.gradient(x, ca.DM(0, 1))[1], nlp.jacobian(x, ca.DM(0, 1))
    value = np.concatenate([x, np.array(g).ravel()])
    lower = np.concatenate([nlp.lower, nlp.g_lower])
    upper = np.concatenate([nlp.upper, nlp.g_upper])
    at_lower, at_upper = _near(value, lower), _near(value, upper)
    multipliers, active = np.zeros(len(value)), np.flatnonzero(at_lower | at_upper)
    if len(active):
        normals = ca.vertcat(ca.DM.eye(len(x)), jacobian)[active.tolist(), :]
        least = np.where(at_lower[active], -np.inf, 0.0)
        most = np.where(at_upper[active], np.inf, 0.0)
        multipliers[active] = _least(normals, slope, least, most)
    return multipliers[: len(x)], multipliers[len(x) :]


def _near(value: np.ndarray, bound: np.ndarray) -> np.ndarray:
    """Return a mask of the values at their bounds."""
    near = np.abs(value - bound) <= ACTIVE * np.maximum(1.0, np.abs(bound))
    return np.isfinite(bound) & near


def _least(normals: ca.DM, slope: ca.DM, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
    """Return the y (m,) within bounds that minimise |slope + normals' y|.

    The residual is a variable of its own, for sparsity.
    """
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
    return minimize(program, PRECISE, np.zeros(m + n)).x[:m]
