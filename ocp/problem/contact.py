"""What standing, stepping and not hitting oneself require of a motion, each a function that returns Constraint records.

Forces count in the units of their rows: N and N m over the body's weight, so that rows are of the size of the angles.
"""

from math import inf

import casadi as ca
import numpy as np

from ocp.mechanics.zero_moment import body_weight, hull, tangents
from ocp.problem.ground import bearing_slots, bears
from ocp.problem.reactions import two_pass
from ocp.problem.statement import Constraint, Span

AXES = "xyz"
ROUNDING = 0.02  # m: over which the distance from a box is smooth at its edges


def foot_contact(ground, *, position=0.002, velocity=0.1, symmetry=None):
    """Hold the pins of every support: within `position` (m) of their targets, and slower than `velocity` (m/s) but at a strike.

    At a switch the support that holds more axes holds, the earlier one of two alike. Under a `symmetry` of the motion the rows of the end
    are left out: their image holds at the start, and twice the same row would leave its multiplier undetermined.
    """
    found = []
    for foot in ground.feet:
        for number, support in enumerate(foot.supports):
            if not support.pins:
                continue
            labels = tuple(f"{pin.point}.{axis}" for pin in support.pins for axis in pin.axes)
            name = f"{foot.name}.{number + 1}"
            opened = _open_ends(foot, number, symmetry is not None)
            found.append(
                Constraint(
                    name=f"contact.{name}",
                    function=lambda at, pins=support.pins: _pinned(at, pins),
                    lower=-position,
                    upper=position,
                    when=Span(start=support.when[0], end=support.when[1], **opened),
                    labels=labels,
                    units="m",
                )
            )
            strikes = {
                "open_start": opened["open_start"]
                or bool(np.isclose(support.when[0], foot.bears[0]))
            }
            found.append(
                Constraint(
                    name=f"slip.{name}",
                    function=lambda at, pins=support.pins: _pin_rates(at, pins),
                    lower=-velocity,
                    upper=velocity,
                    when=Span(start=support.when[0], end=support.when[1], **opened | strikes),
                    labels=labels,
                    units="m/s",
                )
            )
    return tuple(found)


def _open_ends(foot, number, imaged):
    """Return which ends of a support's span are left out; where the end is the image of the start, it is."""
    mine = foot.supports[number]
    ends = {"open_start": False, "open_end": imaged and mine.when[1] == 1.0}
    for other, end in ((number - 1, 0), (number + 1, 1)):
        if 0 <= other < len(foot.supports) and foot.supports[other].when[1 - end] == mine.when[end]:
            rival = len(_axes(foot.supports[other])) - len(_axes(mine))
            if rival > 0 or rival == 0 and end == 0:
                ends["open_end" if end else "open_start"] = True
    return ends


def _axes(support):
    return [axis for pin in support.pins for axis in pin.axes]


def _pinned(at, pins):
    return ca.vertcat(
        *(
            at.position(pin.point)[AXES.index(axis)] - pin.target[AXES.index(axis)]
            for pin in pins
            for axis in pin.axes
        )
    )


def _pin_rates(at, pins):
    return ca.vertcat(
        *(at.velocity(pin.point)[AXES.index(axis)] for pin in pins for axis in pin.axes)
    )


def no_penetration(ground, points):
    """Keep the points {foot: names} above the ground wherever no support of the foot pins their height."""
    normal = np.array(ground.normal)
    up = AXES[int(np.argmax(np.abs(normal)))]
    found = []
    for foot in ground.feet:
        for point in points[foot.name]:
            pinned = [
                support.when
                for support in foot.supports
                for pin in support.pins
                if pin.point == point and up in pin.axes
            ]
            for k, (a, b) in enumerate(_gaps(pinned)):
                found.append(
                    Constraint(
                        name=f"penetration.{point}" + (f".{k + 1}" if k else ""),
                        lower=0.0,
                        upper=inf,
                        labels=(point,),
                        units="m",
                        function=lambda at, point=point: ca.dot(ca.DM(normal), at.position(point)),
                        when=Span(start=a, end=b, open_start=a > 0, open_end=b < 1),
                    )
                )
    return tuple(found)


def _gaps(spans):
    """Return the parts of [0, 1] that spans, closed ones, leave over."""
    edge, found = 0.0, []
    for a, b in sorted(spans):
        if a > edge + 1e-9:
            found.append((edge, a))
        edge = max(edge, b)
    return found + ([(edge, 1.0)] if edge < 1 - 1e-9 else [])


