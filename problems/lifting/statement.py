"""A box lifted from the floor, predicted for a human of 55 joints from effort and stability (Xiang, Arora & Abdel-Malek 2010).

Both feet stand still, the hands hold the box level, each carries half of it as a point mass. `--pareto` sweeps the weights of the two
objectives; `--maximum` makes the mass of the box a variable and asks for the heaviest one.

Beside measured lifts: L5/S1 is extended by up to 226 N m here, with 9 kg; men and women lifting 10 kg by peaks of about 200 N m (an error of
20 N m being 10 % of them: Faber et al. 2020). The lumbar joints bend by 50 deg and the knees by 50 deg; those of handlers by 54 (SD 11) and
about 72 (30) deg, of novices by 66 (15) and 53 (33) deg (Plamondon et al. 2010). The back is bent as far as it can be at the start;
measured ones are to 78-97 % of their flexion when their moment is largest (Dolan, Mannion & Adams 1994). L5/S1 is sheared by 597 N
without the muscles' forces, which make that 1100-1400 N with 10.5 kg (Kingma et al. 2004).
"""

from dataclasses import replace
from pathlib import Path

import casadi as ca
import numpy as np
from ocp.models.human import (
    BOX_SPHERES,
    FEET,
    NAMES,
    SOLES,
    STATURE,
    carry,
    human,
    mirror,
    somebody,
)
from ocp.problems.lifting.pictures import draw_front, plot_curves, plot_lift
from ocp.problems.lifting.report import HANDS, KILOGRAMS, LOADED, lifting_report

from ocp import (
    Attempt,
    BSpline,
    Guess,
    Objective,
    Problem,
    at_end,
    at_start,
    dynamic_effort,
    final,
    joint_limits,
    path,
    smoothness,
    squares,
    torque_limits,
)
from ocp.mechanics.joints import prismatic
from ocp.mechanics.kinematics import place, poses
from ocp.mechanics.loads import Wrench
from ocp.mechanics.tree import Link
from ocp.mechanics.zero_moment import body_weight, hull
from ocp.problem import (
    foot_contact,
    friction,
    off_box,
    pressure_inside,
    unilateral,
    zmp_inside,
)
from ocp.problem.ground import Foot, Ground, Pin, Support
from ocp.problem.reactions import zero_moment_point
from ocp.problem.statement import Span
from ocp.solution.solving import solve

UP = np.array([0.0, 1.0, 0.0])
STILL = tuple(
    name for name in NAMES if name.startswith(("clav", "neck", "head", "toe"))
)  # frozen: clavicles, neck, head, toes [assumed]
SIDEWAYS = tuple(
    name for name in NAMES if name.startswith("spine") and not name.endswith("flex")
)  # frozen too where both sides mirror
# Ranges (deg) narrower than the anatomical ones [assumed]: nobody leans back on his ligaments, lifts overhead, or twists the hands that hold
RANGES = {
    "glob_rx": (-10, 90),
    "hip_flex": (-10, 120),
    "shou_flex": (-60, 120),
    "shou_rot": (-30, 30),
    "elb_pron": (-45, 45),
    "wri_flex": (-30, 30),
    "spine1_flex": (-4, 25),
    "spine2_flex": (-4, 25),
    "spine3_flex": (-4, 18),
    "spine4_flex": (-4, 17),
}
FACING = np.cos(
    np.radians(30.0)
)  # of the angle at most between the palms and the sides of the box [assumed]
FAINT = 0.01  # weight of effort that makes the most stable lift a single one, likewise the heaviest
TUNED = {
    "tol": 1e-6,
    "max_iter": 250,
    "mumps_permuting_scaling": 0,
    "mumps_pivot_order": 0,
    "min_refinement_steps": 0,
    "mu_init": 3e-2,
}
CAREFUL = {"tol": 1e-6, "max_iter": 400, "mumps_pivtol": 1e-4}
ATTEMPTS = (
    Attempt(options=TUNED),
    Attempt(options=CAREFUL),
    Attempt(options=CAREFUL, feasible_first=True),
)


