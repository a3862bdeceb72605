"""First derivatives of inverse dynamics over all pairs of a joint and its ancestors, with the least
work of scalar graphs: about the points where axes meet, as seen from there.

About such a point, which moves with u and accelerates by a, a turn about z has no lever. With

    g = w_p x z,   k = dw_p x z + w_p x g,   V' = integral of (v - u) r',  P = 2 (p - m u)
    M' = M - h x a,   F' = F - m a

of the parent's w and dw, and inertia I, first moment h, momentum p, moment M and force F of all
that a joint carries, upper' = 2 (trace(V') 1 - V') makes the wrenches, moment and force,

    I S                             W = (I z, z x h)
    B S + 2 I phi                   R = (upper' z + 2 I g, z x P + 2 g x h)
    B phi + I psi + S x* F          Q = (upper' g + I k + z x M' - a x (z x h),
                                         g x P + k x h + z x F')

With b = upper'' z, moved to another point by b + 2 W_force x (change of u), as W, R and Q are moved
by their levers, a turn j whose origin is there has with all joints i that it carries

    dtau_j/dq_i  = z . Q      dtau_i/dq_j  = g . b + k . W + (a x z) . W_force
    dtau_j/dqd_i = z . R      dtau_i/dqd_j = z . b + 2 g . W      M_ij = z . W

(Derived here from those of `ocp.dynamics.derivatives.composite_bodies`.) A turn at r from there,
its origin faster by v, adds by its lever r x z to z, v x z + r x g to g, and 2 v x g + r x k to
a x z.
"""

from dataclasses import dataclass

import casadi as ca
import numpy as np

from ocp.dynamics.derivatives.composite_inertias import (
    BY_COLUMNS,
    Bodies,
    coriolis_moment,
    coriolis_wrench,
    of_point_moving,
    shifts,
    unstack_bodies,
    wrench_of,
)
from ocp.dynamics.derivatives.ground_frame import Chain
from ocp.dynamics.matrix_entries import scattered_matrix, split_rows
from ocp.mechanics.kinematics.spatial import (
    cross,
    cross_force,
    matrix_product,
    repeat_rows,
    symmetric_product,
)
from ocp.mechanics.values.parameters import any_nonzero
from ocp.mechanics.values.types import Matrix

SX = ca.SX
WORTH = 2  # joints that meet in a point from which on it pays to move wrenches there


@dataclass(frozen=True, slots=True, kw_only=True)
class Kinds:
    """Vectors of every joint, as columns: W, R and Q (6, n each), b (3, n), and the place and the
    velocity (3, n each) of the point about which they are."""

    image: Matrix
    by_rate: Matrix
    by_place: Matrix
    back: Matrix
    place: Matrix
    speed: Matrix

    def about(self, joints: list[int], place: Matrix, speed: Matrix) -> tuple[Matrix, ...]:
        """Return W, R, Q and b of some joints about another point (3) with another velocity."""
        lever = self.place[:, joints] - ca.repmat(place, 1, len(joints))
        wrenches = []
        for wrench in (self.image, self.by_rate, self.by_place):
            moment, force = split_rows(wrench[:, joints], 3)
            wrenches.append(ca.vertcat(moment + cross(lever, force), force))
        faster = 2 * self.speed[:, joints] - ca.repmat(2 * speed, 1, len(joints))
        return (*wrenches, self.back[:, joints] - cross(wrenches[0][3:, :], faster))


@dataclass(frozen=True, slots=True, kw_only=True)
class Intersections:
    """Points where axes meet.

    Fields: of every joint the first of those that meet in its origin (-1 for what slides); of its
    ancestors, or itself, the first of enough of them (-1 for the base); and whether its axis passes
    that point too, though its origin lies further along it.
    """

    heads: tuple[int, ...]
    points: tuple[int, ...]
    passes: tuple[bool, ...]

    def at_base(self, k: int) -> bool:
        """Tell whether a joint's wrenches are best found about the base: it slides, or turns
        alone."""
        head = self.heads[k]
        return head < 0 or (self.points[k] < 0 and self.heads.count(head) == 1)


def intersection_slopes(
    chain: Chain, carried: Matrix, motions: Matrix, centers: Matrix
) -> tuple[Matrix, ...]:
    """Return dtau/dq, dtau/dqd and dtau/dqdd (n, n) of bodies alone, as SX.

    Args:
        carried: what joints carry, about the base, (28, n).
        motions: their S, phi and psi there, (18, n).
        centers: place, velocity and acceleration of their origins, as of points of their parents,
            (9, n).
    """
    axes, n = _intersections(chain), len(chain.parents)
    kinds, base = _kinds(axes, unstack_bodies(carried), motions, centers), SX.zeros(9)
    lines: list[set[int]] = []  # of every joint the joints from the ground to it
    for k, p in enumerate(chain.parents):
        lines.append({k} | (lines[p] if p >= 0 else set()))
    places: list[list[tuple[int, int]]] = [[], [], []]
    values: list[list[Matrix]] = [[], [], []]
    for j, (head, point) in enumerate(zip(axes.heads, axes.points)):
        carries = [i for i in range(n) if j in lines[i]]
        near = [i for i in carries if axes.heads[i] == head and not axes.at_base(i)]
        far = [i for i in carries if i not in near]
        for joints, center in ((near, head), (far, point)):
            if not joints:
                continue
            seen = centers[:, center] if center >= 0 else base
            own = seen if axes.passes[j] else centers[:, j]
            screw = _about_point(seen, motions[:, j], own, head < 0)
            pairs = _pair_slopes(kinds.about(joints, seen[:3], seen[3:6]), *screw)
            others = [(k, i) for k, i in enumerate(joints) if i != j]
            for at, entries, (upper, lower) in zip(places, values, pairs):
                at.extend((j, i) for i in joints)
                at.extend((i, j) for _, i in others)
                entries.extend((upper, lower[:, [k for k, _ in others]]))
    matrices = []
    for at, entries in zip(places, values):
        rows, columns = np.array(at).T
        matrices.append(scattered_matrix(n, rows, columns, ca.horzcat(*entries).T))
    return tuple(matrices)


