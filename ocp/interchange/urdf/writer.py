"""Trees written as files of the Unified Robot Description Format (URDF)."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import inf
from xml.sax.saxutils import quoteattr

import numpy as np

from ocp.interchange.reader_notes import Remarks
from ocp.mechanics.elements import Damper, Friction
from ocp.mechanics.kinematics.spatial import invert, move_screw, rotate_y, rotate_z, translate
from ocp.mechanics.model.joints import GROUND, Joint
from ocp.mechanics.model.quaternions_and_couplings import Polynomial
from ocp.mechanics.model.tree import Link, Tree
from ocp.mechanics.model.visuals import Visual
from ocp.mechanics.values.parameters import Number, array
from ocp.mechanics.values.types import Numbers
from ocp.mechanics.values.validation import check_numeric

LARGEST = 1e9  # m or rad: an end of a range that is open at one side only
ROOT = "world"  # the link that stands for the ground
LACKED = ("ellipsoid", "loft")  # visuals that the format has no words for


def urdf_text(tree: Tree, name: str) -> tuple[str, Remarks]:
    """Return a tree as the text of a URDF file, and by kind what the text leaves out.

    The format has no word for a base that floats: the text begins with the link that it carries. So
    it does with the link of a fixed joint that stands alone on the ground; else with a link
    "world".

    Args:
        tree: the robot.
        name: of the robot.

    Raises:
        ValueError: the tree has loops, stays, links that bend, screws, balls, elements but dampers
            and dry friction, or open numbers.
    """
    check_numeric("save_model", tree)
    for what, parts in (("loops", tree.loops), ("stays", tree.stays)):
        if parts:
            names = ", ".join(part.name for part in parts)
            raise ValueError(f"save_model: URDF knows no {what}, and the tree has {names}")
    for each in tree.elements:
        if not isinstance(each, Damper | Friction):
            kind = type(each).__name__.lower()
            raise ValueError(f"save_model: URDF knows no {kind}, and the tree has {each.name!r}")
    moved = [joint.name for joint in tree.joints if joint.anchor.any()]
    tree, base = frames_on_axes(tree), _base_joints(tree)
    lines = [f"<robot name={quoteattr(name)}>"]
    world = unused_name(ROOT, tree.link_names)
    lines += [] if base else [f"  <link name={quoteattr(world)}/>"]
    for k, (joint, link) in enumerate(zip(tree.joints, tree.links)):
        if k in base[:-1]:
            continue
        lines += _link(tree.link_names[k], link)
        if k not in base:
            parent = world if joint.parent == GROUND else joint.parent
            lines += _joint(tree, joint, parent, tree.link_names[k])
    remarks = {"links' frames stand on their joints' axes": moved, **_left_out(tree, base)}
    return "\n".join([*lines, "</robot>", ""]), remarks


def unused_name(name: str, known: Sequence[str]) -> str:
    """Return a name that is not among those `known`, by underscores behind it."""
    while name in known:
        name += "_"
    return name


def frames_on_axes(tree: Tree) -> Tree:
    """Return the same mechanism with the origins of links on their joints' axes.

    Args:
        tree: the mechanism, whose coordinates stay as they are.
    """
    if not any(joint.anchor.any() for joint in tree.joints):
        return tree
    shifts = [translate(*joint.anchor) for joint in tree.joints]
    joints, links = [], []
    for k, (joint, link, parent) in enumerate(zip(tree.joints, tree.links, tree.parents)):
        before = invert(shifts[parent]) if parent >= 0 else np.eye(4)
        screw = (
            None if joint.screw is None else move_screw(invert(shifts[k]), np.array(joint.screw))
        )
        joints.append(replace(joint, home=before @ array(joint.home) @ shifts[k], screw=screw))
        looks = (
            replace(visual, pose=invert(shifts[k]) @ array(visual.pose)) for visual in link.visuals
        )
        com = np.array(link.com) - joint.anchor
        links.append(replace(link, com=com, visuals=tuple(looks)))
    places = (
        np.array(point.position) - tree.joints[tree.link_index(point.link)].anchor
        for point in tree.points
    )
    points = [replace(point, position=place) for point, place in zip(tree.points, places)]
    return replace(tree, joints=joints, links=links, points=points)


def _base_joints(tree: Tree) -> tuple[int, ...]:
    """Return the joints that a file leaves out, from the ground on; none where it has a link
    "world"."""
    if sum(joint.parent == GROUND for joint in tree.joints) > 1:
        return ()
    if tree.joints[0].kind == "fixed" and _is_still(tree.joints[0]):
        return (0,)
    line: list[int] = []
    for k, joint in enumerate(tree.joints):
        inline = tree.parents[k] == k - 1 and _is_still(joint) and joint.follows is None
        if not inline or joint.actuated or joint.kind == "fixed":
            break
        line.append(k)
        if tree.links[k].mass or tree.links[k].name or tree.parents.count(k) != 1:
            break
    slides = [k for k in line if tree.joints[k].kind == "prismatic"]
    return tuple(line) if len(line) > len(slides) > 1 else ()


def _is_still(joint: Joint) -> bool:
    return bool((np.array(joint.home) == np.eye(4)).all())


def _left_out(tree: Tree, base: Sequence[int]) -> Remarks:
    """Return by kind the parts of a tree that its file does not have."""
    joints = [joint for k, joint in enumerate(tree.joints) if k not in base]
    uneven = [
        f"{joint.name} ({what})"
        for joint in joints
        for what in ("velocity", "torque")
        if getattr(joint, what)[0] != -getattr(joint, what)[1]
    ]
    solids = [
        name
        for name, link in zip(tree.link_names, tree.links)
        if any(visual.kind in LACKED for visual in link.visuals)
    ]
    smooth = [
        each.name
        for each in tree.elements
        if isinstance(each, Friction)
        and each != Friction(joint=each.joint, dynamic=each.dynamic, name=each.name)
    ]
    return {
        "of dry friction its dynamic level is written": smooth,
        "points are left out": [point.name for point in tree.points],
        "ellipsoids and lofts are left out": solids,
        "the narrower of two limits is written": uneven,
        "that nothing drives is left out": [
            joint.name for joint in joints if joint.kind != "fixed" and not joint.actuated
        ],
    }


def _link(name: str, link: Link) -> Iterator[str]:
    if link.modes is not None:
        raise ValueError(f"save_model: link {name!r}: URDF knows no links that bend")
    if not (link.mass or link.visuals):
        yield f"  <link name={quoteattr(name)}/>"
        return
    yield f"  <link name={quoteattr(name)}>"
    if link.mass:
        (xx, xy, xz), (_, yy, yz), (_, _, zz) = link.inertia
        moments = {"ixx": xx, "ixy": xy, "ixz": xz, "iyy": yy, "iyz": yz, "izz": zz}
        yield "    <inertial>"
        yield f"      <origin xyz={_numbers(link.com)}/>"
        yield f"      <mass value={_numbers([link.mass])}/>"
        yield f"      <inertia{''.join(f' {key}={_numbers([moments[key]])}' for key in moments)}/>"
        yield "    </inertial>"
    for visual in link.visuals:
        yield from _visual(visual)
    yield "  </link>"


def _visual(visual: Visual) -> Iterator[str]:
    if visual.kind in LACKED:
        return
    shapes = {
        "box": lambda size: f"size={_numbers(size)}",
        "sphere": lambda size: f"radius={_numbers(size)}",
        "mesh": lambda size: f"filename={quoteattr(visual.path)} scale={_numbers(size)}",
    }
    round_ = lambda size: f"radius={_numbers(size[:1])} length={_numbers(size[1:])}"  # rods
    yield "    <visual>"
    yield f"      {_origin(visual.pose)}"
    words = shapes.get(visual.kind, round_)(visual.size)
    yield f"      <geometry><{visual.kind} {words}/></geometry>"
    if visual.colour is not None:
        yield f'      <material name=""><color rgba={_numbers(visual.colour)}/></material>'
    yield "    </visual>"


def _joint(tree: Tree, joint: Joint, parent: str, child: str) -> Iterator[str]:
    kind = _kind(joint)
    yield f"  <joint name={quoteattr(joint.name)} type={quoteattr(kind)}>"
    yield f"    {_origin(joint.home)}"
    yield f"    <parent link={quoteattr(parent)}/>"
    yield f"    <child link={quoteattr(child)}/>"
    if kind != "fixed":
        axis = joint.screw[3:] if kind == "prismatic" else joint.screw[:3]
        yield f"    <axis xyz={_numbers(axis)}/>"
        yield from _limit(joint, kind)
        yield from _dynamics(tree, joint)
        yield from _mimic(joint)
    yield "  </joint>"


def _kind(joint: Joint) -> str:
    if joint.kind in ("fixed", "prismatic"):
        return joint.kind
    if joint.kind != "revolute":
        raise ValueError(
            f"save_model: joint {joint.name!r}: expected one that turns, slides or is fixed, which "
            f"URDF knows, got {joint.kind}"
        )
    return "continuous" if joint.position == (-inf, inf) else "revolute"


def _dynamics(tree: Tree, joint: Joint) -> Iterator[str]:
    """Yield damping and dry friction at a joint."""
    at_joint = [each for each in tree.elements if getattr(each, "joint", "") == joint.name]
    damping = sum(each.damping for each in at_joint if isinstance(each, Damper))
    friction = sum(each.dynamic for each in at_joint if isinstance(each, Friction))
    if damping or friction:
        yield f"    <dynamics damping={_numbers([damping])} friction={_numbers([friction])}/>"


def _mimic(joint: Joint) -> Iterator[str]:
    """Yield the line by which a joint follows another."""
    if joint.follows is not None:
        function = joint.follows.function
        if not isinstance(function, Polynomial) or len(function.coefficients) != 2:
            raise ValueError(
                f"save_model: joint {joint.name!r} follows {joint.follows.coordinate!r} by more "
                "than a straight line, which URDF cannot say"
            )
        offset, ratio = (_numbers([each]) for each in function.coefficients)
        leader = quoteattr(joint.follows.coordinate)
        yield f"    <mimic joint={leader} multiplier={ratio} offset={offset}/>"


def _limit(joint: Joint, kind: str) -> Iterator[str]:
    """Yield the limits of a joint; the format has one number each for velocity and effort."""
    words = []
    if kind != "continuous" and joint.position != (-inf, inf):
        lower, upper = np.clip(joint.position, -LARGEST, LARGEST)
        words += [f"lower={_numbers([lower])} upper={_numbers([upper])}"]
    for name, (lower, upper) in (("velocity", joint.velocity), ("effort", joint.torque)):
        bound = min(-lower, upper)
        words += [f"{name}={_numbers([bound])}"] if bound < inf else []
    if words or kind != "continuous":
        yield f"    <limit {' '.join(words)}/>".replace(" />", "/>")


def _origin(pose: Numbers) -> str:
    return f"<origin xyz={_numbers([row[3] for row in pose[:3]])} rpy={_numbers(angles(pose))}/>"


def angles(pose: Numbers) -> tuple[float, float, float]:
    """Return roll, pitch and yaw (rad) of a pose: its turns about the fixed axes x, y, z."""
    turn = np.array(pose)[:3, :3]
    yaw = float(np.arctan2(turn[1, 0], turn[0, 0]))
    pitch = float(np.arctan2(-turn[2, 0], np.hypot(turn[0, 0], turn[1, 0])))
    rest = (rotate_z(yaw) @ rotate_y(pitch))[
        :3, :3
    ].T @ turn  # so the product is right at any pitch
    return float(np.arctan2(rest[2, 1], rest[2, 2])), pitch, yaw


def _numbers(values: Sequence[Number]) -> str:
    return '"' + " ".join(repr(float(value)) for value in values) + '"'