def problem(
    box: float = 9.0,
    depth: float = 0.37,
    height: float = 0.365,
    width: float = 0.40,
    start_height: float = 0.365,
    start_ahead: float = 0.49,
    end_height: float = 1.37,
    end_ahead: float = 0.46,
    time: float = 1.2,
    weight: float = 1.0,
    symmetric: bool = True,
    turn: float = 0.0,
    maximum: bool = False,
    points: int = 9,
    person: str = "",
    stature: float | None = None,
    mass: float | None = None,
    sex: str | None = None,
    segments: str = "",
    feet: float = 0.20,
    balance: str = "pressure",
    smooth: float = 0.0025,
    still: bool = True,
    contact: float = 0.002,
    slip: float = 0.02,
) -> Problem:
    """`box`: mass of the box (kg); `depth`: of the box, fore and aft (m); `height`: of the box (m); `width`: of the box, between the hands,
    which hold its sides at the upper edge (m); `start_height`: of the hands at the start (m); `start_ahead`: of the hands before the ankles
    at the start (m); `end_height`: and at the end (m); `end_ahead`: likewise (m); `time`: of the lift (s); `weight`: of effort against
    stability, 1 is effort alone; `symmetric`: mirror the left side from the right one; `turn`: by which the box ends to the left, about the
    middle of the ankles (deg), which frees the sides; `maximum`: find the heaviest box instead; `points`: control points per joint;
    `person`: woman or man of a percentile, f5, f50, f95, m5, m50 or m95, or else a man of 1.75 m and 75 kg; `stature`: in place of that
    person's (m); `mass`: in place of that person's (kg); `sex`: male or female, in place of that person's; `segments`: the person's own, as
    thigh.length=0.45,shank.mass=3.4, of limbs also com and radii (a/b/c); `feet`: distance between the ankles (m); `balance`: pressure, of
    each foot in its polygon, or zmp, of both together in the hull; `smooth`: weight of accelerations beside effort; `still`: start and end
    without accelerations too; `contact`: tolerance of the place of feet and hands (m); `slip`: and of the feet's velocity (m/s)."""
    mirrors = symmetric and not turn
    who = somebody(person, stature, mass, sex, segments)
    body = _ranged(human(**who, frozen=STILL + (SIDEWAYS if mirrors else ()), ranges="anatomical"))
    start, end = (
        (high, ahead, np.radians(angle))
        for high, ahead, angle in ((start_height, start_ahead, 0.0), (end_height, end_ahead, turn))
    )
    _check_task(
        body,
        {"box": box, "depth": depth, "height": height, "width": width, "time": time, "feet": feet},
        weight,
        start,
        end,
        BOX_SPHERES["toe_r"] * who["stature"] / STATURE,
    )
    index, sign = mirror(body)
    ground, names = stance(body, feet), [joint.name for joint in body.moving]
    if maximum:
        body, stands = _with_mass(body), ground
        ground = replace(
            ground,
            feet=(
                *ground.feet,
                *_holds((start_height + end_height) / 2, (start_ahead + end_ahead) / 2),
            ),
        )
        goal = final("mass", lambda at: -at.q[body.coordinate(LOADED)]) + FAINT * (
            dynamic_effort(body) + smooth * smoothness(body, names)
        )
    else:
        body, stands = carry(carry(body, "grip_r", box / 2), "grip_l", box / 2), ground
        goal = (
            weight * dynamic_effort(body)
            + (1 - weight) * stability(stands)
            + smooth * smoothness(body, names)
        )
    own = (
        _own(body) if mirrors else body
    )  # whose limits and feet are asked: of a symmetric lift those of one side
    mine = replace(stands, feet=stands.feet[:1]) if mirrors else stands
    radii = {
        name: radius * who["stature"] / STATURE
        for name, radius in BOX_SPHERES.items()
        if not (mirrors and name.endswith("_l"))
    }
    rest = {
        joint.name: 0.0
        for joint in own.moving
        if joint.name != LOADED and not (mirrors and _follows(joint.name))
    }
    return Problem(
        tree=body,
        motion=BSpline(points=points),
        duration=time,
        objective=(1 / time) * goal,
        ground=ground,
        constraints=(
            joint_limits(own, hull=True),
            torque_limits(own),
            [made(body, qd=rest, qdd=rest if still else None) for made in (at_start, at_end)],
            foot_contact(mine, position=contact, velocity=slip),
            _balance(body, mine, stands, balance),
            _mirrored(body, index, sign) if mirrors else (),
            _held(body, width, start, end, mirrors, contact),
            off_box("avoidance", lambda at: _box(at, height), (height / 2, depth / 2), radii),
            _loaded(body)
            if maximum
            else path("carried", lambda at: ca.DM(box), labels=("box",), units="kg"),
            path(
                "box", lambda at: _corners(at, width, height, depth), labels=("corner",), units="m"
            ),
        ),
    )


