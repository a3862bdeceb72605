"""Statements of motions that cannot be, each with the one demand that was broken on purpose."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from math import pi
from typing import Any

import casadi as ca
import numpy as np
from ocp.models.cart_pole import cart_pole
from ocp.models.two_link import two_link
from ocp.problems.five_bar_pick import problem as pick

from ocp import (
    BSpline,
    Foot,
    Ground,
    Link,
    Pin,
    Point,
    Problem,
    Support,
    Tree,
    at_end,
    at_start,
    duration,
    dynamic_effort,
    effort,
    foot_contact,
    joint_limits,
    path,
    prismatic,
    revolute,
    torque_limits,
    velocity_limits,
)
from ocp.problem import (
    apart,
    friction,
    no_penetration,
    off_box,
    periodic,
    pressure_inside,
    squares,
    unilateral,
    zmp_inside,
)

NAMED = 3  # lines after the status, among which the culprit has to be


@dataclass(frozen=True, slots=True, kw_only=True)
class Broken:
    """A statement with a broken demand: `problem`() returns it, `culprits` are names for that."""

    problem: Callable[[], Problem]
    culprits: tuple[str, ...]


def is_named(broken: Broken, lines: tuple[str, ...]) -> bool:
    """Tell whether one of the first lines after the status names a culprit."""
    return any(culprit in line for line in lines[1 : 1 + NAMED] for culprit in broken.culprits)


# ---------------------------------------------------------------------------------------- an arm


@dataclass(frozen=True, slots=True, kw_only=True)
class Arm:
    """What is asked of a two-link arm in a plane, all of it sound unless it is changed."""

    torque: float = 20.0  # N m
    position: tuple[float, float] = (-2.8, 2.8)  # rad
    velocity: float = 12.0  # rad/s
    lasts: Any = (0.1, 2.0)  # s
    start: Mapping[str, Any] = field(default_factory=lambda: {"q": (0.3, 0.8), "qd": 0.0})
    end: Mapping[str, Any] = field(default_factory=lambda: {"q": (1.5, 0.8), "qd": 0.0})
    more: Callable[[Tree], Any] = lambda tree: ()
    hull: bool = False


def arm(**changes: Any) -> Problem:
    """Return a quick move of the arm, with changes to what is asked."""
    asked = Arm(**changes)
    bare = two_link(torque=asked.torque)
    joints = (
        replace(joint, position=asked.position, velocity=asked.velocity) for joint in bare.joints
    )
    points = (*bare.points, Point(name="base", link="shoulder", position=(-0.4, 0.0, 0.0)))
    tree = replace(bare, joints=tuple(joints), points=points)
    return Problem(
        tree=tree,
        motion=BSpline(points=12),
        duration=asked.lasts,
        objective=duration() + 1e-3 * effort(),
        constraints=(
            at_start(tree, **asked.start),
            at_end(tree, **asked.end),
            joint_limits(tree, hull=asked.hull),
            velocity_limits(tree),
            torque_limits(tree),
            asked.more(tree),
        ),
    )


def place(name: str, target: tuple[float, float], when: Any) -> Callable[[Tree], Any]:
    """Ask for the tip at a place (m)."""
    return lambda tree: path(
        name,
        lambda at: at.position("tip")[:2],
        lower=target,
        upper=target,
        when=when,
        labels=("x", "y"),
        units="m",
    )


def clear(center: tuple[float, float], radius: float) -> Callable[[Tree], Any]:
    """Keep the tip off a round obstacle (m)."""

    def distance(at: Any) -> Any:
        return ca.norm_2(at.position("tip")[:2] - ca.DM(center))

    return lambda tree: path("obstacle", distance, lower=radius, labels=("tip",), units="m")


def above(name: str, function: Callable[..., Any], least: float, unit: str) -> Callable[..., Any]:
    """Ask for at least so much of a function."""
    return lambda tree: path(name, function, lower=least, labels=("arm",), units=unit)


def below(name: str, function: Callable[..., Any], most: float, unit: str) -> Callable[..., Any]:
    """Ask for at most so much of a function."""
    return lambda tree: path(name, function, upper=most, labels=("arm",), units=unit)


def wall(at: Any) -> Any:
    """Return the centre of a box in the arm's plane, and its axes up and ahead."""
    return ca.DM((0.1, 0.75, 0.0)), (ca.DM((0.0, 1.0, 0.0)), ca.DM((1.0, 0.0, 0.0)))


