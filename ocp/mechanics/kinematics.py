"""Where the links are and how they move: poses, points, Jacobians, centre of mass, momentum, energies.

All vectors are in global axes. `q, qd, qdd` (n,) may be SX, MX, DM or numpy; a point is a name or a Point of the tree.
"""

from dataclasses import dataclass, replace
from functools import lru_cache

import casadi as ca
import numpy as np

from ocp.mechanics import flexible
from ocp.mechanics.spatial import pose, tidy
from ocp.mechanics.tree import Point, outward


def joint_pose(joint, q):
    """Return the pose (4x4) of the joint's link in its parent: home @ exp([screw] q); `q` is ignored by a fixed joint."""
    return pose(*joint_turn(joint, q))


def joint_turn(joint, q):
    """Return the rotation (3x3) and the translation (3) of `joint_pose`."""
    rotation, place = _waves(joint.home, joint.screw)
    if joint.screw is None:
        return rotation[0], place[0]
    waves = (1, ca.sin(q), ca.cos(q), q) if any(joint.screw[:3]) else (1, 0, 0, q)
    return tuple(
        sum(wave * part for wave, part in zip(waves[1:], parts[1:]) if part.nnz()) + parts[0]
        for parts in (rotation, place)
    )


@lru_cache(maxsize=512)
def _waves(home, screw):
    """Return the constant matrices that a joint's rotation and translation are sums of: by 1, sin q, cos q and q.

    home @ exp([S] q) with exp as in `exp_screw`, w the turn and v the slide of S.
    """
    turn, place = np.array(home)[:3, :3], np.array(home)[:3, 3]
    w, v = (
        (np.zeros(3), np.zeros(3)) if screw is None else (np.array(screw[:3]), np.array(screw[3:]))
    )
    hat = np.cross(np.eye(3), w)
    rotation = turn + turn @ hat @ hat, turn @ hat, -turn @ hat @ hat, np.zeros((3, 3))
    moment, drift = np.cross(w, v), w * (w @ v) if w.any() else v
    shift = (
        place + turn @ moment - rotation[0] @ moment,
        -rotation[1] @ moment,
        -rotation[2] @ moment,
        turn @ drift,
    )
    return tuple(
        tuple(ca.sparsify(ca.DM(tidy(part))) for part in parts) for parts in (rotation, shift)
    )


def poses(tree, q):
    """Return the pose (4x4) of every link, of a flexible one at its base."""
    if tree.flexible:
        return [link.pose for link in flexible.moved(tree, q)]
    rows = tree.rows

    def step(k, parent):
        turn, shift = joint_turn(tree.joints[k], None if rows[k] is None else q[rows[k]])
        return parent[0] @ turn, parent[1] + parent[0] @ shift

    return [pose(*found) for found in outward(tree, step, (ca.DM.eye(3), ca.DM.zeros(3)))]


@dataclass(frozen=True, slots=True, kw_only=True)
class Motion:
    """A link's motion: rotation (3x3), origin (3), angular and linear velocity (3) of the frame at its origin, and where they are asked for
    its angular and linear acceleration (3). In a tree with flexible links `bent` has the matrices behind it (see `ocp.flexible`)."""

    rotation: object
    origin: object
    angular: object
    linear: object
    angular_acceleration: object = None
    linear_acceleration: object = None
    bent: object = None


def velocities(tree, q, qd):
    """Return the Motion of every link without its accelerations."""
    if tree.flexible:
        return [
            replace(move, angular_acceleration=None, linear_acceleration=None)
            for move in motions(tree, q, qd)
        ]
    rows, zero = tree.rows, ca.DM.zeros(3)

    def move(k, p):
        joint, row = tree.joints[k], rows[k]
        turn, shift = joint_turn(joint, None if row is None else q[row])
        rotation, arm = p.rotation @ turn, p.rotation @ shift
        angular, linear = p.angular, p.linear + ca.cross(p.angular, arm)
        if row is not None:
            if any(joint.screw[:3]):
                angular = angular + rotation @ ca.DM(joint.screw[:3]) * qd[row]
            if any(joint.screw[3:]):
                linear = linear + rotation @ ca.DM(joint.screw[3:]) * qd[row]
        return Motion(rotation=rotation, origin=p.origin + arm, angular=angular, linear=linear)

    return outward(
        tree, move, Motion(rotation=ca.DM.eye(3), origin=zero, angular=zero, linear=zero)
    )


