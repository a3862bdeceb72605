"""A leg with a torso hops in place: when it stands, and how long, nobody says.

From apex to apex, the same again and again, with the least squared torque of hip and knee. Ground
gives way (Hunt & Crossley 1975; Serrancoli et al. 2019), or is rigid, gap and force complementary
(Posa, Cantu & Tedrake 2014). Over a period it gives the weight in the mean, whoever hops.
"""

import numpy as np

from ocp import (
    BSpline,
    Guess,
    Problem,
    Task,
    Views,
    at_start,
    contact_outputs,
    contacts,
    effort,
    path,
    periodic,
    torque_limits,
)
from ocp.cli import main
from ocp.models.walkers.monoped import monoped
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

LEAN = 0.5  # rad: how far the torso may
HIP, KNEE = (-0.5, 1.5), (-2.0, -0.1)  # rad
FIRST = (0.6, -1.2)  # rad: hip and knee where the first guess is lowest
CROUCH = 0.17  # m: how far it crouches


def problem(
    apex: float = 0.85,
    clearance: float = 0.05,
    duration: float = 0.7,
    contact: Contact = "compliant",
    points: int = 40,
) -> Problem:
    """`apex`: height of the hip, where it begins and ends (m); `clearance`: of the foot there (m);
    `duration`: of a hop (s); `contact`: what the ground is; `points`: control points per joint,
    where a spline is planned.
    """
    tree = monoped()
    touching = contacts(tree, "foot", model=GROUNDS[contact], normal=UP)
    lower, upper = zip((-LEAN, LEAN), HIP, KNEE)
    return Problem(
        tree=tree,
        motion=BSpline(points=points),
        duration=duration,
        objective=effort(),
        loads=touching,
        outputs=contact_outputs(touching),
        symmetry=periodic(tree),
        constraints=(
            at_start(tree, q={"x": 0.0, "y": apex}, qd={"y": 0.0}),
            path("posture", lambda at: at.q[2:], lower=lower, upper=upper),
            path("clearance", lambda at: at.position("foot")[1], lower=clearance, when="start"),
            torque_limits(tree),
        ),
    )


def crouch(statement: Problem) -> Guess:
    """Return the first guess: down into a crouch and up again, the torso upright."""
    start = next(each for each in statement.constraints if each.name == "at_start.q")
    x, y = start.lower
    folded = np.array([x, y, 0.0, 0.75 * FIRST[0], 0.75 * FIRST[1]])
    lowest = np.array([x, y - CROUCH, 0.0, *FIRST])
    return Guess(q=np.column_stack([folded, lowest, folded]))


hop = solved_from(crouch)

TASK = Task(
    problem, method=hop, transcription=MESH, views=Views(plot=draw, report=report, lines=lines)
)

if __name__ == "__main__":
    main(TASK)
