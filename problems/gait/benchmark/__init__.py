"""The walk by muscles judged by measured people: loads, slopes, speeds and stride rates."""

from ocp.problems.gait.benchmark.design import CONDITIONS, SETS, Condition, swept

__all__ = ["CONDITIONS", "SETS", "Condition", "swept"]
