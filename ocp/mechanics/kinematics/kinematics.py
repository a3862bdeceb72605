"""Kinematics of rigid and flexible trees: poses, points, Jacobians, momentum, energies.

All vectors are in global axes. `q, qd, qdd` (n,) may be SX, MX, DM or numpy; a point is a name or a
Point of the tree. Rigid and flexible links answer alike: what differs stands in `rigid` and
`flexible`.
"""

from collections.abc import Sequence

import casadi as ca
import numpy as np

from ocp.mechanics.elements.generalized_forces import (
    elastic_energy,
    forces_of,
    has_rotors,
    kinematics_of,
    rotor_energy,
)
from ocp.mechanics.kinematics import rigid_kinematics
from ocp.mechanics.kinematics.rigid_kinematics import Motion
from ocp.mechanics.kinematics.rotations import quaternion, quaternion_product
from ocp.mechanics.model.loads import Load, Wrench
from ocp.mechanics.model.tree import Point, Tree
from ocp.mechanics.values.parameters import any_nonzero, array, matrix, nominal
from ocp.mechanics.values.types import Matrix

SAMPLES = 4  # seeded postures that tell what a tree can feel


def poses(tree: Tree, q: Matrix) -> list[Matrix]:
    """Return the pose (4x4) of every link, of a flexible one at its base."""
    return [move.pose for move in motions(tree, q)]


def motions(tree: Tree, q: Matrix, qd: Matrix = None, qdd: Matrix = None) -> list[Motion]:
    """Return the Motion of every link.

    It is the place alone, with `qd` also velocities, and with `qdd` accelerations.
    """
    return kinematics_of(tree).motions(tree, q, qd, qdd)


def point_motion(tree: Tree, moves: Sequence[Motion], point: str | Point) -> Motion:
    """Return the Motion of the frame at a point, from the `moves` of all links.

    Raises ValueError if it is unknown.
    """
    return kinematics_of(tree).point_motion(tree, moves, _point(tree, point))


def point_position(tree: Tree, moves: Sequence[Motion], point: str | Point) -> Matrix:
    """Return the position (3, m) of a point, from the motions of all links.

    Raises ValueError if it is unknown.
    """
    return kinematics_of(tree).point_position(tree, moves, _point(tree, point))


def position(tree: Tree, q: Matrix, point: str | Point) -> Matrix:
    """Return the position (3, m) of a point."""
    return positions(tree, q, (point,))[0]


def point_slopes(tree: Tree, point: str) -> np.ndarray:
    """Return d position / dq (3, k) of a named point at seeded postures of a tree, side by side,
    with its parameters at their own values: what they span is all that it can feel there."""
    own, q = nominal(tree), ca.SX.sym("q", tree.dof)
    slope = ca.jacobian(position(own, q, point), q)
    draws = np.random.default_rng(0).uniform(-1.0, 1.0, (SAMPLES, tree.dof))
    looks = (ca.evalf(ca.substitute(slope, q, ca.DM(draw))) for draw in draws)
    return np.hstack([np.array(look) for look in looks])


def positions(tree: Tree, q: Matrix, points: Sequence[str | Point]) -> list[Matrix]:
    """Return the positions (3, m) of several points."""
    known = [_point(tree, point) for point in points]
    if tree.flexible:
        moves = motions(tree, q)
    else:
        between = {k for point in known for k in _toward_ground(tree, tree.link_index(point.link))}
        moves = rigid_kinematics.motions(tree, q, only=between)
    return [point_motion(tree, moves, point).origin for point in known]


def point_named(tree: Tree, name: str | Point) -> Point:
    """Return the Point of that name, or the origin of the link that has it.

    Raises ValueError listing the points if there is neither.
    """
    known = {point.name for point in tree.points}
    if isinstance(name, Point) or name in known or name not in tree.link_names:
        return _point(tree, name)
    return Point(name=name, link=name)


