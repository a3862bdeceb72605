"""Plausibility of marker data: a warning for millimetres that were taken for metres."""

import warnings
from collections.abc import Sequence

import casadi as ca
import numpy as np

from ocp.mechanics.kinematics import kinematics
from ocp.mechanics.model.tree import Tree
from ocp.mechanics.values.parameters import nominal
from ocp.problem.constraints.time_series import Series
from ocp.problem.tree_reach import reach

POSTURES = 5  # in which a tree's points are looked at: the neutral one, and seeded ones
ODD = 30.0  # times as large, or as small: no posture does that
BEYOND = 2.0  # times the reach: no fit leaves less than the reach over
MILLI = 300.0  # times as large: rather mm than cm


def check_size(what: str, tree: Tree, markers: Series, points: Sequence[str]) -> None:
    """Raise ValueError for markers {name: (3, N)} that spread ODD times as far as the points of a
    tree that they stand for do in any of some postures, or as little, and for one that is far
    beyond the reach of its point.

    The spread is the root mean square distance from their middle in a frame, the median of frames.
    """
    own = nominal(tree)
    if len(points) > 1:
        _check_spread(what, own, markers, points)
    _check_distances(what, own, markers, points)


def _check_spread(what: str, own: Tree, markers: Series, points: Sequence[str]) -> None:
    """Raise ValueError for several markers that spread otherwise than their points do."""
    draws = np.random.default_rng(0).uniform(-1.0, 1.0, (POSTURES - 1, own.dof))
    known = [_of_tree(own, q, points) for q in (np.array(own.neutral), *draws)]
    here = _spread(np.array(list(markers.values.values())))
    if not np.isfinite(here) or not here or not min(known):
        return
    if min(known) / ODD < here < max(known) * ODD:
        return
    times = here / float(np.median(known))
    raise ValueError(
        f"{what}: {markers.source}: its markers are {here:.3g} m from their middle, the tree's "
        f"points {float(np.median(known)):.3g} m (root mean square): expected m, {_cure(times)}"
    )


def _check_distances(what: str, tree: Tree, markers: Series, points: Sequence[str]) -> None:
    """Raise ValueError for a marker that is ODD times as far from the first joint as its point can
    come, warn of one that is BEYOND times as far; a floating root comes anywhere."""
    for (name, rows), point in zip(markers.values.items(), points):
        known = reach(tree, point)
        if known is None or not known[1]:
            continue
        place, length, joint = known
        far = float(np.nanmedian(np.linalg.norm(rows - place[:, None], axis=0)))
        words = (
            f"{what}: {markers.source}: marker {name!r} is {far:.3g} m from joint {joint!r}, and "
            f"point {point!r} is never more than {length:.3g} m from it"
        )
        if far > ODD * length:
            raise ValueError(f"{words}: expected m, {_cure(far / length)}")
        if far > BEYOND * length:
            warnings.warn(f"{words}: are units, axes and origin those of the tree?", stacklevel=5)


def _cure(times: float) -> str:
    """Return the likely error of markers that are so many times as large as the tree."""
    if times < 1:
        return "were they converted twice?"
    return "are these mm?" if times > MILLI else "are these cm?"


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
