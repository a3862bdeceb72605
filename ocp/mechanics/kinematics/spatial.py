"""Rigid motions: SO(3), SE(3), screws, and the Denavit-Hartenberg spelling of a joint.

A screw or twist is six numbers (angular, linear); a pose is a 4x4 homogeneous matrix. Functions of
the joint variable take CasADi expressions (SX, MX, DM) and return the same; functions of constants
are numpy, whose entries may be open.
"""

from collections.abc import Sequence
from functools import lru_cache

import casadi as ca
import numpy as np

from ocp.mechanics.values.parameters import Open, any_nonzero, array, entrywise, is_open, matrix
from ocp.mechanics.values.types import Matrix, Numbers


def skew(v: Matrix) -> Matrix:
    """Return [v], the 3x3 matrix of the cross product: [v] u = v x u."""
    return ca.vertcat(
        ca.horzcat(0, -v[2], v[1]), ca.horzcat(v[2], 0, -v[0]), ca.horzcat(-v[1], v[0], 0)
    )


def pose(rotation: Matrix, translation: Matrix) -> Matrix:
    """Stack a rotation (3x3) and a translation (3) into a pose (4x4)."""
    return ca.vertcat(ca.horzcat(rotation, translation), ca.DM([[0, 0, 0, 1]]))


def exp_screw(screw: Numbers, q: Matrix) -> Matrix:
    """Return exp([S] q) as a pose, for a constant screw S with unit or zero angular part.

        R = 1 + sin q [w] + (1 - cos q) [w]^2
        p = (1 - R) (w x v) + w (w.v) q

    (Sohl & Bobrow 2001, section 2.1; Rodrigues).
    """
    w, v = array(screw[:3]), array(screw[3:])
    if not any_nonzero(w):
        return pose(ca.DM.eye(3), matrix(v) * q)
    hat = np.cross(np.eye(3), w)
    rotation = ca.DM.eye(3) + ca.sin(q) * matrix(hat) + (1 - ca.cos(q)) * matrix(hat @ hat)
    moment = matrix(np.cross(w, v))
    return pose(rotation, moment - rotation @ moment + matrix(w * (w @ v)) * q)


def screw_matrix(screw: Numbers) -> np.ndarray:
    """Return [S], the 4x4 numpy matrix with d/dq exp([S] q) = exp([S] q) [S]."""
    result = _blank(4, 4, *screw)
    result[:3, :3] = np.cross(np.eye(3), array(screw[:3]))
    result[:3, 3] = screw[3:]
    return result


