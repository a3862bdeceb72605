"""Instants through a motion: equal steps, and quadrature over its polynomial pieces."""

from collections.abc import Sequence

import numpy as np

from ocp.motion.basis import Array, Basis
from ocp.spelling import suggestion

QUADRATURES = ("gauss", "trapezoid", "simpson")
ALIKE = 1e-9  # of the motion: cuts and breaks so close are one


def sample(motion: Basis, per_segment: int) -> Array:
    """Return `per_segment` equal steps through every segment, breaks and both ends included."""
    breaks, count = motion.breaks, motion.segments * per_segment + 1
    equal = np.linspace(0.0, 1.0, count)
    if np.array_equal(breaks, np.linspace(0.0, 1.0, len(breaks))):
        return equal
    return np.interp(np.arange(count) / per_segment, np.arange(len(breaks)), breaks)


def quadrature(
    motion: Basis, rule: str, per_segment: int, cuts: Sequence[float] = ()
) -> tuple[Array, Array]:
    """Return instants s and weights w of a rule on every segment.

    The integral over [0, 1] of f is w . f(s). gauss: `per_segment` Gauss-Legendre points, on either
    side of `cuts` where f jumps; trapezoid, simpson: `per_segment` panels, Simpson's with their
    midpoints, which have one value at a jump and know no cuts. Raises ValueError naming the rule or
    the number.
    """
    if per_segment < 1:
        raise ValueError(
            f"quadrature: expected at least 1 point or panel per segment, got {per_segment}"
        )
    if rule not in QUADRATURES:
        raise ValueError(
            f"quadrature: expected one of {', '.join(QUADRATURES)}, got {rule!r}"
            f"{suggestion(rule, QUADRATURES)}"
        )
    if rule == "gauss":
        return _gauss(motion, per_segment, cuts)
    return {"trapezoid": _trapezoid, "simpson": _simpson}[rule](motion, per_segment)


def _gauss(motion: Basis, count: int, cuts: Sequence[float]) -> tuple[Array, Array]:
    nodes, weights = np.polynomial.legendre.leggauss(count)
    edges = np.sort(np.append(motion.breaks, cuts))
    edges = edges[np.append(True, np.diff(edges) > ALIKE)]
    start, width = edges[:-1], np.diff(edges)
    s = (start[:, None] + np.outer(width, nodes + 1) / 2).ravel()
    return s, np.outer(width, weights / 2).ravel()


def _trapezoid(motion: Basis, count: int) -> tuple[Array, Array]:
    s = sample(motion, count)
    steps = np.diff(s)
    return s, (np.append(steps, 0.0) + np.append(0.0, steps)) / 2


def _simpson(motion: Basis, count: int) -> tuple[Array, Array]:
    s = sample(motion, 2 * count)
    steps = np.diff(s)[::2] + np.diff(s)[1::2]
    weights = np.zeros(len(s))
    for first, share in enumerate((1, 4, 1)):
        weights[first : first + 2 * len(steps) : 2] += share * steps / 6
    return s, weights
