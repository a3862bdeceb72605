"""A Program with its linear systems, and where an interior point begins on it."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ocp.interior_point.condensed import Condensed
from ocp.interior_point.interior_point import APART
from ocp.interior_point.iterate import Point, Sides
from ocp.interior_point.kernels.tall_matrices import Engine
from ocp.interior_point.program import Program, Slopes
from ocp.solvers.backend import Start

UNSCALED = 1.0, APART  # stationarity, multiplier times distance: IPOPT's limits
LARGEST = 1e3  # multiplier at the start


class Stated:
    """The program itself as a Stage of the interior point."""

    def __init__(self, program: Program, engine: Engine):
        self.program, self.system, self.engine = program, Condensed(program, engine), engine
        self.lower, self.upper = program.lower, program.upper
        self.sides = Sides(self.lower, self.upper)
        self.objective, self.values, self.slopes = (
            program.objective,
            program.values,
            program.slopes,
        )
        self.pull, self.push = program.pull, program.push
        self.factorise, self.solve = self.system.factorise, self.system.solve

    def take(self, v: np.ndarray, y: np.ndarray, slopes: Slopes) -> None:
        """Make the linear system of a point."""
        self.system.at(self.program.bends(v, y), slopes)

    def bent(self, step: np.ndarray) -> np.ndarray:
        """Return the Lagrangian's Hessian times a step (size,)."""
        return self.program.bent_by(self.system.bends, step)

    def settled(self, stationarity: float, complementarity: float) -> bool:
        """Tell whether errors are small in the objective's own units too."""
        dual, products = UNSCALED
        by = self.program.f_scale
        return stationarity / by <= dual and complementarity / by <= products


def inside(
    v: np.ndarray, lower: np.ndarray, upper: np.ndarray, push: float, share: float
) -> np.ndarray:
    """Return v moved away from bounds (section 3.6): by `push` of their size, or that `share` of
    their distance."""
    wide = upper - lower
    with np.errstate(invalid="ignore"):
        low = np.minimum(push * np.maximum(1.0, np.abs(lower)), share * wide)
        high = np.minimum(push * np.maximum(1.0, np.abs(upper)), share * wide)
        least = np.where(np.isfinite(lower), lower + low, -np.inf)
        return np.minimum(np.maximum(v, least), np.where(np.isfinite(upper), upper - high, np.inf))


def begin(stated: Stated, start: Start, given: Mapping[str, Any]) -> Point:
    """Return the first Point: inside of bounds, slacks from rows, multipliers as known or least.

    `given` are options by IPOPT's names of how far from bounds it is pushed.
    """
    program = stated.program
    push, share = given["bound_push"], given["bound_frac"]
    v = np.zeros(program.size)
    n, m = program.variables, program.equalities
    x = inside(start.x[program.moving], program.lower[:n], program.upper[:n], push, share)
    v[:n] = x
    rows = program.values(v.copy())
    v[n:] = inside(rows[m:], program.lower[n:], program.upper[n:], push, share)
    of_x, of_g = start.x_multipliers, start.g_multipliers
    known = of_x is not None and of_g is not None
    y, z = np.zeros(program.rows), np.zeros(program.size)
    if of_x is not None and of_g is not None:
        y = of_g[program.order] / program.scales * program.f_scale
        z[:n] = of_x[program.moving] * program.f_scale
        z[n:] = y[m:]
    bounded = np.isfinite(program.lower) * 1.0, np.isfinite(program.upper) * 1.0
    z_lower, z_upper = (
        np.maximum(sign * z, 1e-9) if known else np.ones(program.size) for sign in (-1, 1)
    )
    point = Point.at(stated, v, y, z_lower * bounded[0], z_upper * bounded[1])
    return point if known else with_least(stated, point)


def with_least(stated: Stated, point: Point) -> Point:
    """Return a point with the multipliers of rows that least squares find for its slopes (section
    3.6), or none where they are large."""
    if not point.sound:
        return point
    program, system = stated.program, stated.system
    system.at(np.zeros(len(program.bent)), point.slopes)
    if not system.factorise(np.ones(program.size), 0.0):
        return point
    a = -(point.slopes.gradient + point.z)
    y = system.solve(a, np.zeros(program.rows))[1]
    if not np.isfinite(y).all() or np.max(np.abs(y), initial=0.0) > LARGEST:
        y = np.zeros(program.rows)
    return replace(point, y=y)
