"""Iterates of an interior point: values, slopes and multipliers, and what follows from them."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

DAMPING = 1e-5  # of variables with one bound (section 3.7)
SCALED = 100.0  # mean multiplier above which errors are divided (equation 6)
LEAST = 64 * np.finfo(float).eps  # distance from a bound beside its size: less is rounding
RESET = 1e10  # by which multipliers may be off their distance at most (equation 16)


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """An iterate v (size,) of a `stage`, with f, rows' `values` and `slopes` there, multipliers y
    (rows,), and those of bounds, `z_lower`, `z_upper` (size,), zero where there is none."""

    stage: Any
    v: np.ndarray
    f: float
    values: np.ndarray
    slopes: Any
    y: np.ndarray
    z_lower: np.ndarray
    z_upper: np.ndarray
    below: np.ndarray
    above: np.ndarray

    @classmethod
    def at(
        cls, stage: Any, v: np.ndarray, y: np.ndarray, z_lower: np.ndarray, z_upper: np.ndarray
    ) -> "Point":
        """Evaluate a stage at v."""
        below, above = distances(stage, v)
        slopes = stage.slopes(v)  # which tell f and values, too
        return cls(
            stage=stage,
            v=v,
            f=stage.objective(v),
            values=stage.values(v),
            slopes=slopes,
            y=y,
            z_lower=z_lower,
            z_upper=z_upper,
            below=below,
            above=above,
        )

    @property
    def theta(self) -> float:
        """The violation of rows."""
        return float(np.sum(np.abs(self.values)))

    @property
    def sound(self) -> bool:
        """Whether all that was evaluated is a number."""
        slope, entries = self.slopes.gradient, self.slopes.entries
        numbers = (self.values, slope, entries)
        return bool(np.isfinite(self.f) and all(np.isfinite(each).all() for each in numbers))

    @property
    def z(self) -> np.ndarray:
        """Multipliers of bounds, positive of upper ones."""
        return self.z_upper - self.z_lower

    def barrier(self, mu: float) -> float:
        """The barrier function."""
        return self.f + self.stage.sides.barrier(self.v, mu)

    def barrier_slope(self, mu: float) -> np.ndarray:
        """Its gradient (size,)."""
        damped = DAMPING * mu * self.stage.sides.alone
        return self.slopes.gradient - mu / self.below + mu / self.above + damped

    def barrier_curvature(self) -> np.ndarray:
        """The diagonal (size,) that multipliers and distances add to the curvature."""
        return self.z_lower / self.below + self.z_upper / self.above


@dataclass(frozen=True, slots=True, kw_only=True)
class Residuals:
    """How far a point is from first-order conditions: `stationarity` and `rows`, the largest;
    `products` of bounds' multipliers and distances; what the first and the last are divided by."""

    stationarity: float
    rows: float
    products: np.ndarray
    by: float
    by_bounds: float

    def apart(self, mu: float) -> float:
        """Return how far products are from a barrier parameter at most."""
        return float(np.max(np.abs(self.products - mu), initial=0.0))

    def error(self, mu: float) -> float:
        """Return the scaled error of the barrier problem's conditions (equation 5)."""
        return max(self.stationarity / self.by, self.rows, self.apart(mu) / self.by_bounds)


class Sides:
    """Which variables have bounds `lower`, `upper` (size,): `below` and `above`, their places;
    `alone` (size,): 1 for those with a lower one only, -1 with an upper one only, else 0."""

    def __init__(self, lower: np.ndarray, upper: np.ndarray):
        self.below, self.above = (np.flatnonzero(np.isfinite(each)) for each in (lower, upper))
        self.count = len(self.below) + len(self.above)
        self.alone = np.isfinite(lower) * 1.0 - np.isfinite(upper) * 1.0
        self.least_below, self.least_above = (
            LEAST * np.maximum(1.0, np.abs(np.where(np.isfinite(each), each, 0.0)))
            for each in (lower, upper)
        )
        self._each = [
            (places, bounds[places], least[places], sign, self.alone[places] == sign)
            for places, bounds, least, sign in (
                (self.below, lower, self.least_below, 1.0),
                (self.above, upper, self.least_above, -1.0),
            )
        ]

    def barrier(self, v: np.ndarray, mu: float) -> float:
        """Return what bounds add to an objective (equation 3b), dampened (section 3.7)."""
        logarithms = damped = 0.0
        for places, bounds, least, sign, alone in self._each:
            distance = np.maximum(sign * (v[places] - bounds), least)
            logarithms += float(np.sum(np.log(distance)))
            damped += float(np.sum(distance[alone]))
        return mu * (DAMPING * damped - logarithms)


def distances(stage: Any, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the distances (size,) from lower and upper bounds, infinite where there are none."""
    sides = stage.sides
    below = np.maximum(v - stage.lower, sides.least_below)
    return below, np.maximum(stage.upper - v, sides.least_above)


def residuals(point: Point) -> Residuals:
    """Return how far a point is from first-order conditions."""
    stage, sides = point.stage, point.stage.sides
    of_bounds = float(point.z_lower.sum() + point.z_upper.sum())
    of_all = of_bounds + float(np.abs(point.y).sum())
    slope = point.slopes.gradient + stage.pull(point.slopes, point.y) + point.z
    below, above = sides.below, sides.above
    products = point.z_lower[below] * point.below[below], point.z_upper[above] * point.above[above]
    return Residuals(
        stationarity=float(np.max(np.abs(slope), initial=0.0)),
        rows=float(np.max(np.abs(point.values), initial=0.0)),
        products=np.concatenate(products),
        by=max(SCALED, of_all / max(1, sides.count + len(point.y))) / SCALED,
        by_bounds=max(SCALED, of_bounds / max(1, sides.count)) / SCALED,
    )


def boundary(point: Point, dv: np.ndarray, mu: float, tau: float) -> tuple[float, float]:
    """Return how long a step and that of the multipliers of bounds may be (equation 15)."""
    with np.errstate(divide="ignore", invalid="ignore"):
        down = np.where(dv < 0, tau * point.below / -dv, np.inf)
        up = np.where(dv > 0, tau * point.above / dv, np.inf)
        step_lower, step_upper = _z_steps(point, dv, mu)
        lower = np.where(step_lower < 0, tau * point.z_lower / -step_lower, np.inf)
        upper = np.where(step_upper < 0, tau * point.z_upper / -step_upper, np.inf)
    least = (float(np.min(each, initial=1.0)) for each in (down, up))
    of_bounds = (float(np.min(each, initial=1.0)) for each in (lower, upper))
    return min(least), min(of_bounds)


def _z_steps(point: Point, dv: np.ndarray, mu: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the steps of the multipliers of bounds (equation 12)."""
    lower = mu / point.below - point.z_lower - point.z_lower / point.below * dv
    upper = mu / point.above - point.z_upper + point.z_upper / point.above * dv
    return lower, upper


def moved(point: Point, dv: np.ndarray, mu: float, length: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the multipliers of bounds after a step of so much of its length."""
    lower, upper = _z_steps(point, dv, mu)
    return point.z_lower + length * lower, point.z_upper + length * upper


def reset(point: Point, mu: float) -> Point:
    """Return a point whose multipliers of bounds are not too far off their distances (16)."""
    kept = []
    for z, distance in ((point.z_lower, point.below), (point.z_upper, point.above)):
        middle = mu / distance
        kept.append(np.clip(z, middle / RESET, middle * RESET))
    return replace(point, z_lower=kept[0], z_upper=kept[1])
