"""Explanation of a failed solve: meaning of its status, violated rows, active bounds."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ocp.diagnosis.elastic_weights import scale_of
from ocp.dynamics import inverse_dynamics
from ocp.dynamics.closed_loops import handedness
from ocp.mechanics.model.tree_structure import structure
from ocp.mechanics.values.validation import unit_of
from ocp.problem.constraint import Constraint
from ocp.problem.reserved_names import name_in_phase
from ocp.solvers.minimize import Outcome
from ocp.solvers.nlp import violation
from ocp.transcription.kernels.kernels import evaluate
from ocp.transcription.transcribe import Transcribed
from ocp.transcription.transcribe_phase import TranscribedPhase
from ocp.transcription.variables.layout import duration_at, instants_at, split_variables, values_at
from ocp.transcription.variables.variable_bounds import parameter_limits

MEANING = {
    "Infeasible_Problem_Detected": "converged to a point where the violation cannot be reduced "
    "locally: the requirements may contradict each other, or the start is far off",
    "Restoration_Failed": "the feasibility restoration failed: often badly scaled or redundant "
    "constraints",
    "Maximum_Iterations_Exceeded": "ran out of iterations: raise max_iter or start from a better "
    "guess",
    "Maximum_CpuTime_Exceeded": "ran out of CPU time",
    "Maximum_WallTime_Exceeded": "ran out of time",
    "Diverging_Iterates": "the iterates grow without bound: bound the duration or the joints",
    "Search_Direction_Becomes_Too_Small": "no further progress is possible, with tolerances not "
    "reached",
    "Invalid_Number_Detected": "a function or derivative became NaN or infinite on the way",
    "Invalid_Option": "the solver refused an option at its start; a linear solver that this "
    "installation lacks is the usual cause",
    "Not_Enough_Degrees_Of_Freedom": "more equalities than free variables: add control points or "
    "drop requirements",
    "Solved_To_Acceptable_Level": "done by looser tolerances than asked for, at a point that does "
    "not meet bounds and first-order conditions in the problem's own units: often badly scaled",
    "Knots_Unsettled": "a motion meets all that is asked, but its free knots did not come to rest; "
    "this is the best of them: take fewer points, a lower degree or more spacing",
    "User_Requested_Stop": "interrupted; this is the best iterate seen",
}
WORST = 5  # of a kind are named
ENDLESS = -1e15  # an objective below it has no minimum
VISIBLE = 1e-8  # a smaller violation is none
TINY = 1e-12  # of a limit, so that none is zero
HEAVY = 5.0  # times a drive's limit: a weight that is likely in other units
NEAR = 1e-6  # of a bound, relative: what lies so near leans on it


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A row of a constraint, with its values (N,) at the times t (N,), s, when it is asked for."""

    constraint: Constraint
    number: int
    values: np.ndarray
    t: np.ndarray

    @property
    def bounds(self) -> tuple[float, float]:
        """Lower and upper bound."""
        return self.constraint.lower_of(self.number), self.constraint.upper_of(self.number)

    @property
    def name(self) -> str:
        """Name of its constraint, with its label."""
        return row_name(self.constraint, self.number)

    @property
    def unit(self) -> str:
        """Its unit."""
        return self.constraint.unit(self.number)

    @property
    def beyond(self) -> np.ndarray:
        """Distance of the values (N,) from the bounds that they exceed."""
        return violation(self.values, *self.bounds)

    def relative(self, amounts: np.ndarray) -> np.ndarray:
        """Return amounts (N,) relative to the bound that is exceeded, where that is above 1."""
        lower, upper = self.bounds
        above, below = scale_of(self.constraint, upper), scale_of(self.constraint, lower)
        bound = np.where(self.values > upper, above, below)
        return amounts / bound


def explain(
    transcribed: Transcribed, outcome: Outcome, yielding: Sequence[str] = ()
) -> tuple[str, ...]:
    """Return lines that say why a solve failed.

    The status in plain words, what must give way (`yielding`), the rows that are worst relative to
    their bounds, what leans on its bounds.
    """
    status = outcome.status
    violated: list[tuple[float, str]] = []
    leaning: dict[str, tuple[int, int]] = {}
    for row in rows_at(transcribed, outcome.x):
        violated += _worst_violation(row)
        leaning |= _active_bounds(row)
    worst = sorted(violated, key=lambda pair: -pair[0])[:WORST]
    most = sorted(leaning.items(), key=lambda item: -item[1][0])[:WORST]
    return (
        f"{status}: {MEANING[status]}" if status in MEANING else status,
        *_without_minimum(outcome),
        *_excess_equalities(transcribed),
        *yielding,
        *(text for _, text in worst),
        *(
            f"{motion.name}{line}"
            for motion in program_motions(transcribed, outcome.x)
            for rule in END_RULES
            for line in rule(motion)
        ),
        *(f"{text}: {count} of {total} instants" for text, (count, total) in most),
    )


