"""The walk of people over its conditions: speeds, slopes, crouch and loads, steps chosen freely."""

from ocp.problems.gait.conditions.design import AXES, CONDITIONS, Condition, swept
from ocp.problems.gait.conditions.measuring import measured

__all__ = ["AXES", "CONDITIONS", "Condition", "measured", "swept"]
