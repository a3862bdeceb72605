"""A program as the interior point sees it: scaled, without fixed variables, rows with slacks.

    minimise f(v) subject to r(v) = 0 and lower <= v <= upper,
    v = (x, s), r = (c(x) - target, d(x) - s)

f and each row are divided so that their slopes are 100 at the start at most (Waechter & Biegler
2006, section 3.8), and bounds are relaxed by 1e-8 of their size (section 3.5).
"""

import time
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from ocp.interior_point.kernels.products import added
from ocp.interior_point.kernels.tall_matrices import Engine
from ocp.solvers.nlp import NLP, Iterate, fast_version

STEEP = 100.0  # slopes at the start at most
LEAST = 1e-8  # scale at least
RELAXED, MOST = 1e-8, 1e-4  # of a bound, of its size, and at most


class Evaluated:
    """A CasADi Function called on arrays, without copies of its own between."""

    def __init__(self, function: ca.Function):
        made: Any = function.buffer()
        self.buffer, self.trigger = made
        self.inputs: list[Any] = [np.zeros(function.nnz_in(k)) for k in range(function.n_in())]
        self.outputs: list[Any] = [np.zeros(function.nnz_out(k)) for k in range(function.n_out())]
        for number, each in enumerate(self.inputs):
            if each.size:
                self.buffer.set_arg(number, memoryview(each))
        for number, each in enumerate(self.outputs):
            if each.size:
                self.buffer.set_res(number, memoryview(each))
        self.calls, self.seconds = 0, 0.0

    def __call__(self, *values: Any) -> list[np.ndarray]:
        """Return the nonzeros of every output, which the next call overwrites."""
        for each, value in zip(self.inputs, values):
            each[:] = value
        begin = time.perf_counter()
        self.trigger()
        self.seconds += time.perf_counter() - begin
        if self.buffer.ret():
            for each in self.outputs:
                each[:] = np.nan
        self.calls += 1
        return self.outputs


@dataclass(frozen=True, slots=True, kw_only=True)
class Slopes:
    """First derivatives at a point: `gradient` (size,) of f, `entries` of the Jacobian of c and d
    by x; and by fixed variables, in the NLP's own units, `fixed_gradient` (fixed,) of f and
    `fixed_entries` of the Jacobian of g."""

    gradient: np.ndarray
    entries: np.ndarray
    fixed_gradient: np.ndarray
    fixed_entries: np.ndarray


class Seen:
    """What is known at a point v (size,): f, scaled, g of the NLP, first derivatives, as asked."""

    def __init__(self, v: np.ndarray | None):
        self.v = v
        self.f: float | None = None
        self.g: np.ndarray | None = None
        self.slopes: Slopes | None = None


def lagrangian(nlp: NLP, kind: str) -> ca.Function:
    """Return the Hessian of the Lagrangian, upper triangle, which CasADi finds where the program
    brings none."""
    if nlp.hessian is not None:
        return nlp.hessian(kind)
    x, p = ca.MX.sym("x", len(nlp.lower)), ca.MX.sym("p", 0)
    lam_f, lam_g = ca.MX.sym("lam_f"), ca.MX.sym("lam_g", len(nlp.g_lower))
    value = lam_f * nlp.objective(x) + ca.dot(lam_g, nlp.constraints(x))
    upper = ca.triu(ca.hessian(value, x)[0])
    return ca.Function("hess_lag", [x, p, lam_f, lam_g], [upper])


def relaxed(bounds: np.ndarray) -> np.ndarray:
    """Return by how much bounds are relaxed."""
    return np.minimum(MOST, RELAXED * np.maximum(1.0, np.abs(bounds)))


