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

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca
import numpy as np

from ocp.dynamics.derivatives.composite_inertias import (
    Bodies,
    bent,
    bent_back,
    of_point_moving,
    shifts,
    unstacked,
    wrench_of,
)
from ocp.dynamics.formulations.ground_frame import Chain
from ocp.mechanics.kinematics.spatial import across, by_rows, cross, cross_force, times
from ocp.mechanics.values.parameters import some
from ocp.mechanics.values.types import Matrix

SX = ca.SX
WORTH = 2  # joints that meet in a point from which on it pays to move wrenches there


@dataclass(frozen=True, slots=True, kw_only=True)
class Kinds:
    """Of every joint, as columns: W, R and Q (6, n each), b (3, n), and the place and the velocity
    (3, n each) of the point about which they are."""

    image: Matrix
    by_rate: Matrix
    by_place: Matrix
    back: Matrix
    place: Matrix
    speed: Matrix

    def about(self, joints: Sequence[int], place: Matrix, speed: Matrix) -> tuple:
        """Return W, R, Q and b of some joints about another point (3) with another velocity."""
        rows = list(joints)
        lever = self.place[:, rows] - ca.repmat(place, 1, len(rows))
        wrenches = []
        for wrench in (self.image, self.by_rate, self.by_place):
            moment, force = ca.vertsplit(wrench[:, rows], 3)
            wrenches.append(ca.vertcat(moment + cross(lever, force), force))
        faster = 2 * self.speed[:, rows] - ca.repmat(2 * speed, 1, len(rows))
        return (*wrenches, self.back[:, rows] - cross(wrenches[0][3:, :], faster))


@dataclass(frozen=True, slots=True, kw_only=True)
class Meetings:
    """Where axes meet: of every joint the first of those that meet in its origin (-1 for what
    slides), of its ancestors, or itself, the first of enough of them (-1 for the base), and whether
    its axis goes through that point too, though its origin lies further along it."""

    heads: tuple[int, ...]
    points: tuple[int, ...]
    through: tuple[bool, ...]


def meeting_slopes(
    chain: Chain, carried: Matrix, motions: Matrix, centers: Matrix
) -> tuple[Matrix, ...]:
    """Return dtau/dq, dtau/dqd and dtau/dqdd (n, n) of bodies alone, as SX.

    `carried` (28, n) is what joints carry, about the base; `motions` (18, n) their S, phi and psi
    there; `centers` (9, n) place, velocity and acceleration of their origins, as of points of their
    parents.
    """
    meetings, lines = _meetings(chain), _lines(chain)
    heads, points = meetings.heads, meetings.points
    kinds = _kinds(meetings, unstacked(carried), motions, centers)
    base, entries = SX.zeros(9), _Entries()
    for j, (head, point) in enumerate(zip(heads, points)):
        carries = [i for i in range(len(heads)) if j in lines[i]]
        near = [i for i in carries if heads[i] == head and not _at_base(meetings, i)]
        far = [i for i in carries if i not in near]
        for joints, center in ((near, head), (far, point)):
            if joints:
                seen = centers[:, center] if center >= 0 else base
                own = seen if meetings.through[j] else centers[:, j]
                screw = _seen_from(seen, motions[:, j], own, head < 0)
                entries.add(j, joints, _about(kinds.about(joints, seen[:3], seen[3:6]), *screw))
    return entries.matrices(len(heads))


def _meetings(chain: Chain) -> Meetings:
    """Return the Meetings of a chain."""
    heads: list[int] = []
    for k, (joint, home) in enumerate(zip(chain.tree.moving, chain.homes)):
        p = chain.parents[k]
        stays = p >= 0 and heads[p] >= 0 and not some(home[:3, 3])
        heads.append(-1 if joint.kind != "revolute" else heads[p] if stays else k)
    points: list[int] = []
    for head, p in zip(heads, chain.parents):
        many = head >= 0 and heads.count(head) >= WORTH
        points.append(head if many else points[p] if p >= 0 else -1)
    through = (
        head == k
        and point >= 0
        and heads[p] == point
        and not some(np.cross(home[:3, 3], home[:3, 2]))
        for k, (head, point, p, home) in enumerate(zip(heads, points, chain.parents, chain.homes))
    )
    return Meetings(heads=tuple(heads), points=tuple(points), through=tuple(through))


def _at_base(meetings: Meetings, k: int) -> bool:
    """Tell whether a joint's wrenches are best found about the base: it slides, or turns alone."""
    head = meetings.heads[k]
    return head < 0 or (meetings.points[k] < 0 and meetings.heads.count(head) == 1)


