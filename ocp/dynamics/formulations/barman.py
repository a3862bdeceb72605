"""Recursive Newton-Euler dynamics and its sensitivities, those of the forces and moments inside the
joints included.

Barman (2020), chapter III, steps 1-10: in moving link frames, about each link's centre of mass. The
frames (`aligned`) stand on the axis z of the link's own joint, its proximal end, so that the offset
dx of a frame from its parent's is written in the parent's axes.

Every vector is a matrix (3, 1 + m): the value, then its sensitivities (.),i by all q, (.),i' by all
qd and (.),i'' by all qdd, m = 3n, or m = 0 where none are asked for; a scalar is such a row. What
is linear in a vector acts on its sensitivities alike, the cases i < j; products and the turning of
frames add theirs, the cases i = j. Columns of joints that do not matter are structurally zero.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca

from ocp.dynamics.derivatives.composite_bodies import COMPOSITE
from ocp.dynamics.formulation import Formulation, aligned
from ocp.mechanics.kinematics.rigid import joint_pose
from ocp.mechanics.kinematics.spatial import skew
from ocp.mechanics.model.loads import Load, applied
from ocp.mechanics.model.tree import Link, Tree, inward, outward
from ocp.mechanics.values.parameters import array, matrix
from ocp.mechanics.values.types import Matrix


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """The step across a joint: rotation R (3x3), offset dx (3, 1 + m), what turns and what slides
    per unit of the coordinate (3), its rate and acceleration (1, 1 + m), and the column of the
    coordinate; None if the joint is fixed or no sensitivities are asked for."""

    rotation: Matrix
    offset: Matrix
    turn: Matrix
    slide: Matrix
    rate: Matrix
    acceleration: Matrix
    column: int | None


def inverse(tree: Tree, q: Matrix, qd: Matrix, qdd: Matrix, loads: Sequence[Load] = ()) -> Matrix:
    """Return the joint torques (N m) or forces (N), (n,)."""
    return ca.densify(_torques(tree, q, qd, qdd, loads, False))


def sensitivity(
    tree: Tree, q: Matrix, qd: Matrix, qdd: Matrix, loads: Sequence[Load] = ()
) -> tuple[Matrix, Matrix, Matrix]:
    """Return dtau/dq, dtau/dqd, dtau/dqdd, (n, n) each, structurally zero where neither joint
    carries the other."""
    return _by_variable(tree, _torques(tree, q, qd, qdd, loads, True))


def reactions(
    tree: Tree, q: Matrix, qd: Matrix, qdd: Matrix, loads: Sequence[Load] = ()
) -> tuple[Matrix, Matrix]:
    """Return the moment and the force that each joint passes to its link, (3, links) each.

    They are in N m and N, in the axes of the link's frame. The moment is about the joint's
    `anchor`. Their components along the joint's axis are the joint torque or force itself.
    """
    moments, forces = zip(*_reactions(tree, q, qd, qdd, loads, False))
    return ca.densify(ca.horzcat(*moments)), ca.densify(ca.horzcat(*forces))


def reaction_sensitivity(
    tree: Tree, q: Matrix, qd: Matrix, qdd: Matrix, loads: Sequence[Load] = ()
) -> tuple[Matrix, Matrix, Matrix]:
    """Return the derivatives of `reactions` by q, qd and qdd, (6 links, n) each: of link k, the
    moment's stand in rows 6k, 6k + 1, 6k + 2 and the force's in the next three."""
    return _by_variable(
        tree,
        ca.vertcat(*(part for pair in _reactions(tree, q, qd, qdd, loads, True) for part in pair)),
    )


def _torques(tree, q, qd, qdd, loads, sensed):
    """Return the joint torques (n,), with their sensitivities where `sensed`.

        tau = z . moment for a joint that turns, z . force for one that slides,
              both for a screw

    (step 10, eqs. 3.92-3.95).
    """
    tree, _ = aligned(tree)
    steps = _steps(tree, q, qd, qdd, sensed)
    wrenches = _proximal(tree, steps, _motions(tree, steps), loads)
    return ca.vertcat(
        *(
            step.turn.T @ moment + step.slide.T @ force
            for joint, step, (moment, force) in zip(tree.joints, steps, wrenches)
            if joint.screw is not None
        )
    )


def _reactions(tree, q, qd, qdd, loads, sensed):
    """Return the proximal (moment, force) of every link in the axes of the frames of `tree`, the
    moments about the joints' anchors."""
    better, frames = aligned(tree)
    steps, found = _steps(better, q, qd, qdd, sensed), []
    for joint, frame, (moment, force) in zip(
        tree.joints, frames, _proximal(better, steps, _motions(better, steps), loads)
    ):
        rotation, arm = matrix(array(frame)[:3, :3]), matrix(array(frame)[:3, 3] - joint.anchor)
        force = rotation @ force
        found.append((rotation @ moment + skew(arm) @ force, force))
    return found


