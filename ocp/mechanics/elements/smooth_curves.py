"""Smooth curves of force: a rounded ramp, friction without a kink, a cubic spline through points.

Arguments are expressions SX, MX or DM alike, and all that they return has continuous second
derivatives, as programs with exact Hessians want it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca
import numpy as np

from ocp.mechanics.values.parameters import Number
from ocp.mechanics.values.types import Matrix


def ramp(x: Matrix, width: Number) -> Matrix:
    """Return max(x, 0), rounded over a width w: (x + sqrt(x^2 + w^2)) / 2.

    It is w/2 at 0 and w^2 / (4 |x|) far below (Chen & Harker 1993; Kanzow 1996).
    """
    return (x + ca.sqrt(x**2 + width**2)) / 2


def ramp_slope(x: Matrix, width: Number) -> Matrix:
    """Return the derivative of `ramp`, between 0 and 1."""
    return (1 + x / ca.sqrt(x**2 + width**2)) / 2


def ramp_area(x: Matrix, width: Number) -> Matrix:
    """Return an integral of `ramp`, zero at 0."""
    return (x**2 + x * ca.sqrt(x**2 + width**2) + width**2 * ca.asinh(x / width)) / 4


def friction(share: Matrix, static: Number, dynamic: Number) -> Matrix:
    """Return dry friction at u = `share`, a speed over that of transition, at which its peak is.

        mu_d tanh(4 u) + (mu_s - mu_d) u / (u^2 / 4 + 3/4)^2      (Brown & McPhee 2016, eq. 9)

    with its `static` and `dynamic` level, both forces, moments or coefficients.
    """
    peak = (static - dynamic) * share / (share**2 / 4 + 0.75) ** 2
    return dynamic * ca.tanh(4 * share) + peak


@dataclass(frozen=True, slots=True, kw_only=True)
class Cubic:
    """A natural cubic spline through points, beyond which it goes on straight.

        f(x) = a + b (x - x_0) + sum of c_k max(x - x_k, 0)^3

    `knots` x_k and `cubes` c_k; `start` a and `slope` b (de Boor 1978, chapter IV).
    """

    knots: tuple[float, ...]
    cubes: tuple[float, ...]
    start: float
    slope: float

    def __call__(self, x: Matrix) -> Matrix:
        """Return f(x)."""
        rises = [ca.fmax(x - knot, 0) for knot in self.knots]
        cubes = sum((c * rise**3 for c, rise in zip(self.cubes, rises)), 0.0)
        return self.start + self.slope * (x - self.knots[0]) + cubes

    def area(self, x: Matrix) -> Matrix:
        """Return the integral of f from the first knot to x."""
        rises = [ca.fmax(x - knot, 0) for knot in self.knots]
        fourths = sum((c / 4 * rise**4 for c, rise in zip(self.cubes, rises)), 0.0)
        along = x - self.knots[0]
        return self.start * along + self.slope / 2 * along**2 + fourths


def cubic(x: Sequence[float], y: Sequence[float]) -> Cubic:
    """Return the Cubic through points (x, y), N numbers each, x increasing."""
    places, values = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    steps, rises = np.diff(places), np.diff(values) / np.diff(places)
    system, right = np.eye(len(places)), np.zeros(len(places))
    for k in range(1, len(places) - 1):
        system[k, k - 1 : k + 2] = steps[k - 1], 2 * (steps[k - 1] + steps[k]), steps[k]
        right[k] = 6 * (rises[k] - rises[k - 1])
    bends = np.linalg.solve(system, right)  # second derivatives, zero at both ends
    thirds = np.diff(bends) / steps / 6  # of x^3 in every piece
    cubes = np.diff(np.concatenate([[0.0], thirds, [0.0]]))
    slope = rises[0] - steps[0] * (2 * bends[0] + bends[1]) / 6
    return Cubic(
        knots=tuple(places.tolist()),
        cubes=tuple(cubes.tolist()),
        start=float(values[0]),
        slope=float(slope),
    )
