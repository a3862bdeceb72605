"""Parameter sensitivity of an optimum: derivatives of its point, multipliers and objective.

Parameters p are variables of x that their bounds fix. With the active set fixed, the first-order
conditions are equations, whose derivative is one linear system (Fiacco & McCormick 1968; Fiacco
1976) of free variables v, variables b at bounds, and active rows g_A with multipliers y,

    [H_vv  J_Av'] [dv]     [H_vb db        ]
    [J_Av  0    ] [dy] = - [J_Ab db - dg_A]        d.. per dp, db and dg_A of bounds that move

and dJ/dp is the slope of the Lagrangian by p minus multipliers times the slopes of bounds.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca
import numpy as np

from ocp.solvers.linear_algebra.saddle_point import UNSOLVED
from ocp.solvers.nlp import NLP
from ocp.solvers.optimum.active_set import Label, Optimum, default_label, name_largest

ROUNDING = 1e-8  # of the largest slope: smaller ones count as zero
WEAK = 1e-6  # reach over max(1, |p|) below which derivatives are one-sided


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class BoundSlopes:
    """Derivatives of a program's bounds by k parameters: `lower`, `upper` (variables, k) and
    `g_lower`, `g_upper` (constraints, k)."""

    lower: np.ndarray
    upper: np.ndarray
    g_lower: np.ndarray
    g_upper: np.ndarray

    def __repr__(self) -> str:
        return f"BoundSlopes({self.lower.shape[1]} parameters)"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Sensitivity:
    """Derivatives of an optimum by k parameters, the variables `parameters`.

    `objective` (k,); `x`, `x_multipliers` (variables, k) and `g_multipliers` (constraints, k);
    `reach` (2, k): how far each parameter may fall, and rise, until the active set changes to first
    order; `limiting` (2, k): names of what changes first.
    """

    optimum: Optimum
    parameters: np.ndarray
    objective: np.ndarray
    x: np.ndarray
    x_multipliers: np.ndarray
    g_multipliers: np.ndarray
    reach: np.ndarray
    limiting: np.ndarray

    def __repr__(self) -> str:
        return f"Sensitivity({len(self.x)} variables by {len(self.parameters)} parameters)"

    @property
    def weak(self) -> tuple[str, ...]:
        """Name of the weakly active variable or row that limits each parameter, "" for none.

        Derivatives of point and multipliers then hold to one side at most.
        """
        size = WEAK * np.maximum(1.0, np.abs(self.optimum.point.x[self.parameters]))
        side, near = np.argmin(self.reach, axis=0), np.min(self.reach, axis=0) < size
        return tuple(str(self.limiting[side[k], k]) if near[k] else "" for k in range(len(near)))


def unmoved_bounds(nlp: NLP, count: int) -> BoundSlopes:
    """Return BoundSlopes of zero: parameters move only the bounds that fix them."""
    variables, rows = (np.zeros((len(side), count)) for side in (nlp.lower, nlp.g_lower))
    return BoundSlopes(lower=variables, upper=variables, g_lower=rows, g_upper=rows)


def sensitivity(
    near: Optimum,
    parameters: Sequence[int],
    bounds: BoundSlopes | None = None,
    label: Label = default_label,
) -> Sensitivity:
    """Return the Sensitivity of an optimum.

    Args:
        near: the optimum.
        parameters: numbers of k variables with equal bounds.
        bounds: derivatives of other bounds by the parameters.
        label: names a "variable" or "row" by its number.

    Raises:
        ValueError: a variable is not fixed, or a parameter moves dependent active rows apart;
            both are named.
    """
    nlp, chosen = near.nlp, np.asarray(parameters, dtype=int)
    moving = bounds or unmoved_bounds(nlp, len(chosen))
    loose = [int(k) for k in chosen if nlp.lower[k] < nlp.upper[k]]
    if loose:
        raise ValueError(f"sensitivity: {label('variable', loose[0])}: expected a fixed variable")
    moves = _moves(near, chosen, moving)
    right = np.vstack(
        [
            -_times(near.hessian, moves[0])[near.free],
            (moves[1] - _times(near.jacobian, moves[0]))[near.active],
        ]
    )
    solved, residual = near.system.solve(right)
    if (residual > UNSOLVED).any():
        raise ValueError(
            f"sensitivity: {label('variable', int(chosen[np.argmax(residual)]))}: active rows "
            f"that depend on each other are moved apart: {_dependent_rows(near, label)}"
        )
    x, y = moves[0].copy(), np.zeros_like(moves[1])
    x[near.free], y[near.active] = np.split(solved, [len(near.free)])
    z = -_times(near.hessian, x) - _times(near.jacobian.T, y)
    z[near.free] = 0.0
    reach, limiting = _reach(near, x, z, y, moving, label)
    return Sensitivity(
        optimum=near,
        parameters=chosen,
        objective=objective_slopes(near, parameters, moving),
        x=x,
        x_multipliers=z,
        g_multipliers=y,
        reach=reach,
        limiting=limiting,
    )


def objective_slopes(
    near: Optimum, parameters: Sequence[int], bounds: BoundSlopes | None = None
) -> np.ndarray:
    """Return dJ/dp (k,) of an optimum, from its multipliers alone."""
    moving = bounds or unmoved_bounds(near.nlp, len(parameters))
    moved_x, moved_g = _moves(near, np.asarray(parameters, dtype=int), moving)
    return -near.point.x_multipliers @ moved_x - near.point.g_multipliers @ moved_g


def _times(matrix: ca.DM, vectors: np.ndarray) -> np.ndarray:
    return np.reshape(np.array(matrix @ ca.DM(vectors)), (matrix.shape[0], vectors.shape[1]))


def _dependent_rows(near: Optimum, label: Label) -> str:
    """Return the names of active rows that depend on each other."""
    shares = near.system.loose(rows=True)
    if shares is None:
        return "not known which"
    return name_largest(shares[near.system.size :], near.active, "row", label)


def _moves(
    near: Optimum, parameters: np.ndarray, bounds: BoundSlopes
) -> tuple[np.ndarray, np.ndarray]:
    """Return derivatives of active bounds: of variables (variables, k) and of rows (rows, k)."""
    up_x, up_g = near.held_x[:, None] > 0, near.held_g[:, None] > 0
    moved_x = np.where(up_x, bounds.upper, bounds.lower) * (near.held_x != 0)[:, None]
    moved_g = np.where(up_g, bounds.g_upper, bounds.g_lower) * (near.held_g != 0)[:, None]
    moved_x[parameters] = np.eye(len(parameters))
    return moved_x, moved_g


def _reach(
    near: Optimum,
    x: np.ndarray,
    z: np.ndarray,
    y: np.ndarray,
    bounds: BoundSlopes,
    label: Label,
) -> tuple[np.ndarray, np.ndarray]:
    """Return `reach` and `limiting` of a Sensitivity, (2, k) each."""
    nlp, point = near.nlp, near.point
    g = _times(near.jacobian, x)
    parts = [
        _margins(point.x, x, nlp.lower, bounds.lower, near.held_x, -1),
        _margins(point.x, x, nlp.upper, bounds.upper, near.held_x, 1),
        _margins(point.g, g, nlp.g_lower, bounds.g_lower, near.held_g, -1),
        _margins(point.g, g, nlp.g_upper, bounds.g_upper, near.held_g, 1),
        _pulls(point.x_multipliers, z, near.held_x, nlp.lower == nlp.upper),
        _pulls(point.g_multipliers, y, near.held_g, nlp.g_lower == nlp.g_upper),
    ]
    left = np.concatenate([margin for margin, _ in parts])[:, None]
    rate = np.concatenate([slope for _, slope in parts])
    n, m = len(point.x), len(point.g)
    kinds = [("variable", k) for k in range(n)] * 2 + [("row", k) for k in range(m)] * 2
    kinds += [("variable", k) for k in range(n)] + [("row", k) for k in range(m)]
    reach, limiting = np.full((2, x.shape[1]), np.inf), np.full((2, x.shape[1]), "", dtype=object)
    for side, sign in enumerate((-1.0, 1.0)):
        with np.errstate(divide="ignore", invalid="ignore"):
            steps = np.where(sign * rate < 0, np.maximum(left, 0.0) / np.abs(rate), np.inf)
        steps = np.where(np.isnan(steps), np.inf, steps)
        if len(steps):
            first = np.argmin(steps, axis=0)
            reach[side] = np.min(steps, axis=0)
            limiting[side] = [label(*kinds[k]) for k in first]
    return reach, limiting


def _margins(
    value: np.ndarray,
    slope: np.ndarray,
    bound: np.ndarray,
    moved: np.ndarray,
    held: np.ndarray,
    side: int,
) -> tuple[np.ndarray, np.ndarray]:
    """Return distances of inactive values to their bounds on a side, and their slopes."""
    free = (held == 0) & np.isfinite(bound)
    margin = np.where(free, side * (np.where(free, bound, 0.0) - value), np.inf)
    rate = np.where(free[:, None], side * (moved - slope), 0.0)
    rounding = ROUNDING * np.abs(slope).max(axis=0, initial=0.0)
    return margin, np.where(np.abs(rate) > rounding, rate, 0.0)


def _pulls(
    multiplier: np.ndarray, slope: np.ndarray, held: np.ndarray, equal: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return multipliers of active inequalities, positive, and their slopes."""
    one_sided = (held != 0) & ~equal
    margin = np.where(one_sided, held * multiplier, np.inf)
    return margin, np.where(one_sided[:, None], held[:, None] * slope, 0.0)
