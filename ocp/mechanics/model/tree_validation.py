"""Validation of a tree as it is made.

Each check raises ValueError naming the joint, point, loop, stay or element.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Protocol

import numpy as np

from ocp.mechanics.model.cut_joints import Loop
from ocp.mechanics.model.joints import GROUND, Joint, explain_no_coordinate
from ocp.mechanics.model.quaternions_and_couplings import is_constant
from ocp.mechanics.model.unilateral_joints import End, Stay
from ocp.mechanics.values.degrees import warn_outside
from ocp.mechanics.values.parameters import array, is_open, nominal, parameters_of
from ocp.mechanics.values.validation import nominal_array
from ocp.spelling import suggestion

BEYOND = 1.2  # times what a link carries at most, where its centre of mass is out of the ordinary
GROUNDED = -1  # the link, by number, that places of the ground are on


class Mechanism(Protocol):
    """A tree as its parts see it, whose modules it stands on."""

    @property
    def links(self) -> Sequence[Any]: ...
    @property
    def joints(self) -> Sequence[Joint]: ...
    @property
    def points(self) -> Sequence[Any]: ...
    @property
    def loops(self) -> Sequence[Loop]: ...
    @property
    def stays(self) -> Sequence[Stay]: ...
    @property
    def elements(self) -> Sequence[Any]: ...
    @property
    def names(self) -> tuple[str, ...]: ...
    @property
    def link_names(self) -> tuple[str, ...]: ...
    @property
    def moving(self) -> tuple[Joint, ...]: ...
    @property
    def flexible(self) -> tuple[str, ...]: ...
    @property
    def parents(self) -> tuple[int, ...]: ...
    @property
    def spans(self) -> tuple[tuple[int, ...], ...]: ...
    def link_index(self, name: str) -> int: ...
    def joint_index(self, name: str) -> int: ...
    def coordinate(self, name: str) -> int: ...


def check_tree(tree: Mechanism) -> None:
    """Raise ValueError naming what of a tree does not fit the rest."""
    if not tree.joints or len(tree.links) != len(tree.joints):
        raise ValueError(
            f"tree: expected one link per joint and at least one, got {len(tree.links)} links "
            f"and {len(tree.joints)} joints"
        )
    _check_unique("joint", tree.names)
    _check_unique("link", tree.link_names)
    _check_parents(tree)
    _check_unique("element", [element.name for element in tree.elements])
    _check_unique("coordinate", [joint.name for joint in tree.moving])
    _check_followers(tree)
    _check_unique("point", [point.name for point in tree.points])
    for point in tree.points:
        if point.link not in tree.link_names:
            raise ValueError(
                f"point {point.name!r}: unknown link {point.link!r}"
                f"{known_names('links', tree.link_names, point.link)}"
            )
    _check_unique("loop", [loop.name for loop in tree.loops])
    for loop in tree.loops:
        _check_ends(tree, f"loop {loop.name!r}", loop.start, loop.end)
    if tree.flexible:
        _check_places(tree)
    _check_unique("stay", [stay.name for stay in tree.stays])
    for stay in tree.stays:
        _check_stay(tree, stay)
    for element in tree.elements:
        element.check(tree)
    _warn_of_base_frame(tree)


def known_names(what: str, names: Sequence[str], word: str, *others: str) -> str:
    """Return the end of an error on a `word` that is none of the names: which one may be meant, of
    these and of `others`, and which there are."""
    listed = f"the {what} are {', '.join(names)}" if names else f"there are no {what}"
    return f"{suggestion(word, (*names, *others))}; {listed}"


def _warn_of_base_frame(tree: Mechanism) -> None:
    """Warn of centres of mass that are likely in the axes of the base at zero coordinates.

    One at least lies far beyond all that its link carries. Less the places of links' frames in
    the base all come nearer, none beyond what its link carries. One link alone says too little.
    """
    coms, reach = [nominal_array(array(link.com)) for link in tree.links], _reach(tree)
    lengths = [float(np.linalg.norm(com)) for com in coms]
    if not any(0.0 < BEYOND * most < far for far, most in zip(lengths, reach)):
        return
    frames: list[np.ndarray] = []  # (4x4) in the base at zero coordinates
    for joint, parent in zip(tree.joints, tree.parents):
        home = nominal_array(array(joint.home))
        frames.append(home if parent < 0 else frames[parent] @ home)
    away = [
        (name, length, float(np.linalg.norm(com - frame[:3, 3])), far)
        for name, link, com, length, frame, far in zip(
            tree.link_names, tree.links, coms, lengths, frames, reach
        )
        if nominal(link.mass) and frame[:3, 3].any()
    ]
    beyond = [each for each in away if 0.0 < BEYOND * each[3] < each[1]]
    nearer = all(here < far and (not most or here <= most) for _, far, here, most in away)
    if beyond and nearer and len(away) > 1:
        name, far, here, most = beyond[0]
        warn_outside(
            f"link {name!r}: its centre of mass is {far:.3g} m from its frame, beyond all that it "
            f"carries ({most:.3g} m); com is in the link's own frame: were it in the base's, it "
            f"would be {here:.3g} m away"
        )


def _reach(tree: Mechanism) -> list[float]:
    """Return the distance (m) from each link's frame of the farthest joint and point on it."""
    reach = [0.0] * len(tree.links)
    seats = [(parent, array(joint.home)[:3, 3]) for joint, parent in zip(tree.joints, tree.parents)]
    seats += [(tree.link_index(point.link), array(point.position)) for point in tree.points]
    for link, place in seats:
        if link >= 0:
            far = float(np.linalg.norm(nominal_array(place)))
            reach[link] = max(reach[link], far)
    return reach


