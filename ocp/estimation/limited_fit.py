"""Spline fit to all frames of markers, within joint limits in every frame.

A primal-dual interior method on the banded system of `spline_fit`: half the sum of squares less mu
times the logarithms of the distances to the limits is minimised for decreasing mu (Fiacco &
McCormick 1968). Limits change only the diagonal of the frames' normal matrices, by multiplier over
slack (Nocedal & Wright 2006, section 19.3).
"""

from dataclasses import dataclass, replace

import numpy as np

from ocp.estimation.spline_fit import (
    EASED,
    FAINT,
    GENTLE,
    SPENT,
    STIFF,
    STILL,
    Search,
    SplineFit,
    Unknowns,
)

FIRST, LAST = 1e-2, 1e-14  # mu: of the sum of squares for each limit; and m^2
LESS, POWER = 0.2, 0.5  # by which mu falls: at least, and as this power of its own fall so far
KEPT = 5e-3  # of a slack or a multiplier, by any step
SHORTEST = 8  # halvings of a step, before it is damped
MORE = 1e-6  # damping after a step that failed
INSIDE = 1e-2  # rad or m, and of a range: how far the first control points are from limits
WIDTH = 1e-6  # rad or m: a range that is narrower is as wide
CLOSE = 1e-6  # rad or m: a coordinate nearer to its limit is held there


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Limits:
    """Limits of coordinates, `lower` and `upper` (n,), infinite where there are none."""

    lower: np.ndarray
    upper: np.ndarray

    @property
    def with_width(self) -> "Limits":
        """The same, ranges without an inside being WIDTH wide."""
        lack = np.maximum(WIDTH - (self.upper - self.lower), 0.0) / 2
        return Limits(lower=self.lower - lack, upper=self.upper + lack)

    def inside(self, points: np.ndarray) -> np.ndarray:
        """Return control points (points, n) that are well within the limits, and so are splines."""
        wide = np.where(np.isfinite(self.upper - self.lower), self.upper - self.lower, 1.0)
        gap = np.minimum(INSIDE, INSIDE * wide)
        return np.clip(points, self.lower + gap, self.upper - gap)

    def slacks(self, q: np.ndarray) -> np.ndarray:
        """Return the distances (2, n, N) to the lower limits and to the upper ones."""
        return np.array([q - self.lower[:, None], self.upper[:, None] - q])


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Point:
    """A point of the search: unknowns, the sum of squares there, `slack` and `multiplier` (2, n, N)
    of the limits, zero for those that are infinite."""

    x: Unknowns
    cost: float
    slack: np.ndarray
    multiplier: np.ndarray

    def merit(self, mu: float) -> float:
        """Return half the sum of squares less mu times the logarithms of the slacks."""
        return self.cost / 2 - mu * float(np.log(self.slack[np.isfinite(self.slack)]).sum())


def fit_within_limits(
    search: Search, start: Unknowns, limits: Limits, iterations: int
) -> SplineFit:
    """Return the Splined of unknowns within limits, from a start on."""
    limits = limits.with_width
    n = search.sightings.tree.dof
    here, mu = _first(search, start, limits)
    first, damping, status, count = mu, GENTLE, "too many iterations", 0
    spent = SPENT / max(int((search.sightings.roots > 0).sum()), 1)
    while count < iterations:
        count += 1
        step, promised = _step(search, here, mu, damping)
        trial, share = _line_search(search, limits, here, step, mu)
        done = mu <= LAST and (step.largest < STILL or promised <= spent * here.cost)
        here = here if trial is None else trial
        if done:
            status = "converged"
            break
        if trial is None:
            damping = max(EASED * damping, MORE)
            if damping > STIFF:
                status = "no step brings the markers nearer"
                break
            continue
        damping = max(damping / EASED, GENTLE)
        if share > 0.5:
            mu = max(LAST, min(LESS * mu, mu * (mu / first) ** POWER))
    normals, _ = search.normal(here.x)
    close = here.slack < CLOSE
    return SplineFit(
        unknowns=here.x,
        status=status,
        iterations=count,
        system=search.system(normals, FAINT, _stiffness(here)),
        seen=normals[:, :n, :n].sum(axis=0),
        pressed=close[1].astype(int) - close[0].astype(int),
    )


def _first(search: Search, start: Unknowns, limits: Limits) -> tuple[Point, float]:
    """Return a first point within the limits, and the first mu."""
    x = replace(start, points=limits.inside(start.points))
    slack = limits.slacks(x.at(search.weights)[: len(limits.lower)])
    cost = search.cost(x)
    mu = max(LAST, FIRST * cost / max(int(np.isfinite(slack).sum()), 1))
    return Point(x=x, cost=cost, slack=slack, multiplier=mu / slack), mu


def _stiffness(here: Point) -> np.ndarray:
    """Return the limits' terms on the diagonals of the frames' normal matrices (N, n)."""
    return (here.multiplier / here.slack).sum(axis=0).T


def _step(search: Search, here: Point, mu: float, damping: float) -> tuple[Unknowns, float]:
    """Return the step of the unknowns, and by how much it promises to bring the merit down."""
    normals, pull = search.normal(here.x)
    push = mu / here.slack[0] - mu / here.slack[1]
    pull = replace(pull, points=pull.points + search.weights.T @ push.T)
    step = search.system(normals, damping, _stiffness(here)).solve(pull)
    return step, pull.along(step)


def _line_search(
    search: Search, limits: Limits, here: Point, step: Unknowns, mu: float
) -> tuple[Point | None, float]:
    """Return the point at the end of a step, or of a share of it that brings the merit down, if
    one does, and that share."""
    moved = step.at(search.weights)[: len(limits.lower)]
    slid = np.array([moved, -moved])
    slack, multiplier = here.slack, here.multiplier
    turned = mu / slack - multiplier - multiplier / slack * slid
    share, dual = _largest_share(slack, slid), _largest_share(multiplier, turned)
    for _ in range(SHORTEST):
        x = here.x.plus(step.times(share))
        trial = Point(
            x=x,
            cost=search.cost(x),
            slack=limits.slacks(x.at(search.weights)[: len(limits.lower)]),
            multiplier=multiplier + dual * turned,
        )
        if trial.merit(mu) <= here.merit(mu):
            return trial, share
        share /= 2
    return None, share


def _largest_share(values: np.ndarray, changes: np.ndarray) -> float:
    """Return the largest share of changes, at most 1, that leaves KEPT of every value."""
    falling = changes < 0
    if not falling.any():
        return 1.0
    return float(min(1.0, ((1 - KEPT) * values[falling] / -changes[falling]).min()))
