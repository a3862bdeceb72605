"""Distances of a state from the end that a problem asks for, by constraint."""

from collections.abc import Callable, Mapping

import numpy as np

from ocp.dynamics import formulation_of
from ocp.mechanics.values.parameters import Parameter, nominal, with_values
from ocp.problem.constraint import Constraint
from ocp.solution.solution import Solution, lifted_kind
from ocp.solving.plan import Plan
from ocp.transcription.kernels.motion_traces import Trace, trace
from ocp.transcription.variables.layout import free_duration

Off = Mapping[str, np.ndarray]
END = "end"  # when a constraint holds that asks for an end


def end_distances(plan: Plan) -> Callable[[Solution, np.ndarray], Off]:
    """Return a function (solution of the plan, states (2 n, N)) -> {constraint: (rows, N)}: how far
    outside its bounds at the end each constraint is where the states are.

    Bounds have the parameters of the solution. What depends on more than coordinates and rates, as
    accelerations and torques, is nan.
    """
    asked = [each for each in plan.problem.requirements if each.when == END]
    known: dict[tuple[str, str | None], Trace] = {}

    def off(solution: Solution, states: np.ndarray) -> Off:
        y, lifted = _state(plan, solution, states), lifted_kind(solution)
        s = np.ones(states.shape[1])
        values = {each: solution.parameters[each.name] for each in plan.parameters}
        outside = {}
        for each in asked:
            key = each.name, lifted
            if key not in known:
                known[key] = _trace(plan, each, lifted)
            width = known[key].function.size1_in(0)
            outside[each.name] = _bound_excess(
                each, known[key](_pad_inputs(y, width, values), s), values
            )
        return outside

    return off


def _trace(plan: Plan, constraint: Constraint, lifted: str | None) -> Trace:
    """Return the Trace of a constraint's function, the problem's parameters open."""
    problem = plan.problem
    formulation = formulation_of(plan.transcribed.transcription.dynamics, problem.tree)
    return trace(problem, formulation, constraint.function, lifted, plan.parameters)


def _state(plan: Plan, solution: Solution, states: np.ndarray) -> np.ndarray:
    """Return kernels' inputs at states: T where it is free, q, and rates, over the motion where its
    duration is a parameter; nan for accelerations.
    """
    n, T = plan.problem.tree.dof, solution.duration
    (program,) = plan.transcribed.parts  # of a problem without phases
    free, timed = free_duration(plan.problem), program.layout.timed is not None
    rates = states[n:] * (T if free or timed else 1.0)
    parts = [states[:n], rates, np.full_like(rates, np.nan)]
    if free:
        parts.insert(0, np.full((1, states.shape[1]), T))
    return np.vstack(parts)


def _pad_inputs(y: np.ndarray, width: int, values: Mapping[Parameter, float]) -> np.ndarray:
    """Return y with nan for the forces after the motion, and the parameters last."""
    count = y.shape[1]
    forces = np.full((width - len(y) - len(values), count), np.nan)
    return np.vstack([y, forces, np.tile(np.reshape([*values.values()], (-1, 1)), count)])


def _bound_excess(
    constraint: Constraint, found: np.ndarray, values: Mapping[Parameter, float]
) -> np.ndarray:
    """Return the distances of rows (m, N) of a constraint from their bounds."""
    sides = (with_values(side, values) for side in constraint.bounds(len(found)))
    lower, upper = (np.array(nominal(side), dtype=float)[:, None] for side in sides)
    return np.maximum(np.maximum(lower - found, found - upper), 0.0)