def _without_minimum(outcome: Outcome) -> Iterator[str]:
    if outcome.f < ENDLESS:
        falls = f"the objective has fallen to {outcome.f:.2g} and has no minimum"
        yield f"{falls}: take positive weights, or bound what a negative one rewards"


def _excess_equalities(transcribed: Transcribed) -> Iterator[str]:
    nlp = transcribed.nlp
    equal, free = np.sum(nlp.g_lower == nlp.g_upper), np.sum(nlp.lower < nlp.upper)
    if equal > free:
        yield (
            f"{equal} equalities stand against {free} free variables, so that not all can hold: "
            "more control points or intervals, or fewer requirements"
        )


def row_name(constraint: Constraint, number: int) -> str:
    """Return the name of a row: its constraint's, and its label."""
    return f"{constraint.name} ({constraint.label(number)})"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramMotion:
    """A motion within a program: the `transcribed` phase and its variables `x`; its name as names
    of the whole begin with it, and its start (s)."""

    transcribed: TranscribedPhase
    x: np.ndarray
    name: str = ""
    begin: float = 0.0

    @property
    def duration(self) -> float:
        """Duration (s)."""
        return duration_at(self.transcribed.layout, self.x)

    def with_name(self, constraint: Constraint) -> Constraint:
        """Return a constraint by its name in the whole program."""
        name = f"{self.name}{constraint.name}"
        return replace(constraint, name=name) if self.name else constraint


def program_motions(transcribed: Transcribed, x: np.ndarray) -> Iterator[ProgramMotion]:
    """Yield the motions of all phases, of the variables x of the whole."""
    begin = 0.0
    for name, part, columns in zip(transcribed.names, transcribed.parts, transcribed.columns):
        label = name_in_phase(name, "")
        each = ProgramMotion(transcribed=part, x=x[columns], name=label, begin=begin)
        yield each
        begin += each.duration


def rows_at(transcribed: Transcribed, x: np.ndarray) -> Iterator[Row]:
    """Yield all rows of all constraints with their values at x, that of the whole motion, then the
    parameters that are sought within their bounds.

    The time of a row that joins both ends is that of the end.
    """
    layout, known = transcribed.layout, list(program_motions(transcribed, x))
    for each in known:
        yield from _rows(each)
    yield from _link_rows(transcribed, x, [each.begin + each.duration for each in known])
    for place, (parameter, value) in zip(
        range(len(x))[layout.parameters], values_at(layout, x).items()
    ):
        if place not in layout.held_places:
            limits = parameter_limits(parameter)
            yield Row(constraint=limits, number=0, values=np.array([value]), t=np.zeros(1))


def _rows(each: ProgramMotion) -> Iterator[Row]:
    """Yield the rows of one motion that are asked for at some instant."""
    layout, x = each.transcribed.layout, each.x
    for group in each.transcribed.groups:
        values = evaluate(group.kernel.values, group.inputs(x), group.s)
        for line, asked, (constraint, number) in zip(values, group.active, group.owners):
            if not asked.any():
                continue
            s = np.ones(1) if constraint.when == "joined" else group.s[asked]
            t = each.begin + instants_at(layout, x, s) * each.duration
            yield Row(constraint=each.with_name(constraint), number=number, values=line[asked], t=t)


def _link_rows(transcribed: Transcribed, x: np.ndarray, ends: Sequence[float]) -> Iterator[Row]:
    """Yield the rows of what joins phases, which end at so many s; of durations at the last end."""
    for asking, group in zip(transcribed.links, transcribed.groups):
        t = np.array([ends[asking.sides[0].part] if asking.name else ends[-1]])
        values = evaluate(group.kernel.values, group.inputs(x), group.s)
        for line, (constraint, number) in zip(values, group.owners):
            yield Row(constraint=constraint, number=number, values=line, t=t)


