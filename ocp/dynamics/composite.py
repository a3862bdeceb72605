"""First derivatives of inverse dynamics by a composite recursion in the ground frame, O(n d) for n joints at depth d.

With the joint's twist S, the link's twist v and acceleration a (the base accelerating by -g), p the parent, the derivatives of S along the
motion are  phi = v_p x S,  psi = a_p x S + v_p x phi.  Every link has an inertia I, a force f and a matrix B, the derivative of f by the
link's twist; I, F and B denote their sums over the links that a joint carries. For an ancestor j of i, or j = i,

    dtau_i/dq_j  = S_i.(B phi_j + I psi_j)         dtau_j/dq_i  = S_j.(B phi_i + I psi_i + S_i x* F)
    dtau_i/dqd_j = S_i.(B S_j + 2 I phi_j)         dtau_j/dqd_i = S_j.(B S_i + 2 I phi_i)          dtau/dqdd = S_i.I S_j

with I, F, B of joint i. (After Jain & Rodriguez 1993; Singh, Russell & Wensing 2022.) Twists and wrenches are (angular, linear) about one
point fixed in the ground. A load keeps its direction when its link turns, which F's turning with S_i does not know; it is added apart.
"""
from dataclasses import dataclass

import casadi as ca
import numpy as np

from ocp.dynamics.formulation import aligned, applied, regrouped
from ocp.spatial import skew
from ocp.tree import inward, outward

SX = ca.SX


@dataclass(frozen=True, slots=True, kw_only=True)
class Carried:
    """What one link, or all that a joint carries, amounts to: mass, first moment (3), inertia (3x3), the 3x3 upper left and the vector l of
    B = [upper, 0; -2 [l], 0], and the wrench as moment and force (3)."""

    mass: object
    first: object
    inertia: object
    upper: object
    momentum: object
    moment: object
    force: object

    def __add__(self, other):
        return Carried(mass=self.mass + other.mass, first=self.first + other.first, inertia=self.inertia + other.inertia,
                       upper=self.upper + other.upper, momentum=self.momentum + other.momentum, moment=self.moment + other.moment,
                       force=self.force + other.force)


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """A link in the ground frame: rotation (3x3), origin (3), its joint's twist S, phi, psi, its own twist and acceleration, each 2 x (3)."""

    rotation: object
    origin: object
    screw: tuple
    phi: tuple
    psi: tuple
    twist: tuple
    acceleration: tuple


def sensitivity(tree, q, qd, qdd, loads=()):
    """Return dtau/dq, dtau/dqd, dtau/dqdd, each (n, n), and dtau/d(moment, force) of each load in turn, (n, 6 loads)."""
    tree, _ = aligned(tree)
    frames = ground_frames(tree, q, qd, qdd)
    carried = gather(tree, frames)
    n, rows, parents = tree.dof, tree.rows, tree.parents
    by_q, by_qd, by_qdd, by_load = SX(n, n), SX(n, n), SX(n, n), SX(n, 6 * len(loads))
    for i, row in enumerate(rows):
        if row is not None:
            chain = moving_ancestors(tree, i)
            upper, lower = _pair_products(frames, carried[i], i, chain)
            places = [rows[k] for k in chain]
            by_q[row, places], by_qd[row, places], by_qdd[row, places] = lower[0, :], lower[1, :], upper[2, :]
            by_q[places, row], by_qd[places, row], by_qdd[places, row] = upper[0, :].T, upper[1, :].T, upper[2, :].T
    for column, (link, place, force, moment) in enumerate(load_places(tree, frames, loads)):
        chain = moving_ancestors(tree, link)
        places, turns, moves = [rows[k] for k in chain], *point_rates(frames, chain, place)
        by_load[places, list(range(6 * column, 6 * column + 6))] = -ca.horzcat(turns.T, moves.T)
        by_q[places, places] -= load_slopes(turns, moves, force, moment)
    return tuple(ca.sparsify(part) for part in (by_q, by_qd, by_qdd, by_load))


