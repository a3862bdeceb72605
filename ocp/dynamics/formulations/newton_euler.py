"""Recursive Newton-Euler dynamics in moving link frames, with the forces and moments inside the
joints.

Follows Barman (2020), chapter III, steps 1-10, on frames laid as Denavit and Hartenberg lay them
(`align_frames`) and with each link's inertia as mass m, first moment h = m c and pseudo-inertia P
about the frame's origin. With U = [dw] + [w][w] the inertial force and moment are

    m a + U h   and   h x a + I dw + w x I w

which is less work than moving both to the centre of mass. Gravity is an acceleration of the base,
which makes a resting link carry its weight (sign of Barman's eq. 3.67).
"""

from collections.abc import Callable, Iterable, Sequence
from operator import add, mul, sub
from typing import Protocol, TypeAlias

import casadi as ca
import numpy as np

from ocp.dynamics.derivatives.composite_bodies import COMPOSITE
from ocp.dynamics.formulation_record import Formulation, align_frames
from ocp.dynamics.signatures import Loads, Reactions
from ocp.mechanics.kinematics.spatial import euler_zxz
from ocp.mechanics.model.inertia import mass_moments, regroup_inertias
from ocp.mechanics.model.loads import applied_loads
from ocp.mechanics.model.tree import Tree, inward, outward
from ocp.mechanics.values.parameters import Open, any_nonzero, array, is_open, matrix
from ocp.mechanics.values.types import Matrix

# Lists of entries are several times faster to compute with than CasADi's matrices: a number that is
# 0 or 1 never reaches the graph.
Scalar: TypeAlias = Matrix | float
Vector: TypeAlias = Sequence[Scalar]
Wrench: TypeAlias = tuple[Vector, Vector]  # moment, force
Inertia: TypeAlias = tuple[Scalar, Vector, Sequence[Vector]]  # m, h, P
Plane: TypeAlias = tuple[Scalar, Scalar]  # cosine, sine
Lean: TypeAlias = tuple[Plane, Plane] | list[Vector]  # beta and alpha, or a rotation (3x3)


class Turns(Protocol):
    """Rotations R and offsets p from every link to its parent."""

    def to_child(self, k: int, v: Vector) -> Vector:
        """Return R'v."""
        ...

    def to_parent(self, k: int, v: Vector) -> Vector:
        """Return R v."""
        ...

    def offset(self, k: int) -> Vector:
        """Return the position (3) of link k's origin in its parent's frame."""
        ...


def inverse(tree: Tree, q: Matrix, qd: Matrix, qdd: Matrix, loads: Loads = ()) -> Matrix:
    """Return the joint torques (N m) or forces (N), (n,).

        outward:  w = R'w_p + z qd,  dw = R'dw_p + R'w_p x z qd + z qdd
                  a = R'(a_p + U_p p)                                       (steps 2-8)
        inward:   f = m a + U h - F + R_c f_c
                  n = h x a + I dw + w x I w - M + R_c n_c + p_c x R_c f_c  (step 9)
        tau = z.n for a joint that turns, z.f for one that slides,
              z.n + pitch z.f for a screw                                   (step 10)

    The steps are those of Barman (2020), chapter III.
    """
    tree, _ = align_frames(tree)
    turns = _JointTurns(tree, q)
    external = _external(tree, turns, loads) if loads else {}
    wrenches = joint_wrenches(tree, turns, qd, qdd, external, _entries(regroup_inertias(tree)))
    torques = []
    for joint, (moment, force) in zip(tree.joints, wrenches):
        if joint.kind == "prismatic":
            torques.append(force[2])
        elif joint.screw is not None:
            torques.append(moment[2] + _scalar(joint.pitch) * force[2])
    return ca.vertcat(*torques)


