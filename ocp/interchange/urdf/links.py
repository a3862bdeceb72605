"""Links of URDF files: inertias and looks, poses and names."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ocp.interchange.inertials import link_from_inertia
from ocp.interchange.mesh_paths import mesh_path
from ocp.interchange.reader_notes import Remarks, merge_remarks
from ocp.interchange.xml_elements import Element, Misstated
from ocp.mechanics.kinematics.spatial import rotate_x, rotate_y, rotate_z, translate
from ocp.mechanics.model.joints import GROUND
from ocp.mechanics.model.tree import Link
from ocp.mechanics.model.visuals import Visual
from ocp.mechanics.values.types import Numbers

UNSEEN = "shapes that cannot be shown are left out"
DULL = "colours that cannot be shown are left out"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """How a file is read: its `path`, what `repair` allows, `folders` of meshes, named `colours`,
    the tag
    of the `shapes` that show links, and the mass (kg) up to which a link is a frame (`slight`).
    """

    path: Path
    repair: Sequence[str]
    folders: Sequence[Path]
    colours: Mapping[str, Sequence[float]]
    shapes: str = "visual"
    slight: float = 0.0


def tree_name(element: Element, attribute: str) -> str:
    """Return the name of a link or joint in the tree; a name of the ground is changed."""
    name = element.text(attribute)
    return f"{name} of the file" if name == GROUND else name


def mass_of(element: Element) -> float:
    """Return the mass (kg) of a link, 0 if it states none."""
    inertial = element.one("inertial")
    return 0.0 if inertial is None else inertial.child("mass").number("value")


def link_of(reading: Reading, element: Element) -> tuple[Link, Remarks]:
    """Return a link, and by kind the remarks on it."""
    name = tree_name(element, "name")
    visuals, unseen = _visuals(reading, element)
    looks: dict[str, Any] = {"name": name, "visuals": visuals}
    inertial = element.one("inertial")
    if inertial is None:
        return Link(**looks), unseen
    place = origin_of(inertial)
    entries = inertial.child("inertia")
    moments = [entries.number(f"i{axes}", 0.0) for axes in ("xx", "xy", "xz", "yy", "yz", "zz")]
    xx, xy, xz, yy, yz, zz = moments
    turn = place[:3, :3]
    inertia = turn @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ turn.T
    with inertial.located_errors():
        mass, symmetric = mass_of(element), (inertia + inertia.T) / 2
        link, made = link_from_inertia(
            mass, place[:3, 3], symmetric, reading.repair, slight=reading.slight, **looks
        )
    where = f"{name} in line {inertial.line}"
    placed = {kind: [f"{where}: {words}" for words in ones] for kind, ones in made.items()}
    return link, merge_remarks([placed, unseen])


def _visuals(reading: Reading, element: Element) -> tuple[tuple[Visual, ...], Remarks]:
    """Return the visuals of a link, and the remarks on shapes that are left out."""
    visuals, wrong = [], []
    for shape in element.every(reading.shapes):
        try:
            visuals.append(_visual(reading, shape))
        except Misstated as error:
            wrong.append(_without_file(error))
    materials = [
        each for shape in element.every(reading.shapes) for each in shape.every("material")
    ]
    return tuple(visuals), merge_remarks([{UNSEEN: wrong}, colours_of(materials)[1]])


def _visual(reading: Reading, element: Element) -> Visual:
    shape = next(iter(element.child("geometry").children), None)
    if shape is None or shape.tag not in SOLIDS:
        shown = "nothing" if shape is None else f"<{shape.tag}>"
        raise element.wrong(f"<geometry>: expected one of {', '.join(SOLIDS)}, got {shown}")
    with shape.located_errors():
        return Visual(
            **SOLIDS[shape.tag](reading, shape),
            pose=origin_of(element),
            colour=_colour(reading, element.one("material")),
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


def _round(kind: str, shape: Element) -> dict[str, Numbers]:
    return {"kind": kind, "size": (shape.number("radius"), shape.number("length"))}


def colours_of(materials: Sequence[Element]) -> tuple[dict[str, tuple[float, ...]], Remarks]:
    """Return {name: colour} of materials, "" for one without a name, and the remarks on others."""
    colours, wrong = {}, []
    for material in materials:
        try:
            colour = material.one("color")
            if colour is not None and "rgba" in colour.attributes:
                shares = colour.numbers("rgba", 4)
                if not all(0 <= share <= 1 for share in shares):
                    raise colour.wrong(
                        f"rgba: expected numbers of 0 to 1, got {colour.text('rgba')!r}"
                    )
                colours[material.attributes.get("name", "")] = shares
        except Misstated as error:
            wrong.append(_without_file(error))
    return colours, {DULL: wrong}


def _without_file(error: Misstated) -> str:
    """Return the words of an error from its line on; the file is named once for all remarks."""
    return f"line {str(error).partition(':')[2]}"


def _colour(reading: Reading, material: Element | None) -> Sequence[float] | None:
    if material is None:
        return None
    own, _ = colours_of([material])
    name = material.attributes.get("name", "")
    return own.get(name) or reading.colours.get(name)


def origin_of(element: Element) -> np.ndarray:
    """Return the pose (4x4) of an element's <origin>: turns about fixed x, y, z, then a shift."""
    origin = element.one("origin")
    if origin is None:
        return np.eye(4)
    roll, pitch, yaw = origin.numbers("rpy", 3, (0.0, 0.0, 0.0))
    place = translate(*origin.numbers("xyz", 3, (0.0, 0.0, 0.0)))
    pose: np.ndarray = place @ rotate_z(yaw) @ rotate_y(pitch) @ rotate_x(roll)
    return pose
