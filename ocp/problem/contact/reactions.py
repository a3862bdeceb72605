"""Ground reactions: wrenches of feet, their sums, and rules by which feet share.

While one foot bears, it supplies all; while two bear, the shares follow from a rule (Xiang, Arora,
Rahmatalla & Abdel-Malek 2009: linear in the distances; Barman 2020, chapter V), or are variables of
the NLP.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import casadi as ca

from ocp.mechanics.model.loads import Wrench
from ocp.mechanics.model.tree import Tree
from ocp.mechanics.model.tree_structure import floating_root, structure
from ocp.mechanics.values.parameters import any_nonzero, matrix
from ocp.mechanics.values.types import Matrix
from ocp.problem.contact.ground import Foot, Ground, Plane, bearing_slots

FAINT = 1e-9  # N: a foot that bears counts as pushing at least so much where shares follow forces
Slot: TypeAlias = tuple[str, str]  # (foot, link)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reaction:
    """What the ground gives: wrenches of feet, their sums, and rules by which feet share.

    A foot is asked for by name, which raises ValueError if it is unknown; None asks for all feet
    together.
    """

    ground: Ground
    wrenches: Mapping[Slot, Wrench] = field(repr=False)

    def force(self, foot: str | None = None) -> Matrix:
        """Return the force (3, N) on a foot, or on all."""
        return sum((wrench.force for wrench in self._of(foot)), ca.SX.zeros(3))

    def moment(self, foot: str | None = None) -> Matrix:
        """Return the moment (3, N m) about the global origin on a foot, or on all."""
        return sum((wrench.about_origin for wrench in self._of(foot)), ca.SX.zeros(3))

    def total(self, foot: str | None = None) -> Wrench:
        """Return the Wrench on a foot, or on all, about the global origin and of no link."""
        return Wrench(link="", moment=self.moment(foot), force=self.force(foot))

    def feet_named(self, foot: str | None) -> Sequence[Foot]:
        """Return the foot of that name, or all."""
        return self.ground.feet if foot is None else [self.ground.foot(foot)]

    def _of(self, foot: str | None) -> list[Wrench]:
        names = [each.name for each in self.feet_named(foot)]
        return [wrench for (name, _), wrench in self.wrenches.items() if name in names]

    def pressure(self, foot: str | None = None) -> Matrix:
        """Return the centre of pressure (3, m) of a foot on its plane, or of all, the zero moment
        point on the ground's."""
        return self.lever(foot) / self.push(foot)

    def lever(self, foot: str | None = None) -> Matrix:
        """Return the centre of pressure times the normal force (3, N m), sound without force."""
        plane = self._plane(foot)
        lever, height = ca.cross(matrix(plane.normal), self.moment(foot)), plane.height
        return lever + matrix(height) * self.force(foot) if any_nonzero([height]) else lever

    def push(self, foot: str | None = None) -> Matrix:
        """Return the force (N) on a foot along the normal of its plane, or on all along the
        ground's."""
        return ca.dot(matrix(self._plane(foot).normal), self.force(foot))

    def twist(self, foot: str | None = None) -> Matrix:
        """Return the moment (N m) about the normal through the centre of pressure."""
        point, normal = self.pressure(foot), matrix(self._plane(foot).normal)
        return ca.dot(normal, self.moment(foot) - ca.cross(point, self.force(foot)))

    def _plane(self, foot: str | None) -> Plane:
        if foot is None:
            return Plane(normal=self.ground.normal)
        return self.ground.plane(self.ground.foot(foot))


def zero_moment_point(ground: Ground, wrench: Wrench) -> Matrix:
    """Return the point of the ground (3, m) about which a wrench has none but normal moment."""
    normal = matrix(ground.normal)
    return ca.cross(normal, wrench.about_origin) / ca.dot(normal, wrench.force)


def strangers(tree: Tree, ground: Ground) -> str:
    """Return the feet, and the links on which they stand, that do not hang on the floating root of
    a tree, as words; nothing where all do, and where there is no such root."""
    rows = structure(tree).floating
    if not rows:
        return ""
    body = {tree.rows.index(rows[-1])}
    for k, parent in enumerate(tree.parents):
        if parent in body:
            body.add(k)
    return ", ".join(
        f"{foot.name!r} on {each.link!r}"
        for foot in ground.feet
        for each in foot.supports
        if tree.link_index(each.link) not in body
    )


def check_two_pass(tree: Tree, ground: Ground) -> None:
    """Raise ValueError, naming the foot or the instant, unless two passes find what the ground
    gives: under a body that floats in space, one or two feet with areas on the ground's plane, of
    which one bears at every instant."""
    what, instead = "two-pass reactions", "take torques and ground wrenches as variables"
    floating_root(tree)
    other = strangers(tree, ground)
    if other:
        root = ", ".join(tree.moving[row].name for row in structure(tree).floating)
        raise ValueError(f"{what}: expected feet of the body on {root}, got {other}; {instead}")
    if len(ground.feet) > 2:
        raise ValueError(f"{what}: expected at most two feet, got {len(ground.feet)}; {instead}")
    for foot in ground.feet:
        kinds = [each.kind for each in foot.supports if each.kind != "area"]
        if kinds or foot.plane is not None or foot.grips:
            raise ValueError(
                f"{what}: foot {foot.name!r}: expected areas on the ground's own plane; {instead}"
            )
    for s in ground.instants:
        if not bearing_slots(ground, s):
            names = ", ".join(foot.name for foot in ground.feet)
            raise ValueError(f"{what}: no foot bears at s = {s:g} (feet: {names}); {instead}")


