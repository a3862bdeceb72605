"""The ground under a moving body: who stands where and when.

A body on a root that nothing drives needs from its contacts what its own motion demands of the
root's joints. A contact passes on what its kind does: a point a force, an area a wrench whose
centre of pressure lies in its polygon, a line what lies between. While none bears, the body is in
flight. Of bodies on feet alone, the point of zero moment (ZMP) is where the horizontal moments
vanish. While one foot bears, that foot supplies all; while two bear, the shares follow from a rule
(Xiang, Arora, Rahmatalla & Abdel-Malek 2009: linear in the distances; Barman 2020, chapter V), or
are variables of the NLP. The ground is the plane through the global origin, unless a foot has its
own.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import inf

import numpy as np

from ocp.mechanics.kinematics.zero_moment import Z
from ocp.mechanics.values.parameters import Number, any_nonzero, array, nominal
from ocp.mechanics.values.types import Matrix, Numbers
from ocp.mechanics.values.validation import (
    check_type,
    check_units,
    freeze,
    nominal_array,
    numbers,
    refuse_open,
    set_fields,
)
from ocp.spelling import suggest_fields, suggestion

FLAT = 1e-6  # m: how far what stands may be from its plane
NEAR = 1e-9  # of s: within which an instant is that of a switch
KINDS = ("area", "line", "point")
SHARINGS = ("straight", "smooth")


@suggest_fields
@dataclass(frozen=True, slots=True, kw_only=True)
class Pin:
    """A named point that rests on the ground at its place `target` (3, m), which may be open.

    `axes` are the global ones in which it is held. Raises ValueError for other axes than some of x,
    y and z.
    """

    point: str
    axes: str = "xyz"
    target: Numbers = (0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        what = f"pin {check_type('pin: point', self.point, str)!r}"
        axes = check_type(f"{what}: axes", self.axes, str)
        if not axes or set(axes) - set("xyz") or len(set(axes)) < len(axes):
            raise ValueError(f"{what}: axes: expected some of x, y, z, got {self.axes!r}")
        set_fields(self, target=freeze(numbers(f"{what}: target", self.target, (3,), "m")))


@suggest_fields
@dataclass(frozen=True, slots=True, kw_only=True)
class Plane:
    """A plane of contact of its own, a slope, a stair or a wall: its unit `normal` (3), on the side
    of the body, and a `point` (3, m) of it; both may be open. Raises ValueError naming the field.
    """

    normal: Numbers = Z
    point: Numbers = (0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        set_fields(
            self,
            normal=_unit("plane: normal", self.normal),
            point=freeze(numbers("plane: point", self.point, (3,), "m")),
        )

    @property
    def height(self) -> Number:
        """How far (m) the plane is from the global origin along its normal."""
        pairs = zip(self.normal, self.point)
        return sum(part * place for part, place in pairs if any_nonzero((part,)))


@suggest_fields
@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Support:
    """A way of standing over the part `when` = (a, b) of the motion.

    The `link` takes what the `kind` passes on, and its pins hold: an "area" a wrench, whose centre
    of pressure lies in the `polygon` (k, 3; m) on the ground, convex, whose corners may be open; a
    "line" the same without a moment about itself, between two corners; a "point" a force at its one
    pin, along the axes of that. `rigid` pins hold exactly, as a law of motion; others as far as
    `foot_contact` asks. Raises ValueError naming the field.
    """

    link: str
    when: tuple[float, float]
    pins: Sequence[Pin] = ()
    polygon: Numbers = ()
    kind: str = "area"
    rigid: bool = False

    def __post_init__(self) -> None:
        what = f"support on {check_type('support: link', self.link, str)!r}"
        if self.kind not in KINDS:
            raise ValueError(f"{what}: kind: expected one of {', '.join(KINDS)}, got {self.kind!r}")
        check_type(f"{what}: rigid", self.rigid, bool)
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
            when=freeze(self.when),
            pins=tuple(check_type(f"{what}: pins", pin, Pin) for pin in self.pins),
            polygon=freeze(corners),
        )
        if self.kind == "point" and len(self.pins) != 1:
            raise ValueError(f"{what}: pins: a point has one, got {len(self.pins)}")
        if self.kind == "line" and len(self.polygon) != 2:
            raise ValueError(f"{what}: polygon: a line has 2 corners, got {len(self.polygon)}")
        if self.rigid and not self.pins:
            raise ValueError(f"{what}: rigid: expected a pin that holds, got none")

    def __repr__(self) -> str:
        pins = ", ".join(pin.point for pin in self.pins) or "no pins"
        return f"Support({self.link!r}, when={self.when}, {pins}, {len(self.polygon)} corners)"


@suggest_fields
@dataclass(frozen=True, slots=True, kw_only=True)
class Foot:
    """What stands on the ground: its supports in order, and its centre (3, m), which may be open.

    About the centre its share of the load is reckoned. It bears strictly between the two instants
    `bears`, so that its load starts from and returns to zero there; infinite where it stands
    already at the start, or still at the end. Its `plane` is the ground's unless it has its own;
    what `grips` also pulls, as a hand on a rail. What is in swing all along has no supports and
    never `bears`, (inf, -inf). Raises ValueError for supports that overlap, and
    for two on one link of different kinds or points.
    """

    name: str
    supports: Sequence[Support]
    center: Numbers
    bears: tuple[float, float] = (-inf, inf)
    plane: Plane | None = None
    grips: bool = False

    def __post_init__(self) -> None:
        what = f"foot {check_type('foot: name', self.name, str)!r}"
        refuse_open(f"{what}: bears", self.bears)
        supports = tuple(check_type(f"{what}: supports", each, Support) for each in self.supports)
        center = freeze(numbers(f"{what}: center", self.center, (3,), "m"))
        set_fields(self, supports=supports, center=center)
        if not supports and self.bears[0] < self.bears[1]:
            raise ValueError(
                f"{what}: expected at least one support; what is in swing never bears, (inf, -inf)"
            )
        for before, after in pairwise(supports):
            if after.when[0] < before.when[1]:
                raise ValueError(f"{what}: its supports overlap: {before.when} and {after.when}")
        check_type(f"{what}: plane", self.plane, Plane, type(None))
        check_type(f"{what}: grips", self.grips, bool)
        ways: dict[str, set] = {}
        for support in supports:
            named = support.kind != "area"
            points = tuple(pin.point for pin in support.pins) if named else ()
            ways.setdefault(support.link, set()).add((support.kind, points))
        for link, kinds in ways.items():
            if len(kinds) > 1:
                raise ValueError(
                    f"{what}: on {link!r} it stands in different ways; make a foot of each"
                )


@suggest_fields
@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """The ground's feet, its upward unit normal (3), which may be open, and how wrenches run.

    The normal is by default z, or where all feet have planes of their own the mean of their
    normals. While none of them bears the body is in flight. `sharing`: wrenches and torques run
    "straight" from node to node while several feet bear, or "smooth", by polynomials as elsewhere,
    which is for objectives that cost torque rates: nothing else keeps them from swinging. Raises
    ValueError without feet, if two have the same name, for another sharing, or for a rigid one that
    is off the ground's plane and has none of its own.
    """

    feet: Sequence[Foot]
    normal: Numbers = None
    sharing: str = SHARINGS[0]

    def __post_init__(self) -> None:
        feet = tuple(check_type("ground: feet", foot, Foot) for foot in self.feet)
        normal = _upward(feet) if self.normal is None else self.normal
        set_fields(self, feet=feet, normal=_unit("ground: normal", normal))
        if not feet:
            raise ValueError(
                "ground: expected at least one foot; without ground a body is in flight"
            )
        if self.sharing not in SHARINGS:
            raise ValueError(
                f"ground: sharing: expected {' or '.join(SHARINGS)}, got {self.sharing!r}"
            )
        names = [foot.name for foot in feet]
        if len(set(names)) < len(names):
            raise ValueError(
                f"ground: two feet have the same name; the feet are {', '.join(names)}"
            )
        for foot in feet:
            _check_plane(foot, self.normal)

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

    @property
    def instants(self) -> tuple[float, ...]:
        """Instants that tell all ways of standing: the ends, the switches, and one in between."""
        return tuple(sorted([0.0, 1.0, *self.switches, *self.middles]))

    @property
    def middles(self) -> tuple[float, ...]:
        """Instants amid those at which ways of standing begin or end, one of each that lasts."""
        return tuple((a + b) / 2 for a, b in pairwise((0.0, *self.switches, 1.0)))

    def plane(self, foot: Foot) -> Plane:
        """Return the plane on which a foot stands."""
        return Plane(normal=self.normal) if foot.plane is None else foot.plane

    def foot(self, name: str) -> Foot:
        """Return the Foot of that name; raise ValueError listing the known ones."""
        for foot in self.feet:
            if foot.name == name:
                return foot
        names = [foot.name for foot in self.feet]
        raise ValueError(
            f"unknown foot {name!r}{suggestion(name, names)}; the feet are {', '.join(names)}"
        )


def _check_plane(foot: Foot, normal: Numbers) -> None:
    """Raise ValueError for a foot without a plane of its own whose rigid pins are not on the
    ground's."""
    rigid = [support for support in foot.supports if support.rigid and foot.plane is None]
    for pin in (pin for support in rigid for pin in support.pins):
        height = abs(float(np.dot(nominal(pin.target), nominal(normal))))
        if height > FLAT:
            raise ValueError(
                f"foot {foot.name!r}: its pin {pin.point!r} holds {height:g} m off the ground's "
                "plane; a foot that stands elsewhere has a plane of its own, "
                "plane=Plane(normal=.., point=..)"
            )


