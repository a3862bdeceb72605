"""Surroundings of a stick figure: bodies about its bars, scenery, and the ground."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np

from ocp.mechanics.kinematics.kinematics import poses, velocity
from ocp.mechanics.kinematics.zero_moment import convex_hull, tangents
from ocp.mechanics.model.tree import Point, Tree
from ocp.mechanics.values.validation import set_fields
from ocp.plots.bodies.solids import Solid, coarsen_mesh, scenery, solids
from ocp.plots.curves.contact_forces import contact_forces, surfaces
from ocp.plots.curves.phases import Piece, piece_mask, pieces
from ocp.problem.statement import Problem
from ocp.solution.solution import Solution

if TYPE_CHECKING:
    from matplotlib.artist import Artist

MARGIN = 0.15  # of a motion's extent: by which the ground goes on beyond it
APART = 1e-6  # m: planes that are nearer are one
AT_REST = 1e-3  # m/s: what is let go so slowly has been put down
BODY, STILL = 0.14, 0.45  # opacity of bodies and of scenery
MANY, ROUGH = 1000, 16  # triangles, beyond which a mesh is drawn on a grid of so many cells
GREY = "0.55"
EARTH = "#8c7b66"


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """A solid at poses (N, 4, 4), or (1, 4, 4) where it stands still, as it is drawn on paper.

    `edge` are points (P, 3; m) whose convex hull it fills, `faces` (F, 3, 3; m) triangles of it.
    Pictures reach as far as it goes from the `first` to the `last` instant, and not farther.
    """

    solid: Solid
    poses: np.ndarray
    first: int = 0
    last: int = -1
    edge: np.ndarray = field(init=False, repr=False)
    faces: np.ndarray = field(init=False, repr=False)

    def __post_init__(self) -> None:
        corners = self.solid.corners
        if len(corners) > MANY:
            places, rings = coarsen_mesh(corners, ROUGH)
            corners = places[rings]
        set_fields(self, edge=self.solid.outline, faces=corners)

    @property
    def still(self) -> bool:
        """Whether it never moves."""
        return len(self.poses) == 1

    def corners(self, k: int) -> np.ndarray:
        """Return its triangles (F, 3, 3; m) at instant k, in the global frame."""
        return _transform(self.faces, self.poses[0 if self.still else k])

    def outline(self, k: int) -> np.ndarray:
        """Return points (P, 3; m) at instant k whose convex hull it fills."""
        return _transform(self.edge, self.poses[0 if self.still else k])


def placed_solids(solution: Solution, t: np.ndarray) -> tuple[Placed, ...]:
    """Return bodies and visuals of the links, and what stands around, at times (N,), s."""
    tree, around = solution.problem.tree, scenery(tuple(solution.problem.scenery))
    moving = solids(tree)
    still = tuple(Placed(solid=each, poses=np.eye(4)[None]) for each in around)
    ways = _frames(solution, tree, sorted({each.link for each in moving}), t)
    bodies = (Placed(solid=each, poses=ways[each.link]) for each in moving)
    return (*still, *bodies, *_carried_bodies(solution, t))


def _frames(solution: Solution, tree: Tree, links: Sequence[int], t: np.ndarray) -> dict:
    """Return {link: its poses (N, 4, 4)} of the numbered links of a tree at times (N,), s."""
    if not links:
        return {}

    def rows_of(at: Any) -> Any:
        known = poses(tree, at.q)
        return ca.vertcat(*(ca.vec(known[k][:3, :].T) for k in links))

    rows = solution.trace(rows_of, t).T.reshape(len(t), len(links), 3, 4)
    last = np.broadcast_to([0.0, 0.0, 0.0, 1.0], (len(t), len(links), 1, 4))
    return dict(zip(links, np.concatenate([rows, last], axis=2).swapaxes(0, 1)))


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
            ways[here] = _frames(piece.motion, tree, [k], own)[k]
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


def silhouette(points: np.ndarray) -> np.ndarray:
    """Return the convex hull (k, 2) of points (P, 2)."""
    return convex_hull(np.column_stack([points, np.zeros(len(points))]))[:, :2]


def draw_still(
    axes: Any, several: Sequence[Placed], ground: Sequence[np.ndarray], shown: Sequence[int]
) -> None:
    """Draw scenery and the ground's patches, in the global axes `shown`."""
    for patch in ground:
        if len(shown) == 2:
            corners = patch[:, shown]
            along = corners[:, int(np.ptp(corners, axis=0).argmax())]
            ends = corners[[along.argmin(), along.argmax()]]  # farthest apart on the longer side
            axes.plot(*ends.T, color=EARTH, linewidth=1.4, zorder=1.2)
        else:
            _facets(axes, patch[None][:, :, shown], EARTH, 0.12)
    for each in several:
        if each.still:
            draw_solid(axes, each, 0, shown, GREY, STILL)


def draw_solid(
    axes: Any, each: Placed, k: int, shown: Sequence[int], colour: Any, opacity: float
) -> list[Artist]:
    """Draw a solid at instant k in its own colour, or else in `colour` with that opacity."""
    own = each.solid.colour
    tone: Any = colour if own is None else own[:3]
    share = opacity if own is None else opacity * own[3]
    if len(shown) == 3:
        return [_facets(axes, each.corners(k)[:, :, shown], tone, share)]
    ring = silhouette(each.outline(k)[:, shown])
    edge = "none" if each.still else (tone, min(1.0, 3 * share))
    return list(
        axes.fill(*ring.T, facecolor=(tone, share), edgecolor=edge, linewidth=0.6, zorder=1.5)
    )


def _facets(axes: Any, faces: np.ndarray, colour: Any, opacity: float) -> Artist:
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection

    facets = Poly3DCollection(faces, facecolor=(colour, opacity), edgecolor="none")
    return axes.add_collection3d(facets)


def _transform(points: np.ndarray, pose: np.ndarray) -> np.ndarray:
    return points @ pose[:3, :3].T + pose[:3, 3]


def extreme_points(several: Sequence[Placed]) -> Iterator[np.ndarray]:
    """Yield points (P, 3; m) of all that is drawn about a figure, at its first and last instant."""
    for each in several:
        for k in {each.first, each.last}:
            yield each.outline(k)
