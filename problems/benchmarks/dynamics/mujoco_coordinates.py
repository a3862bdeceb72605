"""MuJoCo's coordinates and rates of a tree that was read from its file."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from ocp import Tree
from ocp.mechanics import spin_matrix

FREE, BALL = 0, 1  # MuJoCo's kinds of joints


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A joint of MuJoCo's: its kind, where its coordinates begin, the tree's `rows` of them, and
    coefficients of the polynomial of the one row that it follows, rising; one number without a row
    where it stands still."""

    kind: int
    start: int
    rows: Sequence[int]
    follows: Sequence[float] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Coordinates:
    """How coordinates of a tree, `count` of them, are those of MuJoCo, `places` of them with
    `rates` rates."""

    joints: Sequence[Row]
    count: int
    places: int
    rates: int

    def on_balls(self, q: np.ndarray, qd: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return coordinates (n,) with quaternions of length one, and rates that keep it."""
        q, qd = q.copy(), qd.copy()
        for joint in self.joints:
            ball = _of_ball(joint)
            if ball:
                q[ball] /= np.linalg.norm(q[ball])
                qd[ball] -= q[ball] * (q[ball] @ qd[ball])
        return q, qd

    def at(self, q: np.ndarray, qd: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return MuJoCo's coordinates, the slope C (rates, n) of its rates by these, and dC/dt qd,
        of quaternions of length one."""
        places, slope = np.zeros(self.places), np.zeros((self.rates, self.count))
        bend, first = np.zeros(self.rates), 0
        for joint in self.joints:
            ball, rows = _of_ball(joint), list(joint.rows)
            if joint.follows and not rows:
                places[joint.start] = joint.follows[0]
                first += 1
                continue
            if joint.follows:
                function = np.polynomial.Polynomial(joint.follows)
                x, rate = q[rows[0]], qd[rows[0]]
                places[joint.start] = function(x)
                slope[first, rows[0]] = function.deriv()(x)
                bend[first] = function.deriv(2)(x) * rate**2
            else:
                places[joint.start : joint.start + len(rows)] = q[rows]
            if not joint.follows:
                for at, row in enumerate(rows[: len(rows) - len(ball)]):
                    slope[first + at, row] = 1.0
            if ball:
                turns = slice(first + len(rows) - 4, first + len(rows) - 1)
                slope[turns, ball] = np.array(spin_matrix(ca.DM(q[ball])))
            first += len(rows) - bool(ball)
        return places, slope, bend

    def back(self, places: np.ndarray) -> np.ndarray:
        """Return the tree's coordinates (n,) of MuJoCo's."""
        q = np.zeros(self.count)
        for joint in self.joints:
            if not joint.follows:
                q[list(joint.rows)] = places[joint.start : joint.start + len(joint.rows)]
        return q


def _of_ball(joint: Row) -> list[int]:
    """Return the rows of a joint's quaternion, none if it has none."""
    return list(joint.rows[-4:]) if joint.kind in (FREE, BALL) else []


def coordinates_of(tree: Tree, model: Any) -> Coordinates:
    """Return the map between a tree's coordinates and those of the model of its file."""
    import mujoco

    names = [joint.name for joint in tree.moving]
    joints = []
    for k in range(model.njnt):
        name = mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_JOINT, k)
        body = mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_BODY, model.jnt_bodyid[k])
        name = name or f"{body or f'body {model.jnt_bodyid[k]}'} joint {k + 1}"
        kind, start = int(model.jnt_type[k]), int(model.jnt_qposadr[k])
        follows = next((each.follows for each in tree.joints if each.name == name), None)
        if follows is not None:
            coefficients = tuple(follows.function.coefficients)  # type: ignore[attr-defined]
            own = [names.index(follows.coordinate)]
            joints.append(Row(kind=kind, start=start, rows=own, follows=coefficients))
            continue
        if any(each.name == name and each.kind == "fixed" for each in tree.joints):
            value = model.qpos0[start] + _held_offset(model, k)
            joints.append(Row(kind=kind, start=start, rows=(), follows=(float(value),)))
            continue
        parts = [f"{name}.{part}" for part in "wxyz"] if kind in (FREE, BALL) else [name]
        parts = [*(f"{name}_{axis}" for axis in "xyz"), *parts] if kind == FREE else parts
        joints.append(Row(kind=kind, start=start, rows=[names.index(part) for part in parts]))
    return Coordinates(joints=joints, count=tree.dof, places=model.nq, rates=model.nv)


def _held_offset(model: Any, joint: int) -> float:
    """Return the distance (rad or m) from its reference at which an equality holds a joint."""
    import mujoco

    kind = int(mujoco.mjtEq.mjEQ_JOINT)
    holding = (k for k in range(model.neq) if model.eq_type[k] == kind and model.eq_active0[k])
    return next(
        (float(model.eq_data[k][0]) for k in holding if int(model.eq_obj1id[k]) == joint), 0.0
    )
