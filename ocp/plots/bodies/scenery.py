"""Surroundings of a stick figure: bodies about its bars, scenery, and the ground."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import casadi as ca
import numpy as np

from ocp.mechanics.kinematics.kinematics import poses, velocity
from ocp.mechanics.kinematics.zero_moment import tangents
from ocp.mechanics.model.tree import Point
from ocp.mechanics.model.visuals import Visual
from ocp.mechanics.values.types import Matrix, Numbers
from ocp.plots.bodies.solid_triangles import Solid, scenery, solids
from ocp.plots.curves.contact_forces import contact_forces, surfaces
from ocp.plots.curves.phase_curves import Piece, piece_mask, pieces
from ocp.problem.instant import Instant
from ocp.problem.statement import Problem
from ocp.solution.solution import OfInstant, Solution

MARGIN = 0.15  # of a motion's extent: by which the ground goes on beyond it
APART = 1e-6  # m: planes that are nearer are one
AT_REST = 1e-3  # m/s: what is let go so slowly has been put down


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """A solid at poses (N, 4, 4), or (1, 4, 4) where it stands still, as it is drawn on paper.

    Pictures reach as far as it goes from the `first` to the `last` instant, and not farther.
    """

    solid: Solid
    poses: np.ndarray
    first: int = 0
    last: int = -1

    @property
    def still(self) -> bool:
        """Whether it never moves."""
        return len(self.poses) == 1

    def outline(self, k: int) -> np.ndarray:
        """Return points (P, 3; m) at instant k whose convex hull it fills."""
        return _transform(self.solid.outline, self.poses[0 if self.still else k])


def placed_solids(
    solution: Solution, t: np.ndarray, ways: np.ndarray | None = None
) -> tuple[Placed, ...]:
    """Return bodies and visuals of the links, and what stands around, at times (N,), s; `ways` are
    the links' poses (links, N, 4, 4) where they are known."""
    moving = solids(solution.problem.tree)
    around = [
        Placed(solid=each, poses=_borne(solution, visual, t))
        for visual in solution.problem.scenery
        for each in scenery((visual,))
    ]
    each_way = [*(link_poses(solution, t) if ways is None else ways)]
    bodies = (Placed(solid=each, poses=each_way[each.link]) for each in moving)
    return (*around, *bodies, *_carried_bodies(solution, t))


def _position(name: str, at: Instant) -> Matrix:
    return at.position(name)


def _borne(solution: Solution, visual: Visual, t: np.ndarray) -> np.ndarray:
    """Return poses (N, 4, 4) of what is borne between two points, (1, 4, 4) of what stands."""
    if not visual.between:
        return np.eye(4)[None]
    first, second = (solution.trace(OfInstant(_position, (name,)), t).T for name in visual.between)
    gravity = np.array(solution.problem.tree.gravity, dtype=float)
    x, up = second - first, -gravity if gravity.any() else np.array([0.0, 0.0, 1.0])
    x = x / np.linalg.norm(x, axis=1, keepdims=True)
    z = up - (x @ up)[:, None] * x
    z = z / np.linalg.norm(z, axis=1, keepdims=True)
    poses_in_time = np.tile(np.eye(4), (len(t), 1, 1))
    poses_in_time[:, :3, :3] = np.stack([x, np.cross(z, x), z], axis=2)
    poses_in_time[:, :3, 3] = (first + second) / 2
    return poses_in_time


def link_poses(solution: Solution, t: np.ndarray) -> np.ndarray:
    """Return the poses (links, N, 4, 4) of a motion's links at times (N,), s."""
    count = len(solution.problem.tree.links)
    rows = solution.trace(OfInstant(_poses, (count,)), t).T.reshape(len(t), count, 3, 4)
    last = np.broadcast_to([0.0, 0.0, 0.0, 1.0], (len(t), count, 1, 4))
    return np.concatenate([rows, last], axis=2).swapaxes(0, 1)


def _poses(count: int, at: Instant) -> Matrix:
    """Return the first three rows of the poses of the first links: phases may carry more."""
    known = poses(at.tree, at.q)[:count]
    return ca.vertcat(*(ca.vec(pose[:3, :].T) for pose in known))


