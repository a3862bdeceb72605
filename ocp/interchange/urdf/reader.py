"""Models of the Unified Robot Description Format (URDF): links, joints, limits and looks.

Link frames are those of the joints that carry them; angles are in rad, all else in SI units. What
the format leaves out is as it says: no origin is none, no axis is x, no <inertial> no mass.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from math import inf
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from ocp.interchange.file_joint_elements import JointForces, joint_elements
from ocp.interchange.reader_notes import Remarks, merge_remarks
from ocp.interchange.root_joints import Row, base_joints, planar_joints
from ocp.interchange.soles import sole_points
from ocp.interchange.urdf.links import Reading, colours_of, link_of, mass_of, origin_of, tree_name
from ocp.interchange.urdf.suspicious_values import suspicious_values
from ocp.interchange.xml_elements import Element
from ocp.mechanics.elements import Element as Acting
from ocp.mechanics.kinematics.kinematics import poses
from ocp.mechanics.model.joints import GROUND, Joint, fixed, free
from ocp.mechanics.model.quaternions_and_couplings import polynomial
from ocp.mechanics.model.tree import Link, Point, Tree
from ocp.mechanics.values.types import Numbers

DRIVEN = ("revolute", "continuous", "prismatic")
KINDS = (*DRIVEN, "fixed", "floating", "planar")
SLIGHT = 1e-5  # of a robot's mass: up to which a link is a frame that its exporter gave some
Line = tuple[str, float, float]  # a joint, o and r of o + r x
LOOSEN = "take repair='loosen' for a coordinate of its own"
WELD = "take repair='weld' to fix such joints"


def read_urdf(
    root: Element,
    path: Path,
    *,
    base: str = "fixed",
    repair: Sequence[str] = (),
    gravity: ArrayLike = (0.0, 0.0, -9.81),
    folders: Sequence[Path] = (),
    shapes: str = "visual",
    soles: Sequence[str] = (),
) -> tuple[Tree, Remarks]:
    """Return the Tree of a URDF file's root element, and by kind the remarks on it.

    Joints stand depth first, in the file's order. The arguments are those of `load_model`.

    Raises:
        ValueError: the message names file, line and element.
    """
    if root.tag != "robot":
        raise root.wrong("expected <robot>, the root of a URDF file")
    links, joints = _elements_by_name(root, "link"), _elements_by_name(root, "joint")
    first, carried = _tree_structure(root, links, joints)
    colours, dull = colours_of(root.every("material"))
    reading = Reading(
        path=path,
        repair=repair,
        folders=folders,
        colours=colours,
        shapes=shapes,
        slight=SLIGHT * sum(mass_of(link) for link in links.values()),
    )
    bodies = {name: link_of(reading, element) for name, element in links.items()}
    weightless = _weightless(first, carried, bodies)
    lost = [name for name in joints if (leader := _leader(joints, name)) and leader not in joints]
    if lost and "loosen" not in repair:
        mimic = joints[lost[0]].child("mimic")
        raise mimic.wrong(f"unknown joint {mimic.text('joint')!r} of {lost[0]!r}; {LOOSEN}")
    lines = {
        name: _line(joints, name, lost)
        for name in joints
        if name not in lost and _leader(joints, name)
    }
    welded = _joints_without_mass(joints, lines, weightless)
    if welded and "weld" not in repair:
        raise welded[0].wrong(f"nothing that it moves has mass; {WELD}")
    rows = [base_joints(base, bodies[first][0], joints, links)]
    acting: list[Acting] = []
    for joint in _depth_first(first, carried):
        link, _ = bodies[tree_name(joint.child("child"), "link")]
        rows.append(_row(joint, link, joint in welded, lines.get(tree_name(joint, "name"))))
        acting += _joint_elements(joint, rows[-1][0][-1])
    tree = Tree(
        joints=[joint for row, _ in rows for joint in row],
        links=[link for _, row in rows for link in row],
        gravity=gravity,
        elements=acting,
    )
    tree = replace(tree, points=_soles(tree, links, soles))
    return tree, {
        **merge_remarks([*(words for _, words in bodies.values()), dull]),
        "joints that move no mass are fixed": [joint.text("name") for joint in welded],
        "joints that ought to follow unknown ones follow none": lost,
        **_unusual_parts([*links.values(), *joints.values()]),
    }


def _soles(tree: Tree, links: Mapping[str, Element], named: Sequence[str]) -> list[Point]:
    """Return the corners of the soles of links."""
    frames = poses(tree, np.array(tree.neutral)) if named else []
    turns = [np.array(frames[tree.link_index(name)])[:3, :3] for name in named]
    return [point for name, turn in zip(named, turns) for point in sole_points(links[name], turn)]


def _unusual_parts(elements: Sequence[Element]) -> Remarks:
    """Return by kind the parts of links and joints that are not taken to the letter."""
    void = [(joint.text("name"), _zero_limits(joint)) for joint in elements]
    return {
        "limits of zero are taken as none": [
            f"{name} ({', '.join(zeros)})" for name, zeros in void if zeros
        ],
        "joints without lower and upper limits go as far as they like": [
            joint.text("name") for joint in elements if _boundless(joint)
        ],
        f"the name {GROUND!r} is that of the world": [
            f"{each.tag} {each.text('name')!r} is {tree_name(each, 'name')!r}"
            for each in elements
            if each.text("name") == GROUND
        ],
        **suspicious_values(elements),
    }


def _elements_by_name(root: Element, tag: str) -> dict[str, Element]:
    """Return the root's elements of a tag by their names, each used once."""
    known: dict[str, Element] = {}
    for element in root.every(tag):
        name = tree_name(element, "name")
        if name in known:
            raise element.wrong(f"the name is used twice, first in line {known[name].line}")
        known[name] = element
    return known


