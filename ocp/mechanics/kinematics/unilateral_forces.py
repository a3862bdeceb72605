"""Gaps and forces of stays: cables, stops, slots and wires.

Rows (m,) stand stay by stay, the lower bound before the upper one. Of a coordinate q the gaps are
q - lower and upper - q; of a distance d they are

    (d^2 - lower^2) / (2 lower),   (upper^2 - d^2) / (2 upper)

which near the bound are d - lower and upper - d, and smooth where the ends meet; that of a wire is
its length, negative, by whose slope its tension hauls. A force (N, or N m
about a joint that turns) works on its gap: generalized forces are J' force with J the gap's slope,
so that where the gap does not change it does no work. Expressions SX, MX or DM alike.
"""

from collections.abc import Sequence
from itertools import pairwise

import casadi as ca

from ocp.mechanics.kinematics import kinematics
from ocp.mechanics.kinematics.rigid_kinematics import Motion, motions_at_rest
from ocp.mechanics.model.joints import GROUND
from ocp.mechanics.model.loads import Wrench
from ocp.mechanics.model.tree import Tree
from ocp.mechanics.model.unilateral_joints import End, Stay
from ocp.mechanics.values.parameters import matrix
from ocp.mechanics.values.types import Matrix


def stay_labels(tree: Tree) -> tuple[str, ...]:
    """Return the names of the rows: the stay's, and of two sides which."""
    return tuple(
        stay.name if len(stay.sides) == 1 else f"{stay.name}: {side}"
        for stay in tree.stays
        for side in stay.sides
    )


def stay_units(tree: Tree) -> tuple[str, ...]:
    """Return the units of the gaps, m or rad."""
    return tuple(_unit(tree, stay) for stay in tree.stays for _ in stay.sides)


def stay_gaps(tree: Tree, q: Matrix) -> Matrix:
    """Return the gaps (m,) that are left at coordinates q (n,)."""
    return _gaps(tree, kinematics.motions(tree, q), (q,))


def stay_rates(tree: Tree, q: Matrix, qd: Matrix) -> Matrix:
    """Return the rates (m,) at which the gaps open."""
    return _gaps(tree, kinematics.motions(tree, q, qd), (q, qd))


def stay_accelerations(tree: Tree, q: Matrix, qd: Matrix, qdd: Matrix) -> Matrix:
    """Return the second derivatives (m,) of the gaps."""
    return _gaps(tree, kinematics.motions(tree, q, qd, qdd), (q, qd, qdd))


def stay_torques(tree: Tree, moves: Sequence[Motion], forces: Matrix) -> Matrix:
    """Return the generalized forces (n,) of the stays' forces (m,), from the motions of all
    links."""
    torques = ca.DM.zeros(tree.dof)
    for wrench in stay_wrenches(tree, [move.pose for move in moves], forces):
        torques = torques + kinematics.wrench_torques(tree, moves, wrench)
    return torques


def stay_wrenches(tree: Tree, frames: Sequence[Matrix], forces: Matrix) -> tuple[Wrench, ...]:
    """Return the wrenches of the stays' forces (m,) on the links that they join.

    A stop pushes a link and the other way its parent, by a moment about the joint's axis or a force
    along it.
    """
    wrenches: list[Wrench] = []
    sides = ((stay, side) for stay in tree.stays for side in stay.sides)
    for row, (stay, side) in enumerate(sides):
        apart = forces[row] if side == "lower" else -forces[row]
        if stay.path:
            wrenches += _of_path(tree, frames, stay, forces[row])
            continue
        made = _of_joint if stay.joint else _of_distance
        wrenches += made(tree, frames, stay, side, apart)
    return tuple(wrenches)


def _of_joint(
    tree: Tree, frames: Sequence[Matrix], stay: Stay, side: str, push: Matrix
) -> list[Wrench]:
    """Return the wrenches of a push (N or N m) along a joint's coordinate."""
    k = tree.joint_index(stay.joint)
    joint = tree.joints[k]
    turns, none = joint.kind != "prismatic", ca.DM.zeros(3)
    axis = frames[k][:3, :3] @ matrix(joint.screw[:3] if turns else joint.screw[3:])
    place = frames[k][:3, 3]
    given = []
    for link, sign in ((tree.link_names[k], 1), (joint.parent, -1)):
        if link != GROUND:
            force = none if turns else sign * push * axis
            moment = sign * push * axis if turns else ca.cross(place, force)
            given.append(Wrench(link=link, moment=moment, force=force))
    return given


