"""Wrapping of paths over cylinders, spheres and ellipsoids: exact tangents and geodesics.

Over one cylinder or sphere the path has a closed form: unrolled, its part on a cylinder and the two
tangents are one straight line, and over a sphere it lies in a plane with the centre. Over two
cylinders at once, and over an ellipsoid, tangents follow from equations that Newton steps solve,
inside the graph; their derivatives are those of the implicit function theorem.

A path lies on one side of a surface. By a `quadrant`, one of +x, -x, +y, -y (and of a sphere or an
ellipsoid +z, -z), it never crosses the half plane on the other side of the axis, however far it
winds; without one it goes the shorter way. It touches where its tangents turn by a positive angle.
Surfaces are as long as the path needs, and a path from inside one does not wrap over it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from math import pi
from typing import TypeAlias

import casadi as ca
import numpy as np

from ocp.mechanics.elements.joint_elements import MotionState
from ocp.mechanics.muscles.geodesics import ellipsoid_geodesic
from ocp.mechanics.muscles.routes import Anchor, Route, Segment, present
from ocp.mechanics.values.types import Matrix, Numbers
from ocp.mechanics.values.validation import freeze, numbers, positive, rigid_pose, set_fields
from ocp.spelling import suggest_fields

HOME = tuple(map(tuple, np.eye(4).tolist()))
AXES = {name: np.array(axis) for name, axis in zip("xyz", np.eye(3))}
LEAST = 1e-20  # m2: what a squared tangent is where a point lies inside, and nothing counts
ROUNDS = 3  # alternations between two cylinders, from which Newton's steps converge
NEWTON = {"error_on_fail": False, "abstol": 1e-15, "max_iter": 30}  # only in use where it converges
CHORDS = 8  # of a first guess of a geodesic's length


@suggest_fields
@dataclass(frozen=True, slots=True, kw_only=True)
class WrapCylinder:
    """A cylinder on a link that a path wraps over, along the z axis of its own frame.

    Args:
        link: name of the link that carries it, or of the ground.
        radius: m.
        pose: its frame (4x4) in the link's.
        quadrant: side of its axis on which the path lies: +x, -x, +y or -y; "" for the shorter way.

    Raises:
        ValueError: naming the link, for a radius that is not positive or an unknown quadrant.
    """

    link: str
    radius: float
    pose: Numbers = HOME
    quadrant: str = ""

    def __post_init__(self) -> None:
        label = _check_surface(self, "cylinder", "xy")
        set_fields(self, radius=positive(f"{label}: radius", self.radius))

    def touch(self, start: Matrix, end: Matrix) -> "Touch":
        """Touch of a path from place to place (3, m, own frame), as `over_cylinder` gives it."""
        return over_cylinder(start, end, self.radius, self.quadrant)


@suggest_fields
@dataclass(frozen=True, slots=True, kw_only=True)
class WrapSphere:
    """A sphere on a link that a path wraps over, about the origin of its own frame.

    Args:
        link: name of the link that carries it, or of the ground.
        radius: m.
        pose: its frame (4x4) in the link's.
        quadrant: side on which the path lies: +x, -x, +y, -y, +z or -z; "" for the shorter way.

    Raises:
        ValueError: naming the link, for a radius that is not positive or an unknown quadrant.
    """

    link: str
    radius: float
    pose: Numbers = HOME
    quadrant: str = ""

    def __post_init__(self) -> None:
        label = _check_surface(self, "sphere", "xyz")
        set_fields(self, radius=positive(f"{label}: radius", self.radius))

    def touch(self, start: Matrix, end: Matrix) -> "Touch":
        """Touch of a path from place to place (3, m, own frame), as `over_sphere` gives it."""
        return over_sphere(start, end, self.radius, self.quadrant)


@suggest_fields
@dataclass(frozen=True, slots=True, kw_only=True)
class WrapEllipsoid:
    """An ellipsoid on a link that a path wraps over, about the origin of its own frame.

    Args:
        link: name of the link that carries it, or of the ground.
        radii: (3,) m, along the axes of its own frame.
        pose: its frame (4x4) in the link's.
        quadrant: side on which the path lies, as of a `WrapSphere`.

    Raises:
        ValueError: naming the link, for a radius that is not positive or an unknown quadrant.
    """

    link: str
    radii: Numbers
    pose: Numbers = HOME
    quadrant: str = ""

    def __post_init__(self) -> None:
        label = _check_surface(self, "ellipsoid", "xyz")
        radii = numbers(f"{label}: radii", self.radii, (3,))
        for radius in radii:
            positive(f"{label}: radii", radius)
        set_fields(self, radii=freeze(radii))

    def touch(self, start: Matrix, end: Matrix) -> "Touch":
        """Touch of a path from place to place (3, m, own frame), as `over_ellipsoid` gives it."""
        return over_ellipsoid(start, end, self.radii, self.quadrant)


Surface: TypeAlias = WrapCylinder | WrapSphere | WrapEllipsoid
SURFACES = WrapCylinder, WrapSphere, WrapEllipsoid


def _check_surface(surface: Surface, kind: str, axes: str) -> str:
    """Check a surface's link, pose and quadrant; return what begins messages on it."""
    label = f"{kind} on {surface.link!r}"
    if not isinstance(surface.link, str) or not surface.link:
        raise ValueError(f"{kind}: link: expected a link's name, got {surface.link!r}")
    sides = [sign + axis for axis in axes for sign in "+-"]
    if surface.quadrant not in ("", *sides):
        raise ValueError(
            f'{label}: quadrant: expected one of {", ".join(sides)} or "", got {surface.quadrant!r}'
        )
    set_fields(surface, pose=freeze(rigid_pose(f"{label}: pose", surface.pose)))
    return label


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Touch:
    """Where a path touches a surface, in the surface's frame.

    `first` and `last` place (3, m), the length of the `arc` (m) between them, and the `angle` (rad)
    over which it turns there, negative where the path misses the surface.
    """

    first: Matrix
    last: Matrix
    arc: Matrix
    angle: Matrix


