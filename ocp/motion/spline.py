"""B-spline motions over the normalised time s in [0, 1]: bases as constant matrices, and quadrature over their segments.

A curve is q(s) = B(s) c with control points c; its time derivatives follow from t = s T. The segments (knot spans) are uniform.
(de Boor 1978, chapters IX-X; Xiang, Arora & Abdel-Malek 2009, eqs. 39-42)
"""

from dataclasses import dataclass, replace

import numpy as np


@dataclass(frozen=True, slots=True, kw_only=True)
class BSpline:
    """A basis of `points` control points of the given degree; `clamped` repeats the end knots, so that the curve starts at c_0.

    Clamped and uniform knots span the same curves. Raises ValueError when the points are too few for one segment.
    """

    points: int
    degree: int = 3
    clamped: bool = True

    def __post_init__(self):
        for what, value in (("points", self.points), ("degree", self.degree)):
            if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
                raise ValueError(f"{what}: expected a whole number, got {value!r}")
        if self.degree < 2:
            raise ValueError(
                f"degree: expected at least 2 (accelerations must exist), got {self.degree}"
            )
        if self.points < self.degree + 1:
            raise ValueError(
                f"control points: a spline of degree {self.degree} needs at least {self.degree + 1}, got {self.points}"
            )

    @property
    def segments(self):
        """Number of polynomial pieces."""
        return self.points - self.degree

    @property
    def breaks(self):
        """Ends of the segments in s, (segments + 1,)."""
        return np.linspace(0.0, 1.0, self.segments + 1)

    @property
    def knots(self):
        """All knots, (points + degree + 1,)."""
        if self.clamped:
            return np.concatenate([np.zeros(self.degree), self.breaks, np.ones(self.degree)])
        return np.arange(-self.degree, self.points + 1) / self.segments


def basis(motion, s, order=0):
    """Return the matrix B (len(s), points) with d^order q / ds^order (s) = B c.

    At a knot where that derivative jumps the value from the right is taken, at s = 1 from the left.
    """
    s = np.atleast_1d(np.asarray(s, dtype=float))
    if order > motion.degree:
        return np.zeros((len(s), motion.points))
    return _basis(motion.knots, motion.degree, s, order)


def _basis(knots, degree, s, order):
    if order > 0:
        lower = _basis(knots, degree - 1, s, order - 1)
        slope = degree * _reciprocal(knots[degree:] - knots[: len(knots) - degree])
        weighted = lower * slope
        return weighted[:, :-1] - weighted[:, 1:]
    spans = np.nonzero(np.diff(knots) > 0)[0]
    inside = spans[(knots[spans] >= -1e-12) & (knots[spans] < 1 - 1e-12)]
    span = inside[np.clip(np.searchsorted(knots[inside] - 1e-12, s, side="right") - 1, 0, None)]
    values = (np.arange(len(knots) - 1) == span[:, None]).astype(float)
    for k in range(1, degree + 1):
        scale = _reciprocal(knots[k:] - knots[:-k])
        rising = (s[:, None] - knots[:-k]) * scale
        falling = (knots[k:] - s[:, None]) * scale
        values = rising[:, :-1] * values[:, :-1] + falling[:, 1:] * values[:, 1:]
    return values


def _reciprocal(lengths):
    return np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > 0)


def greville(motion):
    """Return the Greville abscissae (points,), one instant per control point, where equalities are well posed.

    They are those of the clamped knots, which span the same curves, for unclamped ones too: the latter's own lie partly outside [0, 1].
    """
    knots = replace(motion, clamped=True).knots
    return np.array([knots[k + 1 : k + motion.degree + 1].mean() for k in range(motion.points)])


def sample(motion, per_segment):
    """Return `per_segment` equal steps through every segment, knots and both ends included."""
    return np.linspace(0.0, 1.0, motion.segments * per_segment + 1)


def fit(motion, values, s):
    """Return control points (n, points) whose curve meets values (n, len(s)) in the least-squares sense, of least norm if open."""
    return np.linalg.lstsq(basis(motion, s), np.asarray(values, dtype=float).T, rcond=None)[0].T


def transfer(motion, control_points, target):
    """Return control points on the basis `target` for the same curve: exact where the target's knots contain the old ones.

    The curve is interpolated at the target's Greville abscissae.
    """
    s = greville(target)
    return fit(target, np.asarray(control_points) @ basis(motion, s).T, s)


def refine(motion, control_points, times=2):
    """Split every segment into `times`; return (finer BSpline, its control points) with the curve unchanged."""
    finer = BSpline(
        points=times * motion.segments + motion.degree, degree=motion.degree, clamped=motion.clamped
    )
    return finer, transfer(motion, control_points, finer)


QUADRATURES = ("gauss", "trapezoid", "simpson")


def quadrature(motion, rule, per_segment):
    """Return instants s and weights w of a rule applied to every segment: the integral over [0, 1] of f is w . f(s).

    gauss: `per_segment` Gauss-Legendre points; trapezoid, simpson: `per_segment` panels, Simpson's with their midpoints.
    """
    if per_segment < 1:
        raise ValueError(
            f"quadrature: expected at least 1 point or panel per segment, got {per_segment}"
        )
    if rule == "gauss":
        nodes, weights = np.polynomial.legendre.leggauss(per_segment)
        start, width = motion.breaks[:-1], 1.0 / motion.segments
        return (start[:, None] + (nodes + 1) * width / 2).ravel(), np.tile(
            weights * width / 2, motion.segments
        )
    if rule == "trapezoid":
        s = sample(motion, per_segment)
        weights = np.full(len(s), 1.0)
        weights[[0, -1]] = 0.5
        return s, weights / (len(s) - 1)
    if rule == "simpson":
        s = sample(motion, 2 * per_segment)
        weights = np.where(np.arange(len(s)) % 2, 4.0, 2.0)
        weights[[0, -1]] = 1.0
        return s, weights / (3 * (len(s) - 1))
    raise ValueError(f"quadrature: expected one of {', '.join(QUADRATURES)}, got {rule!r}")