def unilateral(tree, ground, *, least=0.0):
    """Let the ground push only: every foot's normal force is positive, and all together at least the share `least` of the weight."""
    weight, names = body_weight(tree), tuple(foot.name for foot in ground.feet)
    found = [
        Constraint(
            name="unilateral",
            function=lambda at: ca.vertcat(*(at.reaction.push(name) for name in names)) / weight,
            lower=0.0,
            upper=inf,
            labels=names,
            units="weights",
        )
    ]
    if least:
        found.append(
            Constraint(
                name="support",
                function=lambda at: at.reaction.push() / weight,
                lower=least,
                upper=inf,
                labels=("all feet",),
                units="weights",
            )
        )
    return tuple(found)


def friction(tree, ground, *, coefficient=0.6, torsion=None):
    """Keep each foot's force in the pyramid inside the friction cone, |F_t| <= coefficient / sqrt 2 F_n for both directions t, and the moment
    about the normal through its centre within `torsion` (m) times the normal force, if given."""
    weight, names = body_weight(tree), tuple(foot.name for foot in ground.feet)
    across = tangents(ground.normal)

    def rows(at):
        found = []
        for foot in ground.feet:
            push, force = at.reaction.push(foot.name), at.reaction.force(foot.name)
            for axis in across:
                pull = ca.dot(ca.DM(axis), force)
                found += [
                    coefficient / np.sqrt(2) * push - pull,
                    coefficient / np.sqrt(2) * push + pull,
                ]
            if torsion is not None:
                center = ca.DM(foot.center)
                twist = ca.dot(
                    ca.DM(ground.normal), at.reaction.moment(foot.name) - ca.cross(center, force)
                )
                found += [torsion * push - twist, torsion * push + twist]
        return ca.vertcat(*found) / weight

    count = 4 + 2 * (torsion is not None)
    labels = tuple(f"{name}, side {k + 1}" for name in names for k in range(count))
    return (
        Constraint(
            name="friction", function=rows, lower=0.0, upper=inf, labels=labels, units="weights"
        ),
    )


def pressure_inside(tree, ground):
    """Keep each foot's centre of pressure in the polygon of the support in force, at a switch in both, and so the zero moment point in the
    hull of them all."""
    found = []
    for foot in ground.feet:
        for number, support in enumerate(foot.supports):
            found.append(
                _inside(
                    tree,
                    ground,
                    f"pressure.{foot.name}.{number + 1}",
                    support.polygon,
                    foot.name,
                    Span(start=support.when[0], end=support.when[1]),
                )
            )
    return tuple(found)


def zmp_inside(tree, ground):
    """Keep the zero moment point in the hull of the polygons of all feet that bear; at a switch, in both hulls."""
    edges, found, closed = sorted({0.0, 1.0, *ground.switches}), [], set()
    for a, b in zip(edges, edges[1:]):
        feet = [foot for foot in ground.feet if bears(foot, (a + b) / 2)]
        opened = {
            side: not all(bears(foot, end) for foot in feet)
            for side, end in (("open_start", a), ("open_end", b))
        }
        closed |= {end for side, end in (("open_start", a), ("open_end", b)) if not opened[side]}
        found.append(
            _inside(
                tree,
                ground,
                f"zmp.{len(found) + 1}",
                _corners(ground, feet, (a + b) / 2),
                None,
                Span(start=a, end=b, **opened),
            )
        )
    for s in edges:
        if s not in closed:
            feet = [foot for foot in ground.feet if bears(foot, s)]
            found.append(
                _inside(
                    tree,
                    ground,
                    f"zmp.{len(found) + 1}",
                    _corners(ground, feet, s),
                    None,
                    Span(start=s, end=s),
                )
            )
    return tuple(found)


def _corners(ground, feet, s):
    supports = [
        support
        for foot in feet
        for support in foot.supports
        if support.when[0] - 1e-9 <= s <= support.when[1] + 1e-9
    ]
    return [corner for support in supports for corner in support.polygon]


def _inside(tree, ground, name, corners, foot, when):
    """Return the constraint that a centre of pressure lies left of every edge of a polygon: its distance times the normal force."""
    if len(corners) < 3:
        raise ValueError(
            f"{name}: expected a polygon of at least three corners, got {len(corners)}"
        )
    corners, normal, weight = hull(corners, ground.normal), ca.DM(ground.normal), body_weight(tree)
    edges = [
        (v, (w - v) / np.linalg.norm(w - v)) for v, w in zip(corners, np.roll(corners, -1, axis=0))
    ]

    def rows(at):
        lever, push = at.reaction.lever(foot), at.reaction.push(foot)
        return (
            ca.vertcat(
                *(
                    ca.dot(normal, ca.cross(ca.DM(edge), lever - ca.DM(corner) * push))
                    for corner, edge in edges
                )
            )
            / weight
        )

    return Constraint(
        name=name,
        function=rows,
        lower=0.0,
        upper=inf,
        when=when,
        units="weights m",
        labels=tuple(f"edge {k + 1}" for k in range(len(edges))),
    )


