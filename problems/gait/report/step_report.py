"""A gait in numbers: beside measured walking, what it costs, and how honestly it stands.

Everything is taken on a dense grid, ten steps where the nodes of the nonlinear program have one,
and nothing is clipped.
"""

from collections.abc import Iterator, Mapping
from dataclasses import fields
from typing import Any

import casadi as ca
import numpy as np

from ocp import Solution, Tree
from ocp.certificate import ContactQuality, Extreme, contact_quality, extremes_data
from ocp.mechanics import body_weight
from ocp.models.human import CONTACTS, SOLES, worn
from ocp.problems.gait.card import card_lines, card_table, report_card
from ocp.problems.gait.report.continuity import continuity
from ocp.problems.gait.report.gait_cycle import JOINTS, Cycle, cycle, step_length
from ocp.problems.gait.report.phase_report import walk_lines, walk_report
from ocp.solution import dense_instants, traces

GROUPS = {  # of joints, by the beginnings of their names
    "hip": "hip_",
    "knee": "knee_",
    "ankle": "ankle_",
    "toe": "toe_",
    "spine": "spine",
    "clavicle": "clav_",
    "shoulder": "shou_",
    "elbow": "elb_",
    "wrist": "wri_",
    "neck": "neck_",
    "head": "head_",
}


def gait_report(solution: Solution) -> dict[str, Any]:
    """Return the report of a gait, plain data ready for JSON, as `report_lines` tells it.

    It is the report card, and of a step what it costs and how honestly it stands, of a walk in
    phases what `walk_report` tells.
    """
    card = _card(solution)
    if solution.phases:
        return card | walk_report(solution)
    walk = cycle(solution)
    return {
        **card,
        "objective": solution.objective,
        "terms": {name: weight * value for name, weight, value in solution.terms},
        **_forces(walk),
        "continuity": extremes_data(continuity(solution, step_length(solution.problem))),
        "torque_share": extremes_data(torque_shares(walk)),
        "torque_excess_percent": 100.0
        * (max(walk.share(joint).max() for joint in walk.torques) - 1.0),
        "standing": _standing(contact_quality(solution)),
        "penetration": extremes_data(_lowest(solution)),
        "certificate_points": len(dense_instants(solution)),
        "nodes": len(solution.nodes) or None,
        "body_weight_N": body_weight(solution.problem.tree),
    }


def brief_lines(solution: Solution) -> list[str]:
    """Return the lines of the report card alone."""
    return _card_lines(_card(solution))


def _card(solution: Solution) -> dict[str, Any]:
    """Return the report card, and what is worn."""
    return report_card(solution) | {"loads_kg": loads_kg(solution.problem.tree)}


def loads_kg(tree: Tree) -> dict[str, float]:
    """Return {segment and side: mass (kg)} of what a body wears."""
    return {name.partition("_")[2]: mass for name, mass in worn(tree).items()}


def _forces(walk: Cycle) -> dict[str, Any]:
    """Return the peaks of the ground's force on the right foot, and of its leg's joint forces."""
    lateral, _, fore_aft = walk.forces["right"]
    ends = {"braking": fore_aft.argmin(), "propulsion": fore_aft.argmax()}
    return {
        "fore_aft_force": {
            what: {"BW": float(fore_aft[k]), "percent": float(walk.percent[k])}
            for what, k in ends.items()
        },
        "lateral_force_BW": float(np.abs(lateral).max()),
        "joint_force_BW": {
            name.removesuffix("_r"): float(line.max())
            for name, line in walk.joint_forces.items()
            if name.endswith("_r")
        },
    }


def torque_shares(walk: Cycle) -> dict[str, Extreme]:
    """Return {group of joints: Extreme} of torques as shares of their limits, on either side."""
    extremes = {}
    for group, start in GROUPS.items():
        shares = {joint: walk.share(joint) for joint in walk.torques if joint.startswith(start)}
        if shares:
            worst = max(shares, key=lambda joint: shares[joint].max())
            k = int(shares[worst].argmax())
            extremes[group] = Extreme(
                value=float(shares[worst][k]),
                unit="of the limit",
                where=worst.removesuffix("_r").removesuffix("_l"),
                time=float(walk.percent[k] / 100.0 * walk.duration),
            )
    return extremes


def _standing(record: ContactQuality) -> dict[str, Any]:
    return {each.name: extremes_data(getattr(record, each.name)) for each in fields(record)}


def _lowest(solution: Solution) -> dict[str, Extreme]:
    """Return {kind of points: Extreme} of the least height above the ground.

    Contact points are kept there, and all corners of the soles are not.
    """
    kinds = {
        "contact points": [
            name for foot in CONTACTS.values() for names in foot.values() for name in names
        ],
        "sole corners": [name for names in SOLES.values() for name in names],
    }
    t, ground = dense_instants(solution) * solution.duration, solution.problem.ground
    planes = {foot.name[0]: ground.plane(foot) for foot in ground.feet}
    wanted = {
        name: lambda at, name=name, plane=planes[name[-1]]: (
            ca.dot(ca.DM(plane.normal), at.position(name)) - plane.height
        )
        for names in kinds.values()
        for name in names
    }
    heights = {name: line[0] for name, line in traces(solution, wanted, t).items()}
    extremes = {}
    for kind, names in kinds.items():
        lowest = min(names, key=lambda name: heights[name].min())
        k = heights[lowest].argmin()
        extremes[kind] = Extreme(
            value=float(heights[lowest][k]), unit="m", where=lowest, time=float(t[k])
        )
    return extremes


