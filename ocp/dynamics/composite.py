"""First and second derivatives of inverse dynamics by a composite recursion in the ground frame, O(n d) for n joints at depth d.

With the joint's twist S, the link's twist v and acceleration a (the base accelerating by -g), p the parent, the derivatives of S along the
motion are  phi = v_p x S,  psi = a_p x S + v_p x phi.  Every link has an inertia I, a force f and a matrix B, the derivative of f by the
link's twist; I, F and B denote their sums over the links that a joint carries. For an ancestor j of i, or j = i,

    dtau_i/dq_j  = S_i.(B phi_j + I psi_j)         dtau_j/dq_i  = S_j.(B phi_i + I psi_i + S_i x* F)
    dtau_i/dqd_j = S_i.(B S_j + 2 I phi_j)         dtau_j/dqd_i = S_j.(B S_i + 2 I phi_i)          dtau/dqdd = S_i.I S_j

with I, F, B of joint i. (After Jain & Rodriguez 1993; Singh, Russell & Wensing 2022.) Twists and wrenches are (angular, linear) about one
point fixed in the ground. A load keeps its direction when its link turns, which F's turning with S_i does not know; it is added apart.

Vectors of all joints are columns of matrices (3, n) or (6, n), entries of their matrices are rows, so a graph takes few calls to build.
"""

from dataclasses import dataclass

import casadi as ca
import numpy as np

from ocp.dynamics.formulation import Provider, aligned
from ocp.dynamics.pairs import bilinear, products
from ocp.mechanics.inertia import regrouped
from ocp.mechanics.loads import Wrench, applied
from ocp.mechanics.spatial import (
    across,
    against,
    by_rows,
    cross,
    cross_force,
    cross_motion,
    dot,
    times,
)

SX = ca.SX
ENTRIES = (
    (0, 0),
    (1, 1),
    (2, 2),
    (0, 1),
    (0, 2),
    (1, 2),
)  # of a symmetric 3x3 matrix, in the order kept here


@dataclass(frozen=True, slots=True, kw_only=True)
class Chain:
    """The moving joints of an aligned tree, in the order of q: index of each one's moving parent (-1: ground), the joint that carries each
    link (-1: ground), homes (4x4), mass, first moment (3) and inertia (3x3), and which leading slides need no place."""

    tree: object
    parents: tuple
    carriers: tuple
    homes: tuple
    inertias: tuple
    still: tuple


@dataclass(frozen=True, slots=True, kw_only=True)
class Frames:
    """Of every joint, as columns: rotation (3x3 each, a list), origin (3, n), twist S, phi, psi, link's twist and acceleration (6, n), all
    about the place `base` (3) in the ground."""

    base: object
    rotation: tuple
    origin: object
    screw: object
    phi: object
    psi: object
    twist: object
    acceleration: object


@dataclass(frozen=True, slots=True, kw_only=True)
class Bodies:
    """Of every link, or of all that every joint carries, as columns: mass (1), first moment h (3), inertia (6: xx yy zz xy xz yz), the
    upper left of B = [upper, 0; -[m], 0] (9, row by row), m (3), twice the momentum, and moment and force (3)."""

    mass: object
    first: object
    inertia: object
    upper: object
    twice: object
    moment: object
    force: object


def sensitivity(tree, q, qd, qdd, loads=()):
    """Return dtau/dq, dtau/dqd, dtau/dqdd, each (n, n), and dtau/d(moment, force) of each load in turn, (n, 6 loads)."""
    return tuple(
        ca.sparsify(part) for part in join_slopes(tree, slope_parts(tree, q, qd, qdd, loads))
    )


