"""One step of normal walking, predicted for a human of 55 joints from task and effort alone (Barman 2020, chapter V; Xiang et al. 2009)."""

from pathlib import Path

import numpy as np
from ocp.models.human import (
    CONTACTS,
    FEET,
    GAIT_FROZEN,
    NAMES,
    ROOT,
    SELF_SPHERES,
    SOLES,
    STATURE,
    carry,
    human,
    mirror,
    somebody,
)
from ocp.problems.gait.cycle import JOINTS, cycle
from ocp.problems.gait.pictures import plot_cycle, plot_walk
from ocp.problems.gait.report import gait_report

from ocp import (
    Attempt,
    BSpline,
    Guess,
    Load,
    Objective,
    Problem,
    dynamic_effort,
    joint_limits,
    mirrored,
    path,
    smoothness,
    squares,
    torque_limits,
)
from ocp.mechanics.kinematics import position, positions
from ocp.problem import (
    apart,
    foot_contact,
    friction,
    linear_split,
    no_penetration,
    pressure_inside,
    swing_together,
    unilateral,
    zmp_inside,
)
from ocp.problem.ground import Foot, Ground, Pin, Support
from ocp.solution import solve

UP, GRAVITY = (0.0, 1.0, 0.0), 9.81
# Of the step: ball off, foot flat, toe off (10 % of the cycle), heel off (37.5 %), mid-swing: the schedule of normal gait [assumed]
BALL_OFF, FLAT, TOE_OFF, HEEL_OFF, MID_SWING = 0.10, 0.15, 0.20, 0.75, 0.60
SPEED, STEP = 1.2, 0.6  # m/s, m: of the man of 1.75 m, unless something else is asked (Barman 2020)
HEEL = 0.01  # m: half length of what bears of the heel alone [assumed]
LEAST = (
    0.2  # of the weight: vertical force below which the zero moment point is ill defined [assumed]
)
BEHIND = (0.0, 0.0, -0.15)  # m: of a backpack's centre from T6 [assumed]
TUNED = {
    "tol": 1e-6,
    "max_iter": 200,
    "mumps_permuting_scaling": 0,
    "mumps_pivot_order": 0,
    "min_refinement_steps": 0,
    "mu_init": 3e-2,
    "mumps_mem_percent": 100,
}
CAREFUL = {"tol": 1e-6, "max_iter": 400, "mumps_pivtol": 1e-4}


def problem(
    speed: float | None = None,
    step: float | None = None,
    points: int = 8,
    person: str = "",
    stature: float | None = None,
    mass: float | None = None,
    sex: str | None = None,
    segments: str = "",
    active: str = "gait",
    objective: str = "effort",
    smooth: float = 0.0025,
    contact: float = 0.002,
    slip: float = 0.1,
    width: float = 0.1,
    balance: str = "pressure",
    split: bool = False,
    heel_off: float = HEEL_OFF,
    jump: bool = False,
    backpack: float = 0.0,
    hands: float = 0.0,
) -> Problem:
    """`speed`: of walking (m/s), by default as 1.2 m/s is to the legs of the man of 1.75 m; `step`: length of a step (m), by default as 0.6
    m is to those legs; `points`: control points per joint; `person`: woman or man of a percentile, f5, f50, f95, m5, m50 or m95, or else a
    man of 1.75 m and 75 kg; `stature`: in place of that person's (m); `mass`: in place of that person's (kg); `sex`: male or female, in
    place of that person's; `segments`: the person's own, as thigh.length=0.45,shank.mass=3.4, of limbs also com and radii (a/b/c);
    `active`: joints that move, gait (38), all (55) or names separated by commas, partners and pelvis included; `objective`: effort, torque
    or constant; `smooth`: weight of accelerations beside it; `contact`: tolerance of the contact points' place (m); `slip`: and of their
    velocity (m/s); `width`: distance between the feet (m); `balance`: pressure, of each foot in its polygon, or zmp, of both together in
    the hull; `split`: share double support by distance instead of freely; `heel_off`: when the heel may leave the ground, of the step;
    `jump`: let accelerations and forces jump from step to step, as six control points need; `backpack`: mass behind T6 (kg);
    `hands`: weight in each hand (N)."""
    who = somebody(person, stature, mass, sex, segments)
    body = human(**who, frozen=_frozen(active), ranges="gait")
    speed, step = likewise(body, speed, step)
    _check_task(body, speed, step, who["stature"])
    if backpack:
        body = carry(body, "T6", backpack, BEHIND)
    ground, time = stance(body, step, width, heel_off), step / speed
    symmetry = mirrored(body, *mirror(body), shift={"glob_tz": step}, qdd=not jump)
    goal = 10.0 / time * (_objective(body, objective) + smooth * smoothness(body))
    return Problem(
        tree=body,
        motion=BSpline(points=points),
        duration=time,
        objective=goal,
        ground=ground,
        symmetry=symmetry,
        loads=[Load(point=f"grip_{side}", force=(0.0, -hands, 0.0)) for side in "rl" if hands],
        constraints=(
            joint_limits(body, hull=True),
            torque_limits(body),
            foot_contact(ground, position=contact, velocity=slip, symmetry=symmetry),
            no_penetration(ground, {side: sum(CONTACTS[side].values(), ()) for side in FEET}),
            _balance(body, ground, balance),
            linear_split(body, ground) if split else (),
            swing_together("coupling", ("shoulder_l", "wrist_l"), ("hip_r", "ankle_r")),
            apart(
                "avoidance",
                [
                    [
                        (
                            f"{part}_{side}",
                            SELF_SPHERES[f"{part}_{side}"] * who["stature"] / STATURE,
                        )
                        for part in ("wrist", "hip")
                    ]
                    for side in "rl"
                ],
            ),
            path(
                "clearance",
                lambda at: at.q[body.coordinate("knee_flex_l")],
                lower=np.radians(55),
                upper=np.radians(65),
                when=(MID_SWING, MID_SWING),
                labels=("knee_flex_l",),
                units="rad",
            ),
        ),
    )


