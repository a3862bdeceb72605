"""Recursive Newton-Euler dynamics and its sensitivities, those of the forces and moments inside the
joints included.

Barman (2020), chapter III, steps 1-10: in moving link frames, about each link's centre of mass. The
frames (`align_frames`) stand on the axis z of the link's own joint, its proximal end, so that the
offset dx of a frame from its parent's is written in the parent's axes.

Every vector is a matrix (3, 1 + m): the value, then its sensitivities (.),i by all q, (.),i' by all
qd and (.),i'' by all qdd, m = 3n, or m = 0 where none are asked for; a scalar is such a row. What
is linear in a vector acts on its sensitivities alike, the cases i < j; products and the turning of
frames add theirs, the cases i = j. Columns of joints that do not matter are structurally zero.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca

from ocp.dynamics.derivatives.composite_bodies import COMPOSITE
from ocp.dynamics.formulation_record import Formulation, align_frames
from ocp.dynamics.signatures import Loads, Reactions, Slopes
from ocp.mechanics.kinematics.rigid_kinematics import joint_pose
from ocp.mechanics.kinematics.spatial import skew
from ocp.mechanics.model.loads import applied_loads
from ocp.mechanics.model.tree import Tree, inward, outward
from ocp.mechanics.values.parameters import array, matrix
from ocp.mechanics.values.types import Matrix


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """The step across a joint, with sensitivities.

    Fields: rotation R (3x3), offset dx (3, 1 + m), what turns and what slides per unit of the
    coordinate (3), its rate and acceleration (1, 1 + m), and the column of the coordinate; None if
    the joint is fixed or no sensitivities are asked for.
    """

    rotation: Matrix
    offset: Matrix
    turn: Matrix
    slide: Matrix
    rate: Matrix
    acceleration: Matrix
    column: int | None


def inverse(tree: Tree, q: Matrix, qd: Matrix, qdd: Matrix, loads: Loads = ()) -> Matrix:
    """Return the joint torques (N m) or forces (N), (n,)."""
    return ca.densify(_torques(tree, q, qd, qdd, loads, sensitive=False))


def sensitivity(tree: Tree, q: Matrix, qd: Matrix, qdd: Matrix, loads: Loads = ()) -> Slopes:
    """Return dtau/dq, dtau/dqd, dtau/dqdd, (n, n) each, structurally zero where neither joint
    carries the other."""
    return _by_variable(tree, _torques(tree, q, qd, qdd, loads, sensitive=True))


def reactions(tree: Tree, q: Matrix, qd: Matrix, qdd: Matrix, loads: Loads = ()) -> Reactions:
    """Return the moment and the force that each joint passes to its link, (3, links) each.

    They are in N m and N, in the axes of the link's frame, the moment about the joint's
    `anchor`. Their components along the joint's axis are the joint torque or force itself.
    """
    moments, forces = zip(*_reactions(tree, q, qd, qdd, loads, sensitive=False))
    return ca.densify(ca.horzcat(*moments)), ca.densify(ca.horzcat(*forces))


def reaction_sensitivity(
    tree: Tree, q: Matrix, qd: Matrix, qdd: Matrix, loads: Loads = ()
) -> Slopes:
    """Return the derivatives of `reactions` by q, qd and qdd, (6 links, n) each: of link k, the
    moment's stand in rows 6k, 6k + 1, 6k + 2 and the force's in the next three."""
    wrenches = _reactions(tree, q, qd, qdd, loads, sensitive=True)
    return _by_variable(tree, ca.vertcat(*(part for wrench in wrenches for part in wrench)))


def _torques(
    tree: Tree, q: Matrix, qd: Matrix, qdd: Matrix, loads: Loads, *, sensitive: bool
) -> Matrix:
    """Return the joint torques (n,), with their sensitivities where `sensitive`.

        tau = z . moment for a joint that turns, z . force for one that slides,
              both for a screw

    (step 10, eqs. 3.92-3.95).
    """
    tree, _ = align_frames(tree)
    steps = _steps(tree, q, qd, qdd, sensitive)
    entries = (
        step.turn.T @ moment + step.slide.T @ force
        for joint, step, (moment, force) in zip(tree.joints, steps, _wrenches(tree, steps, loads))
        if joint.screw is not None
    )
    return ca.vertcat(*entries)


def _reactions(
    tree: Tree, q: Matrix, qd: Matrix, qdd: Matrix, loads: Loads, *, sensitive: bool
) -> list[Reactions]:
    """Return the (moment, force) at the proximal end of every link in the axes of the frames of
    `tree`, the moments about the joints' anchors."""
    better, frames = align_frames(tree)
    wrenches = _wrenches(better, _steps(better, q, qd, qdd, sensitive), loads)
    reactions = []
    for joint, frame, (moment, force) in zip(tree.joints, frames, wrenches):
        rotation, arm = matrix(array(frame)[:3, :3]), matrix(array(frame)[:3, 3] - joint.anchor)
        force = rotation @ force
        reactions.append((rotation @ moment + skew(arm) @ force, force))
    return reactions


