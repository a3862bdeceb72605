"""A mass hops in place on a telescopic leg of no mass with the least squared force.

Closed form: over a stance of T seconds the force that turns the speed -v of landing into v of
lift-off with the least integral of its square is constant, m (g + 2 v / T), as the costates of a
double integrator with equal heights at both ends say; it costs

    J(T) = m^2 (g + 2 v / T)^2 T,   least for T = 2 v / g:   J = 8 m^2 g v

so that stance lasts as long as flight, and the leg pushes with twice the weight.
"""

from math import sqrt

from ocp import (
    BSpline,
    Ground,
    Phase,
    Problem,
    Published,
    Task,
    at_end,
    at_start,
    effort,
    impact,
    joint_limits,
    link_constraint,
    path,
    point_contact,
)
from ocp.cli import main
from ocp.models.walkers.monoped import pogo
from ocp.problem import Span, periodic

UP = (0.0, 1.0, 0.0)
BOUNDS = (0.02, 2.0)  # s: of stance and flight
AFTER = Span(start=0.0, end=1.0, open_start=True)


def problem(
    height: float = 0.1,
    mass: float = 30.0,
    length: float = 0.8,
    gravity: float = 9.81,
    points: int = 8,
) -> Problem:
    """`height`: of the hop over the leg's length (m); `mass`: that hops (kg); `length`: of the leg
    (m); `gravity`: its strength (m/s2); `points`: control points per phase."""
    leg = pogo(mass=mass, length=length, gravity=gravity)
    speed = sqrt(2 * gravity * height)
    motion = BSpline(points=points, degree=5)
    stance = Phase(
        "stance",
        motion=motion,
        duration=BOUNDS,
        ground=Ground(feet=(point_contact(leg, "foot", axes="y"),), normal=UP),
        constraints=(joint_limits(leg), at_end(leg, q={"leg": length})),
    )
    flight = Phase(
        "flight",
        motion=motion,
        duration=BOUNDS,
        constraints=(
            at_start(leg, qd={"body": speed}),
            path(
                "stretched", lambda at: at.q[1], lower=length, upper=length, when=AFTER, units="m"
            ),
        ),
    )
    stretched = link_constraint(
        "rising", lambda end, start: end.qd[0] - start.qd[0], quantities=("q",)
    )
    return Problem(
        tree=leg,
        phases=(stance, flight),
        links=(stretched, impact("foot", normal=UP, symmetry=periodic(leg, qdd=False))),
        objective=effort(leg, ("leg",)),
    )


def closed_form(height: float = 0.1, mass: float = 30.0, gravity: float = 9.81) -> float:
    """Return the least integral of the squared force (N2 s) of a hop, 8 m^2 g v."""
    return 8 * mass**2 * gravity * sqrt(2 * gravity * height)


TASK = Task(
    problem,
    published=(
        Published(
            quantity="J (N2 s)",
            value=closed_form(),
            source="closed form, 8 m^2 g v",
            ours=lambda solution: solution.objective,
        ),
    ),
)

if __name__ == "__main__":
    main(TASK)
