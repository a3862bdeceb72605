"""Contacts by kind, each a Foot in one line: rigid, over the whole motion or a part of it, each on
its own plane.

A point contact passes on a force where the point is; a line contact what lies between two points,
as a sole seen from the side or an edge does; an area contact a wrench whose centre of pressure lies
between three points or more.
"""

from collections.abc import Sequence
from math import inf

import numpy as np

from ocp.mechanics.kinematics.zero_moment import tangents
from ocp.mechanics.model.tree import Tree, points_of
from ocp.mechanics.values.parameters import array, nominal
from ocp.mechanics.values.types import Numbers
from ocp.mechanics.values.validation import numbers, refuse_open
from ocp.problem.contact.ground import FLAT, Foot, Pin, Plane, Support

ORIGIN = (0.0, 0.0, 0.0)
WHOLE = (0.0, 1.0)


def point_contact(
    tree: Tree,
    point: str,
    *,
    name: str | None = None,
    at: Numbers = ORIGIN,
    normal: Numbers = None,
    axes: str = "xyz",
    when: tuple[float, float] = WHOLE,
    grips: bool = False,
) -> Foot:
    """Return the Foot that stands on a named point, which rests at the place `at` (3, m).

    It passes on a force at the point, along the global `axes` in which it is held; on a plane
    through `at` with this unit `normal`, by default against gravity. The place may be open, and
    sought. What `grips` also pulls, as a hand on a rail, which slides along the axes that are left
    out. Over a part `when` of the motion it bears from an end inside the motion on, or to it.
    Raises ValueError naming what is wrong.
    """
    place = array(numbers(f"contact {point!r}: at", at, (3,), "m"))
    pin = Pin(point=point, axes=axes, target=place)
    support = Support(link=tree.point(point).link, when=when, pins=(pin,), kind="point", rigid=True)
    return _foot(name or point, support, place, _upward(tree, normal), grips)


def line_contact(
    tree: Tree,
    points: Sequence[str],
    *,
    name: str | None = None,
    at: Numbers = ORIGIN,
    along: Numbers = None,
    normal: Numbers = None,
    when: tuple[float, float] = WHOLE,
    grips: bool = False,
) -> Foot:
    """Return the Foot that stands on the line between two named points of a link, the first at the
    place `at` (3, m), the second from there `along` a direction (3) of the plane.

    By default that is x, or what of it lies in the plane. It passes on a force and moments but for
    that about the line, between whose ends `pressure_inside` keeps it; `normal`, `when` and `grips`
    are those of `point_contact`. Raises ValueError naming what is wrong.
    """
    if len(points) != 2:
        raise ValueError(f"line contact: expected two points, got {', '.join(points) or 'none'}")
    return _sole(tree, points, name, at, along, normal, when, grips)


def area_contact(
    tree: Tree,
    points: str | Sequence[str],
    *,
    name: str | None = None,
    at: Numbers = ORIGIN,
    along: Numbers = None,
    normal: Numbers = None,
    when: tuple[float, float] = WHOLE,
    grips: bool = False,
) -> Foot:
    """Return the Foot that stands on an area between three or more named points of a link, in order
    round it counter-clockwise seen from the body, the first at the place `at` (3, m), the second
    from there `along` a direction (3) of the plane.

    A link may be named in place of its points: then `at` is the place below its origin, and its own
    x points `along`. By default that is x, or what of it lies in the plane. It passes on a whole
    wrench, which `pressure_inside` keeps between the points; `normal`, `when` and `grips` are those
    of `point_contact`. Raises ValueError naming what is wrong.
    """
    named = points_of(tree, points)
    if len(named) < 3:
        raise ValueError(
            f"area contact: expected three points or more, got {', '.join(named) or 'none'}"
        )
    if isinstance(points, str):
        name = name or points
    return _sole(tree, named, name, at, along, normal, when, grips, isinstance(points, str))


