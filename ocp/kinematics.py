"""Where the links are and how they move: poses, points, Jacobians, centre of mass, momentum, energies.

All vectors are in global axes. `q, qd, qdd` (n,) may be SX, MX, DM or numpy; a point is a name or a Point of the tree.
"""
from dataclasses import dataclass, replace

import casadi as ca
import numpy as np

from ocp.spatial import exp_screw
from ocp.tree import Point, outward


def joint_pose(joint, q):
    """Return the pose (4x4) of the joint's link in its parent: home @ exp([screw] q); `q` is ignored by a fixed joint."""
    home = ca.DM(np.array(joint.home))
    return home if joint.screw is None else home @ exp_screw(joint.screw, q)


def poses(tree, q):
    """Return the pose (4x4) of every link."""
    rows = tree.rows

    def pose(k, parent):
        return parent @ joint_pose(tree.joints[k], None if rows[k] is None else q[rows[k]])

    return outward(tree, pose, ca.DM.eye(4))


@dataclass(frozen=True, slots=True, kw_only=True)
class Motion:
    """A link's motion: rotation (3x3), origin (3), angular and linear velocity and acceleration (3) of the frame at its origin."""

    rotation: object
    origin: object
    angular: object
    linear: object
    angular_acceleration: object
    linear_acceleration: object


def motions(tree, q, qd, qdd=None):
    """Return the Motion of every link; without `qdd` the accelerations are those of qdd = 0."""
    rows, zero = tree.rows, ca.DM.zeros(3)
    root = Motion(rotation=ca.DM.eye(3), origin=zero, angular=zero, linear=zero, angular_acceleration=zero, linear_acceleration=zero)

    def move(k, p):
        joint, row = tree.joints[k], rows[k]
        local = joint_pose(joint, None if row is None else q[row])
        rotation, arm = p.rotation @ local[:3, :3], p.rotation @ local[:3, 3]
        if row is None:
            return replace(
                p, rotation=rotation, origin=p.origin + arm, linear=p.linear + ca.cross(p.angular, arm),
                linear_acceleration=p.linear_acceleration + ca.cross(p.angular_acceleration, arm)
                + ca.cross(p.angular, ca.cross(p.angular, arm)))
        rate, acceleration, screw = qd[row], 0 if qdd is None else qdd[row], np.array(joint.screw)
        turn, slide = rotation @ ca.DM(screw[:3]), rotation @ ca.DM(screw[3:])
        return Motion(
            rotation=rotation, origin=p.origin + arm,
            angular=p.angular + turn * rate,
            linear=p.linear + ca.cross(p.angular, arm) + slide * rate,
            angular_acceleration=p.angular_acceleration + turn * acceleration + ca.cross(p.angular, turn) * rate,
            linear_acceleration=p.linear_acceleration + ca.cross(p.angular_acceleration, arm)
            + ca.cross(p.angular, ca.cross(p.angular, arm)) + slide * acceleration
            + ca.cross(2 * p.angular + turn * rate, slide) * rate,
        )

    return outward(tree, move, root)


def position(tree, q, point):
    """Return the position (3, m) of a point."""
    return place(tree, poses(tree, q), point)


def place(tree, frames, point):
    """Return the position (3, m) of a point, from the poses of all links."""
    point = _point(tree, point)
    frame = frames[tree.link_index(point.link)]
    return frame[:3, :3] @ ca.DM(point.position) + frame[:3, 3]


def offset(tree, q, start, end):
    """Return the vector (3, m) between two points in the axes of the last link that carries both, whose own motion does not matter to it."""
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
    return speed(tree, motions(tree, q, qd), point)


def speed(tree, moves, point):
    """Return the velocity (3, m/s) of a point, from the motions of all links."""
    link, arm = _link_and_arm(tree, moves, point)
    return link.linear + ca.cross(link.angular, arm)


def acceleration(tree, q, qd, qdd, point):
    """Return the acceleration (3, m/s2) of a point, gravity not included."""
    link, arm = _link_and_arm(tree, motions(tree, q, qd, qdd), point)
    return link.linear_acceleration + ca.cross(link.angular_acceleration, arm) + ca.cross(link.angular, ca.cross(link.angular, arm))


def jacobian(tree, q, point):
    """Return J (6, n) with (angular velocity of the link, linear velocity of the point) = J qd."""
    point, frames, parents, rows = _point(tree, point), poses(tree, q), tree.parents, tree.rows
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


def wrench_torques(tree, frames, link, moment, force):
    """Return the generalized forces (n,) of a wrench on the named link: moment about the global origin (3, N m) and force (3, N).

    `frames` are the poses of all links; each joint takes the share along its own axis, z . (M - o x F) for a turn.
    """
    k, parents, rows = tree.link_index(link), tree.parents, tree.rows
    torques = [0] * tree.dof
    while k >= 0:
        if rows[k] is not None:
            screw, rotation = np.array(tree.joints[k].screw), frames[k][:3, :3]
            about = moment - ca.cross(frames[k][:3, 3], force)
            torques[rows[k]] = ca.dot(rotation @ ca.DM(screw[:3]), about) + ca.dot(rotation @ ca.DM(screw[3:]), force)
        k = parents[k]
    return ca.vertcat(*torques)


def center_of_mass(tree, q):
    """Return the centre of mass (3, m) of the whole tree; raise ValueError if it has no mass."""
    if not any(link.mass for link in tree.links):
        raise ValueError("center_of_mass: the tree has no mass")
    moment = sum(link.mass * (pose[:3, :3] @ ca.DM(link.com) + pose[:3, 3]) for link, pose in zip(tree.links, poses(tree, q)))
    return moment / sum(link.mass for link in tree.links)


def momentum(tree, q, qd, about=(0.0, 0.0, 0.0)):
    """Return the angular momentum about a fixed point (3, kg m2/s) and the linear momentum (3, kg m/s)."""
    angular = linear = ca.DM.zeros(3)
    for link, motion in zip(tree.links, motions(tree, q, qd)):
        place, speed, spin = _com_motion(link, motion)
        angular = angular + spin + ca.cross(place - ca.DM(about), link.mass * speed)
        linear = linear + link.mass * speed
    return angular, linear


def kinetic_energy(tree, q, qd):
    """Return the kinetic energy (J)."""
    energy = 0
    for link, motion in zip(tree.links, motions(tree, q, qd)):
        _, speed, spin = _com_motion(link, motion)
        energy += (link.mass * ca.dot(speed, speed) + ca.dot(motion.angular, spin)) / 2
    return energy


def potential_energy(tree, q):
    """Return the potential energy in gravity (J), zero at the global origin."""
    gravity = ca.DM(tree.gravity)
    return -sum(link.mass * ca.dot(gravity, pose[:3, :3] @ ca.DM(link.com) + pose[:3, 3])
                for link, pose in zip(tree.links, poses(tree, q)))


def load_power(tree, q, qd, loads):
    """Return the power (W) that the loads feed into the tree."""
    power, moves = 0, motions(tree, q, qd)
    for load in loads:
        link, arm = _link_and_arm(tree, moves, load.point)
        power += ca.dot(ca.vertcat(*_three(load.force)), link.linear + ca.cross(link.angular, arm))
        power += ca.dot(ca.vertcat(*_three(load.moment)), link.angular)
    return power


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
