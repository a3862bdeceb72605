"""The 4x4 matrices of links, as the Lagrangian methods take them: numbers of a tree, or a symbol
for every entry as the paper counts."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import casadi as ca
import numpy as np

from ocp.dynamics.formulation import aligned
from ocp.mechanics.kinematics.rigid import joint_pose
from ocp.mechanics.kinematics.spatial import screw_matrix, skew
from ocp.mechanics.model.inertia import first_moment
from ocp.mechanics.model.joints import GROUND, revolute
from ocp.mechanics.model.loads import AppliedLoads, Load, applied
from ocp.mechanics.model.tree import Link, Tree
from ocp.mechanics.values.parameters import matrix
from ocp.mechanics.values.types import Matrix

# What a method takes of every link, in the order of the tree: matrices of numbers or symbols.
Links: TypeAlias = Sequence[Any]


def torques_by(
    torques: Callable[..., Matrix],
    tree: Tree,
    q: Matrix,
    qd: Matrix,
    qdd: Matrix,
    loads: Sequence[Load],
) -> Matrix:
    """Return the joint torques (n,) by a method's core, on the aligned tree's `link_matrices`.

    The core is torques(tree, links, qd=, qdd=, gravity=, loads=), with gravity (4) and `applied`
    loads.
    """
    tree, _ = aligned(tree)
    return torques(
        tree,
        link_matrices(tree, q),
        qd=qd,
        qdd=qdd,
        gravity=matrix([*tree.gravity, 0]),
        loads=applied(tree, loads),
    )


def link_poses(tree: Tree, q: Matrix) -> list[tuple[Matrix, ...]]:
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
        mass, first, second = first_moment(link)
        matrices.append((*pose, matrix(np.block([[second, first[:, None]], [first, mass]]))))
    return matrices


def given_matrices(n: int, torques: Callable[..., Matrix]) -> tuple[list[Matrix], Matrix]:
    """Return the inputs (list of SX) and the torques (n,) of a serial chain of n joints with a
    symbol for every matrix entry.

    So Hollerbach (1980, table I) counts: link matrices and their derivatives are given, and none of
    their entries is known to be 0 or 1. `torques(tree, links, qd=, qdd=, gravity=)` is the method's
    core.
    """
    links = [
        tuple(ca.SX.sym(f"{name}_{k}", 4, 4) for name in ("T", "dT", "ddT", "J")) for k in range(n)
    ]
    gravity, qd, qdd = ca.SX.sym("g", 4), ca.SX.sym("qd", n), ca.SX.sym("qdd", n)
    return [*sum(links, ()), gravity, qd, qdd], torques(
        turning_chain(n), links, qd=qd, qdd=qdd, gravity=gravity
    )


def turning_chain(n: int) -> Tree:
    """Return a serial chain of n massless links on revolute joints: a topology without numbers."""
    return Tree(
        links=[Link()] * n,
        joints=[revolute(f"joint{k}", f"joint{k - 1}" if k else GROUND) for k in range(n)],
    )


def push_of(loads: AppliedLoads, k: int, w: Matrix) -> Matrix:
    """Return P (4x4), the sum of f r' for a force f at r and [h] W / 2 for a moment h on link k.

    What these loads do at joint i is tr(dW/dq_i P'), as

        tr([h] W dW'/dq_i) = 2 h . axis
    """
    push = push_slope(loads, k, w)
    for link, place, _, force in loads:
        if link == k:
            push = push + ca.vertcat(force[0], force[1], force[2], 0) @ matrix([*place, 1]).T
    return push


def push_slope(loads: AppliedLoads, k: int, slope: Matrix) -> Matrix:
    """Return the derivative (4x4) of P of `push_of` where that of W is `slope`."""
    push = ca.DM(4, 4)
    for link, _, moment, _ in loads:
        if link == k:
            push = push + ca.diagcat(skew(moment) @ slope[:3, :3] / 2, 0)
    return push


def columns(matrices: Iterable[Matrix]) -> Matrix:
    """Stack the entries of each matrix as a column."""
    return ca.horzcat(*map(ca.vec, matrices))


def matrix_of(n: int, what: str, entries: Mapping[tuple[str, Any, Any], Matrix]) -> Matrix:
    """Return the sparse matrix (n, n) of the entries {(variable, i, j): value} of one variable."""
    rows = [
        ca.horzcat(*(entries.get((what, i, j), ca.DM(1, 1)) for j in range(n))) for i in range(n)
    ]
    return ca.reshape(ca.vertcat(*rows), n, n)


def placed(n: int, rows: Sequence[int], block: Matrix) -> Matrix:
    """Return the sparse matrix (n, n) that has a block (m, m) in these m rows and columns."""
    places = ca.DM(ca.Sparsity.triplet(n, len(rows), rows, range(len(rows))), 1)
    return places @ block @ places.T


def symmetric(joints: Sequence[int], pairs: Iterable[tuple[int, int]], values: Matrix) -> Matrix:
    """Return the symmetric matrix (m, m) over m joints of one value per pair of them."""
    number = {pair: k for k, pair in enumerate(pairs)}
    places = [number[min(i, k), max(i, k)] for k in joints for i in joints]
    return ca.reshape(ca.densify(values)[places], len(joints), len(joints))


def halved(block: Matrix) -> Matrix:
    """Return a matrix that is known to be symmetric, made of its upper half alone."""
    return ca.triu2symm(ca.triu(block))