def loads(solution: Solution) -> dict[str, float]:
    """Return {name: number} of what a study over people compares.

    These are speed and step, ranges of the right leg's joints, and peak forces.
    """
    report, walk = gait_report(solution), cycle(solution)
    ranges = {
        f"{name}_{end}_deg": float(pick(walk.angles[f"{joint}_r"]))
        for name, joint in JOINTS.items()
        for end, pick in (("least", np.min), ("most", np.max))
    }
    return {
        "speed_m_s": report["numbers"]["speed_m_s"],
        "step_m": report["numbers"]["step_m"],
        **ranges,
        "vertical_force_BW": float(walk.forces["right"][1].max()),
        "braking_BW": report["fore_aft_force"]["braking"]["BW"],
        "propulsion_BW": report["fore_aft_force"]["propulsion"]["BW"],
        **{
            f"{name}_joint_force_BW": float(walk.joint_forces[f"{joint}_r"].max())
            for name, joint in JOINTS.items()
        },
        "torque_of_limit": max(entry["value"] for entry in report["torque_share"].values()),
        "work_J_kg_m": report["numbers"]["positive_work_J_kg_m"],
    }


def report_lines(report: Mapping[str, Any]) -> list[str]:
    """Return the report as lines of text, the summary of the card first."""
    lines = _card_lines(report)
    if "rhythm" in report:
        return [*lines, *walk_lines(report)]
    return [*lines, *(f"{label:<28}{text}" for label, text in _lines(report))]


def _card_lines(report: Mapping[str, Any]) -> list[str]:
    return [*card_lines(report), *card_table(report), *_worn(report.get("loads_kg", {}))]


def _worn(loads: Mapping[str, float]) -> Iterator[str]:
    """Yield the line of what is worn, if anything is."""
    if loads:
        parts = (f"{name.replace('_', ' ')} {mass:g} kg" for name, mass in loads.items())
        yield f"{'worn':<28}{', '.join(parts)}"


def _lines(report: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield (label, text) of all lines beside those of the card."""
    terms = "".join(f", {name} {value:.6g}" for name, value in report["terms"].items())
    yield "objective", f"{report['objective']:.6g}{terms}"
    yield from _forced(report)
    yield "largest torque", f"{report['torque_excess_percent']:+.2f} % beyond its limit"
    jumps = (
        f"{name.replace('_', ' ')} {entry['value']:.1e} {entry['unit']}"
        for name, entry in report["continuity"].items()
    )
    yield "continuity", ", ".join(jumps)
    yield "certificate", f"{report['certificate_points']} instants of the step"
    yield from _certified(report)


def _forced(report: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    ends = ", ".join(
        f"{name} {entry['BW']:+.3f} BW at {entry['percent']:.0f} %"
        for name, entry in report["fore_aft_force"].items()
    )
    yield "fore-aft force", f"{ends}; lateral within {report['lateral_force_BW']:.3f} BW"
    inside = (f"{name} {value:.2f} BW" for name, value in report["joint_force_BW"].items())
    yield "joint forces", ", ".join(inside)
    shares = (
        f"{group} {100 * entry['value']:.0f} % ({entry['where']})"
        for group, entry in report["torque_share"].items()
    )
    yield "torques of limits", ", ".join(shares)


def _certified(report: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    standing = dict(report["standing"])
    balance = standing.pop("unbalanced"), standing.pop("before_correction")
    entries = {f"pressure margin {foot}": each for foot, each in standing.pop("margins").items()}
    entries |= {name: entry for name, entry in standing.items() if entry is not None}
    entries |= {f"lowest of {name}": entry for name, entry in report["penetration"].items()}
    for name, entry in entries.items():
        scale, unit = (1000.0, "mm") if entry["unit"] == "m" else (1.0, entry["unit"])
        number = f"{scale * entry['value']:+.3g} {unit} ".replace("  ", " ")
        yield (
            f"  {name.replace('_', ' ')}",
            f"{number}({entry['where']}, t = {entry['time']:.4f} s)",
        )
    yield "  root balanced", _balanced(*balance)


def _balanced(after: Mapping[str, Any], before: Mapping[str, Any] | None) -> str:
    """Return the imbalance of the root on the ground, after the correction and before it."""
    words = f"to {after['value']:.1e} {after['unit']} by correction"
    if before is None:
        return words
    return (
        f"{words}; before correction off by {before['value']:.2g} {before['unit']} "
        f"({before['where']}, t = {before['time']:.4f} s)"
    )
