"""A gait in numbers: how it compares with measured walking, what it costs, and how honestly it stands, as as_data data and as lines of text.

Everything is taken on a dense grid, ten steps where the nodes of the nonlinear program have one, and nothing is clipped.
"""

import casadi as ca
import numpy as np
from ocp.models.human import CONTACTS, SOLES, mirror, normative
from ocp.problems.gait.cycle import OTHER, REFLECTED, cycle, step_length

from ocp.mechanics.zero_moment import body_weight
from ocp.solution import Extreme, as_data, dense, footing, traces

MOMENTS = {
    "hip_flex": "tau_hip_flex_Nm_kg",
    "knee_flex": "tau_knee_flex_Nm_kg",
    "ankle_df": "tau_ankle_df_Nm_kg",
}
ANGLES = {
    "hip_flex": "hip_flex_deg",
    "knee_flex": "knee_flex_deg",
    "ankle_df": "ankle_df_deg",
}  # ours: the measured one
FORCES = {"vertical": (1, "grf_vertical_BW"), "fore_aft": (2, "grf_foreaft_BW")}
GROUPS = {
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
}  # by the beginnings of their joints' names


def gait_report(solution):
    """Return the report of one solved step, as_data data ready for JSON: see `report_lines` for what it says."""
    problem, walk, step = solution.problem, cycle(solution), step_length(solution.problem)
    standing = footing(solution)
    work = positive_work(walk)
    return {
        "speed_m_s": step / solution.duration,
        "step_m": step,
        "cadence_steps_min": 60.0 / solution.duration,
        "stance_percent": walk.toe_off,
        "objective": solution.objective,
        "terms": {name: weight * value for name, weight, value in solution.terms},
        "angles": {
            source: {
                joint: _against(
                    normative(source), quantity, walk.percent, walk.angles[f"{joint}_r"], "deg"
                )
                for joint, quantity in ANGLES.items()
            }
            for source in ("fukuchi", "winter")
        },
        "moments": {
            "falisse": {
                joint: _against(
                    normative("falisse"),
                    quantity,
                    walk.percent,
                    walk.torques[f"{joint}_r"] / walk.mass,
                    "Nm/kg",
                )
                for joint, quantity in MOMENTS.items()
                if f"{joint}_r" in walk.torques
            }
        },
        "forces": {
            name: {
                span: _against(
                    normative("winter"),
                    quantity,
                    walk.percent[held],
                    walk.forces["right"][row][held],
                    "BW",
                )
                for span, held in (
                    ("cycle", walk.percent >= 0),
                    ("stance", walk.percent <= walk.toe_off),
                )
            }
            for name, (row, quantity) in FORCES.items()
        },
        "vertical_force": double_peak(walk.percent, walk.forces["right"][1], walk.toe_off),
        "fore_aft_force": {
            what: {"BW": float(walk.forces["right"][2][k]), "percent": float(walk.percent[k])}
            for what, k in (
                ("braking", walk.forces["right"][2].argmin()),
                ("propulsion", walk.forces["right"][2].argmax()),
            )
        },
        "lateral_force_BW": float(np.abs(walk.forces["right"][0]).max()),
        "joint_force_BW": {
            name.removesuffix("_r"): float(line.max())
            for name, line in walk.joint_forces.items()
            if name.endswith("_r")
        },
        "continuity": as_data(continuity(solution, step)),
        "torque_share": as_data(torque_shares(walk)),
        "torque_excess_percent": 100.0
        * (max(walk.share(joint).max() for joint in walk.torques) - 1.0),
        "positive_work_J_per_m": work / (2.0 * step),
        "positive_work_J_per_kg_m": work / (2.0 * step * walk.mass),
        "standing": {name: as_data(value) for name, value in _fields(standing).items()},
        "penetration": as_data(_lowest(solution)),
        "posture": _posture(solution, walk),
        "certificate_points": len(dense(solution)),
        "nodes": len(solution.nodes) or None,
        "body_weight_N": body_weight(problem.tree),
    }


def compare(percent, ours, theirs):
    """Return (root mean square error, the same with both means out, Pearson's r) of two curves (M,) over the percentages (M,); r is not a
    number if one of them is constant.

    Means are integrals by the trapezoid rule over the percentages, so that the spacing of samples does not matter.
    """
    weights = _trapezoid(percent) / np.ptp(percent)
    ours, theirs = (np.asarray(curve, dtype=float) for curve in (ours, theirs))
    a, b = ours - weights @ ours, theirs - weights @ theirs
    spread = np.sqrt((weights @ a**2) * (weights @ b**2))
    r = float(weights @ (a * b) / spread) if spread > 0 else np.nan
    return float(np.sqrt(weights @ (ours - theirs) ** 2)), float(np.sqrt(weights @ (a - b) ** 2)), r


