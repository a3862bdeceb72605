"""Closed loops: how far a tree's cut joints gape, how that changes, the forces they pass, and motions made to close them.

A cut joint leaves a tree and adds what it had held: the gap between its two points, which must vanish, and the force that keeps it so, an
external one to the tree (Xiang, Arora & Abdel-Malek 2009, eq. 38). Every entry of a gap is a sum of products of two vectors, of which each
is fixed to a link or joins the two points (the basic constraints of Haug 1989, section 9.4), so that its derivatives are product rules.

Rows (m,) stand loop by loop, positions (m) before orientations (near closure, rad). Expressions SX, MX or DM alike, unless said otherwise.
"""
from dataclasses import dataclass, replace
from functools import lru_cache

import casadi as ca
import numpy as np

from ocp import kinematics
from ocp.kinematics import Motion
from ocp.spatial import tidy
from ocp.tree import Load

CLOSED, FINE = 1e-10, 1e-13                        # m or rad: greatest gap of a closed loop, and the one that the projection aims at
DEPENDENT = 1e-6                                   # part of a row, beside the rows before it, below which it says nothing new
STRIDE = 0.5                                       # rad or m: longest step of the projection, which must not leap to another assembly
TRIALS = 5                                         # random starts for each configuration wanted, for some do not close
PATIENCE = 8                                       # steps in which a gap must narrow by a tenth, or it is taken not to close
STEPS = 100                                        # of the projection, after which it gives up


def labels(tree):
    """Return the names of the rows, such as "pin: position x"."""
    return tuple(f"{loop.name}: {what} {letter}" for loop in tree.loops for what in ("position", "orientation")
                 for letter in getattr(loop, what))


def units(tree):
    """Return the units of the rows."""
    return tuple(unit for loop in tree.loops for unit in ("m",) * len(loop.position) + ("rad",) * len(loop.orientation))


def gap(tree, q):
    """Return the gaps (m,): position e . (r_end - r_start), and orientation as sums of products of axes of both links.

    About one axis z: y . x', of start and end: the sine of the turn where nothing else turns, otherwise a universal joint about x and y'.
    About two, x and y: -y . z' and x . z', so that z stays free by any angle. About three: the sine of the turn along its axis.
    """
    return gap_at(tree, kinematics.poses(tree, q))


def gap_at(tree, frames):
    """Return the gaps (m,), from the poses (4x4) of all links."""
    moves = [Motion(rotation=frame[:3, :3], origin=frame[:3, 3], angular=None, linear=None) for frame in frames]
    return _stacked(tree, moves, lambda u, v: ca.dot(u[0], v[0]), 0)


def gap_rate(tree, q, qd):
    """Return the rates (m,) at which the gaps open, J qd."""
    return _stacked(tree, kinematics.velocities(tree, q, qd), lambda u, v: ca.dot(u[0], v[1]) + ca.dot(u[1], v[0]), 1)


def gap_acceleration(tree, q, qd, qdd=None):
    """Return the second derivatives (m,) of the gaps, J qdd + dJ/dt qd; without `qdd` the bias dJ/dt qd."""
    return _stacked(tree, kinematics.motions(tree, q, qd, qdd),
                    lambda u, v: ca.dot(u[0], v[2]) + 2 * ca.dot(u[1], v[1]) + ca.dot(u[2], v[0]), 2)


def gap_jacobian(tree, q):
    """Return J (m, n) with gap rate = J qd."""
    return gap_slope(tree, kinematics.poses(tree, q))


def gap_slope(tree, frames):
    """Return J (m, n) as `gap_jacobian` does, from the poses (4x4) of all links."""
    blocks = [ca.DM(0, tree.dof)]
    for loop in tree.loops:
        force, start, end = _duals(loop, *_sides(tree, frames, loop))
        first, last = (kinematics.slope(tree, frames, name) for name in (loop.start, loop.end))
        blocks.append(force.T @ (last[3:, :] - first[3:, :]) + start.T @ first[:3, :] + end.T @ last[:3, :])
    return ca.vertcat(*blocks)


