"""Certificate of a solution, independent of the solver's own report.

Violations on a dense grid, forward simulation, energy balance, first-order conditions.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ocp.certificate.checks.beam_stretch import steepest_slope
from ocp.certificate.checks.energy import energy_error
from ocp.certificate.checks.flight_momentum import flights
from ocp.certificate.checks.formulation_error import approximation_error, with_exact_dynamics
from ocp.certificate.checks.optimality import first_order_residual, rebuild_program
from ocp.certificate.checks.phase_consistency import (
    misfit_of_phases,
    refusals_of_phases,
    stated_parts,
)
from ocp.certificate.checks.replay_motion import (
    deviations,
    quaternion_length_error,
    worst_deviations,
)
from ocp.certificate.checks.self_consistency import lacks_multipliers, misfit, refusals
from ocp.certificate.constraint_violations import join_violations, violations
from ocp.certificate.transition_violations import impacts
from ocp.certificate.verification import NotVerified, Verification
from ocp.dynamics.catalogue import is_comparable
from ocp.progress import say
from ocp.solution.margins import reserves
from ocp.solution.objective_values import Cost, evaluate_cost, total_cost
from ocp.solution.solution import Solution
from ocp.solution.validation import check_solution
from ocp.solvers.iteration_log import keep_interrupts


@keep_interrupts()
def verify(solution: Solution) -> Verification:
    """Return the Verification of a Solution.

    `.require(tolerance)` raises NotVerified for one that does not pass. Raises NotVerified at once
    for one whose numbers are not those of any motion of its problem.
    """
    check_solution("verify", solution)
    say("certifies: simulates forward, looks between the nodes, rebuilds the program")
    if solution.problem.phases or solution.phases:
        return _of_phases(solution)
    transcribed = _again(solution)
    _check_fit(misfit(solution, transcribed))
    costs = None if solution.missing else evaluate_cost(solution, transcribed)
    judged = costs is not None and not lacks_multipliers(solution, transcribed)
    return replace(
        _moved(solution, costs),
        kkt=first_order_residual(solution, transcribed) if judged else None,
        refusals=refusals(solution, transcribed, costs),
        approximation=approximation_error(solution, transcribed, judged),
    )


def _again(solution: Solution) -> Any:
    """Return the program of a solution's problem: the one that is kept where it is of that very
    problem and transcription, or else one that is made again, without kernels of derivatives, of
    which but a product is asked for. Either is differentiated by the solver's front end."""
    known = solution.program and solution.program.of(solution.problem, solution.transcription)
    if known is not None:
        return known
    settings = replace(solution.transcription, derivatives="solver", kernels="virtual")
    return rebuild_program(solution, settings)


def _check_fit(reason: str) -> None:
    if reason:
        raise NotVerified(f"not a motion of its problem: {reason}")


def _moved(solution: Solution, costs: Cost | None) -> Verification:
    """Return what is known of a motion alone, whether or not it is the best."""
    planner = solution.formulation
    return Verification(
        violations=violations(solution),
        deviations=deviations(solution),
        energy_error=energy_error(solution) if is_comparable(planner) else None,
        kkt=None,
        objective=None if costs is None else costs.dense,
        objective_error=None if costs is None else costs.error,
        mechanics="built-in" if is_comparable(planner) else planner.name,
        slope=steepest_slope(solution),
        lengths=quaternion_length_error(solution),
        reserves=reserves(with_exact_dynamics(solution)),
        flights=flights(solution) if solution.problem.tree.balls else (),
    )


def _of_phases(solution: Solution) -> Verification:
    """Return the Verification of a motion of phases."""
    _check_fit(misfit_of_phases(solution))
    transcribed, reported = _again(solution), solution
    solution = stated_parts(solution)
    programs = dict(zip(solution.phases, transcribed.parts))
    for name, part in programs.items():
        reason = misfit(solution.phases[name], part)
        _check_fit(f"phase {name!r}: {reason}" if reason else "")
    costs = {
        name: None if solution.missing else evaluate_cost(solution.phases[name], part)
        for name, part in programs.items()
    }
    parts = {name: _moved(phase, costs[name]) for name, phase in solution.phases.items()}
    every = [each for each in costs.values() if each is not None]
    whole = total_cost(every) if every else None
    judged = whole is not None and not lacks_multipliers(solution, transcribed)
    return _joined(
        solution,
        parts,
        kkt=first_order_residual(solution, transcribed) if judged else None,
        objective=None if whole is None else whole.dense,
        objective_error=None if whole is None else whole.error,
        refusals=refusals_of_phases(reported, transcribed, costs),
        approximation=approximation_error(solution, transcribed, judged),
    )


def _joined(solution: Solution, parts: Mapping[str, Verification], **known: Any) -> Verification:
    """Return the Verification of a whole motion from those of its phases and what is `known` of
    all."""
    errors = [each.energy_error for each in parts.values() if each.energy_error is not None]
    slopes = [each.slope for each in parts.values() if each.slope is not None]
    first = next(iter(parts.values()))
    return Verification(
        violations=join_violations(solution, {n: each.violations for n, each in parts.items()}),
        deviations=worst_deviations([each.deviations for each in parts.values()]),
        energy_error=max(errors, default=None),
        mechanics=first.mechanics,
        slope=max(slopes, key=lambda slope: slope.angle, default=None),
        lengths=max((each.lengths for each in parts.values() if each.lengths), default=None),
        phases=parts,
        impacts=impacts(solution),
        flights=flights(solution),
        reserves=reserves(with_exact_dynamics(solution)),
        **known,
    )
