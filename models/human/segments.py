"""A person's own body: segments that differ from those of others, and what follows for the rest."""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from ocp import Link, Tree
from ocp.mechanics import Open, nominal, numbers
from ocp.models.human.anthropometry import (
    LENGTHS,
    LIMBS,
    LINKS,
    MASS,
    PAIRED,
    SEXES,
    STATURE,
    bodies,
    shares,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """A person's own segment, None where it is as in others of the same sex, stature and mass.

    `length` (m), `mass` (kg, of one side), `com`, the centre of mass from the proximal joint over
    the length, all of which may be open, and `radii` (3,) of gyration over it, sagittal, transverse
    and longitudinal.
    """

    length: float | Open | None = None
    mass: float | Open | None = None
    com: float | Open | None = None
    radii: tuple[float, float, float] | None = None


Entry = Segment | Mapping[str, Any]
FIELDS = tuple(field.name for field in fields(Segment))


def physique(
    stature: float | Open,
    mass: float | Open,
    sex: str = "male",
    segments: Mapping[str, Entry] | None = None,
) -> tuple[dict[str, Any], dict[str, Link]]:
    """Return ({segment: its length over that of the tables}, {link: Link}) of a person.

    `stature` (m), `mass` (kg), `segments`: {name: Segment, or a mapping of its fields}, on both
    sides alike. Masses that are given stand, and the others share the rest as they share the whole.
    Lengths that are given stand, and so do the others, so that the body is as tall as they make it.
    Raises ValueError naming the segment and what is wrong with it.
    """
    if sex not in SEXES:
        raise ValueError(f"human: sex: expected 'male' or 'female', got {sex!r}")
    given = {name: _checked(name, entry, stature) for name, entry in (segments or {}).items()}
    lengths: dict[str, Any] = dict.fromkeys(LENGTHS, stature / STATURE)
    for name, entry in given.items():
        if entry.length is not None:
            lengths[name] = entry.length / LENGTHS[name]
    weights = _weights(given, mass, sex)
    whole, links = bodies(sex), {}
    for name, parts in LINKS.items():
        weight, length = weights[name], lengths[name]
        for part in parts:
            amount, com, inertia = whole[part]
            links[part] = Link(
                mass=weight * amount, com=length * com, inertia=weight * length**2 * inertia
            )
        if name in LIMBS and name in given:
            links[parts[0]] = _reshaped(links[parts[0]], name, given[name], length * LENGTHS[name])
    return lengths, links


def parsed(text: str) -> dict[str, dict[str, Any]]:
    """Return {segment: {field: value}} of a text like "thigh.length=0.45,shank.mass=3.4".

    Commas or blanks stand between the entries; the values of `radii` stand between slashes. Raises
    ValueError naming what cannot be read.
    """
    segments: dict[str, dict[str, Any]] = {}
    for item in text.replace(",", " ").split():
        place, equals, value = item.partition("=")
        name, dot, field = place.partition(".")
        try:
            values = tuple(float(part) for part in value.split("/"))
        except ValueError:
            values = ()
        if not (equals and dot and values):
            raise ValueError(
                "segments: expected SEGMENT.FIELD=VALUE, as in thigh.length=0.45,shank.mass=3.4, "
                f"got {item!r}"
            )
        if field in segments.setdefault(name, {}):
            raise ValueError(f"segments: {name}.{field} is given twice")
        segments[name][field] = values if len(values) > 1 else values[0]
    return segments


def segment_masses(tree: Tree) -> dict[str, float]:
    """Return {segment: mass (kg)}, of limbs that of the right side, of a human's tree."""
    return {
        name: sum(tree.links[row].mass for row in rows)
        for name, (rows, *_) in _rows_of(tree).items()
    }


def weighed(tree: Tree, masses: Mapping[str, Any]) -> Tree:
    """Return a human's tree in which some segments have other masses.

    `masses` {segment: kg of one side} are numbers or parameters. Inertias are in proportion,
    centres of mass where they were. Raises ValueError for an unknown segment.
    """
    links, usual, rows_of = list(tree.links), segment_masses(tree), _rows_of(tree)
    for name, mass in masses.items():
        if name not in rows_of:
            raise ValueError(
                f"weighed: unknown segment {name!r}; the segments are {', '.join(rows_of)}"
            )
        ratio = mass / usual[name]
        for row in (row for side in rows_of[name] for row in side):
            link = links[row]
            inertia = [[ratio * entry for entry in line] for line in link.inertia]
            links[row] = Link(mass=ratio * link.mass, com=link.com, inertia=inertia)
    return replace(tree, links=links)


def _rows_of(tree: Tree) -> dict[str, tuple[tuple[int, ...], ...]]:
    """Return {segment: rows of its links, of limbs those of the right and of the left side}."""
    return {
        name: tuple(
            tuple(tree.link_index(part + side) for part in parts)
            for side in (("_r", "_l") if name in PAIRED else ("",))
        )
        for name, parts in LINKS.items()
    }


def _weights(given: Mapping[str, Segment], mass: Any, sex: str) -> dict[str, Any]:
    """Return {segment: its mass over that of the tables}, those without one sharing the rest."""
    masses = {name: entry.mass for name, entry in given.items() if entry.mass is not None}
    usual = shares(sex)
    kept, share = (
        sum((2 if name in PAIRED else 1) * amounts[name] for name in masses)
        for amounts in (masses, usual)
    )
    heavy, whole = nominal((kept, mass))
    if masses and (heavy >= whole or len(masses) == len(LENGTHS)):
        raise ValueError(
            f"human: segments: {', '.join(masses)} weigh {heavy:g} kg, both sides counted, of "
            f"{whole:g} kg; expected less, and some segment without a mass of its own that takes "
            "the rest"
        )
    rest = (mass - kept) / (MASS * (1 - share))
    return dict.fromkeys(LENGTHS, rest) | {
        name: amount / (MASS * usual[name]) for name, amount in masses.items()
    }


def _checked(name: str, entry: Entry, stature: Any) -> Segment:
    """Return the Segment of an entry; raise ValueError unless a body can have it."""
    if name not in LENGTHS:
        raise ValueError(
            f"human: segments: unknown segment {name!r}; the segments are {', '.join(LENGTHS)}"
        )
    if isinstance(entry, Mapping):
        odd = [repr(field) for field in entry if field not in FIELDS]
        if odd:
            raise ValueError(
                f"human: segments: {name}: unknown field {', '.join(odd)}; "
                f"the fields are {', '.join(FIELDS)}"
            )
        entry = Segment(**entry)
    if not isinstance(entry, Segment):
        raise ValueError(
            f"human: segments: {name}: expected a Segment or a mapping of its fields, got {entry!r}"
        )
    if name not in LIMBS and (entry.com is not None or entry.radii is not None):
        raise ValueError(
            f"human: segments: {name}: com and radii are of {', '.join(LIMBS)} alone; "
            "expected length or mass"
        )
    _check_number(name, "length", entry.length, nominal(stature), " m")
    _check_number(name, "mass", entry.mass, np.inf, " kg")
    _check_number(name, "com", entry.com, 1.0, "")
    if entry.radii is not None:
        squares = np.sort(numbers(f"human: segments: {name}.radii", entry.radii, (3,)) ** 2)
        if min(entry.radii) <= 0 or squares[0] + squares[1] < squares[2]:
            raise ValueError(
                f"human: segments: {name}.radii: expected three positive numbers, "
                f"no square above the sum of the others, got {tuple(entry.radii)}"
            )
    return entry


def _check_number(name: str, field: str, value: Any, most: float, unit: str) -> None:
    """Raise ValueError unless a field of a segment is None or above 0 and below `most`."""
    if value is None:
        return
    what = f"human: segments: {name}.{field}"
    here = nominal(numbers(what, value, (), unit.strip()).item())
    if not 0 < here < most:
        less = f" and less than {most:g}{unit}" if most < np.inf else ""
        raise ValueError(f"{what}: expected more than 0{unit}{less}, got {here:g}{unit}")


def _reshaped(link: Link, name: str, segment: Segment, length: Any) -> Link:
    """Return a limb's link with the centre of mass and the radii of gyration of its segment."""
    way, order = LIMBS[name]
    com, inertia = link.com, link.inertia
    if segment.com is not None:
        com = (1 - segment.com) * length * np.array(way)
    if segment.radii is not None:
        inertia = link.mass * np.diag((np.array(segment.radii)[list(order)] * length) ** 2)
    return Link(mass=link.mass, com=com, inertia=inertia)
