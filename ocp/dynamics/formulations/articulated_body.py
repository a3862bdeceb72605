"""Hybrid dynamics over articulated bodies: accelerations are known at some joints, torques at the
others.

The recursion of Sohl & Bobrow (2001), algorithms 3.4-3.6; rotors add to the inertia D that a
passive joint sees (Featherstone 2008, section 9.6).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import casadi as ca

from ocp.dynamics.exponentials import (
    Exponential,
    ad,
    body_matrix,
    exponentials,
    in_link_axes,
    inertia_to_parent,
    to_child,
    to_parent,
)
from ocp.dynamics.formulation_record import align_frames
from ocp.dynamics.signatures import Loads
from ocp.mechanics.elements.generalized_forces import rotors
from ocp.mechanics.model.inertia import regroup_inertias
from ocp.mechanics.model.loads import applied_loads
from ocp.mechanics.model.tree import Tree, inward, outward
from ocp.mechanics.values.parameters import matrix
from ocp.mechanics.values.types import Matrix

# V, [V, S] and dV/dt of a link; the last is None where a passive joint moves it.
Twists: TypeAlias = tuple[Matrix, Matrix, Matrix | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class HybridProblem:
    """A hybrid problem on an aligned tree.

    Fields: of every link its row of q, factors of T, S (6), J (6x6), whether its joint is passive,
    and loose: passive or moved by a passive one; the `loads` (link, place, moment, force) in the
    axes of the link; `known` accelerations or torques; and by row of q what a rotor adds to the
    inertia there.
    """

    tree: Tree
    rows: tuple[int | None, ...]
    factors: list[list[Exponential]]
    axes: list[Matrix]
    bodies: list[Matrix]
    loads: list[tuple[int, Matrix, Matrix, Matrix]]
    passive: list[bool]
    loose: list[bool]
    qd: Matrix
    known: Sequence[Matrix]
    rotors: Mapping[int, Matrix]


@dataclass(frozen=True, slots=True, kw_only=True)
class Articulation:
    """What passes inward through a joint: J^+ (None where the link's motion is known) and z+; its
    U, D, and tau - S.B or, where active, S.B."""

    inertia: Matrix | None
    wrench: Matrix
    image: Matrix = None
    pivot: Matrix = None
    drive: Matrix = None


@dataclass(frozen=True, slots=True, kw_only=True)
class HybridSolution:
    """Twists and articulations of every link, accelerations and torques of every coordinate."""

    twists: list[Twists]
    articulations: list[Articulation]
    accelerations: list[Matrix]
    torques: list[Matrix]


def hybrid_problem(
    tree: Tree, q: Matrix, qd: Matrix, known: Matrix, active: Sequence[bool], loads: Loads
) -> HybridProblem:
    """Return the problem of a tree, aligned; arguments as in `lie_group.hybrid`.

    Raises ValueError if `active` has not n entries.
    """
    if len(active) != tree.dof:
        names = ", ".join(joint.name for joint in tree.moving)
        raise ValueError(
            f"active: expected a boolean for each of the {tree.dof} moving joints ({names}), got "
            f"{len(active)}"
        )
    tree, _ = align_frames(tree)
    rows = tree.rows
    places = (None if row is None else q[row] for row in rows)
    factors = [exponentials(joint, place) for joint, place in zip(tree.joints, places)]
    passive = [row is not None and not active[row] for row in rows]
    pushes = []
    for k, place, *vectors in applied_loads(tree, loads):
        stacked = ca.vertcat(*(vector[i] for vector in vectors for i in range(3)))
        both = in_link_axes(tree.parents, factors, k, stacked)
        pushes.append((k, matrix(place), both[:3], both[3:]))
    return HybridProblem(
        tree=tree,
        rows=rows,
        factors=factors,
        axes=[ca.sparsify(matrix(joint.screw or [0] * 6)) for joint in tree.joints],
        bodies=[body_matrix(*parts) for parts in regroup_inertias(tree)],
        loads=pushes,
        passive=passive,
        loose=outward(tree, lambda k, above: above or passive[k], False),
        qd=qd,
        known=known,
        rotors=rotors(tree),
    )


def solve_hybrid(task: HybridProblem) -> HybridSolution:
    """Return the solution by three sweeps: outward, inward and outward."""
    still, rest = ca.DM(6, 1), ca.sparsify(matrix([0, 0, 0, *(-g for g in task.tree.gravity)]))
    root: Twists = (still, still, rest)
    twists = outward(task.tree, lambda k, parent: _twists(task, k, parent), root)
    held = inward(task.tree, lambda k, children: _articulation(task, twists, k, children))

    def release(k: int, parent: tuple) -> tuple[Matrix, Matrix, Matrix]:
        """Return dV/dt, qdd and tau of a joint, given dV_p/dt (eqs. 58-60)."""
        row, axis = task.rows[k], task.axes[k]
        if row is None:
            return parent[0], None, None
        known = task.known[row]
        if not task.loose[k]:
            return twists[k][2], known, ca.dot(axis, held[k].wrench)
        before = to_child(task.factors[k], parent[0]) + twists[k][1] * task.qd[row]
        if task.passive[k]:
            rate = (held[k].drive - ca.dot(held[k].image, before)) / held[k].pivot
            return before + axis * rate, rate, known
        after = before + axis * known
        return after, known, ca.dot(held[k].image, after) + held[k].drive

    released = outward(task.tree, release, (rest, None, None))
    moving = [outcome for outcome, row in zip(released, task.rows) if row is not None]
    return HybridSolution(
        twists=twists,
        articulations=held,
        accelerations=[acceleration for _, acceleration, _ in moving],
        torques=[torque for _, _, torque in moving],
    )


def _twists(task: HybridProblem, k: int, parent: Twists) -> Twists:
    """Return a link's twists from its parent's: eqs. 49-51, and 60 where all joints down to the
    ground are active."""
    row, axis, (twist, _, acceleration) = task.rows[k], task.axes[k], parent
    if row is None:  # an aligned fixed link shares its parent's frame
        return twist, ca.DM(6, 1), acceleration
    twist = to_child(task.factors[k], twist)
    phi, acceleration = ad(twist) @ axis, None
    if not task.loose[k]:
        moved = to_child(task.factors[k], parent[2])
        acceleration = moved + phi * task.qd[row] + axis * task.known[row]
    return twist + axis * task.qd[row], phi, acceleration


def _articulation(
    task: HybridProblem, twists: list[Twists], k: int, children: list[tuple[int, Articulation]]
) -> Articulation:
    """Return J^ and B, or F where the motion is known, of a link with what it carries, passed
    inward through its joint (eqs. 52-55)."""
    (twist, phi, acceleration), body, parent = twists[k], task.bodies[k], task.tree.parents[k]
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
        return Articulation(inertia=None, wrench=wrench + body @ acceleration)
    inertia = sum(
        (inertia_to_parent(task.factors[child], inner.inertia) for child, inner in children), body
    )
    held = Articulation(inertia=inertia, wrench=wrench)
    row = task.rows[k]
    if row is not None:
        held = _through_joint(task, k, row, held, phi)
    if parent < 0 or task.loose[parent]:
        return held
    push = held.inertia @ to_child(task.factors[k], twists[parent][2])
    return replace(held, inertia=None, wrench=held.wrench + push)


def _through_joint(
    task: HybridProblem, k: int, row: int, inner: Articulation, phi: Matrix
) -> Articulation:
    """Return the share of J^ and B behind a joint that passes through it (eqs. 55-57)."""
    axis, inertia = task.axes[k], inner.inertia
    image, drive, known = inertia @ axis, ca.dot(axis, inner.wrench), task.known[row]
    pivot = ca.dot(axis, image)
    if task.passive[k]:
        drive, rotor = known - drive, task.rotors.get(row)
        if rotor is not None:
            pivot = pivot + rotor
        known, inertia = drive / pivot, _deflate(axis, inertia, image, 1 / pivot, rotor)
    return Articulation(
        inertia=inertia,
        wrench=inner.wrench + inertia @ (phi * task.qd[row]) + image * known,
        image=image,
        pivot=pivot,
        drive=drive,
    )


def _deflate(
    axis: Matrix, inertia: Matrix, image: Matrix, inverse: Matrix, rotor: Matrix | None
) -> Matrix:
    """Return J^ - U U'/D, whose products with S vanish: structurally where S is a unit vector.

    With a rotor they do not.
    """
    alone = axis.nnz() == 1 and rotor is None
    kept = ca.sparsify(ca.diag(1 - axis)) if alone else ca.DM.eye(6)
    image = kept @ image
    return ca.triu2symm(ca.triu(kept @ inertia @ kept - image @ (inverse * image).T))
