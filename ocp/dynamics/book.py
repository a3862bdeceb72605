"""Book's recursive Lagrangian dynamics of flexible arms with 4x4 matrices, in inverse and in simulation form, for branched trees.

Book (1983). Joint transforms A, deflection transforms E; Lagrange's equations of joints (eqs. 38, 53, 56) and of amplitudes (eqs. 39, 54, 57),
gathered inward, give the inverse form; J z'' = R (eqs. 82-90) with the inertia coefficients of eqs. 66-81 is the simulation form. Here every
amplitude may besides enter by products of two (geometric stiffening), shapes may move loaded points, and vibrations may be damped.

Integrals here are without the paper's factor 1/2, so its 2 Tr is tr. Where the paper drops what is of second order in the amplitudes, from P
(eq. 37) and by taking W W' for 1 (eqs. 72, 73), energy is not quite kept; here this is done with `printed=True` only.
"""

import casadi as ca
import numpy as np

from ocp.dynamics.formulation import Formulation
from ocp.dynamics.linear import mixed
from ocp.mechanics.flexible import (
    bend_at,
    bends,
    bent_first_moment,
    integrals,
    moved,
    slopes,
    weighed,
)
from ocp.mechanics.loads import applied
from ocp.mechanics.spatial import screw_matrix, skew
from ocp.mechanics.tree import inward


def inverse(tree, q, qd, qdd, loads=()):
    """Return the joint torques (N m) and the forces on the modal amplitudes (N or N m), (n,), that the motion needs.

    Zero force on an amplitude makes it vibrate freely. Raises ValueError naming a joint that slides, if a link is flexible.
    """
    _check(tree)
    return _needed(tree, moved(tree, q, qd, qdd), q, qd, loads, printed=False)


def inertia(tree, q, printed=False):
    """Return the inertia matrix J (n, n) of z = q by the recursions of eqs. 66-81.

    F_h = P_h + sum over children (E A) F_c (E A)',  and with the slope of x by z,  Y_z = the integral of h dx'/dz of all that link h carries:
    joint:  Y = F_h (W_h [S_h])'      amplitude k:  Y = (D_hk + sum over children E_c A_c F_c A_c' M_ck') W_h'
    J_jz = tr(W_j [S_j] jW_h Y_z),    J_jfz = tr(W_j M_cjf A_c cW_h Y_z)  for z outside of link j, by its child c    (eqs. 66-76)
    """
    _check(tree)
    links, parents, amplitudes, rows = moved(tree, q), tree.parents, tree.amplitude_rows, tree.rows
    steps = [link.bend[0] @ link.joint for link in links]
    carried, children = (
        _composites(tree, links, steps, printed),
        [[c for c, p in enumerate(parents) if p == k] for k in range(len(parents))],
    )
    entries = {}

    def bent(k, c):
        """Matrices M (4x4) of the place of child c by each amplitude of link k."""
        fixed, values = (
            bends(tree.links[k].modes, _home(tree, c)),
            [q[row] for row in amplitudes[k]],
        )
        return [
            sum(slope * fixed[t] for t, slope in pairs)
            for pairs in slopes(tree.links[k].modes, values)
        ]

    deflections = {
        (k, c): bent(k, c) for k in range(len(links)) if amplitudes[k] for c in children[k]
    }
    for h, link in enumerate(links):
        found = []
        if rows[h] is not None:
            found.append((rows[h], carried[h] @ _slope(tree, links, h).T))
        if amplitudes[h]:
            own, both = _own(tree.links[h], q, amplitudes[h], link.terms[0])
            for k, row in enumerate(amplitudes[h]):
                branches = [
                    (c, carried[c] @ links[c].joint.T @ deflections[h, c][k].T) for c in children[h]
                ]
                found.append(
                    (row, (own[k] + sum(steps[c] @ inner for c, inner in branches)) @ link.pose.T)
                )
                for f in range(k + 1):
                    moving = sum(
                        (deflections[h, c][f] @ links[c].joint @ inner for c, inner in branches),
                        ca.DM(4, 4),
                    )
                    if printed:
                        entries[amplitudes[h][f], row] = ca.trace(
                            moving + both[f][k]
                        )  # eqs. 72, 73
                    else:
                        entries[amplitudes[h][f], row] = ca.trace(
                            link.pose @ (moving + both[f][k]) @ link.pose.T
                        )
        for row, push in found:
            j, below = h, None
            while j >= 0:
                if below is not None:
                    for f, other in enumerate(amplitudes[j]):
                        lever = links[j].pose @ deflections[j, below][f] @ links[below].joint
                        entries[other, row] = ca.dot(lever.T, push)
                    push = steps[below] @ push
                if rows[j] is not None:
                    entries[rows[j], row] = ca.dot(_slope(tree, links, j).T, push)
                j, below = parents[j], j
    return _symmetric(tree.dof, entries)


