"""Link matrices, sweeps and sums shared by the Lagrangian methods in 4x4 transformations.

Every joint kind is one case, since T' = dT/dq = T [S] with the joint's constant screw matrix [S].
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TypeAlias

import casadi as ca
import numpy as np

from ocp.dynamics.formulation_record import align_frames
from ocp.dynamics.matrix_entries import filled_matrix
from ocp.dynamics.signatures import Loads, Slopes
from ocp.mechanics.kinematics.rigid_kinematics import joint_pose
from ocp.mechanics.kinematics.spatial import screw_matrix, skew
from ocp.mechanics.model.inertia import mass_moments
from ocp.mechanics.model.joints import GROUND, revolute
from ocp.mechanics.model.loads import AppliedLoads, applied_loads
from ocp.mechanics.model.tree import Link, Tree
from ocp.mechanics.values.parameters import matrix
from ocp.mechanics.values.types import Matrix

# Of every link in the tree's order T, T', T'' and the pseudo-inertia J (4x4 each).
Links: TypeAlias = Sequence[tuple[Matrix, ...]]

# Position, velocity and acceleration of a link (4x4 each), or derivatives of these three.
Motion: TypeAlias = tuple[Matrix, Matrix, Matrix]


def aligned_torques(
    torques: Callable[..., Matrix], tree: Tree, q: Matrix, qd: Matrix, qdd: Matrix, loads: Loads
) -> Matrix:
    """Return the joint torques (n,) of a method, on the link matrices of the aligned tree.

    Args:
        torques: the method, torques(tree, links, qd=, qdd=, gravity=, loads=), with gravity (4) and
            loads as `applied_loads` has them.
    """
    tree, _ = align_frames(tree)
    gravity, pushes = matrix([*tree.gravity, 0]), applied_loads(tree, loads)
    return torques(tree, link_matrices(tree, q), qd=qd, qdd=qdd, gravity=gravity, loads=pushes)


def link_poses(tree: Tree, q: Matrix) -> list[tuple[Matrix, Matrix, Matrix]]:
    """Return T, T' = T [S] and T'' = T [S]^2 (4x4) of every link, primes by its own coordinate.

    T' = T'' = 0 where it has none.
    """
    poses = []
    for joint, row, hat in zip(tree.joints, tree.rows, screw_matrices(tree)):
        t = joint_pose(joint, None if row is None else q[row])
        poses.append((t, t @ hat, t @ hat @ hat))
    return poses


def screw_matrices(tree: Tree) -> list[Matrix]:
    """Return [S] (4x4) of every joint, zero where it is fixed."""
    return [matrix(screw_matrix(joint.screw or (0.0,) * 6)) for joint in tree.joints]


def link_matrices(tree: Tree, q: Matrix) -> list[tuple[Matrix, ...]]:
    """Return T, T', T'' and the pseudo-inertia J (4x4, last column m r and m) of every link."""
    matrices = []
    for pose, link in zip(link_poses(tree, q), tree.links):
        mass, first, second = mass_moments(link)
        matrices.append((*pose, matrix(np.block([[second, first[:, None]], [first, mass]]))))
    return matrices


def symbolic_chain(torques: Callable[..., Matrix], n: int) -> tuple[list[Matrix], Matrix]:
    """Return the inputs (list of SX) and the torques (n,) of a serial chain of n joints with a
    symbol for every matrix entry.

    So Hollerbach (1980, table I) counts work: link matrices and their derivatives are inputs, and
    none of their entries is known to be 0 or 1. `torques` is as in `aligned_torques`.
    """
    links = [
        tuple(ca.SX.sym(f"{name}_{k}", 4, 4) for name in ("T", "dT", "ddT", "J")) for k in range(n)
    ]
    gravity, qd, qdd = ca.SX.sym("g", 4), ca.SX.sym("qd", n), ca.SX.sym("qdd", n)
    tau = torques(revolute_chain(n), links, qd=qd, qdd=qdd, gravity=gravity)
    return [*sum(links, ()), gravity, qd, qdd], tau


def revolute_chain(n: int) -> Tree:
    """Return a serial chain of n massless links on revolute joints: a topology without numbers."""
    return Tree(
        links=[Link()] * n,
        joints=[revolute(f"joint{k}", f"joint{k - 1}" if k else GROUND) for k in range(n)],
    )


# Sweep outward ------------------------------------------------------------------------------------

BASE: Motion = (ca.DM.eye(4), ca.DM(4, 4), ca.DM(4, 4))