def wrap_route(
    state: MotionState, start: Anchor, surfaces: Sequence[Surface], end: Anchor
) -> Route:
    """Course of a path from an anchor over surfaces to another one.

    Args:
        state: the posture.
        start: where it comes from.
        surfaces: one surface, or two cylinders, in the order of the path.
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
    return Route(segments=segments, arcs=(present(wraps, touch.arc),))


def _over_two(first: _Framed, second: _Framed, start: Anchor, end: Anchor) -> Route:
    """Return the course over two cylinders, of which it touches both, one, or none.

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
    for _ in range(ROUNDS):
        entry = second.touch(first.outside(guess), end.place)
        leave = first.touch(start.place, second.outside(entry.first))
        guess = leave.last
    on_first, on_second = _both_cylinders(first, second, start.place, end.place, leave, entry)
    touches_first, touches_second = ca.logic_or(first_alone, both), ca.logic_or(second_alone, both)
    ends = [
        framed.anchor(ca.if_else(both, getattr(common, side), getattr(alone, side)))
        for framed, common, alone in ((first, on_first, one), (second, on_second, two))
        for side in ("first", "last")
    ]
    segments = (
        Segment(start=start, end=ends[0], presence=touches_first),
        Segment(start=ends[1], end=ends[2], presence=both),
        Segment(start=ends[1], end=end, presence=first_alone),
        Segment(start=start, end=ends[2], presence=second_alone),
        Segment(start=ends[3], end=end, presence=touches_second),
        Segment(start=start, end=end, presence=both_missed),
    )
    arcs = (
        present(touches_first, ca.if_else(both, on_first.arc, one.arc)),
        present(touches_second, ca.if_else(both, on_second.arc, two.arc)),
    )
    return Route(segments=segments, arcs=arcs)


def over_cylinder(start: Matrix, end: Matrix, radius: Matrix, quadrant: str = "") -> Touch:
    """Touch of a path with a cylinder about the z axis, in closed form.

    Across the axis it is two tangents and a circular arc, of which a tangent point lies at an angle
    atan(t / R) from its end of the path; along the axis it rises evenly (a helix unrolls straight).

    Args:
        start: where the path comes from (3, m), in the cylinder's frame.
        end: where it goes to (3, m).
        radius: m.
        quadrant: side of the axis on which it lies, "" for the shorter way.

    Returns:
        The touch.
    """
    about, tangents, offsets = [], [], []
    for place in (start, end):
        tangents.append(ca.sqrt(ca.fmax(place[0] ** 2 + place[1] ** 2 - radius**2, LEAST)))
        offsets.append(ca.atan2(tangents[-1], radius))
        about.append(_angle_from(place, quadrant))
    sweep = about[1] - about[0]
    if not quadrant:
        sweep = ca.atan2(ca.sin(sweep), ca.cos(sweep))
    side = ca.if_else(sweep >= 0, 1, -1)
    angle = side * sweep - offsets[0] - offsets[1]
    around = tangents[0] + radius * angle + tangents[1]
    rise = (end[2] - start[2]) / around
    zero = ca.atan2(*reversed(_axis(quadrant)[:2].tolist()))
    places = [
        ca.vertcat(radius * ca.cos(turn), radius * ca.sin(turn), start[2] + rise * along)
        for turn, along in (
            (zero + about[0] + side * offsets[0], tangents[0]),
            (zero + about[0] + sweep - side * offsets[1], tangents[0] + radius * angle),
        )
    ]
    outside = _are_outside(start[:2] / radius, end[:2] / radius)
    arc = radius * angle * ca.sqrt(1 + rise**2)
    return Touch(first=places[0], last=places[1], arc=arc, angle=ca.if_else(outside, angle, -1))


