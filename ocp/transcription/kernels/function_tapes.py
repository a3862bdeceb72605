"""Functions of an Instant as data: their questions, and a tape of their operations.

A function is called once with an instant that records, which answers every question with symbols;
the scalar graph of its values is kept as arrays. Played again, a tape asks an Instant the same
questions and repeats the operations, which are those of a closed table: a tape can compute and do
nothing else, whoever wrote it.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np

from ocp.mechanics.model.tree import Tree
from ocp.mechanics.values.types import Matrix
from ocp.problem.contact.ground import Ground
from ocp.problem.instant import Instant
from ocp.problem.statement import Problem
from ocp.transcription.kernels.kernels import as_column
from ocp.transcription.kernels.recording_instant import (
    ATTRIBUTES,
    CLOSINGS,
    PLACES,
    QUANTITIES,
    RATE,
    SCALARS,
    WHOLE,
    NotRecordable,
    Question,
    RecordingInstant,
)

ANGLES = ("SIN", "COS", "TAN", "ASIN", "ACOS", "ATAN", "SINH", "COSH", "TANH")
CURVES = ("ASINH", "ACOSH", "ATANH", "ERF", "ERFINV", "EXP", "EXPM1", "LOG", "LOG1P", "SQRT")
STEPS = ("ASSIGN", "NEG", "SQ", "TWICE", "INV", "NOT", "FLOOR", "CEIL", "FABS", "SIGN")
CHOICES = ("LT", "LE", "EQ", "NE", "AND", "OR", "IF_ELSE_ZERO", "FMIN", "FMAX", "COPYSIGN")
SUMS = ("ADD", "SUB", "MUL", "DIV", "POW", "CONSTPOW", "ATAN2", "HYPOT", "FMOD", "REMAINDER")
UNARY, BINARY = (*ANGLES, *CURVES, *STEPS), (*CHOICES, *SUMS, "LIFT")
PHASE = "phase"  # of which a duration is asked
CONSTANT, LEAF = "CONSTANT", "LEAF"
OPERATIONS = (CONSTANT, LEAF, *UNARY, *BINARY)
CODES = {name: code for code, name in enumerate(OPERATIONS)}
UNTRACED = (AttributeError, TypeError, ValueError, RuntimeError, LookupError)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Tape:
    """A function as data.

    `questions` and the `sizes` of their answers; `codes` (N,) of the operations, numbers in
    OPERATIONS; `operands` (2, N), the steps they take, each an earlier one: of a constant its
    number in `constants`, of a leaf those of the question and of the entry; `results` (m,), the
    steps that are the function's values. Raises ValueError for what is no such tape.
    """

    questions: tuple[Question, ...]
    sizes: tuple[int, ...]
    codes: np.ndarray
    operands: np.ndarray
    constants: np.ndarray
    results: np.ndarray

    def __post_init__(self) -> None:
        _check(self)

    def __repr__(self) -> str:
        asked = ", ".join(" ".join(map(str, question[1:])) for question in self.questions)
        return f"Tape({len(self.codes)} steps on {asked or 'nothing'})"

    @property
    def digest(self) -> str:
        """The hash of its content, the same on every machine."""
        import hashlib  # which few programs need

        names = [OPERATIONS[code] for code in self.codes.tolist()]
        total = hashlib.sha256(json.dumps([self.questions, self.sizes, names]).encode())
        for part, kind in ((self.operands, "<i4"), (self.constants, "<f8"), (self.results, "<i4")):
            total.update(np.ascontiguousarray(part, dtype=kind).tobytes())
        return total.hexdigest()

    @cached_property
    def function(self) -> ca.Function:
        """The Function (answers) -> values (m, 1)."""
        leaves = [ca.SX.sym(f"a{k}", size) for k, size in enumerate(self.sizes)]
        entries = [ca.vertsplit(leaf) for leaf in leaves]
        steps: list[Matrix] = []
        for code, first, second in zip(self.codes.tolist(), *self.operands.tolist()):
            name = OPERATIONS[code]
            if name == CONSTANT:
                steps.append(ca.SX(float(self.constants[first])))
            elif name == LEAF:
                steps.append(entries[first][second])
            elif name in UNARY:
                steps.append(ca.SX.unary(getattr(ca, f"OP_{name}"), steps[first]))
            else:
                code = getattr(ca, f"OP_{name}")
                steps.append(ca.SX.binary(code, steps[first], steps[second]))
        values = ca.vertcat(*(steps[step] for step in self.results.tolist()))
        return ca.Function("tape", leaves, [ca.densify(ca.SX(values))])

    def __call__(self, *answers: Matrix) -> Matrix:
        """Return the values (m, 1) for answers to the questions."""
        return self.function.call([ca.densify(ca.vec(answer)) for answer in answers])[0]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Played:
    """A tape as the function of one Instant, or of both ends of a motion, that it was made of."""

    tape: Tape

    def __call__(self, *instants: Instant) -> Matrix:
        return self.tape(*(_answer(instants[which], *rest) for which, *rest in self.tape.questions))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Timed:
    """A tape as a function of time t (s)."""

    tape: Tape

    def __call__(self, t: Matrix) -> Matrix:
        return self.tape(*(t for _ in self.tape.questions))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Lasted:
    """A tape as a function of the durations of phases, {name: T} (s)."""

    tape: Tape

    def __call__(self, durations: Mapping[str, Matrix]) -> Matrix:
        return self.tape(*(durations[name] for *_, name in self.tape.questions))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Varied:
    """Tapes of one function of an Instant, by the `trees` of phases that carry different things and
    the `grounds` on which these stand."""

    trees: tuple[Tree, ...]
    grounds: tuple[Ground | None, ...]
    tapes: tuple[Tape, ...]

    def __call__(self, at: Instant) -> Matrix:
        known = list(zip(self.trees, self.grounds))
        return Played(tape=self.tapes[known.index((at.tree, at.ground))])(at)


def record(problem: Problem, function: Callable[..., Matrix], ends: int = 1) -> Tape:
    """Return the Tape of a function of an Instant, or with `ends` 2 of both ends of a motion.

    Raises NotData if it cannot be had.
    """
    return _tape_of(*call_with_symbols(problem, function, ends))


def record_across(problems: Sequence[Problem], function: Callable[..., Matrix]) -> Tape:
    """Return the Tape of a function of Instants, one of each problem's; raise NotData if it cannot
    be had."""
    return _tape_of(*call_across(problems, function))


def call_with_symbols(
    problem: Problem, function: Callable[..., Matrix], ends: int = 1
) -> tuple[dict[Question, Matrix], Matrix]:
    """Return the questions of a function of an Instant, {question: symbol}, and its values, a
    column.

    Raises NotData if it cannot be called so.
    """
    return call_across((problem,) * ends, function)


def call_across(
    problems: Sequence[Problem], function: Callable[..., Matrix]
) -> tuple[dict[Question, Matrix], Matrix]:
    """Return the questions of a function of Instants, one of each problem's, as
    `call_with_symbols`."""
    asked: dict[Question, Matrix] = {}
    listeners = [
        RecordingInstant(problem=each, which=k, asked=asked) for k, each in enumerate(problems)
    ]
    return asked, _column_of(function, *listeners)


def record_of_time(function: Callable[..., Matrix]) -> Tape:
    """Return the Tape of a function of time t (s); raise NotData if it cannot be had."""
    return _tape_of(*call_of_time(function))


def call_of_time(function: Callable[..., Matrix]) -> tuple[dict[Question, Matrix], Matrix]:
    """Return {question: time symbol} and the values of a function of time (s)."""
    t = ca.SX.sym("t")
    return {(0, "t"): t}, _column_of(function, t)


def record_of_state(function: Callable[..., Matrix], vectors: Sequence[str], size: int) -> Tape:
    """Return the Tape of a function of some coordinates, "q", and of their rates, "qd", by which
    `vectors` (size,) it takes; raise NotData if it cannot be had."""
    asked = {(0, what): ca.SX.sym(what, size) for what in vectors}
    return _tape_of(asked, _column_of(function, *asked.values()))


def record_of_durations(names: Sequence[str], function: Callable[..., Matrix]) -> Tape:
    """Return the Tape of a function of the durations of named phases; raise NotData if it cannot be
    had."""
    return _tape_of(*call_of_durations(names, function))


def call_of_durations(
    names: Sequence[str], function: Callable[..., Matrix]
) -> tuple[dict[Question, Matrix], Matrix]:
    """Return the symbols of durations as answers, and the values of a function of {name: T} (s), as
    `call_with_symbols`."""
    durations = {name: ca.SX.sym(f"T_{name}") for name in names}
    return {(0, PHASE, name): T for name, T in durations.items()}, _column_of(function, durations)


def same_function(first: Tape, second: Tape) -> bool:
    """Tell whether two tapes are one function, but for rounding.

    Tapes with other operations, as another version of CasADi makes them, are compared by their
    values at seeded answers.
    """
    if first.digest == second.digest:
        return True
    if (first.questions, first.sizes) != (second.questions, second.sizes):
        return False
    if len(first.results) != len(second.results):
        return False
    random = np.random.default_rng(0)
    answers = [[random.uniform(0, 1, size) for size in first.sizes] for _ in range(32)]
    one, other = (np.array([np.array(each(*row)) for row in answers]) for each in (first, second))
    return np.allclose(one, other, rtol=1e-9, atol=1e-12, equal_nan=True)


def check(problem: Problem, tape: Tape, ends: int = 1) -> None:
    """Raise ValueError or LookupError unless an instant of the problem can answer a tape."""
    check_across((problem,) * ends, tape)


def check_across(problems: Sequence[Problem], tape: Tape) -> None:
    """Raise ValueError or LookupError unless instants of the problems can answer a tape."""
    for (which, what, *names), size in zip(tape.questions, tape.sizes):
        answer = ca.SX(
            ca.vec(ca.SX(_answer(RecordingInstant(problem=problems[which]), what, *names)))
        )
        if answer.numel() != size:
            raise ValueError(f"tape: {what} has no {size} entries at instant {which + 1}")


def check_durations(names: Sequence[str], tape: Tape) -> None:
    """Raise ValueError unless the durations of named phases can answer a tape."""
    for (_, what, *name), size in zip(tape.questions, tape.sizes):
        if what != PHASE or name[0] not in names or size != 1:
            raise ValueError(f"tape: {what} is no duration of a phase")


def _column_of(function: Callable[..., Matrix], *arguments: object) -> Matrix:
    """Return a function's values as a column; raise NotData if it cannot be called so."""
    try:
        return as_column("function", function(*arguments))
    except UNTRACED as error:
        raise NotRecordable(str(error).partition("\n")[0]) from None


