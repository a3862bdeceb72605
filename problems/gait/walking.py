"""How a step is solved: from standing, by attempts each more careful than the last."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ocp import Attempt, Guess, Problem, Solution, Solver, Transcription, solve

TUNED = {
    "tol": 1e-6,
    "max_iter": 200,
    "mumps_permuting_scaling": 0,
    "mumps_pivot_order": 0,
    "min_refinement_steps": 0,
    "mu_init": 3e-2,
    "mumps_mem_percent": 100,
}
CAREFUL = {"tol": 1e-6, "max_iter": 400, "mumps_pivtol": 1e-4}


def walk(
    problem: Problem,
    transcription: Transcription,
    solver: Solver,
    *,
    guess: Any = None,
    watch: Callable[..., Any] | None = None,
    feasible: bool | None = None,
    values: Mapping[str, float] | None = None,
) -> Solution:
    """Solve a gait from the standing posture, q = 0, or from a guess.

    A failed attempt is followed by a more careful one. IPOPT is tuned to these problems: a quick
    ordering without permutation and scaling, since the NLP is scaled already. Pivoting stays on:
    without it the inertia of the KKT system is misjudged near the solution. What the user sets
    comes last. The second attempt pivots more, the third starts from a feasible motion; `feasible`:
    the first does so too; by default where the start is somebody's waypoints, whose accelerations
    may be anything. `values` are those of the problem's parameters.
    """
    start = Guess(q=np.zeros((problem.tree.dof, 2))) if guess is None else guess
    early = isinstance(guess, Guess) if feasible is None else feasible
    attempts = (
        Attempt(options=TUNED, feasible_first=early),
        Attempt(options=CAREFUL, feasible_first=early),
        Attempt(options=CAREFUL, feasible_first=True),
    )
    given: dict[str, Any] = {"guess": start, "attempts": attempts, "values": values}
    return solve(problem, transcription, solver, watch=watch, **given)
