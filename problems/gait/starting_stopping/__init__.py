"""The first step of walking and the last one: what `gait_start` and `gait_stop` are made of."""

from ocp.problems.gait.starting_stopping.contact_schedule import closing, releasing, standing
from ocp.problems.gait.starting_stopping.end_states import carried, posture
from ocp.problems.gait.starting_stopping.phases import (
    WALKING,
    SteadyWalk,
    joined_up,
    lifted,
    part,
    walker,
)
from ocp.problems.gait.starting_stopping.pictures import draw
from ocp.problems.gait.starting_stopping.report import (
    start_lines,
    start_report,
    stop_lines,
    stop_report,
)
from ocp.problems.gait.starting_stopping.solve import by_way

__all__ = [
    "WALKING",
    "SteadyWalk",
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
