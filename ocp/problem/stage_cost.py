"""The stage cost of plans made again and again: how far from its goal a motion is all the while.

A plan over a fixed horizon may come to its goal at the last moment, and one that is made anew has a
new last moment; what the way costs along it lets it arrive (Rawlings, Mayne & Diehl 2017, chapter
2).
"""

import casadi as ca

from ocp.mechanics.model.tree import Tree
from ocp.mechanics.values.parameters import Number, matrix
from ocp.mechanics.values.validation import positive
from ocp.problem.constraints.limits_and_boundaries import PerJoint, at_end
from ocp.problem.objectives import Objective, squares


def stage_cost(
    tree: Tree, *, q: PerJoint = None, qd: PerJoint = None, size: Number = 0.1, rate: Number = 1.0
) -> Objective:
    """Return the integral of the squared distances of coordinates and rates from a goal (s).

    The goal is stated as in `at_end`, and may be open; `size` (rad or m) and `rate` (rad/s or m/s)
    are what counts as 1. Raises ValueError as `at_end` does.
    """
    sizes = {
        "at_end.q": positive("stage_cost: size", size, unit=""),
        "at_end.qd": positive("stage_cost: rate", rate, unit=""),
    }
    goals = [(each, matrix(each.lower), sizes[each.name]) for each in at_end(tree, q=q, qd=qd)]
    return squares(
        "stage_cost",
        lambda at: ca.vertcat(*((each.function(at) - goal) / one for each, goal, one in goals)),
    )
