"""Consistency of a solution of phases with its own parts: each phase, and their sum."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np

from ocp.certificate.checks.self_consistency import (
    EXACT,
    REAL,
    duration_faults,
    is_same,
    join_names,
    missing_parameters,
    objective_faults,
    statement_faults,
    status_faults,
)
from ocp.problem.reserved_names import SEPARATOR, name_in_phase, phase_label
from ocp.problem.statement import Problem
from ocp.solution.objective_values import Cost
from ocp.solution.solution import Solution
from ocp.transcription.transcribe import Transcribed
from ocp.transcription.transcription_settings import settings_of_parts

INSTANTS = 7  # at which the torques of two statements are compared


def misfit_of_phases(solution: Solution) -> str:
    """Return why no certificate can be made of a solution of phases, nothing where one can."""
    expected, given = list(solution.problem.parts), list(solution.parts)
    if given != expected:
        words = (join_names(str(name) for name in each if name) for each in (expected, given))
        return "phases: expected {}, got {}".format(*words)
    for name, phase in solution.parts.items():
        if not isinstance(phase, Solution):
            return f"phase {name!r}: expected a Solution, got {type(phase).__name__}"
        if name and not (phase.single_phase and not phase.impulses):
            return f"phase {name!r}: has phases or impulses of its own"
    return missing_parameters(solution) or next(_misplaced_impulses(solution), "")


def _misplaced_impulses(solution: Solution) -> Iterator[str]:
    """Yield impulses that are not those of the stated impacts."""
    stated = {each.name: each.points for each in solution.problem.transitions if each.strikes}
    if set(solution.impulses or ()) != set(stated):
        names = join_names(map(str, solution.impulses or ()))
        yield f"impulses: expected those of {join_names(stated)}, got {names}"
        return
    for name, points in stated.items():
        known = solution.impulses[name]
        if not isinstance(known, Mapping) or set(known) != set(points):
            yield f"impulses of {name}: expected those of {join_names(points)}"
            return
        for point, push in known.items():
            if np.shape(push) != (3,) or np.asarray(push).dtype.kind not in REAL:
                yield f"impulse of {point!r} at {name}: expected three real numbers"


def stated_parts(solution: Solution) -> Solution:
    """Return a solution whose phases are of the parts of its own problem, and solved as it was; one
    without phases is itself."""
    if solution.single_phase:
        return solution
    settings = settings_of_parts(solution.problem, solution.transcription)
    phases = {
        name: replace(
            phase,
            problem=settings[name].method.with_basis(solution.problem.parts[name]),
            transcription=settings[name],
            plan=None,
        )
        for name, phase in solution.parts.items()
    }
    return replace(solution, phases=phases)


def refusals(
    solution: Solution, stated: Solution, program: Transcribed, costs: Mapping[str, Cost | None]
) -> tuple[str, ...]:
    """Return lines that say why a solution cannot pass, whatever the tolerance.

    Args:
        solution: a Solution, with phases or without.
        stated: its `stated_parts`.
        program: its problem's program again.
        costs: {phase: Cost} at the solution's variables, None where the statement is not whole; by
            the name "" of a motion without phases.
    """
    lines = [*statement_faults(solution, program), *status_faults(solution)]
    lines += _part_faults(solution, stated)
    for name, motion in stated.parts.items():
        cost, where = costs[name], phase_label(name)
        faults = [*duration_faults(motion), *(objective_faults(motion, cost) if cost else ())]
        lines += (f"{where}{line}" for line in faults)
    if program.only_part is None:
        lines += _sum_faults(solution, [each for each in costs.values() if each is not None])
        lines += _multiplier_faults(solution)
        lines += _impulse_faults(solution, program)
    return tuple(lines)


def _part_faults(solution: Solution, judged: Solution) -> Iterator[str]:
    """Yield phases that are solutions of another problem than the whole's, as `judged` has them, or
    solved otherwise."""
    for name, phase in solution.parts.items():
        part = judged.parts[name].problem
        if (phase.success, phase.status) != (solution.success, solution.status):
            yield (
                f"phase {name!r}: status {phase.status!r}, that of the whole is {solution.status!r}"
            )
        if phase.problem is not part and not _same_motion(phase, part):
            yield f"phase {name!r}: its problem is another than the statement's"
        for which, value in phase.parameters.items():
            if solution.parameters.get(which) != value:
                yield f"phase {name!r}: parameter {which!r}: another than that of the whole"


def _same_motion(phase: Solution, part: Problem) -> bool:
    """Tell whether a phase moves and is driven as the statement has it."""
    judged = replace(phase, problem=part, plan=None)
    t = phase.times(INSTANTS)
    if (phase.problem.motion, phase.problem.tree.moving) != (part.motion, part.tree.moving):
        return False
    own, other = (np.array([each.q(t), each.tau(t)]) for each in (phase, judged))
    return np.allclose(own, other, rtol=EXACT, atol=EXACT)


def _sum_faults(solution: Solution, costs: list[Cost]) -> Iterator[str]:
    """Yield numbers of the whole that do not follow from its phases."""
    total = sum(solution.durations.values())
    if not is_same(solution.duration, total):
        yield f"duration: reported {solution.duration:.9g} s, its phases last {total:.9g} s"
    if np.size(solution.points):
        yield "control points: the whole has some beside those of its phases"
    terms = tuple(
        (name_in_phase(name, term), weight, value)
        for name, phase in solution.parts.items()
        for term, weight, value in phase.terms
    )
    if tuple(solution.terms) != terms:
        yield "objective: the terms of the whole are not those of its phases"
    scale = sum(abs(weight * value) for _, weight, value in terms)
    summed = sum(each.summed for each in costs)
    if costs and not is_same(solution.objective, summed, scale):
        yield f"objective: reported {solution.objective:.9g}, its variables make it {summed:.9g}"


def _multiplier_faults(solution: Solution) -> Iterator[str]:
    """Yield multipliers that a phase has otherwise than the whole."""
    for name, phase in solution.parts.items():
        begin = f"{name}{SEPARATOR}"
        whole = {str(what) for what in solution.multipliers if str(what).startswith(begin)}
        if whole != {f"{begin}{what}" for what in phase.multipliers}:
            yield f"phase {name!r}: its multipliers are of other names than the whole's"
            continue
        for what, each in phase.multipliers.items():
            other = solution.multipliers[f"{begin}{what}"]
            if np.shape(other.values) != np.shape(each.values) or not np.array_equal(
                other.values, each.values, equal_nan=True
            ):
                yield f"multipliers of {begin}{what}: the whole and its phase have others"


def _impulse_faults(solution: Solution, transcribed: Transcribed) -> Iterator[str]:
    """Yield impulses along what no motion feels, which are no variables of the program."""
    for asking in transcribed.links:
        if not asking.strikes:
            continue
        known = solution.impulses[asking.name]
        felt = asking.impulses_at(asking.variables_at(known))
        for point, push in known.items():
            size = max(float(np.abs(push).max()), 1.0)
            if not np.abs(felt[point] - push).max() <= EXACT * size:
                yield f"impulse of {point!r} at {asking.name}: acts where no motion feels it"
