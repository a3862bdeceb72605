"""Angles in radians that are likely meant in degrees."""

import warnings
from collections.abc import Iterable
from math import pi, radians
from typing import Any

from ocp.mechanics.parameters import reference
from ocp.mechanics.units import unit_of

TURNS = 10.0  # rad, beyond which an angle is likely in degrees
WITHOUT_END = 1e3  # rad, beyond which a limit says that there is none


def degrees_suspected(angle: float) -> str:
    """Return in words that an angle (rad) is likely in degrees; nothing of another."""
    if not TURNS < abs(angle) < WITHOUT_END:
        return ""
    turns = abs(angle) / (2 * pi)
    return (
        f"{angle:g} rad is {turns:.1f} turns; if it is meant in degrees, take radians({angle:g}) = "
        f"{radians(angle):.4g}"
    )


def warn_of_degrees(what: str, angles: Iterable[tuple[Any, Any]], *, stacklevel: int = 3) -> None:
    """Warn of the first of some (joint, angle) that is likely in degrees, in the name of `what` has
    it; by default at the line that called the caller.

    Joints that do not turn go unchecked; an open angle is judged at its parameters' own values.
    """
    for joint, angle in angles:
        if joint.screw is None or unit_of(joint, "q") != "rad":
            continue
        words = degrees_suspected(float(reference(angle)))
        if words:
            words = f"{what}: joint {joint.name!r}: {words}"
            warnings.warn(words, UserWarning, stacklevel=stacklevel)
            return
