"""One step of normal walking, predicted for a human of 55 joints: its statement, report and pictures."""

from ocp.problems.gait.statement import loads, problem, walk

__all__ = ["loads", "problem", "walk"]
