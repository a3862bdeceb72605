"""Instants through a motion: equal steps, and quadrature over its polynomial pieces."""

import numpy as np

from ocp.motion.basis import Array, Basis

QUADRATURES = ("gauss", "trapezoid", "simpson")


def sample(motion: Basis, per_segment: int) -> Array:
    """Return `per_segment` equal steps through every segment, breaks and both ends included."""
    return np.linspace(0.0, 1.0, motion.segments * per_segment + 1)


def quadrature(motion: Basis, rule: str, per_segment: int) -> tuple[Array, Array]:
    """Return instants s and weights w of a rule on every segment.

    The integral over [0, 1] of f is w . f(s). gauss: `per_segment` Gauss-Legendre points;
    trapezoid, simpson: `per_segment` panels, Simpson's with their midpoints. Raises ValueError
    naming the rule or the number.
    """
    if per_segment < 1:
        raise ValueError(
            f"quadrature: expected at least 1 point or panel per segment, got {per_segment}"
        )
    if rule not in QUADRATURES:
        raise ValueError(f"quadrature: expected one of {', '.join(QUADRATURES)}, got {rule!r}")
    return {"gauss": _gauss, "trapezoid": _trapezoid, "simpson": _simpson}[rule](
        motion, per_segment
    )


def _gauss(motion, count):
    nodes, weights = np.polynomial.legendre.leggauss(count)
    start, width = motion.breaks[:-1], 1.0 / motion.segments
    s = (start[:, None] + (nodes + 1) * width / 2).ravel()
    return s, np.tile(weights * width / 2, motion.segments)


def _trapezoid(motion, count):
    s = sample(motion, count)
    weights = np.full(len(s), 1.0)
    weights[[0, -1]] = 0.5
    return s, weights / (len(s) - 1)


def _simpson(motion, count):
    s = sample(motion, 2 * count)
    weights = np.where(np.arange(len(s)) % 2, 4.0, 2.0)
    weights[[0, -1]] = 1.0
    return s, weights / (3 * (len(s) - 1))
