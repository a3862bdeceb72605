"""Recursive Lagrangian dynamics with 3x3 rotations and vectors, O(n).

Hollerbach (1980), eqs. 15-18 and appendix B: rotations W and positions p of the link frames
outward, D, e and c inward. His p*, here p, is in the parent's axes and may change with q, so that
prismatic and screw joints are one case with revolute ones: for the joint's screw matrix [S]

    d[R, p]/dq = [R, p] [S]

Loads are taken off the inertial forces that D and e gather.
"""

from collections.abc import Sequence

import casadi as ca

from ocp.dynamics.composite import COMPOSITE
from ocp.dynamics.formulation import Formulation, aligned
from ocp.dynamics.links import Links, link_poses, turning_chain
from ocp.mechanics.inertia import first_moment
from ocp.mechanics.loads import AppliedLoads, Load, applied
from ocp.mechanics.spatial import skew
from ocp.mechanics.tree import Tree, inward, outward
from ocp.mechanics.types import Matrix


def inverse(tree: Tree, q: Matrix, qd: Matrix, qdd: Matrix, loads: Sequence[Load] = ()) -> Matrix:
    """Return the joint torques (N m) or forces (N), (n,)."""
    tree, _ = aligned(tree)
    gravity, pushes = ca.DM(tree.gravity), applied(tree, loads)
    return torques(tree, _links(tree, q), qd=qd, qdd=qdd, gravity=gravity, loads=pushes)


def torques(
    tree: Tree, links: Links, *, qd: Matrix, qdd: Matrix, gravity: Matrix, loads: AppliedLoads = ()
) -> Matrix:
    """Return the joint torques (n,) of links ((R, R', R''), (p, p', p''), (m, n, J)).

    R (3x3) and p (3) lead to the parent, primes are d/dq; m, n = m r (3) and J (3x3) are mass,
    first moment and pseudo-inertia. Under gravity (3) and `applied` loads (Hollerbach 1980; in his
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
    moves = _motions(tree, links, qd, qdd)

    def gather(k, children):
        w, _, ddw, ddp, *_ = moves[k]
        m, c, pseudo = links[k][2]
        push, force = _push(loads, k, w)
        d, e = c @ ddp.T + pseudo @ ddw.T - push.T, m * ddp + ddw @ c - force
        for child, (inner_d, inner_e, inner_c, inner_m) in children:
            (r, *_), (p, *_), _ = links[child]
            d, e, c, m = (
                d + r @ inner_d + p @ inner_e.T,
                e + inner_e,
                c + r @ inner_c + p * inner_m,
                m + inner_m,
            )
        return d, e, c, m

    tau = []
    for (*_, turn, slide), (d, e, c, m) in zip(moves, inward(tree, gather)):
        if turn is not None:
            tau.append(ca.dot(turn.T, d - c @ gravity.T) + ca.dot(slide, e - m * gravity))
    return ca.vertcat(*tau)


def _motions(tree, links, qd, qdd):
    """Return W, dW, ddW, ddp, dW/dq and dp/dq of every link.

    The last two are None where nothing moves.
    """
    rows, zero = tree.rows, ca.DM(3, 3)

    def motion(k, parent):
        (w, dw, ddw, ddp, _, _), ((r, r1, r2), (p, p1, p2), _), row = parent, links[k], rows[k]
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

    return outward(tree, motion, (ca.DM.eye(3), zero, zero, ca.DM(3, 1), None, None))


def _push(loads, k, w):
    """Return P (3x3), the sum of f r' for a force f at r and [h] W / 2 for a moment h on link k,
    and the sum of f (3).

    What these loads do at joint i is tr(dW/dq_i P') + f . dp/dq_i, as

        tr([h] W dW'/dq_i) = 2 h . axis
    """
    push, total = ca.DM(3, 3), ca.DM(3, 1)
    for link, place, moment, force in loads:
        if link == k:
            force = ca.vertcat(force[0], force[1], force[2])
            push, total = push + force @ ca.DM(place).T + skew(moment) @ w / 2, total + force
    return push, total


def dense(n: int) -> tuple[list[Matrix], Matrix]:
    """Return the inputs (list of SX) and the torques (n,) of a serial chain of n revolute joints
    with a symbol for every matrix entry.

    So Hollerbach (1980, table I) counts: link matrices and their derivatives are given, and none of
    their entries is known to be 0 or 1.
    """

    def symbols(k, **shapes):
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
    given = [matrix for turns, shifts, body in links for matrix in (*turns, shifts[0], *body)]
    return [*given, gravity, qd, qdd], torques(
        turning_chain(n), links, qd=qd, qdd=qdd, gravity=gravity
    )


def _links(tree, q):
    """Return (R, R', R''), (p, p', p'') and (m, n, J) of every link."""
    links = []
    for poses, link in zip(link_poses(tree, q), tree.links):
        mass, first, second = first_moment(link)
        links.append(
            (
                [pose[:3, :3] for pose in poses],
                [pose[:3, 3] for pose in poses],
                (mass, ca.DM(first), ca.DM(second)),
            )
        )
    return links


HOLLERBACH_3X3 = Formulation(name="hollerbach_3x3", inverse=inverse, derivatives=COMPOSITE)