def _worst_violation(row: Row) -> list[tuple[float, str]]:
    """Return (relative amount, line) of the instant at which a row is farthest outside its bounds.

    None where it is inside; not a number is the worst.
    """
    amounts = row.beyond
    amounts[np.isnan(row.values)] = np.inf
    k = int(np.argmax(amounts))
    if not amounts[k] > VISIBLE:
        return []
    size = f"{amounts[k]:.4g} {row.unit}".rstrip()
    line = f"{row.name}: violated by {size} at t = {row.t[k]:.4g} s"
    return [(float(row.relative(amounts)[k]), line)]


def _active_bounds(row: Row) -> dict[str, tuple[int, int]]:
    """Return {line: (at how many instants, of how many)} of the bounds at which a row lies."""
    lower, upper = row.bounds
    counts = {}
    for side, bound in (("lower", lower), ("upper", upper)) if lower < upper else ():
        close = np.abs(row.values - bound) <= NEAR * max(1.0, abs(bound))
        if np.isfinite(bound) and close.any():
            where = f"{row.name} at its {side} bound {bound:g} {row.unit}"
            counts[where] = int(close.sum()), len(close)
    return counts


def _stuck_duration(motion: ProgramMotion) -> list[str]:
    """Return a line for the bound at which a free duration ended."""
    duration, (least, most) = motion.duration, motion.transcribed.problem.duration
    return [
        f"duration stuck at its {side} bound {bound:g} s"
        for side, bound in (("lower", least), ("upper", most))
        if least < most and abs(duration - bound) <= 1e-4 * bound
    ]


def _changed_assembly(motion: ProgramMotion) -> list[str]:
    """Return a line if a motion cannot pass from its start's assembly of the loops to its end's."""
    problem = motion.transcribed.problem
    points, *_ = split_variables(motion.transcribed.layout, motion.x)
    drawn = structure(problem.tree)
    if not drawn.closed:
        return []
    ends = problem.motion.values(np.array([0.0, 1.0])) @ points.T
    if len({handedness(problem.tree, q, drawn.passive) for q in ends}) == 1:
        return []
    return [
        "start and end lie in different assemblies of the loops: between them is a configuration "
        "in which the drives do not hold the mechanism; "
        "ocp.mechanics.close_coordinates follows one assembly"
    ]


def _weak_drives(motion: ProgramMotion) -> list[str]:
    """Return lines on drives that are far too weak for the weight at rest, or for the way from
    start to end in the longest duration, as with masses in g or lengths in mm."""
    problem = motion.transcribed.problem
    points, *_ = split_variables(motion.transcribed.layout, motion.x)
    tree, drawn = problem.tree, structure(problem.tree)
    limits = np.array([np.max(np.abs(joint.torque)) for joint in tree.moving])
    if drawn.closed or drawn.passive or problem.ground is not None or len(limits) != tree.dof:
        return []
    still = np.zeros(tree.dof)
    postures = problem.motion.values(np.linspace(0.0, 1.0, 3)) @ points.T
    weights = [np.array(inverse_dynamics(tree, q, still, still)).ravel() for q in postures]
    # Half of the way speeding up, half of it slowing down
    least = 4.0 * np.diag(np.abs(postures[-1] - postures[0])) / problem.duration[1] ** 2
    ways = [
        [float(inverse_dynamics(tree, q, still, least[k])[k] - held[k]) for k in range(tree.dof)]
        for q, held in zip(postures, weights)
    ]
    loads = (
        ("holds {} at rest against gravity", np.abs(weights).max(axis=0), ""),
        (
            "takes {} at least, from rest to rest in the longest duration",
            np.abs(ways).min(axis=0),
            ", times in s",
        ),
    )
    lines = []
    for words, torques, more in loads:
        shares = torques / np.maximum(limits, TINY)
        k = int(np.argmax(shares))
        if shares[k] > HEAVY:
            unit = unit_of(tree.moving[k], "tau")
            load = words.format(f"{torques[k]:.4g} {unit}")
            lines.append(
                f"{tree.moving[k].name}: {load}, {shares[k]:.3g} times its limit of {limits[k]:g} "
                f"{unit}: are masses in kg, lengths in m{more}?"
            )
    return lines


# Each gives lines on how a motion ended
END_RULES = (_stuck_duration, _changed_assembly, _weak_drives)
