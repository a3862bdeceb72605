"""A box lifted from the floor, predicted for a human of 55 joints."""

from ocp.problems.lifting.pareto import lift
from ocp.problems.lifting.pictures import draw
from ocp.problems.lifting.report import lifting_report, loads, report_lines
from ocp.problems.lifting.statement import problem

from ocp import Task, Views

__all__ = ["TASK", "lift", "loads", "problem"]

TASK = Task(
    problem,
    method=lift,
    views=Views(plot=draw, report=lifting_report, lines=report_lines),
)
