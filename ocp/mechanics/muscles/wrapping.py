"""Wrapping of paths over cylinders, spheres and ellipsoids: exact tangents and geodesics.

Over one cylinder or sphere the path has a closed form: unrolled, its part on a cylinder and the two
tangents are one straight line, and over a sphere it lies in a plane with the centre. Over two
cylinders at once, and over an ellipsoid, tangents and geodesics follow from equations that Newton
steps solve, inside the graph; their derivatives are those of the implicit function theorem.

Over a cylinder with a `quadrant`, one of +x, -x, +y, -y, the path lies on that side: it never
crosses the half plane on the other side of the axis, however far it winds. Without one, and over
spheres and ellipsoids, off which it would slip else, it goes the shorter way. It touches where its
tangents turn by a positive angle. Cylinders are as long as the path needs, and a path from inside a
surface does not wrap over it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from math import atan2
from typing import TypeAlias

import casadi as ca
import numpy as np

from ocp.mechanics.elements.joint_elements import MotionState
from ocp.mechanics.muscles.routes import Anchor, Arc, Route, Segment, present
from ocp.mechanics.values.types import Matrix, Numbers
from ocp.mechanics.values.validation import freeze, numbers, positive, rigid_pose, set_fields
from ocp.spelling import suggest_fields

HOME = tuple(map(tuple, np.eye(4).tolist()))
QUADRANTS = {
    "": (1.0, 0.0),
    "+x": (1.0, 0.0),
    "-x": (-1.0, 0.0),
    "+y": (0.0, 1.0),
    "-y": (0.0, -1.0),
}
LEAST = 1e-20  # m2: what a squared tangent is where a point lies inside, and nothing counts
ROUNDS = 3  # alternations between two cylinders, from which Newton's steps converge
NEWTON = {"abstol": 1e-14, "max_iter": 40}
MODES = 10  # Chebyshev polynomials by which a geodesic leaves a plane
NODES = 20  # of Gauss's rule for its length
STAGES = 6  # in which an ellipsoid is made of a sphere
SIGNS = ca.DM((-1.0) ** np.arange(MODES))  # of the polynomials at their first end
COSINE = 1 - 1e-9  # of the least angle to a tangent's end


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
        label = _check_surface(self, "cylinder")
        if self.quadrant not in QUADRANTS:
            raise ValueError(
                f"{label}: quadrant: expected one of {', '.join(filter(None, QUADRANTS))} or "
                f'"", got {self.quadrant!r}'
            )
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

    Raises:
        ValueError: naming the link, for a radius that is not positive.
    """

    link: str
    radius: float
    pose: Numbers = HOME

    def __post_init__(self) -> None:
        label = _check_surface(self, "sphere")
        set_fields(self, radius=positive(f"{label}: radius", self.radius))

    def touch(self, start: Matrix, end: Matrix) -> "Touch":
        """Touch of a path from place to place (3, m, own frame), as `over_sphere` gives it."""
        return over_sphere(start, end, self.radius)


@suggest_fields
@dataclass(frozen=True, slots=True, kw_only=True)
class WrapEllipsoid:
    """An ellipsoid on a link that a path wraps over, about the origin of its own frame.

    Args:
        link: name of the link that carries it, or of the ground.
        radii: (3,) m, along the axes of its own frame.
        pose: its frame (4x4) in the link's.

    Raises:
        ValueError: naming the link, for a radius that is not positive.
    """

    link: str
    radii: Numbers
    pose: Numbers = HOME

    def __post_init__(self) -> None:
        label = _check_surface(self, "ellipsoid")
        radii = numbers(f"{label}: radii", self.radii, (3,))
        for radius in radii:
            positive(f"{label}: radii", radius)
        set_fields(self, radii=freeze(radii))

    def touch(self, start: Matrix, end: Matrix) -> "Touch":
        """Touch of a path from place to place (3, m, own frame), as `over_ellipsoid` gives it."""
        return over_ellipsoid(start, end, self.radii)


Surface: TypeAlias = WrapCylinder | WrapSphere | WrapEllipsoid
SURFACES = WrapCylinder, WrapSphere, WrapEllipsoid


