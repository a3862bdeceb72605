"""A human jumps from standing with a counter-movement and still arms, as in the field's test.

It is the `jump` of arms that hang still, with the effort of what excites the torques: those follow
their excitation by a lag T, so that its square, integrated, is that of the torques and T^2 times
that of their rates. It is solved on half the control points first: on all of them the way from
standing to a crouch leads along a valley so flat that hundreds of iterations do not leave it.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from ocp import Attempt, Problem, Solution, Solver, Task, Transcription, Views, solve
from ocp.cli import main
from ocp.mechanics import positive
from ocp.motion import BSpline, Mesh
from ocp.problems.gait.solve_step import after, over
from ocp.problems.human.jump import lines, report
from ocp.problems.human.jump import problem as jump
from ocp.solving import with_stage

EFFORT = 1e-6  # m/(N2 m2 s): the jump's weight of effort
FEWEST = {BSpline: 7, Mesh: 6}  # control points or intervals of a phase, of those that are halved
NEXT = (Attempt(options={"mu_init": 1e-3}),)  # from the coarse jump, whose bounds are near


def problem(lag: float = 0.1, arms: bool = False, points: int = 16, intervals: int = 15) -> Problem:
    """`lag`: by how much torques follow their excitation until the feet leave (s); `arms`: let them
    swing; `points`: control points per joint of the push; `intervals`: of the flight."""
    steady = EFFORT * positive("lag", lag, True) ** 2
    given: dict[str, Any] = {"u": EFFORT, "points": points, "intervals": intervals}
    return jump(steady=steady, still=not arms, **given)


def leap(
    problem: Problem,
    transcription: Transcription,
    solver: Solver,
    *,
    guess: Any = None,
    watch: Callable[..., Any] | None = None,
    **settings: Any,
) -> Solution:
    """Solve a jump from one on half the control points, or from a guess.

    Statistics are of both solves, and tell those of the first as `halved`. Where the way over that
    one fails, the jump is solved at once.
    """
    halved = coarser(problem)
    if guess is None and motions(halved) != motions(problem):
        first = solve(
            halved, transcription, solver, watch=with_stage(watch, "half the points first")
        )
        near: dict[str, Any] = {"guess": first, "attempts": NEXT, "watch": watch}
        if over(first, solver):
            last = after(first, "halved", problem, transcription, solver, **near)
            if last is not None:
                return last
    return solve(problem, transcription, solver, guess=guess, watch=watch, **settings)


def coarser(problem: Problem) -> Problem:
    """Return a jump on half the control points, and half the intervals of its flight."""
    return replace(problem, phases=[replace(p, motion=half(p.motion)) for p in problem.phases])


def motions(problem: Problem) -> list[Any]:
    """Return the bases of the phases."""
    return [phase.motion for phase in problem.phases]


def half(motion: Any) -> Any:
    """Return a basis of half as many control points or intervals, but of no fewer than FEWEST."""
    name = "points" if isinstance(motion, BSpline) else "intervals"
    count, fewest = getattr(motion, name), FEWEST[type(motion)]
    return replace(motion, **{name: min(count, max(count // 2, fewest))})


TASK = Task(problem, method=leap, views=Views(report=report, lines=lines))

if __name__ == "__main__":
    main(TASK)