def _check_places(tree: Mechanism) -> None:
    """Raise ValueError naming what sits at an open place on a link that bends: shapes are numbers
    there."""
    seats = [(f"joint {joint.name!r}", joint.parent, joint.home) for joint in tree.joints]
    seats += [(f"point {point.name!r}", point.link, point.position) for point in tree.points]
    for label, link, place in seats:
        if link in tree.flexible and is_open(place):
            names = ", ".join(each.name for each in parameters_of(place))
            raise ValueError(
                f"{label}: parameters {names}: link {link!r} bends, and its shapes are known at "
                "places in numbers alone"
            )


def _check_unique(what: str, names: Sequence[str]) -> None:
    if len(set(names)) < len(names):
        name = next(each for each in names if names.count(each) > 1)
        raise ValueError(f"{what} {name!r}: the name is used twice")


def _check_followers(tree: Mechanism) -> None:
    """Raise ValueError naming a follower of no coordinate, or of one that is itself a function; and
    where links bend any joint but single ones."""
    leaders = {joint.name: joint for joint in tree.moving}
    for joint in tree.joints:
        label, follows = f"joint {joint.name!r}", joint.follows
        if tree.flexible and (joint.ball or follows is not None):
            raise ValueError(
                f"{label}: trees with links that bend ({', '.join(tree.flexible)}) take no balls "
                "and no joints that follow a coordinate"
            )
        if follows is not None and follows.coordinate not in leaders:
            raise ValueError(
                f"{label}: follows unknown coordinate {follows.coordinate!r}"
                f"{known_names('coordinates', list(leaders), follows.coordinate)}"
            )
        if follows is not None and follows.coordinate == joint.name and is_constant(follows):
            raise ValueError(
                f"{label}: follows its own coordinate by a constant, and never moves; fix it"
            )
        if follows is not None and leaders[follows.coordinate].ball:
            raise ValueError(
                f"{label}: follows {follows.coordinate!r}, which is a component of a ball"
            )


def _check_parents(tree: Mechanism) -> None:
    names = tree.link_names
    parents = {name: joint.parent for name, joint in zip(names, tree.joints)}
    index = {name: k for k, name in enumerate(names)}
    for k, joint in enumerate(tree.joints):
        if index.get(joint.parent, k) < k:
            continue
        if joint.parent != GROUND and joint.parent not in parents:
            raise ValueError(
                f"joint {joint.name!r}: unknown parent {joint.parent!r}"
                f"{known_names('links', names, joint.parent, GROUND)} and {GROUND!r}"
            )
        seen, ancestor = [names[k]], joint.parent
        while ancestor in parents:
            if ancestor in seen:
                raise ValueError(
                    f"joint {joint.name!r}: its parents form a cycle, "
                    f"{' -> '.join([*seen, ancestor])}"
                )
            seen.append(ancestor)
            ancestor = parents[ancestor]
        if joint.parent in names[k:]:
            raise ValueError(
                f"joint {joint.name!r}: its parent {joint.parent!r} must stand before it"
            )


def _check_ends(tree: Mechanism, label: str, start: End, end: End) -> None:
    """Raise ValueError unless both ends, points or places of the ground, move to each other."""
    if carrier(label, tree, start) == carrier(label, tree, end):
        raise ValueError(
            f"{label}: its points {start!r} and {end!r} are on one link, or on rigidly joined ones"
        )


def carrier(label: str, tree: Mechanism, end: End) -> int:
    """Return the number of the link that carries an end of something, or, where that is rigidly
    joined to others, of the one of them that is nearest to the ground; GROUNDED for the ground.

    `end` is a point's name or a place of the ground. Raises ValueError, beginning with `label`, for
    an unknown point.
    """
    if not isinstance(end, str):
        return GROUNDED
    links = {point.name: point.link for point in tree.points}
    if end not in links:
        raise ValueError(f"{label}: unknown point {end!r}{known_names('points', list(links), end)}")
    k = tree.link_index(links[end])
    spans, parents = tree.spans, tree.parents
    bends = [link.modes is not None for link in tree.links]
    while k >= 0 and not spans[k] and not bends[k]:
        if parents[k] >= 0 and bends[parents[k]]:
            return k
        k = parents[k]
    return k


def check_path(label: str, tree: Mechanism, path: Sequence[End]) -> None:
    """Raise ValueError naming an unknown point, a path whose points are all on one link, or two
    neighbours at one place."""
    carriers = {carrier(label, tree, end) for end in path}
    if len(carriers) == 1:
        raise ValueError(
            f"{label}: the points of its path, {', '.join(map(str, path))}, are all on one link, "
            "or on rigidly joined ones: its length never changes"
        )
    places: dict[End, object] = {point.name: (point.link, point.position) for point in tree.points}
    for before, after in pairwise(path):
        a, b = places.get(before, before), places.get(after, after)
        if not is_open((a, b)) and a == b:
            raise ValueError(
                f"{label}: {before} and {after} of its path are one place, between which it has "
                "no direction"
            )


def _check_stay(tree: Mechanism, stay: Stay) -> None:
    label = f"stay {stay.name!r}"
    if tree.flexible:
        raise ValueError(f"{label}: links that bend ({', '.join(tree.flexible)}) take no stays yet")
    if stay.path:
        check_path(f"wire {stay.name!r}", tree, stay.path)
    elif not stay.joint:
        _check_ends(tree, label, stay.start, stay.end)
    elif stay.joint not in tree.names:
        raise ValueError(
            f"{label}: unknown joint {stay.joint!r}{known_names('joints', tree.names, stay.joint)}"
        )
    elif stay.joint not in [joint.name for joint in tree.moving]:
        raise ValueError(
            f"{label}: {explain_no_coordinate(tree.joints[tree.joint_index(stay.joint)])}"
        )
