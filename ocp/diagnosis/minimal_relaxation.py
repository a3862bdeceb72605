"""Minimal constraint relaxation of an infeasible problem.

Bounds may be exceeded at a price relative to their size, and the total price is minimised. Prices
are then raised where little is paid, so that few rows give way (Candes, Wakin & Boyd 2008, section
2.2). First only rows with room between their bounds may give way, such as limits and the duration;
then all stated rows; last the laws of motion too.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ocp.diagnosis.elastic_weights import (
    Factor,
    Gives,
    Key,
    equal_price,
    is_any,
    is_room,
    is_stated,
    own_name,
    row_prices,
)
from ocp.diagnosis.explain import ProgramMotion, Row, program_motions, row_name, rows_at
from ocp.mechanics.values.validation import plain_amount
from ocp.problem.constraint import Constraint
from ocp.problem.reserved_names import DURATION
from ocp.solvers.budget import Budget, Start, Watch, relaxation_solver, spend, with_stage
from ocp.solvers.elastic_program import relax
from ocp.solvers.minimize import INTERRUPTED, Solver
from ocp.transcription.transcribe import Transcribed, transcribe
from ocp.transcription.variables.layout import (
    free_duration,
    join_variables,
    split_variables,
    values_at,
)
from ocp.transcription.variables.variable_bounds import duration_limits

STAGE = "what must give way"
WORK, FEWEST, MOST = 40_000, 400, 1000  # iterations: WORK over the variables, within bounds
SOLVE = 200  # iterations at most
ROUNDS = 2  # in which prices are raised where little is paid
SHARE = 0.1  # of the largest payment: rows that pay much less become this much dearer
PAID = 1e-2  # of all that is paid: a row that pays less need not give way
NOTHING = 1e-6  # a payment so small is none
LABELS = 3  # rows of a constraint are named
INSTEAD = 2  # other ways out are looked for
WIDER = 10.0  # times its bounds a duration becomes at most
NARROW = 1e-9  # relative, about a given duration, which so becomes an unknown that may give way


@dataclass(frozen=True, slots=True, kw_only=True)
class ExceededRow:
    """By what a row must give way: the largest `amount`, in its unit, at `t` (s); what is `paid`.

    That is relative to the bound, on the average of its instants.
    """

    constraint: Constraint
    number: int
    amount: float
    t: float
    paid: float

    @property
    def key(self) -> Key:
        """The constraint's name and the number of the row."""
        return self.constraint.name, self.number

    @property
    def words(self) -> str:
        """The amount with its unit, and when."""
        amount, unit = plain_amount(self.amount, self.constraint.unit(self.number))
        size = f"{amount:.4g} {unit}".rstrip()
        return size if own_name(self.constraint) == DURATION else f"{size} at t = {self.t:.4g} s"


@dataclass(frozen=True, slots=True, kw_only=True)
class Elastic:
    """The `lines` that name what must give way, and the `iterations` that it took to know."""

    lines: tuple[str, ...] = ()
    iterations: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class _Case:
    """A statement around the point x that comes nearest to it, and how it is looked at."""

    transcribed: Transcribed
    solver: Solver
    x: np.ndarray
    grant: Budget
    watch: Watch | None
    interrupted: bool = False

    @property
    def over(self) -> bool:
        """Tell whether no more may be asked."""
        return self.interrupted or self.grant.is_empty


