"""A lift in numbers: what it bears, how honestly it stands, and what limits it.

Everything is taken on a dense grid, ten steps where the nodes of the nonlinear program have one.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from ocp import Solution
from ocp.certificate import ContactQuality, Extreme, contact_quality, extremes_data
from ocp.mechanics import body_weight
from ocp.problems.lifting.report.active_constraints import active
from ocp.problems.lifting.report.curves import HANDS, Lift, lifted, work_of
from ocp.problems.lifting.report.disturbed_lifts import disturbed_line
from ocp.problems.lifting.report.low_back import BACK, compression_line, compressions
from ocp.problems.lifting.report.niosh import COMPRESSION, judged, judged_lines
from ocp.problems.lifting.statement.standing_body import stepped
from ocp.solution import dense_instants

JOINTS = {
    "L5/S1": BACK,
    "hip": "hip_flex_r",
    "knee": "knee_flex_r",
    "ankle": "ankle_df_r",
    "shoulder": "shou_flex_r",
    "elbow": "elb_flex_r",
}
STANDING = (
    "height",
    "place",
    "slip_speed",
    "margins",
    "zmp",
    "push",
    "friction",
    "unbalanced",
    "before_correction",
)
NEAREST = 5  # joints that are told to come nearest to the limits of their torques
MANY = 16  # active constraints that are told; the report as JSON has all


def lifting_report(solution: Solution) -> dict[str, Any]:
    """Return the report of a lift, plain data ready for JSON, as `report_lines` tells it."""
    t = dense_instants(solution) * solution.duration
    lift, weight = lifted(solution, t), body_weight(solution.problem.tree)
    way = stepped(solution.problem.ground)
    return {
        "box_kg": lift.mass,
        "terms": {name: value for name, _, value in solution.terms},
        "references": solution.statistics.get("references"),
        "front": solution.statistics.get("front"),
        "disturbed": solution.statistics.get("disturbed"),
        "niosh": judged(middle(lift), t, lift.mass, work_of(solution), stepped=way),
        **_loads(lift),
        **_feet(lift, weight, contact_quality(solution)),
        "active": active(solution),
        "certificate_points": len(t),
    }


def middle(lift: Lift) -> np.ndarray:
    """Return the middle (3, N), m, of the hands."""
    return sum(lift.hands[hand] for hand in HANDS) / 2


def _loads(lift: Lift) -> dict[str, Any]:
    """Return the loads on back, joints and hands, and their angles."""
    hands = np.array(list(lift.pulls.values()))
    tightest = min(lift.clearance, key=lambda name: lift.clearance[name].min())
    courses = {name: _course(lift.angles[joint]) for name, joint in JOINTS.items()}
    return {
        "L5S1_extension_Nm": _peak(lift.burden.extending, lift.t),
        "L5S1_pressing_N": _peak(lift.burden.pressing, lift.t),
        "L5S1_shearing_N": _peak(lift.burden.shearing, lift.t),
        "L5S1_compression": compressions(lift.burden, lift.t),
        "torques_Nm": {name: _range(lift.torques[joint]) for name, joint in JOINTS.items()},
        "angles_deg": courses | {"lumbar": _course(lift.lumbar), "trunk": _course(lift.trunk)},
        "joint_force_N": {name: float(line.max()) for name, line in lift.inner.items()},
        "torque_share": _shares(lift),
        "hand_pull_N": _peak(np.linalg.norm(hands, axis=1).max(axis=0), lift.t),
        "box_clearance": _extreme(lift.t, -lift.clearance[tightest], "m", tightest, sign=-1.0),
    }


def _feet(lift: Lift, weight: float, standing: ContactQuality) -> dict[str, Any]:
    """Return the loads on the feet, over the weight (N) of all, and the quality of their
    contacts."""
    vertical = sum(force[1] for force in lift.forces.values())
    return {
        "vertical_force_weights": _range(vertical / weight),
        "zmp_m": _range(lift.zmp[2]),
        "standing": {name: extremes_data(getattr(standing, name)) for name in STANDING},
    }


def _shares(lift: Lift) -> list[dict[str, Any]]:
    """Return the joints that come nearest to what they can, as plain Extremes."""
    shares = {
        name: np.maximum(line / lift.able[name][1], line / lift.able[name][0])
        for name, line in lift.torques.items()
    }
    names = sorted(shares, key=lambda name: -shares[name].max())[:NEAREST]
    return [_extreme(lift.t, shares[name], "of the limit", name) for name in names]


def _extreme(
    t: np.ndarray, line: np.ndarray, unit: str, where: str, *, sign: float = 1.0
) -> dict[str, Any]:
    """Return the largest of a line (N,), times a sign, as a plain Extreme."""
    k = int(line.argmax())
    return extremes_data(
        Extreme(value=float(sign * line[k]), unit=unit, where=where, time=float(t[k]))
    )


def _peak(line: np.ndarray, t: np.ndarray) -> dict[str, float]:
    return {"value": float(line.max()), "time": float(t[line.argmax()])}


def _range(line: np.ndarray) -> list[float]:
    return [float(line.min()), float(line.max())]


def _course(line: np.ndarray) -> dict[str, float]:
    return {
        "start": float(line[0]),
        "end": float(line[-1]),
        "least": float(line.min()),
        "most": float(line.max()),
    }


def loads(solution: Solution) -> dict[str, float]:
    """Return {name: number} of what a study over people compares.

    These are the loads of the back, the posture, and what comes nearest to its limit.
    """
    report = lifting_report(solution)
    angles = report["angles_deg"]
    return {
        "L5S1_Nm": report["L5S1_extension_Nm"]["value"],
        "L5S1_pressing_N": report["L5S1_pressing_N"]["value"],
        "L5S1_shearing_N": report["L5S1_shearing_N"]["value"],
        "L5S1_compression_N": report["L5S1_compression"]["with_extensor_N"]["value"],
        "recommended_kg": min(report["niosh"][when]["recommended_kg"] for when in ("start", "end")),
        **{
            f"{name}_most_deg": angles[name]["most"]
            for name in ("knee", "hip", "ankle", "lumbar", "trunk")
        },
        **{f"{name}_joint_force_N": value for name, value in report["joint_force_N"].items()},
        "vertical_force_weights": report["vertical_force_weights"][1],
        "torque_of_limit": report["torque_share"][0]["value"],
    }


def report_lines(report: Mapping[str, Any]) -> list[str]:
    """Return the report as lines of text."""
    return [f"{label:<22}{text}" for label, text in _lines(report)]


def _lines(report: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield (label, text) of all lines."""
    yield "box", f"{report['box_kg']:.3f} kg"
    if report["disturbed"]:
        yield "noise", disturbed_line(report["disturbed"])
    yield "L5/S1", _back(report)
    yield "compression", compression_line(report["L5S1_compression"], COMPRESSION)
    for line in judged_lines(report["niosh"]):
        yield "NIOSH's equation", line
    for name, course in report["angles_deg"].items():
        yield name, _bending(course, report["torques_Nm"].get(name))
    yield "joint forces", _listed(report["joint_force_N"], "{:.0f} N")
    shares = (
        f"{entry['where']} {100 * entry['value']:.0f} % at {entry['time']:.2f} s"
        for entry in report["torque_share"]
    )
    yield "torques of limits", ", ".join(shares)
    pull = report["hand_pull_N"]
    yield "hands", f"each pulled by up to {pull['value']:.0f} N at {pull['time']:.2f} s"
    low, high = report["vertical_force_weights"]
    yield "vertical force", f"{low:.2f} to {high:.2f} weights of body and box"
    back, front = report["zmp_m"]
    yield "zero moment point", f"{back:+.3f} to {front:+.3f} m before the ankles"
    yield "certificate", f"{report['certificate_points']} instants"
    yield from _certified(report)
    yield from _active(report)
    if report["references"]:
        yield "ranges", _listed(report["references"], "{:.5g} s")
    yield from _front(report["front"] or ())