def orientation(tree: Tree, q: Matrix, point: str | Point) -> Matrix:
    """Return the unit quaternion (4,), scalar first, of the axes at a point, all links rigid.

    It is the product of those of the joints, by their half angles or a ball's own quaternion, and
    so smooth in q however far these turn: after a full turn it has the other sign. Raises
    ValueError as `point_named` does.
    """
    _rigid_only(tree, "orientation")
    turn: Matrix = ca.DM([1, 0, 0, 0])
    for k in reversed(_toward_ground(tree, tree.link_index(point_named(tree, point).link))):
        joint, place = tree.joints[k], rigid_kinematics.joint_coordinate(tree, k, q)
        turn = quaternion_product(turn, quaternion(matrix(array(joint.home)[:3, :3])))
        if joint.ball:
            turn = quaternion_product(turn, place / ca.norm_2(place))
        elif place is not None and any_nonzero(joint.screw[:3]):
            axis = matrix(joint.screw[:3])
            turn = quaternion_product(turn, ca.vertcat(ca.cos(place / 2), ca.sin(place / 2) * axis))
    return turn


def velocity(tree: Tree, q: Matrix, qd: Matrix, point: str | Point) -> Matrix:
    """Return the velocity (3, m/s) of a point."""
    return point_motion(tree, motions(tree, q, qd), point).linear


def acceleration(tree: Tree, q: Matrix, qd: Matrix, qdd: Matrix, point: str | Point) -> Matrix:
    """Return the acceleration (3, m/s2) of a point, gravity not included."""
    return point_motion(tree, motions(tree, q, qd, qdd), point).linear_acceleration


def jacobian(tree: Tree, q: Matrix, point: str | Point) -> Matrix:
    """Return J (6, n) with (angular velocity of the link, linear velocity of the point) = J qd."""
    return kinematics_of(tree).jacobian(tree, q, _point(tree, point))


def jacobian_at(tree: Tree, moves: Sequence[Motion], point: str | Point) -> Matrix:
    """Return J (6, n) of a point as `jacobian` does, from the `moves` of all links, all rigid."""
    _rigid_only(tree, "jacobian_at")
    return rigid_kinematics.jacobian_at(tree, moves, _point(tree, point))


def offset(tree: Tree, q: Matrix, start: str | Point, end: str | Point) -> Matrix:
    """Return the vector (3, m) from `start` to `end` in the axes of the last link with both.

    That link's own motion does not matter to it. Raises ValueError for trees with flexible links.
    """
    _rigid_only(tree, "offset")
    ends = [_point(tree, point) for point in (start, end)]
    chains = [_toward_ground(tree, tree.link_index(point.link)) for point in ends]
    first, last = (
        _in_common_axes(tree, q, point, chain, other)
        for point, chain, other in zip(ends, chains, reversed(chains))
    )
    return last - first


def _toward_ground(tree: Tree, k: int) -> list[int]:
    """Return the links from k to the ground."""
    chain, parents = [], tree.parents
    while k >= 0:
        chain.append(k)
        k = parents[k]
    return chain


def _in_common_axes(
    tree: Tree, q: Matrix, point: Point, chain: Sequence[int], other: Sequence[int]
) -> Matrix:
    """Return a point's place (3) in the first link of its chain that another chain shares, or on
    the ground."""
    place = matrix(point.position)
    for k in chain:
        if k in other:
            break
        turn, shift = rigid_kinematics.link_in_parent(tree, k, q)
        place = turn @ place + shift
    return place


