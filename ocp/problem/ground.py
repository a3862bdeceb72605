"""The ground under a walking or lifting body: who stands where and when, what the ground must supply, and how it is shared by the feet.

A body on a floating root needs from the ground the wrench that its own motion demands of the root's six unactuated joints. Its point of
zero moment (ZMP) is where the horizontal moments vanish. While one foot bears, that foot supplies all; while two bear, the shares follow
from a rule (Xiang, Arora, Rahmatalla & Abdel-Malek 2009: linear in the distances; Barman 2020, chapter V), or are variables of the NLP.

Wrenches are (moment about the global origin, force) in global axes; the ground is the plane through that origin.
"""

from dataclasses import dataclass
from math import inf

import numpy as np

from ocp.mechanics.checks import frozen, numbers
from ocp.mechanics.zero_moment import Z


@dataclass(frozen=True, slots=True, kw_only=True)
class Pin:
    """A named point that rests on the ground: the global `axes` in which it is held, and its place `target` (3, m)."""

    point: str
    axes: str = "xyz"
    target: tuple = (0.0, 0.0, 0.0)

    def __post_init__(self):
        if not self.axes or set(self.axes) - set("xyz") or len(set(self.axes)) < len(self.axes):
            raise ValueError(
                f"pin {self.point!r}: axes: expected some of x, y, z, got {self.axes!r}"
            )
        object.__setattr__(
            self, "target", frozen(numbers(f"pin {self.point!r}: target", self.target, (3,)))
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Support:
    """A way of standing, over the part `when` = (a, b) of the motion: the `link` that takes the wrench, its pins, and the `polygon` (k, 3; m)
    on the ground, convex, in which the centre of pressure lies."""

    link: str
    when: tuple
    pins: tuple = ()
    polygon: tuple = ()

    def __post_init__(self):
        a, b = self.when if np.shape(self.when) == (2,) else (1, 0)
        if not 0 <= a < b <= 1:
            raise ValueError(
                f"support on {self.link!r}: when: expected 0 <= a < b <= 1, got {self.when!r}"
            )
        object.__setattr__(self, "when", frozen(self.when))
        object.__setattr__(self, "pins", tuple(self.pins))
        object.__setattr__(self, "polygon", frozen(self.polygon))


@dataclass(frozen=True, slots=True, kw_only=True)
class Foot:
    """What stands on the ground: its supports in order, and the centre (3, m) about which its share of the load is reckoned.

    It bears strictly between the two instants `bears`, so that its load starts from and returns to zero there; infinite where it stands
    already at the start, or still at the end.
    """

    name: str
    supports: tuple
    center: tuple
    bears: tuple = (-inf, inf)

    def __post_init__(self):
        object.__setattr__(self, "supports", tuple(self.supports))
        object.__setattr__(
            self, "center", frozen(numbers(f"foot {self.name!r}: center", self.center, (3,)))
        )
        if not self.supports:
            raise ValueError(f"foot {self.name!r}: expected at least one support")
        for before, after in zip(self.supports, self.supports[1:]):
            if after.when[0] < before.when[1]:
                raise ValueError(
                    f"foot {self.name!r}: its supports overlap: {before.when} and {after.when}"
                )


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """The ground's feet, and its upward unit normal (3).

    Raises ValueError if at some instant of the motion no foot bears.
    """

    feet: tuple
    normal: tuple = Z

    def __post_init__(self):
        normal = numbers("ground: normal", self.normal, (3,))
        if abs(np.linalg.norm(normal) - 1) > 1e-9:
            raise ValueError(
                f"ground: normal: expected unit length, got {np.linalg.norm(normal):.9g}"
            )
        object.__setattr__(self, "feet", tuple(self.feet))
        object.__setattr__(self, "normal", frozen(normal))
        names = [foot.name for foot in self.feet]
        if len(set(names)) < len(names):
            raise ValueError(
                f"ground: two feet have the same name; the feet are {', '.join(names)}"
            )
        edges = sorted({0.0, 1.0, *self.switches})
        for s in sorted([*edges, *((a + b) / 2 for a, b in zip(edges, edges[1:]))]):
            if not bearing_slots(self, s):
                raise ValueError(
                    f"contact schedule: no foot bears at s = {s:g} (feet: {', '.join(names) or 'none'})"
                )

    @property
    def switches(self):
        """Instants inside the motion at which a way of standing begins or ends."""
        found = {
            edge
            for foot in self.feet
            for edges in (foot.bears, *(support.when for support in foot.supports))
            for edge in edges
        }
        return tuple(sorted(edge for edge in found if 0 < edge < 1))

    def foot(self, name):
        """Return the Foot of that name; raise ValueError listing the known ones."""
        for foot in self.feet:
            if foot.name == name:
                return foot
        raise ValueError(
            f"unknown foot {name!r}; the feet are {', '.join(foot.name for foot in self.feet)}"
        )


def slots(ground):
    """Return every (foot, link) that ever bears, in order."""
    return tuple(
        dict.fromkeys(
            (foot.name, support.link) for foot in ground.feet for support in foot.supports
        )
    )


def in_force(foot, s):
    """Return the Support of a foot at the instant s, the later one at a switch, or None."""
    found = [
        support
        for support in foot.supports
        if support.when[0] - 1e-9 <= s <= support.when[1] + 1e-9
    ]
    return found[-1] if found else None


def bears(foot, s):
    """Tell whether a foot bears at the instant s."""
    return foot.bears[0] + 1e-9 < s < foot.bears[1] - 1e-9 and in_force(foot, s) is not None


def bearing_slots(ground, s):
    """Return the (foot, link) that bear at the instant s."""
    return tuple((foot.name, in_force(foot, s).link) for foot in ground.feet if bears(foot, s))


def floating_root(tree):
    """Return the rows of q of the floating root: six unactuated joints in line from the ground, three slides and then three turns.

    Raises ValueError if the tree has none.
    """
    moving = [k for k, row in enumerate(tree.rows) if row is not None][:6]
    joints = [tree.joints[k] for k in moving]
    inline = all(tree.parents[k] == (moving[i - 1] if i else -1) for i, k in enumerate(moving))
    if (
        [joint.kind for joint in joints] != ["prismatic"] * 3 + ["revolute"] * 3
        or not inline
        or any(joint.actuated for joint in joints)
    ):
        raise ValueError(
            "ground: the tree needs a floating root, six unactuated joints from the ground: three prismatic, three revolute"
        )
    return tuple(tree.rows[k] for k in moving)
