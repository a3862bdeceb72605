"""Limits of ground contact: unilateral forces, friction cones, centres of pressure in soles, and no
energy from the ground.

Two feet may share a force by distance. Forces count in the units of their rows: N and N m over the
body's weight, so that rows are of the size of the angles.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from math import inf

import casadi as ca
import numpy as np

from ocp.mechanics.kinematics.zero_moment import (
    body_weight,
    convex_hull,
    open_weight,
    tangents,
    unit_vector,
)
from ocp.mechanics.model.tree import Tree
from ocp.mechanics.values.parameters import Number, any_nonzero, array, matrix, nominal
from ocp.mechanics.values.types import Matrix, Numbers
from ocp.mechanics.values.validation import nominal_array, positive
from ocp.problem.constraint import Constraint, Span
from ocp.problem.contact.ground import Foot, Ground, Support, bearing_slots, bears
from ocp.problem.contact.reactions import two_pass
from ocp.problem.contact.transmitted_wrenches import transmissions
from ocp.problem.instant import Instant

AXES = "xyz"
DISSIPATION = "dissipation"  # what constraints are called by which the ground gives nothing
ENDS = ("start of the line", "end of the line")
SLACK = 1e-9  # of s: within which an instant is that of a switch
FIXED = 6  # axes of its pins by which a body is held altogether


def unilateral(tree: Tree, ground: Ground, *, least: Number = 0.0) -> tuple[Constraint, ...]:
    """Let the ground push only: the normal force of every foot that does not grip is positive.

    All together they carry at least the share `least` of the weight.
    """
    weight = body_weight(tree)
    names = tuple(foot.name for foot in ground.feet if not foot.grips)
    each = Constraint(
        name="unilateral",
        function=lambda at: ca.vertcat(*(at.reaction.push(name) for name in names)) / weight,
        lower=0.0,
        upper=inf,
        labels=names,
        units="weights",
    )
    if not any_nonzero([least]):
        return (each,) if names else ()
    together = Constraint(
        name="support",
        function=lambda at: at.reaction.push() / weight,
        lower=least * (open_weight(tree) / weight),
        upper=inf,
        labels=("all feet",),
        units="weights",
    )
    return each, together


def friction(
    tree: Tree, ground: Ground, *, coefficient: Number = 0.6, torsion: Number | None = None
) -> tuple[Constraint, ...]:
    """Keep each foot's force in the pyramid inside the friction cone.

    |F_t| <= coefficient / sqrt 2 F_n for both directions t of the foot's plane, of which a planar
    tree feels one, where |F_t| <= coefficient F_n. The moment about the normal through the foot's
    centre stays within `torsion` (m) times the normal force, if given. What grips has no cone.
    Raises ValueError naming the feet for a coefficient or a torsion below 0.
    """
    names = ", ".join(repr(foot.name) for foot in ground.feet if not foot.grips)
    coefficient = positive(f"friction of {names}: coefficient", coefficient, zero=True, unit="")
    if torsion is not None:
        torsion = positive(f"friction of {names}: torsion", torsion, zero=True, unit="m")
    weight = body_weight(tree)
    feet = {
        foot.name: (foot, _felt_tangents(tree, ground, foot))
        for foot in ground.feet
        if not foot.grips
    }
    sides = {
        name: 2 * len(tangent) + (0 if torsion is None else 2)
        for name, (_, tangent) in feet.items()
    }
    if not sum(sides.values()):
        return ()
    return (
        Constraint(
            name="friction",
            function=lambda at: (
                ca.vertcat(
                    *(
                        margin
                        for foot, tangent in feet.values()
                        for margin in _margins(at, ground, foot, tangent, coefficient, torsion)
                    )
                )
                / weight
            ),
            lower=0.0,
            upper=inf,
            labels=tuple(
                f"{name}, side {k + 1}" for name, count in sides.items() for k in range(count)
            ),
            units="weights",
        ),
    )


def _felt_tangents(tree: Tree, ground: Ground, foot: Foot) -> tuple[np.ndarray, ...]:
    """Return the directions of a foot's plane, two at most, in which a motion of the tree feels a
    force."""
    ways = []
    for each in transmissions(tree, ground):
        if each.foot == foot.name:
            axes = np.eye(3) if each.axes is None else np.array(each.axes)
            ways += [axes[:, k] for k in range(3) if each.present[3 + k]]
    return tuple(
        tangent
        for tangent in tangents(ground.plane(foot).normal)
        if any(abs(nominal_array(tangent) @ way) > SLACK for way in ways)
    )


def _margins(
    at: Instant,
    ground: Ground,
    foot: Foot,
    directions: Sequence[np.ndarray],
    coefficient: Number,
    torsion: Number | None,
) -> list[Matrix]:
    """Return by how much (N, N m) a foot's force and twist are within each face."""
    push, force = at.reaction.push(foot.name), at.reaction.force(foot.name)
    grip = coefficient / np.sqrt(len(directions) or 1) * push
    margins = []
    for axis in directions:
        pull = ca.dot(matrix(axis), force)
        margins += [grip - pull, grip + pull]
    if torsion is not None:
        moment = at.reaction.moment(foot.name) - ca.cross(matrix(foot.center), force)
        twist = ca.dot(matrix(ground.plane(foot).normal), moment)
        margins += [torsion * push - twist, torsion * push + twist]
    return margins


