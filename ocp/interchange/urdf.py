"""Models of the Unified Robot Description Format (URDF): links, joints, limits and looks.

Link frames are those of the joints that carry them; angles are in rad, all else in SI units. What
the format leaves out is as it says: no origin is none, no axis is x, no <inertial> no mass.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import Any

import numpy as np

from ocp.interchange.bases import BASES, Row, base_row, floating
from ocp.interchange.inertials import body
from ocp.interchange.markup import Element
from ocp.interchange.meshes import mesh_path
from ocp.interchange.remarks import Remarks
from ocp.mechanics.joints import GROUND, fixed, prismatic, revolute
from ocp.mechanics.spatial import rotate_x, rotate_y, rotate_z, translate
from ocp.mechanics.tree import Link, Tree
from ocp.mechanics.visuals import Visual

KINDS = ("revolute", "continuous", "prismatic", "fixed", "floating", "planar")
WELD = "take repair='weld' to fix such joints"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """How a file is read: its `root` and `path`, what may be repaired, where meshes may be, and
    the colours that it names."""

    root: Element
    path: Path
    repair: Sequence[str]
    folders: Sequence[Path]
    colours: Mapping[str, Sequence[float]]


def read_urdf(
    root: Element,
    path: Path,
    *,
    base: str = "fixed",
    repair: Sequence[str] = (),
    gravity: Any = (0.0, 0.0, -9.81),
    folders: Sequence[Path] = (),
) -> tuple[Tree, Remarks]:
    """Return the Tree of a URDF file's root element, and by kind what was not taken as it stands.

    Joints stand depth first, in the file's order. Raises ValueError naming file, line and element.
    """
    if root.tag != "robot":
        raise root.wrong("expected <robot>, the root of a URDF file")
    colours = dict(_colours(root.every("material")))
    reading = Reading(root=root, path=path, repair=repair, folders=folders, colours=colours)
    links, joints = _named(root, "link"), _named(root, "joint")
    first, carried = _arranged(root, links, joints)
    bodies = {name: _link(reading, element) for name, element in links.items()}
    weightless = _weightless(first, carried, bodies)
    welded = [
        joint
        for joint in joints.values()
        if _called(joint.child("child"), "link") in weightless and joint.text("type") != "fixed"
    ]
    if welded and "weld" not in repair:
        raise welded[0].wrong(f"nothing that it moves has mass; {WELD}")
    rows = [base_row(base, bodies[first][0], joints)]
    for joint in _depth_first(first, carried):
        link, _ = bodies[_called(joint.child("child"), "link")]
        rows.append(_row(joint, link, joint in welded))
    tree = Tree(
        joints=[joint for row, _ in rows for joint in row],
        links=[link for _, row in rows for link in row],
        gravity=gravity,
    )
    repaired = [words for _, words in bodies.values() if words]
    return tree, {
        "repaired inertias": repaired,
        "joints that move no mass are fixed": [joint.text("name") for joint in welded],
        **_unusual([*links.values(), *joints.values()]),
    }


def _unusual(elements: Sequence[Element]) -> Remarks:
    """Return what of links and joints is not taken to the letter."""
    void = [(joint.text("name"), _void(joint)) for joint in elements]
    return {
        "limits of zero are taken as none": [
            f"{name} ({', '.join(zeros)})" for name, zeros in void if zeros
        ],
        "joints without lower and upper limits go as far as they like": [
            joint.text("name") for joint in elements if _boundless(joint)
        ],
        f"the name {GROUND!r} is that of the world": [
            f"{each.tag} {each.text('name')!r} is {_called(each, 'name')!r}"
            for each in elements
            if each.text("name") == GROUND
        ],
    }


def _called(element: Element, attribute: str) -> str:
    """Return the name of a link or joint in the tree: as an attribute says, if it is not that of
    the ground."""
    name = element.text(attribute)
    return f"{name} of the file" if name == GROUND else name


def _named(root: Element, tag: str) -> dict[str, Element]:
    """Return the root's elements of a tag by their names, each used once."""
    known: dict[str, Element] = {}
    for element in root.every(tag):
        name = _called(element, "name")
        if name in known:
            raise element.wrong(f"the name is used twice, first in line {known[name].line}")
        known[name] = element
    return known


