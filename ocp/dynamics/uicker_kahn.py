"""The closed form of Uicker and Kahn, O(n^4): every second derivative of every link transformation.

Hollerbach (1980), eqs. 4, 5, after Uicker (1965) and Kahn (1969); Xiang, Arora & Abdel-Malek
(2009), eqs. 6-10, with loads. Every joint kind is one case, since dT/dq = T [S] with the joint's
constant screw matrix [S].
"""

from collections.abc import Sequence

import casadi as ca

from ocp.dynamics.composite import COMPOSITE
from ocp.dynamics.formulation import Formulation
from ocp.dynamics.links import Links, given_matrices, push_of, torques_by
from ocp.mechanics.loads import AppliedLoads, Load
from ocp.mechanics.tree import Tree, outward
from ocp.mechanics.types import Matrix


def inverse(tree: Tree, q: Matrix, qd: Matrix, qdd: Matrix, loads: Sequence[Load] = ()) -> Matrix:
    """Return the joint torques (N m) or forces (N), (n,)."""
    return torques_by(torques, tree, q, qd, qdd, loads)


def torques(
    tree: Tree, links: Links, *, qd: Matrix, qdd: Matrix, gravity: Matrix, loads: AppliedLoads = ()
) -> Matrix:
    """Return the joint torques (n,) of links (T, T' = dT/dq, T'', pseudo-inertia J), each 4x4.

    Under gravity (4) and `applied` loads,

        tau_i = sum_j { sum_k tr(dW_j/dq_k J_j dW_j'/dq_i) qdd_k
                        + sum_k sum_l tr(d2W_j/dq_k dq_l J_j dW_j'/dq_i) qd_k qd_l
                        - tr((g m_j r_j' + P_j) dW_j'/dq_i) }  (Hollerbach 1980, eq. 4)

    over the links j that joint i moves and the joints k, l that move j. A trace of two factors is
    the product of their columns, and the order of these products matters: summing over k and l
    first would be Waters' method.
    """
    tau = [0] * tree.dof
    for j, (w, slopes, bends) in enumerate(_derivatives(tree, links)):
        joints, pseudo = list(slopes), links[j][3]
        if not joints:
            continue
        pairs = [(k, l) for k in joints for l in joints]
        weighted = _columns(slopes[i] @ pseudo.T for i in joints)
        inertia = weighted.T @ _columns(slopes.values())
        coriolis = weighted.T @ _columns(bends[min(pair), max(pair)] for pair in pairs)
        pushed = _columns(slopes.values()).T @ ca.vec(
            gravity @ pseudo[:, 3].T + push_of(loads, j, w)
        )
        rates, accelerations = (
            ca.vertcat(*(qd[k] * qd[l] for k, l in pairs)),
            ca.vertcat(*(qdd[k] for k in joints)),
        )
        share = inertia @ accelerations + coriolis @ rates - pushed
        for row, i in enumerate(joints):
            tau[i] = tau[i] + share[row]
    return ca.vertcat(*tau)


def _derivatives(tree, links):
    """Return per link W, {k: dW/dq_k} and {(k, l): d2W/dq_k dq_l} with k <= l, each 4x4.

    Hollerbach (1980), eq. 5, link by link.
    """
    rows = tree.rows

    def derivatives(j, parent):
        (w, slopes, bends), (t, t1, t2, _), row = parent, links[j], rows[j]
        if row is None:
            return w @ t, _times(slopes, t), _times(bends, t)
        mixed = {(k, row): slope @ t1 for k, slope in slopes.items()}
        return (
            w @ t,
            _times(slopes, t) | {row: w @ t1},
            _times(bends, t) | mixed | {(row, row): w @ t2},
        )

    return outward(tree, derivatives, (ca.DM.eye(4), {}, {}))


def _times(matrices, t):
    return {key: matrix @ t for key, matrix in matrices.items()}


def _columns(matrices):
    """Stack the entries of each matrix as a column."""
    return ca.horzcat(*map(ca.vec, matrices))


def dense(n: int) -> tuple[list[Matrix], Matrix]:
    """Return inputs and torques (n,) of `given_matrices`, as Hollerbach (1980, table I) counts."""
    return given_matrices(n, torques)


UICKER_KAHN = Formulation(name="uicker_kahn", inverse=inverse, derivatives=COMPOSITE)
