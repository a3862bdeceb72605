"""Solving of problems: prepared plans, attempts, budgets, preflight checks."""

from typing import TYPE_CHECKING

from ocp.lazy import later

if TYPE_CHECKING:
    from ocp.solving.budget import budget, staged
    from ocp.solving.ladder import LADDER, PLAIN, Attempt
    from ocp.solving.plan import Plan, prepare
    from ocp.solving.solve import solve
    from ocp.solving.starts.postures import from_posture, posture
    from ocp.solving.starts.split_start import shared_solution
    from ocp.solving.starts.warm_start import Guess, start
    from ocp.solving.total_statistics import totals

__all__ = [
    "LADDER",
    "PLAIN",
    "Attempt",
    "Guess",
    "Plan",
    "budget",
    "from_posture",
    "posture",
    "prepare",
    "shared_solution",
    "solve",
    "staged",
    "start",
    "totals",
]

__getattr__, __dir__ = later(
    __name__,
    {
        "ocp.solving.budget": (
            "budget",
            "staged",
        ),
        "ocp.solving.ladder": (
            "Attempt",
            "LADDER",
            "PLAIN",
        ),
        "ocp.solving.plan": (
            "Plan",
            "prepare",
        ),
        "ocp.solving.solve": ("solve",),
        "ocp.solving.starts.postures": (
            "from_posture",
            "posture",
        ),
        "ocp.solving.starts.split_start": ("shared_solution",),
        "ocp.solving.starts.warm_start": (
            "Guess",
            "start",
        ),
        "ocp.solving.total_statistics": ("totals",),
    },
)
