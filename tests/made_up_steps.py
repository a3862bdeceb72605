"""A step that nobody solved for, whose image goes on from its end."""

from functools import cache

import numpy as np

from ocp import Solution, Transcription
from ocp.models.human import ROOT, mirror
from ocp.problems.gait.statement.step import effort_step as problem

STEP, T = 0.6, 0.5
SIDED = (
    *("hip_flex", "hip_abd", "knee_flex", "ankle_df", "toe_ext", "shou_flex", "shou_abd"),
    *("elb_flex",),
)
MOVING = ",".join(
    [*ROOT, *(f"{joint}_{side}" for side in "rl" for joint in SIDED)]
)  # fewer joints make quicker graphs


@cache
def made_up_step():
    """A step that nobody solved for.

    Gentle made-up swings, whose end is the mirror image of their start to the second derivative.
    """
    statement = problem(active=MOVING)
    tree, s, random = statement.tree, np.linspace(0, 1, 41), np.random.default_rng(4)
    index, sign = mirror(tree)
    swing, start = random.uniform(0, 0.004, tree.dof), random.uniform(0, np.pi, tree.dof)
    for joint, angle in (("hip_flex", 0.4), ("shou_flex", -0.3)):
        swing[tree.coordinate(f"{joint}_r")], start[tree.coordinate(f"{joint}_r")] = angle, 0.0
    left = index < np.arange(tree.dof)  # half a cycle behind the right ones, which come first
    swing[left], start[left] = swing[index][left], start[index][left] + np.pi
    twice = np.where(
        (index == np.arange(tree.dof)) & (sign > 0), 2.0, 1.0
    )  # what a reflection leaves as it is has the step's period
    values = swing[:, None] * np.cos(np.pi * np.outer(twice, s) + start[:, None])
    shift = np.zeros(tree.dof)
    shift[tree.coordinate("glob_tz")] = STEP
    points = statement.motion.fit(values + np.outer(shift, s - 0.8), s)
    a, b, c = points[:, 0], points[:, 1], points[:, 2]
    last = sign * a[index] + shift
    before = last - sign * (b - a)[index]
    points[:, -1], points[:, -2] = last, before
    points[:, -3] = 2 * sign * (a - 1.5 * b + 0.5 * c)[index] - 2 * last + 3 * before
    return Solution(
        problem=statement,
        transcription=Transcription(),
        points=points,
        duration=T,
        objective=1.0,
        terms=(("effort", 10.0, 0.1),),
        status="made up",
        success=False,
        multipliers={},
        statistics={},
    )
