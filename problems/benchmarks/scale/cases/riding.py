"""A step of a human, alone or with a child on the back whose joints move too: up to 110 joints."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ocp import Guess, Joint, Problem, Tree, dynamic_effort, joint_limits, smoothness, torque_limits
from ocp.mechanics import GROUND, array, poses, position
from ocp.models.human import mirror
from ocp.problem import Symmetry
from ocp.problems.gait import effort_step
from ocp.problems.gait.solve_step import TUNED

ACTIVE = {38: "gait", 55: "all"}  # joints of one body that move, by their number
CHILD = {"stature": 1.1, "mass": 18.0}  # m, kg
SEAT = (0.0, -0.25, -0.2)  # m: of the child's hips from the back that carries it, at q = 0
BACK = "T6"  # a point of the link that carries the child
LIMITS = ("joint_limits", "torque_limits")
MARK = "child "  # before all names of the child
HOLD, GIVE = 300.0, 0.1  # N or N m, m or rad: of the six joints by which the child is held


def bodies(joints: int) -> tuple[Problem, Any, Mapping[str, Any]]:
    """Return a step of effort alone of a human of 38 or 55 joints, or with a child of as many on
    the back, 76 or 110, with the first guess and IPOPT's options.

    Raises ValueError for another number.
    """
    each = joints if joints in ACTIVE else joints // 2
    if each not in ACTIVE or joints % each:
        raise ValueError(f"joints: expected 38 or 55, or twice as many, got {joints!r}")
    step = effort_step(active=ACTIVE[each])
    problem = step if each == joints else with_child(step, ACTIVE[each])
    return problem, Guess(q=np.zeros((joints, 2))), TUNED


def with_child(step: Problem, active: str) -> Problem:
    """Return a step with a child on the back, whose joints move as far as `active` says; its effort
    and its limits count as those of who walks, and its ends too are each other's images."""
    child, symmetry = effort_step(active=active, **CHILD).tree, step.symmetry
    assert symmetry is not None
    tree, (effort, accelerations) = riding(step.tree, child), step.objective.terms
    own = [each for each in step.constraints if each.name not in LIMITS]
    return replace(
        step,
        tree=tree,
        symmetry=_extended(symmetry, child),
        objective=effort[0] * dynamic_effort(tree) + accelerations[0] * smoothness(tree),
        constraints=(joint_limits(tree, hull=True), torque_limits(tree), *own),
    )


def riding(body: Tree, child: Tree) -> Tree:
    """Return a tree of a body and of a child on its back, the joints of whose root hold it."""
    carries = body.point(BACK).link
    back = array(poses(body, np.zeros(body.dof))[body.link_index(carries)])
    hips, ground = array(position(child, np.zeros(child.dof), "hip_r")).ravel(), np.eye(4)
    ground[:3, 3] = back[:3, 3] + SEAT - np.array((0.0, hips[1], hips[2]))
    at_back = np.linalg.inv(back) @ ground
    joints = [_held(joint, carries, at_back) for joint in child.joints]
    links = [replace(link, name=MARK + link.name) if link.name else link for link in child.links]
    points = [
        replace(point, name=MARK + point.name, link=MARK + point.link) for point in child.points
    ]
    return replace(
        body,
        links=(*body.links, *links),
        joints=(*body.joints, *joints),
        points=(*body.points, *points),
    )


def _held(joint: Joint, carries: str, at_back: np.ndarray) -> Joint:
    """Return a joint of the child; those of its root, which nothing drives, hold it instead."""
    first = joint.parent == GROUND
    named = replace(
        joint,
        name=MARK + joint.name,
        parent=carries if first else MARK + joint.parent,
        home=at_back @ array(joint.home) if first else joint.home,
    )
    if joint.actuated or joint.kind == "fixed":
        return named
    return replace(named, actuated=True, torque=(-HOLD, HOLD), position=(-GIVE, GIVE))


def _extended(symmetry: Symmetry, child: Tree) -> Symmetry:
    """Return the symmetry of who walks with that of the child, which gains no way on the back."""
    index, sign = mirror(child)
    count = len(symmetry.index)
    return replace(
        symmetry,
        index=(*symmetry.index, *(count + row for row in index)),
        sign=(*symmetry.sign, *sign),
        shift=(*symmetry.shift, *[0.0] * child.dof),
    )
