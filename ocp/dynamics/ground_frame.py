"""Joints and links of a tree seen from one place in the ground: their frames, twists and
accelerations, as columns.

With the joint's twist S, p the parent, and the parent's twist v_p and acceleration a_p, the
derivatives of S along the motion are  phi = v_p x S,  psi = a_p x S + v_p x phi.  Twists are
(angular, linear) about that place; the base accelerates by -g.
"""

from dataclasses import dataclass

import casadi as ca
import numpy as np

from ocp.dynamics.formulation import aligned
from ocp.mechanics.inertia import regrouped
from ocp.mechanics.parameters import array, matrix, some
from ocp.mechanics.spatial import across, cross, cross_motion
from ocp.mechanics.tree import Tree
from ocp.mechanics.types import Matrix

SX = ca.SX


@dataclass(frozen=True, slots=True, kw_only=True)
class Chain:
    """The moving joints of an aligned tree, in the order of q: index of each one's moving parent
    (-1: ground), the joint that carries each link (-1: ground), homes (4x4), mass, first moment (3)
    and inertia (3x3), and which leading slides need no place."""

    tree: Tree
    parents: tuple[int, ...]
    carriers: tuple[int, ...]
    homes: tuple[np.ndarray, ...]
    inertias: tuple
    still: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Frames:
    """Of every joint, as columns: rotation (3x3 each, a list), origin (3, n), twist S, phi, psi,
    link's twist and acceleration (6, n), all about the place `base` (3) in the ground."""

    base: Matrix
    rotation: tuple[Matrix, ...]
    origin: Matrix
    screw: Matrix
    phi: Matrix
    psi: Matrix
    twist: Matrix
    acceleration: Matrix


def chain_of(tree: Tree) -> Chain:
    """Return the Chain of a tree."""
    tree, _ = aligned(tree)
    parents, rows, inertias = tree.parents, tree.rows, regrouped(tree)
    carriers: list[int] = []
    for k, row in enumerate(rows):
        carriers.append(row if row is not None else carriers[parents[k]] if parents[k] >= 0 else -1)
    moving = [k for k, row in enumerate(rows) if row is not None]
    return Chain(
        tree=tree,
        parents=tuple(carriers[parents[k]] if parents[k] >= 0 else -1 for k in moving),
        carriers=tuple(carriers),
        homes=tuple(array(tree.joints[k].home) for k in moving),
        inertias=tuple(inertias[k] for k in moving),
        still=_leading_slides(tree),
    )


def _leading_slides(tree):
    """Return the links of an unbranched chain of massless slides that starts at the ground: their
    places do not matter."""
    slides, parents = [], tree.parents
    while (
        len(slides) < len(parents)
        and parents[len(slides)] == len(slides) - 1
        and parents.count(len(slides) - 1) == 1
        and tree.joints[len(slides)].kind == "prismatic"
        and (not slides or not some([tree.links[len(slides) - 1].mass]))
    ):
        slides.append(len(slides))
    return tuple(slides)


def ground_frames(chain: Chain, q: Matrix, qd: Matrix, qdd: Matrix) -> Frames:
    """Return the Frames of all joints, about the origin of the last leading slide instead of the
    ground's.

    Any point may serve that is fixed in the ground at the instant; that one spares a floating base
    its offset.
    """
    joints = chain.tree.moving
    base_place, rotation, origin = _places(chain, q)
    axes = ca.horzcat(*(turn[:, 2] for turn in rotation))
    turning = np.tile([joint.kind != "prismatic" for joint in joints], (3, 1)).astype(float)
    sliding = matrix([_slide(joint) for joint in joints]).T
    screw = ca.vertcat(
        axes * ca.DM(turning),
        cross(origin, axes) * ca.DM(turning) + axes * ca.repmat(sliding, 3, 1),
    )
    still, base = SX.zeros(6), ca.vertcat(SX.zeros(3), -SX(matrix(chain.tree.gravity)))
    rates, accelerations = across(qd, 6), across(qdd, 6)
    twist = summed(chain, screw * rates, still)
    before = of_parents(chain, twist, still)
    phi = cross_motion(before, screw)
    acceleration = summed(chain, screw * accelerations + phi * rates, base)
    psi = cross_motion(of_parents(chain, acceleration, base), screw) + cross_motion(before, phi)
    return Frames(
        base=base_place,
        rotation=rotation,
        origin=origin,
        screw=screw,
        phi=phi,
        psi=psi,
        twist=twist,
        acceleration=acceleration,
    )


def _places(chain, q):
    """Return the place (3) of the last leading slide, the rotations (3x3), and the origins (3, n)
    from there."""
    start, rotation, origin = SX.zeros(3), [], []
    cosines, sines, spin = ca.cos(q), ca.sin(q), ca.diagcat(ca.DM.ones(2, 2), 1).sparsity()
    for k, (joint, home) in enumerate(zip(chain.tree.moving, chain.homes)):
        p = chain.parents[k]
        turn, place = (SX.eye(3), SX.zeros(3)) if p < 0 else (rotation[p], origin[p])
        base = turn @ matrix(home[:3, :3])
        if k in chain.still:
            start = start + turn @ matrix(home[:3, 3]) + base[:, 2] * q[k]
            place = SX.zeros(3)
        else:
            place = place + turn @ matrix(home[:3, 3]) if some(home[:3, 3]) else place
            if joint.kind != "revolute":
                place = place + base[:, 2] * (_slide(joint) * q[k])
        if joint.kind != "prismatic":
            base = base @ SX(spin, ca.vertcat(cosines[k], sines[k], -sines[k], cosines[k], 1))
        rotation.append(base)
        origin.append(place)
    return start, tuple(rotation), ca.horzcat(*origin)


def _slide(joint):
    """Return how far a joint's link slides along its axis per unit of its coordinate."""
    return {"prismatic": 1.0, "screw": joint.pitch}.get(joint.kind, 0.0)


def summed(chain: Chain, steps: Matrix, base: Matrix) -> Matrix:
    """Return the sums (m, n) of columns from the ground to every joint, starting with `base`."""
    columns: list[Matrix] = []
    for step, p in zip(ca.horzsplit(steps), chain.parents):
        columns.append(step + (base if p < 0 else columns[p]))
    return ca.horzcat(*columns)


def of_parents(chain: Chain, columns: Matrix, base: Matrix) -> Matrix:
    """Return every joint's parent's column, `base` where that is the ground."""
    split = ca.horzsplit(columns)
    return ca.horzcat(*(base if p < 0 else split[p] for p in chain.parents))


def carried_sums(chain: Chain, columns: Matrix) -> Matrix:
    """Return the sums (m, n) of columns over all that every joint carries, itself included."""
    sums = list(ca.horzsplit(columns))
    for k in reversed(range(len(sums))):
        if chain.parents[k] >= 0:
            sums[chain.parents[k]] = sums[chain.parents[k]] + sums[k]
    return ca.horzcat(*sums)
