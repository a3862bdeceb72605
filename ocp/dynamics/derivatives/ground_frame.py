"""Frames, twists and accelerations of a tree about one place in the ground, joint by joint as
columns.

With the joint's twist S, p the parent, and the parent's twist v_p and acceleration a_p, the
derivatives of S along the motion are  phi = v_p x S,  psi = a_p x S + v_p x phi.  Twists are
(angular, linear) about that place; the base accelerates by -g.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import casadi as ca
import numpy as np

from ocp.dynamics.formulation_record import align_frames
from ocp.mechanics.kinematics.spatial import cross, repeat_rows
from ocp.mechanics.model.inertia import merge_fixed_links, regroup_inertias, without_noise
from ocp.mechanics.model.joints import Joint
from ocp.mechanics.model.tree import Tree
from ocp.mechanics.values.memoize import memoize
from ocp.mechanics.values.parameters import Number, any_nonzero, array, is_open, matrix
from ocp.mechanics.values.types import Matrix
from ocp.mechanics.values.validation import nominal_array

SX = ca.SX


@dataclass(frozen=True, slots=True, kw_only=True)
class Body:
    """Something that moves: the joint that carries it, mass, first moment (3) and second moment
    (3x3, integral of r r') about a place (3) of the joint's frame."""

    carrier: int
    place: np.ndarray
    mass: float
    first: np.ndarray
    second: np.ndarray


@dataclass(frozen=True, slots=True, kw_only=True)
class Chain:
    """The moving joints of an aligned tree, in the order of q.

    Fields: index of each one's moving parent (-1: ground), the joint that carries each link (-1:
    ground), homes (4x4), which leading slides need no place, and what moves.
    """

    tree: Tree
    parents: tuple[int, ...]
    carriers: tuple[int, ...]
    homes: tuple[np.ndarray, ...]
    still: tuple[int, ...]
    bodies: tuple[Body, ...]

    @property
    def alike(self) -> tuple[int, ...]:
        """The last joint outward that carries the same bodies, of every joint."""
        owners = {body.carrier for body in self.bodies}
        last: list[int] = list(range(len(self.parents)))
        for k in reversed(last[:]):
            children = [child for child, p in enumerate(self.parents) if p == k]
            if len(children) == 1 and k not in owners:
                last[k] = last[children[0]]
        return tuple(last)


@dataclass(frozen=True, slots=True, kw_only=True)
class Frames:
    """Frames of all joints, as columns, about the place `base` (3) in the ground.

    Fields: rotations (3x3 each), origins (3, n), twists S, phi, psi (6, n); of the links, at these
    origins, angular and linear velocity and acceleration (3, n each), the base accelerating by -g;
    `centers` (9, n): the origins, with velocity and acceleration of the parents' points there.
    """

    base: Matrix
    rotation: tuple[Matrix, ...]
    origin: Matrix
    screw: Matrix
    phi: Matrix
    psi: Matrix
    angular: Matrix
    linear: Matrix
    angular_acceleration: Matrix
    linear_acceleration: Matrix
    centers: Matrix


@lru_cache(maxsize=16)
def chain_of(tree: Tree, regroup: bool = False) -> Chain:
    """Return the Chain of a tree, its bodies with their own masses or regrouped.

    Regrouped, revolute joints carry no mass, but there are more bodies.
    """
    tree, _ = align_frames(tree)
    carriers: list[int] = []
    for row, p in zip(tree.rows, tree.parents):
        carriers.append(row if row is not None else carriers[p] if p >= 0 else -1)
    moving = [k for k, row in enumerate(tree.rows) if row is not None]
    above = (tree.parents[k] for k in moving)
    return Chain(
        tree=tree,
        parents=tuple(carriers[p] if p >= 0 else -1 for p in above),
        carriers=tuple(carriers),
        homes=tuple(array(tree.joints[k].home) for k in moving),
        still=_leading_slides(tree),
        bodies=tuple(_bodies(carriers, (regroup_inertias if regroup else merge_fixed_links)(tree))),
    )


def _bodies(
    carriers: Sequence[int], inertias: Iterable[tuple[float, np.ndarray, np.ndarray]]
) -> Iterator[Body]:
    """Yield the Body of every link that moves and has one, and of the first joint's in any case:
    about its centre of mass, or about its origin if no mass is left there."""
    for carrier, (mass, first, second) in zip(carriers, inertias):
        if carrier < 0 or (carrier and not any_nonzero([mass, *first, *second.ravel()])):
            continue
        place = np.zeros(3)
        if any_nonzero([mass]):
            own, size = nominal_array(array([mass]))[0] or 1.0, np.trace(nominal_array(second))
            place = without_noise(nominal_array(first) / own, np.sqrt(size / own))
            arm = np.outer(first, place)
            second = second - arm - arm.T + mass * np.outer(place, place)
            second = without_noise(second, size)
            first = first - mass * place
            first = first if is_open(first) else np.zeros(3)
        yield Body(carrier=carrier, place=place, mass=mass, first=first, second=second)


def _leading_slides(tree: Tree) -> tuple[int, ...]:
    """Return the links of an unbranched chain of massless slides that starts at the ground: their
    places do not matter."""
    slides: list[int] = []
    parents = tree.parents
    while (
        len(slides) < len(parents)
        and parents[len(slides)] == len(slides) - 1
        and parents.count(len(slides) - 1) == 1
        and tree.joints[len(slides)].kind == "prismatic"
        and (not slides or not any_nonzero([tree.links[len(slides) - 1].mass]))
    ):
        slides.append(len(slides))
    return tuple(slides)


@memoize(4)
def ground_frames(chain: Chain, q: Matrix, qd: Matrix, qdd: Matrix) -> Frames:
    """Return the Frames of all joints, about the origin of the last leading slide instead of the
    ground's.

    A point may serve that is fixed in the ground at the instant; that one spares a floating base
    its offset. With w and dw of the parent, and u and a of its point at the joint's origin p, the
    parts of a turn's phi and psi are

        w x z   and   u x z + p x (w x z)
        x = dw x z + w x (w x z)   and   a x z + 2 u x (w x z) + p x x
    """
    joints = chain.tree.moving
    base_place, rotation, origin, steps = _places(chain, q)
    axes = ca.horzcat(*(turn[:, 2] for turn in rotation))
    turning = ca.DM(np.tile([joint.kind != "prismatic" for joint in joints], (3, 1)).astype(float))
    sliding = ca.repmat(matrix([_slide(joint) for joint in joints]).T, 3, 1)
    rates, still = repeat_rows(qd, 3), SX.zeros(3)
    angular = path_sums(chain, axes * rates * turning, still)
    before = parent_columns(chain, angular, still)
    turned, swept = cross(before, axes), cross(before, steps)
    pushed = axes * repeat_rows(qdd, 3)
    swing = path_sums(chain, (pushed + turned * rates) * turning, still)
    swing_before = parent_columns(chain, swing, still)
    bent = cross(swing_before, axes) + cross(before, turned)
    slides = axes * rates * sliding, (pushed + 2 * turned * rates) * sliding
    linear = path_sums(chain, swept + slides[0], still)
    pull = cross(swing_before, steps) + cross(before, swept) + slides[1]
    pull = path_sums(chain, pull, -SX(matrix(chain.tree.gravity)))
    u, a = linear - slides[0], pull - slides[1]
    moved = cross(u, axes) + cross(origin, turned)
    moved_on = cross(a, axes) + cross(2 * u, turned) + cross(origin, bent)
    return Frames(
        base=base_place,
        rotation=rotation,
        origin=origin,
        screw=ca.vertcat(axes * turning, cross(origin, axes) * turning + axes * sliding),
        phi=ca.vertcat(turned * turning, moved * turning + turned * sliding),
        psi=ca.vertcat(bent * turning, moved_on * turning + bent * sliding),
        angular=angular,
        linear=linear,
        angular_acceleration=swing,
        linear_acceleration=pull,
        centers=ca.densify(ca.vertcat(origin, u, a)),
    )


def _without_minus(matrix: Matrix) -> Matrix:
    """Return a dense matrix with y - x for -(x - y), and half of -2 x for other -x.

    A minus would move on through all products with it, and cost an instruction in each.
    """

    def affirm(entry: Matrix) -> Matrix:
        if entry.op() != ca.OP_NEG:
            return entry
        opposite = entry.dep(0)
        if opposite.op() == ca.OP_SUB:
            return opposite.dep(1) - opposite.dep(0)
        return -2 * opposite / 2

    return ca.reshape(ca.vertcat(*map(affirm, ca.densify(matrix).nonzeros())), *matrix.shape)


def _places(chain: Chain, q: Matrix) -> tuple[Matrix, tuple[Matrix, ...], Matrix, Matrix]:
    """Return the place (3) of the last leading slide, the rotations (3x3), the origins (3, n) from
    there, and the ways (3, n) to them from those of the parents."""
    start = SX.zeros(3)
    rotation: list[Matrix] = []
    origin: list[Matrix] = []
    steps: list[Matrix] = []
    spin = ca.diagcat(ca.DM.ones(2, 2), 1).sparsity()
    cosines: Matrix = ca.cos(q)
    sines: Matrix = ca.sin(q)
    for k, (joint, home) in enumerate(zip(chain.tree.moving, chain.homes)):
        p = chain.parents[k]
        turn, place = (SX.eye(3), SX.zeros(3)) if p < 0 else (rotation[p], origin[p])
        base, step = _without_minus(turn @ matrix(home[:3, :3])), SX.zeros(3)
        if k in chain.still:
            start = start + turn @ matrix(home[:3, 3]) + base[:, 2] * q[k]
            place = SX.zeros(3)
        else:
            step = turn @ matrix(home[:3, 3]) if any_nonzero(home[:3, 3]) else step
            if joint.kind != "revolute":
                step = step + base[:, 2] * (_slide(joint) * q[k])
            place = place + step
        if joint.kind != "prismatic":
            base = base @ SX(spin, ca.vertcat(cosines[k], sines[k], -sines[k], cosines[k], 1))
        rotation.append(base)
        origin.append(place)
        steps.append(step)
    return start, tuple(rotation), ca.horzcat(*origin), ca.horzcat(*steps)


def _slide(joint: Joint) -> Number:
    """Return the slide of a joint's link along its axis per unit of its coordinate."""
    return {"prismatic": 1.0, "screw": joint.pitch}.get(joint.kind, 0.0)


