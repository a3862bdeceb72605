"""A box lifted from in front and put down at one's left side, feet in place: an asymmetric lift.

All joints move on their own: both sides lift differently. Effort is that of people with tissue and
strength over the angle, as in `lifting`; with `passive=False` it is that of torques over constant
limits.
"""

from ocp import Problem, Task
from ocp.cli import main
from ocp.models.human import Person
from ocp.problems.lifting import TASK as LIFT
from ocp.problems.lifting import lift
from ocp.problems.lifting import problem as lifting
from ocp.problems.lifting.statement.lifting_task import Accuracy, Box, Manner, Spot


def problem(
    turn: float = 60.0,
    box: float = 9.0,
    end_height: float = 1.37,
    end_ahead: float = 0.46,
    time: float = 1.2,
    points: int | None = None,
    person: str = "",
    passive: bool = True,
) -> Problem:
    """`turn`: by which the box ends to the left, about the middle of the ankles (deg); `box`: its
    mass (kg); `end_height`: of the hands at the end (m); `end_ahead`: of the hands from the middle
    of the ankles there (m); `time`: of the lift (s); `points`: control points per joint, by default
    13, and 9 without tissue; `person`: f5, f50, f95, m5, m50 or m95, or else a man of 1.75 m and 75
    kg; `passive`: with tissue and strength over the angle, by which effort counts."""
    if not 0 < turn <= 90:
        raise ValueError(f"turn: expected more than 0 and at most 90 deg, got {turn}")
    return lifting(
        Box(mass=box),
        end=Spot(high=end_height, ahead=end_ahead),
        manner=Manner(time=time, turn=turn),
        accuracy=Accuracy(points=points),
        person=Person(person),
        passive=passive,
    )


TASK = Task(problem, method=lift, transcription=LIFT.transcription, views=LIFT.views)


if __name__ == "__main__":
    main(TASK)
