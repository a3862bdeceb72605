"""Nonlinear programs put together to one: each has some of the variables, and rows of its own.

    minimise sum of f_k(x_k) subject to g_k(x_k) within its bounds, x_k = x[columns of k]

Variables that several have in common are bounded by all of them. Derivatives are those of the
parts, their nonzeros put in place by one constant sparse matrix.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import casadi as ca
import numpy as np

from ocp.solvers.nlp import FAST_VERSIONS, NLP, fast_version


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """An NLP, and where its variables stand in x of all (`columns`, each once)."""

    nlp: NLP
    columns: np.ndarray

    def own(self, x):
        """Return the variables of this one, of x of all as an expression."""
        first, last = int(self.columns[0]), int(self.columns[-1])
        if np.array_equal(self.columns, np.arange(first, last + 1)):
            return x[first : last + 1]
        return x[self.columns.tolist()]


def concatenate(members: Sequence[Member], size: int) -> NLP:
    """Return the NLP of `size` variables that its members make, their rows in order.

    Where any of them leaves derivatives to the solver, all do.
    """
    x, p = ca.MX.sym("x", size), ca.MX.sym("p", 0)
    plain, quick = (_values(members, x, chosen) for chosen in (lambda own: own, fast_version))
    functions: dict[str, Any] = {"objective": plain[0], "constraints": plain[1]}
    if any(fast_version(each.nlp.constraints) is not each.nlp.constraints for each in members):
        FAST_VERSIONS.update(zip(plain, quick))
    bounds: dict[str, Any] = concatenate_bounds(members, size)
    if any(each.nlp.gradient is None or each.nlp.hessian is None for each in members):
        return NLP(**bounds, **functions)
    return NLP(
        gradient=_gradient(members, size, x, p),
        jacobian=_jacobian(members, size, x, p),
        hessian=_hessians(members, size),
        **bounds,
        **functions,
    )


def _values(members, x, chosen):
    """Return objective and constraints of all members, of theirs those that are `chosen`."""
    f = ca.MX(0)
    for each in members:
        f += chosen(each.nlp.objective)(each.own(x))
    g = ca.vertcat(*(chosen(each.nlp.constraints)(each.own(x)) for each in members))
    return ca.Function("f", [x], [f], ["x"], ["f"]), ca.Function("g", [x], [g], ["x"], ["g"])


def concatenate_bounds(members: Sequence[Member], size: int) -> dict[str, np.ndarray]:
    """Return {lower, upper, g_lower, g_upper} of the NLP that members make."""
    lower, upper = np.full(size, -np.inf), np.full(size, np.inf)
    for each in members:
        lower[each.columns] = np.maximum(lower[each.columns], each.nlp.lower)
        upper[each.columns] = np.minimum(upper[each.columns], each.nlp.upper)
    return {
        "lower": lower,
        "upper": upper,
        "g_lower": np.concatenate([each.nlp.g_lower for each in members]),
        "g_upper": np.concatenate([each.nlp.g_upper for each in members]),
    }


def _gradient(members, size, x, p):
    f, parts, rows = ca.MX(0), [], []
    for each in members:
        value, slope = each.nlp.gradient(each.own(x), p)
        f, rows = f + value, [*rows, each.columns]
        parts.append(ca.densify(slope))
    places = [np.zeros(len(row), dtype=int) for row in rows]
    slope = ca.densify(_gathered(rows, places, parts, (size, 1)))
    return ca.Function("grad_f", [x, p], [f, slope], ["x", "p"], ["f", "grad_f_x"])


def _jacobian(members, size, x, p):
    values, parts, rows, columns, offset = [], [], [], [], 0
    for each in members:
        value, slopes = each.nlp.jacobian(each.own(x), p)
        row, column = (np.array(index, dtype=int) for index in slopes.sparsity().get_triplet())
        rows.append(row + offset)
        columns.append(each.columns[column])
        values.append(value)
        parts.append(slopes.nz[:])
        offset += len(each.nlp.g_lower)
    slopes = _gathered(rows, columns, parts, (offset, size))
    outputs = [ca.vertcat(*values), slopes]
    return ca.Function("jac_g", [x, p], outputs, ["x", "p"], ["g", "jac_g_x"])


def _hessians(members: Sequence[Member], size: int) -> Callable[[str], ca.Function]:
    """Return hessian(kind), the upper triangle of the Lagrangian's, each kind built once."""

    @cache
    def hessian(kind: str) -> ca.Function:
        x, p = ca.MX.sym("x", size), ca.MX.sym("p", 0)
        counts = [len(each.nlp.g_lower) for each in members]
        lam_f, lam_g = ca.MX.sym("lam_f"), ca.MX.sym("lam_g", sum(counts))
        offsets = np.cumsum([0, *counts]).tolist()
        parts, rows, columns = [], [], []
        for each, first, last in zip(members, offsets, offsets[1:]):
            assert each.nlp.hessian is not None
            bend = each.nlp.hessian(kind)(each.own(x), p, lam_f, lam_g[first:last])
            row, column = (each.columns[index] for index in bend.sparsity().get_triplet())
            rows.append(np.minimum(row, column))
            columns.append(np.maximum(row, column))
            parts.append(bend.nz[:])
        bend = _gathered(rows, columns, parts, (size, size))
        inputs = ["x", "p", "lam_f", "lam_g"]
        return ca.Function(
            "hess_lag", [x, p, lam_f, lam_g], [bend], inputs, ["triu_hess_gamma_x_x"]
        )

    return hessian


def _gathered(rows, columns, parts, shape):
    """Return the sparse matrix of stacked nonzeros at rows and columns, those of one place
    summed."""
    row, column = np.concatenate(rows).astype(int), np.concatenate(columns).astype(int)
    places, index = np.unique(column * shape[0] + row, return_inverse=True)
    pattern = ca.Sparsity.triplet(
        *shape, (places % shape[0]).tolist(), (places // shape[0]).tolist()
    )
    gather = ca.DM.triplet(
        index.tolist(), np.arange(len(index)).tolist(), np.ones(len(index)), len(places), len(index)
    )
    return ca.MX(pattern, gather @ ca.vertcat(*(ca.vec(part) for part in parts)))
