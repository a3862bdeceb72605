"""Composite inertias, their rates and forces in the ground frame, and products with them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import casadi as ca
import numpy as np

from ocp.dynamics.derivatives.ground_frame import Chain, Frames, body_columns
from ocp.dynamics.matrix_entries import split_rows
from ocp.mechanics.kinematics.spatial import cross, matrix_product, repeat_rows, symmetric_product
from ocp.mechanics.values.memoize import memoize
from ocp.mechanics.values.parameters import array, is_open, matrix
from ocp.mechanics.values.types import Matrix

SX = ca.SX
# Entries of a symmetric 3x3 matrix, in the order kept here, and of any 3x3 matrix by columns.
ENTRIES = *((i, i) for i in range(3)), (0, 1), (0, 2), (1, 2)
BY_COLUMNS = (0, 3, 6, 1, 4, 7, 2, 5, 8)
Columns: TypeAlias = Sequence[Matrix]


@dataclass(frozen=True, slots=True, kw_only=True)
class Bodies:
    """Everything that has mass, or all that every joint carries, as columns.

    Fields: mass (1), first moment h (3), inertia (6: xx yy zz xy xz yz), the upper left of
    B = [upper, 0; -[m], 0] (9, row by row), m (3), twice the momentum, and moment and force (3).
    With V, the integral of v r' by mass, upper = 2 (trace(V) 1 - V).
    """

    mass: Matrix
    first: Matrix
    inertia: Matrix
    upper: Matrix
    twice: Matrix
    moment: Matrix
    force: Matrix


@memoize(4)
def bodies_of(chain: Chain, frames: Frames) -> tuple[Bodies, Matrix]:
    """Return the Bodies of what moves, in the ground frame, and their momenta (6, m), moment first.

    With the first and second moments h and P of a body about a place in it,  V = [w] P + v h' of
    those, and that of its mass there.
    """
    bodies = chain.bodies
    mass, local, first = (
        matrix(array([getattr(body, name) for body in bodies])).T
        for name in ("mass", "place", "first")
    )
    columns = [
        ca.horzcat(*(frames.rotation[body.carrier][:, i] for body in bodies)) for i in range(3)
    ]
    w, v, origin = (
        body_columns(chain, part) for part in (frames.angular, frames.linear, frames.origin)
    )
    dw = body_columns(chain, frames.angular_acceleration)
    dv = body_columns(chain, frames.linear_acceleration)
    arm, first = (
        sum(repeat_rows(each[i, :], 3) * columns[i] for i in range(3)) for each in (local, first)
    )
    swept, swung, place = cross(w, arm), cross(w, first), origin + arm
    v, dv = v + swept, dv + cross(dw, arm) + cross(w, swept)
    mass, whole = SX(mass), repeat_rows(mass, 3) * place
    momentum = repeat_rows(mass, 3) * v + swung
    twice, force = 2 * momentum, repeat_rows(mass, 3) * dv + cross(dw, first) + cross(w, swung)
    own, opposite = _inertias(columns, [body.second for body in bodies])
    bent = ca.vertcat(*(cross(2 * w, by_three) for by_three in opposite))[BY_COLUMNS, :]
    spin = symmetric_product(own, w) + cross(place, momentum) + cross(first, v)
    moment = symmetric_product(own, dw) + matrix_product(bent, w / 2, range(9))
    return Bodies(
        mass=mass,
        first=whole + first,
        inertia=own + _of_point(whole, place) + shifts(place, first),
        upper=bent + of_point_moving(twice, place) + of_point_moving(2 * v, first),
        twice=twice,
        moment=moment + cross(place, force) + cross(first, dv),
        force=force,
    ), ca.vertcat(spin, momentum)


def _inertias(columns: Columns, second: Sequence[np.ndarray]) -> tuple[Matrix, Columns]:
    """Return in the ground frame the inertias (6, m) of second moments P (3x3), given in frames
    whose axes are the `columns`, and the columns of -P, (3, m) each.

    One entry of each diagonal is taken out, which the ground frame has as it is.
    """
    level = [_commonest(np.diag(each)) for each in second]
    others = array([(np.eye(3) * each - p).ravel() for each, p in zip(level, second)])
    rest = [matrix(row).T for row in others.T]
    images = [sum(repeat_rows(rest[3 * r + c], 3) * columns[c] for c in range(3)) for r in range(3)]
    xx, yy, zz, xy, xz, yz = (
        sum(columns[r][i, :] * images[r][j, :] for r in range(3)) for i, j in ENTRIES
    )
    levels = matrix(array(level)).T
    traces = matrix(array([np.trace(each) for each in second])).T
    inertia = ca.vertcat(*(each + (traces - levels) for each in (xx, yy, zz)), xy, xz, yz)
    xx, yy, zz = (each - levels for each in (xx, yy, zz))
    return inertia, (ca.vertcat(xx, xy, xz), ca.vertcat(xy, yy, yz), ca.vertcat(xz, yz, zz))


def _commonest(diagonal: np.ndarray) -> float:
    """Return the entry of a diagonal (3) that leaves most zeros when it is taken from all."""
    if is_open(diagonal):
        return diagonal[2]
    return max(reversed(diagonal), key=lambda entry: np.isclose(diagonal, entry, rtol=1e-14).sum())


def _of_point(h: Matrix, p: Matrix) -> Matrix:
    """Return the entries of the inertia (6, m) of a mass at p with the first moment h."""
    (x, y, z), (a, b, c) = split_rows(p), split_rows(h)
    ax, by, cz = a * x, b * y, c * z
    return ca.vertcat(by + cz, ax + cz, ax + by, -a * y, -a * z, -b * z)


def of_point_moving(twice: Matrix, p: Matrix) -> Matrix:
    """Return the upper left (9, m) of B of a mass at p with half the momentum `twice`."""
    (x, y, z), (a, b, c) = split_rows(p), split_rows(twice)
    ax, by, cz = a * x, b * y, c * z
    rows = (by + cz, -a * y, -a * z), (-b * x, ax + cz, -b * z), (-c * x, -c * y, ax + by)
    return ca.vertcat(*(entry for row in rows for entry in row))


def shifts(p: Matrix, l: Matrix) -> Matrix:
    """Return the entries of 2 (p.l) 1 - p l' - l p'."""
    (x, y, z), (a, b, c) = split_rows(p), split_rows(l)
    xa, yb, zc = x * a, y * b, z * c
    return ca.vertcat(
        2 * (yb + zc),
        2 * (xa + zc),
        2 * (xa + yb),
        -(x * b + y * a),
        -(x * c + z * a),
        -(y * c + z * b),
    )


def _inertia_slope(inertia: Matrix, w: Matrix) -> Matrix:
    """Return the entries of I [w] plus its transpose."""
    xx, yy, zz, xy, xz, yz = split_rows(inertia)
    x, y, z = split_rows(w)
    return ca.vertcat(
        2 * (xy * z - xz * y),
        2 * (yz * x - xy * z),
        2 * (xz * y - yz * x),
        (yy - xx) * z + xz * x - yz * y,
        (xx - zz) * y + yz * z - xy * x,
        (zz - yy) * x + xy * y - xz * z,
    )


def stack_bodies(bodies: Bodies) -> Matrix:
    """Return the rows of Bodies, one above the other (28, n)."""
    return ca.densify(ca.vertcat(*(getattr(bodies, name) for name in Bodies.__slots__)))


def unstack_bodies(rows: Matrix) -> Bodies:
    """Return the Bodies of which `stacked` made these rows."""
    return Bodies(**dict(zip(Bodies.__slots__, split_rows(rows, [0, 1, 4, 10, 19, 22, 25, 28]))))


def duals_of(bodies: Bodies, w: Matrix) -> Matrix:
    """Return the parts (15, n) of the products of every link with virtual twists w.

    They are G = I w (6), the moment (3) of D = B'w, whose force is zero, and by its entries (6) the
    upper left of K, which is symmetric:

        K = [upper, -[G force]; [G force], 0]
    """
    upper = _inertia_slope(bodies.inertia, w[:3, :]) - shifts(w[3:, :], bodies.first)
    return ca.densify(ca.vertcat(wrench_of(bodies, w), coriolis_moment(bodies, w), upper))


def wrench_of(bodies: Bodies, motion: Matrix) -> Matrix:
    """Return I m: the wrench that accelerates the bodies by the motion m."""
    w, v = split_rows(motion, 3)
    return ca.vertcat(
        symmetric_product(bodies.inertia, w) + cross(bodies.first, v),
        repeat_rows(bodies.mass, 3) * v - cross(bodies.first, w),
    )


def coriolis_wrench(bodies: Bodies, motion: Matrix) -> Matrix:
    """Return B m."""
    w = motion[:3, :]
    return ca.vertcat(matrix_product(bodies.upper, w, range(9)), cross(w, bodies.twice))


def coriolis_moment(bodies: Bodies, motion: Matrix) -> Matrix:
    """Return the moment of B'm, whose force is zero."""
    w, v = split_rows(motion, 3)
    return matrix_product(bodies.upper, w, BY_COLUMNS) + cross(bodies.twice, v)
