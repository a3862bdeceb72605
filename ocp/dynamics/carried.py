"""Inertia, its rate, and force of what joints carry, in the ground frame, and the products with
them that derivatives need."""

from dataclasses import dataclass

import casadi as ca
import numpy as np

from ocp.dynamics.ground_frame import Chain, Frames
from ocp.mechanics.parameters import array, matrix
from ocp.mechanics.spatial import across, by_rows, cross, times
from ocp.mechanics.types import Matrix

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
    """Of every link, or of all that every joint carries, as columns: mass (1), first moment h (3),
    inertia (6: xx yy zz xy xz yz), the upper left of B = [upper, 0; -[m], 0] (9, row by row), m
    (3), twice the momentum, and moment and force (3)."""

    mass: Matrix
    first: Matrix
    inertia: Matrix
    upper: Matrix
    twice: Matrix
    moment: Matrix
    force: Matrix


def bodies_of(chain: Chain, frames: Frames) -> Bodies:
    """Return every link's own Bodies, in the ground frame."""
    constants = [
        (mass, *first, *(np.trace(second) * np.eye(3) - second).ravel())
        for mass, first, second in chain.inertias
    ]
    mass, *local = (matrix(row).T for row in array(constants).T)
    columns = [ca.horzcat(*(turn[:, k] for turn in frames.rotation)) for k in range(3)]
    turned = [
        sum(across(local[3 * r + c], 3) * columns[c] for c in range(3)) for r in range(4)
    ]  # R h, and the columns of R I
    first, lever = (
        turned[0] + across(mass, 3) * frames.origin,
        turned[0] + across(mass / 2, 3) * frames.origin,
    )
    about_origin = [
        sum(columns[c][i, :] * turned[1 + c][j, :] for c in range(3)) for i, j in ENTRIES
    ]
    inertia = ca.vertcat(*about_origin) + _shifts(frames.origin, lever)
    w, v, dw, dv = *ca.vertsplit(frames.twist, 3), *ca.vertsplit(frames.acceleration, 3)
    spin, momentum = times(inertia, w) + cross(first, v), across(mass, 3) * v - cross(first, w)
    xx, yy, zz, xy, xz, yz = ca.vertsplit(_shifts(v, first) - _rolled(inertia, w))
    x, y, z = ca.vertsplit(spin)
    upper = ca.vertcat(xx, xy + z, xz - y, xy - z, yy, yz + x, xz + y, yz - x, zz)
    return Bodies(
        mass=SX(mass),
        first=first,
        inertia=inertia,
        upper=upper,
        twice=2 * momentum,
        moment=times(inertia, dw) + cross(first, dv) + cross(w, spin) + cross(v, momentum),
        force=across(mass, 3) * dv - cross(first, dw) + cross(w, momentum),
    )


def _shifts(p, l):
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
    upper = _rolled(bodies.inertia, w[:3, :]) - _shifts(w[3:, :], bodies.first)
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