def _pair_products(frames, body, i, chain):
    """Return for all ancestors j of i, columns: dtau_j/d(q_i, qd_i, qdd_i) (3, d) and dtau_i/d(q_j, qd_j) (2, d)."""
    me = frames[i]
    turned = wrench_of(body, me.screw)
    by_rate = add(bent(body, me.screw), scaled(2, wrench_of(body, me.phi)))
    by_place = add(add(bent(body, me.phi), wrench_of(body, me.psi)), cross_force(me.screw, (body.moment, body.force)))
    back = body.upper.T @ me.screw[0] + 2 * ca.cross(body.momentum, me.screw[1])           # B'S_i, whose linear part is zero
    screws = stacked([frames[k].screw for k in chain])
    phis, psis = stacked([frames[k].phi for k in chain]), stacked([frames[k].psi for k in chain])
    upper = ca.horzcat(*(ca.vertcat(*wrench) for wrench in (by_place, by_rate, turned))).T @ screws
    whole = ca.vertcat(*turned).T
    lower = ca.vertcat(back.T @ phis[:3, :] + whole @ psis, back.T @ screws[:3, :] + 2 * (whole @ phis))
    return upper, lower


def curvature(tree, multipliers, q, qd, qdd, loads=()):
    """Return the second derivatives of L = multipliers . tau as matrices (n, n) by (q, q), (q, qd), (q, qdd), (qd, qd), the symmetric ones
    as upper triangles, and (n, 6 loads) by q and (moment, force) of each load; all others vanish.

    With the virtual twist w of each link, whose joints move by the multipliers, and u_j = w_p x S_j; G = I w, D = B'w and
    K = I [w x] + its transpose summed like I, F and B; for an ancestor i of j, or i = j where marked *,
    q_i q_j = u_i.(S x* F + I psi + B phi) + phi_i.(B'u + K phi + phi x* G + S x* D) + psi_i.(I u + S x* G) *
    q_i qd_j = u_i.(2 I phi + B S) + phi_i.(S x* G + K S) *      q_i qdd_j = u_i.I S *      qd_i qd_j = S_i.(S x* G + K S) *
    qd_i q_j = S_i.(B'u + K phi + phi x* G + S x* D) + 2 phi_i.(I u + S x* G)              qdd_i q_j = S_i.(I u + S x* G)
    with all of joint j. (Re-derived from the first derivatives; the loads apart, as there.)
    """
    tree, _ = aligned(tree)
    frames = ground_frames(tree, q, qd, qdd)
    rows = tree.rows
    virtual, lifts = _virtual_motion(tree, frames, multipliers)
    carried = gather(tree, frames)
    duals = _gather_duals(tree, frames, virtual, carried)
    n = tree.dof
    by_qq, by_q_qd, by_q_qdd, by_qd_qd, by_q_load = SX(n, n), SX(n, n), SX(n, n), SX(n, n), SX(n, 6 * len(loads))
    for j, row in enumerate(rows):
        if row is None:
            continue
        chain = moving_ancestors(tree, j)
        places, outer = [rows[k] for k in chain], [rows[k] for k in chain[:-1]]
        a, bq, c, a1, b1, a2 = _contracted(frames[j], lifts[j], carried[j], duals[j])
        screws, lifted = stacked([frames[k].screw for k in chain]), stacked([lifts[k] for k in chain])
        phis, psis = stacked([frames[k].phi for k in chain]), stacked([frames[k].psi for k in chain])
        by_qq[places, row] = lifted.T @ a + phis.T @ bq + psis.T @ c
        by_q_qd[places, row] = lifted.T @ a1 + phis.T @ b1
        by_qd_qd[places, row] = screws.T @ b1
        by_q_qdd[places, row] = lifted.T @ a2
        if outer:
            by_q_qd[row, outer] = (screws[:, :-1].T @ bq + 2 * (phis[:, :-1].T @ c)).T
            by_q_qdd[row, outer] = (screws[:, :-1].T @ c).T
    for column, (link, place, force, moment) in enumerate(load_places(tree, frames, loads)):
        chain = moving_ancestors(tree, link)
        places = [rows[k] for k in chain]
        by_place, by_wrench = _load_curvature(frames, virtual, chain, link, place, force, moment)
        by_qq[places, places] -= ca.triu(by_place)
        by_q_load[places, list(range(6 * column, 6 * column + 6))] = -by_wrench
    return tuple(ca.sparsify(part) for part in (by_qq, by_q_qd, by_q_qdd, by_qd_qd, by_q_load))


