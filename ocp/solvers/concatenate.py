"""Concatenation of nonlinear programs that share variables.

    minimise sum of w_k f_k(x_k) subject to g_k(x_k) within its bounds, x_k = x[columns of k]

An objective may be bounded by a variable instead of being summed, by one more row after those of
its member: f_k(x_k) - x[level] <= 0. Shared variables obey the bounds of all. Derivatives are those
of the parts, their nonzeros put in place by one constant sparse matrix.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from ocp.solvers.nlp import (
    NLP,
    Option,
    by_versions,
    gradient_function,
    hessian_function,
    jacobian_function,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """An NLP, and the places `columns` of its variables in x of all, each once.

    Its objective counts by its `weight`, or bounds the variable at the place `level` from below,
    to which it is `equal` if so asked.
    """

    nlp: NLP
    columns: np.ndarray
    weight: float = 1.0
    level: int | None = None
    equal: bool = False

    @property
    def rows(self) -> int:
        """Number of rows, that of its objective among them."""
        return len(self.nlp.g_lower) + (self.level is not None)

    def own(self, x: ca.MX) -> ca.MX:
        """Return the variables of this member."""
        first, last = int(self.columns[0]), int(self.columns[-1])
        if np.array_equal(self.columns, np.arange(first, last + 1)):
            return x[first : last + 1]  # a slice is cheaper than a list of places
        return x[self.columns.tolist()]


def concatenate(members: Sequence[Member], size: int) -> NLP:
    """Return the NLP of `size` variables that members form, their rows in order.

    If any member leaves its derivatives to the solver, the result does too.
    """
    x, p = ca.MX.sym("x", size), ca.MX.sym("p", 0)
    functions: dict[str, Option] = {
        "objective": by_versions(
            [each.nlp.objective for each in members],
            lambda *versions: _objective(members, versions, x),
        ),
        "constraints": by_versions(
            [each for member in members for each in (member.nlp.objective, member.nlp.constraints)],
            lambda *versions: _constraints(members, versions, x),
        ),
    }
    bounds: dict[str, Option] = concatenate_bounds(members, size)
    if any(each.nlp.gradient is None or each.nlp.hessian is None for each in members):
        return NLP(**bounds, **functions)
    return NLP(
        gradient=_gradient(members, size, x, p),
        jacobian=_jacobian(members, size, x, p),
        hessian=cache(lambda kind: _hessian(members, size, kind)),
        **bounds,
        **functions,
    )


def _objective(
    members: Sequence[Member], objectives: Sequence[ca.Function], x: ca.MX
) -> ca.Function:
    """Return the objective of all members, from a version of the objective of each."""
    f = ca.MX(0)
    for each, objective in zip(members, objectives):
        if each.level is None:
            f += _objective_share(each, objective(each.own(x)))
    return ca.Function("f", [x], [f], ["x"], ["f"])


def _constraints(
    members: Sequence[Member], versions: Sequence[ca.Function], x: ca.MX
) -> ca.Function:
    """Return the constraints of all members, from versions of the objective and the constraints of
    each, one after the other."""
    rows = []
    for each, objective, constraints in zip(members, versions[::2], versions[1::2]):
        rows.append(constraints(each.own(x)))
        if each.level is not None:
            rows.append(objective(each.own(x)) - x[each.level])
    return ca.Function("g", [x], [ca.vertcat(*rows)], ["x"], ["g"])


def concatenate_bounds(members: Sequence[Member], size: int) -> dict[str, np.ndarray]:
    """Return {lower, upper, g_lower, g_upper} of the NLP of `size` variables that members form."""
    lower, upper = np.full(size, -np.inf), np.full(size, np.inf)
    for each in members:
        lower[each.columns] = np.maximum(lower[each.columns], each.nlp.lower)
        upper[each.columns] = np.minimum(upper[each.columns], each.nlp.upper)
    lows: list[ArrayLike] = []
    highs: list[ArrayLike] = []
    for each in members:
        lows.append(each.nlp.g_lower)
        highs.append(each.nlp.g_upper)
        if each.level is not None:
            lows.append([0.0 if each.equal else -np.inf])
            highs.append([0.0])
    return {
        "lower": lower,
        "upper": upper,
        "g_lower": np.concatenate(lows),
        "g_upper": np.concatenate(highs),
    }


def _objective_share(member: Member, value: ca.MX) -> ca.MX:
    """Return the share of a member in the objective; of weight 1 without a product."""
    return value if member.weight == 1.0 else member.weight * value


def _gradient(members: Sequence[Member], size: int, x: ca.MX, p: ca.MX) -> ca.Function:
    f, parts = ca.MX(0), []
    rows: list[np.ndarray] = []
    for each in members:
        assert each.nlp.gradient is not None
        if each.level is not None:
            continue
        value, slope = each.nlp.gradient(each.own(x), p)
        f, rows = f + _objective_share(each, value), [*rows, each.columns]
        parts.append(_objective_share(each, ca.densify(slope)))
    places = [np.zeros(len(row), dtype=int) for row in rows]
    slope = ca.densify(_scatter(rows, places, parts, (size, 1)))
    return gradient_function(x, p, f, slope)


def _jacobian(members: Sequence[Member], size: int, x: ca.MX, p: ca.MX) -> ca.Function:
    values, parts, rows, columns, offset = [], [], [], [], 0
    for each in members:
        assert each.nlp.jacobian is not None
        value, slopes = each.nlp.jacobian(each.own(x), p)
        row, column = (np.array(index, dtype=int) for index in slopes.sparsity().get_triplet())
        rows.append(row + offset)
        columns.append(each.columns[column])
        values.append(value)
        parts.append(slopes.nz[:])
        offset += len(each.nlp.g_lower)
        if each.level is not None:
            assert each.nlp.gradient is not None
            value, slope = each.nlp.gradient(each.own(x), p)
            rows.append(np.full(len(each.columns) + 1, offset))
            columns.append(np.append(each.columns, each.level))
            values.append(value - x[each.level])
            parts.append(ca.vertcat(ca.densify(slope), -1.0))
            offset += 1
    slopes = _scatter(rows, columns, parts, (offset, size))
    return jacobian_function(x, p, ca.vertcat(*values), slopes)


def _hessian(members: Sequence[Member], size: int, kind: str) -> ca.Function:
    counts = [each.rows for each in members]
    offsets = np.cumsum([0, *counts]).tolist()

    def upper(x: ca.MX, p: ca.MX, lam_f: ca.MX, lam_g: ca.MX) -> ca.MX:
        parts, rows, columns = [], [], []
        for each, first, last in zip(members, offsets, offsets[1:]):
            assert each.nlp.hessian is not None
            bounded = each.level is not None
            counted = lam_g[last - 1] if bounded else _objective_share(each, lam_f)
            own = each.nlp.hessian(kind)(each.own(x), p, counted, lam_g[first : last - bounded])
            row, column = (each.columns[index] for index in own.sparsity().get_triplet())
            rows.append(np.minimum(row, column))  # members may have variables in another order
            columns.append(np.maximum(row, column))
            parts.append(own.nz[:])
        return _scatter(rows, columns, parts, (size, size))

    return hessian_function(size, sum(counts), upper)


def _scatter(
    rows: Sequence[np.ndarray],
    columns: Sequence[np.ndarray],
    parts: Sequence[ca.MX],
    shape: tuple[int, int],
) -> ca.MX:
    """Return the sparse matrix of stacked nonzeros at rows and columns, equal places summed."""
    row, column = np.concatenate(rows).astype(int), np.concatenate(columns).astype(int)
    places, index = np.unique(column * shape[0] + row, return_inverse=True)
    pattern = ca.Sparsity.triplet(
        *shape, (places % shape[0]).tolist(), (places // shape[0]).tolist()
    )
    gather = ca.DM.triplet(
        index.tolist(), np.arange(len(index)).tolist(), np.ones(len(index)), len(places), len(index)
    )
    return ca.MX(pattern, gather @ ca.vertcat(*(ca.vec(part) for part in parts)))
