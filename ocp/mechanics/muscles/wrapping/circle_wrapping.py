"""Touches of paths in a plane with circles, past a side or from inside, as MuJoCo's tendons have
them."""

import casadi as ca

from ocp.mechanics.muscles.wrapping.tangents import LEAST, Touch, are_outside
from ocp.mechanics.values.types import Matrix

INSIDE_START, INSIDE_NEAR, INSIDE_STEPS = 1 - 1e-7, 1e-14, 20  # rad; of Newton's steps


def past_circle(
    start: Matrix, end: Matrix, radius: float, side: Matrix = None, behind: bool = False
) -> Touch:
    """Touch of a path in a plane with a circle about the origin, past a side or the shorter way.

    Of both ways round, that is taken whose tangents touch nearer to the side (or to each other),
    unless they cross (MuJoCo's documentation, "Spatial tendon").

    Args:
        start: where the path comes from (2, m).
        end: where it goes to (2, m).
        radius: m.
        side: direction (2) from the centre; None for none.
        behind: whether the longer way is taken where the straight line passes the centre behind,
            as seen from the side, and else the shorter one, as MuJoCo 4 does [found by trials].

    Returns:
        The touch, in the plane.
    """
    way = end - start
    share = ca.fmin(ca.fmax(-ca.dot(way, start) / ca.sumsqr(way), 0), 1)
    nearest = start + share * way
    meets = ca.sumsqr(nearest) <= radius**2
    if side is not None:
        longer = _passes_behind(start, end, side) if behind else ca.dot(side, nearest) < 0
        meets = ca.logic_or(meets, longer)
    ways = []
    for turn in (1, -1):
        places = []
        for place, sign in ((start, turn), (end, -turn)):
            tangent = ca.sqrt(ca.fmax(ca.sumsqr(place) - radius**2, LEAST))
            across = ca.vertcat(place[1], -place[0])
            touched = radius * (radius * place + sign * tangent * across) / ca.sumsqr(place)
            places.append(touched)
        first, last = places
        middle = first + last
        merit = -ca.sumsqr(first - last)
        if side is not None and behind:
            merit = ca.if_else(longer, -merit, merit)
        elif side is not None:
            merit = ca.dot(middle, side) / ca.sqrt(ca.fmax(ca.sumsqr(middle), LEAST))
        crossed = _segments_cross(start, first, end, last)
        angle = ca.atan2(turn * (first[1] * last[0] - first[0] * last[1]), ca.dot(first, last))
        angle = ca.if_else(angle < 0, angle + 2 * ca.pi, angle)
        ways.append((first, last, angle, crossed, ca.if_else(crossed, -ca.inf, merit)))
    better = ways[0][4] > ways[1][4]
    first, last, angle, crossed = (
        ca.if_else(better, one, other) for one, other in zip(ways[0][:4], ways[1][:4])
    )
    outside = are_outside(start / radius, end / radius)
    wraps = ca.logic_and(ca.logic_and(outside, meets), ca.logic_not(crossed))
    angle = ca.if_else(wraps, ca.fmax(angle, LEAST), -1)
    return Touch(first=first, last=last, arc=radius * angle, angle=angle)


def _passes_behind(start: Matrix, end: Matrix, side: Matrix) -> Matrix:
    """Return whether the segment (2) from start to end meets the ray from the origin away from a
    side (2)."""
    off, far = (side[0] * place[1] - side[1] * place[0] for place in (start, end))
    met = off * ca.dot(side, end) - far * ca.dot(side, start)  # over off - far, along the side
    return ca.logic_and(off * far <= 0, met * (off - far) < 0)


def _segments_cross(a: Matrix, b: Matrix, c: Matrix, d: Matrix) -> Matrix:
    """Return whether the segments (2) from a to b and from c to d meet."""
    one, other, off = b - a, d - c, a - c
    turned = other[1] * one[0] - other[0] * one[1]
    shares = (other[0] * off[1] - other[1] * off[0], one[0] * off[1] - one[1] * off[0])
    inside = [ca.logic_and(each / turned >= 0, each / turned <= 1) for each in shares]
    return ca.logic_and(turned != 0, ca.logic_and(*inside))


def within_circle(start: Matrix, end: Matrix, radius: float) -> Touch:
    """Touch of a path in a plane that runs through a circle about the origin: the place inside of
    it where its way is shortest.

    With z the sine of the angle between path and normal there, G the angle between both ends:

        asin(R z / |start|) + asin(R z / |end|) - 2 asin(z) + G = 0

    by Newton's steps to rounding (MuJoCo's end where it is off by 1e-6).

    Args:
        start: where the path comes from (2, m), outside.
        end: where it goes to (2, m), outside.
        radius: m.

    Returns:
        The touch, in the plane, with an arc of 0; its angle is positive where the path touches.
    """
    distances = ca.norm_2(start), ca.norm_2(end)
    way = end - start
    share = -ca.dot(way, start) / ca.sumsqr(way)
    nearest = start + share * way
    meets = ca.sumsqr(nearest) <= radius**2
    meets = ca.logic_and(meets, ca.logic_and(share > 0, share < 1))
    turn = start[0] * end[1] - start[1] * end[0]
    between = ca.atan2(ca.fabs(turn), ca.dot(start, end))
    ratios = [radius / ca.fmax(each, radius) for each in distances]

    def off(z: Matrix) -> Matrix:
        return ca.asin(ratios[0] * z) + ca.asin(ratios[1] * z) - 2 * ca.asin(z) + between

    z: Matrix = INSIDE_START
    value = off(z)
    solvable = value <= 0
    for _ in range(INSIDE_STEPS):
        slope = sum(each / ca.sqrt(1 - (each * z) ** 2) for each in ratios) - 2 / ca.sqrt(1 - z**2)
        z = ca.if_else(ca.fabs(value) > INSIDE_NEAR, z - value / slope, z)
        value = off(z)
    left = turn > 0
    toward = ca.if_else(left, start / distances[0], end / distances[1])
    angle = ca.asin(z) - ca.asin(ca.if_else(left, ratios[0], ratios[1]) * z)
    cosine, sine = ca.cos(angle), ca.sin(angle)
    place = ca.vertcat(cosine * toward[0] - sine * toward[1], sine * toward[0] + cosine * toward[1])
    # a line that grazes the circle touches where it is nearest, as in MuJoCo from 3.17 on
    place = radius * ca.if_else(solvable, place, nearest / ca.norm_2(nearest))
    outside = are_outside(start / radius, end / radius)
    wraps = ca.logic_and(outside, ca.logic_not(meets))
    return Touch(first=place, last=place, arc=0.0, angle=ca.if_else(wraps, LEAST, -1))
