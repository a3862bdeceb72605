"""Dynamics on the Lie group SE(3): inverse, forward and every mixture of the two in one O(n) recursion, and its derivatives.

After Sohl & Bobrow (2001). A link's pose in its parent is T = M exp([S] q), the paper's second product of exponentials; M itself is here a
product of exponentials about coordinate axes, so that every Ad acts by plane turns and shifts. V is a link's twist (angular, linear) and
F = (moment, force) the wrench through its joint, both in and about the link's frame, J its inertia. The base accelerates by -g, and

    V = Ad V_p + S qd,  a = [V, S] qd,  dV/dt = Ad dV_p/dt + a + S qdd,  F = J dV/dt - ad*_V (J V) + sum of Ad* F_c,  tau = S.F

(eqs. 22-28) with Ad of the inverse of T. Misprints: eq. 27 needs J V, not J dV/dt, within ad*; in algorithm 4.1 both terms of db/dx are
negative, and tau counts against S.z in eq. 75 and dz+/dx as it does in eqs. 57 and 74; F' in eq. 55 is what a link exerts on the world.
"""

from dataclasses import dataclass, replace

import casadi as ca
import numpy as np

from ocp.dynamics.composite import COMPOSITE
from ocp.dynamics.formulation import Formulation, aligned
from ocp.mechanics.inertia import regrouped
from ocp.mechanics.loads import applied
from ocp.mechanics.spatial import euler_zxz, rotate_z, skew, tidy
from ocp.mechanics.tree import inward, outward


def inverse(tree, q, qd, qdd, loads=()):
    """Return the joint torques (N m) or forces (N), (n,): all joints active (Sohl & Bobrow 2001, algorithm 3.1)."""
    return hybrid(tree, q, qd, qdd, (True,) * tree.dof, loads)[1]


def forward(tree, q, qd, tau, loads=()):
    """Return the accelerations (n,) under joint torques: all joints passive. Massless links: see `hybrid`."""
    return hybrid(tree, q, qd, tau, (False,) * tree.dof, loads)[0]


def bias(tree, q, qd, loads=()):
    """Return h (n,) in M qdd + h = tau: the torques that gravity, velocities and loads ask for."""
    return inverse(tree, q, qd, [0.0] * tree.dof, loads)


def gravity_torques(tree, q):
    """Return the torques (n,) that hold the tree at rest."""
    return bias(tree, q, [0.0] * tree.dof)


def hybrid(tree, q, qd, known, active, loads=()):
    """Return accelerations and torques, each (n,), from qdd at the active joints and tau at the passive ones.

    `active` has a boolean and `known` (n,) the given acceleration or torque of each joint, in the order of q. With the articulated inertia
    J^ of a link, F = J^ dV/dt + B, and at a passive joint U = J^ S, D = S.U (Sohl & Bobrow 2001, algorithms 3.4-3.6, eqs. 49-60):

        inward:   J^ = J + sum of Ad* J^+ Ad,   B = -ad*_V (J V) - load + sum of Ad* z+
                  passive: J^+ = J^ - U U'/D,  z+ = B + J^+ a + U (tau - S.B) / D        active: J^+ = J^,  z+ = B + J^ a + U qdd
        outward:  qdd = (tau - S.B - U.(Ad dV_p/dt + a)) / D   or   tau = U.dV/dt + S.B

    Links whose joints are active down to the ground need no J^: their motion is known. Divides by zero where D = 0, that is where a passive
    joint moves no inertia, as before a last massless link. Raises ValueError if `active` has not n entries.
    """
    _, _, accelerations, torques = _solve(_prepare(tree, q, qd, known, active, loads))
    return ca.vertcat(*accelerations), ca.vertcat(*torques)