def _of_distance(
    tree: Tree, frames: Sequence[Matrix], stay: Stay, side: str, push: Matrix
) -> list[Wrench]:
    """Return the wrenches of a push (N) that parts the ends of a distance.

    It is as large as the distance over the bound would have it, since that is what the gap's slope
    says.
    """
    places = [_place(tree, frames, which) for which in (stay.start, stay.end)]
    force = push * (places[1] - places[0]) / getattr(stay, side)
    return [
        Wrench(link=tree.point(which).link, moment=ca.cross(place, pushed), force=pushed)
        for which, place, pushed in zip((stay.start, stay.end), places, (-force, force))
        if isinstance(which, str)
    ]


def _of_path(tree: Tree, frames: Sequence[Matrix], stay: Stay, tension: Matrix) -> list[Wrench]:
    """Return the wrenches of a tension (N) on what a path runs over: towards its neighbours."""
    places = [_place(tree, frames, which) for which in stay.path]
    ways = [(end - start) / ca.norm_2(end - start) for start, end in pairwise(places)]
    none, given = ca.DM.zeros(3), []
    for which, place, before, after in zip(stay.path, places, [none, *ways], [*ways, none]):
        if isinstance(which, str):
            force = tension * (after - before)
            link = tree.point(which).link
            given.append(Wrench(link=link, moment=ca.cross(place, force), force=force))
    return given


def _gaps(tree: Tree, moves: Sequence[Motion], coordinates: Sequence[Matrix]) -> Matrix:
    """Return the derivative of the gaps (m,) by time of the order of the last of (q, qd, qdd)."""
    order, rows = len(coordinates) - 1, []
    for stay in tree.stays:
        for side in stay.sides:
            if stay.path:
                rows.append(-_length(tree, moves, stay, order))
                continue
            bound, sign = getattr(stay, side), 1 if side == "lower" else -1
            if stay.joint:
                value, start = coordinates[order][tree.coordinate(stay.joint)], bound
            else:
                value, start = _half_square(tree, moves, stay, order) / bound, bound / 2
            rows.append(sign * (value if order else value - start))
    return ca.vertcat(ca.DM(0, 1), *rows)


def _length(tree: Tree, moves: Sequence[Motion], stay: Stay, order: int) -> Matrix:
    """Return the length of a wire, or its derivative of that order."""
    ends = [_end(tree, moves, which, order) for which in stay.path]
    return sum(_stretch(*(last - first for last, first in zip(*pair))) for pair in pairwise(ends))


def _stretch(r: Matrix, v: Matrix = None, a: Matrix = None) -> Matrix:
    """Return the length of a way r, its rate where a velocity v is known, or its acceleration where
    a is too."""
    if v is None:
        return ca.norm_2(r)
    along = ca.dot(r, v) / ca.norm_2(r)
    if a is None:
        return along
    return (ca.dot(r, a) + ca.sumsqr(v) - along**2) / ca.norm_2(r)


def _half_square(tree: Tree, moves: Sequence[Motion], stay: Stay, order: int) -> Matrix:
    """Return half the square of the distance of a stay's ends, or its derivative of that order."""
    ends = [_end(tree, moves, which, order) for which in (stay.end, stay.start)]
    r, v, a = (*(last - first for last, first in zip(*ends)), None, None)[:3]
    return (
        lambda: ca.sumsqr(r) / 2,
        lambda: ca.dot(r, v),
        lambda: ca.dot(r, a) + ca.sumsqr(v),
    )[order]()


def _end(tree: Tree, moves: Sequence[Motion], which: End, order: int) -> tuple[Matrix, ...]:
    """Return the place of an end, and its velocity and acceleration up to that order."""
    if not isinstance(which, str):
        return (matrix(which), *[ca.DM.zeros(3)] * order)
    move = kinematics.point_motion(tree, moves, which)
    return (move.origin, move.linear, move.linear_acceleration)[: order + 1]


def _place(tree: Tree, frames: Sequence[Matrix], which: End) -> Matrix:
    """Return the place (3, m) of an end."""
    return _end(tree, motions_at_rest(frames), which, 0)[0]


def _unit(tree: Tree, stay: Stay) -> str:
    turns = stay.joint and tree.joints[tree.joint_index(stay.joint)].kind != "prismatic"
    return "rad" if turns else "m"
