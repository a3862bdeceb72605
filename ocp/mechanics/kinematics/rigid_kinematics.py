"""Motion of trees of rigid links: poses, velocities and accelerations of links and points, momentum
and energies."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, TypeAlias

import casadi as ca
import numpy as np

from ocp.mechanics.kinematics.spatial import cross_arrays, pose, tidy
from ocp.mechanics.model.joints import Joint
from ocp.mechanics.model.quaternions_and_couplings import (
    rotation_from_quaternion,
    spin_matrix,
    spin_rate,
    value_and_derivatives,
)
from ocp.mechanics.model.tree import Link, Point, Tree, outward
from ocp.mechanics.values.memoize import memoize
from ocp.mechanics.values.parameters import any_nonzero, array, matrix
from ocp.mechanics.values.types import Matrix, Numbers

Waves: TypeAlias = tuple[Matrix, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Motion:
    """How a frame moves, in global axes; what was not asked for is None.

    `rotation` (3x3), `origin` (3, m), `angular` (3, rad/s) and `linear` velocity (3, m/s) of the
    frame at its origin, and its `angular_acceleration` (3, rad/s2) and `linear_acceleration` (3,
    m/s2). Of a link in a tree with flexible ones `bent` has the matrices behind it (see
    `ocp.mechanics.flexible.flexible_kinematics`); of a link whose joint is a ball or follows a
    coordinate `slope` has how it moves by its coordinates' rates: (3, 4) the turning of its axes,
    or one number.
    """

    rotation: Matrix
    origin: Matrix
    angular: Matrix = None
    linear: Matrix = None
    angular_acceleration: Matrix = None
    linear_acceleration: Matrix = None
    bent: Matrix = None
    slope: Matrix = None

    @property
    def pose(self) -> Matrix:
        """The pose (4x4) of the frame."""
        return pose(self.rotation, self.origin)


def motions_at_rest(frames: Sequence[Matrix]) -> list[Motion]:
    """Return the Motion of every link without velocities, from their poses (4x4)."""
    return [Motion(rotation=frame[:3, :3], origin=frame[:3, 3]) for frame in frames]


def joint_pose(joint: Joint, q: Matrix) -> Matrix:
    """Return the pose (4x4) of the joint's link in its parent: home @ exp([screw] q).

    `q` (rad or m; of a ball its quaternion, 4) is ignored by a fixed joint.
    """
    return pose(*joint_transform(joint, q))


def joint_transform(joint: Joint, q: Matrix) -> tuple[Matrix, Matrix]:
    """Return the rotation (3x3) and the translation (3, m) of `joint_pose`."""
    rotation, place = _waves(joint.home, joint.screw)
    if joint.ball:
        return rotation[0] @ rotation_from_quaternion(q), place[0]
    if joint.screw is None:
        return rotation[0], place[0]
    waves = (1, ca.sin(q), ca.cos(q), q) if any_nonzero(joint.screw[:3]) else (1, 0, 0, q)
    return _summed(waves, rotation), _summed(waves, place)


def _summed(waves: Sequence[Matrix], parts: Waves) -> Matrix:
    return sum(wave * part for wave, part in zip(waves[1:], parts[1:]) if part.nnz()) + parts[0]


@lru_cache(maxsize=512)
def _waves(home: tuple, screw: tuple | None) -> tuple[Waves, Waves]:
    """Return the constant matrices of which a joint's rotation and translation are sums: by 1, sin
    q, cos q and q.

    home @ exp([S] q) with exp as in `exp_screw`, w the turn and v the slide of S.
    """
    turn, place = array(home)[:3, :3], array(home)[:3, 3]
    w, v = np.zeros(3), np.zeros(3)
    if screw is not None:
        w, v = array(screw[:3]), array(screw[3:])
    hat = np.array([cross_arrays(row, w) for row in np.eye(3)])
    rotation = turn + turn @ hat @ hat, turn @ hat, -turn @ hat @ hat, np.zeros((3, 3))
    moment, drift = cross_arrays(w, v), w * (w @ v) if any_nonzero(w) else v
    shift = (
        place + turn @ moment - rotation[0] @ moment,
        -rotation[1] @ moment,
        -rotation[2] @ moment,
        turn @ drift,
    )
    constant, moving = (
        tuple(ca.sparsify(matrix(tidy(part))) for part in parts) for parts in (rotation, shift)
    )
    return constant, moving


def motions(
    tree: Tree,
    q: Matrix,
    qd: Matrix = None,
    qdd: Matrix = None,
    only: Collection[int] | None = None,
) -> list[Motion]:
    """Return the Motion of every link, as far as rates and accelerations are given; of those that
    are `only` asked for, with all between them and the ground, and None of the others."""
    swept = _swept(tree, q, qd, qdd) if only is None else _places(tree, q, only)[0]
    return list(swept)


@memoize(8)
def _swept(tree: Tree, q: Matrix, qd: Matrix, qdd: Matrix) -> Sequence[Motion]:
    """Return the Motion of every link, once for all that ask for it at the same symbols."""
    places, arms = _placed(tree, q)
    if qd is None:
        return places
    spans, zero = tree.spans, ca.DM.zeros(3)

    def move(k: int, parent: Motion) -> Motion:
        joint = tree.joints[k]
        _, (_, rate, acceleration) = _joint_motion(joint, spans[k], q, qd, qdd)
        link = _with_velocity(joint, places[k], parent, arms[k], rate)
        return link if qdd is None else _with_acceleration(joint, link, parent, rate, acceleration)

    still = Motion(rotation=ca.DM.eye(3), origin=zero, angular=zero, linear=zero)
    if qdd is not None:
        still = replace(still, angular_acceleration=zero, linear_acceleration=zero)
    return outward(tree, move, still)


@memoize(8)
def _placed(tree: Tree, q: Matrix) -> tuple[Sequence[Motion], Sequence[Matrix]]:
    return _places(tree, q)


def _places(
    tree: Tree, q: Matrix, only: Collection[int] | None = None
) -> tuple[Sequence[Any], Sequence[Matrix]]:
    """Return the Motion of every link, or of some, without rates, and the arm (3, m) from its
    parent's origin to its own."""
    spans, arms = tree.spans, [ca.DM.zeros(3)] * len(tree.joints)

    def move(k: int, parent: Motion) -> Any:
        if only is not None and k not in only:
            return None
        joint = tree.joints[k]
        slope, (place, _, _) = _joint_motion(joint, spans[k], q, None, None)
        mapped = joint.ball or joint.follows is not None
        turn, shift = joint_transform(joint, place) if mapped else link_in_parent(tree, k, q)
        arms[k] = parent.rotation @ shift
        origin = parent.origin + arms[k]
        return Motion(rotation=parent.rotation @ turn, origin=origin, slope=slope)

    ground = Motion(rotation=ca.DM.eye(3), origin=ca.DM.zeros(3))
    return outward(tree, move, ground), arms


