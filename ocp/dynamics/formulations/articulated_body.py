"""Known accelerations at some joints and torques at the others, over articulated bodies.

The hybrid recursion of Sohl & Bobrow (2001), algorithms 3.4-3.6; rotors add to the inertia D that a
passive joint sees (Featherstone 2008, section 9.6).
"""

from dataclasses import dataclass, replace

import casadi as ca

from ocp.dynamics.exponentials import (
    ad,
    body_matrix,
    exponentials,
    inertia_to_parent,
    seen_from,
    to_child,
    to_parent,
)
from ocp.dynamics.formulation import aligned
from ocp.mechanics.elements.forces import rotors
from ocp.mechanics.model.inertia import regrouped
from ocp.mechanics.model.loads import applied
from ocp.mechanics.model.tree import Tree, inward, outward
from ocp.mechanics.values.parameters import matrix
from ocp.mechanics.values.types import Matrix


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A hybrid problem on an aligned tree.

    Per link: row of q, factors of T, S (6), J (6x6), and whether its joint is passive, and loose:
    passive or moved by a passive one. `loads` holds (link, place, moment, force) in the axes of the
    link; `rotors` {row of q: what a rotor adds to the inertia there}.
    """

    tree: Tree
    rows: tuple[int | None, ...]
    factors: list
    axes: list
    bodies: list
    loads: list
    passive: list
    loose: list
    qd: Matrix
    known: Matrix
    rotors: dict


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """What a joint hands inward, J^+ (None where the link's motion is known) and z+; its U, D, and
    tau - S.B or, where active, S.B."""

    inertia: Matrix
    wrench: Matrix
    image: Matrix = None
    pivot: Matrix = None
    drive: Matrix = None


def prepare(tree, q, qd, known, active, loads):
    if len(active) != tree.dof:
        names = ", ".join(joint.name for joint in tree.moving)
        raise ValueError(
            f"active: expected a boolean for each of the {tree.dof} moving joints ({names}), got "
            f"{len(active)}"
        )
    tree, _ = aligned(tree)
    rows, factors = (
        tree.rows,
        [
            exponentials(joint, None if row is None else q[row])
            for joint, row in zip(tree.joints, tree.rows)
        ],
    )
    passive = [row is not None and not active[row] for row in rows]
    pushed = []
    for k, place, *vectors in applied(tree, loads):
        both = seen_from(
            tree.parents,
            factors,
            k,
            ca.vertcat(*(vector[i] for vector in vectors for i in range(3))),
        )
        pushed.append((k, matrix(place), both[:3], both[3:]))
    return Task(
        tree=tree,
        rows=rows,
        factors=factors,
        axes=[ca.sparsify(matrix(joint.screw or [0] * 6)) for joint in tree.joints],
        bodies=[body_matrix(*parts) for parts in regrouped(tree)],
        loads=pushed,
        passive=passive,
        loose=outward(tree, lambda k, above: above or passive[k], False),
        qd=qd,
        known=known,
        rotors=rotors(tree),
    )


def solve(task):
    """Return each link's (V, [V, S], dV/dt or None), what each joint holds, and accelerations and
    torques as lists of n."""
    still, rest = ca.DM(6, 1), ca.sparsify(matrix([0, 0, 0, *(-g for g in task.tree.gravity)]))
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
    twist = to_child(task.factors[k], twist)
    phi = ad(twist) @ axis
    if not task.loose[k]:
        acceleration = (
            to_child(task.factors[k], acceleration) + phi * task.qd[row] + axis * task.known[row]
        )
    return twist + axis * task.qd[row], phi, None if task.loose[k] else acceleration


def _hold(task, moves, k, children):
    """Eqs. 52-55: J^ and B, or F where the motion is known, of a link with what it carries; then
    inward through its joint."""
    (twist, phi, acceleration), body, parent = moves[k], task.bodies[k], task.tree.parents[k]
    pushes = (
        ca.vertcat(moment + ca.cross(place, force), force)
        for link, place, moment, force in task.loads
        if link == k
    )
    wrench = -ad(twist).T @ (body @ twist) - sum(pushes, ca.DM(6, 1))
    wrench = sum(
        (to_parent(task.factors[child], inner.wrench) for child, inner in children), wrench
    )
    if not task.loose[k]:
        return Held(inertia=None, wrench=wrench + body @ acceleration)
    inertia = sum(
        (inertia_to_parent(task.factors[child], inner.inertia) for child, inner in children), body
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
        wrench=held.wrench + held.inertia @ to_child(task.factors[k], moves[parent][2]),
    )


def _through(task, k, inertia, wrench, phi):
    """Eqs. 55-57."""
    row, axis = task.rows[k], task.axes[k]
    image, drive, known = inertia @ axis, ca.dot(axis, wrench), task.known[row]
    pivot = ca.dot(axis, image)
    if task.passive[k]:
        drive, rotor = known - drive, task.rotors.get(row)
        if rotor is not None:
            pivot = pivot + rotor
        known, inertia = drive / pivot, _deflated(axis, inertia, image, 1 / pivot, rotor)
    return Held(
        inertia=inertia,
        wrench=wrench + inertia @ (phi * task.qd[row]) + image * known,
        image=image,
        pivot=pivot,
        drive=drive,
    )


def _deflated(axis, inertia, image, inverse, rotor=None):
    """Return J^ - U U'/D, whose products with S vanish: structurally where S is a unit vector.

    With a rotor they do not.
    """
    alone = axis.nnz() == 1 and rotor is None
    kept = ca.sparsify(ca.diag(1 - axis)) if alone else ca.DM.eye(6)
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
    before = to_child(task.factors[k], acceleration) + move[1] * task.qd[row]
    rate = (held.drive - ca.dot(held.image, before)) / held.pivot if task.passive[k] else known
    after = before + axis * rate
    return after, rate, known if task.passive[k] else ca.dot(held.image, after) + held.drive
