"""Feasibility restoration: least violation near a point, by the same interior point.

    minimise rho sum(p + n) + zeta / 2 |scale (v - v_R)|^2
    subject to r(v) - p + n = 0, p, n >= 0, bounds of v

(Waechter & Biegler 2006, section 3.3.) Rows are elastic: p and n condense to a softness of rows.
The linear systems are sparse, or, for small programs and without a compiler, a dense matrix of all
variables.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ocp.interior_point.filter import Trial
from ocp.interior_point.interior_point import GAIN, Search, Settings
from ocp.interior_point.iterate import Bounds, Point
from ocp.interior_point.scaled_program import Derivatives, Program
from ocp.interior_point.sparse_systems import Augmented
from ocp.interior_point.system_and_initial_point import ProgramStage, with_least_squares_multipliers
from ocp.solvers import fronts

WEIGHT = 1e3  # rho
SMALL, DENSE = 200, 2500  # variables of dense systems, and at most without a compiler
RESET = 1e3  # multipliers of bounds above which all begin at 1 again


@dataclass(frozen=True, slots=True, kw_only=True)
class ElasticDerivatives:
    """First derivatives of the elastic program: `gradient`, and those of the program, `inner`."""

    gradient: np.ndarray
    inner: Derivatives

    @property
    def entries(self) -> np.ndarray:
        """The entries of the rows' Jacobian."""
        return self.inner.entries