def reactions(tree: Tree, q: Matrix, qd: Matrix, qdd: Matrix, loads: Loads = ()) -> Reactions:
    """Return the moment and the force that each joint passes to its link, (3, links) each.

    They are in N m and N, in the axes of the link's frame. The moment is about the joint's
    `anchor`. Their components along the joint's axis are the joint torque or force itself.
    """
    better, frames = align_frames(tree)
    turns = _JointTurns(better, q)
    external, inertias = _external(better, turns, loads), _entries(map(mass_moments, better.links))
    wrenches = joint_wrenches(better, turns, qd, qdd, external, inertias)
    moments, forces = [], []
    for joint, frame, (inner_moment, inner_force) in zip(tree.joints, frames, wrenches):
        rotation, arm = matrix(array(frame)[:3, :3]), matrix(array(frame)[:3, 3] - joint.anchor)
        force = rotation @ ca.vertcat(*inner_force)
        forces.append(force)
        moments.append(rotation @ ca.vertcat(*inner_moment) + ca.cross(arm, force))
    return ca.horzcat(*moments), ca.horzcat(*forces)


def joint_wrenches(
    tree: Tree,
    turns: Turns,
    qd: Matrix,
    qdd: Matrix,
    external: dict[int, Wrench],
    inertias: Sequence[Inertia],
) -> list[Wrench]:
    """Return (moment, force) through every joint, in and about its link's aligned frame.

    Args:
        turns: rotations and offsets at q.
        external: {link: moment and force on it, in and about its frame}.
        inertias: of every link mass, first moment (3) and pseudo-inertia (3x3).
    """

    def motion(k: int, parent: tuple) -> tuple:
        w, dw, bend, a = parent
        joint, row = tree.joints[k], tree.rows[k]
        if row is None:  # an aligned fixed link shares its parent's frame, except on the ground
            return parent
        w, dw = turns.to_child(k, w), turns.to_child(k, dw)
        a = turns.to_child(k, _add(a, _times(bend, turns.offset(k))))
        slide = 1.0 if joint.kind == "prismatic" else _scalar(joint.pitch)
        if any_nonzero([slide]):
            swept = [_product(w[1], 2 * slide * qd[row]), -_product(w[0], 2 * slide * qd[row])]
            a = _add(a, [*swept, _product(slide, qdd[row])])
        if joint.kind != "prismatic":
            dw = _add(dw, [_product(w[1], qd[row]), -_product(w[0], qd[row]), qdd[row]])
            w = [w[0], w[1], _sum(w[2], qd[row])]
        return w, dw, _bend(w, dw), a

    def wrench(k: int, children: list) -> Wrench:
        w, dw, bend, a = moves[k]
        mass, first, second = inertias[k]
        force = _add([_product(mass, value) for value in a], _times(bend, first))
        moment = _add(_inertial_moment(bend, w, dw, second), _cross(first, a))
        if k in external:
            moment = _subtract(moment, external[k][0])
            force = _subtract(force, external[k][1])
        for child, (inner_moment, inner_force) in children:
            inner_force = turns.to_parent(child, inner_force)
            inner_moment = turns.to_parent(child, inner_moment)
            force = _add(force, inner_force)
            moment = _add(moment, _add(inner_moment, _cross(turns.offset(child), inner_force)))
        return moment, force

    base = [0.0] * 3, [0.0] * 3, [[0.0] * 3] * 3, [-_scalar(g) for g in tree.gravity]
    moves = outward(tree, motion, base)
    return inward(tree, wrench)


def _entries(inertias: Iterable[tuple]) -> list[Inertia]:
    """Return masses, first moments and pseudo-inertias as lists of entries."""
    return [
        (
            _scalar(mass),
            [_scalar(entry) for entry in first.tolist()],
            [[_scalar(entry) for entry in row] for row in second.tolist()],
        )
        for mass, first, second in inertias
    ]


def _external(tree: Tree, turns: "_JointTurns", loads: Loads) -> dict[int, Wrench]:
    """Return {link: (moment, force)} of all loads on a link, in and about its frame.

    Barman (2020), eqs. 3.84-3.90.
    """
    external: dict[int, Wrench] = {}
    for k, arm, moment, force in applied_loads(tree, loads):
        moment, force = turns.from_ground(k, moment), turns.from_ground(k, force)
        moment = _add(moment, _cross([_scalar(entry) for entry in arm.tolist()], force))
        if k in external:
            moment, force = _add(moment, external[k][0]), _add(force, external[k][1])
        external[k] = moment, force
    return external


