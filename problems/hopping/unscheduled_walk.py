"""A planar biped of five links walks: which foot bears when, nobody says.

One step, from where the hip passes the standing foot, mirrored into the next, with the least
squared torque of hips and knees, on ground that gives way (Hunt & Crossley 1975; Serrancoli et al.
2019), or is rigid, gap and force complementary (Posa, Cantu & Tedrake 2014). Over a step it gives
the weight in the mean, however one walks.
"""

import numpy as np

from ocp import (
    BSpline,
    Guess,
    Instant,
    Problem,
    Task,
    Views,
    at_start,
    contact_outputs,
    contacts,
    effort,
    path,
    torque_limits,
)
from ocp.cli import main
from ocp.mechanics import Matrix
from ocp.models.walkers.five_link import five_link
from ocp.problem import mirror_symmetry
from ocp.problems.hopping.unscheduled_ground import (
    GROUNDS,
    MESH,
    UP,
    Contact,
    draw,
    lines,
    report,
    solved_from,
)

FEET = ("left foot", "right foot")
IMAGE = (0, 1, 2, 5, 6, 3, 4)  # left and right legs change places
LEAN = 0.5  # rad: how far the torso may
HIP, KNEE = (-1.0, 1.0), (-2.0, -0.02)  # rad
LOW = -0.05  # rad: torso of the first guess, and of its legs hip and knee
BACK, FRONT, SWUNG, UPRIGHT = (-0.25, -0.1), (0.3, -0.1), (0.3, -0.9), (0.05, -0.1)
HEIGHT = 0.78  # m: of its hip


def problem(
    step: float = 0.4, duration: float = 0.6, contact: Contact = "compliant", points: int = 40
) -> Problem:
    """`step`: its length (m); `duration`: of one step (s); `contact`: what the ground is; `points`:
    control points per joint, where a spline is planned.
    """
    tree = five_link()
    touching = contacts(tree, FEET, model=GROUNDS[contact], normal=UP)
    lower, upper = zip((-LEAN, LEAN), HIP, KNEE, HIP, KNEE)
    return Problem(
        tree=tree,
        motion=BSpline(points=points),
        duration=duration,
        objective=effort(),
        loads=touching,
        outputs=contact_outputs(touching),
        symmetry=mirror_symmetry(tree, index=IMAGE, sign=(1,) * 7, shift={"x": step}),
        constraints=(
            at_start(tree, q={"x": 0.0}),
            path("passing", passing, lower=0.0, upper=0.0, when="start", units="m"),
            path("posture", lambda at: at.q[2:], lower=lower, upper=upper),
            torque_limits(tree),
        ),
    )


def passing(at: Instant) -> Matrix:
    """Return the distance (m) of the hip ahead of the right foot: a step begins where it is above
    that, and might otherwise begin anywhere within the same walk."""
    return at.q[0] - at.position(FEET[1])[0]


def striding(statement: Problem) -> Guess:
    """Return the first guess: the left leg swings past the right one, and comes down half way."""
    step = float(statement.symmetry.shift[0]) if statement.symmetry is not None else 0.0
    start = [0.0, HEIGHT, LOW, *SWUNG, *UPRIGHT]
    middle = [step / 2, HEIGHT, LOW, *FRONT, *BACK]
    end = [step, HEIGHT, LOW, *UPRIGHT, *SWUNG]
    return Guess(q=np.column_stack([start, middle, end]))


walk = solved_from(striding)

TASK = Task(
    problem, method=walk, transcription=MESH, views=Views(plot=draw, report=report, lines=lines)
)

if __name__ == "__main__":
    main(TASK)
