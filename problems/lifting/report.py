"""A lift in numbers: the back, the joints, the hands and the feet, how honestly it stands, and what limits the heaviest box.

Everything is taken on a dense grid, ten steps where the nodes of the nonlinear program have one.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import casadi as ca
import numpy as np
from ocp.models.human import carry
from ocp.problems.gait.cycle import joint_forces

from ocp.mechanics.kinematics import poses
from ocp.mechanics.structure import structure
from ocp.mechanics.zero_moment import body_weight, hull
from ocp.solution.sampling import dense, traces
from ocp.solution.standing import Extreme, footing, plain

HANDS = ("right hand", "left hand")
LOADED, KILOGRAMS = "box_mass", 10.0  # the coordinate that is the mass of the box, and its unit
BACK = "spine1_flex"  # the joint at L5/S1 that bends forward
JOINTS = {
    "L5/S1": BACK,
    "hip": "hip_flex_r",
    "knee": "knee_flex_r",
    "ankle": "ankle_df_r",
    "shoulder": "shou_flex_r",
    "elbow": "elb_flex_r",
}
MANY = 16  # active constraints that are told; the report as JSON has all
INNER = ("hip", "knee", "ankle")  # the forces that joint_forces tells, in its order
SLIGHT = 1e-6  # of the largest multiplier: a constraint with less counts as idle
# By how much a bound is moved, by the unit of its row, to tell what it costs: the number, its unit as told, and the number in the row's unit
STEPS = {
    "N m": (10, "N m", 10.0),
    "rad": (5, "deg", np.radians(5.0)),
    "m": (1, "mm", 0.001),
    "m/s": (10, "mm/s", 0.01),
    "weights m": (10, "mm", 0.01),
    "weights": (0.01, "weights", 0.01),
    "": (0.1, "", 0.1),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Lift:
    """A lift at times `t` (N,), s, with a box of `mass` (kg). `angles` {joint: (N,), deg} and `torques` {joint: (N,), N m} with their `limits`;
    the `trunk`'s lean forward and the `lumbar` flexion, of the two lower joints of the spine (N,), deg; what L5/S1 passes up, along the spine
    `pressing` and across it `shearing` (N,), N, without what muscles add; `inner` {joint: (N,), N}, norms of what right hip, knee and ankle
    pass on; `pulls` {hand: (3, N), N} of the box; `forces` {foot: (3, N), N}; the zero moment point `zmp` (3, N), m; the corners of the `box`
    (3, 8, N), m; and the `clearance` of each sphere of the body from it {point: (N,), m}."""

    t: np.ndarray
    mass: float
    angles: Mapping
    torques: Mapping
    limits: Mapping
    trunk: np.ndarray
    lumbar: np.ndarray
    pressing: np.ndarray
    shearing: np.ndarray
    inner: Mapping
    pulls: Mapping
    forces: Mapping
    zmp: np.ndarray
    box: np.ndarray
    clearance: Mapping


def box_mass(solution):
    """Return the mass of the box (kg), found or carried."""
    tree = solution.problem.tree
    if LOADED in tree.names:
        return float(KILOGRAMS * solution.points[tree.coordinate(LOADED)].mean())
    told = next(
        constraint.function
        for constraint in solution.problem.constraints
        if constraint.name == "carried"
    )
    return float(solution.trace(told, np.zeros(1))[0, 0])


def carried(solution):
    """Return the same lift with the box's mass no longer a variable, but of the hands, and the ground alone as what gives wrenches."""
    problem, tree = solution.problem, solution.problem.tree
    if LOADED not in tree.names:
        return solution
    mass, feet = (
        box_mass(solution),
        tuple(foot for foot in problem.ground.feet if foot.name not in HANDS),
    )
    plain = replace(tree, links=tree.links[:-1], joints=tree.joints[:-1])
    for side in "rl":
        plain = carry(plain, f"grip_{side}", mass / 2)
    kept = [
        *range(len(structure(tree).drives) - 1),
        *range(len(structure(tree).drives), len(structure(tree).drives) + 6 * len(feet)),
    ]
    told = tuple(
        constraint for constraint in problem.constraints if constraint.name in ("box", "avoidance")
    )
    return replace(
        solution,
        points=solution.points[:-1],
        lifted=solution.lifted[kept],
        problem=replace(
            problem, tree=plain, ground=replace(problem.ground, feet=feet), constraints=told
        ),
    )


