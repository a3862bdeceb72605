"""A box picked up from the floor and put down one step ahead: the left foot steps with it.

Both feet stand until the left one leaves the ground with the box in the hands; it swings, lands
ahead, and the box is put down before the middle of the feet as they stand then. All joints move on
their own.
"""

import numpy as np

from ocp import Problem, Task
from ocp.cli import main
from ocp.mechanics import positive
from ocp.models.human import Person, somebody
from ocp.problems.lifting import TASK as LIFT
from ocp.problems.lifting import lift
from ocp.problems.lifting.statement.constraints import stated
from ocp.problems.lifting.statement.graded_knots import graded
from ocp.problems.lifting.statement.lifting_task import Box, Manner, Spot
from ocp.problems.lifting.statement.scene import scened
from ocp.problems.lifting.statement.standing_body import lifter
from ocp.problems.lifting.statement.stepping import Pace, square, stepping, swinging


def problem(
    step: float = 0.40,
    box: float = 9.0,
    end_height: float = 1.0,
    end_ahead: float = 0.46,
    time: float = 1.8,
    leaves: float = 0.4,
    lands: float = 0.7,
    aslant: float = 15.0,
    feet: float = 0.20,
    points: int = 21,
    person: str = "",
    passive: bool = True,
) -> Problem:
    """`step`: by which the left foot goes ahead (m); `box`: its mass (kg); `end_height`: of the
    hands at the end (m); `end_ahead`: of the hands before the middle of the ankles there (m);
    `time`: of the lift (s); `leaves`: when the foot leaves the ground, of the lift; `lands`: and
    when it lands; `aslant`: by which the box turns at most (deg); `feet`: distance between the
    ankles (m); `points`: control points per joint; `person`: f5, f50, f95, m5, m50 or m95, or else
    a man of 1.75 m and 75 kg; `passive`: with tissue and strength over the angle."""
    crate = Box(mass=positive("box", box))
    pace = Pace(length=step, leaves=leaves, lands=lands)
    who = somebody(Person(person))
    body = lifter(who, False, passive)
    spots = Spot(), Spot(high=end_height, ahead=end_ahead)
    scene = scened(who, body, stepping(body, positive("feet", feet), pace), (crate, *spots))
    manner = Manner(time=positive("time", time))
    before = square(crate.width, np.radians(positive("aslant", aslant)))
    return stated(scene, graded(points, (leaves, lands)), manner, swinging(pace), before)


TASK = Task(problem, method=lift, transcription=LIFT.transcription, views=LIFT.views)


if __name__ == "__main__":
    main(TASK)