def two_pass(ground: Ground, s: Matrix, total: Wrench) -> dict[Slot, Wrench]:
    """Share the `total` Wrench among the feet that bear at s.

    Return {(foot, link): Wrench} (Barman 2020, section 5.3). Of two feet, each takes the share w
    that the distance of the zero moment point P from the other's centre c asks for, and applies it
    at its own centre shifted by e, the same for both, which keeps the balance of moments:

        w = clip((P - c_L) . (c_R - c_L) / |c_R - c_L|^2)
        e = P - (w_R c_R + w_L c_L)

    `s` is a number or an expression. Raises ValueError for more than two feet.
    """
    if len(ground.feet) > 2:
        raise ValueError(f"two-pass reactions: expected at most two feet, got {len(ground.feet)}")
    normal, point, force = matrix(ground.normal), zero_moment_point(ground, total), total.force
    twist = ca.dot(normal, total.about_origin - ca.cross(point, force))
    bearing = [_schedule(foot, s) for foot in ground.feet]
    active = [sum(active for _, active in links) for links in bearing]
    shares = _shares(ground, active, point) if len(ground.feet) == 2 else active
    centers = [matrix(foot.center) for foot in ground.feet]
    shift = point - sum(share * center for share, center in zip(shares, centers))
    wrenches = {}
    for foot, links, share, center in zip(ground.feet, bearing, shares, centers):
        for link, bears_here in links:
            pull = bears_here * share * force
            moment = ca.cross(center + shift, pull) + bears_here * share * twist * normal
            wrenches[foot.name, link] = Wrench(link=link, moment=moment, force=pull)
    return wrenches


def _shares(ground: Ground, active: Sequence[Matrix], point: Matrix) -> list[Matrix]:
    """Return the shares of two feet of a load at a point (3, m).

    `active` (2) is 1 where each bears and else 0.
    """
    first, second = (matrix(foot.center) for foot in ground.feet)
    both, line = active[0] * active[1], first - second
    part = ca.fmin(ca.fmax(ca.dot(point - second, line) / ca.dot(line, line), 0), 1)
    return [active[0] * (1 - both) + both * part, active[1] * (1 - both) + both * (1 - part)]


def share_reaction(
    ground: Ground, s: Matrix, given: Mapping[str, Wrench], total: Wrench
) -> dict[Slot, Wrench]:
    """Share the `total` Wrench as `given` {foot: Wrench} does, which need not balance it.

    Return {(foot, link): Wrench}. The remainder goes to the feet in proportion to their normal
    forces, each along that of its plane, its force through their centres: no foot is tilted by what
    it bears more. This is how wrenches known at nodes continue between them. While none bears
    nobody gets anything.
    """
    wrenches: dict[Slot, Wrench] = {}
    normals = {foot.name: matrix(ground.plane(foot).normal) for foot in ground.feet}
    bearing = {foot.name: _schedule(foot, s) for foot in ground.feet}
    there = {name: sum(active for _, active in links) for name, links in bearing.items()}
    moments = {name: there[name] * given[name].about_origin for name in there}
    forces = {name: there[name] * given[name].force for name in there}
    moment, force = total.about_origin - sum(moments.values()), total.force - sum(forces.values())
    pushes = {
        name: ca.fmax(ca.dot(normals[name], part), FAINT * there[name])
        for name, part in forces.items()
    }
    whole = ca.fmax(sum(pushes.values()), FAINT)
    parts = {name: push / whole for name, push in pushes.items()}
    levers = {foot.name: ca.cross(matrix(foot.center), force) for foot in ground.feet}
    moment -= sum(parts[name] * levers[name] for name in parts)
    for name, links in bearing.items():
        for link, active in links:
            wrenches[name, link] = Wrench(
                link=link,
                moment=active * (moments[name] + parts[name] * (levers[name] + moment)),
                force=active * (forces[name] + parts[name] * force),
            )
    return wrenches


def _schedule(foot: Foot, s: Matrix) -> tuple[tuple[str, Matrix], ...]:
    """Return (link, 1 while the foot bears on it else 0) for each of its links.

    The instant s is a number or an expression.
    """
    active: dict[str, Matrix] = dict.fromkeys((support.link for support in foot.supports), 0)
    for number, support in enumerate(foot.supports):
        a, b = support.when
        last = number + 1 == len(foot.supports) or foot.supports[number + 1].when[0] > b
        inside = ca.logic_and(s >= a - 1e-9, s <= b + 1e-9 if last else s < b - 1e-9)
        active[support.link] = active[support.link] + ca.logic_and(
            inside, ca.logic_and(s > foot.bears[0] + 1e-9, s < foot.bears[1] - 1e-9)
        )
    return tuple(active.items())
