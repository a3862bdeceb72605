"""Recursive Lagrangian dynamics with 3x3 rotations and vectors, O(n).

Hollerbach (1980), eqs. 15-18 and appendix B: rotations W and positions p of the link frames
outward, D, e and c inward. His p*, here p, is in the parent's axes and may change with q, so that
prismatic and screw joints are one case with revolute ones: for the joint's screw matrix [S]

    d[R, p]/dq = [R, p] [S]

Loads are taken off the inertial forces that D and e gather.
"""

from collections.abc import Sequence
from typing import TypeAlias

import casadi as ca

from ocp.dynamics.derivatives.composite_bodies import COMPOSITE
from ocp.dynamics.formulation_record import Formulation, align_frames
from ocp.dynamics.formulations.transforms_4x4 import (
    entry_matrices,
    link_poses,
    revolute_chain,
    screw_matrices,
)
from ocp.dynamics.signatures import Loads, Slopes
from ocp.mechanics.kinematics.spatial import skew
from ocp.mechanics.model.inertia import mass_moments
from ocp.mechanics.model.loads import AppliedLoads, applied_loads
from ocp.mechanics.model.tree import Tree, inward, outward
from ocp.mechanics.values.parameters import matrix
from ocp.mechanics.values.types import Matrix

# Of every link (R, R', R''), (p, p', p'') and (m, n, J).
Links: TypeAlias = Sequence[tuple[Sequence[Matrix], Sequence[Matrix], Sequence[Matrix]]]

# W, dW, ddW, p, dp, ddp of a link, or their derivatives by a coordinate.
Motion: TypeAlias = tuple[Matrix, ...]

# D, e, c, m of a link and all that it carries, or their derivatives.
Sums: TypeAlias = tuple[Matrix, ...]

# {("q", "qd" or "qdd", row of q): derivatives by it}
Derivatives: TypeAlias = dict[tuple[str, int], Sums]


def inverse(tree: Tree, q: Matrix, qd: Matrix, qdd: Matrix, loads: Loads = ()) -> Matrix:
    """Return the joint torques (N m) or forces (N), (n,)."""
    tree, _ = align_frames(tree)
    gravity, pushes = matrix(tree.gravity), applied_loads(tree, loads)
    return torques(tree, _links(tree, q), qd=qd, qdd=qdd, gravity=gravity, loads=pushes)


def torques(
    tree: Tree, links: Links, *, qd: Matrix, qdd: Matrix, gravity: Matrix, loads: AppliedLoads = ()
) -> Matrix:
    """Return the joint torques (n,) of links ((R, R', R''), (p, p', p''), (m, n, J)).

    R (3x3) and p (3) lead to the parent, primes are d/dq; m, n = m r (3) and J (3x3) are mass,
    first moment and pseudo-inertia. Under gravity (3) and `applied_loads` (Hollerbach 1980; in his
    eq. 16 p is fixed),

        outward:  W = W_p R,  dW = dW_p R + W_p R' qd
                  ddW = ddW_p R + 2 dW_p R' qd + W_p (R'' qd^2 + R' qdd)          (eqs. 8-10)
                  ddp = ddp_p + ddW_p p + 2 dW_p p' qd + W_p (p'' qd^2 + p' qdd)  (eq. 16)
        inward:   D = n ddp' + J ddW' + R_c D_c + p_c e_c'
                  e = m ddp + ddW n + e_c                                         (eq. 18)
                  c = n + R_c c_c + p_c m_c,  m_c the mass carried                (eq. 13)
        tau = tr(dW/dq (D - c g')) + dp/dq . (e - m g)
        dW/dq = W_p R',  dp/dq = W_p p'                                           (eq. 17)
    """

    def motion(k: int, parent: tuple) -> tuple:
        (w, dw, ddw, ddp, _, _), ((r, r1, r2), (p, p1, p2), _), row = parent, links[k], tree.rows[k]
        if row is None:
            return w @ r, dw @ r, ddw @ r, ddp + ddw @ p, None, None
        turn, slide, rate, acceleration = w @ r1, w @ p1, qd[row], qdd[row]
        return (
            w @ r,
            dw @ r + turn * rate,
            ddw @ r + dw @ r1 * (2 * rate) + w @ r2 * rate**2 + turn * acceleration,
            ddp + ddw @ p + dw @ p1 * (2 * rate) + w @ p2 * rate**2 + slide * acceleration,
            turn,
            slide,
        )

    zero = ca.DM(3, 3)
    moves = outward(tree, motion, (ca.DM.eye(3), zero, zero, ca.DM(3, 1), None, None))

    def gather(k: int, children: list) -> Sums:
        w, _, ddw, ddp, *_ = moves[k]
        m, c, pseudo = links[k][2]
        push, force = _load_sums(loads, k, w)
        d, e = c @ ddp.T + pseudo @ ddw.T - push.T, m * ddp + ddw @ c - force
        for child, (inner_d, inner_e, inner_c, inner_m) in children:
            (r, *_), (p, *_), _ = links[child]
            d, e = d + r @ inner_d + p @ inner_e.T, e + inner_e
            c, m = c + r @ inner_c + p * inner_m, m + inner_m
        return d, e, c, m

    tau: list[Matrix] = []
    for (*_, turn, slide), (d, e, c, m) in zip(moves, inward(tree, gather)):
        if turn is not None:
            tau.append(ca.dot(turn.T, d - c @ gravity.T) + ca.dot(slide, e - m * gravity))
    return ca.vertcat(*tau)