def loop_torques(tree, q, multipliers):
    """Return the generalized forces J' multipliers (n,) of the cut joints' forces (m,): N, and about orientations N m.

    A positive multiplier pushes the loop's end, and its start the other way: inverse dynamics = driving torques + loop torques.
    """
    frames, torques = kinematics.poses(tree, q), ca.DM.zeros(tree.dof)
    for (_, link), (moment, force) in loop_wrenches(tree, frames, multipliers).items():
        torques = torques + kinematics.wrench_torques(tree, frames, link, moment, force)
    return torques


def loop_wrenches(tree, frames, multipliers):
    """Return {(loop, link): (moment about the global origin (3, N m), force (3, N))}, global axes, of the cut joints on the links they join."""
    found = {}
    for loop, link, place, moment, force in _actions(tree, frames, multipliers):
        found[loop.name, link] = moment + ca.cross(place, force), force
    return found


def loop_loads(tree, q, multipliers):
    """Return the cut joints' forces as Loads at the loops' points, with which the tree moves as if it were open."""
    names = [name for loop in tree.loops for name in (loop.start, loop.end)]
    actions = _actions(tree, kinematics.poses(tree, q), multipliers)
    return tuple(Load(point=name, force=force, moment=moment) for name, (_, _, _, moment, force) in zip(names, actions))


@dataclass(frozen=True, slots=True, kw_only=True)
class Independence:
    """Which `rows` of the gap are independent of those before them, the names of the `redundant` ones, the `freedom` left (n - rows), and
    whether the configuration asked about is `singular`: there the rows lose rank which elsewhere they have."""

    rows: tuple
    redundant: tuple
    freedom: int
    singular: bool = False


def independent(tree, q=None, *, samples=3, seed=0):
    """Return the Independence of the rows, found in numbers at random configurations in which the loops are closed, near `q` (n,) if given.

    A row is redundant if at none of them its gradient differs from those of the rows before it, such as the closing of a plane mechanism
    across its plane. Raises ValueError if the loops cannot be closed.
    """
    return _independent(tree, None if q is None else tuple(_numbers(q).tolist()), samples, seed)


def close(tree, q, fixed=()):
    """Return coordinates (n,) near `q` in which all loops are closed, the joints named `fixed` held; or each column of (n, k) likewise.

    Damped Gauss-Newton steps of least change, in numbers. A column starts from its own q moved as far as the last one moved, so that a
    curve stays in one assembly. Raises ValueError naming the gap that remains.
    """
    q, free = np.array(q, dtype=float), _free(tree, fixed)
    if q.ndim == 1:
        return _close(tree, q, free)
    found, moved = np.empty_like(q), 0.0
    for k in range(q.shape[1]):
        found[:, k] = _close(tree, q[:, k] + moved, free)
        moved = np.where(free, found[:, k] - q[:, k], 0.0)
    return found


def close_rates(tree, q, qd, fixed=()):
    """Return the rates (n,) nearest to `qd` with J qd = 0, the joints named `fixed` held; raise ValueError if there are none."""
    return _project(tree, q, _numbers(qd), np.zeros(len(labels(tree))), _free(tree, fixed), "rates")


def close_accelerations(tree, q, qd, qdd, fixed=()):
    """Return the accelerations (n,) nearest to `qdd` with J qdd = -dJ/dt qd, the joints named `fixed` held; raise ValueError if there are
    none."""
    bias = _numbers(gap_acceleration(tree, ca.DM(q), ca.DM(qd)))
    return _project(tree, q, _numbers(qdd), -bias, _free(tree, fixed), "accelerations")


# The algebra of one loop --------------------------------------------------------------------------------------------------------

def _stacked(tree, moves, product, order):
    """Return the sums of products of all rows, each factor a vector with its derivatives up to `order`."""
    rows = []
    for loop in tree.loops:
        for terms in _rows(loop, *_sides(tree, moves, loop), order):
            rows.append(sum(weight * product(u, v) for weight, u, v in terms))
    return ca.vertcat(ca.DM(0, 1), *rows)