def over_sphere(start: Matrix, end: Matrix, radius: Matrix, quadrant: str = "") -> Touch:
    """Touch of a path with a sphere about the origin, along a great circle, in closed form.

    Args:
        start: where the path comes from (3, m), in the sphere's frame.
        end: where it goes to (3, m).
        radius: m.
        quadrant: side on which it lies, "" for the shorter way.

    Returns:
        The touch.
    """
    plane, sweep = _plane(start, end, quadrant)
    angles = []
    for place in (start, end):
        tangent = ca.sqrt(ca.fmax(ca.sumsqr(place) - radius**2, LEAST))
        angles.append(ca.atan2(tangent, radius))
    angle = sweep - angles[0] - angles[1]
    turns = angles[0], sweep - angles[1]
    places = [radius * plane @ ca.vertcat(ca.cos(turn), ca.sin(turn)) for turn in turns]
    outside = _are_outside(start / radius, end / radius)
    missed = ca.if_else(outside, angle, -1)
    return Touch(first=places[0], last=places[1], arc=radius * angle, angle=missed)


def over_ellipsoid(start: Matrix, end: Matrix, radii: Matrix, quadrant: str = "") -> Touch:
    """Touch of a path with an ellipsoid about the origin, along a geodesic.

    Scaled to a unit sphere, the tangents from a point touch along a circle, on which an angle tells
    where the path sets in. With it and with the geodesic's length, the equations are that it ends
    where the other tangent is one: straight on along the surface and across it. Whether the path
    touches is told by the sphere, exactly, since lines stay lines.

    Args:
        start: where the path comes from (3, m), in the ellipsoid's frame.
        end: where it goes to (3, m).
        radii: (3,) m.
        quadrant: side on which it lies, "" for the shorter way.

    Returns:
        The touch; its angle is that on the sphere.
    """
    size = ca.DM(radii)
    sphere = over_sphere(start / size, end / size, 1.0, quadrant)
    plane, _ = _plane(start / size, end / size, quadrant)
    first = ca.atan2(plane[:, 1].T @ sphere.first, plane[:, 0].T @ sphere.first)
    turns = [first + sphere.angle * k / CHORDS for k in range(CHORDS + 1)]
    places = [size * (plane @ ca.vertcat(ca.cos(turn), ca.sin(turn))) for turn in turns]
    chords = sum(ca.norm_2(after - before) for before, after in pairwise(places))
    guess = ca.vertcat(0, chords, places[-1])
    given = ca.vertcat(start, end, size, plane[:, 1])
    solved = _ellipsoid_tangents()(x0=guess, p=given)["x"]
    entry = size * _on_circle(start / size, plane[:, 1], solved[0])
    return Touch(first=entry, last=solved[2:], arc=solved[1], angle=sphere.angle)


def _plane(start: Matrix, end: Matrix, quadrant: str) -> tuple[Matrix, Matrix]:
    """Return two unit vectors (3, 2), toward `start` and across it the way the path goes, and the
    angle from start to end that way."""
    toward, other = start / ca.norm_2(start), end / ca.norm_2(end)
    across = other - toward * ca.dot(toward, other)
    sine, cosine = ca.norm_2(across), ca.dot(toward, other)
    across, sweep = across / sine, ca.atan2(sine, cosine)
    if quadrant:
        shorter = ca.dot(ca.DM(_axis(quadrant)), toward + other) >= 0
        across = ca.if_else(shorter, across, -across)
        sweep = ca.if_else(shorter, sweep, 2 * pi - sweep)
    return ca.horzcat(toward, across), sweep