def _back(report: Mapping[str, Any]) -> str:
    parts = []
    for what, key, unit in (
        ("extension moment up to", "L5S1_extension_Nm", "N m"),
        ("pressed by", "L5S1_pressing_N", "N"),
        ("sheared by", "L5S1_shearing_N", "N"),
    ):
        entry = report[key]
        parts.append(f"{what} {entry['value']:.0f} {unit} at {entry['time']:.2f} s")
    return ", ".join(parts) + " (joint forces, without the muscles')"


def _bending(course: Mapping[str, float], torque: list[float] | None) -> str:
    text = (
        f"{course['start']:.0f} at the start, {course['end']:.0f} at the end, "
        f"{course['least']:.0f} to {course['most']:.0f} deg"
    )
    return text + (f"; {torque[0]:.0f} to {torque[1]:.0f} N m" if torque else "")


def _certified(report: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    standing = {name: entry for name, entry in report["standing"].items() if entry is not None}
    margins = {f"pressure margin {foot}": each for foot, each in standing.pop("margins").items()}
    entries = {"box clearance": report["box_clearance"]} | margins | standing
    for name, entry in entries.items():
        scale, unit = (1000.0, "mm") if entry["unit"] == "m" else (1.0, entry["unit"])
        yield (
            f"  {name.replace('_', ' ')}",
            f"{scale * entry['value']:+.3g} {unit} ({entry['where']}, t = {entry['time']:.3f} s)",
        )


def _active(report: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for entry in report["active"][:MANY]:
        yield (
            "active",
            f"{entry['constraint']}: {entry['row']}, {entry['side']} bound, "
            f"{entry['from']:.2f} to {entry['to']:.2f} s; "
            f"{entry['step']} of it are worth {entry['gain']:.2g} {entry['unit']}",
        )


def _front(front: Any) -> Iterator[tuple[str, str]]:
    for entry in front:
        yield (
            "front",
            f"weight {entry['weight']:.3f}: effort {entry['effort']:.5f} s, "
            f"stability {entry['stability']:.5f} s, {entry['status']}, "
            f"{entry['iterations']} iterations, {entry['solve_seconds']:.2f} s",
        )


def _listed(values: Mapping[str, float], form: str) -> str:
    return ", ".join(f"{name} {form.format(value)}" for name, value in values.items())
