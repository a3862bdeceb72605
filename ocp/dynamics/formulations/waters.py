"""Waters' Lagrangian dynamics with 4x4 link transformations, O(n^2): recursive motions, torques as
sums over the links outside.

Hollerbach (1980), eqs. 6-10, after Waters (1979). Loads act through the Jacobian of their point
(Xiang, Arora & Abdel-Malek 2009, eqs. 6, 10), which is part of dW/dq.
"""

from collections.abc import Iterator, Mapping
from functools import partial

import casadi as ca

from ocp.dynamics.derivatives.composite_bodies import COMPOSITE
from ocp.dynamics.formulation_record import Formulation, align_frames
from ocp.dynamics.formulations.transforms_4x4 import (
    BASE,
    Links,
    Motion,
    advance,
    aligned_torques,
    carrier,
    link_matrices,
    load_matrix,
    load_matrix_slope,
    mirror_upper,
    screw_matrices,
    stack_columns,
    sum_shares,
    symbolic_chain,
    symmetric_block,
)
from ocp.dynamics.signatures import Loads, Slopes
from ocp.mechanics.model.loads import AppliedLoads, applied_loads
from ocp.mechanics.model.tree import Tree, outward
from ocp.mechanics.values.parameters import matrix
from ocp.mechanics.values.types import Matrix


def inverse(tree: Tree, q: Matrix, qd: Matrix, qdd: Matrix, loads: Loads = ()) -> Matrix:
    """Return the joint torques (N m) or forces (N), (n,)."""
    return aligned_torques(torques, tree, q, qd, qdd, loads)


def torques(
    tree: Tree, links: Links, *, qd: Matrix, qdd: Matrix, gravity: Matrix, loads: AppliedLoads = ()
) -> Matrix:
    """Return the joint torques (n,) of links (T, T' = dT/dq, T'', pseudo-inertia J), each 4x4.

    Under gravity (4) and `applied_loads`, with W, dW, ddW as A, B, C of `advance`,

        tau_i = sum over the links j that joint i moves of
                tr(dW_j/dq_i (J_j ddW_j' - m_j r_j g' - P_j'))

    (Hollerbach 1980, eq. 6); m r is J's last column, P is of `load_matrix`.
    """

    def motion(k: int, parent: tuple[Matrix, ...]) -> tuple[Matrix, ...]:
        moved = {i: slope @ links[k][0] for i, slope in parent[3].items()}
        w, dw, ddw, slope = advance(links[k], tree.rows[k], qd, qdd, parent)
        return w, dw, ddw, moved if slope is None else moved | {tree.rows[k]: slope}

    tau, none = [0] * tree.dof, dict[int, Matrix]()
    for k, (w, _, ddw, slopes) in enumerate(outward(tree, motion, (*BASE, none))):
        pseudo = links[k][3]
        needed = ddw @ pseudo.T - gravity @ pseudo[:, 3].T - load_matrix(loads, k, w)
        for i, slope in slopes.items():
            tau[i] = tau[i] + ca.dot(slope, needed)
    return ca.vertcat(*tau)


def sensitivity(tree: Tree, q: Matrix, qd: Matrix, qdd: Matrix, loads: Loads = ()) -> Slopes:
    """Return dtau/dq, dtau/dqd, dtau/dqdd, (n, n) each, structurally zero where neither joint
    carries the other.

    The sums of `torques` by one more coordinate, O(n^3), with N = ddW J' - g m r' - P:

        dtau_i/dq_k = sum_j tr(d2W_j/dq_i dq_k N_j' + dW_j/dq_i (J_j d(ddW_j)'/dq_k - dP_j'/dq_k))
        dtau_i/dqd_k  = sum_j 2 tr(dW_j/dq_i J_j d(dW_j)'/dq_k)
        dtau_i/dqdd_k = sum_j tr(dW_j/dq_i J_j dW_j'/dq_k)

    over the links j that joints i and k move, as d(ddW)/dqd = 2 d(dW)/dq and d(ddW)/dqdd = dW/dq.
    """
    tree, _ = align_frames(tree)
    links, pushes = link_matrices(tree, q), applied_loads(tree, loads)
    gravity = matrix([*tree.gravity, 0])

    def shares() -> Iterator[tuple[Mapping[int, Motion], Slopes]]:
        for j, ((w, _, ddw), slopes, bends) in enumerate(_motions(tree, links, qd, qdd)):
            if not slopes:
                continue
            pseudo, moved = links[j][3], slopes.values()
            needed = ddw @ pseudo.T - gravity @ pseudo[:, 3].T - load_matrix(pushes, j, w)
            changed = stack_columns(
                c @ pseudo.T - load_matrix_slope(pushes, j, a) for a, _, c in moved
            )
            first = stack_columns(a for a, *_ in moved).T
            bent = stack_columns(bends.values()).T @ ca.vec(needed)
            by_q = first @ changed + symmetric_block(slopes, bends, bent)
            by_qd = 2 * first @ stack_columns(b @ pseudo.T for _, b, _ in moved)
            by_qdd = mirror_upper(first @ stack_columns(a @ pseudo.T for a, *_ in moved))
            yield slopes, (by_q, by_qd, by_qdd)

    return sum_shares(tree, shares())


def _motions(tree: Tree, links: Links, qd: Matrix, qdd: Matrix) -> list[tuple]:
    """Return for every link (W, dW, ddW), {k: their derivatives by q_k} and
    {(i, k): d2W/dq_i dq_k} with i <= k."""
    screws, carry = screw_matrices(tree), carrier(tree, links, qd, qdd)

    def motion(k: int, parent: tuple) -> tuple:
        above, above_slopes, above_bends = parent
        (t, t1, t2, _), row = links[k], tree.rows[k]
        whole = carry(k, above)
        slopes = {i: carry(k, slope) for i, slope in above_slopes.items()}
        bends = {pair: bend @ t for pair, bend in above_bends.items()}
        if row is not None:
            bends |= {(i, row): slope @ t1 for i, (slope, *_) in above_slopes.items()}
            bends[row, row] = above[0] @ t2
            slopes[row] = tuple(part @ screws[k] for part in whole)
        return whole, slopes, bends

    return outward(tree, motion, (BASE, {}, {}))


dense = partial(symbolic_chain, torques)  # (n): inputs and torques (n,) as Hollerbach counts

WATERS = Formulation(name="waters", inverse=inverse, derivatives=COMPOSITE, sensitivity=sensitivity)
