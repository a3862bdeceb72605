"""Recursive Newton-Euler dynamics in moving link frames, with the forces and moments inside the joints.

Follows Barman (2020), chapter III, steps 1-10, on frames laid as Denavit and Hartenberg lay them (`aligned`) and with each link's
inertia as mass m, first moment h = m c and pseudo-inertia P about the frame's origin: with U = [dw] + [w][w] the inertial force is
m a + U h and the inertial moment h x a + I dw + w x I w, which is less work than moving both to the centre of mass. Gravity is an
acceleration of the base, which makes a resting link carry its weight (sign of Barman's eq. 3.67).
"""
import casadi as ca
import numpy as np

from ocp.dynamics.formulation import Formulation, aligned, applied, first_moment, regrouped
from ocp.spatial import rotate_z
from ocp.tree import inward, outward


def inverse(tree, q, qd, qdd, loads=()):
    """Return the joint torques (N m) or forces (N), (n,).

    outward:  w = R'w_p + z qd,  dw = R'dw_p + R'w_p x z qd + z qdd,  a = R'(a_p + U_p p)      (Barman 2020, steps 2-8)
    inward:   f = m a + U h - F + R_c f_c,  n = h x a + I dw + w x I w - M + R_c n_c + p_c x R_c f_c    (step 9)
    tau = z.n for a joint that turns, z.f for one that slides, z.n + pitch z.f for a screw        (step 10)
    """
    tree, _ = aligned(tree)
    wrenches = _joint_wrenches(tree, _Turns(tree, q), qd, qdd, loads, regrouped(tree))
    torques = []
    for joint, (force, moment) in zip(tree.joints, wrenches):
        if joint.screw is not None:
            torques.append(force[2] if joint.kind == "prismatic" else moment[2] + joint.pitch * force[2])
    return ca.vertcat(*torques)


def reactions(tree, q, qd, qdd, loads=()):
    """Return force (3, links; N) and moment (3, links; N m) that each joint passes to its link, in the axes of the link's frame.

    The moment is about the joint's `anchor`. Their components along the joint's axis are the joint torque or force itself.
    """
    better, turns = aligned(tree)
    forces, moments = [], []
    wrenches = _joint_wrenches(better, _Turns(better, q), qd, qdd, loads, [first_moment(link) for link in better.links])
    for joint, turn, (force, moment) in zip(tree.joints, turns, wrenches):
        rotation, origin = np.array(turn)[:3, :3], np.array(turn)[:3, 3]
        force = ca.DM(rotation) @ ca.vertcat(*force)
        forces.append(force)
        moments.append(ca.DM(rotation) @ ca.vertcat(*moment) + ca.cross(ca.DM(origin - joint.anchor), force))
    return ca.horzcat(*forces), ca.horzcat(*moments)


def _joint_wrenches(tree, turns, qd, qdd, loads, inertias):
    """Return (force, moment) through every joint, in and about its link's aligned frame."""
    rows = tree.rows
    external = _external(tree, turns, loads)

    def motion(k, parent):
        w, dw, bend, a = parent
        joint, row = tree.joints[k], rows[k]
        if row is None:                            # an aligned fixed link shares its parent's frame, except on the ground
            return parent
        rate, turn_rate = qd[row], qd[row] if joint.kind != "prismatic" else 0
        turned, slide = turns.to_child(k, w), 1.0 if joint.kind == "prismatic" else joint.pitch
        dw = turns.to_child(k, dw)
        if joint.kind != "prismatic":
            dw = [dw[0] + turned[1] * turn_rate, dw[1] - turned[0] * turn_rate, dw[2] + qdd[row]]
        a = turns.to_child(k, _add(a, _times(bend, turns.offset(k))))
        if slide:
            twice = 2 * slide * rate
            a = [a[0] + turned[1] * twice, a[1] - turned[0] * twice, a[2] + slide * qdd[row]]
        w = [turned[0], turned[1], turned[2] + turn_rate]
        return w, dw, _bend(w, dw), a

    base = [0.0] * 3, [0.0] * 3, [[0.0] * 3] * 3, [-g for g in tree.gravity]
    moves = outward(tree, motion, base)

    def wrench(k, children):
        w, dw, bend, a = moves[k]
        mass, first, second = inertias[k][0], inertias[k][1].tolist(), inertias[k][2].tolist()
        force = _add([mass * value for value in a], _times(bend, first))
        moment = _add(_axial(bend, w, dw, second), _cross(first, a))
        if k in external:
            force, moment = _subtract(force, external[k][0]), _subtract(moment, external[k][1])
        for child, (inner_force, inner_moment) in children:
            inner_force, inner_moment = turns.to_parent(child, inner_force), turns.to_parent(child, inner_moment)
            force = _add(force, inner_force)
            moment = _add(moment, _add(inner_moment, _cross(turns.offset(child), inner_force)))
        return force, moment

    return inward(tree, wrench)


def _external(tree, turns, loads):
    """Return {link: (force, moment)} of all loads on a link, in and about its frame (Barman 2020, eqs. 3.84-3.90)."""
    external = {}
    for k, arm, force, moment in applied(tree, loads):
        force, moment = turns.from_ground(k, force), turns.from_ground(k, moment)
        moment = _add(moment, _cross(arm.tolist(), force))
        if k in external:
            force, moment = _add(force, external[k][0]), _add(moment, external[k][1])
        external[k] = force, moment
    return external


