"""The mechanism as a value: links, joints, named points, and the two sweeps in which every recursion is written.

Joint k carries link k. The link's frame in its parent's frame is home @ exp([screw] q), the screw (angular, linear) being given in
the link's own frame (Sohl & Bobrow 2001, second form of the product of exponentials). Revolute, prismatic and screw joints differ by
the pitch alone; a fixed joint has no screw. Everything is checked at birth, so that an existing tree is a sound one.
"""
from dataclasses import dataclass
from math import inf

import numpy as np

from ocp.checks import frozen, limits, numbers
from ocp.modes import Modes
from ocp.spatial import dh_pose, invert, move_screw, tidy

GROUND = "ground"


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """A body: mass (kg), centre of mass (3, m, link frame), inertia about it (3x3, kg m2, link axes); flexible where it has `modes`.

    These three are the undeformed link's; without a mass a flexible link takes those of its modes.
    """

    mass: float = 0.0
    com: tuple = (0.0, 0.0, 0.0)
    inertia: tuple = ((0.0, 0.0, 0.0),) * 3
    modes: Modes | None = None

    def __post_init__(self):
        if not isinstance(self.modes, Modes | None):
            raise ValueError(f"link modes: expected Modes or None, got {self.modes!r}")
        if self.modes is not None and not self.mass:
            _set(self, mass=self.modes.mass, com=self.modes.com, inertia=self.modes.inertia)
        mass = float(numbers("link mass", self.mass, ()))
        com, inertia = numbers("link com", self.com, (3,)), numbers("link inertia", self.inertia, (3, 3))
        if mass < 0:
            raise ValueError(f"link mass: expected at least 0 kg, got {mass:g}")
        _check_inertia(mass, inertia)
        _set(self, mass=mass, com=frozen(com), inertia=frozen(inertia))


@dataclass(frozen=True, slots=True, kw_only=True)
class Joint:
    """The joint before a link: `home` (4x4, or a translation of 3), `screw` (6, None when fixed), limits as (lower, upper).

    Limits are in rad or m, rad/s or m/s, N m or N; one number b stands for (-b, b). The constructors `revolute`, `prismatic`, `screw`,
    `fixed` and `dh` spell the usual cases. Raises ValueError naming the joint.
    """

    name: str
    parent: str = GROUND
    home: tuple = ((1.0, 0.0, 0.0, 0.0), (0.0, 1.0, 0.0, 0.0), (0.0, 0.0, 1.0, 0.0), (0.0, 0.0, 0.0, 1.0))
    screw: tuple | None = None
    position: tuple = (-inf, inf)
    velocity: tuple = (-inf, inf)
    torque: tuple = (-inf, inf)
    actuated: bool = True

    def __post_init__(self):
        if not isinstance(self.name, str) or not self.name or self.name == GROUND:
            raise ValueError(f"joint name: expected a non-empty string other than {GROUND!r}, got {self.name!r}")
        label = f"joint {self.name!r}"
        _set(self, home=frozen(_pose_of(f"{label}: home", self.home)))
        if self.screw is not None:
            _set(self, screw=frozen(_unit_screw(label, numbers(f"{label}: screw", self.screw, (6,)))))
        for what in ("position", "velocity", "torque"):
            _set(self, **{what: limits(f"{label}: {what} limits", getattr(self, what))})

    @property
    def kind(self):
        """Return "fixed", "revolute", "prismatic" or "screw"."""
        if self.screw is None:
            return "fixed"
        if not any(self.screw[:3]):
            return "prismatic"
        return "revolute" if abs(self.pitch) < 1e-14 else "screw"

    @property
    def pitch(self):
        """Advance per radian (m/rad) of a joint that turns: w . v."""
        return float(np.dot(self.screw[:3], self.screw[3:]))

    @property
    def anchor(self):
        """Point of the joint axis nearest the link frame's origin (3, m, link frame); the origin itself if nothing turns.

        Stays put in parent and link alike when the joint turns, so joint reactions are taken about it.
        """
        if self.screw is None or self.kind == "prismatic":
            return np.zeros(3)
        return np.cross(self.screw[:3], self.screw[3:])


def revolute(name, parent=GROUND, *, axis=(0.0, 0.0, 1.0), home=(0.0, 0.0, 0.0), **options):
    """Return a joint that turns about `axis` (unit, 3) through the link frame's origin."""
    return Joint(name=name, parent=parent, home=home, screw=(*axis, 0.0, 0.0, 0.0), **options)