def curvature(tree, multipliers, q, qd, qdd, loads=()):
    """Return the second derivatives of L = multipliers . tau as matrices (n, n) by (q, q), (q, qd), (q, qdd), (qd, qd), the symmetric ones
    as upper triangles, and (n, 6 loads) by q and (moment, force) of each load; all others vanish.

    With the virtual twist w of each link, whose joints move by the multipliers, and u_j = w_p x S_j; G = I w, D = B'w and
    K = I [w x] + its transpose summed like I, F and B; for an ancestor i of j, or i = j where marked *,
    q_i q_j = u_i.(S x* F + I psi + B phi) + phi_i.(B'u + K phi + phi x* G + S x* D) + psi_i.(I u + S x* G) *
    q_i qd_j = u_i.(2 I phi + B S) + phi_i.(S x* G + K S) *      q_i qdd_j = u_i.I S *      qd_i qd_j = S_i.(S x* G + K S) *
    qd_i q_j = S_i.(B'u + K phi + phi x* G + S x* D) + 2 phi_i.(I u + S x* G)              qdd_i q_j = S_i.(I u + S x* G)
    with all of joint j. The forces of K m + m x* G and of B'm vanish, which leaves three entries of six.
    (Re-derived from the first derivatives; the loads apart, as there.)
    """
    return tuple(
        ca.sparsify(part)
        for part in join_curvature(tree, curvature_parts(tree, multipliers, q, qd, qdd, loads))[:5]
    )


def slope_parts(tree, q, qd, qdd, loads=()):
    """Return what `join_slopes` makes the derivatives of: what the joints carry, (28, n), their S, 2 phi and psi, (18, n), and the loads'
    two parts."""
    chain = chain_of(tree)
    frames = ground_frames(chain, q, qd, qdd)
    motions = ca.densify(ca.vertcat(frames.screw, 2 * frames.phi, frames.psi))
    return (
        carried_sums(chain, stacked(bodies_of(chain, frames))),
        motions,
        *_load_parts(chain, frames, loads),
    )


def join_slopes(tree, parts):
    """Return the four derivatives from `slope_parts`, as SX or MX."""
    carried, motions, load_places, by_load = parts
    by_q, by_qd, by_qdd = products(
        tree, bilinear(_slope_kinds, carried, motions), motions, ((0, 1), (2, 3), (4, 4))
    )
    return by_q - load_places, by_qd, by_qdd, by_load


def _slope_kinds(carried, motions):
    """Return five vectors of one joint as columns (18, 5), to be multiplied by S, 2 phi and psi of its ancestors."""
    carried, (s, twice_phi, psi) = unstacked(carried), ca.vertsplit(motions, 6)
    turned, back = wrench_of(carried, s), bent_back(carried, s)
    by_rate = bent(carried, s) + wrench_of(carried, twice_phi)
    by_place = (
        bent(carried, twice_phi / 2)
        + wrench_of(carried, psi)
        + cross_force(s, carried.moment, carried.force)
    )
    return ca.horzcat(
        ca.vertcat(by_place, SX(12, 1)),
        ca.vertcat(SX(6, 1), back / 2, SX(3, 1), turned),
        ca.vertcat(by_rate, SX(12, 1)),
        ca.vertcat(back, SX(3, 1), turned, SX(6, 1)),
        ca.vertcat(turned, SX(12, 1)),
    )


def curvature_parts(tree, multipliers, q, qd, qdd, loads=()):
    """Return what `join_curvature` makes the second derivatives of: what the joints carry with its duals, (43, n), their S, phi, lift and
    psi, (24, n), the loads' two parts, and the gradient of L = multipliers . tau by (q, qd, qdd, loads)."""
    chain = chain_of(tree)
    frames = ground_frames(chain, q, qd, qdd)
    bodies = bodies_of(chain, frames)
    s, phi, psi = frames.screw, frames.phi, frames.psi
    virtual = summed(chain, s * across(multipliers, 6), SX.zeros(6))
    lift = cross_motion(of_parents(chain, virtual, SX.zeros(6)), s)
    sums = carried_sums(chain, ca.vertcat(stacked(bodies), duals_of(bodies, virtual)))
    _, force, image, back, _ = ca.vertsplit(sums, [0, 22, 28, 34, 37, 43])
    slopes = (
        dot(lift, force) + dot(psi, image) + dot(phi[:3, :], back),
        2 * dot(phi, image) + dot(s[:3, :], back),
        dot(s, image),
    )
    by_qq, by_q_load, by_q, by_load = _load_curvatures(chain, frames, virtual, loads)
    gradient = ca.vertcat(slopes[0].T - by_q, slopes[1].T, slopes[2].T, by_load)
    return sums, ca.densify(ca.vertcat(s, phi, lift, psi)), by_qq, by_q_load, gradient


