"""Certificate of a solution, with its convergence on the next basis where that is asked for."""

from dataclasses import replace
from typing import cast

from ocp.certificate.certify_solution import certify
from ocp.certificate.checks.convergence import Convergence, compare_bases
from ocp.certificate.verification import Verification
from ocp.mechanics.values.validation import check_type
from ocp.problem.phases.phase_problems import with_bases
from ocp.solution.solution import Solution
from ocp.solvers.casadi_plugins import WARM
from ocp.solvers.minimize import Solver
from ocp.solvers.nlp import Option
from ocp.solvers.progress import say
from ocp.solving.plan import Plan, prepare
from ocp.solving.refinement.refined_bases import next_basis


def verify(
    solution: Solution, *, finer: bool = False, solver: Solver | None = None
) -> Verification:
    """Return the Verification of a Solution.

    `.require(tolerance)` raises NotVerified for one that does not pass. Of a motion of phases each
    is judged as a motion of its own; first-order conditions and objective are those of the whole.

    Args:
        solution: a Solution.
        finer: whether to solve the problem on the next basis too, from this solution, and to say
            by how much objective, duration, coordinates, forces of the ground and outputs change.
            Solutions that were not solved are refused without.
        solver: that of the solve on the next basis, by default the solution's own.

    Raises:
        NotVerified: at once, where the numbers are not those of any motion of the problem.
        ValueError: for a basis of one's own, of which no finer one is known.
    """
    certificate = certify(solution)
    check_type("verify: finer", finer, bool)
    if not (finer and solution.success):
        return certificate
    return replace(certificate, convergence=convergence(solution, solver))


def convergence(solution: Solution, solver: Solver | None = None) -> Convergence:
    """Return the Convergence of a solution: what solving on the next basis changes.

    Args:
        solution: a Solution that was solved.
        solver: that of the solve, by default the solution's own.

    Raises:
        ValueError: for a basis of one's own, of which no finer one is known.
    """
    say("solves on the next basis: half as long segments")
    return compare_bases(solution, _solve_finer(solution, solver))


def _solve_finer(solution: Solution, solver: Solver | None) -> Solution:
    """Return the solution of the same problem on the next basis, from this one.

    Parameters that were found are found again where the plan is at hand, which files do not keep.
    """
    plan = cast(Plan | None, solution.plan)
    stated, transcription = next_basis(solution.problem, solution.transcription)
    free: tuple[str, ...] = ()
    given: dict[str, Option] = {}
    if plan is not None:
        free = tuple(solution.found_parameters)
        given = {name: n for name, n in solution.parameters.items() if name not in free}
        stated = with_bases(plan.problem, [part.motion for part in stated.parts.values()])
    own = solver or solver_of(solution)
    return prepare(stated, transcription, own, free=free).solve(solution, **given)


def solver_of(solution: Solution) -> Solver:
    """Return the Solver that found a solution, by its statistics, to go on from there: without the
    barrier and the pushes off bounds of a start from afar, which would move what stands at a bound
    away from it."""
    known, plugin = solution.statistics, solution.statistics["plugin"]
    cold = WARM.get(plugin, {})
    options = {name: number for name, number in known["options"].items() if name not in cold}
    return Solver(plugin=plugin, hessian=known["hessian"], options=options)
