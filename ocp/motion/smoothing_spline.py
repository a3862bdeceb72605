"""Splines through noisy samples with gaps, and how many control points they have."""

import numpy as np

from ocp.motion.spline import BSpline

GROWTH = 1.1  # from one number of control points that is tried to the next, at least one more
PATIENCE = 8  # numbers that are tried after the best one
MOST = 300  # control points that are tried
FEWEST = 3  # samples to a control point, at least
BRIDGED = 1e-3  # of a sample's weight: that of the straight line that bridges a gap
EXACT = 1e-12  # of a row's range: what a spline is off does not count below it


def cross_validate(
    s: np.ndarray, values: np.ndarray, degree: int, *, clamped: bool = True
) -> BSpline:
    """Return the basis whose spline through values (rows, N) at s (N,) errs least.

    That is with the least product over the rows of |values - spline|^2 / (N - points)^2 (Craven &
    Wahba 1979), among equal segments, N counting the values that are not nan; `degree` and
    `clamped` are those of the spline.
    """
    counts = np.isfinite(values).sum(axis=1)
    floor = (EXACT * (1 + np.nanmax(values, axis=1) - np.nanmin(values, axis=1))) ** 2 * counts
    most = min(MOST, max(int(counts.min()) // FEWEST, degree + 1))
    scores: dict[int, float] = {}
    points, worse = degree + 1, 0
    while points <= most and worse < PATIENCE:
        basis = BSpline(points=points, degree=degree, clamped=clamped)
        off = np.nansum((values - fit_samples(basis, s, values) @ basis.values(s).T) ** 2, axis=1)
        left = np.maximum(counts - points, 1)
        scores[points] = float(np.sum(np.log((off + floor) / left**2)))
        worse = 0 if scores[points] == min(scores.values()) else worse + 1
        points = max(points + 1, int(GROWTH * points))
    best = min(scores, key=scores.__getitem__)
    return BSpline(points=best, degree=degree, clamped=clamped)


def fit_samples(basis: BSpline, s: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return control points (rows, points) on a `basis` nearest to values (rows, N) at s (N,).

    Where values are nan the spline is held by a straight line across the gap, which weighs BRIDGED
    of what a sample does.
    """
    points = np.empty((len(values), basis.points))
    there = np.isfinite(values)
    for mask in np.unique(there, axis=0):
        alike = (there == mask).all(axis=1)
        rows = [np.interp(s, s[mask], row[mask]) for row in values[alike]]
        weights = np.where(mask, 1.0, BRIDGED)
        weighed = weights[:, None] * basis.values(s)
        points[alike] = np.linalg.lstsq(weighed, (weights * rows).T, rcond=None)[0].T
    return points
