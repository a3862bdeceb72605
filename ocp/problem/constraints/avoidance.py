"""Collision avoidance of limbs: one another, a carried box, the edges of stairs."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import inf
from typing import TypeAlias

import casadi as ca

from ocp.mechanics.values.parameters import Number, matrix
from ocp.mechanics.values.types import Matrix, Numbers
from ocp.problem.constraint import Constraint, When, require_bound
from ocp.problem.instant import Instant

ROUNDING = 0.02  # m: over which the distance from a box is smooth at its edges
SHARP = 0.002  # m: by which the edge of a stair is rounded off
Spot = str | tuple[str, str, float]  # a point, or a share of the way from one to another
Box: TypeAlias = tuple[Matrix, tuple[Matrix, Matrix]]  # centre, and axes up and ahead


def apart(name: str, pairs: Sequence[tuple[tuple[str, Number], tuple[str, Number]]]) -> Constraint:
    """Keep pairs of spheres, ((point, radius), (point, radius)), radii in m, from touching.

    Rows are squared distances (m2).
    """
    stated = Constraint(
        name=name,
        function=lambda at: ca.vertcat(*(ca.sumsqr(at.offset(a, b)) for (a, _), (b, _) in pairs)),
        lower=tuple((first + second) ** 2 for (_, first), (_, second) in pairs),
        upper=inf,
        labels=tuple(f"{a} and {b}" for (a, _), (b, _) in pairs),
        units="m2",
    )
    return require_bound(stated)


def off_sphere(
    name: str, place: Numbers, radius: Number, spheres: Mapping[str, Number], *, when: When = "path"
) -> Constraint:
    """Keep spheres {point: radius (m)} off a sphere of a `radius` (m) that rests at a `place` (3,
    m). Rows are squared distances (m2); `when` as in `Constraint`."""
    stated = Constraint(
        name=name,
        function=lambda at: ca.vertcat(
            *(ca.sumsqr(at.position(point) - matrix(place)) for point in spheres)
        ),
        lower=tuple((radius + own) ** 2 for own in spheres.values()),
        upper=inf,
        when=when,
        labels=tuple(spheres),
        units="m2",
    )
    return require_bound(stated)


def off_box(
    name: str,
    box: Callable[[Instant], Box],
    half: tuple[Number, Number],
    spheres: Mapping[str, Number],
    *,
    when: When = "path",
) -> Constraint:
    """Keep spheres {point: radius (m)} off a box that is carried ahead.

    They stay behind it, over it or under it, never before it. `box`(instant) gives its centre (3,
    m) and the unit axes up and ahead in which its half lengths `half` (m) are; across it has no
    end. The distance is the Euclidean one outside, minus that to the nearest face inside, rounded
    so that it has slopes everywhere; the bounds make up for what that adds before a face. `when` as
    in `Constraint`.
    """
    stated = Constraint(
        name=name,
        function=lambda at: _clearances(at, box(at), half, spheres),
        lower=tuple(
            _rounded_distance(0.0, _positive(radius), radius) for radius in spheres.values()
        ),
        upper=inf,
        when=when,
        labels=tuple(spheres),
        units="m",
    )
    return require_bound(stated)


def off_edges(
    name: str,
    edges: Sequence[Numbers],
    spots: Sequence[Spot],
    *,
    up: Sequence[float],
    ahead: Sequence[float],
    when: When = "path",
) -> Constraint:
    """Keep spots of a limb off stairs: over or before each of their `edges` (3, m), which may be
    open.

    An edge bounds what is below it and beyond it, along the unit axes `up` and `ahead` (3); across
    these it has no end. With a spot a above an edge and b before it,

        a + b + sqrt(a^2 + b^2 + SHARP^2) >= 0        (m)

    which without SHARP is max(a, b) >= 0 (Fischer 1992). With it the edge is rounded off: inside, a
    spot is free where a b <= SHARP^2 / 2. Away from the edge stairs are where they are, so that a
    spot may stand on one: kept off everywhere it would have to fall at the strike. A spot is a
    named point, or (first, second, share) of the way between two. `when` as in `Constraint`.
    """
    upward, forward = ca.DM(up), ca.DM(ahead)

    def rooms(at: Instant) -> Matrix:
        places = [_spot(at, spot) for spot in spots]
        return ca.vertcat(
            *(
                _room(ca.dot(upward, place - matrix(edge)), ca.dot(forward, matrix(edge) - place))
                for edge in edges
                for place in places
            )
        )

    words = [spot if isinstance(spot, str) else f"{spot[0]} to {spot[1]}" for spot in spots]
    return Constraint(
        name=name,
        function=rooms,
        lower=0.0,
        upper=inf,
        when=when,
        labels=tuple(f"{word} off edge {k + 1}" for k in range(len(edges)) for word in words),
        units="m",
    )


def _spot(at: Instant, spot: Spot) -> Matrix:
    """Return the place (3, m) of a point, or between two."""
    if isinstance(spot, str):
        return at.position(spot)
    first, second, share = spot
    return (1 - share) * at.position(first) + share * at.position(second)


def _room(above: Matrix, before: Matrix) -> Matrix:
    """Return an expression that is positive where either is."""
    return above + before + (above**2 + before**2 + SHARP**2) ** 0.5


def _clearances(
    at: Instant, box: Box, half: tuple[Number, Number], points: Iterable[str]
) -> Matrix:
    """Return the distances (m) of points from a box: its centre, and its axes up and ahead."""
    center, (up, ahead) = box
    distances = []
    for point in points:
        away = at.position(point) - center
        over = _smooth(ca.dot(up, away)) - half[0]
        behind = -ca.dot(ahead, away) - half[1]
        nearer = over + _positive(behind - over)
        distances.append(_rounded_distance(_positive(over), _positive(behind), nearer))
    return ca.vertcat(*distances)


def _rounded_distance(over: Matrix, behind: Matrix, nearest: Matrix) -> Matrix:
    """Return the distance from what is beyond two faces and the nearer one, negative inside."""
    return (over**2 + behind**2 + ROUNDING**2) ** 0.5 + nearest - _positive(nearest)


def _smooth(value: Matrix) -> Matrix:
    """Return |value|, rounded at 0."""
    return (value**2 + ROUNDING**2) ** 0.5


def _positive(value: Matrix) -> Matrix:
    """Return max(value, 0), rounded at 0."""
    return (value + _smooth(value)) / 2
