"""Solves that start from a posture, with the feet at their stated places."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from ocp.mechanics.kinematics import kinematics
from ocp.mechanics.model.joint_selection import values_by_joint
from ocp.mechanics.model.tree import Tree
from ocp.mechanics.model.tree_structure import structure
from ocp.mechanics.values.degrees import warn_of_degrees
from ocp.mechanics.values.parameters import nominal
from ocp.mechanics.values.validation import check_type, numbers
from ocp.problem.contact.ground import Ground, Pin, in_force
from ocp.problem.phases.phase_problems import refuse_phases
from ocp.problem.statement import Problem
from ocp.solution.solution import Solution
from ocp.solving.solve_problem import solve
from ocp.solving.starts.warm_start import Guess
from ocp.transcription.kernels.kernels import function

STEPS = 20  # by which a root comes over its feet
STILL = 1e-12  # rad or m: a step below it is none
FAINT = 1e-9  # relative: directions in which feet do not hold the root


def posture(problem: Problem, angles: Mapping[str, float] | Sequence[float]) -> np.ndarray:
    """Return the coordinates (n,) of a posture with the feet nearest to their stated places.

    A passive root moves to that place in least squares; places to be found are at their start.

    Args:
        problem: a Problem without phases.
        angles: of all driven joints (rad or m), or {name or word: angle} of some as
            `values_by_joint` has them, the others zero.

    Raises:
        ValueError: for an unknown joint or a wrong count.
    """
    refuse_phases("posture", problem, "give each a guess")
    tree = nominal(problem.tree)
    q = np.array(tree.neutral)
    if isinstance(angles, Mapping):
        for name, angle in values_by_joint(tree, angles).items():
            q[tree.coordinate(name)] = angle
    else:
        rows = [tree.coordinate(name) for name in tree.driven]
        q[rows] = numbers("posture: angles", angles, (len(rows),))
    warn_of_degrees("posture", zip(tree.moving, q))
    pins = [] if problem.ground is None else _pins(problem.ground)
    root = list(structure(tree).root)
    return _place_root(tree, q, root, pins) if pins and root else q


def _pins(ground: Ground) -> list[Pin]:
    """Return the pins that hold at the start."""
    standing = [in_force(foot, 0.0) for foot in ground.feet]
    return [nominal(pin) for support in standing if support for pin in support.pins]


def _place_root(tree: Tree, q: np.ndarray, root: list[int], pins: Sequence[Pin]) -> np.ndarray:
    """Return coordinates of which those of the root bring pins to their places."""
    symbol = ca.SX.sym("q", tree.dof)
    rows = [["xyz".index(axis) for axis in pin.axes] for pin in pins]
    gaps = [
        (kinematics.position(tree, symbol, pin.point) - ca.DM(list(map(float, pin.target))))[row]
        for pin, row in zip(pins, rows)
    ]
    gaps += [(ca.sumsqr(symbol[list(ball)]) - 1) / 2 for ball in tree.balls]
    off = ca.vertcat(*gaps)
    slope = ca.jacobian(off, symbol)[:, root]
    look = function("gaps", [symbol], [off, slope], ["q"], ["off", "slope"])
    for _ in range(STEPS):
        gap, turn = (np.array(part) for part in look(q))
        step = -np.linalg.pinv(turn, rcond=FAINT) @ gap.ravel()
        q[root] += step
        if np.abs(step).max() < STILL:
            break
    return q


@dataclass(frozen=True, slots=True, eq=False)
class FromPosture:
    """Solve a problem from a body that rests in a posture, unless a `guess` is given: a method, as
    data that other processes can be told. `angles` are those of `posture`."""

    angles: Mapping[str, float] | Sequence[float]

    def __call__(
        self, stated: Problem, *settings: Any, guess: Solution | None = None, **options: Any
    ) -> Solution:
        if guess is None:
            q = posture(check_type("from_posture: problem", stated, Problem), self.angles)
            return solve(stated, *settings, guess=Guess(q=np.transpose([q, q])), **options)
        return solve(stated, *settings, guess=guess, **options)


def from_posture(angles: Mapping[str, float] | Sequence[float]) -> Callable[..., Solution]:
    """Return the method of a Task that solves its problem from a body at rest in a posture, with
    the `angles` of `posture`.
    """
    return FromPosture(angles)
