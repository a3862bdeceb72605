"""Limits of a tree's joints that no constraint asks for and that a motion exceeds."""

import numpy as np

from ocp.certificate.merged_violations import on_whole_time
from ocp.certificate.row_violations import Violation, dense_violation
from ocp.mechanics.model.joints import LIMITED
from ocp.problem.constraints.limits_and_boundaries import limits
from ocp.solution.sampling import dense_instants, traces
from ocp.solution.solution import Solution

EXCEEDED = 1e-2  # of the limit: a motion beyond it by more is not one that keeps it otherwise


def unasked_limits(solution: Solution) -> dict[str, Violation]:
    """Return {name: Violation} of the limits that the problem leaves out and the motion exceeds.

    A joint's limits hold only by constraints, as `limits(tree)`. The names are those of the
    constraints that would ask for them, those of phases as `name_in_phase` has them.
    """
    return on_whole_time(
        solution,
        {
            name: {each.name: each for each in _exceeded(motion)}
            for name, motion in solution.parts.items()
        },
    )


def unasked_words(known: dict[str, Violation]) -> list[str]:
    """Return a line for each limit: its joint, by how much, when, and the constraint to add."""
    return [
        f"{each.label} by {each.dense:.4g} {each.unit} at t = {each.time:.4g} s, since no "
        f"{name} are asked"
        for name, each in known.items()
    ]


def _exceeded(motion: Solution) -> list[Violation]:
    """Return the Violations of a motion without phases."""
    tree = motion.problem.tree
    joints = tree.moving[: tree.dof - len(tree.states)]  # states of elements keep their bounds
    bounds = [bound for joint in joints for what in LIMITED for bound in getattr(joint, what)]
    if not np.isfinite(bounds).any():
        return []
    asked = {each.name for each in motion.problem.requirements}
    unasked = [each for each in limits(tree) if each.name not in asked]
    s = dense_instants(motion)
    values = traces(motion, {each.name: each.function for each in unasked}, s * motion.duration)
    found = (dense_violation(each, s, values[each.name], motion.duration) for each in unasked)
    return [each for each in found if each.relative > EXCEEDED]
