"""Marker residuals: distances of a tree's points from measured places, with derivatives."""

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, cast

import casadi as ca
import numpy as np

from ocp.mechanics.kinematics import kinematics
from ocp.mechanics.model.tree import Tree
from ocp.mechanics.scaling import scale_links
from ocp.mechanics.values.parameters import Parameter
from ocp.transcription.kernels.kernels import function

Groups = tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Sightings:
    """Measured places of a tree's points.

    Coordinates y (n + groups, N) have the length factors of `groups` below q.

    Attributes:
        tree, points: the tree, and its points that the markers stand for.
        places: of markers (rows, N) m, zero where missing.
        roots: of their weights (rows, N), zero where missing.
        groups: links that share a length factor.
    """

    tree: Tree
    points: tuple[str, ...]
    places: np.ndarray
    roots: np.ndarray
    groups: Groups = ()

    def weighted_residuals(self, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the weighted deviations (N, rows) and their slopes (N, rows, n + groups) at y;
        below them how far quaternions are from length one, which no marker sees."""
        here, slopes = point_places(self.tree, self.points, y, self.groups)
        roots = self.roots.T
        off, bent = roots * (here - self.places).T, roots[:, :, None] * slopes
        for rows in map(list, self.tree.balls):
            length = np.linalg.norm(y[rows], axis=0)
            turned = np.zeros((len(off), 1, len(y)))
            turned[:, 0, rows] = (y[rows] / length).T
            off = np.hstack([off, (length - 1.0)[:, None]])
            bent = np.concatenate([bent, turned], axis=1)
        return off, bent

    def normal(self, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the normal matrices (N, n + groups, n + groups) and the downhill pulls (N, n +
        groups) at y."""
        off, slopes = self.weighted_residuals(y)
        normals = slopes.transpose(0, 2, 1) @ slopes
        pulls = -np.einsum("kri,kr->ki", slopes, off)
        return normals, pulls

    def cost(self, y: np.ndarray) -> float:
        """Return the sum of the squared weighted deviations at y."""
        here = _values(_point_functions(self.tree, self.points, self.groups)[0], y)
        long = [np.linalg.norm(y[list(rows)], axis=0) - 1.0 for rows in self.tree.balls]
        return float(np.sum((self.roots * (here - self.places)) ** 2) + np.sum(np.square(long)))

    def curvature(self, y: np.ndarray) -> np.ndarray:
        """Return the contribution of the places' curvature to the normal matrices at y."""
        places, _, curvature = _point_functions(self.tree, self.points, self.groups)
        off = self.roots**2 * (_values(places, y) - self.places)
        bends = _values(curvature, y, off)
        return np.moveaxis(bends.reshape((len(y), len(y), -1), order="F"), 2, 0)

    def frame(self, number: int) -> "Sightings":
        """Return the sightings of one frame, with segments as they are in the tree."""
        columns = self.places[:, [number]], self.roots[:, [number]]
        return replace(self, places=columns[0], roots=columns[1], groups=())


def point_places(
    tree: Tree, points: tuple[str, ...], y: np.ndarray, groups: Groups = ()
) -> tuple[np.ndarray, np.ndarray]:
    """Return places (rows, N) of points, and slopes (N, rows, n + groups), at coordinates y (n +
    groups, N)."""
    both = _values(_point_functions(tree, points, groups)[1], y)
    rows = 3 * len(points)
    slopes = both[rows:].reshape((rows, len(y), -1), order="F")
    return both[:rows], np.moveaxis(slopes, 2, 0)


def _values(watched: ca.Function, *columns: np.ndarray) -> np.ndarray:
    """Return the dense output (rows, N) of a Function at columns (.., N), through buffers: lists of
    numbers in between take longer than the graph."""
    count = columns[0].shape[1]
    looped = watched.map(count) if count > 1 else watched
    given = [np.ravel(each, order="F").astype(float) for each in columns]
    values = np.empty(looped.nnz_out(0))
    buffer, call = cast(Any, looped.buffer())
    for k, each in enumerate(given):
        buffer.set_arg(k, memoryview(cast(Any, each)))
    buffer.set_res(0, memoryview(cast(Any, values)))
    call()
    return values.reshape((-1, count), order="F")


@lru_cache(maxsize=8)
def _point_functions(
    tree: Tree, points: tuple[str, ...], groups: Groups
) -> tuple[ca.Function, ...]:
    """Return the Functions y -> places, and -> places with their slopes below, and (y, pulls on the
    places) -> second derivatives of the work of these by y, all dense."""
    factors = [Parameter(f"length_{k}", 1.0) for k in range(len(groups))]
    longer = {link: factor for group, factor in zip(groups, factors) for link in group}
    q = ca.SX.sym("q", tree.dof)
    y = ca.vertcat(q, *(factor.expression for factor in factors))
    body = scale_links(tree, longer) if longer else tree
    places = ca.densify(ca.vertcat(*kinematics.positions(body, q, points)))
    pull = ca.SX.sym("pull", places.shape[0])
    both = ca.vertcat(places, ca.vec(ca.densify(ca.jacobian(places, y))))
    bend = ca.vec(ca.densify(ca.hessian(ca.dot(pull, places), y)[0]))
    return (
        function("places", [y], [ca.cse(places)], ["y"], ["p"]),
        function("slopes", [y], [ca.cse(both)], ["y"], ["p"]),
        function("curvature", [y, pull], [ca.cse(bend)], ["y", "pull"], ["p"]),
    )