def motions(tree, q, qd, qdd=None):
    """Return the Motion of every link; without `qdd` the accelerations are those of qdd = 0."""
    if tree.flexible:
        return [
            _bent_motion(link.pose, link.rate, link.acceleration, link)
            for link in flexible.moved(tree, q, qd, qdd)
        ]
    moves, rows, zero = velocities(tree, q, qd), tree.rows, ca.DM.zeros(3)
    root = Motion(
        rotation=ca.DM.eye(3),
        origin=zero,
        angular=zero,
        linear=zero,
        angular_acceleration=zero,
        linear_acceleration=zero,
    )

    def accelerate(k, p):
        move, row = moves[k], rows[k]
        arm = move.origin - p.origin
        angular = p.angular_acceleration
        linear = (
            p.linear_acceleration
            + ca.cross(angular, arm)
            + ca.cross(p.angular, ca.cross(p.angular, arm))
        )
        if row is not None:
            acceleration, screw = 0 if qdd is None else qdd[row], np.array(tree.joints[k].screw)
            turn, slide = move.rotation @ ca.DM(screw[:3]), move.rotation @ ca.DM(screw[3:])
            angular = angular + turn * acceleration + ca.cross(p.angular, turn) * qd[row]
            linear = (
                linear
                + slide * acceleration
                + ca.cross(2 * p.angular + turn * qd[row], slide) * qd[row]
            )
        return replace(move, angular_acceleration=angular, linear_acceleration=linear)

    return outward(tree, accelerate, root)


def position(tree, q, point):
    """Return the position (3, m) of a point."""
    if tree.flexible:
        return flexible.at_point(tree, flexible.moved(tree, q), point)[0][:3, 3]
    return place(tree, poses(tree, q), point)


def place(tree, frames, point):
    """Return the position (3, m) of a point, from the poses of all links; raise ValueError for one on a flexible link, which bends."""
    point = _point(tree, point)
    if point.link in tree.flexible:
        raise ValueError(
            f"point {point.name!r} is on the flexible link {point.link!r}: the links' poses do not tell where it is"
        )
    frame = frames[tree.link_index(point.link)]
    return frame[:3, :3] @ ca.DM(point.position) + frame[:3, 3]


def offset(tree, q, start, end):
    """Return the vector (3, m) between two points in the axes of the last link that carries both, whose own motion does not matter to it."""
    _rigid_only(tree, "offset")
    places, chains = [], []
    for point in (start, end):
        point = _point(tree, point)
        places.append(ca.DM(point.position))
        chain, k = [], tree.link_index(point.link)
        while k >= 0:
            chain.append(k)
            k = tree.parents[k]
        chains.append(chain)
    for number, (chain, other) in enumerate(zip(chains, reversed(chains))):
        for k in chain:
            if k in other:
                break
            local = joint_pose(tree.joints[k], None if tree.rows[k] is None else q[tree.rows[k]])
            places[number] = local[:3, :3] @ places[number] + local[:3, 3]
    return places[1] - places[0]


def velocity(tree, q, qd, point):
    """Return the velocity (3, m/s) of a point."""
    return speed(tree, velocities(tree, q, qd), point)


def speed(tree, moves, point):
    """Return the velocity (3, m/s) of a point, from the motions of all links."""
    if tree.flexible:
        return _at_point(tree, moves, point).linear
    link, arm = _link_and_arm(tree, moves, point)
    return link.linear + ca.cross(link.angular, arm)


def acceleration(tree, q, qd, qdd, point):
    """Return the acceleration (3, m/s2) of a point, gravity not included."""
    moves = motions(tree, q, qd, qdd)
    if tree.flexible:
        return _at_point(tree, moves, point).linear_acceleration
    link, arm = _link_and_arm(tree, moves, point)
    return (
        link.linear_acceleration
        + ca.cross(link.angular_acceleration, arm)
        + ca.cross(link.angular, ca.cross(link.angular, arm))
    )


def jacobian(tree, q, point):
    """Return J (6, n) with (angular velocity of the link, linear velocity of the point) = J qd."""
    if tree.flexible:
        unit = [
            _at_point(tree, velocities(tree, q, column), point)
            for column in ca.horzsplit(ca.DM.eye(tree.dof))
        ]
        return ca.horzcat(*(ca.vertcat(move.angular, move.linear) for move in unit))
    return slope(tree, poses(tree, q), point)


def slope(tree, frames, point):
    """Return J (6, n) as `jacobian` does, from the poses of all links."""
    _rigid_only(tree, "slope")
    point, parents, rows = _point(tree, point), tree.parents, tree.rows
    k = tree.link_index(point.link)
    place = frames[k][:3, :3] @ ca.DM(point.position) + frames[k][:3, 3]
    columns = [ca.DM.zeros(6)] * tree.dof
    while k >= 0:
        if rows[k] is not None:
            screw, rotation = np.array(tree.joints[k].screw), frames[k][:3, :3]
            turn = rotation @ ca.DM(screw[:3])
            slide = rotation @ ca.DM(screw[3:]) + ca.cross(turn, place - frames[k][:3, 3])
            columns[rows[k]] = ca.vertcat(turn, slide)
        k = parents[k]
    return ca.horzcat(ca.DM(6, 0), *columns)


