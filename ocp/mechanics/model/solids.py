"""Bodies of one density, and how they come onto a tree."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from ocp.mechanics.model.joints import Joint
from ocp.mechanics.model.tree import Link, Tree
from ocp.mechanics.model.visuals import Visual
from ocp.mechanics.values.parameters import Number
from ocp.mechanics.values.validation import check_type, positive

Moments = tuple[float, float, float]


def _box(x: float, y: float, z: float) -> Moments:
    return (y**2 + z**2) / 12, (x**2 + z**2) / 12, (x**2 + y**2) / 12


def _cylinder(radius: float, length: float) -> Moments:
    across = (3 * radius**2 + length**2) / 12
    return across, across, radius**2 / 2


def _ellipsoid(x: float, y: float, z: float) -> Moments:
    return (y**2 + z**2) / 5, (x**2 + z**2) / 5, (x**2 + y**2) / 5


MOMENTS: dict[str, Callable[..., Moments]] = {  # about the centre, of a mass of one
    "box": _box,
    "sphere": lambda radius: _ellipsoid(radius, radius, radius),
    "cylinder": _cylinder,
    "ellipsoid": _ellipsoid,
}


def solid(
    kind: str, mass: Number, size: Sequence[float], *, colour: Sequence[float] | None = None
) -> Link:
    """Return a full body of that `mass` (kg), which may be open, and of one density about its
    link's frame, and its look.

    `kind` and `size` (m) are those of a Visual: a "box" (lengths along x, y, z), "sphere" (radius),
    "cylinder" (radius, length along z) or "ellipsoid" (radii); `colour` likewise. Raises ValueError
    naming what is wrong.
    """
    if kind not in MOMENTS:
        raise ValueError(f"solid: kind: expected one of {', '.join(MOMENTS)}, got {kind!r}")
    look = Visual(kind=kind, size=size, colour=colour)
    heavy = positive("solid: mass", mass, unit="kg")
    moments = heavy * np.array(MOMENTS[kind](*np.array(look.size)))
    return Link(mass=heavy, inertia=np.diag(moments), visuals=(look,))


def with_link(tree: Tree, joint: Joint, link: Link) -> Tree:
    """Return the tree with one more `link` on the `joint` that carries it, as
    with_link(arm, fixed("cup", "hand"), solid("cylinder", 0.4, (0.035, 0.1))).

    Raises ValueError for a joint whose name is taken, or whose parent the tree does not have.
    """
    check_type("with_link: joint", joint, Joint)
    check_type("with_link: link", link, Link)
    return replace(tree, joints=(*tree.joints, joint), links=(*tree.links, link))
