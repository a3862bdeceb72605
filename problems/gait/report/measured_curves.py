"""Curves beside each other: errors and correlation, and the peaks of a vertical force."""

from typing import Any

import numpy as np


def compare(
    percent: np.ndarray, ours: np.ndarray, theirs: np.ndarray
) -> tuple[float, float, float]:
    """Return root mean square error, that without means, and r of two curves (M,).

    They are over the percentages (M,), and r is Pearson's, not a number if one of them is constant.
    Means are integrals by the trapezoid rule over the percentages, so that the spacing of
    samples does not matter.
    """
    weights = trapezoid(percent) / np.ptp(percent)
    ours, theirs = (np.asarray(curve, dtype=float) for curve in (ours, theirs))
    a, b = ours - weights @ ours, theirs - weights @ theirs
    spread = np.sqrt((weights @ a**2) * (weights @ b**2))
    r = float(weights @ (a * b) / spread) if spread > 0 else np.nan
    return float(np.sqrt(weights @ (ours - theirs) ** 2)), float(np.sqrt(weights @ (a - b) ** 2)), r


def double_peak(percent: np.ndarray, force: np.ndarray, toe_off: float) -> dict[str, Any]:
    """Return {first_peak, valley, second_peak}, each {BW, percent}, of a vertical force (M,).

    They are the largest value in either half of the stance, and the least between them.
    """
    stance, half = np.flatnonzero(percent <= toe_off), np.searchsorted(percent, toe_off / 2)
    first, second = (part[force[part].argmax()] for part in (stance[:half], stance[half:]))
    valley = first + force[first : second + 1].argmin()
    places = {"first_peak": first, "valley": valley, "second_peak": second}
    return {
        name: {"BW": float(force[k]), "percent": float(percent[k])} for name, k in places.items()
    }


def trapezoid(x: np.ndarray) -> np.ndarray:
    """Return the weights (M,) of the trapezoid rule at x (M,)."""
    steps = np.diff(x)
    return (np.concatenate([steps, [0.0]]) + np.concatenate([[0.0], steps])) / 2
