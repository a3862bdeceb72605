"""Nonlinear program in the interior point's form: scaled, without fixed variables, with slacks.

    minimise f(v) subject to r(v) = 0 and lower <= v <= upper,
    v = (x, s), r = (c(x) - target, d(x) - s)

f and each row are divided so that their slopes are 100 at the start at most (Waechter & Biegler
2006, section 3.8), and bounds are relaxed by 1e-8 of their size (section 3.5).
"""

from dataclasses import dataclass

import casadi as ca
import numpy as np

from ocp.interior_point.kernels.products import accumulate
from ocp.interior_point.kernels.tall_matrices import Engine
from ocp.solvers.nlp import NLP, Evaluator, Exact, Iterate, fast_version, hessian_function

STEEP = 100.0  # slopes at the start at most
LEAST = 1e-8  # scale at least
RELAXED, MOST = 1e-8, 1e-4  # relaxation of a bound over its size, and at most


@dataclass(frozen=True, slots=True, kw_only=True)
class Derivatives:
    """First derivatives at a point: `gradient` (size,) of f, `entries` of the Jacobian of c and d
    by x; and by fixed variables, in the NLP's own units, `fixed_gradient` (fixed,) of f and
    `fixed_entries` of the Jacobian of g."""

    gradient: np.ndarray
    entries: np.ndarray
    fixed_gradient: np.ndarray
    fixed_entries: np.ndarray


class PointCache:
    """Values at the last point v (size,): f, scaled, g of the NLP, first derivatives."""

    def __init__(self, v: np.ndarray | None) -> None:
        self.v = v
        self.f: float | None = None
        self.g: np.ndarray | None = None
        self.derivatives: Derivatives | None = None


def lagrangian_hessian(nlp: NLP, kind: str) -> ca.Function:
    """Return the Hessian of the Lagrangian, upper triangle: the NLP's own, or CasADi's."""
    if nlp.hessian is not None:
        return nlp.hessian(kind)

    def upper(x: ca.MX, p: ca.MX, lam_f: ca.MX, lam_g: ca.MX) -> ca.MX:
        value = lam_f * nlp.objective(x) + ca.dot(lam_g, nlp.constraints(x))
        return ca.triu(ca.hessian(value, x)[0])

    return hessian_function(len(nlp.lower), len(nlp.g_lower), upper)


