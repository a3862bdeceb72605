"""Sliding and turning arm, time and effort mixed (Barman 2020, section 4.2)."""

from math import pi

from ocp import BSpline, Problem, Published, Task, at_end, at_start, mixed_criterion, torque_limits
from ocp.cli import main
from ocp.models.arms.pr import pr

# m: the printed ends of the slide, 0.1 and pi/4 (Barman 2020, eq. 4.19)
LITERAL_STROKE = pi / 4 - 0.1


def problem(
    u: float = 0.01,
    stroke: float = LITERAL_STROKE,
    force: float = 10.0,
    torque: float = 10.0,
    points: int = 22,
) -> Problem:
    """`u`: weight of effort against time, 0 to 1; `stroke`: way of the slide (m), 0.50 comes near
    the printed time; `force`: limit of the slide (N); `torque`: limit of the hinge (N m); `points`:
    control points per joint.
    """
    arm = pr(force=force, torque=torque)
    return Problem(
        tree=arm,
        motion=BSpline(points=points),
        duration=(0.1, 5.0),
        objective=mixed_criterion(u),
        constraints=(
            at_start(arm, q=(0.1, 0.6), qd=0.0),
            at_end(arm, q=(0.1 + stroke, -pi / 4), qd=0.0),
            torque_limits(arm),
        ),
    )


AT_KNOTS = {"nodes": 1, "quadrature": "trapezoid"}
PUBLISHED = (
    Published(
        quantity="T (s)",
        value=0.5585,
        source="Barman 2020, section 4.2",
        optimum=0.646260,
        ours=lambda solution: solution.duration,
        remark="literal data; the print is not reproducible from them "
        "(J = 0.853063 at the true optimum)",
    ),
    Published(
        quantity="T (s)",
        value=0.5585,
        source="Barman 2020, section 4.2",
        optimum=0.556748,
        arguments={"stroke": 0.5},
        ours=lambda solution: solution.duration,
        remark="one datum altered: a stroke of 0.50 m, 0.3 % off the print",
    ),
    Published(
        quantity="T (s)",
        value=0.5585,
        source="Barman 2020, section 4.2",
        optimum=0.55777,
        arguments={"u": 0.00442},
        settings=AT_KNOTS,
        ours=lambda solution: solution.duration,
        remark="one weight altered: a lighter effort; its force stands at the limit for a quarter "
        "of the time",
    ),
)

TASK = Task(problem, published=PUBLISHED)

if __name__ == "__main__":
    main(TASK)
