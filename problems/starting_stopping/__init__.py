"""The first step of walking and the last one: what `gait_start` and `gait_stop` are made of."""

from ocp.problems.starting_stopping.footing import closing, releasing, standing
from ocp.problems.starting_stopping.numbers import (
    start_lines,
    start_report,
    stop_lines,
    stop_report,
)
from ocp.problems.starting_stopping.parts import (
    WALKING,
    all_positive,
    joined_up,
    lifted,
    part,
    walker,
)
from ocp.problems.starting_stopping.pictures import draw
from ocp.problems.starting_stopping.solving import by_way
from ocp.problems.starting_stopping.states import carried, posture

__all__ = [
    "WALKING",
    "all_positive",
    "by_way",
    "carried",
    "closing",
    "draw",
    "joined_up",
    "lifted",
    "part",
    "posture",
    "releasing",
    "standing",
    "start_lines",
    "start_report",
    "stop_lines",
    "stop_report",
    "walker",
]