def sensitivity(tree: Tree, q: Matrix, qd: Matrix, qdd: Matrix, loads: Loads = ()) -> Slopes:
    """Return dtau/dq, dtau/dqd, dtau/dqdd, (n, n) each, structurally zero where neither joint
    carries the other.

    `torques` differentiated as Xiang, Arora & Abdel-Malek (2009, eqs. 21-35) do in 4x4. With the
    joint's turn w and slide v, R' = R [w] and p' = R v, so that

        dtau = tr(dW [w] (D - c g')) + dW v . (e - m g) + tr(W [w] (dD - dc g')) + W v . de

    with dW = 0 by rates, accelerations and the joints that joint i carries; dtau/dqdd is symmetric.
    """
    tree, _ = align_frames(tree)
    links, screws, gravity = _links(tree, q), screw_matrices(tree), matrix(tree.gravity)
    moves, entries = _motions(tree, links, screws, qd, qdd), {}
    sums = _inward_sums(tree, links, moves, applied_loads(tree, loads))
    for k, (((w, *_), by), ((d, e, c, m), slopes)) in enumerate(zip(moves, sums)):
        row = tree.rows[k]
        if row is None:
            continue
        (turn, slide), pull, push = _turn(w, screws[k]), d - c @ gravity.T, e - m * gravity
        for (name, j), (slope_d, slope_e, slope_c, _) in slopes.items():
            entry = ca.dot(turn.T, slope_d - slope_c @ gravity.T) + ca.dot(slide, slope_e)
            if name == "q" and j in by:
                bent, swung = _turn(by[j][0], screws[k])
                entry = entry + ca.dot(bent.T, pull) + ca.dot(swung, push)
            entries[name, row, j] = entry
            if name == "qdd":
                entries[name, j, row] = entry
    return entry_matrices(tree.dof, entries)


def _turn(w: Matrix, screw: Matrix) -> tuple[Matrix, Matrix]:
    """Return W [w] (3x3) and W v (3) for a joint's screw matrix (4x4)."""
    return w @ screw[:3, :3], w @ screw[:3, 3]


def _motions(
    tree: Tree, links: Links, screws: list[Matrix], qd: Matrix, qdd: Matrix
) -> list[tuple[Motion, dict[int, Motion]]]:
    """Return for every link (W, dW, ddW, p, dp, ddp) and {j: their derivatives by q_j} for its own
    joint and those before it.

    All six are linear in the parent's, and so are their derivatives by a coordinate before; those
    by the link's own are (W, dW, ddW) [w] and (W, dW, ddW) v. They hold the others too, as

        d(ddX)/dqd = 2 d(dX)/dq,  d(ddX)/dqdd = d(dX)/dqd = dX/dq
    """

    def carry(k: int, parent: Motion) -> Motion:
        (w, dw, ddw, p, dp, ddp), (turns, shifts, _), row = parent, links[k], tree.rows[k]
        moved: list[Matrix] = []
        for (t, t1, t2), before in ((turns, (0, 0, 0)), (shifts, (p, dp, ddp))):
            a, b, c = (part @ t + rest for part, rest in zip((w, dw, ddw), before))
            if row is not None:
                b = b + w @ t1 * qd[row]
                c = c + dw @ t1 * (2 * qd[row]) + w @ (t2 * qd[row] ** 2 + t1 * qdd[row])
            moved += a, b, c
        return tuple(moved)

    def motion(k: int, parent: tuple) -> tuple[Motion, dict[int, Motion]]:
        whole, row = carry(k, parent[0]), tree.rows[k]
        slopes = {j: carry(k, slope) for j, slope in parent[1].items()}
        if row is not None:
            turns, shifts = zip(*(_turn(part, screws[k]) for part in whole[:3]))
            slopes[row] = (*turns, *shifts)
        return whole, slopes

    zero, still = ca.DM(3, 3), ca.DM(3, 1)
    return outward(tree, motion, ((ca.DM.eye(3), zero, zero, still, still, still), {}))


def _inward_sums(
    tree: Tree, links: Links, moves: list[tuple[Motion, dict[int, Motion]]], loads: AppliedLoads
) -> list[tuple[Sums, Derivatives]]:
    """Return for every link (D, e, c, m) and their derivatives.

        dD = n d(ddp)' + J d(ddW)' - dP' + R_c dD_c + p_c de_c'
        de = m d(ddp) + d(ddW) n + de_c,  dc = R_c dc_c

    and by the child's own q also R_c [w] D_c + R_c v e_c' and R_c [w] c_c + R_c v m_c. Those by qdd
    stop at the joint itself: the others are theirs by symmetry.
    """

    def gather(k: int, children: list) -> tuple[Sums, Derivatives]:
        total, slopes = _link_sums(links[k][2], moves[k], loads, k)
        above = set(slopes)
        for child, (inner, inner_slopes) in children:
            (r, r1, _), (p, p1, _), _ = links[child]
            total = _add(total, _hand_on(r, p, *inner))
            for key, slope in inner_slopes.items():
                if key[0] == "qdd" and key not in above:
                    continue
                passed = _hand_on(r, p, *slope)
                if key == ("q", tree.rows[child]):
                    turned_d, _, turned_c, _ = _hand_on(r1, p1, *inner)
                    passed = _add(passed, (turned_d, 0, turned_c, 0))
                slopes[key] = _add(slopes[key], passed) if key in slopes else passed
        return total, slopes

    return inward(tree, gather)


