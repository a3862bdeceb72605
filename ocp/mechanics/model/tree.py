"""The mechanism as a value: links, joints, named points, and the two sweeps in which every
recursion is written.

Joint k carries link k. The link's frame in its parent's frame is home @ exp([screw] q), the screw
(angular, linear) being given in the link's own frame (Sohl & Bobrow 2001, second form of the
product of exponentials). Revolute, prismatic and screw joints differ by the pitch alone; a fixed
joint has no screw. Everything is checked at birth, so that an existing tree is a sound one. Numbers
may be open (`ocp.mechanics.values.parameters`): then they are checked at their parameters' own
values, and again where others are given; `ocp.mechanics.values.parameter_validity` says what sought
ones must meet.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields
from math import isinf
from typing import TypeVar

import numpy as np

from ocp.mechanics.elements import KINDS, Element
from ocp.mechanics.elements.element_states import StateVariable, is_stateful
from ocp.mechanics.flexible.link_modes import Modes
from ocp.mechanics.model.cut_joints import Loop
from ocp.mechanics.model.joints import (
    GROUND,
    Joint,
    amplitude_joints,
    explain_no_coordinate,
    own_coordinates,
)
from ocp.mechanics.model.tree_validation import check_tree, known_names
from ocp.mechanics.model.unilateral_joints import Stay
from ocp.mechanics.model.visuals import Visual
from ocp.mechanics.values.memoize import memoize
from ocp.mechanics.values.parameters import is_open
from ocp.mechanics.values.types import Numbers
from ocp.mechanics.values.validation import (
    check_inertia,
    check_records,
    check_type,
    freeze,
    inertia_matrix,
    nominal_array,
    numbers,
    set_fields,
    unit_of,
)
from ocp.spelling import suggest_fields
from ocp.text_tables import html_table

Value = TypeVar("Value")
_COLUMNS = ("joint", "kind", "on", "position", "velocity", "torque or force", "link's mass")


@suggest_fields
@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """A body: mass (kg), centre of mass, inertia about it (3x3, kg m2, link axes).

    The centre of mass `com` (3, m) is in the link's frame. A link is flexible where it has `modes`.
    These three are the undeformed link's; without a mass a flexible link takes those of its modes.
    Parents, points and supports call a link by its `name`, one without by that of its joint.
    `visuals` show it. Principal moments keep the triangle inequality I1 + I2 >= I3, as those of
    every body do, unless the link is `unphysical`: some models state others, to be kept.
    """

    mass: float = 0.0
    com: Numbers = (0.0, 0.0, 0.0)
    inertia: Numbers = ((0.0, 0.0, 0.0),) * 3
    modes: Modes | None = None
    name: str | None = None
    visuals: Sequence[Visual] = field(default=(), repr=False)
    unphysical: bool = False

    def __post_init__(self) -> None:
        if self.name is not None and (not isinstance(self.name, str) or self.name in ("", GROUND)):
            raise ValueError(
                f"link name: expected None or a non-empty string other than {GROUND!r}, got "
                f"{self.name!r}"
            )
        set_fields(self, visuals=check_records("link: visuals", self.visuals, Visual))
        if not isinstance(self.modes, Modes | None):
            raise ValueError(f"link modes: expected Modes or None, got {self.modes!r}")
        if self.modes is not None and is_open((self.mass, self.com, self.inertia)):
            raise ValueError(
                "link: modes: a link that bends has open numbers in its stiffness and damping alone"
            )
        if self.modes is not None and not self.mass:
            set_fields(self, mass=self.modes.mass, com=self.modes.com, inertia=self.modes.inertia)
        mass = numbers("link mass", self.mass, (), "kg")
        com, inertia = (
            numbers("link com", self.com, (3,), "m"),
            inertia_matrix("link inertia", self.inertia, "kg m2"),
        )
        here = float(nominal_array(mass))
        if here < 0:
            raise ValueError(f"link mass: expected at least 0 kg, got {here:g}")
        check_inertia(here, inertia, check_type("link unphysical", self.unphysical, bool))
        set_fields(self, mass=freeze(mass[()]), com=freeze(com), inertia=freeze(inertia))


@suggest_fields
@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """A named point on a link.

    Its `position` (3, m) is in the frame of the link called `link`.
    """

    name: str
    link: str
    position: Numbers = (0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        set_fields(
            self,
            position=freeze(numbers(f"point {self.name!r}: position", self.position, (3,), "m")),
        )


@suggest_fields
@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Tree:
    """Links and joints of a serial or branched mechanism, its points, gravity, loops and stays.

    `gravity` (3, m/s2) is in global axes; `loops` are where the mechanism is closed, `stays` where
    it closes at bounds alone; `elements` act by themselves. Joint k carries link k, and a parent
    stands before its children. Raises ValueError naming the joint, point, loop, stay or element.
    """

    links: Sequence[Link]
    joints: Sequence[Joint]
    points: Sequence[Point] = ()
    gravity: Numbers = (0.0, 0.0, 0.0)
    loops: Sequence[Loop] = ()
    stays: Sequence[Stay] = ()
    elements: Sequence[Element] = ()

    def __repr__(self) -> str:
        counts = {
            "links": self.links,
            "points": self.points,
            "loops": self.loops,
            "stays": self.stays,
            "elements": self.elements,
        }
        rest = "".join(f", {len(parts)} {name}" for name, parts in counts.items() if parts)
        return f"Tree({self.dof} coordinates: {', '.join(self.names):.200}{rest})"

    def _repr_html_(self) -> str:
        return _html_of(self)

    def __post_init__(self) -> None:
        set_fields(
            self,
            links=check_records("tree: links", self.links, Link),
            joints=check_records("tree: joints", self.joints, Joint),
            points=check_records("tree: points", self.points, Point),
            loops=check_records("tree: loops", self.loops, Loop),
            stays=check_records("tree: stays", self.stays, Stay),
            elements=check_records("tree: elements", self.elements, *KINDS),
            gravity=freeze(numbers("gravity", self.gravity, (3,), "m/s2")),
        )
        check_tree(self)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all joints, in order."""
        return tuple(joint.name for joint in self.joints)

    def __hash__(self) -> int:
        return _hash(self)

    @property
    def link_names(self) -> tuple[str, ...]:
        """What the links are called, in the order of their joints: by their names, those without
        by their joints'."""
        return _link_names(self.joints, self.links)

    @property
    def moving(self) -> tuple[Joint, ...]:
        """The joints that have a coordinate, in the order of q.

        After a flexible link's joint stands a passive one for each amplitude of its modes, named
        like "link.bend_y1" and carrying nothing. In a ball's place stand its components, named like
        "ball.w"; a joint that follows another's coordinate has none. Last are the states of
        elements, named like "soleus.activation".
        """
        return _moving(self.joints, self.links, self.elements)

    @property
    def states(self) -> tuple[int, ...]:
        """Rows of q that are states of elements, after all that move."""
        count = len(states_of(self.elements))
        return tuple(range(self.dof - count, self.dof))

    @property
    def flexible(self) -> tuple[str, ...]:
        """Names of the flexible links."""
        return tuple(
            name for name, link in zip(self.link_names, self.links) if link.modes is not None
        )

    @property
    def amplitude_rows(self) -> tuple[tuple[int, ...], ...]:
        """Rows of q of each link's modal amplitudes, a tuple per link; empty for rigid ones."""
        counts = [
            (len(own_coordinates(joint)), 0 if link.modes is None else len(link.modes.names))
            for joint, link in zip(self.joints, self.links)
        ]
        ends = np.cumsum([sum(count) for count in counts])
        return tuple(tuple(range(end - count[1], end)) for end, count in zip(ends.tolist(), counts))

    @property
    def neutral(self) -> tuple[float, ...]:
        """Coordinates (n,) at which no joint turns or slides: zeros, but for a ball's w one, and
        elements' states at rest."""
        ones, states = {rows[0] for rows in self.balls}, states_of(self.elements)
        moving = (float(row in ones) for row in range(self.dof - len(states)))
        return (*moving, *(variable.rest for variable in states))

    @property
    def balls(self) -> tuple[tuple[int, ...], ...]:
        """Rows of q of every ball's quaternion."""
        return tuple(rows for joint, rows in zip(self.joints, self.spans) if joint.ball)

    @property
    def driven(self) -> tuple[str, ...]:
        """Names of the coordinates that drives move."""
        return tuple(joint.name for joint in self.moving if joint.actuated)

    @property
    def dof(self) -> int:
        """Number of coordinates n: the length of q."""
        return len(self.moving)

    @property
    def parents(self) -> tuple[int, ...]:
        """Index of each joint's parent; -1 is the ground."""
        return _parents(self.joints, self.links)

    @property
    def rows(self) -> tuple[int | None, ...]:
        """Row of q that is each joint's own angle or way; None for fixed ones, and where `mapped`
        for balls and followers."""
        row = _places(self.joints, self.links, self.elements)
        return tuple(
            row[joint.name] if joint.screw is not None and joint.follows is None else None
            for joint in self.joints
        )

    @property
    def spans(self) -> tuple[tuple[int, ...], ...]:
        """Rows of q that move each joint: none of a fixed one, four of a ball, otherwise its own or
        the one that it follows."""
        return _spans(self.joints, self.links, self.elements)

    @property
    def mapped(self) -> bool:
        """Whether a joint moves otherwise than by a coordinate that is its angle or way: balls and
        followers (see `ocp.mechanics.model.quaternions_and_couplings`)."""
        return any(joint.ball or joint.follows is not None for joint in self.joints)

    def link_index(self, name: str) -> int:
        """Return the index of a link by what it is called; raise ValueError listing the known."""
        if name not in (names := self.link_names):
            raise ValueError(f"unknown link {name!r}{known_names('links', names, name)}")
        return names.index(name)

    def joint_index(self, name: str) -> int:
        """Return the index of a joint by its name; raise ValueError listing the known ones."""
        if name not in (names := self.names):
            raise ValueError(f"unknown joint {name!r}{known_names('joints', names, name)}")
        return names.index(name)

    def coordinate(self, name: str) -> int:
        """Return the row of q that belongs to the joint or amplitude `name`.

        Raises ValueError if there is none.
        """
        rows = _places(self.joints, self.links, self.elements)
        if name not in rows:
            joint = self.joints[self.joint_index(name)]
            raise ValueError(explain_no_coordinate(joint))
        return rows[name]

    def point(self, name: str) -> Point:
        """Return the Point of that name, or the origin of the link that is called so; raise
        ValueError listing the known points."""
        for point in self.points:
            if point.name == name:
                return point
        if name in self.link_names:
            return Point(name=name, link=name)
        own = [point.name for point in self.points if point.name not in self.link_names]
        raise ValueError(
            f"unknown point {name!r}{known_names('points', own, name, *self.link_names)}"
        )