def _tree_structure(
    root: Element, links: Mapping[str, Element], joints: Mapping[str, Element]
) -> tuple[str, dict[str, list[Element]]]:
    """Return the root link, and the joints that each link carries; raise ValueError for no tree."""
    if not links:
        raise root.wrong("it has no <link>")
    carried: dict[str, list[Element]] = {name: [] for name in links}
    carriers: dict[str, Element] = {}
    for joint in joints.values():
        ends = [joint.child(end) for end in ("parent", "child")]
        for end in ends:
            if tree_name(end, "link") not in links:
                raise end.wrong(f"joint {joint.text('name')!r}: unknown link {end.text('link')!r}")
        parent, child = (tree_name(end, "link") for end in ends)
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
        reached |= {tree_name(each.child("child"), "link") for each in _depth_first(first, carried)}
    lost = [name for name in carried if name not in reached]
    if not lost:
        return
    cycle = [lost[0]]
    while (above := tree_name(carriers[cycle[-1]].child("parent"), "link")) not in cycle:
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
        waiting += reversed(carried[tree_name(joint.child("child"), "link")])


def _weightless(
    first: str, carried: Mapping[str, list[Element]], bodies: Mapping[str, tuple[Link, Remarks]]
) -> set[str]:
    """Return the links that have no mass and carry none."""
    light: set[str] = set()
    for joint in reversed(list(_depth_first(first, carried))):
        name = tree_name(joint.child("child"), "link")
        beyond = (tree_name(each.child("child"), "link") for each in carried[name])
        if not bodies[name][0].mass and all(each in light for each in beyond):
            light.add(name)
    return light


def _joints_without_mass(
    joints: Mapping[str, Element], lines: Mapping[str, Line], weightless: Collection[str]
) -> list[Element]:
    """Return the moving joints that move no mass, nor do those that follow the same joint."""
    heavy = {
        lines[name][0] if name in lines else name
        for name, joint in joints.items()
        if tree_name(joint.child("child"), "link") not in weightless
    }
    return [
        joint
        for name, joint in joints.items()
        if joint.text("type") != "fixed"
        and (lines[name][0] if name in lines else name) not in heavy
    ]


def _leader(joints: Mapping[str, Element], name: str) -> str | None:
    """Return the name of the joint that a joint states to follow, if any."""
    mimic = joints[name].one("mimic")
    return None if mimic is None else tree_name(mimic, "joint")