# The recursion ------------------------------------------------------------------------------------


def _steps(tree: Tree, q: Matrix, qd: Matrix, qdd: Matrix, sensitive: bool) -> list[Step]:
    """Return the Step of every joint of an aligned tree (steps 1, 2; eqs. 3.1-3.7)."""
    n, steps, width = tree.dof, [], 1 + 3 * tree.dof if sensitive else 1
    for joint, row in zip(tree.joints, tree.rows):
        place = rate = acceleration = ca.DM(1, width)
        if row is not None:
            place, rate, acceleration = (
                _variable(value[row], width, 1 + part * n + row)
                for part, value in enumerate((q, qd, qdd))
            )
        home, screw = array(joint.home), ca.sparsify(matrix(joint.screw or (0,) * 6))
        along = ca.sparsify(matrix(home[:3, :3])) @ screw[3:] @ place
        steps.append(
            Step(
                rotation=joint_pose(joint, None if row is None else q[row])[:3, :3],
                offset=_constant(home[:3, 3], width) + along,
                turn=screw[:3],
                slide=screw[3:],
                rate=rate,
                acceleration=acceleration,
                column=1 + row if sensitive and row is not None else None,
            )
        )
    return steps


def _motions(tree: Tree, steps: Sequence[Step]) -> list[tuple[Matrix, ...]]:
    """Return angular velocity and acceleration, the linear acceleration of the frame and gravity,
    in the link's axes, of every link."""

    def motion(k: int, parent: tuple[Matrix, ...]) -> tuple[Matrix, ...]:
        (w, dw, a, gravity), step = parent, steps[k]
        before = _to_child(step, w)
        spin, slip = step.turn @ step.rate, step.slide @ step.rate
        swing = _to_child(step, dw) + step.turn @ step.acceleration + _cross(before, spin)
        pull = _to_child(step, a + _lever_pull(w, dw, step.offset)) + step.slide @ step.acceleration
        return (
            before + spin,  # step 3, eqs. 3.5-3.13
            swing,  # step 4, eqs. 3.14-3.22
            pull + 2 * _cross(before, slip),  # steps 6, 7
            _to_child(step, gravity),
        )

    width = steps[0].offset.shape[1]
    base = ca.DM(3, width), ca.DM(3, width), ca.DM(3, width), _constant(tree.gravity, width)
    return outward(tree, motion, base)


def _wrenches(tree: Tree, steps: Sequence[Step], loads: Loads) -> list[Reactions]:
    """Return for every link the moment and force at its proximal end, in and about its own frame.

    An external wrench changes the sensitivities by q alone: it leaves those by rates and
    accelerations as they are. Step 9, eqs. 3.72-3.91.
    """
    motions, external = _motions(tree, steps), _external(tree, steps, loads)

    def wrench(k: int, children: list) -> Reactions:
        (w, dw, a, gravity), link = motions[k], tree.links[k]
        inertia, arm = ca.sparsify(matrix(link.inertia)), matrix(link.com)
        # steps 7, 8, eqs. 3.59-3.71, with the sign of gravity corrected
        force = link.mass * (a + _lever_pull(w, dw, _constant(link.com, a.shape[1])) - gravity)
        moment = inertia @ dw + _cross(w, inertia @ w) + skew(arm) @ force
        outer = []
        for child, (inner_moment, inner_force) in children:  # eqs. 3.72, 3.73, 3.80-3.83
            passed = _to_parent(steps[child], inner_force)
            turned = _to_parent(steps[child], inner_moment)
            outer.append((turned + _cross(steps[child].offset, passed), passed))
        for outer_moment, outer_force in outer + external[k]:
            force, moment = force + outer_force, moment + outer_moment
        return moment, force

    return inward(tree, wrench)


