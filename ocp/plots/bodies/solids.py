"""Solids of links and scenery: triangles of shapes and meshes, bodies of equal inertia.

Links of a tree without visuals are shown as the homogeneous ellipsoids of their mass and inertia.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ocp.mechanics.model.tree import Link, Tree
from ocp.mechanics.model.visuals import Visual
from ocp.plots.bodies.mesh_files import triangles

AROUND, ALONG = 16, 8  # faces of round solids, around and from pole to pole
CORK = 120.0  # kg/m3, about
THIN = 0.08  # of a body's length: its least width
OUTLINE = 96  # points, at most, of the outline of a mesh
SPREAD = np.pi * (3 - np.sqrt(5))  # rad: turn of points that lie evenly on a sphere


class MeshWarning(UserWarning):
    """A mesh cannot be shown: it is left out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Solid:
    """A solid on a link (-1 the ground): `corners` (F, 3, 3; m) of its triangles in the link's
    frame, and its `colour` (red, green, blue, opacity), None where it has none of its own."""

    link: int
    corners: np.ndarray
    colour: tuple[float, ...] | None = None

    @property
    def outline(self) -> np.ndarray:
        """Points (P, 3) whose convex hull is the solid's, of a mesh nearly so."""
        points = self.corners.reshape(-1, 3)
        few = np.unique(points, axis=0) if len(points) <= 20 * OUTLINE else points
        if len(few) <= 2 * OUTLINE:
            return few
        return few[np.unique(np.argmax(few @ _ways().T, axis=0))]


def solids(tree: Tree) -> tuple[Solid, ...]:
    """Return the bodies of a tree's links: visuals, or where it has none bodies of equal
    inertia."""
    return tuple(_solids(tree))


def scenery(visuals: tuple[Visual, ...]) -> tuple[Solid, ...]:
    """Return the solids that stand around, at poses in the global frame."""
    return tuple(Solid(link=-1, **parts) for each in visuals for parts in _parts(each))


def _solids(tree: Tree) -> Iterator[Solid]:
    looks = any(link.visuals for link in tree.links)
    for k, link in enumerate(tree.links):
        visuals = link.visuals
        if not looks and link.modes is None:
            body = equal_inertia(link, _reach(tree, k))
            visuals = () if body is None else (body,)
        for visual in visuals:
            for parts in _parts(visual):
                yield Solid(link=k, **parts)


def _parts(visual: Visual) -> Iterator[dict]:
    """Yield the fields of a visual's Solid; none of a mesh that cannot be read, with a warning."""
    try:
        corners = _mesh(visual.path) if visual.kind == "mesh" else SURFACES[visual.kind](visual)
    except (OSError, ValueError) as error:
        warnings.warn(f"a mesh is not shown: {error}", MeshWarning, stacklevel=2)
        return
    if visual.kind == "mesh":
        corners = corners * visual.size
    pose = np.array(visual.pose)
    colour = None if visual.colour is None else tuple(float(part) for part in visual.colour)
    yield {"corners": corners @ pose[:3, :3].T + pose[:3, 3], "colour": colour}


@lru_cache(maxsize=256)
def _mesh(path: str) -> np.ndarray:
    return triangles(path)


def equal_inertia(link: Link, reach: np.ndarray) -> Visual | None:
    """Return the ellipsoid of a link's mass and inertia, None of a link without both.

    Semi-axes a_i of principal moments I_i:  a_i^2 = 5 / (2 m) (I_1 + I_2 + I_3 - 2 I_i).
    One that would be lighter than cork is no longer than where the link `reach`es, places (k, 3; m)
    on it, its joint's first; none is thinner than can be seen. What has no width, as bodies of
    planar motions have none, is a capsule from the joint to the farthest of these, or through the
    centre of mass.
    """
    mass, inertia = float(link.mass), np.array(link.inertia, dtype=float)
    if not mass or not inertia.any():
        return None
    com = np.array(link.com, dtype=float)
    moments, axes = np.linalg.eigh(inertia)
    radii = np.sqrt(np.maximum(2.5 / mass * (moments.sum() - 2 * moments), 0.0))
    longest = np.linalg.norm(reach - com, axis=1).max()
    ends = reach - reach[0]
    arm = ends[np.linalg.norm(ends, axis=1).argmax()] if ends.any() else 2 * (com - reach[0])
    if arm.any() and radii[1] < THIN * radii[0]:
        return _capsule_between(reach[0], reach[0] + arm)
    radii = np.maximum(radii, THIN * radii.max())
    if 0 < longest < radii.max() and mass < CORK * 4 / 3 * np.pi * radii.prod():
        radii = radii * longest / radii.max()
    pose = np.eye(4)
    pose[:3, :3] = axes * [1, 1, np.sign(np.linalg.det(axes))]
    pose[:3, 3] = com
    return Visual(kind="ellipsoid", size=radii, pose=pose)


def _capsule_between(start: np.ndarray, end: np.ndarray) -> Visual:
    """Return a slender capsule whose ends are two places (3, m)."""
    length = float(np.linalg.norm(end - start))
    pose = np.eye(4)
    pose[:3, :3] = np.linalg.qr(np.column_stack([end - start, np.eye(3)]))[0][:, [1, 2, 0]]
    pose[:3, 0] *= np.sign(np.linalg.det(pose[:3, :3]))
    pose[:3, 3] = (start + end) / 2
    return Visual(kind="capsule", size=(THIN * length / 2, (1 - THIN) * length), pose=pose)


def _reach(tree: Tree, k: int) -> np.ndarray:
    """Return places (k, 3; m) of a link: its joint, the joints on it, its points."""
    joints = [
        (np.array(joint.home, dtype=float) @ [*joint.anchor, 1.0])[:3]
        for joint, parent in zip(tree.joints, tree.parents)
        if parent == k
    ]
    points = [each.position for each in tree.points if tree.link_index(each.link) == k]
    return np.array([tree.joints[k].anchor, *joints, *points], dtype=float)


def coarsen_mesh(corners: np.ndarray, cells: int) -> tuple[np.ndarray, np.ndarray]:
    """Return places (V, 3) and triangles (F, 3) of corners (F, 3, 3), those in one cell of a grid
    being one place, their mean.

    The grid has so many `cells` along the longest side (Rossignac & Borrel 1993).
    """
    every = corners.reshape(-1, 3)
    size = float(np.ptp(every, axis=0).max()) / cells or 1.0
    _, owner = np.unique(np.round(every / size).astype(int), axis=0, return_inverse=True)
    owner = owner.ravel()
    count = np.bincount(owner)
    places = np.column_stack([np.bincount(owner, every[:, k]) / count for k in range(3)])
    faces = owner.reshape(-1, 3)
    distinct = [(faces[:, k] != faces[:, k - 1]) for k in range(3)]
    return places, faces[np.all(distinct, axis=0)]


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
    a, b, c, d = places[:-1, :-1], places[:-1, 1:], places[1:, 1:], places[1:, :-1]
    faces = np.concatenate([np.stack([a, b, c], 2), np.stack([a, c, d], 2)]).reshape(-1, 3, 3)
    sides = np.cross(faces[:, 1] - faces[:, 0], faces[:, 2] - faces[:, 0])
    return faces[np.linalg.norm(sides, axis=1) > 1e-12 * np.abs(profile).max() ** 2]


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


SURFACES = {
    "box": _box,
    "sphere": lambda visual: visual.size[0] * _revolve(_ball()),
    "cylinder": _cylinder,
    "capsule": _capsule,
    "ellipsoid": lambda visual: np.array(visual.size) * _revolve(_ball()),
}
