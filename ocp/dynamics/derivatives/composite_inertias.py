"""Inertia, its rate, and force of what joints carry, in the ground frame, and the products with
them that derivatives need."""

from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from ocp.dynamics.formulations.ground_frame import Chain, Frames, of_bodies
from ocp.mechanics.kinematics.spatial import across, by_rows, cross, times
from ocp.mechanics.values.memoize import remembered
from ocp.mechanics.values.parameters import array, is_open, matrix
from ocp.mechanics.values.types import Matrix

SX = ca.SX
ENTRIES = (
    (0, 0),
    (1, 1),
    (2, 2),
    (0, 1),
    (0, 2),
    (1, 2),
)  # of a symmetric 3x3 matrix, in the order kept here


@dataclass(frozen=True, slots=True, kw_only=True)
class Bodies:
    """Of all that has mass, or of all that every joint carries, as columns: mass (1), first moment
    h (3), inertia (6: xx yy zz xy xz yz), the upper left of B = [upper, 0; -[m], 0] (9, row by
    row), m (3), twice the momentum, and moment and force (3).

    With V, the integral of v r' by mass, upper = 2 (trace(V) 1 - V).
    """

    mass: Matrix
    first: Matrix
    inertia: Matrix
    upper: Matrix
    twice: Matrix
    moment: Matrix
    force: Matrix


@remembered(4)
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
    motion = (
        *(frames.angular, frames.linear),
        *(frames.angular_acceleration, frames.linear_acceleration, frames.origin),
    )
    w, v, dw, dv, origin = (of_bodies(chain, part) for part in motion)
    arm, first = (
        sum(across(each[i, :], 3) * columns[i] for i in range(3)) for each in (local, first)
    )
    swept, swung, place = cross(w, arm), cross(w, first), origin + arm
    v, dv = v + swept, dv + cross(dw, arm) + cross(w, swept)
    mass, whole = SX(mass), across(mass, 3) * place
    momentum = across(mass, 3) * v + swung
    twice, force = 2 * momentum, across(mass, 3) * dv + cross(dw, first) + cross(w, swung)
    own, opposite = _turned(columns, [body.second for body in bodies])
    bent = ca.vertcat(*(cross(2 * w, by_three) for by_three in opposite))
    bent = bent[[0, 3, 6, 1, 4, 7, 2, 5, 8], :]
    spin = times(own, w) + cross(place, momentum) + cross(first, v)
    moment = times(own, dw) + by_rows(bent, w / 2, range(9))
    return Bodies(
        mass=mass,
        first=whole + first,
        inertia=own + _of_point(whole, place) + shifts(place, first),
        upper=bent + of_point_moving(twice, place) + of_point_moving(2 * v, first),
        twice=twice,
        moment=moment + cross(place, force) + cross(first, dv),
        force=force,
    ), ca.vertcat(spin, momentum)


def _turned(columns, second):
    """Return in the ground frame the inertias (6, m) of second moments P (3x3), given in frames
    whose axes are the `columns`, and the columns of -P, (3, m) each.

    One entry of each diagonal is taken out, which the ground frame has as it is.
    """
    level = [_commonest(np.diag(each)) for each in second]
    rest = array([(np.eye(3) * each - p).ravel() for each, p in zip(level, second)])
    rest = [matrix(row).T for row in rest.T]
    images = [sum(across(rest[3 * r + c], 3) * columns[c] for c in range(3)) for r in range(3)]
    xx, yy, zz, xy, xz, yz = (
        sum(columns[r][i, :] * images[r][j, :] for r in range(3)) for i, j in ENTRIES
    )
    level, trace = (matrix(array(row)).T for row in (level, [np.trace(each) for each in second]))
    inertia = ca.vertcat(*(each + (trace - level) for each in (xx, yy, zz)), xy, xz, yz)
    xx, yy, zz = (each - level for each in (xx, yy, zz))
    return inertia, (ca.vertcat(xx, xy, xz), ca.vertcat(xy, yy, yz), ca.vertcat(xz, yz, zz))


