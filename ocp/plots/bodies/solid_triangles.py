"""Solids of links and scenery: triangles of shapes and meshes, and bodies of links without any.

Links of a tree without visuals are shown as rods of their mass, with pins at joints that turn.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

from ocp.mechanics.model.tree import Link, Tree
from ocp.mechanics.model.visuals import Visual
from ocp.mechanics.values.memoize import memoize
from ocp.mechanics.values.types import Numbers
from ocp.mechanics.values.validation import set_fields
from ocp.plots.bodies.mesh_files import Part, mesh_parts

AROUND, ALONG = 24, 12  # faces of round solids, around and from pole to pole
SPOKES = 20  # faces around a loft
THIN = 0.08  # of an ellipsoid's length: its least width
DENSITY = 700.0  # kg/m3 of the rods that stand for links, whose radii are ...
SLIM, STOUT = 0.03, 0.14  # ... at least and at most such shares of their length
THICK = 0.05  # of the longest rod: radius of what has no length
BLOCK = np.array([0.30, 0.16, 0.16])  # of the longest rod: sides of what slides
PIN = (0.22, 0.26, 0.31, 1.0)
FINEST = 1e-6  # of a mesh: cells in which corners are the same
OUTLINE = 96  # points, at most, of the outline of a mesh
SPREAD = np.pi * (3 - np.sqrt(5))  # rad: turn of points that lie evenly on a sphere


class MeshWarning(UserWarning):
    """A mesh cannot be shown: it is left out."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Solid:
    """A solid on a link (-1 the ground): `corners` (F, 3, 3; m) of its triangles in the link's
    frame, and its `colour` (red, green, blue, opacity), None where it has none of its own.

    `outline` are points (P, 3; m) whose convex hull is the solid's, of a mesh nearly so.
    """

    link: int
    corners: np.ndarray
    colour: tuple[float, ...] | None = None
    outline: np.ndarray = field(init=False, repr=False)

    def __post_init__(self) -> None:
        points = self.corners.reshape(-1, 3)
        few = np.unique(points, axis=0) if len(points) <= 20 * OUTLINE else points
        if len(few) > 2 * OUTLINE:
            few = few[np.unique(np.argmax(few @ _ways().T, axis=0))]
        set_fields(self, outline=few)


@memoize(4)
def solids(tree: Tree) -> tuple[Solid, ...]:
    """Return the bodies of a tree's links: visuals, or where it has none rods of their
    mass."""
    return tuple(_solids(tree))


def scenery(visuals: tuple[Visual, ...]) -> tuple[Solid, ...]:
    """Return the solids that stand around, at poses in the global frame."""
    return tuple(Solid(link=-1, **parts) for each in visuals for parts in _parts(each))


def _solids(tree: Tree) -> Iterator[Solid]:
    looks = any(link.visuals for link in tree.links)
    bare = () if looks else range(len(tree.links))
    size = max([float(np.linalg.norm(arm)) for k in bare for arm in _arms(tree, k)], default=1.0)
    for k, link in enumerate(tree.links):
        visuals = link.visuals
        if not looks and link.modes is None:
            visuals = tuple(default_body(tree, k, size))
        for visual in visuals:
            for parts in _parts(visual):
                yield Solid(link=k, **parts)


def _parts(visual: Visual) -> Iterator[dict]:
    """Yield the fields of a visual's Solids, their faces outward: one for each colour of a mesh,
    and none with a warning where it cannot be read."""
    try:
        parts = _mesh(visual.path) if visual.kind == "mesh" else _shape(visual)
    except (OSError, ValueError) as error:
        warnings.warn(f"a mesh is not shown: {error}", MeshWarning, stacklevel=2)
        return
    scale = np.array(visual.size) if visual.kind == "mesh" else np.ones(3)
    pose = np.array(visual.pose)
    outward = sum(_volume(scale * corners) for corners, _ in parts) >= 0
    for corners, stated in parts:
        colour = stated if visual.colour is None else tuple(float(part) for part in visual.colour)
        placed = (scale * corners) @ pose[:3, :3].T + pose[:3, 3]
        yield {"corners": placed if outward else placed[:, ::-1], "colour": colour}


def _shape(visual: Visual) -> tuple[Part, ...]:
    return ((SURFACES[visual.kind](visual), None),)


def _volume(corners: np.ndarray) -> float:
    """Return six times the volume (m3) within triangles (F, 3, 3) that face outward."""
    a, b, c = corners[:, 0], corners[:, 1], corners[:, 2]
    return float((np.cross(a, b) * c).sum())


@lru_cache(maxsize=256)
def _mesh(path: str) -> tuple[Part, ...]:
    return mesh_parts(path)