def points_of(tree: Tree, names: str | Sequence[str]) -> tuple[str, ...]:
    """Return the points that one or several names call: of a link all that are on it, in order, or
    its origin where none is; raise ValueError for a name that is neither a point's nor a link's."""
    called: list[str] = []
    for name in (names,) if isinstance(names, str) else names:
        point = tree.point(name)
        on = [each.name for each in tree.points if each.link == name]
        called += [name] if point in tree.points or not on else on
    return tuple(called)


def outward(tree: Tree, step: Callable[[int, Value], Value], root: Value) -> list[Value]:
    """Sweep from the ground to the tips, and return the values of all links in a list.

    They are value_k = step(k, value of k's parent); the ground's value is `root`.
    """
    values: list[Value] = []
    for k, parent in enumerate(tree.parents):
        values.append(step(k, root if parent < 0 else values[parent]))
    return values


def inward(tree: Tree, step: Callable[[int, list[tuple[int, Value]]], Value]) -> list[Value]:
    """Sweep from the tips to the ground, and return the values of all links in a list.

    They are value_k = step(k, [(child, value of child), ...]).
    """
    values: dict[int, Value] = {}
    children: list[list[tuple[int, Value]]] = [[] for _ in tree.joints]
    parents = tree.parents
    for k in reversed(range(len(tree.joints))):
        values[k] = step(k, children[k])
        if parents[k] >= 0:
            children[parents[k]].insert(0, (k, values[k]))
    return [values[k] for k in range(len(tree.joints))]


