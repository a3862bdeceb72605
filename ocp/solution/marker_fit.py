"""Coordinates as splines through all frames of markers at once: Gauss-Newton on a banded system.

Every frame sees the few control points of its segment alone, so the normal equations are banded,
and their inverse is known where frames look.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

import casadi as ca
import numpy as np

from ocp.mechanics import kinematics
from ocp.mechanics.tree import Tree
from ocp.motion import BSpline
from ocp.solvers.banded import Factors, factored
from ocp.transcription.kernels import evaluate, function

EAGER, PATIENT = 8, 60  # iterations in such a frame, and in the first one
FAINT = 1e-12  # of the largest diagonal entry: what keeps directions that nobody sees regular
GENTLE = 1e-8  # likewise: the damping of every step, so that what is hardly seen stays where it is
DAMPED = 1e-3  # likewise, after a step that failed
POOR, GOOD = 0.25, 0.75  # of the decrease that was promised: more damping, and less
EASED = 10.0  # by which damping changes
NEAR = 0.01  # m: root mean square distance of a first frame's markers below which it is met
TURNS = (2.1, -2.1, 3.1)  # rad: by which a root's turns are tried
ALIKE = 1.01  # times the least sum of squares: starts that end so differ by whole turns alone
STIFF = 1e9  # the damping beyond which no step is left
STILL = 1e-10  # rad or m: a step below it ends the search
SPENT = 1e-4  # of the noise's variance: a step that brings less is far below what noise does
SMALL = 1e-3  # of the sum of squares: where a step promises less, the curvature of places counts


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Sightings:
    """What was seen: `places` (rows, N) m of markers, zero where missing, and the roots of their
    weights (rows, N), zero there; `points` are those of the tree that the markers stand for."""

    tree: Tree
    points: tuple[str, ...]
    places: np.ndarray
    roots: np.ndarray

    def weighed(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the weighted deviations (N, rows) and their slopes (N, rows, n) at q (n, N); below
        them how far quaternions are from length one, which no marker sees."""
        here, slopes = seen_from(self.tree, self.points, q)
        roots = self.roots.T
        off, bent = roots * (here - self.places).T, roots[:, :, None] * slopes
        for rows in map(list, self.tree.balls):
            length = np.linalg.norm(q[rows], axis=0)
            turned = np.zeros((len(off), 1, len(q)))
            turned[:, 0, rows] = (q[rows] / length).T
            off = np.hstack([off, (length - 1.0)[:, None]])
            bent = np.concatenate([bent, turned], axis=1)
        return off, bent

    def frame(self, number: int) -> "Sightings":
        """Return what was seen in one frame."""
        columns = self.places[:, [number]], self.roots[:, [number]]
        return replace(self, places=columns[0], roots=columns[1])

    def cost(self, q: np.ndarray) -> float:
        """Return the sum of the squared weighted deviations at q (n, N)."""
        here = evaluate(_watched(self.tree, self.points)[0], q, np.zeros(q.shape[1]))
        long = [np.linalg.norm(q[list(rows)], axis=0) - 1.0 for rows in self.tree.balls]
        return float(np.sum((self.roots * (here - self.places)) ** 2) + np.sum(np.square(long)))

    def curved(self, q: np.ndarray) -> np.ndarray:
        """Return what the curvature of places adds to the normal matrices (N, n, n) at q (n, N)."""
        places, _, curvature = _watched(self.tree, self.points)
        none = np.zeros(q.shape[1])
        off = self.roots**2 * (evaluate(places, q, none) - self.places)
        bends = evaluate(curvature, q, none, off)
        return np.moveaxis(bends.reshape((self.tree.dof, self.tree.dof, -1), order="F"), 2, 0)