def wrench_torques(tree: Tree, moves: Sequence[Motion], wrench: Wrench) -> Matrix:
    """Return the generalized forces (n,), N m or N, of a Wrench.

    `moves` are the motions of all links; each joint takes the share along its own axis, for a turn
    z . (M - o x F). Raises ValueError for trees with flexible links.
    """
    _rigid_only(tree, "wrench_torques")
    moment, force = wrench.about_origin, wrench.force
    torques: list[Matrix] = [0] * tree.dof
    spans = tree.spans
    for k in _toward_ground(tree, tree.link_index(wrench.link)):
        if not spans[k]:
            continue
        about = moment - ca.cross(moves[k].origin, force)
        for row, (turn, slide) in zip(
            spans[k], rigid_kinematics.joint_axes(tree.joints[k], moves[k])
        ):
            share = ca.dot(turn, about) + ca.dot(slide, force)
            torques[row] = torques[row] + share if tree.mapped else share
    return ca.vertcat(*torques)


def wrench_power(tree: Tree, moves: Sequence[Motion], wrench: Wrench) -> Matrix:
    """Return the power (W) of a Wrench on its link, whose motion is among the `moves` of all.

    Raises ValueError for trees with flexible links.
    """
    _rigid_only(tree, "wrench_power")
    move = moves[tree.link_index(wrench.link)]
    moment = wrench.about_origin - ca.cross(move.origin, wrench.force)
    return ca.dot(wrench.force, move.linear) + ca.dot(moment, move.angular)


def center_of_mass(tree: Tree, q: Matrix) -> Matrix:
    """Return the centre of mass (3, m) of the whole tree; raise ValueError if it has no mass."""
    mass = sum(link.mass for link in tree.links)
    if not any_nonzero([mass]):
        raise ValueError("center_of_mass: the tree has no mass")
    return kinematics_of(tree).first_moment(tree, q) / mass


def momentum(
    tree: Tree, q: Matrix, qd: Matrix, about: Sequence[float] = (0.0, 0.0, 0.0)
) -> tuple[Matrix, Matrix]:
    """Return angular momentum about a fixed point and linear momentum (3 each).

    They are in kg m2/s and kg m/s.
    """
    return kinematics_of(tree).momentum(tree, q, qd, about)


def angular_momentum(tree: Tree, q: Matrix, qd: Matrix) -> Matrix:
    """Return the angular momentum (3, kg m2/s) about the centre of mass, in global axes, without
    what rotors of drives have: the angular part of the centroidal momentum (Orin & Goswami 2008).

    Raises ValueError if the tree has no mass.
    """
    angular, linear = momentum(tree, q, qd)
    return angular - ca.cross(center_of_mass(tree, q), linear)


def kinetic_energy(tree: Tree, q: Matrix, qd: Matrix) -> Matrix:
    """Return the kinetic energy (J) of the links, and of rotors that turn with their joints."""
    energy = kinematics_of(tree).kinetic_energy(tree, q, qd)
    return energy + rotor_energy(tree, qd) if has_rotors(tree) else energy


def potential_energy(tree: Tree, q: Matrix) -> Matrix:
    """Return the potential energy in gravity (J), zero at the global origin, and what bent links
    and force elements store."""
    energy = kinematics_of(tree).potential_energy(tree, q)
    return energy + elastic_energy(tree, q) if forces_of(tree) else energy


def load_power(tree: Tree, q: Matrix, qd: Matrix, loads: Sequence[Load]) -> Matrix:
    """Return the power (W) that the loads, which are no functions of time, feed into the tree."""
    power: Matrix = 0
    moves = motions(tree, q, qd)
    for load in loads:
        move = point_motion(tree, moves, load.point)
        power += ca.dot(ca.vertcat(*_three(load.force)), move.linear)
        power += ca.dot(ca.vertcat(*_three(load.moment)), move.angular)
    return power


def _rigid_only(tree: Tree, what: str) -> None:
    if tree.flexible:
        raise ValueError(
            f"{what}: link {tree.flexible[0]!r} is flexible, and the links' poses do not tell "
            "how it bends"
        )


def _three(vector: Matrix) -> list[Matrix]:
    return [vector[0], vector[1], vector[2]]


def _point(tree: Tree, point: str | Point) -> Point:
    return point if isinstance(point, Point) else tree.point(point)