class Program:
    """An NLP with scales, slacks and free variables, as the module says.

    `size` variables v, `rows` r, of which the first `equalities` are c; `lower`, `upper` (size,).
    """

    def __init__(self, nlp: NLP, kind: str, start: np.ndarray, engine: Engine) -> None:
        self.nlp: Exact = nlp
        fixed = nlp.lower >= nlp.upper
        self.fixed, self.moving = np.flatnonzero(fixed), np.flatnonzero(~fixed)
        self.whole = np.where(fixed, nlp.lower, start)
        equal = nlp.g_lower == nlp.g_upper
        bounded = np.isfinite(nlp.g_lower) | np.isfinite(nlp.g_upper)
        self.order = np.concatenate([np.flatnonzero(equal), np.flatnonzero(bounded & ~equal)])
        self.equalities, self.rows = int(equal.sum()), len(self.order)
        self.variables = len(self.moving)
        self.size = self.variables + self.rows - self.equalities
        self._cache = PointCache(None)
        # Products are asked for again with the same arrays; their identity tells
        self._last_product: tuple[object, object, np.ndarray] = None, None, np.zeros(0)
        self._off_diagonal: tuple[object, np.ndarray] = None, np.zeros(0)
        self._set_functions(kind)
        self._set_patterns(engine)
        self._scale()
        self._set_bounds()

    def _set_functions(self, kind: str) -> None:
        nlp = self.nlp
        self.f, self.g = map(Evaluator, map(fast_version, (nlp.objective, nlp.constraints)))
        self.f_gradient, self.g_jacobian = Evaluator(nlp.gradient), Evaluator(nlp.jacobian)
        self.hessian = Evaluator(lagrangian_hessian(nlp, kind))
        self.evaluators = {
            "f": self.f,
            "g": self.g,
            "grad_f": self.f_gradient,
            "jac_g": self.g_jacobian,
            "hess_l": self.hessian,
        }
        self.g_places, self.jacobian_g_places = (
            np.array(each.sparsity_out(0).row(), dtype=int)
            for each in (nlp.constraints, nlp.jacobian)
        )
        self.gradient_places = np.array(nlp.gradient.sparsity_out(1).row(), dtype=int)

    def _set_patterns(self, engine: Engine) -> None:
        """Set the patterns of Jacobian and Hessian in moving variables and kept rows."""
        nlp, n = self.nlp, len(self.nlp.lower)
        place, column, fixed_column = (np.full(count, -1) for count in (len(nlp.g_lower), n, n))
        place[self.order], column[self.moving] = np.arange(self.rows), np.arange(self.variables)
        fixed_column[self.fixed] = np.arange(len(self.fixed))
        r, c = (np.array(each, dtype=int) for each in nlp.jacobian.sparsity_out(1).get_triplet())
        kept = (place[r] >= 0) & (column[c] >= 0)
        self.kept = slice(None) if kept.all() else np.flatnonzero(kept)
        self.by_fixed = np.flatnonzero(fixed_column[c] >= 0)
        self.fixed_rows, self.fixed_columns = r[self.by_fixed], fixed_column[c[self.by_fixed]]
        shape = self.rows, self.variables
        self.jacobian = engine.sparse(
            rows=place[r[self.kept]], columns=column[c[self.kept]], shape=shape
        )
        pattern = self.hessian.function.sparsity_out(0)
        r, c = (np.array(each, dtype=int) for each in pattern.get_triplet())
        self.hessian_kept = np.flatnonzero((column[r] >= 0) & (column[c] >= 0))
        r, c = column[r[self.hessian_kept]], column[c[self.hessian_kept]]
        square = self.variables, self.variables
        self.curvature = engine.sparse(
            rows=np.minimum(r, c), columns=np.maximum(r, c), shape=square
        )
        self.diagonal = np.flatnonzero(r == c)

    def _scale(self) -> None:
        """Divide f and rows by their slopes at the start where these are steep."""
        self.f_scale, self.scales = 1.0, np.ones(self.rows)
        self.entry_scales = np.ones(len(self.jacobian.rows))
        start = np.append(self.whole[self.moving], np.zeros(self.size - self.variables))
        derivatives = self.derivatives(start)
        steep = np.max(np.abs(derivatives.gradient), initial=0.0)
        if np.isfinite(steep) and steep > STEEP:
            self.f_scale = max(LEAST, STEEP / steep)
        steepest = np.zeros(self.rows)
        np.maximum.at(steepest, self.jacobian.rows, np.abs(derivatives.entries))
        large = np.isfinite(steepest) & (steepest > STEEP)
        self.scales[large] = np.maximum(LEAST, STEEP / steepest[large])
        self.entry_scales = self.scales[self.jacobian.rows]

    def _set_bounds(self) -> None:
        nlp, inner = self.nlp, self.order[self.equalities :]
        scales = self.scales[self.equalities :]
        self.target = nlp.g_lower[self.order[: self.equalities]] * self.scales[: self.equalities]
        scales = np.concatenate([np.ones(self.variables), scales])
        lower = np.concatenate([nlp.lower[self.moving], nlp.g_lower[inner]])
        upper = np.concatenate([nlp.upper[self.moving], nlp.g_upper[inner]])
        out = (np.minimum(MOST, RELAXED * np.maximum(1.0, np.abs(each))) for each in (lower, upper))
        out_lower, out_upper = out
        self.lower, self.upper = scales * (lower - out_lower), scales * (upper + out_upper)

    def point(self, v: np.ndarray) -> np.ndarray:
        """Return all variables of the NLP at v (size,)."""
        x = self.whole.copy()
        x[self.moving] = v[: self.variables]
        return x

    def cache(self, v: np.ndarray) -> PointCache:
        """Return the values known at v (size,), by the identity of the array."""
        if self._cache.v is not v:
            self._cache = PointCache(v)
        return self._cache

    def objective(self, v: np.ndarray) -> float:
        """Return f, scaled, at v (size,)."""
        cache = self.cache(v)
        if cache.f is None:
            cache.f = self.f_scale * float(self.f(self.point(v))[0][0])
        return cache.f

    def all_rows(self, v: np.ndarray) -> np.ndarray:
        """Return g of the NLP, all rows in its own units, at v (size,)."""
        cache = self.cache(v)
        if cache.g is None:
            cache.g = np.zeros(len(self.nlp.g_lower))
            cache.g[self.g_places] = self.g(self.point(v))[0]
        return cache.g

    def values(self, v: np.ndarray) -> np.ndarray:
        """Return r (rows,) at v (size,)."""
        r = self.all_rows(v)[self.order] * self.scales
        r[: self.equalities] -= self.target
        r[self.equalities :] -= v[self.variables :]
        return r

    def derivatives(self, v: np.ndarray) -> Derivatives:
        """Return first derivatives at v (size,); they give f and r, which are cached too."""
        cache = self.cache(v)
        if cache.derivatives is None:
            x, g = self.point(v), np.zeros(len(self.nlp.g_lower))
            f, slope = self.f_gradient(x)
            rows, entries = self.g_jacobian(x)
            g[self.jacobian_g_places] = rows
            cache.f, cache.g = self.f_scale * float(f[0]), g
            gradient, whole = np.zeros(self.size), np.zeros(len(self.whole))
            whole[self.gradient_places] = slope
            gradient[: self.variables] = self.f_scale * whole[self.moving]
            cache.derivatives = Derivatives(
                gradient=gradient,
                entries=entries[self.kept] * self.entry_scales,
                fixed_gradient=whole[self.fixed],
                fixed_entries=entries[self.by_fixed],
            )
        return cache.derivatives

    def hessian_entries(self, v: np.ndarray, y: np.ndarray, weight: float = 1.0) -> np.ndarray:
        """Return the entries of the Lagrangian's Hessian, upper triangle.

        `y` (rows,) are multipliers, `weight` is that of the objective.
        """
        multipliers = np.zeros(len(self.nlp.g_lower))
        multipliers[self.order] = y * self.scales
        values = self.hessian(self.point(v), (), weight * self.f_scale, multipliers)
        return values[0][self.hessian_kept]

    def jacobian_t_times(self, derivatives: Derivatives, y: np.ndarray) -> np.ndarray:
        """Return J' y (size,) of multipliers y (rows,)."""
        known, of_y, product = self._last_product
        if known is not derivatives or of_y is not y:
            in_x = self.jacobian.transposed_times(derivatives.entries, y)
            product = np.concatenate([in_x, -y[self.equalities :]])
            self._last_product = derivatives, y, product
        return product

    def jacobian_times(self, derivatives: Derivatives, step: np.ndarray) -> np.ndarray:
        """Return J step (rows,) of a step (size,)."""
        out = self.jacobian.times(derivatives.entries, step[: self.variables])
        out[self.equalities :] -= step[self.variables :]
        return out

    def hessian_times(self, entries: np.ndarray, step: np.ndarray) -> np.ndarray:
        """Return W step (size,) of the Lagrangian's Hessian with these entries."""
        x, curvature, out = step[: self.variables], self.curvature, np.zeros(self.size)
        if self._off_diagonal[0] is not entries:
            off_diagonal = entries.copy()
            off_diagonal[self.diagonal] = 0.0
            self._off_diagonal = entries, off_diagonal
        lower = curvature.transposed_times(self._off_diagonal[1], x)
        out[: self.variables] = curvature.times(entries, x) + lower
        return out

    def iterate(self, v: np.ndarray, y: np.ndarray, z: np.ndarray) -> Iterate:
        """Return the NLP's Iterate, in its own units.

        Args:
            v: variables (size,).
            y: multipliers of rows (rows,).
            z: multipliers of bounds (size,).
        """
        multipliers, g = np.zeros(len(self.nlp.g_lower)), self.all_rows(v)
        multipliers[self.order] = y * self.scales / self.f_scale
        x, x_multipliers = self.point(v), np.zeros(len(self.whole))
        x_multipliers[self.moving] = z[: self.variables] / self.f_scale
        if self.fixed.size:  # what stationarity leaves to their bounds
            derivatives = self.derivatives(v)
            pulls = derivatives.fixed_entries * multipliers[self.fixed_rows]
            pulled = accumulate(self.fixed_columns, pulls, len(self.fixed))
            x_multipliers[self.fixed] = -(derivatives.fixed_gradient + pulled)
        return Iterate(x=x, g=g, x_multipliers=x_multipliers, g_multipliers=multipliers)
