"""Objective of a finished motion: the program's own sum and the integral on a fine grid.

The integral takes the torques that the motion needs.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import casadi as ca
import numpy as np

from ocp.mechanics.model.tree_structure import structure
from ocp.mechanics.values.types import Matrix
from ocp.motion.quadrature import quadrature
from ocp.problem.contact.complementarity import touches
from ocp.problem.instant import Instant
from ocp.problem.objectives import SQUARED, Term
from ocp.problem.statement import Problem
from ocp.solution.sampling import stack_functions
from ocp.solution.solution import Solution, kept_values, lifted_kind
from ocp.transcription.kernels.motion_traces import trace
from ocp.transcription.kernels.time_derivatives import motion_rates
from ocp.transcription.transcribe_phase import TranscribedPhase
from ocp.transcription.variables.layout import join_variables, motion_inputs

LEAST = 1e-6  # a smaller objective is compared absolutely: it may be noise
GAUSS = 3  # points of Gauss's rule on a piece, beyond the degree of the motion


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """An objective as the program sums it up at a solution's variables, and its `dense` integral.

    Its terms likewise, `terms` and `dense_terms` (terms,), without their weights.
    """

    summed: float
    dense: float
    terms: np.ndarray
    dense_terms: np.ndarray

    @property
    def error(self) -> float:
        """Distance of the sum from the integral, relative to the latter."""
        return abs(self.summed - self.dense) / max(abs(self.dense), LEAST)


def evaluate_cost(solution: Solution, part: TranscribedPhase) -> Cost:
    """Return the Cost of a solution, whose program again is `part`."""
    x = join_variables(part.layout, solution.points, solution.duration, solution.lifted)
    weights = np.array([weight for weight, _ in solution.problem.objective.terms])
    terms, dense = np.array(part.terms(x)).ravel(), dense_terms(solution)
    return Cost(
        summed=float(weights @ terms), dense=float(weights @ dense), terms=terms, dense_terms=dense
    )


def total_cost(costs: Sequence[Cost]) -> Cost:
    """Return the Cost of a motion of which those of its phases are known."""
    return Cost(
        summed=sum(each.summed for each in costs),
        dense=sum(each.dense for each in costs),
        terms=np.concatenate([each.terms for each in costs]),
        dense_terms=np.concatenate([each.dense_terms for each in costs]),
    )


def dense_objective(solution: Solution) -> float:
    """Return the integral that a solution's objective names, on a fine grid; of a motion of phases
    that of all."""
    total = 0.0
    for phase in solution.parts.values():
        weights = [float(weight) for weight, _ in phase.problem.objective.terms]
        total += float(np.dot(weights, dense_terms(phase)))
    return total


def dense_terms(solution: Solution, program: TranscribedPhase | None = None) -> np.ndarray:
    """Return the objective's terms (terms,), unweighted, integrated on a fine grid; an open
    `program` of the motion keeps their graphs.

    Between any two of the motion's breaks, switches of contact, and nodes of what is lifted, by
    Gauss's rule. Torques are those that the motion needs, also where polynomials of their own stand
    for them, unless cut joints, stays or contacts leave them undetermined.
    """
    problem, terms = solution.problem, [term for _, term in solution.problem.objective.terms]
    if not terms:
        return np.empty(0)
    switches = () if problem.ground is None else problem.ground.switches
    cuts = [*switches, *solution.nodes]
    s, weights = quadrature(problem.motion, "gauss", problem.motion.degree + GAUSS, cuts)
    sampled = np.array(sorted({each for term in terms for each in term.instants}))
    count = len(sampled) + 1  # instants at the end of which there is one value alone
    densities = _trace_densities(solution, np.concatenate([s, sampled, (1.0,)]), program)
    found = densities[:, :-count] @ weights * _length(problem, solution)
    for k, term in enumerate(terms):
        if term.at_end:
            found[k] = densities[k, -1]
        elif term.instants:
            places = np.searchsorted(sampled, term.instants)
            found[k] = densities[k, len(s) + places].sum()
    return found


def _length(problem: Problem, solution: Solution) -> float:
    """Return the duration of the motion (s), as its program has it."""
    lower, upper = problem.duration
    return lower if lower == upper else solution.duration


def _densities(problem: Problem) -> Callable[[Instant], Matrix]:
    """Return the function of an Instant that has the integrands of all terms."""
    terms = enumerate(problem.objective.terms)
    return stack_functions({str(number): partial(_density, term) for number, (_, term) in terms})


def _density(term: Term, at: Instant) -> Matrix:
    """Return the integrand of a term over time, or its value at an instant."""
    value = term.function(at)
    return ca.sumsqr(ca.vec(value)) if term.kind in SQUARED else value


def _trace_densities(
    solution: Solution, s: np.ndarray, program: TranscribedPhase | None
) -> np.ndarray:
    """Return (m, N) of the integrands at instants s (N,), of the torques that the motion needs."""
    problem, known = solution.problem, lifted_kind(solution)
    found = problem.tree.stays or touches(problem.loads) or problem.ground is not None
    follow = structure(problem.tree).determined and not found
    if known != "variables" or not follow:
        return kept_values(solution, s, "densities", _densities, program)
    traced = trace(problem, solution.formulation, _densities(problem), None)
    y = motion_inputs(problem, solution.points, solution.duration, s)
    if traced.rated:
        y = np.vstack([y, motion_rates(problem, solution.points, s)])
    return traced(y, s)
