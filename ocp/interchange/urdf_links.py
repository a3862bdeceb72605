"""Links of URDF files: inertias and looks, poses and names."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ocp.interchange.inertials import body
from ocp.interchange.markup import Element
from ocp.interchange.meshes import mesh_path
from ocp.mechanics.joints import GROUND
from ocp.mechanics.spatial import rotate_x, rotate_y, rotate_z, translate
from ocp.mechanics.tree import Link
from ocp.mechanics.visuals import Visual


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """How a file is read: its `path`, what may be repaired, where meshes may be, the colours that
    it names, and the tag of the `shapes` that show links."""

    path: Path
    repair: Sequence[str]
    folders: Sequence[Path]
    colours: Mapping[str, Sequence[float]]
    shapes: str = "visual"


def called_in(element: Element, attribute: str) -> str:
    """Return the name of a link or joint in the tree: as an attribute says, if it is not that of
    the ground."""
    name = element.text(attribute)
    return f"{name} of the file" if name == GROUND else name


def link_of(reading: Reading, element: Element) -> tuple[Link, str]:
    """Return a link, and in words what was repaired of it."""
    name = called_in(element, "name")
    looks: dict[str, Any] = {"name": name, "visuals": tuple(_visuals(reading, element))}
    inertial = element.one("inertial")
    if inertial is None:
        return Link(**looks), ""
    place = origin_of(inertial)
    entries = inertial.child("inertia")
    moments = [entries.number(f"i{axes}", 0.0) for axes in ("xx", "xy", "xz", "yy", "yz", "zz")]
    xx, xy, xz, yy, yz, zz = moments
    turn = place[:3, :3]
    inertia = turn @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ turn.T
    with inertial.located():
        mass = inertial.child("mass").number("value")
        symmetric = (inertia + inertia.T) / 2
        link, words = body(mass, place[:3, 3], symmetric, reading.repair, **looks)
    return link, f"{name} in line {inertial.line}: {words}" if words else ""


def _visuals(reading: Reading, element: Element) -> Iterator[Visual]:
    for visual in element.every(reading.shapes):
        shape = next(iter(visual.child("geometry").children), None)
        if shape is None or shape.tag not in SOLIDS:
            shown = "nothing" if shape is None else f"<{shape.tag}>"
            raise visual.wrong(f"<geometry>: expected one of {', '.join(SOLIDS)}, got {shown}")
        with shape.located():
            yield Visual(
                **SOLIDS[shape.tag](reading, shape),
                pose=origin_of(visual),
                colour=_colour(reading, visual.one("material")),
            )


SOLIDS = {
    "box": lambda _, shape: {"kind": "box", "size": shape.numbers("size", 3)},
    "sphere": lambda _, shape: {"kind": "sphere", "size": (shape.number("radius"),)},
    "cylinder": lambda _, shape: _round("cylinder", shape),
    "capsule": lambda _, shape: _round("capsule", shape),
    "mesh": lambda reading, shape: {
        "kind": "mesh",
        "size": shape.numbers("scale", 3, (1.0, 1.0, 1.0)),
        "path": mesh_path(shape.text("filename"), reading.path, reading.folders),
    },
}


def _round(kind: str, shape: Element) -> dict[str, Any]:
    return {"kind": kind, "size": (shape.number("radius"), shape.number("length"))}


def colours_of(materials: Sequence[Element]) -> Iterator[tuple[str, tuple[float, ...]]]:
    for material in materials:
        colour = material.one("color")
        if colour is not None and "rgba" in colour.attributes:
            yield material.attributes.get("name", ""), colour.numbers("rgba", 4)


def _colour(reading: Reading, material: Element | None) -> Sequence[float] | None:
    if material is None:
        return None
    own = dict(colours_of([material]))
    name = material.attributes.get("name", "")
    return own.get(name) or reading.colours.get(name)


def origin_of(element: Element) -> np.ndarray:
    """Return the pose (4x4) of an element's <origin>: turns about fixed axes x, y, z, then a
    shift."""
    origin = element.one("origin")
    if origin is None:
        return np.eye(4)
    roll, pitch, yaw = origin.numbers("rpy", 3, (0.0, 0.0, 0.0))
    place = translate(*origin.numbers("xyz", 3, (0.0, 0.0, 0.0)))
    pose: np.ndarray = place @ rotate_z(yaw) @ rotate_y(pitch) @ rotate_x(roll)
    return pose