def _tape_of(asked: dict[Question, Matrix], values: Matrix) -> Tape:
    """Return the Tape of values that are expressions of symbols {question: symbol}."""
    try:
        function = ca.Function("tape", list(asked.values()), [ca.densify(values)])
    except RuntimeError:
        raise NotRecordable("it depends on symbols of its own") from None
    names = {getattr(ca, f"OP_{name}"): name for name in (*UNARY, *BINARY)}
    codes: list[int] = []
    operands: list[tuple[int, int]] = []
    constants: list[float] = []
    results = np.zeros(values.numel(), dtype=int)
    step_of: dict[int, int] = {}
    for number in range(function.n_instructions()):
        operation = function.instruction_id(number)
        taken, given = function.instruction_input(number), function.instruction_output(number)
        if operation == ca.OP_OUTPUT:
            results[given[1]] = step_of[taken[0]]
            continue
        if operation == ca.OP_CONST:
            name, pair = CONSTANT, (len(constants), 0)
            constants.append(function.instruction_constant(number))
        elif operation == ca.OP_INPUT:
            name, pair = LEAF, (taken[0], taken[1])
        elif operation in names:
            name, pair = names[operation], (step_of[taken[0]], step_of[taken[-1]])
        else:
            raise NotRecordable("it calls functions that are no scalar operations")
        step_of[given[0]] = len(codes)
        codes.append(CODES[name])
        operands.append(pair)
    return Tape(
        questions=tuple(asked),
        sizes=tuple(symbol.numel() for symbol in asked.values()),
        codes=np.array(codes, dtype=int),
        operands=np.array(operands, dtype=int).reshape(-1, 2).T,
        constants=np.array(constants, dtype=float),
        results=results,
    )


