"""Joints that follow a coordinate by a curve through points."""

from collections.abc import Sequence

import numpy as np

from ocp.mechanics.elements.smooth_curves import cubic
from ocp.mechanics.model.coordinates import Follows
from ocp.mechanics.values.validation import numbers


def spline_through(coordinate: str, places: Sequence[float], values: Sequence[float]) -> Follows:
    """Return the law by which a coordinate follows another, the natural cubic spline through
    points, straight beyond them.

    `places` (k,) of the coordinate (rad or m), increasing, two or more, and `values` (k,) of the
    joint there (rad or m). Raises ValueError naming the coordinate.
    """
    what = f"follows {coordinate!r}"
    at = numbers(f"{what}: places", places, (np.size(places),))
    wanted = numbers(f"{what}: values", values, (len(at),))
    if len(at) < 2 or not (np.diff(at) > 0).all():
        raise ValueError(f"{what}: places: expected two or more that increase, got {at.tolist()}")
    return Follows(coordinate=coordinate, function=cubic(at.tolist(), wanted.tolist()))
