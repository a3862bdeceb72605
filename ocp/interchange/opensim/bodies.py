"""Bodies of OpenSim's models, frames on them, and the joints between them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from ocp.interchange.inertials import link_from_inertia
from ocp.interchange.opensim.joints import Seat
from ocp.interchange.opensim.properties import (
    Objects,
    flag_of,
    name_of,
    number_of,
    numbers_of,
    pose_of,
    socket_of,
)
from ocp.interchange.reader_notes import Remarks
from ocp.interchange.xml_elements import Element
from ocp.mechanics.model.joints import GROUND
from ocp.mechanics.model.tree import Link

FRAMES = ("Body", "PhysicalOffsetFrame")
STILL = (0.0, 0.0, 0.0)
ENTRIES = ("xx", "yy", "zz", "xy", "xz", "yz")  # in the order of version 4


def link_of(body: Element, repair: Sequence[str]) -> tuple[Link, Remarks]:
    """Return a body as a link, and by kind the remarks on it.

    Inertias that no body has are kept where OpenSim computes with them, unless `repair` balances
    them.
    """
    name = name_of(body)
    mass = number_of(body, "mass", 0.0)
    com = numbers_of(body, "mass_center", 3, STILL)
    if body.one("inertia") is not None:
        entries = numbers_of(body, "inertia", 6)
    else:
        entries = tuple(number_of(body, f"inertia_{axes}", 0.0) for axes in ENTRIES)
    xx, yy, zz, xy, xz, yz = entries
    inertia = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    with body.located_errors():
        if not mass and inertia.any():
            return Link(name=name), {"inertias of bodies without mass are left out": [name]}
        allowed = repair or ("keep",)
        link, made = link_from_inertia(mass, com, inertia, allowed, name=name)
    where = f"{name} in line {body.line}"
    return link, {kind: [f"{where}: {words}" for words in ones] for kind, ones in made.items()}


def frame_on_link(objects: Objects, owner: Element, word: str) -> tuple[str, np.ndarray]:
    """Return the link (its name) and the pose (4x4) on it of a frame that a socket names.

    Args:
        objects: of the model.
        owner: whose socket it is.
        word: what it says.

    Raises:
        ValueError: naming the owner; there is no such frame, or frames stand on each other.
    """
    pose, seen = np.eye(4), list[Element]()
    while word.rstrip("/").rpartition("/")[2] != GROUND:
        frame = objects.find(owner, word, (*FRAMES, "Ground"))
        if frame.tag == "Ground":
            break
        if frame.tag != "PhysicalOffsetFrame":
            return name_of(frame), pose
        if frame in seen:
            raise frame.wrong("it is an offset from itself")
        seen.append(frame)
        place = numbers_of(frame, "translation", 3, STILL)
        pose = pose_of(place, numbers_of(frame, "orientation", 3, STILL)) @ pose
        owner, word = frame, socket_of(frame, "parent")
    return GROUND, pose


def seats_of(objects: Objects) -> list[Seat]:
    """Return the joints of a model as the tree has them: depth first from the ground, in the file's
    order, those turned round whose child is nearer to the ground.

    Raises:
        ValueError: naming a joint or a body that makes no tree.
    """
    bodies = {name_of(each): each for each in objects.of("Body") if name_of(each) != GROUND}
    if not bodies:
        raise objects.model.wrong("it has no <Body>")
    around: dict[str, list[Seat]] = {name: [] for name in (GROUND, *bodies)}
    for seat in _stated_seats(objects, bodies):
        around[seat.parent].append(seat)
        around[seat.child].append(seat.reverse)
    waiting, ordered, carriers = list(reversed(around[GROUND])), list[Seat](), dict[str, Seat]()
    while waiting:
        seat = waiting.pop()
        known = carriers.get(seat.child)
        if seat.child == GROUND or known is not None:
            other = "the ground" if known is None else f"joint {known.name!r}"
            raise seat.element.wrong(
                f"body {seat.child!r} is carried by {other} already: close the loop by a "
                "WeldConstraint or a PointConstraint"
            )
        ordered.append(seat)
        carriers[seat.child] = seat
        waiting += [each for each in reversed(around[seat.child]) if each.child != seat.parent]
    for name, body in bodies.items():
        if name not in carriers:
            raise body.wrong(
                "no joint leads from it to the ground; give it a FreeJoint or a WeldJoint"
            )
    return ordered


def _stated_seats(objects: Objects, bodies: Mapping[str, Element]) -> Iterator[Seat]:
    """Yield the joints of a model in the file's order: those of version 4 name both frames, those
    before stand in their child."""
    for body in objects.of("Body"):
        holder = body.one("Joint")
        for joint in () if holder is None else holder.children:
            parent = socket_of(joint, "parent_body")
            if parent not in bodies and parent != GROUND:
                raise joint.wrong(f"<parent_body>: there is no body {parent!r}")
            yield _seat(joint, (parent, np.eye(4)), (name_of(body), np.eye(4)))
    for _, joint in objects.paths:
        ends = (socket_of(joint, f"{end}_frame", f"{end}_body") for end in ("parent", "child"))
        parent, child = ends if joint.tag.endswith("Joint") else ("", "")
        if child:
            frames = (frame_on_link(objects, joint, word) for word in (parent, child))
            yield _seat(joint, *frames)


def _seat(joint: Element, parent: tuple[str, np.ndarray], child: tuple[str, np.ndarray]) -> Seat:
    """Return a joint between two frames, each a link and a pose (4x4) on it."""
    own = "" if joint.one("location_in_child") is None else "_in_child"
    before, after = (
        pose_of(
            numbers_of(joint, f"location{end}", 3, STILL),
            numbers_of(joint, f"orientation{end}", 3, STILL),
        )
        for end in ("_in_parent", own)
    )
    seat = Seat(
        name=joint.attributes.get("name") or f"{child[0]}_joint",
        element=joint,
        parent=parent[0],
        child=child[0],
        home=parent[1] @ before,
        on_child=child[1] @ after,
    )
    if parent[0] == child[0]:
        raise joint.wrong(f"both of its frames are on {parent[0]!r}")
    return replace(seat, turned=flag_of(joint, "reverse"))
