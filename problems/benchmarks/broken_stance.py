"""Statements of a body on the ground with one impossible demand each."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ocp import (
    BSpline,
    Foot,
    Ground,
    Link,
    Pin,
    Point,
    Problem,
    Support,
    Tree,
    at_end,
    at_start,
    dynamic_effort,
    foot_contact,
    joint_limits,
    prismatic,
    revolute,
    torque_limits,
)
from ocp.problem import (
    friction,
    no_penetration,
    periodic,
    pressure_inside,
    squares,
    unilateral,
    zmp_inside,
)

SOLE = {"heel": (-0.08, -0.05, 0.0), "out": (0.15, -0.05, 0.0)} | {
    "toe": (0.15, 0.05, 0.0),
    "in": (-0.08, 0.05, 0.0),
}


def body() -> Tree:
    """Return a body on one foot that bends in the plane of x and z: hip, telescopic knee, ankle."""
    axes = dict(zip("xyz", np.eye(3).tolist()))
    root = [
        prismatic(name, parent, axis=axes[name], actuated=False)
        for name, parent in (("x", "ground"), ("y", "x"), ("z", "y"))
    ]
    root += [
        revolute(name, parent, axis=axes[axis], actuated=False, position=1.0)
        for name, parent, axis in (("yaw", "z", "z"), ("pitch", "yaw", "y"), ("roll", "pitch", "x"))
    ]
    knee = prismatic(
        "knee", "hip", axis=axes["z"], home=(0.0, 0.0, -0.8), position=(-0.05, 0.3), torque=2000.0
    )
    return Tree(
        links=(
            *[Link()] * 5,
            Link(mass=30.0, com=(0.0, 0.0, 0.2), inertia=np.diag((1.0, 1.0, 0.4))),
            Link(mass=5.0, com=(0.0, 0.0, -0.2), inertia=np.diag((0.1, 0.1, 0.02))),
            Link(mass=3.0, com=(0.0, 0.0, 0.2), inertia=np.diag((0.05, 0.05, 0.01))),
            Link(mass=1.0, com=(0.03, 0.0, 0.02), inertia=np.diag((0.002, 0.004, 0.004))),
        ),
        joints=(
            *root,
            revolute("hip", "roll", axis=axes["y"], position=1.5, torque=200.0),
            knee,
            revolute("ankle", "knee", axis=axes["y"], position=1.0, torque=100.0),
        ),
        points=(
            Point(name="head", link="roll", position=(0.0, 0.0, 0.7)),
            *(Point(name=name, link="ankle", position=place) for name, place in SOLE.items()),
        ),
        gravity=(0.0, 0.0, -9.81),
    )


def stand(
    sink: float = 0.1,
    sway: float = 0.02,
    lasts: float = 0.8,
    heel: tuple[float, float, float] = SOLE["heel"],
    ahead: float = 0.0,
    more: Callable[[Tree, Ground], Any] = lambda tree, ground: (),
    changes: Callable[[Problem], Problem] = lambda problem: problem,
) -> Problem:
    """Return the sinking and sway (m) of a body on its foot, which is pinned at heel and toe."""
    tree = body()
    support = Support(
        link="ankle",
        when=(0.0, 1.0),
        polygon=[np.array(corner) + (ahead, 0.0, 0.0) for corner in SOLE.values()],
        pins=[Pin(point="heel", axes="xyz", target=heel), Pin(point="toe", axes="z")],
    )
    ground = Ground(feet=[Foot(name="foot", center=(0.0, 0.0, 0.0), supports=[support])])
    upright = dict.fromkeys(("x", "y", "yaw", "pitch", "roll"), 0.0) | {"z": 0.8}
    return changes(
        Problem(
            tree=tree,
            motion=BSpline(points=8),
            duration=lasts,
            ground=ground,
            objective=dynamic_effort(tree) + 0.01 * squares("smooth", lambda at: at.qdd),
            constraints=(
                at_start(tree, q=upright, qd=0.0),
                at_end(tree, q=upright | {"z": 0.8 - sink, "x": sway}, qd=0.0),
                foot_contact(ground, position=0.005, velocity=0.2),
                joint_limits(tree),
                torque_limits(tree),
                more(tree, ground),
            ),
        )
    )


def raised_head(tree: Tree, ground: Ground) -> Any:
    """Keep the head above the ground where that is asked to be higher than the head is."""
    above_ground = no_penetration(ground, {"foot": ("head",)})
    return [replace(one, lower=1.6) for one in above_ground]


GROUNDED: dict[str, tuple[Mapping[str, Any], str]] = {
    "a heel pinned in the air": ({"heel": (-0.08, -0.05, 0.3)}, "contact.foot"),
    "friction of ice": (
        {"sway": 0.12, "lasts": 0.5, "more": lambda t, g: friction(t, g, coefficient=0.02)},
        "friction",
    ),
    "a zero moment point in a sole that is not there": ({"ahead": 0.6, "more": zmp_inside}, "zmp"),
    "a centre of pressure in a sole that is not there": (
        {"ahead": 0.6, "more": pressure_inside},
        "pressure.foot",
    ),
    "ground that bears three times the weight": (
        {"more": lambda t, g: unilateral(t, g, least=3.0)},
        "support",
    ),
    "a ground above the head": ({"more": raised_head}, "penetration.head"),
    "a periodic motion that sinks": (
        {"changes": lambda stated: replace(stated, symmetry=periodic(stated.tree))},
        "mirrored",
    ),
}
