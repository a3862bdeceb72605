"""Soles from collision shapes of a file: the points on which a link would stand."""

from collections.abc import Iterator

import numpy as np

from ocp.interchange.urdf.links import origin_of, tree_name
from ocp.interchange.xml_elements import Element
from ocp.mechanics.kinematics.zero_moment import convex_hull
from ocp.mechanics.model.tree import Point

LEVEL = 1e-3  # m: how far above its lowest point a sole goes


def sole_points(element: Element, turn: np.ndarray) -> list[Point]:
    """Return the corners of a link's sole, "LINK.1" and so on, counter-clockwise seen from above.

    They are the hull of the lowest places of its collision shapes: of spheres the lowest point, of
    boxes the corners.

    Args:
        element: the <link>.
        turn: rotation (3x3) of the link where no joint has moved.

    Raises:
        ValueError: another shape, or none; the message names file and line.
    """
    name, up = tree_name(element, "name"), turn[2]
    places = [place for shape in element.every("collision") for place in _places(shape, up)]
    if not places:
        raise element.wrong("it has no <collision> to stand on; state its points")
    heights = np.array(places) @ up
    low = np.array(places)[heights < heights.min() + LEVEL]
    corners = np.array(low) if len(low) < 3 else convex_hull(low, up)
    first = min(range(len(corners)), key=lambda k: tuple(np.round(corners[k] @ turn.T, 9)))
    ordered = np.round(np.roll(corners, -first, axis=0), 12).tolist()
    return [
        Point(name=f"{name}.{number}", link=name, position=place)
        for number, place in enumerate(ordered, 1)
    ]


def _places(collision: Element, up: np.ndarray) -> Iterator[np.ndarray]:
    """Yield the places (3, m) of a collision shape on which it may stand."""
    pose = origin_of(collision)
    shape = next(iter(collision.child("geometry").children), None)
    if shape is not None and shape.tag == "sphere":
        yield pose[:3, 3] - shape.number("radius") * up
    elif shape is not None and shape.tag == "box":
        half = np.array(shape.numbers("size", 3)) / 2
        for signs in np.ndindex(2, 2, 2):
            yield pose[:3, 3] + pose[:3, :3] @ (half * (2 * np.array(signs) - 1))
    else:
        shown = "nothing" if shape is None else f"<{shape.tag}>"
        raise collision.wrong(f"a sole is that of spheres and boxes, got {shown}; state its points")
