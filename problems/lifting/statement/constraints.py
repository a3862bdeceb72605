"""Constraints and objectives of a lift."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import casadi as ca

from ocp import (
    BSpline,
    Constraint,
    Objective,
    Problem,
    Tree,
    at_end,
    at_start,
    dynamic_effort,
    joint_limits,
    smoothness,
    torque_limits,
)
from ocp.problem import (
    final,
    foot_contact,
    friction,
    off_box,
    pressure_inside,
    unilateral,
    zmp_inside,
)
from ocp.problems.gait.statement.objective_terms import STANDING, human_cost
from ocp.problems.lifting.report.niosh import COUPLINGS, Work
from ocp.problems.lifting.statement.box_hold import (
    corners,
    crate_between_hands,
    one_hand,
    placed,
    two_hands,
)
from ocp.problems.lifting.statement.lifting_task import Accuracy, Goal, Manner
from ocp.problems.lifting.statement.scene import Scene
from ocp.problems.lifting.statement.standing_body import follows, sides_alike, stability

FAINT = 0.01  # weight of effort that makes the most stable lift a single one, likewise the heaviest
# What people spare who lift: pelvises turn as they bend, and hands bear the box
LIFTING = replace(STANDING, posture=0.0, arms=0.0)
SMOOTH = 0.0025  # weight of accelerations beside plain effort [assumed]
GENTLE = "smoothness"  # name of the term of accelerations
KILOGRAMS = 10.0  # of the box, that count as 1
HANDLING = Work(coupling="poor")  # of a box higher than 0.30 m, by table 6 of the manual


def stated(
    scene: Scene,
    motion: BSpline,
    manner: Manner,
    *more: Any,
    goal: Goal = Goal(),
    work: Work = HANDLING,
    accuracy: Accuracy = Accuracy(),
) -> Problem:
    """Return the Problem of a lift, of which `more` constraints may be asked."""
    crate = scene.box
    return Problem(
        tree=scene.body,
        motion=motion,
        duration=manner.time,
        objective=(1 / manner.time) * _objective(scene, goal),
        ground=scene.feet,
        constraints=(
            _motion(scene, manner.still),
            _standing(scene, manner.balance, accuracy),
            _holding(scene, accuracy.contact),
            *more,
        ),
        scenery=(crate_between_hands(crate),),
        outputs={
            "box": lambda at: corners(at, crate),
            "box_mass": lambda at: ca.SX(crate.mass),
            "work": lambda at: ca.SX([work.rate, work.hours, list(COUPLINGS).index(work.coupling)]),
        },
    )


def _objective(scene: Scene, goal: Goal) -> Objective:
    """Return effort against stability, or the mass of the box (kg) and a little of effort.

    Effort is what people spare, of bodies without tissue that of torques over constant limits.
    """
    body, smooth = scene.body, goal.smooth
    if body.elements:
        own: dict = {} if smooth is None else {"smoothness": smooth}  # which may be open
        terms = human_cost(body, scene.who, replace(LIFTING, **own)).terms
    else:
        terms = plain_effort(body, SMOOTH if smooth is None else smooth).terms
    gentle, effort = (
        Objective(terms=tuple(each for each in terms if (each[1].name == GENTLE) is alike))
        for alike in (True, False)
    )
    if goal.maximum:
        mass = final("mass", lambda at: -ca.SX(scene.box.mass))
        return (1 / KILOGRAMS) * mass + FAINT * (effort + gentle)
    weight = goal.weight
    return max(weight, FAINT) * effort + (1 - weight) * stability(scene.feet) + gentle


def plain_effort(body: Tree, smooth: Any = SMOOTH) -> Objective:
    """Return effort alone, of torques over constant limits, with accelerations beside it."""
    return dynamic_effort(body) + smooth * smoothness(body)


def _motion(scene: Scene, still: bool) -> tuple[Any, ...]:
    """Return limits, and rest at both ends, with `still` of accelerations too."""
    rest = {
        joint.name: 0.0
        for joint in scene.limited.moving
        if not (scene.image and follows(joint.name))
    }
    return (
        joint_limits(scene.limited, hull=True),
        torque_limits(scene.limited),
        [end(scene.body, qd=rest, qdd=rest if still else None) for end in (at_start, at_end)],
    )


def _standing(scene: Scene, balance: str, accuracy: Accuracy) -> tuple[Any, ...]:
    """Return the constraints that keep the feet in place and the body on them."""
    body = scene.body
    known: dict[str, Callable[[], tuple[Constraint, ...]]] = {
        "pressure": lambda: pressure_inside(body, scene.asked),
        "zmp": lambda: zmp_inside(body, scene.feet),
    }
    if balance not in known:
        raise ValueError(f"balance: expected one of {', '.join(known)}, got {balance!r}")
    return (
        foot_contact(scene.asked, position=accuracy.contact, velocity=accuracy.slip),
        known[balance](),
        unilateral(body, scene.asked),
        friction(body, scene.asked),
        sides_alike(body, *scene.image) if scene.image else (),
    )


def _holding(scene: Scene, slack: float) -> tuple[Any, ...]:
    """Return the constraints that keep the hands at the box and the body off it."""
    box = scene.box
    hold = one_hand if scene.image else two_hands
    return (
        hold(scene.body, box, scene.start, scene.end, slack),
        off_box(
            "avoidance",
            lambda at: placed(at, box.height),
            (box.height / 2, box.depth / 2),
            scene.radii,
        ),
    )
