"""The configuration space method: gravity, inertia and Coriolis coefficients as functions of the
place q alone, to be tabulated.

    tau_i = G_i(q) + sum_j J_ij(q) qdd_j + sum_j sum_k C_ijk(q) qd_j qd_k - loads

Hollerbach (1980), last section and tables I, II, after Horn & Raibert (1978). His J is M here. In
the ground frame, with joint twists S and the inertia I_c of all that joint c carries, the motion of
one link accelerates by (S_k x S_j) qd_k qd_j for k before j, and its momentum turns with it; an
inertia is linear in its masses, so that for joints a, b, c on one way outward, of which some may be
the same,

    C_abc = S_a.(p + z),  C_bac = S_a.(p - z) = -C_cab,  C_ijk = C_ikj
    p = (I_c (S_b x S_c) + S_c x* I_c S_b) / 2
    z = S_b x* I_c S_c / 2

which are the Christoffel symbols (derived here; numerically those of Echeandia & Wensing 2021).
Twists and wrenches are (angular, linear).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import casadi as ca
import numpy as np

from ocp.dynamics.composite import COMPOSITE
from ocp.dynamics.formulation import Formulation, aligned
from ocp.mechanics.checks import limits
from ocp.mechanics.inertia import regrouped
from ocp.mechanics.kinematics import poses
from ocp.mechanics.loads import Load, applied
from ocp.mechanics.spatial import cross, cross_force, cross_motion, times
from ocp.mechanics.tree import Tree, inward
from ocp.mechanics.types import Matrix

MOST = 3  # coordinates of a table: its size grows like points^n


def inverse(tree: Tree, q: Matrix, qd: Matrix, qdd: Matrix, loads: Sequence[Load] = ()) -> Matrix:
    """Return the joint torques (N m) or forces (N), (n,)."""
    place = _placed(tree, q)
    tau = torques(_gravity(place), _inertia(place), _coriolis(place), qd, qdd)
    for link, position, moment, force in applied(place.tree, loads):
        chain = place.chain(link)
        if chain:
            moment, force = (ca.vertcat(part[0], part[1], part[2]) for part in (moment, force))
            point = place.frames[link][:3, :3] @ ca.DM(position) + place.frames[link][:3, 3]
            work = place.screws[:, chain].T @ ca.vertcat(moment + ca.cross(point, force), force)
            tau = tau - _rows(place.tree.dof, dict(zip(chain, ca.vertsplit(work))))
    return tau


def torques(
    gravity: Matrix, inertia: Matrix, coriolis: Sequence[Matrix], qd: Matrix, qdd: Matrix
) -> Matrix:
    """Return G + M qdd + [qd' C_i qd] (n,) from G (n,), symmetric M (n, n) and n symmetric C_i (n,
    n)."""
    n = inertia.shape[0]
    if not n:
        return ca.DM(0, 1)
    rates = [(1 if j == k else 2) * qd[j] * qd[k] for j in range(n) for k in range(j, n)]
    tables = ca.vertcat(
        *(ca.horzcat(*(c[j, k] for j in range(n) for k in range(j, n))) for c in coriolis)
    )
    return gravity + inertia @ ca.vertcat(*(qdd[k] for k in range(n))) + tables @ ca.vertcat(*rates)


def gravity_vector(tree: Tree, q: Matrix) -> Matrix:
    """Return G (n,), the torques (N m or N) that hold the tree at rest: G_i = S_i.(first x -g, -m
    g), of all that joint i carries."""
    return _gravity(_placed(tree, q))


def inertia_matrix(tree: Tree, q: Matrix) -> Matrix:
    """Return M (n, n), symmetric: M_ij = S_i . I_j S_j for a joint i before j, zero where neither
    carries the other."""
    return _inertia(_placed(tree, q))


def coriolis(tree: Tree, q: Matrix) -> list[Matrix]:
    """Return the n matrices C_i (n, n), symmetric, of the Christoffel symbols.

        C_ijk = (dM_ij/dq_k + dM_ik/dq_j - dM_jk/dq_i) / 2

    with M as `inertia_matrix` has it.
    """
    return _coriolis(_placed(tree, q))


def dense(n: int) -> tuple[Matrix, Matrix]:
    """Return the inputs (list of SX) and the torques (n,) of n joints whose tables have been looked
    up, every entry a symbol.

    So Hollerbach (1980, table I) counts this method: neither the look-up nor any interpolation is
    work. M and C_i are known to be symmetric, so their upper triangles are used, and every product
    of two rates is made once: a quarter of his 2 n^3.
    """
    gravity, qd, qdd = (ca.SX.sym(name, n) for name in ("G", "qd", "qdd"))
    given = [ca.SX.sym(name, n, n) for name in ("M", *(f"C{i}" for i in range(n)))]
    inertia, *tables = (ca.triu2symm(ca.triu(matrix)) for matrix in given)
    return [gravity, *given, qd, qdd], torques(gravity, inertia, tables, qd, qdd)


# The recursion ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    """A tree at rest at q: link poses, joint twists (6, n) about the ground's origin, and the
    pseudo-inertia (4x4) each link carries."""

    tree: Tree
    frames: tuple[Matrix, ...]
    screws: Matrix
    carried: tuple[Matrix, ...]

    def chain(self, link):
        """Return the coordinates that move a link, from the ground outward."""
        path, rows, parents = [], self.tree.rows, self.tree.parents
        while link >= 0:
            if rows[link] is not None:
                path.insert(0, rows[link])
            link = parents[link]
        return path

    def moving(self):
        """Return (coordinate, its chain, pseudo-inertia that its joint carries) of every joint with
        a coordinate."""
        rows = enumerate(self.tree.rows)
        return [(row, self.chain(k), self.carried[k]) for k, row in rows if row is not None]


def _placed(tree, q):
    """Return the _Place of a tree at q."""
    tree, _ = aligned(tree)
    frames, bodies = poses(tree, q), regrouped(tree)

    def carried(k, children):
        mass, first, second = bodies[k]
        own = (
            frames[k]
            @ ca.sparsify(ca.DM(np.block([[second, first[:, None]], [first, mass]])))
            @ frames[k].T
        )
        return sum((inner for _, inner in children), own)

    return _Place(
        tree=tree,
        frames=tuple(frames),
        screws=_screws(tree, frames),
        carried=tuple(inward(tree, carried)),
    )


def _screws(tree, frames):
    """Return the joints' twists as columns (6, n).

    An aligned joint turns about or slides along its link's z axis.
    """
    columns = [ca.DM(6, 0)]
    for joint, frame in zip(tree.joints, frames):
        if joint.kind != "fixed":
            axis, origin = frame[:3, 2], frame[:3, 3]
            turn, slide = ca.cross(origin, axis), joint.pitch * axis
            columns.append(
                ca.vertcat(ca.DM(3, 1), axis)
                if joint.kind == "prismatic"
                else ca.vertcat(axis, turn + slide)
            )
    return ca.horzcat(*columns)


def _images(pseudo, motions):
    """Return the wrenches I s of motions, as columns (6, m), for a pseudo-inertia (4x4): first
    moment in its last column, trace(P) - P."""
    xx, yy, zz = pseudo[0, 0], pseudo[1, 1], pseudo[2, 2]
    entries = ca.vertcat(yy + zz, xx + zz, xx + yy, -pseudo[0, 1], -pseudo[0, 2], -pseudo[1, 2])
    first, (turns, slides) = ca.repmat(pseudo[:3, 3], 1, motions.shape[1]), ca.vertsplit(motions, 3)
    return ca.vertcat(
        times(entries, turns) + cross(first, slides), pseudo[3, 3] * slides - cross(first, turns)
    )


def _gravity(place):
    """Return G (n,): every joint's share of the weight of all that it carries."""
    rise, pulls = ca.DM([0, 0, 0, *(-g for g in place.tree.gravity)]), {}
    for row, _, pseudo in place.moving():
        pulls[row] = ca.dot(place.screws[:, row], _images(pseudo, rise))
    return _rows(place.tree.dof, pulls)


