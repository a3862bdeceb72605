"""A human rises from a seat: leans ahead, leaves the seat, and stands, in a plane.

It sits at rest, its feet flat, with the thighs' ends on a seat of a given height, and comes to rest
where it stands upright. The seat bears until it is left, which is found; it pushes only, through
the hips. Both sides move alike, arms hang beside the trunk. What is least is the effort of walking.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ocp import (
    BSpline,
    Constraint,
    Ground,
    Phase,
    Problem,
    Solution,
    Task,
    Views,
    at_end,
    at_start,
    continuous,
    dynamic_effort,
    joint_limits,
    line_contact,
    point_contact,
    smoothness,
    torque_limits,
)
from ocp.cli import main
from ocp.mechanics import body_weight, positive
from ocp.models.human.anthropometry import HIPS, LENGTHS
from ocp.models.walkers.jumper import HEEL, SIDES, jumper
from ocp.problems.human.jump import standing

UP = (0.0, 1.0, 0.0)
FEET = "heel to ball"
ANKLE = HIPS - LENGTHS["thigh"] - LENGTHS["shank"]  # m: above the ground
SPANS = {"leaning": (0.15, 0.85), "rising": (0.15, 0.85)}  # of the time: how long phases may last
MOMENTS = {"hip": -1, "knee": 1, "ankle": -1}  # joints, and the sign that their extension has
SAMPLES = 401  # instants of each phase among which the largest is looked for
# Of 12 healthy men on a knee-high chair (Arch. Phys. Med. Rehabil. 74:1095, 1993) and of 85
# measured movements, whose kinematics were varied in 5 million ways, from 0.4 m (Yoshioka, Nagano,
# Himeno & Fukashiro 2007); moments of one side
PEOPLE = {
    "natural_s": (1.7, 2.3),
    "least_hip_Nm_kg": 0.7,
    "least_knee_Nm_kg": 0.9,
    "hip_Nm_kg": (0.24, 1.92),
    "knee_Nm_kg": (0.51, 1.97),
    "ankle_Nm_kg": (-0.11, 1.32),
    "least_hip_and_knee_Nm_kg": 1.53,
}


def problem(
    seat: float = 0.45,
    flesh: float = 0.08,
    foot: float = 15.0,
    time: float = 2.0,
    smooth: float = 0.0025,
    grip: float = 0.8,
    points: int = 14,
    degree: int = 5,
) -> Problem:
    """`seat`: its height (m); `flesh`: how high the hips are above it (m); `foot`: by how much the
    shanks lean ahead where one sits (deg); `time`: from sitting to standing (s); `smooth`: weight
    of squared accelerations; `grip`: coefficient of friction; `points`: control points per joint
    and phase; `degree`: of the splines.
    """
    body = jumper(arms=False)
    names = [joint.name for joint in body.moving]
    sits = seated(positive("seat", seat) + flesh, np.radians(foot))
    feet = line_contact(body, ("heel", "ball"), at=(HEEL, 0.0, 0.0))
    hips = point_contact(body, "hip", at=(sits["x"], sits["y"], 0.0), normal=UP)
    grounds = {
        "leaning": Ground(feet=(feet, replace(hips, bears=(-np.inf, 1.0))), normal=UP),
        "rising": Ground(feet=(feet,), normal=UP),
    }
    motion = BSpline(points=points, degree=degree)
    effort = dynamic_effort(body) + smooth * smoothness(body)
    return Problem(
        tree=body,
        phases=[
            Phase(
                name,
                motion=motion,
                duration=tuple(share * time for share in SPANS[name]),
                ground=ground,
                constraints=standing(body, ground, grip),
            )
            for name, ground in grounds.items()
        ],
        links=(continuous("q", "qd", "qdd"),),
        objective=10.0 / time * effort,
        constraints=(
            at_start(body, q=sits, qd=0.0),
            at_end(body, q={name: HIPS * (name == "y") for name in names}, qd=0.0),
            joint_limits(body),
            torque_limits(body),
            lasting(time),
        ),
    )


def seated(height: float, lean: float) -> dict[str, float]:
    """Return the coordinates of one who sits upright with the hips at a `height` (m), feet flat,
    shanks that `lean` (rad) ahead. Raises ValueError for a seat that these legs cannot reach."""
    knee = ANKLE + LENGTHS["shank"] * np.cos(lean)
    share = (height - knee) / LENGTHS["thigh"]
    if not -0.8 < share < 0.8:
        raise ValueError(
            f"seat: the hips would be {height:g} m high, the knees {knee:.3g} m; expected a "
            "difference within 0.8 of the thigh"
        )
    thigh = np.arccos(share)
    ahead = LENGTHS["shank"] * np.sin(lean) - LENGTHS["thigh"] * np.sin(thigh)
    return {
        "x": float(ahead),
        "y": height,
        "torso": 0.0,
        "hip": float(thigh),
        "knee": float(-lean - thigh),
        "ankle": lean,
    }


def lasting(time: float) -> Constraint:
    """Require all phases together to last a time (s)."""
    return Constraint(
        name="time",
        function=lambda durations: sum(durations.values()),
        lower=time,
        upper=time,
        when="durations",
        units="s",
    )


def report(solution: Solution) -> dict[str, Any]:
    """Return when the seat is left (s), how far the trunk leans (deg), what the feet bear at most
    (body weights), and of each joint of one side the largest moment of extension (N m/kg), when
    (s), and how long after the seat is left."""
    tree = solution.problem.tree
    off = solution.phases["leaning"].duration
    t, motions, torques = _traced(solution)
    mass = sum(link.mass for link in tree.links)
    moments = {}
    for joint, sign in MOMENTS.items():
        curve = sign * torques[tree.coordinate(joint)] / (len(SIDES) * mass)
        k = int(curve.argmax())
        when = float(t[k])
        moments[joint] = {"Nm_kg": float(curve[k]), "s": when, "after_seat_off_s": when - off}
    rising = solution.phases["rising"]
    feet = rising.trace(lambda at: at.reaction.force(FEET), rising.times(SAMPLES))[1]
    return {
        "rise": {
            "seat_off_s": off,
            "seat_off_percent": 100.0 * off / solution.duration,
            "lean_deg": float(-np.degrees(motions[tree.coordinate("torso")].min())),
            "feet_BW": float(feet.max() / body_weight(tree)),
            "moments": moments,
            "people": PEOPLE,
        }
    }


def _traced(solution: Solution) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return instants (N,) of all phases, coordinates (n, N) and torques (n, N) then."""
    parts, begins = [], 0.0
    for phase in solution.phases.values():
        t = phase.times(SAMPLES)
        parts.append((begins + t, phase.q(t), phase.tau(t)))
        begins += phase.duration
    t, q, tau = (np.concatenate(each, axis=-1) for each in zip(*parts))
    return t, q, tau


def lines(data: Mapping[str, Any]) -> list[str]:
    """Return the report's text."""
    entry, people = data["rise"], data["rise"]["people"]
    moments = entry["moments"]
    both = moments["hip"]["Nm_kg"] + moments["knee"]["Nm_kg"]
    rows = [
        f"{'seat-off':<22}{entry['seat_off_s']:.3f} s, {entry['seat_off_percent']:.0f} %; "
        f"the trunk leans {entry['lean_deg']:.0f} deg, the feet bear {entry['feet_BW']:.2f} BW"
    ]
    for joint, peak in moments.items():
        least, most = people[f"{joint}_Nm_kg"]
        rows.append(
            f"{joint + ' extension':<22}{peak['Nm_kg']:.3f} N m/kg at {peak['s']:.3f} s, "
            f"{peak['after_seat_off_s']:+.3f} s from seat-off; people {least:g} to {most:g}"
        )
    rows.append(
        f"{'hip and knee':<22}{both:.3f} N m/kg; least of all ways "
        f"{people['least_hip_and_knee_Nm_kg']:g}"
    )
    return rows


TASK = Task(problem, views=Views(report=report, lines=lines))

if __name__ == "__main__":
    main(TASK)