def default_body(tree: Tree, k: int, size: float) -> Iterator[Visual]:
    """Yield the visuals of link k of a tree that has none: rods of its mass from its joint to what
    it carries, a pin along the axis of a joint that turns, a ball for a mass without inertia.

    A link that reaches nowhere is a block where it slides, else the ellipsoid of its inertia; one
    of no mass has no body. `size` (m) is that of the tree's longest rod.
    """
    link, joint, arms = tree.links[k], tree.joints[k], _arms(tree, k)
    mass, com = float(link.mass), np.array(link.com, dtype=float)
    start = np.array(joint.anchor, dtype=float)
    long = float(np.linalg.norm(arms, axis=1).sum())
    thick = THICK * size
    if mass and long:
        thick = float(np.clip(np.sqrt(mass / (DENSITY * np.pi * long)), SLIM * long, STOUT * long))
        yield from (_capsule_between(start, start + arm, thick) for arm in arms)
        if not np.any(link.inertia):
            yield Visual(kind="sphere", size=(1.7 * thick,), pose=_pose(com))
    elif mass and joint.kind == "prismatic":
        axis = np.array(joint.screw, dtype=float)[3:]
        yield Visual(kind="box", size=size * BLOCK, pose=_pose(com, axis, first=True))
    elif mass:
        yield equal_inertia(link) or Visual(kind="sphere", size=(1.3 * thick,), pose=_pose(com))
    parent = tree.parents[k]
    borne = joint.actuated or parent < 0 or bool(float(tree.links[parent].mass))
    if mass and borne and joint.kind == "revolute":  # but for those of a root adrift
        axis = np.array(joint.screw, dtype=float)[:3]
        pin = (1.2 * thick, 2.5 * thick)
        yield Visual(kind="cylinder", size=pin, pose=_pose(start, axis), colour=PIN)


def equal_inertia(link: Link) -> Visual | None:
    """Return the ellipsoid of a link's mass and inertia, None of a link without both.

    Semi-axes a_i of principal moments I_i:  a_i^2 = 5 / (2 m) (I_1 + I_2 + I_3 - 2 I_i); none is
    thinner than can be seen.
    """
    mass, inertia = float(link.mass), np.array(link.inertia, dtype=float)
    if not mass or not inertia.any():
        return None
    moments, axes = np.linalg.eigh(inertia)
    radii = np.sqrt(np.maximum(2.5 / mass * (moments.sum() - 2 * moments), 0.0))
    radii = np.maximum(radii, THIN * radii.max())
    pose = np.eye(4)
    pose[:3, :3] = axes * [1, 1, np.sign(np.linalg.det(axes))]
    pose[:3, 3] = np.array(link.com, dtype=float)
    return Visual(kind="ellipsoid", size=radii, pose=pose)


def _capsule_between(start: np.ndarray, end: np.ndarray, radius: float) -> Visual:
    """Return the capsule about the way between two places (3, m)."""
    length = float(np.linalg.norm(end - start))
    return Visual(kind="capsule", size=(radius, length), pose=_pose((start + end) / 2, end - start))


def _pose(place: np.ndarray, axis: Numbers = (0, 0, 1), first: bool = False) -> np.ndarray:
    """Return a pose at a place (3, m) whose third axis, or the first one, is along another."""
    pose = np.eye(4)
    turn = np.linalg.qr(np.column_stack([axis, np.eye(3)]))[0]
    turn = turn if first else turn[:, [1, 2, 0]]
    pose[:3, :3] = turn * [1, 1, np.sign(np.linalg.det(turn))]
    pose[:3, 3] = place
    return pose


def _arms(tree: Tree, k: int) -> np.ndarray:
    """Return the ways (k, 3; m) from a link's joint to the joints on it and to its points; to the
    far side of its centre of mass where these are none."""
    start = np.array(tree.joints[k].anchor, dtype=float)
    joints = [
        (np.array(joint.home, dtype=float) @ [*joint.anchor, 1.0])[:3]
        for joint, parent in zip(tree.joints, tree.parents)
        if parent == k
    ]
    points = [each.position for each in tree.points if tree.link_index(each.link) == k]
    ways = np.array([*joints, *points], dtype=float).reshape(-1, 3) - start
    ways = np.unique(ways.round(9), axis=0)
    ways = ways[np.linalg.norm(ways, axis=1) > 1e-6]
    if len(ways):
        return ways
    way = 2 * (np.array(tree.links[k].com, dtype=float) - start)
    return way[None] if np.any(way) and np.any(tree.links[k].inertia) else np.empty((0, 3))


def coarsen_mesh(corners: np.ndarray, size: float) -> tuple[np.ndarray, np.ndarray]:
    """Return places (V, 3) and triangles (F, 3) of corners (F, 3, 3), those in one cell of a grid
    being one place, their mean (Rossignac & Borrel 1993).

    Cells have a `size` (m); with none, corners are one that are nowhere apart.
    """
    every = corners.reshape(-1, 3)
    low, extent = every.min(axis=0), float(np.ptp(every, axis=0).max()) or 1.0
    size = max(size, FINEST * extent)
    cell = np.round((every - low) / size).astype(np.int64)
    key = cell @ np.array([1, 1 << 21, 1 << 42])  # far quicker to sort than rows
    _, owner = np.unique(key, return_inverse=True)
    owner = owner.ravel()
    count = np.bincount(owner)
    places = np.column_stack([np.bincount(owner, every[:, k]) / count for k in range(3)])
    faces = owner.reshape(-1, 3)
    distinct = [(faces[:, k] != faces[:, k - 1]) for k in range(3)]
    return places, faces[np.all(distinct, axis=0)]