def remainder(tree, q, qd, tau, loads=(), printed=False):
    """Return R (n,) of J z'' = R: all that stands beside the accelerations (eqs. 83-90), for torques and forces on amplitudes tau (n,)."""
    _check(tree)
    return tau - _needed(tree, moved(tree, q, qd), q, qd, loads, printed)


def forward(tree, q, qd, tau, loads=()):
    """Return the accelerations (n,): the solution of J z'' = R   (eq. 82)."""
    return ca.solve(inertia(tree, q), remainder(tree, q, qd, tau, loads))


def hybrid(tree, q, qd, known, active, loads=()):
    """Return accelerations and forces, each (n,), from z'' where `active` says so and from the forces elsewhere, of J z'' = R + forces.

    `active` has a boolean and `known` (n,) the given acceleration or force of each coordinate, as in `ocp.dynamics.lie_group.hybrid`.
    """
    rest = remainder(tree, q, qd, ca.DM.zeros(tree.dof), loads)
    return mixed(inertia(tree, q), -rest, known, active)


def reactions(tree, q, qd, qdd, loads=()):
    """Return moment (3, links; N m) and force (3, links; N) that each joint passes to its link, in the axes of the link's frame at its base.

    They are Newton's and Euler's laws of all that the joint carries, integrals over particles x:  f = sum of (x'' - g) dm less loads,
    n = sum of x x (x'' - g) dm less theirs, moved to the joint's `anchor`, which on the link's base does not bend. The moment's part along
    the axis differs from the torque by what is of second order in the amplitudes, where the link hangs on one whose turns are of first order.
    """
    links, gravity = moved(tree, q, qd, qdd), ca.DM([*tree.gravity, 0.0])
    given = [[] for _ in links]
    for k, position, moment, force in applied(tree, loads):
        bend, force, moment = (
            bend_at(tree.links[k], position, links[k].terms)[0],
            *(ca.vertcat(v[0], v[1], v[2]) for v in (force, moment)),
        )
        given[k].append(
            ca.vertcat(
                force,
                moment + ca.cross((links[k].pose @ bend @ ca.DM([*position, 1.0]))[:3], force),
            )
        )

    def gather(k, children):
        link, bent, (b, bd, bdd) = tree.links[k], links[k], links[k].terms
        second, mixed = weighed(link, b)
        first = bent_first_moment(link, b)
        push, spread = bent.acceleration @ first - first[3] * gravity, bent.acceleration @ second
        if link.modes is not None:
            rate, change = (
                sum(value * ca.DM([*row, 0.0]) for value, row in zip(values, link.modes.first))
                for values in (bd, bdd)
            )
            push += 2 * bent.rate @ rate + bent.pose @ change
            inner = [sum(value * d.T for value, d in zip(values, mixed)) for values in (bd, bdd)]
            spread += 2 * bent.rate @ inner[0] + bent.pose @ inner[1]
        turned = spread @ bent.pose.T - gravity @ (bent.pose @ first).T  # integral of (x'' - g) x'
        moment = ca.vertcat(
            turned[2, 1] - turned[1, 2], turned[0, 2] - turned[2, 0], turned[1, 0] - turned[0, 1]
        )
        return (
            ca.vertcat(push[:3], moment)
            + sum((wrench for _, wrench in children), ca.DM.zeros(6))
            - sum(given[k], ca.DM.zeros(6))
        )

    forces, moments = [], []
    for joint, link, wrench in zip(tree.joints, links, inward(tree, gather)):
        place, turn = (link.pose @ ca.DM([*joint.anchor, 1.0]))[:3], link.pose[:3, :3].T
        forces.append(turn @ wrench[:3])
        moments.append(turn @ (wrench[3:] - ca.cross(place, wrench[:3])))
    return ca.horzcat(*moments), ca.horzcat(*forces)