class ElasticStage:
    """Program with elastic rows, as a Stage of the interior point."""

    def __init__(self, stage: ProgramStage, near: np.ndarray, zeta: float) -> None:
        self.stage, self.near = stage, near
        program = self.program = stage.program
        size, rows = program.size, program.rows
        self.inner, self.p = slice(0, size), slice(size, size + rows)
        self.n = slice(size + rows, size + 2 * rows)
        lower = np.concatenate([program.lower, np.zeros(2 * rows)])
        upper = np.concatenate([program.upper, np.full(2 * rows, np.inf)])
        self.bounds = Bounds(lower, upper)
        self.pulled = zeta * np.minimum(1.0, 1.0 / np.maximum(np.abs(near), 1e-300)) ** 2
        self.system: Augmented | DenseElastic | None = None
        self._last: tuple[np.ndarray | None, np.ndarray | None] = None, None
        self.f_scale = 1.0

    def own_variables(self, v: np.ndarray) -> np.ndarray:
        """Return the program's own variables (size,), the same array for the same v."""
        if self._last[0] is not v:
            self._last = v, v[self.inner].copy()
        assert self._last[1] is not None
        return self._last[1]

    def objective(self, v: np.ndarray) -> float:
        """Return the weighted violation plus the weighted distance from the first point."""
        away = v[self.inner] - self.near
        return float(WEIGHT * (v[self.p].sum() + v[self.n].sum()) + self.pulled @ away**2 / 2)

    def values(self, v: np.ndarray) -> np.ndarray:
        """Return the elastic rows."""
        return self.program.values(self.own_variables(v)) - v[self.p] + v[self.n]

    def derivatives(self, v: np.ndarray) -> ElasticDerivatives:
        """Return first derivatives."""
        inner = self.program.derivatives(self.own_variables(v))
        gradient = np.full(len(v), WEIGHT)
        gradient[self.inner] = self.pulled * (v[self.inner] - self.near)
        return ElasticDerivatives(gradient=gradient, inner=inner)

    def jacobian_t_times(self, derivatives: ElasticDerivatives, y: np.ndarray) -> np.ndarray:
        """Return J' y."""
        return np.concatenate([self.program.jacobian_t_times(derivatives.inner, y), -y, y])

    def jacobian_times(self, derivatives: ElasticDerivatives, step: np.ndarray) -> np.ndarray:
        """Return J step."""
        inner = self.program.jacobian_times(derivatives.inner, step[self.inner])
        return inner - step[self.p] + step[self.n]

    def meets_unscaled_tolerances(self, stationarity: float, complementarity: float) -> bool:
        """Return True: the scaled error is enough here."""
        return True

    def sharpen(self, derivatives: ElasticDerivatives) -> bool:
        """Return False: there are no other systems."""
        return False

    def linearise(self, v: np.ndarray, y: np.ndarray, derivatives: ElasticDerivatives) -> None:
        """Set up the linear system of a point; raise LinAlgError if it is too large."""
        # A copy, as the program's own evaluations return the same array
        entries = self.program.hessian_entries(self.own_variables(v), y, 0.0).copy()
        self.hessian_entries = entries
        if self.system is None:
            self.system = self._choose_system(derivatives.inner)
        self.system.update(entries, derivatives.inner)

    def _choose_system(self, derivatives: Derivatives) -> "Augmented | DenseElastic":
        """Return dense systems for a small program, and if there is no compiler."""
        program = self.program
        if program.variables <= SMALL or not fronts.available():
            return DenseElastic(program)
        return Augmented(program, derivatives.entries)

    def hessian_times(self, step: np.ndarray) -> np.ndarray:
        """Return the Lagrangian's Hessian times a step."""
        inner = step[self.inner]
        curved = self.program.patterns.hessian_times(self.hessian_entries, inner)
        own = curved + self.pulled * inner
        return np.concatenate([own, np.zeros(len(step) - len(own))])

    def factorise(self, diagonal: np.ndarray, shift: float) -> bool:
        """Add a diagonal and factorise; tell whether the inertia is that of a minimum."""
        assert self.system is not None
        grown = diagonal + shift
        self.on_p, self.on_n = grown[self.p], grown[self.n]
        soft = 1.0 / self.on_p + 1.0 / self.on_n
        return self.system.factorise(grown[self.inner] + self.pulled, 0.0, soft)

    def solve(self, a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return dv and dy of right-hand sides."""
        assert self.system is not None
        right = b + a[self.p] / self.on_p - a[self.n] / self.on_n
        inner, y = self.system.solve(a[self.inner], right)
        p, n = (a[self.p] + y) / self.on_p, (a[self.n] - y) / self.on_n
        return np.concatenate([inner, p, n]), y


class DenseElastic:
    """Systems as those of Augmented, with softness of all rows, condensed to a dense matrix."""

    def __init__(self, program: Program) -> None:
        if program.variables > DENSE:
            raise np.linalg.LinAlgError(f"more than {DENSE} variables")
        self.program, self.engine = program, program.patterns.engine

    def update(self, hessian_entries: np.ndarray, derivatives: Derivatives) -> None:
        """Set the entries of the Hessian, and of the Jacobian at a point."""
        curve, matrix = self.program.curvature, self.program.jacobian
        self.W = np.zeros(curve.shape)
        self.W[curve.rows, curve.columns] = hessian_entries
        self.W[curve.columns, curve.rows] = hessian_entries
        self.J = np.zeros(matrix.shape)
        self.J[matrix.rows, matrix.columns] = derivatives.entries

    def factorise(self, diagonal: np.ndarray, shift: float, soft: np.ndarray) -> bool:
        """Add a `diagonal` and a `shift`; tell whether the inertia is that of a minimum."""
        n, m = self.program.variables, self.program.equalities
        grown, soft = diagonal + shift, soft.copy()
        self.on_slacks = grown[n:]
        soft[m:] += 1.0 / self.on_slacks
        self.weights = 1.0 / soft
        scaled = np.sqrt(self.weights)[:, None] * self.J
        core = self.W + scaled.T @ scaled
        core[np.diag_indices(n)] += grown[:n]
        try:
            self.factor = self.engine.cholesky(core)
        except np.linalg.LinAlgError:
            return False
        return bool(np.isfinite(self.factor.lower).all())

    def solve(self, a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return dv and dy of right-hand sides."""
        n, m = self.program.variables, self.program.equalities
        right = b.copy()
        right[m:] += a[n:] / self.on_slacks
        x = self.factor.solve(a[:n] + self.J.T @ (self.weights * right))
        y = self.weights * (self.J @ x - right)
        return np.concatenate([x, (a[n:] + y[m:]) / self.on_slacks]), y


def make_restoration(
    stage: ProgramStage, show: Callable[[Point], bool], remaining: Callable[[], Settings]
) -> Callable[[Search], Point | str]:
    """Return the function that restores feasibility for a Search.

    Args:
        stage: the program.
        show: called with the program's own points; True ends the search.
        remaining: settings with what is left of the limits.
    """

    def restore(search: Search) -> Point | str:
        first = search.last
        if first.theta <= search.settings.tol:
            return "Search_Direction_Becomes_Too_Small"
        settings = remaining()
        mu = max(search.mu, float(np.max(np.abs(first.values))))
        elastic = ElasticStage(stage, first.v, float(np.sqrt(mu)))
        inner = Search(
            elastic,
            replace(settings, mu_init=mu, near=False),
            lambda point: show(_program_point(stage, elastic, point)) if inner.count else False,
            accept=lambda point: inner.count > 0 and _is_accepted(search, first, elastic, point),
        )
        try:
            result = inner.search_from(_first_point(elastic, first, mu))
        except np.linalg.LinAlgError:
            return "Restoration_Failed"
        search.count += max(0, inner.count - 1)
        found = _program_point(stage, elastic, result.point)
        search.last = found
        if result.status == "Accepted":
            return with_least_squares_multipliers(stage, found)
        if result.status == "Solve_Succeeded":
            if np.max(np.abs(found.values)) <= search.settings.tol:
                return with_least_squares_multipliers(stage, found)
            return "Infeasible_Problem_Detected"
        return result.status

    return restore


def _first_point(elastic: ElasticStage, first: Point, mu: float) -> Point:
    """Return the first point of restoration: the best p and n (equations 33 and 34)."""
    c = first.values
    middle = (mu - WEIGHT * c) / (2 * WEIGHT)
    minus = middle + np.sqrt(middle**2 + mu * c / (2 * WEIGHT))
    minus = np.maximum(minus, 1e-14)
    plus = np.maximum(c + minus, 1e-14)
    v = np.concatenate([first.v, plus, minus])
    nothing = np.zeros(2 * len(c))
    z_lower = np.concatenate([np.minimum(first.z_lower, WEIGHT), mu / plus, mu / minus])
    z_upper = np.concatenate([np.minimum(first.z_upper, WEIGHT), nothing])
    return Point.at(elastic, v, np.zeros(len(c)), z_lower, z_upper)


def _program_point(stage: ProgramStage, elastic: ElasticStage, point: Point) -> Point:
    """Return a point of the elastic program as one of the program."""
    inner = elastic.inner
    z_lower, z_upper = point.z_lower[inner], point.z_upper[inner]
    if max(z_lower.max(initial=0.0), z_upper.max(initial=0.0)) > RESET:
        z_lower = np.isfinite(stage.bounds.lower) * 1.0
        z_upper = np.isfinite(stage.bounds.upper) * 1.0
    return Point.at(stage, elastic.own_variables(point.v), np.zeros_like(point.y), z_lower, z_upper)


def _is_accepted(search: Search, first: Point, elastic: ElasticStage, point: Point) -> bool:
    """Tell whether a point of the elastic program is good enough to end the restoration."""
    stage, v = elastic.stage, elastic.own_variables(point.v)
    values = stage.values(v)
    theta = float(np.sum(np.abs(values)))
    if theta > GAIN * first.theta:
        return False
    own = Point.at(stage, v, first.y, first.z_lower, first.z_upper)
    return search.filter.admits(Trial(theta=theta, phi=own.barrier(search.mu)))