@memoize(64)
def _hash(tree: Tree) -> int:
    return hash(tuple(getattr(tree, entry.name) for entry in fields(tree)))


@memoize(64)
def _link_names(joints: Sequence[Joint], links: Sequence[Link]) -> tuple[str, ...]:
    return tuple(link.name or joint.name for joint, link in zip(joints, links))


@memoize(64)
def _parents(joints: Sequence[Joint], links: Sequence[Link]) -> tuple[int, ...]:
    index = {name: k for k, name in enumerate(_link_names(joints, links))}
    return tuple(index.get(joint.parent, -1) for joint in joints)


@memoize(64)
def _places(
    joints: Sequence[Joint], links: Sequence[Link], elements: Sequence[Element]
) -> dict[str, int]:
    return {joint.name: k for k, joint in enumerate(_moving(joints, links, elements))}


@memoize(64)
def _spans(
    joints: Sequence[Joint], links: Sequence[Link], elements: Sequence[Element]
) -> tuple[tuple[int, ...], ...]:
    row = _places(joints, links, elements)
    return tuple(
        tuple(row[part.name] for part in own_coordinates(joint))
        if joint.follows is None
        else (row[joint.follows.coordinate],)
        for joint in joints
    )


@memoize(64)
def _moving(
    joints: Sequence[Joint], links: Sequence[Link], elements: Sequence[Element]
) -> tuple[Joint, ...]:
    moving: list[Joint] = []
    for joint, link in zip(joints, links):
        moving += own_coordinates(joint)
        if link.modes is not None:
            moving += amplitude_joints(joint.name, link.modes.names, link.modes.units)
    moving += [variable.coordinate for variable in states_of(elements)]
    return tuple(moving)