def join_curvature(tree, parts):
    """Return the five second derivatives and the gradient from `curvature_parts`, as SX or MX."""
    carried, motions, load_places, by_q_load, gradient = parts
    kinds, places = (
        bilinear(_curvature_kinds, carried, motions),
        ((0, None), (1, 2), (3, 4), (5, None)),
    )
    by_qq, by_q_qd, by_q_qdd, by_qd_qd = products(tree, kinds, motions, places)
    return by_qq - load_places, by_q_qd, by_q_qdd, by_qd_qd, by_q_load, gradient


def _curvature_kinds(carried, motions):
    """Return six vectors of one joint as columns (24, 6), to be multiplied by S, phi, lift and psi of its ancestors."""
    carried, g, g_force, back, upper = ca.vertsplit(carried, [0, 28, 31, 34, 37, 43])
    carried, (s, phi, lift, psi) = unstacked(carried), ca.vertsplit(motions, 6)

    def held(motion):
        """K m + m x* G, whose force is zero."""
        w, v = ca.vertsplit(motion, 3)
        return times(upper, w) + cross(w, g) + cross(v, 2 * g_force)

    a = cross_force(s, carried.moment, carried.force) + wrench_of(carried, psi) + bent(carried, phi)
    bq = bent_back(carried, lift) + held(phi) + cross(s[:3, :], back)
    c = wrench_of(carried, lift) + cross_force(s, g, g_force)
    a1, b1, a2 = wrench_of(carried, 2 * phi) + bent(carried, s), held(s), wrench_of(carried, s)
    return ca.horzcat(
        ca.vertcat(SX(6, 1), bq, SX(3, 1), a, c),
        ca.vertcat(SX(6, 1), b1, SX(3, 1), a1, SX(6, 1)),
        ca.vertcat(bq, SX(3, 1), 2 * c, SX(12, 1)),
        ca.vertcat(SX(12, 1), a2, SX(6, 1)),
        ca.vertcat(c, SX(18, 1)),
        ca.vertcat(b1, SX(21, 1)),
    )


# The motion of joints and links ---------------------------------------------------------------------------------------------


def chain_of(tree):
    """Return the Chain of a tree."""
    tree, _ = aligned(tree)
    parents, rows, inertias = tree.parents, tree.rows, regrouped(tree)
    carriers = []
    for k, row in enumerate(rows):
        carriers.append(row if row is not None else carriers[parents[k]] if parents[k] >= 0 else -1)
    moving = [k for k, row in enumerate(rows) if row is not None]
    return Chain(
        tree=tree,
        parents=tuple(carriers[parents[k]] if parents[k] >= 0 else -1 for k in moving),
        carriers=tuple(carriers),
        homes=tuple(np.array(tree.joints[k].home) for k in moving),
        inertias=tuple(inertias[k] for k in moving),
        still=_leading_slides(tree),
    )


def _leading_slides(tree):
    """Return the links of an unbranched chain of massless slides that starts at the ground: their places do not matter."""
    found, parents = [], tree.parents
    while (
        len(found) < len(parents)
        and parents[len(found)] == len(found) - 1
        and parents.count(len(found) - 1) == 1
        and tree.joints[len(found)].kind == "prismatic"
        and (not found or not tree.links[len(found) - 1].mass)
    ):
        found.append(len(found))
    return tuple(found)