def mass_matrix(tree, q):
    """Return M (n, n), symmetric, with structural zeros for joints of different branches.

    M_ij = S_j.(Ad* I S_i) for j = i or between the ground and i, I being the inertia of all links that joint i carries.
    """
    task, entries = _prepare(tree, q, None, None, (True,) * tree.dof, ()), {}
    for k, body in enumerate(_carried(task, task.bodies, _inertia_to_parent)):
        for parent, image in _toward_ground(task, k, body @ task.axes[k]):
            i, j = task.rows[k], task.rows[parent]
            entries[i, j] = entries[j, i] = ca.dot(task.axes[parent], image)
    return _matrix(tree.dof, entries)


def sensitivity(tree, q, qd, qdd, loads=()):
    """Return dtau/dq, dtau/dqd, dtau/dqdd, each (n, n), of inverse dynamics; loads keep their direction in the ground.

    Algorithm 4.1 of Sohl & Bobrow (2001) for active joints, summed over the links before it is multiplied out. With phi = [V_p, S] and
    psi = [dV_p/dt, S] + [V_p, phi] of joint j, the twist of every link that j carries changes by phi_j with q_j and its acceleration by
    psi_j + [phi_j, V], hence its wrench by I psi_j + B phi_j + E S_j: B x = I [x, V] - ad*_x (I V) - ad*_V (I x), and E x is how a load
    turns against a link that turns by x. With the sums of I, F, B, E over what joint i carries, for j = i or between the ground and i,

        dtau_j/dq_i  = S_j.(B phi_i + I psi_i + E S_i - ad*_S F)         dtau_i/dq_j  = phi_j.B'S_i + psi_j.I S_i + S_j.E'S_i
        dtau_j/dqd_i = S_j.(B S_i + 2 I phi_i)                           dtau_i/dqd_j = S_j.B'S_i + 2 phi_j.I S_i
    """
    return _slopes(_prepare(tree, q, qd, qdd, (True,) * tree.dof, loads))


