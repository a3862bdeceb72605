"""A human (32 of 49 joints and the pelvis move) runs: durations of stance and flight are found."""

from ocp import Task, Views
from ocp.problems.gait import CARD
from ocp.problems.running.exertion import Effort
from ocp.problems.running.report import lines, report
from ocp.problems.running.solve import run
from ocp.problems.running.statement import Accuracy, Gait, problem

__all__ = ["TASK", "Accuracy", "Effort", "Gait", "problem", "run"]

TASK = Task(problem, method=run, views=Views(report=report, lines=lines, files=(CARD,)))