class Program:
    """An NLP with scales, slacks and free variables, as the module says.

    `size` variables v, `rows` r, of which the first `equalities` are c; `lower`, `upper` (size,).
    """

    def __init__(self, nlp: NLP, kind: str, start: np.ndarray, engine: Engine):
        self.nlp: Any = nlp
        fixed = nlp.lower >= nlp.upper
        self.fixed, self.moving = np.flatnonzero(fixed), np.flatnonzero(~fixed)
        self.whole = np.where(fixed, nlp.lower, start)
        equal = nlp.g_lower == nlp.g_upper
        bounded = np.isfinite(nlp.g_lower) | np.isfinite(nlp.g_upper)
        self.order = np.concatenate([np.flatnonzero(equal), np.flatnonzero(bounded & ~equal)])
        self.equalities, self.rows = int(equal.sum()), len(self.order)
        self.variables = len(self.moving)
        self.size = self.variables + self.rows - self.equalities
        self._seen = Seen(None)
        self._pulled: tuple[Any, Any, np.ndarray] = None, None, np.zeros(0)
        self._beside: tuple[Any, np.ndarray] = None, np.zeros(0)
        self._functions(kind, engine)
        self._scale()
        self._bounds()

    def _functions(self, kind: str, engine: Engine) -> None:
        nlp, n = self.nlp, len(self.nlp.lower)
        self.f, self.g = (
            Evaluated(fast_version(each)) for each in (nlp.objective, nlp.constraints)
        )
        self.of_f, self.of_g = Evaluated(nlp.gradient), Evaluated(nlp.jacobian)
        bend = lagrangian(nlp, kind)
        self.bend = Evaluated(bend)
        self.evaluated = {
            "f": self.f,
            "g": self.g,
            "grad_f": self.of_f,
            "jac_g": self.of_g,
            "hess_l": self.bend,
        }
        self.g_places, self.own_places = (
            np.array(each.sparsity_out(0).row(), dtype=int)
            for each in (nlp.constraints, nlp.jacobian)
        )
        self.slope_places = np.array(nlp.gradient.sparsity_out(1).row(), dtype=int)
        place, column = np.full(len(nlp.g_lower), -1), np.full(n, -1)
        place[self.order], column[self.moving] = np.arange(self.rows), np.arange(self.variables)
        r, c = (np.array(each, dtype=int) for each in nlp.jacobian.sparsity_out(1).get_triplet())
        kept = (place[r] >= 0) & (column[c] >= 0)
        self.kept = slice(None) if kept.all() else np.flatnonzero(kept)
        place_of_fixed = np.full(n, -1)
        place_of_fixed[self.fixed] = np.arange(len(self.fixed))
        self.by_fixed = np.flatnonzero(place_of_fixed[c] >= 0)
        self.fixed_rows, self.fixed_columns = r[self.by_fixed], place_of_fixed[c[self.by_fixed]]
        shape = self.rows, self.variables
        self.jacobian = engine.sparse(
            rows=place[r[self.kept]], columns=column[c[self.kept]], shape=shape
        )
        r, c = (np.array(each, dtype=int) for each in bend.sparsity_out(0).get_triplet())
        self.bent = np.flatnonzero((column[r] >= 0) & (column[c] >= 0))
        r, c = column[r[self.bent]], column[c[self.bent]]
        square = self.variables, self.variables
        self.curvature = engine.sparse(
            rows=np.minimum(r, c), columns=np.maximum(r, c), shape=square
        )
        self.on = np.flatnonzero(r == c)

    def _scale(self) -> None:
        self.f_scale, self.scales = 1.0, np.ones(self.rows)
        self.entry_scales = np.ones(len(self.jacobian.rows))
        slopes = self.slopes(
            np.append(self.whole[self.moving], np.zeros(self.size - self.variables))
        )
        steep = np.max(np.abs(slopes.gradient), initial=0.0)
        if np.isfinite(steep) and steep > STEEP:
            self.f_scale = max(LEAST, STEEP / steep)
        steepest = np.zeros(self.rows)
        np.maximum.at(steepest, self.jacobian.rows, np.abs(slopes.entries))
        large = np.isfinite(steepest) & (steepest > STEEP)
        self.scales[large] = np.maximum(LEAST, STEEP / steepest[large])
        self.entry_scales = self.scales[self.jacobian.rows]

    def _bounds(self) -> None:
        nlp, inner = self.nlp, self.order[self.equalities :]
        scales = self.scales[self.equalities :]
        self.target = nlp.g_lower[self.order[: self.equalities]] * self.scales[: self.equalities]
        scales = np.concatenate([np.ones(self.variables), scales])
        lower = np.concatenate([nlp.lower[self.moving], nlp.g_lower[inner]])
        upper = np.concatenate([nlp.upper[self.moving], nlp.g_upper[inner]])
        self.lower = scales * (lower - relaxed(lower))
        self.upper = scales * (upper + relaxed(upper))

    def point(self, v: np.ndarray) -> np.ndarray:
        """Return all variables of the NLP at v (size,)."""
        x = self.whole.copy()
        x[self.moving] = v[: self.variables]
        return x

    def seen(self, v: np.ndarray) -> "Seen":
        """Return what is known at v (size,), the same array."""
        if self._seen.v is not v:
            self._seen = Seen(v)
        return self._seen

    def objective(self, v: np.ndarray) -> float:
        """Return f, scaled, at v (size,)."""
        seen = self.seen(v)
        if seen.f is None:
            seen.f = self.f_scale * float(self.f(self.point(v))[0][0])
        return seen.f

    def all_rows(self, v: np.ndarray) -> np.ndarray:
        """Return g of the NLP, all rows in its own units, at v (size,)."""
        seen = self.seen(v)
        if seen.g is None:
            seen.g = np.zeros(len(self.nlp.g_lower))
            seen.g[self.g_places] = self.g(self.point(v))[0]
        return seen.g

    def values(self, v: np.ndarray) -> np.ndarray:
        """Return r (rows,) at v (size,)."""
        r = self.all_rows(v)[self.order] * self.scales
        r[: self.equalities] -= self.target
        r[self.equalities :] -= v[self.variables :]
        return r

    def slopes(self, v: np.ndarray) -> Slopes:
        """Return first derivatives at v (size,); f and r are known there from then on."""
        seen = self.seen(v)
        if seen.slopes is None:
            x, g = self.point(v), np.zeros(len(self.nlp.g_lower))
            f, slope = self.of_f(x)
            rows, entries = self.of_g(x)
            g[self.own_places] = rows
            seen.f, seen.g = self.f_scale * float(f[0]), g
            gradient, whole = np.zeros(self.size), self._whole(slope)
            gradient[: self.variables] = self.f_scale * whole[self.moving]
            seen.slopes = Slopes(
                gradient=gradient,
                entries=entries[self.kept] * self.entry_scales,
                fixed_gradient=whole[self.fixed],
                fixed_entries=entries[self.by_fixed],
            )
        return seen.slopes

    def _whole(self, slope: np.ndarray) -> np.ndarray:
        """Return the gradient of f by all variables of its nonzeros."""
        whole = np.zeros(len(self.whole))
        whole[self.slope_places] = slope
        return whole

    def bends(self, v: np.ndarray, y: np.ndarray, weight: float = 1.0) -> np.ndarray:
        """Return the entries of the Lagrangian's Hessian, upper triangle, with multipliers y
        (rows,) and a weight of the objective."""
        pull = np.zeros(len(self.nlp.g_lower))
        pull[self.order] = y * self.scales
        return self.bend(self.point(v), (), weight * self.f_scale, pull)[0][self.bent]

    def pull(self, slopes: Slopes, y: np.ndarray) -> np.ndarray:
        """Return J' y (size,) of multipliers y (rows,), which is kept for the same once more."""
        known, of_y, pulled = self._pulled
        if known is not slopes or of_y is not y:
            along = self.jacobian.transposed(slopes.entries, y)
            pulled = np.concatenate([along, -y[self.equalities :]])
            self._pulled = slopes, y, pulled
        return pulled

    def push(self, slopes: Slopes, step: np.ndarray) -> np.ndarray:
        """Return J step (rows,) of a step (size,)."""
        out = self.jacobian.times(slopes.entries, step[: self.variables])
        out[self.equalities :] -= step[self.variables :]
        return out

    def bent_by(self, bends: np.ndarray, step: np.ndarray) -> np.ndarray:
        """Return W step (size,) of the Lagrangian's Hessian with entries `bends`."""
        x, curve, out = step[: self.variables], self.curvature, np.zeros(self.size)
        if self._beside[0] is not bends:
            beside = bends.copy()
            beside[self.on] = 0.0
            self._beside = bends, beside
        out[: self.variables] = curve.times(bends, x) + curve.transposed(self._beside[1], x)
        return out

    def iterate(self, v: np.ndarray, y: np.ndarray, z: np.ndarray) -> Iterate:
        """Return the NLP's Iterate, in its own units, of v, multipliers y of rows and z (size,) of
        bounds."""
        multipliers, g = np.zeros(len(self.nlp.g_lower)), self.all_rows(v)
        multipliers[self.order] = y * self.scales / self.f_scale
        x, of_bounds = self.point(v), np.zeros(len(self.whole))
        of_bounds[self.moving] = z[: self.variables] / self.f_scale
        if self.fixed.size:
            slopes = self.slopes(v)
            pulls = slopes.fixed_entries * multipliers[self.fixed_rows]
            pulled = added(self.fixed_columns, pulls, len(self.fixed))
            of_bounds[self.fixed] = -(slopes.fixed_gradient + pulled)
        return Iterate(x=x, g=g, x_multipliers=of_bounds, g_multipliers=multipliers)
