"""The closed form of Uicker and Kahn, O(n^4): every second derivative of every link transformation.

Hollerbach (1980), eqs. 4, 5, after Uicker (1965) and Kahn (1969); Xiang, Arora & Abdel-Malek
(2009), eqs. 6-11, with loads.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import TypeAlias

import casadi as ca

from ocp.dynamics.derivatives.composite_bodies import COMPOSITE
from ocp.dynamics.formulation_record import Formulation, align_frames
from ocp.dynamics.formulations.transforms_4x4 import (
    Links,
    aligned_torques,
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
from ocp.dynamics.matrix_entries import sparse_matrix
from ocp.dynamics.signatures import Loads, Slopes
from ocp.mechanics.model.loads import AppliedLoads, applied_loads
from ocp.mechanics.model.tree import Tree, outward
from ocp.mechanics.values.parameters import matrix
from ocp.mechanics.values.types import Matrix

# {joints in ascending order: the derivative of W by their coordinates}
Derivatives: TypeAlias = Mapping[tuple[int, ...], Matrix]


def inverse(tree: Tree, q: Matrix, qd: Matrix, qdd: Matrix, loads: Loads = ()) -> Matrix:
    """Return the joint torques (N m) or forces (N), (n,)."""
    return aligned_torques(torques, tree, q, qd, qdd, loads)


def torques(
    tree: Tree, links: Links, *, qd: Matrix, qdd: Matrix, gravity: Matrix, loads: AppliedLoads = ()
) -> Matrix:
    """Return the joint torques (n,) of links (T, T' = dT/dq, T'', pseudo-inertia J), each 4x4.

    Under gravity (4) and `applied_loads`,

        tau_i = sum_j { sum_k tr(dW_j/dq_k J_j dW_j'/dq_i) qdd_k
                        + sum_k sum_l tr(d2W_j/dq_k dq_l J_j dW_j'/dq_i) qd_k qd_l
                        - tr((g m_j r_j' + P_j) dW_j'/dq_i) }  (Hollerbach 1980, eq. 4)

    over the links j that joint i moves and the joints k, l that move j.
    """
    tau = [0] * tree.dof
    for j, (whole, slopes, bends) in enumerate(_derivatives(tree, links, 2)):
        joints, pseudo = [joint for (joint,) in slopes], links[j][3]
        if not joints:
            continue
        # A trace of two factors is the product of their columns. The order of these products
        # matters: to sum over k and l first would be Waters' method.
        pairs = [(k, l) for k in joints for l in joints]
        weighted = stack_columns(slope @ pseudo.T for slope in slopes.values())
        inertia = weighted.T @ stack_columns(slopes.values())
        coriolis = weighted.T @ stack_columns(bends[min(pair), max(pair)] for pair in pairs)
        push = gravity @ pseudo[:, 3].T + load_matrix(loads, j, whole[()])
        pushed = stack_columns(slopes.values()).T @ ca.vec(push)
        rates = ca.vertcat(*(qd[k] * qd[l] for k, l in pairs))
        accelerations = ca.vertcat(*(qdd[k] for k in joints))
        share = inertia @ accelerations + coriolis @ rates - pushed
        for row, i in enumerate(joints):
            tau[i] = tau[i] + share[row]
    return ca.vertcat(*tau)


def sensitivity(tree: Tree, q: Matrix, qd: Matrix, qdd: Matrix, loads: Loads = ()) -> Slopes:
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
    tree, _ = align_frames(tree)
    links, pushes = link_matrices(tree, q), applied_loads(tree, loads)
    gravity = matrix([*tree.gravity, 0])

    def shares() -> Iterator[tuple[list[int], Slopes]]:
        for j, (whole, *derivatives) in enumerate(_derivatives(tree, links, 3)):
            slopes, pseudo = derivatives[0], links[j][3]
            if slopes:
                push = ca.vec(gravity @ pseudo[:, 3].T + load_matrix(pushes, j, whole[()]))
                turned = stack_columns(
                    load_matrix_slope(pushes, j, slope) for slope in slopes.values()
                )
                by_q, by_qd, by_qdd = _link_share(pseudo, derivatives, push, qd, qdd)
                by_q = by_q - stack_columns(slopes.values()).T @ turned
                yield [joint for (joint,) in slopes], (by_q, by_qd, by_qdd)

    return sum_shares(tree, shares())


def _link_share(
    pseudo: Matrix, derivatives: Sequence[Derivatives], push: Matrix, qd: Matrix, qdd: Matrix
) -> Slopes:
    """Return one link's part of the three slopes, over the joints that move it, under a push
    g m r' + P that keeps its size."""
    slopes, bends, thirds = derivatives
    joints = [joint for (joint,) in slopes]
    first, second, third = (stack_columns(parts.values()) for parts in derivatives)
    weighted, weighted_bends = (
        stack_columns(part @ pseudo for part in parts.values()).T for parts in (slopes, bends)
    )
    rates = ca.vertcat(*(_product_of_rates(qd, *pair) for pair in bends))
    crossed = weighted @ second
    bent = crossed.T @ ca.vertcat(*(qdd[k] for k in joints)) - second.T @ push
    bent = bent + mirror_upper(weighted_bends @ second) @ rates
    return (
        crossed @ _pair_sums(qdd, joints, bends)
        + weighted @ third @ _triple_sums(qd, joints, thirds)
        + symmetric_block(joints, bends, bent),
        2 * crossed @ _pair_sums(qd, joints, bends),
        mirror_upper(weighted @ first),
    )


def _product_of_rates(qd: Matrix, k: int, l: int) -> Matrix:
    """Return qd_k qd_l, twice where k and l differ."""
    return qd[k] * qd[l] * (1 if k == l else 2)


def _pair_sums(values: Matrix, joints: list[int], pairs: Derivatives) -> Matrix:
    """Return the matrix (pairs, joints) that makes sums over k of X_km values_k, for every m, of
    one X_kl = X_lk per pair."""
    entries = {}
    for row, (k, l) in enumerate(pairs):
        entries[row, joints.index(k)], entries[row, joints.index(l)] = values[l], values[k]
    return sparse_matrix(len(pairs), entries, len(joints))


def _triple_sums(qd: Matrix, joints: list[int], triples: Derivatives) -> Matrix:
    """Return the matrix (triples, joints) that makes sums over k and l of X_klm qd_k qd_l, for
    every m, of one X_klm per triple."""
    entries = {
        (row, joints.index(m)): _product_of_rates(qd, *triple[:place], *triple[place + 1 :])
        for row, triple in enumerate(triples)
        for place, m in enumerate(triple)
    }
    return sparse_matrix(len(triples), entries, len(joints))


def _derivatives(tree: Tree, links: Links, order: int) -> list[tuple[Derivatives, ...]]:
    """Return per link W and its derivatives up to that order, 2 or 3, each 4x4.

    The derivative by a joint's coordinate r times has T^(r) in place of T (Hollerbach 1980, eq. 5).
    """
    screws = screw_matrices(tree)

    def differentiate(j: int, parent: tuple[Derivatives, ...]) -> tuple[Derivatives, ...]:
        t, t1, t2, _ = links[j]
        row = tree.rows[j]
        own: tuple[int, ...] = () if row is None else (row,)
        powers = [t, t1, t2, t2 @ screws[j]] if own else [t]
        return tuple(
            {
                joints + own * times: above @ power
                for times, power in enumerate(powers[: total + 1])
                for joints, above in parent[total - times].items()
            }
            for total in range(order + 1)
        )

    return outward(tree, differentiate, ({(): ca.DM.eye(4)}, *({} for _ in range(order))))


dense = partial(symbolic_chain, torques)  # (n): inputs and torques (n,) as Hollerbach counts

UICKER_KAHN = Formulation(
    name="uicker_kahn", inverse=inverse, derivatives=COMPOSITE, sensitivity=sensitivity
)
