"""Splines whose knots gather where torques leave rest and where contact changes.

Excitation counts how quickly torques change, over the time t_a that muscles take: what is least of
a^2 + (t_a a')^2 leaves a given value in a layer as thin as t_a. Knots gather at both ends of each
span between changes as Chebyshev's do, (1 - cos(pi k / n)) / 2 for k from 1 to n - 1.
"""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from ocp import BSpline

DEGREE = 5
BENT = 3  # knots at an instant of a quintic that leave accelerations continuous, their rates free


def graded(points: int, changes: Sequence[float] = ()) -> BSpline:
    """Return a spline of so many control points, alike on each span between `changes` of contact
    (of the motion), where torques may bend as what bears does.

    Raises ValueError for too few points.
    """
    spans = len(changes) + 1
    others = points - DEGREE - 1 - BENT * len(changes)
    if others < 0:
        raise ValueError(f"points: expected at least {points - others}, got {points}")
    counts = np.diff([others * k // spans for k in range(spans + 1)])
    knots: list[float] = []
    for start, end, count in zip((0.0, *changes), (*changes, 1.0), counts):
        waves = (1 - np.cos(np.pi * np.arange(1, count + 1) / (count + 1))) / 2
        knots += [*(start + (end - start) * waves).tolist(), *[end] * BENT]
    return BSpline(points=points, degree=DEGREE, inner=tuple(knots[:-BENT]))


def thinned(motion: BSpline) -> BSpline | None:
    """Return a graded spline without every other knot within its spans, which holds no motion that
    the whole one does not; None of equal knots, and where a span would be left without any."""
    inside = [knot for knot in motion.inner if motion.inner.count(knot) == 1]
    ends = sorted({0.0, 1.0, *motion.inner} - set(inside))
    kept = []
    for start, end in pairwise(ends):
        own = [knot for knot in inside if start < knot < end]
        if len(own) < 2:
            return None
        kept += own[1::2]
    inner = sorted([*kept, *(knot for knot in motion.inner if knot in ends)])
    return BSpline(points=len(inner) + motion.degree + 1, degree=motion.degree, inner=tuple(inner))