def _link_sums(
    body: Sequence[Matrix], move: tuple[Motion, dict[int, Motion]], loads: AppliedLoads, k: int
) -> tuple[Sums, Derivatives]:
    """Return a link's own (D, e, c, m) and their derivatives."""
    (m, c, pseudo), ((w, _, ddw, _, _, ddp), by), slopes = body, move, {}

    def inertial(turn: Matrix, shift: Matrix) -> tuple[Matrix, Matrix]:
        return c @ shift.T + pseudo @ turn.T, m * shift + turn @ c

    push, force = _load_sums(loads, k, w)
    for j, (w_j, dw_j, ddw_j, p_j, dp_j, ddp_j) in by.items():
        d, e = inertial(ddw_j, ddp_j)
        slopes["q", j] = d - (_moment_matrix(loads, k) @ w_j).T, e, ca.DM(3, 1), 0
        slopes["qd", j] = *inertial(2 * dw_j, 2 * dp_j), ca.DM(3, 1), 0
        slopes["qdd", j] = *inertial(w_j, p_j), ca.DM(3, 1), 0
    d, e = inertial(ddw, ddp)
    return (d - push.T, e - force, c, m), slopes


def _hand_on(r: Matrix, p: Matrix, d: Matrix, e: Matrix, c: Matrix, m: Matrix) -> Sums:
    """Return the force and moment that a link at (R, p) hands on to its parent."""
    return r @ d + p @ e.T, e, r @ c + p * m, m


def _add(one: Sums, other: Sums) -> Sums:
    return tuple(a + b for a, b in zip(one, other))


def _load_sums(loads: AppliedLoads, k: int, w: Matrix) -> tuple[Matrix, Matrix]:
    """Return P (3x3), the sum of f r' for a force f at r and [h] W / 2 for a moment h on link k,
    and the sum of f (3).

    What these loads do at joint i is tr(dW/dq_i P') + f . dp/dq_i, as

        tr([h] W dW'/dq_i) = 2 h . axis
    """
    push, total = _moment_matrix(loads, k) @ w, ca.DM(3, 1)
    for link, place, _, force in loads:
        if link == k:
            force = ca.vertcat(force[0], force[1], force[2])
            push, total = push + force @ matrix(place).T, total + force
    return push, total


def _moment_matrix(loads: AppliedLoads, k: int) -> Matrix:
    """Return the sum (3x3) of [h] / 2 for the moments h on link k: dP/dW."""
    return sum((skew(moment) / 2 for link, _, moment, _ in loads if link == k), ca.DM(3, 3))


def dense(n: int) -> tuple[list[Matrix], Matrix]:
    """Return the inputs (list of SX) and the torques (n,) of a serial chain of n revolute joints
    with a symbol for every matrix entry.

    So Hollerbach (1980, table I) counts: link matrices and their derivatives are given, and none of
    their entries is known to be 0 or 1.
    """

    def symbols(k: int, **shapes: tuple[int, int]) -> tuple[Matrix, ...]:
        return tuple(ca.SX.sym(f"{name}_{k}", *shape) for name, shape in shapes.items())

    still = ca.SX(3, 1), ca.SX(3, 1)
    links = [
        (
            symbols(k, R=(3, 3), dR=(3, 3), ddR=(3, 3)),
            (*symbols(k, p=(3, 1)), *still),
            symbols(k, m=(1, 1), n=(3, 1), J=(3, 3)),
        )
        for k in range(n)
    ]
    gravity, qd, qdd = ca.SX.sym("g", 3), ca.SX.sym("qd", n), ca.SX.sym("qdd", n)
    inputs = [matrix for turns, shifts, body in links for matrix in (*turns, shifts[0], *body)]
    tau = torques(revolute_chain(n), links, qd=qd, qdd=qdd, gravity=gravity)
    return [*inputs, gravity, qd, qdd], tau


def _links(tree: Tree, q: Matrix) -> Links:
    """Return (R, R', R''), (p, p', p'') and (m, n, J) of every link."""
    links = []
    for poses, link in zip(link_poses(tree, q), tree.links):
        mass, first, second = mass_moments(link)
        turns, shifts = [pose[:3, :3] for pose in poses], [pose[:3, 3] for pose in poses]
        links.append((turns, shifts, (mass, matrix(first), matrix(second))))
    return links


HOLLERBACH_3X3 = Formulation(
    name="hollerbach_3x3", inverse=inverse, derivatives=COMPOSITE, sensitivity=sensitivity
)