def _sole(
    tree: Tree,
    points: Sequence[str],
    name: str | None,
    at: Numbers,
    along: Numbers,
    normal: Numbers,
    when: tuple[float, float],
    grips: bool,
    below: bool = False,
) -> Foot:
    """Return the Foot of several points of one link, whose origin is over the place if `below`."""
    name = name or f"{points[0]} to {points[-1]}"
    what = f"contact {name!r}"
    place = array(numbers(f"{what}: at", at, (3,), "m"))
    local = _local(tree, what, points, below)
    up = _upward(tree, normal)
    way = _direction(what, along, up)
    corners = np.array([place + u * way + v * np.cross(up, way) for u, v in local])
    pins = tuple(
        Pin(point=point, target=array(corner.tolist())) for point, corner in zip(points, corners)
    )
    support = Support(
        link=tree.point(points[0]).link,
        when=when,
        pins=pins,
        polygon=corners.tolist(),
        kind="line" if len(points) == 2 else "area",
        rigid=True,
    )
    return _foot(name, support, array(corners.mean(axis=0).tolist()), up, grips)


def _local(tree: Tree, what: str, points: Sequence[str], below: bool) -> list[tuple[float, float]]:
    """Return the places of points in their plane (m): from the first, toward the second and to its
    left; or if `below` from the link's origin, along its x and to the left of that."""
    known = [tree.point(point) for point in points]
    links = {point.link for point in known}
    if len(links) > 1:
        raise ValueError(f"{what}: expected points of one link, got those of {', '.join(links)}")
    places = np.array([nominal(point.position) for point in known])
    way = places[1] - places[0]
    length = float(np.linalg.norm(way))
    if length < FLAT:
        raise ValueError(f"{what}: points {points[0]!r} and {points[1]!r} are at one place")
    way = way / length
    if len(points) == 2:
        return [(0.0, 0.0), (length, 0.0)]
    turns = [np.cross(way, place - places[0]) for place in places[2:]]
    longest = max(turns, key=lambda turn: float(np.linalg.norm(turn)))
    size = float(np.linalg.norm(longest))
    if size < FLAT:
        raise ValueError(f"{what}: its points lie on one line; take line_contact")
    up = longest / size
    away = places - places[0]
    if np.abs(away @ up).max() > FLAT:
        raise ValueError(f"{what}: its points lie in no plane")
    if below:
        away = places
        way = np.array((1.0, 0.0, 0.0)) - up[0] * up
        way /= float(np.linalg.norm(way)) or 1.0
    left = np.cross(up, way)
    return [(float(place @ way), float(place @ left)) for place in away]


def _upward(tree: Tree, normal: Numbers) -> np.ndarray:
    """Return the unit normal (3) of a contact's plane, by default against gravity."""
    if normal is not None:
        refuse_open("contact: normal", normal)
        return np.array(Plane(normal=normal).normal)
    gravity = np.array(nominal(tree.gravity))
    strength = float(np.linalg.norm(gravity))
    return -gravity / strength if strength else np.array((0.0, 0.0, 1.0))


def _direction(what: str, along: Numbers, up: np.ndarray) -> np.ndarray:
    """Return the unit vector (3) along a plane with the normal `up`."""
    asked = numbers(f"{what}: along", (1.0, 0.0, 0.0) if along is None else along, (3,))
    way = asked - up * (up @ asked)
    length = float(np.linalg.norm(way))
    if along is None and length < FLAT:
        return tangents(up.tolist())[0]
    if length < FLAT or (along is not None and abs(up @ asked) > FLAT * np.linalg.norm(asked)):
        raise ValueError(f"{what}: along: expected a direction in the plane, got {along!r}")
    return way / length


def _foot(name: str, support: Support, center: Numbers, up: np.ndarray, grips: bool) -> Foot:
    """Return the Foot of one support on the plane through its centre."""
    a, b = support.when
    bears = (a if a > 0 else -inf, b if b < 1 else inf)
    plane = Plane(normal=up + 0.0, point=center)
    supports = (support,)
    return Foot(name=name, supports=supports, center=center, bears=bears, plane=plane, grips=grips)