def walk(
    statement, transcription, solver, *, guess=None, watch=None, feasible: bool | None = None
) -> object:
    """Solve a gait from the standing posture, q = 0, or from a guess; a failed attempt is followed by a more careful one.

    IPOPT is tuned to these problems: a quick ordering without permutation and scaling, since the NLP is scaled already. Pivoting stays on:
    without it the inertia of the KKT system is misjudged near the solution. What the user sets comes last. The second attempt pivots more,
    the third starts from a feasible motion; `feasible`: the first does so too; by default where the start is somebody's waypoints, whose
    accelerations may be anything.
    """
    start = Guess(q=np.zeros((statement.tree.dof, 2))) if guess is None else guess
    early = isinstance(guess, Guess) if feasible is None else feasible
    attempts = (
        Attempt(options=TUNED, feasible_first=early),
        Attempt(options=CAREFUL, feasible_first=early),
        Attempt(options=CAREFUL, feasible_first=True),
    )
    return solve(statement, transcription, solver, guess=start, watch=watch, attempts=attempts)


def loads(solution):
    """Return {name: number} of what a study over people compares: speed and step, ranges of the right leg's joints, and peak forces."""
    report, walk = gait_report(solution), cycle(solution)
    ranges = {
        f"{name}_{end}_deg": float(pick(walk.angles[f"{joint}_r"]))
        for name, joint in JOINTS.items()
        for end, pick in (("least", np.min), ("most", np.max))
    }
    return {
        "speed_m_s": report["speed_m_s"],
        "step_m": report["step_m"],
        **ranges,
        "vertical_force_BW": float(walk.forces["right"][1].max()),
        "braking_BW": report["fore_aft_force"]["braking"]["BW"],
        "propulsion_BW": report["fore_aft_force"]["propulsion"]["BW"],
        **{
            f"{name}_joint_force_BW": float(walk.joint_forces[f"{joint}_r"].max())
            for name, joint in JOINTS.items()
        },
        "torque_of_limit": max(entry["value"] for entry in report["torque_share"].values()),
        "work_J_kg_m": report["positive_work_J_per_kg_m"],
    }


def likewise(body, speed=None, step=None):
    """Return the speed (m/s) and the length of a step (m), where they are None such that all walk alike: with the same speed over the root of
    gravity times the leg's length, and the same step over that length, as the man of 1.75 m (Hof 1996)."""
    ratio = _leg(body) / _leg(human())
    return SPEED * ratio**0.5 if speed is None else speed, STEP * ratio if step is None else step


def stance(body, step, width, heel_off=HEEL_OFF):
    """Return the Ground of one step: the right foot strikes at 0, the left one behind it leaves at a fifth and strikes at the end."""
    if not FLAT < heel_off < 1:
        raise ValueError(
            f"heel_off: expected between foot flat, {FLAT:g}, and the end of the step, 1, got {heel_off:g}"
        )
    soles = {side: _sole(body, side) for side in FEET}
    right, left = (
        {name: spot + shift for name, spot in soles[side].items()}
        for side, shift in (
            ("right", np.array([-width / 2, 0.0, 0.0])),
            ("left", np.array([width / 2, 0.0, -step])),
        )
    )
    (rear, fore), (_, left_fore) = FEET["right"], FEET["left"]
    ball, toe = ("ball_med", "ball_lat"), ("toe_med", "toe_lat")
    tread = [
        right[f"heel_{side}_r"] + (0.0, 0.0, ahead)
        for side in ("med", "lat")
        for ahead in (0.0, 2 * HEEL)
    ]
    return Ground(
        normal=UP,
        feet=(
            Foot(
                name="right",
                bears=(0.0, np.inf),
                center=(right["heel_r"] + right["toe_r"]) / 2,
                supports=(
                    Support(
                        link=rear, when=(0.0, FLAT), pins=_pins(right, heel_r="xyz"), polygon=tread
                    ),
                    Support(
                        link=rear,
                        when=(FLAT, heel_off),
                        polygon=[right[name] for name in SOLES["right"]],
                        pins=_pins(right, heel_r="xyz", ball_med_r="xy", ball_lat_r="y", toe_r="y"),
                    ),
                    Support(
                        link=fore,
                        when=(heel_off, 1.0),
                        polygon=[right[f"{name}_r"] for name in ball + toe],
                        pins=_pins(right, ball_med_r="xyz", ball_lat_r="y", toe_r="xy"),
                    ),
                ),
            ),
            Foot(
                name="left",
                bears=(-np.inf, TOE_OFF),
                center=(left["ball_med_l"] + left["ball_lat_l"] + 2 * left["toe_l"]) / 4,
                supports=(
                    Support(
                        link=left_fore,
                        when=(0.0, BALL_OFF),
                        polygon=[left[f"{name}_l"] for name in ball + toe],
                        pins=_pins(left, ball_med_l="xyz", ball_lat_l="y", toe_l="xy"),
                    ),
                    Support(
                        link=left_fore,
                        when=(BALL_OFF, TOE_OFF),
                        polygon=[left[f"{name}_l"] for name in ("ball_med", *toe)],
                        pins=_pins(left, toe_l="xyz"),
                    ),
                ),
            ),
        ),
    )


