"""Solutions: curves, torques, reactions, multipliers, and sampling on dense grids."""

from typing import TYPE_CHECKING

from ocp.lazy import lazy_names

if TYPE_CHECKING:
    from ocp.solution.sampling import dense_instants, traces
    from ocp.solution.solution import NotSolved, Solution

__all__ = [
    "NotSolved",
    "Solution",
    "dense_instants",
    "traces",
]

__getattr__, __dir__ = lazy_names(__name__)