def _commonest(diagonal):
    """Return the entry of a diagonal (3) that leaves most zeros when it is taken from all."""
    if is_open(diagonal):
        return diagonal[2]
    return max(reversed(diagonal), key=lambda entry: np.isclose(diagonal, entry, rtol=1e-14).sum())


def _of_point(h, p):
    """Return the entries of the inertia (6, m) of a mass at p with the first moment h."""
    (x, y, z), (a, b, c) = ca.vertsplit(p), ca.vertsplit(h)
    ax, by, cz = a * x, b * y, c * z
    return ca.vertcat(by + cz, ax + cz, ax + by, -a * y, -a * z, -b * z)


def of_point_moving(twice: Any, p: Any) -> Matrix:
    """Return the upper left (9, m) of B of a mass at p with half the momentum `twice`."""
    (x, y, z), (a, b, c) = ca.vertsplit(p), ca.vertsplit(twice)
    ax, by, cz = a * x, b * y, c * z
    return ca.vertcat(
        *(by + cz, -a * y, -a * z), *(-b * x, ax + cz, -b * z), *(-c * x, -c * y, ax + by)
    )


def shifts(p: Any, l: Any) -> Matrix:
    """Return the entries of 2 (p.l) 1 - p l' - l p'."""
    (x, y, z), (a, b, c) = ca.vertsplit(p), ca.vertsplit(l)
    xa, yb, zc = x * a, y * b, z * c
    return ca.vertcat(
        2 * (yb + zc),
        2 * (xa + zc),
        2 * (xa + yb),
        -(x * b + y * a),
        -(x * c + z * a),
        -(y * c + z * b),
    )


def _rolled(inertia, w):
    """Return the entries of I [w] plus its transpose."""
    xx, yy, zz, xy, xz, yz = ca.vertsplit(inertia)
    x, y, z = ca.vertsplit(w)
    return ca.vertcat(
        2 * (xy * z - xz * y),
        2 * (yz * x - xy * z),
        2 * (xz * y - yz * x),
        (yy - xx) * z + xz * x - yz * y,
        (xx - zz) * y + yz * z - xy * x,
        (zz - yy) * x + xy * y - xz * z,
    )


def stacked(bodies: Bodies) -> Matrix:
    """Return the rows of Bodies, one above the other (28, n)."""
    return ca.densify(ca.vertcat(*(getattr(bodies, name) for name in Bodies.__slots__)))


def unstacked(rows: Matrix) -> Bodies:
    """Return the Bodies of which `stacked` made these rows."""
    return Bodies(**dict(zip(Bodies.__slots__, ca.vertsplit(rows, [0, 1, 4, 10, 19, 22, 25, 28]))))


def duals_of(bodies: Bodies, w: Matrix) -> Matrix:
    """Return of every link (15, n) what the products with virtual twists w are made of.

    These are G = I w (6), the moment (3) of D = B'w, whose force is zero, and by its entries (6)
    the upper left of K, which is symmetric:

        K = [upper, -[G force]; [G force], 0]
    """
    upper = _rolled(bodies.inertia, w[:3, :]) - shifts(w[3:, :], bodies.first)
    return ca.densify(ca.vertcat(wrench_of(bodies, w), bent_back(bodies, w), upper))


def wrench_of(bodies: Bodies, motion: Matrix) -> Matrix:
    """Return I m: the wrench that accelerates the bodies by the motion m."""
    w, v = ca.vertsplit(motion, 3)
    return ca.vertcat(
        times(bodies.inertia, w) + cross(bodies.first, v),
        across(bodies.mass, 3) * v - cross(bodies.first, w),
    )


def bent(bodies: Bodies, motion: Matrix) -> Matrix:
    """Return B m."""
    w = motion[:3, :]
    return ca.vertcat(by_rows(bodies.upper, w, (0, 1, 2, 3, 4, 5, 6, 7, 8)), cross(w, bodies.twice))


def bent_back(bodies: Bodies, motion: Matrix) -> Matrix:
    """Return the moment of B'm, whose force is zero."""
    w, v = ca.vertsplit(motion, 3)
    return by_rows(bodies.upper, w, (0, 3, 6, 1, 4, 7, 2, 5, 8)) + cross(bodies.twice, v)
