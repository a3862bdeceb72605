"""Optimum of a solution's program, met to rounding, where derivatives are taken."""

import numpy as np

from ocp.problem.phases.phase_problems import refuse_phases
from ocp.solution.solution import Solution
from ocp.solvers.nlp import Iterate, Option
from ocp.solvers.optimum.active_set import Optimum, find_optimum, tighten
from ocp.solving.plan import Plan
from ocp.solving.starts.warm_start import start_phase
from ocp.transcription.parameters.parameter_derivatives import labels
from ocp.transcription.transcribe_phase import TranscribedPhase


def plan_of(solution: Solution) -> Plan:
    """Return the plan that a solution came from; raise ValueError if there is none."""
    if solution.plan is None:
        raise ValueError(
            "sensitivity: the solution has no plan that leaves parameters open: state them as "
            "Parameter and solve by prepare(problem).solve() (files do not keep plans)"
        )
    return solution.plan


def solved_program(solution: Solution) -> TranscribedPhase:
    """Return the program of a solution, with its values; raise ValueError if there is none."""
    plan, found = plan_of(solution), solution.found_parameters
    if not solution.success:
        raise ValueError(f"sensitivity: the solution is no optimum: {solution.status}")
    refuse_phases("sensitivity", plan.problem, "state it without phases")
    if plan.transcribed.reduction is not None:
        raise ValueError("sensitivity: of passive joints that are integrated it is not known")
    values = {name: value for name, value in solution.parameters.items() if name not in found}
    return plan.at(values).parts[0]


def solved_point(transcribed: TranscribedPhase, solution: Solution) -> Iterate:
    """Return a solution's point of its program, with multipliers; raise ValueError where it has
    none."""
    begin = start_phase(transcribed, solution)
    if not begin.multipliers:
        raise ValueError("sensitivity: the solution has no multipliers")
    return Iterate(
        x=begin.x,
        g=np.array(transcribed.nlp.constraints(begin.x)).ravel(),
        x_multipliers=begin.multipliers["x_multipliers"],
        g_multipliers=begin.multipliers["g_multipliers"],
    )


def solved_optimum(
    transcribed: TranscribedPhase, solution: Solution
) -> tuple[Optimum, dict[Option, Option]]:
    """Return the solution's optimum to rounding, of the program with derivatives by all parameters,
    and a place for what is derived of it; those of the last solution are kept.

    Raises ValueError for a solution without multipliers, or that is no strict optimum.
    """
    made, held = transcribed.made, transcribed.layout.held_names
    key = solution.points.tobytes(), solution.duration, tuple(solution.parameters.values()), held
    if made.get("optimum", (None,))[0] != key:
        point = solved_point(transcribed, solution)
        sloped, tight = transcribed.with_parameter_slopes, tighten(transcribed.nlp, point)
        made["optimum"] = key, find_optimum(sloped.nlp, tight, labels(transcribed)), {}
    _, near, derived = made["optimum"]
    return near, derived
