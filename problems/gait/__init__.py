"""One step of normal walking, predicted for a human of 55 joints."""

from ocp.problems.gait.film import animate_walk
from ocp.problems.gait.pictures import draw
from ocp.problems.gait.report import gait_report, loads, report_lines
from ocp.problems.gait.statement import problem
from ocp.problems.gait.walking import walk

from ocp import Task, Views

__all__ = ["TASK", "loads", "problem", "walk"]

TASK = Task(
    problem,
    method=walk,
    views=Views(plot=draw, animate=animate_walk, report=gait_report, lines=report_lines),
)
