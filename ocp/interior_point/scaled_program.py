"""Nonlinear program in the interior point's form: scaled, without fixed variables, with slacks.

    minimise f(v) subject to r(v) = 0 and lower <= v <= upper,
    v = (x, s), r = (c(x) - target, d(x) - s)

f and each row are divided so that their slopes are 100 at the start at most (Waechter & Biegler
2006, section 3.8), and bounds are relaxed by 1e-8 of their size (section 3.5).
"""

from dataclasses import dataclass

import casadi as ca
import numpy as np

from ocp.interior_point.kernels.sparse_products import accumulate
from ocp.interior_point.kernels.tall_matrices import Engine
from ocp.solvers.nlp import NLP, Evaluator, Exact, Iterate, fast_version, hessian_function

STEEP = 100.0  # slopes at the start at most
LEAST = 1e-8  # scale at least
RELAXED, MOST = 1e-8, 1e-4  # relaxation of a bound over its size, and at most
OUTWARD = np.array([[-1.0], [1.0]])  # signs of this for lower and upper bounds


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


class Patterns:
    """Places of an NLP's numbers in moving variables, kept rows and slacks.

    They depend on its functions and on which of its bounds are equal or infinite, not on numbers:
    programs that differ in these share them, in turn.

    `size` variables v, `rows` r, of which the first `equalities` are c.
    """

    def __init__(self, nlp: NLP, kind: str, engine: Engine) -> None:
        fixed, equal, bounded = bound_roles(nlp)
        self.engine = engine
        self.fixed, self.moving = np.flatnonzero(fixed), np.flatnonzero(~fixed)
        self.order = np.concatenate([np.flatnonzero(equal), np.flatnonzero(bounded & ~equal)])
        self.equalities, self.rows = int(equal.sum()), len(self.order)
        self.variables = len(self.moving)
        self.size = self.variables + self.rows - self.equalities
        self.hessian = lagrangian_hessian(nlp, kind)
        self._off_diagonal: tuple[object, np.ndarray] = None, np.zeros(0)
        self._set_first_derivatives(nlp)
        self._set_curvature()

    def _set_first_derivatives(self, nlp: Exact) -> None:
        self.g_places, self.jacobian_g_places = (
            np.array(each.sparsity_out(0).row(), dtype=int)
            for each in (fast_version(nlp.constraints), nlp.jacobian)
        )
        self.gradient_places = np.array(nlp.gradient.sparsity_out(1).row(), dtype=int)
        place, fixed_column = np.full(len(nlp.g_lower), -1), np.full(len(nlp.lower), -1)
        place[self.order], fixed_column[self.fixed] = (
            np.arange(self.rows),
            np.arange(len(self.fixed)),
        )
        r, c = triplets(nlp.jacobian.sparsity_out(1))
        column = self._moving_places(len(nlp.lower))
        kept = (place[r] >= 0) & (column[c] >= 0)
        self.kept = slice(None) if kept.all() else np.flatnonzero(kept)
        self.by_fixed = np.flatnonzero(fixed_column[c] >= 0)
        self.fixed_rows, self.fixed_columns = r[self.by_fixed], fixed_column[c[self.by_fixed]]
        self.jacobian = self.engine.sparse(
            rows=place[r[self.kept]],
            columns=column[c[self.kept]],
            shape=(self.rows, self.variables),
        )

    def _set_curvature(self) -> None:
        pattern = self.hessian.sparsity_out(0)
        r, c = triplets(pattern)
        column = self._moving_places(pattern.size1())
        self.hessian_kept = np.flatnonzero((column[r] >= 0) & (column[c] >= 0))
        r, c = column[r[self.hessian_kept]], column[c[self.hessian_kept]]
        self.curvature = self.engine.sparse(
            rows=np.minimum(r, c), columns=np.maximum(r, c), shape=(self.variables, self.variables)
        )
        self.diagonal = np.flatnonzero(r == c)

    def _moving_places(self, count: int) -> np.ndarray:
        """Return the places (count,) of variables among the moving ones, -1 of fixed ones."""
        column = np.full(count, -1)
        column[self.moving] = np.arange(self.variables)
        return column

    def hessian_times(self, entries: np.ndarray, step: np.ndarray) -> np.ndarray:
        """Return W step (size,) of the Lagrangian's Hessian with these entries."""
        x, curvature, out = step[: self.variables], self.curvature, np.zeros(self.size)
        if self._off_diagonal[0] is not entries:  # asked for again with the same array
            off_diagonal = entries.copy()
            off_diagonal[self.diagonal] = 0.0
            self._off_diagonal = entries, off_diagonal
        lower = curvature.transposed_times(self._off_diagonal[1], x)
        out[: self.variables] = curvature.times(entries, x) + lower
        return out


def triplets(pattern: ca.Sparsity) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows and the columns (nonzeros,) of a pattern."""
    counts = np.diff(np.array(pattern.colind(), dtype=int))
    return np.array(pattern.row(), dtype=int), np.repeat(np.arange(len(counts)), counts)


def bound_roles(nlp: NLP) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return masks of fixed variables, and of rows with equal bounds and with finite ones."""
    bounded = np.isfinite(nlp.g_lower) | np.isfinite(nlp.g_upper)
    return nlp.lower >= nlp.upper, nlp.g_lower == nlp.g_upper, bounded


