"""Whether markers are of the size of the tree whose points they are: millimetres that were taken
for metres are told."""

from collections.abc import Sequence

import casadi as ca
import numpy as np

from ocp.mechanics import kinematics
from ocp.mechanics.parameters import reference
from ocp.mechanics.tree import Tree
from ocp.problem.series import Series

POSTURES = 5  # in which a tree's points are looked at: the neutral one, and seeded ones
ODD = 30.0  # times as large, or as small: no posture does that
MILLI = 300.0  # times as large: rather mm than cm


def check_size(what: str, tree: Tree, markers: Series, points: Sequence[str]) -> None:
    """Raise ValueError for markers {name: (3, N)} that spread ODD times as far as the points of a
    tree that they stand for do in any of some postures, or as little.

    The spread is the root mean square distance from their middle in a frame, the median of frames.
    """
    if len(points) < 2:
        return
    own = reference(tree)
    draws = np.random.default_rng(0).uniform(-1.0, 1.0, (POSTURES - 1, tree.dof))
    known = [_of_tree(own, q, points) for q in (np.array(own.neutral), *draws)]
    here = _spread(np.array(list(markers.values.values())))
    if not np.isfinite(here) or not here or not min(known):
        return
    if min(known) / ODD < here < max(known) * ODD:
        return
    times = here / float(np.median(known))
    cure = "are these mm?" if times > MILLI else "are these cm?"
    if times < 1:
        cure = "were they converted twice?"
    raise ValueError(
        f"{what}: {markers.source}: its markers are {here:.3g} m from their middle, the tree's "
        f"points {float(np.median(known)):.3g} m (root mean square): expected m, {cure}"
    )


def _of_tree(tree: Tree, q: np.ndarray, points: Sequence[str]) -> float:
    places = ca.horzcat(*kinematics.positions(tree, ca.DM(q), points))
    return _spread(np.array(places).T[:, :, None])


def _spread(places: np.ndarray) -> float:
    """Return the spread (m) of places (points, 3, N), nan where they are missing."""
    seen = np.isfinite(places).all(axis=(1,))
    frames = seen.sum(axis=0) == max(int(seen.sum(axis=0).max()), 2)
    if not frames.any():
        return np.nan
    whole = places[:, :, frames]
    off = whole - np.nanmean(whole, axis=0)
    return float(np.median(np.sqrt(np.nanmean(np.sum(off**2, axis=1), axis=0))))