def lift(statement, transcription, solver, *, guess=None, watch=None, pareto: int = 0):
    """Solve a lift from the standing posture, q = 0, or from a guess. Where both objectives count, they are counted in the ranges between
    their own optima and their values where the other one is optimal, which are found first.

    `pareto`: number of weights from 1 to 0 whose lifts make the front of effort against stability, or 0 for the one lift alone. The front is
    in the statistics, as a list of plain records. A failed attempt is followed by a more careful one.
    """
    weights = {term.name: weight for weight, term in statement.objective.terms}
    if pareto and (pareto < 2 or "stability" not in weights):
        raise ValueError(
            f"pareto: expected at least 2 weights, and a box of known mass, got {pareto}"
        )
    if "stability" not in weights or (weights["stability"] == 0 and not pareto):
        return _attempt(statement, transcription, solver, guess, watch)
    share = weights["dynamic_effort"] / (weights["dynamic_effort"] + weights["stability"])
    smooth = weights["smoothness"] / (weights["dynamic_effort"] + weights["stability"])
    lazy = _attempt(_weighed(statement, 1.0, 0.0, smooth), transcription, solver, guess, watch)
    stable = _attempt(
        _weighed(statement, FAINT, 1.0, smooth),
        transcription,
        solver,
        replace(lazy, multipliers={}),
        watch,
    )
    ranges = [abs(b - a) for (_, _, a), (_, _, b) in list(zip(lazy.terms, stable.terms))[:2]]
    found, solved = {1.0: lazy, 0.0: stable}, [lazy, stable]
    for wanted in sorted({share, *np.linspace(0.0, 1.0, pareto or 2).tolist()}, reverse=True):
        if wanted not in found:
            balanced = _weighed(
                statement,
                max(wanted, FAINT) / ranges[0],
                (1 - wanted) / ranges[1],
                smooth / ranges[0],
            )
            found[wanted] = _attempt(
                balanced,
                transcription,
                solver,
                replace(solved[-1 if len(solved) > 2 else 0], multipliers={}),
                watch,
            )
            solved.append(found[wanted])
    front = (
        [_record(weight, found[weight]) for weight in sorted(found, reverse=True)] if pareto else []
    )
    total = {
        key: sum(one.statistics[key] for one in solved)
        for key in ("iterations", "build_seconds", "solve_seconds", "total_seconds")
    }
    return replace(
        found[share],
        statistics=found[share].statistics
        | total
        | {"references": dict(zip(("dynamic_effort", "stability"), ranges)), "front": front},
    )


def _attempt(statement, transcription, solver, guess, watch):
    start = Guess(q=np.zeros((statement.tree.dof, 2))) if guess is None else guess
    return solve(statement, transcription, solver, guess=start, watch=watch, attempts=ATTEMPTS)


def _weighed(statement, *weights):
    return replace(
        statement,
        objective=Objective(
            terms=tuple(
                (weight / statement.duration[0], term)
                for weight, (_, term) in zip(weights, statement.objective.terms)
            )
        ),
    )


def _record(weight, solution):
    values = {name: value for name, _, value in solution.terms}
    return {
        "weight": weight,
        "status": solution.status,
        "effort": values["dynamic_effort"],
        "stability": values["stability"],
        "iterations": solution.statistics["iterations"],
        "solve_seconds": solution.statistics["solve_seconds"],
    }


