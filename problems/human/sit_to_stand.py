"""A human rises from a seat: leans ahead, leaves the seat, and stands.

It sits at rest, its feet flat, with the pelvis on a seat of a given height, and comes to rest where
it stands upright. The seat bears until it is left, which is found; it pushes only. Both sides move
alike, arms hang. What is least is what people spare when they walk (`human_cost`), but that trunks
are upright and momentum is small, which is known of walking alone.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import casadi as ca
import numpy as np

from ocp import (
    Attempt,
    BSpline,
    Constraint,
    Ground,
    Guess,
    Phase,
    Problem,
    Solution,
    Solver,
    Spline,
    Task,
    Transcription,
    Tree,
    Views,
    at_end,
    at_start,
    continuous,
    joint_limits,
    solve,
    torque_limits,
)
from ocp.cli import main
from ocp.mechanics import Visual, array, body_weight, positions, positive
from ocp.models.human import Person, mirror, somebody
from ocp.problem import Foot, Pin, Support, foot_contact, friction, pressure_inside, unilateral
from ocp.problems.gait.solve_step import limited, together
from ocp.problems.gait.statement.objective_terms import STANDING, human_cost
from ocp.problems.lifting.statement.standing_body import (
    follows,
    lifter,
    right_half,
    sides_alike,
    stance,
)
from ocp.solving import with_stage

UP = (0.0, 1.0, 0.0)
APART = 0.2  # m: between the ankles, as lifts have it
SEAT = "seat"
SPANS = {"leaning": (0.15, 0.85), "rising": (0.15, 0.85)}  # of the time: how long phases may last
MOMENTS = {"hip": "hip_flex_r", "knee": "knee_flex_r", "ankle": "ankle_df_r"}  # flexion is positive
SAMPLES = 401  # instants of each phase among which the largest is looked for
NODES = 6  # of a segment: forces of the seat fade within one
WAYPOINTS = 9  # of a first guess, in each phase
LEAN = 0.6  # rad: of the trunk where the seat is left, at first
FIRST = {"tol": 1e-3, "max_iter": 200, "mu_init": 3e-2}
LAST = {"tol": 1e-6, "max_iter": 200, "mu_init": 1e-3}
CLOSE = 0.002, 0.02  # m, m/s: of feet and seat
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
    grip: float = 0.8,
    points: int = 13,
    degree: int = 5,
    person: str = "",
) -> Problem:
    """`seat`: its height (m); `flesh`: how high the hips are above it (m); `foot`: by how much the
    shanks lean ahead where one sits (deg); `time`: from sitting to standing (s); `grip`:
    coefficient of friction; `points`: control points per joint and phase; `degree`: of the splines;
    `person`: f5, f50, f95, m5, m50 or m95, or else a man of 1.75 m and 75 kg.
    """
    who = somebody(Person(person))
    body = lifter(who, mirrors=True, passive=True)
    sits = seated(body, positive("seat", seat) + flesh, np.radians(foot))
    feet = stance(body, APART).feet
    chair = _chair(seat + flesh, sits["glob_tz"])
    grounds = {
        "leaning": Ground(feet=(*feet, chair), normal=UP, sharing="smooth"),
        "rising": Ground(feet=feet, normal=UP, sharing="smooth"),
    }
    free = [joint.name for joint in body.moving if not follows(joint.name)]
    still = dict.fromkeys(free, 0.0)
    stands = {name: 0.0 for name in free if name.startswith(("glob_r", "hip_f", "knee", "spine"))}
    limited = right_half(body)
    return Problem(
        tree=body,
        phases=[
            Phase(
                name,
                motion=BSpline(points=points, degree=degree),
                duration=tuple(share * time for share in SPANS[name]),
                ground=ground,
                constraints=_standing(body, ground, grip),
            )
            for name, ground in grounds.items()
        ],
        links=(continuous("q", "qd", "qdd"),),
        objective=10.0 / time * human_cost(body, who, STANDING),
        constraints=(
            at_start(
                body,
                q={name: sits[name] for name in ("glob_tz", "glob_rx", "ankle_df_r")},
                qd=still,
            ),
            at_end(body, q=stands, qd=still),
            joint_limits(limited, hull=True),
            torque_limits(limited),
            lasting(time),
        ),
        scenery=stool(seat, sits["glob_tz"]),
    )


def seated(body: Tree, height: float, lean: float) -> dict[str, float]:
    """Return {joint: angle (rad) or place (m)} of one who sits upright with the hips at a `height`
    (m), feet flat, shanks that `lean` (rad) ahead. Raises ValueError for a seat that these legs
    cannot reach."""
    names = ("hip_r", "knee_r", "ankle_r")
    hip, knee, ankle = (
        np.array(array(place), dtype=float).ravel()[1]
        for place in positions(body, np.zeros(body.dof), names)
    )
    thigh, shank = hip - knee, knee - ankle
    knees = ankle + shank * np.cos(lean)
    share = (height - knees) / thigh
    if not -0.8 < share < 0.8:
        raise ValueError(
            f"seat: the hips would be {height:g} m high, the knees {knees:.3g} m; expected a "
            "difference within 0.8 of the thigh"
        )
    bent = float(np.arccos(share))
    posture = dict.fromkeys((joint.name for joint in body.moving), 0.0)
    posture |= {
        "glob_ty": float(height - hip),
        "glob_tz": float(shank * np.sin(lean) - thigh * np.sin(bent)),
    }
    for side in "rl":
        posture |= {
            f"hip_flex_{side}": bent,
            f"knee_flex_{side}": bent + lean,
            f"ankle_df_{side}": lean,
        }
    return posture


def _chair(hips: float, ahead: float) -> Foot:
    """Return the seat, which bears the middle of the hips (m) until it is left."""
    pin = Pin(point="pelvis_origin", axes="y", target=(0.0, hips, ahead))
    support = Support(link="glob_rx", when=(0.0, 1.0), pins=(pin,), kind="point")
    return Foot(name=SEAT, supports=(support,), center=pin.target, bears=(-np.inf, 1.0))


def stool(seat: float, ahead: float) -> tuple[Visual, ...]:
    """Return the look of a seat of a height (m), its middle `ahead` (m), on four legs."""
    width, thick, leg = 0.42, 0.05, 0.04

    def block(size: tuple[float, float, float], *place: float) -> Visual:
        pose = np.eye(4)
        pose[:3, 3] = place
        return Visual(kind="box", size=size, pose=pose)

    aside, high = (width - leg) / 2, max(leg, seat - thick)
    return (
        block((width, thick, width), 0.0, seat - thick / 2, ahead),
        *(
            block((leg, high, leg), x, high / 2, ahead + z)
            for x in (-aside, aside)
            for z in (-aside, aside)
        ),
    )


def _standing(body: Tree, ground: Ground, grip: float) -> tuple[Any, ...]:
    """Return the constraints of what stands on the ground and on the seat, both sides alike."""
    position, velocity = CLOSE
    asked = replace(ground, feet=tuple(foot for foot in ground.feet if foot.name != "left"))
    return (
        *foot_contact(asked, position=position, velocity=velocity),
        pressure_inside(body, asked),
        unilateral(body, asked),
        friction(body, asked, coefficient=grip),
        *sides_alike(body, *(each.tolist() for each in mirror(body))),
    )


def rise(
    problem: Problem,
    transcription: Transcription,
    solver: Solver,
    *,
    guess: Any = None,
    watch: Callable[..., Any] | None = None,
) -> Solution:
    """Solve a rise from straight ways between sitting, leaning and standing, or from a guess.

    It is first solved roughly with constant torque limits. Statistics are of both.
    """
    if guess is not None:
        again = (Attempt(options=LAST),)
        return solve(problem, transcription, solver, guess=guess, attempts=again, watch=watch)
    rough: dict[str, Any] = {"attempts": (Attempt(options=FIRST),)}
    rough["watch"] = with_stage(watch, "constant limits")
    first = solve(limited(problem), transcription, solver, guess=straight(problem), **rough)
    if not first.success:
        return first
    last = rise(problem, transcription, solver, guess=first, watch=watch)
    return replace(last, statistics=together(first.statistics, last.statistics))


def straight(problem: Problem) -> dict[str, Guess]:
    """Return a guess of each phase: straight ways from sitting by leaning to standing."""
    tree = problem.tree
    ground = problem.phases[0].ground
    assert ground is not None
    (pin,) = ground.foot(SEAT).supports[0].pins
    asked = {each.name: np.array(each.lower) for each in problem.constraints}
    height = float(pin.target[1])
    sits = seated(tree, height, float(asked["at_start.q"][-1]))
    leans = sits | {f"hip_flex_{side}": sits[f"hip_flex_{side}"] + LEAN for side in "rl"}
    leans["glob_rx"] = LEAN
    rows = [np.array([each[joint.name] for joint in tree.moving]) for each in (sits, leans)]
    rows.append(np.zeros(tree.dof))
    t = np.linspace(0.0, 1.0, WAYPOINTS)
    return {
        phase.name: Guess(q=np.outer(begin, 1 - t) + np.outer(end, t))
        for phase, begin, end in zip(problem.phases, rows, rows[1:])
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
    t, leans, torques = _traced(solution)
    mass = sum(link.mass for link in tree.links)
    moments = {}
    for joint, name in MOMENTS.items():
        curve = -torques[tree.coordinate(name)] / mass
        k = int(curve.argmax())
        when = float(t[k])
        moments[joint] = {"Nm_kg": float(curve[k]), "s": when, "after_seat_off_s": when - off}
    both = torques[[tree.coordinate(MOMENTS[name]) for name in ("hip", "knee")]].sum(axis=0)
    feet = max(
        phase.trace(_feet_load, phase.times(SAMPLES)).max() for phase in solution.phases.values()
    )
    return {
        "rise": {
            "seat_off_s": off,
            "seat_off_percent": 100.0 * off / solution.duration,
            "lean_deg": float(np.degrees(leans.max())),
            "feet_BW": float(feet / body_weight(tree)),
            "moments": moments,
            "hip_and_knee_Nm_kg": float((-both).max() / mass),
            "people": PEOPLE,
        }
    }


def _feet_load(at: Any) -> Any:
    """Return the load (N) of both feet."""
    return (at.reaction.force("right") + at.reaction.force("left"))[1]


def _lean(at: Any) -> Any:
    """Return the lean of the trunk ahead (rad)."""
    trunk = at.position("C7T1") - at.position("L5S1")
    return ca.atan2(trunk[2], trunk[1])


def _traced(solution: Solution) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return instants (N,) of all phases, leans (N,), rad, and moments (n, N) then, of muscles and
    tissue."""
    parts, begins = [], 0.0
    for phase in solution.phases.values():
        t = phase.times(SAMPLES)
        moments = phase.trace(lambda at: at.tau + at.elements, t)
        parts.append((begins + t, phase.trace(_lean, t).ravel(), moments))
        begins += phase.duration
    t, leans, tau = (np.concatenate(each, axis=-1) for each in zip(*parts))
    return t, leans, tau


def lines(data: Mapping[str, Any]) -> list[str]:
    """Return the report's text."""
    entry, people = data["rise"], data["rise"]["people"]
    moments = entry["moments"]
    both = entry["hip_and_knee_Nm_kg"]
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


TASK = Task(
    problem,
    method=rise,
    transcription=Transcription(method=Spline(nodes=NODES)),
    views=Views(report=report, lines=lines),
)

if __name__ == "__main__":
    main(TASK)
