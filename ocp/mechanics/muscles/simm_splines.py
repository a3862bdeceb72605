"""Cubic splines as OpenSim's SimmSpline has them: the ends of Forsythe, Malcolm & Moler (1977),
straight lines beyond.

Such a spline is not natural: its third derivative at an end is that of the cubic through the four
points there.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca
import numpy as np

from ocp.mechanics.values.types import Matrix
from ocp.mechanics.values.validation import numbers, set_fields
from ocp.spelling import suggest_fields


@suggest_fields
@dataclass(frozen=True, slots=True, kw_only=True)
class SimmSpline:
    """The cubic spline through points with Forsythe, Malcolm and Moler's ends, linear outside.

    Args:
        places: coordinates x (k,), increasing, two or more.
        values: values y (k,) there.

    Raises:
        ValueError: unless the places increase and there are as many values.

    A function of one number or expression, for `Follows`, `PathPoint` and the like. Its second
    derivative jumps at both ends.
    """

    places: Sequence[float]
    values: Sequence[float]

    def __post_init__(self) -> None:
        places = numbers("SimmSpline: places", self.places, (np.size(self.places),))
        values = numbers("SimmSpline: values", self.values, places.shape)
        if len(places) < 2 or not (np.diff(places) > 0).all():
            raise ValueError(
                f"SimmSpline: places: expected two or more that increase, got {places.tolist()}"
            )
        set_fields(self, places=tuple(places.tolist()), values=tuple(values.tolist()))

    def __call__(self, x: Matrix) -> Matrix:
        """Return the value at x.

        Every piece counts by the part of x within it, so that no large terms cancel. At a point
        CasADi takes half of the slopes of both pieces, which are one.
        """
        pieces, (first, last) = _pieces(self.places, self.values)
        total = self.values[0] + first * ca.fmin(x - self.places[0], 0)
        for place, length, (slope, bend, third) in pieces:
            u = ca.fmin(ca.fmax(x - place, 0), length)
            total = total + u * (slope + u * (bend + u * third))
        return total + last * ca.fmax(x - self.places[-1], 0)


def _pieces(
    places: Sequence[float], values: Sequence[float]
) -> tuple[list[tuple[float, float, np.ndarray]], tuple[float, float]]:
    """Return the start, length and coefficients (3,) of u, u^2 and u^3 of every piece, and the
    slopes at both ends (Forsythe, Malcolm & Moler 1977, section 4.4)."""
    x, y = np.array(places), np.array(values)
    n, h = len(x), np.diff(x)
    rises = np.diff(y) / h
    if n == 2:
        return [(x[0], h[0], np.array([rises[0], 0, 0]))], (rises[0], rises[0])
    system, right = np.zeros((n, n)), np.zeros(n)
    for k in range(1, n - 1):
        system[k, k - 1 : k + 2] = h[k - 1], 2 * (h[k - 1] + h[k]), h[k]
        right[k] = rises[k] - rises[k - 1]
    system[0, :2] = -h[0], h[0]
    system[-1, -2:] = h[-1], -h[-1]
    if n > 3:  # third derivatives of the cubics through the first and the last four points
        thirds = (rises[1:] - rises[:-1]) / (x[2:] - x[:-2])
        right[0] = (thirds[1] - thirds[0]) * h[0] ** 2 / (x[3] - x[0])
        right[-1] = -(thirds[-1] - thirds[-2]) * h[-1] ** 2 / (x[-1] - x[-4])
    c = np.linalg.solve(system, right)
    slopes = rises - h * (c[1:] + 2 * c[:-1])
    cubics = np.column_stack([slopes, 3 * c[:-1], np.diff(c) / h])
    end = rises[-1] + h[-1] * (c[-2] + 2 * c[-1])
    return list(zip(x[:-1].tolist(), h.tolist(), cubics)), (float(slopes[0]), float(end))