def _sides(tree, moves, loop):
    """Return the Motion of the loop's start and end point, with the rotations of their links; from poses without velocities."""
    found = []
    for name in (loop.start, loop.end):
        point = tree.point(name)
        move, place = moves[tree.link_index(point.link)], ca.DM(point.position)
        if not isinstance(move, Motion):
            move = Motion(rotation=move[:3, :3], origin=move[:3, 3], angular=None, linear=None)
        arm, speed, push = move.rotation @ place, move.linear, move.linear_acceleration
        if move.angular is not None:
            speed = speed + ca.cross(move.angular, arm)
        if push is not None:
            push = push + ca.cross(move.angular_acceleration, arm) + ca.cross(move.angular, ca.cross(move.angular, arm))
        found.append(replace(move, origin=move.origin + arm, linear=speed, linear_acceleration=push))
    return found


@lru_cache(maxsize=64)
def _axes(loop):
    """Return the loop's axes as columns in the axes of the start's and the end's link."""
    frame, turn = np.array(loop.frame), np.array(loop.turn)
    pair = (turn @ frame, frame) if loop.axes == "end" else (frame, turn.T @ frame)
    return tuple(ca.sparsify(ca.DM(tidy(part))) for part in pair)


def _rows(loop, start, end, order):
    """Return each row as ((weight, factor, factor), ...), a factor being a vector and its derivatives."""
    span = (end.origin - start.origin, *(after - before for after, before in (
        (end.linear, start.linear), (end.linear_acceleration, start.linear_acceleration))[:order]))
    mine, his = _axes(loop)
    guide, constant = {"start": (start, mine), "end": (end, his), "global": (None, ca.DM(np.array(loop.frame)))}[loop.axes]
    rows = [((1.0, _carried(guide, constant[:, "xyz".index(letter)], order), span),) for letter in loop.position]
    for terms in _products(loop.orientation):
        rows.append(tuple((weight, _carried(start, mine[:, i], order), _carried(end, his[:, j], order)) for weight, i, j in terms))
    return rows


def _carried(side, vector, order):
    """Return a vector fixed to a link, in global axes, and its derivatives; of the ground's if there is no link."""
    if side is None:
        return (vector, *[ca.DM.zeros(3)] * order)
    found = [side.rotation @ vector]
    if order > 0:
        found.append(ca.cross(side.angular, found[0]))
    if order > 1:
        found.append(ca.cross(side.angular_acceleration, found[0]) + ca.cross(side.angular, found[1]))
    return tuple(found)


def _products(orientation):
    """Return for each closed axis ((weight, start's axis, end's axis), ...): the products that a small turn of the end about it changes by 1.

    About axis i, with j and k after it: e_k . e'_j grows, e_j . e'_k falls; of two closed axes the end's free one shows both turns.
    """
    closed, rows = ["xyz".index(letter) for letter in orientation], []
    for i in closed:
        j, k = (i + 1) % 3, (i + 2) % 3
        grows, falls = (1.0, k, j), (-1.0, j, k)
        if len(closed) == 3:
            rows.append(((0.5, k, j), (-0.5, j, k)))
        else:
            rows.append((grows,) if len(closed) == 1 or j not in closed else (falls,))
    return rows


def _duals(loop, start, end):
    """Return force, start and end (3, rows) of one loop with gap rate = force . (v_end - v_start) + start . w_start + end . w_end."""
    mine, his = start.rotation @ _axes(loop)[0], end.rotation @ _axes(loop)[1]
    guide = {"start": mine, "end": his, "global": ca.DM(np.array(loop.frame))}[loop.axes]
    none, span = ca.DM(3, 1), end.origin - start.origin
    forces, starts, ends = [ca.DM(3, 0)], [ca.DM(3, 0)], [ca.DM(3, 0)]
    for letter in loop.position:
        axis = guide[:, "xyz".index(letter)]
        turned = ca.cross(axis, span)              # since (w x axis) . span = w . (axis x span)
        for column, value in ((forces, axis), (starts, turned if guide is mine else none), (ends, turned if guide is his else none)):
            column.append(value)
    for terms in _products(loop.orientation):
        moment = sum(weight * ca.cross(his[:, j], mine[:, i]) for weight, i, j in terms)
        for column, value in ((forces, none), (starts, -moment), (ends, moment)):
            column.append(value)
    return ca.horzcat(*forces), ca.horzcat(*starts), ca.horzcat(*ends)