def seen_from(tree: Tree, points: tuple[str, ...], q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return places (rows, N) of points, and slopes (N, rows, n), at coordinates q (n, N)."""
    both = evaluate(_watched(tree, points)[1], q, np.zeros(q.shape[1]))
    rows = 3 * len(points)
    slopes = both[rows:].reshape((rows, tree.dof, -1), order="F")
    return both[:rows], np.moveaxis(slopes, 2, 0)


@lru_cache(maxsize=4)
def _watched(tree: Tree, points: tuple[str, ...]) -> tuple[ca.Function, ...]:
    """Return the Functions (q, s) -> places, and -> places with their slopes below, and (q, s,
    pulls on the places) -> second derivatives of the work of these by q."""
    q, s = ca.SX.sym("q", tree.dof), ca.SX.sym("s")
    places = ca.vertcat(*kinematics.positions(tree, q, points))
    pull = ca.SX.sym("pull", places.shape[0])
    both = ca.vertcat(places, ca.vec(ca.densify(ca.jacobian(places, q))))
    bend = ca.vec(ca.densify(ca.hessian(ca.dot(pull, places), q)[0]))
    return (
        function("places", [q, s], [ca.cse(places)], ["q", "s"], ["p"]),
        function("slopes", [q, s], [ca.cse(both)], ["q", "s"], ["p"]),
        function("curvature", [q, s, pull], [ca.cse(bend)], ["q", "s", "pull"], ["p"]),
    )


def marched(sightings: Sightings, start: np.ndarray, most: int) -> tuple[np.ndarray, np.ndarray]:
    """Return at `most` so many frames' numbers (k,), and the coordinates (n, k) there, each met
    from the one before, the first from a start (n,), or where it is not met so, from that with a
    root turned otherwise."""
    count = sightings.places.shape[1]
    frames = np.unique(np.linspace(0, count - 1, min(count, most)).round().astype(int))
    path = [_begun(sightings.frame(int(frames[0])), start)]
    for frame in frames[1:]:
        path.append(_met(sightings.frame(int(frame)), path[-1], EAGER))
    return frames, np.array(path).T


def _begun(one: Sightings, start: np.ndarray) -> np.ndarray:
    """Return the coordinates (n,) of a first frame, from the first start that comes near to it, or
    from the best of all."""
    weight = max(float(np.sum(one.roots**2)) / 3, 1e-300)
    tried: list[tuple[float, np.ndarray]] = []
    for turned in _turned(one.tree, start):
        q = _met(one, turned, PATIENT)
        tried.append((one.cost(q[:, None]), q))
        if tried[-1][0] <= NEAR**2 * weight:
            break
    least = min(cost for cost, _ in tried)
    alike = [q for cost, q in tried if cost <= ALIKE * least]
    return min(
        alike, key=lambda q: float(np.abs(q - start).max())
    )  # turned round no more than once


def _turned(tree: Tree, start: np.ndarray) -> Iterator[np.ndarray]:
    """Yield a start (n,), and then others with the turns of a root that nothing drives."""
    yield start
    passive = [k for k, joint in enumerate(tree.moving) if not joint.actuated]
    balls = [rows for rows in tree.balls if rows[0] in passive]
    for rows in balls:
        for unit in np.eye(4):
            turned = start.copy()
            turned[list(rows)] = unit
            yield turned
    for row in passive:
        if tree.moving[row].kind == "revolute":
            for angle in TURNS:
                turned = start.copy()
                turned[row] += angle
                yield turned


def _met(one: Sightings, q: np.ndarray, iterations: int) -> np.ndarray:
    """Return the coordinates (n,) nearest to one frame's markers, from q on."""
    damping, (off, slopes) = GENTLE, (part[0] for part in one.weighed(q[:, None]))
    for _ in range(iterations):
        normal = slopes.T @ slopes
        size = max(float(np.diag(normal).max()), 1e-300)
        step = np.linalg.solve(normal + damping * size * np.eye(len(q)), -slopes.T @ off)
        trial, trial_slopes = (part[0] for part in one.weighed((q + step)[:, None]))
        if trial @ trial <= off @ off:
            done = np.abs(step).max() < 1e-6
            q, off, slopes, damping = q + step, trial, trial_slopes, max(damping / EASED, GENTLE)
            if done:
                break
        elif damping < STIFF:
            damping = max(EASED * damping, DAMPED)
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
    points, damping, status = start, GENTLE, "too many iterations"
    cost, count = sightings.cost((weights @ points).T), 0
    normals, pulls = _normal(sightings, weights, points)
    spent = SPENT / max(int((sightings.roots > 0).sum()), 1)
    while count < iterations:
        factors = _factored(basis.degree, weights, normals, damping)
        step = _grouped_solve(factors, pulls, basis.degree)
        trial = sightings.cost((weights @ (points + step)).T)
        promised = float(np.sum(pulls * step))
        count += 1
        still = np.abs(step).max() < STILL or promised <= spent * cost
        if not still and damping <= GENTLE and promised <= SMALL * cost:
            bent = _curved_step(sightings, basis.degree, weights, points, normals, pulls)
            further = sightings.cost((weights @ (points + bent)).T)
            if further < trial:
                step, trial, promised = bent, further, cost - further
        brought = cost - trial
        if brought >= 0:
            points, cost = points + step, trial
            normals, pulls = _normal(sightings, weights, points)
        if still:
            status = "converged"
            break
        if brought >= GOOD * promised:
            damping = max(damping / EASED, GENTLE)
        elif brought < POOR * promised:
            damping = max(EASED * damping, DAMPED if brought < 0 else GENTLE)
        if damping > STIFF:
            status = "no step brings the markers nearer"
            break
    return Splined(
        points=points,
        status=status,
        iterations=count,
        factors=_factored(basis.degree, weights, normals, FAINT),
        seen=normals.sum(axis=0),
    )


def _curved_step(
    sightings: Sightings,
    degree: int,
    weights: np.ndarray,
    points: np.ndarray,
    normals: np.ndarray,
    pulls: np.ndarray,
) -> np.ndarray:
    """Return Newton's step (points, n), or none where its system is not positive definite.

    Where markers are off by more than noise, Gauss's steps alone are many and short.
    """
    bends = sightings.curved((weights @ points).T)
    try:
        factors = _factored(degree, weights, normals + bends, GENTLE)
    except np.linalg.LinAlgError:
        return np.zeros_like(points)
    return _grouped_solve(factors, pulls, degree)


def _normal(
    sightings: Sightings, weights: np.ndarray, points: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the normal matrices (N, n, n) of the frames, and the downhill pull (points, n)."""
    off, slopes = sightings.weighed((weights @ points).T)
    pulls = -np.einsum("kri,kr->ki", slopes, off)
    return slopes.transpose(0, 2, 1) @ slopes, weights.T @ pulls


def _factored(degree: int, weights: np.ndarray, normals: np.ndarray, damping: float) -> Factors:
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
