"""Error of an approximate formulation, for instance by tables, against exact mechanics."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ocp.certificate.checks.optimality import program_variables
from ocp.mechanics.values.validation import unit_of
from ocp.problem.instant import Instant
from ocp.problem.reserved_names import REACH
from ocp.solution.sampling import dense_instants, traces
from ocp.solution.solution import Solution
from ocp.transcription.transcribe import Transcribed, transcribe

PRICED = 1e-6  # of the objective: a multiplier below it is that of a bound that is not touched


@dataclass(frozen=True, slots=True, kw_only=True)
class ApproximationError:
    """Error of an approximate formulation along a motion.

    Attributes:
        dynamics, described: its name, and how it was made.
        torque: largest distance of its torque from rigid-body mechanics, in `unit`, at a `joint`
            and a `time` (s).
        relative: that over the largest torque there, absolute below 1.
        objective: first-order change of the optimal objective under exact mechanics.
        objective_bound: sum of the sizes of all terms of that change; both are None without
            multipliers.
        held: rows of the formulation's range that are active and change the objective by more.
    """

    dynamics: str
    described: str
    torque: float
    unit: str
    joint: str
    time: float
    relative: float
    objective: float | None
    objective_bound: float | None
    held: tuple[str, ...]

    def __str__(self) -> str:
        return (
            f"off by up to {self.torque:.2e} {self.unit} ({self.joint}, t = {self.time:.4g} s), "
            f"{self.relative:.1e} of the largest there"
        )


def with_exact_dynamics(solution: Solution) -> Solution:
    """Return a solution whose torques are those of exact mechanics: itself, unless its formulation
    is an approximation.
    """
    if solution.formulation.approximation is None:
        return solution
    settings = replace(solution.transcription, dynamics="auto", derivatives="auto")
    return replace(solution, transcription=settings)


def approximation_error(
    solution: Solution, transcribed: Transcribed, judged: bool
) -> ApproximationError | None:
    """Return the ApproximationError of a solution's formulation; None for an exact one.

    Args:
        solution: a Solution; of phases the worst counts, its time that of the whole motion.
        transcribed: its program again.
        judged: whether its multipliers are known, so that the objective's change is.
    """
    known = solution.formulation.approximation
    if known is None:
        return None
    shift = _lagrangian_change(solution, transcribed) if judged else None
    offs, begin = [], 0.0
    for phase in solution.parts.values():
        each = _motion_error(phase, shift)
        offs.append(replace(each, time=begin + each.time))
        begin += phase.duration
    held = dict.fromkeys(label for each in offs for label in each.held)
    return replace(max(offs, key=lambda each: each.relative), held=tuple(held))


def _motion_error(solution: Solution, shift: np.ndarray | None) -> ApproximationError:
    """Return the error of a motion's formulation, where the Lagrangian shifts by so much."""
    known: Any = solution.formulation.approximation
    tree, t = solution.problem.tree, dense_instants(solution) * solution.duration
    planned, needed = (
        traces(each, {"needed": _required_forces}, t)["needed"]
        for each in (solution, with_exact_dynamics(solution))
    )
    peaks = np.maximum(1.0, np.abs(needed).max(axis=1, keepdims=True))
    error = np.abs(planned - needed)
    row, k = np.unravel_index(int(np.argmax(error / peaks)), error.shape)
    joint = tree.moving[row]
    return ApproximationError(
        dynamics=solution.formulation.name,
        described=known.description(tree),
        torque=float(error[row, k]),
        unit=unit_of(joint, "tau"),
        joint=joint.name,
        time=float(t[k]),
        relative=float(error[row, k] / peaks[row, 0]),
        objective=None if shift is None else float(shift.sum()),
        objective_bound=None if shift is None else float(np.abs(shift).sum()),
        held=_active_range_rows(solution),
    )


def _required_forces(at: Instant) -> object:
    return at.torques_without_ground


def _active_range_rows(solution: Solution) -> tuple[str, ...]:
    """Return the labels of the rows of the range that the objective leans on."""
    known = solution.multipliers.get(REACH)
    if known is None:
        return ()
    prices = np.abs(known.values).sum(axis=1)
    size = max(abs(solution.objective), 1.0)
    return tuple(label for label, price in zip(known.labels, prices) if price > PRICED * size)


def _lagrangian_change(solution: Solution, transcribed: Transcribed) -> np.ndarray | None:
    """Return the change of the Lagrangian's terms under exact mechanics; None for other rows.

    The optimum of a slightly changed program changes like the Lagrangian at its multipliers (the
    envelope theorem).
    """
    judge = replace(
        with_exact_dynamics(solution).transcription, derivatives="ad", kernels="virtual"
    )
    own, exact = (
        _lagrangian_terms(solution, program)
        for program in (transcribed, transcribe(solution.problem, judge))
    )
    return exact - own if len(own) == len(exact) else None


def _lagrangian_terms(solution: Solution, transcribed: Transcribed) -> np.ndarray:
    """Return the summands of the Lagrangian: rows times multipliers, and the objective.

    Rows that keep the range of a formulation are left out, of which an exact one has none.
    """
    x, _, multipliers = program_variables(solution, transcribed)
    nlp = transcribed.nlp
    shares = np.array(nlp.constraints(x)).ravel() * multipliers
    ranges = [placed.row.ravel() for placed in transcribed.rows if placed.name.endswith(REACH)]
    rows = np.concatenate([np.empty(0, dtype=int), *ranges])
    return np.append(np.delete(shares, rows[rows >= 0]), float(nlp.objective(x)))