def _intersections(chain: Chain) -> Intersections:
    heads: list[int] = []
    for k, (joint, home) in enumerate(zip(chain.tree.moving, chain.homes)):
        p = chain.parents[k]
        stays = p >= 0 and heads[p] >= 0 and not any_nonzero(home[:3, 3])
        heads.append(-1 if joint.kind != "revolute" else heads[p] if stays else k)
    points: list[int] = []
    for head, p in zip(heads, chain.parents):
        many = head >= 0 and heads.count(head) >= WORTH
        points.append(head if many else points[p] if p >= 0 else -1)
    passes = (
        head == k
        and point >= 0
        and heads[p] == point
        and not any_nonzero(np.cross(home[:3, 3], home[:3, 2]))
        for k, (head, point, p, home) in enumerate(zip(heads, points, chain.parents, chain.homes))
    )
    return Intersections(heads=tuple(heads), points=tuple(points), passes=tuple(passes))


def _kinds(axes: Intersections, carried: Bodies, motions: Matrix, centers: Matrix) -> Kinds:
    """Return the Kinds of all joints, about their origins or about the base."""
    s, phi, psi = split_rows(motions, 6)
    place, speed, rise = split_rows(centers, 3)
    about_origins = *_of_turns(carried, motions, place, speed, rise), place, speed
    still = SX.zeros(3, s.shape[1])
    about_base = (
        wrench_of(carried, s),
        coriolis_wrench(carried, s) + 2 * wrench_of(carried, phi),
        coriolis_wrench(carried, phi)
        + wrench_of(carried, psi)
        + cross_force(s, carried.moment, carried.force),
        coriolis_moment(carried, s),
        still,
        still,
    )
    chosen = [axes.at_base(k) for k in range(s.shape[1])]
    parts = [
        ca.horzcat(*((base if far else origin)[:, k] for k, far in enumerate(chosen)))
        for origin, base in zip(about_origins, about_base)
    ]
    return Kinds(**dict(zip(Kinds.__slots__, parts)))


def _of_turns(
    carried: Bodies, motions: Matrix, place: Matrix, speed: Matrix, rise: Matrix
) -> tuple[Matrix, ...]:
    """Return W, R, Q and b of turns about their own origins."""
    z, g, k = motions[:3, :], motions[6:9, :], motions[12:15, :]
    mass = repeat_rows(carried.mass, 3)
    h = carried.first - mass * place
    inertia = carried.inertia - shifts(place, carried.first - mass / 2 * place)
    upper = carried.upper - of_point_moving(2 * speed, h) - of_point_moving(carried.twice, place)
    twice, force = carried.twice - 2 * mass * speed, carried.force - mass * rise
    moment = carried.moment - cross(place, carried.force) - cross(h, rise)
    pushed = cross(z, h)
    image = ca.vertcat(symmetric_product(inertia, z), pushed)
    by_rate = ca.vertcat(
        matrix_product(upper, z, range(9)) + symmetric_product(inertia, 2 * g),
        cross(z, twice) + cross(2 * g, h),
    )
    by_place = ca.vertcat(
        matrix_product(upper, g, range(9))
        + symmetric_product(inertia, k)
        + cross(z, moment)
        - cross(rise, pushed),
        cross(g, twice) + cross(k, h) + cross(z, force),
    )
    return image, by_rate, by_place, matrix_product(upper, z, BY_COLUMNS)


def _about_point(seen: Matrix, motion: Matrix, center: Matrix, slides: bool) -> tuple[Matrix, ...]:
    """Return S (6), phi (6) and psi (6) of a joint about a point.

    Args:
        seen: the point's place, velocity and acceleration (9).
        motion: S, phi and psi about the base (18).
        center: place, velocity and acceleration of the joint's origin (9).
    """
    if slides:
        return split_rows(motion, 6)
    z, g, k = motion[:3], motion[6:9], motion[12:15]
    lever, faster, rise = center[:3] - seen[:3], center[3:6] - seen[3:6], center[6:]
    shifted = ca.cross(rise, z) + ca.cross(2 * faster, g) + ca.cross(lever, k)
    return (
        ca.vertcat(z, ca.cross(lever, z)),
        ca.vertcat(g, ca.cross(faster, z) + ca.cross(lever, g)),
        ca.vertcat(k, shifted),
    )


def _pair_slopes(
    kinds: tuple[Matrix, ...], s: Matrix, phi: Matrix, psi: Matrix
) -> tuple[tuple[Matrix, Matrix], ...]:
    """Return the derivatives (1, m) of an ancestor's torque by m joints and of theirs by it: by q,
    by qd and by qdd."""
    image, by_rate, by_place, back = kinds
    mass = s.T @ image
    return (
        (s.T @ by_place, phi[:3].T @ back + psi.T @ image),
        (s.T @ by_rate, s[:3].T @ back + (2 * phi).T @ image),
        (mass, mass),
    )