def _html_of(tree: Tree) -> str:
    """Return a tree as a table in HTML: joints, their limits, masses, and what else there is."""
    rows = []
    for joint, link in zip(tree.joints, tree.links):
        limits = [
            _between(pair, unit_of(joint, quantity))
            for pair, quantity in (
                (joint.position, "q"),
                (joint.velocity, "qd"),
                (joint.torque, "tau"),
            )
        ]
        moved = limits if joint.kind != "fixed" else [""] * len(limits)
        moved[2] = moved[2] if joint.actuated else "none"
        rows.append((joint.name, joint.kind, joint.parent, *moved, f"{link.mass:g} kg"))
    gravity = ", ".join(f"{part + 0.0:g}" for part in tree.gravity)
    counts = (("points", tree.points), ("loops", tree.loops), ("stays", tree.stays))
    rest = [
        f"{name} {', '.join(each.name for each in several)}" for name, several in counts if several
    ]
    if tree.elements:
        rest.append(f"{len(tree.elements)} elements")
    title = "; ".join([f"{tree.dof} coordinates", f"gravity ({gravity}) m/s2", *rest])
    return html_table(rows, _COLUMNS, f"Tree: {title}")


def _between(pair: Numbers, unit: str) -> str:
    """Return limits in words, nothing where there are none."""
    lower, upper = pair
    if isinf(lower) and isinf(upper):
        return ""
    return f"{lower:g} to {upper:g} {unit}".rstrip()


@memoize(16)
def states_of(elements: Sequence[object]) -> tuple[StateVariable, ...]:
    """Return the states of elements, one element's after another's."""
    known = (each.states for each in elements if is_stateful(each))
    return tuple(variable for states in known for variable in states)
