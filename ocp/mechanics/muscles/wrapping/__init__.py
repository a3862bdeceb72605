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

from ocp.mechanics.muscles.wrapping.courses import wrap_route
from ocp.mechanics.muscles.wrapping.geodesics import over_ellipsoid
from ocp.mechanics.muscles.wrapping.surfaces import (
    SHAPES,
    SURFACES,
    Surface,
    WrapCylinder,
    WrapEllipsoid,
    WrapPast,
    WrapSphere,
)
from ocp.mechanics.muscles.wrapping.tangents import QUADRANTS, Touch, over_cylinder, over_sphere

__all__ = [
    "QUADRANTS",
    "SHAPES",
    "SURFACES",
    "Surface",
    "Touch",
    "WrapCylinder",
    "WrapEllipsoid",
    "WrapPast",
    "WrapSphere",
    "over_cylinder",
    "over_ellipsoid",
    "over_sphere",
    "wrap_route",
]
