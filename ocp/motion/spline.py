"""B-spline motions over the normalised time s in [0, 1]: bases as constant matrices.

A curve is q(s) = B(s) c with control points c. The segments (knot spans) are uniform.
(de Boor 1978, chapters IX-X; Xiang, Arora & Abdel-Malek 2009, eqs. 39-42)
"""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from ocp.motion.basis import Array, Curve, transfer
from ocp.motion.quadrature import sample

ALIKE = 1e-9  # of the motion: instants so close are one


@dataclass(frozen=True, slots=True, kw_only=True)
class BSpline:
    """A basis of `points` control points of the given degree.

    `clamped` repeats the end knots, so that the curve starts at c_0. Clamped and uniform knots span
    the same curves. Raises ValueError when the points are too few for one segment.
    """

    points: int
    degree: int = 3
    clamped: bool = True

    collocated: ClassVar[bool] = False
    hull: ClassVar[bool] = True

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
                f"control points: a spline of degree {self.degree} needs at least "
                f"{self.degree + 1}, got {self.points}"
            )

    @property
    def segments(self) -> int:
        """Number of polynomial pieces."""
        return self.points - self.degree

    @property
    def breaks(self) -> Array:
        """Ends of the segments in s, (segments + 1,)."""
        return np.linspace(0.0, 1.0, self.segments + 1)

    @property
    def nodes(self) -> Array:
        """The Greville abscissae (points,), one instant per control point, where equalities are
        well posed.

        They are those of the clamped knots, which span the same curves, for unclamped ones too: the
        latter's own lie partly outside [0, 1].
        """
        return _means(_knots(self.segments, self.degree, True), self.degree, self.points)

    @property
    def knots(self) -> Array:
        """All knots, (points + degree + 1,)."""
        return _knots(self.segments, self.degree, self.clamped)

    def values(self, s: ArrayLike, order: int = 0) -> Array:
        """Return B (N, points) with d^order q / ds^order (s) = B c.

        At a knot where that derivative jumps the value from the right is taken, at s = 1 from the
        left.
        """
        s = np.atleast_1d(np.asarray(s, dtype=float))
        if order > self.degree:
            return np.zeros((len(s), self.points))
        return _basis(self.knots, self.degree, s, order)

    def interpolation(self, s: ArrayLike, nodes: ArrayLike) -> Array:
        """Return the matrix (N, nodes) that picks what is known at a node, and zero between
        nodes."""
        gaps = np.abs(np.asarray(nodes) - np.asarray(s)[:, None])
        picked = np.zeros(gaps.shape)
        nearest = gaps.argmin(axis=1)
        at_node = gaps[np.arange(len(gaps)), nearest] < ALIKE
        picked[at_node, nearest[at_node]] = 1.0
        return picked

    def abscissae(self, order: int = 0) -> Array:
        """Return the Greville abscissae of d^order q / ds^order, order 0 or 2: as many instants as
        it has freedom."""
        if order == 0:
            return self.nodes
        degree = self.degree - 2
        if degree == 0:
            return (self.breaks[:-1] + self.breaks[1:]) / 2
        knots = np.concatenate([[0.0] * degree, self.breaks, [1.0] * degree])
        return _means(knots, degree, self.points - 2)

    def grid(self, per_segment: int) -> Array:
        """Return `per_segment` equal steps through every segment, knots and both ends included."""
        return sample(self, per_segment)

    def closing(self, level: int, implied: tuple[frozenset, frozenset]) -> Array:
        """Return the abscissae for level 0, with the rate (level 1) at both ends in place of the
        second and the second last of them: as many rows as there are points, less what is implied
        at the ends."""
        if level == 2:
            return np.empty(0)
        if level == 1:
            return np.array([float(end) for end in (0, 1) if 1 not in implied[end]])
        dropped = {1 % self.points, -2 % self.points}
        for end, first, third in ((0, 0, 2), (1, -1, -3)):
            dropped |= {first % self.points} if 0 in implied[end] else set()
            dropped |= {third % self.points} if 2 in implied[end] else set()
        return np.delete(self.nodes, sorted(dropped))

    def through(self, curve: Curve, *, rough: bool = False) -> Array:
        """Return control points (n, points) of the spline that interpolates a curve at the Greville
        abscissae; of a rough one, that comes nearest to it at many instants."""
        s = np.linspace(0.0, 1.0, 4 * self.points + 1) if rough else self.nodes
        return self.fit(curve(s, 0), s)

    def fit(self, values: ArrayLike, s: ArrayLike) -> Array:
        """Return control points (n, points) whose curve meets values (n, N) at s (N,) in the
        least-squares sense, of least norm if open."""
        return np.linalg.lstsq(self.values(s), np.asarray(values, dtype=float).T, rcond=None)[0].T


def refine(motion: BSpline, control_points: Array, times: int = 2) -> tuple[BSpline, Array]:
    """Return (finer BSpline, its control points) of the same curve.

    Every segment is split into `times`.
    """
    finer = replace(motion, points=times * motion.segments + motion.degree)
    return finer, transfer(motion, control_points, finer)


def _knots(segments, degree, clamped):
    if clamped:
        inner = np.linspace(0.0, 1.0, segments + 1)
        return np.concatenate([np.zeros(degree), inner, np.ones(degree)])
    return np.arange(-degree, segments + degree + 1) / segments


def _means(knots, degree, count):
    return np.array([knots[k + 1 : k + degree + 1].mean() for k in range(count)])


def _basis(knots, degree, s, order):
    if order > 0:
        lower = _basis(knots, degree - 1, s, order - 1)
        slope = degree * _reciprocal(knots[degree:] - knots[: len(knots) - degree])
        weighted = lower * slope
        return weighted[:, :-1] - weighted[:, 1:]
    spans = np.nonzero(np.diff(knots) > 0)[0]
    inside = spans[(knots[spans] >= -1e-12) & (knots[spans] < 1 - 1e-12)]
    number = np.searchsorted(knots[inside] - 1e-12, s, side="right") - 1
    span = inside[np.clip(number, 0, None)]
    values = (np.arange(len(knots) - 1) == span[:, None]).astype(float)
    for k in range(1, degree + 1):
        scale = _reciprocal(knots[k:] - knots[:-k])
        rising = (s[:, None] - knots[:-k]) * scale
        falling = (knots[k:] - s[:, None]) * scale
        values = rising[:, :-1] * values[:, :-1] + falling[:, 1:] * values[:, 1:]
    return values


def _reciprocal(lengths):
    return np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > 0)