def draw(solution, path):
    """Draw the front to `path` if there is one, and write it to the file of that name as .csv; or else the lift, and its curves to the file
    with "-curves" added."""
    if solution.statistics.get("front"):
        draw_front(solution.statistics["front"], path)
        return
    plot_lift(solution, path)
    plot_curves(solution, Path(path).with_stem(f"{Path(path).stem}-curves"))


def loads(solution):
    """Return {name: number} of what a study over people compares: the loads of the back, the posture, and what comes nearest to its limit."""
    report = lifting_report(solution)
    return {
        "L5S1_Nm": report["L5S1_extension_Nm"]["value"],
        "L5S1_pressing_N": report["L5S1_pressing_N"]["value"],
        "L5S1_shearing_N": report["L5S1_shearing_N"]["value"],
        **{
            f"{name}_most_deg": report["angles_deg"][name]["most"]
            for name in ("knee", "hip", "ankle", "lumbar", "trunk")
        },
        **{f"{name}_joint_force_N": value for name, value in report["joint_force_N"].items()},
        "vertical_force_weights": report["vertical_force_weights"][1],
        "torque_of_limit": report["torque_share"][0]["value"],
    }


def stance(body, feet):
    """Return the Ground of both feet side by side, ankles `feet` (m) apart above the line Z = 0; they bear all along."""
    frames, found = poses(body, np.zeros(body.dof)), []
    for side, (rear, _) in FEET.items():
        s, sign = side[0], {"right": -1, "left": 1}[side]
        ankle = np.array(place(body, frames, f"ankle_{s}")).ravel()
        shift = np.array([sign * feet / 2 - ankle[0], 0.0, -ankle[2]])
        spots = {
            name: np.array(place(body, frames, name)).ravel() + shift
            for name in (*SOLES[side], f"heel_{s}", f"toe_{s}")
        }
        pins = tuple(
            Pin(point=name, axes=axes, target=spots[name])
            for name, axes in (
                (f"heel_{s}", "xyz"),
                (f"ball_med_{s}", "xy"),
                (f"ball_lat_{s}", "y"),
            )
        )
        found.append(
            Foot(
                name=side,
                center=(spots[f"heel_{s}"] + spots[f"toe_{s}"]) / 2,
                supports=(
                    Support(
                        link=rear,
                        when=(0.0, 1.0),
                        pins=pins,
                        polygon=[spots[name] for name in SOLES[side]],
                    ),
                ),
            )
        )
    return Ground(normal=UP, feet=found)


def stability(stands):
    """The integral of the squared distance of the zero moment point from the middle of the support, over half its length (s)."""
    corners = hull(
        [corner for foot in stands.feet for support in foot.supports for corner in support.polygon],
        stands.normal,
    )
    low, high = corners.min(axis=0), corners.max(axis=0)

    def off(at):
        feet = [foot.name for foot in stands.feet]
        total = Wrench(
            link="",
            moment=sum(at.reaction.moment(name) for name in feet),
            force=sum(at.reaction.force(name) for name in feet),
        )
        return (
            (zero_moment_point(stands, total) - ca.DM((low + high) / 2)) / ((high - low)[2] / 2)
        )[[0, 2]]

    return squares("stability", off)


def _ranged(body):
    """Return the body with the narrower ranges that lifting keeps to."""
    ranges = {
        joint.name: RANGES.get(joint.name.removesuffix("_r").removesuffix("_l"))
        for joint in body.joints
    }
    return replace(
        body,
        joints=[
            joint
            if ranges[joint.name] is None or joint.kind == "fixed"
            else replace(joint, position=tuple(np.radians(ranges[joint.name])))
            for joint in body.joints
        ],
    )


def _own(body):
    """Return the body without the limits of its left side."""
    free = (-np.inf, np.inf)
    return replace(
        body,
        joints=[
            replace(joint, position=free, torque=free) if joint.name.endswith("_l") else joint
            for joint in body.joints
        ],
    )


def _follows(name):
    """Tell whether a joint of a symmetric lift has no motion of its own."""
    return name.endswith("_l") or name in ("glob_tx", "glob_ry", "glob_rz")