def contact_limits(
    tree: Tree, ground: Ground, *, coefficient: Number = 0.6, torsion: Number | None = None
) -> tuple[Constraint, ...]:
    """Let every foot bear as a rough ground does: by a push alone, within friction, and inside its
    sole; `coefficient` and `torsion` are those of `friction`."""
    return (
        *unilateral(tree, ground),
        *friction(tree, ground, coefficient=coefficient, torsion=torsion),
        *pressure_inside(tree, ground),
    )


def pressure_inside(tree: Tree, ground: Ground) -> tuple[Constraint, ...]:
    """Keep each foot's centre of pressure in the polygon of the support in force.

    At a switch it is in both. So the zero moment point stays in the hull of them all. On a line it
    lies between the ends; a point has none of its own. Raises ValueError for an area's polygon of
    fewer than three corners.
    """
    return tuple(_pressures(tree, ground))


def _pressures(tree: Tree, ground: Ground) -> Iterator[Constraint]:
    for foot in ground.feet:
        for number, support in enumerate(foot.supports):
            name = f"pressure.{foot.name}.{number + 1}"
            when = Span(start=support.when[0], end=support.when[1])
            if support.kind != "point":
                yield _inside(tree, ground, name, supports=(support,), foot=foot.name, when=when)


def dissipation(tree: Tree, ground: Ground) -> tuple[Constraint, ...]:
    """Let the ground take energy from every foot, and never give any: the power of each contact's
    wrench is at most zero.

    A rigid ground stores nothing, and friction works against slip, whatever its law (Coulomb 1785;
    Moreau 1988). Feet that stand within tolerances could else be carried along: by a force as they
    slip or rise, by a moment as they turn about less of the sole than bears. Of supports that hold
    all their link exactly, which give nothing, none is asked.
    """
    return tuple(_dissipations(tree, ground))


def _dissipations(tree: Tree, ground: Ground) -> Iterator[Constraint]:
    for foot in ground.feet:
        for number, support in enumerate(foot.supports):
            exact = support.rigid and (
                support.kind != "area" or sum(len(pin.axes) for pin in support.pins) >= FIXED
            )
            if not exact:
                a, b = support.when
                before = foot.supports[number - 1].when[1] if number else -inf
                yield Constraint(
                    name=f"{DISSIPATION}.{foot.name}.{number + 1}",
                    function=partial(_given_power, foot=foot.name, weight=body_weight(tree)),
                    lower=-inf,
                    upper=0.0,
                    when=Span(
                        start=a,
                        end=b,
                        open_start=a <= max(before, foot.bears[0]) + SLACK,
                        open_end=b >= foot.bears[1] - SLACK,
                    ),
                    labels=(foot.name,),
                    units="weights m/s",
                )