def double_peak(percent, force, toe_off):
    """Return {first_peak, valley, second_peak}, each {BW, percent}, of a vertical force (M,) over the stance: the largest value in either half
    of the stance, and the least between them; and all `maxima` there, a list of the same, which for measured walking are two."""
    stance, half = np.flatnonzero(percent <= toe_off), np.searchsorted(percent, toe_off / 2)
    first, second = (
        stance[:half][force[stance[:half]].argmax()],
        stance[half:][force[stance[half:]].argmax()],
    )
    valley = first + force[first : second + 1].argmin()

    def told(k):
        return {"BW": float(force[k]), "percent": float(percent[k])}

    kept = stance[
        np.concatenate([[True], np.abs(np.diff(force[stance])) > 1e-9])
    ]  # level counts once
    rising = np.diff(force[kept]) > 0
    return {
        "first_peak": told(first),
        "valley": told(valley),
        "second_peak": told(second),
        "maxima": [told(kept[k + 1]) for k in np.flatnonzero(rising[:-1] & ~rising[1:])],
    }


def positive_work(walk):
    """Return the positive work (J) of all actuated joints over the cycle, each joint for itself."""
    t = walk.percent / 100.0 * walk.duration
    return float(
        sum(
            _trapezoid(t) @ np.maximum(walk.torques[joint] * walk.rates[joint], 0.0)
            for joint in walk.torques
        )
    )


def torque_shares(walk):
    """Return {group of joints: Extreme} of the torque as a share of its limit, on either side of the body."""
    found = {}
    for group, start in GROUPS.items():
        joints = [joint for joint in walk.torques if joint.startswith(start)]
        if not joints:
            continue
        shares = {joint: walk.share(joint) for joint in joints}
        worst = max(joints, key=lambda joint: shares[joint].max())
        k = int(shares[worst].argmax())
        found[group] = Extreme(
            value=float(shares[worst][k]),
            unit="of the limit",
            where=worst.removesuffix("_r").removesuffix("_l"),
            time=float(walk.percent[k] / 100.0 * walk.duration),
        )
    return found


def continuity(solution, step):
    """Return {quantity: Extreme} of the largest jump where the mirrored step joins: coordinates, rates, accelerations, torques, forces."""
    tree, T = solution.problem.tree, solution.duration
    index, sign = mirror(tree)
    wanted = {
        "q": lambda at: at.q,
        "qd": lambda at: at.qd,
        "qdd": lambda at: at.qdd,
        "tau": lambda at: at.tau,
    }
    wanted |= {foot: lambda at, foot=foot: at.reaction.force(foot) for foot in OTHER}
    found, names = (
        traces(solution, wanted, np.array([0.0, T])),
        [joint.name for joint in tree.moving],
    )
    slides = np.array([joint.kind == "prismatic" for joint in tree.moving])
    jumps = {}
    for what, units in (
        ("q", ("rad", "m")),
        ("qd", ("rad/s", "m/s")),
        ("qdd", ("rad/s2", "m/s2")),
        ("tau", ("N m", "N")),
    ):
        gap = found[what][:, 1] - sign * found[what][index, 0]
        if what == "q":
            gap[tree.coordinate("glob_tz")] -= step
        for kind, chosen in ((0, ~slides), (1, slides)):
            if what != "tau" or kind == 0:
                k = np.flatnonzero(chosen)[np.abs(gap[chosen]).argmax()]
                jumps[f"{what}_{'slide' if kind else 'turn'}" if what != "tau" else "torque"] = (
                    Extreme(value=float(abs(gap[k])), unit=units[kind], where=names[k], time=T)
                )
    gaps = {
        foot: np.abs(found[foot][:, 1] - REFLECTED[:, 0] * found[OTHER[foot]][:, 0])
        / body_weight(tree)
        for foot in OTHER
    }
    worst = max(gaps, key=lambda foot: gaps[foot].max())
    return jumps | {
        "ground_force": Extreme(
            value=float(gaps[worst].max()), unit="BW", where=f"{worst} foot", time=T
        )
    }