def relax_minimally(
    transcribed: Transcribed,
    solver: Solver,
    x: np.ndarray,
    left: Budget,
    watch: Watch | None,
) -> Elastic:
    """Return the minimal relaxation of a statement, searched around the unknowns x.

    Iterations count against what is `left` of the user's options, beside a bound of their own.
    """
    if Budget(left=left.left).is_empty:
        return Elastic()
    most = min(MOST, max(FEWEST, WORK // max(1, len(x))))
    case = _with_free_duration(
        _Case(
            transcribed=transcribed,
            solver=relaxation_solver(solver),
            x=x,
            grant=replace(left, iterations=most),
            watch=with_stage(watch, STAGE),
        )
    )
    ways: list[list[ExceededRow]] = []
    case, rows = _first_relaxation(case, (is_room, is_stated, is_any))
    while rows and len(ways) <= INSTEAD:
        ways.append(rows)
        case, rows = _first_relaxation(
            case, (_except_named(ways, is_room), _except_named(ways, is_stated))
        )
    return Elastic(lines=_lines(ways), iterations=int(most - case.grant.iterations))


def _first_relaxation(
    case: _Case, choices: Sequence[Gives]
) -> tuple[_Case, list[ExceededRow] | None]:
    """Return the case with what is left, and the rows that give way by the first choice that does.

    None if by none a motion was found.
    """
    for gives in choices:
        case, rows = _fewest_rows(case, gives)
        if rows is not None or case.over:
            break
    return case, rows


def _except_named(ways: Sequence[Sequence[ExceededRow]], gives: Gives) -> Gives:
    """Return the choice of rows without the constraints of former relaxations."""
    named = {row.constraint.name for way in ways for row in way}
    return lambda constraint, number: constraint.name not in named and gives(constraint, number)


def _with_free_duration(case: _Case) -> _Case:
    """Return the case with a duration that is an unknown, were it given; given ones of phases stay.

    Parameters that are sought stay so, unless the duration is made of parameters.
    """
    part = case.transcribed.only_part
    if part is None or free_duration(part.layout.problem):
        return case
    layout, whole = part.layout, part.expand(case.x)
    (points, duration, lifted), values = split_variables(layout, whole), values_at(layout, whole)
    about = (duration * (1 - NARROW), duration * (1 + NARROW))
    stated = part.statement if layout.timed is None else part.problem
    sought = () if layout.timed is not None else part.free_names
    stated = replace(stated, motion=part.motion, duration=about)
    loose = transcribe(stated, part.transcription, free=sought)
    loose = loose.at(layout.values, layout.held_names)
    x = join_variables(loose.parts[0].layout, points, duration, lifted)
    x[loose.layout.parameters] = [values[each] for each in loose.layout.values]
    return replace(case, transcribed=loose, x=loose.shrink(x))


def _fewest_rows(case: _Case, gives: Gives) -> tuple[_Case, list[ExceededRow] | None]:
    """Return the case with what is left, and the fewest rows that must give way.

    None if even so no motion was found.
    """
    rows, x = None, case.x
    dearer: Factor = equal_price
    for _ in range(1 + ROUNDS):
        if case.over:
            break
        case, eased = _minimise_payment(case, gives, dearer, x)
        if eased is None:
            break
        x, rows = eased, _exceeded_rows(case.transcribed, eased)
        dearest = max((row.paid for row in rows), default=0.0)
        if len(rows) < 2:
            break
        dearer = _raised_prices({row.key: row.paid / dearest for row in rows})
    return case, rows


def _raised_prices(paid: Mapping[Key, float]) -> Factor:
    """Return factors of prices: the less of the largest payment a row pays, the dearer it is."""
    return lambda key: (1.0 + SHARE) / (paid.get(key, 0.0) + SHARE)


def _minimise_payment(
    case: _Case, gives: Gives, dearer: Factor, x: np.ndarray
) -> tuple[_Case, np.ndarray | None]:
    """Return the case with what is left, and the unknowns at which least is paid.

    None where the rows that may not give way are not met.
    """
    nlp = case.transcribed.nlp
    lower, upper = np.full((2, len(x)), np.inf) * [[-1.0], [1.0]]
    for place in _durations(case.transcribed):
        lower[place], upper[place] = nlp.lower[place] / WIDER, nlp.upper[place] * WIDER
    eased = relax(nlp, row_prices(case.transcribed, gives, dearer), x, (lower, upper))
    start = Start(x=eased.begin)
    outcome, grant = spend(eased.nlp, case.solver, start, case.grant, case.watch, most=SOLVE)
    stopped = outcome.status == INTERRUPTED
    case = replace(case, grant=grant, interrupted=stopped)
    return case, eased.point(outcome.x) if outcome.success else None


def _durations(transcribed: Transcribed) -> list[int]:
    """Return the indices of durations among the unknowns."""
    parts = zip(transcribed.parts, transcribed.columns)
    return [int(columns[0]) for part, columns in parts if free_duration(part.problem)]


def _exceeded_rows(transcribed: Transcribed, x: np.ndarray) -> list[ExceededRow]:
    """Return the rows that are exceeded at the unknowns x, those that pay most first."""
    whole = transcribed.expand(x)
    lasting = [_duration(each) for each in program_motions(transcribed, whole)]
    rows = [*rows_at(transcribed, whole), *lasting]
    paying = sorted(map(_row_excess, rows), key=lambda row: -row.paid)
    total = sum(row.paid for row in paying)
    return [row for row in paying if row.paid > max(NOTHING, PAID * total)]


def _row_excess(row: Row) -> ExceededRow:
    """Return by what a row is exceeded."""
    amounts = np.nan_to_num(row.beyond)
    k = int(np.argmax(amounts))
    return ExceededRow(
        constraint=row.constraint,
        number=row.number,
        amount=float(amounts[k]),
        t=float(row.t[k]),
        paid=float(np.mean(row.relative(amounts))),
    )


def _duration(each: ProgramMotion) -> Row:
    """Return the row of how long a motion lasts."""
    return Row(
        constraint=each.with_name(duration_limits(each.transcribed.problem)),
        number=0,
        values=np.array([each.duration]),
        t=np.array([each.begin + each.duration]),
    )


def _lines(ways: Sequence[Sequence[ExceededRow]]) -> tuple[str, ...]:
    """Return a line for every constraint that must give way, then those that might instead."""
    lines = []
    for number, way in enumerate(ways):
        together: dict[str, list[ExceededRow]] = {}
        for row in way:
            together.setdefault(row.constraint.name, []).append(row)
        for count, rows in enumerate(together.values()):
            first = "or instead " if number and not count else "and " if number else ""
            lines.append(first + _line(rows))
    return tuple(lines)


def _line(rows: Sequence[ExceededRow]) -> str:
    """Return the line of the rows of one constraint."""
    worst, *others = rows
    more = [f"({row.constraint.label(row.number)}) by {row.words}" for row in others[: LABELS - 1]]
    name = row_name(worst.constraint, worst.number)
    return "; ".join([f"{name}: must give way by {worst.words}", *more])
