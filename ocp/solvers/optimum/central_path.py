"""Derivatives of a point of the central path, as an interior-point method leaves it.

The point meets the first-order conditions with m d = mu for every inequality, d its distance to the
bound and m its multiplier. With H of the Lagrangian, and rows and variables at their distances,

    [H_vv + M  J_v'] [dv]     [H_vp]
    [J_v       -D  ] [dy] = - [J_p ]      M = diag(m / d) of variables, D = diag(d / m) of rows

are their derivative by parameters p (Forsgren, Gill & Wright 2002, section 5; Pirnay,
Lopez-Negrete & Biegler 2012). No active set is needed: rows that are active and depend on each
other, or are about to change, have a derivative all the same, which an active set does not give.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca
import numpy as np

from ocp.solvers.linear_algebra.saddle_point import factorise
from ocp.solvers.nlp import NLP, Exact, Iterate
from ocp.solvers.optimum.active_set import Label, check_strict, default_label

NEAREST = 1e-12  # distance to a bound: solvers relax bounds, and end a little beyond them
IDLE = 1e12  # distance over multiplier from which on a row gives way to everything
WEAK = 1e-6  # reach over max(1, |p|) below which a change of the active set is at hand


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class PathSlopes:
    """Derivatives `x` (variables, k) of a point by k parameters.

    `sides` (variables + rows,): 1 where a multiplier is larger than the distance to an upper bound,
    -1 to a lower one, 0 elsewhere and of equal bounds. `reach` (k,): by how much each parameter may
    change until such a distance or multiplier has gone, to first order; `weak`: names of those that
    are about to.
    """

    x: np.ndarray
    sides: np.ndarray
    reach: np.ndarray
    weak: tuple[str, ...]

    def __repr__(self) -> str:
        return f"PathSlopes({len(self.x)} variables by {self.x.shape[1]} parameters)"


def path_slopes(
    nlp: NLP, point: Iterate, parameters: Sequence[int], label: Label = default_label
) -> PathSlopes:
    """Return the PathSlopes of a solver's point.

    Args:
        nlp: a program with exact derivatives.
        point: of an interior-point method, with multipliers.
        parameters: numbers of k variables with equal bounds.
        label: names a "variable" or "row" by its number in errors.

    Raises:
        ValueError: the point is not near to a strict minimum, naming what moves at no cost.
    """
    exact: Exact = nlp
    nothing, chosen, size = ca.DM(0, 1), list(parameters), len(point.x)
    g, jacobian = exact.jacobian(point.x, nothing)
    upper = exact.hessian("exact")(point.x, nothing, 1.0, point.g_multipliers)
    hessian = ca.triu2symm(upper)
    multiplier = np.append(point.x_multipliers, point.g_multipliers)
    pull, (equal, distance) = np.abs(multiplier), _distances(nlp, point.x, g, multiplier)
    stiff = pull / distance  # of equations not used
    free = np.flatnonzero(~equal[:size])
    felt = np.flatnonzero((stiff > 1 / IDLE) | equal)
    felt = felt[felt >= size] - size
    gives = np.where(equal, 0.0, 1 / np.maximum(stiff, 1 / IDLE))[size:][felt]
    of_free, of_felt = free.tolist(), felt.tolist()
    matrix = hessian[of_free, of_free] + ca.diag(ca.DM(stiff[free]))
    system = factorise(matrix, jacobian[of_felt, of_free], gives)
    check_strict(system, free, label)
    right = ca.vertcat(hessian[of_free, chosen], jacobian[of_felt, chosen])
    solved, _ = system.solve(-np.array(right))
    x = np.zeros((size, len(chosen)))
    x[chosen], x[free] = np.eye(len(chosen)), solved[: len(free)]
    moved = np.abs(np.vstack([x, np.array(jacobian @ ca.DM(x))]))
    pulled = stiff[:, None] * moved
    pulled[size + felt] = np.abs(solved[len(free) :])
    held = ~equal & (pull > distance)
    left = np.where(equal, np.inf, np.where(held, pull, distance))
    with np.errstate(divide="ignore"):
        steps = left[:, None] / np.where(held[:, None], pulled, moved)
    first, reach = np.argmin(steps, axis=0), np.min(steps, axis=0)
    near = first[reach < WEAK * np.maximum(1.0, np.abs(point.x[chosen]))]
    names = [label("variable", k) if k < size else label("row", k - size) for k in near]
    sides = np.where(held, np.where(multiplier > 0, 1, -1), 0)
    return PathSlopes(x=x, sides=sides, reach=reach, weak=tuple(dict.fromkeys(names)))


def _distances(
    nlp: NLP, x: np.ndarray, g: ca.DM, multiplier: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return which variables and rows are equations, and the distances of the others to the bound
    on the side of their multipliers."""
    value = np.append(x, np.array(g).ravel())
    lower, upper = np.append(nlp.lower, nlp.g_lower), np.append(nlp.upper, nlp.g_upper)
    away = np.where(multiplier > 0, upper - value, value - lower)
    return lower == upper, np.maximum(away, NEAREST)
