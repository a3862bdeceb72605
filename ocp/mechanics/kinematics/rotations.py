"""Logarithms and exponentials of rotations and poses, and rotations as quaternions.

A turn (3,) is a rotation's axis times its angle (rad); a twist (6,) is (turn, linear) as in
`spatial`. All take CasADi expressions (SX, MX, DM) and numpy, return CasADi's, and have finite
derivatives everywhere: where a formula divides by an angle, its series takes over near zero. A
logarithm has an angle of at most pi. There its two signs are equally right: the axis jumps, the
angle does not, and rounding decides which sign comes; each is exact.
"""

from collections.abc import Sequence
from math import comb, factorial

import casadi as ca
from numpy.typing import ArrayLike

from ocp.mechanics.kinematics.spatial import pose, skew
from ocp.mechanics.values.types import Matrix, Numbers

SMALL = 1e-2  # squared angle, or squared sine of half of it, below which series are taken
TERMS = 9
# arcsin(r) / r, sin(r) / r, (1 - cos r) / r^2 and (r - sin r) / r^3, in powers of r^2
ARC = [comb(2 * k, k) / (4**k * (2 * k + 1)) for k in range(TERMS)]
SINE, VERSINE, EXCESS = (
    [(-1) ** k / factorial(2 * k + n) for k in range(TERMS)] for n in (1, 2, 3)
)
# (1 - r/2 cot(r/2)) / r^2: Bernoulli numbers over factorials
COTANGENT = [1 / 12, 1 / 720, 1 / 30240, 1 / 1209600, 1 / 47900160, 691 / 1307674368000]


def exp_rotation(turn: Matrix | ArrayLike) -> Matrix:
    """Return the rotation (3x3) by a turn (3, rad).

    exp [w] = 1 + sin f / f [w] + (1 - cos f) / f^2 [w]^2, f = |w| (Sohl & Bobrow 2001, eq. 5).
    """
    turn = _sized("turn", turn, (3, 1))
    sine, versine, _ = _coefficients(turn)
    hat = skew(turn)
    return ca.DM.eye(3) + sine * hat + versine * hat @ hat


def exp_twist(twist: Matrix | ArrayLike) -> Matrix:
    """Return the pose (4x4) that a twist (6,) brings about.

    exp (w, v) = (exp [w], A v), A = 1 + (1 - cos f) / f^2 [w] + (f - sin f) / f^3 [w]^2
    (Sohl & Bobrow 2001, eq. 6).
    """
    turn, linear = ca.vertsplit(_sized("twist", twist, (6, 1)), 3)
    _, versine, excess = _coefficients(turn)
    hat = skew(turn)
    return pose(exp_rotation(turn), linear + versine * hat @ linear + excess * hat @ hat @ linear)


def log_rotation(rotation: Matrix | ArrayLike) -> Matrix:
    """Return the turn (3, rad) of a rotation (3x3), at most pi: the inverse of `exp_rotation`.

    It goes by the quaternion, and so keeps all its digits where eq. 7 of Sohl & Bobrow (2001),
    f (Q - Q') / (2 sin f), divides zero by zero: near half turns and at them.
    """
    return _turn(quaternion(rotation))


def log_pose(matrix: Matrix | ArrayLike) -> Matrix:
    """Return the twist (6,) of a pose, a `matrix` (4x4): the inverse of `exp_twist`.

    Its angle is at most pi.

    v = A^-1 b, A^-1 = 1 - [w]/2 + (1 - (f/2) cot(f/2)) / f^2 [w]^2, which is eq. 8 of Sohl & Bobrow
    (2001) in the half angle and holds at half turns too.
    """
    matrix = _sized("pose", matrix, (4, 4))
    half = quaternion(matrix[:3, :3])
    turn, place = _turn(half), matrix[:3, 3]
    once = ca.cross(turn, place)
    linear = place - once / 2 + _cotangent(half, turn) * ca.cross(turn, once)
    return ca.vertcat(turn, linear)


def interpolate_pose(first: Matrix | ArrayLike, last: Matrix | ArrayLike, s: Matrix) -> Matrix:
    """Return the pose (4x4) at s in [0, 1] on the screw motion from one pose to another.

    first exp(s log(first^-1 last)); from a pose to one turned by more than half a turn it goes the
    shorter way.
    """
    first, last = _sized("first pose", first, (4, 4)), _sized("last pose", last, (4, 4))
    return first @ exp_twist(s * log_pose(relative_pose(first, last)))


def relative_pose(first: Matrix | ArrayLike, last: Matrix | ArrayLike) -> Matrix:
    """Return first^-1 last: the pose (4x4) `last` as it is seen from the pose `first`."""
    first, last = _sized("first pose", first, (4, 4)), _sized("last pose", last, (4, 4))
    back = first[:3, :3].T
    return pose(back @ last[:3, :3], back @ (last[:3, 3] - first[:3, 3]))


