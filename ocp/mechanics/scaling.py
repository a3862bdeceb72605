"""Segments of other lengths: a tree whose links are so many times as long as another's."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from ocp.mechanics.model.joints import Joint
from ocp.mechanics.model.tree import Link, Point, Tree
from ocp.mechanics.model.visuals import Visual
from ocp.mechanics.values.parameters import Number, array
from ocp.mechanics.values.validation import check_type, positive


def scale_links(tree: Tree, factors: Mapping[str, Number]) -> Tree:
    """Return the tree with links that are `factors` {link: number above 0} times as long.

    What is fixed in a link grows with it: the axes of the joints that it carries, its own joint's
    axis as its frame sees it, points, centre of mass, and looks but for boxes and the like. The
    mass stays, the inertia grows with the square. Slides and limits of joints stay, and so does
    what is not stated in links: stays of fixed places, elements, curves of joints that follow.
    Factors may be open. Raises ValueError naming an unknown link, one that bends, or a factor.
    """
    given = {}
    for name, factor in check_type("scale_links: factors", factors, Mapping).items():
        if tree.links[tree.link_index(name)].modes is not None:
            raise ValueError(f"scale_links: link {name!r} bends, and is not scaled")
        given[name] = positive(f"scale_links: link {name!r}", factor, unit="")
    own = [given.get(name, 1.0) for name in tree.link_names]
    bearing = [1.0 if parent < 0 else own[parent] for parent in tree.parents]
    return replace(
        tree,
        links=[_link(link, factor) for link, factor in zip(tree.links, own)],
        joints=[_joint(*row) for row in zip(tree.joints, own, bearing)],
        points=[_point(point, given.get(point.link, 1.0)) for point in tree.points],
    )


def body_segments(tree: Tree, sides: tuple[str, str] | None = None) -> dict[str, tuple[str, ...]]:
    """Return {segment: its links}: every link that has mass, with the massless ones between it and
    the last one before it.

    Massless links that are welded to their parents, or lead to nothing, go with these; those that
    lead from the ground to the first mass are in none. With `sides`, two endings of names as
    ("_r", "_l"), links whose names differ by these alone are one segment, called without them.
    """
    names, parents = tree.link_names, tree.parents
    heavy = [link.mass != 0 for link in tree.links]
    leader: list[int | None] = [k if heavy[k] else None for k in range(len(names))]
    for k in reversed(range(len(names))):
        if leader[k] is not None and parents[k] >= 0 and leader[parents[k]] is None:
            leader[parents[k]] = leader[k]
    for k, parent in enumerate(parents):
        welded = tree.joints[k].kind == "fixed" and not heavy[k]
        if parent >= 0 and (welded or leader[k] is None):
            leader[k] = leader[parent]
        elif not heavy[k] and (parent < 0 or leader[parent] is None):
            leader[k] = None
    grouped: dict[str, tuple[str, ...]] = {}
    for k, first in enumerate(leader):
        if first is not None:
            segment = _without_side(names[first], names, sides)
            grouped[segment] = (*grouped.get(segment, ()), names[k])
    return grouped


def _without_side(name: str, names: tuple[str, ...], sides: tuple[str, str] | None) -> str:
    """Return a link's name without the ending that tells its side, if the other side has one."""
    for side, other in (sides, sides[::-1]) if sides else ():
        stem = name.removesuffix(side)
        if stem != name and stem + other in names:
            return stem
    return name


def _link(link: Link, factor: Number) -> Link:
    if isinstance(factor, float) and factor == 1.0:
        return link
    return replace(
        link,
        com=factor * array(link.com),
        inertia=factor**2 * array(link.inertia),
        visuals=[_visual(visual, factor) for visual in link.visuals],
    )


def _visual(visual: Visual, factor: Number) -> Visual:
    """Return the visual of a link at its place in the longer one, a mesh as much larger."""
    pose = np.array(visual.pose)
    pose[:3, 3] *= factor
    size = factor * np.array(visual.size) if visual.kind == "mesh" else visual.size
    return replace(visual, pose=pose, size=size)


def _joint(joint: Joint, own: Number, bearing: Number) -> Joint:
    """Return a joint whose axis has a place `bearing` times as far in its parent, and `own` times
    as far in its link.

    With the axis through r of the link, home @ exp([S] q) takes r to c + slide, c = p + R r.
    """
    if all(isinstance(factor, float) and factor == 1.0 for factor in (own, bearing)):
        return joint
    home, r = array(joint.home), joint.anchor
    turn, place = (
        home[:3, :3],
        bearing * (home[:3, 3] + home[:3, :3] @ r) - home[:3, :3] @ (own * r),
    )
    anew = np.vstack([np.column_stack([turn, place]), home[3]])
    if joint.screw is None or not r.any():
        return replace(joint, home=anew)
    w = array(joint.screw[:3])
    slide = w * joint.pitch
    return replace(joint, home=anew, screw=(*w, *(np.cross(own * r, w) + slide)))


def _point(point: Point, factor: Number) -> Point:
    return replace(point, position=factor * array(point.position))
