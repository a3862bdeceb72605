"""The ground under a moving body: who stands where and when.

A body on a floating root needs from the ground the wrench that its own motion demands of the root's
six unactuated joints. Its point of zero moment (ZMP) is where the horizontal moments vanish. While
one foot bears, that foot supplies all; while two bear, the shares follow from a rule (Xiang, Arora,
Rahmatalla & Abdel-Malek 2009: linear in the distances; Barman 2020, chapter V), or are variables of
the NLP. The ground is the plane through the global origin.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import inf
from typing import Any

import numpy as np

from ocp.mechanics.checks import check_units, frozen, instance, numbers, refuse_open, set_fields
from ocp.mechanics.parameters import array
from ocp.mechanics.zero_moment import Z

NEAR = 1e-9  # of s: within which an instant is that of a switch


@dataclass(frozen=True, slots=True, kw_only=True)
class Pin:
    """A named point that rests on the ground at its place `target` (3, m), which may be open.

    `axes` are the global ones in which it is held. Raises ValueError for other axes than some of x,
    y and z.
    """

    point: str
    axes: str = "xyz"
    target: Any = (0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        what = f"pin {instance('pin: point', self.point, str)!r}"
        axes = instance(f"{what}: axes", self.axes, str)
        if not axes or set(axes) - set("xyz") or len(set(axes)) < len(axes):
            raise ValueError(f"{what}: axes: expected some of x, y, z, got {self.axes!r}")
        set_fields(self, target=frozen(numbers(f"{what}: target", self.target, (3,), "m")))


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Support:
    """A way of standing over the part `when` = (a, b) of the motion.

    The `link` takes the wrench, and its pins hold. The centre of pressure lies in the `polygon` (k,
    3; m) on the ground, convex, whose corners may be open. Raises ValueError naming the field.
    """

    link: str
    when: Any
    pins: Sequence[Pin] = ()
    polygon: Any = ()

    def __post_init__(self) -> None:
        what = f"support on {instance('support: link', self.link, str)!r}"
        refuse_open(f"{what}: when", self.when)
        a, b = self.when if np.shape(self.when) == (2,) else (1, 0)
        if not 0 <= a < b <= 1:
            raise ValueError(f"{what}: when: expected 0 <= a < b <= 1, got {self.when!r}")
        corners = array(self.polygon)
        if corners.size and corners.shape[1:] != (3,):
            raise ValueError(f"{what}: polygon: expected shape (k, 3), got {corners.shape}")
        check_units(f"{what}: polygon", corners, "m")
        set_fields(
            self,
            when=frozen(self.when),
            pins=tuple(instance(f"{what}: pins", pin, Pin) for pin in self.pins),
            polygon=frozen(corners),
        )

    def __repr__(self) -> str:
        pins = ", ".join(pin.point for pin in self.pins) or "no pins"
        return f"Support({self.link!r}, when={self.when}, {pins}, {len(self.polygon)} corners)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Foot:
    """What stands on the ground: its supports in order, and its centre (3, m), which may be open.

    About the centre its share of the load is reckoned. It bears strictly between the two instants
    `bears`, so that its load starts from and returns to zero there; infinite where it stands
    already at the start, or still at the end. Raises ValueError for supports that overlap.
    """

    name: str
    supports: Sequence[Support]
    center: Any
    bears: tuple[float, float] = (-inf, inf)

    def __post_init__(self) -> None:
        what = f"foot {instance('foot: name', self.name, str)!r}"
        refuse_open(f"{what}: bears", self.bears)
        supports = tuple(instance(f"{what}: supports", each, Support) for each in self.supports)
        center = frozen(numbers(f"{what}: center", self.center, (3,), "m"))
        set_fields(self, supports=supports, center=center)
        if not supports:
            raise ValueError(f"{what}: expected at least one support")
        for before, after in pairwise(supports):
            if after.when[0] < before.when[1]:
                raise ValueError(f"{what}: its supports overlap: {before.when} and {after.when}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """The ground's feet, and its upward unit normal (3).

    Raises ValueError if at some instant of the motion no foot bears, or two feet have the same
    name.
    """

    feet: Sequence[Foot]
    normal: Any = Z

    def __post_init__(self) -> None:
        normal = numbers("ground: normal", self.normal, (3,))
        if abs(np.linalg.norm(normal) - 1) > 1e-9:
            raise ValueError(
                f"ground: normal: expected unit length, got {np.linalg.norm(normal):.9g}"
            )
        feet = tuple(instance("ground: feet", foot, Foot) for foot in self.feet)
        set_fields(self, feet=feet, normal=frozen(normal))
        names = [foot.name for foot in feet]
        if len(set(names)) < len(names):
            raise ValueError(
                f"ground: two feet have the same name; the feet are {', '.join(names)}"
            )
        edges = sorted({0.0, 1.0, *self.switches})
        for s in sorted([*edges, *((a + b) / 2 for a, b in pairwise(edges))]):
            if not bearing_slots(self, s):
                raise ValueError(
                    f"contact schedule: no foot bears at s = {s:g} "
                    f"(feet: {', '.join(names) or 'none'})"
                )

    @property
    def switches(self) -> tuple[float, ...]:
        """Instants inside the motion at which a way of standing begins or ends."""
        edges = {
            edge
            for foot in self.feet
            for edges in (foot.bears, *(support.when for support in foot.supports))
            for edge in edges
        }
        return tuple(sorted(edge for edge in edges if 0 < edge < 1))

    def foot(self, name: str) -> Foot:
        """Return the Foot of that name; raise ValueError listing the known ones."""
        for foot in self.feet:
            if foot.name == name:
                return foot
        raise ValueError(
            f"unknown foot {name!r}; the feet are {', '.join(foot.name for foot in self.feet)}"
        )


def slots(ground: Ground) -> tuple[tuple[str, str], ...]:
    """Return every (foot, link) that ever bears, in order."""
    return tuple(
        dict.fromkeys(
            (foot.name, support.link) for foot in ground.feet for support in foot.supports
        )
    )


def in_force(foot: Foot, s: float) -> Support | None:
    """Return the Support of a foot at the instant s, the later one at a switch, or None."""
    standing = [
        support
        for support in foot.supports
        if support.when[0] - NEAR <= s <= support.when[1] + NEAR
    ]
    return standing[-1] if standing else None


def bears(foot: Foot, s: float) -> bool:
    """Tell whether a foot bears at the instant s."""
    return foot.bears[0] + NEAR < s < foot.bears[1] - NEAR and in_force(foot, s) is not None


def bearing_slots(ground: Ground, s: float) -> tuple[tuple[str, str], ...]:
    """Return the (foot, link) that bear at the instant s."""
    standing = [(foot.name, in_force(foot, s)) for foot in ground.feet if bears(foot, s)]
    return tuple((name, support.link) for name, support in standing if support is not None)
