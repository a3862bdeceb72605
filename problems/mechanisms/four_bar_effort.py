"""A four-bar mechanism turns by its crank alone, rest to rest with the least effort.

Its loop stays closed all the way.
"""

from math import pi

import numpy as np

from ocp import BSpline, Problem, Task, at_end, at_start, effort, torque_limits
from ocp.cli import main
from ocp.mechanics import close_coordinates
from ocp.models.mechanisms.four_bar import four_bar

ABOVE = (0.0, 1.0, 2.0)  # whence the projection closes the loop with the pin above the ground link


def problem(
    start: float = 0.0,
    turn: float = 2 * pi,
    duration: float = 1.0,
    torque: float = 10.0,
    gravity: float = 9.81,
    points: int = 120,
    degree: int = 5,
) -> Problem:
    """`start`: angle of the crank from the ground link (rad); `turn`: of the crank (rad);
    `duration`: of the motion (s); `torque`: limit at the crank (N m); `gravity`: its strength, down
    in the plane (m/s2); `points`: control points per joint; `degree`: of the spline.
    """
    mechanism = four_bar(torque=torque, gravity=gravity)
    crank = start + np.linspace(0.0, turn, 25)
    way = close_coordinates(
        mechanism, np.vstack([crank, np.outer(ABOVE[1:], np.ones(25))]), ["crank"]
    )
    return Problem(
        tree=mechanism,
        motion=BSpline(points=points, degree=degree),
        duration=duration,
        objective=effort(mechanism, ("crank",)),
        constraints=(
            at_start(mechanism, q=way[:, 0], qd=0.0),
            at_end(mechanism, q=way[:, -1], qd=0.0),
            torque_limits(mechanism),
        ),
    )


TASK = Task(problem)

if __name__ == "__main__":
    main(TASK)
