"""A walk beside measured ones: errors and correlation of curves, and peaks of forces."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from ocp.models.human import Normative, normative
from ocp.problems.gait.cycle import Cycle

# Ours: the measured quantity
ANGLES = {"hip_flex": "hip_flex_deg", "knee_flex": "knee_flex_deg", "ankle_df": "ankle_df_deg"}
MOMENTS = {
    "hip_flex": "tau_hip_flex_Nm_kg",
    "knee_flex": "tau_knee_flex_Nm_kg",
    "ankle_df": "tau_ankle_df_Nm_kg",
}
FORCES = {"vertical": (1, "grf_vertical_BW"), "fore_aft": (2, "grf_foreaft_BW")}  # row of a force


def measured_angles(walk: Cycle) -> dict[str, Any]:
    """Return {source: {joint: comparison}} of the right leg's angles."""
    return {
        source: {
            joint: _against(
                normative(source), quantity, walk.percent, walk.angles[f"{joint}_r"], "deg"
            )
            for joint, quantity in ANGLES.items()
        }
        for source in ("fukuchi", "winter")
    }


def measured_moments(walk: Cycle) -> dict[str, Any]:
    """Return {source: {joint: comparison}} of the right leg's torques over the body's mass."""
    record = normative("falisse")
    torques = {
        joint: walk.torques[f"{joint}_r"] / walk.mass
        for joint in MOMENTS
        if f"{joint}_r" in walk.torques
    }
    return {
        "falisse": {
            joint: _against(record, MOMENTS[joint], walk.percent, torque, "Nm/kg")
            for joint, torque in torques.items()
        }
    }


def measured_forces(walk: Cycle) -> dict[str, Any]:
    """Return {force: {span: comparison}} of the right foot's forces, over cycle and stance."""
    record = normative("winter")
    spans = {"cycle": walk.percent >= 0, "stance": walk.percent <= walk.toe_off}
    return {
        name: {
            span: _against(
                record, quantity, walk.percent[inside], walk.forces["right"][row][inside], "BW"
            )
            for span, inside in spans.items()
        }
        for name, (row, quantity) in FORCES.items()
    }


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

    They are the largest value in either half of the stance, and the least between them; and all
    `maxima` there, a list of the same, which for measured walking are two.
    """
    stance, half = np.flatnonzero(percent <= toe_off), np.searchsorted(percent, toe_off / 2)
    first, second = (part[force[part].argmax()] for part in (stance[:half], stance[half:]))
    valley = first + force[first : second + 1].argmin()

    def at(k: int) -> dict[str, float]:
        return {"BW": float(force[k]), "percent": float(percent[k])}

    changing = np.abs(np.diff(force[stance])) > 1e-9  # level counts once
    kept = stance[np.concatenate([[True], changing])]
    rising = np.diff(force[kept]) > 0
    return {
        "first_peak": at(first),
        "valley": at(valley),
        "second_peak": at(second),
        "maxima": [at(kept[k + 1]) for k in np.flatnonzero(rising[:-1] & ~rising[1:])],
    }


def comparison_text(entry: Mapping[str, Any], form: str) -> str:
    """Return a comparison as text, its numbers in a format `form`."""
    ours, theirs = entry["ours"], entry["measured"]
    return (
        f"r {entry['r']:+.3f}, RMSE {form.format(entry['rmse'])} {entry['unit']}, "
        f"{form.format(entry['rmse_centered'])} without means; "
        f"{form.format(ours[0])} to {form.format(ours[1])}, "
        f"measured {form.format(theirs[0])} to {form.format(theirs[1])}"
    )


def trapezoid(x: np.ndarray) -> np.ndarray:
    """Return the weights (M,) of the trapezoid rule at x (M,)."""
    steps = np.diff(x)
    return (np.concatenate([steps, [0.0]]) + np.concatenate([[0.0], steps])) / 2


def _against(
    source: Normative, quantity: str, percent: np.ndarray, ours: np.ndarray, unit: str
) -> dict[str, Any]:
    """Return how a curve of ours (M,) compares with a measured mean, as plain data."""
    theirs = source.mean(quantity, percent)
    rmse, centered, r = compare(percent, ours, theirs)
    return {
        "r": r,
        "rmse": rmse,
        "rmse_centered": centered,
        "unit": unit,
        "ours": [float(ours.min()), float(ours.max())],
        "measured": [float(theirs.min()), float(theirs.max())],
    }
