"""Waters' Lagrangian dynamics with 4x4 link transformations, O(n^2): recursive motions, torques as
sums over the links outside.

Hollerbach (1980), eqs. 6-10, after Waters (1979). Every joint kind is one case, since dT/dq = T [S]
with the joint's constant screw matrix [S]. Loads act through the Jacobian of their point (Xiang,
Arora & Abdel-Malek 2009, eqs. 6, 10), which is part of dW/dq.
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

        W = W_p T,  dW = dW_p T + W_p T' qd
        ddW = ddW_p T + 2 dW_p T' qd + W_p (T'' qd^2 + T' qdd)  (Hollerbach 1980, eqs. 8-10)
        tau_i = sum over the links j that joint i moves of
                tr(dW_j/dq_i (J_j ddW_j' - m_j r_j g' - P_j'))  (eq. 6; m r = J's last column)
    """
    rows, zero = tree.rows, ca.DM(4, 4)

    def motion(k, parent):
        (w, dw, ddw, slopes), (t, t1, t2, _), row = parent, links[k], rows[k]
        slopes = {i: slope @ t for i, slope in slopes.items()}
        if row is None:
            return w @ t, dw @ t, ddw @ t, slopes
        slope, rate = w @ t1, qd[row]
        accelerated = ddw @ t + dw @ t1 * (2 * rate) + w @ t2 * rate**2 + slope * qdd[row]
        return w @ t, dw @ t + slope * rate, accelerated, slopes | {row: slope}

    tau = [0] * tree.dof
    for k, (w, _, ddw, slopes) in enumerate(outward(tree, motion, (ca.DM.eye(4), zero, zero, {}))):
        pseudo = links[k][3]
        needed = ddw @ pseudo.T - gravity @ pseudo[:, 3].T - push_of(loads, k, w)
        for i, slope in slopes.items():
            tau[i] = tau[i] + ca.dot(slope, needed)
    return ca.vertcat(*tau)


def sensitivity(
    tree: Tree, q: Matrix, qd: Matrix, qdd: Matrix, loads: Sequence[Load] = ()
) -> tuple[Matrix, Matrix, Matrix]:
    """Return dtau/dq, dtau/dqd, dtau/dqdd, (n, n) each, structurally zero where neither joint
    carries the other.

    The sums of `torques` by one more coordinate, O(n^3), with N = ddW J' - g m r' - P:

        dtau_i/dq_k = sum_j tr(d2W_j/dq_i dq_k N_j' + dW_j/dq_i (J_j d(ddW_j)'/dq_k - dP_j'/dq_k))
        dtau_i/dqd_k  = sum_j 2 tr(dW_j/dq_i J_j d(dW_j)'/dq_k)
        dtau_i/dqdd_k = sum_j tr(dW_j/dq_i J_j dW_j'/dq_k)

    over the links j that joints i and k move, as d(ddW)/dqd = 2 d(dW)/dq and d(ddW)/dqdd = dW/dq.
    """
    tree, _ = aligned(tree)
    links, pushes = link_matrices(tree, q), applied(tree, loads)
    gravity, totals = matrix([*tree.gravity, 0]), [ca.DM(tree.dof, tree.dof)] * 3
    for j, ((w, _, ddw), slopes, bends) in enumerate(_moved(tree, links, qd, qdd)):
        if slopes:
            pseudo, joints, moved = links[j][3], list(slopes), slopes.values()
            needed = ddw @ pseudo.T - gravity @ pseudo[:, 3].T - push_of(pushes, j, w)
            changed = columns(c @ pseudo.T - push_slope(pushes, j, a) for a, _, c in moved)
            first = columns(a for a, *_ in moved).T
            bent = columns(bends.values()).T @ ca.vec(needed)
            shares = (
                first @ changed + symmetric(joints, bends, bent),
                2 * first @ columns(b @ pseudo.T for _, b, _ in moved),
                halved(first @ columns(a @ pseudo.T for a, *_ in moved)),
            )
            totals = [total + placed(tree.dof, joints, part) for total, part in zip(totals, shares)]
    return totals[0], totals[1], totals[2]


def _moved(tree, links, qd, qdd):
    """Return for every link (W, dW, ddW), {k: their derivatives by q_k} and
    {(i, k): d2W/dq_i dq_k} with i <= k.

    W, dW and ddW are linear in the parent's, and so are their derivatives by an ancestor's
    coordinate. Since dT = T [S], those by the link's own are (W, dW, ddW) [S].
    """
    rows, screws, zero = tree.rows, screw_matrices(tree), ca.DM(4, 4)

    def motion(k, parent):
        (t, t1, t2, _), row = links[k], rows[k]
        (w, *_), slopes, bends = parent
        bends = {pair: bend @ t for pair, bend in bends.items()}
        if row is None:
            whole, slopes = (
                tuple(part @ t for part in parent[0]),
                {i: tuple(part @ t for part in slope) for i, slope in slopes.items()},
            )
            return whole, slopes, bends
        rate, bend = qd[row], t2 * qd[row] ** 2 + t1 * qdd[row]

        def carried(a, b, c):
            return a @ t, b @ t + a @ t1 * rate, c @ t + b @ t1 * (2 * rate) + a @ bend

        whole = carried(*parent[0])
        bends |= {(i, row): slope @ t1 for i, (slope, *_) in slopes.items()}
        slopes = {i: carried(*slope) for i, slope in slopes.items()}
        slopes[row] = tuple(part @ screws[k] for part in whole)
        return whole, slopes, bends | {(row, row): w @ t2}

    return outward(tree, motion, ((ca.DM.eye(4), zero, zero), {}, {}))


def dense(n: int) -> tuple[list[Matrix], Matrix]:
    """Return inputs and torques (n,) of `given_matrices`, as Hollerbach (1980, table I) counts."""
    return given_matrices(n, torques)


WATERS = Formulation(name="waters", inverse=inverse, derivatives=COMPOSITE, sensitivity=sensitivity)
