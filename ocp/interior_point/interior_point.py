"""Primal-dual interior point with a filter line search (Waechter & Biegler 2006).

Equations and constants are those of the paper, or IPOPT's where these have changed since.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ocp.interior_point.barrier import (
    FIXED,
    LARGEST,
    Progress,
    Step,
    best_centring,
    mean_product,
    quality_function,
)
from ocp.interior_point.filter import Filter, Trial, is_sufficient
from ocp.interior_point.iterate import (
    Aim,
    Evaluation,
    Point,
    Slopes,
    bound_multiplier_steps,
    fraction_to_boundary,
    limit_bound_multipliers,
    residuals,
    step_bound_multipliers,
)

REDUCTION, SUPERLINEAR = 0.2, 1.5  # of the barrier parameter, equation 7
TOLERATED = 10.0  # error of a barrier problem, times its parameter, when the next begins
COMPLEMENTARITY = 1e-4  # multiplier times distance of a solution, in the program's own units
TAU = 0.99  # least fraction to the boundary
FIRST_SHIFT, LEAST_SHIFT, LARGEST_SHIFT = 1e-4, 1e-20, 1e40  # of curvature, algorithm IC
FEWER, MORE, MUCH_MORE = 1 / 3, 8.0, 100.0
REFINED = 1e-10  # residual of a linear system relative to its right-hand side
REFINEMENTS = 5
SHORT, BLOCKED = 0.01, 3  # length of steps after so many of which the monotone rule takes over
COLLAPSED = 3  # shifted steps of the least barrier parameter after which it is raised again
IMPRECISE = 1e-5  # residual after refinements with which a better factorisation is tried
CORRECTIONS, CORRECTED = 4, 0.99  # second-order corrections, and the gain of each
GAIN = 0.9  # violation over the one before it where slacks follow rows, or feasibility is restored
LONG, LONGER, SHARES = 0.9, 0.01, 9  # steps that nothing corrects, gain, shares tried: assumed
TINY = 10 * np.finfo(float).eps  # steps relative to the variables
DIVERGED = 1e20  # size of variables at which the search ends
DISTANT = 1e10  # and at which rounding of rows, larger than tolerances, may stop all steps
SOLVED = "Solve_Succeeded"
VAST, NEARLY = 1e4, 1e-2  # multipliers that are recomputed; violation and error of a near solution


class Stage(Evaluation, Protocol):
    """Nonlinear program with its own linear systems, as the interior point needs it.

        [W + D  J'] [dv]   [a]
        [J      0 ] [dy] = [b]

    `linearise` takes W and J at a point, `factorise` adds the diagonal D and tells whether the
    system has the inertia of a minimum, `solve` returns (dv, dy). `sharpen` takes a more precise
    factorisation if there is one. `f_scale` is what the objective's own units are multiplied by.
    """

    f_scale: float

    def meets_unscaled_tolerances(self, stationarity: float, complementarity: float) -> bool: ...
    def jacobian_times(self, derivatives: Slopes, step: np.ndarray) -> np.ndarray: ...
    def hessian_times(self, step: np.ndarray) -> np.ndarray: ...
    def linearise(self, v: np.ndarray, y: np.ndarray, derivatives: Slopes) -> None: ...
    def sharpen(self, derivatives: Slopes) -> bool: ...
    def factorise(self, diagonal: np.ndarray, shift: float) -> bool: ...
    def solve(self, a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Options of IPOPT: tolerance `tol` of the scaled error, `max_iter` iterations,
    `max_wall_time` (s), first barrier parameter `mu_init`. The last one is an eleventh of `tol`, or
    `mu_min` if that is less. `adaptive`: the parameter is chosen for each step. `near`: the search
    begins near a solution, and steps that bounds cut off are corrected.
    """

    tol: float = 1e-8
    max_iter: int = 3000
    max_wall_time: float = 1e20
    mu_init: float = 0.1
    mu_min: float = np.inf
    adaptive: bool = False
    near: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchResult:
    """Last `point` of a search, and its `status` in IPOPT's words."""

    point: Point
    status: str


class Search:
    """State of an interior point search.

    Args:
        stage: the program.
        settings: tolerances and limits.
        show: called with every iterate; True ends the search.
        restore: restores feasibility: a point that the filter accepts, or the final status.
        accept: True for a point ends the search before it has converged.
        renew: returns the point with least-squares multipliers, which replace very large ones, as
            nearly dependent rows have them.
        follow: returns variables with slacks at the values of their rows.
    """

    def __init__(
        self,
        stage: Stage,
        settings: Settings,
        show: Callable[[Point], bool],
        restore: Callable[["Search"], Point | str] | None = None,
        accept: Callable[[Point], bool] | None = None,
        renew: Callable[[Point], Point] | None = None,
        follow: Callable[[np.ndarray], np.ndarray] | None = None,
    ) -> None:
        self.stage, self.settings = stage, settings
        self.show, self.restore, self.accept, self.renew = show, restore, accept, renew
        self.follow = follow
        self.mu, self.filter = settings.mu_init, Filter()
        self.blocked = self.collapsed = self.stalled = 0
        self.unshifted = 0.0  # mean product where the last step without a shift has led
        self.free, self.progress, self.most = settings.adaptive, Progress(), np.inf
        self.shift, self.count, self.regularized, self.tiny = 0.0, 0, 0.0, 0
        self.begin = time.perf_counter()
        self.log: list[tuple[float, ...]] = []

    def search_from(self, point: Point) -> SearchResult:
        """Iterate from a point until the search ends."""
        self.filter.begin(point.theta)
        while True:
            status = self._termination_status(point)
            if status:
                return SearchResult(point=point, status=status)
            self._update_barrier(point)
            self.stage.linearise(point.v, point.y, point.derivatives)
            stalled = self._is_stalled(point)
            found = (None if stalled else self._step(point)) or self._restore(point)
            if isinstance(found, str):
                point, status = (point, SOLVED) if self._is_solved() else (self.last, found)
                return SearchResult(point=point, status=status)
            point = self._recompute_multipliers(found)
            self.count += 1

    def _recompute_multipliers(self, point: Point) -> Point:
        """Return a nearly feasible point with new multipliers if its own are very large and the new
        ones leave a smaller residual."""
        large = np.max(np.abs(point.y), initial=0.0) > VAST and point.theta < NEARLY
        if self.renew is None or not large or not point.sound:
            return point
        renewed = self.renew(point)
        return min(renewed, point, key=lambda each: residuals(each).stationarity)

    def _is_stalled(self, point: Point) -> bool:
        """Tell whether steps of the monotone rule come to nothing before a point is feasible."""
        restorable = self.restore is not None and point.theta > self.settings.tol
        return restorable and self.stalled >= BLOCKED

    def _restore(self, point: Point) -> Point | str:
        """Return a more feasible point if the line search has failed, or the final status."""
        self.stalled = 0
        if self.restore is None:
            return "Restoration_Failed"
        if np.max(np.abs(point.v), initial=0.0) > DISTANT:
            return "Diverging_Iterates"
        self.filter.add(point.theta, point.barrier(self.mu))
        return self.restore(self)

    def _termination_status(self, point: Point) -> str:
        """Return the status with which a point ends the search, "" if it does not."""
        self.last = point
        if not point.sound:
            return "Invalid_Number_Detected"
        if self.show(point):
            return "User_Requested_Stop"
        left = self.left = residuals(point)
        error = left.error(0.0)
        self.log.append((self.count, self.mu, point.f, point.theta, error, self.regularized))
        if self._is_solved() and (self.mu <= self._least_mu() or not self.settings.adaptive):
            return SOLVED
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

    def _is_solved(self) -> bool:
        """Tell whether the residuals of the point at hand meet all tolerances."""
        left = self.left
        return left.error(0.0) <= self.settings.tol and self.stage.meets_unscaled_tolerances(
            left.stationarity, left.complementarity(0.0)
        )

    def _update_barrier(self, point: Point) -> None:
        """Leave the barrier parameter to each step while there is progress, else to the monotone
        rule; the last step has the least one."""
        if not self.settings.adaptive:
            return self._lower_barrier(point)
        error, average = self.left.error(0.0), mean_product(self.left)
        if not np.isfinite(self.most):
            self.most = max(LARGEST * average, self._least_mu())
        if error <= self.settings.tol:
            self.free = False
            return self._begin_barrier(point, self._least_mu())
        if not self.free and self.blocked and self.left.error(self.mu) <= TOLERATED * self.mu:
            self.blocked = 0
        if not (self.free and self.regularized):
            self.collapsed, self.unshifted = 0, average
        else:
            self.collapsed = 0 if self.mu > 1.01 * self._least_mu() else self.collapsed + 1
        if self.collapsed >= COLLAPSED:
            self.collapsed, self.blocked = 0, BLOCKED
            self._fix_barrier(point, max(self.unshifted, average))
        elif self.tiny == 0 and self.blocked < BLOCKED and self.progress.admits(point, error):
            self.free = True
            self.progress.add(point)
        elif self.free:
            self._fix_barrier(point, average)
        else:
            self._lower_barrier(point)
        return None

    def _fix_barrier(self, point: Point, average: float) -> None:
        """Go on by the monotone rule from a parameter of this mean product."""
        self.free, self.tiny = False, 0
        mu = FIXED * average
        self._begin_barrier(point, min(max(mu, self._least_mu()), self.most))

    def _begin_barrier(self, point: Point, mu: float) -> None:
        self.mu, self.filter = mu, Filter()
        self.filter.begin(point.theta)

    def _lower_barrier(self, point: Point) -> None:
        """Lower the barrier parameter while its problem is solved well enough (equation 7)."""
        least = self._least_mu()
        while self.mu > least and (
            self.tiny > 1 or self.left.error(self.mu) <= TOLERATED * self.mu
        ):
            self.tiny = 0
            mu = max(least, min(REDUCTION * self.mu, self.mu**SUPERLINEAR))
            self._begin_barrier(point, mu)

    def _least_mu(self) -> float:
        # A scaled product no greater than the own units' limit, as IPOPT scales compl_inf_tol:
        # else a rough tolerance is met at a parameter whose solution fails that limit for ever
        limit = COMPLEMENTARITY * self.stage.f_scale
        least = min(self.settings.tol, limit) / (TOLERATED + 1)
        return min(least, self.settings.mu_min)

    def _step(self, point: Point) -> Point | None:
        """Return the next point, or None if no step is found."""
        if not self._factorise(point):
            return None
        step = self._free_direction(point) if self.free else self._direction(point, point.values)
        nearly = self.left.error(0.0) <= NEARLY  # elsewhere other steps do as well
        if self.imprecise and nearly and self.stage.sharpen(point.derivatives):
            self.stage.linearise(point.v, point.y, point.derivatives)
            return self._step(point)
        found = self._line_search(point, step)
        if found is None and self.free:
            self._fix_barrier(point, mean_product(self.left))
            step = self._direction(point, point.values)
            found = self._line_search(point, step)
        return found or self._follow_rows(point, step)

    def _free_direction(self, point: Point) -> Step:
        """Choose the barrier parameter at a point; return its Newton step."""
        average, least = mean_product(self.left), self._least_mu()
        if average == 0.0:
            self._begin_barrier(point, least)
            return self._direction(point, point.values)
        a, b = self._right_side(point, point.values, 0.0)
        affine = self.stage.solve(a, b)
        centring = self.stage.solve(self._right_side(point, point.values, average)[0] - a, 0.0 * b)
        tau = max(TAU, 1.0 - self.left.error(0.0))
        quality = quality_function(point, affine[0], centring[0], average, tau)
        sigma = best_centring(quality, least / average, self.most / average)
        self._begin_barrier(point, max(least, sigma * average))
        sigma = self.mu / average
        first = affine[0] + sigma * centring[0], affine[1] + sigma * centring[1]
        return self._direction(point, point.values, first)

    def _right_side(self, point: Point, values: np.ndarray, mu: float) -> Step:
        """Return the right-hand sides (a, b) of the Newton step of a barrier parameter."""
        pulled = self.stage.jacobian_t_times(point.derivatives, point.y)
        return -(point.barrier_slope(mu) + pulled), -values

    def _factorise(self, point: Point) -> bool:
        """Factorise with a shift that gives the inertia of a minimum (algorithm IC)."""
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

    def _direction(self, point: Point, values: np.ndarray, first: Step | None = None) -> Step:
        """Return the Newton step (dv, dy) for rows of these values, iteratively refined from a
        first one."""
        a, b = self._right_side(point, values, self.mu)
        dv, dy = self.stage.solve(a, b) if first is None else first
        size = max(np.max(np.abs(a), initial=0.0), np.max(np.abs(b), initial=0.0))
        left = last = np.inf
        for _ in range(REFINEMENTS):
            curved = self.stage.hessian_times(dv) + self.diagonal * dv
            left_a = a - curved - self.stage.jacobian_t_times(point.derivatives, dy)
            left_b = b - self.stage.jacobian_times(point.derivatives, dv)
            left = max(np.max(np.abs(left_a), initial=0.0), np.max(np.abs(left_b), initial=0.0))
            if not np.isfinite(left) or left <= REFINED * size or left > 0.5 * last:
                break
            last = left
            more_v, more_y = self.stage.solve(left_a, left_b)
            dv, dy = dv + more_v, dy + more_y
        self.imprecise = not left <= IMPRECISE * size
        return dv, dy

    def _line_search(self, point: Point, step: Step) -> Point | None:
        """Return the point that a filter line search accepts along a step (algorithm A-5)."""
        dv, dy = step
        if not (np.isfinite(dv).all() and np.isfinite(dy).all()):
            return None
        tau = self._tau()
        slope = float(point.barrier_slope(self.mu) @ dv)
        longest, z_length = fraction_to_boundary(point, dv, self.mu, tau)
        here = Trial(theta=point.theta, phi=point.barrier(self.mu))
        tiny = np.max(np.abs(dv) / (1.0 + np.abs(point.v)), initial=0.0) < TINY
        self.tiny = self.tiny + 1 if tiny else 0
        if tiny and point.theta > self.settings.tol:
            return None
        if self.settings.near and not self.regularized and min(longest, z_length) < LONG:
            corrected = self._complementarity_correction(point, here, step, longest, z_length)
            if corrected is not None:
                return corrected
        length, least = longest, self.filter.least_length(here, slope)
        while tiny or length > least:
            v = point.v + length * dv
            if length == longest:  # most often accepted: its derivatives give its values, too
                self.stage.derivatives(v)
            trial = self._trial(v)
            if tiny or self._accepts(here, trial, slope, length):
                return self._next_point(point, v, length, (dv, dy), z_length)
            if length == longest and trial.theta >= here.theta:
                corrected = self._second_order_correction(point, here, trial, slope, length)
                if corrected is not None:
                    return corrected
            length *= 0.5
        return None

    def _follow_rows(self, point: Point, step: Step) -> Point | None:
        """Return the point of a step without progress if it makes one with slacks at the values
        of their rows, as near as the fraction to the boundary lets them come.

        Rows bend along a step, and slacks that go straight on are then violation that no row has.
        """
        dv, dy = step
        finite = np.isfinite(dv).all() and np.isfinite(dy).all()
        if self.follow is None or point.theta <= self.settings.tol or not finite:
            return None
        tau = self._tau()
        least, most = point.v - tau * point.below, point.v + tau * point.above
        here = Trial(theta=point.theta, phi=point.barrier(self.mu))
        length, z_length = fraction_to_boundary(point, dv, self.mu, tau)
        while length > SHORT:
            v = np.clip(self.follow(point.v + length * dv), least, most)
            trial = self._trial(v)
            if trial.theta <= GAIN * here.theta and self.filter.admits(trial):
                self.filter.add(here.theta, here.phi)
                return self._next_point(point, v, length, step, z_length)
            length *= 0.5
        return None

    def _tau(self) -> float:
        """Return the fraction to the boundary."""
        return max(TAU, 1.0 - (self.left.error(0.0) if self.free else self.mu))

    def _accepts(self, here: Trial, trial: Trial, slope: float, length: float) -> bool:
        """Tell whether filter and descent accept a trial, and augment the filter."""
        if not self.filter.admits(trial) or not is_sufficient(
            here, trial, slope, length, self.filter
        ):
            return False
        if not self.filter.switches(here, slope, length) or not self.filter.armijo(
            here, trial, slope, length
        ):
            self.filter.add(here.theta, here.phi)
        return True

    def _second_order_correction(
        self, point: Point, here: Trial, trial: Trial, slope: float, length: float
    ) -> Point | None:
        """Return the point of an accepted second-order correction (section 2.4)."""
        tau = self._tau()
        values, before = length * point.values + self.stage.values(trial.v), trial.theta
        for _ in range(CORRECTIONS):
            dv, dy = self._direction(point, values)
            own, z_length = fraction_to_boundary(point, dv, self.mu, tau)
            v = point.v + own * dv
            again = self._trial(v)
            if self._accepts(here, again, slope, length):
                return self._next_point(point, v, own, (dv, dy), z_length)
            if again.theta > CORRECTED * before or not np.isfinite(again.theta):
                return None
            values, before = own * values + self.stage.values(v), again.theta
        return None

    def _complementarity_correction(
        self, point: Point, here: Trial, step: Step, longest: float, z_length: float
    ) -> Point | None:
        """Return the point of a step that bounds cut off, with what steps of distances times those
        of multipliers add made up for (Mehrotra 1992) by the share that leads farthest (Colombo &
        Gondzio 2008), if violation falls by more than the step itself could lower it.
        """
        dv, dy = step
        lower, upper = bound_multiplier_steps(point, dv, self.mu)
        added = np.array([dv * lower, -dv * upper])
        pull = added[1] / point.above - added[0] / point.below
        more_v, more_y = self.stage.solve(pull, np.zeros(len(dy)))

        def lengths(share: float) -> tuple[float, float]:
            aim = self.mu - share * added
            return fraction_to_boundary(point, dv + share * more_v, aim, self._tau())

        shares = np.linspace(longest * z_length, 1.0, SHARES).tolist()
        tried = [(*lengths(share), share) for share in shares]
        own, z_own, share = max(tried, key=lambda each: each[0] * each[1])
        if own < longest + LONGER or z_own < z_length:
            return None
        dv, dy = dv + share * more_v, dy + share * more_y
        trial = self._trial(point.v + own * dv)
        slope = float(point.barrier_slope(self.mu) @ dv)
        promised = trial.theta <= (1.0 - longest) * here.theta
        if not (promised and self._accepts(here, trial, slope, own)):
            return None
        return self._next_point(point, trial.v, own, (dv, dy), z_own, self.mu - share * added)

    def _trial(self, v: np.ndarray) -> Trial:
        values = self.stage.values(v)
        theta = float(np.sum(np.abs(values)))
        if not np.isfinite(theta):
            return Trial(theta=np.inf, phi=np.inf, v=v)
        f = self.stage.objective(v)
        phi = f + self.stage.bounds.barrier(v, self.mu)
        return Trial(theta=theta, phi=phi if np.isfinite(phi) else np.inf, v=v)

    def _next_point(
        self,
        point: Point,
        v: np.ndarray,
        length: float,
        step: Step,
        z_length: float,
        aim: Aim | None = None,
    ) -> Point:
        """Return the point at v with multipliers moved along a step, toward products of the barrier
        parameter unless others are aimed at."""
        if self.free:
            self.blocked = self.blocked + 1 if length < SHORT else 0
        self.stalled = self.stalled + 1 if length < SHORT and not self.free else 0
        dv, dy = step
        z_lower, z_upper = step_bound_multipliers(
            point, dv, self.mu if aim is None else aim, z_length
        )
        new = Point.at(self.stage, v, point.y + length * dy, z_lower, z_upper)
        return limit_bound_multipliers(new, self.mu)