def _balance(body, mine, stands, kind):
    known = {
        "pressure": lambda: pressure_inside(body, mine),
        "zmp": lambda: zmp_inside(body, stands),
    }
    if kind not in known:
        raise ValueError(f"balance: expected one of {', '.join(known)}, got {kind!r}")
    if kind == "zmp" and LOADED in body.names:
        raise ValueError(
            "balance: the heaviest box is found with the pressure of each foot in its polygon, not with zmp"
        )
    return known[kind](), unilateral(body, mine), friction(body, mine)


def _mirrored(body, index, sign):
    """Tie the left side to the right one at all times, and hold the pelvis in the middle; both feet bear alike. The ground's other three
    components follow from the equations of motion."""
    rows = [row for row, joint in enumerate(body.moving) if _follows(joint.name)]
    pairs = [(row, int(index[row])) for row in rows]
    weight = body_weight(body)
    return (
        path(
            "mirror",
            lambda at: ca.vertcat(
                *(
                    at.q[row] - sign[row] * at.q[other] if row != other else at.q[row]
                    for row, other in pairs
                )
            ),
            lower=0.0,
            upper=0.0,
            when="hull",
            labels=tuple(body.moving[row].name for row in rows),
            units="rad",
        ),
        path(
            "evenly",
            lambda at: (
                ca.vertcat(
                    (at.reaction.force("right") - at.reaction.force("left"))[1:],
                    at.reaction.moment("right")[0] - at.reaction.moment("left")[0],
                )
                / weight
            ),
            lower=0.0,
            upper=0.0,
            labels=("force y", "force z", "moment x"),
            units="weights",
        ),
    )


def _held(body, width, start, end, mirrors, slack):
    """Keep the hands on both sides of the box and level, palms on it, and put them where the box starts and ends."""
    palms = path(
        "palms",
        lambda at: ca.vertcat(
            *(
                -ca.dot(at.frames[body.link_index(f"wri_rad_{side}")][:3, 2], _across(at))
                for side in ("r" if mirrors else "rl")
            )
        ),
        lower=FACING,
        labels=("right hand", "left hand"),
    )
    if mirrors:
        ends = [
            path(
                f"hands.{when}",
                lambda at: at.position("grip_r")[1:],
                lower=goal[:2],
                upper=goal[:2],
                when=when,
                labels=("up", "ahead"),
                units="m",
            )
            for when, goal in (("start", start), ("end", end))
        ]
        return (
            path(
                "hands",
                lambda at: at.position("grip_r")[0] + width / 2,
                lower=-slack,
                upper=slack,
                labels=("across",),
                units="m",
            ),
            palms,
            ends,
        )

    def between(at):
        way = at.position("grip_l") - at.position("grip_r")
        return ca.vertcat(way[1], (ca.sumsqr(way) - width**2) / (2 * width))

    inner, ends = Span(start=0.0, end=1.0, open_start=True, open_end=True), []
    for when, (high, ahead, angle) in (("start", start), ("end", end)):
        middle, half = (
            np.array([ahead * np.sin(angle), high, ahead * np.cos(angle)]),
            width / 2 * np.array([np.cos(angle), 0.0, -np.sin(angle)]),
        )
        goal = np.concatenate([middle - half, middle + half])
        ends.append(
            path(
                f"hands.{when}",
                lambda at: ca.vertcat(at.position("grip_r"), at.position("grip_l")),
                lower=goal,
                upper=goal,
                when=when,
                labels=tuple(f"{side} {axis}" for side in ("right", "left") for axis in "xyz"),
                units="m",
            )
        )
    return (
        path(
            "hands",
            between,
            lower=-slack,
            upper=slack,
            when=inner,
            labels=("level", "apart"),
            units="m",
        ),
        palms,
        ends,
    )


def _across(at):
    """Unit vector (3) from the right hand to the left one."""
    way = at.position("grip_l") - at.position("grip_r")
    return way / ca.norm_2(way)


def _box(at, height):
    """Return the centre of the box, which hangs level below the hands, and its axes up and ahead."""
    middle = (at.position("grip_r") + at.position("grip_l")) / 2
    return middle - height / 2 * ca.DM(UP), (ca.DM(UP), ca.cross(_across(at), ca.DM(UP)))


