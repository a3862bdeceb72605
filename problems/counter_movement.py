"""A human jumps from standing with a counter-movement and still arms, as in the field's test.

It is the `jump` of arms that hang still, with the effort of what excites the torques: those follow
their excitation by a lag T, so that its square, integrated, is that of the torques and T^2 times
that of their rates.
"""

from typing import Any

from ocp.problems.jump import lines, report
from ocp.problems.jump import problem as jump

from ocp import Problem, Task, Views
from ocp.cli import main
from ocp.mechanics import positive

EFFORT = 1e-6  # m/(N2 m2 s): the jump's weight of effort


def problem(lag: float = 0.1, arms: bool = False, points: int = 16, intervals: int = 15) -> Problem:
    """`lag`: by how much torques follow their excitation until the feet leave (s); `arms`: let them
    swing; `points`: control points per joint of the push; `intervals`: of the flight."""
    steady = EFFORT * positive("lag", lag, True) ** 2
    given: dict[str, Any] = {"u": EFFORT, "points": points, "intervals": intervals}
    return jump(steady=steady, still=not arms, **given)


TASK = Task(problem, views=Views(report=report, lines=lines))

if __name__ == "__main__":
    main(TASK)
