"""Values of all rows of a program along a finished motion, at the instants of these rows."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import casadi as ca
import numpy as np

from ocp.dynamics import formulation_of
from ocp.index_sets import distinct, is_in
from ocp.problem.constraint import Constraint
from ocp.problem.statement import Problem
from ocp.transcription.kernels.kernels import evaluate
from ocp.transcription.kernels.user_functions import function_of
from ocp.transcription.laws.contact_laws import rigid_contact_laws
from ocp.transcription.laws.laws import formulation_range, laws
from ocp.transcription.problem_symbols import Program, program_of
from ocp.transcription.row_requests import Request, constraint_requests, law_requests
from ocp.transcription.transcription_settings import Transcription
from ocp.transcription.variables.layout import join_variables


@dataclass(frozen=True, slots=True, kw_only=True)
class RowValues:
    """One row of a constraint at the instants s (N,) at which the program asks for it.

    `number` is that of the row, `values` (N,) are of the motion's own variables, torques and ground
    wrenches that are variables among them. Rows of control points have their Greville abscissae as
    instants, rows that join both ends the start.
    """

    constraint: Constraint
    number: int
    s: np.ndarray
    values: np.ndarray


def row_values(
    problem: Problem,
    transcription: Transcription,
    points: np.ndarray,
    duration: float,
    lifted: np.ndarray,
) -> Iterator[RowValues]:
    """Yield all that a transcription asks of a motion: constraints first, then laws of motion.

    Control points (n, points), duration (s) and what is `lifted` (width, N) are as Solutions hold
    them. Laws are those of inverse dynamics, whatever their form; integration's are no rows.
    """
    method, layout = transcription.method, transcription.method.layout(problem)
    formulation = formulation_of(transcription.dynamics, problem.tree)
    program = program_of(problem, layout, formulation)
    known = formulation_range(problem.tree, formulation)
    asked = {law.name for law, _ in method.laws(problem, layout.lifts, formulation)}
    own = (law for law in laws(problem, layout.lifts) if law[0].name in asked)
    requests = [
        *constraint_requests(program, (*problem.requirements, *known), method.grid(problem)),
        *law_requests(program, (*own, *rigid_contact_laws(problem))),
    ]
    x = join_variables(layout, points, duration, lifted if layout.lifts else None)
    for kind in ("along", "rates", "hull", "joined"):
        chosen = [request for request in requests if _kind(request) == kind]
        if chosen:
            yield from _rows(program, kind, chosen, x)


def _kind(request: Request) -> str:
    """Return the kind of evaluation of a request's rows."""
    kind = request.kind
    return kind if isinstance(kind, str) and kind in ("rates", "hull", "joined") else "along"


def _rows(
    program: Program, kind: str, requests: Sequence[Request], x: np.ndarray
) -> Iterator[RowValues]:
    """Yield the rows of requests that are evaluated alike."""
    inputs = program.inputs_of(kind)
    s = distinct(np.concatenate([request.s for request in requests]))[0]
    where = np.array([0.0, 1.0]) if kind == "joined" else s
    y = program.map_of(kind, s)(x)
    if kind == "joined":
        y = y.reshape(-1, 1, order="F")
    stack = ca.vertcat(*(request.stack for request in requests))
    values = evaluate(function_of("rows", [inputs.y, inputs.s], stack), y, s)
    owners = ((request, number) for request in requests for number in request.numbers)
    for line, (request, number) in zip(values, owners):
        chosen = is_in(s, request.s)
        when = where[-1:] if kind == "joined" else s[chosen]  # of both ends the end
        yield RowValues(constraint=request.constraint, number=number, s=when, values=line[chosen])
