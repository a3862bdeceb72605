"""Share of poses reached from the default guess, half a turn away: three errors compared.

`python -m problems.benchmarks.reached_poses` draws starts of an arm of six joints (`--count`,
`--seed`) and targets half a turn away, or up to 0.05 rad beside it, about any axis and up to 0.2 m
off along each. Those that an independent search finds a posture for are asked of the solver with
the error of `pose_at_end` and with two others, each once. A table says how many are reached to
1e-8 within 300 iterations, and at what effort.
"""

import argparse
import sys
from collections.abc import Callable, Iterator
from math import pi
from typing import Any

import casadi as ca
import numpy as np

from ocp import (
    PLAIN,
    BSpline,
    Constraint,
    Problem,
    Solution,
    Solver,
    at_end,
    at_start,
    effort,
    solve,
)
from ocp.cli import exit_status
from ocp.mechanics import (
    exp_rotation,
    log_pose,
    log_rotation,
    poses,
    quaternion,
    quaternion_conjugate,
    quaternion_product,
    relative_pose,
)
from ocp.models.arms.ur5_like import ur5_like
from ocp.problem import pose_at_end
from ocp.studies import markdown

ARM, TIP = ur5_like(), "joint5"
BESIDE = (0.0, -1e-6, -0.05, 0.05)  # rad beside half a turn
REACHED = 1e-8  # m and rad
PATIENCE = Solver(options={"max_iter": 300})
HEADER = ("error of the turn", "reached", "median iterations", "median effort (N2 m2 s)")


def place(at: Any, target: np.ndarray) -> Any:
    """Return by how much (3, m) the tip is off its target."""
    return at.pose(TIP)[:3, 3] - target[:3, 3]


def by_logarithm(at: Any, target: np.ndarray) -> Any:
    """Return the turn (3, rad) by the logarithm, which jumps at half turns."""
    return log_rotation(target[:3, :3].T @ at.pose(TIP)[:3, :3])


def by_quaternion(at: Any, target: np.ndarray) -> Any:
    """Return 2 sin(f/2) times the axis (3), smooth, without slope along the axis at half turns."""
    return (
        2
        * quaternion_product(quaternion_conjugate(quaternion(target[:3, :3])), at.orientation(TIP))[
            1:
        ]
    )


OTHERS = {"logarithm": by_logarithm, "2 sin(f/2), half angles": by_quaternion}


def other(turn: Callable, target: np.ndarray) -> Constraint:
    """Return a target at the end by another error of its turn."""
    return Constraint(
        name="pose",
        function=lambda at: ca.vertcat(place(at, target), turn(at, target)),
        lower=0.0,
        upper=0.0,
        when="end",
    )


def reaching(start: np.ndarray, target: Constraint) -> Solution:
    """Return the motion of least effort from rest to rest that meets a target."""
    ends = at_start(ARM, q=start, qd=0.0), at_end(ARM, qd=0.0)
    problem = Problem(
        tree=ARM,
        motion=BSpline(points=8),
        duration=1.0,
        objective=effort(),
        constraints=(*ends, target),
    )
    return solve(problem, solver=PATIENCE, attempts=PLAIN)


def tip(q: np.ndarray) -> np.ndarray:
    """Return the pose (4x4) of the last link."""
    return np.array(poses(ARM, ca.DM(q))[-1])


def misses(q: np.ndarray, target: np.ndarray) -> np.ndarray:
    """Return the twist (6,) by which the tip is off its target."""
    return np.array(log_pose(relative_pose(target, tip(q)))).ravel()


def cases(count: int, seed: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield starts (6,) and targets (4x4) for which there is a posture."""
    rng = np.random.default_rng(seed)
    for number in range(count):
        start = rng.uniform(-2, 2, ARM.dof)
        axis, target = rng.standard_normal(3), tip(start)
        angle = pi + BESIDE[number % len(BESIDE)]
        turn = np.array(exp_rotation(angle * axis / np.linalg.norm(axis)))
        target[:3, :3] = target[:3, :3] @ turn
        target[:3, 3] += rng.uniform(-0.2, 0.2, 3)
        if has_posture(target, rng):
            yield start, target


def has_posture(target: np.ndarray, rng: np.random.Generator, tries: int = 30) -> bool:
    """Tell whether damped Gauss-Newton steps from random postures find one for a target."""
    for _ in range(tries):
        q, damping = rng.uniform(-pi, pi, ARM.dof), 1e-2
        miss = misses(q, target)
        while damping < 1e4 and np.abs(miss).max() > REACHED:
            columns = [misses(q + step, target) - miss for step in 1e-7 * np.eye(ARM.dof)]
            slope = np.transpose(columns) / 1e-7
            system = slope.T @ slope + damping * np.eye(ARM.dof)
            ahead = q - np.linalg.solve(system, slope.T @ miss)
            after = misses(ahead, target)
            if np.linalg.norm(after) < 0.999 * np.linalg.norm(miss):
                q, miss, damping = ahead, after, damping / 5
            else:
                damping *= 5
        if np.abs(miss).max() <= REACHED:
            return True
    return False


def run(arguments: list[str]) -> int:
    """Print the table and return the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--count", type=int, default=10, help="targets drawn (default: 10)")
    parser.add_argument("--seed", type=int, default=0, help="of the draws (default: 0)")
    given = parser.parse_args(arguments)
    runs_of: dict[str, list[tuple[bool, int, float]]] = {}
    for start, target in cases(given.count, given.seed):
        targets = {"of `pose_at_end`": pose_at_end(ARM, TIP, target)}
        targets |= {name: other(turn, target) for name, turn in OTHERS.items()}
        for name, constraint in targets.items():
            solution = reaching(start, constraint)
            off = np.abs(misses(solution.q(1.0).ravel(), target)).max()
            met = bool(solution.success and off < REACHED)
            iterations = solution.statistics["iterations"]
            runs_of.setdefault(name, []).append((met, iterations, solution.objective))
    print(markdown("", HEADER, (row(name, runs) for name, runs in runs_of.items()), padded=False))
    return 0


def row(name: str, runs: list[tuple[bool, int, float]]) -> tuple[str, ...]:
    """Return a line of the table."""
    met = [one for one in runs if one[0]]
    medians = np.median(np.array(met)[:, 1:], axis=0) if met else (np.nan, np.nan)
    return name, f"{len(met)} of {len(runs)}", *(f"{value:.4g}" for value in medians)


if __name__ == "__main__":
    sys.exit(exit_status(run, sys.argv[1:]))
