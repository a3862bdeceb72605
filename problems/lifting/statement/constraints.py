"""Constraints and objectives of a lift."""

from collections.abc import Callable
from typing import Any

import casadi as ca

from ocp import (
    BSpline,
    Constraint,
    Objective,
    Problem,
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
from ocp.problems.lifting.report.niosh import COUPLINGS, Work
from ocp.problems.lifting.statement.box_hold import (
    corners,
    crate_between_hands,
    one_hand,
    placed,
    two_hands,
)
from ocp.problems.lifting.statement.exertion import exertion
from ocp.problems.lifting.statement.lifting_task import Accuracy, Goal, Manner
from ocp.problems.lifting.statement.scene import Scene
from ocp.problems.lifting.statement.standing_body import follows, sides_alike, stability

FAINT = 0.01  # weight of effort that makes the most stable lift a single one, likewise the heaviest
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
    """Return effort against stability, or the mass of the box (kg) and a little of effort."""
    effort = exertion(scene.body) if scene.body.elements else dynamic_effort(scene.body)
    gentle, weight = goal.smooth * smoothness(scene.body), goal.weight
    if goal.maximum:
        mass = final("mass", lambda at: -ca.SX(scene.box.mass))
        return (1 / KILOGRAMS) * mass + FAINT * (effort + gentle)
    return weight * effort + (1 - weight) * stability(scene.feet) + gentle


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
