"""Verdicts on solutions by their certificates, whatever their solvers say of them."""

from dataclasses import replace

import numpy as np

from ocp.certificate.certify_solution import certify
from ocp.certificate.checks.optimality import program_variables
from ocp.certificate.verification import Verification
from ocp.solution.solution import Solution
from ocp.solvers import kkt_residual
from ocp.solvers.optimum.least_squares_multipliers import least_multipliers
from ocp.transcription.transcribe import transcribe

FEASIBLE = 1e-4  # violation at the nodes (rad, m, N m, N)
OPTIMAL = 1e-3  # first-order residual, over max(1, |objective|)
FINE = 1e-2  # to which the certificate holds of a motion on a fine enough basis
SOLVED, UNSAID, WRONG, GAVE_UP = "solved", "solved, unsaid", "wrong", "gave up"
COARSE = "coarse"
Numbers = dict[str, float | None]


def judge_solution(solution: Solution) -> tuple[str, str, Numbers]:
    """Return verdict, reason and the certificate's numbers of a solution.

    A solver answers for the constraints at the nodes and for the first-order conditions. What
    happens between the nodes and in a forward simulation is the transcription's affair: where the
    rest of the certificate does not hold to 1e-2 the verdict is "coarse", whoever solves.
    """
    certificate = certify(solution)
    worst = max(
        certificate.violations.values(),
        key=lambda one: np.inf if np.isnan(one.nodes) else one.nodes,
        default=None,
    )
    nodes, scale = 0.0 if worst is None else worst.nodes, max(1.0, abs(solution.objective))
    kkt = _residual(solution, certificate, nodes <= FEASIBLE, OPTIMAL * scale)
    faults = []
    if worst is not None and not nodes <= FEASIBLE:
        faults.append(f"{worst.name} violated by {nodes:.1e} {worst.unit}")
    if kkt is None:
        faults.append("no first-order residual")
    elif not kkt <= OPTIMAL * scale:
        faults.append(f"first-order residual {kkt / scale:.1e}")
    numbers = _numbers(certificate, nodes, None if kkt is None else kkt / scale)
    status = solution.status.partition(". Set 'error_on_fail'")[0]
    if faults:
        verdict = WRONG if solution.success else GAVE_UP
        return verdict, f"{status}: {', '.join(faults)}", numbers
    rest = replace(certificate, kkt=None, refusals=())  # which are the solver's, and judged above
    if not rest.tightest <= FINE:
        return COARSE, rest.verdict(FINE), numbers
    if solution.success:
        return SOLVED, "", numbers
    return UNSAID, f"solver says: {status}", numbers


def first_order(solution: Solution) -> float | None:
    """Return the first-order residual with multipliers of our own.

    None where the NLP has other unknowns than x.
    """
    settings = replace(solution.transcription, derivatives="ad", kernels="virtual")
    transcribed = transcribe(solution.problem, settings)
    if transcribed.reduction is not None:
        return None
    x, *_ = program_variables(solution, transcribed)
    return kkt_residual(transcribed.nlp, x, *least_multipliers(transcribed.nlp, x))


def _residual(
    solution: Solution, certificate: Verification, feasible: bool, enough: float
) -> float | None:
    """Return the first-order residual, of a feasible point the better of the solver's and ours."""
    kkt = certificate.kkt
    if not feasible or (kkt is not None and kkt <= enough):
        return kkt
    known = [value for value in (kkt, first_order(solution)) if value is not None]
    return min((value for value in known if np.isfinite(value)), default=kkt)


def _numbers(certificate: Verification, nodes: float, kkt: float | None) -> Numbers:
    violations = certificate.violations.values()
    numbers = {
        "nodes": nodes,
        "dense": max((one.relative for one in violations), default=0.0),
        "drift": certificate.drift,
        "energy": certificate.energy_error,
        "kkt": kkt,
    }
    return {
        name: value if value is not None and np.isfinite(value) else None
        for name, value in numbers.items()
    }
