"""Constraints of OpenSim's models as loops, and places on links as points."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeAlias

import numpy as np

from ocp.interchange.opensim.bodies import STILL, frame_on_link
from ocp.interchange.opensim.coordinates import COUPLER, acts
from ocp.interchange.opensim.properties import (
    Objects,
    members_of,
    name_of,
    numbers_of,
    pose_of,
    socket_of,
)
from ocp.interchange.xml_elements import Element
from ocp.mechanics.model.cut_joints import Loop
from ocp.mechanics.model.joints import GROUND, fixed
from ocp.mechanics.model.tree import Link, Point, Tree

Frame: TypeAlias = tuple[str, np.ndarray]  # a link, and a pose (4x4) on it
ENDS = ("start", "end")
LINE = "PointOnLineConstraint"
CLOSED = {"PointConstraint": "", "WeldConstraint": "xyz"}  # {class: turns that it holds}
TINY = 1e-12  # of a direction: one of zeros is refused as no rotation
STAND = "ground_frame"  # the link that stands for the ground where points are on it


def loops_of(objects: Objects) -> tuple[list[Loop], list[Point]]:
    """Return the loops of the constraints that act, and the points that they join.

    Raises:
        ValueError: naming a constraint of another class.
    """
    loops, points = [], []
    loose = members_of(objects.model, "components")
    stated = [*members_of(objects.model, "ConstraintSet")]
    stated += [each for each in loose if each.tag.endswith("Constraint")]
    for each in [*stated, *(each for each in objects.of(*CLOSED, LINE) if each not in stated)]:
        if not acts(each) or each.tag == COUPLER:
            continue
        if each.tag not in (*CLOSED, LINE):
            known = ", ".join((COUPLER, *CLOSED, LINE))
            raise each.wrong(
                f"constraints of this class are not read, but {known}; switch it off by "
                "<isEnforced>false</isEnforced>, or take one of these"
            )
        label = each.attributes.get("name") or f"{each.tag} in line {each.line}"
        loop = Loop(name=label, start=f"{label}_{ENDS[0]}", end=f"{label}_{ENDS[1]}")
        frames, loop = _held_frames(objects, each, loop)
        for which, (link, pose) in zip(ENDS, frames):
            points.append(Point(name=f"{label}_{which}", link=link, position=pose[:3, 3]))
        loops.append(loop)
    return loops, points


def _held_frames(objects: Objects, element: Element, loop: Loop) -> tuple[list[Frame], Loop]:
    """Return the frames that a constraint holds together, and its loop with what it holds."""
    if element.tag == LINE:
        link, pose = frame_on_link(objects, element, socket_of(element, "line_body"))
        along = pose[:3, :3] @ numbers_of(element, "line_direction_vec", 3)
        across = np.cross(along, np.eye(3)[np.argmin(np.abs(along))])
        axes = np.column_stack([along, across, np.cross(along, across)])
        start = pose @ pose_of(numbers_of(element, "point_on_line", 3, STILL), STILL)
        body, end = frame_on_link(objects, element, socket_of(element, "follower_body"))
        end = end @ pose_of(numbers_of(element, "point_on_follower", 3, STILL), STILL)
        frame = axes / np.maximum(np.linalg.norm(axes, axis=0), TINY)
        return [(link, start), (body, end)], replace(loop, position="yz", frame=frame)
    (first, start), (second, end) = (end_frame(objects, element, number) for number in (1, 2))
    holds = CLOSED[element.tag]
    turn = start[:3, :3] @ end[:3, :3].T if holds else np.eye(3)
    return [(first, start), (second, end)], replace(loop, orientation=holds, turn=turn)


def end_frame(objects: Objects, element: Element, number: int) -> Frame:
    """Return the link and the pose (4x4) there of an end, 1 or 2, of a constraint or a bushing."""
    word = socket_of(element, f"frame{number}", f"body_{number}", f"frame_{number}")
    link, pose = frame_on_link(objects, element, word)
    place = numbers_of(element, f"location_body_{number}", 3, STILL)
    turn = numbers_of(element, f"orientation_body_{number}", 3, STILL)
    return link, pose @ pose_of(place, turn)


def markers_of(objects: Objects) -> list[Point]:
    """Return the markers of a model as points."""
    points = []
    for each in objects.of("Marker"):
        link, place = place_of(objects, each, "parent_frame", "body")
        points.append(Point(name=name_of(each), link=link, position=place))
    return points


def place_of(objects: Objects, element: Element, *sockets: str) -> tuple[str, np.ndarray]:
    """Return the link, and the place (3, m) on it, of an object that stands in a frame."""
    link, pose = frame_on_link(objects, element, socket_of(element, *sockets))
    return link, pose[:3, :3] @ numbers_of(element, "location", 3, STILL) + pose[:3, 3]


def with_stand(tree: Tree, loops: Sequence[Loop], points: Sequence[Point]) -> Tree:
    """Return a tree with loops and points, and where one is on the ground with a link there."""
    on_ground = [each for each in points if each.link == GROUND]
    joints, links = list(tree.joints), list(tree.links)
    if on_ground:
        joints.append(fixed(STAND))
        links.append(Link(name=STAND))
    seated = [
        Point(name=each.name, link=STAND, position=each.position) if each in on_ground else each
        for each in points
    ]
    return Tree(joints=joints, links=links, points=seated, loops=loops, gravity=tree.gravity)
