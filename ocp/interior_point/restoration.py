"""Feasibility restoration: the least violation near a point, by the same interior point.

    minimise rho sum(p + n) + zeta / 2 |scale (v - v_R)|^2
    subject to r(v) - p + n = 0, p, n >= 0, bounds of v

(Waechter & Biegler 2006, section 3.3.) Rows are elastic there, so the linear systems condense to
all variables, densely: it is slower than what it replaces, and rare.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ocp.interior_point.condensed import CORE
from ocp.interior_point.filter import Trial
from ocp.interior_point.interior_point import Search, Settings
from ocp.interior_point.iterate import Point, Sides
from ocp.interior_point.linear_system import Stated, with_least
from ocp.interior_point.program import Slopes

WEIGHT = 1e3  # rho
GAIN = 0.9  # violation beside the one it began with
RESET = 1e3  # multipliers of bounds above which all begin at 1 again


@dataclass(frozen=True, slots=True, kw_only=True)
class ElasticSlopes:
    """First derivatives of the elastic program: its `gradient`, and the rows' own `inner`."""

    gradient: np.ndarray
    inner: Slopes

    @property
    def entries(self) -> np.ndarray:
        """The entries of the rows' Jacobian."""
        return self.inner.entries


class Elastic:
    """A Stated program with elastic rows as a Stage of the interior point."""

    def __init__(self, stated: Stated, near: np.ndarray, zeta: float):
        self.stated, self.near = stated, near
        program = self.program = stated.program
        size, rows = program.size, program.rows
        self.inner, self.p = slice(0, size), slice(size, size + rows)
        self.n = slice(size + rows, size + 2 * rows)
        self.lower = np.concatenate([program.lower, np.zeros(2 * rows)])
        self.upper = np.concatenate([program.upper, np.full(2 * rows, np.inf)])
        self.sides = Sides(self.lower, self.upper)
        self.pulled = zeta * np.minimum(1.0, 1.0 / np.maximum(np.abs(near), 1e-300)) ** 2
        self._last: tuple[np.ndarray | None, np.ndarray | None] = None, None

    def bare(self, v: np.ndarray) -> np.ndarray:
        """Return the program's own variables (size,), the same array for the same v."""
        if self._last[0] is not v:
            self._last = v, v[self.inner].copy()
        assert self._last[1] is not None
        return self._last[1]

    def objective(self, v: np.ndarray) -> float:
        """Return the weighted violation, and how far v is from where it began."""
        away = v[self.inner] - self.near
        return float(WEIGHT * (v[self.p].sum() + v[self.n].sum()) + self.pulled @ away**2 / 2)

    def values(self, v: np.ndarray) -> np.ndarray:
        """Return the elastic rows."""
        return self.program.values(self.bare(v)) - v[self.p] + v[self.n]

    def slopes(self, v: np.ndarray) -> ElasticSlopes:
        """Return first derivatives."""
        inner = self.program.slopes(self.bare(v))
        gradient = np.full(len(v), WEIGHT)
        gradient[self.inner] = self.pulled * (v[self.inner] - self.near)
        return ElasticSlopes(gradient=gradient, inner=inner)

    def pull(self, slopes: ElasticSlopes, y: np.ndarray) -> np.ndarray:
        """Return J' y."""
        return np.concatenate([self.program.pull(slopes.inner, y), -y, y])

    def push(self, slopes: ElasticSlopes, step: np.ndarray) -> np.ndarray:
        """Return J step."""
        inner = self.program.push(slopes.inner, step[self.inner])
        return inner - step[self.p] + step[self.n]

    def settled(self, stationarity: float, complementarity: float) -> bool:
        """Tell that its scaled error says enough."""
        return True

    def take(self, v: np.ndarray, y: np.ndarray, slopes: ElasticSlopes) -> None:
        """Make the linear system of a point; raise LinAlgError for one too large."""
        program = self.program
        if program.variables > CORE:
            raise np.linalg.LinAlgError(f"more than {CORE} variables")
        self.bends = program.bends(self.bare(v), y, 0.0).copy()
        curve, matrix = program.curvature, program.jacobian
        self.W = np.zeros((program.variables, program.variables))
        self.W[curve.rows, curve.columns] = self.bends
        self.W[curve.columns, curve.rows] = self.bends
        self.J = np.zeros(matrix.shape)
        self.J[matrix.rows, matrix.columns] = slopes.inner.entries

    def bent(self, step: np.ndarray) -> np.ndarray:
        """Return the Lagrangian's Hessian times a step."""
        inner = step[self.inner]
        own = self.program.bent_by(self.bends, inner) + self.pulled * inner
        return np.concatenate([own, np.zeros(len(step) - len(own))])

    def factorise(self, diagonal: np.ndarray, shift: float) -> bool:
        """Add a diagonal; tell whether the system has the inertia of a minimum."""
        program = self.program
        n, m = program.variables, program.equalities
        self.diagonal = diagonal + shift
        soft = 1.0 / self.diagonal[self.p] + 1.0 / self.diagonal[self.n]
        self.on_slacks = self.diagonal[n : program.size] + self.pulled[n:]
        soft[m:] += 1.0 / self.on_slacks
        self.weights = 1.0 / soft
        scaled = np.sqrt(self.weights)[:, None] * self.J
        core = self.W + scaled.T @ scaled
        core[np.diag_indices(n)] += self.diagonal[:n] + self.pulled[:n]
        try:
            self.factor = self.stated.engine.factor(core)
        except np.linalg.LinAlgError:
            return False
        return bool(np.isfinite(self.factor.lower).all())

    def solve(self, a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return dv and dy of right-hand sides."""
        program = self.program
        n, m = program.variables, program.equalities
        on_p, on_n = self.diagonal[self.p], self.diagonal[self.n]
        right = b + a[self.p] / on_p - a[self.n] / on_n
        right[m:] += a[n : program.size] / self.on_slacks
        reduced = a[:n] + self.J.T @ (self.weights * right)
        x = self.factor.solve(reduced)
        y = self.weights * (self.J @ x - right)
        slacks = (a[n : program.size] + y[m:]) / self.on_slacks
        p, minus = (a[self.p] + y) / on_p, (a[self.n] - y) / on_n
        return np.concatenate([x, slacks, p, minus]), y


def restoration(
    stated: Stated, show: Callable[[Point], bool], left: Callable[[], Settings]
) -> Callable[[Search], Point | str]:
    """Return what restores feasibility for a Search on a Stated program.

    It shows the program's own points; `left` are the settings with what is left of the limits.
    """

    def restore(search: Search) -> Point | str:
        begun = search.last
        if begun.theta <= search.settings.tol:
            return "Search_Direction_Becomes_Too_Small"
        settings = left()
        mu = max(search.mu, float(np.max(np.abs(begun.values))))
        elastic = Elastic(stated, begun.v, float(np.sqrt(mu)))
        inner = Search(
            elastic,
            replace(settings, mu_init=mu),
            lambda point: show(_own(stated, elastic, point)) if inner.count else False,
            accept=lambda point: inner.count > 0 and _accepted(search, begun, elastic, point),
        )
        try:
            ending = inner.run(_first(elastic, begun, mu))
        except np.linalg.LinAlgError:
            return "Restoration_Failed"
        search.count += max(0, inner.count - 1)
        found = _own(stated, elastic, ending.point)
        search.last = found
        if ending.status == "Accepted":
            return with_least(stated, found)
        if ending.status == "Solve_Succeeded":
            if np.max(np.abs(found.values)) <= search.settings.tol:
                return with_least(stated, found)
            return "Infeasible_Problem_Detected"
        return ending.status

    return restore


def _first(elastic: Elastic, begun: Point, mu: float) -> Point:
    """Return where restoration begins: the best p and n of the point (equations 33 and 34)."""
    c = begun.values
    middle = (mu - WEIGHT * c) / (2 * WEIGHT)
    minus = middle + np.sqrt(middle**2 + mu * c / (2 * WEIGHT))
    minus = np.maximum(minus, 1e-14)
    plus = np.maximum(c + minus, 1e-14)
    v = np.concatenate([begun.v, plus, minus])
    nothing = np.zeros(2 * len(c))
    z_lower = np.concatenate([np.minimum(begun.z_lower, WEIGHT), mu / plus, mu / minus])
    z_upper = np.concatenate([np.minimum(begun.z_upper, WEIGHT), nothing])
    return Point.at(elastic, v, np.zeros(len(c)), z_lower, z_upper)


def _own(stated: Stated, elastic: Elastic, point: Point) -> Point:
    """Return the program's own point of one of the elastic program."""
    inner = elastic.inner
    z_lower, z_upper = point.z_lower[inner], point.z_upper[inner]
    if max(z_lower.max(initial=0.0), z_upper.max(initial=0.0)) > RESET:
        z_lower = np.isfinite(stated.lower) * 1.0
        z_upper = np.isfinite(stated.upper) * 1.0
    return Point.at(stated, elastic.bare(point.v), np.zeros_like(point.y), z_lower, z_upper)


def _accepted(search: Search, begun: Point, elastic: Elastic, point: Point) -> bool:
    """Tell whether a point of the elastic program ends the restoration."""
    stated, v = elastic.stated, elastic.bare(point.v)
    values = stated.values(v)
    theta = float(np.sum(np.abs(values)))
    if theta > GAIN * begun.theta:
        return False
    own = Point.at(stated, v, begun.y, begun.z_lower, begun.z_upper)
    return search.filter.admits(Trial(theta=theta, phi=own.barrier(search.mu)))
