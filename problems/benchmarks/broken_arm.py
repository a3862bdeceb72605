"""Statements of a two-link arm with one impossible demand each."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import casadi as ca

from ocp import (
    BSpline,
    Point,
    Problem,
    Tree,
    at_end,
    at_start,
    duration,
    effort,
    joint_limits,
    path,
    torque_limits,
    velocity_limits,
)
from ocp.models.arms.two_link import two_link
from ocp.problem import apart, off_box


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
    "a rate at the end of 40 rad/s": ({"end": {"q": (1.5, 0.8), "qd": 40.0}}, "at_end.qd"),
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