def _actions(tree, frames, multipliers):
    """Return (loop, link, place, moment about it, force) of every loop's start and end, in that order."""
    if (ca.DM(multipliers) if not hasattr(multipliers, "shape") else multipliers).shape[0] != len(labels(tree)):
        raise ValueError(f"multipliers: expected one for each of {len(labels(tree))} rows ({', '.join(labels(tree))})")
    found, first = [], 0
    for loop in tree.loops:
        start, end = _sides(tree, frames, loop)
        force, *moments = _duals(loop, start, end)
        mine = multipliers[first:first + force.shape[1]]
        first += force.shape[1]
        for side, sign, name, moment in zip((start, end), (-1, 1), (loop.start, loop.end), moments):
            found.append((loop, tree.point(name).link, side.origin, moment @ mine, sign * (force @ mine)))
    return found


# Numbers ------------------------------------------------------------------------------------------------------------------------

def _numbers(value):
    return np.array(value, dtype=float).ravel()


def _free(tree, fixed):
    """Tell which coordinates may change."""
    free = np.ones(tree.dof, dtype=bool)
    free[[tree.coordinate(name) for name in fixed]] = False
    return free


def _errors(tree, q):
    """Return what is left to close (m,), its slope (m, n), and whether every loop faces the way it was meant.

    Orientations by their angles, not by sines, so that links that face each other's back turn round: the slope is then that of the turn.
    """
    frames = kinematics.poses(tree, ca.DM(q))
    error, slope, faces, first = _numbers(gap_at(tree, frames)), np.array(gap_slope(tree, frames)), True, 0
    for loop in tree.loops:
        first += len(loop.position)
        closed = ["xyz".index(letter) for letter in loop.orientation]
        if closed:
            ends = [tree.point(name) for name in (loop.start, loop.end)]
            mine, his = (np.array(frames[tree.link_index(end.link)][:3, :3] @ axes) for end, axes in zip(ends, _axes(loop)))
            along, others = np.sum(mine * his, axis=0), [i for i in range(3) if i not in closed]
            cosine = (along.sum() - 1) / 2 if len(closed) == 3 else along[others].mean()
            rows = slice(first, first + len(closed))
            sine = np.linalg.norm(error[rows])
            error[rows] *= np.arctan2(sine, cosine) / sine if sine > 1e-12 else 1.0
            turns = [kinematics.slope(tree, frames, end)[:3, :] for end in ends]
            slope[rows] = mine[:, closed].T @ np.array(turns[1] - turns[0])
            faces &= cosine > 0
            first += len(closed)
    return error, slope, faces


def _close(tree, q, free):
    """Levenberg's steps (1944) in the free coordinates; the damping grows where a step does not help."""
    if q.shape != (tree.dof,) or not np.isfinite(q).all():
        raise ValueError(f"close: q: expected finite coordinates of shape ({tree.dof},) or ({tree.dof}, k), got {q.shape}")
    (error, slope, faces), damping, sizes = _errors(tree, q), 1e-3, []
    for _ in range(STEPS):
        sizes.append(np.linalg.norm(error))
        if np.abs(error).max(initial=0.0) <= FINE or damping > 1e12 or len(sizes) > PATIENCE and sizes[-1] > 0.9 * sizes[-1 - PATIENCE]:
            break
        mine = slope[:, free]
        square = mine @ mine.T
        step = np.zeros(tree.dof)
        scale = max(np.trace(square) / len(error), 1e-12)
        step[free] = mine.T @ np.linalg.solve(square + (damping * scale + 1e-15 * scale) * np.eye(len(error)), -error)
        trial = q + step * min(1.0, STRIDE / max(np.abs(step).max(), 1e-300))
        found = _errors(tree, trial)
        if np.linalg.norm(found[0]) < sizes[-1]:
            q, (error, slope, faces), damping = trial, found, damping / 10
        else:
            damping = max(10 * damping, 1e-12)
    worst = np.argmax(np.abs(error)) if len(error) else None
    if worst is not None and (np.abs(error[worst]) > CLOSED or not faces):
        held = [joint.name for joint, loose in zip(tree.moving, free) if not loose]
        raise ValueError(f"close: the loops cannot be closed from there{' with ' + ', '.join(held) + ' held' if held else ''}: the gap stays at "
                         f"{error[worst]:.3g} {units(tree)[worst]} in {labels(tree)[worst]}{'' if faces else ', links back to back'}")
    return q