def prismatic(name, parent=GROUND, *, axis=(0.0, 0.0, 1.0), home=(0.0, 0.0, 0.0), **options):
    """Return a joint that slides along `axis` (unit, 3)."""
    return Joint(name=name, parent=parent, home=home, screw=(0.0, 0.0, 0.0, *axis), **options)


def screw(name, parent=GROUND, *, pitch, axis=(0.0, 0.0, 1.0), home=(0.0, 0.0, 0.0), **options):
    """Return a joint that turns about `axis` and advances along it by `pitch` (m/rad)."""
    return Joint(name=name, parent=parent, home=home, screw=(*axis, *(pitch * np.asarray(axis, dtype=float))), **options)


def fixed(name, parent=GROUND, *, home=(0.0, 0.0, 0.0)):
    """Return a rigid connection without a coordinate."""
    return Joint(name=name, parent=parent, home=home)


def dh(name, parent=GROUND, *, theta=0.0, d=0.0, a=0.0, alpha=0.0, kind="revolute", before=(0.0, 0.0, 0.0), **options):
    """Return the joint of one row of a Denavit-Hartenberg table (standard convention; Xiang et al. 2009, eqs. 1, 2).

    The variable of a revolute joint adds to `theta`, that of a prismatic one to `d`. `before` is a constant pose (4x4, or a
    translation) between the parent's frame and the row.
    """
    if kind not in ("revolute", "prismatic"):
        raise ValueError(f"joint {name!r}: kind: expected 'revolute' or 'prismatic', got {kind!r}")
    row = dh_pose(*(float(numbers(f"joint {name!r}: DH row", value, ())) for value in (theta, d, a, alpha)))
    axis = np.eye(6)[2 if kind == "revolute" else 5]
    home = _pose_of(f"joint {name!r}: before", before) @ row
    return Joint(name=name, parent=parent, home=home, screw=tidy(move_screw(invert(row), axis)), **options)


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """A named point on a link: `position` (3, m) in the frame of the link that joint `link` carries."""

    name: str
    link: str
    position: tuple = (0.0, 0.0, 0.0)

    def __post_init__(self):
        _set(self, position=frozen(numbers(f"point {self.name!r}: position", self.position, (3,))))


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """A force (3, N) at the named point and a moment (3, N m) on its link, in global axes.

    Each may be numbers, a CasADi expression, or a function of time t (s) that returns one of these.
    """

    point: str
    force: object = (0.0, 0.0, 0.0)
    moment: object = (0.0, 0.0, 0.0)

    def __post_init__(self):
        for what in ("force", "moment"):
            value, label = getattr(self, what), f"load at {self.point!r}: {what}"
            if isinstance(value, (tuple, list, np.ndarray)) and all(isinstance(entry, (int, float, np.number)) for entry in value):
                _set(self, **{what: frozen(numbers(label, value, (3,)))})
            elif not callable(value) and np.prod(value.shape if hasattr(value, "shape") else np.shape(value)) != 3:
                raise ValueError(f"{label}: expected 3 numbers or expressions, or a function of time, got {value!r}")

    def at(self, t):
        """Return the load of the instant t: functions of time replaced by their values."""
        return Load(point=self.point, force=self.force(t) if callable(self.force) else self.force,
                    moment=self.moment(t) if callable(self.moment) else self.moment)


@dataclass(frozen=True, slots=True, kw_only=True)
class Loop:
    """A cut joint that closes a loop (Xiang, Arora & Abdel-Malek 2009, eq. 38) between the points named `start` and `end`.

    The points do not part along `position`, nor do their links turn against each other about `orientation`: each some of x, y, z, the columns
    of `frame` (3x3) in the axes of the "start" or "end" link, or in "global" ones, which can close positions only. `turn` (3x3) has the axes
    of the end's link as columns in those of the start's, when closed. Raises ValueError naming the loop.
    """

    name: str
    start: str
    end: str
    position: str = "xyz"
    orientation: str = ""
    axes: str = "start"
    frame: tuple = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
    turn: tuple = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))

    def __post_init__(self):
        label = f"loop {self.name!r}"
        for what in ("position", "orientation"):
            letters = getattr(self, what)
            if not isinstance(letters, str) or set(letters) - set("xyz") or len(set(letters)) < len(letters):
                raise ValueError(f"{label}: {what}: expected some of x, y, z, got {letters!r}")
            _set(self, **{what: "".join(sorted(letters))})
        if not self.position + self.orientation:
            raise ValueError(f"{label}: it closes no direction of position or orientation")
        if self.axes not in ("start", "end", "global") or self.orientation and self.axes == "global":
            raise ValueError(f"{label}: axes: expected start, end, or where only positions are closed global, got {self.axes!r}")
        for what in ("frame", "turn"):
            matrix = numbers(f"{label}: {what}", getattr(self, what), (3, 3))
            if np.abs(matrix @ matrix.T - np.eye(3)).max() > 1e-9 or np.linalg.det(matrix) < 0:
                raise ValueError(f"{label}: {what}: expected a rotation matrix, got {matrix.tolist()}")
            _set(self, **{what: frozen(matrix)})


