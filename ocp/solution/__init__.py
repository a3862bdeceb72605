"""Solutions: curves, torques, reactions, multipliers; sampling and reports."""

from typing import TYPE_CHECKING

from ocp.lazy import later

if TYPE_CHECKING:
    from ocp.solution.report import describe
    from ocp.solution.sampling import dense, traces
    from ocp.solution.solution import NotSolved, Solution

__all__ = [
    "NotSolved",
    "Solution",
    "dense",
    "describe",
    "traces",
]

__getattr__, __dir__ = later(
    __name__,
    {
        "ocp.solution.report": ("describe",),
        "ocp.solution.sampling": (
            "dense",
            "traces",
        ),
        "ocp.solution.solution": (
            "NotSolved",
            "Solution",
        ),
    },
)
