"""What public robots share: feet that swing, mirror images of half cycles, first guesses."""

from collections.abc import Callable, Sequence
from math import inf
from typing import Any

import casadi as ca
import numpy as np

from ocp import Constraint, Guess, Problem, Solution, Symmetry, Tree, path, solve
from ocp.problem import mirrored

ROOT = "base_y", "base.x", "base.z"  # of `load_model(..., base="free")`: turned round by a mirror


def clear(points: Sequence[str], lift: float, *, when: Any = "path") -> Constraint:
    """Keep points above a wave of the height `lift` (m) that begins and ends flat; `when` as in
    `Constraint`."""
    return path(
        "clear",
        lambda at: ca.vertcat(
            *(at.position(point)[2] - lift * (4 * at.s * (1 - at.s)) ** 2 for point in points)
        ),
        lower=0.0,
        upper=inf,
        when=when,
        labels=points,
        units="m",
    )


def exchanged(
    tree: Tree, sides: Sequence[tuple[str, str]], flips: Sequence[str], step: Any
) -> Symmetry:
    """Return the Symmetry of half a cycle: its mirror image in the x-z plane, a `step` (m) on.

    `sides`: how names of one side and the other begin; `flips`: words in the names of joints whose
    image has the other sign.
    """
    names = [joint.name for joint in tree.moving]
    other = {one: two for pair in sides for one, two in (pair, pair[::-1])}

    def image(name: str) -> str:
        side = next((side for side in other if name.startswith(side)), "")
        return other.get(side, "") + name.removeprefix(side)

    index = [names.index(image(name)) for name in names]
    turned = [name in ROOT or any(word in name for word in flips) for name in names]
    sign = [-1.0 if each else 1.0 for each in turned]
    return mirrored(tree, index, sign, shift={"base_x": step}, qdd=False)


def solved_standing(posture: Callable[[Tree], Any]) -> Callable[..., Solution]:
    """Return how a problem is solved from a robot that stands in a `posture`(tree) (n,)."""

    def method(
        stated: Problem, *settings: Any, guess: Solution | None = None, **options: Any
    ) -> Solution:
        """Return the solution, from a robot that stands if from no `guess`."""
        if guess is None:
            q = posture(stated.tree)
            return solve(stated, *settings, guess=Guess(q=np.transpose([q, q])), **options)
        return solve(stated, *settings, guess=guess, **options)

    return method