def ground_frames(chain, q, qd, qdd):
    """Return the Frames of all joints, about the origin of the last leading slide instead of the ground's.

    Any point may serve that is fixed in the ground at the instant; that one spares a floating base its offset.
    """
    joints = chain.tree.moving
    base_place, rotation, origin = _places(chain, q)
    axes = ca.horzcat(*(turn[:, 2] for turn in rotation))
    turning = np.tile([joint.kind != "prismatic" for joint in joints], (3, 1)).astype(float)
    sliding = np.tile(
        [
            1.0 if joint.kind == "prismatic" else joint.pitch if joint.kind == "screw" else 0.0
            for joint in joints
        ],
        (3, 1),
    )
    screw = ca.vertcat(
        axes * ca.DM(turning), cross(origin, axes) * ca.DM(turning) + axes * ca.DM(sliding)
    )
    still, base = SX.zeros(6), ca.vertcat(SX.zeros(3), -SX(ca.DM(chain.tree.gravity)))
    rates, accelerations = across(qd, 6), across(qdd, 6)
    twist = summed(chain, screw * rates, still)
    before = of_parents(chain, twist, still)
    phi = cross_motion(before, screw)
    acceleration = summed(chain, screw * accelerations + phi * rates, base)
    psi = cross_motion(of_parents(chain, acceleration, base), screw) + cross_motion(before, phi)
    return Frames(
        base=base_place,
        rotation=rotation,
        origin=origin,
        screw=screw,
        phi=phi,
        psi=psi,
        twist=twist,
        acceleration=acceleration,
    )


def _places(chain, q):
    """Return the place (3) of the last leading slide, the rotations (3x3), and the origins (3, n) from there."""
    start, rotation, origin = SX.zeros(3), [], []
    cosines, sines, spin = ca.cos(q), ca.sin(q), ca.diagcat(ca.DM.ones(2, 2), 1).sparsity()
    for k, (joint, home) in enumerate(zip(chain.tree.moving, chain.homes)):
        p = chain.parents[k]
        turn, place = (SX.eye(3), SX.zeros(3)) if p < 0 else (rotation[p], origin[p])
        base = turn @ ca.DM(home[:3, :3])
        if k in chain.still:
            start = start + turn @ ca.DM(home[:3, 3]) + base[:, 2] * q[k]
            place = SX.zeros(3)
        else:
            place = place + turn @ ca.DM(home[:3, 3]) if home[:3, 3].any() else place
            if joint.kind != "revolute":
                place = place + base[:, 2] * (
                    (1.0 if joint.kind == "prismatic" else joint.pitch) * q[k]
                )
        if joint.kind != "prismatic":
            base = base @ SX(spin, ca.vertcat(cosines[k], sines[k], -sines[k], cosines[k], 1))
        rotation.append(base)
        origin.append(place)
    return start, tuple(rotation), ca.horzcat(*origin)


def summed(chain, steps, base):
    """Return the sums (m, n) of columns from the ground to every joint, starting with `base`."""
    columns = []
    for step, p in zip(ca.horzsplit(steps), chain.parents):
        columns.append(step + (base if p < 0 else columns[p]))
    return ca.horzcat(*columns)


def of_parents(chain, columns, base):
    """Return every joint's parent's column, `base` where that is the ground."""
    split = ca.horzsplit(columns)
    return ca.horzcat(*(base if p < 0 else split[p] for p in chain.parents))


def carried_sums(chain, columns):
    """Return the sums (m, n) of columns over all that every joint carries, itself included."""
    sums = list(ca.horzsplit(columns))
    for k in reversed(range(len(sums))):
        if chain.parents[k] >= 0:
            sums[chain.parents[k]] = sums[chain.parents[k]] + sums[k]
    return ca.horzcat(*sums)


# The links and what joints carry --------------------------------------------------------------------------------------------


