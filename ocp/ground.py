"""The ground under a walking or lifting body: who stands where and when, what the ground must supply, and how it is shared by the feet.

A body on a floating root needs from the ground the wrench that its own motion demands of the root's six unactuated joints. Its point of
zero moment (ZMP) is where the horizontal moments vanish. While one foot bears, that foot supplies all; while two bear, the shares follow
from a rule (Xiang, Arora, Rahmatalla & Abdel-Malek 2009: linear in the distances; Barman 2020, chapter V), or are variables of the NLP.

Wrenches are (moment about the global origin, force) in global axes; the ground is the plane through that origin.
"""
from dataclasses import dataclass
from math import inf

import casadi as ca
import numpy as np

from ocp.tree import frozen, numbers

Z = (0.0, 0.0, 1.0)
FAINT = 1e-9                                       # N: a foot that bears counts as pushing so much at least where shares follow the forces


@dataclass(frozen=True, slots=True, kw_only=True)
class Pin:
    """A named point that rests on the ground: the global `axes` in which it is held, and its place `target` (3, m)."""

    point: str
    axes: str = "xyz"
    target: tuple = (0.0, 0.0, 0.0)

    def __post_init__(self):
        if not self.axes or set(self.axes) - set("xyz") or len(set(self.axes)) < len(self.axes):
            raise ValueError(f"pin {self.point!r}: axes: expected some of x, y, z, got {self.axes!r}")
        object.__setattr__(self, "target", frozen(numbers(f"pin {self.point!r}: target", self.target, (3,))))


@dataclass(frozen=True, slots=True, kw_only=True)
class Support:
    """A way of standing, over the part `when` = (a, b) of the motion: the `link` that takes the wrench, its pins, and the `polygon` (k, 3; m)
    on the ground, convex, in which the centre of pressure lies."""

    link: str
    when: tuple
    pins: tuple = ()
    polygon: tuple = ()

    def __post_init__(self):
        a, b = self.when if np.shape(self.when) == (2,) else (1, 0)
        if not 0 <= a < b <= 1:
            raise ValueError(f"support on {self.link!r}: when: expected 0 <= a < b <= 1, got {self.when!r}")
        object.__setattr__(self, "when", frozen(self.when))
        object.__setattr__(self, "pins", tuple(self.pins))
        object.__setattr__(self, "polygon", frozen(self.polygon))