def _arranged(
    root: Element, links: Mapping[str, Element], joints: Mapping[str, Element]
) -> tuple[str, dict[str, list[Element]]]:
    """Return the root link, and the joints that each link carries, of a sound tree."""
    if not links:
        raise root.wrong("it has no <link>")
    carried: dict[str, list[Element]] = {name: [] for name in links}
    carriers: dict[str, Element] = {}
    for joint in joints.values():
        ends = [joint.child(end) for end in ("parent", "child")]
        for end in ends:
            if _called(end, "link") not in links:
                raise end.wrong(f"joint {joint.text('name')!r}: unknown link {end.text('link')!r}")
        parent, child = (_called(end, "link") for end in ends)
        if child in carriers:
            other = carriers[child]
            raise joint.wrong(
                f"link {child!r} is already the child of joint {other.text('name')!r} in line "
                f"{other.line}: a loop is no tree"
            )
        carriers[child] = joint
        carried[parent].append(joint)
    roots = [name for name in links if name not in carriers]
    if len(roots) > 1:
        raise links[roots[1]].wrong(
            f"expected one link without a parent, got {len(roots)}: {', '.join(roots)}"
        )
    _check_reached(roots[0] if roots else None, carried, carriers)
    return roots[0], carried


def _check_reached(
    first: str | None, carried: Mapping[str, list[Element]], carriers: Mapping[str, Element]
) -> None:
    """Raise ValueError naming the joints of a cycle."""
    reached = set() if first is None else {first}
    if first is not None:
        reached |= {_called(each.child("child"), "link") for each in _depth_first(first, carried)}
    lost = [name for name in carried if name not in reached]
    if not lost:
        return
    cycle = [lost[0]]
    while (above := _called(carriers[cycle[-1]].child("parent"), "link")) not in cycle:
        cycle.append(above)
    ring = cycle[cycle.index(above) :]
    names = [carriers[name].text("name") for name in ring]
    raise carriers[ring[0]].wrong(f"joints {', '.join(names)} form a cycle: a loop is no tree")


def _depth_first(name: str, carried: Mapping[str, list[Element]]) -> Iterator[Element]:
    """Yield the joints beyond a link, each before those beyond its child."""
    waiting = list(reversed(carried[name]))
    while waiting:
        joint = waiting.pop()
        yield joint
        waiting += reversed(carried[_called(joint.child("child"), "link")])


def _weightless(
    first: str, carried: Mapping[str, list[Element]], bodies: Mapping[str, tuple[Link, str]]
) -> set[str]:
    """Return the links that have no mass and carry none."""
    light: set[str] = set()
    for joint in reversed(list(_depth_first(first, carried))):
        name = _called(joint.child("child"), "link")
        beyond = (_called(each.child("child"), "link") for each in carried[name])
        if not bodies[name][0].mass and all(each in light for each in beyond):
            light.add(name)
    return light


# Links --------------------------------------------------------------------------------------------