def bodies_of(chain, frames):
    """Return every link's own Bodies, in the ground frame."""
    constants = [
        (mass, *first, *(np.trace(second) * np.eye(3) - second).ravel())
        for mass, first, second in chain.inertias
    ]
    mass, *local = (ca.DM(row).T for row in np.array(constants).T)
    columns = [ca.horzcat(*(turn[:, k] for turn in frames.rotation)) for k in range(3)]
    turned = [
        sum(across(local[3 * r + c], 3) * columns[c] for c in range(3)) for r in range(4)
    ]  # R h, and the columns of R I
    first, lever = (
        turned[0] + across(mass, 3) * frames.origin,
        turned[0] + across(mass / 2, 3) * frames.origin,
    )
    about_origin = [
        sum(columns[c][i, :] * turned[1 + c][j, :] for c in range(3)) for i, j in ENTRIES
    ]
    inertia = ca.vertcat(*about_origin) + _shifts(frames.origin, lever)
    w, v, dw, dv = *ca.vertsplit(frames.twist, 3), *ca.vertsplit(frames.acceleration, 3)
    spin, momentum = times(inertia, w) + cross(first, v), across(mass, 3) * v - cross(first, w)
    xx, yy, zz, xy, xz, yz = ca.vertsplit(_shifts(v, first) - _rolled(inertia, w))
    x, y, z = ca.vertsplit(spin)
    upper = ca.vertcat(xx, xy + z, xz - y, xy - z, yy, yz + x, xz + y, yz - x, zz)
    return Bodies(
        mass=SX(mass),
        first=first,
        inertia=inertia,
        upper=upper,
        twice=2 * momentum,
        moment=times(inertia, dw) + cross(first, dv) + cross(w, spin) + cross(v, momentum),
        force=across(mass, 3) * dv - cross(first, dw) + cross(w, momentum),
    )


def _shifts(p, l):
    """Return the entries of 2 (p.l) 1 - p l' - l p'."""
    (x, y, z), (a, b, c) = ca.vertsplit(p), ca.vertsplit(l)
    xa, yb, zc = x * a, y * b, z * c
    return ca.vertcat(
        2 * (yb + zc),
        2 * (xa + zc),
        2 * (xa + yb),
        -(x * b + y * a),
        -(x * c + z * a),
        -(y * c + z * b),
    )


def _rolled(inertia, w):
    """Return the entries of I [w] plus its transpose."""
    xx, yy, zz, xy, xz, yz = ca.vertsplit(inertia)
    x, y, z = ca.vertsplit(w)
    return ca.vertcat(
        2 * (xy * z - xz * y),
        2 * (yz * x - xy * z),
        2 * (xz * y - yz * x),
        (yy - xx) * z + xz * x - yz * y,
        (xx - zz) * y + yz * z - xy * x,
        (zz - yy) * x + xy * y - xz * z,
    )


def stacked(bodies):
    """Return the rows of Bodies, one above the other (28, n)."""
    return ca.densify(ca.vertcat(*(getattr(bodies, name) for name in Bodies.__slots__)))


def unstacked(rows):
    """Return the Bodies of which `stacked` made these rows."""
    return Bodies(**dict(zip(Bodies.__slots__, ca.vertsplit(rows, [0, 1, 4, 10, 19, 22, 25, 28]))))


def duals_of(bodies, w):
    """Return of every link (15, n) G = I w (6), the moment of D = B'w, whose force is zero, and by its entries the upper left of
    K = [upper, -[G force]; [G force], 0]."""
    upper = _rolled(bodies.inertia, w[:3, :]) - _shifts(w[3:, :], bodies.first)
    return ca.densify(ca.vertcat(wrench_of(bodies, w), bent_back(bodies, w), upper))


def wrench_of(bodies, motion):
    """Return I m: the wrench that accelerates the bodies by the motion m."""
    w, v = ca.vertsplit(motion, 3)
    return ca.vertcat(
        times(bodies.inertia, w) + cross(bodies.first, v),
        across(bodies.mass, 3) * v - cross(bodies.first, w),
    )


def bent(bodies, motion):
    """Return B m."""
    w = motion[:3, :]
    return ca.vertcat(by_rows(bodies.upper, w, (0, 1, 2, 3, 4, 5, 6, 7, 8)), cross(w, bodies.twice))


def bent_back(bodies, motion):
    """Return the moment of B'm, whose force is zero."""
    w, v = ca.vertsplit(motion, 3)
    return by_rows(bodies.upper, w, (0, 3, 6, 1, 4, 7, 2, 5, 8)) + cross(bodies.twice, v)


# Loads ----------------------------------------------------------------------------------------------------------------------