def _check(tape: Tape) -> None:
    """Raise ValueError unless every step takes earlier ones, and every leaf and constant exists."""
    steps, (first, second) = np.arange(len(tape.codes)), tape.operands
    kinds = [np.isin(tape.codes, [CODES[name] for name in names]) for names in (UNARY, BINARY)]
    constant, leaf = tape.codes == CODES[CONSTANT], tape.codes == CODES[LEAF]
    counts = np.append(tape.sizes, 0).astype(int)
    sound = [
        len(tape.sizes) == len(tape.questions),
        (constant | leaf | kinds[0] | kinds[1]).all(),
        (tape.operands >= 0).all(),
        (first < steps)[kinds[0] | kinds[1]].all(),
        (second < steps)[kinds[1]].all(),
        (first < len(tape.constants))[constant].all(),
        (first < len(tape.sizes))[leaf].all(),
        (second < counts[np.clip(first, 0, len(tape.sizes))])[leaf].all(),
        ((tape.results >= 0) & (tape.results < len(steps))).all(),
    ]
    if not all(sound):
        raise ValueError("tape: a step takes what there is not")


def _answer(at: Any, what: str, *names: str) -> Matrix:
    """Return the answer of an Instant to a question of a tape."""
    if what == RATE:
        return at.rate(ca.vec(_answer(at, names[0], *names[1:])))
    if what == PHASE:
        raise ValueError("tape: an instant does not know how long phases last")
    if what in (*QUANTITIES, *SCALARS, *CLOSINGS, *WHOLE):
        return getattr(at, ATTRIBUTES.get(what, what))
    if what in (*PLACES, "offset", "orientation"):
        return getattr(at, what)(*names)
    if what == "pose":
        return at.pose(*names)[:3, :]
    if what == "frame":
        return at.frames[names[0]][:3, :]
    if what == "wrench":
        wrench = at.reaction.wrenches[names[0], names[1]]
        return ca.vertcat(wrench.about_origin, wrench.force)
    return ca.vertcat(*(ca.vec(part) for part in at.reactions))


def check_question(question: Sequence[Any]) -> Question:
    """Return a question as a file has it; raise ValueError if there is no such question."""
    which, what, *names = question
    if what == RATE and names[:1] != [RATE]:
        _, *of = check_question([which, *names])
        return (which, what, *of)
    words = {**dict.fromkeys((*PLACES, "pose", "orientation", PHASE), 1), "offset": 2, "wrench": 2}
    sound = which in (0, 1) and isinstance(what, str)
    if what == "frame":
        sound &= len(names) == 1 and isinstance(names[0], int) and names[0] >= 0
    elif sound and what in (*QUANTITIES, *SCALARS, *CLOSINGS, *WHOLE, "reactions"):
        sound &= not names
    else:
        sound &= len(names) == words.get(what, -1) and all(isinstance(one, str) for one in names)
    if not sound:
        raise ValueError(f"tape: unknown question {question!r}")
    return (which, what, *names)
