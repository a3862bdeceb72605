"""A human jumps from standing with a counter-movement and still arms, as in the field's test."""

from ocp import Problem, Task
from ocp.cli import main
from ocp.problems.human.jump import TASK as JUMP
from ocp.problems.human.jump import problem as jump


def problem(
    effort: float = 0.02,
    speed: float = 20.0,
    grip: float = 0.8,
    points: int = 13,
    degree: int = 5,
    person: str = "",
) -> Problem:
    """Arguments are those of the `jump`, whose arms swing."""
    return jump(effort, speed, grip, True, points, degree, person)


TASK = Task(problem, method=JUMP.method, views=JUMP.views)

if __name__ == "__main__":
    main(TASK)