@dataclass(frozen=True, slots=True, kw_only=True)
class Dual:
    """Sums over the links that a joint carries: G = I w as (moment, force), the moment of D = B'w, whose force is zero, and the upper left
    of K = [upper, -[G force]; [G force], 0]."""

    moment: object
    force: object
    back: object
    upper: object

    def __add__(self, other):
        return Dual(moment=self.moment + other.moment, force=self.force + other.force, back=self.back + other.back, upper=self.upper + other.upper)


def _virtual_motion(tree, frames, multipliers):
    """Return each link's virtual twist w and each joint's lift u = w_p x S."""
    rows, still = tree.rows, (SX.zeros(3), SX.zeros(3))
    parents = tree.parents
    virtual = outward(tree, lambda k, w: w if rows[k] is None else add(w, scaled(multipliers[rows[k]], frames[k].screw)), still)
    lifts = [cross_motion(virtual[p] if p >= 0 else still, frame.screw) for p, frame in zip(parents, frames)]
    return virtual, lifts


def _gather_duals(tree, frames, virtual, carried):
    bodies = bodies_of(tree, frames)

    def total(k, children):
        dual = _NO_DUAL if bodies[k] is None else _dual(bodies[k], virtual[k])
        for _, outer in children:
            dual = outer if dual is _NO_DUAL else dual if outer is _NO_DUAL else dual + outer
        return dual

    return inward(tree, total)


def _dual(body, w):
    moment, force = wrench_of(body, w)
    turn = skew(w[0])
    half = body.inertia @ turn + ca.mtimes(skew(body.first), skew(w[1]))
    return Dual(moment=moment, force=force, back=body.upper.T @ w[0] + 2 * ca.cross(body.momentum, w[1]), upper=symmetric(half + half.T))


def _contracted(frame, lift, body, dual):
    """Return the six wrenches of a joint, as columns (6), that its ancestors' motions are multiplied with."""
    wrench, image, back = (body.moment, body.force), (dual.moment, dual.force), (dual.back, SX.zeros(3))

    def twisted(motion):
        return dual.upper @ motion[0] - ca.cross(dual.force, motion[1]), ca.cross(dual.force, motion[0])

    def returned(motion):
        return body.upper.T @ motion[0] + 2 * ca.cross(body.momentum, motion[1]), SX.zeros(3)

    s, phi, psi = frame.screw, frame.phi, frame.psi
    a = add(add(cross_force(s, wrench), wrench_of(body, psi)), bent(body, phi))
    bq = add(add(returned(lift), twisted(phi)), add(cross_force(phi, image), cross_force(s, back)))
    c = add(wrench_of(body, lift), cross_force(s, image))
    a1 = add(scaled(2, wrench_of(body, phi)), bent(body, s))
    b1 = add(cross_force(s, image), twisted(s))
    return tuple(ca.vertcat(*pair) for pair in (a, bq, c, a1, b1, wrench_of(body, s)))


def load_places(tree, frames, loads):
    """Return for each load its link, the point's place about the frames' common point, force and moment, as columns (3)."""
    found = []
    for link, position, force, moment in applied(tree, loads):
        frame = frames[link]
        found.append((link, frame.origin + frame.rotation @ ca.DM(position), column(force), column(moment)))
    return found


def column(vector):
    """Return three entries as a column."""
    return ca.vertcat(vector[0], vector[1], vector[2])


def point_rates(frames, chain, place):
    """Return for every joint of a chain, as columns (3, d), the rates of turning and of a point's moving per joint rate."""
    screws = [frames[k].screw for k in chain]
    return ca.horzcat(*(w for w, _ in screws)), ca.horzcat(*(v + ca.cross(w, place) for w, v in screws))


