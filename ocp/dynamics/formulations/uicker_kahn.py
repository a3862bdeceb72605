"""The closed form of Uicker and Kahn, O(n^4): every second derivative of every link transformation.

Hollerbach (1980), eqs. 4, 5, after Uicker (1965) and Kahn (1969); Xiang, Arora & Abdel-Malek
(2009), eqs. 6-11, with loads. Every joint kind is one case, since dT/dq = T [S] with the joint's
constant screw matrix [S].
"""

from collections.abc import Sequence

import casadi as ca

from ocp.dynamics.derivatives.composite_bodies import COMPOSITE
from ocp.dynamics.formulation import Formulation, aligned
from ocp.dynamics.formulations.transforms_4x4 import (
    Links,
    columns,
    given_matrices,
    halved,
    link_matrices,
    placed,
    push_of,
    push_slope,
    screw_matrices,
    symmetric,
    torques_by,
)
from ocp.mechanics.model.loads import AppliedLoads, Load, applied
from ocp.mechanics.model.tree import Tree, outward
from ocp.mechanics.values.parameters import matrix
from ocp.mechanics.values.types import Matrix


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
        weighted = columns(slopes[i] @ pseudo.T for i in joints)
        inertia = weighted.T @ columns(slopes.values())
        coriolis = weighted.T @ columns(bends[min(pair), max(pair)] for pair in pairs)
        pushed = columns(slopes.values()).T @ ca.vec(
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


def sensitivity(
    tree: Tree, q: Matrix, qd: Matrix, qdd: Matrix, loads: Sequence[Load] = ()
) -> tuple[Matrix, Matrix, Matrix]:
    """Return dtau/dq, dtau/dqd, dtau/dqdd, (n, n) each, structurally zero where neither joint
    carries the other.

    The direct differentiation of the closed form, O(n^5) (Xiang, Arora & Abdel-Malek 2009, eq. 11):
    for one link, with subscripts of W for its derivatives and <X, Y> = tr(X J Y'),

        dtau_i/dq_m   = sum_k (<W_km, W_i> + <W_k, W_im>) qdd_k
                        + sum_kl (<W_klm, W_i> + <W_kl, W_im>) qd_k qd_l
                        - tr((g m r' + P) W_im') - tr(dP/dq_m W_i')
        dtau_i/dqd_m  = 2 sum_k <W_km, W_i> qd_k
        dtau_i/dqdd_m = <W_m, W_i>
    """
    tree, _ = aligned(tree)
    links, pushes = link_matrices(tree, q), applied(tree, loads)
    gravity, totals = matrix([*tree.gravity, 0]), [ca.DM(tree.dof, tree.dof)] * 3
    for j, (w, *derivatives) in enumerate(_three_derivatives(tree, links)):
        slopes, pseudo = derivatives[0], links[j][3]
        if slopes:
            push = ca.vec(gravity @ pseudo[:, 3].T + push_of(pushes, j, w))
            turned = columns(push_slope(pushes, j, slope) for slope in slopes.values())
            by_q, *others = _of_link(pseudo, derivatives, push, qd, qdd)
            shares = by_q - columns(slopes.values()).T @ turned, *others
            totals = [
                total + placed(tree.dof, list(slopes), part) for total, part in zip(totals, shares)
            ]
    return totals[0], totals[1], totals[2]


def _of_link(pseudo, derivatives, push, qd, qdd):
    """Return what one link adds to the three, over the joints that move it, under a push g m r' + P
    that keeps its size."""
    (slopes, bends, thirds), joints = derivatives, list(derivatives[0])
    first, second, third = (columns(parts.values()) for parts in derivatives)
    weighted, weighted_bends = (
        columns(part @ pseudo for part in parts.values()).T for parts in (slopes, bends)
    )
    crossed = weighted @ second
    bent = crossed.T @ ca.vertcat(*(qdd[k] for k in joints)) - second.T @ push
    bent = bent + halved(weighted_bends @ second) @ _products(qd, bends)
    return (
        crossed @ _sums(qdd, joints, bends)
        + weighted @ third @ _pair_sums(qd, joints, thirds)
        + symmetric(joints, bends, bent),
        2 * crossed @ _sums(qd, joints, bends),
        halved(weighted @ first),
    )


def _products(qd, pairs):
    """Return qd_k qd_l of each pair k <= l, twice where they are two."""
    return ca.vertcat(*(qd[k] * qd[l] * (1 if k == l else 2) for k, l in pairs))


def _sums(values, joints, pairs):
    """Return the matrix (pairs, joints) that makes sums over k of X_km values_k, for every m, of
    one X_kl = X_lk per pair."""
    entries = {}
    for row, (k, l) in enumerate(pairs):
        entries[row, k], entries[row, l] = values[l], values[k]
    return _sparse(len(pairs), joints, entries)


def _pair_sums(qd, joints, triples):
    """Return the matrix (triples, joints) that makes sums over k and l of X_klm qd_k qd_l, for
    every m, of one X_klm per triple."""
    entries = {}
    for row, triple in enumerate(triples):
        for place, m in enumerate(triple):
            k, l = triple[:place] + triple[place + 1 :]
            entries[row, m] = qd[k] * qd[l] * (1 if k == l else 2)
    return _sparse(len(triples), joints, entries)


def _sparse(height, joints, entries):
    """Return the sparse matrix (height, joints) of {(row, joint): value}."""
    places = sorted((joints.index(joint), row) for row, joint in entries)
    pattern = ca.Sparsity.triplet(
        height, len(joints), [row for _, row in places], [column for column, _ in places]
    )
    values = ca.densify(ca.vertcat(*(entries[row, joints[column]] for column, row in places)))
    return type(values)(pattern, values)


def _three_derivatives(tree, links):
    """Return per link W and its first, second and third derivatives, by joints in their order."""
    rows, screws = tree.rows, screw_matrices(tree)

    def derivatives(j, parent):
        (w, slopes, bends, thirds), (t, t1, t2, _), row = parent, links[j], rows[j]
        moved = w @ t, _times(slopes, t), _times(bends, t), _times(thirds, t)
        if row is None:
            return moved
        t3 = t2 @ screws[j]
        return (
            moved[0],
            moved[1] | {row: w @ t1},
            moved[2] | {(k, row): slope @ t1 for k, slope in slopes.items()} | {(row, row): w @ t2},
            moved[3]
            | {(*pair, row): bend @ t1 for pair, bend in bends.items()}
            | {(k, row, row): slope @ t2 for k, slope in slopes.items()}
            | {(row, row, row): w @ t3},
        )

    return outward(tree, derivatives, (ca.DM.eye(4), {}, {}, {}))


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


def dense(n: int) -> tuple[list[Matrix], Matrix]:
    """Return inputs and torques (n,) of `given_matrices`, as Hollerbach (1980, table I) counts."""
    return given_matrices(n, torques)


UICKER_KAHN = Formulation(
    name="uicker_kahn", inverse=inverse, derivatives=COMPOSITE, sensitivity=sensitivity
)