def draw(solution, path):
    """Draw the step to `path`, and its curves over the gait cycle to the file of that name with "-cycle" added."""
    plot_walk(solution, path)
    plot_cycle(solution, Path(path).with_stem(f"{Path(path).stem}-cycle"))


def _objective(body, name):
    known = {
        "effort": lambda: dynamic_effort(body),
        "torque": lambda: squares("torque", lambda at: at.tau[len(ROOT) :] / 100.0),
        "constant": lambda: Objective(terms=()),
    }
    if name not in known:
        raise ValueError(f"objective: expected one of {', '.join(known)}, got {name!r}")
    return known[name]()


def _balance(body, ground, kind):
    known = {
        "pressure": lambda: (
            pressure_inside(body, ground),
            unilateral(body, ground),
            friction(body, ground),
        ),
        "zmp": lambda: (zmp_inside(body, ground), unilateral(body, ground, least=LEAST)),
    }
    if kind not in known:
        raise ValueError(f"balance: expected one of {', '.join(known)}, got {kind!r}")
    return known[kind]()


def _frozen(active):
    """Return the frozen joints that a set of active ones leaves; raise ValueError naming unknown ones."""
    if active in ("gait", "all"):
        return GAIT_FROZEN if active == "gait" else ()
    wanted = [name.strip() for name in active.split(",") if name.strip()]
    unknown = [name for name in wanted if name not in NAMES]
    if unknown or not wanted:
        raise ValueError(
            f"active: unknown joints {', '.join(unknown) or '(none given)'}; expected gait, all, or some of {', '.join(NAMES)}"
        )
    partners = {
        name[:-1] + {"r": "l", "l": "r"}[name[-1]] for name in wanted if name.endswith(("_r", "_l"))
    }
    needed = [
        name
        for name in ("knee_flex_l", "hip_flex_l", "ankle_df_l")
        if name not in partners | set(wanted)
    ]
    if needed:
        raise ValueError(f"active: a step needs {', '.join(needed)}")
    return tuple(name for name in NAMES if name not in partners | {*wanted, *ROOT})


def _leg(body):
    """Height of the hips in standing (m)."""
    return float(position(body, np.zeros(body.dof), "hip_r")[1])


def _check_task(body, speed, step, stature):
    """Raise ValueError for a speed or a step that no walking reaches, whatever the effort."""
    for what, value, unit in (("speed", speed, "m/s"), ("step", step, "m")):
        if not (np.isfinite(value) and value > 0):
            raise ValueError(f"{what}: expected a positive number ({unit}), got {value}")
    hip, heel, toe = (
        np.array(place).ravel()
        for place in positions(body, np.zeros(body.dof), ("hip_r", "heel_r", "toe_r"))
    )
    leg, foot = hip[1], toe[2] - heel[2]
    opening = np.ptp(body.joints[body.link_index("hip_flex_r")].position) / 2
    reach = 2 * leg * np.sin(opening) + foot + 2 * abs(hip[0])
    if step > reach:
        raise ValueError(
            f"step: {step:g} m cannot be reached: with legs of {leg:.3g} m that open by {np.degrees(2 * opening):.0f} degrees both "
            f"feet are on the ground at most {reach:.2f} m apart (stature {stature:g} m)"
        )
    if speed**2 > GRAVITY * leg:
        raise ValueError(
            f"speed: {speed:g} m/s cannot be walked: a body over a leg of {leg:.3g} m leaves the ground beyond "
            f"{np.sqrt(GRAVITY * leg):.2f} m/s, where its Froude number is 1 (Alexander 1989)"
        )


def _sole(body, side):
    """Return {point: place (3)} of a foot that stands flat with its heel at the origin, from the places at q = 0."""
    names = (*SOLES[side], *sum(CONTACTS[side].values(), ()))
    spots = positions(body, np.zeros(body.dof), names)
    places = {name: np.array(spot).ravel() for name, spot in zip(names, spots)}
    return {name: spot - places[f"heel_{side[0]}"] for name, spot in places.items()}


def _pins(places, **axes):
    return tuple(Pin(point=name, axes=which, target=places[name]) for name, which in axes.items())
