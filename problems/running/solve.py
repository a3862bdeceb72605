"""Solution of a run from standing, by way of a step whose phases last as usual."""

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

    Phases first last as usual, of a motion much smoother and of people with constant torque limits;
    then durations are found, less smooth, all on coarse splines; then the run itself, its strength
    over angle last, as in walking. Torques are variables in flight too: what they excite there
    costs ten times as much to differentiate otherwise. The last stage is IPOPT's unless another
    solver is asked for: as near bounds as it begins, ours took 200 iterations at 4 and 5 m/s and
    came to no end. Statistics are of all stages; one that fails is returned.
    """
    chosen = lifted(transcription)
    if guess is not None:
        attempts = (Attempt(options=LAST if isinstance(guess, Solution) else NEXT),)
        given: dict[str, Any] = {"guess": guess, "attempts": attempts, "watch": watch}
        return solve(problem, chosen, solver, **given, **settings)
    bare = coarser(limited(problem))
    early = coarser(bare, COARSE)
    sparse = lifted(transcription, SPARSE)
    first, then = SMOOTHER
    stages: tuple[tuple[str, Problem, Transcription, dict[str, Any]], ...] = (
        ("durations as usual", smoother(as_usual(early), first), sparse, FIRST),
        ("durations found", smoother(early, then), sparse, NEXT),
        ("constant limits", bare, chosen, NEXT),
        ("", problem, chosen, LAST),
    )
    solution: Solution | None = None
    start: Any = Guess(q=np.zeros((problem.tree.dof, 2)))
    left = solver
    for name, stage, how, options in stages:
        given = {"attempts": (Attempt(options=options),), "watch": with_stage(watch, name)}
        last = settings if stage is problem else {}
        if stage is problem and left.plugin == "auto":
            left = replace(left, plugin="ipopt")
        now = solve(stage, how, left, guess=start, **given, **last)
        if not now.success:
            return now
        start = replace(now, multipliers={}) if stage is bare else waypoints(now)
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


def waypoints(solution: Solution) -> dict[str, Guess]:
    """Return the motion of each phase of a solution as guesses."""
    return {
        name: Guess(q=phase.q(phase.times(WAYPOINTS)), duration=phase.duration)
        for name, phase in solution.phases.items()
    }
