"""A part of a spline's motion as a motion of its own: the curve between two instants, whose control
points are those of the whole.

Parts that meet are one curve without any row that says so. The instants of the whole are shared
among its parts: where two meet it is that of the later one.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from ocp.motion.basis import Array, Curve
from ocp.motion.spline import ALIKE, APART, SIDE, BSpline

LEAST = 2  # steps of a piece that an end of a part cuts off, unless the grid has but one


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """The motion on the spline `whole` from its instant `start` to its instant `end`, 0 <= start <
    end <= 1, over s from 0 to 1. Raises ValueError for other instants, and for free knots."""

    whole: BSpline
    start: float
    end: float

    collocated: ClassVar[bool] = False
    curves: ClassVar[tuple] = ()
    hull: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not isinstance(self.whole, BSpline):
            raise ValueError(f"part: whole: expected a BSpline, got {self.whole!r}")
        if self.whole.moving:
            raise ValueError("part: whole: expected given knots, got free ones")
        if not (self.start >= 0 and self.start + APART <= self.end <= 1):
            raise ValueError(
                f"part: expected 0 <= start < end <= 1, got {self.start!r} and {self.end!r}"
            )

    @property
    def points(self) -> int:
        """Number of control points, those of the whole."""
        return self.whole.points

    @property
    def degree(self) -> int:
        """Of the polynomial pieces."""
        return self.whole.degree

    @property
    def length(self) -> float:
        """Of the whole."""
        return self.end - self.start

    @property
    def breaks(self) -> Array:
        """Ends of the segments in s, (segments + 1,)."""
        return np.concatenate([[0.0], self._inside(self.whole.breaks), [1.0]])

    @property
    def segments(self) -> int:
        """Number of polynomial pieces."""
        return len(self.breaks) - 1

    @property
    def nodes(self) -> Array:
        """The Greville abscissae of the whole (points,), some of which lie beyond the part."""
        return (self.whole.nodes - self.start) / self.length

    @property
    def reach(self) -> int:
        """How many of the first control points move the curve up to the part's end."""
        moved = np.abs(self.values(np.linspace(0.0, 1.0, 2 * self.points + 1))).max(axis=0)
        return int(np.flatnonzero(moved > ALIKE)[-1]) + 1

    def values(self, s: ArrayLike, order: int = 0) -> Array:
        """Return B (N, points) with d^order q / ds^order (s) = B c.

        Where that derivative jumps the value from the right is taken, at s = 1 from the left.
        """
        s = np.atleast_1d(np.asarray(s, dtype=float))
        there = self.start + self.length * s
        jumps = order >= self.degree or self.end in self.whole.jumps
        if order >= 2 and jumps and self.end < 1:
            there = np.where(s >= 1.0, np.minimum(there, self.end - SIDE), there)
        return self.length**order * self.whole.values(there, order)

    def interpolation(self, s: ArrayLike, nodes: ArrayLike) -> Array:
        """Return the matrix (N, nodes) that picks what is known at a node, and zero between
        nodes."""
        return self.whole.interpolation(s, nodes)

    def abscissae(self, order: int = 0) -> Array:
        """Return the abscissae of the whole that are the part's, order 0, 2 or 3."""
        return self._own(self.whole.abscissae(order))

    def grid(self, per_segment: int) -> Array:
        """Return steps through every segment: `per_segment` where it is one of the whole's, in what
        the part's ends cut off as many as are its share, and two at least unless it is one."""
        whole, parts = self.whole.breaks, [np.zeros(1)]
        breaks = self.start + self.length * self.breaks
        for a, b in pairwise(breaks):
            k = int(np.searchsorted(whole, (a + b) / 2)) - 1
            share = (b - a) / (whole[k + 1] - whole[k])
            cut = max(min(LEAST, per_segment), round(share * per_segment))
            count = per_segment if abs(share - 1) < ALIKE else cut
            parts.append((np.linspace(a, b, count + 1)[1:] - self.start) / self.length)
        s = np.concatenate(parts)
        s[-1] = 1.0
        jumps = self._inside(self.whole.jumps) if self.whole.inner else np.empty(0)
        return np.sort(np.append(s, jumps - SIDE))

    def closing(self, level: int, implied: tuple[frozenset, frozenset]) -> Array:
        """Return the rows of the whole that are the part's; those `implied` at an end only where
        that is the whole's."""
        first = implied[0] if self.start <= 0 else frozenset()
        last = implied[1] if self.end >= 1 else frozenset()
        return self._own(self.whole.closing(level, (first, last)))

    def through(self, curve: Curve, *, rough: bool = False) -> Array:
        """Return control points (n, points) of the curve on this part that comes nearest to a curve
        at many instants, zero for points that do not move it."""
        s = np.linspace(0.0, 1.0, 4 * self.points + 1)
        return self.fit(curve(s, 0), s)

    def fit(self, values: ArrayLike, s: ArrayLike) -> Array:
        """Return control points (n, points) whose curve meets values (n, N) at s (N,) in the
        least-squares sense, of least norm if open."""
        values = np.asarray(values, dtype=float)
        return np.linalg.lstsq(self.values(s), values.T, rcond=None)[0].T

    def _inside(self, instants: ArrayLike) -> Array:
        """Return instants of the whole that lie inside the part, in its s."""
        there = np.asarray(instants, dtype=float)
        inside = there[(there > self.start + ALIKE) & (there < self.end - ALIKE)]
        return (inside - self.start) / self.length

    def _own(self, instants: ArrayLike) -> Array:
        """Return instants of the whole that are the part's, in its s."""
        there = np.asarray(instants, dtype=float)
        last = there <= self.end + ALIKE if self.end >= 1 else there < self.end - ALIKE
        own = there[(there >= self.start - ALIKE) & last]
        return np.clip((own - self.start) / self.length, 0.0, 1.0)


def parts_between(whole: BSpline, edges: Sequence[float]) -> tuple[Part, ...]:
    """Return the Parts of a spline, the `whole`, from each of the instants `edges` to the next."""
    return tuple(Part(whole=whole, start=a, end=b) for a, b in pairwise(edges))


def join_parts(parts: Sequence[Part], points: Sequence[Array]) -> Array:
    """Return control points (n, points) of the one curve of which each of some parts has control
    points (n, points) of its own: the nearest to all of their curves."""
    if all(np.array_equal(points[0], each) for each in points[1:]):
        return points[0]
    basis, curves = [], []
    for part, own in zip(parts, points):
        s = np.linspace(0.0, 1.0, 4 * part.points + 1)
        basis.append(part.values(s))
        curves.append(basis[-1] @ own.T)
    return np.linalg.lstsq(np.vstack(basis), np.vstack(curves), rcond=None)[0].T
