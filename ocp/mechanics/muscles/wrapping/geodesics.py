"""Shortest paths over ellipsoids: tangents and geodesics by Newton steps inside the graph."""

from collections.abc import Sequence
from functools import cache

import casadi as ca
import numpy as np

from ocp.mechanics.muscles.wrapping.tangents import Touch, on_sphere, over_sphere, plane_through
from ocp.mechanics.values.types import Matrix

MODES = 10  # Chebyshev polynomials by which a geodesic leaves a plane
NODES = 20  # of Gauss's rule for its length
STAGES = 6  # in which an ellipsoid is made of a sphere
SIGNS = ca.DM((-1.0) ** np.arange(MODES))  # of the polynomials at their first end
COSINE = 1 - 1e-9  # of the least angle to a tangent's end
NEWTON = {"abstol": 1e-14, "max_iter": 40}


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


def _turned_places(
    start: Matrix, end: Matrix, tilts: Sequence[Matrix]
) -> tuple[Matrix, Matrix, Matrix]:
    """Return the axes (3, 3) of the plane of two scaled ends, and the angles in it where tangents
    touch the unit sphere at a tilt out of it."""
    axes, sweep = plane_through(start, end)
    cosines = [
        ca.fmin(1 / (ca.norm_2(place) * ca.cos(tilt)), COSINE)
        for place, tilt in zip((start, end), tilts)
    ]
    return axes, ca.acos(cosines[0]), sweep - ca.acos(cosines[1])


def _touching_places(start: Matrix, end: Matrix, modes: Matrix) -> tuple[Matrix, Matrix]:
    """Return the places where a scaled path sets in and leaves, by its coefficients."""
    tilts = ca.dot(SIGNS, modes), ca.sum1(modes)
    axes, first, last = _turned_places(start, end, tilts)
    return on_sphere(axes, first, tilts[0]), on_sphere(axes, last, tilts[1])


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
