"""Iterates of an interior point: values, derivatives, multipliers, and first-order residuals.

Sections and equations are of Waechter & Biegler (2006).
"""

from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeAlias

import numpy as np

Slopes: TypeAlias = Any  # first derivatives, as a stage has them
Aim: TypeAlias = float | np.ndarray  # products to reach, or (2, size) of lower and upper bounds

DAMPING = 1e-5  # of variables with one bound (section 3.7)
SCALED = 100.0  # mean multiplier above which errors are divided (equation 6)
LEAST = 64 * np.finfo(float).eps  # distance from a bound over its size: less is rounding
RESET = 1e10  # factor by which multipliers may be off mu over distance (equation 16)


class Bounds:
    """Bounds `lower` and `upper` (size,): `below` and `above` are the places of finite ones.

    `one_sided` (size,) is 1 for variables with a lower bound only, -1 with an upper one only.
    """

    def __init__(self, lower: np.ndarray, upper: np.ndarray) -> None:
        self.lower, self.upper = lower, upper
        self.below, self.above = (np.flatnonzero(np.isfinite(each)) for each in (lower, upper))
        self.count = len(self.below) + len(self.above)
        self.finite = np.concatenate([self.below, len(lower) + self.above])  # of both, in a row
        self.one_sided = np.isfinite(lower) * 1.0 - np.isfinite(upper) * 1.0
        self.sides = np.array([lower, upper])
        self.least = LEAST * np.maximum(
            1.0, np.abs(np.where(np.isfinite(self.sides), self.sides, 0.0))
        )
        self._sides = [
            (places, limits[places], least[places], sign, self.one_sided[places] == sign)
            for places, limits, least, sign in (
                (self.below, lower, self.least[0], 1.0),
                (self.above, upper, self.least[1], -1.0),
            )
        ]

    def barrier(self, v: np.ndarray, mu: float) -> float:
        """Return the barrier term of the objective (equation 3b), damped (section 3.7)."""
        logarithms = damped = 0.0
        for places, limits, least, sign, one_sided in self._sides:
            distance = np.maximum(sign * (v[places] - limits), least)
            logarithms += float(np.sum(np.log(distance)))
            damped += float(np.sum(distance[one_sided]))
        return mu * (DAMPING * damped - logarithms)

    def distances(self, v: np.ndarray) -> np.ndarray:
        """Return distances (2, size) from lower and upper bounds, infinite without one."""
        distance = v - self.sides
        np.negative(distance[1], out=distance[1])
        return np.maximum(distance, self.least, out=distance)


class Evaluation(Protocol):
    """Part of a Stage that an iterate needs."""

    bounds: Bounds

    def objective(self, v: np.ndarray) -> float: ...
    def values(self, v: np.ndarray) -> np.ndarray: ...
    def derivatives(self, v: np.ndarray) -> Slopes: ...
    def jacobian_t_times(self, derivatives: Slopes, y: np.ndarray) -> np.ndarray: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """Iterate v (size,) of a `stage`: objective f, `values` and `derivatives` of rows, multipliers
    y (rows,) and those of bounds, `z_lower` and `z_upper` (size,), zero without a bound."""

    stage: Evaluation
    v: np.ndarray
    f: float
    values: np.ndarray
    derivatives: Slopes
    y: np.ndarray
    z_lower: np.ndarray
    z_upper: np.ndarray
    below: np.ndarray
    above: np.ndarray

    @classmethod
    def at(
        cls,
        stage: Evaluation,
        v: np.ndarray,
        y: np.ndarray,
        z_lower: np.ndarray,
        z_upper: np.ndarray,
    ) -> "Point":
        """Evaluate a stage at v."""
        below, above = stage.bounds.distances(v)
        derivatives = stage.derivatives(v)  # first, as they give f and values too
        return cls(
            stage=stage,
            v=v,
            f=stage.objective(v),
            values=stage.values(v),
            derivatives=derivatives,
            y=y,
            z_lower=z_lower,
            z_upper=z_upper,
            below=below,
            above=above,
        )

    @property
    def theta(self) -> float:
        """Violation of rows, in the 1-norm."""
        return float(np.sum(np.abs(self.values)))

    @property
    def sound(self) -> bool:
        """Whether all values and derivatives are finite."""
        gradient, entries = self.derivatives.gradient, self.derivatives.entries
        numbers = (self.values, gradient, entries)
        return bool(np.isfinite(self.f) and all(np.isfinite(each).all() for each in numbers))

    @property
    def z(self) -> np.ndarray:
        """Multipliers of bounds, positive for upper ones."""
        return self.z_upper - self.z_lower

    def barrier(self, mu: float) -> float:
        """Barrier function."""
        return self.f + self.stage.bounds.barrier(self.v, mu)

    def barrier_slope(self, mu: float) -> np.ndarray:
        """Gradient (size,) of the barrier function."""
        damped = DAMPING * mu * self.stage.bounds.one_sided
        return self.derivatives.gradient - mu / self.below + mu / self.above + damped

    def barrier_curvature(self) -> np.ndarray:
        """Diagonal (size,) that bounds add to the Hessian: multipliers over distances."""
        return self.z_lower / self.below + self.z_upper / self.above


