"""Requirements on sought parameters: checks of numbers in records, as inequalities."""

from collections.abc import Iterator, Sequence
from math import inf

import casadi as ca

from ocp.mechanics.values import parameter_validity
from ocp.mechanics.values.parameter_validity import Requirement, is_assured
from ocp.mechanics.values.parameters import Number, expression_of, is_open, matrix
from ocp.mechanics.values.types import Matrix
from ocp.problem.constraint import Moment
from ocp.problem.contact.balance import Inside
from ocp.problem.contact.point_mass import PointMass
from ocp.problem.statement import Problem


def requirements(problem: Problem) -> tuple[Requirement, ...]:
    """Return the requirements on the open numbers of a problem that the bounds of its parameters do
    not see to.

    Those of the tree are what `ocp.mechanics.values.parameter_validity` says; durations are
    positive, point masses not negative, instants within the motion, and the corners of a polygon
    make its hull as they do at the parameters' own values.
    """
    every = (*parameter_validity.requirements(problem.tree), *_own_requirements(problem))
    return tuple(each for each in every if not is_assured(each))


def _own_requirements(problem: Problem) -> Iterator[Requirement]:
    shortest = problem.duration[0]
    if is_open(shortest):
        yield "duration", expression_of(shortest), 0.0, inf, "s"
    for load in problem.loads:
        if isinstance(load, PointMass) and is_open(load.mass):
            yield f"point mass at {load.point!r}", expression_of(load.mass), 0.0, inf, "kg"
    for constraint in problem.requirements:
        if isinstance(constraint.when, Moment):
            yield f"{constraint.name}: when", expression_of(constraint.when.s), 0.0, 1.0, ""
        if isinstance(constraint.function, Inside):
            yield from _turns(constraint.function)


def _turns(polygon: Inside) -> Iterator[Requirement]:
    """Yield that a hull turns left at each of its corners (m2), where it is open."""
    corners = [polygon.corners[k] for k in polygon.around]
    if len(corners) < 3:  # the line between two turns nowhere
        return
    for k, corner in enumerate(corners):
        before, after = corners[k - 1], corners[(k + 1) % len(corners)]
        if is_open([before, corner, after, polygon.normal]):
            turn = ca.cross(_between(before, corner), _between(corner, after))
            turned = ca.dot(matrix(polygon.normal), turn)
            yield f"{polygon.name}: corner {polygon.around[k]}", turned, 0.0, inf, "m2"


def _between(start: Sequence[Number], end: Sequence[Number]) -> Matrix:
    return ca.SX(ca.vertcat(*(there - here for here, there in zip(start, end))))