@dataclass(frozen=True, slots=True, kw_only=True)
class Foot:
    """What stands on the ground: its supports in order, and the centre (3, m) about which its share of the load is reckoned.

    It bears strictly between the two instants `bears`, so that its load starts from and returns to zero there; infinite where it stands
    already at the start, or still at the end.
    """

    name: str
    supports: tuple
    center: tuple
    bears: tuple = (-inf, inf)

    def __post_init__(self):
        object.__setattr__(self, "supports", tuple(self.supports))
        object.__setattr__(self, "center", frozen(numbers(f"foot {self.name!r}: center", self.center, (3,))))
        if not self.supports:
            raise ValueError(f"foot {self.name!r}: expected at least one support")
        for before, after in zip(self.supports, self.supports[1:]):
            if after.when[0] < before.when[1]:
                raise ValueError(f"foot {self.name!r}: its supports overlap: {before.when} and {after.when}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """The ground's feet, and its upward unit normal (3).

    Raises ValueError if at some instant of the motion no foot bears.
    """

    feet: tuple
    normal: tuple = Z

    def __post_init__(self):
        normal = numbers("ground: normal", self.normal, (3,))
        if abs(np.linalg.norm(normal) - 1) > 1e-9:
            raise ValueError(f"ground: normal: expected unit length, got {np.linalg.norm(normal):.9g}")
        object.__setattr__(self, "feet", tuple(self.feet))
        object.__setattr__(self, "normal", frozen(normal))
        names = [foot.name for foot in self.feet]
        if len(set(names)) < len(names):
            raise ValueError(f"ground: two feet have the same name; the feet are {', '.join(names)}")
        edges = sorted({0.0, 1.0, *self.switches})
        for s in sorted([*edges, *((a + b) / 2 for a, b in zip(edges, edges[1:]))]):
            if not bearing_slots(self, s):
                raise ValueError(f"contact schedule: no foot bears at s = {s:g} (feet: {', '.join(names) or 'none'})")

    @property
    def switches(self):
        """Instants inside the motion at which a way of standing begins or ends."""
        found = {edge for foot in self.feet for edges in (foot.bears, *(support.when for support in foot.supports)) for edge in edges}
        return tuple(sorted(edge for edge in found if 0 < edge < 1))

    def foot(self, name):
        """Return the Foot of that name; raise ValueError listing the known ones."""
        for foot in self.feet:
            if foot.name == name:
                return foot
        raise ValueError(f"unknown foot {name!r}; the feet are {', '.join(foot.name for foot in self.feet)}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reaction:
    """What the ground gives at one instant: `wrenches` {(foot, link): (moment about the origin, force)} (N m, N)."""

    ground: Ground
    wrenches: dict

    def force(self, foot=None):
        """Force (3, N) on a foot, or on all."""
        return sum((force for _, force in self._of(foot)), ca.SX.zeros(3))

    def moment(self, foot=None):
        """Moment (3, N m) about the global origin on a foot, or on all."""
        return sum((moment for moment, _ in self._of(foot)), ca.SX.zeros(3))

    def _of(self, foot):
        names = [each.name for each in self.ground.feet] if foot is None else [self.ground.foot(foot).name]
        return [wrench for (name, _), wrench in self.wrenches.items() if name in names]

    def pressure(self, foot=None):
        """Centre of pressure (3, m) of a foot, or of all: the zero moment point."""
        return zero_moment_point(self.ground, self.moment(foot), self.force(foot))

    def lever(self, foot=None):
        """Centre of pressure times the normal force (3, N m), which stays sound where the force vanishes."""
        return ca.cross(ca.DM(self.ground.normal), self.moment(foot))

    def push(self, foot=None):
        """Normal force (N) on a foot, or on all."""
        return ca.dot(ca.DM(self.ground.normal), self.force(foot))

    def twist(self, foot=None):
        """Moment (N m) about the normal through the centre of pressure."""
        point, normal = self.pressure(foot), ca.DM(self.ground.normal)
        return ca.dot(normal, self.moment(foot) - ca.cross(point, self.force(foot)))


def body_weight(tree):
    """Return the tree's weight (N) in its own gravity, in which lifted quantities are counted; 1 where there is none."""
    return sum(link.mass for link in tree.links) * float(np.linalg.norm(tree.gravity)) or 1.0


def slots(ground):
    """Return every (foot, link) that ever bears, in order."""
    return tuple(dict.fromkeys((foot.name, support.link) for foot in ground.feet for support in foot.supports))


def in_force(foot, s):
    """Return the Support of a foot at the instant s, the later one at a switch, or None."""
    found = [support for support in foot.supports if support.when[0] - 1e-9 <= s <= support.when[1] + 1e-9]
    return found[-1] if found else None


def bears(foot, s):
    """Tell whether a foot bears at the instant s."""
    return foot.bears[0] + 1e-9 < s < foot.bears[1] - 1e-9 and in_force(foot, s) is not None


def bearing_slots(ground, s):
    """Return the (foot, link) that bear at the instant s."""
    return tuple((foot.name, in_force(foot, s).link) for foot in ground.feet if bears(foot, s))


def root(tree):
    """Return the rows of q of the floating root: six unactuated joints in line from the ground, three slides and then three turns.

    Raises ValueError if the tree has none.
    """
    moving = [k for k, row in enumerate(tree.rows) if row is not None][:6]
    joints = [tree.joints[k] for k in moving]
    inline = all(tree.parents[k] == (moving[i - 1] if i else -1) for i, k in enumerate(moving))
    if [joint.kind for joint in joints] != ["prismatic"] * 3 + ["revolute"] * 3 or not inline or any(joint.actuated for joint in joints):
        raise ValueError("ground: the tree needs a floating root, six unactuated joints from the ground: three prismatic, three revolute")
    return tuple(tree.rows[k] for k in moving)


def resultant(tree, frames, torques):
    """Return (moment about the origin, force) that stands in for the generalized forces of the root's joints.

    `frames` are the poses of all links, `torques` (n,) those of inverse dynamics without the ground. Each root joint's force is the
    share of the wrench along its own axis, which are six equations for the wrench, first three for the force alone.
    """
    rows = root(tree)
    links = [tree.rows.index(row) for row in rows]
    slides = [frames[k][:3, :3] @ ca.DM(tree.joints[k].screw[3:]) for k in links[:3]]
    force = _solve_three(slides, [torques[row] for row in rows[:3]])
    turns = [frames[k][:3, :3] @ ca.DM(tree.joints[k].screw[:3]) for k in links[3:]]
    arms = [frames[k][:3, :3] @ ca.DM(tree.joints[k].screw[3:]) + ca.cross(frames[k][:3, 3], turn) for k, turn in zip(links[3:], turns)]
    return _solve_three(turns, [torques[row] - ca.dot(arm, force) for row, arm in zip(rows[3:], arms)]), force


def _solve_three(axes, values):
    """Return the vector v with axes_k . v = values_k."""
    a, b, c = axes
    return (values[0] * ca.cross(b, c) + values[1] * ca.cross(c, a) + values[2] * ca.cross(a, b)) / ca.dot(a, ca.cross(b, c))


def zero_moment_point(ground, moment, force):
    """Return the point of the ground (3, m) about which the wrench has no moment but along the normal."""
    normal = ca.DM(ground.normal)
    return ca.cross(normal, moment) / ca.dot(normal, force)


def two_pass(ground, s, moment, force):
    """Share the resultant among the feet that bear at s; return {(foot, link): wrench} (Barman 2020, section 5.3).

    Of two feet, each takes the share that the distance of the zero moment point P from the other's centre c asks for, w = clip((P - c_L).
    (c_R - c_L) / |c_R - c_L|^2), and applies it at its own centre shifted by e = P - (w_R c_R + w_L c_L), the same for both, which keeps
    the balance of moments. `s` is a number or an expression.
    """
    if len(ground.feet) > 2:
        raise ValueError(f"two-pass reactions: expected at most two feet, got {len(ground.feet)}")
    normal, point = ca.DM(ground.normal), zero_moment_point(ground, moment, force)
    twist = ca.dot(normal, moment - ca.cross(point, force))
    bearing = [_schedule(foot, s) for foot in ground.feet]
    shares = [sum(active for _, active in links) for links in bearing]
    centers = [ca.DM(foot.center) for foot in ground.feet]
    if len(centers) == 2:
        both, line = shares[0] * shares[1], centers[0] - centers[1]
        part = ca.fmin(ca.fmax(ca.dot(point - centers[1], line) / ca.dot(line, line), 0), 1)
        shares = [shares[0] * (1 - both) + both * part, shares[1] * (1 - both) + both * (1 - part)]
    shift = point - sum(share * center for share, center in zip(shares, centers))
    found = {}
    for foot, links, share, center in zip(ground.feet, bearing, shares, centers):
        for link, active in links:
            pull = active * share * force
            found[foot.name, link] = ca.cross(center + shift, pull) + active * share * twist * normal, pull
    return found


def shared(ground, s, given, moment, force):
    """Share the resultant as `given` {foot: (moment, force)} does, which need not balance it; the remainder goes to the feet in proportion
    to their normal forces. Return {(foot, link): wrench}. This is how wrenches known at nodes continue between them."""
    normal, found = ca.DM(ground.normal), {}
    bearing = {foot.name: _schedule(foot, s) for foot in ground.feet}
    there = {name: sum(active for _, active in links) for name, links in bearing.items()}
    known = {name: tuple(there[name] * part for part in given[name]) for name in there}
    remainder = [total - sum(parts) for total, parts in zip((moment, force), zip(*known.values()))]
    pushes = {name: ca.fmax(ca.dot(normal, part), FAINT * there[name]) for name, (_, part) in known.items()}
    whole = sum(pushes.values())
    for name, links in bearing.items():
        for link, active in links:
            found[name, link] = tuple(active * (mine + pushes[name] / whole * rest) for mine, rest in zip(known[name], remainder))
    return found


def _schedule(foot, s):
    """Return (link, 1 while the foot bears on it else 0) for each of its links, at the instant s, a number or an expression."""
    links = dict.fromkeys(support.link for support in foot.supports)
    active = dict.fromkeys(links, 0)
    for number, support in enumerate(foot.supports):
        a, b = support.when
        last = number + 1 == len(foot.supports) or foot.supports[number + 1].when[0] > b
        inside = ca.logic_and(s >= a - 1e-9, s <= b + 1e-9 if last else s < b - 1e-9)
        active[support.link] = active[support.link] + ca.logic_and(inside, ca.logic_and(s > foot.bears[0] + 1e-9, s < foot.bears[1] - 1e-9))
    return tuple(active.items())


def hull(points, normal=Z):
    """Return the convex hull (k, 3) of points on the ground, counter-clockwise seen from above (Andrew 1979)."""
    points = np.unique(np.asarray(points, dtype=float), axis=0)
    across, along = tangents(normal)
    flat = sorted((float(point @ across), float(point @ along), tuple(point)) for point in points)

    def chain(ordered):
        kept = []
        for point in ordered:
            while len(kept) > 1 and _turn(kept[-2], kept[-1], point) <= 1e-12:
                kept.pop()
            kept.append(point)
        return kept[:-1]

    return np.array([point for _, _, point in chain(flat) + chain(flat[::-1])])


def _turn(a, b, c):
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def tangents(normal):
    """Return two unit vectors of the ground that make a right-handed frame with its normal."""
    normal = np.asarray(normal, dtype=float)
    across = np.cross(normal, np.eye(3)[np.argmin(np.abs(normal))])
    across /= np.linalg.norm(across)
    return across, np.cross(normal, across)