def stride(tree: Tree) -> Any:
    """Ask for an end of the tip that is 3 m from its start."""
    return path(
        "stride",
        lambda start, end: (end.position("tip") - start.position("tip"))[0],
        lower=3.0,
        when="joined",
        labels=("tip.x",),
        units="m",
    )


def tip_height(at: Any) -> Any:
    """Return the height (m) of the tip."""
    return at.position("tip")[1]


ARM = {
    "torque limits of 0.2 N m": ({"torque": 0.2, "lasts": (0.1, 1.0)}, "torque_limits"),
    "joint limits of 1 rad": (
        {"position": (-1.0, 1.0), "end": {"qd": 0.0}, "more": place("goal", (0.1, 0.3), "end")},
        "joint_limits",
    ),
    "joint limits of all control points": (
        {
            "hull": True,
            "position": (-1.0, 1.0),
            "end": {"qd": 0.0},
            "more": place("goal", (-0.2, 0.3), "end"),
        },
        "joint_limits",
    ),
    "rates of 0.3 rad/s": ({"velocity": 0.3}, "velocity_limits"),
    "a given duration of 0.05 s": ({"lasts": 0.05}, "duration"),
    "a duration of at most 0.06 s": ({"lasts": (0.02, 0.06)}, "duration"),
    "a place at the end out of reach": (
        {"end": {"qd": 0.0}, "more": place("goal", (0.9, 0.5), "end")},
        "goal",
    ),
    "a place at the start out of reach": (
        {"start": {"qd": 0.0}, "more": place("origin", (1.2, 0.0), "start")},
        "origin",
    ),
    "a via point out of reach": ({"more": place("via", (-0.6, 0.8), (0.45, 0.55))}, "via"),
    "an obstacle about the goal": ({"more": clear((-0.2, 0.7), 0.4)}, "obstacle"),
    "an obstacle about the start": ({"more": clear((0.55, 0.5), 0.3)}, "obstacle"),
    "a wall before the goal": (
        {"more": lambda tree: off_box("wall", wall, (0.3, 0.3), {"tip": 0.05})},
        "wall",
    ),
    "spheres as large as the arm": (
        {"more": lambda tree: apart("apart", [(("tip", 0.5), ("base", 0.5))])},
        "apart",
    ),
    "a slow tip": (
        {"more": below("tip speed", lambda at: ca.sumsqr(at.velocity("tip")), 0.01, "m2/s2")},
        "tip speed",
    ),
    "gentle accelerations": (
        {
            "more": below("gentle", lambda at: ca.sumsqr(at.qdd), 1.0, "rad2/s4"),
            "lasts": (0.1, 0.8),
        },
        "gentle",
    ),
    "a level hand": (
        {"more": lambda tree: path("level", lambda at: at.q[0] + at.q[1], lower=1.1, upper=1.1)},
        "level",
    ),
    "a ceiling under the goal": ({"more": below("ceiling", tip_height, 0.4, "m")}, "ceiling"),
    "a floor above the start": ({"more": above("floor", tip_height, 0.7, "m")}, "floor"),
    "a rate at the end of 40 rad/s": (
        {"end": {"q": (1.5, 0.8), "qd": 40.0}},
        "at_end.qd",
    ),
    "an acceleration at the start of 900 rad/s2": (
        {"start": {"q": (0.3, 0.8), "qd": 0.0, "qdd": 900.0}},
        "at_start.qdd",
    ),
    "a stride of 3 m": ({"more": stride}, "stride"),
    "power of 0.01 W": (
        {"more": below("power", lambda at: ca.dot(at.tau, at.qd), 0.01, "W"), "lasts": (0.1, 1.0)},
        "power",
    ),
}


