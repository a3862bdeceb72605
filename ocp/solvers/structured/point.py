"""Iterates of an interior point: values, slopes and multipliers, and what follows from them."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

DAMPING = 1e-5  # of variables with one bound (section 3.7)
SCALED = 100.0  # mean multiplier above which errors are divided (equation 6)
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
        return self.f + BARRIER(self.stage, self.v, mu)

    def barrier_slope(self, mu: float) -> np.ndarray:
        """Its gradient (size,)."""
        damped = DAMPING * mu * alone(self.stage)
        return self.slopes.gradient - mu / self.below + mu / self.above + damped

    def barrier_curvature(self) -> np.ndarray:
        """The diagonal (size,) that multipliers and distances add to the curvature."""
        return self.z_lower / self.below + self.z_upper / self.above


def distances(stage: Any, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the distances (size,) from lower and upper bounds, infinite where there are none."""
    least = np.finfo(float).tiny ** 0.25
    return np.maximum(v - stage.lower, least), np.maximum(stage.upper - v, least)


def alone(stage: Any) -> np.ndarray:
    """Return 1 for variables with a lower bound only, -1 for those with an upper one only."""
    return np.isfinite(stage.lower) * 1.0 - np.isfinite(stage.upper) * 1.0


def BARRIER(stage: Any, v: np.ndarray, mu: float) -> float:
    """Return what bounds add to an objective (equation 3b), dampened (section 3.7)."""
    below, above = distances(stage, v)
    logarithms = 0.0
    damped = 0.0
    side = alone(stage)
    for distance, sign in ((below, 1.0), (above, -1.0)):
        bounded = np.isfinite(distance)
        logarithms += float(np.sum(np.log(distance[bounded])))
        damped += float(np.sum(distance[bounded & (side == sign)]))
    return mu * (DAMPING * damped - logarithms)


def errors(point: Point, mu: float) -> tuple[float, tuple[float, float, float]]:
    """Return the scaled error of the barrier problem's first-order conditions (equation 5), and
    its three parts unscaled: stationarity, rows, multiplier times distance."""
    stage = point.stage
    bounds = np.isfinite(stage.lower).sum() + np.isfinite(stage.upper).sum()
    of_bounds = float(point.z_lower.sum() + point.z_upper.sum())
    of_all = of_bounds + float(np.abs(point.y).sum())
    by = max(SCALED, of_all / max(1, bounds + len(point.y))) / SCALED
    by_bounds = max(SCALED, of_bounds / max(1, bounds)) / SCALED
    slope = point.slopes.gradient + stage.pull(point.slopes, point.y) + point.z
    parts = (
        float(np.max(np.abs(slope), initial=0.0)),
        float(np.max(np.abs(point.values), initial=0.0)),
        max(
            _apart(point.z_lower, point.below, mu),
            _apart(point.z_upper, point.above, mu),
        ),
    )
    return max(parts[0] / by, parts[1], parts[2] / by_bounds), parts


def _apart(z: np.ndarray, distance: np.ndarray, mu: float) -> float:
    bounded = np.isfinite(distance)
    return float(np.max(np.abs(z[bounded] * distance[bounded] - mu), initial=0.0))


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
