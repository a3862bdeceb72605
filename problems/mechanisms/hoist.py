"""A hand lifts a load from the floor by a cable that hangs slack at first, with the least effort.

Where the cable goes taut without a blow the hand must stand still for a moment, since the load
does, so that the motion is two of rest to rest, over the slack d in t and over the rise h in T - t.
Each is best with an acceleration that falls straight, which makes the effort

    J = m^2 (12 d^2 / t^3 + g^2 t) + (m + M)^2 (12 h^2 / (T - t)^3 + g^2 (T - t))

with m of the hand and M of the load, and the best t where its slope vanishes.
"""

from collections.abc import Mapping
from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np

from ocp import (
    BSpline,
    Guess,
    Problem,
    Solution,
    Solver,
    Task,
    Transcription,
    Views,
    at_end,
    at_start,
    effort,
    plot,
    solve,
    tighten,
)
from ocp.cli import main
from ocp.mechanics import structure
from ocp.models.mechanisms.hoist import hoist
from ocp.plots import plot_outputs

HAND, LOAD, LENGTH, GRAVITY = 2.0, 3.0, 1.0, 9.81  # kg, kg, m, m/s2
GOLDEN = (sqrt(5) - 1) / 2
ENDS = 0.05  # of the duration, at either end, where no best instant is looked for


def problem(
    slack: float = 0.3,
    rise: float = 0.5,
    duration: float = 2.0,
    taut: float = 0.7,
    leak: float = 1e-4,
    points: int = 16,
) -> Problem:
    """`slack`: that the cable has at first (m); `rise`: of the load (m); `duration`: of the motion
    (s); `taut`: part of it after which the cable is taut and the load off the floor, 0 where the
    motion is to find it; `leak`: what gap times force may be where it does (J); `points`: control
    points per joint.
    """
    if not 0 <= taut < 1:
        raise ValueError(f"taut: expected a part of the motion from 0 to below 1, got {taut:g}")
    spans: dict[str, Any] = {"taut": ((taut, 1.0),), "resting": ((0.0, taut),)} if taut else {}
    tree = hoist(HAND, LOAD, LENGTH, GRAVITY, leak=leak, **spans)
    return Problem(
        tree=tree,
        motion=_broken(points, taut) if taut else BSpline(points=points),
        duration=duration,
        objective=effort(tree, ("hand",)),
        constraints=(
            at_start(tree, q=(LENGTH - slack, 0.0), qd=0.0),
            at_end(tree, q=(LENGTH + rise, rise), qd=0.0),
        ),
        outputs={
            "cable (N)": lambda at: at.stay_forces[0],
            "floor (N)": lambda at: at.stay_forces[1],
            "slack (m)": lambda at: LENGTH - (at.q[0] - at.q[1]),
        },
    )


def _broken(points: int, taut: float) -> BSpline:
    """Return the cubic spline whose accelerations may jump where the cable goes taut."""
    within = points - 6
    if within < 0:
        raise ValueError(f"points: expected at least 6, got {points}")
    before = round(within * taut)
    first = np.linspace(0.0, taut, before + 2)[1:-1]
    last = np.linspace(taut, 1.0, within - before + 2)[1:-1]
    return BSpline(points=points, inner=(*first, taut, taut, *last))


def closed_form(taut: float, slack: float = 0.3, rise: float = 0.5, duration: float = 2.0) -> float:
    """Return the least effort (N2 s) where the cable goes taut after that part of the motion."""
    phases = ((HAND, slack, taut * duration), (HAND + LOAD, rise, (1 - taut) * duration))
    return sum(m**2 * (12 * way**2 / t**3 + GRAVITY**2 * t) for m, way, t in phases)


def best(
    slack: float = 0.3, rise: float = 0.5, duration: float = 2.0, digits: float = 1e-10
) -> float:
    """Return the part of the motion after which the cable goes taut in the best one.

    By the closed form and golden sections, down to that many `digits` of the motion.
    """
    lower, upper = ENDS, 1 - ENDS
    while upper - lower > digits:
        left, right = upper - GOLDEN * (upper - lower), lower + GOLDEN * (upper - lower)
        costs = [closed_form(taut, slack, rise, duration) for taut in (left, right)]
        lower, upper = (lower, right) if costs[0] < costs[1] else (left, upper)
    return (lower + upper) / 2


def lift(
    statement: Problem,
    transcription: Transcription = Transcription(),
    solver: Solver = Solver(),
    *,
    guess: Guess | Solution | None = None,
    **settings: Any,
) -> Solution:
    """Solve at once where it is prescribed when the cable is taut, otherwise by `tighten`."""
    found = any(stay.closed is None for stay in statement.tree.stays)
    method: Any = tighten if found else solve
    return method(statement, transcription, solver, guess=guess, **settings)


def report(solution: Solution) -> dict[str, Any]:
    """Return when the cable goes taut (s), its greatest pull (N), and the closed form's effort
    (N2 s): with the cable taut then, and the best one."""
    problem, T = solution.problem, solution.duration
    t = solution.times(2001)
    forces = solution.stay_forces(t)
    row = structure(problem.tree).stay_labels.index("cable")
    pulls = np.flatnonzero(forces[row] > 1e-3 * forces[row].max())
    start, goal = solution.q(0.0), solution.q(T)
    ways = {"slack": float(LENGTH - start[0]), "rise": float(goal[1])}
    closed = problem.tree.stays[row].closed
    taut = closed[0][0] if closed else float(t[pulls[0]]) / T
    found = best(duration=T, **ways)
    return {
        "hoist": {
            "taut": taut * T,
            "pull": float(forces[row].max()),
            "closed_form": closed_form(taut, duration=T, **ways),
            "best_taut": found * T,
            "best": closed_form(found, duration=T, **ways),
        }
    }


def lines(data: Mapping[str, Any]) -> list[str]:
    """Return the report's text."""
    entry = data["hoist"]
    return [
        f"{'cable':<22}taut from {entry['taut']:.4f} s on, pulls at most {entry['pull']:.4g} N",
        f"{'closed form':<22}J = {entry['closed_form']:.9g} with the cable taut then; "
        f"least J = {entry['best']:.9g} taut from {entry['best_taut']:.4f} s on",
    ]


def draw(solution: Solution, file: str | Path) -> None:
    """Draw the overview to the file, and forces and slack to that with "-forces" added."""
    plot(solution, file)
    plot_outputs(solution, Path(file).with_stem(f"{Path(file).stem}-forces"))


TASK = Task(problem, method=lift, views=Views(plot=draw, report=report, lines=lines))

if __name__ == "__main__":
    main(TASK)