def _inertia(place):
    """Return M (n, n), joint by joint outward: its twist's wrench on every joint of its chain."""
    n, entries = place.tree.dof, {}
    for row, chain, pseudo in place.moving():
        shares = place.screws[:, chain].T @ _images(pseudo, place.screws[:, row])
        for k, share in zip(chain, ca.vertsplit(shares)):
            entries[k, row] = entries[row, k] = share
    return _matrix(n, entries)


def _coriolis(place):
    """Return the n matrices C_i, from the wrenches p and z (module's head) of every joint c and all
    b up to it, on all a up to b."""
    n = place.tree.dof
    tables = [{} for _ in range(n)]
    for c, chain, pseudo in place.moving():
        outer, last = place.screws[:, chain], ca.repmat(place.screws[:, c], 1, len(chain))
        images = _images(pseudo, outer)
        turning = (
            _images(pseudo, cross_motion(outer, last)) + cross_force(last, *ca.vertsplit(images, 3))
        ) / 2
        bending = cross_force(outer, *ca.vertsplit(ca.repmat(images[:, -1], 1, len(chain)), 3)) / 2
        plus, minus = outer.T @ (turning + bending), outer.T @ (turning - bending)
        for l, b in enumerate(chain):
            for k, a in enumerate(chain[: l + 1]):
                tables[a][b, c] = tables[a][c, b] = plus[k, l] if a != c else ca.DM(1, 1)
                if b != c:  # C_cc. of joints before c vanishes: M_cc does not depend on them
                    tables[b][a, c] = tables[b][c, a] = minus[k, l]
                    tables[c][a, b] = tables[c][b, a] = -minus[k, l]
    return tuple(_matrix(n, entries) for entries in tables)


