"""Small problems and odd methods for studies, in a module that worker processes can import."""

import os
import signal
import sqlite3

from ocp.problems.two_link_lift import problem as lift
from ocp.problems.two_link_time import problem as fastest

from ocp import Attempt, solve


def problem(torque: float = 10.0, points: int = 6):
    """`torque`: limit (N m); `points`: control points."""
    return fastest(torque=torque, points=points)


def weighed(u: float = 0.5):
    """A problem with two goals."""
    return lift(u=u, points=6)


def smoothed(
    statement, transcription, solver, *, guess=None, watch=None, feasible_first: bool = False
):
    """Solve, on demand from a feasible motion."""
    attempts = [Attempt(feasible_first=feasible_first)]
    return solve(statement, transcription, solver, guess=guess, attempts=attempts)


def deadly(statement, transcription, solver, *, guess=None, watch=None):
    """Solve, unless the limit of the torques is 13 N m, which kills the process."""
    if statement.tree.joints[0].torque[1] == 13:
        os.kill(os.getpid(), signal.SIGKILL)
    return solve(statement, transcription, solver, guess=guess)


def blocking(statement, transcription, solver, *, guess=None, watch=None, file: str = ""):
    """Solve, and lock the study's file from then on."""
    solution = solve(statement, transcription, solver, guess=guess)
    if not HELD:
        HELD.append(sqlite3.connect(file, isolation_level=None))
        HELD[0].execute("BEGIN IMMEDIATE")
    return solution


def stopped(statement, transcription, solver, *, guess=None, watch=None):
    """Be interrupted at 12 N m."""
    if statement.tree.joints[0].torque[1] == 12 and not HELD:
        raise KeyboardInterrupt
    return solve(statement, transcription, solver, guess=guess)


def speeds(solution):
    """Numbers of a solution."""
    return {"fastest": abs(solution.qd(solution.times(21))).max()}


def objectives(study):
    """Objectives of all cells of a study."""
    return [cell.objective for cell in study.cells]


FOUR = {"torque": [8.0, 10.0, 12.0, 14.0]}
HELD = []