class _Turns:
    """The rotation Rz(beta) Rx(alpha) Rz(phi + q) and the offset of each joint of an aligned tree at the coordinates q."""

    def __init__(self, tree, q):
        self.parents, self.planes, self.offsets = tree.parents, [], []
        for joint, row in zip(tree.joints, tree.rows):
            home = np.array(joint.home)
            beta, alpha, phi = _euler_zxz(home[:3, :3])
            spin = _cosine_sine(phi) if joint.kind in ("fixed", "prismatic") else _shifted(q[row], phi)
            self.planes.append((_cosine_sine(beta), _cosine_sine(alpha), spin))
            slide = 0.0 if row is None else 1.0 if joint.kind == "prismatic" else joint.pitch
            offset = home[:3, 3].tolist()
            self.offsets.append([p + slide * axis * q[row] if slide and axis else p for p, axis in zip(offset, home[:3, 2])])

    def to_child(self, k, v):
        """Return R'v."""
        beta, alpha, spin = self.planes[k]
        return _turn_back(_turn_back(_turn_back(v, beta, 0, 1), alpha, 1, 2), spin, 0, 1)

    def to_parent(self, k, v):
        """Return R v."""
        beta, alpha, spin = self.planes[k]
        return _turn(_turn(_turn(v, spin, 0, 1), alpha, 1, 2), beta, 0, 1)

    def offset(self, k):
        """Return the position (3) of link k's origin in its parent's frame."""
        return self.offsets[k]

    def from_ground(self, k, v):
        """Return a vector of global axes in the axes of link k."""
        chain = []
        while k >= 0:
            chain.append(k)
            k = self.parents[k]
        for link in reversed(chain):
            v = self.to_child(link, v)
        return [v[0], v[1], v[2]]


def _euler_zxz(rotation):
    """Return angles with Rz(beta) Rx(alpha) Rz(phi) = rotation, beta = 0 where it can be.

    Nearly parallel z axes leave beta ill-determined; alpha and phi are read off what remains after it, so the product is right regardless.
    """
    beta = 0.0 if np.hypot(rotation[0, 2], rotation[1, 2]) < 1e-12 else np.arctan2(rotation[0, 2], -rotation[1, 2])
    if abs(beta) > np.pi / 2 + 1e-9:
        beta -= np.copysign(np.pi, beta)
    beta = _wrap(beta)
    rest = rotate_z(-beta)[:3, :3] @ rotation
    return beta, _wrap(np.arctan2(-rest[1, 2], rest[2, 2])), _wrap(np.arctan2(-rest[0, 1], rest[0, 0]))


def _wrap(angle):
    angle = (angle + np.pi) % (2 * np.pi) - np.pi
    return 0.0 if abs(angle) < 1e-14 else angle


def _cosine_sine(angle):
    """Return (cos, sin) of a constant, exact at quarter turns so that products with it vanish from the graph."""
    c, s = np.cos(angle), np.sin(angle)
    return (float(np.round(c)), float(np.round(s))) if min(abs(c), abs(s)) < 1e-14 else (float(c), float(s))


def _shifted(q, phi):
    """Return (cos, sin) of q + phi, without an addition at quarter turns."""
    quarter = {(1, 0): 0, (0, 1): 1, (-1, 0): 2, (0, -1): 3}.get(_cosine_sine(phi))
    if quarter is None:
        return ca.cos(q + phi), ca.sin(q + phi)
    c, s = ca.cos(q), ca.sin(q)
    return ((c, s), (-s, c), (-c, -s), (s, -c))[quarter]


def _turn(v, plane, i, j):
    c, s = plane
    if isinstance(s, float) and s == 0.0 and c == 1.0:
        return v
    v = [v[0], v[1], v[2]]
    v[i], v[j] = c * v[i] - s * v[j], s * v[i] + c * v[j]
    return v


def _turn_back(v, plane, i, j):
    return _turn(v, (plane[0], -plane[1]), i, j)


def _bend(w, dw):
    """Return U = [dw] + [w][w]: the acceleration of a point at r, over that of the origin, is U r."""
    xx, yy, zz = w[0] * w[0], w[1] * w[1], w[2] * w[2]
    xy, xz, yz = w[0] * w[1], w[0] * w[2], w[1] * w[2]
    return [[-(yy + zz), xy - dw[2], xz + dw[1]], [xy + dw[2], -(xx + zz), yz - dw[0]], [xz - dw[1], yz + dw[0], -(xx + yy)]]


def _axial(u, w, dw, p):
    """Return the inertial moment about the origin, I dw + w x I w with I = trace(P) - P; its off-diagonal terms need U anyway."""
    ixx, iyy, izz = p[1][1] + p[2][2], p[0][0] + p[2][2], p[0][0] + p[1][1]
    x, y, z = w
    return [
        ixx * dw[0] + (izz - iyy) * (y * z) + p[0][1] * u[2][0] - p[0][2] * u[1][0] + p[1][2] * (z * z - y * y),
        iyy * dw[1] + (ixx - izz) * (x * z) + p[1][2] * u[0][1] - p[0][1] * u[2][1] + p[0][2] * (x * x - z * z),
        izz * dw[2] + (iyy - ixx) * (x * y) + p[0][2] * u[1][2] - p[1][2] * u[0][2] + p[0][1] * (y * y - x * x),
    ]


def _times(matrix, v):
    return [row[0] * v[0] + row[1] * v[1] + row[2] * v[2] for row in matrix]


def _add(u, v):
    return [u[0] + v[0], u[1] + v[1], u[2] + v[2]]


def _subtract(u, v):
    return [u[0] - v[0], u[1] - v[1], u[2] - v[2]]


def _cross(u, v):
    return [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]]


NEWTON_EULER = Formulation(name="newton_euler", inverse=inverse, reactions=reactions)
