"""Solution of a run, or of a jump, from standing by way of smoother motions."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, cast

import numpy as np

from ocp import Attempt, Guess, Problem, Solution, Solver, Transcription, solve
from ocp.motion import coarsest_curve
from ocp.problems.gait.solve_step import NEAR, TUNED, limited, together
from ocp.problems.running.statement import as_usual, smoother
from ocp.solving import budget, with_stage
from ocp.transcription import Spline

COARSE = 8  # control points per joint and phase of the first stages
SPARSE = 2  # steps per segment at whose ends their inequalities hold
SMOOTHER = 40.0, 4.0  # times the weight of smoothness in them
WAYPOINTS = 25  # of each phase, from which a stage begins
FIRST = TUNED | {"max_iter": 300}
NEXT = TUNED | {"max_iter": 300, "mu_init": 1e-2}
LAST = TUNED | NEAR


def run(
    problem: Problem,
    transcription: Transcription,
    solver: Solver,
    *,
    guess: Any = None,
    watch: Callable[..., Any] | None = None,
    **settings: Any,
) -> Solution:
    """Solve a run from the standing posture, q = 0, or from a guess.

    Phases first last as usual. The last stage is IPOPT's unless another solver is asked for: as
    near bounds as it begins, ours took 200 iterations at 4 and 5 m/s and came to no end.
    """
    start = Guess(q=np.zeros((problem.tree.dof, 2)))
    given: dict[str, Any] = {"guess": guess, "watch": watch, "plugin": "ipopt", **settings}
    return by_smoother_motions(problem, transcription, solver, start, as_usual, **given)


def by_smoother_motions(
    problem: Problem,
    transcription: Transcription,
    solver: Solver,
    start: Any,
    begun: Callable[[Problem], Problem] = lambda problem: problem,
    *,
    times: tuple[float, ...] = SMOOTHER,
    onward: Callable[[Solution], Any] | None = None,
    guess: Any = None,
    watch: Callable[..., Any] | None = None,
    plugin: str = "auto",
    **settings: Any,
) -> Solution:
    """Solve a motion that flies from a `start`, or from a guess.

    It is first a smoother one, of so many `times` the weight of smoothness, one after the other,
    the first `begun` in a way of its own, of people with constant torque limits, on coarse splines;
    then the motion itself, its strength over angle last, as in walking. A stage begins `onward`
    from the one before, by default from its waypoints. Torques are variables in flight too: what
    they excite there costs ten times as much to differentiate otherwise. The last stage takes a
    `plugin` where the solver leaves that open. Statistics are of all stages; one that fails is
    returned.
    """
    chosen = lifted(transcription)
    if guess is not None:
        attempts = (Attempt(options=LAST if isinstance(guess, Solution) else NEXT),)
        given: dict[str, Any] = {"guess": guess, "attempts": attempts, "watch": watch}
        return solve(problem, chosen, solver, **given, **settings)
    bare = coarser(limited(problem))
    early = coarser(bare, COARSE)
    sparse = lifted(transcription, SPARSE)
    stages: list[tuple[str, Problem, Transcription, dict[str, Any]]] = [
        (f"{each:g} times smoother", smoother(early, each), sparse, NEXT) for each in times
    ]
    stages[0] = (stages[0][0], begun(stages[0][1]), sparse, FIRST)
    stages += [("constant limits", bare, chosen, NEXT), ("", problem, chosen, LAST)]
    solution: Solution | None = None
    left = solver
    for name, stage, how, options in stages:
        given = {"attempts": (Attempt(options=options),), "watch": with_stage(watch, name)}
        last = settings if stage is problem else {}
        if stage is problem and left.plugin == "auto":
            left = replace(left, plugin=plugin)
        now = solve(stage, how, left, guess=start, **given, **last)
        if not now.success:
            return now
        start = (without_multipliers if stage is bare else onward or waypoints)(now)
        if solution is not None:
            now = replace(now, statistics=together(solution.statistics, now.statistics))
        solution, used = now, now.statistics
        left = budget(solver).after(used["iterations"], *[used["solve_seconds"]] * 2).limit(solver)
    return cast(Solution, solution)


def lifted(transcription: Transcription, nodes: int = 0) -> Transcription:
    """Return the transcription with torques as variables where it leaves that open, and with so
    many `nodes` to a segment, unless 0, of those of splines."""
    method = transcription.method
    if not isinstance(method, Spline):
        return transcription
    torques = "variables" if method.torques == "auto" else method.torques
    method = replace(method, torques=torques, nodes=min(nodes or method.nodes, method.nodes))
    return replace(transcription, method=method)


def coarser(problem: Problem, points: int | None = None) -> Problem:
    """Return a run whose root has the curves of the joints in flight too, on at most that many
    control points per joint and phase, where told."""

    def fewer(motion: Any) -> Any:
        whole: Any = coarsest_curve(motion)
        return replace(whole, points=min(points or whole.points, whole.points))

    return replace(problem, phases=[replace(p, motion=fewer(p.motion)) for p in problem.phases])


def without_multipliers(solution: Solution) -> Solution:
    """Return a solution as a guess whose bounds and rows are another problem's."""
    return replace(solution, multipliers={})


def waypoints(solution: Solution) -> dict[str, Guess]:
    """Return the motion of each phase of a solution as guesses."""
    return {
        name: Guess(q=phase.q(phase.times(WAYPOINTS)), duration=phase.duration)
        for name, phase in solution.phases.items()
    }
