"""Poses as products of exponentials about coordinate axes: every Ad acts by plane turns and shifts.

After Sohl & Bobrow (2001).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import casadi as ca
import numpy as np

from ocp.dynamics.matrix_entries import sparse_matrix
from ocp.mechanics.kinematics.spatial import euler_zxz, rotate_z, skew, tidy
from ocp.mechanics.model.joints import Joint
from ocp.mechanics.values.parameters import any_nonzero, array, is_open, matrix
from ocp.mechanics.values.types import Matrix
from ocp.mechanics.values.validation import freeze, is_identically_zero


@dataclass(frozen=True, slots=True, kw_only=True)
class Exponential:
    """A turn about a coordinate axis and a shift along it, or any of both where `axis` is None.

    `turn` and `slide` (6x6) make up the Ad of its inverse.
    """

    axis: int | None
    turn: Matrix
    slide: Matrix


def _exponential(axis: int, angle: Matrix | float, shift: Matrix | float) -> Exponential:
    i, j = (axis + 1) % 3, (axis + 2) % 3
    c, s = ca.cos(angle), ca.sin(angle)
    if isinstance(angle, float):
        c, s = tidy([np.cos(angle), np.sin(angle)]).tolist()
    turn = sparse_matrix(3, {(axis, axis): 1.0, (i, i): c, (j, j): c, (i, j): s, (j, i): -s})
    slide = sparse_matrix(
        6, {(k, k): 1.0 for k in range(6)} | {(3 + i, j): shift, (3 + j, i): -shift}
    )
    return Exponential(axis=axis, turn=ca.diagcat(turn, turn), slide=slide)


def exponentials(joint: Joint, q: Matrix) -> list[Exponential]:
    """Return T as exponentials about z, y, x and z, the joint's own within the last; about x and z
    alone in frames laid as Denavit and Hartenberg lay them.

    All are so but the first, those of branches and those whose axes are nearly parallel.
    """
    if joint.screw is None:
        return []
    home, kind = array(joint.home), joint.kind
    if is_open(home[:3, :3]):
        return _open_exponentials(joint, home, q)
    beta, alpha, phi = euler_zxz(home[:3, :3])
    a, y, z = rotate_z(-beta)[:3, :3] @ home[:3, 3]
    along, aside = z * np.cos(alpha) - y * np.sin(alpha), y * np.cos(alpha) + z * np.sin(alpha)
    if is_open([along, aside]):
        in_line = is_identically_zero(aside)  # whatever the parameters' values
    else:
        in_line = abs(aside) <= 1e-14 * (1 + abs(along))
    b, y, d = (0.0, 0.0, along) if in_line else (z, y, 0.0)
    constants = (2, beta, b), (1, 0.0, y), (0, alpha, a)
    angle = phi if kind == "prismatic" else q + phi if phi else q
    return [
        *(
            _exponential(axis, turn, freeze(shift))
            for axis, turn, shift in constants
            if turn or any_nonzero([shift])
        ),
        _exponential(2, angle, freeze(d) if kind == "revolute" else d + joint.screw[5] * q),
    ]


def _open_exponentials(joint: Joint, home: np.ndarray, q: Matrix) -> list[Exponential]:
    """Return T as two factors: its home, any turn and shift, and the joint's own about z."""
    turn, shift = matrix(home[:3, :3]).T, matrix(home[:3, 3])
    own = 0.0 if joint.kind == "revolute" else joint.screw[5] * q
    slide = ca.vertcat(
        ca.horzcat(ca.DM.eye(3), ca.DM(3, 3)), ca.horzcat(-skew(shift), ca.DM.eye(3))
    )
    return [
        Exponential(axis=None, turn=ca.diagcat(turn, turn), slide=slide),
        _exponential(2, 0.0 if joint.kind == "prismatic" else q, own),
    ]


def to_child(factors: Sequence[Exponential], twist: Matrix) -> Matrix:
    """Return Ad V, a parent's twist (6) in and about the child's frame."""
    for factor in factors:
        twist = factor.turn @ (factor.slide @ twist)
    return twist