def _corners(at, width, height, depth):
    """Return the eight corners of the box (24, m), one after the other; rows without bounds, to be looked at."""
    center, axes = _box(at, height)
    sizes = [
        half * axis for half, axis in zip((width / 2, height / 2, depth / 2), (_across(at), *axes))
    ]
    return ca.vertcat(
        *(
            center + a * sizes[0] + b * sizes[1] + c * sizes[2]
            for a in (-1, 1)
            for b in (-1, 1)
            for c in (-1, 1)
        )
    )


def _with_mass(body):
    """Return the body and beside it a slide whose coordinate is the mass of the box (KILOGRAMS), so that the NLP has it as a variable; it is
    hardly a body itself."""
    slide = prismatic(LOADED, axis=(1.0, 0.0, 0.0), position=(0.0, 20.0))
    return replace(body, links=(*body.links, Link(mass=1e-3)), joints=(*body.joints, slide))


def _holds(high, ahead):
    """Return the hands as what the box acts on, with a wrench that is a variable like the ground's."""
    return [
        Foot(
            name=name,
            center=(0.0, high, ahead),
            supports=(Support(link=f"wri_rad_{name[0]}", when=(0.0, 1.0)),),
        )
        for name in HANDS
    ]


def _loaded(body):
    """Let the box pull at either hand as half its mass does, (m / 2) (g - a), at the grip; its mass stays what it is."""
    row, weight, gravity = body.coordinate(LOADED), body_weight(body), ca.DM(body.gravity)

    def excess(at):
        found = []
        for name in HANDS:
            spot, half = at.position(f"grip_{name[0]}"), KILOGRAMS * at.q[row] / 2
            force = at.reaction.force(name)
            found += [
                force - half * (gravity - at.acceleration(f"grip_{name[0]}")),
                at.reaction.moment(name) - ca.cross(spot, force),
            ]
        return ca.vertcat(*found) / weight

    labels = tuple(
        f"{name} {what} {axis}" for name in HANDS for what in ("force", "moment") for axis in "xyz"
    )
    return (
        path("load", excess, lower=0.0, upper=0.0, labels=labels, units="weights"),
        path(
            "mass",
            lambda at: at.qd[row],
            lower=0.0,
            upper=0.0,
            when=Span(start=0.0, end=1.0, open_end=True),
            labels=("rate",),
            units=f"{KILOGRAMS:g} kg/s",
        ),
    )


def _check_task(body, sizes, weight, start, end, radius):
    """Raise ValueError for a lift that nobody can do whatever the effort; `radius` (m) is that of the toes."""
    for what, value in sizes.items():
        if not (np.isfinite(value) and value > 0):
            raise ValueError(f"{what}: expected a positive number, got {value}")
    if not 0 <= weight <= 1:
        raise ValueError(f"weight: expected a number from 0 to 1, got {weight}")
    frames = poses(body, np.zeros(body.dof))
    shoulder, grip = (
        np.array(place(body, frames, name)).ravel() for name in ("shoulder_r", "grip_r")
    )
    arm, trunk = (
        np.linalg.norm(grip - shoulder),
        shoulder[1] - np.array(place(body, frames, "hip_r"))[1, 0],
    )
    for when, (high, ahead, _) in (("start", start), ("end", end)):
        if not 0 < high < shoulder[1] + arm:
            raise ValueError(
                f"{when}_height: {high:g} m is out of reach: expected between the floor and {shoulder[1] + arm:.2f} m"
            )
        if not 0 < ahead < arm + trunk:
            raise ValueError(
                f"{when}_ahead: {ahead:g} m is out of reach: expected between 0 and {arm + trunk:.2f} m"
            )
        toe, ankle = (np.array(place(body, frames, name)).ravel() for name in ("toe_r", "ankle_r"))
        least = toe[2] - ankle[2] + radius + sizes["depth"] / 2
        if high - sizes["height"] < radius and ahead < least:
            raise ValueError(
                f"{when}_ahead: at {ahead:g} m the box would stand on the toes: expected at least {least:.3f} m"
            )