def hybrid_sensitivity(tree, q, qd, known, active, loads=()):
    """Return the derivatives of qdd and those of tau by (q, qd, known): two triples of matrices (n, n); arguments as in `hybrid`.

    What algorithm 4.1 of Sohl & Bobrow (2001) computes, yet without dJ^/dx: the differentiated equations of motion are again a hybrid
    problem with the same J^. With X = dtau/dx at fixed qdd (`sensitivity`), A the projection on active joints, and N the inverse of the
    passive part of M, zero elsewhere,   dqdd/dx = -N X,   dtau/dx = A (X + M dqdd/dx),
    dqdd/dknown = N + (1 - N M) A,   dtau/dknown = 1 - A + A M dqdd/dknown.
    """
    task = _prepare(tree, q, qd, known, active, loads)
    _, held, accelerations, _ = _solve(task)
    firm = [False] * len(task.rows)
    by_q, by_qd, mass = _slopes(replace(task, known=accelerations, passive=firm, loose=firm))
    chosen, others = (
        _matrix(tree.dof, {(i, i): 1.0 for i, flag in enumerate(active) if bool(flag) is side})
        for side in (True, False)
    )
    released = _passive_inverse(task, held)
    by_known = released + chosen - released @ (mass @ chosen)
    rates = -(released @ by_q), -(released @ by_qd), by_known
    return rates, (
        chosen @ (by_q + mass @ rates[0]),
        chosen @ (by_qd + mass @ rates[1]),
        others + chosen @ (mass @ by_known),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A hybrid problem on an aligned tree. Per link: row of q, factors of T, S (6), J (6x6), and whether its joint is passive, and loose:
    passive or moved by a passive one. `loads` holds (link, place, moment, force) in the axes of the link."""

    tree: object
    rows: tuple
    factors: list
    axes: list
    bodies: list
    loads: list
    passive: list
    loose: list
    qd: object
    known: object


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """What a joint hands inward, J^+ (None where the link's motion is known) and z+; its U, D, and tau - S.B or, where active, S.B."""

    inertia: object
    wrench: object
    image: object = None
    pivot: object = None
    drive: object = None


def _prepare(tree, q, qd, known, active, loads):
    if len(active) != tree.dof:
        names = ", ".join(joint.name for joint in tree.moving)
        raise ValueError(
            f"active: expected a boolean for each of the {tree.dof} moving joints ({names}), got {len(active)}"
        )
    tree, _ = aligned(tree)
    rows, factors = (
        tree.rows,
        [
            _exponentials(joint, None if row is None else q[row])
            for joint, row in zip(tree.joints, tree.rows)
        ],
    )
    passive = [row is not None and not active[row] for row in rows]
    pushed = []
    for k, place, *vectors in applied(tree, loads):
        both = _seen(
            tree.parents,
            factors,
            k,
            ca.vertcat(*(vector[i] for vector in vectors for i in range(3))),
        )
        pushed.append((k, ca.DM(place), both[:3], both[3:]))
    return Task(
        tree=tree,
        rows=rows,
        factors=factors,
        axes=[ca.sparsify(ca.DM(joint.screw or [0] * 6)) for joint in tree.joints],
        bodies=[_body(*parts) for parts in regrouped(tree)],
        loads=pushed,
        passive=passive,
        loose=outward(tree, lambda k, above: above or passive[k], False),
        qd=qd,
        known=known,
    )


def _solve(task):
    """Return each link's (V, [V, S], dV/dt or None), what each joint holds, and accelerations and torques as lists of n."""
    still, rest = ca.DM(6, 1), ca.sparsify(ca.DM([0, 0, 0, *(-g for g in task.tree.gravity)]))
    moves = outward(task.tree, lambda k, parent: _move(task, k, parent), (still, still, rest))
    held = inward(task.tree, lambda k, children: _hold(task, moves, k, children))
    found = outward(
        task.tree,
        lambda k, parent: _release(task, moves[k], held[k], k, parent[0]),
        (rest, None, None),
    )
    moving = [outcome for outcome, row in zip(found, task.rows) if row is not None]
    return moves, held, [outcome[1] for outcome in moving], [outcome[2] for outcome in moving]


def _move(task, k, parent):
    """Eqs. 49-51, and 60 where all joints down to the ground are active."""
    row, axis, (twist, _, acceleration) = task.rows[k], task.axes[k], parent
    if row is None:  # an aligned fixed link shares its parent's frame
        return twist, ca.DM(6, 1), acceleration
    twist = _to_child(task.factors[k], twist)
    phi = _ad(twist) @ axis
    if not task.loose[k]:
        acceleration = (
            _to_child(task.factors[k], acceleration) + phi * task.qd[row] + axis * task.known[row]
        )
    return twist + axis * task.qd[row], phi, None if task.loose[k] else acceleration


def _hold(task, moves, k, children):
    """Eqs. 52-55: J^ and B, or F where the motion is known, of a link with what it carries; then inward through its joint."""
    (twist, phi, acceleration), body, parent = moves[k], task.bodies[k], task.tree.parents[k]
    pushes = (
        ca.vertcat(moment + ca.cross(place, force), force)
        for link, place, moment, force in task.loads
        if link == k
    )
    wrench = -_ad(twist).T @ (body @ twist) - sum(pushes, ca.DM(6, 1))
    wrench = sum(
        (_to_parent(task.factors[child], inner.wrench) for child, inner in children), wrench
    )
    if not task.loose[k]:
        return Held(inertia=None, wrench=wrench + body @ acceleration)
    inertia = sum(
        (_inertia_to_parent(task.factors[child], inner.inertia) for child, inner in children), body
    )
    held = (
        Held(inertia=inertia, wrench=wrench)
        if task.rows[k] is None
        else _through(task, k, inertia, wrench, phi)
    )
    if parent < 0 or task.loose[parent]:
        return held
    return replace(
        held,
        inertia=None,
        wrench=held.wrench + held.inertia @ _to_child(task.factors[k], moves[parent][2]),
    )


def _through(task, k, inertia, wrench, phi):
    """Eqs. 55-57."""
    row, axis = task.rows[k], task.axes[k]
    image, drive, known = inertia @ axis, ca.dot(axis, wrench), task.known[row]
    pivot = ca.dot(axis, image)
    if task.passive[k]:
        drive = known - drive
        known, inertia = drive / pivot, _deflated(axis, inertia, image, 1 / pivot)
    return Held(
        inertia=inertia,
        wrench=wrench + inertia @ phi * task.qd[row] + image * known,
        image=image,
        pivot=pivot,
        drive=drive,
    )


def _deflated(axis, inertia, image, inverse):
    """Return J^ - U U'/D, whose products with S vanish: structurally where S is a unit vector."""
    kept = ca.sparsify(ca.diag(1 - axis)) if axis.nnz() == 1 else ca.DM.eye(6)
    image = kept @ image
    return ca.triu2symm(ca.triu(kept @ inertia @ kept - image @ (inverse * image).T))


def _release(task, move, held, k, acceleration):
    """Return dV/dt, qdd and tau of a joint, given dV_p/dt (eqs. 58-60)."""
    row, axis = task.rows[k], task.axes[k]
    if row is None:
        return acceleration, None, None
    known = task.known[row]
    if not task.loose[k]:
        return move[2], known, ca.dot(axis, held.wrench)
    before = _to_child(task.factors[k], acceleration) + move[1] * task.qd[row]
    rate = (held.drive - ca.dot(held.image, before)) / held.pivot if task.passive[k] else known
    after = before + axis * rate
    return after, rate, known if task.passive[k] else ca.dot(held.image, after) + held.drive


def _passive_inverse(task, held):
    """Return N (n, n), the inverse of the passive part of M and zero elsewhere, as W' D^-1 W.

    Column i of W is tau - S.B of all passive joints in an inward sweep with a unit torque at joint i and nothing else.
    """
    parents, rows, entries, pivots = task.tree.parents, task.rows, {}, {}
    for i in (k for k, passive in enumerate(task.passive) if passive):
        wrench, k, pivots[rows[i], rows[i]] = held[i].image / held[i].pivot, i, 1 / held[i].pivot
        entries[rows[i], rows[i]] = 1.0
        while parents[k] >= 0:
            wrench, k = _to_parent(task.factors[k], wrench), parents[k]
            if task.passive[k]:
                drive = entries[rows[k], rows[i]] = -ca.dot(task.axes[k], wrench)
                wrench = wrench + held[k].image * (drive / held[k].pivot)
    innovations = _matrix(task.tree.dof, entries)
    return innovations.T @ (_matrix(task.tree.dof, pivots) @ innovations)


def _slopes(task):
    """Return the derivatives of tau by q, qd and qdd of a task whose joints are all active."""
    moves, held, _, _ = _solve(task)
    rates = [
        (phi, _ad(acceleration) @ axis + _ad(twist) @ phi)
        for axis, (twist, phi, acceleration) in zip(task.axes, moves)
    ]
    by_q, by_qd, mass = {}, {}, {}
    bodies = _carried(task, task.bodies, _inertia_to_parent)
    bends = _carried(
        task, [_bend(task, k, move[0]) for k, move in enumerate(moves)], _bend_to_parent
    )
    for k in range(len(moves)):
        for parent, wrenches in _toward_ground(
            task, k, _columns(task.axes[k], rates[k], held[k].wrench, bodies[k], bends[k])
        ):
            i, j, axis, (phi, psi) = (
                task.rows[k],
                task.rows[parent],
                task.axes[parent],
                rates[parent],
            )
            place, rate, image, back, turned = ca.horzsplit(wrenches)
            by_q[j, i], by_qd[j, i] = ca.dot(axis, place), ca.dot(axis, rate)
            mass[j, i] = mass[i, j] = ca.dot(axis, image)
            if i != j:
                by_q[i, j] = ca.dot(phi, back) + ca.dot(psi, image) + ca.dot(axis, turned)
                by_qd[i, j] = ca.dot(axis, back) + 2.0 * ca.dot(phi, image)
    return tuple(_matrix(task.tree.dof, entries) for entries in (by_q, by_qd, mass))


def _columns(axis, rates, wrench, body, bend):
    """Return (6, 5) of joint i: B phi + I psi + E S - ad*_S F, B S + 2 I phi, I S, B'S and E'S."""
    (phi, psi), (b, e) = rates, ca.horzsplit(bend, 3)
    place = b @ phi[:3] + body @ psi + e @ axis[:3] - _ad(axis).T @ wrench
    back = ca.vertcat(ca.horzcat(b.T @ axis, e.T @ axis), ca.DM(3, 2))
    return ca.horzcat(place, b @ axis[:3] + 2.0 * (body @ phi), body @ axis, back)


def _bend(task, k, twist):
    """Return a link's own B and E (6, 3 + 3) without their linear columns, which vanish."""
    half, (moment, force) = task.bodies[k] @ _ad(twist), ca.vertsplit(task.bodies[k] @ twist, 3)
    b = ca.vertcat(
        skew(moment) + half[:3, :3] + half[:3, :3].T, skew(force) + half[3:, :3] + half[:3, 3:].T
    )
    loads = (load[1:] for load in task.loads if load[0] == k)
    e = sum(
        (
            ca.vertcat(skew(moment) + skew(place) @ skew(force), skew(force))
            for place, moment, force in loads
        ),
        ca.DM(6, 3),
    )
    return -ca.horzcat(b, e)


def _carried(task, own, to_parent):
    """Return for each link the sum of its own and of all that it carries."""
    return inward(
        task.tree,
        lambda k, children: sum(
            (to_parent(task.factors[child], inner) for child, inner in children), own[k]
        ),
    )


def _toward_ground(task, k, wrenches):
    """Yield each moving joint from k to the ground and the wrenches (6, m) in and about its frame; nothing where k is fixed."""
    if task.rows[k] is None:
        return
    while k >= 0:
        if task.rows[k] is not None:
            yield k, wrenches
        wrenches, k = _to_parent(task.factors[k], wrenches), task.tree.parents[k]


def _matrix(n, entries):
    """Return the sparse matrix (n, n) of {(i, j): entry}; floats of 0 are left out."""
    places = sorted(
        (place for place, entry in entries.items() if not isinstance(entry, float) or entry),
        key=lambda place: place[::-1],
    )
    values = ca.densify(ca.vertcat(*(entries[place] for place in places)))
    return type(values)(
        ca.Sparsity.triplet(n, n, [i for i, _ in places], [j for _, j in places]), values
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Exponential:
    """A turn about a coordinate axis and a shift along it; `turn` and `slide` (6x6) make up the Ad of its inverse."""

    axis: int
    turn: object
    slide: object


def _exponential(axis, angle, shift):
    i, j = (axis + 1) % 3, (axis + 2) % 3
    c, s = (
        tidy([np.cos(angle), np.sin(angle)]).tolist()
        if isinstance(angle, float)
        else (ca.cos(angle), ca.sin(angle))
    )
    turn = _matrix(3, {(axis, axis): 1.0, (i, i): c, (j, j): c, (i, j): s, (j, i): -s})
    slide = _matrix(6, {(k, k): 1.0 for k in range(6)} | {(3 + i, j): shift, (3 + j, i): -shift})
    return Exponential(axis=axis, turn=ca.diagcat(turn, turn), slide=slide)


def _exponentials(joint, q):
    """Return T as exponentials about z, y, x and z, the joint's own within the last; about x and z alone in frames laid as Denavit and
    Hartenberg lay them, as all are but the first, those of branches and those whose axes are nearly parallel."""
    if joint.screw is None:
        return []
    home, kind = np.array(joint.home), joint.kind
    beta, alpha, phi = euler_zxz(home[:3, :3])
    a, y, z = rotate_z(-beta)[:3, :3] @ home[:3, 3]
    along, aside = z * np.cos(alpha) - y * np.sin(alpha), y * np.cos(alpha) + z * np.sin(alpha)
    b, y, d = (0.0, 0.0, float(along)) if abs(aside) <= 1e-14 * (1 + abs(along)) else (z, y, 0.0)
    constants = (2, beta, b), (1, 0.0, y), (0, alpha, a)
    angle = phi if kind == "prismatic" else q + phi if phi else q
    return [
        *(
            _exponential(axis, turn, float(shift))
            for axis, turn, shift in constants
            if turn or shift
        ),
        _exponential(2, angle, d if kind == "revolute" else d + joint.screw[5] * q),
    ]


def _to_child(factors, twist):
    for factor in factors:
        twist = factor.turn @ (factor.slide @ twist)
    return twist


def _to_parent(factors, wrench):
    for factor in reversed(factors):
        wrench = factor.slide.T @ (factor.turn.T @ wrench)
    return wrench


def _bend_to_parent(factors, bend):
    for factor in reversed(factors):
        bend = factor.slide.T @ (factor.turn.T @ (bend @ factor.turn))
    return bend


def _inertia_to_parent(factors, inertia):
    """Return Ad* J Ad of a symmetric J = [A, H; H', C], by blocks: a third of the products of matrices."""
    for factor in reversed(factors):
        a, h, c = (
            _turned(factor, block) for block in (inertia[:3, :3], inertia[:3, 3:], inertia[3:, 3:])
        )
        arm = -factor.slide[3:, :3]
        lever = h + arm @ c
        a, c = (ca.triu2symm(ca.triu(block)) for block in (a + arm @ lever.T + h @ arm.T, c))
        inertia = ca.vertcat(ca.horzcat(a, lever), ca.horzcat(lever.T, c))
    return inertia


def _turned(factor, block):
    """Return R block R', (3x3), in 12 products."""
    i, j, k = (factor.axis + 1) % 3, (factor.axis + 2) % 3, factor.axis
    c, s = factor.turn[i, i], factor.turn[i, j]
    lean = s * (block[i, i] - block[j, j]) + c * (block[i, j] + block[j, i])
    return _matrix(
        3,
        {
            (i, i): block[i, i] - s * lean,
            (j, j): block[j, j] + s * lean,
            (i, j): c * lean - block[j, i],
            (j, i): c * lean - block[i, j],
            (i, k): c * block[i, k] - s * block[j, k],
            (j, k): s * block[i, k] + c * block[j, k],
            (k, k): block[k, k],
            (k, i): c * block[k, i] - s * block[k, j],
            (k, j): s * block[k, i] + c * block[k, j],
        },
    )


def _ad(twist):
    """Return the matrix (6x6) of [V, .]; its transpose is ad*_V."""
    angular, linear = skew(twist[:3]), skew(twist[3:])
    return ca.vertcat(ca.horzcat(angular, ca.DM(3, 3)), ca.horzcat(linear, angular))


def _body(mass, first, second):
    """Return J (6x6) from mass, first moment and pseudo-inertia about the frame's origin."""
    hat, (xx, yy, zz) = np.cross(np.eye(3), first), np.diag(second)
    inertia = np.diag([yy + zz, xx + zz, xx + yy]) + np.diag(np.diag(second)) - second
    return ca.sparsify(ca.DM(np.block([[inertia, hat], [hat.T, mass * np.eye(3)]])))


def _seen(parents, factors, k, vectors):
    """Return vectors (3 m) of global axes in the axes of link k."""
    vectors = _seen(parents, factors, parents[k], vectors) if parents[k] >= 0 else vectors
    for factor in factors[k]:
        vectors = factor.turn @ vectors
    return vectors


LIE_GROUP = Formulation(
    name="lie_group",
    inverse=inverse,
    derivatives=COMPOSITE,
    sensitivity=sensitivity,
)