def to_parent(factors: Sequence[Exponential], wrench: Matrix) -> Matrix:
    """Return Ad* F, a child's wrenches (6, m) in and about the parent's frame."""
    for factor in reversed(factors):
        wrench = factor.slide.T @ (factor.turn.T @ wrench)
    return wrench


def bend_to_parent(factors: Sequence[Exponential], bend: Matrix) -> Matrix:
    """Return Ad* B Ad of two matrices B, of each the columns for turns; those for shifts vanish."""
    for factor in reversed(factors):
        bend = factor.slide.T @ (factor.turn.T @ (bend @ factor.turn))
    return bend


def inertia_to_parent(factors: Sequence[Exponential], inertia: Matrix) -> Matrix:
    """Return Ad* J Ad of a symmetric J, by a function for every axis: an expression is put in it as
    a whole, not entry by entry."""
    for factor in reversed(factors):
        turn, arm = factor.turn[:3, :3], -factor.slide[3:, :3]
        inertia = _inertia_transport(factor.axis)(turn, arm, inertia)
    return inertia if isinstance(inertia, ca.MX) else ca.sparsify(inertia)


@cache
def _inertia_transport(axis: int | None) -> ca.Function:
    """Return the Function (R, arm of the shift, J) -> Ad* J Ad (6x6) of a symmetric
    J = [A, H; H', C] by an Exponential about an axis, by blocks: a third of the products of
    matrices."""
    turn, arm, inertia = ca.SX.sym("R", 3, 3), ca.SX.sym("arm", 3, 3), ca.SX.sym("J", 6, 6)
    blocks = inertia[:3, :3], inertia[:3, 3:], inertia[3:, 3:]
    a, h, c = (_turn_block(axis, turn, block) for block in blocks)
    lever = h + arm @ c
    a, c = (ca.triu2symm(ca.triu(block)) for block in (a + arm @ lever.T + h @ arm.T, c))
    moved = ca.vertcat(ca.horzcat(a, lever), ca.horzcat(lever.T, c))
    return ca.Function("carrying", [turn, arm, inertia], [moved])


def _turn_block(axis: int | None, turn: Matrix, block: Matrix) -> Matrix:
    """Return R block R', (3x3), about a coordinate axis in 12 products."""
    if axis is None:
        return turn.T @ block @ turn
    i, j, k = (axis + 1) % 3, (axis + 2) % 3, axis
    c, s = turn[i, i], turn[i, j]
    lean = s * (block[i, i] - block[j, j]) + c * (block[i, j] + block[j, i])
    return sparse_matrix(
        3,
        {
            (i, i): block[i, i] - s * lean,
            (j, j): block[j, j] + s * lean,
            (i, j): c * lean - block[j, i],
            (j, i): c * lean - block[i, j],
            (i, k): c * block[i, k] - s * block[j, k],
            (j, k): s * block[i, k] + c * block[j, k],
            (k, k): block[k, k],
            (k, i): c * block[k, i] - s * block[k, j],
            (k, j): s * block[k, i] + c * block[k, j],
        },
    )


def ad(twist: Matrix) -> Matrix:
    """Return the matrix (6x6) of [V, .]; its transpose is ad*_V."""
    angular, linear = skew(twist[:3]), skew(twist[3:])
    return ca.vertcat(ca.horzcat(angular, ca.DM(3, 3)), ca.horzcat(linear, angular))


def body_matrix(mass: float, first: np.ndarray, second: np.ndarray) -> Matrix:
    """Return J (6x6) from mass, first moment and pseudo-inertia about the frame's origin."""
    hat, (xx, yy, zz) = np.cross(np.eye(3), first), np.diag(second)
    inertia = np.diag([yy + zz, xx + zz, xx + yy]) + np.diag(np.diag(second)) - second
    return ca.sparsify(matrix(np.block([[inertia, hat], [hat.T, mass * np.eye(3)]])))


def in_link_axes(
    parents: Sequence[int], factors: Sequence[Sequence[Exponential]], k: int, vectors: Matrix
) -> Matrix:
    """Return vectors (3 m) of global axes in the axes of link k."""
    if parents[k] >= 0:
        vectors = in_link_axes(parents, factors, parents[k], vectors)
    for factor in factors[k]:
        vectors = factor.turn @ vectors
    return vectors
