"""Consistency of a solution's report with its own variables.

A certificate cannot judge missing numbers, and does not judge false ones.
"""

from collections.abc import Iterable, Iterator, Mapping

import numpy as np

from ocp.problem.reserved_names import DURATION, PARAMETER, SOUND, name_in_phase
from ocp.solution.objective_values import Cost
from ocp.solution.solution import Solution
from ocp.solvers.statuses import says_done
from ocp.transcription.transcribe import Transcribed
from ocp.transcription.transcribe_phase import TranscribedPhase

EXACT = 1e-9  # relative: what is computed twice from the same numbers differs by no more
NOISE = 1e-12  # absolutely
REAL = "fiu"  # the kinds of arrays that hold real numbers


def misfit(solution: Solution, transcribed: TranscribedPhase) -> str:
    """Return why no certificate can be made of a solution, nothing where one can.

    Its numbers do not make variables and multipliers of the program that is `transcribed` again.
    """
    problem, layout = solution.problem, transcribed.layout
    points = (problem.tree.dof, problem.motion.points)
    for what, array, shape in (
        ("control points", solution.points, points),
        ("nodes", solution.nodes, layout.nodes.shape),
        ("lifted", solution.lifted, layout.place.shape),
    ):
        if np.shape(array) != shape:
            return f"{what}: expected numbers of shape {shape}, got {np.shape(array)}"
        if np.asarray(array).dtype.kind not in REAL:
            return f"{what}: expected real numbers, got {np.asarray(array).dtype}"
    if not np.allclose(solution.nodes, layout.nodes, rtol=0.0, atol=EXACT):
        return "nodes: torques and ground wrenches stand at other instants than the program's"
    if not (np.isfinite(solution.duration) and solution.duration > 0):
        return f"duration: expected a positive number of s, got {solution.duration:g}"
    return missing_parameters(solution) or next(_misplaced_multipliers(solution, transcribed), "")


def _misplaced_multipliers(solution: Solution, transcribed: TranscribedPhase) -> Iterator[str]:
    """Yield multipliers that do not fit the program's rows and instants."""
    for placed in transcribed.rows:
        known = solution.multipliers.get(placed.name)
        if known is None:
            continue
        expected = placed.row.shape
        if np.shape(known.values) != expected or np.shape(known.s) != expected[1:]:
            sizes = f"{np.shape(known.values)} at {np.size(known.s)} instants"
            yield f"multipliers of {placed.name}: expected numbers of shape {expected}, got {sizes}"
        elif np.asarray(known.values).dtype.kind not in REAL:
            yield f"multipliers of {placed.name}: expected real numbers"
        elif not np.allclose(known.s, placed.s, rtol=0.0, atol=EXACT):
            yield f"multipliers of {placed.name}: stand at other instants than the program's"


def missing_parameters(solution: Solution) -> str:
    """Return the plan's parameters that a solution has no numbers for, in words; "" where it has
    all.
    """
    known = solution.parameters
    if not isinstance(known, Mapping):
        return f"parameters: expected numbers by name, got {type(known).__name__}"
    stated = () if solution.plan is None else solution.plan.parameters
    names = [each.name for each in stated if each.name not in known]
    return f"parameters: {join_names(names)} missing" if names else ""


def lacks_multipliers(solution: Solution, transcribed: Transcribed) -> bool:
    """Tell whether there are constraints or laws, but no multipliers to judge them by."""
    return bool(transcribed.rows) and not solution.multipliers


def statement_faults(solution: Solution, transcribed: Transcribed) -> Iterator[str]:
    """Yield missing parts of the statement or of its multipliers."""
    if solution.missing:
        yield (
            f"its file lacks {', '.join(solution.missing)}, so that it cannot be judged: "
            "load(path, problem) makes it whole"
        )
        return
    known = {placed.name for placed in transcribed.rows}
    phases = [name_in_phase(name, "") for name in solution.parts]
    known |= {f"{begin}{DURATION}" for begin in phases}
    known |= {
        f"{begin}{PARAMETER.format(name)}"
        for begin in ("", *phases)
        for name in solution.parameters
    }
    sound = tuple(f"{begin}{SOUND.format('')}" for begin in phases)
    strange = [
        name
        for name in solution.multipliers
        if name not in known and not str(name).startswith(sound)
    ]
    if strange:
        yield (
            f"multipliers of {join_names(map(str, strange))}: the problem has no such constraints, "
            "so it is not the one that was solved"
        )
    if solution.multipliers:
        for placed in transcribed.rows:
            if placed.name not in solution.multipliers:
                yield f"multipliers of {placed.name}: missing, so that it cannot be judged"
    for name, known_by_name in solution.multipliers.items():
        if not np.isfinite(known_by_name.values).all():
            yield f"multipliers of {name}: not all are numbers"
    if lacks_multipliers(solution, transcribed):
        yield "no multipliers: whether the motion is optimal cannot be judged"


def status_faults(solution: Solution) -> Iterator[str]:
    """Yield signs that the solver was not done."""
    statistics, status = solution.statistics, solution.status
    solver = str(statistics.get("plugin", ""))
    ended = [*statistics.get("stages", ())]
    if not solution.success:
        yield f"not solved: {status}"
    elif not says_done(solver, status):
        yield f"status {status!r}: not what {solver or 'a solver'} says when it is done"
    elif not (solver and ended):
        yield "statistics: name no solver, or not how it ended"
    elif status not in ended:
        yield f"status {status!r}: the solver ended with {', '.join(map(repr, ended))}"


def duration_faults(solution: Solution) -> Iterator[str]:
    """Yield a given duration that is another."""
    lower, upper = solution.problem.duration
    if lower == upper and not abs(solution.duration - lower) <= EXACT * lower:
        yield f"duration: reported {solution.duration:.9g} s, the problem gives {lower:.9g} s"


def objective_faults(solution: Solution, cost: Cost) -> Iterator[str]:
    """Yield terms and objectives that are not those of the reported variables."""
    named = [term.name for _, term in solution.problem.objective.terms]
    weights = [weight for weight, _ in solution.problem.objective.terms]
    if [name for name, *_ in solution.terms] != named:
        yield (
            f"objective: reported terms {join_names(name for name, *_ in solution.terms)}, "
            f"the problem has {join_names(named)}"
        )
    else:
        for (name, stated, reported), weight, value in zip(
            solution.terms, weights, cost.terms.tolist()
        ):
            if not is_same(stated, float(weight)):
                yield f"{name}: reported weight {stated:.9g}, the problem's is {weight:.9g}"
            if not is_same(reported, value):
                yield f"{name}: reported {reported:.9g}, its variables make it {value:.9g}"
    weighed = zip(solution.problem.objective.terms, cost.terms.tolist())
    scale = float(np.sum([abs(weight * value) for (weight, _), value in weighed]))
    if not is_same(solution.objective, cost.summed, scale):
        yield (
            f"objective: reported {solution.objective:.9g}, its variables make it {cost.summed:.9g}"
        )


def is_same(reported: float, value: float, scale: float | None = None) -> bool:
    """Tell whether two numbers are one; not a number is none."""
    size = abs(value) if scale is None else scale
    return bool(abs(reported - value) <= max(EXACT * size, NOISE))


def join_names(names: Iterable[str]) -> str:
    """Return names in a line."""
    return ", ".join(names) or "none"
