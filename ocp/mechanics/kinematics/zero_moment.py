"""The wrench that a floating root needs from its surroundings, and the plane on which it is judged:
hulls and tangents."""

from collections.abc import Sequence

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from ocp.mechanics.model.loads import Wrench
from ocp.mechanics.model.tree import Tree
from ocp.mechanics.model.tree_structure import floating_root
from ocp.mechanics.values.parameters import Number, array, is_open, matrix, nominal
from ocp.mechanics.values.types import Matrix
from ocp.mechanics.values.validation import nominal_array

Z = (0.0, 0.0, 1.0)


def body_weight(tree: Tree) -> float:
    """Return the tree's weight (N) in its own gravity, in which lifted quantities are counted.

    Where there is none it is 1; of an open tree it is that of its parameters' own values.
    """
    masses, gravity = nominal(([link.mass for link in tree.links], tree.gravity))
    return sum(masses) * float(np.linalg.norm(gravity)) or 1.0


def open_weight(tree: Tree) -> Number:
    """Return the tree's weight (N), open where its masses or its gravity are."""
    masses, gravity = [link.mass for link in tree.links], array(tree.gravity)
    if not is_open((masses, gravity)):
        return body_weight(tree)
    return sum(masses) * np.sqrt((gravity**2).sum())


def resultant(tree: Tree, frames: Sequence[Matrix], torques: Matrix) -> Wrench:
    """Return the Wrench on the root's link that stands in for the generalized forces of the root's
    joints.

    `frames` are the poses of all links, `torques` (n,) those of inverse dynamics without the
    ground. Each root joint's force is the share of the wrench along its own axis, which are six
    equations for the wrench, first three for the force alone.
    """
    rows = floating_root(tree)
    links = [tree.rows.index(row) for row in rows]
    slides = [frames[k][:3, :3] @ matrix(tree.joints[k].screw[3:]) for k in links[:3]]
    force = _solve_three(slides, [torques[row] for row in rows[:3]])
    turns = [frames[k][:3, :3] @ matrix(tree.joints[k].screw[:3]) for k in links[3:]]
    arms = [
        frames[k][:3, :3] @ matrix(tree.joints[k].screw[3:]) + ca.cross(frames[k][:3, 3], turn)
        for k, turn in zip(links[3:], turns)
    ]
    moment = _solve_three(
        turns, [torques[row] - ca.dot(arm, force) for row, arm in zip(rows[3:], arms)]
    )
    return Wrench(link=tree.joints[links[-1]].name, moment=moment, force=force)


def _solve_three(axes: Sequence[Matrix], values: Sequence[Matrix]) -> Matrix:
    """Return the vector v with axes_k . v = values_k."""
    a, b, c = axes
    return (
        values[0] * ca.cross(b, c) + values[1] * ca.cross(c, a) + values[2] * ca.cross(a, b)
    ) / ca.dot(a, ca.cross(b, c))


def convex_hull(points: ArrayLike, normal: Sequence[float] = Z) -> np.ndarray:
    """Return the convex hull (k, 3) of points on the ground, counter-clockwise seen from where the
    `normal` (3,) points (Andrew 1979)."""
    apart = sorted(set(map(tuple, np.asarray(points, dtype=float).tolist())))
    across, along = tangents(normal)
    places = np.array(apart)
    flat = sorted(zip((places @ across).tolist(), (places @ along).tolist(), apart))

    def chain(ordered: list[tuple]) -> list[tuple]:
        kept: list[tuple] = []
        for point in ordered:
            while len(kept) > 1 and _turn(kept[-2], kept[-1], point) <= 1e-12:
                kept.pop()
            kept.append(point)
        return kept[:-1]

    return np.array([point for _, _, point in chain(flat) + chain(flat[::-1])])


def _turn(a: Sequence[float], b: Sequence[float], c: Sequence[float]) -> float:
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def tangents(normal: Sequence[float]) -> tuple[np.ndarray, np.ndarray]:
    """Return two unit vectors of the ground that make a right-handed frame with its normal, open
    where that is."""
    up = array(normal)
    across = unit_vector(np.cross(up, np.eye(3)[np.argmin(np.abs(nominal_array(up)))]))
    return across, np.cross(up, across)


def unit_vector(way: np.ndarray) -> np.ndarray:
    """Return a vector (3,) over its length; both may be open."""
    return way / (np.sqrt((way**2).sum()) if is_open(way) else np.linalg.norm(way))
