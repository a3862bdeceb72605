"""Record of a method of the literature, and the frames on which its graphs are small."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Protocol, TypeAlias, runtime_checkable

import numpy as np

from ocp.dynamics.derivatives.chart_wrappers import (
    extend_inverse,
    extend_reactions,
    extend_sensitivity,
)
from ocp.dynamics.signatures import Inverse, Reactions, Slopes
from ocp.mechanics.kinematics.spatial import cross_arrays, invert, tidy
from ocp.mechanics.model.joints import Joint
from ocp.mechanics.model.tree import Link, Point, Tree
from ocp.mechanics.values.parameters import array, is_open, nominal
from ocp.mechanics.values.types import Matrix
from ocp.mechanics.values.validation import freeze, nominal_array, set_fields, symmetrize
from ocp.pickling import portable
from ocp.spelling import suggest_fields

# sine of the angle below which the common normal of two axes lies too far off to be used
PARALLEL = 0.03

# number of moving joints along a chain, point and direction of the next axis in the link's frame
AxisAhead: TypeAlias = tuple[int, np.ndarray, np.ndarray]


@portable
@dataclass(frozen=True, slots=True, kw_only=True)
class Provider:
    """Derivatives of inverse dynamics in two stages: parts, which are scalar graphs, and their
    joining, which runs in scalar graphs or as loops over numbers.

        slope_parts(tree, q, qd, qdd, loads) -> parts
        join_slopes(tree, parts) -> dtau/dq, dtau/dqd, dtau/dqdd, dtau/d(loads)
        curvature_parts(tree, multipliers, q, qd, qdd, loads) -> parts
        join_curvature(tree, parts) -> second derivatives and gradient of L

    The first three slopes are (n, n), the last, by moment and force of each load, a Load or a
    Wrench, (n, 6 loads). L = multipliers . tau has second derivatives by (q, q), (q, qd), (q, qdd),
    (qd, qd), (n, n) each, the symmetric ones as upper triangles, then by q and the loads
    (n, 6 loads), and a gradient by (q, qd, qdd, loads).

    `parameter_slopes`(tree, q, qd, qdd, loads, parameters) -> dtau/d parameters (n, p), the motion
    and the loads held, or None for a tree that it does not know; by default they are automatic.
    """

    slope_parts: Callable[..., tuple[Matrix, ...]]
    join_slopes: Callable[..., tuple[Matrix, ...]]
    curvature_parts: Callable[..., tuple[Matrix, ...]]
    join_curvature: Callable[..., tuple[Matrix, ...]]
    parameter_slopes: Callable[..., Matrix | None] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """Range of a coordinate in which a formulation knows a motion's torques.

    Attributes:
        quantity: "q", "qd" or "qdd".
        row: of the coordinate in q.
        lower, upper: both ends.
    """

    quantity: str
    row: int
    lower: float
    upper: float


@runtime_checkable
class Approximation(Protocol):
    """Description of a formulation that stands for rigid-body mechanics with an error."""

    def reach(self, tree: Tree) -> tuple[Reach, ...]:
        """Return the ranges that motions have to keep, none where it holds everywhere."""
        ...

    def description(self, tree: Tree) -> str:
        """Return in a line the source of its error, as the size of its tables."""
        ...


@portable
@suggest_fields
@dataclass(frozen=True, slots=True, kw_only=True)
class Formulation:
    """A method of inverse dynamics; all but `name` and `inverse` may be left out.

        inverse(tree, q, qd, qdd, loads=()) -> joint torques or forces (n,), linear in qdd
        forward(tree, q, qd, tau, loads=()) -> accelerations (n,)
        reactions(tree, q, qd, qdd, loads=()) -> moment (3, links), force (3, links)
        sensitivity(tree, q, qd, qdd, loads=()) -> dtau/dq, dtau/dqd, dtau/dqdd, (n, n) each

    Functions of trees of single-coordinate joints, as all but `forward` are, are here made
    functions of any tree.

    Attributes:
        forward: by default the mass matrix and the rest of the inverse give the accelerations.
        derivatives: a Provider, by default automatic differentiation of the inverse.
        reactions: what each joint passes to its link, in the axes of the link's own frame, the
            moment about the joint's `anchor`.
        sensitivity: the method's own recursion.
        flexible: whether the method knows links with modes.
        approximation: set where the method has an error; certificates judge it by exact mechanics
            and name the error.
    """

    name: str
    inverse: Inverse
    forward: Callable[..., Matrix] | None = None
    derivatives: Provider | None = None
    reactions: Callable[..., Reactions] | None = None
    sensitivity: Callable[..., Slopes] | None = None
    flexible: bool = False
    approximation: Approximation | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise ValueError(f"formulation: name: expected a text, got {self.name!r}")
        words = f"formulation {self.name!r}"
        for what in ("inverse", "forward", "reactions", "sensitivity"):
            value = getattr(self, what)
            if not callable(value) and (value is not None or what == "inverse"):
                raise ValueError(f"{words}: {what}: expected a function, got {value!r}")
        set_fields(self, inverse=extend_inverse(self.inverse))
        if self.reactions is not None:
            set_fields(self, reactions=extend_reactions(self.reactions))
        if self.sensitivity is not None:
            set_fields(self, sensitivity=extend_sensitivity(self.sensitivity, self.inverse))
        if not isinstance(self.derivatives, Provider | None):
            raise ValueError(
                f"{words}: derivatives: expected a Provider or None, got {self.derivatives!r}"
            )
        if not isinstance(self.approximation, Approximation | None):
            raise ValueError(
                f"{words}: approximation: expected an Approximation or None, got "
                f"{self.approximation!r}"
            )


def check_rigid(tree: Tree) -> None:
    """Raise ValueError naming a flexible link, or a joint that only charts make known."""
    if tree.mapped:
        name = next(joint.name for joint in tree.joints if joint.ball or joint.follows is not None)
        raise ValueError(
            f"joint {name!r} is a ball or follows a coordinate, which this function knows only as "
            "that of a Formulation, and tables not at all"
        )
    if tree.flexible:
        raise ValueError(
            f"link {tree.flexible[0]!r} is flexible, which only the formulation 'book' knows, "
            "with derivatives 'ad'"
        )


@lru_cache(maxsize=32)
def align_frames(tree: Tree) -> tuple[Tree, tuple]:
    """Return the same mechanism on better frames, and the poses (4x4) of the new link frames in the
    old ones.

    Every moving joint turns about or slides along the z axis of its new frame, whose x axis lies
    along the common normal to the next joint's axis, as Denavit and Hartenberg choose it; a fixed
    link shares its parent's frame. Coordinates, names, points and limits stay, loops are open. Any
    choice is correct: this one makes most entries of the constant rotations and translations zero.
    Raises ValueError naming a flexible link, since its modes are stated in its own frame and rigid
    methods know none.
    """
    check_rigid(tree)
    turns = _new_frames(tree)
    joints, links, points = [], [], []
    for joint, link, p, turn in zip(tree.joints, tree.links, tree.parents, turns):
        before, back = np.eye(4) if p < 0 else turns[p], invert(turn)
        home = tidy(invert(before) @ array(joint.home) @ turn, 1e-14)
        pitch = joint.pitch if joint.kind == "screw" else 0.0
        axis = {"fixed": None, "prismatic": (0, 0, 0, 0, 0, 1)}.get(
            joint.kind, (0, 0, 1, 0, 0, pitch)
        )
        joints.append(replace(joint, home=home, screw=axis))
        inertia = tidy(back[:3, :3] @ array(link.inertia) @ back[:3, :3].T, 1e-16)
        links.append(
            Link(
                name=link.name,
                mass=link.mass,
                com=tidy(back[:3, :3] @ array(link.com) + back[:3, 3]),
                inertia=symmetrize(inertia),
                unphysical=link.unphysical,
            )
        )
    known = {point.name for point in tree.points}
    origins = [Point(name=link, link=link) for link in tree.link_names if link not in known]
    for point in (*tree.points, *origins):  # which links call by their names
        back = invert(turns[tree.link_index(point.link)])
        position = tidy(back[:3, :3] @ array(point.position) + back[:3, 3])
        points.append(replace(point, position=position))
    better = replace(tree, links=tuple(links), joints=tuple(joints), points=tuple(points), loops=())
    return better, tuple(freeze(turn) for turn in turns)


def _new_frames(tree: Tree) -> list[np.ndarray]:
    """Choose the new frames, children first, since a frame is laid toward the axis of the joint
    that follows it.

    Of an open tree they stand where its open axes do; which way they then face, and which origin
    they have of those that serve, is chosen at the parameters' own values.
    """
    count, parents = len(tree.joints), tree.parents
    turns: list[np.ndarray] = [np.eye(4)] * count
    ahead: list[AxisAhead | None] = [None] * count
    # (m c, m) of a link with the fixed ones that it carries
    bodies = nominal([(link.mass, link.com) for link in tree.links])
    moments = [np.append(mass * np.array(com), mass) for mass, com in bodies]
    for k in reversed(range(count)):
        joint, home, line, p = tree.joints[k], array(tree.joints[k].home), ahead[k], parents[k]
        if joint.screw is not None:
            com = moments[k][:3] / (moments[k][3] or 1.0)
            turns[k] = _frame_toward(joint, com, line)
            line = (1 if line is None else 1 + line[0], turns[k][:3, 3], turns[k][:3, 2])
        elif p >= 0:
            moments[p] = moments[p] + nominal_array(home) @ moments[k]
        if p < 0 or line is None:
            continue
        further = ahead[p]
        if further is None or line[0] > further[0]:
            ahead[p] = (line[0], home[:3, :3] @ line[1] + home[:3, 3], home[:3, :3] @ line[2])
    for k, joint in enumerate(tree.joints):
        if joint.screw is None:
            turns[k] = invert(array(joint.home)) @ (
                np.eye(4) if parents[k] < 0 else turns[parents[k]]
            )
    return turns


def _frame_toward(joint: Joint, com: np.ndarray, line: AxisAhead | None) -> np.ndarray:
    """Return the frame (4x4) with z on the joint's axis and x on the common normal to the next
    axis, or toward the centre of mass."""
    slides = joint.kind == "prismatic"
    z = array(joint.screw[3:] if slides else joint.screw[:3])
    point, direction = (com, z) if line is None else line[1:]
    axis, direction = nominal_array(z), nominal_array(direction)
    normal = cross_arrays(axis, direction)
    reach = point - joint.anchor
    if np.linalg.norm(normal) > PARALLEL:
        along = cross_arrays(reach, direction) @ normal / (normal @ normal)
    else:
        along, normal = reach @ axis, nominal_array(reach - (reach @ axis) * axis)
    if np.linalg.norm(normal) <= 1e-9:
        normal = np.eye(3)[np.argmin(np.abs(axis))]
    normal = normal - (normal @ z) * z
    x = normal / (np.sqrt(normal @ normal) if is_open(normal) else np.linalg.norm(normal))
    origin = point if slides else joint.anchor + along * z  # a sliding frame may sit anywhere
    frame = np.eye(4).astype(object if is_open([*z, *origin]) else float)
    frame[:3, :3] = np.column_stack([x, cross_arrays(z, x), z])
    frame[:3, 3] = origin
    return tidy(frame, 1e-15)