def _axis(quadrant: str) -> np.ndarray:
    """Return the direction (3) of a quadrant, of none the x axis."""
    return AXES[quadrant[1]] * (-1.0 if quadrant[0] == "-" else 1.0) if quadrant else AXES["x"]


def _angle_from(place: Matrix, quadrant: str) -> Matrix:
    """Return the angle (rad) of a place about z from a quadrant's axis, within -pi and pi."""
    cosine, sine, _ = _axis(quadrant)
    return ca.atan2(cosine * place[1] - sine * place[0], cosine * place[0] + sine * place[1])


def _are_outside(start: Matrix, end: Matrix) -> Matrix:
    """Return whether both ends lie outside of a unit circle or sphere."""
    return ca.logic_and(ca.sumsqr(start) > 1, ca.sumsqr(end) > 1)


def _both_cylinders(
    first: _Framed, second: _Framed, start: Matrix, end: Matrix, leave: Touch, entry: Touch
) -> tuple[Touch, Touch]:
    """Return the touches of a path with two cylinders at once, from those near by.

    Unknown are where it leaves the first and enters the second, by an angle and a height each; the
    rest is closed. Equations: the segment between both is tangent there, and as steep as what lies
    unrolled behind and before it.
    """
    framed, near = (first, second), (leave.last, entry.first)
    radii = [each.surface.radius for each in framed if isinstance(each.surface, WrapCylinder)]
    places = first.inside(start), second.inside(end)
    ends = [_cylindrical(place) for place in places]
    sides, guesses = [], []
    for k, (each, place) in enumerate(zip(framed, near)):
        quadrant = each.surface.quadrant
        sweep = _angle_from(place, quadrant) - _angle_from(places[k], quadrant)
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
        tangent, offset = _tangent(ends[k][0], radius)
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


def _cylindrical(place: Matrix) -> tuple[Matrix, Matrix, Matrix]:
    """Return radius (m), angle (rad) about z and height (m) of a place."""
    return ca.sqrt(place[0] ** 2 + place[1] ** 2), ca.atan2(place[1], place[0]), place[2]


def _tangent(distance: Matrix, radius: Matrix) -> tuple[Matrix, Matrix]:
    """Return the length of a tangent across a cylinder, and its angle about the axis."""
    length = ca.sqrt(ca.fmax(distance**2 - radius**2, LEAST))
    return length, ca.atan2(length, radius)


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
        length, offset = _tangent(ends[k][0], radii[k])
        around = length + radii[k] * (sides[k] * (x[2 * k] - ends[k][1]) - offset)
        # Away from its end of the path on both cylinders, so against the path on the second.
        along = sides[k] * ca.dot(tangents[k], way) * (1 if k == 0 else -1)
        rise = way[2] * (1 if k == 0 else -1)
        rows += [ca.dot(normals[k], way), around * rise - (x[2 * k + 1] - ends[k][2]) * along]
    problem = {"x": x, "p": p, "g": ca.vertcat(*rows)}
    return ca.rootfinder("cylinder_tangents", "newton", problem, NEWTON)


def _on_circle(start: Matrix, across: Matrix, angle: Matrix) -> Matrix:
    """Return a point (3) of the circle where tangents from a place touch the unit sphere, by the
    angle from the direction `across`."""
    square = ca.sumsqr(start)
    third = ca.cross(start / ca.sqrt(square), across)
    spread = ca.sqrt(ca.fmax(1 - 1 / square, LEAST))
    return start / square + spread * (ca.cos(angle) * across + ca.sin(angle) * third)


@cache
def _ellipsoid_tangents() -> ca.Function:
    """Return the solver of the tangents to an ellipsoid (see `over_ellipsoid`)."""
    x, p = ca.SX.sym("x", 5), ca.SX.sym("p", 12)
    start, end, size, across = ca.vertsplit(p, 3)
    entry = size * _on_circle(start / size, across, x[0])
    way = entry - start
    place, heading = ellipsoid_geodesic(entry, way / ca.norm_2(way), x[1], size)
    normal = place / size**2
    normal, left = normal / ca.norm_2(normal), end - place
    rows = (x[2:] - place, ca.dot(normal, left), ca.dot(ca.cross(normal, heading), left))
    problem = {"x": x, "p": p, "g": ca.vertcat(*rows)}
    return ca.rootfinder("ellipsoid_tangents", "newton", problem, NEWTON)