def _rows(n, entries):
    """Return the column (n,) of entries {row: value}."""
    return ca.vertcat(*(entries.get(k, ca.DM(1, 1)) for k in range(n))) if n else ca.DM(0, 1)


def _matrix(n, entries):
    """Return the sparse matrix (n, n) of entries {(row, column): value}."""
    if not entries:
        return ca.DM(n, n)
    places = sorted(entries, key=lambda place: place[::-1])
    rows, columns = zip(*places)
    values = ca.vertcat(*(ca.densify(entries[place]) for place in places))
    return type(values)(ca.Sparsity.triplet(n, n, rows, columns), values)


# The tables ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """G, M and C of a tree on a grid: `axes`, the values of each coordinate (rad or m); `values`
    (*points, m), the entries of G and those of the upper triangles of M and of all C_i, in this
    order; `names` of the joints."""

    names: tuple[str, ...]
    axes: tuple[np.ndarray, ...]
    values: np.ndarray

    @property
    def size(self) -> int:
        """Return how many numbers are stored."""
        return self.values.size

    def torque(self, q: Matrix, qd: Matrix, qdd: Matrix) -> np.ndarray:
        """Return the joint torques (N m) or forces (N), (n,) or (n, N), from (n,) or (n, N) each.

        No loads act. The coefficients are interpolated linearly in each coordinate. Raises
        ValueError naming the joint where q leaves the table.
        """
        q, qd, qdd = (np.asarray(part, dtype=float) for part in (q, qd, qdd))
        n = len(self.axes)
        for what, part in (("q", q), ("qd", qd), ("qdd", qdd)):
            if part.shape != q.shape or part.shape[:1] != (n,) or part.ndim > 2:
                raise ValueError(
                    f"table: {what}: expected shape ({n},) or ({n}, N), as that of q, got "
                    f"{part.shape}"
                )
        looked_up = self._interpolate(q.reshape(n, -1)).T  # (m, N)
        rates, accelerations = qd.reshape(n, -1), qdd.reshape(n, -1)
        j, k = np.triu_indices(n)
        inertia, bends = looked_up[n : n + len(j)], looked_up[n + len(j) :].reshape(n, len(j), -1)
        tau = looked_up[:n] + np.einsum(
            "ipN,pN->iN", bends, np.where(j == k, 1.0, 2.0)[:, None] * rates[j] * rates[k]
        )
        np.add.at(tau, j, inertia * accelerations[k])
        np.add.at(tau, k[j != k], (inertia * accelerations[j])[j != k])
        return tau.reshape(q.shape)

    def _interpolate(self, q):
        """Return the stored entries (N, m) at places q (n, N)."""
        cells, parts = [], []
        for name, axis, place in zip(self.names, self.axes, q):
            if not ((place >= axis[0]) & (place <= axis[-1])).all():
                raise ValueError(
                    f"table: joint {name!r}: q leaves its range, {axis[0]:g} to {axis[-1]:g}: "
                    f"{place.min():g} to {place.max():g}"
                )
            cell = np.clip(np.searchsorted(axis, place, side="right") - 1, 0, len(axis) - 2)
            cells.append(cell)
            parts.append((place - axis[cell]) / (axis[cell + 1] - axis[cell]))
        total = 0.0
        for corner in product((0, 1), repeat=len(cells)):
            weight = np.prod([part if up else 1 - part for up, part in zip(corner, parts)], axis=0)
            total = (
                total
                + weight[:, None] * self.values[tuple(cell + up for up, cell in zip(corner, cells))]
            )
        return total


def tabulate(tree: Tree, grid: Any, ranges: Any = None) -> Table:
    """Return the Table of a tree of up to 3 moving joints.

    `grid`: points, one number or one per coordinate; `ranges`: (lower, upper) per coordinate, else
    the joints' position limits. Raises ValueError naming the joint whose range is not finite or
    empty, or that is one too many.
    """
    moving = tree.moving
    if not moving or len(moving) > MOST:
        raise ValueError(
            f"tabulate: expected 1 to {MOST} moving joints, got {len(moving)}"
            + (f": joint {moving[MOST].name!r} is one too many" if moving else "")
        )
    counts = (grid,) * len(moving) if np.ndim(grid) == 0 else tuple(grid)
    given = [joint.position for joint in moving] if ranges is None else list(ranges)
    for what, value in (("grid", counts), ("ranges", given)):
        if len(value) != len(moving):
            raise ValueError(
                f"tabulate: {what}: expected one per moving joint, {len(moving)}, got {len(value)}"
            )
    axes = tuple(_axis(joint, count, pair) for joint, count, pair in zip(moving, counts, given))
    q, entries = _entries(tree)
    lines = [
        np.array(ca.evalf(ca.substitute(entries, q, ca.DM(place)))).ravel()
        for place in product(*axes)
    ]
    values = np.array(lines).reshape(*map(len, axes), -1)
    for array in (*axes, values):
        array.setflags(write=False)
    return Table(names=tuple(joint.name for joint in moving), axes=axes, values=values)


def _axis(joint, count, pair):
    """Return the values of a coordinate of a table."""
    lower, upper = limits(f"tabulate: joint {joint.name!r}: range", pair)
    if not np.isfinite([lower, upper]).all() or lower == upper:
        raise ValueError(
            f"tabulate: joint {joint.name!r}: expected a finite range of some width, got {lower:g} "
            f"to {upper:g}; "
            "give the joint position limits, or give `ranges`"
        )
    if count != int(count) or count < 2:
        raise ValueError(f"tabulate: joint {joint.name!r}: expected at least 2 points, got {count}")
    return np.linspace(lower, upper, int(count))


def _entries(tree):
    """Return symbols of q (n,) and the distinct entries of G, M and C, in the order that Table
    keeps them."""
    q, (j, k) = ca.SX.sym("q", tree.dof), np.triu_indices(tree.dof)
    place = _placed(tree, q)
    matrices = (_inertia(place), *_coriolis(place))
    return q, ca.cse(
        ca.vertcat(
            _gravity(place),
            *(ca.SX(matrix)[a, b] for matrix in matrices for a, b in zip(j.tolist(), k.tolist())),
        )
    )


CONFIGURATION_SPACE = Formulation(
    name="configuration_space", inverse=inverse, derivatives=COMPOSITE
)
