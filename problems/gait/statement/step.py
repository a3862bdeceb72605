"""One step of normal walking, predicted for a human from task and effort alone.

The task is a speed and a length of step; the schedule of contact is that of normal gait (Barman
2020, chapter V; Xiang et al. 2009). By the objectives "human" and "elastic" people have tissue and
strength over angle and spare what `objective_terms` says; by the others torques alone are limited
and count, as in 2020.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from types import MappingProxyType
from typing import Any

import numpy as np

from ocp import (
    BSpline,
    Load,
    Objective,
    Parameter,
    Problem,
    Tree,
    dynamic_effort,
    smoothness,
    squares,
)
from ocp.mechanics import (
    Open,
    any_nonzero,
    array,
    check_argument_records,
    is_open,
    nominal,
    parameters_of,
    position,
    positions,
)
from ocp.models.human import (
    GAIT_FROZEN,
    NAMES,
    ROOT,
    STATURE,
    Person,
    bearing,
    carry,
    human,
    loads_of,
    mirror,
    one_sided,
    somebody,
    springs_of,
    thighs_that_touch,
    wearing,
    wearing_springs,
    within_ranges,
)
from ocp.problem import mirror_symmetry
from ocp.problems.gait.statement.constraint_families import Step, asked, requirements
from ocp.problems.gait.statement.contact_schedule import (
    Schedule,
    along,
    changes_of,
    knots_at_changes,
    stance,
    standing_exactly,
    usual_schedule,
)
from ocp.problems.gait.statement.objective_terms import STIFF, WALKING, human_cost
from ocp.problems.gait.statement.strength_groups import GROUPS, by_groups
from ocp.problems.gait.statement.strides import (
    STRIDES,
    facing,
    impaired,
    in_stride,
    pace,
    shared,
)
from ocp.problems.gait.statement.walking_task import (
    ELASTIC,
    HUMAN,
    LIVING,
    Accuracy,
    Carried,
    Gait,
    Goal,
    Muscles,
    Rules,
    Terrain,
    usual_accuracy,
)
from ocp.studies import call_by_flags
from ocp.transcription import with_dependent_curves

BENDING = tuple(f"{joint}_{side}" for joint in ("hip_flex", "knee_flex") for side in "rl")
ANKLES = ("ankle_df_r", "ankle_df_l")
GRAVITY = 9.81  # m/s2
SPEED, STEP = 1.2, 0.6  # m/s, m: of the man of 1.75 m, unless something else is asked (Barman 2020)
SOUGHT: Mapping[str, tuple[tuple[float, float], str]] = MappingProxyType(
    {"step": ((0.2, 1.5), ""), "width": ((0.02, 0.4), "m"), "toe_out": ((-20.0, 40.0), "deg")}
)  # of a gait, within which it is sought; at 1 m/s a step (m) is its own duration (s)
DEGREE = {True: 4, False: 3}  # of people or of effort
# Joints that have their whole range where tissue restores them at its ends, by how they begin
ROAMING = ("glob_r", "spine", "shou_abd", "shou_rot", "head_")
CROUCHED = 50.0  # deg: below what knees of legs in swing are asked to bend by
BEHIND = (0.0, 0.0, -0.15)  # m: of a backpack's centre from T6 [assumed]


def problem(
    gait: Gait = Gait(),
    person: Person = Person(),
    muscles: Muscles = Muscles(),
    terrain: Terrain = Terrain(),
    carried: Carried = Carried(),
    goal: Goal = Goal(),
    rules: Rules = Rules(),
    accuracy: Accuracy = Accuracy(),
    active: str = "gait",
) -> Problem:
    """Return one step of a walk, or a stride in phases, of a person from the task alone.

    Args:
        gait: speed, length and timing of steps.
        person: whose body.
        muscles: strength, with the objective human by age.
        terrain: slope, or stairs.
        carried: burdens.
        goal: the objective.
        rules: how feet balance and stand, and constraints to leave out.
        accuracy: fineness of the motion, and tolerances.
        active: joints that move, gait (38), all (55) or names separated by commas, partners and
            pelvis included.

    Raises:
        ValueError: a value that no walk can have, by the name of its flag.
    """
    check_argument_records(problem, locals())
    if goal.objective is None:
        goal = replace(goal, objective=ELASTIC)
    who = somebody(person)
    living = goal.objective in LIVING
    accuracy = usual_accuracy(goal.objective, accuracy)
    if rules.dissipative is None:
        rules = replace(rules, dissipative=goal.objective == ELASTIC)
    for name in ("toes", "thighs"):
        if any_nonzero((getattr(muscles, name),)) and not living:
            raise ValueError(
                f"{name}: have tissue with the objectives {' and '.join(LIVING)}, "
                f"not {goal.objective}"
            )
    _check_sizes(
        {
            "contact": (accuracy.contact, "m"),
            "slip": (accuracy.slip, "m/s"),
            "toes": (muscles.toes, "N m/rad"),
            "thighs": (muscles.thighs, "kPa"),
        }
    )
    body = _body(who, active)
    if living:
        body = _living(who, active, muscles, loaded=goal.objective == ELASTIC)
    speed, step = likewise(body, gait.speed, gait.step)
    gait = replace(gait, step=step)
    phased, full = gait.stride != STRIDES[0] or gait.free_timing, gait.stride == STRIDES[2]
    gait = sought(gait, phased=phased)
    step = gait.step
    _check_task(*nominal((body, speed, step, who["stature"])))
    body = _laden(body, gait, muscles, terrain, carried, living=living)
    usual = usual_schedule(living, terrain.rise)
    when = usual if gait.heel_off is None else replace(usual, heel_off=gait.heel_off)
    families = asked(rules.without)
    _check_sides(muscles, carried, full=full)
    _check_rules(rules, terrain, phased=phased, full=full, whole="symmetry" in families)
    if accuracy.exact and (phased or not {"contact", "places"} <= families):
        raise ValueError("exact: is of a step in one phase, with the families contact and places")
    chosen = pace(speed, step, free=gait.free_timing, full=full, slope=terrain.slope)

    def stated(lead: str = "right") -> Problem:
        """Return one step in one phase, whose image continues it."""
        way, time = chosen.lead(lead), step / speed
        ground = stance(
            body, way, gait.width, when, terrain.slope, terrain.rise, toe_out=gait.toe_out
        )
        if accuracy.exact:
            ground = standing_exactly(ground)
        if goal.objective == ELASTIC:  # which costs rates of torques enough to keep them smooth
            ground = replace(ground, sharing="smooth")
        ahead = dict(zip(("glob_ty", "glob_tz"), _ahead(step, terrain)))
        image = mirror_symmetry(body, *mirror(body), shift=ahead, qdd=not rules.jump)
        one = Step(
            body=body,
            ground=ground if lead == "right" else facing(ground, way),
            step=way,
            size=who["stature"] / STATURE,
            symmetry=image if "symmetry" in families else None,
            lead=lead,
            rise=terrain.rise,
            bent=bool(terrain.rise or gait.crouch),
            switches=goal.objective == ELASTIC,
        )
        share = 1.0 if phased else 10.0 / time
        one_step = Problem(
            tree=wearing_springs(body, springs_of(carried.springs)),
            motion=_spline(goal.objective, accuracy.points, when),
            duration=time,
            objective=scaled(_objective(body, goal, who), share),
            ground=one.ground,
            symmetry=one.symmetry,
            loads=[
                Load(point=f"grip_{side}", force=(0.0, -carried.hands, 0.0))
                for side in "rl"
                if any_nonzero((carried.hands,))
            ],
            constraints=requirements(one, families, accuracy, rules),
        )
        return with_dependent_curves(one_step, accuracy.pieces) if accuracy.exact else one_step

    if not phased:
        return stated()
    return in_stride(stated, chosen, stride=gait.stride, free=gait.free_timing, when=when)


def sought(gait: Gait, *, phased: bool) -> Gait:
    """Return a gait with what of it is free as parameters that are found; `phased` in phases.

    Raises ValueError for an unknown name, one that is open already, or walks in phases.
    """
    names = [name.strip() for name in gait.free.split(",") if name.strip()]
    unknown = [name for name in names if name not in SOUGHT]
    if unknown:
        raise ValueError(f"free: expected some of {', '.join(SOUGHT)}, got {', '.join(unknown)}")
    if names and phased:
        raise ValueError("free: is known of a step in one phase; take stride half, no free_timing")
    found: dict[str, Any] = {}
    for name in names:
        (lower, upper), unit = SOUGHT[name]
        if is_open(getattr(gait, name)):
            raise ValueError(f"free: {name}: is open already, as a parameter")
        start = min(max(float(getattr(gait, name)), lower), upper)
        found[name] = Parameter(name, start, unit, lower=lower, upper=upper, free=True)
    return replace(gait, **found)


def scaled(objective: Objective, share: Any) -> Objective:
    """Return an objective times a share, in its functions where that is to be found."""
    sought = any(each.free for each in parameters_of(share))
    return shared(objective, share) if sought else share * objective


def _spline(objective: str, points: int, when: Schedule) -> BSpline:
    """Return the spline of a step: with the objective elastic its knots stand where contacts
    change."""
    degree = DEGREE[objective in LIVING]
    if objective != ELASTIC:
        return BSpline(points=points, degree=degree)
    inner = knots_at_changes(changes_of(when), points - degree - 1)
    return BSpline(points=points, degree=degree, inner=inner)


def effort_step(**flags: Any) -> Problem:
    """Return the `problem` of effort alone, unless its `flags` name another objective: constant
    torque limits, no tissue, the steady benchmark of this project."""
    return call_by_flags(problem, {"objective": "effort"} | flags)


def _body(who: Mapping[str, Any], active: str, **living: Any) -> Tree:
    """Return the body of a person {stature, mass, ..} in the ranges of walking."""
    return human(**who, **living, frozen=_frozen(active), ranges="gait")


def _living(who: Mapping[str, Any], active: str, muscles: Muscles, *, loaded: bool) -> Tree:
    """Return the body of a person with strength over angle and tissue: joints that tissue restores
    have their whole ranges, hips and elbows have tissue within theirs too, a `loaded` spine is as
    stiff as one that bears weight, and thighs touch if they have a modulus."""
    strong = {"age": muscles.age, "percentile": muscles.percentile, "toes": muscles.toes}
    body = _body(who, active, passive=True, strength="angle", **strong)
    free = {joint.name: joint.position for joint in _man().moving if joint.name.startswith(ROAMING)}
    body = _ranging(body, free)
    moving = [joint.name for joint in body.moving]
    tissue = within_ranges(moving, who["stature"], who["muscles"])
    if loaded:
        tissue += bearing(moving, who["stature"], who["muscles"])
    if any_nonzero((muscles.thighs,)):
        tissue += (thighs_that_touch(body, muscles.thighs),)
    return replace(body, elements=(*body.elements, *tissue))


def _laden(
    body: Tree, gait: Gait, muscles: Muscles, terrain: Terrain, carried: Carried, *, living: bool
) -> Tree:
    """Return a body with what it carries, and ranges for stairs and crouching."""
    if any_nonzero((carried.backpack,)):
        body = carry(body, "T6", carried.backpack, BEHIND)
    body = crouching(climbing(body, terrain.rise, ankles=living), gait.crouch)
    body = by_groups(body, {group: getattr(muscles, group) for group in GROUPS})
    body = impaired(body, muscles.ankle_strength, carried.shank_mass)
    return wearing(body, loads_of(carried.load))


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


def _ahead(step: Any, terrain: Terrain) -> tuple[Any, Any]:
    """Return the rise and the length (m) of one step."""
    if not any_nonzero((terrain.slope,)):
        return terrain.rise, step
    ahead, up = along(terrain.slope)
    return step * up, step * ahead


def _check_sides(muscles: Muscles, carried: Carried, *, full: bool) -> None:
    """Raise ValueError for what makes sides unlike where a step is continued by its image."""
    loads = one_sided(loads_of(carried.load))
    springs = one_sided(springs_of(carried.springs))
    sided = {
        f"load: {', '.join(loads)}": loads,
        f"springs: {', '.join(springs)}": springs,
        "ankle_strength": muscles.ankle_strength != 1,
        "shank_mass": any_nonzero((carried.shank_mass,)),
    }
    unlike = [name for name, given in sided.items() if given]
    if unlike and not full:
        raise ValueError(
            f"{', '.join(unlike)}: of a body that is not alike on both sides the image of a step "
            "is none of its own; take stride full"
        )


def _check_rules(rules: Rules, terrain: Terrain, *, phased: bool, full: bool, whole: bool) -> None:
    """Raise ValueError for what walks stated in phases, or on ground that is not level, do not
    have; `whole` has the family of symmetry."""
    of_one_phase = {
        "jump": rules.jump,
        "split": rules.split,
        "without symmetry": not whole,
        "slope of both steps, or rise": terrain.rise or (any_nonzero((terrain.slope,)) and full),
    }
    for what, given in of_one_phase.items():
        if phased and given:
            raise ValueError(f"{what}: is known of a step in one phase; take stride half")
    if any_nonzero((terrain.slope, terrain.rise)) and not (rules.balance == "pressure" and whole):
        raise ValueError("slope, rise: expected pressure as balance, and the family of symmetry")


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


def _objective(body: Tree, goal: Goal, who: dict[str, Any]) -> Objective:
    """Return the objective, with the weight of accelerations; "constant" has no terms.

    So it is a search for any motion that meets the constraints (Barman 2020, section 5.2).
    """
    name = goal.objective
    spared = {HUMAN: STIFF, ELASTIC: WALKING}.get(name or "", STIFF)
    smooth = spared.smoothness if goal.smooth is None else goal.smooth
    if name in LIVING:
        own: dict = {"smoothness": smooth}  # which may be open
        return human_cost(body, who, replace(spared, **own))
    known: dict[str, Callable[[], Objective]] = {
        "effort": lambda: dynamic_effort(body),
        "torque": lambda: squares("torque", lambda at: at.tau[len(ROOT) :] / 100.0),
        "constant": lambda: Objective(terms=()),
    }
    if name not in known:
        raise ValueError(f"objective: expected one of {', '.join((*LIVING, *known))}, got {name!r}")
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


def _check_sizes(sizes: Mapping[str, tuple[Any, str]]) -> None:
    """Raise ValueError for the first of tolerances and stiffnesses {name: value, unit} below 0."""
    for what, (size, unit) in sizes.items():
        value = nominal(size)
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
