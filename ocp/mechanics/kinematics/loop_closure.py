"""Closed loops: how far a tree's cut joints gape, how that changes, the forces they pass, and
motions made to close them.

A cut joint leaves a tree and adds what it had held: the gap between its two points, which must
vanish, and the force that keeps it so, an external one to the tree (Xiang, Arora & Abdel-Malek
2009, eq. 38). Every entry of a gap is a sum of products of two vectors, of which each is fixed to a
link or joins the two points (the basic constraints of Haug 1989, section 9.4), so that its
derivatives are product rules.

Rows (m,) stand loop by loop, positions (m) before orientations (near closure, rad). Expressions SX,
MX or DM alike, unless said otherwise.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TypeAlias, TypeVar

import casadi as ca

from ocp.mechanics.kinematics import kinematics
from ocp.mechanics.kinematics.rigid_kinematics import Motion, motions_at_rest
from ocp.mechanics.kinematics.spatial import tidy
from ocp.mechanics.model.cut_joints import Loop
from ocp.mechanics.model.loads import Load, Wrench
from ocp.mechanics.model.tree import Tree
from ocp.mechanics.values.parameters import array, matrix
from ocp.mechanics.values.types import Matrix

Part = TypeVar("Part")
Weighted: TypeAlias = tuple[tuple[float, Part, Part], ...]  # a sum of products
Factor: TypeAlias = tuple[Matrix, ...]  # a vector with its derivatives by time

CLOSED, FINE = (
    1e-10,
    1e-13,
)  # m or rad: greatest gap of a closed loop, and the one that the projection aims at
DEPENDENT = 1e-6  # part of a row, beside the rows before it, below which it says nothing new


def gap_labels(tree: Tree) -> tuple[str, ...]:
    """Return the names of the rows, such as "pin: position x"."""
    return tuple(
        f"{loop.name}: {what} {letter}"
        for loop in tree.loops
        for what in ("position", "orientation")
        for letter in getattr(loop, what)
    )


def gap_units(tree: Tree) -> tuple[str, ...]:
    """Return the units of the rows."""
    return tuple(
        unit
        for loop in tree.loops
        for unit in ("m",) * len(loop.position) + ("rad",) * len(loop.orientation)
    )


def gap(tree: Tree, q: Matrix) -> Matrix:
    """Return the gaps (m,), first of position, e . (r_end - r_start), and then of orientation.

    Orientation is made of sums of products of axes of both links, start and (primed) end:

    - about one axis z: y . x', the sine of the turn where nothing else turns, otherwise a universal
      joint about x and y'
    - about two, x and y: -y . z' and x . z', so that z stays free by any angle
    - about three: the sine of the turn along its axis
    """
    return gap_at(tree, kinematics.motions(tree, q))


def gap_at(tree: Tree, moves: Sequence[Motion]) -> Matrix:
    """Return the gaps (m,), from the motions of all links."""
    return _stacked(tree, moves, lambda u, v: ca.dot(u[0], v[0]), 0)


def gap_rate(tree: Tree, q: Matrix, qd: Matrix) -> Matrix:
    """Return the rates (m,) at which the gaps open, J qd."""
    return _stacked(
        tree,
        kinematics.motions(tree, q, qd),
        lambda u, v: ca.dot(u[0], v[1]) + ca.dot(u[1], v[0]),
        1,
    )


def gap_acceleration(tree: Tree, q: Matrix, qd: Matrix, qdd: Matrix = None) -> Matrix:
    """Return the second derivatives (m,) of the gaps, J qdd + dJ/dt qd.

    Without `qdd` this is the bias dJ/dt qd.
    """
    qdd = ca.DM.zeros(tree.dof) if qdd is None else qdd
    return _stacked(
        tree,
        kinematics.motions(tree, q, qd, qdd),
        lambda u, v: ca.dot(u[0], v[2]) + 2 * ca.dot(u[1], v[1]) + ca.dot(u[2], v[0]),
        2,
    )


def gap_jacobian(tree: Tree, q: Matrix) -> Matrix:
    """Return J (m, n) with gap rate = J qd."""
    return gap_slope(tree, kinematics.motions(tree, q))


def gap_slope(tree: Tree, moves: Sequence[Motion]) -> Matrix:
    """Return J (m, n) as `gap_jacobian` does, from the motions of all links."""
    blocks = [ca.DM(0, tree.dof)]
    for loop in tree.loops:
        force, start, end = _duals(loop, *_sides(tree, moves, loop))
        first, last = (kinematics.jacobian_at(tree, moves, name) for name in (loop.start, loop.end))
        blocks.append(
            force.T @ (last[3:, :] - first[3:, :]) + start.T @ first[:3, :] + end.T @ last[:3, :]
        )
    return ca.vertcat(*blocks)


def loop_torques(tree: Tree, q: Matrix, multipliers: Matrix) -> Matrix:
    """Return the generalized forces J' multipliers (n,) of the cut joints' forces (m,).

    These are in N, and about orientations in N m. A positive multiplier pushes the loop's end, and
    its start the other way: inverse dynamics = driving torques + loop torques.
    """
    moves, torques = kinematics.motions(tree, q), ca.DM.zeros(tree.dof)
    for wrench in loop_wrenches(tree, [move.pose for move in moves], multipliers).values():
        torques = torques + kinematics.wrench_torques(tree, moves, wrench)
    return torques


def loop_wrenches(
    tree: Tree, frames: Sequence[Matrix], multipliers: Matrix
) -> dict[tuple[str, str], Wrench]:
    """Return {(loop, link): Wrench}, about the global origin, of the cut joints on the links they
    join."""
    return {
        (loop.name, link): Wrench(link=link, moment=moment + ca.cross(place, force), force=force)
        for loop, link, place, moment, force in _actions(tree, frames, multipliers)
    }


def loop_loads(tree: Tree, q: Matrix, multipliers: Matrix) -> tuple[Load, ...]:
    """Return the cut joints' forces as Loads at the loops' points, with which the tree moves as if
    it were open."""
    names = [name for loop in tree.loops for name in (loop.start, loop.end)]
    actions = _actions(tree, kinematics.poses(tree, q), multipliers)
    return tuple(
        Load(point=name, force=force, moment=moment)
        for name, (_, _, _, moment, force) in zip(names, actions)
    )


# The algebra of one loop --------------------------------------------------------------------------


def _stacked(
    tree: Tree, moves: Sequence[Motion], product: Callable[[Factor, Factor], Matrix], order: int
) -> Matrix:
    """Return the sums of products of all rows, each factor a vector with its derivatives up to
    `order`."""
    rows = []
    for loop in tree.loops:
        for terms in _rows(loop, *_sides(tree, moves, loop), order):
            rows.append(sum(weight * product(u, v) for weight, u, v in terms))
    return ca.vertcat(ca.DM(0, 1), *rows)


def _sides(tree: Tree, moves: Sequence[Motion], loop: Loop) -> tuple[Motion, Motion]:
    """Return the Motion of the loop's start and end point, with the rotations of their links."""
    start, end = (kinematics.point_motion(tree, moves, name) for name in (loop.start, loop.end))
    return start, end


