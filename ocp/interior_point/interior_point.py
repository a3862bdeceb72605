"""An interior point with a filter line search (Waechter & Biegler 2006).

Equations are of that paper; constants too, or where IPOPT's own have moved since, these.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from ocp.interior_point.filter import Filter, Trial, descends
from ocp.interior_point.iterate import Point, Sides, boundary, moved, reset, residuals

REDUCTION, SUPERLINEAR = 0.2, 1.5  # of the barrier parameter, equation 7
TOLERATED = 10.0  # error of a barrier problem beside its parameter, when the next begins
APART = 1e-4  # multiplier times distance, in a program's own units, where it is done
TAU = 0.99  # of the way to a bound at least
FIRST_SHIFT, LEAST_SHIFT, LARGEST_SHIFT = 1e-4, 1e-20, 1e40  # of curvature, algorithm IC
FEWER, MORE, MUCH_MORE = 1 / 3, 8.0, 100.0
REFINED = 1e-10  # residual of a linear system beside its right-hand side
REFINEMENTS = 5
CORRECTIONS, CORRECTED = 4, 0.99  # second-order corrections, and by how much each must gain
TINY = 10 * np.finfo(float).eps  # steps beside the variables
DIVERGED = 1e20  # variables: further out nothing is sought
DISTANT = 1e10  # and from where on rounding of rows, beyond tolerances, may end all steps first
VAST, NEARLY = 1e4, 1e-2  # multipliers that are found anew, and the violation up to which they are


class Stage(Protocol):
    """A program with linear systems of its own, as the interior point needs it."""

    lower: np.ndarray
    upper: np.ndarray
    sides: Sides

    def objective(self, v: np.ndarray) -> float: ...
    def settled(self, stationarity: float, complementarity: float) -> bool: ...
    def values(self, v: np.ndarray) -> np.ndarray: ...
    def slopes(self, v: np.ndarray) -> Any: ...
    def pull(self, slopes: Any, y: np.ndarray) -> np.ndarray: ...
    def push(self, slopes: Any, step: np.ndarray) -> np.ndarray: ...
    def take(self, v: np.ndarray, y: np.ndarray, slopes: Any) -> None: ...
    def bent(self, step: np.ndarray) -> np.ndarray: ...
    def factorise(self, diagonal: np.ndarray, shift: float) -> bool: ...
    def solve(self, a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """When an interior point is done, and how it begins: IPOPT's options of these names.

    `tol` of the scaled error, `max_iter` iterations, `max_wall_time` (s), and the barrier's first
    parameter `mu_init`; it ends at an eleventh of `tol`, or at `mu_min` where that is less.
    """

    tol: float = 1e-8
    max_iter: int = 3000
    max_wall_time: float = 1e20
    mu_init: float = 0.1
    mu_min: float = np.inf


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """Where an interior point ended: its last `point`, in which of IPOPT's words."""

    point: Point
    status: str


