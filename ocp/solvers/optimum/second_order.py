"""Second-order conditions of a point: curvature of the Lagrangian along feasible directions.

A point that meets the first-order conditions is a strict local minimum if every active inequality
has a multiplier and Z'H Z is positive definite; the columns of Z span the null space of the active
rows. With a negative eigenvalue it is no minimum (Fiacco & McCormick 1968).
"""

from dataclasses import dataclass

import casadi as ca
import numpy as np

from ocp.solvers.nlp import NLP, Iterate

CLOSE = 1e-9  # distance at which a value is at its bound, whatever its multiplier
RANK = 1e-9  # of the largest singular value of the active rows, each of length one


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Curvature:
    """Curvature of the Lagrangian: `eigenvalues` (directions,) of the reduced Hessian in rising
    order, and the direction of the lowest, `steepest` (variables,).

    `equalities` counts equalities, `rows` all active rows, `rank` the independent ones of these
    with variables `at_bounds` fixed; `least` is the smallest multiplier of an active inequality or
    bound over the largest, 0 if one has none.
    """

    eigenvalues: np.ndarray
    steepest: np.ndarray
    equalities: int
    rows: int
    rank: int
    at_bounds: int
    least: float

    def __repr__(self) -> str:
        lowest = self.eigenvalues[0] if len(self.eigenvalues) else np.inf
        return f"Curvature({len(self.eigenvalues)} ways, lowest {lowest:.3g})"

    @property
    def strict(self) -> bool:
        """Whether the point is a strict minimum to second order."""
        return bool((self.eigenvalues > 0).all()) and self.least > 0

    @property
    def dependent(self) -> int:
        """Number of active rows that depend on others."""
        return self.rows - self.rank


def curvature(nlp: NLP, point: Iterate) -> Curvature:
    """Return the Curvature at a solver's point; dense, for some thousands of variables at most.

    Active is what has a multiplier larger than its distance from the bound, or is at its bound.
    Raises ValueError for a program without exact derivatives.
    """
    if nlp.jacobian is None or nlp.hessian is None:
        raise ValueError("curvature: expected a program with exact derivatives")
    nothing = ca.DM(0, 1)
    jacobian = np.array(nlp.jacobian(point.x, nothing)[1])
    upper = nlp.hessian("exact")(point.x, nothing, 1.0, point.g_multipliers)
    hessian = np.array(ca.triu2symm(upper))
    active = _at_bounds(point.g, nlp.g_lower, nlp.g_upper, point.g_multipliers)
    held = _at_bounds(point.x, nlp.lower, nlp.upper, point.x_multipliers)
    rank, open_ways = _null_space(jacobian[np.ix_(active, ~held)])
    eigenvalues, vectors = np.linalg.eigh(open_ways.T @ hessian[np.ix_(~held, ~held)] @ open_ways)
    steepest = np.zeros(len(point.x))
    if len(eigenvalues):
        steepest[~held] = open_ways @ vectors[:, 0]
    return Curvature(
        eigenvalues=eigenvalues,
        steepest=steepest,
        equalities=int((nlp.g_lower == nlp.g_upper).sum()),
        rows=int(active.sum()),
        rank=rank,
        at_bounds=int(held.sum()),
        least=_least(nlp, point, active, held),
    )


def _null_space(slopes: np.ndarray) -> tuple[int, np.ndarray]:
    """Return the rank of rows (m, n), and a basis (n, n - rank) of their null space."""
    sizes = np.linalg.norm(slopes, axis=1, keepdims=True)
    rows = slopes / np.maximum(sizes, np.finfo(float).tiny)
    columns, triangle = np.linalg.qr(rows.T, mode="complete")
    values = np.linalg.svd(triangle, compute_uv=False)
    rank = int((values > RANK * values.max(initial=0.0)).sum())
    if rank == len(rows):
        return rank, columns[:, rank:]
    return rank, columns @ np.linalg.svd(triangle)[0][:, rank:]


def _at_bounds(
    value: np.ndarray, lower: np.ndarray, upper: np.ndarray, multiplier: np.ndarray
) -> np.ndarray:
    distance = np.minimum(value - lower, upper - value)
    return (lower == upper) | (distance < np.maximum(np.abs(multiplier), CLOSE))


def _least(nlp: NLP, point: Iterate, active: np.ndarray, held: np.ndarray) -> float:
    """Return the smallest multiplier of active inequalities and bounds over the largest."""
    rows = np.abs(point.g_multipliers[active & (nlp.g_lower < nlp.g_upper)])
    bounds = np.abs(point.x_multipliers[held & (nlp.lower < nlp.upper)])
    sizes = np.append(rows, bounds)
    return float(sizes.min() / sizes.max()) if sizes.max(initial=0.0) > 0 else float(not len(sizes))
