"""Small problems and odd methods for studies, in a module that worker processes can import."""

import os
import signal
import sqlite3
import time
from dataclasses import replace
from pathlib import Path

from ocp import Attempt, Parameter, Task, from_posture, solve
from ocp.problems.arms.two_link_lift import problem as lift
from ocp.problems.arms.two_link_time import problem as fastest
from ocp.solvers import INTERRUPTED


def problem(torque: float = 10.0, points: int = 6):
    """`torque`: limit (N m); `points`: control points."""
    return fastest(torque=torque, points=points)


PLANNED = Task(problem, parameters=[Parameter("torque", 10.0, "N m", 1.0, 50.0)])
POSED = Task(problem, method=from_posture((0.3, -0.5)))


def watched(torque: float = 10.0):
    """A problem that wants to see two things of its motion."""
    looks = {"tip": lambda at: at.position("tip"), "power": lambda at: at.tau[0] * at.qd[0]}
    return replace(problem(torque), outputs=looks)


def weighed(u: float = 0.5):
    """A problem with two goals."""
    return lift(u=u, points=6)


WEIGHED = Task(weighed, parameters=[Parameter("u", 0.5, "", 0.0, 1.0)])


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


def broken_off(statement, transcription, solver, *, guess=None, watch=None):
    """Solve, and at 12 N m come back as a solve that was interrupted."""
    solution = solve(statement, transcription, solver, guess=guess)
    if statement.tree.joints[0].torque[1] != 12:
        return solution
    return replace(solution, status=INTERRUPTED, success=False)


def counted(statement, transcription, solver, *, guess=None, watch=None, file: str = ""):
    """Solve slowly, and note in a file who did."""
    with open(file, "a", encoding="utf-8") as stream:
        stream.write(f"{os.getpid()} {statement.tree.joints[0].torque[1]:g}\n")
    time.sleep(0.1)
    return solve(statement, transcription, solver, guess=guess)


def endless(statement, transcription, solver, *, guess=None, watch=None, file: str = ""):
    """Solve, unless the limit of the torques is 13 N m, which takes a minute, as a file tells."""
    if statement.tree.joints[0].torque[1] == 13:
        Path(file).touch()
        time.sleep(60.0)
    return solve(statement, transcription, solver, guess=guess)


def doubled(statement, transcription, solver, *, guess=None, watch=None, values=None):
    """Solve; what begins on its own ends on a branch of twice the objective, but at 10 N m, and so
    does what begins there."""
    solution = solve(statement, transcription, solver, guess=guess, values=values)
    above = values["torque"] != 10 and (guess is None or guess.objective > 0.6)
    return replace(solution, objective=(1 + above) * solution.objective)


def paused(statement, transcription, solver, *, guess=None, watch=None, values=None):
    """Be interrupted at 10 N m, once, else end where `doubled` does."""
    if values["torque"] == 10 and not HELD:
        HELD.append(sqlite3.connect(":memory:"))
        raise KeyboardInterrupt
    return doubled(statement, transcription, solver, guess=guess, values=values)


def goals(solution):
    """Two goals, of which 9 and 12 N m are worse in both than another, and 11 and 14 N m alike."""
    torque = solution.problem.tree.joints[0].torque[1]
    first, second = GOALS[torque]
    return {"first": first, "second": second}


def speeds(solution):
    """Numbers of a solution."""
    return {"fastest": abs(solution.qd(solution.times(21))).max()}


def objectives(study):
    """Objectives of all cells of a study."""
    return [cell.objective for cell in study.cells]


FOUR = {"torque": [8.0, 10.0, 12.0, 14.0]}
GOALS = {8: (1, 9), 9: (2, 9), 10: (2, 8), 11: (3, 5), 12: (4, 7), 13: (5, 4), 14: (3, 5)}
HELD = []
