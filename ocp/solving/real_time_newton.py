"""Real-time iteration: Newton steps of the interior point from where the last ones ended.

Each is taken on the quadratic program at the last point, whose derivatives are evaluated once
(Diehl, Bock & Schloeder 2005), towards a barrier parameter that stays (Wang & Boyd 2010) but while
rows are violated, as after a jump, when it is larger. There is no line search.
"""

import time
from dataclasses import dataclass

import numpy as np

from ocp.interior_point.condensed_systems import Condensed
from ocp.interior_point.interior_point import FIRST_SHIFT, LARGEST_SHIFT, MORE
from ocp.interior_point.iterate import Bounds, centre
from ocp.interior_point.kernels.native_kernels import fastest_engine
from ocp.interior_point.scaled_program import Patterns, Program
from ocp.interior_point.system_and_initial_point import ProgramStage
from ocp.solvers.nlp import NLP

FLOOR, RAISED = 1e-3, 1e-2  # barrier parameter at least, and at most for violated rows
SHARE = 0.1  # barrier parameter over the violation of rows
CENTRED = 0.1  # barrier parameter over the mean product of multipliers and distances
BOUNDARY = 0.995  # fraction to the boundary
MET = 1e-3  # violation of a scaled row after which no further step is taken
CLOSEST = 1e-9  # distance from a bound below which a variable is brought back
TOWARD = np.array([[1.0], [-1.0]])  # signs of a step away from lower and upper bounds
FORGOTTEN = 0.5  # share of the time of a step that is kept where none was taken


@dataclass(frozen=True, slots=True, kw_only=True)
class Interior:
    """Variables and slacks v (size,), multipliers y (rows,) of rows and of lower and upper bounds
    (size,), in the units of a scaled program."""

    v: np.ndarray
    y: np.ndarray
    z_lower: np.ndarray
    z_upper: np.ndarray


class RealTime:
    """Newton steps on a program whose bounds and fixed variables change from step to step.

    Args:
        nlp: the program.
        hessian: kind of its Hessian, "exact" or "gauss-newton".
        x: variables (variables,) from which its scales are.
    """

    def __init__(self, nlp: NLP, hessian: str, x: np.ndarray) -> None:
        condensed = Condensed(Patterns(nlp, hessian, fastest_engine()))
        self.program = Program(nlp, x, condensed.patterns)
        v = np.append(x[self.program.moving], np.zeros(self.program.size - self.program.variables))
        derivatives = self.program.derivatives(v)
        self.stage = ProgramStage(self.program, condensed, derivatives.entries)
        self.stage.sharpen(derivatives)  # sparse factors, whose order serves all steps
        self.seconds = 0.0  # that the last step took

    def set_bounds(self, *sides: np.ndarray) -> None:
        """Take bounds, as `Program.set_bounds`."""
        before = self.program.sides
        self.program.set_bounds(*sides)
        if not (before == self.program.sides).all():
            self.stage.bounds = Bounds(self.program.lower, self.program.upper)

    def interior(
        self, x: np.ndarray, x_multipliers: np.ndarray, g_multipliers: np.ndarray
    ) -> Interior:
        """Return the point on the central path next to a solution: of each bound the distance d and
        the multiplier z have the product FLOOR, and d - z is the solution's."""
        program = self.program
        n, m = program.variables, program.equalities
        v = np.append(x[program.moving], np.zeros(program.size - n))
        v[n:] = program.values(v.copy())[m:]
        y = g_multipliers[program.order] / program.scales * program.f_scale
        z = np.append(x_multipliers[program.moving] * program.f_scale, y[m:])
        v, z_lower, z_upper = centre(v, z, self.stage.bounds, FLOOR)
        return Interior(v=v, y=y, z_lower=z_lower, z_upper=z_upper)

    def step(self, point: Interior, newton: int, deadline: float = np.inf) -> tuple[Interior, int]:
        """Return the point after Newton steps, each on the quadratic program at the last point, and
        their number.

        Args:
            point: where the first program is made.
            newton: number of steps at most; after one there are others while a row is violated by
                more than MET.
            deadline: reading of time.perf_counter (s) that no step is begun for which the last one
                tells would pass it.
        """
        for count in range(newton):
            now = time.perf_counter()
            if now + self.seconds > deadline:
                # lest one slow step keeps all others from being tried
                self.seconds *= 1.0 if count else FORGOTTEN
                return point, count
            if count and np.max(np.abs(self.stage.values(point.v)), initial=0.0) <= MET:
                return point, count
            moved = self._newton_step(point)
            if moved is None:
                return point, count
            point = moved
            self.seconds = time.perf_counter() - now
        return point, newton

    def inside(self, point: Interior) -> Interior:
        """Return a point with variables within bounds that have moved past them."""
        bounds = self.stage.bounds
        near = (point.v - bounds.lower < CLOSEST) | (bounds.upper - point.v < CLOSEST)
        if not near.any():
            return point
        v, z_lower, z_upper = centre(point.v, np.zeros(len(point.v)), bounds, FLOOR)
        return Interior(
            v=np.where(near, v, point.v),
            y=point.y,
            z_lower=np.where(near, z_lower, point.z_lower),
            z_upper=np.where(near, z_upper, point.z_upper),
        )

    def variables(self, point: Interior) -> np.ndarray:
        """Return the variables of the NLP."""
        return self.program.point(point.v)

    def _newton_step(self, point: Interior) -> Interior | None:
        """Return the point after a primal-dual step, None without one."""
        stage, bounds = self.stage, self.stage.bounds
        derivatives = stage.derivatives(point.v)  # first, as they give values too
        stage.linearise(point.v, point.y, derivatives)
        # Of lower bounds in the first row, and of upper ones in the second
        distance = bounds.distances(point.v)
        z = np.array([point.z_lower, point.z_upper])
        by, finite = z / distance, bounds.finite
        products = float(z.ravel()[finite] @ distance.ravel()[finite])
        values = stage.values(point.v)
        missed = SHARE * float(np.max(np.abs(values), initial=0.0))
        mu = max(FLOOR, min(missed, RAISED), CENTRED * products / max(1, bounds.count))
        if not self._factorise(by[0] + by[1]):
            return None
        centring = mu / distance
        pulled = stage.jacobian_t_times(derivatives, point.y)
        slope = derivatives.gradient + pulled + (centring[1] - centring[0])
        dv, dy = stage.solve_precisely(-slope, -values)
        if not np.isfinite(dv).all():
            return None
        toward = TOWARD * dv
        dz = centring - z - by * toward
        with np.errstate(divide="ignore", invalid="ignore"):  # of bounds that there are not
            length, z_length = _longest(distance, toward), _longest(z, dz)
        z += z_length * dz
        return Interior(
            v=point.v + length * dv, y=point.y + length * dy, z_lower=z[0], z_upper=z[1]
        )

    def _factorise(self, diagonal: np.ndarray) -> bool:
        """Factorise with the least shift tried that gives the inertia of a minimum."""
        shift = 0.0
        while not self.stage.factorise(diagonal, shift):
            shift = MORE * shift if shift else FIRST_SHIFT
            if shift > LARGEST_SHIFT:
                return False
        return True


def _longest(distance: np.ndarray, step: np.ndarray) -> float:
    """Return the longest step at most 1 that keeps distances positive."""
    most = -float(np.fmin.reduce(step / distance, axis=None, initial=0.0))
    return 1.0 if most <= BOUNDARY else BOUNDARY / most
