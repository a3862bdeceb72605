"""Angles and rates of turns that are likely meant in degrees."""

import sys
import warnings
from collections.abc import Iterable
from math import pi, radians
from typing import Any

from ocp.mechanics.values.parameters import Number, nominal
from ocp.mechanics.values.validation import unit_of

PACKAGE = __name__.partition(".")[0]
TURN = 7.0  # rad, over one turn: beyond it an angle that one states is likely in degrees
TURNS = 10.0  # rad, and one of a file
FAST = 50.0  # rad/s, beyond which a limit of velocity is likely in degrees a second
WITHOUT_END = 1e3  # rad, beyond which a limit says that there is none


def degrees_suspected(angle: float, *, rate: bool = False) -> str:
    """Return in words that an angle (rad), or a `rate` (rad/s), is likely in degrees; "" if not."""
    if not (FAST if rate else TURN) < abs(angle) < WITHOUT_END:
        return ""
    turns, per = abs(angle) / (2 * pi), "/s" if rate else ""
    return (
        f"{angle:g} rad{per} is {turns:.1f} turns{per}; if it is meant in degrees, take "
        f"radians({angle:g}) = {radians(angle):.4g}"
    )


def warn_of_degrees(
    what: str, angles: Iterable[tuple[Any, Number]], *, rates: bool = False
) -> None:
    """Warn of the first of some (joint, angle) that is likely in degrees, or of `rates` (rad/s)
    likewise.

    `what` has it, which the warning names. Joints that do not turn go unchecked.
    """
    turning = (
        (f"{what}: joint {joint.name!r}", angle)
        for joint, angle in angles
        if joint.screw is not None and unit_of(joint, "q") == "rad"
    )
    warn_of_angles(turning, rates=rates)


def warn_of_angles(angles: Iterable[tuple[str, Number]], *, rates: bool = False) -> None:
    """Warn of the first of some (what it is, angle) that is likely in degrees, at the line outside
    the package that led here; an open angle is judged at its parameters' own values."""
    for what, angle in angles:
        words = degrees_suspected(float(nominal(angle)), rate=rates)
        if words:
            warn_outside(f"{what}: {words}")
            return


def warn_outside(message: str) -> None:
    """Warn at the line outside the package that led here."""
    warnings.warn(message, UserWarning, stacklevel=_frames_inside())


def _frames_inside() -> int:
    """Return the number of frames from the caller to the first line outside the package, as
    warnings count."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and _is_inside(frame.f_globals.get("__name__", "")):
        frame, level = frame.f_back, level + 1
    return level


def _is_inside(module: str) -> bool:
    return module.partition(".")[0] == PACKAGE