def linear_split(tree, ground):
    """Share the ground's wrench between two feet as the two-pass reaction does, where both bear (Xiang et al. 2009; Barman 2020)."""
    weight, first = body_weight(tree), ground.feet[0].name
    edges, found = sorted({0.0, 1.0, *ground.switches}), []

    def rows(at):
        shares = two_pass(ground, at.s, at.reaction.total())
        of_first = [wrench for (name, _), wrench in shares.items() if name == first]
        moment = sum(wrench.moment for wrench in of_first)
        force = sum(wrench.force for wrench in of_first)
        return (
            ca.vertcat(at.reaction.moment(first) - moment, at.reaction.force(first) - force)
            / weight
        )

    for a, b in zip(edges, edges[1:]):
        if len(bearing_slots(ground, (a + b) / 2)) == 2:
            ends = {
                "open_start": len(bearing_slots(ground, a)) < 2 or bool(found),
                "open_end": len(bearing_slots(ground, b)) < 2,
            }
            found.append(
                Constraint(
                    name=f"split.{len(found) + 1}",
                    function=rows,
                    lower=0.0,
                    upper=0.0,
                    when=Span(start=a, end=b, **ends),
                    labels=tuple(f"{what} {axis}" for what in ("moment", "force") for axis in AXES),
                    units="weights",
                )
            )
    return tuple(found)


def swing_together(name, first, second, *, along=(0.0, 0.0, 1.0)):
    """Let two limbs swing to the same side: each is (fixed point, moving point), and the product of both reaches along an axis is positive."""
    axis = ca.DM(along)

    def product(at):
        reach, other = (
            ca.dot(axis, at.position(end) - at.position(start)) for start, end in (first, second)
        )
        return reach * other

    return Constraint(
        name=name,
        function=product,
        lower=0.0,
        upper=inf,
        labels=(f"{first[1]} with {second[1]}",),
        units="m2",
    )


def apart(name, pairs):
    """Keep pairs of spheres, ((point, radius), (point, radius)), from touching."""

    def rows(at):
        return ca.vertcat(*(ca.sumsqr(at.offset(a, b)) for (a, _), (b, _) in pairs))

    return Constraint(
        name=name,
        function=rows,
        lower=tuple((ra + rb) ** 2 for (_, ra), (_, rb) in pairs),
        upper=inf,
        labels=tuple(f"{a} and {b}" for (a, _), (b, _) in pairs),
        units="m2",
    )


def off_box(name, box, half, spheres, *, when="path"):
    """Keep spheres {point: radius (m)} off a box that is carried ahead: behind it, over it or under it, never before it.

    `box`(instant) gives its centre (3, m) and the unit axes up and ahead in which its half lengths `half` (m) are; across it has no end.
    The distance is the Euclidean one outside, minus that to the nearest face inside, rounded so that it has slopes everywhere; the bounds
    make up for what that adds before a face.
    """

    def rows(at):
        center, (up, ahead) = box(at)
        found = []
        for point in spheres:
            away = at.position(point) - center
            over, behind = _smooth(ca.dot(up, away)) - half[0], -ca.dot(ahead, away) - half[1]
            found.append(
                _rounded(_positive(over), _positive(behind), over + _positive(behind - over))
            )
        return ca.vertcat(*found)

    least = tuple(_rounded(0.0, _positive(radius), radius) for radius in spheres.values())
    return Constraint(
        name=name,
        function=rows,
        lower=least,
        upper=inf,
        when=when,
        labels=tuple(spheres),
        units="m",
    )


def _rounded(over, behind, nearest):
    """Distance from what is beyond two faces, and beyond the nearer one, negative inside."""
    return (over**2 + behind**2 + ROUNDING**2) ** 0.5 + nearest - _positive(nearest)


def _smooth(value):
    """|value|, rounded at 0."""
    return (value**2 + ROUNDING**2) ** 0.5


def _positive(value):
    """max(value, 0), rounded at 0."""
    return (value + _smooth(value)) / 2