def path_sums(chain: Chain, steps: Matrix, base: Matrix) -> Matrix:
    """Return the sums (m, n) of columns from the ground to every joint, starting with `base`."""
    columns: list[Matrix] = []
    for step, p in zip(ca.horzsplit(steps), chain.parents):
        columns.append(step + (base if p < 0 else columns[p]))
    return ca.horzcat(*columns)


def parent_columns(chain: Chain, columns: Matrix, base: Matrix) -> Matrix:
    """Return every joint's parent's column, `base` where that is the ground."""
    split = ca.horzsplit(columns)
    return ca.horzcat(*(base if p < 0 else split[p] for p in chain.parents))


def body_columns(chain: Chain, columns: Matrix) -> Matrix:
    """Return the column of the joint that carries it for everything that has mass."""
    return columns[:, [body.carrier for body in chain.bodies]]


def carried_sums(chain: Chain, columns: Matrix) -> Matrix:
    """Return the sums (m, n) over all that every joint carries of columns (m, bodies)."""
    sums = [SX.zeros(columns.shape[0])] * len(chain.parents)
    for body, column in zip(chain.bodies, ca.horzsplit(columns)):
        sums[body.carrier] = sums[body.carrier] + column
    for k, p in reversed(list(enumerate(chain.parents))):
        if p >= 0:
            sums[p] = sums[p] + sums[k]
    return ca.horzcat(*sums)
