"""Sensitivity of a solution to its parameters."""

from typing import TYPE_CHECKING

from ocp.lazy import lazy_names

if TYPE_CHECKING:
    from ocp.sensitivity.solution_sensitivity import derivative

__all__ = [
    "derivative",
]

__getattr__, __dir__ = lazy_names(__name__)