@memoize(256)
def link_in_parent(tree: Tree, k: int, q: Matrix) -> tuple[Matrix, Matrix]:
    """Return the rotation (3x3) and the translation (3, m) of link k in its parent, once for all
    that ask for it at the same coordinates q."""
    return joint_transform(tree.joints[k], joint_coordinate(tree, k, q))


def joint_coordinate(tree: Tree, k: int, q: Matrix) -> Matrix:
    """Return the coordinate of joint k's pose, from all coordinates (n,): its angle (rad) or way
    (m), of a ball its quaternion (4,); None for a fixed one."""
    return _joint_motion(tree.joints[k], tree.spans[k], q, None, None)[1][0]


def _joint_motion(
    joint: Joint, rows: tuple[int, ...], q: Matrix, qd: Matrix, qdd: Matrix
) -> tuple[Matrix, tuple[Matrix, Matrix, Matrix]]:
    """Return the slope of a Motion, and a joint's own place, rate and acceleration, as far as those
    of the coordinates are given: of a ball its quaternion, and in the link's axes angular velocity
    and acceleration (3)."""
    motion = (q, qd, qdd)
    if joint.ball:
        p, pd, pdd = (None if part is None else part[list(rows)] for part in motion)
        slope = spin_matrix(p)
        rate = None if pd is None else slope @ pd
        return slope, (p, rate, None if pdd is None else spin_rate(p, pd, pdd))
    own: tuple[Matrix, ...] = tuple(
        None if part is None or not rows else part[rows[0]] for part in motion
    )
    if joint.follows is None:
        return None, (own[0], own[1], own[2])
    place, slope, curvature = value_and_derivatives(joint.follows.function, own[0])
    rate = None if qd is None else slope * own[1]
    return slope, (place, rate, None if qdd is None else slope * own[2] + curvature * own[1] ** 2)


