"""Swing-ups as they were published: penalties at the end, driven joints alone splined.

Sohl & Bobrow (2001), section 5 with eq. 83: the passive joint's motion is integrated, its end drawn
to the vertical by c1 and c2, and the first guess leaves the driven joints at rest. Masses, lengths,
durations, c1 and c2 are not printed: those here are Spong's or ours.
"""

from collections.abc import Mapping
from dataclasses import replace
from math import pi
from typing import Any, Literal

import numpy as np

from ocp import (
    PLAIN,
    Guess,
    Integrated,
    Problem,
    Solution,
    Solver,
    Task,
    Transcription,
    Views,
    solve,
)
from ocp.cli import main
from ocp.problems.swing_ups import acrobot_swing, branched_acrobot_swing
from ocp.problems.swing_ups.upright_ends import SPREAD
from ocp.studies import random_guess

TRANSCRIPTION = Transcription(method=Integrated())
ROBOTS: Mapping[str, Any] = {"acrobot": acrobot_swing, "branched": branched_acrobot_swing}


def problem(
    robot: Literal["acrobot", "branched"] = "acrobot",
    start: float = -1.0,
    duration: float = 3.0,
    points: int = 60,
    degree: int = 5,
    c1: float | None = None,
    c2: float | None = None,
) -> Problem:
    """`robot`: one driven leg (section 5.2) or two (5.3); `start`: angle of the passive joint from
    the horizontal (rad), in the paper -1.0, of the acrobot -1.3 too; `duration`: of the motion (s);
    `points`: control points per driven joint; `degree`: of the spline; `c1`: weight of the angle
    missed (N2 m2 s/rad2), 1000 if none is given; `c2`: of the rate left (N2 m2 s3/rad2), likewise.
    """
    return ROBOTS[robot].problem(start, duration, points, degree, "penalty", c1, c2)


def first_path(
    statement: Problem, transcription: Transcription, guess: Guess | Solution | None = None
) -> Solution:
    """Return the motion from which a solve begins, passive joints following from the driven."""
    return solve(
        statement, transcription, Solver(options={"max_iter": 0}), guess=guess, attempts=PLAIN
    )


def descend(
    statement: Problem,
    transcription: Transcription = TRANSCRIPTION,
    solver: Solver = Solver(),
    *,
    guess: Guess | Solution | None = None,
    number: int = 0,
    seed: int = 0,
    spread: float = SPREAD,
    **settings: Any,
) -> Solution:
    """Solve from one first guess, whose cost and height the statistics keep.

    `guess` and further `settings`, as `watch` and `refine`, are those of `solve`.
    `number`: of the first guess: with 0 the driven joints rest, with others they wander; `seed`: of
    those; `spread`: how far they wander (rad).
    """
    if guess is None and number:
        guess = random_guess(statement, transcription, number, seed=seed, spread=spread)
    first = first_path(statement, transcription, guess)
    solution = solve(statement, transcription, solver, guess=guess, **settings)
    kept = {"first_objective": first.objective, "first_highest": _highest(first)}
    return replace(solution, statistics=dict(solution.statistics) | kept)


def report(solution: Solution) -> dict[str, float]:
    """Return the figures of the first guess and of the motion.

    `first_objective`; `first_highest` and `highest` angle of the passive joint (rad); `angle_left`
    to the vertical and `rate_left` at the end (rad, rad/s); `reversals` of its turning.
    """
    end = solution.duration
    known = ("first_objective", "first_highest")
    rates = np.sign(solution.qd(solution.times(400))[0])
    return {
        **{name: solution.statistics[name] for name in known if name in solution.statistics},
        "highest": _highest(solution),
        "angle_left": float(pi / 2 - solution.q(end)[0]),
        "rate_left": float(solution.qd(end)[0]),
        "reversals": int((np.diff(rates[rates != 0]) != 0).sum()),
    }


def lines(data: Mapping[str, float]) -> tuple[str, ...]:
    """Return the report's text."""
    text = []
    if "first_objective" in data:
        text.append(
            f"{'first guess':<22}J {data['first_objective']:.5g}, rises to "
            f"{data['first_highest']:.3f} rad of {pi / 2:.3f}"
        )
    text.append(
        f"{'end':<22}{data['angle_left']:.4f} rad short of the vertical at "
        f"{data['rate_left']:.4f} rad/s, after {data['reversals']} reversals"
    )
    return tuple(text)


def _highest(solution: Solution) -> float:
    return float(solution.q(solution.times(400))[0].max())


VIEWS = Views(report=report, lines=lines)
TASK = Task(problem, method=descend, transcription=TRANSCRIPTION, views=VIEWS)

if __name__ == "__main__":
    main(TASK)