def _check_surface(surface: Surface, kind: str) -> str:
    """Check a surface's link and pose; return what begins messages on it."""
    if not isinstance(surface.link, str) or not surface.link:
        raise ValueError(f"{kind}: link: expected a link's name, got {surface.link!r}")
    label = f"{kind} on {surface.link!r}"
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
    if isinstance(surface, WrapCylinder):
        side = ca.sign((first[0] * last[1] - first[1] * last[0]) * ca.sin(touch.angle))
        turn = side * touch.angle * share
        x = first[0] * ca.cos(turn) - first[1] * ca.sin(turn)
        y = first[0] * ca.sin(turn) + first[1] * ca.cos(turn)
        return ca.vertcat(x, y, first[2] + share * (last[2] - first[2]))
    size = ca.DM(surface.radii if isinstance(surface, WrapEllipsoid) else 3 * [surface.radius])
    axes, angle = _plane(first / size, last / size)
    return size * _on_sphere(axes, angle * share, 0.0)


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
    """Return the touch with a cylinder where a path runs over both, or over that one alone."""
    pairs = {name: (getattr(common, name), getattr(alone, name)) for name in Touch.__slots__}
    return Touch(**{name: ca.if_else(both, *pair) for name, pair in pairs.items()})


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
    cosine, sine = QUADRANTS[quadrant]
    zero = atan2(sine, cosine)
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


def over_sphere(start: Matrix, end: Matrix, radius: Matrix) -> Touch:
    """Touch of a path with a sphere about the origin, along a great circle, in closed form.

    Args:
        start: where the path comes from (3, m), in the sphere's frame.
        end: where it goes to (3, m).
        radius: m.

    Returns:
        The touch.
    """
    axes, sweep = _plane(start, end)
    angles = []
    for place in (start, end):
        tangent = ca.sqrt(ca.fmax(ca.sumsqr(place) - radius**2, LEAST))
        angles.append(ca.atan2(tangent, radius))
    angle = sweep - angles[0] - angles[1]
    turns = angles[0], sweep - angles[1]
    places = [radius * axes[:, :2] @ ca.vertcat(ca.cos(turn), ca.sin(turn)) for turn in turns]
    outside = _are_outside(start / radius, end / radius)
    missed = ca.if_else(outside, angle, -1)
    return Touch(first=places[0], last=places[1], arc=radius * angle, angle=missed)


def over_ellipsoid(start: Matrix, end: Matrix, radii: Matrix) -> Touch:
    """Touch of a path with an ellipsoid about the origin, along the shortest geodesic.

    Scaled to a unit sphere, the path runs near the plane through its ends and the centre: by an
    angle t in it and a small angle w(t) out of it, a sum of Chebyshev polynomials. Tangents from
    the ends touch where |p| cos w cos t = 1, p being the scaled end, so that the path's length is a
    function of w alone, and least at the solution. Whether the path touches is told by the sphere,
    exactly, since lines stay lines.

    Args:
        start: where the path comes from (3, m), in the ellipsoid's frame.
        end: where it goes to (3, m).
        radii: (3,) m.

    Returns:
        The touch; its angle is that on the sphere.
    """
    size = ca.DM(radii)
    scaled = start / size, end / size
    sphere = over_sphere(*scaled, 1.0)
    # Where it misses, a harmless place is solved for in its stead.
    touches = sphere.angle > 0
    first = ca.if_else(touches, scaled[0], ca.DM((2, 0, 0)))
    second = ca.if_else(touches, scaled[1], ca.DM((-1, 1, 0)))
    # From a sphere, on which the tilts are 0, in steps to the ellipsoid.
    modes: Matrix = ca.vertcat(ca.DM.zeros(MODES), sphere.arc)
    for share in np.linspace(0, 1, STAGES + 1)[1:]:
        stage = np.array(radii) ** share
        given = ca.vertcat(first, second, ca.DM(stage))
        modes = _ellipsoid_geodesic()(x0=modes, p=given)["x"]
    places = _touching_places(first, second, modes[:MODES])
    return Touch(
        first=size * places[0], last=size * places[1], arc=modes[MODES], angle=sphere.angle
    )


def _plane(start: Matrix, end: Matrix) -> tuple[Matrix, Matrix]:
    """Return three unit vectors (3, 3), toward `start`, across it toward `end` and out of their
    plane, and the angle from start to end."""
    toward, other = start / ca.norm_2(start), end / ca.norm_2(end)
    cosine = ca.dot(toward, other)
    across = other - toward * cosine
    sine = ca.norm_2(across)
    across = across / sine
    axes = ca.horzcat(toward, across, ca.cross(toward, across))
    return axes, ca.atan2(sine, cosine)


