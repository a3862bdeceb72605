"""Stage of a program for the interior point: its linear systems and its first iterate."""

from dataclasses import replace

import numpy as np

from ocp.interior_point.condensed_systems import Condensed, check_size
from ocp.interior_point.interior_point import COMPLEMENTARITY
from ocp.interior_point.iterate import Bounds, Point, centre
from ocp.interior_point.scaled_program import Derivatives, Program
from ocp.interior_point.sparse_systems import Augmented
from ocp.solvers import fronts
from ocp.solvers.nlp import Options
from ocp.solvers.solver_backend import Start

STATIONARITY = 1.0  # of a solution, in the program's own units: IPOPT's limit
LARGEST = 1e3  # multiplier at the start
QUICK = 2.5e-3  # seconds up to which dense factors are kept: most of these are calls
PRODUCTS = 8e8  # of entries of a row with each other that sparse factors take in a second, at most


def choose_system(
    program: Program, condensed: Condensed, entries: np.ndarray
) -> Condensed | Augmented:
    """Return the linear systems of a program that an estimate from its pattern says are quicker.

    Sparse ones, whose plan takes as long as several factorisations, are planned only where dense
    ones take longer than a row after the other would.

    Args:
        program: the program.
        condensed: dense systems of its patterns.
        entries: of the Jacobian at the first point.

    Raises Unsuited for a large core if there is no compiler for sparse factors.
    """
    seconds = condensed.seconds(entries)
    entries_of_rows = np.bincount(program.jacobian.rows).astype(float)
    least = float(entries_of_rows @ entries_of_rows) / PRODUCTS
    if seconds <= max(QUICK, least) or not fronts.available():
        check_size(condensed.elimination(entries))
        return condensed
    augmented = Augmented(program, entries)
    return augmented if augmented.seconds() < seconds else condensed


class ProgramStage:
    """A Program with its linear systems, chosen for the Jacobian's `entries` at the first point."""

    def __init__(self, program: Program, condensed: Condensed, entries: np.ndarray) -> None:
        self.program = program
        self.system = choose_system(program, condensed, entries)
        self.bounds = Bounds(program.lower, program.upper)
        self.objective, self.values = program.objective, program.values
        self.derivatives, self.f_scale = program.derivatives, program.f_scale
        self.jacobian_times = program.jacobian_times
        self.jacobian_t_times = program.jacobian_t_times
        self._take_system()

    def _take_system(self) -> None:
        system = self.system
        self.factorise, self.solve = system.factorise, system.solve
        self.solve_precisely = system.solve_precisely

    def sharpen(self, derivatives: Derivatives) -> bool:
        """Take sparse systems, which are more precise; tell whether these were not taken before."""
        if isinstance(self.system, Augmented) or not fronts.available():
            return False
        self.system = Augmented(self.program, derivatives.entries)
        self._take_system()
        return True

    def linearise(self, v: np.ndarray, y: np.ndarray, derivatives: Derivatives) -> None:
        """Set up the linear system of a point."""
        self.system.update(self.program.hessian_entries(v, y), derivatives)

    def hessian_times(self, step: np.ndarray) -> np.ndarray:
        """Return the Lagrangian's Hessian times a step (size,)."""
        return self.program.patterns.hessian_times(self.system.hessian_entries, step)

    def meets_unscaled_tolerances(self, stationarity: float, complementarity: float) -> bool:
        """Tell whether residuals are small in the objective's own units too."""
        scale = self.f_scale
        return stationarity / scale <= STATIONARITY and complementarity / scale <= COMPLEMENTARITY


def push_inside(
    v: np.ndarray, lower: np.ndarray, upper: np.ndarray, push: float, share: float
) -> np.ndarray:
    """Return v moved away from bounds (section 3.6).

    Args:
        v, lower, upper: variables and bounds (n,).
        push: least distance over the size of the bound.
        share: at most this share of the distance between bounds.
    """
    wide = upper - lower
    with np.errstate(invalid="ignore"):
        low = np.minimum(push * np.maximum(1.0, np.abs(lower)), share * wide)
        high = np.minimum(push * np.maximum(1.0, np.abs(upper)), share * wide)
        least = np.where(np.isfinite(lower), lower + low, -np.inf)
        return np.minimum(np.maximum(v, least), np.where(np.isfinite(upper), upper - high, np.inf))


def initial_variables(program: Program, start: Start, options: Options) -> np.ndarray:
    """Return the first v (size,): inside of bounds, slacks from rows."""
    push, share = options["bound_push"], options["bound_frac"]
    v = np.zeros(program.size)
    n, m = program.variables, program.equalities
    v[:n] = push_inside(start.x[program.moving], program.lower[:n], program.upper[:n], push, share)
    rows = program.values(v.copy())
    v[n:] = push_inside(rows[m:], program.lower[n:], program.upper[n:], push, share)
    return v


def initial_point(stage: ProgramStage, start: Start, v: np.ndarray, mu: float = 0.0) -> Point:
    """Return the first iterate, at v (size,), with multipliers as in the start.

    On the central path of a barrier parameter mu, unless 0, distances and multipliers of bounds
    are moved alike. Unknown multipliers are those of least squares.
    """
    program = stage.program
    n, m = program.variables, program.equalities
    x_multipliers, g_multipliers = start.x_multipliers, start.g_multipliers
    bounded = np.isfinite(program.lower) * 1.0, np.isfinite(program.upper) * 1.0
    if x_multipliers is None or g_multipliers is None:
        point = Point.at(stage, v, np.zeros(program.rows), *bounded)
        return with_least_squares_multipliers(stage, point)
    y, z = g_multipliers[program.order] / program.scales * program.f_scale, np.zeros(program.size)
    z[:n] = x_multipliers[program.moving] * program.f_scale
    z[n:] = y[m:]
    if mu:
        v, z_lower, z_upper = centre(v, z, stage.bounds, mu)
    else:
        z_lower, z_upper = (np.maximum(sign * z, 1e-9) * own for sign, own in zip((-1, 1), bounded))
    return Point.at(stage, v, y, z_lower, z_upper)


def with_least_squares_multipliers(stage: ProgramStage, point: Point) -> Point:
    """Return the point with least-squares multipliers of rows (section 3.6), zero if too large."""
    if not point.sound:
        return point
    program, system = stage.program, stage.system
    system.update(np.zeros(len(program.curvature.rows)), point.derivatives)
    if not system.factorise(np.ones(program.size), 0.0):
        return point
    a = -(point.derivatives.gradient + point.z)
    y = system.solve(a, np.zeros(program.rows))[1]
    if not np.isfinite(y).all() or np.max(np.abs(y), initial=0.0) > LARGEST:
        y = np.zeros(program.rows)
    return replace(point, y=y)