def _loaded_chains(chain, frames, loads):
    """Yield for each load the coordinates that move its link, its place, whether that stays, and moment and force as columns (3)."""
    for load in loads:
        stays = isinstance(load, Wrench)
        link, position, moment, force = (
            (chain.tree.link_index(load.link), load.place, load.moment, load.force)
            if stays
            else applied(chain.tree, [load])[0]
        )
        k = chain.carriers[link]
        moving = []
        while k >= 0:
            moving.insert(0, k)
            k = chain.parents[k]
        if moving:
            place = (
                ca.DM(position) - frames.base
                if stays
                else frames.origin[:, moving[-1]] + frames.rotation[moving[-1]] @ ca.DM(position)
            )
            yield (
                moving,
                place,
                stays,
                *(ca.vertcat(vector[0], vector[1], vector[2]) for vector in (moment, force)),
            )
        else:
            yield moving, None, None, None, None


def _rates(frames, moving, place):
    """Return for every joint of a chain, as columns (3, d), the rates of turning and of a point's moving per joint rate."""
    turns, slides = ca.vertsplit(frames.screw[:, moving], 3)
    return turns, slides + cross(turns, ca.repmat(place, 1, len(moving)))


def _load_parts(chain, frames, loads):
    """Return the loads' shares of -dtau/dq (n, n) and dtau/d(moment, force) (n, 6 loads)."""
    by_q, by_load = SX(chain.tree.dof, chain.tree.dof), SX(chain.tree.dof, 6 * len(loads))
    for number, (moving, place, stays, moment, force) in enumerate(
        _loaded_chains(chain, frames, loads)
    ):
        if moving:
            turns, moves = _rates(frames, moving, place)
            pushed, swung = turns.T @ against(moves, force), turns.T @ against(turns, moment)
            by_load[moving, list(range(6 * number, 6 * number + 6))] = -ca.horzcat(turns.T, moves.T)
            by_q[moving, moving] += (
                ca.triu(pushed, False).T
                + ca.triu(swung, False).T
                + (-ca.tril(pushed, False) if stays else ca.triu(pushed))
            )
    return by_q, ca.sparsify(by_load)


def _load_curvatures(chain, frames, virtual, loads):
    """Return of the virtual work of the loads, sum of w.W: second derivatives by q (n, n), upper triangle, minus those by q and (moment,
    force) (n, 6 loads), the first by q (n,), and minus those by (moment, force) (6 loads,)."""
    n, count = chain.tree.dof, len(loads)
    by_qq, by_q_load, by_q, by_load = SX(n, n), SX(n, 6 * count), SX.zeros(n), SX.zeros(6 * count)
    for number, (moving, place, stays, moment, force) in enumerate(
        _loaded_chains(chain, frames, loads)
    ):
        if not moving:
            continue
        columns, (turns, moves) = (
            list(range(6 * number, 6 * number + 6)),
            _rates(frames, moving, place),
        )
        w, v = ca.vertsplit(virtual[:, moving[-1]], 3)
        ahead = cross_motion(
            frames.screw[:, moving],
            ca.repmat(ca.vertcat(w, v), 1, len(moving)) - virtual[:, moving],
        )
        here = ca.repmat(place, 1, len(moving))
        wrench = [
            ca.repmat(part, 1, len(moving)) for part in (moment + ca.cross(place, force), force)
        ]
        by_place = frames.screw[:, moving].T @ cross_force(ahead, *wrench)
        speeds = ahead[3:, :] + cross(ahead[:3, :], here)
        if not stays:
            crossed = against(moves, force).T @ ahead[:3, :]
            by_place += crossed + crossed.T + turns.T @ against(moves, ca.cross(force, w))
            speeds += cross(ca.repmat(w, 1, len(moving)), moves)
        by_qq[moving, moving] += ca.triu(by_place)
        by_q_load[moving, columns] = -ca.horzcat(ahead[:3, :].T, speeds.T)
        by_q[moving] += ahead[:3, :].T @ moment + speeds.T @ force
        by_load[columns] = -ca.vertcat(w, v + ca.cross(w, place))
    return by_qq, ca.sparsify(by_q_load), by_q, by_load


COMPOSITE = Provider(
    slope_parts=slope_parts,
    join_slopes=join_slopes,
    curvature_parts=curvature_parts,
    join_curvature=join_curvature,
)