def cross_arrays(u: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Return u x v of two arrays (3,), open or not: numpy's own, of any shapes, takes ten times as
    long."""
    (a, b, c), (x, y, z) = u, v
    return np.array([b * z - c * y, c * x - a * z, a * y - b * x])


def invert(frame: np.ndarray) -> np.ndarray:
    """Return the inverse of a constant pose (4x4 numpy)."""
    result = np.eye(4).astype(frame.dtype)
    result[:3, :3] = frame[:3, :3].T
    result[:3, 3] = -frame[:3, :3].T @ frame[:3, 3]
    return result


def move_screw(frame: np.ndarray, screw: Numbers) -> np.ndarray:
    """Return Ad(frame) screw: the same screw, described in a frame of which `frame` (4x4) gives the
    old one's pose."""
    angular = frame[:3, :3] @ screw[:3]
    return np.concatenate(
        [angular, cross_arrays(frame[:3, 3], angular) + frame[:3, :3] @ screw[3:]]
    )


def rotate_x(angle: float) -> np.ndarray:
    """Return the pose (4x4 numpy) that turns by `angle` (rad) about x."""
    return _turn(angle, 1, 2)


def rotate_y(angle: float) -> np.ndarray:
    """Return the pose (4x4 numpy) that turns by `angle` (rad) about y."""
    return _turn(angle, 2, 0)


def rotate_z(angle: float) -> np.ndarray:
    """Return the pose (4x4 numpy) that turns by `angle` (rad) about z."""
    return _turn(angle, 0, 1)


def translate(x: float | Open, y: float | Open, z: float | Open) -> np.ndarray:
    """Return the pose (4x4 numpy) that shifts by (x, y, z) (m)."""
    shift = np.eye(4) + _blank(4, 4, x, y, z)
    shift[:3, 3] = x, y, z
    return shift


def dh_pose(theta: float, d: float, a: float, alpha: float) -> np.ndarray:
    """Return the constant pose Rot_z(theta) Trans(a, 0, d) Rot_x(alpha).

    Xiang, Arora & Abdel-Malek (2009), eq. 1.
    """
    return _dh_pose(theta, d, a, alpha).copy()


@lru_cache(maxsize=512)
def _dh_pose(theta: float, d: float, a: float, alpha: float) -> np.ndarray:
    return rotate_z(theta) @ translate(a, 0.0, d) @ rotate_x(alpha)


def euler_zxz(rotation: np.ndarray) -> tuple[float, float, float]:
    """Return angles with Rz(beta) Rx(alpha) Rz(phi) = rotation, beta = 0 where it can be.

    Nearly parallel z axes leave beta ill-determined; alpha and phi are read off what remains after
    it, so the product is right regardless.
    """
    beta: float = (
        0.0
        if np.hypot(rotation[0, 2], rotation[1, 2]) < 1e-12
        else np.arctan2(rotation[0, 2], -rotation[1, 2])
    )
    if abs(beta) > np.pi / 2 + 1e-9:
        beta -= np.copysign(np.pi, beta)
    beta = _wrap(beta)
    rest = rotate_z(-beta)[:3, :3] @ rotation
    return (
        beta,
        _wrap(np.arctan2(-rest[1, 2], rest[2, 2])),
        _wrap(np.arctan2(-rest[0, 1], rest[0, 0])),
    )


def _wrap(angle: float) -> float:
    angle = (angle + np.pi) % (2 * np.pi) - np.pi
    return 0.0 if abs(angle) < 1e-14 else angle


def _turn(angle: Numbers, i: int, j: int) -> np.ndarray:
    turn, c, s = np.eye(4) + _blank(4, 4, angle), np.cos(angle), np.sin(angle)
    turn[i, i], turn[i, j], turn[j, i], turn[j, j] = c, -s, s, c
    return tidy(turn)


def _blank(rows: int, columns: int, *entries: Numbers) -> np.ndarray:
    """Return a matrix of zeros that takes these entries, which may be open."""
    return np.zeros((rows, columns)).astype(object if is_open(entries) else float)


def tidy(values: Numbers, tolerance: float = 1e-15) -> np.ndarray:
    """Return an array with entries within `tolerance` of -1, 0 or 1 made exactly so, that graphs
    may fold them; open ones stay as they are."""
    entries = array(values)
    if entries.dtype == object:
        return entrywise(
            lambda entry: entry if isinstance(entry, Open) else float(tidy(entry, tolerance)),
            entries,
        )
    nearest = np.round(entries)
    near = (np.abs(entries - nearest) <= tolerance) & (np.abs(nearest) <= 1)
    return np.where(near, nearest, entries) + 0.0


# Columns of vectors -------------------------------------------------------------------------------


def cross(a: Matrix, b: Matrix) -> Matrix:
    """Return the cross products of the columns of two (3, n)."""
    return ca.cross(a, b, 1)


def cross_with_vector(columns: Matrix, vector: Matrix) -> Matrix:
    """Return columns x vector, for every column."""
    return cross(columns, ca.repmat(vector, 1, columns.shape[1]))


def cross_motion(a: Matrix, b: Matrix) -> Matrix:
    """Return the motions a x b, columns of (6, n)."""
    (w, v), (x, y) = ca.vertsplit(a, 3), ca.vertsplit(b, 3)
    return ca.vertcat(cross(w, x), cross(w, y) + cross(v, x))


def cross_force(motion: Matrix, moment: Matrix, force: Matrix) -> Matrix:
    """Return the wrenches m x* (moment, force), columns of (6, n)."""
    w, v = ca.vertsplit(motion, 3)
    return ca.vertcat(cross(w, moment) + cross(v, force), cross(w, force))


def symmetric_product(entries: Matrix, v: Matrix) -> Matrix:
    """Return symmetric matrices, given by their entries (6, n), times the columns of v (3, n)."""
    return matrix_product(entries, v, (0, 3, 4, 3, 1, 5, 4, 5, 2))


def matrix_product(entries: Matrix, v: Matrix, order: Sequence[int]) -> Matrix:
    """Return 3x3 matrices, whose entries row by row are the rows `order` of `entries`, times the
    columns of v (3, n)."""
    rows, (x, y, z) = ca.vertsplit(entries), ca.vertsplit(v)
    return ca.vertcat(
        *(rows[a] * x + rows[b] * y + rows[c] * z for a, b, c in (order[:3], order[3:6], order[6:]))
    )


def repeat_rows(row: Matrix, count: int) -> Matrix:
    """Return a vector (n,) as `count` equal rows (count, n)."""
    return ca.repmat(ca.reshape(row, 1, -1), count, 1)


def dot(a: Matrix, b: Matrix) -> Matrix:
    """Return the dot products (1, n) of columns."""
    return ca.sum1(a * b)