# Steps 1-8: outward -------------------------------------------------------------------------------


def _steps(tree, q, qd, qdd, sensed):
    """Return the Step of every joint of an aligned tree    (steps 1, 2; eqs. 3.1-3.7)"""
    n, steps, width = tree.dof, [], 1 + 3 * tree.dof if sensed else 1
    for joint, row in zip(tree.joints, tree.rows):
        place = rate = acceleration = ca.DM(1, width)
        if row is not None:
            place, rate, acceleration = (
                _variable(value[row], width, 1 + part * n + row)
                for part, value in enumerate((q, qd, qdd))
            )
        home, screw = array(joint.home), ca.sparsify(matrix(joint.screw or (0,) * 6))
        steps.append(
            Step(
                rotation=joint_pose(joint, None if row is None else q[row])[:3, :3],
                offset=_constant(home[:3, 3], width)
                + ca.sparsify(matrix(home[:3, :3])) @ screw[3:] @ place,
                turn=screw[:3],
                slide=screw[3:],
                rate=rate,
                acceleration=acceleration,
                column=1 + row if sensed and row is not None else None,
            )
        )
    return steps


def _motions(tree, steps):
    """Return angular velocity and acceleration, the linear acceleration of the frame and gravity,
    in the link's axes, of every link."""
    width = steps[0].offset.shape[1]
    base = ca.DM(3, width), ca.DM(3, width), ca.DM(3, width), _constant(tree.gravity, width)

    def motion(k, parent):
        (w, dw, a, gravity), step = parent, steps[k]
        before = _to_child(step, w)
        return (
            angular_velocity(step, before),
            angular_acceleration(step, before, _to_child(step, dw)),
            linear_acceleration(step, before, _to_child(step, a + _swing(w, dw, step.offset))),
            _to_child(step, gravity),
        )

    return outward(tree, motion, base)


def angular_velocity(step: Step, before: Matrix) -> Matrix:
    """Return w of a link, `before` being its parent's in the axes of the link.

    Step 3, eqs. 3.5-3.13.
    """
    return before + step.turn @ step.rate


def angular_acceleration(step: Step, before: Matrix, accelerated: Matrix) -> Matrix:
    """Return dw of a link from its parent's w and dw in the axes of the link.

    Step 4, eqs. 3.14-3.22.
    """
    return accelerated + step.turn @ step.acceleration + _cross(before, step.turn @ step.rate)


def linear_acceleration(step: Step, before: Matrix, accelerated: Matrix) -> Matrix:
    """Return the acceleration of a link's frame from that of the parent's point that it passes.

    Steps 6, 7; 2 w x d' + d''.
    """
    return accelerated + step.slide @ step.acceleration + 2 * _cross(before, step.slide @ step.rate)


def inertia_force(link: Link, motion: Sequence[Matrix]) -> Matrix:
    """Return F_G = m (acceleration of the centre of mass - gravity).

    Steps 7, 8; eqs. 3.59-3.68, gravity's sign corrected.
    """
    w, dw, a, gravity = motion
    return link.mass * (a + _swing(w, dw, _constant(link.com, a.shape[1])) - gravity)


def inertia_moment(link: Link, motion: Sequence[Matrix]) -> Matrix:
    """Return I dw + w x H, H = I w    (step 8, eqs. 3.64-3.66, 3.69-3.71)"""
    w, dw, _, _ = motion
    inertia = ca.sparsify(matrix(link.inertia))
    return inertia @ dw + _cross(w, inertia @ w)


