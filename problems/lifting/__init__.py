"""A box lifted from the floor, predicted for a human: 30 of 49 joints and the pelvis move."""

from ocp import Parameter, Task, Views
from ocp.models.human.people import Person
from ocp.problems.lifting.report.lift_pictures import draw
from ocp.problems.lifting.report.lift_report import lifting_report, loads, report_lines
from ocp.problems.lifting.report.niosh import Work
from ocp.problems.lifting.solve_lifts import lift
from ocp.problems.lifting.statement.lift import problem
from ocp.problems.lifting.statement.lifting_task import Accuracy, Box, Goal, Manner, Spot

__all__ = [
    "TASK",
    "Accuracy",
    "Box",
    "Goal",
    "Manner",
    "Person",
    "Spot",
    "Work",
    "lift",
    "loads",
    "problem",
]

TASK = Task(
    problem,
    method=lift,
    parameters=(
        Parameter("box", 9.0, "kg", lower=0.1),
        Parameter("start_height", 0.365, "m", lower=0.01),
        Parameter("start_ahead", 0.49, "m", lower=0.01),
        Parameter("end_height", 1.37, "m", lower=0.01),
        Parameter("end_ahead", 0.46, "m", lower=0.01),
        Parameter("time", 1.2, "s", lower=0.1),
        Parameter("stature", 1.75, "m", lower=1.0, upper=2.5),
        Parameter("mass", 75.0, "kg", lower=20.0, upper=300.0),
        Parameter("feet", 0.2, "m", lower=0.01),
        Parameter("smooth", 0.0025, lower=0.0),
    ),
    views=Views(plot=draw, report=lifting_report, lines=report_lines),
)
