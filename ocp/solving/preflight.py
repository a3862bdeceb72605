"""Checks before a solve: of its arguments, and of its start, at which every function and derivative
is evaluated and the first NaN is named."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ocp.diagnosis.explain import row_name
from ocp.mechanics.values.types import Numbers
from ocp.mechanics.values.validation import (
    check_callable,
    check_records,
    check_type,
    describe_value,
)
from ocp.problem.reserved_names import phase_label
from ocp.problem.statement import Problem
from ocp.solvers.minimize import Solver
from ocp.solvers.nlp import Evaluator, fast_version
from ocp.solving.solver_attempts import Attempt
from ocp.transcription.kernels.kernels import Kernel, evaluate
from ocp.transcription.transcribe import Transcribed
from ocp.transcription.transcribe_phase import TranscribedPhase
from ocp.transcription.transcription_methods import Method
from ocp.transcription.transcription_settings import Transcription
from ocp.transcription.variables.layout import split_variables

VALUE = ""
SECOND = "a second derivative of "
LOST = (
    ": its function has nan in it as a number, which is what float() and functions of math, as "
    "math.sin, or of scipy make of a CasADi expression; take CasADi's, as casadi.sin"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedKernel:
    """A kernel at instants `s` (N,) with its inputs y (width, N), and the names of its rows."""

    kernel: Kernel
    s: np.ndarray
    y: np.ndarray
    names: list[str]


def check_solve(
    problem: object, transcription: object, solver: object, watch: object, attempts: object
) -> None:
    """Raise ValueError naming the argument of `solve` that is of a wrong kind."""
    if not isinstance(problem, Problem):
        hint = "; call it, what it returns is the problem" if callable(problem) else ""
        raise ValueError(f"problem: expected a Problem, got {describe_value(problem)}{hint}")
    if not isinstance(transcription, Transcription):
        raise ValueError(
            f"transcription: expected a Transcription, got {describe_value(transcription)}"
            f"{_hint(transcription)}"
        )
    check_type("solver", solver, Solver)
    if watch is not None:
        check_callable("watch", watch)
    if not hasattr(attempts, "__next__"):  # which would be used up
        check_records("attempts", attempts, Attempt)


def check_seconds(what: str, value: Numbers) -> None:
    """Raise ValueError naming a deadline that is no number; infinity is none, and one that has
    passed may be negative."""
    number = isinstance(value, int | float | np.integer | np.floating)
    if not number or isinstance(value, bool) or np.isnan(value):
        raise ValueError(
            f"{what}: expected a number (s), inf for no deadline, got {describe_value(value)}"
        )


def _hint(given: object) -> str:
    if isinstance(given, Solver):
        return "; a solver is given by name: solve(problem, solver=...)"
    if isinstance(given, Method):
        return "; a method is one part of it: Transcription(method=...)"
    return ""


def check_start(transcribed: Transcribed, x: np.ndarray, hessian: str) -> None:
    """Evaluate every function and derivative that the solve will use at the start of its unknowns.

    Raises ValueError naming the constraint or objective, joint and time of the first NaN or
    infinity.
    """
    nlp = transcribed.nlp
    seen = [Evaluator(fast_version(each))(x) for each in (nlp.objective, nlp.constraints)]
    if nlp.gradient is not None and nlp.jacobian is not None:
        seen += [Evaluator(each)(x)[1:] for each in (nlp.gradient, nlp.jacobian)]
    if nlp.hessian is not None and hessian != "lbfgs":
        seen.append(Evaluator(nlp.hessian(hessian))(x, (), 1.0, np.ones(len(nlp.g_lower))))
    if all(np.isfinite(value).all() for values in seen for value in values):
        return
    whole = transcribed.expand(x)
    for name, part, columns in zip(transcribed.names, transcribed.parts, transcribed.columns):
        _check_phase(part, whole[columns], phase_label(name))
    if transcribed.reduction is not None:
        raise ValueError(
            "at the initial guess the integration of passive joints runs away; "
            "try another guess or more nodes"
        )
    if transcribed.links:
        raise ValueError("at the initial guess a link between phases is not a number")


def _check_phase(transcribed: TranscribedPhase, x: np.ndarray, where: str) -> None:
    """Raise ValueError naming the first row of a phase whose value or derivative is no number."""
    _, duration, _ = split_variables(transcribed.layout, x)
    for named in _named_kernels(transcribed, x):
        for what, table, rows in _tables(named):
            bad = np.argwhere(~np.isfinite(table.T))
            if len(bad):
                k, number = bad[0]
                name = named.names[rows[number]]
                if what == SECOND and named.kernel.size > 1:
                    name = " or ".join(dict.fromkeys(named.names))
                lost = what == VALUE and named.kernel.has_nan(rows[number])
                raise ValueError(
                    f"{where}at the initial guess {what}{name} is {table[number, k]} "
                    f"at t = {named.s[k] * duration:.4g} s{LOST if lost else ''}"
                )


def _named_kernels(transcribed: TranscribedPhase, x: np.ndarray) -> Iterator[NamedKernel]:
    """Yield the kernels of all constraints, and of the objective's terms."""
    for group in transcribed.groups:
        names = [row_name(*owner) for owner in group.owners]
        yield NamedKernel(kernel=group.kernel, s=group.s, y=group.inputs(x), names=names)
    for goal, (_, term) in zip(transcribed.objective_blocks, transcribed.problem.objective.terms):
        size = (goal.kernel.width, len(goal.s))
        y = np.reshape(np.array(goal.matrix @ x).ravel(), size, order="F")
        names = [f"objective {term.name!r}"] * goal.kernel.size
        yield NamedKernel(kernel=goal.kernel, s=goal.s, y=y, names=names)


def _tables(named: NamedKernel) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Yield (what, its table (m, N), the row of the kernel of each of the m) of all derivatives."""
    kernel, y, s = named.kernel, named.y, named.s
    yield VALUE, evaluate(kernel.values, y, s), np.arange(kernel.size)
    yield "the derivative of ", evaluate(kernel.jacobian, y, s), np.array(kernel.rows, dtype=int)
    function, above, _ = kernel.hessian("exact")
    curvatures = evaluate(function, y, s, np.ones((kernel.size, len(s))))
    yield SECOND, curvatures, np.zeros(len(above), dtype=int)
