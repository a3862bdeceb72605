"""One step of normal walking, predicted for a human from task and effort alone.

The task is a speed and a length of step; the schedule of contact is that of normal gait (Barman
2020, chapter V; Xiang et al. 2009). By the objective "human" people have tissue and strength over
angle and spare what `costs` says; by the others torques alone are limited and count, as in 2020.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

from ocp import (
    BSpline,
    Load,
    Objective,
    Problem,
    Tree,
    dynamic_effort,
    smoothness,
    squares,
)
from ocp.mechanics import Open, any_nonzero, array, nominal, position, positions
from ocp.models.human import (
    GAIT_FROZEN,
    NAMES,
    ROOT,
    STATURE,
    carry,
    human,
    loads_of,
    mirror,
    one_sided,
    somebody,
    wearing,
    within_ranges,
)
from ocp.problem import mirror_symmetry
from ocp.problems.gait.statement.constraint_families import Step, asked, requirements
from ocp.problems.gait.statement.contact_schedule import stance, usual_schedule
from ocp.problems.gait.statement.objective_terms import SMOOTH, human_cost
from ocp.problems.gait.statement.strides import STRIDES, facing, impaired, in_stride, pace

BENDING = tuple(f"{joint}_{side}" for joint in ("hip_flex", "knee_flex") for side in "rl")
ANKLES = ("ankle_df_r", "ankle_df_l")
GRAVITY = 9.81  # m/s2
SPEED, STEP = 1.2, 0.6  # m/s, m: of the man of 1.75 m, unless something else is asked (Barman 2020)
HUMAN = "human"
POINTS, DEGREE = {True: 10, False: 8}, {True: 4, False: 3}  # of the spline, of people or of effort
# Joints that have their whole range where tissue restores them at its ends, by how they begin
ROAMING = ("glob_r", "spine", "shou_abd", "shou_rot", "head_")
CROUCHED = 50.0  # deg: below what knees of legs in swing are asked to bend by
PERCENTILE = 84.13  # of strength: a mean and a standard deviation, as of most torque limits
BEHIND = (0.0, 0.0, -0.15)  # m: of a backpack's centre from T6 [assumed]


def problem(
    speed: float | Open | None = None,
    step: float | Open | None = None,
    points: int | None = None,
    person: str = "",
    stature: float | Open | None = None,
    mass: float | Open | None = None,
    sex: str | None = None,
    segments: str = "",
    active: str = "gait",
    objective: str = HUMAN,
    age: float | None = None,
    percentile: float | Open = PERCENTILE,
    smooth: float | Open = SMOOTH,
    contact: float | Open = 0.002,
    slip: float | Open = 0.1,
    width: float | Open = 0.1,
    balance: str = "pressure",
    split: bool = False,
    heel_off: float | None = None,
    jump: bool = False,
    backpack: float | Open = 0.0,
    hands: float | Open = 0.0,
    without: str = "",
    hold: str = "throughout",
    stride: str = "half",
    free_timing: bool = False,
    ankle_strength: float = 1.0,
    shank_mass: float | Open = 0.0,
    slope: float = 0.0,
    rise: float = 0.0,
    load: str = "",
    crouch: float = 0.0,
    toes: float | Open = 0.0,
) -> Problem:
    """`speed`: of walking (m/s), by default as 1.2 m/s is to the legs of the man of 1.75 m; `step`:
    length of a step (m), by default as 0.6 m is to those legs; `points`: control points per joint,
    by default 10, of walks of effort alone 8; `person`: woman or man of a percentile, f5, f50, f95,
    m5, m50 or m95, a child of 5 to 18 years as girl10 or boy7, or else a man of 1.75 m and 75 kg;
    `stature`: in place of that person's (m); `mass`: in place of that person's (kg); `sex`: male or
    female, in place of that person's; `segments`: the person's own, as
    thigh.length=0.45,shank.mass=3.4, of limbs also com and radii (a/b/c); `active`: joints that
    move, gait (38), all (55) or names separated by commas, partners and pelvis included;
    `objective`: human, what people spare with their tissue and strength, or effort, torque or
    constant; `age`: years, of whose strength, 5 to 110; `percentile`: of strength at that age, 1 to
    99; `smooth`: weight of accelerations beside it; `contact`: tolerance of the contact points'
    place (m); `slip`: and of their velocity (m/s); `width`: distance between the feet (m);
    `balance`: pressure, of each foot in its polygon, or zmp, of both together in the hull; `split`:
    share double support by distance instead of freely; `heel_off`: when the heel may leave the
    ground, of the step, by default 0.6, of walks of effort alone 0.75, down stairs 0.8; `jump`: let
    accelerations and forces jump from step to step, as six control points need; `backpack`: mass
    behind T6 (kg); `hands`: weight in each hand (N); `without`: families of constraints to leave
    out, separated by commas, of angles, torques, contact, balance, coupling, avoidance, symmetry,
    clearance and places; `hold`: feet in their places throughout, or at both ends; `stride`: half,
    the step that its image continues, phases, the same stated in phases, or full, both steps;
    `free_timing`: find how long single and double support last and how long steps are;
    `ankle_strength`: of the right ankle, of its own; `shank_mass`: put on the right shank (kg);
    `slope`: of the ground, upward (deg); `rise`: of stairs, of which every step takes one (m),
    below 0 down; `load`: worn on trunk, waist, thigh, shank and foot or held in hands, as
    trunk=10,foot=2, of limbs on each side or on one, as hand_r=5 (kg); `crouch`: by which knees are
    bent at least, always (deg); `toes`: stiffness of those of the objective human (N m/rad)."""
    who = somebody(person, stature, mass, sex, segments)
    living = objective == HUMAN
    if any_nonzero((toes,)) and not living:
        raise ValueError(f"toes: have tissue with the objective {HUMAN}, not {objective}")
    strong = {"age": age, "percentile": percentile, "toes": toes} if living else None
    body, speed, step = _walker(who, active, speed, step, backpack, strong)
    usual = usual_schedule(living, rise)
    when = usual if heel_off is None else replace(usual, heel_off=heel_off)
    points = POINTS[living] if points is None else points
    body = impaired(
        crouching(climbing(body, rise, ankles=living), crouch), ankle_strength, shank_mass
    )
    laden = loads_of(load)
    body = wearing(body, laden)
    families = asked(without)
    _check_tolerances(*nominal((contact, slip)))
    phased, full = stride != STRIDES[0] or free_timing, stride == STRIDES[2]
    weakened = {"ankle_strength": ankle_strength != 1, "shank_mass": any_nonzero((shank_mass,))}
    sided = [f"load: {', '.join(loads)}"] if (loads := one_sided(laden)) else []
    _check_sides([*sided, *(name for name, given in weakened.items() if given)], full=full)
    uneven = bool(slope or rise)
    one_phase = {"jump": jump, "split": split, "whole": "symmetry" in families}
    _check_phases(phased, **one_phase, uneven=bool(rise or (slope and full)))
    if uneven and not (balance == "pressure" and "symmetry" in families):
        raise ValueError("slope, rise: expected pressure as balance, and the family of symmetry")
    chosen = pace(speed, step, free=free_timing, full=full, slope=slope)
    rules = {"tolerances": (contact, slip), "hold": hold, "balance": balance, "split": split}

    def stated(lead: str = "right") -> Problem:
        """Return one step in one phase, whose image continues it."""
        way, time = chosen.lead(lead), step / speed
        ground = stance(body, way, width, when, slope, rise)
        ahead = dict(zip(("glob_ty", "glob_tz"), _ahead(step, slope, rise)))
        image = mirror_symmetry(body, *mirror(body), shift=ahead, qdd=not jump)
        one = Step(
            body=body,
            ground=ground if lead == "right" else facing(ground, way),
            step=way,
            size=who["stature"] / STATURE,
            symmetry=image if "symmetry" in families else None,
            lead=lead,
            rise=rise,
            bent=bool(rise or crouch),
        )
        share = 1.0 if phased else 10.0 / time
        return Problem(
            tree=body,
            motion=BSpline(points=points, degree=DEGREE[living]),
            duration=time,
            objective=share * _objective(body, objective, smooth, who),
            ground=one.ground,
            symmetry=one.symmetry,
            loads=[
                Load(point=f"grip_{side}", force=(0.0, -hands, 0.0))
                for side in "rl"
                if any_nonzero((hands,))
            ],
            constraints=requirements(one, families, **rules),
        )

    if not phased:
        return stated()
    return in_stride(stated, chosen, stride=stride, free=free_timing, when=when)


def effort_step(speed: Any = None, step: Any = None, **asked: Any) -> Problem:
    """Return the `problem` of effort alone, unless `asked` names another objective: constant torque
    limits, no tissue, the steady benchmark of this project."""
    return problem(speed, step, **{"objective": "effort"} | asked)


def climbing(body: Tree, rise: float, *, ankles: bool = False) -> Tree:
    """Return a body whose root may go up and down by a `rise` (m) beyond its range, and whose hips
    and knees bend as far as they can, beyond what level gait takes, and with `ankles` these too."""
    if not rise:
        return body
    lower, upper = body.joints[body.joint_index("glob_ty")].position
    free = _whole() | (_whole(ANKLES) if ankles else {})
    return _ranging(body, free | {"glob_ty": (lower - abs(rise), upper + abs(rise))})


def crouching(body: Tree, crouch: float) -> Tree:
    """Return a body whose knees are always bent by a `crouch` (deg) at least, and whose hips and
    knees bend as far as they can. Its root may go down as far as such legs are shorter.

    Raises ValueError for an angle below 0 or above CROUCHED.
    """
    if not 0 <= crouch <= CROUCHED:
        raise ValueError(f"crouch: expected 0 to {CROUCHED:g} deg, got {crouch!r}")
    if not crouch:
        return body
    lower, upper = body.joints[body.joint_index("glob_ty")].position
    down = nominal(_leg(body)) * (1.0 - float(np.cos(np.radians(crouch) / 2)))
    free = _whole() | {"glob_ty": (lower - down, upper)}
    for name in BENDING:
        if name.startswith("knee_flex"):
            free[name] = float(np.radians(crouch)), free[name][1]
    return _ranging(body, free)


@cache
def _whole(names: tuple[str, ...] = BENDING) -> dict[str, Any]:
    """Return {joint: its range (rad)} of joints, hips and knees, as far as they can bend."""
    whole = _man()
    return {name: whole.joints[whole.joint_index(name)].position for name in names}


def _ranging(body: Tree, ranges: Mapping[str, Any]) -> Tree:
    """Return a body whose joints of these names have these ranges (rad or m)."""
    joints = (
        replace(joint, position=ranges[joint.name]) if joint.name in ranges else joint
        for joint in body.joints
    )
    return replace(body, joints=tuple(joints))


def _roaming(body: Tree) -> Tree:
    """Return a body whose joints that tissue restores have their whole ranges."""
    free = {joint.name: joint.position for joint in _man().moving if joint.name.startswith(ROAMING)}
    return _ranging(body, free)


def _easing(body: Tree, who: dict[str, Any]) -> Tree:
    """Return a body whose hips and elbows have tissue within their ranges too."""
    moving = [joint.name for joint in body.moving]
    tissue = within_ranges(moving, who["stature"], who["mass"])
    return replace(body, elements=(*body.elements, *tissue))


def _ahead(step: Any, slope: float, rise: float) -> tuple[Any, Any]:
    """Return how far (m) one step goes up and forward."""
    if not slope:
        return rise, step
    return step * float(np.sin(np.radians(slope))), step * float(np.cos(np.radians(slope)))


def _check_sides(sided: Sequence[str], *, full: bool) -> None:
    """Raise ValueError for what makes sides `sided` unlike where a step is continued by its
    image."""
    if sided and not full:
        raise ValueError(
            f"{', '.join(sided)}: of a body that is not alike on both sides the image of a step is "
            "none of its own; take stride full"
        )


def _check_phases(phased: bool, **wanted: bool) -> None:
    """Raise ValueError for what a walk stated in phases does not have."""
    words = {"whole": "without symmetry", "uneven": "slope of both steps, or rise"}
    asked = [(words.get(name, name), one != (name == "whole")) for name, one in wanted.items()]
    for what, amiss in asked:
        if phased and amiss:
            raise ValueError(f"{what}: is known of a step in one phase; take stride half")


def _walker(
    who: dict[str, Any],
    active: str,
    speed: Any,
    step: Any,
    backpack: Any,
    strong: Mapping[str, Any] | None = None,
) -> tuple[Tree, Any, Any]:
    """Return the body of a person {stature, mass, ..}, and speed (m/s) and step (m) of it; with
    `strong`, whose strength it has by age and percentile, it has that over angle, and tissue."""
    living: dict[str, Any] = {"passive": True, "strength": "angle", **strong} if strong else {}
    body = human(**who, **living, frozen=_frozen(active), ranges="gait")
    body = _easing(_roaming(body), who) if strong else body
    speed, step = likewise(body, speed, step)
    _check_task(*nominal((body, speed, step, who["stature"])))
    return carry(body, "T6", backpack, BEHIND) if any_nonzero((backpack,)) else body, speed, step


def likewise(
    body: Tree, speed: float | Open | None = None, step: float | Open | None = None
) -> tuple[Any, Any]:
    """Return speed (m/s) and length of step (m), where None such that all people walk alike.

    That is with the same speed over the root of gravity times the leg's length, and the same step
    over that length, as the man of 1.75 m (Hof 1996).
    """
    ratio = _leg(body) / _usual_leg()
    return SPEED * ratio**0.5 if speed is None else speed, STEP * ratio if step is None else step


@cache
def _man() -> Tree:
    """Return the man of 1.75 m, whose joints have their whole ranges."""
    return human()


@cache
def _usual_leg() -> float:
    """Return the height of the hips of the man of 1.75 m (m)."""
    return float(_leg(_man()))


def _leg(body: Tree) -> Any:
    """Return the height of the hips in standing (m)."""
    return array(position(body, np.zeros(body.dof), "hip_r")).ravel().tolist()[1]


def _objective(body: Tree, name: str, smooth: Any, who: dict[str, Any]) -> Objective:
    """Return what is to be least, with the weight of accelerations; "constant" has nothing at all.

    So it is a search for any motion that meets the constraints (Barman 2020, section 5.2).
    """
    if name == HUMAN:
        return human_cost(body, who, smooth)
    known: dict[str, Callable[[], Objective]] = {
        "effort": lambda: dynamic_effort(body),
        "torque": lambda: squares("torque", lambda at: at.tau[len(ROOT) :] / 100.0),
        "constant": lambda: Objective(terms=()),
    }
    if name not in known:
        raise ValueError(f"objective: expected one of {', '.join((HUMAN, *known))}, got {name!r}")
    chosen = known[name]()
    return chosen + smooth * smoothness(body) if any_nonzero((smooth,)) and chosen.terms else chosen


def _frozen(active: str) -> tuple[str, ...]:
    """Return the frozen joints that a set of active ones leaves.

    Raise ValueError naming unknown ones.
    """
    if active in ("gait", "all"):
        return GAIT_FROZEN if active == "gait" else ()
    wanted = [name.strip() for name in active.split(",") if name.strip()]
    unknown = [name for name in wanted if name not in NAMES]
    if unknown or not wanted:
        raise ValueError(
            f"active: unknown joints {', '.join(unknown) or '(none given)'}; "
            f"expected gait, all, or some of {', '.join(NAMES)}"
        )
    partners = {
        name[:-1] + {"r": "l", "l": "r"}[name[-1]] for name in wanted if name.endswith(("_r", "_l"))
    }
    moving = {*wanted, *partners}
    needed = [name for name in ("knee_flex_l", "hip_flex_l", "ankle_df_l") if name not in moving]
    if needed:
        raise ValueError(f"active: a step needs {', '.join(needed)}")
    return tuple(name for name in NAMES if name not in {*moving, *ROOT})


def _check_tolerances(contact: float, slip: float) -> None:
    """Raise ValueError for a tolerance that no place or velocity can be within."""
    for what, value, unit in (("contact", contact, "m"), ("slip", slip, "m/s")):
        if not (np.isfinite(value) and value >= 0):
            raise ValueError(f"{what}: expected a number of at least 0 ({unit}), got {value}")


def _check_task(body: Tree, speed: float, step: float, stature: float) -> None:
    """Raise ValueError for a speed or a step that no walking reaches, whatever the effort."""
    for what, value, unit in (("speed", speed, "m/s"), ("step", step, "m")):
        if not (np.isfinite(value) and value > 0):
            raise ValueError(f"{what}: expected a positive number ({unit}), got {value}")
    names = ("hip_r", "heel_r", "toe_r")
    hip, heel, toe = (
        np.array(place).ravel() for place in positions(body, np.zeros(body.dof), names)
    )
    leg, foot = hip[1], toe[2] - heel[2]
    opening = np.ptp(body.joints[body.joint_index("hip_flex_r")].position) / 2
    reach = 2 * leg * np.sin(opening) + foot + 2 * abs(hip[0])
    if step > reach:
        raise ValueError(
            f"step: {step:g} m cannot be reached: with legs of {leg:.3g} m that open by "
            f"{np.degrees(2 * opening):.0f} degrees both feet are on the ground at most "
            f"{reach:.2f} m apart (stature {stature:g} m)"
        )
    if speed**2 > GRAVITY * leg:
        raise ValueError(
            f"speed: {speed:g} m/s cannot be walked: a body over a leg of {leg:.3g} m leaves the "
            f"ground beyond {np.sqrt(GRAVITY * leg):.2f} m/s, where its Froude number is 1 "
            "(Alexander 1989)"
        )