class _JointTurns:
    """The rotation Rz(beta) Rx(alpha) Rz(phi + q) and the offset of each joint of an aligned tree
    at the coordinates q."""

    def __init__(self, tree: Tree, q: Matrix) -> None:
        self.parents = tree.parents
        self.planes: list[tuple[Lean, Plane]] = []
        self.offsets: list[list[Scalar]] = []
        for joint, row in zip(tree.joints, tree.rows):
            home = array(joint.home)
            lean: Lean = [[_scalar(entry) for entry in row] for row in home[:3, :3].tolist()]
            phi = 0.0  # an open rotation stays whole, others are turns before that by q about z
            if not is_open(home[:3, :3]):
                beta, alpha, phi = euler_zxz(home[:3, :3])
                lean = _cosine_sine(beta), _cosine_sine(alpha)
            still = joint.kind in ("fixed", "prismatic")
            self.planes.append((lean, _cosine_sine(phi) if still else _offset_plane(q[row], phi)))
            slide = 0.0
            if row is not None:
                slide = 1.0 if joint.kind == "prismatic" else _scalar(joint.pitch)
            steps = [(_scalar(p), _scalar(axis)) for p, axis in home[:3, [3, 2]].tolist()]
            self.offsets.append(
                [
                    p + slide * axis * q[row] if any_nonzero([slide]) and any_nonzero([axis]) else p
                    for p, axis in steps
                ]
            )

    def to_child(self, k: int, v: Vector) -> Vector:
        """Return R'v."""
        lean, spin = self.planes[k]
        if isinstance(lean, list):
            v = _times(list(zip(*lean)), v)
        else:
            v = _turn_back(_turn_back(v, lean[0], 0, 1), lean[1], 1, 2)
        return _turn_back(v, spin, 0, 1)

    def to_parent(self, k: int, v: Vector) -> Vector:
        """Return R v."""
        lean, spin = self.planes[k]
        v = _turn(v, spin, 0, 1)
        if isinstance(lean, list):
            return _times(lean, v)
        return _turn(_turn(v, lean[1], 1, 2), lean[0], 0, 1)

    def offset(self, k: int) -> Vector:
        """Return the position (3) of link k's origin in its parent's frame."""
        return self.offsets[k]

    def from_ground(self, k: int, v: Matrix) -> Vector:
        """Return a vector of global axes in the axes of link k."""
        chain = []
        while k >= 0:
            chain.append(k)
            k = self.parents[k]
        for link in reversed(chain):
            v = self.to_child(link, v)
        return [_scalar(v[0]), _scalar(v[1]), _scalar(v[2])]


def _scalar(value: Scalar | Open) -> Scalar:
    """Return a number as it is, an open one as its expression, with which products are made."""
    return value.expression if isinstance(value, Open) else value


def _cosine_sine(angle: float) -> tuple[float, float]:
    """Return (cos, sin) of a constant, exact at quarter turns so that products with it vanish from
    the graph."""
    c, s = np.cos(angle), np.sin(angle)
    if min(abs(c), abs(s)) < 1e-14:
        c, s = np.round(c), np.round(s)
    return float(c), float(s)


def _offset_plane(q: Matrix, phi: float) -> Plane:
    """Return (cos, sin) of q + phi, without an addition at quarter turns."""
    quarter = {(1.0, 0.0): 0, (0.0, 1.0): 1, (-1.0, 0.0): 2, (0.0, -1.0): 3}.get(_cosine_sine(phi))
    if quarter is None:
        return ca.cos(q + phi), ca.sin(q + phi)
    c, s = ca.cos(q), ca.sin(q)
    return ((c, s), (-s, c), (-c, -s), (s, -c))[quarter]


def _turn(v: Vector, plane: Plane, i: int, j: int) -> Vector:
    """Return a vector turned in the plane of the axes i and j."""
    c, s = plane
    if _is(s, 0.0) and _is(c, 1.0):
        return v
    turned = [v[0], v[1], v[2]]
    turned[i] = _minus(_product(c, v[i]), _product(s, v[j]))
    turned[j] = _sum(_product(s, v[i]), _product(c, v[j]))
    return turned