@lru_cache(maxsize=64)
def _axes(loop: Loop) -> tuple[Matrix, ...]:
    """Return the loop's axes as columns in the axes of the start's and the end's link."""
    frame, turn = array(loop.frame), array(loop.turn)
    pair = (turn @ frame, frame) if loop.axes == "end" else (frame, turn.T @ frame)
    return tuple(ca.sparsify(matrix(tidy(part))) for part in pair)


def _rows(loop: Loop, start: Motion, end: Motion, order: int) -> list[Weighted[Factor]]:
    """Return each row as ((weight, factor, factor), ...), a factor being a vector and its
    derivatives."""
    span = (
        end.origin - start.origin,
        *(
            after - before
            for after, before in (
                (end.linear, start.linear),
                (end.linear_acceleration, start.linear_acceleration),
            )[:order]
        ),
    )
    at_start, at_end = _axes(loop)
    guide, constant = {
        "start": (start, at_start),
        "end": (end, at_end),
        "global": (None, matrix(loop.frame)),
    }[loop.axes]
    rows: list[Weighted[Factor]] = [
        ((1.0, _carried(guide, constant[:, "xyz".index(letter)], order), span),)
        for letter in loop.position
    ]
    for terms in _products(loop.orientation):
        rows.append(
            tuple(
                (weight, _carried(start, at_start[:, i], order), _carried(end, at_end[:, j], order))
                for weight, i, j in terms
            )
        )
    return rows