def _project(tree, q, wanted, goal, free, what):
    """Return the vector nearest to `wanted` with J vector = goal, changed in the free coordinates alone."""
    slope = np.array(gap_jacobian(tree, ca.DM(q)))
    found = wanted.copy()
    found[free] += np.linalg.lstsq(slope[:, free], goal - slope @ wanted, rcond=1e-10)[0]
    left = np.abs(slope @ found - goal)
    if left.max(initial=0.0) > 1e-8 * max(1.0, np.abs(goal).max(), np.abs(slope @ wanted).max()):
        row = int(np.argmax(left))
        held = ", ".join(joint.name for joint, loose in zip(tree.moving, free) if not loose) or "none"
        raise ValueError(f"close: no {what} keep {labels(tree)[row]} closed (held joints: {held})")
    return found


@lru_cache(maxsize=64)
def examples(tree, q=None, samples=3, seed=0):
    """Return configurations (n,) in which all loops are closed, found from random ones, near `q` (a tuple of n) if given; raise ValueError if
    the loops cannot be closed."""
    found, trouble = [], None
    for start in _starts(tree, q, samples, seed):
        try:
            found.append(_close(tree, start, np.ones(tree.dof, dtype=bool)))
        except ValueError as error:
            trouble = error
        if len(found) == samples + (q is not None):
            break
    if not found:
        raise ValueError(str(trouble))
    return tuple(found)


@lru_cache(maxsize=64)
def _independent(tree, q, samples, seed):
    slopes = [np.array(gap_jacobian(tree, ca.DM(closed))) for closed in examples(tree, q, samples, seed)]
    size = np.maximum(np.max([np.linalg.norm(slope, axis=1) for slope in slopes], axis=0), 1e-9)
    rows, bases = [], [np.empty((0, tree.dof))] * len(slopes)
    for row in range(len(size)):
        rests = [slope[row] / size[row] - base.T @ (base @ slope[row]) / size[row] for slope, base in zip(slopes, bases)]
        new = [np.linalg.norm(rest) > DEPENDENT for rest in rests]
        bases = [np.vstack([base, rest / np.linalg.norm(rest)]) if fresh else base for base, rest, fresh in zip(bases, rests, new)]
        rows += [row] if any(new) else []
    names = labels(tree)
    return Independence(rows=tuple(rows), redundant=tuple(name for row, name in enumerate(names) if row not in rows),
                        freedom=tree.dof - len(rows), singular=q is not None and len(bases[0]) < len(rows))


def _starts(tree, q, samples, seed):
    """Return configurations to close: q and others around it, or random ones within the joints' limits, or a turn or a metre."""
    rng = np.random.default_rng(seed)
    if q is not None:
        return [np.array(q), *(np.array(q) + rng.normal(0.0, 0.1, (samples, tree.dof)))]
    usual = [1.0 if joint.kind == "prismatic" else np.pi for joint in tree.moving]
    lower = np.array([np.clip(joint.position[0], -reach, np.inf) for joint, reach in zip(tree.moving, usual)])
    upper = np.array([np.clip(joint.position[1], -np.inf, reach) for joint, reach in zip(tree.moving, usual)])
    return list(rng.uniform(np.minimum(lower, upper), np.maximum(lower, upper), (TRIALS * samples, tree.dof)))
