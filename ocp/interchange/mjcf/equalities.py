"""Equalities of MuJoCo's models: connected or welded bodies, joints that follow others."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.polynomial import Polynomial as Series

from ocp.interchange.poses import rotation_matrix
from ocp.mechanics.model.cut_joints import Loop
from ocp.mechanics.model.quaternions_and_couplings import Follows, polynomial
from ocp.mechanics.model.tree import Point

Leaders: TypeAlias = dict[int, tuple[int, Series]]
MjModel: TypeAlias = Any  # of the optional package mujoco
MjSpec: TypeAlias = MjModel
CONNECT, WELD, JOINT = 0, 1, 2  # MuJoCo's kinds of equality
NOBODY = -1  # the leader of a joint that stands still
SITE = 6  # its kind of object


def cut_joints(model: MjModel, names: Sequence[str]) -> tuple[list[Loop], list[Point]]:
    """Return the loops of connected and welded bodies, and the points that they join.

    Args:
        model: compiled by MuJoCo.
        names: of the links that carry the bodies, by their numbers.
    """
    loops, points = [], []
    for k in _active(model):
        kind = int(model.eq_type[k])
        if kind not in (CONNECT, WELD):
            continue
        label = object_name(model, "EQUALITY", k) or f"equality {k + 1}"
        ends = list(_ends(model, k, kind))
        for which, (body, place) in zip(("start", "end"), ends):
            points.append(Point(name=f"{label} {which}", link=names[body], position=place))
        welded = kind == WELD
        loops.append(
            Loop(
                name=label,
                start=f"{label} start",
                end=f"{label} end",
                orientation="xyz" if welded else "",
                turn=_turn(model, k) if welded else np.eye(3),
            )
        )
    return loops, points


def _ends(model: MjModel, k: int, kind: int) -> Iterator[tuple[int, np.ndarray]]:
    """Yield body and place (3, m, in its frame) of both ends of an equality."""
    sides = (int(model.eq_obj1id[k]), int(model.eq_obj2id[k]))
    if int(model.eq_objtype[k]) == SITE:
        for site in sides:
            yield int(model.site_bodyid[site]), model.site_pos[site]
        return
    first, second = (slice(0, 3), slice(3, 6)) if kind == CONNECT else (slice(3, 6), slice(0, 3))
    for body, part in zip(sides, (first, second)):
        yield body, model.eq_data[k][part]


def _turn(model: MjModel, k: int) -> np.ndarray:
    """Return the axes of a weld's second body in those of its first (3x3)."""
    if int(model.eq_objtype[k]) == SITE:
        sites = (int(model.eq_obj1id[k]), int(model.eq_obj2id[k]))
        first, second = (rotation_matrix(model.site_quat[site]) for site in sites)
        axes: np.ndarray = first @ second.T
        return axes
    return rotation_matrix(model.eq_data[k][6:10])


def followers(model: MjModel, names: Mapping[int, str]) -> dict[int, Follows]:
    """Return {joint number: Follows} of joints that follow others.

    MuJoCo's polynomial is of distances from both joints' references (4 or fewer powers). A joint
    that
    follows a follower follows that one's leader, by the polynomial of the other.

    Args:
        model: compiled by MuJoCo.
        names: of the joints, by their numbers.

    Raises:
        ValueError: joints follow each other.
    """
    return {
        first: polynomial(names[leader], *whole.coef.tolist())
        for first, (leader, whole) in leaders(model, names).items()
        if leader != NOBODY
    }


def held_joints(model: MjModel) -> dict[int, float]:
    """Return {joint number: its coordinate (rad or m)} of joints that equalities hold there."""
    return {
        first: float(whole(0.0))
        for first, (leader, whole) in leaders(model).items()
        if leader == NOBODY
    }


def leaders(model: MjModel, names: Mapping[int, str] | None = None) -> Leaders:
    """Return {follower: (leader in the end, polynomial)}, joints by their numbers; `NOBODY` leads
    those that stand still."""
    steps = {}
    for first, k in _joint_equalities(model).items():
        second = int(model.eq_obj2id[k])
        here = (first,) if second < 0 else (first, second)
        rests = [float(model.qpos0[model.jnt_qposadr[joint]]) for joint in here]
        if second < 0:
            steps[first] = (NOBODY, Series([rests[0] + float(model.eq_data[k][0])]))
            continue
        line = Series([-rests[1], 1.0])
        steps[first] = (second, Series(model.eq_data[k][:5])(line) + rests[0])
    ends = {}
    for first in steps:
        leader, whole, seen = first, Series([0.0, 1.0]), [first]
        while leader in steps:
            leader, step = steps[leader]
            whole = whole(step)
            if leader in seen:
                ring = ", ".join(str(joint) if names is None else names[joint] for joint in seen)
                raise ValueError(f"joints {ring} follow each other")
            seen.append(leader)
        ends[first] = (leader, whole.trim())
    return ends


def _joint_equalities(model: MjModel) -> dict[int, int]:
    """Return the equalities by which joints follow others or stand still, the first of each
    joint."""
    leading: dict[int, int] = {}
    for k in _active(model):
        if int(model.eq_type[k]) == JOINT:
            leading.setdefault(int(model.eq_obj1id[k]), k)
    return leading


def ignored_equalities(model: MjModel) -> list[str]:
    """Return the names of equalities that are neither loops nor followers."""
    known = set(_joint_equalities(model).values())
    return [
        object_name(model, "EQUALITY", k) or f"equality {k + 1}"
        for k in _active(model)
        if int(model.eq_type[k]) not in (CONNECT, WELD) and k not in known
    ]


def _active(model: MjModel) -> list[int]:
    return [k for k in range(model.neq) if model.eq_active0[k]]


def object_name(model: MjModel, kind: str, number: int) -> str:
    """Return the name of an object of the model, "" if it has none."""
    import mujoco

    return mujoco.mj_id2name(model, getattr(mujoco.mjtObj, f"mjOBJ_{kind}"), number) or ""
