"""Barrier parameter chosen for each step (Nocedal, Waechter & Waltz 2009).

The Newton step of a barrier parameter sigma times the mean product of multipliers and distances is
the sum of two: the affine step of no barrier, and sigma times the centring step. The best sigma is
that at which a linear model of the residuals is least after the step (the quality function).
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from ocp.interior_point.iterate import Point, Residuals

Step = tuple[np.ndarray, np.ndarray]  # of variables and of multipliers of rows

CENTRED = 1e-6, 100.0  # range of sigma
NEAR_ONE = 1e-2  # distance from 1 at which the slope of the quality there is taken
SECTIONS, SECTION = 8, 1e-2  # golden sections, and the relative range at which they end
LARGEST = 1e3  # barrier parameter over the first mean product
FIXED = 0.8  # barrier parameter over the mean product where the monotone rule takes over
MARGIN, WIDEST = 1e-5, 1.0  # of progress: share of the error, and at most


def mean_product(left: Residuals) -> float:
    """Return the mean product of multipliers and distances of bounds, 0 without bounds."""
    return float(np.mean(left.products)) if len(left.products) else 0.0


@dataclass(slots=True, kw_only=True)
class Progress:
    """Pairs of objective and violation of former points, one of which a new point must lower."""

    pairs: list[tuple[float, float]] = field(default_factory=list)

    def admits(self, point: Point, error: float) -> bool:
        """Tell whether a point of this scaled error is progress beside all former ones."""
        margin = MARGIN * min(WIDEST, error)
        f, theta = point.f + margin, point.theta + margin
        return all(f <= former or theta <= violation for former, violation in self.pairs)

    def add(self, point: Point) -> None:
        """Add a point, and drop those that are worse in both."""
        own = point.f, point.theta
        self.pairs = [each for each in self.pairs if each[0] < own[0] or each[1] < own[1]]
        self.pairs.append(own)


def quality_function(
    point: Point, affine: np.ndarray, centring: np.ndarray, average: float, tau: float
) -> Callable[[float], float]:
    """Return the model of the squared residuals after the step of sigma, divided by their numbers.

    Args:
        point: the iterate.
        affine: step (size,) of variables without a barrier.
        centring: step (size,) for sigma of 1, to be added.
        average: mean product of multipliers and distances.
        tau: fraction to the boundary.
    """
    below, above = point.stage.bounds.below, point.stage.bounds.above
    distance = np.concatenate([point.below[below], point.above[above]])
    z = np.concatenate([point.z_lower[below], point.z_upper[above]])
    toward, centred = (
        np.concatenate([step[below], -step[above]]) / distance for step in (affine, centring)
    )
    # relative steps of distances and of multipliers, linear in sigma
    z_toward, z_centred = -1.0 - toward, average / (distance * z) - centred
    products = distance * z
    slope = point.derivatives.gradient + point.z
    slope = slope + point.stage.jacobian_t_times(point.derivatives, point.y)
    dual = float(slope @ slope) / max(1, len(slope))
    primal = float(point.values @ point.values) / max(1, len(point.values))

    def quality(sigma: float) -> float:
        own, z_own = toward + sigma * centred, z_toward + sigma * z_centred
        length = tau / max(tau, float(np.max(-own, initial=0.0)))
        z_length = tau / max(tau, float(np.max(-z_own, initial=0.0)))
        after = products * (1.0 + length * own) * (1.0 + z_length * z_own)
        return (
            (1.0 - z_length) ** 2 * dual
            + (1.0 - length) ** 2 * primal
            + float(after @ after) / max(1, len(after))
        )

    return quality


def least_by_sections(quality: Callable[[float], float], low: float, high: float) -> float:
    """Return the place of the least value between two positive numbers, by golden sections of
    logarithms."""
    share = (3.0 - np.sqrt(5.0)) / 2.0
    left, right = np.log(low), np.log(high)
    inner = [left + share * (right - left), right - share * (right - left)]
    values = [quality(float(np.exp(each))) for each in inner]
    ends = [quality(low), quality(high)]
    for _ in range(SECTIONS):
        if np.exp(right) - np.exp(left) < SECTION * np.exp(right):
            break
        if values[0] > values[1]:
            left, ends[0] = inner[0], values[0]
            inner = [inner[1], right - share * (right - left)]
            values = [values[1], quality(float(np.exp(inner[1])))]
        else:
            right, ends[1] = inner[1], values[1]
            inner = [left + share * (right - left), inner[0]]
            values = [quality(float(np.exp(inner[0]))), values[0]]
    places, found = [left, *inner, right], [ends[0], *values, ends[1]]
    return float(np.exp(places[int(np.argmin(found))]))


def best_centring(quality: Callable[[float], float], least: float, most: float) -> float:
    """Return the sigma of least quality function between two limits."""
    low, high = max(CENTRED[0], least), min(CENTRED[1], most)
    if low >= high:
        return low if least > CENTRED[0] else high
    before = 1.0 - NEAR_ONE
    if quality(before) > quality(1.0):
        return high if high <= 1.0 else least_by_sections(quality, max(1.0, low), high)
    return low if low >= before else least_by_sections(quality, low, min(before, high))