def _link(reading: Reading, element: Element) -> tuple[Link, str]:
    """Return a link, and in words what was repaired of it."""
    name = _called(element, "name")
    looks: dict[str, Any] = {"name": name, "visuals": tuple(_visuals(reading, element))}
    inertial = element.one("inertial")
    if inertial is None:
        return Link(**looks), ""
    place = _origin(inertial)
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
    for visual in element.every("visual"):
        shape = next(iter(visual.child("geometry").children), None)
        if shape is None or shape.tag not in SOLIDS:
            shown = "nothing" if shape is None else f"<{shape.tag}>"
            raise visual.wrong(f"<geometry>: expected one of {', '.join(SOLIDS)}, got {shown}")
        with shape.located():
            yield Visual(
                **SOLIDS[shape.tag](reading, shape),
                pose=_origin(visual),
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


def _colours(materials: Sequence[Element]) -> Iterator[tuple[str, tuple[float, ...]]]:
    for material in materials:
        colour = material.one("color")
        if colour is not None and "rgba" in colour.attributes:
            yield material.attributes.get("name", ""), colour.numbers("rgba", 4)


def _colour(reading: Reading, material: Element | None) -> Sequence[float] | None:
    if material is None:
        return None
    own = dict(_colours([material]))
    name = material.attributes.get("name", "")
    return own.get(name) or reading.colours.get(name)


def _origin(element: Element) -> np.ndarray:
    """Return the pose (4x4) of an element's <origin>: turns about fixed axes x, y, z, then a
    shift."""
    origin = element.one("origin")
    if origin is None:
        return np.eye(4)
    roll, pitch, yaw = origin.numbers("rpy", 3, (0.0, 0.0, 0.0))
    place = translate(*origin.numbers("xyz", 3, (0.0, 0.0, 0.0)))
    pose: np.ndarray = place @ rotate_z(yaw) @ rotate_y(pitch) @ rotate_x(roll)
    return pose


# Joints -------------------------------------------------------------------------------------------


def _row(element: Element, link: Link, weld: bool) -> Row:
    """Return a joint, or the joints in whose place it stands, and the links that they carry."""
    name, kind = _called(element, "name"), element.text("type")
    parent, home = _called(element.child("parent"), "link"), _origin(element)
    if kind not in KINDS:
        raise element.wrong(f"type: expected one of {', '.join(KINDS)}, got {kind!r}")
    with element.located():
        if kind == "fixed" or weld:
            return [fixed(name, parent, home=home)], [link]
        if kind == "floating":
            return floating(name, parent, link, BASES["free"], home)
        if kind == "planar":
            return _planar(element, link, home)
        make = prismatic if kind == "prismatic" else revolute
        limits = _limits(element, kind)
        return [make(name, parent, axis=_axis(element), home=home, **limits)], [link]


def _planar(element: Element, link: Link, home: np.ndarray) -> Row:
    """Return two slides across the axis and the turn about it, that nothing drives."""
    name, axis = _called(element, "name"), np.array(_axis(element))
    across = np.cross(axis, np.eye(3)[np.argmin(np.abs(axis))])
    across /= np.linalg.norm(across)
    parent, free = _called(element.child("parent"), "link"), {"actuated": False}
    joints = [
        prismatic(f"{name}.x", parent, axis=across.tolist(), home=home, **free),
        prismatic(f"{name}.y", f"{name}.x", axis=np.cross(axis, across).tolist(), **free),
        revolute(f"{name}.turn", f"{name}.y", axis=axis.tolist(), **free),
    ]
    return joints, [Link(), Link(), link]


def _axis(element: Element) -> Sequence[float]:
    axis = element.one("axis")
    direction = np.array((1.0, 0.0, 0.0) if axis is None else axis.numbers("xyz", 3))
    length = np.linalg.norm(direction)
    if axis is not None and length < 1e-9:
        raise axis.wrong("xyz: expected a direction, got zeros")
    return tuple((direction / length).tolist())


def _limits(element: Element, kind: str) -> dict[str, Any]:
    """Return the limits of a joint's position, velocity and torque, those that it states."""
    limit = element.one("limit")
    if limit is None:
        if kind != "continuous":
            raise element.wrong(f"<limit> is missing, which a {kind} joint must have")
        return {}
    stated: dict[str, Any] = {}
    for what, attribute in (("velocity", "velocity"), ("torque", "effort")):
        value = limit.number(attribute, inf) if attribute in limit.attributes else inf
        if value < 0:
            raise limit.wrong(f"{attribute}: expected at least 0, got {value:g}")
        stated[what] = value or inf
    if kind != "continuous" and not _boundless(element):
        stated["position"] = (limit.number("lower", 0.0), limit.number("upper", 0.0))
    return stated


def _void(element: Element) -> list[str]:
    """Return the limits of a joint that are zero, as exporters write what nobody gave."""
    limit = element.one("limit")
    if limit is None or element.attributes.get("type") == "fixed":
        return []
    given = [what for what in ("effort", "velocity") if what in limit.attributes]
    return [what for what in given if not limit.number(what)]


def _boundless(element: Element) -> bool:
    """Tell whether a joint that should state its range states neither end."""
    limit = element.one("limit")
    if limit is None or element.attributes.get("type") not in ("revolute", "prismatic"):
        return False
    return not {"lower", "upper"} & limit.attributes.keys()