def _with_velocity(joint: Joint, link: Motion, parent: Motion, arm: Matrix, rate: Matrix) -> Motion:
    angular, linear = parent.angular, parent.linear + ca.cross(parent.angular, arm)
    if rate is not None and joint.ball:
        angular = angular + link.rotation @ rate
    elif rate is not None:
        turn, slide = _axes(joint.screw)
        if any_nonzero(joint.screw[:3]):
            angular = angular + link.rotation @ turn * rate
        if any_nonzero(joint.screw[3:]):
            linear = linear + link.rotation @ slide * rate
    return replace(link, angular=angular, linear=linear)


def _with_acceleration(
    joint: Joint, link: Motion, parent: Motion, rate: Matrix, acceleration: Matrix
) -> Motion:
    arm, w = link.origin - parent.origin, parent.angular
    angular = parent.angular_acceleration
    linear = parent.linear_acceleration + ca.cross(angular, arm) + ca.cross(w, ca.cross(w, arm))
    if rate is not None and joint.ball:
        turn = link.rotation @ rate
        angular = angular + link.rotation @ acceleration + ca.cross(w, turn)
    elif rate is not None:
        turn, slide = (link.rotation @ axis for axis in _axes(joint.screw))
        angular = angular + turn * acceleration + ca.cross(w, turn) * rate
        swing = ca.cross(2 * w + turn * rate, slide) * rate
        linear = linear + slide * acceleration + swing
    return replace(link, angular_acceleration=angular, linear_acceleration=linear)


def point_motion(tree: Tree, moves: Sequence[Motion], point: Point) -> Motion:
    """Return the Motion of the frame at a point, with the axes of its link, from the motions of all
    links."""
    link = moves[tree.link_index(point.link)]
    arm = link.rotation @ matrix(point.position)
    linear, acceleration = link.linear, link.linear_acceleration
    if linear is not None:
        linear = linear + ca.cross(link.angular, arm)
    if acceleration is not None:
        acceleration = (
            acceleration
            + ca.cross(link.angular_acceleration, arm)
            + ca.cross(link.angular, ca.cross(link.angular, arm))
        )
    return replace(link, origin=link.origin + arm, linear=linear, linear_acceleration=acceleration)


def point_position(tree: Tree, moves: Sequence[Motion], point: Point) -> Matrix:
    """Return the position (3, m) of a point, from the motions of all links."""
    link = moves[tree.link_index(point.link)]
    return link.rotation @ matrix(point.position) + link.origin


def first_moment(tree: Tree, q: Matrix) -> Matrix:
    """Return the sum of mass times place (3, kg m)."""
    return sum(
        link.mass * (move.rotation @ matrix(link.com) + move.origin)
        for link, move in _weighed(tree, motions(tree, q))
    )


def momentum(tree: Tree, q: Matrix, qd: Matrix, about: Sequence[float]) -> tuple[Matrix, Matrix]:
    """Return angular momentum about a fixed point and linear momentum (3 each).

    They are in kg m2/s and kg m/s.
    """
    angular = linear = ca.DM.zeros(3)
    for link, move in _weighed(tree, motions(tree, q, qd)):
        place, velocity, spin = _center(link, move)
        angular = angular + spin + ca.cross(place - matrix(about), link.mass * velocity)
        linear = linear + link.mass * velocity
    return angular, linear


