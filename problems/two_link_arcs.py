"""Two-link arm, rest to rest in minimum time, its torques bang-bang in arcs of free duration.

Xiang et al. (2009), example 1. By the maximum principle every torque is at a limit at almost any
instant (Geering et al. 1986). Each arc is a phase in which every torque keeps its sign, and across
whose ends torques may jump; that they are at their limits in between is found, not asked. The
optimum has three switches, two of the elbow's torque and one of the shoulder's between them, and so
four arcs; with three a switch lies within one of them, where a spline smears it.
"""

from ocp.models.two_link import two_link

from ocp import (
    BSpline,
    Constraint,
    Phase,
    Problem,
    Published,
    Task,
    at_end,
    at_start,
    continuous,
    duration,
    path,
)
from ocp.cli import main

SHORTEST = 0.002  # s, of an arc
JOINTS = ("shoulder", "elbow")
SIGNS = {"+": 1.0, "-": -1.0}


def problem(
    torque: float = 10.0,
    arcs: tuple[str, ...] = ("+-", "++", "-+", "--"),
    points: int = 12,
    degree: int = 7,
) -> Problem:
    """`torque`: limit at both joints (N m); `arcs`: signs of both torques in each, + or -;
    `points`: control points per joint in each; `degree`: of the splines.
    """
    arm = two_link(torque=torque)
    motion = BSpline(points=points, degree=degree)
    phases = [
        Phase(
            f"arc {k}",
            motion=motion,
            duration=(SHORTEST, 5.0),
            constraints=_signed(signs, torque),
        )
        for k, signs in enumerate(arcs, start=1)
    ]
    return Problem(
        tree=arm,
        phases=phases,
        links=(continuous(),) * (len(phases) - 1),
        objective=duration(),
        constraints=(at_start(arm, q=(0.0, -2.0), qd=0.0), at_end(arm, q=(1.0, -1.0), qd=0.0)),
    )


def _signed(signs: str, torque: float) -> Constraint:
    """Return the constraint that torques have those signs, and are within the limit."""
    if len(signs) != 2 or set(signs) - set(SIGNS):
        raise ValueError(f"arcs: expected the signs of two torques, as +-, got {signs!r}")
    lower, upper = zip(*(sorted((0.0, SIGNS[sign] * torque)) for sign in signs))
    return path("torques", lambda at: at.tau, lower=lower, upper=upper, labels=JOINTS, units="N m")


PUBLISHED = (
    Published(
        quantity="T (s)",
        value=0.3934,
        source="Xiang et al. 2009, example 1",
        optimum=0.39185454,
        ours=lambda solution: solution.duration,
        remark="bounds at the knots of one spline; ours bang-bang in four arcs",
    ),
)

TASK = Task(problem, published=PUBLISHED)

if __name__ == "__main__":
    main(TASK)