@dataclass(frozen=True, slots=True, kw_only=True)
class Residuals:
    """First-order residuals: the largest of `stationarity` and `rows`, `products` of multipliers
    and distances of bounds, and the divisors `by` of the first and `by_bounds` of the last."""

    stationarity: float
    rows: float
    products: np.ndarray
    by: float
    by_bounds: float

    def complementarity(self, mu: float) -> float:
        """Return the largest distance of a product from the barrier parameter."""
        return float(np.max(np.abs(self.products - mu), initial=0.0))

    def error(self, mu: float) -> float:
        """Return the scaled error of the barrier problem (equation 5)."""
        by_bounds = self.complementarity(mu) / self.by_bounds
        return max(self.stationarity / self.by, self.rows, by_bounds)


def residuals(point: Point) -> Residuals:
    """Return the first-order residuals of a point."""
    stage, bounds = point.stage, point.stage.bounds
    z_sum = float(point.z_lower.sum() + point.z_upper.sum())
    total = z_sum + float(np.abs(point.y).sum())
    pulled = stage.jacobian_t_times(point.derivatives, point.y)
    slope = point.derivatives.gradient + pulled + point.z
    below, above = bounds.below, bounds.above
    products = point.z_lower[below] * point.below[below], point.z_upper[above] * point.above[above]
    return Residuals(
        stationarity=float(np.max(np.abs(slope), initial=0.0)),
        rows=float(np.max(np.abs(point.values), initial=0.0)),
        products=np.concatenate(products),
        by=max(SCALED, total / max(1, bounds.count + len(point.y))) / SCALED,
        by_bounds=max(SCALED, z_sum / max(1, bounds.count)) / SCALED,
    )


def fraction_to_boundary(point: Point, dv: np.ndarray, aim: Aim, tau: float) -> tuple[float, float]:
    """Return the longest step of variables and of bounds' multipliers (equation 15)."""
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        down = np.where(dv < 0, tau * point.below / -dv, np.inf)
        up = np.where(dv > 0, tau * point.above / dv, np.inf)
        step_lower, step_upper = bound_multiplier_steps(point, dv, aim)
        lower = np.where(step_lower < 0, tau * point.z_lower / -step_lower, np.inf)
        upper = np.where(step_upper < 0, tau * point.z_upper / -step_upper, np.inf)
    lengths = [float(np.min(each, initial=1.0)) for each in (down, up, lower, upper)]
    return min(lengths[:2]), min(lengths[2:])


def bound_multiplier_steps(point: Point, dv: np.ndarray, aim: Aim) -> tuple[np.ndarray, np.ndarray]:
    """Return the Newton steps of the multipliers of bounds (equation 12)."""
    low, high = (aim, aim) if isinstance(aim, float) else aim
    lower = low / point.below - point.z_lower - point.z_lower / point.below * dv
    upper = high / point.above - point.z_upper + point.z_upper / point.above * dv
    return lower, upper


def step_bound_multipliers(
    point: Point, dv: np.ndarray, aim: Aim, length: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return the multipliers of bounds after a step of this length."""
    lower, upper = bound_multiplier_steps(point, dv, aim)
    return point.z_lower + length * lower, point.z_upper + length * upper


def limit_bound_multipliers(point: Point, mu: float) -> Point:
    """Return the point with multipliers of bounds kept near mu over distance (equation 16)."""
    kept = []
    for z, distance in ((point.z_lower, point.below), (point.z_upper, point.above)):
        middle = mu / distance
        kept.append(np.clip(z, middle / RESET, middle * RESET))
    return replace(point, z_lower=kept[0], z_upper=kept[1])


def centre(
    v: np.ndarray, z: np.ndarray, bounds: Bounds, mu: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return variables and multipliers of both bounds on the central path of mu.

    A distance d with a multiplier z moves to the d' with the same d' - z' and the product mu. Of
    two bounds the nearer one moves the variable.

    Args:
        v: variables (size,).
        z: multipliers of bounds (size,), positive for upper ones.
        bounds: of the variables.
        mu: the product.
    """
    half = (bounds.upper - bounds.lower) / 2
    below = centred_distance(v - bounds.lower, np.maximum(-z, 0.0), mu)
    above = centred_distance(bounds.upper - v, np.maximum(z, 0.0), mu)
    low, high = v - bounds.lower <= bounds.upper - v, v - bounds.lower > bounds.upper - v
    with np.errstate(invalid="ignore"):
        v = np.where(low & np.isfinite(bounds.lower), bounds.lower + np.minimum(below, half), v)
        v = np.where(high & np.isfinite(bounds.upper), bounds.upper - np.minimum(above, half), v)
    below, above = bounds.distances(v)
    return v, mu / below, mu / above


def centred_distance(distance: np.ndarray, z: np.ndarray, mu: float) -> np.ndarray:
    """Return the distances d' with d' - mu / d' = distance - z."""
    middle = (distance - z) / 2
    with np.errstate(invalid="ignore"):
        return np.where(np.isfinite(middle), middle + np.sqrt(middle**2 + mu), np.inf)