def _external(tree: Tree, steps: Sequence[Step], loads: Loads) -> list[list[Reactions]]:
    """Return for every link the [(moment, force)] with which its joint holds against loads, in and
    about its frame (eqs. 3.76-3.91)."""
    external: list[list[Reactions]] = [[] for _ in tree.links]
    for k, place, *vectors in applied_loads(tree, loads):
        chain = [k]
        while tree.parents[chain[-1]] >= 0:
            chain.append(tree.parents[chain[-1]])
        moment, force = (_constant(vector, steps[0].offset.shape[1]) for vector in vectors)
        for link in reversed(chain):
            moment, force = _to_child(steps[link], moment), _to_child(steps[link], force)
        external[k].append((-moment - skew(matrix(place)) @ force, -force))
    return external


# Vectors and their sensitivities ------------------------------------------------------------------


def _to_child(step: Step, v: Matrix) -> Matrix:
    """Return R'v; by the step's own coordinate R' changes by -[turn] R'."""
    v = step.rotation.T @ v
    if step.column is None:
        return v
    return v + _column(-ca.cross(step.turn, v[:, 0]), v.shape[1], step.column)


def _to_parent(step: Step, v: Matrix) -> Matrix:
    """Return R v; by the step's own coordinate R changes by R [turn]."""
    if step.column is not None:
        v = v + _column(ca.cross(step.turn, v[:, 0]), v.shape[1], step.column)
    return step.rotation @ v


def _cross(a: Matrix, b: Matrix) -> Matrix:
    """Return a x b, with da x b + a x db."""
    return skew(a[:, 0]) @ b - ca.horzcat(ca.DM(3, 1), skew(b[:, 0]) @ a[:, 1:])


def _lever_pull(w: Matrix, dw: Matrix, arm: Matrix) -> Matrix:
    """Return dw x arm + w x (w x arm): the acceleration of a point of a link over that of its frame
    (eqs. 3.35-3.61)."""
    return _cross(dw, arm) + _cross(w, _cross(w, arm))


def _constant(vector: Matrix, width: int) -> Matrix:
    """Return a vector (3) without sensitivities; entries that are known to be zero are left out."""
    vector = ca.vertcat(vector[0], vector[1], vector[2])
    if isinstance(vector, ca.DM):
        vector = ca.sparsify(vector)
    return ca.horzcat(vector, ca.DM(3, width - 1))


def _variable(value: Matrix, width: int, column: int) -> Matrix:
    """Return a coordinate, whose sensitivity by itself is one."""
    if width == 1:
        return value
    return ca.horzcat(value, ca.DM(1, width - 1)) + _column(ca.DM(1), width, column)


def _column(vector: Matrix, width: int, column: int) -> Matrix:
    """Return a matrix that is zero but for one column."""
    height = vector.shape[0]
    return ca.horzcat(ca.DM(height, column), vector, ca.DM(height, width - column - 1))


def _by_variable(tree: Tree, stacked: Matrix) -> Slopes:
    """Return the sensitivities by q, qd and qdd, apart and without the value."""
    _, by_q, by_qd, by_qdd = ca.horzsplit(stacked, [0, *(1 + part * tree.dof for part in range(4))])
    return by_q, by_qd, by_qdd


BARMAN = Formulation(
    name="barman",
    inverse=inverse,
    derivatives=COMPOSITE,
    reactions=reactions,
    sensitivity=sensitivity,
)
