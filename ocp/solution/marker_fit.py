"""Coordinates as splines through all frames of markers at once: Gauss-Newton on a banded system.

Every frame sees the few control points of its segment alone, so the normal equations are banded,
and their inverse is known where frames look.
"""

from dataclasses import dataclass
from functools import lru_cache

import casadi as ca
import numpy as np

from ocp.mechanics import kinematics
from ocp.mechanics.tree import Tree
from ocp.motion import BSpline
from ocp.solvers.banded import Factors, factored
from ocp.transcription.kernels import evaluate, function

MARCHED = 100  # frames that are met one after the other, for a start
EAGER, PATIENT = 8, 60  # iterations in such a frame, and in the first one
FAINT = 1e-10  # of the largest diagonal entry: the damping of every step
DAMPED = 1e-3  # likewise, after a step that failed
STIFF = 1e9  # the damping beyond which no step is left
STILL = 1e-10  # rad or m: a step below it ends the search
SPENT = 1e-14  # of the sum of squares: a step that brings less ends it too


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Sightings:
    """What was seen: `places` (rows, N) m of markers, zero where missing, and the roots of their
    weights (rows, N), zero there; `points` are those of the tree that the markers stand for."""

    tree: Tree
    points: tuple[str, ...]
    places: np.ndarray
    roots: np.ndarray

    def weighed(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the weighted deviations (N, rows) and their slopes (N, rows, n) at q (n, N)."""
        here, slopes = seen_from(self.tree, self.points, q)
        roots = self.roots.T
        return roots * (here - self.places).T, roots[:, :, None] * slopes

    def cost(self, q: np.ndarray) -> float:
        """Return the sum of the squared weighted deviations at q (n, N)."""
        here = evaluate(_watched(self.tree, self.points)[0], q, np.zeros(q.shape[1]))
        return float(np.sum((self.roots * (here - self.places)) ** 2))


def seen_from(
    tree: Tree, points: tuple[str, ...], q: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return places (rows, N) of points, and slopes (N, rows, n), at coordinates q (n, N)."""
    both = evaluate(_watched(tree, points)[1], q, np.zeros(q.shape[1]))
    rows = 3 * len(points)
    slopes = both[rows:].reshape((rows, tree.dof, -1), order="F")
    return both[:rows], np.moveaxis(slopes, 2, 0)


@lru_cache(maxsize=4)
def _watched(tree: Tree, points: tuple[str, ...]) -> tuple[ca.Function, ca.Function]:
    """Return the Functions (q, s) -> places, and -> places with their slopes below."""
    q, s = ca.SX.sym("q", tree.dof), ca.SX.sym("s")
    places = ca.vertcat(*kinematics.positions(tree, q, points))
    both = ca.vertcat(places, ca.vec(ca.densify(ca.jacobian(places, q))))
    return tuple(function("markers", [q, s], [ca.cse(one)], ["q", "s"], ["p"]) for one in (places, both))


def marched(sightings: Sightings, start: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return some frames' numbers (k,), and the coordinates (n, k) there, each from the one
    before."""
    count = sightings.places.shape[1]
    frames = np.unique(np.linspace(0, count - 1, min(count, MARCHED)).round().astype(int))
    q, path = start, []
    for number, frame in enumerate(frames):
        one = Sightings(
            tree=sightings.tree,
            points=sightings.points,
            places=sightings.places[:, [frame]],
            roots=sightings.roots[:, [frame]],
        )
        q = _met(one, q, PATIENT if number == 0 else EAGER)
        path.append(q)
    return frames, np.array(path).T


def _met(one: Sightings, q: np.ndarray, iterations: int) -> np.ndarray:
    """Return the coordinates (n,) nearest to one frame's markers, from q on."""
    damping, (off, slopes) = FAINT, (part[0] for part in one.weighed(q[:, None]))
    for _ in range(iterations):
        normal = slopes.T @ slopes
        size = max(float(np.diag(normal).max()), 1e-300)
        step = np.linalg.solve(normal + damping * size * np.eye(len(q)), -slopes.T @ off)
        trial, trial_slopes = (part[0] for part in one.weighed((q + step)[:, None]))
        if trial @ trial <= off @ off:
            done = np.abs(step).max() < 1e-6
            q, off, slopes, damping = q + step, trial, trial_slopes, max(damping / 10, FAINT)
            if done:
                break
        elif damping < STIFF:
            damping = max(10 * damping, DAMPED)
        else:
            break
    return q


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Splined:
    """Where a sum of squares of splines is least: control points (points, n), how the search ended
    and after how many iterations, and the system's `factors` there, damped by FAINT of its largest
    entry; `seen` (n, n) is the sum of all frames' normal matrices."""

    points: np.ndarray
    status: str
    iterations: int
    factors: Factors
    seen: np.ndarray


def splined(
    sightings: Sightings, basis: BSpline, weights: np.ndarray, start: np.ndarray, iterations: int
) -> Splined:
    """Return the Splined of control points (points, n), from a start on.

    `weights` (N, points) are those of the basis at the frames. A direction that no marker sees
    stays where it began.
    """
    points, damping, status = start, FAINT, "too many iterations"
    cost, count = sightings.cost((weights @ points).T), 0
    while True:
        off, slopes = sightings.weighed((weights @ points).T)
        normals = slopes.transpose(0, 2, 1) @ slopes
        pulls = -np.einsum("kri,kr->ki", slopes, off)
        if count >= iterations:
            break
        count += 1
        while True:
            factors = _factored(basis.degree, weights, normals, damping)
            step = _grouped_solve(factors, weights.T @ pulls, basis.degree)
            trial = sightings.cost((weights @ (points + step)).T)
            if trial <= cost * (1 + 1e-12) or damping > STIFF:
                break
            damping = max(10 * damping, DAMPED)
        if damping > STIFF:
            status = "no step brings the markers nearer"
            break
        brought, cost, points = cost - trial, trial, points + step
        if np.abs(step).max() < STILL or (damping <= FAINT and brought <= SPENT * cost):
            status = "converged"
            break
        damping = FAINT if damping <= DAMPED else damping / 10
    return Splined(
        points=points,
        status=status,
        iterations=count,
        factors=_factored(basis.degree, weights, normals, FAINT),
        seen=normals.sum(axis=0),
    )


def _factored(
    degree: int, weights: np.ndarray, normals: np.ndarray, damping: float
) -> Factors:
    """Return the factors of the sum over frames of (b b') x normal, b a frame's weights, in groups
    of as many control points as the degree: then neighbours alone touch."""
    count, n = weights.shape[1], normals.shape[1]
    groups = -(-count // degree)
    size = degree * n
    diagonal = [np.zeros((degree, n, degree, n)) for _ in range(groups)]
    below = [np.zeros((degree, n, degree, n)) for _ in range(groups - 1)]
    largest = 0.0
    for i in range(count):
        for j in range(max(0, i - degree), i + 1):
            both = weights[:, i] * weights[:, j]
            frames = np.flatnonzero(both)
            block = np.tensordot(both[frames], normals[frames], axes=1)
            (gi, ri), (gj, rj) = divmod(i, degree), divmod(j, degree)
            if gi == gj:
                diagonal[gi][ri, :, rj, :] = block
                diagonal[gi][rj, :, ri, :] = block.T
            else:
                below[gj][ri, :, rj, :] = block
            largest = max(largest, float(np.diag(block).max()))
    ridge = damping * max(largest, 1e-300)
    for k in range(groups):
        for row in range(degree):
            beyond = k * degree + row >= count
            diagonal[k][row, :, row, :] += (largest if beyond else ridge) * np.eye(n)
    return factored(
        [block.reshape(size, size) for block in diagonal],
        [block.reshape(size, size) for block in below],
    )


def _grouped_solve(factors: Factors, right: np.ndarray, degree: int) -> np.ndarray:
    """Return the solution (points, n) for a right side (points, n)."""
    count, n = right.shape
    padded = np.zeros((len(factors.lower) * degree, n))
    padded[:count] = right
    solved = factors.solve(padded.reshape(len(factors.lower), degree * n))
    return solved.reshape(-1, n)[:count]


def variances(factors: Factors, degree: int, weights: np.ndarray, n: int) -> np.ndarray:
    """Return the variances (N, n) of the coordinates at the frames, of deviations of variance 1.

    They are b' S b of the blocks S of the inverse that belong to a frame's control points.
    """
    count = weights.shape[1]
    diagonal, right = factors.inverse()
    total = np.zeros((len(weights), n))
    for i in range(count):
        for j in range(max(0, i - degree), i + 1):
            (gi, ri), (gj, rj) = divmod(i, degree), divmod(j, degree)
            block = diagonal[gi] if gi == gj else right[gj].T
            own = block[ri * n : (ri + 1) * n, rj * n : (rj + 1) * n]
            both = weights[:, i] * weights[:, j] * (1.0 if i == j else 2.0)
            total += both[:, None] * np.diag(own)
    return total
