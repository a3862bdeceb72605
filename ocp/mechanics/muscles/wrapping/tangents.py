"""Touches of paths with cylinders and spheres, in closed form.

Unrolled, a path over a cylinder is one straight line, and over a sphere it lies in a plane with the
centre.
"""

from dataclasses import dataclass
from math import atan2

import casadi as ca

from ocp.mechanics.values.types import Matrix

QUADRANTS = {
    "": (1.0, 0.0),
    "+x": (1.0, 0.0),
    "-x": (-1.0, 0.0),
    "+y": (0.0, 1.0),
    "-y": (0.0, -1.0),
}
LEAST = 1e-20  # m2: what a squared tangent is where a point lies inside, and nothing counts


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
        about.append(angle_from(place, quadrant))
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
    outside = are_outside(start[:2] / radius, end[:2] / radius)
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
    axes, sweep = plane_through(start, end)
    angles = []
    for place in (start, end):
        tangent = ca.sqrt(ca.fmax(ca.sumsqr(place) - radius**2, LEAST))
        angles.append(ca.atan2(tangent, radius))
    angle = sweep - angles[0] - angles[1]
    turns = angles[0], sweep - angles[1]
    places = [radius * axes[:, :2] @ ca.vertcat(ca.cos(turn), ca.sin(turn)) for turn in turns]
    outside = are_outside(start / radius, end / radius)
    missed = ca.if_else(outside, angle, -1)
    return Touch(first=places[0], last=places[1], arc=radius * angle, angle=missed)


def plane_through(start: Matrix, end: Matrix) -> tuple[Matrix, Matrix]:
    """Return three unit vectors (3, 3), toward `start`, across it toward `end` and out of their
    plane, and the angle from start to end."""
    toward, other = start / ca.norm_2(start), end / ca.norm_2(end)
    cosine = ca.dot(toward, other)
    across = other - toward * cosine
    sine = ca.norm_2(across)
    across = across / sine
    axes = ca.horzcat(toward, across, ca.cross(toward, across))
    return axes, ca.atan2(sine, cosine)


def on_sphere(axes: Matrix, turn: Matrix, tilt: Matrix) -> Matrix:
    """Return points (3, n) of the unit sphere by angles (1, n) in a plane and out of it."""
    level = ca.cos(tilt)
    return axes @ ca.vertcat(level * ca.cos(turn), level * ca.sin(turn), ca.sin(tilt))


def angle_from(place: Matrix, quadrant: str) -> Matrix:
    """Return the angle (rad) of a place about z from a quadrant's axis, within -pi and pi."""
    cosine, sine = QUADRANTS[quadrant]
    return ca.atan2(cosine * place[1] - sine * place[0], cosine * place[0] + sine * place[1])


def are_outside(start: Matrix, end: Matrix) -> Matrix:
    """Return whether both ends lie outside of a unit circle or sphere."""
    return ca.logic_and(ca.sumsqr(start) > 1, ca.sumsqr(end) > 1)


def cylindrical(place: Matrix) -> tuple[Matrix, Matrix, Matrix]:
    """Return radius (m), angle (rad) about z and height (m) of a place."""
    return ca.sqrt(place[0] ** 2 + place[1] ** 2), ca.atan2(place[1], place[0]), place[2]


def tangent_to(distance: Matrix, radius: Matrix) -> tuple[Matrix, Matrix]:
    """Return the length of a tangent across a cylinder, and its angle about the axis."""
    length = ca.sqrt(ca.fmax(distance**2 - radius**2, LEAST))
    return length, ca.atan2(length, radius)