def wrench_torques(tree, frames, wrench):
    """Return the generalized forces (n,) of a Wrench.

    `frames` are the poses of all links; each joint takes the share along its own axis, z . (M - o x F) for a turn.
    """
    _rigid_only(tree, "wrench_torques")
    k, parents, rows = tree.link_index(wrench.link), tree.parents, tree.rows
    moment, force = wrench.about_origin, wrench.force
    torques = [0] * tree.dof
    while k >= 0:
        if rows[k] is not None:
            screw, rotation = np.array(tree.joints[k].screw), frames[k][:3, :3]
            about = moment - ca.cross(frames[k][:3, 3], force)
            torques[rows[k]] = ca.dot(rotation @ ca.DM(screw[:3]), about) + ca.dot(
                rotation @ ca.DM(screw[3:]), force
            )
        k = parents[k]
    return ca.vertcat(*torques)


def center_of_mass(tree, q):
    """Return the centre of mass (3, m) of the whole tree; raise ValueError if it has no mass."""
    if not any(link.mass for link in tree.links):
        raise ValueError("center_of_mass: the tree has no mass")
    if tree.flexible:
        moments = [
            link.pose @ flexible.first_moment(body, link.terms[0])
            for body, link in zip(tree.links, flexible.moved(tree, q))
        ]
        return sum(moments)[:3] / sum(link.mass for link in tree.links)
    moment = sum(
        link.mass * (pose[:3, :3] @ ca.DM(link.com) + pose[:3, 3])
        for link, pose in zip(tree.links, poses(tree, q))
    )
    return moment / sum(link.mass for link in tree.links)


def momentum(tree, q, qd, about=(0.0, 0.0, 0.0)):
    """Return the angular momentum about a fixed point (3, kg m2/s) and the linear momentum (3, kg m/s)."""
    if tree.flexible:
        return flexible.momentum(tree, q, qd, about)
    angular = linear = ca.DM.zeros(3)
    for link, motion in zip(tree.links, velocities(tree, q, qd)):
        place, speed, spin = _com_motion(link, motion)
        angular = angular + spin + ca.cross(place - ca.DM(about), link.mass * speed)
        linear = linear + link.mass * speed
    return angular, linear


def kinetic_energy(tree, q, qd):
    """Return the kinetic energy (J)."""
    if tree.flexible:
        return flexible.kinetic_energy(tree, q, qd)
    energy = 0
    for link, motion in zip(tree.links, velocities(tree, q, qd)):
        _, speed, spin = _com_motion(link, motion)
        energy += (link.mass * ca.dot(speed, speed) + ca.dot(motion.angular, spin)) / 2
    return energy


def potential_energy(tree, q):
    """Return the potential energy in gravity (J), zero at the global origin, and of bent links."""
    if tree.flexible:
        return flexible.potential_energy(tree, q)
    gravity = ca.DM(tree.gravity)
    return -sum(
        link.mass * ca.dot(gravity, pose[:3, :3] @ ca.DM(link.com) + pose[:3, 3])
        for link, pose in zip(tree.links, poses(tree, q))
    )


def load_power(tree, q, qd, loads):
    """Return the power (W) that the loads feed into the tree."""
    power, moves = 0, velocities(tree, q, qd)
    for load in loads:
        angular = (
            _at_point(tree, moves, load.point).angular
            if tree.flexible
            else moves[tree.link_index(tree.point(load.point).link)].angular
        )
        power += ca.dot(ca.vertcat(*_three(load.force)), speed(tree, moves, load.point))
        power += ca.dot(ca.vertcat(*_three(load.moment)), angular)
    return power


def _bent_motion(frame, rate, acceleration, link):
    """Return the Motion of a frame from its pose, rate and acceleration (4x4)."""
    return Motion(
        rotation=frame[:3, :3],
        origin=frame[:3, 3],
        angular=flexible.turning(rate, frame),
        linear=rate[:3, 3],
        bent=link,
        angular_acceleration=flexible.turning(acceleration, frame),
        linear_acceleration=acceleration[:3, 3],
    )


def _at_point(tree, moves, point):
    """Return the Motion of a point's frame in a tree with flexible links, from the motions of all links."""
    return _bent_motion(*flexible.at_point(tree, [move.bent for move in moves], point), None)


def _rigid_only(tree, what):
    if tree.flexible:
        raise ValueError(
            f"{what}: link {tree.flexible[0]!r} is flexible, and the links' poses do not tell how it bends"
        )


def _three(vector):
    return [vector[0], vector[1], vector[2]]


def _com_motion(link, motion):
    arm = motion.rotation @ ca.DM(link.com)
    spin = motion.rotation @ (ca.DM(np.array(link.inertia)) @ (motion.rotation.T @ motion.angular))
    return motion.origin + arm, motion.linear + ca.cross(motion.angular, arm), spin


def _point(tree, point):
    return point if isinstance(point, Point) else tree.point(point)


def _link_and_arm(tree, moves, point):
    point = _point(tree, point)
    link = moves[tree.link_index(point.link)]
    return link, link.rotation @ ca.DM(point.position)
