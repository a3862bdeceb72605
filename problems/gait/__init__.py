"""One step of normal walking, predicted for a human: 32 of 49 joints and the pelvis move."""

from pathlib import Path

from ocp import OwnFile, Parameter, Solution, Task, Views
from ocp.models.human.people import Person
from ocp.problems.gait.card import save_card
from ocp.problems.gait.card.leaving import ENDINGS
from ocp.problems.gait.report.step_report import brief_lines, gait_report, loads, report_lines
from ocp.problems.gait.solve_step import walk, walk_from
from ocp.problems.gait.statement.busy_hands import busy_step
from ocp.problems.gait.statement.step import effort_step, problem
from ocp.problems.gait.statement.strength_groups import GROUPS
from ocp.problems.gait.statement.walking_task import (
    Accuracy,
    Carried,
    Gait,
    Goal,
    Muscles,
    Rules,
    Terrain,
)

__all__ = [
    "CARD",
    "TASK",
    "Accuracy",
    "Carried",
    "Gait",
    "Goal",
    "Muscles",
    "Person",
    "Rules",
    "Terrain",
    "busy_step",
    "effort_step",
    "loads",
    "problem",
    "walk",
    "walk_from",
]

CARD = OwnFile(
    name="card",
    words="write the report card: all of it as .json, its curves as .csv, its page as a picture",
    endings=ENDINGS,
    write=save_card,
)


def draw(solution: Solution, path: str | Path) -> None:
    """Draw the step to a file, and its report card beside it."""
    from ocp.problems.gait.pictures import step_pictures

    step_pictures.draw(solution, path)


def animate(solution: Solution, path: str | Path) -> None:
    """Animate the walk."""
    from ocp.problems.gait.pictures.film import animate_walk

    animate_walk(solution, path)


TASK = Task(
    problem,
    method=walk,
    parameters=(
        Parameter("speed", 1.2, "m/s", lower=0.1, upper=4.0),
        Parameter("step", 0.6, "m", lower=0.1, upper=2.0),
        Parameter("stature", 1.75, "m", lower=1.0, upper=2.5),
        Parameter("mass", 75.0, "kg", lower=20.0, upper=300.0),
        Parameter("percentile", 84.13, lower=1.0, upper=99.0),
        *(Parameter(group, 1.0, lower=0.2, upper=3.0) for group in GROUPS),
        Parameter("contact", 0.0005, "m", lower=1e-5),
        Parameter("slip", 0.005, "m/s", lower=1e-4),
        Parameter("width", 0.1, "m", lower=0.0, upper=1.0),
        Parameter("smooth", 0.03, lower=0.0),
        Parameter("slope", 5.0, "deg", lower=-15.0, upper=15.0),
        Parameter("backpack", 10.0, "kg", lower=0.0),
        Parameter("hands", 40.0, "N", lower=0.0),
    ),
    views=Views(
        plot=draw,
        animate=animate,
        report=gait_report,
        lines=report_lines,
        brief=brief_lines,
        files=(CARD,),
    ),
)