def _carried_bodies(solution: Solution, t: np.ndarray) -> Iterator[Placed]:
    """Yield the bodies of phases' trees beside the whole motion's at times (N,), s: a box in a
    hand.

    Before it is taken it comes as fast as it is then; let go it rests, or if it moves it flies.
    """
    known = {joint.name for joint in solution.problem.tree.joints}
    held: dict[str, list[Piece]] = {}
    for piece in pieces(solution):
        for joint in piece.motion.problem.tree.joints:
            if joint.name not in known:
                held.setdefault(joint.name, []).append(piece)
    for name, times in held.items():
        ways, inside = np.empty((len(t), 4, 4)), np.zeros(len(t), dtype=bool)
        for number, piece in enumerate(times):
            tree = piece.motion.problem.tree
            k = tree.link_index(name)
            here = t >= piece.begin if number else np.full(len(t), True)
            own = np.clip(t[here] - piece.begin, 0.0, piece.motion.duration)
            ways[here] = link_poses(piece.motion, own)[k]
            ways[here, :3, 3] += _alone(piece, name, t[here])
            inside |= (piece.begin <= t) & (t <= piece.end)
        shown = np.flatnonzero(inside)
        first, last = (int(shown[0]), int(shown[-1])) if len(shown) else (0, 0)
        for each in solids(tree):
            if each.link == k:
                yield Placed(solid=each, poses=ways, first=first, last=last)


def _alone(piece: Piece, name: str, t: np.ndarray) -> np.ndarray:
    """Return the way (N, 3; m) of a link by itself before a phase in which it is carried, and
    after."""
    motion, tree = piece.motion, piece.motion.problem.tree
    place = Point(name=name, link=name)
    rate = motion.trace(
        lambda at: velocity(tree, at.q, at.qd, place), np.array([0.0, motion.duration])
    ).T
    early, late = np.minimum(t - piece.begin, 0.0), np.maximum(t - piece.end, 0.0)
    gravity = np.array(tree.gravity, dtype=float) * (np.linalg.norm(rate[1]) > AT_REST)
    return np.outer(early, rate[0]) + np.outer(late, rate[1]) + np.outer(late**2 / 2, gravity)


def floors(solution: Solution, t: np.ndarray, spots: np.ndarray) -> list[np.ndarray]:
    """Return the corners (4, 3; m) of the ground below a figure's places (N, P, 3).

    A single plane goes under all of them; of several, or among scenery, each is drawn where it
    bears.
    """
    planes = _planes(solution, t)
    extent = float(np.ptp(spots, axis=(0, 1)).max())
    if not planes:
        return []
    first = planes[0]
    alike = all(
        np.linalg.norm(each.normal - first.normal) < APART
        and abs(each.height - first.height) < APART
        for each in planes
    )
    if alike and not solution.problem.scenery:
        return [_patch(spots.reshape(-1, 3), first, MARGIN * extent)]
    felt = contact_forces(solution, t)
    patches = []
    for each in planes:
        bears = each.there & (np.linalg.norm(felt[each.contact].forces, axis=1) > 0)
        if bears.any():
            places = felt[each.contact].places[bears]
            patches.append(_patch(places, each, 0.4 * MARGIN * extent))
    return patches


@dataclass(frozen=True, slots=True)
class _Plane:
    """A plane on which a `contact` may bear, its unit `normal` (3), the `height` (m) along it, and
    at which of some times it is `there` (N,)."""

    contact: str
    normal: np.ndarray
    height: float
    there: np.ndarray


def _planes(solution: Solution, t: np.ndarray) -> list[_Plane]:
    """Return every plane of every contact in any phase, and at which times (N,), s, it is there."""
    there: dict[tuple[str, tuple[float, ...], float], np.ndarray] = {}
    for each in pieces(solution):
        during = piece_mask(each, solution, t)
        for name, normal, height in _contact_planes(each.motion.problem):
            key = (name, tuple(normal.tolist()), height)
            there[key] = there.get(key, False) | during
    return [
        _Plane(name, np.array(normal), height, times)
        for (name, normal, height), times in there.items()
    ]


