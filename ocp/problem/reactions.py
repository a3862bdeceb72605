"""What the ground gives: wrenches of the feet, their sums and centres of pressure, and rules by which feet share.

While one foot bears, it supplies all; while two bear, the shares follow from a rule (Xiang, Arora, Rahmatalla &
Abdel-Malek 2009: linear in the distances; Barman 2020, chapter V), or are variables of the NLP.
"""

from dataclasses import dataclass

import casadi as ca

from ocp.mechanics.loads import Wrench
from ocp.problem.ground import Ground

FAINT = (
    1e-9  # N: a foot that bears counts as pushing so much at least where shares follow the forces
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reaction:
    """What the ground gives at one instant: `wrenches` {(foot, link): Wrench}."""

    ground: Ground
    wrenches: dict[tuple[str, str], Wrench]

    def force(self, foot=None):
        """Force (3, N) on a foot, or on all."""
        return sum((wrench.force for wrench in self._of(foot)), ca.SX.zeros(3))

    def moment(self, foot=None):
        """Moment (3, N m) about the global origin on a foot, or on all."""
        return sum((wrench.about_origin for wrench in self._of(foot)), ca.SX.zeros(3))

    def total(self, foot=None):
        """Wrench on a foot, or on all, about the global origin and of no link."""
        return Wrench(link="", moment=self.moment(foot), force=self.force(foot))

    def _of(self, foot):
        names = (
            [each.name for each in self.ground.feet]
            if foot is None
            else [self.ground.foot(foot).name]
        )
        return [wrench for (name, _), wrench in self.wrenches.items() if name in names]

    def pressure(self, foot=None):
        """Centre of pressure (3, m) of a foot, or of all: the zero moment point."""
        return zero_moment_point(self.ground, self.total(foot))

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


def zero_moment_point(ground, wrench):
    """Return the point of the ground (3, m) about which the wrench has no moment but along the normal."""
    normal = ca.DM(ground.normal)
    return ca.cross(normal, wrench.about_origin) / ca.dot(normal, wrench.force)


def two_pass(ground, s, total):
    """Share the `total` Wrench among the feet that bear at s; return {(foot, link): Wrench} (Barman 2020, section 5.3).

    Of two feet, each takes the share that the distance of the zero moment point P from the other's centre c asks for, w = clip((P - c_L).
    (c_R - c_L) / |c_R - c_L|^2), and applies it at its own centre shifted by e = P - (w_R c_R + w_L c_L), the same for both, which keeps
    the balance of moments. `s` is a number or an expression.
    """
    if len(ground.feet) > 2:
        raise ValueError(f"two-pass reactions: expected at most two feet, got {len(ground.feet)}")
    normal, point, force = ca.DM(ground.normal), zero_moment_point(ground, total), total.force
    twist = ca.dot(normal, total.about_origin - ca.cross(point, force))
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
            moment = ca.cross(center + shift, pull) + active * share * twist * normal
            found[foot.name, link] = Wrench(link=link, moment=moment, force=pull)
    return found


def shared(ground, s, given, total):
    """Share the `total` Wrench as `given` {foot: Wrench} does, which need not balance it; the remainder goes to the feet in proportion
    to their normal forces. Return {(foot, link): Wrench}. This is how wrenches known at nodes continue between them."""
    normal, found = ca.DM(ground.normal), {}
    bearing = {foot.name: _schedule(foot, s) for foot in ground.feet}
    there = {name: sum(active for _, active in links) for name, links in bearing.items()}
    moments = {name: there[name] * given[name].about_origin for name in there}
    forces = {name: there[name] * given[name].force for name in there}
    moment, force = total.about_origin - sum(moments.values()), total.force - sum(forces.values())
    pushes = {
        name: ca.fmax(ca.dot(normal, part), FAINT * there[name]) for name, part in forces.items()
    }
    whole = sum(pushes.values())
    for name, links in bearing.items():
        for link, active in links:
            part = pushes[name] / whole
            found[name, link] = Wrench(
                link=link,
                moment=active * (moments[name] + part * moment),
                force=active * (forces[name] + part * force),
            )
    return found


def _schedule(foot, s):
    """Return (link, 1 while the foot bears on it else 0) for each of its links, at the instant s, a number or an expression."""
    links = dict.fromkeys(support.link for support in foot.supports)
    active = dict.fromkeys(links, 0)
    for number, support in enumerate(foot.supports):
        a, b = support.when
        last = number + 1 == len(foot.supports) or foot.supports[number + 1].when[0] > b
        inside = ca.logic_and(s >= a - 1e-9, s <= b + 1e-9 if last else s < b - 1e-9)
        active[support.link] = active[support.link] + ca.logic_and(
            inside, ca.logic_and(s > foot.bears[0] + 1e-9, s < foot.bears[1] - 1e-9)
        )
    return tuple(active.items())