def quaternion(rotation: Matrix | ArrayLike) -> Matrix:
    """Return the unit quaternion (4,), its scalar first and not negative, of a rotation (3x3).

    It is the column of 4 q q', whose entries are linear in the rotation, with the largest pivot.
    """
    r = _sized("rotation", rotation, (3, 3))
    x, y, z = r[0, 0], r[1, 1], r[2, 2]
    wx, wy, wz = r[2, 1] - r[1, 2], r[0, 2] - r[2, 0], r[1, 0] - r[0, 1]
    xy, yz, zx = r[1, 0] + r[0, 1], r[2, 1] + r[1, 2], r[0, 2] + r[2, 0]
    pivots = (1 + x + y + z, 1 + x - y - z, 1 - x + y - z, 1 - x - y + z)
    columns = (
        (pivots[0], wx, wy, wz),
        (wx, pivots[1], xy, zx),
        (wy, xy, pivots[2], yz),
        (wz, zx, yz, pivots[3]),
    )
    chosen, largest = ca.vertcat(*columns[0]), pivots[0]
    for pivot, column in zip(pivots[1:], columns[1:]):
        chosen = ca.if_else(pivot > largest, ca.vertcat(*column), chosen)
        largest = ca.fmax(largest, pivot)
    return chosen * ca.if_else(chosen[0] < 0, -1, 1) / ca.sqrt(ca.sumsqr(chosen))


def quaternion_product(first: Matrix | ArrayLike, second: Matrix | ArrayLike) -> Matrix:
    """Return the product (4,) of two quaternions: of turns, the first turn after the second."""
    first, second = _matrix(first), _matrix(second)
    a, b, u, v = first[0], second[0], first[1:], second[1:]
    return ca.vertcat(a * b - ca.dot(u, v), a * v + b * u + ca.cross(u, v))


def quaternion_conjugate(unit: Matrix | ArrayLike) -> Matrix:
    """Return the quaternion (4,) of the turn back, of a `unit` quaternion."""
    unit = _matrix(unit)
    return ca.vertcat(unit[0], -unit[1:])


def _sized(what: str, value: Numbers, shape: tuple[int, int]) -> Matrix:
    """Return a matrix of that shape; raise ValueError naming what it is and the shape it has."""
    matrix = _matrix(value)
    if matrix.shape != shape:
        raise ValueError(f"{what}: expected shape {shape}, got {matrix.shape}")
    return matrix


def _matrix(value: Numbers) -> Matrix:
    return value if isinstance(value, ca.SX | ca.MX | ca.DM) else ca.DM(value)


def _turn(half: Matrix) -> Matrix:
    """Return the turn (3,) of a unit quaternion: angle / sin(angle / 2) times its vector."""
    size = ca.sumsqr(half[1:])
    near = size < SMALL
    sine = ca.sqrt(ca.if_else(near, 1, size))
    return 2 * ca.if_else(near, _series(ARC, size), ca.atan2(sine, half[0]) / sine) * half[1:]


def _cotangent(half: Matrix, turn: Matrix) -> Matrix:
    """Return (1 - (f/2) cot(f/2)) / f^2 of a turn of angle f and its unit quaternion."""
    size = ca.sumsqr(turn)
    near = size < SMALL
    angle = ca.sqrt(ca.if_else(near, 1, size))
    sine = ca.sqrt(ca.if_else(near, 1, ca.sumsqr(half[1:])))
    return ca.if_else(near, _series(COTANGENT, size), (1 - angle / 2 * half[0] / sine) / angle**2)


def _coefficients(turn: Matrix) -> tuple[Matrix, Matrix, Matrix]:
    """Return sin f / f, (1 - cos f) / f^2 and (f - sin f) / f^3 of the angle f of a turn."""
    size = ca.sumsqr(turn)
    near = size < SMALL
    angle = ca.sqrt(ca.if_else(near, 1, size))
    sine, half = ca.sin(angle), ca.sin(angle / 2)
    return (
        ca.if_else(near, _series(SINE, size), sine / angle),
        ca.if_else(near, _series(VERSINE, size), 2 * half**2 / angle**2),
        ca.if_else(near, _series(EXCESS, size), (angle - sine) / angle**3),
    )


def _series(coefficients: Sequence[float], x: Matrix) -> Matrix:
    """Return the sum of coefficients times powers of x, by Horner's rule."""
    total: Matrix = coefficients[-1]
    for coefficient in reversed(coefficients[:-1]):
        total = coefficient + x * total
    return total
