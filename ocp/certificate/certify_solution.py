"""Certificate of a solution, independent of the solver's own report.

Violations on a dense grid, forward simulation, energy balance, first-order conditions.
"""

from collections.abc import Mapping
from dataclasses import replace

from ocp.certificate.checks.beam_stretch import steepest_slope
from ocp.certificate.checks.energy import energy_error
from ocp.certificate.checks.flight_momentum import flights
from ocp.certificate.checks.formulation_error import approximation_error, with_exact_dynamics
from ocp.certificate.checks.ground_energy import ground_energy, of_phases
from ocp.certificate.checks.optimality import first_order_residual
from ocp.certificate.checks.phase_consistency import misfit_of_phases, refusals, stated_parts
from ocp.certificate.checks.replay_motion import (
    deviations,
    quaternion_length_error,
    worst_deviations,
)
from ocp.certificate.checks.self_consistency import lacks_multipliers, misfit
from ocp.certificate.merged_violations import join_violations, violations
from ocp.certificate.transition_violations import impacts
from ocp.certificate.verification import NotVerified, Verification
from ocp.dynamics.catalogue import is_comparable
from ocp.problem.reserved_names import phase_label
from ocp.solution.objective_values import Cost, evaluate_cost, total_cost
from ocp.solution.solution import Solution
from ocp.solution.strength_reserves import reserves
from ocp.solution.validation import check_solution
from ocp.solvers.progress import keep_interrupts, say
from ocp.transcription.transcribe import Transcribed, transcribe


@keep_interrupts()
def certify(solution: Solution) -> Verification:
    """Return the Verification of a Solution.

    `.require(tolerance)` raises NotVerified for one that does not pass. Of a motion of phases each
    is judged as a motion of its own; first-order conditions and objective are those of the whole.

    Raises:
        NotVerified: at once, where the numbers are not those of any motion of the problem.
    """
    check_solution("verify", solution)
    say("certifies: simulates forward, looks between the nodes, rebuilds the program")
    _check_fit(misfit_of_phases(solution))
    program, stated = _program(solution), stated_parts(solution)
    motions = stated.parts
    costs: dict[str, Cost | None] = {}
    for (name, motion), part in zip(motions.items(), program.parts):
        _check_fit(misfit(motion, part), name)
        costs[name] = None if solution.missing else evaluate_cost(motion, part)
    parts = {name: _verify_motion(motion, costs[name]) for name, motion in motions.items()}
    known = [cost for cost in costs.values() if cost is not None]
    whole = total_cost(known) if known else None
    judged = whole is not None and not lacks_multipliers(solution, program)
    return replace(
        parts[""] if stated.single_phase else _join_phases(stated, parts),
        kkt=first_order_residual(stated, program) if judged else None,
        objective=None if whole is None else whole.dense,
        objective_error=None if whole is None else whole.error,
        refusals=refusals(solution, stated, program, costs),
        approximation=approximation_error(stated, program, judged),
    )


def _program(solution: Solution) -> Transcribed:
    """Return the program of a solution's problem, which the solver's front end can differentiate.

    The one that was solved where it is kept for that very problem and transcription, else a new one
    without kernels of derivatives, since only one product with them is needed.
    """
    program = solution.program
    kept = program.of(solution.problem, solution.transcription) if program else None
    if kept is not None:
        return kept
    settings = replace(solution.transcription, derivatives="solver", kernels="virtual")
    return transcribe(solution.problem, settings)


def _check_fit(reason: str, phase: str = "") -> None:
    if reason:
        raise NotVerified(f"not a motion of its problem: {phase_label(phase)}{reason}")


def _verify_motion(solution: Solution, cost: Cost | None) -> Verification:
    """Return the numbers of one motion, without those of its program."""
    planner = solution.formulation
    return Verification(
        violations=violations(solution),
        deviations=deviations(solution),
        energy_error=energy_error(solution) if is_comparable(planner) else None,
        kkt=None,
        objective=None if cost is None else cost.dense,
        objective_error=None if cost is None else cost.error,
        mechanics="built-in" if is_comparable(planner) else planner.name,
        slope=steepest_slope(solution),
        ground=ground_energy(solution),
        lengths=quaternion_length_error(solution),
        reserves=reserves(with_exact_dynamics(solution)),
        flights=flights(solution) if solution.problem.tree.balls else (),
    )


def _join_phases(solution: Solution, parts: Mapping[str, Verification]) -> Verification:
    """Return the Verification of a whole motion from those of its phases: the worst of each."""
    every = list(parts.values())
    errors = [each.energy_error for each in every if each.energy_error is not None]
    slopes = [each.slope for each in every if each.slope is not None]
    return Verification(
        violations=join_violations(solution, {n: each.violations for n, each in parts.items()}),
        deviations=worst_deviations([each.deviations for each in every]),
        energy_error=max(errors, default=None),
        kkt=None,
        objective=None,
        objective_error=None,
        mechanics=every[0].mechanics,
        slope=max(slopes, key=lambda slope: slope.angle, default=None),
        ground=of_phases(each.ground for each in every),
        lengths=max((each.lengths for each in every if each.lengths), default=None),
        phases=parts,
        impacts=impacts(solution),
        flights=flights(solution),
        reserves=reserves(with_exact_dynamics(solution)),
    )
