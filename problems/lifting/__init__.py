"""A box lifted from the floor, predicted for a human of 55 joints: its statement, report and pictures."""

from ocp.problems.lifting.report import lifting_report, report_lines
from ocp.problems.lifting.statement import draw, lift, loads, problem

from ocp import Task, Views

__all__ = ["TASK", "lift", "loads", "problem"]

TASK = Task(
    problem,
    method=lift,
    views=Views(plot=draw, report=lifting_report, lines=report_lines),
)
