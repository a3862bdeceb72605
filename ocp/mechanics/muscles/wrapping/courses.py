"""Courses of paths over one surface or two: every case of what they touch or miss."""

from collections.abc import Sequence
from functools import cache

import casadi as ca
import numpy as np

from ocp.mechanics.elements.joint_elements import MotionState
from ocp.mechanics.muscles.path_segments import Anchor, Arc, Route, Segment, present
from ocp.mechanics.muscles.wrapping.surfaces import SHAPES, Surface, WrapCylinder, WrapEllipsoid
from ocp.mechanics.muscles.wrapping.tangents import (
    Touch,
    angle_from,
    cylindrical,
    on_sphere,
    plane_through,
    tangent_to,
)
from ocp.mechanics.values.types import Matrix

ROUNDS = 3  # alternations between two cylinders, from which Newton's steps converge
OTHER_ROUNDS = 8  # between two others, after which lengths are exact to a tenth of a micrometre
NEWTON = {"abstol": 1e-14, "max_iter": 40}


def wrap_route(
    state: MotionState, start: Anchor, surfaces: Sequence[Surface], end: Anchor
) -> Route:
    """Course of a path from an anchor over surfaces to another one.

    Args:
        state: the posture.
        start: where it comes from.
        surfaces: one surface, or two, in the order of the path.
        end: where it goes to.

    Returns:
        Its segments and arcs, of every case of surfaces that it touches or misses.
    """
    if len(surfaces) == 1:
        return _over_one(state, start, surfaces[0], end)
    first, second = (_Framed(state, each) for each in surfaces)
    return _over_two(first, second, start, end)


class _Framed:
    """A surface in a posture: between its own frame and global axes."""

    def __init__(self, state: MotionState, surface: Surface) -> None:
        rotation, origin = state.link_frame(surface.link)
        pose = ca.DM(np.array(surface.pose))
        self.surface = surface
        self.rotation = rotation @ pose[:3, :3]
        self.origin = rotation @ pose[:3, 3] + origin

    def inside(self, place: Matrix) -> Matrix:
        """Return a place in the surface's frame."""
        return self.rotation.T @ (place - self.origin)

    def outside(self, place: Matrix) -> Matrix:
        """Return a place of the surface's frame in global axes."""
        return self.rotation @ place + self.origin

    def touch(self, start: Matrix, end: Matrix) -> Touch:
        """Return the touch of a path from place to place, in global axes, with this surface."""
        return self.surface.touch(self.inside(start), self.inside(end))

    def anchor(self, place: Matrix) -> Anchor:
        """Return a place of the surface's frame as an anchor."""
        return Anchor(place=self.outside(place), link=self.surface.link)

    def arc(self, touch: Touch, presence: Matrix) -> Arc:
        """Return the part of a path on this surface, where `presence` is 1."""
        return Arc(
            length=present(presence, touch.arc),
            place=lambda share: self.outside(_place_on(self.surface, touch, share)),
            presence=presence,
        )


def _place_on(surface: Surface, touch: Touch, share: float) -> Matrix:
    """Return the place (3, m) of a surface's frame at a share of an arc: on a cylinder of a helix,
    else of a great circle of the sphere that is scaled to the ellipsoid, near the geodesic."""
    first, last = touch.first, touch.last
    if isinstance(surface, WrapCylinder) or getattr(surface, "shape", "") == SHAPES[0]:
        side = ca.sign((first[0] * last[1] - first[1] * last[0]) * ca.sin(touch.angle))
        turn = side * touch.angle * share
        x = first[0] * ca.cos(turn) - first[1] * ca.sin(turn)
        y = first[0] * ca.sin(turn) + first[1] * ca.cos(turn)
        return ca.vertcat(x, y, first[2] + share * (last[2] - first[2]))
    size = ca.DM(surface.radii if isinstance(surface, WrapEllipsoid) else 3 * [surface.radius])
    axes, angle = plane_through(first / size, last / size)
    return size * on_sphere(axes, angle * share, 0.0)


def _over_one(state: MotionState, start: Anchor, surface: Surface, end: Anchor) -> Route:
    framed = _Framed(state, surface)
    touch = framed.touch(start.place, end.place)
    wraps = touch.angle > 0
    first, last = framed.anchor(touch.first), framed.anchor(touch.last)
    segments = (
        Segment(start=start, end=first, presence=wraps),
        Segment(start=last, end=end, presence=wraps),
        Segment(start=start, end=end, presence=ca.logic_not(wraps)),
    )
    return Route(segments=segments, stops=(framed.arc(touch, wraps),))


