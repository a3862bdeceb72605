"""Footholds: a contact of the fitting kind for every place."""

from collections.abc import Mapping, Sequence

from ocp.mechanics.model.tree import Tree, points_of
from ocp.mechanics.values.parameters import Number, Parameter, is_open
from ocp.mechanics.values.types import Numbers
from ocp.mechanics.values.validation import positive
from ocp.problem.contact.contact_kinds import area_contact, line_contact, point_contact
from ocp.problem.contact.ground import Foot, Ground

AXES = "xyz"


def footholds(
    tree: Tree, places: Mapping[str, Numbers], *, within: float = 0.0, normal: Numbers = None
) -> Ground:
    """Return the Ground on which links, or points, stand at their `places` {name: (3,) or (2,), m},
    two numbers on the plane through the origin.

    A link with three points or more stands on the area between them (`area_contact`), one with two
    on the line, any other and a point on itself. Places are sought `within` so much (m) of where
    they are, where that is positive, each number as a parameter "NAME_x"; `normal` (3) is that of
    the ground, by default against gravity. Raises ValueError naming what is wrong.
    """
    positive("footholds: within", within, zero=True)
    feet = [
        _foot(tree, name, _free_place(name, place, within), normal)
        for name, place in places.items()
    ]
    return Ground(feet=feet)


def _free_place(name: str, place: Sequence[Number], within: float) -> tuple[Number, ...]:
    """Return a place (3, m), the numbers of which are sought if it is so `within` some."""
    if len(place) not in (2, 3):
        raise ValueError(f"footholds: {name!r}: expected 2 or 3 numbers, got {place!r}")
    moved = [
        number if not within or is_open(number) else _parameter(f"{name}_{axis}", number, within)
        for number, axis in zip(place[:2], AXES)
    ]
    return (*moved, *place[2:], *(0.0,) * (3 - len(place)))


def _parameter(name: str, number: Numbers, within: float) -> Parameter:
    word = "".join(letter if letter.isalnum() else "_" for letter in name)
    return Parameter(word, number, "m", number - within, number + within, free=True)


def _foot(tree: Tree, name: str, place: Sequence[Number], normal: Numbers) -> Foot:
    points = points_of(tree, name)
    if len(points) == 1:
        return point_contact(tree, points[0], name=name, at=place, normal=normal)
    if len(points) == 2:
        return line_contact(tree, points, name=name, at=place, normal=normal)
    return area_contact(tree, name, at=place, normal=normal)
