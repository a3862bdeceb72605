"""Motions to be drawn: other trees, made-up ones, names that look like formulas."""

from dataclasses import replace

import numpy as np

NAMES = ("$\\frac{$", "_hidden", "a_b^c {", "50 % & #1", "$x$")


def moved(solution, tree, points=None):
    """Return the solution with another tree and made-up control points, good enough to draw."""
    problem = replace(solution.problem, tree=tree, constraints=())
    if points is None:
        points = np.random.default_rng(1).uniform(-1, 1, (tree.dof, problem.motion.points))
    return replace(solution, problem=problem, points=points, duration=0.8)