def _turn_back(v: Vector, plane: Plane, i: int, j: int) -> Vector:
    return _turn(v, (plane[0], -plane[1]), i, j)


def _bend(w: Vector, dw: Vector) -> list[Vector]:
    """Return U = [dw] + [w][w]: the acceleration of a point at r, over that of the origin, is U
    r."""
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = ([_product(a, b) for b in w] for a in w)
    x, y, z = dw
    return [
        [-_sum(yy, zz), _minus(xy, z), _sum(xz, y)],
        [_sum(xy, z), -_sum(xx, zz), _minus(yz, x)],
        [_minus(xz, y), _sum(yz, x), -_sum(xx, yy)],
    ]


def _inertial_moment(u: Sequence[Vector], w: Vector, dw: Vector, p: Sequence[Vector]) -> Vector:
    """Return the inertial moment about the origin, I dw + w x I w with I = trace(P) - P.

    Its off-diagonal terms need U anyway.
    """
    moments = p[1][1] + p[2][2], p[0][0] + p[2][2], p[0][0] + p[1][1]
    entries = []
    for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        diagonal = _sum(
            _product(moments[i], dw[i]),
            _product(moments[k] - moments[j], _product(w[min(j, k)], w[max(j, k)])),
        )
        products = _minus(_product(p[i][j], u[k][i]), _product(p[i][k], u[j][i]))
        squares = _minus(_product(w[k], w[k]), _product(w[j], w[j]))
        entries.append(_sum(diagonal, products, _product(p[j][k], squares)))
    return entries


def _times(matrix: Sequence[Vector], v: Vector) -> Vector:
    return [_sum(*(_product(a, b) for a, b in zip(row, v))) for row in matrix]


def _add(u: Vector, v: Vector) -> Vector:
    return [_sum(a, b) for a, b in zip(u, v)]


def _subtract(u: Vector, v: Vector) -> Vector:
    return [_minus(a, b) for a, b in zip(u, v)]


def _cross(u: Vector, v: Vector) -> Vector:
    return [_minus(_product(u[j], v[k]), _product(u[k], v[j])) for j, k in ((1, 2), (2, 0), (0, 1))]


def _product(a: Scalar, b: Scalar) -> Scalar:
    """Return a b; constants 0 and 1 never reach the graph, which spares most of the time to build
    it, nor do signs of others: sums take them in, and two sides of a body have constants alike."""
    if _is(a, 0.0) or _is(b, 0.0):
        return 0.0
    if _is(a, 1.0) or _is(b, 1.0):
        return b if _is(a, 1.0) else a
    sizes = (-value if _negative(value) else value for value in (a, b))
    product = _combine(mul, ca.OP_MUL, *sizes)
    return product if _negative(a) == _negative(b) else -product


def _negative(value: Scalar) -> bool:
    return isinstance(value, float) and value < 0.0


def _sum(*terms: Scalar) -> Scalar:
    """Return the sum of the terms that are not constant zeros."""
    total: Scalar = 0.0
    for term in terms:
        if not _is(term, 0.0):
            total = term if _is(total, 0.0) else _combine(add, ca.OP_ADD, total, term)
    return total


def _minus(a: Scalar, b: Scalar) -> Scalar:
    if _is(b, 0.0):
        return a
    return -b if _is(a, 0.0) else _combine(sub, ca.OP_SUB, a, b)


def _combine(operation: Callable[..., Scalar], code: int, a: Scalar, b: Scalar) -> Scalar:
    """Return operation(a, b).

    Scalar graphs take its `code`, which spares the search for types that lasts longer than the
    operation.
    """
    return ca.SX.binary(code, a, b) if ca.SX in (type(a), type(b)) else operation(a, b)


def _is(value: Scalar, constant: float) -> bool:
    return isinstance(value, float) and value == constant


NEWTON_EULER = Formulation(
    name="newton_euler", inverse=inverse, derivatives=COMPOSITE, reactions=reactions
)
