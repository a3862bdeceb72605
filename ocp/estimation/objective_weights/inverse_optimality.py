"""Weights of an objective by the first-order conditions of motions that are optimal with them.

At an optimum x the gradients of the terms and those of the active constraints cancel,

    G w + J_A' y = 0        G gradients of terms, J_A of active rows, y multipliers of their signs

which is linear in weights w and multipliers: no solve is needed. Where a motion is measured, or no
optimum, the sum of squares of what is left is least (Keshavarz, Wang & Boyd 2011; Englert, Vien &
Toussaint 2017).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca
import numpy as np

from ocp.solvers.least_squares import least_squares
from ocp.solvers.linear_algebra.saddle_point import factorise
from ocp.solvers.nlp import NLP, Exact

CLOSE = 1e-5  # of a bound, over max(1, its size): what is closer is active
ROUNDS = 8  # of active sets, each without the multipliers of a wrong sign of the one before
ROUNDING = 1e-8  # of the largest multiplier: smaller ones have no sign


@dataclass(frozen=True, slots=True, kw_only=True)
class Stationarity:
    """Weights (k,) that leave least of the first-order conditions, and what they leave over what
    the terms of fixed weight have: `residual`, 0 of an optimum."""

    weights: np.ndarray
    residual: float


def stationarity(
    programs: Sequence[NLP], points: Sequence[np.ndarray], columns: Sequence[int]
) -> Stationarity:
    """Return the weights at which motions are nearest to optimal.

    Args:
        programs: with exact derivatives, one for each motion, whose variables contain the weights.
        points: variables (variables,) of each motion.
        columns: places of the weights sought in the variables.

    Raises:
        ValueError: rows of constraints that cannot be factorised.
    """
    parts = [_projected_gradients(nlp, x, columns) for nlp, x in zip(programs, points, strict=True)]
    rows = np.concatenate(parts)
    size = float(np.linalg.norm(rows[:, 0]))
    rows = rows / (size or 1.0)
    sought = np.zeros(len(columns)), np.full(len(columns), np.inf)
    least = least_squares(
        lambda w: (rows[:, 0] + rows[:, 1:] @ w, rows[:, 1:]),
        np.ones(len(columns)),
        sought,
        np.ones(len(columns)),
    )
    return Stationarity(weights=least.x, residual=float(np.linalg.norm(least.residuals)))


def _projected_gradients(nlp: NLP, x: np.ndarray, columns: Sequence[int]) -> np.ndarray:
    """Return gradients (variables, 1 + k) of the fixed terms and of those sought, without what
    active constraints hold.

    Inequalities whose multipliers pull, at the weights that leave least, are left out in rounds.
    """
    exact: Exact = nlp
    none, chosen = ca.DM(0, 1), list(columns)
    slope = np.array(exact.gradient(x, none)[1]).ravel()
    g, jacobian = exact.jacobian(x, none)
    still = np.zeros(len(nlp.g_lower))
    # The objective is linear in the weights: its Hessian has the terms' gradients in their columns
    upper = exact.hessian("exact")(x, none, 1.0, still)
    by_weights = np.array(ca.triu2symm(upper)[:, chosen])
    fixed = slope - by_weights @ x[chosen]
    value, lower = np.append(x, np.array(g).ravel()), np.append(nlp.lower, nlp.g_lower)
    highest = np.append(nlp.upper, nlp.g_upper)
    sides = _active_sides(value, lower, highest)
    size, equal = len(x), lower == highest
    gradients = np.column_stack([fixed, by_weights])
    for _ in range(ROUNDS):
        free, active = np.flatnonzero(sides[:size] == 0), np.flatnonzero(sides[size:])
        left, pulls = _without_rows(gradients, jacobian, free, active)
        weights = _least_weights(left)
        pull = np.append(
            -(gradients + np.array(jacobian.T @ ca.DM(pulls))) @ weights, pulls @ weights
        )
        wrong = ~equal & (sides * pull < -ROUNDING * np.abs(pull).max(initial=0.0))
        if not wrong.any():
            break
        sides = np.where(wrong, 0, sides)
    return left


def _active_sides(value: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
    """Return 1 where values are at an upper bound, -1 at a lower one, 0 between."""
    with np.errstate(invalid="ignore"):
        above = upper - value <= CLOSE * np.maximum(1.0, np.abs(upper))
        below = value - lower <= CLOSE * np.maximum(1.0, np.abs(lower))
    above &= np.isfinite(upper)
    below &= np.isfinite(lower)
    return np.where(above, 1, np.where(below, -1, 0))


def _without_rows(
    gradients: np.ndarray, jacobian: ca.DM, free: np.ndarray, active: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return gradients (variables, k) less their parts along active rows, 0 where variables are at
    bounds, and the multipliers (rows, k) of these."""
    rows = jacobian[active.tolist(), free.tolist()]
    system = factorise(ca.DM.eye(len(free)), rows)
    nothing = np.zeros((len(active), gradients.shape[1]))
    solved, _ = system.solve(np.vstack([-gradients[free], nothing]))
    left, pulls = np.zeros_like(gradients), np.zeros((jacobian.shape[0], gradients.shape[1]))
    left[free], pulls[active] = -solved[: len(free)], solved[len(free) :]
    return left, pulls


def _least_weights(left: np.ndarray) -> np.ndarray:
    """Return (1, w), weights at which gradients cancel best."""
    found = np.linalg.lstsq(left[:, 1:], -left[:, 0], rcond=None)[0]
    return np.append(1.0, np.maximum(found, 0.0))