def kinetic_energy(tree: Tree, q: Matrix, qd: Matrix) -> Matrix:
    """Return the kinetic energy (J)."""
    energy: Matrix = 0
    for link, move in _weighed(tree, motions(tree, q, qd)):
        _, velocity, spin = _center(link, move)
        energy += (link.mass * ca.dot(velocity, velocity) + ca.dot(move.angular, spin)) / 2
    return energy


def potential_energy(tree: Tree, q: Matrix) -> Matrix:
    """Return the potential energy in gravity (J), zero at the global origin."""
    gravity = matrix(tree.gravity)
    return -sum(
        link.mass * ca.dot(gravity, move.rotation @ matrix(link.com) + move.origin)
        for link, move in _weighed(tree, motions(tree, q))
    )


def _weighed(tree: Tree, moves: Sequence[Motion]) -> list[tuple[Link, Motion]]:
    """Return the links that have mass, of whose others no sum has anything, with their motions; all
    of them where none has."""
    pairs = list(zip(tree.links, moves))
    return [pair for pair in pairs if any_nonzero((pair[0].mass,))] or pairs


def _center(link: Link, move: Motion) -> tuple[Matrix, Matrix, Matrix]:
    """Return place and velocity of a link's centre of mass, and its angular momentum about that (3
    each)."""
    arm = move.rotation @ matrix(link.com)
    spin = move.rotation @ (matrix(link.inertia) @ (move.rotation.T @ move.angular))
    return move.origin + arm, move.linear + ca.cross(move.angular, arm), spin


def jacobian(tree: Tree, q: Matrix, point: Point) -> Matrix:
    """Return J (6, n) with (angular velocity of the link, linear velocity of the point) = J qd."""
    return jacobian_at(tree, motions(tree, q), point)


def jacobian_at(tree: Tree, moves: Sequence[Motion], point: Point) -> Matrix:
    """Return J (6, n) as `jacobian` does, from the motions of all links."""
    columns = [ca.DM.zeros(6)] * tree.dof
    place = point_position(tree, moves, point)
    for row, column in jacobian_columns(tree, moves, point.link, place).items():
        columns[row] = column
    return ca.horzcat(ca.DM(6, 0), *columns)


def jacobian_columns(
    tree: Tree, moves: Sequence[Motion], link: str, place: Matrix
) -> dict[int, Matrix]:
    """Return {row of q: column (6) of J} for the point of a link at a place (3, m, global axes), of
    the coordinates that move it."""
    parents, spans, k = tree.parents, tree.spans, tree.link_index(link)
    columns: dict[int, Matrix] = {}
    while k >= 0:
        for row, (turn, slide) in zip(spans[k], joint_axes(tree.joints[k], moves[k])):
            column = ca.vertcat(turn, slide + ca.cross(turn, place - moves[k].origin))
            columns[row] = columns[row] + column if row in columns else column
        k = parents[k]
    return columns


@lru_cache(maxsize=512)
def _axes(screw: Numbers) -> tuple[Matrix, Matrix]:
    """Return the axes of a joint's turn and slide (3 each), in its link's axes."""
    return matrix(screw[:3]), matrix(screw[3:])


@memoize(256)
def joint_axes(joint: Joint, move: Motion) -> list[tuple[Matrix, Matrix]]:
    """Return the turn and slide of a joint's link, (3) each in global axes, by the rate of each
    coordinate that moves it, from the link's Motion."""
    if joint.ball:
        return [(turn, ca.DM.zeros(3)) for turn in ca.horzsplit(move.rotation @ move.slope)]
    if joint.screw is None:
        return []
    turn, slide = (move.rotation @ axis for axis in _axes(joint.screw))
    return [(turn, slide) if joint.follows is None else (turn * move.slope, slide * move.slope)]
