"""Configurations in which loops are closed, in numbers, and which rows of the gap are independent
there; of open trees at their parameters' own values."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import casadi as ca
import numpy as np

from ocp.mechanics.kinematics import kinematics
from ocp.mechanics.kinematics.loop_closure import (
    CLOSED,
    DEPENDENT,
    FINE,
    _axes,
    gap_acceleration,
    gap_at,
    gap_jacobian,
    gap_labels,
    gap_slope,
    gap_units,
)
from ocp.mechanics.model.tree import Tree
from ocp.mechanics.values.parameters import nominal
from ocp.mechanics.values.types import Matrix

STRIDE = 0.5  # rad or m: longest step of the projection, which must not leap to another assembly
TRIALS = 5  # random starts for each configuration wanted, for some do not close
PATIENCE = 8  # steps in which a gap must narrow by a tenth, or it is taken not to close
STEPS = 100  # of the projection, after which it gives up


@dataclass(frozen=True, slots=True, kw_only=True)
class Independence:
    """Which `rows` of the gap are independent of those before them, the names of the `redundant`
    ones, the `freedom` left (n - rows), and whether the configuration asked about is `singular`:
    there the rows lose rank which elsewhere they have."""

    rows: tuple[int, ...]
    redundant: tuple[str, ...]
    freedom: int
    singular: bool = False


def independent_rows(
    tree: Tree, q: Matrix = None, *, samples: int = 3, seed: int = 0
) -> Independence:
    """Return the Independence of the rows, found in numbers where the loops are closed.

    The configurations are random ones, near `q` (n,) if given. A row is redundant if at none of
    them its gradient differs from those of the rows before it, such as the closing of a plane
    mechanism across its plane. Raises ValueError if the loops cannot be closed.
    """
    place = None if q is None else tuple(_numbers(q).tolist())
    return _independent(_in_numbers(tree), place, samples, seed)


def close_coordinates(tree: Tree, q: Matrix, fixed: Sequence[str] = ()) -> np.ndarray:
    """Return coordinates (n,) near `q` in which all loops are closed.

    The joints named `fixed` are held. Each column of (n, k) is closed likewise. Damped Gauss-Newton
    steps of least change, in numbers. A column starts from its own q moved as far as the last one
    moved, so that a curve stays in one assembly. Raises ValueError naming the gap that remains.
    """
    tree, q, free = _in_numbers(tree), np.array(q, dtype=float), _free(tree, fixed)
    if q.ndim == 1:
        return _close(tree, q, free)
    closed, moved = np.empty_like(q), np.zeros(len(q))
    for k in range(q.shape[1]):
        closed[:, k] = _close(tree, q[:, k] + moved, free)
        moved = np.where(free, closed[:, k] - q[:, k], 0.0)
    return closed


def close_rates(tree: Tree, q: Matrix, qd: Matrix, fixed: Sequence[str] = ()) -> np.ndarray:
    """Return the rates (n,) nearest to `qd` with J qd = 0, the joints named `fixed` held.

    Raises ValueError if there are none.
    """
    still, tree = np.zeros(len(gap_labels(tree))), _in_numbers(tree)
    return _project(tree, q, _numbers(qd), still, _free(tree, fixed), "rates")


def close_accelerations(
    tree: Tree, q: Matrix, qd: Matrix, qdd: Matrix, fixed: Sequence[str] = ()
) -> np.ndarray:
    """Return the accelerations (n,) nearest to `qdd` with J qdd = -dJ/dt qd.

    The joints named `fixed` are held. Raises ValueError if there are none.
    """
    tree = _in_numbers(tree)
    bias = _numbers(gap_acceleration(tree, ca.DM(q), ca.DM(qd)))
    return _project(tree, q, _numbers(qdd), -bias, _free(tree, fixed), "accelerations")


# Numbers ------------------------------------------------------------------------------------------


@lru_cache(maxsize=64)
def _in_numbers(tree: Tree) -> Tree:
    return nominal(tree)


def _numbers(value: Matrix) -> np.ndarray:
    return np.array(value, dtype=float).ravel()


def _free(tree: Tree, fixed: Sequence[str]) -> np.ndarray:
    """Tell which coordinates may change."""
    free = np.ones(tree.dof, dtype=bool)
    free[[tree.coordinate(name) for name in fixed]] = False
    return free


def _errors(tree: Tree, q: np.ndarray) -> tuple[np.ndarray, np.ndarray, bool]:
    """Return the gaps left to close (m,), their slope (m, n), and whether every loop faces the way
    it was meant.

    Orientations by their angles, not by sines, so that links that face each other's back turn
    round: the slope is then that of the turn.
    """
    if not tree.loops:
        return np.empty(0), np.empty((0, tree.dof)), True
    error, slope, *sides = (np.array(part) for part in _measures(tree)(q))
    error, faces, first = error.ravel(), True, 0
    for loop in tree.loops:
        first += len(loop.position)
        closed = ["xyz".index(letter) for letter in loop.orientation]
        if closed:
            at_start, at_end, turn = sides[:3]
            sides = sides[3:]
            along = np.sum(at_start * at_end, axis=0)
            others = [i for i in range(3) if i not in closed]
            cosine = (along.sum() - 1) / 2 if len(closed) == 3 else along[others].mean()
            rows = slice(first, first + len(closed))
            sine = np.linalg.norm(error[rows])
            error[rows] *= np.arctan2(sine, cosine) / sine if sine > 1e-12 else 1.0
            slope[rows] = at_start[:, closed].T @ turn
            faces &= cosine > 0
            first += len(closed)
    return error, slope, faces


@lru_cache(maxsize=64)
def _measures(tree: Tree) -> ca.Function:
    """Return the Function of q (n,) that gives the gaps (m,), their slope (m, n), and of every loop
    that closes orientations its axes at start and end (3, 3) and what turns the end against the
    start (3, n).

    One graph for all steps of a projection, which asks for hundreds.
    """
    q = ca.SX.sym("q", tree.dof)
    moves = kinematics.motions(tree, q)
    frames = [move.pose for move in moves]
    measured = [gap_at(tree, moves), gap_slope(tree, moves)]
    for loop in tree.loops:
        if loop.orientation:
            ends = [tree.point(name) for name in (loop.start, loop.end)]
            turns = [kinematics.jacobian_at(tree, moves, end)[:3, :] for end in ends]
            for end, axes in zip(ends, _axes(loop)):
                measured.append(frames[tree.link_index(end.link)][:3, :3] @ axes)
            measured.append(turns[1] - turns[0])
    return ca.Function("measures", [q], [ca.densify(ca.SX(part)) for part in measured])


def _close(tree: Tree, q: np.ndarray, free: np.ndarray) -> np.ndarray:
    """Levenberg's steps (1944) in the free coordinates.

    The damping grows where a step does not help.
    """
    if q.shape != (tree.dof,) or not np.isfinite(q).all():
        raise ValueError(
            f"close_coordinates: q: expected finite coordinates of shape ({tree.dof},) or "
            f"({tree.dof}, k), got {q.shape}"
        )
    (error, slope, faces), damping, sizes = _errors(tree, q), 1e-3, []
    for _ in range(STEPS):
        sizes.append(np.linalg.norm(error))
        if (
            np.abs(error).max(initial=0.0) <= FINE
            or damping > 1e12
            or (len(sizes) > PATIENCE and sizes[-1] > 0.9 * sizes[-1 - PATIENCE])
        ):
            break
        by_free = slope[:, free]
        square = by_free @ by_free.T
        step = np.zeros(tree.dof)
        scale = max(np.trace(square) / len(error), 1e-12)
        step[free] = by_free.T @ np.linalg.solve(
            square + (damping * scale + 1e-15 * scale) * np.eye(len(error)), -error
        )
        trial = q + step * min(1.0, STRIDE / max(np.abs(step).max(), 1e-300))
        there = _errors(tree, trial)
        if np.linalg.norm(there[0]) < sizes[-1]:
            q, (error, slope, faces), damping = trial, there, damping / 10
        else:
            damping = max(10 * damping, 1e-12)
    worst = np.argmax(np.abs(error)) if len(error) else None
    if worst is not None and (np.abs(error[worst]) > CLOSED or not faces):
        held = [joint.name for joint, loose in zip(tree.moving, free) if not loose]
        raise ValueError(
            "close_coordinates: the loops cannot be closed from "
            f"there{' with ' + ', '.join(held) + ' held' if held else ''}: the gap stays at "
            f"{error[worst]:.3g} {gap_units(tree)[worst]} in "
            f"{gap_labels(tree)[worst]}{'' if faces else ', links back to back'}"
        )
    return q


def _project(
    tree: Tree, q: np.ndarray, wanted: np.ndarray, goal: np.ndarray, free: np.ndarray, what: str
) -> np.ndarray:
    """Return the vector nearest to `wanted` with J vector = goal, changed in the free coordinates
    alone."""
    slope = np.array(gap_jacobian(tree, ca.DM(q)))
    nearest = wanted.copy()
    nearest[free] += np.linalg.lstsq(slope[:, free], goal - slope @ wanted, rcond=1e-10)[0]
    left = np.abs(slope @ nearest - goal)
    if left.max(initial=0.0) > 1e-8 * max(1.0, np.abs(goal).max(), np.abs(slope @ wanted).max()):
        row = int(np.argmax(left))
        held = (
            ", ".join(joint.name for joint, loose in zip(tree.moving, free) if not loose) or "none"
        )
        raise ValueError(
            f"close_{what}: no {what} keep {gap_labels(tree)[row]} closed (held joints: {held})"
        )
    return nearest


@lru_cache(maxsize=64)
def closed_configurations(
    tree: Tree, q: Matrix = None, samples: int = 3, seed: int = 0
) -> tuple[np.ndarray, ...]:
    """Return configurations (n,) in which all loops are closed, found from random ones.

    They are near `q` (a tuple of n) if given. Raises ValueError if the loops cannot be closed.
    """
    configurations, trouble, tree = [], None, _in_numbers(tree)
    for start in _starts(tree, q, samples, seed):
        try:
            configurations.append(_close(tree, start, np.ones(tree.dof, dtype=bool)))
        except ValueError as error:
            trouble = error
        if len(configurations) == samples + (q is not None):
            break
    if not configurations:
        raise ValueError(str(trouble))
    return tuple(configurations)


@lru_cache(maxsize=64)
def _independent(tree: Tree, q: Matrix, samples: int, seed: int) -> Independence:
    slopes = [
        np.array(gap_jacobian(tree, ca.DM(closed)))
        for closed in closed_configurations(tree, q, samples, seed)
    ]
    size = np.maximum(np.max([np.linalg.norm(slope, axis=1) for slope in slopes], axis=0), 1e-9)
    rows, bases = [], [np.empty((0, tree.dof))] * len(slopes)
    for row in range(len(size)):
        rests = [
            slope[row] / size[row] - base.T @ (base @ slope[row]) / size[row]
            for slope, base in zip(slopes, bases)
        ]
        new = [np.linalg.norm(rest) > DEPENDENT for rest in rests]
        bases = [
            np.vstack([base, rest / np.linalg.norm(rest)]) if fresh else base
            for base, rest, fresh in zip(bases, rests, new)
        ]
        rows += [row] if any(new) else []
    names = gap_labels(tree)
    return Independence(
        rows=tuple(rows),
        redundant=tuple(name for row, name in enumerate(names) if row not in rows),
        freedom=tree.dof - len(rows),
        singular=q is not None and len(bases[0]) < len(rows),
    )


def _starts(tree: Tree, q: Matrix, samples: int, seed: int) -> list[np.ndarray]:
    """Return configurations to close: q and others around it, or random ones within the joints'
    limits, or a turn or a metre."""
    rng = np.random.default_rng(seed)
    if q is not None:
        return [np.array(q), *(np.array(q) + rng.normal(0.0, 0.1, (samples, tree.dof)))]
    usual = [1.0 if joint.kind == "prismatic" else np.pi for joint in tree.moving]
    lower = np.array(
        [np.clip(joint.position[0], -reach, np.inf) for joint, reach in zip(tree.moving, usual)]
    )
    upper = np.array(
        [np.clip(joint.position[1], -np.inf, reach) for joint, reach in zip(tree.moving, usual)]
    )
    return list(
        rng.uniform(
            np.minimum(lower, upper), np.maximum(lower, upper), (TRIALS * samples, tree.dof)
        )
    )