def lifted(solution, t):
    """Return the Lift of a solution at times t."""
    mass, solution = box_mass(solution), carried(solution)
    tree, feet = solution.problem.tree, [foot.name for foot in solution.problem.ground.feet]
    known = {constraint.name: constraint for constraint in solution.problem.constraints}
    wanted = {
        "q": lambda at: at.q,
        "tau": lambda at: at.tau,
        "zmp": lambda at: at.reaction.pressure(),
        "inner": joint_forces,
        "trunk": lambda at: at.position("C7T1") - at.position("L5S1"),
        "box": known["box"].function,
        "avoidance": known["avoidance"].function,
    }
    wanted |= {
        f"pull {side}": lambda at, side=side: (
            mass / 2 * (ca.DM(tree.gravity) - at.acceleration(f"grip_{side[0]}"))
        )
        for side in HANDS
    }
    wanted |= {f"foot {name}": lambda at, name=name: at.reaction.force(name) for name in feet}
    found = traces(solution, wanted, t)
    turning = [joint for joint in tree.moving if joint.kind == "revolute"]
    angles = {joint.name: np.degrees(found["q"][tree.coordinate(joint.name)]) for joint in turning}
    up = np.array(poses(tree, np.zeros(tree.dof))[tree.link_index(BACK)])[:3, :3].T @ (
        0.0,
        1.0,
        0.0,
    )
    passed = solution.reactions(t)[1][:, tree.link_index(BACK)]
    pressing = up @ passed
    return Lift(
        t=t,
        mass=mass,
        angles=angles,
        limits={joint.name: joint.torque for joint in tree.moving if joint.actuated},
        torques={
            joint.name: found["tau"][tree.coordinate(joint.name)]
            for joint in tree.moving
            if joint.actuated
        },
        trunk=np.degrees(np.arctan2(found["trunk"][2], found["trunk"][1])),
        lumbar=angles["spine1_flex"] + angles["spine2_flex"],
        pressing=pressing,
        shearing=np.linalg.norm(passed - np.outer(up, pressing), axis=0),
        inner=dict(zip(INNER, np.linalg.norm(found["inner"].reshape(-1, 3, len(t)), axis=1))),
        pulls={side: found[f"pull {side}"] for side in HANDS},
        forces={name: found[f"foot {name}"] for name in feet},
        zmp=found["zmp"],
        box=found["box"].reshape(8, 3, len(t)).transpose(1, 0, 2),
        clearance={
            name: line - known["avoidance"].lower_of(k)
            for k, (name, line) in enumerate(zip(known["avoidance"].labels, found["avoidance"]))
        },
    )