class Search:
    """An interior point on its way.

    `show`(point) is called with every iterate, and ends the search where it returns True;
    `restore`(search) returns a Point that the filter takes, or the status with which all ends;
    `accept`(point) ends it well before it has converged; `renew`(point) returns a point with the
    multipliers of least squares, in place of very large ones, which rows that nearly depend on each
    other have.
    """

    def __init__(
        self,
        stage: Stage,
        settings: Settings,
        show: Callable[[Point], bool],
        restore: Callable[["Search"], Point | str] | None = None,
        accept: Callable[[Point], bool] | None = None,
        renew: Callable[[Point], Point] | None = None,
    ):
        self.stage, self.settings = stage, settings
        self.show, self.restore, self.accept, self.renew = show, restore, accept, renew
        self.mu, self.filter = settings.mu_init, Filter()
        self.shift, self.count, self.regularized, self.tiny = 0.0, 0, 0.0, 0
        self.begin = time.perf_counter()
        self.log: list[tuple[float, ...]] = []

    def run(self, point: Point) -> Ending:
        """Iterate from a point to the end."""
        self.filter.begin(point.theta)
        while True:
            status = self._ended(point)
            if status:
                return Ending(point=point, status=status)
            self._lower_barrier(point)
            self.stage.take(point.v, point.y, point.slopes)
            found = self._step(point) or self._restored(point)
            if isinstance(found, str):
                return Ending(point=self.last, status=found)
            point = self._renewed(found)
            self.count += 1

    def _renewed(self, point: Point) -> Point:
        """Return a nearly feasible point with new multipliers where they are very large, and these
        leave less of an error."""
        large = np.max(np.abs(point.y), initial=0.0) > VAST and point.theta < NEARLY
        if self.renew is None or not large or not point.sound:
            return point
        renewed = self.renew(point)
        return min(renewed, point, key=lambda each: residuals(each).stationarity)

    def _restored(self, point: Point) -> Point | str:
        """Return a point that is more feasible than one from which no step leads on, or why there
        is none."""
        if self.restore is None:
            return "Restoration_Failed"
        if np.max(np.abs(point.v), initial=0.0) > DISTANT:
            return "Diverging_Iterates"
        self.filter.add(point.theta, point.barrier(self.mu))
        return self.restore(self)

    def _ended(self, point: Point) -> str:
        """Return the status with which a point ends the search, "" where it does not."""
        self.last = point
        if not point.sound:
            return "Invalid_Number_Detected"
        if self.show(point):
            return "User_Requested_Stop"
        left = self.left = residuals(point)
        error = left.error(0.0)
        self.log.append((self.count, self.mu, point.f, point.theta, error, self.regularized))
        if error <= self.settings.tol and self.stage.settled(left.stationarity, left.apart(0.0)):
            return "Solve_Succeeded"
        if self.accept is not None and self.accept(point):
            return "Accepted"
        if self.count >= self.settings.max_iter:
            return "Maximum_Iterations_Exceeded"
        if time.perf_counter() - self.begin > self.settings.max_wall_time:
            return "Maximum_WallTime_Exceeded"
        if self.tiny > 1 and self.mu <= self._least_mu():
            return "Search_Direction_Becomes_Too_Small"
        if np.max(np.abs(point.v), initial=0.0) > DIVERGED:
            return "Diverging_Iterates"
        return ""

    def _lower_barrier(self, point: Point) -> None:
        """Lower the barrier parameter while its problem is solved well enough (equation 7)."""
        least = self._least_mu()
        while self.mu > least and (
            self.tiny > 1 or self.left.error(self.mu) <= TOLERATED * self.mu
        ):
            self.tiny = 0
            self.mu = max(least, min(REDUCTION * self.mu, self.mu**SUPERLINEAR))
            self.filter = Filter()
            self.filter.begin(point.theta)

    def _least_mu(self) -> float:
        least = min(self.settings.tol, APART) / (TOLERATED + 1)
        return min(least, self.settings.mu_min)

    def _step(self, point: Point) -> Point | None:
        """Return the next point, or None where no step is found."""
        if not self._factorise(point):
            return None
        direction = self._direction(point, point.values)
        return self._line_search(point, direction)

    def _factorise(self, point: Point) -> bool:
        """Factorise with the least shift of curvature that makes the system a minimum's."""
        diagonal, shift = point.barrier_curvature(), 0.0
        while not self.stage.factorise(diagonal, shift):
            if shift == 0.0:
                first = self.shift == 0.0
                shift = FIRST_SHIFT if first else max(LEAST_SHIFT, FEWER * self.shift)
            else:
                shift *= MUCH_MORE if self.shift == 0.0 else MORE
            if shift > LARGEST_SHIFT:
                return False
        self.regularized = shift
        if shift:
            self.shift = shift
        self.diagonal = diagonal + shift
        return True

    def _direction(self, point: Point, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return steps (dv, dy) that bring rows with these values to zero, refined."""
        slope = point.barrier_slope(self.mu)
        a = -(slope + self.stage.pull(point.slopes, point.y))
        b = -values
        dv, dy = self.stage.solve(a, b)
        size = max(np.max(np.abs(a), initial=0.0), np.max(np.abs(b), initial=0.0))
        last = np.inf
        for _ in range(REFINEMENTS):
            bent = self.stage.bent(dv) + self.diagonal * dv
            left_a = a - bent - self.stage.pull(point.slopes, dy)
            left_b = b - self.stage.push(point.slopes, dv)
            left = max(np.max(np.abs(left_a), initial=0.0), np.max(np.abs(left_b), initial=0.0))
            if not np.isfinite(left) or left <= REFINED * size or left > 0.5 * last:
                break
            last = left
            more_v, more_y = self.stage.solve(left_a, left_b)
            dv, dy = dv + more_v, dy + more_y
        return dv, dy

    def _line_search(self, point: Point, step: tuple[np.ndarray, np.ndarray]) -> Point | None:
        """Return the point that a filter line search takes along a step (algorithm A, step 5)."""
        dv, dy = step
        if not (np.isfinite(dv).all() and np.isfinite(dy).all()):
            return None
        tau = max(TAU, 1.0 - self.mu)
        slope = float(point.barrier_slope(self.mu) @ dv)
        most, of_bounds = boundary(point, dv, self.mu, tau)
        here = Trial(theta=point.theta, phi=point.barrier(self.mu))
        tiny = np.max(np.abs(dv) / (1.0 + np.abs(point.v)), initial=0.0) < TINY
        self.tiny = self.tiny + 1 if tiny else 0
        if tiny and point.theta > self.settings.tol:
            return None
        length, least = most, self.filter.least(here, slope)
        while tiny or length > least:
            v = point.v + length * dv
            if length == most:  # most often taken: its slopes tell its values, too
                self.stage.slopes(v)
            trial = self._trial(v)
            if tiny or self._takes(here, trial, slope, length):
                return self._to(point, v, length, dy, dv, of_bounds)
            if length == most and trial.theta >= here.theta:
                corrected = self._corrected(point, dv, here, slope, length, trial)
                if corrected is not None:
                    return corrected
            length *= 0.5
        return None

    def _takes(self, here: Trial, trial: Trial, slope: float, length: float) -> bool:
        """Tell whether filter and descent take a trial; remember in the filter where it must."""
        if not self.filter.admits(trial) or not descends(here, trial, slope, length, self.filter):
            return False
        if not self.filter.switches(here, slope, length) or not self.filter.armijo(
            here, trial, slope, length
        ):
            self.filter.add(here.theta, here.phi)
        return True

    def _corrected(
        self,
        point: Point,
        dv: np.ndarray,
        here: Trial,
        slope: float,
        length: float,
        trial: Trial,
    ) -> Point | None:
        """Return the point of a second-order correction that is taken (section 2.4)."""
        tau = max(TAU, 1.0 - self.mu)
        values, before = length * point.values + self.stage.values(trial.v), trial.theta
        for _ in range(CORRECTIONS):
            turned, dy = self._direction(point, values)
            own, of_bounds = boundary(point, turned, self.mu, tau)
            v = point.v + own * turned
            again = self._trial(v)
            if self._takes(here, again, slope, length):
                return self._to(point, v, own, dy, turned, of_bounds)
            if again.theta > CORRECTED * before or not np.isfinite(again.theta):
                return None
            values, before = own * values + self.stage.values(v), again.theta
        return None

    def _trial(self, v: np.ndarray) -> Trial:
        values = self.stage.values(v)
        theta = float(np.sum(np.abs(values)))
        if not np.isfinite(theta):
            return Trial(theta=np.inf, phi=np.inf, v=v)
        f = self.stage.objective(v)
        phi = f + self.stage.sides.barrier(v, self.mu)
        return Trial(theta=theta, phi=phi if np.isfinite(phi) else np.inf, v=v)

    def _to(
        self,
        point: Point,
        v: np.ndarray,
        length: float,
        dy: np.ndarray,
        dv: np.ndarray,
        of_bounds: float,
    ) -> Point:
        """Return the point at v with multipliers moved along."""
        z_lower, z_upper = moved(point, dv, self.mu, of_bounds)
        new = Point.at(self.stage, v, point.y + length * dy, z_lower, z_upper)
        return reset(new, self.mu)