def _lines(chain: Chain) -> list[set[int]]:
    """Return of every joint the joints from the ground to it."""
    lines: list[set[int]] = []
    for k, p in enumerate(chain.parents):
        lines.append({k} | (lines[p] if p >= 0 else set()))
    return lines


def _kinds(meetings: Meetings, carried: Bodies, motions: Matrix, centers: Matrix) -> Kinds:
    """Return the Kinds of all joints, about their origins or about the base."""
    s, phi, psi = ca.vertsplit(motions, 6)
    place, speed, rise = ca.vertsplit(centers, 3)
    turned = _of_turns(carried, motions, place, speed, rise)
    force = cross_force(s, carried.moment, carried.force)
    slid = (
        wrench_of(carried, s),
        bent(carried, s) + 2 * wrench_of(carried, phi),
        bent(carried, phi) + wrench_of(carried, psi) + force,
        bent_back(carried, s),
    )
    still = SX.zeros(3, s.shape[1])
    at_base = [_at_base(meetings, k) for k in range(s.shape[1])]
    parts = [
        ca.horzcat(*((other if far else one)[:, k] for k, far in enumerate(at_base)))
        for one, other in zip((*turned, place, speed), (*slid, still, still))
    ]
    return Kinds(**dict(zip(Kinds.__slots__, parts)))


def _of_turns(carried, motions, place, speed, rise):
    """Return W, R, Q and b of turns about their own origins."""
    z, g, k = motions[:3, :], motions[6:9, :], motions[12:15, :]
    mass = across(carried.mass, 3)
    h = carried.first - mass * place
    inertia = carried.inertia - shifts(place, carried.first - mass / 2 * place)
    upper = carried.upper - of_point_moving(2 * speed, h) - of_point_moving(carried.twice, place)
    twice, force = carried.twice - 2 * mass * speed, carried.force - mass * rise
    moment = carried.moment - cross(place, carried.force) - cross(h, rise)
    pushed = cross(z, h)
    image = ca.vertcat(times(inertia, z), pushed)
    by_rate = ca.vertcat(
        by_rows(upper, z, range(9)) + times(inertia, 2 * g), cross(z, twice) + cross(2 * g, h)
    )
    by_place = ca.vertcat(
        by_rows(upper, g, range(9)) + times(inertia, k) + cross(z, moment) - cross(rise, pushed),
        cross(g, twice) + cross(k, h) + cross(z, force),
    )
    return image, by_rate, by_place, by_rows(upper, z, (0, 3, 6, 1, 4, 7, 2, 5, 8))


def _seen_from(seen, motion, center, slides):
    """Return S (6), phi (6) and psi (6) of a joint about a point of a place, velocity and
    acceleration (9), as `_about` takes them."""
    if slides:
        return ca.vertsplit(motion, 6)
    z, g, k = motion[:3], motion[6:9], motion[12:15]
    lever, faster, rise = center[:3] - seen[:3], center[3:6] - seen[3:6], center[6:]
    shifted = ca.cross(rise, z) + ca.cross(2 * faster, g) + ca.cross(lever, k)
    return (
        ca.vertcat(z, ca.cross(lever, z)),
        ca.vertcat(g, ca.cross(faster, z) + ca.cross(lever, g)),
        ca.vertcat(k, shifted),
    )


def _about(kinds, s, phi, psi):
    """Return the five derivatives of some joints and an ancestor of theirs."""
    image, by_rate, by_place, back = kinds
    return (
        s.T @ by_place,
        phi[:3].T @ back + psi.T @ image,
        s.T @ by_rate,
        s[:3].T @ back + (2 * phi).T @ image,
        s.T @ image,
    )


class _Entries:
    """Entries of the three matrices, as they are found."""

    def __init__(self):
        self.places, self.values = ([], [], []), ([], [], [])

    def add(self, j, joints, rows):
        """Take the five derivatives (1, m) of m joints and their ancestor j."""
        by_place, of_place, by_rate, of_rate, mass = rows
        others = [(k, i) for k, i in enumerate(joints) if i != j]
        pairs = (by_place, of_place), (by_rate, of_rate), (mass, mass)
        for places, values, (upper, lower) in zip(self.places, self.values, pairs):
            places.extend((j, i) for i in joints)
            places.extend((i, j) for _, i in others)
            values.extend((upper, lower[:, [k for k, _ in others]]))

    def matrices(self, n):
        """Return the three matrices (n, n)."""
        return tuple(
            _placed(n, np.array(places), ca.horzcat(*values).T)
            for places, values in zip(self.places, self.values)
        )


def _placed(n, places, values):
    order = np.lexsort(places.T)
    rows, columns = places[order].T.tolist()
    return SX(ca.Sparsity.triplet(n, n, rows, columns), ca.densify(values)[order.tolist()])