# --------------------------------------------------------------------------- loops, passive joints


def picking(**changes: Any) -> Problem:
    """Return the five-bar's move over a sill, coarse."""
    return pick(points=20, **changes)


def far_hand() -> Problem:
    """Ask a five-bar's hand to be where its couplers would tear."""
    sound = picking()
    target = path(
        "hand",
        lambda at: at.position("hand")[:2],
        lower=(1.5, -0.3),
        upper=(1.5, -0.3),
        when="end",
        labels=("x", "y"),
        units="m",
    )
    kept = [one for one in sound.requirements if not one.name.startswith("at_end")]
    return replace(sound, constraints=(*kept, target))


def in_line() -> Problem:
    """Ask the couplers of a five-bar to stay square."""
    sound = picking()
    return replace(
        sound,
        constraints=tuple(
            replace(one, lower=1.5) if one.name == "transmission" else one
            for one in sound.requirements
        ),
    )


def cart(
    force: float = 20.0, travel: float = 1.0, rail: float = 2.0, lasts: float = 2.0
) -> Problem:
    """Return the swing-up of a pole on a cart."""
    tree = cart_pole(force=force)
    joints = (replace(tree.joints[0], position=(-rail, rail)), *tree.joints[1:])
    tree = replace(tree, joints=joints)
    return Problem(
        tree=tree,
        motion=BSpline(points=20, degree=5),
        duration=lasts,
        objective=effort(tree, ("cart",)),
        constraints=(
            at_start(tree, q=0.0, qd=0.0),
            at_end(tree, q={"pole": pi}, qd=0.0),
            path("stop", lambda at: at.q[0], lower=travel, when="end", labels=("cart",), units="m"),
            joint_limits(tree),
            torque_limits(tree),
        ),
    )


# ----------------------------------------------------------------------------- a body on the ground

SOLE = {"heel": (-0.08, -0.05, 0.0), "out": (0.15, -0.05, 0.0)} | {
    "toe": (0.15, 0.05, 0.0),
    "in": (-0.08, 0.05, 0.0),
}


def body() -> Tree:
    """Return a body on one foot that bends in the plane of x and z: hip, telescopic knee, ankle."""
    axes = dict(zip("xyz", np.eye(3).tolist()))
    root = [
        prismatic(name, parent, axis=axes[name], actuated=False)
        for name, parent in (("x", "ground"), ("y", "x"), ("z", "y"))
    ]
    root += [
        revolute(name, parent, axis=axes[axis], actuated=False, position=1.0)
        for name, parent, axis in (("yaw", "z", "z"), ("pitch", "yaw", "y"), ("roll", "pitch", "x"))
    ]
    knee = prismatic(
        "knee",
        "hip",
        axis=axes["z"],
        home=(0.0, 0.0, -0.8),
        position=(-0.05, 0.3),
        torque=2000.0,
    )
    return Tree(
        links=(
            *[Link()] * 5,
            Link(mass=30.0, com=(0.0, 0.0, 0.2), inertia=np.diag((1.0, 1.0, 0.4))),
            Link(mass=5.0, com=(0.0, 0.0, -0.2), inertia=np.diag((0.1, 0.1, 0.02))),
            Link(mass=3.0, com=(0.0, 0.0, 0.2), inertia=np.diag((0.05, 0.05, 0.01))),
            Link(mass=1.0, com=(0.03, 0.0, 0.02), inertia=np.diag((0.002, 0.004, 0.004))),
        ),
        joints=(
            *root,
            revolute("hip", "roll", axis=axes["y"], position=1.5, torque=200.0),
            knee,
            revolute("ankle", "knee", axis=axes["y"], position=1.0, torque=100.0),
        ),
        points=(
            Point(name="head", link="roll", position=(0.0, 0.0, 0.7)),
            *(Point(name=name, link="ankle", position=place) for name, place in SOLE.items()),
        ),
        gravity=(0.0, 0.0, -9.81),
    )