def _contact_planes(problem: Problem) -> Iterator[tuple[str, np.ndarray, float]]:
    """Yield (contact, unit normal (3), height along it in m) of all that may bear in a problem."""
    ground = problem.ground
    for foot in ground.feet if ground is not None else ():
        if foot.supports and ground is not None:
            plane = ground.plane(foot)
            yield foot.name, np.array(plane.normal, dtype=float), float(plane.height)
    for name, surface in surfaces(problem).items():
        normal = np.array(surface.normal, dtype=float)
        yield name, normal, float(normal @ np.array(surface.place, dtype=float))


def _patch(places: np.ndarray, plane: _Plane, margin: float) -> np.ndarray:
    """Return a rectangle (4, 3) of a plane that lies under places (k, 3), and a margin more."""
    ways = np.array(tangents(tuple(plane.normal)))
    low, high = (places @ ways.T).min(axis=0) - margin, (places @ ways.T).max(axis=0) + margin
    ring = [(low[0], low[1]), (high[0], low[1]), (high[0], high[1]), (low[0], high[1])]
    return np.array(ring) @ ways + plane.height * plane.normal


def main_plane(
    patches: Sequence[np.ndarray], directions: np.ndarray, lowest: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return a place and the unit normal (3, each) of the plane that a scene stands on.

    Args:
        patches: corners (4, 3; m) of the ground's.
        directions: rows (3, 3) to the right, away and up.
        lowest: where a level plane is that goes under all, where there is no ground (m).

    Returns:
        The plane of all patches, or a level one at their lowest corner where they differ.
    """
    up = directions[2]
    if patches:
        first = patches[0]
        normal = np.cross(first[1] - first[0], first[2] - first[1])
        normal = normal / np.linalg.norm(normal) * np.sign(normal @ up or 1.0)
        if not any(stands_out(patch, (first[0], normal)) for patch in patches):
            return first[0], normal
        lowest = min(float((patch @ up).min()) for patch in patches)
    return lowest * up, up


def stands_out(patch: np.ndarray, plane: tuple[np.ndarray, np.ndarray]) -> bool:
    """Tell whether a patch (4, 3; m) of the ground is anywhere apart from a plane."""
    return bool(np.abs((patch - plane[0]) @ plane[1]).max() > APART)


def tile(
    plane: tuple[np.ndarray, np.ndarray], directions: np.ndarray, seen: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the corners (4, 3; m) of a rectangle of a plane below all that is `seen`, and the ends
    (k, 2, 3) of the lines of its grid, round lengths apart.

    `directions` are rows (3, 3) to the right, away and up, and what is seen (P, 3; m) along these.
    """
    low, high = seen.min(axis=0)[:2], seen.max(axis=0)[:2]
    margin = MARGIN * float((high - low).max())
    step = round_length(float(np.ptp(seen, axis=0).max()) / 3)
    low, high = np.floor((low - margin) / step) * step, np.ceil((high + margin) / step) * step
    ring = np.array([low, (high[0], low[1]), high, (low[0], high[1])])
    rows: list[Numbers] = [[(x, low[1]), (x, high[1])] for x in np.arange(low[0], high[0], step)]
    rows += [[(low[0], y), (high[0], y)] for y in np.arange(low[1], high[1], step)]
    place, normal = (directions @ each for each in plane)

    def on_plane(level: np.ndarray) -> np.ndarray:
        heights = place[2] - (level - place[:2]) @ normal[:2] / normal[2]
        return np.concatenate([level, heights[..., None]], axis=-1) @ directions

    return on_plane(ring), on_plane(np.array(rows))


def round_length(length: float) -> float:
    """Return the longest of 1, 2 or 5 times a power of ten that is not longer than a length."""
    power = 10.0 ** np.floor(np.log10(length or 1.0))
    return float(power * max(each for each in (1, 2, 5) if each * power <= length * 1.001))


def _transform(points: np.ndarray, pose: np.ndarray) -> np.ndarray:
    return points @ pose[:3, :3].T + pose[:3, 3]


def extreme_points(several: Sequence[Placed]) -> Iterator[np.ndarray]:
    """Yield points (P, 3; m) of all that is drawn about a figure, at its first, middle and last
    instant."""
    for each in several:
        count = len(each.poses)
        first, last = each.first % count, each.last % count
        for k in {first, (first + last) // 2, last}:
            yield each.outline(k)