def _given_power(at: Instant, foot: str, weight: Number) -> Matrix:
    """Return the power that the ground gives a foot, over the body's weight (m/s)."""
    return at.contact_power(foot) / weight


def zmp_inside(tree: Tree, ground: Ground) -> tuple[Constraint, ...]:
    """Keep the zero moment point in the hull of all that bears: polygons, lines and points.

    At a switch, in both hulls. Where all that bears lies on one line, as under a body in a plane,
    it lies between the ends; at a single point it has no room to leave. Raises ValueError for an
    area's polygon of fewer than three corners.
    """
    edges = sorted({0.0, 1.0, *ground.switches})
    spans = [_closed_where_all_bear(ground, a, b) for a, b in pairwise(edges)]
    closed = {span.start for span in spans if not span.open_start}
    closed |= {span.end for span in spans if not span.open_end}
    spans += [Span(start=s, end=s) for s in edges if s not in closed]
    bearing_in = {span: _supports_in_force(ground, (span.start + span.end) / 2) for span in spans}
    return tuple(
        _inside(tree, ground, f"zmp.{number + 1}", supports=supports, foot=None, when=span)
        for number, (span, supports) in enumerate(bearing_in.items())
        if _have_room(supports, ground.normal)
    )


def _closed_where_all_bear(ground: Ground, start: float, end: float) -> Span:
    """Return the span between two switches, open where a foot that bears inside does not."""
    feet = [foot for foot in ground.feet if bears(foot, (start + end) / 2)]
    return Span(
        start=start,
        end=end,
        open_start=not all(bears(foot, start) for foot in feet),
        open_end=not all(bears(foot, end) for foot in feet),
    )


def _supports_in_force(ground: Ground, s: float) -> list[Support]:
    """Return the supports in force at s of the feet that bear."""
    return [
        support
        for foot in ground.feet
        if bears(foot, s)
        for support in foot.supports
        if support.when[0] - SLACK <= s <= support.when[1] + SLACK
    ]


def _places(supports: Sequence[Support]) -> list[Numbers]:
    """Return the places at which supports bear: the corners of polygons and lines, and points."""
    places: list[Numbers] = []
    for support in supports:
        places += [support.pins[0].target] if support.kind == "point" else support.polygon
    return places


def _have_room(supports: Sequence[Support], normal: Sequence[float]) -> bool:
    """Tell whether a centre of pressure could lie outside the hull of supports: below areas, and
    where there is more than one place to bear."""
    places = _places(supports)
    return any(each.kind == "area" for each in supports) or (
        len(places) > 1 and len(_hull(places, normal)) > 1
    )


