"""Motions whose knots move: every instant stays where it is in its segment, and the curve of a
spline there is a function of the control points and of the distances to the knots around it.

The distances are linear in the segments' widths, and whatever de Boor's recursion divides by is a
sum of them that contains the instant's own segment. So the curve is smooth in the widths as long as
that one is not zero, even where other knots coincide. (de Boor 1978, chapter X)
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ocp.motion.basis import Array
from ocp.motion.collocation_mesh import Mesh
from ocp.motion.spline import ALIKE, BSpline

Entries = Sequence[Any]  # numbers, arrays or expressions
Moving = BSpline | Mesh


def locate(motion: Moving, s: ArrayLike) -> tuple[Array, Array]:
    """Return the segment (N,) of every instant s (N,), and how much of it (N,) has passed.

    A knot belongs to the segment that it begins, the end of the motion to the last one; on a mesh
    to the interval of which it is the last stage.
    """
    s, breaks = np.asarray(s, dtype=float), motion.breaks
    if motion.collocated:
        segment = np.searchsorted(breaks[1:-1] + ALIKE, s, side="left")
    else:
        segment = np.searchsorted(breaks[1:-1] - ALIKE, s, side="right")
    share = (s - breaks[segment]) / np.diff(breaks)[segment]
    return segment, np.where(np.abs(share) < ALIKE, 0.0, share)


def knot_distances(motion: BSpline, s: ArrayLike) -> tuple[Array, Array, Array]:
    """Return the matrices that widths (segments,) make distances of, for every instant s (N,).

    Those back to the last `degree` knots (N, degree, segments), on to the next ones (alike), and
    from the start of the motion (N, segments). Beyond the ends of the motion knots coincide.
    """
    segment, share = locate(motion, s)
    order, column = np.arange(motion.degree)[:, None], np.arange(motion.segments)
    own, share = segment[:, None, None], share[:, None, None]
    within = (column == own).astype(float)
    back = share * within + ((column < own) & (column >= own - order))
    on = (1 - share) * within + ((column > own) & (column <= own + order))
    return back, on, elapsed_share(motion, s)


def spline_value(points: Entries, back: Entries, on: Entries, order: int = 0) -> Any:
    """Return d^order q / ds^order at an instant from the degree + 1 control points of its segment.

    `back` and `on` (degree,) are the distances to the knots before and after it. Numbers, arrays
    and CasADi's expressions are taken alike.
    """
    points = list(points)
    for _ in range(order):
        p = len(points) - 1
        points = [p * (points[j + 1] - points[j]) / (on[j] + back[p - 1 - j]) for j in range(p)]
    p = len(points) - 1
    for level in range(p, 0, -1):
        points = [
            (on[j] * points[j] + back[level - 1 - j] * points[j + 1])
            / (on[j] + back[level - 1 - j])
            for j in range(level)
        ]
    return points[0]


def elapsed_share(motion: Moving, s: ArrayLike) -> Array:
    """Return the matrix (N, segments) that makes of widths how much of the motion has passed at the
    instants s (N,)."""
    (segment, share), column = locate(motion, s), np.arange(motion.segments)
    own = segment[:, None]
    return share[:, None] * (column == own) + (column < own)


def with_widths(motion: Moving, widths: ArrayLike) -> Moving:
    """Return the basis with segments in proportion to these widths (segments,), which stay as far
    apart as its spacing says."""
    parts: Array = np.asarray(widths, dtype=float)
    room = np.maximum(parts / parts.sum() - motion.spacing, 0.0)
    shared = (1 - len(room) * motion.spacing) / max(room.sum(), 1e-300)
    inner = np.cumsum(motion.spacing + room * shared)[:-1]
    return replace(motion, inner=tuple(inner.tolist()))


def with_given_knots(motion: Moving) -> Moving:
    """Return the basis with its knots given where they are."""
    if isinstance(motion, Mesh):
        return replace(motion, lengths="given")
    return replace(motion, knots="given")
