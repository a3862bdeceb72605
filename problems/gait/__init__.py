"""One step of normal walking, predicted for a human of 55 joints: its statement, report and pictures."""

from ocp.problems.gait.pictures import animate_walk
from ocp.problems.gait.report import gait_report, report_lines
from ocp.problems.gait.statement import draw, loads, problem, walk

from ocp import Task, Views

__all__ = ["TASK", "loads", "problem", "walk"]

TASK = Task(
    problem,
    method=walk,
    views=Views(plot=draw, animate=animate_walk, report=gait_report, lines=report_lines),
)