def report_lines(report):
    """Return the report as lines of text."""
    lines, posture = [], report["posture"]

    def line(label, text):
        lines.append(f"{label:<28}{text}")

    line(
        "walk",
        f"{report['speed_m_s']:.3f} m/s, step {report['step_m']:.3f} m, {report['cadence_steps_min']:.0f} steps/min, "
        f"stance {report['stance_percent']:.0f} % of the cycle",
    )
    line(
        "objective",
        f"{report['objective']:.6g}"
        + "".join(f", {name} {value:.6g}" for name, value in report["terms"].items()),
    )
    for what, form in (("angles", "{:.1f}"), ("moments", "{:.2f}")):
        for source, joints in report[what].items():
            for joint, entry in joints.items():
                line(f"{joint} {what[:-1]} / {source}", _told(entry, entry["unit"], form))
    for name, spans in report["forces"].items():
        for span, entry in spans.items():
            line(f"{name} / winter", _told(entry, "BW", "{:.3f}") + f" over the {span}")
    vertical = report["vertical_force"]
    line(
        "vertical force",
        ", ".join(
            f"{name.replace('_', ' ')} {vertical[name]['BW']:.2f} BW at {vertical[name]['percent']:.0f} %"
            for name in ("first_peak", "valley", "second_peak")
        )
        + f"; maxima at {', '.join(format(peak['percent'], '.0f') for peak in vertical['maxima'])} %",
    )
    line(
        "fore-aft force",
        ", ".join(
            f"{name} {entry['BW']:+.3f} BW at {entry['percent']:.0f} %"
            for name, entry in report["fore_aft_force"].items()
        )
        + f"; lateral within {report['lateral_force_BW']:.3f} BW",
    )
    line(
        "joint forces",
        ", ".join(f"{name} {value:.2f} BW" for name, value in report["joint_force_BW"].items()),
    )
    line(
        "torques of limits",
        ", ".join(
            f"{group} {100 * entry['value']:.0f} % ({entry['where']})"
            for group, entry in report["torque_share"].items()
        ),
    )
    line("largest torque", f"{report['torque_excess_percent']:+.2f} % beyond its limit")
    line(
        "positive work",
        f"{report['positive_work_J_per_m']:.1f} J/m, {report['positive_work_J_per_kg_m']:.3f} J/kg/m",
    )
    line(
        "trunk lean",
        "forward {0:.1f} to {1:.1f} deg, to the left {2:.1f} to {3:.1f} deg".format(
            *posture["trunk_forward_deg"], *posture["trunk_left_deg"]
        ),
    )
    line(
        "arms",
        f"shoulder abduction up to {posture['shoulder_abduction_deg']:.1f} deg, correlation with the same side's hip "
        f"{posture['arm_leg_correlation']:+.2f} ({'opposite' if posture['arm_leg_correlation'] < 0 else 'NOT opposite'} to the legs)",
    )
    line(
        "continuity",
        ", ".join(
            f"{name.replace('_', ' ')} {entry['value']:.1e} {entry['unit']}"
            for name, entry in report["continuity"].items()
        ),
    )
    line("certificate", f"{report['certificate_points']} instants of the step")
    for name, entry in _standing(report):
        scale, unit = (1000.0, "mm") if entry["unit"] == "m" else (1.0, entry["unit"])
        line(
            f"  {name.replace('_', ' ')}",
            f"{scale * entry['value']:+.3g} {unit} ".replace("  ", " ")
            + f"({entry['where']}, t = {entry['time']:.4f} s)",
        )
    return lines


def _standing(report):
    """Give (label, as_data Extreme) of all that concerns the ground."""
    for foot, entry in report["standing"]["margins"].items():
        yield f"pressure margin {foot}", entry
    yield from (
        (name, entry)
        for name, entry in report["standing"].items()
        if name != "margins" and entry is not None
    )
    yield from ((f"lowest of {name}", entry) for name, entry in report["penetration"].items())


def _told(entry, unit, form):
    return (
        f"r {entry['r']:+.3f}, RMSE {form.format(entry['rmse'])} {unit}, {form.format(entry['rmse_centered'])} without means; "
        f"{form.format(entry['ours'][0])} to {form.format(entry['ours'][1])}, "
        f"measured {form.format(entry['measured'][0])} to {form.format(entry['measured'][1])}"
    )


def _against(source, quantity, percent, ours, unit):
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


def _trapezoid(x):
    """Return the weights (M,) of the trapezoid rule at x."""
    steps = np.diff(x)
    return (np.concatenate([steps, [0.0]]) + np.concatenate([[0.0], steps])) / 2


def _lowest(solution):
    """Return {kind of points: Extreme} of the least height above the ground of the contact points, which are kept there, and of all corners
    of the soles, which are not."""
    kinds = {
        "contact points": [
            name for foot in CONTACTS.values() for names in foot.values() for name in names
        ],
        "sole corners": [name for names in SOLES.values() for name in names],
    }
    t, normal = dense(solution) * solution.duration, ca.DM(solution.problem.ground.normal)
    wanted = {
        name: lambda at, name=name: ca.dot(normal, at.position(name))
        for names in kinds.values()
        for name in names
    }
    heights = {name: line[0] for name, line in traces(solution, wanted, t).items()}
    lowest = {
        kind: min(names, key=lambda name: heights[name].min()) for kind, names in kinds.items()
    }
    return {
        kind: Extreme(
            value=float(heights[name].min()),
            unit="m",
            where=name,
            time=float(t[heights[name].argmin()]),
        )
        for kind, name in lowest.items()
    }


def _posture(solution, walk):
    """Return what the upper body does: lean of the line from L5/S1 to C7/T1 (deg, least and largest), and the arms over the cycle."""
    way = solution.trace(
        lambda at: at.position("C7T1") - at.position("L5S1"), dense(solution) * solution.duration
    )
    lean = {
        "trunk_forward_deg": np.degrees(np.arctan2(way[2], way[1])),
        "trunk_left_deg": np.degrees(np.arctan2(way[0], way[1])),
    }
    shoulder, hip = walk.angles["shou_flex_r"], walk.angles["hip_flex_r"]
    return {name: [float(line.min()), float(line.max())] for name, line in lean.items()} | {
        "shoulder_abduction_deg": float(walk.angles["shou_abd_r"].max()),
        "shoulder_flexion_deg": [float(shoulder.min()), float(shoulder.max())],
        "arm_leg_correlation": compare(walk.percent, shoulder, hip)[2],
    }


def _fields(record):
    return {name: getattr(record, name) for name in type(record).__dataclass_fields__}