@dataclass(frozen=True, slots=True, kw_only=True)
class Tree:
    """Links and joints of a serial or branched mechanism, its points, gravity (3, m/s2, global axes), and loops, where it is closed.

    Joint k carries link k, and a parent stands before its children. Raises ValueError naming the joint, point or loop.
    """

    links: tuple
    joints: tuple
    points: tuple = ()
    gravity: tuple = (0.0, 0.0, 0.0)
    loops: tuple = ()

    def __post_init__(self):
        _set(self, links=tuple(self.links), joints=tuple(self.joints), points=tuple(self.points), loops=tuple(self.loops),
             gravity=frozen(numbers("gravity", self.gravity, (3,))))
        if not self.joints or len(self.links) != len(self.joints):
            raise ValueError(f"tree: expected one link per joint and at least one, got {len(self.links)} links "
                             f"and {len(self.joints)} joints")
        _check_parents(self.joints)
        _check_unique("coordinate", [joint.name for joint in self.moving])
        _check_unique("point", [point.name for point in self.points])
        for point in self.points:
            if point.link not in self.names:
                raise ValueError(f"point {point.name!r}: unknown link {point.link!r}; {_known('links', self.names)}")
        _check_unique("loop", [loop.name for loop in self.loops])
        for loop in self.loops:
            _check_ends(self, loop)

    @property
    def names(self):
        """Names of all joints (and their links), in order."""
        return tuple(joint.name for joint in self.joints)

    @property
    def moving(self):
        """The joints that have a coordinate, in the order of q.

        After a flexible link's joint stands a passive one for each amplitude of its modes, named like "link.bend_y1" and carrying nothing.
        """
        return tuple(moving for joint, link in zip(self.joints, self.links) for moving in (
            *(() if joint.screw is None else (joint,)), *(() if link.modes is None else _amplitudes(joint.name, link.modes))))

    @property
    def flexible(self):
        """Names of the flexible links."""
        return tuple(joint.name for joint, link in zip(self.joints, self.links) if link.modes is not None)

    @property
    def amplitude_rows(self):
        """Rows of q of each link's modal amplitudes, a tuple per link; empty for rigid ones."""
        counts = [(joint.screw is not None, 0 if link.modes is None else len(link.modes.names)) for joint, link in zip(self.joints, self.links)]
        ends = np.cumsum([sum(count) for count in counts])
        return tuple(tuple(range(end - count[1], end)) for end, count in zip(ends.tolist(), counts))

    @property
    def dof(self):
        """Number of coordinates n: the length of q."""
        return len(self.moving)

    @property
    def parents(self):
        """Index of each joint's parent; -1 is the ground."""
        index = {name: k for k, name in enumerate(self.names)}
        return tuple(index.get(joint.parent, -1) for joint in self.joints)

    @property
    def rows(self):
        """Row of q for each joint; None for fixed ones."""
        moving = [joint.name for joint in self.moving]
        return tuple(moving.index(joint.name) if joint.screw is not None else None for joint in self.joints)

    def link_index(self, name):
        """Return the index of a link by its joint's name; raise ValueError listing the known ones."""
        if name not in self.names:
            raise ValueError(f"unknown joint {name!r}; {_known('joints', self.names)}")
        return self.names.index(name)

    def coordinate(self, name):
        """Return the row of q that belongs to the joint or amplitude `name`; raise ValueError if there is none."""
        if name not in self.names and name in (moving := [joint.name for joint in self.moving]):
            return moving.index(name)
        row = self.rows[self.link_index(name)]
        if row is None:
            raise ValueError(f"joint {name!r} is fixed and has no coordinate")
        return row

    def point(self, name):
        """Return the Point of that name; raise ValueError listing the known ones."""
        for point in self.points:
            if point.name == name:
                return point
        raise ValueError(f"unknown point {name!r}; {_known('points', [point.name for point in self.points])}")


def outward(tree, step, root):
    """Sweep from the ground to the tips: value_k = step(k, value of k's parent); the ground's value is `root`. Return the list."""
    values = []
    for k, parent in enumerate(tree.parents):
        values.append(step(k, root if parent < 0 else values[parent]))
    return values


