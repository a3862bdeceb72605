"""A gait in numbers: its rhythm, the ground's force, how the body sways, and what it costs."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from ocp.models.human import ROOT
from ocp.problems.gait.card.energy import MINUTE, metabolic
from ocp.problems.gait.card.stride import Stride
from ocp.problems.gait.report.gait_cycle import OTHER
from ocp.problems.gait.report.measured_curves import compare, double_peak

# Humps of the vertical force: maxima above half of the weight that stand out by this (BW) from the
# dips at their sides [assumed]; means of measured walks have two at any smaller threshold
PROMINENT, BEARING = 0.02, 0.5
FLAT = 20.0  # % of the cycle, at which feet stand flat
PRESSED = 0.05  # BW: below it a centre of pressure is vague [assumed]
STANCE = (10, 30, 50, 70, 90)  # % of the stance, at which the centre of pressure is told
AT_BOUND = 0.5  # deg: so near a joint's range counts as at its bound
INSTANTS = np.arange(0.025, 100.0, 0.05)  # % of the cycle, at which it is asked which feet bear


def numbers(stride: Stride, curves: Mapping[str, np.ndarray]) -> dict[str, Any]:
    """Return {name: number} of a Stride and its curves (M,), units at the ends of the names."""
    return {
        **_rhythm(stride),
        **_vertical(stride),
        **_sway(stride, curves),
        "at_bounds_percent": at_bounds(stride),
        "arms": _arms(stride, curves),
        **_foot(stride),
        **_costs(stride),
        "energy": _energy(stride),
        "knee_BW": _knee(stride),
    }


def _rhythm(stride: Stride) -> dict[str, Any]:
    """Return speed, times and lengths of steps, and how long feet bear."""
    length = float(np.linalg.norm(stride.way))
    cadence = 2.0 * MINUTE / stride.duration
    right, left = (bearing(stride, foot) for foot in OTHER)
    steps = _steps(stride)
    return {
        "speed_m_s": length / stride.duration,
        "stride_s": stride.duration,
        "stride_m": length,
        "climb_m": float(stride.way[1]),
        "step_m": steps["right"],
        "other_step_m": steps["left"],
        "step_width_m": _width(stride),
        "cadence_steps_min": cadence,
        "walk_ratio_m_min": length / 2.0 / cadence,
        "duty_factor": sum(end - start for start, end in stride.stances["right"]) / 100.0,
        "double_support_percent": 100.0 * float(np.mean(right & left)),
        "flight_percent": 100.0 * float(np.mean(~(right | left))),
    }


def bearing(stride: Stride, foot: str) -> np.ndarray:
    """Tell at each of the INSTANTS (N,) of the cycle whether a foot bears."""
    here = np.zeros(len(INSTANTS), dtype=bool)
    for start, end in stride.stances[foot]:
        for turn in (0.0, 100.0):
            here |= (start - turn <= INSTANTS) & (end - turn > INSTANTS)
    return here


def _steps(stride: Stride) -> dict[str, float | None]:
    """Return {foot: how far (m) it strikes ahead of where the other one has struck before}, None
    where a foot never stands."""
    if not all(stride.stances.values()):
        return dict.fromkeys(OTHER)
    ahead = stride.way / max(float(np.linalg.norm(stride.way)), 1e-12)
    strikes = {foot: stride.stances[foot][0][0] % 100.0 for foot in OTHER}
    places = {foot: ahead @ _at(stride, stride.heels[foot], strikes[foot]) for foot in OTHER}
    return {
        "right": float(places["right"] - places["left"] + stride.way @ ahead),
        "left": float(places["left"] - places["right"]),
    }


def _width(stride: Stride) -> float:
    """Return the sideways distance (m) of the heels' strikes."""
    strikes = {foot: spans[0][0] % 100.0 for foot, spans in stride.stances.items() if spans}
    sides = [_at(stride, stride.heels[foot], at)[0] for foot, at in strikes.items()]
    return float(np.ptp(sides))


def _at(stride: Stride, values: np.ndarray, percent: float) -> np.ndarray:
    return np.array([np.interp(percent, stride.percent, row) for row in values])


