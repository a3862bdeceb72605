"""A step with a box carried before the body, half of its mass in each hand.

The hands hold it level, as far apart as it is wide, and where it is carried: so high above L5/S1,
so far before it. The arms do not swing; the weight of the box and its inertia are the hands'.
"""

from dataclasses import replace

import casadi as ca
import numpy as np

from ocp import Constraint, Instant, Problem, Task, path
from ocp.cli import main
from ocp.models.human import carry
from ocp.problem import INSIDE
from ocp.problems.gait import TASK as WALK
from ocp.problems.gait import busy_step, walk
from ocp.problems.lifting import Box
from ocp.problems.lifting.statement.box_hold import crate_between_hands

DRAWN = 0.30, 0.25  # m: depth and height of the box in pictures
SLACK = 0.02  # m, by which the box may move before the body [assumed]


def problem(
    box: float = 10.0,
    width: float = 0.40,
    up: float = 0.05,
    ahead: float = 0.32,
    speed: float = 1.0,
    step: float = 0.53,
    points: int | None = None,
    person: str = "",
    smooth: float | None = None,
    objective: str = "elastic",
) -> Problem:
    """`box`: its mass (kg); `width`: of the box, between the hands (m); `up`: of the hands above
    L5/S1 (m); `ahead`: of the hands before L5/S1 (m); `speed`: of walking (m/s); `step`: length of
    a step (m); `points`: control points per joint; `person`: f5, f50, f95, m5, m50 or m95, or else
    a man of 1.75 m and 75 kg; `smooth`: weight of accelerations, `objective`: elastic, human or
    effort, both as of `gait`."""
    for what, value in {"box": box, "width": width, "ahead": ahead}.items():
        if not (np.isfinite(value) and value > 0):
            raise ValueError(f"{what}: expected a positive number, got {value}")
    walked = busy_step(
        speed=speed, step=step, points=points, person=person, smooth=smooth, objective=objective
    )
    body = carry(carry(walked.tree, "grip_r", box / 2), "grip_l", box / 2)
    crate = Box(mass=box, depth=DRAWN[0], height=DRAWN[1], width=width)
    return replace(
        walked,
        tree=body,
        constraints=(*walked.constraints, in_both_hands(width, up, ahead)),
        scenery=(*walked.scenery, crate_between_hands(crate)),
    )


def in_both_hands(width: float, up: float, ahead: float) -> Constraint:
    """Return the constraints that keep a box in the hands, level and at its place (m)."""

    def off(at: Instant) -> ca.SX:
        right, left = at.position("grip_r"), at.position("grip_l")
        way, middle = left - right, (left + right) / 2 - at.position("L5S1")
        return ca.vertcat(way[1], (ca.sumsqr(way) - width**2) / (2 * width), middle)

    slack = np.array((SLACK / 4, SLACK / 4, SLACK, SLACK, SLACK))
    where = np.array((0.0, 0.0, 0.0, up, ahead))
    return path(
        "box",
        off,
        lower=where - slack,
        upper=where + slack,
        when=INSIDE,
        labels=("level", "apart", "across", "up", "ahead"),
        units="m",
    )


TASK = Task(problem, method=walk, transcription=WALK.transcription, views=WALK.views)


if __name__ == "__main__":
    main(TASK)