def load_slopes(turns, moves, force, moment):
    """Return the derivatives (d, d) of turns.moment + moves.force by the chain's coordinates, outermost first."""
    pushed = turns.T @ -(skew(force) @ moves)                 # w_outer . (move_inner x force)
    swung = turns.T @ -(skew(moment) @ turns)
    strict = ca.triu(pushed, False)
    return ca.triu(pushed) + strict.T + ca.triu(swung, False).T


def _load_curvature(frames, virtual, chain, link, place, force, moment):
    """Return second derivatives of the virtual work w.W of one load: (d, d) by the chain's coordinates, upper triangle, and (d, 6) by q and
    (moment, force)."""
    turns, moves = point_rates(frames, chain, place)
    w, wrench = virtual[link], (moment + ca.cross(place, force), force)
    ahead = [cross_motion(frames[k].screw, (w[0] - virtual[k][0], w[1] - virtual[k][1])) for k in chain]
    swept = stacked([cross_force(motion, wrench) for motion in ahead])
    screws = stacked([frames[k].screw for k in chain])
    pushed, lean = -(skew(force) @ moves), ca.cross(force, w[0])
    aheads = ca.horzcat(*(motion[0] for motion in ahead))
    crossed = pushed.T @ aheads
    by_place = screws.T @ swept + crossed + crossed.T + turns.T @ -(skew(lean) @ moves)
    speeds = ca.horzcat(*(motion[1] + ca.cross(motion[0], place) for motion in ahead)) + skew(w[0]) @ moves
    return by_place, ca.horzcat(aheads.T, speeds.T)


def ground_frames(tree, q, qd, qdd):
    """Return the Frame of every link of an aligned tree, about the origin of the last leading slide instead of the ground's.

    Any point may serve that is fixed in the ground at the instant; that one spares a floating base its offset.
    """
    rows, still = tree.rows, _leading_slides(tree)
    nothing = (SX.zeros(3), SX.zeros(3))

    def frame(k, p):
        joint, row, home = tree.joints[k], rows[k], np.array(tree.joints[k].home)
        if row is None and not home[:3, 3].any():
            return p
        axis = p.rotation @ ca.DM(home[:3, 2])
        slides = joint.kind == "prismatic"
        travel = 0 if slides and k in still or row is None else q[row] if slides else joint.pitch * q[row] if joint.kind == "screw" else 0
        origin = SX.zeros(3) if k in still else p.origin + p.rotation @ ca.DM(home[:3, 3]) + travel * axis
        rotation = p.rotation @ ca.DM(home[:3, :3])
        if joint.kind in ("revolute", "screw"):
            c, s = ca.cos(q[row]), ca.sin(q[row])
            rotation = ca.horzcat(rotation[:, 0] * c + rotation[:, 1] * s, rotation[:, 1] * c - rotation[:, 0] * s, rotation[:, 2])
        screw = (SX.zeros(3), axis) if slides else (axis, ca.cross(origin, axis) + joint.pitch * axis if joint.kind == "screw"
                                                       else ca.cross(origin, axis))
        phi = cross_motion(p.twist, screw)
        psi = add(cross_motion(p.acceleration, screw), cross_motion(p.twist, phi))
        return Frame(rotation=rotation, origin=origin, screw=screw, phi=phi, psi=psi, twist=add(p.twist, scaled(qd[row], screw)),
                     acceleration=add(p.acceleration, add(scaled(qdd[row], screw), scaled(qd[row], phi))))

    base = Frame(rotation=SX.eye(3), origin=SX.zeros(3), screw=nothing, phi=nothing, psi=nothing, twist=nothing,
                 acceleration=(SX.zeros(3), -SX(ca.DM(tree.gravity))))
    return outward(tree, frame, base)


