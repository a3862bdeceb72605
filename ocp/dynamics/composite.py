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

from ocp.dynamics.formulation import Provider, aligned, applied, regrouped
from ocp.dynamics.pairs import dots, pair_places, scattered, segments
from ocp.spatial import add, cross_force, cross_motion, scaled, skew, stacked, symmetric
from ocp.tree import inward, outward

SX = ca.SX


@dataclass(frozen=True, slots=True, kw_only=True)
class Carried:
    """What one link, or all that a joint carries, amounts to: mass, first moment (3), inertia (3x3), the 3x3 upper left and the vector m of
    B = [upper, 0; -[m], 0], twice the momentum, and the wrench as moment and force (3)."""

    mass: object
    first: object
    inertia: object
    upper: object
    twice: object
    moment: object
    force: object

    def __add__(self, other):
        return Carried(mass=self.mass + other.mass, first=self.first + other.first, inertia=self.inertia + other.inertia,
                       upper=self.upper + other.upper, twice=self.twice + other.twice, moment=self.moment + other.moment,
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
    return tuple(ca.sparsify(part) for part in join_slopes(tree, slope_parts(tree, q, qd, qdd, loads)))


def slope_parts(tree, q, qd, qdd, loads=()):
    """Return what `join_slopes` makes the derivatives of: four matrices with a column per joint, and the loads' two parts."""
    tree, _ = aligned(tree)
    frames = ground_frames(tree, q, qd, qdd)
    carried = gather(tree, frames)
    moving = [k for k, row in enumerate(tree.rows) if row is not None]
    inner = [_inner_wrenches(frames[k], carried[k]) for k in moving]
    mine = [frames[k] for k in moving]
    left = stacked([tuple(entry[0]) for entry in inner])                                       # I S, B'S
    right = stacked([(*frame.psi, frame.phi[0], *scaled(2, frame.phi), frame.screw[0]) for frame in mine])
    wrenches = stacked([entry[1] for entry in inner])
    return left, right, wrenches, stacked([frame.screw for frame in mine]), *_load_parts(tree, frames, loads)


def join_slopes(tree, parts):
    """Return the four derivatives from `slope_parts`, as SX or MX."""
    left, right, wrenches, screws, load_places, by_load = parts
    n, found = tree.dof, segments(tree)
    i, j, before, same = pair_places(found)
    upto, strict = np.nonzero(before | same)[0], np.nonzero(before)[0]
    by_place, by_rate, mass = (dots(found, part, screws) for part in ca.vertsplit(wrenches, 6))
    back_place, back_rate = (dots(found, left, part) for part in ca.vertsplit(right, 9))
    upper = lambda stack: (stack, upto, j[upto], i[upto])
    lower = lambda stack: (stack, strict, i[strict], j[strict])
    return (scattered((n, n), [upper(by_place), lower(back_place)]) - load_places, scattered((n, n), [upper(by_rate), lower(back_rate)]),
            scattered((n, n), [upper(mass), lower(mass)]), by_load)


def _inner_wrenches(frame, body):
    """Return of a joint (I S, B'S), and (B phi + I psi + S x* F, B S + 2 I phi, I S)."""
    turned = wrench_of(body, frame.screw)
    back = body.upper.T @ frame.screw[0] + ca.cross(body.twice, frame.screw[1])         # B'S, whose linear part is zero
    by_rate = add(bent(body, frame.screw), wrench_of(body, scaled(2, frame.phi)))
    by_place = add(add(bent(body, frame.phi), wrench_of(body, frame.psi)), cross_force(frame.screw, (body.moment, body.force)))
    return (*turned, back), (*by_place, *by_rate, *turned)


def _load_parts(tree, frames, loads):
    """Return the loads' shares of -dtau/dq (n, n) and dtau/d(moment, force) (n, 6 loads)."""
    by_q, by_load = SX(tree.dof, tree.dof), SX(tree.dof, 6 * len(loads))
    for number, (link, place, force, moment) in enumerate(placed_loads(tree, frames, loads)):
        chain = moving_ancestors(tree, link)
        rows, (turns, moves) = [tree.rows[k] for k in chain], point_rates(frames, chain, place)
        by_load[rows, list(range(6 * number, 6 * number + 6))] = -ca.horzcat(turns.T, moves.T)
        by_q[rows, rows] += load_slopes(turns, moves, force, moment)
    return by_q, by_load


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
    return tuple(ca.sparsify(part) for part in join_curvature(tree, curvature_parts(tree, multipliers, q, qd, qdd, loads))[:5])


def curvature_parts(tree, multipliers, q, qd, qdd, loads=()):
    """Return what `join_curvature` makes the second derivatives of: two matrices with a column per joint, the loads' two parts, and the
    gradient of L = multipliers . tau by (q, qd, qdd, loads)."""
    tree, _ = aligned(tree)
    frames = ground_frames(tree, q, qd, qdd)
    virtual, lifts = _virtual_motion(tree, frames, multipliers)
    carried = gather(tree, frames)
    duals = _gather_duals(tree, frames, virtual, carried)
    moving = [k for k, row in enumerate(tree.rows) if row is not None]
    inner = ca.horzcat(*(ca.vertcat(*_contracted(frames[k], lifts[k], carried[k], duals[k])) for k in moving))
    outer = stacked([(*frames[k].screw, *frames[k].phi, *lifts[k], *frames[k].psi) for k in moving])
    slopes = [_gradient(frames[k], lifts[k], carried[k], duals[k]) for k in moving]
    by_q, by_qd, by_qdd = (ca.vertcat(*column) for column in zip(*slopes))
    by_qq, by_q_load, by_load = SX(tree.dof, tree.dof), SX(tree.dof, 6 * len(loads)), []
    for number, (link, place, force, moment) in enumerate(placed_loads(tree, frames, loads)):
        chain = moving_ancestors(tree, link)
        rows = [tree.rows[k] for k in chain]
        by_place, by_wrench, swept = _load_curvature(frames, virtual, chain, link, place, force, moment)
        by_qq[rows, rows] += ca.triu(by_place)
        by_q_load[rows, list(range(6 * number, 6 * number + 6))] = -by_wrench
        by_q[rows] -= swept
        by_load += [-virtual[link][0], -virtual[link][1] - ca.cross(virtual[link][0], place)]
    return inner, outer, by_qq, by_q_load, ca.vertcat(by_q, by_qd, by_qdd, *by_load)


def _gradient(frame, lift, body, dual):
    """Return of a joint the derivatives of L by q, qd and qdd: u.F + psi.G + phi.D, 2 phi.G + S.D, S.G."""
    s, phi, psi = frame.screw, frame.phi, frame.psi
    return (ca.dot(lift[0], body.moment) + ca.dot(lift[1], body.force) + ca.dot(psi[0], dual.moment) + ca.dot(psi[1], dual.force)
            + ca.dot(phi[0], dual.back),
            2 * (ca.dot(phi[0], dual.moment) + ca.dot(phi[1], dual.force)) + ca.dot(s[0], dual.back),
            ca.dot(s[0], dual.moment) + ca.dot(s[1], dual.force))


def join_curvature(tree, parts):
    """Return the five second derivatives and the gradient from `curvature_parts`, as SX or MX."""
    inner, outer, load_places, by_q_load, slope = parts
    n, found = tree.dof, segments(tree)
    i, j, before, same = pair_places(found)
    upto, strict = np.nonzero(before | same)[0], np.nonzero(before)[0]
    a, bq, c, a1, b1, a2 = ca.vertsplit(inner, 6)
    screws, phis, lifts, psis = ca.vertsplit(outer, 6)
    upper = lambda stack: (stack, upto, j[upto], i[upto])
    lower = lambda stack: (stack, strict, i[strict], j[strict])
    return (scattered((n, n), [upper(dots(found, ca.vertcat(a, bq, c), ca.vertcat(lifts, phis, psis)))]) - load_places,
            scattered((n, n), [upper(dots(found, ca.vertcat(a1, b1), ca.vertcat(lifts, phis))),
                               lower(dots(found, ca.vertcat(bq, 2 * c), ca.vertcat(screws, phis)))]),
            scattered((n, n), [upper(dots(found, a2, lifts)), lower(dots(found, c, screws))]),
            scattered((n, n), [upper(dots(found, b1, screws))]), by_q_load, slope)


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
    return Dual(moment=moment, force=force, back=body.upper.T @ w[0] + ca.cross(body.twice, w[1]), upper=symmetric(half + half.T))


def _contracted(frame, lift, body, dual):
    """Return the six wrenches of a joint, as columns (6), that its ancestors' motions are multiplied with."""
    wrench, image, back = (body.moment, body.force), (dual.moment, dual.force), (dual.back, SX.zeros(3))

    def twisted(motion):
        return dual.upper @ motion[0] - ca.cross(dual.force, motion[1]), ca.cross(dual.force, motion[0])

    def returned(motion):
        return body.upper.T @ motion[0] + ca.cross(body.twice, motion[1]), SX.zeros(3)

    s, phi, psi = frame.screw, frame.phi, frame.psi
    a = add(add(cross_force(s, wrench), wrench_of(body, psi)), bent(body, phi))
    bq = add(add(returned(lift), twisted(phi)), add(cross_force(phi, image), cross_force(s, back)))
    c = add(wrench_of(body, lift), cross_force(s, image))
    a1 = add(wrench_of(body, scaled(2, phi)), bent(body, s))
    b1 = add(cross_force(s, image), twisted(s))
    return tuple(ca.vertcat(*pair) for pair in (a, bq, c, a1, b1, wrench_of(body, s)))


def placed_loads(tree, frames, loads):
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
    (moment, force); and its first by q, (d,)."""
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
    return by_place, ca.horzcat(aheads.T, speeds.T), aheads.T @ moment + speeds.T @ force


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
    return Carried(mass=mass, first=h, inertia=inertia, upper=upper, twice=2 * momentum,
                   moment=inertia @ dw + ca.cross(h, dv) + ca.cross(w, spin) + ca.cross(v, momentum),
                   force=mass * dv - ca.cross(h, dw) + ca.cross(w, momentum))


def wrench_of(body, motion):
    """Return I m: the wrench that accelerates the body by the motion m."""
    w, v = motion
    return body.inertia @ w + ca.cross(body.first, v), body.mass * v - ca.cross(body.first, w)


def bent(body, motion):
    """Return B m."""
    return body.upper @ motion[0], ca.cross(motion[0], body.twice)


_NOTHING = Carried(mass=0.0, first=SX.zeros(3), inertia=SX.zeros(3, 3), upper=SX.zeros(3, 3), twice=SX.zeros(3),
                   moment=SX.zeros(3), force=SX.zeros(3))
_NO_DUAL = Dual(moment=SX.zeros(3), force=SX.zeros(3), back=SX.zeros(3), upper=SX.zeros(3, 3))

COMPOSITE = Provider(slope_parts=slope_parts, join_slopes=join_slopes, curvature_parts=curvature_parts, join_curvature=join_curvature)
