"""Pushes on a motion under way: the state after an impulse, from which a plan is made anew."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ocp.dynamics.tree_dynamics import mass_matrix
from ocp.mechanics import nominal
from ocp.mechanics.kinematics.kinematics import jacobian
from ocp.mechanics.model.tree import Tree
from ocp.mpc.receding_horizon import state_parameters
from ocp.problem.statement import Problem
from ocp.solution.solution import Solution

BRISK = 2.0  # 1/s: impulse of a push, over the mass of what moves and the way of the pointer


@dataclass(frozen=True, kw_only=True)
class Pushed:
    """Pushes on the points of a `problem`'s tree, `names` of the parameters that are its state."""

    problem: Problem
    names: tuple[str, ...]

    @property
    def points(self) -> tuple[str, ...]:
        """Names of what may be pushed."""
        return tuple(point.name for point in self.tree.points)

    @cached_property
    def tree(self) -> Tree:
        """The tree, its parameters at their own values."""
        return nominal(self.problem.tree)

    def jump(self, q: np.ndarray, point: str, impulse: np.ndarray) -> np.ndarray:
        """Return the jump (n,) of the rates at q (n,) from an impulse (3,), N s, on a point."""
        slope = np.array(jacobian(self.tree, q, point))[3:]
        return np.linalg.solve(np.array(mass_matrix(self.tree, q)), slope.T @ impulse)

    def state(self, solution: Solution, share: float, point: str, way: np.ndarray) -> dict:
        """Return the values {name: number} of the state after a push, M dqd = J' p.

        Args:
            solution: the motion that is pushed.
            share: of its time, in [0, 1].
            point: name of the point that is pushed.
            way: of the pointer (3,), m, in global axes.

        Raises:
            ValueError: for a point that there is not.
        """
        if point not in self.points:
            raise ValueError(f"{point}: no point; there are {', '.join(self.points)}")
        t = np.array([share * solution.duration])
        q, qd = solution.q(t)[:, 0], solution.qd(t)[:, 0]
        heavy = sum(float(link.mass) for link in self.tree.links)
        jump = self.jump(q, point, BRISK * heavy * way)
        limits = [each.position for each in self.tree.moving]
        limits += [each.velocity for each in self.tree.moving]
        lower, upper = np.array(limits, dtype=float).T
        return dict(zip(self.names, np.clip([*q, *(qd + jump)], lower, upper).tolist()))


def pushes_on(problem: Problem) -> Pushed | None:
    """Return the pushes on a problem's motion, None where its initial state is not open, or it has
    no points."""
    try:
        names = state_parameters(problem)
    except ValueError:
        return None
    simple = not (problem.tree.balls or problem.tree.loops)
    return Pushed(problem=problem, names=names) if problem.tree.points and simple else None
