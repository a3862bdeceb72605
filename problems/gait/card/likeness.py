"""Likeness of curves to people's: correlation, errors, timing, ranges, and shares in bands."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from ocp.problems.gait.card.curves import CURVES, PERCENT
from ocp.problems.gait.card.norms import Band, Norms
from ocp.problems.gait.report.measured_curves import compare

FARTHEST = 25  # % of the cycle: by which curves are shifted at most to find their timing


def against(
    ours: Mapping[str, np.ndarray], known: Mapping[str, Norms]
) -> dict[str, dict[str, dict[str, Any]]]:
    """Return {curve: {source: likeness}} of curves (101,) with those of sources that have them."""
    return {
        name: {
            source: likeness(values, each.bands[name], CURVES[name].offset)
            for source, each in known.items()
            if name in each.bands
        }
        for name, values in ours.items()
    }


def likeness(ours: np.ndarray, band: Band, offset: bool = False) -> dict[str, Any]:
    """Return the comparison of a curve (101,) over the cycle with a Band, as plain data.

    `r` is Pearson's, None of a constant; `shift_percent` says by how much of the cycle ours is
    late, where shifted curves correlate best; `maximum_percent` and `minimum_percent` are ours and
    theirs, as are the ranges. `within` says which shares of the cycle lie inside one and two
    standard deviations, with an `offset` after both means are taken out; None where no spread is
    known.
    """
    rmse, centred, r = compare(PERCENT, ours, band.mean)
    return {
        "r": None if np.isnan(r) else r,
        "rmse": rmse,
        "rmse_centred": centred,
        "shift_percent": delay(ours, band.mean),
        "maximum_percent": [int(ours.argmax()), int(band.mean.argmax())],
        "minimum_percent": [int(ours.argmin()), int(band.mean.argmin())],
        "range": [float(ours.min()), float(ours.max())],
        "measured_range": [float(band.mean.min()), float(band.mean.max())],
        "within": _within(ours, band, offset),
    }


def delay(ours: np.ndarray, theirs: np.ndarray) -> int | None:
    """Return by how much of the cycle (%) our curve (101,) is later than theirs, at most FARTHEST;
    None if either is constant, or none of these shifts is a best one."""
    a, b = (curve[:-1] - curve[:-1].mean() for curve in (ours, theirs))
    if not (a.any() and b.any()):
        return None
    shifts = sorted(range(-FARTHEST, FARTHEST + 1), key=abs)  # the least of equal ones
    best = max(shifts, key=lambda shift: float(np.roll(a, -shift) @ b))
    return best if abs(best) < FARTHEST else None


def _within(ours: np.ndarray, band: Band, offset: bool) -> list[float] | None:
    if band.spread is None:
        return None
    away = np.abs(ours - band.mean - (np.mean(ours - band.mean) if offset else 0.0))
    return [float(np.mean(away <= count * band.spread)) for count in (1, 2)]


def mean_r(compared: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> dict[str, float]:
    """Return {curve: r, the mean over its sources}, of curves that some source has."""
    known = {
        name: [entry["r"] for entry in sources.values() if entry["r"] is not None]
        for name, sources in compared.items()
    }
    return {name: float(np.mean(each)) for name, each in known.items() if each}
