"""Least change of a measured motion under which no force at a floating root stays unexplained.

Markers and force plates contradict each other: inverse dynamics leave forces and moments at the
pelvis. The motion nearest to a fitted one that needs none is the optimal control problem

    minimise  sum over instants of |dq|^2 + (2 pi f)^-4 |dqdd|^2, as markers see it, over their
              variance, and of |dF|^2 over the variance of the plates
    subject to  the passive rows of M qdd + h - J' (F + dF) = 0 wherever F is known

over the control points of a spline and the changes dF of wrenches: the elimination of residuals
(Remy & Thelen 2009) for all instants at once. Gauss-Newton steps on the banded normal equations
alternate with multipliers (Hestenes 1969; proximal, Rockafellar 1976), from which dF follows since
it enters linearly. With dF nought there is no such motion near the measured one: a moment of
4 N m about the vertical axis, which plates err by, would spin a trunk by more than a turn in 2 s.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

import casadi as ca
import numpy as np

from ocp.estimation.inverse_dynamics import measured_torques, pushed_torques
from ocp.estimation.marker_kinematics import MarkerFit
from ocp.estimation.marker_residuals import point_places
from ocp.estimation.tracking.plates_in_band import (
    BAND,
    PER_SEGMENT,
    Instants,
    Plates,
    instants_of,
    plates_in_band,
)
from ocp.mechanics.model.tree import Tree
from ocp.mechanics.values.validation import positive
from ocp.motion import BSpline, split_segments
from ocp.pickling import portable
from ocp.problem import Series, weight_roots
from ocp.solvers.linear_algebra.banded import factorise
from ocp.transcription.kernels.kernels import evaluate, function

BETWEEN = 20  # times in each segment at which forces are told: lines between miss less than 1 N
NOISE = 1e-3  # m: of markers, at least
ARM = 0.1  # m: a marker so far from every axis is added, which sees all joints [assumed]
RATIO = 1e-2  # m^2/N^2: of squares of residuals beside those of changes, in the first steps
ITERATIONS = 40
ENOUGH = 0.3  # N, N m: a residual that is none
SHORTEST = 1e-2  # of a step
ROUNDING = 1e-9  # of the augmented Lagrangian
SMALL = 1e-3  # of the augmented Lagrangian: a decrease that ends the search


@portable
@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class ConsistentMotion:
    """The motion nearest to a fitted one that forces of the ground explain.

    Attributes:
        tree: the Tree.
        t: times of the markers (N,) s.
        known: of these, those at which all forces are known (N,).
        q, qd, qdd: coordinates, rates and accelerations (n, N).
        torques: generalized forces (n, N), nan where forces are not known.
        motion, points: its basis and control points (n, points).
        forces: {plate: (6, M)} N m and N, in the motion's band and with their changes.
        moved: {joint: (rms, largest) change}, rad or m, where forces are known.
        pushed: {plate: rms changes of its force (N), and of its moment about the origin (N m)}.
        before, after: the largest force (N) and moment (N m) at the root that stay unexplained, on
            instants that the search does not know.
        residuals: {marker: (3, N)} m, measured less those of this motion, nan where it was missing.
        status, iterations: how the search ended.
    """

    tree: Tree
    t: np.ndarray
    known: np.ndarray
    q: np.ndarray
    qd: np.ndarray
    qdd: np.ndarray
    torques: np.ndarray
    motion: BSpline
    points: np.ndarray
    forces: Series
    moved: Mapping[str, tuple[float, float]]
    pushed: Mapping[str, tuple[float, float]]
    before: tuple[float, float]
    after: tuple[float, float]
    residuals: Mapping[str, np.ndarray]
    status: str
    iterations: int

    @property
    def success(self) -> bool:
        """Tell whether the search converged."""
        return self.status == "converged"

    def __repr__(self) -> str:
        return (
            f"ConsistentMotion({self.before[0]:.3g} N, {self.before[1]:.3g} N m before, "
            f"{self.after[0]:.2g} N, {self.after[1]:.2g} N m after; {self.status} in "
            f"{self.iterations} iterations)"
        )


def consistent_motion(
    fit: MarkerFit,
    forces: Series,
    links: Mapping[str, str],
    *,
    plates: tuple[float, float],
    known: Sequence[tuple[float, float]] | None = None,
    weights: Mapping[str, float] | None = None,
) -> ConsistentMotion:
    """Return the motion nearest to a fitted one under which nothing pushes its root but the ground.

    Args:
        fit: of markers that stand for points of the same names.
        forces: {plate: (6, N')} moment about the global origin (N m) above force (N).
        links: {plate: the link that it pushes}.
        plates: standard deviations of forces (N) and of centres of pressure (m).
        known: spans (s) in which these are all forces; by default the whole trial.
        weights: {marker: number of at least 0}, as those of the fit.

    Raises:
        ValueError: the tree has no passive joints, or quaternions; plates without a link.
    """
    name = "consistent_motion"
    noise = [
        positive(f"{name}: plates: {what}", each, unit=unit)
        for what, each, unit in zip(("force", "pressure"), plates, ("N", "m"))
    ]
    begin, search = _first(name, fit, forces, links, known, weights, noise)
    points, status, count = _solve(search, begin)
    return _result(search, fit, forces, links, (begin, points), (status, count))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Search:
    """The optimal control problem.

    Attributes:
        function: y = (q, qd, qdd, wrenches) -> passive rows (m,), and their slopes by y below.
        pushed: the same, with slopes by wrenches alone, which take a small part of the time.
        passive: rows of the tree that these are, (m).
        motion: basis of the coordinates.
        instants: at which it is stated.
        plates: their forces.
        wrenches: of these there (6 plates, K).
        known: of these, those with conditions (K,).
        metric: of changes at the instants (K, n, n), over the variance of markers.
        slow: of the metric, for changes of qdd (s^4).
        unsure: covariances of the passive rows by the plates' noise (K, m, m).
        stiff: scale of the multipliers (N^-2).
        inverse: of `unsure` with that scale (K, m, m).
    """

    function: ca.Function
    pushed: ca.Function
    passive: tuple[int, ...]
    motion: BSpline
    instants: Instants
    plates: Plates
    wrenches: np.ndarray
    known: np.ndarray
    metric: np.ndarray
    slow: float
    unsure: np.ndarray
    stiff: float
    inverse: np.ndarray

    def slopes(self, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the passive rows (K, m) at control points, and their slopes (K, m, 3 n + 6 plates)
        by q, qd, qdd and wrenches; nought where no condition is."""
        y = np.vstack([self.instants.at(points), self.wrenches])
        off, slopes = evaluate_rows(self.function, len(self.passive), y, self.instants.t)
        off[~self.known], slopes[~self.known] = 0.0, 0.0
        return off, slopes

    def push(self, off: np.ndarray, multipliers: np.ndarray) -> np.ndarray:
        """Return the next multipliers (K, m) where rows are `off` (K, m)."""
        return np.einsum("kij,kj->ki", self.inverse, off + multipliers / self.stiff)

    def merit(self, change: np.ndarray, off: np.ndarray, multipliers: np.ndarray) -> float:
        """Return the augmented Lagrangian of a change of control points (points, n)."""
        n = change.shape[1]
        moved = self.instants.at(change).reshape(3, n, -1)
        size = sum(
            share * np.einsum("ik,kij,jk->", moved[k], self.metric, moved[k])
            for k, share in self.shares
        )
        lifted = off + multipliers / self.stiff
        return float(size + np.sum(lifted * self.push(off, multipliers))) / 2

    @property
    def shares(self) -> tuple[tuple[int, float], ...]:
        """Derivatives of changes that count, and how much."""
        return (0, 1.0), (2, self.slow)

    def step(
        self, change: np.ndarray, off: np.ndarray, slopes: np.ndarray, multipliers: np.ndarray
    ) -> np.ndarray:
        """Return Gauss's and Newton's step (points, n) of the augmented Lagrangian."""
        at, (count, n) = self.instants, change.shape
        m, wide, degree = len(self.passive), at.weights.shape[2], at.weights.shape[2] - 1
        parts = slopes[:, :, : 3 * n].reshape(len(off), m, 3, n)
        inverse, push = self.inverse, self.push(off, multipliers)
        moved = at.at(change).reshape(3, n, -1)
        ways = {k: np.einsum("kij,jk->ki", self.metric, moved[k]) for k, _ in self.shares}
        size, groups = degree * n, -(-count // degree) + 1  # neighbours among groups touch alone
        diagonal = [np.zeros((size, size)) for _ in range(groups)]
        below = [np.zeros((size, size)) for _ in range(groups - 1)]
        right = np.zeros((groups * degree, n))
        for first in range(self.motion.segments):
            mine = at.first == first
            weights = at.weights[mine]
            local = np.einsum("kda,kmdn->kman", weights, parts[mine]).reshape(-1, m, wide * n)
            normal = np.tensordot(local, inverse[mine] @ local, axes=((0, 1), (0, 1)))
            pull = np.einsum("kmi,km->i", local, push[mine]).reshape(wide, n)
            for k, share in self.shares:
                own = weights[:, k]
                both = share * own[:, :, None] * own[:, None, :]
                metric = np.tensordot(both, self.metric[mine], axes=(0, 0))  # (a, b, i, j)
                normal += metric.transpose(0, 2, 1, 3).reshape(normal.shape)
                pull += share * own.T @ ways[k][mine]
            group, place = divmod(first, degree)
            whole = np.zeros((2 * size, 2 * size))
            inner = slice(place * n, (place + wide) * n)
            whole[inner, inner] = normal
            diagonal[group] += whole[:size, :size]
            below[group] += whole[size:, :size]
            diagonal[group + 1] += whole[size:, size:]
            right[first : first + wide] -= pull
        for group in range(groups):
            beyond = np.arange(group * degree, (group + 1) * degree) >= count
            diagonal[group] += np.diag(np.repeat(beyond.astype(float), n))
        factors = factorise(diagonal, below)
        return factors.solve(right.reshape(groups, size)).reshape(-1, n)[:count]


def _first(
    name: str,
    fit: MarkerFit,
    forces: Series,
    links: Mapping[str, str],
    known: Sequence[tuple[float, float]] | None,
    weights: Mapping[str, float] | None,
    noise: Sequence[float],
) -> tuple[np.ndarray, Search]:
    """Return the fitted motion's control points (points, n) on the finer basis, and the Search."""
    tree, span = fit.tree, float(fit.t[-1] - fit.t[0])
    passive = [k for k, joint in enumerate(tree.moving) if not joint.actuated]
    if not passive or tree.balls:
        raise ValueError(f"{name}: expected a tree with passive joints and without quaternions")
    lacking = [plate for plate in forces.values if plate not in links]
    if lacking:
        raise ValueError(f"{name}: {forces.source}: plate {lacking[0]!r}: expected its link")
    inside = forces.between(float(fit.t[0]), float(fit.t[-1]))
    segments = fit.motion.segments
    motion = split_segments(fit.motion, max(1, round(2 * BAND * span / segments - 0.25)))
    nodes = motion.nodes
    begin = motion.fit(fit.points @ fit.motion.values(nodes).T, nodes).T
    at = instants_of(motion, fit.t, PER_SEGMENT)
    plates = plates_in_band(motion, fit.t, inside, noise)
    wrenches = plates.at(at.t)
    entries, rows = passive_rows(tree, passive, [links[plate] for plate in forces.values])
    pushed = with_slopes(entries, rows, entries[3 * tree.dof :])
    y = np.vstack([at.at(begin), wrenches])
    effects = evaluate_rows(pushed, len(passive), y, at.t)[1]
    sure = np.zeros(len(at.t), dtype=bool)
    for start, end in known if known is not None else ((-np.inf, np.inf),):
        sure |= (at.t >= start) & (at.t <= end)
    seen = replace(forces, t=fit.t, values=fit.residuals)
    roots = weight_roots(name, seen, weights)[:, None]
    slopes = roots * point_places(tree, tuple(fit.residuals), at.at(begin)[: tree.dof])[1]
    metric = slopes.transpose(0, 2, 1) @ slopes + ARM**2 * np.eye(tree.dof)
    off = max(fit.deviation, NOISE)
    unsure = effects @ plates.covariance(at.t) @ effects.transpose(0, 2, 1)
    stiff = RATIO / off**2
    return begin, Search(
        function=with_slopes(entries, rows, entries),
        pushed=pushed,
        passive=tuple(passive),
        motion=motion,
        instants=at,
        plates=plates,
        wrenches=wrenches,
        known=sure,
        metric=metric / off**2,
        slow=(span / (np.pi * segments)) ** 4,
        unsure=unsure,
        stiff=stiff,
        inverse=np.linalg.inv(unsure + np.eye(len(passive)) / stiff),
    )


def passive_rows(tree: Tree, passive: Sequence[int], links: Sequence[str]) -> tuple[ca.SX, ca.SX]:
    """Return (q, qd, qdd and wrenches in a column, and passive rows as expressions of it).

    Args:
        tree: without open parameters.
        passive: its rows.
        links: that wrenches push.
    """
    y, tau = pushed_torques(tree, links)
    return y, ca.densify(tau[list(passive)])


def with_slopes(y: ca.SX, rows: ca.SX, columns: ca.SX) -> ca.Function:
    """Return the Function (y, t) -> rows, and below their slopes by some of the entries of y."""
    both = ca.vertcat(rows, ca.vec(ca.densify(ca.jacobian(rows, columns))))
    return function("passive_rows", [y, ca.SX.sym("t")], [ca.cse(both)], ["y", "t"], ["rows"])


def evaluate_rows(
    passive: ca.Function, m: int, y: np.ndarray, t: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return passive rows (K, m) of columns y (w, K) at times t (K,), and slopes (K, m, columns).

    Args:
        passive: as of `with_slopes`.
        m: number of rows.
        y: q, qd, qdd and wrenches (w, K).
        t: times (K,) s.
    """
    values = evaluate(passive, y, t)
    return values[:m].T, values[m:].T.reshape(len(t), -1, m).transpose(0, 2, 1)


def _solve(search: Search, begin: np.ndarray) -> tuple[np.ndarray, str, int]:
    """Return the control points (points, n), how the search ended, and its iterations."""
    points, multipliers = begin, np.zeros((len(search.instants.t), len(search.passive)))
    off, slopes = search.slopes(points)
    for count in range(ITERATIONS):
        step = search.step(points - begin, off, slopes, multipliers)
        before, share = search.merit(points - begin, off, multipliers), 1.0
        while True:
            trial = points + share * step
            off, slopes = search.slopes(trial)
            after = search.merit(trial - begin, off, multipliers)
            if after <= (1 + ROUNDING) * before or share < SHORTEST:
                break
            share /= 2
        points, multipliers = trial, search.push(off, multipliers)
        left = off - np.einsum("kij,kj->ki", search.unsure, multipliers)
        if np.abs(left).max() < ENOUGH and before - after < SMALL * before:
            return points, "converged", count + 1
    return points, "too many iterations", ITERATIONS


def _result(
    search: Search,
    fit: MarkerFit,
    forces: Series,
    links: Mapping[str, str],
    points: tuple[np.ndarray, np.ndarray],
    ended: tuple[str, int],
) -> ConsistentMotion:
    """Return the motion of control points before and after the search, and what stays unexplained
    between the times at which forces are told."""
    tree, motion, n = fit.tree, search.motion, fit.tree.dof
    names, m, span = list(forces.values), len(search.passive), float(fit.t[-1] - fit.t[0])
    dense = instants_of(motion, fit.t, BETWEEN)
    wrenches, y = search.plates.at(dense.t), dense.at(points[1])
    off, effects = evaluate_rows(search.pushed, m, np.vstack([y, wrenches]), dense.t)
    spread = search.plates.covariance(dense.t) @ effects.transpose(0, 2, 1)
    sure = np.interp(dense.t, search.instants.t, search.known) == 1.0
    multipliers = np.linalg.pinv(effects @ spread, hermitian=True) @ off[:, :, None]
    change = -1.0 * sure * (spread @ multipliers)[:, :, 0].T
    pushes = Series(
        t=dense.t,
        values=dict(zip(names, np.split(wrenches + change, len(names)))),
        source=forces.source,
    )
    between = instants_of(motion, fit.t, BETWEEN - 1)
    there = np.interp(between.t, dense.t, sure) == 1.0
    straight = np.vstack(list(pushes.at(between.t).values()))
    slides = np.array([tree.moving[k].kind == "prismatic" for k in search.passive])
    left = [
        evaluate_rows(search.pushed, m, np.vstack([between.at(control), each]), between.t)[0][
            there
        ].T
        for control, each in zip(points, (search.plates.at(between.t), straight))
    ]
    moved = dense.at(points[1] - points[0])[:n, sure]
    s = (fit.t - fit.t[0]) / span
    q, qd, qdd = (points[1].T @ motion.values(s, k).T / span**k for k in range(3))
    sure_at = np.interp(fit.t, dense.t, sure, left=0.0, right=0.0) == 1.0
    told = {
        plate: np.array([np.interp(fit.t, dense.t, row) for row in rows])
        for plate, rows in pushes.values.items()
    }
    frames = Series(t=fit.t, values=told, source=forces.source)
    torques = measured_torques(
        tree, fit.t, q, qd, qdd, frames, {name: links[name] for name in names}
    )
    angles = {j.name: (_rms(row), _largest(row)) for j, row in zip(tree.moving, moved)}
    added = {
        plate: (_rms(rows[3:, sure]), _rms(rows[:3, sure]))
        for plate, rows in zip(names, np.split(change, len(names)))
    }
    return ConsistentMotion(
        tree=tree,
        t=fit.t,
        known=sure_at,
        q=q,
        qd=qd,
        qdd=qdd,
        torques=np.where(sure_at, torques, np.nan),
        motion=motion,
        points=points[1].T,
        forces=pushes,
        moved=MappingProxyType(angles),
        pushed=MappingProxyType(added),
        before=_sizes(left[0], slides),
        after=_sizes(left[1], slides),
        residuals=fit.residuals_along(q),
        status=ended[0],
        iterations=ended[1],
    )


def _sizes(rows: np.ndarray, slides: np.ndarray) -> tuple[float, float]:
    """Return the largest entries of rows (m, K) of slides (N), and of turns (N m)."""
    return _largest(rows[slides]), _largest(rows[~slides])


def _largest(rows: np.ndarray) -> float:
    return float(np.abs(rows).max(initial=0.0))


def _rms(rows: np.ndarray) -> float:
    return float(np.sqrt(np.mean(rows**2))) if rows.size else 0.0