def _vertical(stride: Stride) -> dict[str, Any]:
    """Return the humps of the vertical force on the right foot, the largest value in either half of
    the stance, and the valley between; None for a foot that bears nothing."""
    force = stride.forces["right"][1]
    tops = [k for k in maxima(force, PROMINENT) if force[k] >= BEARING]
    humps = [{"percent": float(stride.percent[k]), "BW": float(force[k])} for k in tops]
    names = ("first_peak", "valley", "second_peak")
    known = double_peak(stride.percent, force, stride.toe_off) if force.any() else {}
    return {"vertical_maxima": humps, **{f"vertical_{name}": known.get(name) for name in names}}


def maxima(values: np.ndarray, prominent: float) -> list[int]:
    """Return the samples (of M) at which values (M,) have maxima that stand out on both sides: they
    fall by at least so much before they rise above them."""
    kept = np.flatnonzero(np.concatenate([[True], np.diff(values) != 0.0]))  # level counts once
    line, tops = values[kept], []
    for k in range(1, len(line) - 1):
        if line[k - 1] < line[k] > line[k + 1]:
            sides = (line[:k][::-1], line[k + 1 :])
            if min(_fall(line[k], side) for side in sides) >= prominent:
                tops.append(int(kept[k]))
    return tops


def _fall(top: float, side: np.ndarray) -> float:
    """Return the largest fall of values below a top before they rise above it."""
    above = np.flatnonzero(side > top)
    return float(top - side[: above[0] if len(above) else len(side)].min())


def _sway(stride: Stride, curves: Mapping[str, np.ndarray]) -> dict[str, Any]:
    """Return the ranges of centre of mass, trunk, head, pelvis and knee."""
    loading = stride.percent <= stride.toe_off / 2.0
    return {
        "com_up_mm": float(np.ptp(curves["com_up"])),
        "com_sideways_mm": float(np.ptp(curves["com_sideways"])),
        "trunk_forward_deg": _ends(curves["trunk_forward"]),
        "trunk_sideways_deg": float(np.abs(curves["trunk_sideways"]).max()),
        "head_nod_deg": float(np.ptp(np.degrees(np.arctan2(stride.head[2], stride.head[1])))),
        "stance_knee_deg": float(curves["knee_flex"][loading].max()),
        "pelvis_rotation_deg": float(np.abs(curves["pelvis_rotation"]).max()),
        "pelvis_list_deg": float(np.abs(curves["pelvis_list"]).max()),
    }


def _ends(values: np.ndarray) -> list[float]:
    return [float(values.min()), float(values.max())]


def at_bounds(stride: Stride) -> dict[str, float]:
    """Return {joint: % of the cycle} that joints, not the root's, spend at a bound of their range,
    within AT_BOUND; those that never do are left out."""
    shares = {}
    for joint, row in zip(stride.tree.moving, stride.q):
        if joint.name in ROOT or joint.kind != "revolute":
            continue
        lower, upper = (float(bound) for bound in joint.position)
        near = np.minimum(row - lower, upper - row) <= np.radians(AT_BOUND)
        share = 100.0 * float(stride.weights @ near)
        if share > 0.0:
            shares[joint.name] = share
    return dict(sorted(shares.items(), key=lambda entry: -entry[1]))


def of_either_side(shares: Mapping[str, float]) -> dict[str, float]:
    """Return {joint without its side: the larger share of both}, of shares the largest first."""
    found: dict[str, float] = {}
    for joint, share in shares.items():
        found.setdefault(joint.removesuffix("_r").removesuffix("_l"), share)
    return found


def _foot(stride: Stride) -> dict[str, Any]:
    """Return the clearance of the right foot's toe and the way of the pressure under it; None where
    it never stands, or its toe rises or falls alone in swing."""
    bears = (stride.forces["right"][1] > PRESSED) & (stride.percent <= stride.toe_off)
    if not bears.any():
        return {"toe_clearance_mm": None, "pressure_percent": None, "pressure_sideways_mm": None}
    up, here = stride.toes["right"][1], stride.percent > stride.toe_off
    height = up[here] - up[np.searchsorted(stride.percent, FLAT)]
    lows = [h for a, h, b in zip(height, height[1:], height[2:]) if a > h <= b]
    return {
        "toe_clearance_mm": 1000.0 * float(min(lows)) if lows else None,
        **_pressed(stride, bears),
    }


