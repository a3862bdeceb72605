"""Masses that people wear on segments of the body: each a body of its own, fixed to a segment."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from ocp.models.human.anthropometry import LINKS, PAIRED

from ocp import Link, Point, Tree, fixed

WORN = "load_"  # with which names of what is worn begin
# Segments of the body that a load may be worn on. People wore them at the waist, thighs, shanks and
# feet (Browning, Modica, Kram & Goswami 2007), and at the trunk (Schertzer & Riemer 2014)
PLACES: Mapping[str, str] = {
    "trunk": "upper_trunk",
    "waist": "pelvis",
    "thigh": "thigh",
    "shank": "shank",
    "foot": "foot",
}


def loads_of(text: str) -> dict[str, float]:
    """Return {segment: mass (kg)} of a text like "trunk=10,foot=2".

    Commas or blanks stand between the entries. Raises ValueError naming an entry that cannot be
    read, a segment that is none of PLACES or given twice, and a mass that is not above 0.
    """
    if not isinstance(text, str):
        raise ValueError(f"load: expected a text, as 'trunk=10,foot=2', got {text!r}")
    loads: dict[str, float] = {}
    for item in text.replace(",", " ").split():
        name, equals, value = item.partition("=")
        try:
            mass = float(value)
        except ValueError:
            mass = np.nan
        if not equals or np.isnan(mass):
            raise ValueError(f"load: expected SEGMENT=KG, as in trunk=10,foot=2, got {item!r}")
        if name not in PLACES:
            raise ValueError(
                f"load: unknown segment {name!r}; expected some of {', '.join(PLACES)}"
            )
        if name in loads:
            raise ValueError(f"load: {name} is given twice")
        if not (0 < mass < np.inf):
            raise ValueError(f"load: {name}: expected more than 0 kg, got {value} kg")
        loads[name] = mass
    return loads


def wearing(tree: Tree, loads: Mapping[str, float]) -> Tree:
    """Return a human's tree that wears `loads` {segment of PLACES: kg}, those of legs on each side.

    A load is a point mass where the segment has its own centre of mass: a link and a point of its
    own, by the name load_SEGMENT, of legs with _r or _l at its end.
    """
    links, joints, points = list(tree.links), list(tree.joints), list(tree.points)
    for segment, mass in loads.items():
        part = PLACES[segment]
        for side in ("_r", "_l") if part in PAIRED else ("",):
            name, k = f"{WORN}{segment}{side}", tree.link_index(LINKS[part][0] + side)
            joints.append(fixed(name, tree.joints[k].name, home=np.array(tree.links[k].com)))
            links.append(Link(mass=mass))
            points.append(Point(name=name, link=name))
    return replace(tree, links=tuple(links), joints=tuple(joints), points=tuple(points))


def worn(tree: Tree) -> dict[str, float]:
    """Return {load_SEGMENT: mass (kg)} of what a tree wears, of both sides each."""
    return {
        joint.name: float(link.mass)
        for joint, link in zip(tree.joints, tree.links)
        if joint.name.startswith(WORN)
    }