def stand(
    sink: float = 0.1,
    sway: float = 0.02,
    lasts: float = 0.8,
    heel: tuple[float, float, float] = SOLE["heel"],
    ahead: float = 0.0,
    more: Callable[[Tree, Ground], Any] = lambda tree, ground: (),
    changes: Callable[[Problem], Problem] = lambda problem: problem,
) -> Problem:
    """Return how a body sinks and sways (m) on its foot, which is pinned at heel and toe."""
    tree = body()
    support = Support(
        link="ankle",
        when=(0.0, 1.0),
        polygon=[np.array(corner) + (ahead, 0.0, 0.0) for corner in SOLE.values()],
        pins=[Pin(point="heel", axes="xyz", target=heel), Pin(point="toe", axes="z")],
    )
    ground = Ground(feet=[Foot(name="foot", center=(0.0, 0.0, 0.0), supports=[support])])
    upright = dict.fromkeys(("x", "y", "yaw", "pitch", "roll"), 0.0) | {"z": 0.8}
    return changes(
        Problem(
            tree=tree,
            motion=BSpline(points=8),
            duration=lasts,
            ground=ground,
            objective=dynamic_effort(tree) + 0.01 * squares("smooth", lambda at: at.qdd),
            constraints=(
                at_start(tree, q=upright, qd=0.0),
                at_end(tree, q=upright | {"z": 0.8 - sink, "x": sway}, qd=0.0),
                foot_contact(ground, position=0.005, velocity=0.2),
                joint_limits(tree),
                torque_limits(tree),
                more(tree, ground),
            ),
        )
    )


def raised_head(tree: Tree, ground: Ground) -> Any:
    """Keep the head above the ground where that is asked to be higher than the head is."""
    above_ground = no_penetration(ground, {"foot": ("head",)})
    return [replace(one, lower=1.6) for one in above_ground]


GROUNDED: dict[str, tuple[Mapping[str, Any], str]] = {
    "a heel pinned in the air": ({"heel": (-0.08, -0.05, 0.3)}, "contact.foot"),
    "friction of ice": (
        {"sway": 0.12, "lasts": 0.5, "more": lambda t, g: friction(t, g, coefficient=0.02)},
        "friction",
    ),
    "a zero moment point in a sole that is not there": (
        {"ahead": 0.6, "more": zmp_inside},
        "zmp",
    ),
    "a centre of pressure in a sole that is not there": (
        {"ahead": 0.6, "more": pressure_inside},
        "pressure.foot",
    ),
    "ground that bears three times the weight": (
        {"more": lambda t, g: unilateral(t, g, least=3.0)},
        "support",
    ),
    "a ground above the head": ({"more": raised_head}, "penetration.head"),
    "a periodic motion that sinks": (
        {"changes": lambda stated: replace(stated, symmetry=periodic(stated.tree))},
        "mirrored",
    ),
}

BROKEN: dict[str, Broken] = (
    {
        name: Broken(problem=lambda changes=changes: arm(**changes), culprits=(culprit,))
        for name, (changes, culprit) in ARM.items()
    }
    | {
        "a hand where its loop would tear": Broken(problem=far_hand, culprits=("hand",)),
        "couplers that are always square": Broken(problem=in_line, culprits=("transmission",)),
        "a sill as wide as the reach": Broken(
            problem=lambda: picking(width=0.6), culprits=("clearance",)
        ),
        "a cart without force": Broken(
            problem=lambda: cart(force=0.5), culprits=("torque_limits",)
        ),
        "a cart at the end of a short rail": Broken(
            problem=lambda: cart(rail=0.3), culprits=("joint_limits",)
        ),
    }
    | {
        name: Broken(problem=lambda changes=changes: stand(**changes), culprits=(culprit,))
        for name, (changes, culprit) in GROUNDED.items()
    }
)
