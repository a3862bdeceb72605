"""Walks of many people: drawn at random, solved as one study, drawn as bands before people's."""

from ocp.problems.gait.people.sampling import people
from ocp.problems.gait.people.statement import TASK, problem, walk

__all__ = ["TASK", "people", "problem", "walk"]