def _angle_from(place: Matrix, quadrant: str) -> Matrix:
    """Return the angle (rad) of a place about z from a quadrant's axis, within -pi and pi."""
    cosine, sine = QUADRANTS[quadrant]
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
    cylinders = [each.surface for each in framed if isinstance(each.surface, WrapCylinder)]
    radii = [each.radius for each in cylinders]
    places = first.inside(start), second.inside(end)
    ends = [_cylindrical(place) for place in places]
    sides, guesses = [], []
    for k, place in enumerate(near):
        quadrant = cylinders[k].quadrant
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
    options = {**NEWTON, "error_on_fail": False}  # where a path misses a cylinder it may fail
    return ca.rootfinder("cylinder_tangents", "newton", problem, options)


def _turned_places(
    start: Matrix, end: Matrix, tilts: Sequence[Matrix]
) -> tuple[Matrix, Matrix, Matrix]:
    """Return the axes (3, 3) of the plane of two scaled ends, and the angles in it where tangents
    touch the unit sphere at a tilt out of it."""
    axes, sweep = _plane(start, end)
    cosines = [
        ca.fmin(1 / (ca.norm_2(place) * ca.cos(tilt)), COSINE)
        for place, tilt in zip((start, end), tilts)
    ]
    return axes, ca.acos(cosines[0]), sweep - ca.acos(cosines[1])


def _on_sphere(axes: Matrix, turn: Matrix, tilt: Matrix) -> Matrix:
    """Return points (3, n) of the unit sphere by angles (1, n) in a plane and out of it."""
    level = ca.cos(tilt)
    return axes @ ca.vertcat(level * ca.cos(turn), level * ca.sin(turn), ca.sin(tilt))


def _touching_places(start: Matrix, end: Matrix, modes: Matrix) -> tuple[Matrix, Matrix]:
    """Return the places where a scaled path sets in and leaves, by its coefficients."""
    tilts = ca.dot(SIGNS, modes), ca.sum1(modes)
    axes, first, last = _turned_places(start, end, tilts)
    return _on_sphere(axes, first, tilts[0]), _on_sphere(axes, last, tilts[1])


@cache
def _ellipsoid_geodesic() -> ca.Function:
    """Return the solver of the shortest path over an ellipsoid (see `over_ellipsoid`)."""
    x, p = ca.SX.sym("x", MODES + 1), ca.SX.sym("p", 9)
    start, end, size = ca.vertsplit(p, 3)
    modes = x[:MODES]
    places = _touching_places(start, end, modes)
    nodes, weights = np.polynomial.legendre.leggauss(NODES)
    values = np.polynomial.chebyshev.chebvander(nodes, MODES - 1)
    unit = np.eye(MODES)
    rates = np.array([np.polynomial.chebyshev.chebval(nodes, _derivative(row)) for row in unit])
    tilt, tilting = (ca.DM(values) @ modes).T, (ca.DM(rates.T) @ modes).T
    tilts = ca.dot(SIGNS, modes), ca.sum1(modes)
    axes, first, last = _turned_places(start, end, tilts)
    turning = (last - first) / 2
    turn = (first + last) / 2 + turning * ca.DM(nodes).T
    level, out = ca.cos(tilt), ca.sin(tilt)
    along = ca.vertcat(
        -out * ca.cos(turn) * tilting - level * ca.sin(turn) * turning,
        -out * ca.sin(turn) * tilting + level * ca.cos(turn) * turning,
        level * tilting,
    )
    speeds = ca.sqrt(ca.sum1((ca.diag(size) @ axes @ along) ** 2))
    arc = speeds @ ca.DM(weights)
    ways = size * (places[0] - start), size * (end - places[1])
    length = ca.norm_2(ways[0]) + arc + ca.norm_2(ways[1])
    rows = (ca.gradient(length, modes), arc - x[MODES])
    problem = {"x": x, "p": p, "g": ca.vertcat(*rows)}
    return ca.rootfinder("ellipsoid_geodesic", "newton", problem, NEWTON)


def _derivative(coefficients: np.ndarray) -> np.ndarray:
    return np.polynomial.chebyshev.chebder(coefficients)