def _inside(
    tree: Tree,
    ground: Ground,
    name: str,
    *,
    supports: Sequence[Support],
    foot: str | None,
    when: Span,
) -> Constraint:
    """Return the constraint that a centre of pressure lies left of every edge of the hull of
    supports, or between its ends where it is a line.

    Its rows are distances times the normal force, over the weight (m).
    """
    corners = tuple(_places(supports))
    if len(corners) < 3 and any(support.kind == "area" for support in supports):
        raise ValueError(
            f"{name}: expected a polygon of at least three corners, got {len(corners)}"
        )
    normal = ground.normal if foot is None else ground.plane(ground.foot(foot)).normal
    around = _hull(corners, normal)
    edges = tuple(f"edge {k + 1}" for k in range(len(around)))
    return Constraint(
        name=name,
        function=Inside(
            name=name,
            corners=corners,
            around=around,
            normal=normal,
            weight=body_weight(tree),
            foot=foot,
        ),
        lower=0.0,
        upper=inf,
        when=when,
        units="weights m",
        labels=ENDS if len(around) == len(ENDS) else edges,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Inside:
    """How far the centre of pressure of a `foot`, or of all, is left of every edge of a polygon, or
    from either end of a line, times the normal force over the `weight` (m): a function of an
    Instant.

    `around` are the numbers of those `corners` (3, m) that make its hull, in order round the
    `normal`, which open corners make at the parameters' own values. Raises ValueError for numbers
    in their place with which others do.
    """

    name: str
    corners: tuple
    around: tuple[int, ...]
    normal: tuple[float, ...]
    weight: float
    foot: str | None

    def __post_init__(self) -> None:
        found = _hull(self.corners, self.normal)
        turns = [found[k:] + found[:k] for k in range(len(found))]  # whichever corner comes first
        if self.around not in turns:
            raise ValueError(
                f"{self.name}: expected values with which the corners {self.around} make its hull, "
                f"as at the parameters' own values, got others, {found}"
            )

    def __call__(self, at: Instant) -> Matrix:
        normal, lever = matrix(self.normal), at.reaction.lever(self.foot)
        push, corners = at.reaction.push(self.foot), array([self.corners[k] for k in self.around])
        rows = []
        for v, w in zip(corners, np.roll(corners, -1, axis=0)):
            arm = lever - matrix(v) * push
            if len(corners) == len(ENDS):
                way = w - v - np.array(self.normal) * (np.array(self.normal) @ (w - v))
                rows.append(ca.dot(matrix(unit_vector(way)), arm))
            else:
                rows.append(ca.dot(normal, ca.cross(matrix(unit_vector(w - v)), arm)))
        return ca.vertcat(*rows) / self.weight


def _hull(corners: Sequence[Numbers], normal: Sequence[float]) -> tuple[int, ...]:
    """Return which corners make the convex hull, in order round the `normal`, or as they stand
    where there are two, of open ones at their parameters' own values."""
    here = np.array(nominal(corners))
    around = [
        int(np.argmin(np.abs(here - v).sum(axis=1))) for v in convex_hull(here, nominal(normal))
    ]
    return tuple(sorted(around) if len(around) == len(ENDS) else around)


def linear_split(tree: Tree, ground: Ground) -> tuple[Constraint, ...]:
    """Share the ground's wrench between two feet as the two-pass reaction does.

    It holds where both bear (Xiang et al. 2009; Barman 2020).
    """
    weight, first = body_weight(tree), ground.feet[0].name

    def excess(at: Instant) -> Matrix:
        shares = two_pass(ground, at.s, at.reaction.total())
        of_first = [wrench for (name, _), wrench in shares.items() if name == first]
        moment = sum(wrench.moment for wrench in of_first)
        force = sum(wrench.force for wrench in of_first)
        given = ca.vertcat(at.reaction.moment(first) - moment, at.reaction.force(first) - force)
        return given / weight

    return tuple(
        Constraint(
            name=f"split.{number + 1}",
            function=excess,
            lower=0.0,
            upper=0.0,
            when=span,
            labels=tuple(f"{what} {axis}" for what in ("moment", "force") for axis in AXES),
            units="weights",
        )
        for number, span in enumerate(_double_support(ground))
    )


def _double_support(ground: Ground) -> list[Span]:
    """Return the spans in which two feet bear, each instant in one of them only."""
    spans: list[Span] = []
    for a, b in pairwise(sorted({0.0, 1.0, *ground.switches})):
        if len(bearing_slots(ground, (a + b) / 2)) == 2:
            spans.append(
                Span(
                    start=a,
                    end=b,
                    open_start=len(bearing_slots(ground, a)) < 2 or bool(spans),
                    open_end=len(bearing_slots(ground, b)) < 2,
                )
            )
    return spans