def advance(
    link: tuple[Matrix, ...], row: int | None, qd: Matrix, qdd: Matrix, parent: Sequence[Matrix]
) -> tuple[Matrix, Matrix, Matrix, Matrix | None]:
    """Return A, B, C of a link from its parent's, and dA/dq of its own coordinate `row`, if any.

    A = A_p T,  B = B_p T + A_p T' qd
    C = C_p T + 2 B_p T' qd + A_p (T'' qd^2 + T' qdd)  (Hollerbach 1980, eqs. 8-10)
    """
    (a, b, c, *_), (t, t1, t2, _) = parent, link
    if row is None:
        return a @ t, b @ t, c @ t, None
    slope, rate = a @ t1, qd[row]
    accelerated = c @ t + b @ t1 * (2 * rate) + a @ t2 * rate**2 + slope * qdd[row]
    return a @ t, b @ t + slope * rate, accelerated, slope


def carrier(
    tree: Tree, links: Links, qd: Matrix, qdd: Matrix
) -> Callable[[int, Sequence[Matrix]], Motion]:
    """Return the step of `advance` as carry(k, (A, B, C) of the parent), for many triples alike.

    The step is linear, so the derivatives of A, B and C by an ancestor's coordinate pass outward
    as A, B and C themselves do. Those by the link's own are (A, B, C) [S].
    """
    paths = [  # once per link, for all triples that pass it
        None if row is None else (qd[row], t2 * qd[row] ** 2 + t1 * qdd[row])
        for row, (_, t1, t2, _) in zip(tree.rows, links)
    ]

    def carry(k: int, parent: Sequence[Matrix]) -> Motion:
        (a, b, c), (t, t1, *_), path = parent, links[k], paths[k]
        if path is None:
            return a @ t, b @ t, c @ t
        rate, bend = path
        return a @ t, b @ t + a @ t1 * rate, c @ t + b @ t1 * (2 * rate) + a @ bend

    return carry


# Loads --------------------------------------------------------------------------------------------


def load_matrix(loads: AppliedLoads, k: int, w: Matrix) -> Matrix:
    """Return P (4x4), the sum of f r' for a force f at r and [h] W / 2 for a moment h on link k.

    What these loads do at joint i is tr(dW/dq_i P'), since tr([h] W dW'/dq_i) = 2 h . axis.
    """
    push = load_matrix_slope(loads, k, w)
    for link, place, _, force in loads:
        if link == k:
            push = push + direction(force) @ matrix([*place, 1]).T
    return push


def load_matrix_slope(loads: AppliedLoads, k: int, slope: Matrix) -> Matrix:
    """Return the derivative (4x4) of P of `load_matrix` where that of W is `slope`."""
    push = ca.DM(4, 4)
    for link, _, moment, _ in loads:
        if link == k:
            push = push + ca.diagcat(skew(moment) @ slope[:3, :3] / 2, 0)
    return push


def direction(vector: Matrix) -> Matrix:
    """Return a vector (3) as a homogeneous one (4) that no translation moves."""
    return ca.vertcat(vector[0], vector[1], vector[2], 0)


# Sums over links ----------------------------------------------------------------------------------


def stack_columns(matrices: Iterable[Matrix]) -> Matrix:
    """Return the entries of each matrix as a column, side by side."""
    return ca.horzcat(*map(ca.vec, matrices))


def sum_shares(
    tree: Tree, shares: Iterable[tuple[Collection[int], tuple[Matrix, Matrix, Matrix]]]
) -> Slopes:
    """Return three matrices (n, n) as the sums of every link's three (m, m) over its m joints."""
    by_q = by_qd = by_qdd = ca.DM(tree.dof, tree.dof)
    for joints, blocks in shares:
        pattern = ca.Sparsity.triplet(tree.dof, len(joints), list(joints), range(len(joints)))
        places = ca.DM(pattern, 1)
        first, second, third = (places @ block @ places.T for block in blocks)
        by_q, by_qd, by_qdd = by_q + first, by_qd + second, by_qdd + third
    return by_q, by_qd, by_qdd


def symmetric_block(
    joints: Iterable[int], pairs: Iterable[tuple[int, ...]], values: Matrix
) -> Matrix:
    """Return the symmetric matrix (m, m) over m joints of one value for each of the `pairs`."""
    joints, number = list(joints), {pair: k for k, pair in enumerate(pairs)}
    places = [number[min(i, k), max(i, k)] for k in joints for i in joints]
    return ca.reshape(ca.densify(values)[places], len(joints), len(joints))


def mirror_upper(block: Matrix) -> Matrix:
    """Return a matrix that is known to be symmetric, made of its upper half alone."""
    return ca.triu2symm(ca.triu(block))


def entry_matrices(n: int, entries: Mapping[tuple[str, int, int], Matrix]) -> Slopes:
    """Return the matrices (n, n) of the entries {("q", "qd" or "qdd", i, j): value}."""
    by_q, by_qd, by_qdd = (
        filled_matrix(n, {(i, j): value for (name, i, j), value in entries.items() if name == by})
        for by in ("q", "qd", "qdd")
    )
    return by_q, by_qd, by_qdd
