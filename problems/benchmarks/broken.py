"""Statements of motions that cannot be, each with the one demand that was broken on purpose."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import pi
from typing import Any

from ocp import BSpline, Problem, at_end, at_start, effort, joint_limits, path, torque_limits
from ocp.models.swing_ups.cart_pole import cart_pole
from ocp.problems.benchmarks.broken_arm import ARM, arm
from ocp.problems.benchmarks.broken_stance import GROUNDED, stand
from ocp.problems.mechanisms.five_bar_pick import problem as pick

NAMED = 3  # lines after the status, among which the culprit has to be


@dataclass(frozen=True, slots=True, kw_only=True)
class Broken:
    """A statement with a broken demand: `problem`() returns it, `culprits` are names for that."""

    problem: Callable[[], Problem]
    culprits: tuple[str, ...]


def is_named(broken: Broken, lines: tuple[str, ...]) -> bool:
    """Tell whether one of the first lines after the status names a culprit."""
    return any(culprit in line for line in lines[1 : 1 + NAMED] for culprit in broken.culprits)


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