def _line(joints: Mapping[str, Element], name: str, lost: Sequence[str]) -> Line:
    """Return the leader of a joint in the end, and o and r of the line o + r x; those `lost`
    have none."""
    offset, ratio, seen = 0.0, 1.0, [name]
    while (mimic := joints[name].one("mimic")) is not None and name not in lost:
        factor, name = mimic.number("multiplier", 1.0), tree_name(mimic, "joint")
        if name in seen:
            raise mimic.wrong(f"joints {', '.join([*seen, name])} follow each other")
        if not factor or joints[name].text("type") not in DRIVEN:
            raise mimic.wrong(
                f"expected a joint that turns or slides, times a number other than 0, got {name!r} "
                f"({joints[name].text('type')}) times {factor:g}"
            )
        offset, ratio = offset + ratio * mimic.number("offset", 0.0), ratio * factor
        seen.append(name)
    return name, offset, ratio


# Joints -------------------------------------------------------------------------------------------


def _row(element: Element, link: Link, weld: bool, line: Line | None) -> Row:
    """Return a joint, or the joints in its place, and the links that they carry."""
    name, kind = tree_name(element, "name"), element.text("type")
    parent, home = tree_name(element.child("parent"), "link"), origin_of(element)
    if kind not in KINDS:
        raise element.wrong(f"type: expected one of {', '.join(KINDS)}, got {kind!r}")
    with element.located_errors():
        if kind == "fixed" or weld:
            return [fixed(name, parent, home=home)], [link]
        if kind == "floating":
            return list(free(name, parent, home=home)), [Link(), Link(), Link(), link]
        if kind == "planar":
            about = np.array(_axis(element))  # two slides across it, and the turn about it
            across = np.cross(about, np.eye(3)[np.argmin(np.abs(about))])
            across /= np.linalg.norm(across)
            slides = {"x": across.tolist(), "y": np.cross(about, across).tolist()}
            return planar_joints(name, parent, slides, about.tolist(), home), [Link(), Link(), link]
        axis, still = _axis(element), (0.0, 0.0, 0.0)
        screw = (*still, *axis) if kind == "prismatic" else (*axis, *still)
        limits = _limits(element, kind)  # which remarks judge, those of all joints together
        if line is not None:  # limits are those of the joint that it follows
            limits = {"follows": polynomial(*line)}
        return [Joint(name=name, parent=parent, home=home, screw=screw, **limits)], [link]


def _joint_elements(element: Element, joint: Joint) -> list[Acting]:
    """Return damper and friction of a joint that turns or slides."""
    dynamics = element.one("dynamics")
    if dynamics is None or joint.kind == "fixed" or element.text("type") not in DRIVEN:
        return []
    with dynamics.located_errors():
        stated = {what: dynamics.number(what, 0.0) for what in ("damping", "friction")}
        return list(joint_elements(joint, JointForces(**stated)))


def _axis(element: Element) -> Sequence[float]:
    axis = element.one("axis")
    direction = np.array((1.0, 0.0, 0.0) if axis is None else axis.numbers("xyz", 3))
    length = np.linalg.norm(direction)
    if axis is not None and length < 1e-9:
        raise axis.wrong("xyz: expected a direction, got zeros")
    return tuple((direction / length).tolist())


def _limits(element: Element, kind: str) -> dict[str, Numbers]:
    """Return the limits of a joint's position, velocity and torque that it states."""
    limit = element.one("limit")
    if limit is None:
        if kind != "continuous":
            raise element.wrong(f"<limit> is missing, which a {kind} joint must have")
        return {}
    stated: dict[str, Numbers] = {}
    for what, attribute in (("velocity", "velocity"), ("torque", "effort")):
        value = limit.number(attribute, inf) if attribute in limit.attributes else inf
        if value < 0:
            raise limit.wrong(f"{attribute}: expected at least 0, got {value:g}")
        stated[what] = value or inf
    if kind != "continuous" and not _boundless(element):
        stated["position"] = (limit.number("lower", 0.0), limit.number("upper", 0.0))
    return stated


def _zero_limits(element: Element) -> list[str]:
    """Return the limits of a joint that are zero, as exporters write where nobody gave any."""
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