def lifting_report(solution):
    """Return the report of a lift, plain data ready for JSON: see `report_lines` for what it says."""
    t = dense(solution) * solution.duration
    lift, standing = lifted(solution, t), footing(carried(solution))
    back, hands = -lift.torques[BACK], np.array(list(lift.pulls.values()))
    shares = {
        name: np.maximum(line / lift.limits[name][1], line / lift.limits[name][0])
        for name, line in lift.torques.items()
    }
    tightest = min(lift.clearance, key=lambda name: lift.clearance[name].min())
    weight = body_weight(carried(solution).problem.tree)
    return {
        "box_kg": lift.mass,
        "terms": {name: value for name, _, value in solution.terms},
        "references": solution.statistics.get("references"),
        "front": solution.statistics.get("front"),
        "L5S1_extension_Nm": _peak(back, t),
        "L5S1_pressing_N": _peak(lift.pressing, t),
        "L5S1_shearing_N": _peak(lift.shearing, t),
        "torques_Nm": {
            name: [float(lift.torques[joint].min()), float(lift.torques[joint].max())]
            for name, joint in JOINTS.items()
        },
        "angles_deg": {name: _course(lift.angles[joint]) for name, joint in JOINTS.items()}
        | {"lumbar": _course(lift.lumbar), "trunk": _course(lift.trunk)},
        "joint_force_N": {name: float(line.max()) for name, line in lift.inner.items()},
        "torque_share": _shares(shares, t),
        "hand_pull_N": _peak(np.linalg.norm(hands, axis=1).max(axis=0), t),
        "vertical_force_weights": [
            float(sum(force[1] for force in lift.forces.values()).min() / weight),
            float(sum(force[1] for force in lift.forces.values()).max() / weight),
        ],
        "zmp_m": [float(lift.zmp[2].min()), float(lift.zmp[2].max())],
        "box_clearance": plain(
            Extreme(
                value=float(lift.clearance[tightest].min()),
                unit="m",
                where=tightest,
                time=float(t[lift.clearance[tightest].argmin()]),
            )
        ),
        "standing": {
            name: plain(getattr(standing, name))
            for name in (
                "height",
                "place",
                "slip_speed",
                "margins",
                "zmp",
                "push",
                "friction",
                "unbalanced",
            )
        },
        "active": active(solution),
        "certificate_points": len(t),
    }


def active(solution):
    """Return the inequalities that hold the lift back, those first whose bound a step of STEPS would help most: each constraint's row, its side,
    the times (s) between which it presses, and the `gain` of that step to first order, in kg of the box or in % of the objective."""
    known = {constraint.name: constraint for constraint in solution.problem.constraints}
    found, largest = [], 0.0
    for name, constraint in known.items():
        pressed = solution.multipliers.get(name)
        for label, line in zip(pressed.labels, pressed.values) if pressed else ():
            row = constraint.labels.index(label)
            if constraint.lower_of(row) < constraint.upper_of(row):
                found.append((constraint, row, line, pressed.s * solution.duration))
                largest = max(largest, np.abs(line).max())
    heavy = [weight for name, weight, _ in solution.terms if name == "mass"]
    scale, what = (KILOGRAMS / heavy[0], "kg") if heavy else (100.0 / abs(solution.objective), "%")
    told = []
    for constraint, row, line, t in found:
        step = STEPS[constraint.unit(row)]
        for side, pressing in (
            ("upper", line > SLIGHT * largest),
            ("lower", line < -SLIGHT * largest),
        ):
            if pressing.any():
                told.append(
                    {
                        "constraint": constraint.name,
                        "row": _named(solution, constraint, row),
                        "side": side,
                        "from": float(t[pressing][0]),
                        "to": float(t[pressing][-1]),
                        "step": f"{step[0]:g} {step[1]}".strip(),
                        "unit": what,
                        "gain": float(scale * step[2] * np.abs(line[pressing]).sum()),
                    }
                )
    return sorted(told, key=lambda entry: -entry["gain"])


def _named(solution, constraint, row):
    """Return the label of a row; of an edge of a sole also the side to which it faces."""
    kind, _, rest = constraint.name.partition(".")
    feet = {foot.name: foot for foot in solution.problem.ground.feet}
    if kind != "pressure" or rest.split(".")[0] not in feet:
        return constraint.label(row)
    ground, foot = solution.problem.ground, feet[rest.split(".")[0]]
    corners = hull(foot.supports[0].polygon, ground.normal)
    out = np.cross(corners[(row + 1) % len(corners)] - corners[row], ground.normal)
    if abs(out[2]) >= abs(out[0]):
        return f"{constraint.label(row)}, the {'front' if out[2] > 0 else 'back'}"
    return (
        f"{constraint.label(row)}, the {'inner' if out[0] * foot.center[0] < 0 else 'outer'} side"
    )


