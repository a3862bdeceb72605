"""The configuration space method: gravity, inertia and Coriolis coefficients as functions of q
alone, to be tabulated (see `ocp.dynamics.tables`).

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

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import casadi as ca
import numpy as np

from ocp.dynamics.derivatives.composite_bodies import COMPOSITE
from ocp.dynamics.formulation_record import Formulation, Reach, align_frames
from ocp.dynamics.matrix_entries import Entries, sparse_matrix
from ocp.dynamics.signatures import Loads
from ocp.mechanics.kinematics.kinematics import poses
from ocp.mechanics.kinematics.spatial import cross, cross_force, cross_motion, symmetric_product
from ocp.mechanics.model.inertia import regroup_inertias
from ocp.mechanics.model.loads import applied_loads
from ocp.mechanics.model.tree import Tree, inward
from ocp.mechanics.values.parameters import matrix
from ocp.mechanics.values.types import Matrix


def inverse(tree: Tree, q: Matrix, qd: Matrix, qdd: Matrix, loads: Loads = ()) -> Matrix:
    """Return the joint torques (N m) or forces (N), (n,)."""
    rest = _tree_at_rest(tree, q)
    tau = torques(_gravity(rest), _inertia(rest), _coriolis(rest), qd, qdd)
    return tau - _load_torques(rest, loads)


def slow_inverse(tree: Tree, q: Matrix, qd: Matrix, qdd: Matrix, loads: Loads = ()) -> Matrix:
    """Return the joint torques (N m) or forces (N), (n,), without those in qd qd: G + M qdd.

    So the first controllers had them (Hollerbach 1980, introduction): right at rest, and the more
    wrong the faster.
    """
    rest = _tree_at_rest(tree, q)
    column = ca.vertcat(*(qdd[k] for k in range(tree.dof)))
    return _gravity(rest) + _inertia(rest) @ column - _load_torques(rest, loads)


def load_torques(tree: Tree, q: Matrix, loads: Loads) -> Matrix:
    """Return the generalized forces (n,) of loads, N m or N."""
    return _load_torques(_tree_at_rest(tree, q), loads) if loads else ca.DM(tree.dof, 1)


def torques(
    gravity: Matrix, inertia: Matrix, coriolis: Sequence[Matrix], qd: Matrix, qdd: Matrix
) -> Matrix:
    """Return G + M qdd + [qd' C_i qd] (n,).

    Args:
        gravity: G (n,).
        inertia: M (n, n), symmetric.
        coriolis: n matrices C_i (n, n), symmetric.
    """
    n = inertia.shape[0]
    if not n:
        return ca.DM(0, 1)
    pairs = [(j, k) for j in range(n) for k in range(j, n)]
    rates = [(1 if j == k else 2) * qd[j] * qd[k] for j, k in pairs]
    coefficients = ca.vertcat(*(ca.horzcat(*(c[j, k] for j, k in pairs)) for c in coriolis))
    accelerations = ca.vertcat(*(qdd[k] for k in range(n)))
    return gravity + inertia @ accelerations + coefficients @ ca.vertcat(*rates)


def gravity_vector(tree: Tree, q: Matrix) -> Matrix:
    """Return G (n,), the torques (N m or N) that hold the tree at rest."""
    return _gravity(_tree_at_rest(tree, q))


def inertia_matrix(tree: Tree, q: Matrix) -> Matrix:
    """Return M (n, n), symmetric: M_ij = S_i . I_j S_j for a joint i before j, zero where neither
    carries the other."""
    return _inertia(_tree_at_rest(tree, q))


def coriolis(tree: Tree, q: Matrix) -> list[Matrix]:
    """Return the n matrices C_i (n, n), symmetric, of the Christoffel symbols.

        C_ijk = (dM_ij/dq_k + dM_ik/dq_j - dM_jk/dq_i) / 2

    with M as `inertia_matrix` has it.
    """
    return _coriolis(_tree_at_rest(tree, q))


def dense(n: int) -> tuple[list[Matrix], Matrix]:
    """Return the inputs (list of SX) and the torques (n,) of n joints whose tables have been looked
    up, every entry a symbol.

    So Hollerbach (1980, table I) counts this method: neither the look-up nor any interpolation is
    work. M and C_i are known to be symmetric, so their upper triangles are used, and every product
    of two rates is made once: a quarter of his 2 n^3.
    """
    gravity, qd, qdd = (ca.SX.sym(name, n) for name in ("G", "qd", "qdd"))
    tables = [ca.SX.sym(name, n, n) for name in ("M", *(f"C{i}" for i in range(n)))]
    inertia, *coriolis = (ca.triu2symm(ca.triu(each)) for each in tables)
    return [gravity, *tables, qd, qdd], torques(gravity, inertia, coriolis, qd, qdd)


# The recursion ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class _TreeAtRest:
    """A tree at rest at q: link poses, joint twists (6, n) about the ground's origin, and the
    pseudo-inertia (4x4) each link carries."""

    tree: Tree
    frames: tuple[Matrix, ...]
    screws: Matrix
    carried: tuple[Matrix, ...]

    def chain(self, link: int) -> list[int]:
        """Return the coordinates that move a link, from the ground outward."""
        path: list[int] = []
        while link >= 0:
            row = self.tree.rows[link]
            if row is not None:
                path.insert(0, row)
            link = self.tree.parents[link]
        return path

    def moving_joints(self) -> list[tuple[int, list[int], Matrix]]:
        """Return (coordinate, its chain, pseudo-inertia that its joint carries) of every joint with
        a coordinate."""
        rows = enumerate(self.tree.rows)
        return [(row, self.chain(k), self.carried[k]) for k, row in rows if row is not None]


def _tree_at_rest(tree: Tree, q: Matrix) -> _TreeAtRest:
    tree, _ = align_frames(tree)
    frames, bodies = poses(tree, q), regroup_inertias(tree)

    def carry(k: int, children: list) -> Matrix:
        mass, first, second = bodies[k]
        pseudo = matrix(np.block([[second, first[:, None]], [first, mass]]))
        own = frames[k] @ ca.sparsify(pseudo) @ frames[k].T
        return sum((inner for _, inner in children), own)

    return _TreeAtRest(
        tree=tree,
        frames=tuple(frames),
        screws=_screws(tree, frames),
        carried=tuple(inward(tree, carry)),
    )


def _screws(tree: Tree, frames: Sequence[Matrix]) -> Matrix:
    """Return the joints' twists as columns (6, n).

    An aligned joint turns about or slides along its link's z axis.
    """
    columns = [ca.DM(6, 0)]
    for joint, frame in zip(tree.joints, frames):
        axis, origin = frame[:3, 2], frame[:3, 3]
        if joint.kind == "prismatic":
            columns.append(ca.vertcat(ca.DM(3, 1), axis))
        elif joint.kind != "fixed":
            columns.append(ca.vertcat(axis, ca.cross(origin, axis) + joint.pitch * axis))
    return ca.horzcat(*columns)


def _wrenches(pseudo: Matrix, motions: Matrix) -> Matrix:
    """Return the wrenches I s of motions, as columns (6, m), for a pseudo-inertia P (4x4): the
    inertia is trace(P) - P, the first moment P's last column."""
    xx, yy, zz = pseudo[0, 0], pseudo[1, 1], pseudo[2, 2]
    entries = ca.vertcat(yy + zz, xx + zz, xx + yy, -pseudo[0, 1], -pseudo[0, 2], -pseudo[1, 2])
    first, (turns, slides) = ca.repmat(pseudo[:3, 3], 1, motions.shape[1]), ca.vertsplit(motions, 3)
    return ca.vertcat(
        symmetric_product(entries, turns) + cross(first, slides),
        pseudo[3, 3] * slides - cross(first, turns),
    )


def _gravity(rest: _TreeAtRest) -> Matrix:
    """Return G (n,), every joint's share of the weight of all that it carries:
    G_i = S_i.(first x -g, -m g)."""
    rise = matrix([0, 0, 0, *(-g for g in rest.tree.gravity)])
    pulls = {
        row: ca.dot(rest.screws[:, row], _wrenches(pseudo, rise))
        for row, _, pseudo in rest.moving_joints()
    }
    return _column(rest.tree.dof, pulls)


def _inertia(rest: _TreeAtRest) -> Matrix:
    """Return M (n, n), joint by joint outward: its twist's wrench on every joint of its chain."""
    entries = {}
    for row, chain, pseudo in rest.moving_joints():
        shares = rest.screws[:, chain].T @ _wrenches(pseudo, rest.screws[:, row])
        for k, share in zip(chain, ca.vertsplit(shares)):
            entries[k, row] = entries[row, k] = share
    return _matrix(rest.tree.dof, entries)


def _coriolis(rest: _TreeAtRest) -> list[Matrix]:
    """Return the n matrices C_i, from the wrenches p and z (module's head) of every joint c and all
    b up to it, on all a up to b."""
    n = rest.tree.dof
    tables: list[dict[tuple[int, int], Matrix]] = [{} for _ in range(n)]
    for c, chain, pseudo in rest.moving_joints():
        outer, last = rest.screws[:, chain], ca.repmat(rest.screws[:, c], 1, len(chain))
        images = _wrenches(pseudo, outer)
        turned = cross_force(last, *ca.vertsplit(images, 3))
        turning = (_wrenches(pseudo, cross_motion(outer, last)) + turned) / 2
        bending = cross_force(outer, *ca.vertsplit(ca.repmat(images[:, -1], 1, len(chain)), 3)) / 2
        plus, minus = outer.T @ (turning + bending), outer.T @ (turning - bending)
        for l, b in enumerate(chain):
            for k, a in enumerate(chain[: l + 1]):
                tables[a][b, c] = tables[a][c, b] = plus[k, l] if a != c else ca.DM(1, 1)
                if b != c:  # C_cc. of joints before c vanishes: M_cc does not depend on them
                    tables[b][a, c] = tables[b][c, a] = minus[k, l]
                    tables[c][a, b] = tables[c][b, a] = -minus[k, l]
    return [_matrix(n, entries) for entries in tables]


def _load_torques(rest: _TreeAtRest, loads: Loads) -> Matrix:
    """Return the generalized forces (n,) of loads: the work that they do on each joint's twist."""
    total = ca.DM(rest.tree.dof, 1)
    for link, position, *vectors in applied_loads(rest.tree, loads):
        chain = rest.chain(link)
        if chain:
            moment, force = (ca.vertcat(part[0], part[1], part[2]) for part in vectors)
            point = rest.frames[link][:3, :3] @ matrix(position) + rest.frames[link][:3, 3]
            work = rest.screws[:, chain].T @ ca.vertcat(moment + ca.cross(point, force), force)
            total = total + _column(rest.tree.dof, dict(zip(chain, ca.vertsplit(work))))
    return total


def _column(n: int, entries: Mapping[int, Matrix]) -> Matrix:
    """Return the column (n,) of entries {row: value}."""
    return ca.vertcat(*(entries.get(k, ca.DM(1, 1)) for k in range(n))) if n else ca.DM(0, 1)


def _matrix(n: int, entries: Entries) -> Matrix:
    """Return the sparse matrix (n, n) of the entries, of numbers where there are none."""
    return sparse_matrix(n, entries) if entries else ca.DM(n, n)


@dataclass(frozen=True, slots=True)
class _SlowMotions:
    """The approximation that rates are small."""

    def reach(self, tree: Tree) -> tuple[Reach, ...]:
        """Return no range: it holds for any motion that is slow enough."""
        return ()

    def description(self, tree: Tree) -> str:
        """Return in a line what is wrong with it."""
        return "Coriolis and centrifugal terms left out"


CONFIGURATION_SPACE = Formulation(
    name="configuration_space", inverse=inverse, derivatives=COMPOSITE
)
WITHOUT_CORIOLIS = Formulation(
    name="without_coriolis", inverse=slow_inverse, approximation=_SlowMotions()
)
