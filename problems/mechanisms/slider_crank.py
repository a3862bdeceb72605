"""A slider-crank mechanism goes from rest to rest with the least peak torque at its crank.

The peak is a free parameter that bounds the torque: least of all largest ones, by one solve.
"""

from math import pi

import numpy as np

from ocp import BSpline, Parameter, Problem, Task, at_end, at_start, final, path
from ocp.cli import main
from ocp.mechanics import close_coordinates
from ocp.models.mechanisms.slider_crank import slider_crank

RIGHT = (0.0, 0.3)  # whence the projection closes the loop with the slider on the right


def problem(
    start: float = 0.25 * pi,
    turn: float = pi,
    duration: float = 0.4,
    slider: float = 1.0,
    gravity: float = 9.81,
    points: int = 60,
    degree: int = 4,
) -> Problem:
    """`start`: angle of the crank from the slider's way (rad); `turn`: of the crank (rad);
    `duration`: of the motion (s); `slider`: its mass (kg); `gravity`: its strength, across the way
    (m/s2); `points`: control points per joint; `degree`: of the spline.
    """
    mechanism = slider_crank(slider=slider, gravity=gravity)
    peak = Parameter("peak", 10.0, "N m", lower=0.0, free=True)
    crank = start + np.linspace(0.0, turn, 25)
    way = close_coordinates(mechanism, np.vstack([crank, np.outer(RIGHT, np.ones(25))]), ["crank"])
    return Problem(
        tree=mechanism,
        motion=BSpline(points=points, degree=degree),
        duration=duration,
        objective=final("peak torque", lambda at: peak),
        constraints=(
            at_start(mechanism, q=way[:, 0], qd=0.0),
            at_end(mechanism, q=way[:, -1], qd=0.0),
            path(
                "crank torque",
                lambda at: at.tau[0],
                lower=-peak,
                upper=peak,
                labels=("crank",),
                units="N m",
            ),
        ),
    )


TASK = Task(problem)

if __name__ == "__main__":
    main(TASK)
