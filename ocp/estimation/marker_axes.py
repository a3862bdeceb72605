"""Axes of marker data: a warning for other upward axes and for left-handed ones."""

import warnings
from collections.abc import Iterator
from dataclasses import replace
from itertools import permutations, product

import numpy as np

from ocp.estimation.frame_starts import PATIENT, fit_frame
from ocp.estimation.marker_residuals import Sightings, point_places
from ocp.mechanics.model.tree import Tree

FEWEST = 4  # markers in a frame of which axes are told
POOR = 0.04  # of markers' distance from their middle: a frame that is off by more is not met
BETTER = 0.25  # times as far off: other axes are told then
TRIED = 8  # iterations in other axes, before the best ones are tried further
LIKE = 0.5  # of that distance: off by less, a frame is like the start but for a turn
ALONG = 0.9  # cosine of the angle to an axis, at least
LETTERS = "xyz"


def check_axes(one: Sightings, start: np.ndarray, q: np.ndarray, source: str) -> None:
    """Warn where a frame that was met at q (n,) from a start (n,) is met far better in other axes,
    or stands with another axis up than the tree does there, which a floating root takes for a turn.
    """
    places = one.places.reshape(-1, 3)
    seen = np.array((one.roots > 0).reshape(-1, 3).all(axis=1))
    if seen.sum() < FEWEST:
        return
    far = np.sqrt(np.mean(np.sum((places - places[seen].mean(axis=0))[seen] ** 2, axis=1)))
    weight = float(np.sum(one.roots**2)) / 3
    off = np.sqrt(one.cost(q[:, None]) / weight)
    if off > POOR * far:
        best, turn = _in_other_axes(one, start)
        if np.sqrt(best / weight) <= min(BETTER * off, POOR * far):
            _warn(source, f"its first frame is {off:.3g} m off (root mean square)", turn)
            return
    axis = _upward(one, start, places[seen], seen, far)
    if axis is not None:
        _warn(source, f"its first frame stands along {_word(axis)}", _axis_rotation(axis, one.tree))


def _in_other_axes(one: Sightings, start: np.ndarray) -> tuple[float, np.ndarray]:
    """Return the least sum of squares of the frame in other axes, and these (3, 3)."""
    tried = []
    for turn in _axes():
        turned = _turn_sightings(one, turn)
        q = fit_frame(turned, start, TRIED)
        tried.append((turned.cost(q[:, None]), q, turn, turned))
    tried.sort(key=lambda each: each[0])
    further = [
        (turned.cost(fit_frame(turned, q, PATIENT)[:, None]), turn)
        for _, q, turn, turned in tried[: TRIED // 2]
    ]
    return min(further, key=lambda each: each[0])


def _axes() -> Iterator[np.ndarray]:
    """Yield the matrices (3, 3) that exchange and turn round axes, but for that of none."""
    for order in permutations(range(3)):
        for signs in product((1.0, -1.0), repeat=3):
            turn = np.eye(3)[list(order)] * np.array(signs)[:, None]
            if not np.array_equal(turn, np.eye(3)):
                yield turn


def _turn_sightings(one: Sightings, turn: np.ndarray) -> Sightings:
    return replace(one, places=(one.places.reshape(-1, 3) @ turn.T).reshape(-1, 1))


def _upward(
    one: Sightings, start: np.ndarray, places: np.ndarray, seen: np.ndarray, far: float
) -> np.ndarray | None:
    """Return the axis (3,) of the markers along which a tree stands whose root floats, where that
    is another than its own."""
    tree = one.tree
    gravity = np.array(tree.gravity, dtype=float)
    if not gravity.any() or all(joint.actuated for joint in tree.moving):
        return None
    if np.abs(gravity).max() < ALONG * np.linalg.norm(gravity):
        return None
    own = point_places(tree, one.points, start[:, None])[0].reshape(-1, 3)[seen]
    turn, off = _nearest_turn(own, places)
    up = turn @ (-gravity / np.linalg.norm(gravity))
    axis = np.zeros(3)
    axis[np.argmax(np.abs(up))] = np.sign(up[np.argmax(np.abs(up))])
    alike = axis @ -gravity / np.linalg.norm(gravity) > ALONG
    return None if alike or off > LIKE * far or np.abs(up).max() < ALONG else axis


def _nearest_turn(own: np.ndarray, places: np.ndarray) -> tuple[np.ndarray, float]:
    """Return the rotation (3, 3) that brings places (k, 3) nearest to others, both about their
    middles, and how far off they are then (m, root mean square)   (Kabsch 1976)."""
    here, there = own - own.mean(axis=0), places - places.mean(axis=0)
    left, _, right = np.linalg.svd(there.T @ here)
    turn = left @ np.diag([1.0, 1.0, np.linalg.det(left @ right)]) @ right
    return turn, float(np.sqrt(np.mean(np.sum((there - here @ turn.T) ** 2, axis=1))))


def _axis_rotation(axis: np.ndarray, tree: Tree) -> np.ndarray:
    """Return the rotation (3, 3) that takes an axis of the markers to the tree's upward one, the
    third one staying."""
    gravity = np.array(tree.gravity, dtype=float)
    up = np.round(-gravity / np.linalg.norm(gravity))
    if axis @ up < 0:  # upside down
        return np.diag(np.where(np.arange(3) == np.argmin(np.abs(up)), 1.0, -1.0))
    third = np.cross(axis, up)
    return np.outer(up, axis) - np.outer(axis, up) + np.outer(third, third)


def _word(axis: np.ndarray) -> str:
    """Return the name of an axis, as "-z"."""
    k = int(np.argmax(np.abs(axis)))
    return f"{'-' if axis[k] < 0 else ''}{LETTERS[k]}"


def _warn(source: str, found: str, turn: np.ndarray) -> None:
    axes = ", ".join(_word(row) for row in turn)
    if np.linalg.det(turn) > 0:
        rows = ", ".join(f"({', '.join(f'{entry:g}' for entry in row)})" for row in turn + 0.0)
        cure = f"take markers.rotate(({rows}))"
    else:
        cure = "they are left-handed, turn one of them round"
    warnings.warn(
        f"inverse_kinematics: {source}: {found}; if x, y, z of the tree are {axes} of the markers, "
        f"{cure}",
        UserWarning,
        stacklevel=4,
    )