class Program:
    """An NLP with scales, slacks and free variables, as the module says.

    `size` variables v, `rows` r, of which the first `equalities` are c; `lower`, `upper` (size,).
    """

    def __init__(self, nlp: NLP, start: np.ndarray, patterns: Patterns) -> None:
        self.nlp: Exact = nlp
        self.patterns = patterns
        self.size, self.variables = patterns.size, patterns.variables
        self.rows, self.equalities = patterns.rows, patterns.equalities
        self.jacobian, self.curvature = patterns.jacobian, patterns.curvature
        self.moving, self.order = patterns.moving, patterns.order
        self.whole = np.array(start, dtype=float)
        self.whole[patterns.fixed] = nlp.lower[patterns.fixed]
        self._cache = PointCache(None)
        # Products are asked for again with the same arrays; their identity tells
        self._last_product: tuple[object, object, np.ndarray] = None, None, np.zeros(0)
        self._set_functions()
        self._scale()
        self.set_bounds(nlp.lower, nlp.upper, nlp.g_lower, nlp.g_upper)

    def _set_functions(self) -> None:
        nlp = self.nlp
        self.f, self.g = map(Evaluator, map(fast_version, (nlp.objective, nlp.constraints)))
        self.f_gradient, self.g_jacobian = Evaluator(nlp.gradient), Evaluator(nlp.jacobian)
        self.hessian = Evaluator(self.patterns.hessian)
        self.evaluators = {
            "f": self.f,
            "g": self.g,
            "grad_f": self.f_gradient,
            "jac_g": self.g_jacobian,
            "hess_l": self.hessian,
        }

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
        self.bound_scales = np.ones(self.size)
        self.bound_scales[self.variables :] = self.scales[self.equalities :]

    def set_bounds(
        self, lower: np.ndarray, upper: np.ndarray, g_lower: np.ndarray, g_upper: np.ndarray
    ) -> None:
        """Take bounds of the NLP's variables and constraints, the same of them fixed or equal."""
        self._cache = PointCache(None)
        self.whole[self.patterns.fixed] = lower[self.patterns.fixed]
        equal, inner = self.order[: self.equalities], self.order[self.equalities :]
        self.target = g_lower[equal] * self.scales[: self.equalities]
        parts = lower[self.moving], g_lower[inner], upper[self.moving], g_upper[inner]
        sides = np.concatenate(parts).reshape(2, self.size)
        outward = np.minimum(MOST, RELAXED * np.maximum(1.0, np.abs(sides)))
        self.sides = self.bound_scales * (sides + OUTWARD * outward)
        self.lower, self.upper = self.sides

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
            cache.g[self.patterns.g_places] = self.g(self.point(v))[0]
        return cache.g

    def values(self, v: np.ndarray) -> np.ndarray:
        """Return r (rows,) at v (size,)."""
        r = self.all_rows(v)[self.order] * self.scales
        r[: self.equalities] -= self.target
        r[self.equalities :] -= v[self.variables :]
        return r

    def with_slacks_at_rows(self, v: np.ndarray) -> np.ndarray:
        """Return v (size,) with each slack at the value of its row."""
        moved = v.copy()
        moved[self.variables :] += self.values(v)[self.equalities :]
        return moved

    def derivatives(self, v: np.ndarray) -> Derivatives:
        """Return first derivatives at v (size,); they give f and r, which are cached too."""
        cache = self.cache(v)
        if cache.derivatives is None:
            x, g = self.point(v), np.zeros(len(self.nlp.g_lower))
            f, slope = self.f_gradient(x)
            rows, entries = self.g_jacobian(x)
            g[self.patterns.jacobian_g_places] = rows
            cache.f, cache.g = self.f_scale * float(f[0]), g
            gradient, whole = np.zeros(self.size), np.zeros(len(self.whole))
            whole[self.patterns.gradient_places] = slope
            gradient[: self.variables] = self.f_scale * whole[self.moving]
            cache.derivatives = Derivatives(
                gradient=gradient,
                entries=entries[self.patterns.kept] * self.entry_scales,
                fixed_gradient=whole[self.patterns.fixed],
                fixed_entries=entries[self.patterns.by_fixed],
            )
        return cache.derivatives

    def hessian_entries(self, v: np.ndarray, y: np.ndarray, weight: float = 1.0) -> np.ndarray:
        """Return the entries of the Lagrangian's Hessian, upper triangle.

        `y` (rows,) are multipliers, `weight` is that of the objective.
        """
        multipliers = np.zeros(len(self.nlp.g_lower))
        multipliers[self.order] = y * self.scales
        values = self.hessian(self.point(v), (), weight * self.f_scale, multipliers)
        return values[0][self.patterns.hessian_kept]

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
        if self.patterns.fixed.size:  # what stationarity leaves to their bounds
            derivatives = self.derivatives(v)
            pulls = derivatives.fixed_entries * multipliers[self.patterns.fixed_rows]
            pulled = accumulate(self.patterns.fixed_columns, pulls, len(self.patterns.fixed))
            x_multipliers[self.patterns.fixed] = -(derivatives.fixed_gradient + pulled)
        return Iterate(x=x, g=g, x_multipliers=x_multipliers, g_multipliers=multipliers)
