"""An arm of six joints reaches for a goal that jumps while it moves, planned anew at every jump."""

from dataclasses import replace
from typing import Any

import numpy as np

from ocp import (
    BSpline,
    Parameter,
    Problem,
    Solution,
    Solver,
    Spline,
    Task,
    Transcription,
    at_end,
    at_start,
    duration,
    dynamic_effort,
    joint_limits,
    path,
    prepare,
    smoothness,
    solve,
    torque_limits,
    track,
    velocity_limits,
)
from ocp.cli import main
from ocp.models.arms.ur5 import ur5
from ocp.problems.robots.replan_report import FIRST_PLAN, KEY, VIEWS, told

HOME = (0.0, -1.2, 1.5, -0.4, 1.5, 0.0)  # rad: elbow up, the tool ahead of the base
BOX = np.array([(-0.65, -0.3), (-0.3, 0.5), (0.05, 0.6)])  # m: where goals lie, beside the base
GOALS = ("goal_x", "goal_y", "goal_z")


def problem(
    x: float = -0.4,
    y: float = 0.3,
    z: float = 0.3,
    turn: float = 10.0,
    torque: float = 1.0,
    speed: float = 0.5,
    points: int = 12,
    degree: int = 5,
) -> Problem:
    """J is the time, and over it the squares of torques by their limits and of accelerations.

    `x`: of the goal, where the tool comes to rest (m); `y`: of it (m); `z`: of it (m); `turn`:
    acceleration of a joint that counts as 1 (rad/s2); `torque`: limit used, as a part of the
    maker's; `speed`: likewise; `points`: control points per joint; `degree`: of the spline.
    """
    arm = ur5(torque=torque, speed=speed)
    names = [joint.name.replace(" ", "_") for joint in arm.moving]
    places = [Parameter(name, angle, "rad") for name, angle in zip(names, HOME)]
    rates = [Parameter(f"{name}_rate", 0.0, "rad/s") for name in names]
    goal = [Parameter(name, place, "m") for name, place in zip(GOALS, (x, y, z))]
    return Problem(
        tree=arm,
        motion=BSpline(points=points, degree=degree),
        duration=(0.1, 3.0),
        objective=duration() + dynamic_effort(arm) + smoothness(arm, turn=turn),
        constraints=(
            at_start(arm, q=places, qd=rates),
            at_end(arm, qd=0.0),
            path(
                "goal",
                lambda at: at.position("tool"),
                lower=goal,
                upper=goal,
                when="end",
                labels=("x", "y", "z"),
                units="m",
            ),
            velocity_limits(arm),
            torque_limits(arm),
            joint_limits(arm, hull=True),
        ),
    )


def replanned(
    statement: Problem,
    transcription: Transcription = Transcription(),
    solver: Solver = Solver(),
    *,
    moves: int = 0,
    reach: float = 0.2,
    period: float = 0.1,
    deadline: float | None = None,
    certified: float | None = None,
    newton: int | None = None,
    seed: int = 0,
    **settings: Any,
) -> Solution:
    """Solve, and then once more whenever the goal jumps; the statistics say how that went.

    `moves`: times that the goal jumps, on the way; `reach`: of a jump along each axis (m);
    `period`: from one to the next (s); `deadline`: for planning anew (s; none by default);
    `certified`: tolerance to which all plans are certified afterwards (not by default); `newton`:
    Newton steps of a plan made anew at most (solved to the end by default); `seed`: of the jumps.
    """
    if moves < 0 or not (reach > 0 and period > 0):
        raise ValueError(
            f"moves, reach, period: expected at least 0, above 0 m and s, "
            f"got {moves}, {reach:g} and {period:g}"
        )
    if certified is not None and not moves:
        raise ValueError(
            f"certified: expected of plans made anew, got {certified:g} for none: set moves "
            "(--moves 20), or verify the first plan (--verify)"
        )
    first = solve(statement, transcription, solver, **settings)
    if not moves or not first.success:
        return first
    plan = first.plan or prepare(statement, transcription, solver)
    goals = jumps(first.trace(lambda at: at.position("tool"), first.duration), moves, reach, seed)
    done = track(
        plan,
        (first.q(0.0), first.qd(0.0)),
        period=period,
        periods=moves + 1,
        goals=lambda t: dict(zip(GOALS, goals[round(t / period)])),
        guess=first,
        deadline=deadline,
        newton=newton,
    )
    return replace(
        first, statistics=dict(first.statistics) | {KEY: told(done.replans[1:], certified)}
    )


def jumps(goal: np.ndarray, moves: int, reach: float, seed: int) -> np.ndarray:
    """Return goals (moves + 1, 3) that jump from a first one (3,), m, within the BOX."""
    rng, places = np.random.default_rng(seed), [goal]
    for _ in range(moves):
        jump = rng.uniform(-reach, reach, 3)
        places.append(np.clip(places[-1] + jump, *BOX.T))
    return np.array(places)


TASK = Task(
    problem,
    method=replanned,
    transcription=Transcription(method=Spline(torques="variables", nodes=2)),
    views=VIEWS,
    certifies=FIRST_PLAN,
)

if __name__ == "__main__":
    main(TASK)