def _over_two(first: _Framed, second: _Framed, start: Anchor, end: Anchor) -> Route:
    """Return the course over two surfaces, of which it touches both, one, or none.

    Between two cylinders Newton's steps find the common tangent; otherwise the place where the path
    leaves the first and that where it enters the second are found from each other in turn.

    It touches one alone if, over that one, it misses the other: at the edge of that case the path
    over both turns on the other by an angle of 0, so that lengths and slopes go on.
    """
    one, two = first.touch(start.place, end.place), second.touch(start.place, end.place)
    after = second.touch(first.outside(one.last), end.place)
    before = first.touch(start.place, second.outside(two.first))
    both_missed = ca.logic_and(one.angle <= 0, two.angle <= 0)
    first_alone = ca.logic_and(one.angle > 0, after.angle <= 0)
    second_alone = ca.logic_and(ca.logic_not(first_alone), two.angle > 0)
    second_alone = ca.logic_and(second_alone, before.angle <= 0)
    any_alone = ca.logic_or(both_missed, ca.logic_or(first_alone, second_alone))
    both = ca.logic_not(any_alone)
    guess = ca.if_else(two.angle > 0, before.last, one.last)
    entry, leave = two, before
    cylinders = all(isinstance(each.surface, WrapCylinder) for each in (first, second))
    for _ in range(ROUNDS if cylinders else OTHER_ROUNDS):
        entry = second.touch(first.outside(guess), end.place)
        leave = first.touch(start.place, second.outside(entry.first))
        guess = leave.last
    on_first, on_second = leave, entry
    if cylinders:
        on_first, on_second = _both_cylinders(first, second, start.place, end.place, leave, entry)
    touches_first, touches_second = ca.logic_or(first_alone, both), ca.logic_or(second_alone, both)
    on_first, on_second = _touch_of(both, on_first, one), _touch_of(both, on_second, two)
    ends = [
        framed.anchor(place)
        for framed, touch in ((first, on_first), (second, on_second))
        for place in (touch.first, touch.last)
    ]
    segments = (
        Segment(start=start, end=ends[0], presence=touches_first),
        Segment(start=ends[1], end=ends[2], presence=both),
        Segment(start=ends[1], end=end, presence=first_alone),
        Segment(start=start, end=ends[2], presence=second_alone),
        Segment(start=ends[3], end=end, presence=touches_second),
        Segment(start=start, end=end, presence=both_missed),
    )
    arcs = first.arc(on_first, touches_first), second.arc(on_second, touches_second)
    return Route(segments=segments, stops=arcs)


def _touch_of(both: Matrix, common: Touch, alone: Touch) -> Touch:
    """Return the touch with a surface where a path runs over both, or over that one alone."""
    pairs = {name: (getattr(common, name), getattr(alone, name)) for name in Touch.__slots__}
    return Touch(**{name: ca.if_else(both, *pair) for name, pair in pairs.items()})


def _both_cylinders(
    first: _Framed, second: _Framed, start: Matrix, end: Matrix, leave: Touch, entry: Touch
) -> tuple[Touch, Touch]:
    """Return the touches of a path with two cylinders at once, from those near by.

    Unknown are where it leaves the first and enters the second, by an angle and a height each; the
    rest is closed. Equations: the segment between both is tangent there, and as steep as what lies
    unrolled behind and before it.
    """
    framed, near = (first, second), (leave.last, entry.first)
    cylinders = [each.surface for each in framed if isinstance(each.surface, WrapCylinder)]
    radii = [each.radius for each in cylinders]
    places = first.inside(start), second.inside(end)
    ends = [cylindrical(place) for place in places]
    sides, guesses = [], []
    for k, place in enumerate(near):
        quadrant = cylinders[k].quadrant
        sweep = angle_from(place, quadrant) - angle_from(places[k], quadrant)
        if not quadrant:
            sweep = ca.atan2(ca.sin(sweep), ca.cos(sweep))
        sides.append(ca.if_else(sweep >= 0, 1, -1))
        guesses.append(ca.vertcat(ends[k][1] + sweep, place[2]))
    turn = first.rotation.T @ second.rotation
    given = ca.vertcat(
        *(ca.vertcat(*part) for part in ends),
        *radii,
        *sides,
        ca.vec(turn),
        first.inside(second.origin),
    )
    solved = _cylinder_tangents()(x0=ca.vertcat(*guesses), p=given)["x"]
    touches = []
    for k, radius in enumerate(radii):
        angle, height = solved[2 * k], solved[2 * k + 1]
        tangent, offset = tangent_to(ends[k][0], radius)
        winds = sides[k] * (angle - ends[k][1]) - offset
        around = tangent + radius * winds
        rise = (height - ends[k][2]) / around
        far = ends[k][1] + sides[k] * offset
        outer = ca.vertcat(radius * ca.cos(far), radius * ca.sin(far), ends[k][2] + rise * tangent)
        inner = ca.vertcat(radius * ca.cos(angle), radius * ca.sin(angle), height)
        arc = radius * winds * ca.sqrt(1 + rise**2)
        pair = (outer, inner) if k == 0 else (inner, outer)
        touches.append(Touch(first=pair[0], last=pair[1], arc=arc, angle=winds))
    return touches[0], touches[1]


@cache
def _cylinder_tangents() -> ca.Function:
    """Return the solver of the tangents between two cylinders (see `_both_cylinders`)."""
    x, p = ca.SX.sym("x", 4), ca.SX.sym("p", 22)
    ends, radii, sides = (p[:3], p[3:6]), (p[6], p[7]), (p[8], p[9])
    turn, origin = ca.reshape(p[10:19], 3, 3), p[19:]
    normals, tangents, places = [], [], []
    for k in range(2):
        cosine, sine = ca.cos(x[2 * k]), ca.sin(x[2 * k])
        normals.append(ca.vertcat(cosine, sine, 0))
        tangents.append(ca.vertcat(-sine, cosine, 0))
        places.append(ca.vertcat(radii[k] * cosine, radii[k] * sine, x[2 * k + 1]))
    between = turn @ places[1] + origin - places[0]
    rows = []
    for k, way in enumerate((between, turn.T @ between)):
        length, offset = tangent_to(ends[k][0], radii[k])
        around = length + radii[k] * (sides[k] * (x[2 * k] - ends[k][1]) - offset)
        # Away from its end of the path on both cylinders, so against the path on the second.
        along = sides[k] * ca.dot(tangents[k], way) * (1 if k == 0 else -1)
        rise = way[2] * (1 if k == 0 else -1)
        rows += [ca.dot(normals[k], way), around * rise - (x[2 * k + 1] - ends[k][2]) * along]
    problem = {"x": x, "p": p, "g": ca.vertcat(*rows)}
    options = {**NEWTON, "error_on_fail": False}  # where a path misses a cylinder it may fail
    return ca.rootfinder("cylinder_tangents", "newton", problem, options)
