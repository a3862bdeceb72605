"""Masses and springs that people wear: bodies fixed to segments, and springs across joints."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ocp import Link, Point, Spring, Tree, fixed
from ocp.mechanics import Open
from ocp.models.human.anthropometry import LINKS, PAIRED

WORN = "load_"  # with which names of what is worn begin
# Segments of the body that a load may be worn on. People wore them at the waist, thighs, shanks and
# feet (Browning, Modica, Kram & Goswami 2007), and at the trunk (Schertzer & Riemer 2014)
PLACES: Mapping[str, str] = {
    "trunk": "upper_trunk",
    "waist": "pelvis",
    "thigh": "thigh",
    "shank": "shank",
    "foot": "foot",
    "hand": "hand",
}
SIDES = ("r", "l")
GRIP = "grip_"  # point at which hands hold what they carry, where others wear it at their centres


def springs_of(given: str | Mapping[str, float | Open]) -> dict[str, float | Open]:
    """Return {joint: stiffness (N m/rad)} of springs, from a text like "ankle_df=150,toe_ext_r=25"
    or from a mapping, whose numbers may be open: a joint without its side stands for both.

    Raises ValueError naming an entry that cannot be read.
    """
    if not isinstance(given, str):
        return dict(given)
    springs: dict[str, float | Open] = {}
    for item, name, stiffness in _entries(given):
        if not 0 < stiffness < np.inf or name in springs:
            raise ValueError(
                f"springs: expected JOINT=STIFFNESS once each, above 0 N m/rad, as in "
                f"ankle_df=150, got {item!r}"
            )
        springs[name] = stiffness
    return springs


def wearing_springs(tree: Tree, springs: Mapping[str, float | Open]) -> Tree:
    """Return a human's tree with `springs` {joint: N m/rad}, which give nothing in standing, q = 0:
    an exoskeleton's beside muscles, a prosthetic foot's at an ankle of little strength.

    Raises ValueError naming a joint that is not driven.
    """
    driven = [joint.name for joint in tree.moving if joint.actuated]
    elements: list[Any] = [*tree.elements]
    for entry, size in springs.items():
        names = [name for name in (entry, f"{entry}_r", f"{entry}_l") if name in driven]
        if not names:
            raise ValueError(
                f"springs: expected some of the driven joints {', '.join(driven)}, those of limbs "
                f"also without their side, got {entry!r}"
            )
        elements += [Spring(joint=name, stiffness=size, name=f"{WORN}{name}") for name in names]
    return replace(tree, elements=tuple(elements))


def loads_of(text: str) -> dict[str, float]:
    """Return {segment: mass (kg)} of a text like "trunk=10,foot=2".

    Commas or blanks stand between the entries; segments of limbs may have a side, as hand_r=5.
    Raises ValueError naming an entry that cannot be read, a segment that is none of PLACES or given
    twice, and a mass that is not above 0.
    """
    if not isinstance(text, str):
        raise ValueError(f"load: expected a text, as 'trunk=10,foot=2', got {text!r}")
    loads: dict[str, float] = {}
    for item, name, mass in _entries(text):
        if np.isnan(mass):
            raise ValueError(f"load: expected SEGMENT=KG, as in trunk=10,foot=2, got {item!r}")
        if not _sides(name):
            raise ValueError(
                f"load: unknown segment {name!r}; expected some of {', '.join(PLACES)}, those of "
                "limbs also of one side, as hand_r"
            )
        if name in loads:
            raise ValueError(f"load: {name} is given twice")
        if not (0 < mass < np.inf):
            raise ValueError(
                f"load: {name}: expected more than 0 kg, got {item.partition('=')[2]} kg"
            )
        loads[name] = mass
    twice = [name for name in loads if name[:-2] in loads and name[-2:] in ("_r", "_l")]
    if twice:
        raise ValueError(f"load: {twice[0]} is given twice")
    return loads


def _entries(text: str) -> Iterator[tuple[str, str, float]]:
    """Yield each entry of a text like "trunk=10,foot=2", its name, and its number or nan."""
    for item in text.replace(",", " ").split():
        name, _, value = item.partition("=")
        try:
            yield item, name, float(value)
        except ValueError:
            yield item, name, np.nan


def _sides(name: str) -> tuple[str, ...]:
    """Return the ends of the names of links that a segment's load is on, "" of what has no sides;
    none of an unknown segment."""
    segment, _, side = name.partition("_")
    if segment not in PLACES or (side and (side not in SIDES or PLACES[segment] not in PAIRED)):
        return ()
    if PLACES[segment] not in PAIRED:
        return ("",)
    return tuple(f"_{each}" for each in SIDES if side in ("", each))


def one_sided(loads: Mapping[str, float]) -> tuple[str, ...]:
    """Return the names of loads that are not on both sides alike."""
    other = {"r": "l", "l": "r"}
    return tuple(
        name
        for name, mass in loads.items()
        if name.endswith(("_r", "_l")) and loads.get(name[:-1] + other[name[-1]]) != mass
    )


def wearing(tree: Tree, loads: Mapping[str, float]) -> Tree:
    """Return a human's tree that wears `loads` {segment of PLACES: kg}, those of limbs on each side
    or, by a name that ends with _r or _l, on one.

    A load is a point mass where the segment has its own centre of mass, in hands where they grip: a
    link and a point of its own, by the name load_SEGMENT, of limbs with _r or _l at its end.
    """
    links, joints, points = list(tree.links), list(tree.joints), list(tree.points)
    for entry, mass in loads.items():
        segment = entry.partition("_")[0]
        for side in _sides(entry):
            k = tree.link_index(LINKS[PLACES[segment]][0] + side)
            grip = tree.point(f"{GRIP}{side[1:]}").position if segment == "hand" else None
            name, home = f"{WORN}{segment}{side}", tree.links[k].com if grip is None else grip
            joints.append(fixed(name, tree.joints[k].name, home=np.array(home)))
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