def _needed(tree, links, q, qd, loads, printed):
    """Return the forces (n,) on joints and amplitudes of links in motion.

    Q = P ddW' + 2 (sum db_t D_t) dW' + (sum ddb_t D_t) W' + sum over children E A Q_c,   g likewise from first moments   (eqs. 87-90)
    tau_j = tr(W [S] Q) - g' W [S] p,   tau_jf = tr(sum over children W M_cf A_c Q_c + (own) W') - gravity's share + K delta + damping
    """
    tau, rows, amplitudes, gravity = (
        [0] * tree.dof,
        tree.rows,
        tree.amplitude_rows,
        ca.DM([*tree.gravity, 0.0]),
    )
    pushes = [[] for _ in links]  # (position, B) with work tr(d(W E) B) by each load
    for k, position, moment, force in applied(tree, loads):
        bend = bend_at(tree.links[k], position, links[k].terms)[0]
        turned = skew(moment) @ (links[k].pose @ bend)[:3, :3] / 2  # tr([h] X dX') = 2 h . axis
        force = ca.vertcat(force[0], force[1], force[2], 0)
        pushes[k].append(
            (
                tuple(position),
                bend,
                -(ca.DM([*position, 1.0]) @ force.T + ca.diagcat(turned, ca.DM(1, 1)).T),
            )
        )

    def gather(k, children):
        link, bent, (b, bd, bdd) = tree.links[k], links[k], links[k].terms
        second, mixed = _second(link, b, printed)
        total = second @ bent.acceleration.T - bent_first_moment(link, b) @ gravity.T
        if link.modes is not None:
            total += (
                2 * sum(rate * d for rate, d in zip(bd, mixed)) @ bent.rate.T
                + sum(rate * d for rate, d in zip(bdd, mixed)) @ bent.pose.T
            )
        held = [
            (_home(tree, c), links[c].bend[0], links[c].joint @ inner) for c, inner in children
        ] + pushes[k]
        if link.modes is not None:
            for row, force in zip(
                amplitudes[k],
                _bending(link, bent, mixed, held, gravity, [q[r] for r in amplitudes[k]]),
            ):
                tau[row] = force
            values, rates = (ca.vertcat(*(x[row] for row in amplitudes[k])) for x in (q, qd))
            elastic = (
                ca.DM(np.array(link.modes.stiffness)) @ values
                + ca.sparsify(ca.DM(np.array(link.modes.damping))) @ rates
            )
            for number, row in enumerate(amplitudes[k]):
                tau[row] += elastic[number]
        for _, bend, inner in held:
            total += bend @ inner
        if rows[k] is not None:
            tau[rows[k]] = ca.dot(_slope(tree, links, k).T, total)
        return total

    inward(tree, gather)
    return ca.vertcat(*tau)


def _bending(link, bent, mixed, held, gravity, values):
    """Return the forces on a link's amplitudes but for elasticity and damping   (eqs. 39, 54; 85, 86)."""
    (_, bd, bdd), (_, with_place, coupling), by_term = bent.terms, integrals(link), []
    for t, d in enumerate(mixed):
        own = (
            d.T @ bent.acceleration.T
            + 2 * sum(rate * c for rate, c in zip(bd, coupling[t])) @ bent.rate.T
        )
        own += (
            sum(rate * c for rate, c in zip(bdd, coupling[t])) @ bent.pose.T
            - with_place[t][3, :].T @ gravity.T
        )
        own += sum(
            (bends(link.modes, position)[t] @ inner for position, _, inner in held), ca.DM(4, 4)
        )
        by_term.append(ca.dot(bent.pose.T, own))
    return [sum(slope * by_term[t] for t, slope in pairs) for pairs in slopes(link.modes, values)]


def _composites(tree, links, steps, printed):
    """Return F (4x4) of every link: its own P and its children's, moved   (eqs. 77-79)."""

    def gather(k, children):
        total = _second(tree.links[k], links[k].terms[0], printed)[0]
        return total + sum((steps[c] @ inner @ steps[c].T for c, inner in children), ca.DM(4, 4))

    return inward(tree, gather)


def _second(link, b, printed):
    """Return P (4x4) and D_t (4x4); as `printed`, P without products of amplitudes   (eqs. 36, 37)."""
    second, mixed = weighed(link, b)
    if printed:
        whole, with_place, _ = integrals(link)
        second = whole + sum(value * (c + c.T) for value, c in zip(b, with_place))
    return second, mixed


def _own(link, q, rows, b):
    """Return D_k and C_fk (4x4) by amplitudes: the terms' integrals weighed by the terms' slopes."""
    _, _, coupling = integrals(link)
    mixed, pairs = weighed(link, b)[1], slopes(link.modes, [q[row] for row in rows])
    both = [
        [sum(f * k * coupling[t][u] for t, f in left for u, k in right) for right in pairs]
        for left in pairs
    ]
    return [sum(slope * mixed[t] for t, slope in found) for found in pairs], both


def _slope(tree, links, k):
    """Return W [S] (4x4), the derivative of W by the joint's own variable."""
    return links[k].pose @ ca.DM(screw_matrix(np.array(tree.joints[k].screw)))


def _home(tree, k):
    return tuple(row[3] for row in tree.joints[k].home[:3])


def _symmetric(n, entries):
    """Return the matrix (n, n) with the given entries in either triangle, zeros elsewhere."""
    return ca.vertcat(
        *(
            ca.horzcat(*(entries.get((i, j), entries.get((j, i), ca.DM(1, 1))) for j in range(n)))
            for i in range(n)
        )
    )


def _check(tree):
    for joint in tree.joints if tree.flexible else ():
        if joint.kind in ("prismatic", "screw"):
            raise ValueError(
                f"book: joint {joint.name!r} is {joint.kind}: in a tree with flexible links (here {', '.join(tree.flexible)}) "
                "the method treats revolute and fixed joints only"
            )


BOOK = Formulation(
    name="book",
    inverse=inverse,
    reactions=reactions,
    flexible=True,
)
