"""Closed loops as a law of motion, at the instants at which a basis can keep them closed.

A basis says at which instants a gap, its rate and its acceleration together are well posed
(`closing`): as many rows as it has freedom, no fewer and no more. At the ends of the motion some of
these rows follow from what the statement says of coordinates and rates there; such rows are left
out, and if they cannot hold the statement contradicts the loops.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import cast

import numpy as np

from ocp.mechanics.kinematics.loop_assembly import close_coordinates
from ocp.mechanics.model.tree_structure import Structure, structure
from ocp.motion.basis import Basis, transfer
from ocp.motion.spline import BSpline
from ocp.problem.constraint import Constraint
from ocp.problem.reserved_names import LOOPS
from ocp.problem.statement import Problem
from ocp.transcription.laws.loop_boundaries import GAPS, PER, implied_rows

WIDE = 0.3  # rad, m and their rates: about an end that follows by itself
COARSE = 20  # control points of a guess that is made to close


def loop_laws(problem: Problem, integrated: bool = False) -> tuple:
    """Return the constraints that keep the loops closed, each with the instants of every row:
    ((Constraint, ((s, ..), ..)), ..).

    Where passive joints are `integrated`, loops are closed at the start and then stay so. Raises
    ValueError naming the loop if the statement prescribes an end of the motion in which it gapes.
    """
    shape = structure(problem.tree)
    redundant, laws = implied_rows(problem, integrated), []
    for level in range(len(LOOPS)):
        instants = tuple(
            _instants(problem.motion, level, redundant.levels(row), integrated)
            for row in range(len(shape.cuts))
        )
        if any(instants):
            laws.append((_law(shape, level), instants))
    return tuple(laws)


def loosen_end_constraints(problem: Problem) -> tuple[Constraint, ...]:
    """Return the problem's constraints, with those rows of its end that integrated loops bring
    about by themselves made wide: they only tell one assembly of the loops from another.

    Raises ValueError naming a constraint that prescribes such rows not at the end alone.
    """
    if not structure(problem.tree).closed:
        return problem.requirements
    lost, constraints = implied_rows(problem, True).prescribed, []
    for constraint in problem.requirements:
        rows = [number for name, number, _ in lost if name == constraint.name]
        if rows and constraint.when not in ("end", "joined"):
            raise ValueError(
                f"constraint {constraint.name!r}: with method 'integrated' state what holds at the "
                f"end by at_end: the loops bring {constraint.label(rows[0])} about there by "
                "themselves"
            )
        constraints.append(_widen(constraint, rows) if rows else constraint)
    return tuple(constraints)


def close_loops(problem: Problem, points: np.ndarray) -> np.ndarray:
    """Return the control points (n, points) of a guess with its loops closed where they can be,
    driven joints unmoved if possible."""
    tree, motion = problem.tree, cast(BSpline, problem.motion)
    count = min(motion.points, max(COARSE, motion.degree + 1))
    coarse = BSpline(points=count, degree=motion.degree, clamped=motion.clamped)
    s = np.linspace(0.0, 1.0, 2 * coarse.points + 1)
    q = points @ motion.values(s).T
    for fixed in ([joint.name for joint in tree.moving if joint.actuated], ()):
        try:
            return transfer(coarse, coarse.fit(close_coordinates(tree, q, fixed), s), motion)
        except ValueError:  # the solver may still succeed where the projection does not
            continue
    return points


def _law(shape: Structure, level: int) -> Constraint:
    rows, gap = list(shape.cuts), GAPS[level]
    return Constraint(
        name=LOOPS[level],
        function=lambda at: gap(at)[rows],
        lower=0.0,
        upper=0.0,
        labels=tuple(shape.cut_labels[row] for row in rows),
        units=tuple(shape.cut_units[row] + PER[level] for row in rows),
    )


def _instants(
    motion: Basis, level: int, redundant: tuple[frozenset, frozenset], integrated: bool
) -> tuple[float, ...]:
    """Return the instants at which a row is asked for."""
    if integrated:
        return (0.0,) if level < 2 and level not in redundant[0] else ()
    return tuple(motion.closing(level, redundant).tolist())


def _widen(constraint: Constraint, rows: Sequence[int]) -> Constraint:
    count = max(np.size(constraint.lower), np.size(constraint.upper), max(rows) + 1)
    size = np.isin(np.arange(count), rows)
    lower, upper = constraint.lower - WIDE * size, constraint.upper + WIDE * size
    return replace(constraint, lower=lower, upper=upper)