def mean_cell(meshes: Sequence[np.ndarray], most: int) -> float:
    """Return the size (m) of cells on which meshes, corners (F, 3, 3) each, have about so many
    triangles at `most`: a surface has two in each cell that it crosses."""
    if sum(map(len, meshes)) <= most:
        return 0.0
    sides = ((each[:, 1] - each[:, 0], each[:, 2] - each[:, 0]) for each in meshes)
    area = sum(float(np.linalg.norm(np.cross(*pair), axis=1).sum()) / 2 for pair in sides)
    return float(np.sqrt(2 * area / most))


def _ways() -> np.ndarray:
    """Return directions (OUTLINE, 3) that lie evenly on a sphere (Fibonacci's lattice)."""
    z = 1 - (2 * np.arange(OUTLINE) + 1) / OUTLINE
    turn, across = SPREAD * np.arange(OUTLINE), np.sqrt(1 - z**2)
    return np.column_stack([across * np.cos(turn), across * np.sin(turn), z])


def _revolve(profile: np.ndarray) -> np.ndarray:
    """Return the triangles of a profile (k, 2), radius and height, turned about z."""
    angles = np.linspace(0, 2 * np.pi, AROUND + 1)
    ring = np.column_stack([np.cos(angles), np.sin(angles)])
    radius, height = profile.T
    places = np.concatenate(
        [
            radius[:, None, None] * ring,
            np.broadcast_to(height[:, None, None], (len(profile), AROUND + 1, 1)),
        ],
        axis=2,
    )
    return _between_rings(places)


def _between_rings(places: np.ndarray) -> np.ndarray:
    """Return the triangles between rings of places (k, P, 3), each closed, that have an area."""
    a, b, c, d = places[:-1, :-1], places[:-1, 1:], places[1:, 1:], places[1:, :-1]
    faces = np.concatenate([np.stack([a, b, c], 2), np.stack([a, c, d], 2)]).reshape(-1, 3, 3)
    sides = np.cross(faces[:, 1] - faces[:, 0], faces[:, 2] - faces[:, 0])
    return faces[np.linalg.norm(sides, axis=1) > 1e-12 * np.abs(places).max() ** 2]


def _ball(low: float = -np.pi / 2, high: float = np.pi / 2, count: int = ALONG) -> np.ndarray:
    """Return the profile of a unit ball between two latitudes (rad)."""
    angles = np.linspace(low, high, count + 1)
    return np.column_stack([np.cos(angles), np.sin(angles)])


def _box(visual: Visual) -> np.ndarray:
    x, y, z = np.array(visual.size) / 2
    ring = [(-x, -y), (x, -y), (x, y), (-x, y)]
    low, high = np.array([(*place, -z) for place in ring]), np.array([(*p, z) for p in ring])
    quads = [
        low[::-1],
        high,
        *(np.array([low[k], low[k - 3], high[k - 3], high[k]]) for k in range(4)),
    ]
    return np.array([quad[list(way)] for quad in quads for way in ((0, 1, 2), (0, 2, 3))])


def _cylinder(visual: Visual) -> np.ndarray:
    radius, length = visual.size
    half = length / 2
    return _revolve(np.array([(0, -half), (radius, -half), (radius, half), (0, half)]))


def _capsule(visual: Visual) -> np.ndarray:
    radius, length = visual.size
    low, high = _ball(high=0.0, count=ALONG // 2), _ball(low=0.0, count=ALONG // 2)
    shift = np.array([0.0, length / 2])
    return _revolve(np.concatenate([radius * low - shift, radius * high + shift]))


def _loft(visual: Visual) -> np.ndarray:
    """Return the triangles between sections, both ends closed."""
    angles = np.linspace(0, 2 * np.pi, SPOKES + 1)
    rings = []
    for height, x, y, wide, deep, power in np.array(visual.size):
        ring = np.column_stack([np.cos(angles), np.sin(angles)])
        ring = np.sign(ring) * np.abs(ring) ** (2 / power) * (wide, deep) + (x, y)
        rings.append(np.column_stack([ring, np.full(len(ring), height)]))
    ends = [np.broadcast_to(ring[:-1].mean(axis=0), ring.shape) for ring in (rings[0], rings[-1])]
    return _between_rings(np.array([ends[0], *rings, ends[1]]))


SURFACES = {
    "loft": _loft,
    "box": _box,
    "sphere": lambda visual: visual.size[0] * _revolve(_ball()),
    "cylinder": _cylinder,
    "capsule": _capsule,
    "ellipsoid": lambda visual: np.array(visual.size) * _revolve(_ball()),
}
