"""The configuration space method: gravity, inertia and Coriolis coefficients as functions of the
place q alone, to be tabulated (see `tables`).

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

import casadi as ca
import numpy as np

from ocp.dynamics.derivatives.composite_bodies import COMPOSITE
from ocp.dynamics.formulation import Formulation, Reach, aligned
from ocp.mechanics.kinematics.kinematics import poses
from ocp.mechanics.kinematics.spatial import cross, cross_force, cross_motion, times
from ocp.mechanics.model.inertia import regrouped
from ocp.mechanics.model.loads import Load, applied
from ocp.mechanics.model.tree import Tree, inward
from ocp.mechanics.values.parameters import matrix
from ocp.mechanics.values.types import Matrix


def inverse(tree: Tree, q: Matrix, qd: Matrix, qdd: Matrix, loads: Sequence[Load] = ()) -> Matrix:
    """Return the joint torques (N m) or forces (N), (n,)."""
    place = _placed(tree, q)
    tau = torques(_gravity(place), _inertia(place), _coriolis(place), qd, qdd)
    return tau - _load_torques(place, loads)


def slow(tree: Tree, q: Matrix, qd: Matrix, qdd: Matrix, loads: Sequence[Load] = ()) -> Matrix:
    """Return the joint torques (N m) or forces (N), (n,), without those in qd qd: G + M qdd.

    So the first controllers had them (Hollerbach 1980, introduction): right at rest, and the more
    wrong the faster.
    """
    place = _placed(tree, q)
    column = ca.vertcat(*(qdd[k] for k in range(tree.dof)))
    return _gravity(place) + _inertia(place) @ column - _load_torques(place, loads)


def load_torques(tree: Tree, q: Matrix, loads: Sequence[Load]) -> Matrix:
    """Return the generalized forces (n,) of loads, N m or N."""
    return _load_torques(_placed(tree, q), loads) if loads else ca.DM(tree.dof, 1)


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
    inertia, *tables = (ca.triu2symm(ca.triu(each)) for each in given)
    return [gravity, *given, qd, qdd], torques(gravity, inertia, tables, qd, qdd)


def _load_torques(place, loads):
    """Return the generalized forces (n,) of loads: the work that they do on each joint's twist."""
    total = ca.DM(place.tree.dof, 1)
    for link, position, moment, force in applied(place.tree, loads):
        chain = place.chain(link)
        if chain:
            moment, force = (ca.vertcat(part[0], part[1], part[2]) for part in (moment, force))
            point = place.frames[link][:3, :3] @ matrix(position) + place.frames[link][:3, 3]
            work = place.screws[:, chain].T @ ca.vertcat(moment + ca.cross(point, force), force)
            total = total + _rows(place.tree.dof, dict(zip(chain, ca.vertsplit(work))))
    return total


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
            @ ca.sparsify(matrix(np.block([[second, first[:, None]], [first, mass]])))
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
    rise, pulls = matrix([0, 0, 0, *(-g for g in place.tree.gravity)]), {}
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


@dataclass(frozen=True, slots=True)
class _Slow:
    """What is left out where rates are taken for small."""

    def reach(self, tree: Tree) -> tuple[Reach, ...]:
        """Return no range: it holds for any motion that is slow enough."""
        return ()

    def described(self, tree: Tree) -> str:
        """Return in a line what is wrong with it."""
        return "Coriolis and centrifugal terms left out"


CONFIGURATION_SPACE = Formulation(
    name="configuration_space", inverse=inverse, derivatives=COMPOSITE
)
WITHOUT_CORIOLIS = Formulation(name="without_coriolis", inverse=slow, approximation=_Slow())