# Step 9: inward -----------------------------------------------------------------------------------


def _proximal(tree, steps, motions, loads):
    """Return for every link the moment and force at its proximal end, in and about its own frame.

    An external wrench changes the sensitivities by q alone: it leaves those by rates and
    accelerations as they are. Step 9, eqs. 3.72-3.91.
    """
    external = _external(tree, steps, loads)

    def proximal(k, children):
        force, arm = inertia_force(tree.links[k], motions[k]), matrix(tree.links[k].com)
        moment = inertia_moment(tree.links[k], motions[k]) + skew(arm) @ force
        for outer_moment, outer_force in [
            distal(steps[child], *wrench) for child, wrench in children
        ] + external[k]:
            force, moment = force + outer_force, moment + outer_moment
        return moment, force

    return inward(tree, proximal)


def distal(step: Step, moment: Matrix, force: Matrix) -> tuple[Matrix, Matrix]:
    """Return what a child's proximal moment and force are at its parent, about the parent's frame.

    Eqs. 3.72, 3.73, 3.80-3.83.
    """
    force = _to_parent(step, force)
    return _to_parent(step, moment) + _cross(step.offset, force), force


def _external(tree, steps, loads):
    """Return for every link the [(moment, force)] with which its joint holds against loads, in and
    about its frame    (eqs. 3.76-3.91)"""
    external, parents = [[] for _ in tree.links], tree.parents
    for k, place, *vectors in applied(tree, loads):
        chain = [k]
        while parents[chain[-1]] >= 0:
            chain.append(parents[chain[-1]])
        moment, force = (_constant(vector, steps[0].offset.shape[1]) for vector in vectors)
        for link in reversed(chain):
            moment, force = _to_child(steps[link], moment), _to_child(steps[link], force)
        external[k].append((-moment - skew(matrix(place)) @ force, -force))
    return external


# Vectors and their sensitivities ------------------------------------------------------------------


def _to_child(step, v):
    """Return R'v; by the step's own coordinate R' changes by -[turn] R'."""
    v = step.rotation.T @ v
    return (
        v
        if step.column is None
        else v + _column(-ca.cross(step.turn, v[:, 0]), v.shape[1], step.column)
    )


def _to_parent(step, v):
    """Return R v; by the step's own coordinate R changes by R [turn]."""
    if step.column is not None:
        v = v + _column(ca.cross(step.turn, v[:, 0]), v.shape[1], step.column)
    return step.rotation @ v


def _cross(a, b):
    """Return a x b, with da x b + a x db."""
    return skew(a[:, 0]) @ b - ca.horzcat(ca.DM(3, 1), skew(b[:, 0]) @ a[:, 1:])


def _swing(w, dw, arm):
    """Return dw x arm + w x (w x arm): the acceleration of a point of a link over that of its frame
    (eqs. 3.35-3.61)"""
    return _cross(dw, arm) + _cross(w, _cross(w, arm))


def _constant(vector, width):
    """Return a vector (3) without sensitivities; entries that are known to be zero are left out."""
    vector = ca.vertcat(vector[0], vector[1], vector[2])
    return ca.horzcat(
        ca.sparsify(vector) if isinstance(vector, ca.DM) else vector, ca.DM(3, width - 1)
    )


def _variable(value, width, column):
    """Return a coordinate, whose sensitivity by itself is one."""
    return (
        value
        if width == 1
        else ca.horzcat(value, ca.DM(1, width - 1)) + _column(ca.DM(1), width, column)
    )


def _column(vector, width, column):
    """Return a matrix that is zero but for one column."""
    return ca.horzcat(
        ca.DM(vector.shape[0], column), vector, ca.DM(vector.shape[0], width - column - 1)
    )


def _by_variable(tree, stacked):
    """Return the sensitivities by q, qd and qdd, apart and without the value."""
    n = tree.dof
    return tuple(stacked[:, 1 + part * n : 1 + (part + 1) * n] for part in range(3))


BARMAN = Formulation(
    name="barman",
    inverse=inverse,
    derivatives=COMPOSITE,
    reactions=reactions,
    sensitivity=sensitivity,
)
