"""Attitudes that balls have at an end of a motion: as a rotation, or as a quaternion of either
sign."""

import casadi as ca
import numpy as np

from ocp.mechanics.kinematics.rotations import quaternion
from ocp.mechanics.model.quaternions_and_couplings import COMPONENTS, conjugate_matrix
from ocp.mechanics.model.tree import Tree
from ocp.mechanics.values.types import Matrix, Numbers
from ocp.mechanics.values.validation import check_type, is_rotation
from ocp.problem.constraint import Constraint, When
from ocp.problem.instant import Instant

UNIT = 1e-6  # of a quaternion that is stated: how far its length may be from one


def attitude(tree: Tree, joint: str, value: Numbers, *, when: When = "end") -> Constraint:
    """Turn the ball `joint` to an attitude, whichever of its two quaternions p and -p that takes.

    `value` is a rotation (3x3) or a unit quaternion (4,), scalar first; `when` as in `Constraint`.
    Four rows: conj(value) p = (+-1, 0, 0, 0), the first as the square of its length. How often the
    ball turns on its way, the first guess decides; `at_end` with all four components states the
    sign too. Raises ValueError naming the joint.
    """
    rows = ball_rows(f"attitude of {joint!r}", tree, joint)
    back = conjugate_matrix(ca.DM(unit_quaternion(f"attitude of {joint!r}", value)))

    def off(at: Instant) -> Matrix:
        p = at.q[rows]
        return ca.vertcat((ca.sumsqr(p) - 1) / 2, 2 * (back @ p)[1:])

    return Constraint(
        name=f"attitude.{joint}",
        function=off,
        lower=0.0,
        upper=0.0,
        when=when,
        labels=("length", "x", "y", "z"),
        units=("", "rad", "rad", "rad"),
    )


def unit_length(tree: Tree, joint: str, *, when: When = "end") -> Constraint:
    """Give the quaternion of the ball `joint` the length one where its attitude is free.

    No pose depends on a length, but where nothing states it at either end it is not determined;
    `when` as in `Constraint`. Raises ValueError naming the joint.
    """
    rows = ball_rows(f"unit_length of {joint!r}", tree, joint)
    return Constraint(
        name=f"unit_length.{joint}",
        function=lambda at: (ca.sumsqr(at.q[rows]) - 1) / 2,
        lower=0.0,
        upper=0.0,
        when=when,
        labels=(joint,),
    )


def ball_rows(what: str, tree: Tree, joint: str) -> list[int]:
    """Return the rows of q of a ball; raise ValueError naming `what` if it is none."""
    check_type(f"{what}: tree", tree, Tree)
    k = tree.joint_index(joint)
    if not tree.joints[k].ball:
        names = ", ".join(each.name for each in tree.joints if each.ball) or "none"
        raise ValueError(f"{what}: expected a ball ({names}), got a joint that is no such")
    return list(tree.spans[k])


def check_length(what: str, tree: Tree, values: dict[int, Numbers]) -> None:
    """Raise ValueError naming a ball of which all four components are stated, {row: number}, and
    have no unit length."""
    for rows in tree.balls:
        if all(isinstance(values.get(row), float) for row in rows):
            length = float(np.linalg.norm([values[row] for row in rows]))
            if abs(length - 1) > UNIT:
                name = tree.moving[rows[0]].parent
                raise ValueError(
                    f"{what}: ball {name!r}: expected a quaternion ({', '.join(COMPONENTS)}) of "
                    f"length one, got one of length {length:.9g}"
                )


def check_rates(
    what: str, tree: Tree, values: dict[int, Numbers], rates: dict[int, Numbers]
) -> None:
    """Raise ValueError naming a ball of which quaternion and rates are stated, {row: number}, and
    whose length would change."""
    for rows in tree.balls:
        if all(isinstance(each.get(row), float) for row in rows for each in (values, rates)):
            growth = sum(values[row] * rates[row] for row in rows)
            if abs(growth) > UNIT * max(1.0, *(abs(rates[row]) for row in rows)):
                name = tree.moving[rows[0]].parent
                raise ValueError(
                    f"{what}: ball {name!r}: expected rates across the quaternion, which keep its "
                    f"length, got {growth:.3g} 1/s along it"
                )


def unit_quaternion(what: str, value: Numbers) -> np.ndarray:
    """Return the unit quaternion (4,) of a rotation or of itself, checked."""
    try:
        entries = np.array(value, dtype=float)
    except (TypeError, ValueError):
        entries = np.empty(0)
    if entries.shape == (3, 3) and np.isfinite(entries).all() and is_rotation(entries):
        return np.array(quaternion(entries)).ravel()
    unit = entries.shape == (4,) and abs(np.linalg.norm(entries) - 1) <= UNIT
    if not unit:
        raise ValueError(
            f"{what}: expected a rotation (3x3) or a quaternion (4,) of length one, got {value!r}"
        )
    return entries / np.linalg.norm(entries)
