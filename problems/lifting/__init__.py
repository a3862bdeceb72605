"""A box lifted from the floor, predicted for a human of 55 joints: its statement, report and pictures."""

from ocp.problems.lifting.statement import lift, loads, problem

__all__ = ["lift", "loads", "problem"]
