"""Solving of problems: prepared plans, attempts, refinement, preflight checks."""

from typing import TYPE_CHECKING

from ocp.lazy import lazy_names

if TYPE_CHECKING:
    from ocp.solvers.budget import budget, with_stage
    from ocp.solving.plan import Plan, keep_plans, prepare
    from ocp.solving.refinement.complementarity_continuation import tighten
    from ocp.solving.refinement.refine import refine
    from ocp.solving.scenarios import (
        Scenarios,
        ScenarioSolution,
        solve_scenarios,
        verify_scenarios,
    )
    from ocp.solving.solution_from_outcome import total_statistics
    from ocp.solving.solve_problem import solve
    from ocp.solving.solver_attempts import LADDER, PLAIN, Attempt
    from ocp.solving.starts.contact_schedule import schedule_found
    from ocp.solving.starts.phases_from_contacts import phases_found
    from ocp.solving.starts.postures import from_posture, posture
    from ocp.solving.starts.split_start import phase_solution
    from ocp.solving.starts.warm_start import Guess, start
    from ocp.solving.verify_solution import convergence, verify

__all__ = [
    "LADDER",
    "PLAIN",
    "Attempt",
    "Guess",
    "Plan",
    "ScenarioSolution",
    "Scenarios",
    "budget",
    "convergence",
    "from_posture",
    "keep_plans",
    "phase_solution",
    "phases_found",
    "posture",
    "prepare",
    "refine",
    "schedule_found",
    "solve",
    "solve_scenarios",
    "start",
    "tighten",
    "total_statistics",
    "verify",
    "verify_scenarios",
    "with_stage",
]

__getattr__, __dir__ = lazy_names(__name__)