def _unit(what: str, value: Numbers) -> Numbers:
    """Return a vector (3), frozen; raise ValueError unless its length is 1."""
    vector = numbers(what, value, (3,), "")
    length = float(np.linalg.norm(nominal_array(vector)))
    if abs(length - 1) > 1e-9:
        raise ValueError(f"{what}: expected unit length, got {length:.9g}")
    return freeze(vector)


def _upward(feet: Sequence[Foot]) -> Numbers:
    """Return the mean of the feet's normals, z unless all have planes of their own."""
    normals = [foot.plane.normal for foot in feet if foot.plane is not None]
    refuse_open("ground: normals of planes, whose mean is its own unless that is given,", normals)
    total = np.sum(normals, axis=0) if normals and len(normals) == len(feet) else np.array(Z)
    length = float(np.linalg.norm(total))
    return total / length if length > NEAR else Z


def slots(ground: Ground) -> tuple[tuple[str, str], ...]:
    """Return every (foot, link) that ever bears, in order."""
    return tuple(
        dict.fromkeys(
            (foot.name, support.link) for foot in ground.feet for support in foot.supports
        )
    )


def of_contacts(lifted: Matrix, count: int) -> Matrix:
    """Return the last rows (6 count, ..) of what is lifted (rows, ..): those of `count` contacts,
    no rows of none."""
    return lifted[lifted.shape[0] - 6 * count :, :]


def feet_of(ground: Ground | None) -> tuple[str, ...]:
    """Return the names of the feet that a ground has; none without one."""
    return () if ground is None else tuple(foot.name for foot in ground.feet)


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