def _pressed(stride: Stride, bears: np.ndarray) -> dict[str, Any]:
    """Return {% of the stance: the centre of pressure ahead of the heel, in % of the foot from heel
    to toe}, as it stands flat, and how far that goes from side to side (mm); the right foot
    `bears` at some of the samples (M,)."""
    ahead = stride.way / max(float(np.linalg.norm(stride.way)), 1e-12)
    heel, toe = (_at(stride, spots["right"], FLAT) for spots in (stride.heels, stride.toes))
    places = stride.pressures["right"] - heel[:, None]
    shares = 100.0 * (ahead @ places) / (ahead @ (toe - heel))
    share = np.interp(
        np.array(STANCE) / 100.0 * stride.toe_off, stride.percent[bears], shares[bears]
    )
    return {
        "pressure_percent": dict(zip(map(str, STANCE), share.tolist())),
        "pressure_sideways_mm": 1000.0 * float(np.ptp(places[0, bears])),
    }


def _arms(stride: Stride, curves: Mapping[str, np.ndarray]) -> dict[str, Any]:
    """Return the swing of the arm, and its correlation with the same side's leg."""
    r = compare(stride.percent, curves["shoulder_flex"], curves["hip_flex"])[2]
    return {
        "swing_deg": float(np.ptp(curves["shoulder_flex"])),
        "abduction_deg": float(np.degrees(stride.joint(stride.q, "shou_abd_r").max())),
        "with_own_leg_r": None if np.isnan(r) else r,
    }


def _costs(stride: Stride) -> dict[str, Any]:
    """Return the work of all joints, and estimates of the metabolic power of drives and muscles.

    Moments include what passive tissue and muscles give, as those of measured walking do; metabolic
    energy is of the drives' alone, and of muscles.
    """
    joints = stride.tree.moving[: stride.tree.dof - len(stride.tree.states)]
    driven = np.array([row for row, joint in enumerate(joints) if joint.actuated])
    power, drives = ((each * stride.qd)[driven] for each in (stride.moments, stride.drives))
    speed = max(float(np.linalg.norm(stride.way)), 1e-12) / stride.duration
    way = speed * stride.mass  # kg m/s
    gained, lost = (
        float(np.maximum(sign * power, 0.0).sum(axis=0) @ stride.weights) for sign in (1, -1)
    )
    names = [joint.name for joint in joints if joint.actuated]
    spent = float(stride.power["spent"] @ stride.weights)
    return {
        "positive_work_J_m": gained / speed,
        "positive_work_J_kg_m": gained / way,
        "negative_work_J_kg_m": -lost / way,
        "metabolic": metabolic(names, drives, stride.weights, stride.mass, speed, spent),
    }


def _energy(stride: Stride) -> dict[str, float | None]:
    """Return the energy that gravity takes, and that the ground has given feet and taken from them,
    each by itself, and the work of muscles' active fibres (all J/kg/m), with the share of the
    positive one in what muscles spend, None without muscles.

    A ground on which feet stand still, or roll about what bears, gives and takes nothing.
    """
    length = max(float(np.linalg.norm(stride.way)), 1e-12)
    means = {name: float(each @ stride.weights) for name, each in stride.power.items()}
    per = stride.mass * length / stride.duration
    return {
        "gravity_J_kg_m": 0.0 - float(np.dot(stride.tree.gravity, stride.way)) / length,
        **{f"{name}_J_kg_m": mean / per for name, mean in means.items() if name != "spent"},
        "efficiency": means["shortening"] / means["spent"] if means["spent"] else None,
    }


def _knee(stride: Stride) -> list[float] | None:
    """Return the peaks (BW) of what the surfaces of the right knee bear in either half of its
    stance; None without muscles, beside which alone that is known."""
    borne = stride.knees["right"]
    if not borne.any():
        return None
    peaks = double_peak(stride.percent, borne, stride.toe_off)
    return [float(peaks[name]["BW"]) for name in ("first_peak", "second_peak")]