def _carried(side: Motion | None, vector: Matrix, order: int) -> Factor:
    """Return a vector fixed to a link, in global axes, and its derivatives; of the ground's if
    there is no link."""
    if side is None:
        return (vector, *[ca.DM.zeros(3)] * order)
    derivatives = [side.rotation @ vector]
    if order > 0:
        derivatives.append(ca.cross(side.angular, derivatives[0]))
    if order > 1:
        derivatives.append(
            ca.cross(side.angular_acceleration, derivatives[0])
            + ca.cross(side.angular, derivatives[1])
        )
    return tuple(derivatives)


def _products(orientation: str) -> list[Weighted[int]]:
    """Return for each closed axis ((weight, start's axis, end's axis), ...): the products that a
    small turn of the end about it changes by 1.

    About axis i, with j and k after it: e_k . e'_j grows, e_j . e'_k falls; of two closed axes the
    end's free one shows both turns.
    """
    closed = ["xyz".index(letter) for letter in orientation]
    rows: list[Weighted[int]] = []
    for i in closed:
        j, k = (i + 1) % 3, (i + 2) % 3
        grows, falls = (1.0, k, j), (-1.0, j, k)
        if len(closed) == 3:
            rows.append(((0.5, k, j), (-0.5, j, k)))
        else:
            rows.append((grows,) if len(closed) == 1 or j not in closed else (falls,))
    return rows


def _duals(loop: Loop, start: Motion, end: Motion) -> tuple[Matrix, Matrix, Matrix]:
    """Return force, start and end (3, rows) of one loop.

    With them the rates of its gaps are

        force . (v_end - v_start) + start . w_start + end . w_end
    """
    at_start, at_end = start.rotation @ _axes(loop)[0], end.rotation @ _axes(loop)[1]
    guide = {"start": at_start, "end": at_end, "global": matrix(loop.frame)}[loop.axes]
    none, span = ca.DM(3, 1), end.origin - start.origin
    forces, starts, ends = [ca.DM(3, 0)], [ca.DM(3, 0)], [ca.DM(3, 0)]
    for letter in loop.position:
        axis = guide[:, "xyz".index(letter)]
        turned = ca.cross(axis, span)  # since (w x axis) . span = w . (axis x span)
        for column, value in (
            (forces, axis),
            (starts, turned if guide is at_start else none),
            (ends, turned if guide is at_end else none),
        ):
            column.append(value)
    for terms in _products(loop.orientation):
        moment = sum(weight * ca.cross(at_end[:, j], at_start[:, i]) for weight, i, j in terms)
        for column, value in ((forces, none), (starts, -moment), (ends, moment)):
            column.append(value)
    return ca.horzcat(*forces), ca.horzcat(*starts), ca.horzcat(*ends)


def _actions(
    tree: Tree, frames: Sequence[Matrix], multipliers: Matrix
) -> list[tuple[Loop, str, Matrix, Matrix, Matrix]]:
    """Return (loop, link, place, moment about it, force) of every loop's start and end, in that
    order."""
    if (ca.DM(multipliers) if not hasattr(multipliers, "shape") else multipliers).shape[0] != len(
        gap_labels(tree)
    ):
        raise ValueError(
            f"multipliers: expected one for each of {len(gap_labels(tree))} rows "
            f"({', '.join(gap_labels(tree))})"
        )
    wrenches_of_loops, first = [], 0
    moves = motions_at_rest(frames)
    for loop in tree.loops:
        start, end = _sides(tree, moves, loop)
        force, *moments = _duals(loop, start, end)
        passed = multipliers[first : first + force.shape[1]]
        first += force.shape[1]
        for side, sign, name, moment in zip((start, end), (-1, 1), (loop.start, loop.end), moments):
            wrenches_of_loops.append(
                (loop, tree.point(name).link, side.origin, moment @ passed, sign * (force @ passed))
            )
    return wrenches_of_loops