def report_lines(report):
    """Return the report as lines of text."""
    lines = []

    def line(label, text):
        lines.append(f"{label:<22}{text}")

    line("box", f"{report['box_kg']:.3f} kg")
    line(
        "L5/S1",
        ", ".join(
            f"{what} {report[key]['value']:.0f} {unit} at {report[key]['time']:.2f} s"
            for what, key, unit in (
                ("extension moment up to", "L5S1_extension_Nm", "N m"),
                ("pressed by", "L5S1_pressing_N", "N"),
                ("sheared by", "L5S1_shearing_N", "N"),
            )
        )
        + " (joint forces, without the muscles')",
    )
    for name, course in report["angles_deg"].items():
        torque = report["torques_Nm"].get(name)
        line(
            f"{name}",
            f"{course['start']:.0f} at the start, {course['end']:.0f} at the end, {course['least']:.0f} to {course['most']:.0f} deg"
            + (f"; {torque[0]:.0f} to {torque[1]:.0f} N m" if torque else ""),
        )
    line(
        "joint forces",
        ", ".join(f"{name} {value:.0f} N" for name, value in report["joint_force_N"].items()),
    )
    line(
        "torques of limits",
        ", ".join(
            f"{entry['where']} {100 * entry['value']:.0f} % at {entry['time']:.2f} s"
            for entry in report["torque_share"]
        ),
    )
    line(
        "hands",
        f"each pulled by up to {report['hand_pull_N']['value']:.0f} N at {report['hand_pull_N']['time']:.2f} s",
    )
    line(
        "vertical force",
        "{0:.2f} to {1:.2f} weights of body and box".format(*report["vertical_force_weights"]),
    )
    line("zero moment point", "{0:+.3f} to {1:+.3f} m before the ankles".format(*report["zmp_m"]))
    line("certificate", f"{report['certificate_points']} instants")
    for name, entry in [("box clearance", report["box_clearance"]), *_standing(report["standing"])]:
        scale, unit = (1000.0, "mm") if entry["unit"] == "m" else (1.0, entry["unit"])
        line(
            f"  {name.replace('_', ' ')}",
            f"{scale * entry['value']:+.3g} {unit} ({entry['where']}, t = {entry['time']:.3f} s)",
        )
    for entry in report["active"][:MANY]:
        line(
            "active",
            f"{entry['constraint']}: {entry['row']}, {entry['side']} bound, {entry['from']:.2f} to {entry['to']:.2f} s; "
            f"{entry['step']} of it are worth {entry['gain']:.2g} {entry['unit']}",
        )
    if report["references"]:
        line(
            "ranges",
            ", ".join(f"{name} {value:.5g} s" for name, value in report["references"].items()),
        )
    for entry in report["front"] or ():
        line(
            "front",
            f"weight {entry['weight']:.3f}: effort {entry['effort']:.5f} s, stability {entry['stability']:.5f} s, {entry['status']}, "
            f"{entry['iterations']} iterations, {entry['solve_seconds']:.2f} s",
        )
    return lines


def _standing(standing):
    for foot, entry in standing["margins"].items():
        yield f"pressure margin {foot}", entry
    yield from ((name, entry) for name, entry in standing.items() if name != "margins")


def _shares(shares, t):
    """Return the five joints that come nearest to the limits of their torques, as plain Extremes."""
    names = sorted(shares, key=lambda name: -shares[name].max())[:5]
    return [
        plain(
            Extreme(
                value=float(shares[name].max()),
                unit="of the limit",
                where=name,
                time=float(t[shares[name].argmax()]),
            )
        )
        for name in names
    ]


def _peak(line, t):
    return {"value": float(line.max()), "time": float(t[line.argmax()])}


def _course(line):
    return {
        "start": float(line[0]),
        "end": float(line[-1]),
        "least": float(line.min()),
        "most": float(line.max()),
    }
