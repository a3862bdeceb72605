"""Equalities of MuJoCo's models: bodies that are connected or welded, joints that follow others."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.polynomial import Polynomial as Series

from ocp.interchange.poses import turned
from ocp.mechanics.coordinates import Follows, polynomial
from ocp.mechanics.cuts import Loop
from ocp.mechanics.tree import Point

CONNECT, WELD, JOINT = 0, 1, 2  # MuJoCo's kinds of equality
SITE = 6  # its kind of object
KNOWN = (CONNECT, WELD, JOINT)


def cuts(model: Any, names: Sequence[str]) -> tuple[list[Loop], list[Point]]:
    """Return the loops of connected and welded bodies, and the points that they join.

    `names`: of the links that carry the bodies, by their numbers.
    """
    loops, points = [], []
    for k in _active(model):
        kind = int(model.eq_type[k])
        if kind not in (CONNECT, WELD):
            continue
        label = called(model, "EQUALITY", k) or f"equality {k + 1}"
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


def _ends(model: Any, k: int, kind: int) -> Iterator[tuple[int, np.ndarray]]:
    """Yield body and place (3, m, in its frame) of both ends of an equality."""
    sides = (int(model.eq_obj1id[k]), int(model.eq_obj2id[k]))
    if int(model.eq_objtype[k]) == SITE:
        for site in sides:
            yield int(model.site_bodyid[site]), model.site_pos[site]
        return
    first, second = (slice(0, 3), slice(3, 6)) if kind == CONNECT else (slice(3, 6), slice(0, 3))
    for body, part in zip(sides, (first, second)):
        yield body, model.eq_data[k][part]


def _turn(model: Any, k: int) -> np.ndarray:
    """Return the axes of a weld's second body in those of its first (3x3)."""
    if int(model.eq_objtype[k]) == SITE:
        sites = (int(model.eq_obj1id[k]), int(model.eq_obj2id[k]))
        first, second = (turned(model.site_quat[site]) for site in sites)
        axes: np.ndarray = first @ second.T
        return axes
    return turned(model.eq_data[k][6:10])


def coupled(model: Any, names: Mapping[int, str]) -> dict[int, Follows]:
    """Return how joints follow others, by their numbers; `names`: of the joints by theirs.

    MuJoCo's polynomial is of distances from both joints' references (4 or fewer powers).
    """
    follows = {}
    for k in _active(model):
        first, second = int(model.eq_obj1id[k]), int(model.eq_obj2id[k])
        if int(model.eq_type[k]) != JOINT or second < 0:
            continue
        rests = [float(model.qpos0[model.jnt_qposadr[joint]]) for joint in (first, second)]
        whole = Series(model.eq_data[k][:5])(Series([-rests[1], 1.0])) + rests[0]
        coefficients = whole.coef.tolist()
        while len(coefficients) > 2 and not coefficients[-1]:
            coefficients.pop()
        follows[first] = polynomial(names[second], *coefficients)
    return follows


def left_out(model: Any) -> list[str]:
    """Return the equalities that are neither loops nor followers."""
    kinds = [int(kind) for kind in model.eq_type]
    alone = [int(second) < 0 for second in model.eq_obj2id]
    return [
        called(model, "EQUALITY", k) or f"equality {k + 1}"
        for k in _active(model)
        if kinds[k] not in KNOWN or (kinds[k] == JOINT and alone[k])
    ]


def _active(model: Any) -> list[int]:
    return [k for k in range(model.neq) if model.eq_active0[k]]


def called(model: Any, kind: str, number: int) -> str:
    """Return the name of an object of the model, "" if it has none."""
    import mujoco

    return mujoco.mj_id2name(model, getattr(mujoco.mjtObj, f"mjOBJ_{kind}"), number) or ""