def inward(tree, step):
    """Sweep from the tips to the ground: value_k = step(k, [(child, value of child), ...]). Return the list."""
    values, children = [None] * len(tree.joints), [[] for _ in tree.joints]
    parents = tree.parents
    for k in reversed(range(len(tree.joints))):
        values[k] = step(k, children[k])
        if parents[k] >= 0:
            children[parents[k]].insert(0, (k, values[k]))
    return values


# Checks of the records of the statement ------------------------------------------------------------------------------

def _set(record, **values):
    for name, value in values.items():
        object.__setattr__(record, name, value)


def _amplitudes(name, modes):
    axes = {"m": (0.0, 0.0, 0.0, 1.0, 0.0, 0.0), "rad": (1.0, 0.0, 0.0, 0.0, 0.0, 0.0)}
    return [Joint(name=f"{name}.{mode}", parent=name, screw=axes[unit], actuated=False) for mode, unit in zip(modes.names, modes.units)]


def _known(what, names):
    return f"the {what} are {', '.join(names)}" if names else f"there are no {what}"


def _pose_of(what, value):
    if np.shape(np.asarray(value, dtype=object)) == (3,) and not any(np.ndim(entry) for entry in value):
        matrix = np.eye(4)
        matrix[:3, 3] = numbers(what, value, (3,))
        return matrix
    matrix = numbers(what, value, (4, 4))
    rotation = matrix[:3, :3]
    if np.abs(rotation @ rotation.T - np.eye(3)).max() > 1e-9 or np.linalg.det(rotation) < 0 or (matrix[3] != (0, 0, 0, 1)).any():
        raise ValueError(f"{what}: expected a rigid pose (rotation and translation over the row 0 0 0 1), got {matrix.tolist()}")
    return matrix


def _unit_screw(label, value):
    angular, linear = np.linalg.norm(value[:3]), np.linalg.norm(value[3:])
    norm = angular if angular > 0 else linear
    if abs(norm - 1) > 1e-9:
        part = "angular" if angular > 0 else "linear"
        raise ValueError(f"{label}: the axis must have unit length; the {part} part of the screw has length {norm:.9g}")
    return value / norm


def _check_inertia(mass, inertia):
    scale = max(np.abs(inertia).max(), 1e-300)
    if np.abs(inertia - inertia.T).max() > 1e-12 * scale:
        raise ValueError(f"link inertia: expected a symmetric matrix, got {inertia.tolist()}")
    if mass == 0 and inertia.any():
        raise ValueError("link inertia: a massless link cannot have inertia")
    moments = np.linalg.eigvalsh(inertia)
    if moments[0] < -1e-9 * scale:
        raise ValueError(f"link inertia: expected a positive semidefinite matrix, principal moments are {moments.tolist()}")
    if moments[0] + moments[1] < moments[2] - 1e-9 * scale:
        raise ValueError(f"link inertia: principal moments {moments.tolist()} break the triangle inequality I1 + I2 >= I3")


def _check_unique(what, names):
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"{what} {name!r}: the name is used twice")


def _check_parents(joints):
    names = [joint.name for joint in joints]
    _check_unique("joint", names)
    parents = {joint.name: joint.parent for joint in joints}
    for k, joint in enumerate(joints):
        if joint.parent != GROUND and joint.parent not in parents:
            raise ValueError(f"joint {joint.name!r}: unknown parent {joint.parent!r}; {_known('joints', names)} and {GROUND!r}")
        seen, ancestor = [joint.name], joint.parent
        while ancestor in parents:
            if ancestor in seen:
                raise ValueError(f"joint {joint.name!r}: its parents form a cycle, {' -> '.join([*seen, ancestor])}")
            seen.append(ancestor)
            ancestor = parents[ancestor]
        if joint.parent in names[k:]:
            raise ValueError(f"joint {joint.name!r}: its parent {joint.parent!r} must stand before it")


def _check_ends(tree, loop):
    carriers, known = [], {point.name: point.link for point in tree.points}
    for end in (loop.start, loop.end):
        if end not in known:
            raise ValueError(f"loop {loop.name!r}: unknown point {end!r}; {_known('points', list(known))}")
        above = outward(tree, lambda k, rigid: rigid if tree.joints[k].screw is None else k, -1)
        carriers.append(above[tree.names.index(known[end])])
    if carriers[0] == carriers[1]:
        raise ValueError(f"loop {loop.name!r}: its points {loop.start!r} and {loop.end!r} are on one link, or on rigidly joined ones")