def _leading_slides(tree):
    """Return the links of an unbranched chain of massless slides that starts at the ground: their places do not matter."""
    chain, parents = [], tree.parents
    while len(chain) < len(parents) and parents[len(chain)] == len(chain) - 1 and parents.count(len(chain) - 1) == 1 \
            and tree.joints[len(chain)].kind == "prismatic" and (not chain or not tree.links[len(chain) - 1].mass):
        chain.append(len(chain))
    return chain


def bodies_of(tree, frames):
    """Return every link's own Carried, in the ground frame; None for links without inertia."""
    return [_body(frame, *inertia) for frame, inertia in zip(frames, regrouped(tree))]


def gather(tree, frames):
    """Return for every link what its joint carries: inertias, forces and their derivatives summed over the links outside it."""
    bodies = bodies_of(tree, frames)

    def total(k, children):
        body = bodies[k]
        for _, outer in children:
            body = outer if body is None else body if outer is None else body + outer
        return body

    return [_NOTHING if body is None else body for body in inward(tree, total)]


def moving_ancestors(tree, k):
    """Return the moving joints from the ground to k, k included."""
    chain = [k]
    while tree.parents[chain[0]] >= 0:
        chain.insert(0, tree.parents[chain[0]])
    return [link for link in chain if tree.joints[link].screw is not None]


def _body(frame, mass, first, second):
    """Return a link's own Carried, in the ground frame; None for a link without inertia."""
    if not mass and not first.any() and not second.any():
        return None
    rotation, p = frame.rotation, frame.origin
    (w, v), (dw, dv) = frame.twist, frame.acceleration
    turned = rotation @ ca.DM(first)
    h = turned + mass * p
    pull = p @ (turned + mass * p / 2).T
    local = rotation @ ca.DM(np.trace(second) * np.eye(3) - second) @ rotation.T
    inertia = symmetric(local + 2 * ca.trace(pull) * SX.eye(3) - pull - pull.T)
    spin, momentum = inertia @ w + ca.cross(h, v), mass * v - ca.cross(h, w)
    bend, outer = skew(w) @ inertia, v @ h.T
    upper = bend + bend.T - outer - outer.T + 2 * ca.trace(outer) * SX.eye(3) - skew(spin)
    return Carried(mass=mass, first=h, inertia=inertia, upper=upper, momentum=momentum,
                   moment=inertia @ dw + ca.cross(h, dv) + ca.cross(w, spin) + ca.cross(v, momentum),
                   force=mass * dv - ca.cross(h, dw) + ca.cross(w, momentum))


def symmetric(matrix):
    """Return the matrix with its upper triangle mirrored, so that the graph computes each entry once."""
    return ca.triu2symm(ca.triu(matrix))


def wrench_of(body, motion):
    """Return I m: the wrench that accelerates the body by the motion m."""
    w, v = motion
    return body.inertia @ w + ca.cross(body.first, v), body.mass * v - ca.cross(body.first, w)


def bent(body, motion):
    """Return B m."""
    return body.upper @ motion[0], -2 * ca.cross(body.momentum, motion[0])


def cross_motion(a, b):
    """Return the motion a x b."""
    return ca.cross(a[0], b[0]), ca.cross(a[0], b[1]) + ca.cross(a[1], b[0])


def cross_force(a, f):
    """Return the wrench a x* f."""
    return ca.cross(a[0], f[0]) + ca.cross(a[1], f[1]), ca.cross(a[0], f[1])


def add(a, b):
    """Return the sum of two pairs."""
    return a[0] + b[0], a[1] + b[1]


def scaled(factor, a):
    """Return a pair times a number."""
    return factor * a[0], factor * a[1]


def stacked(pairs):
    """Return pairs as columns of a matrix (6, len)."""
    return ca.horzcat(*(ca.vertcat(*pair) for pair in pairs))


_NOTHING = Carried(mass=0.0, first=SX.zeros(3), inertia=SX.zeros(3, 3), upper=SX.zeros(3, 3), momentum=SX.zeros(3),
                   moment=SX.zeros(3), force=SX.zeros(3))
_NO_DUAL = Dual(moment=SX.zeros(3), force=SX.zeros(3), back=SX.zeros(3), upper=SX.zeros(3, 3))
