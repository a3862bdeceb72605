"""Problems closed by the names of their parameters, those inside functions among them."""

from collections.abc import Iterator, Mapping
from contextlib import suppress

import casadi as ca

from ocp.mechanics.model.loads import Load
from ocp.mechanics.values.parameters import Parameter, anything_open, parameters_of, with_values
from ocp.problem.contact.state_dependent_forces import ForceLaw
from ocp.problem.statement import Problem
from ocp.transcription.kernels.function_tapes import (
    call_across,
    call_of_durations,
    call_of_time,
    call_with_symbols,
)
from ocp.transcription.kernels.recording_instant import NotRecordable


def open_parameters(problem: Problem) -> tuple[Parameter, ...]:
    """Return the parameters of a problem: those in its records, and those that its functions have
    inside, as far as they can be asked without a motion."""
    if not anything_open():
        return ()
    return tuple(dict.fromkeys((*parameters_of(problem), *_inside(problem))))


def close_by_name(problem: Problem, values: Mapping[str, float]) -> Problem:
    """Return a problem with numbers in place of its parameters, those of no value at their own."""
    known = open_parameters(problem)
    return with_values(problem, {each: values.get(each.name, each.value) for each in known})


def _inside(problem: Problem) -> Iterator[Parameter]:
    """Yield the parameters that functions of a problem have inside."""
    for part in problem.parts.values():
        yield from _inside_phase(part)
    parts = list(problem.parts.values())
    ends = [(parts[0], parts[-1], each) for each in problem.constraints]
    ends += [
        (problem.parts[transition.before], problem.parts[transition.after], each)
        for transition in problem.transitions
        for each in transition.constraints
    ]
    for first, second, constraint in ends:
        with suppress(NotRecordable):
            if constraint.when == "joined":
                values = call_across((first, second), constraint.function)[1]
                yield from parameters_of(ca.SX(values))
            elif constraint.when == "durations":
                values = call_of_durations(list(problem.parts), constraint.function)[1]
                yield from parameters_of(ca.SX(values))


def _inside_phase(problem: Problem) -> Iterator[Parameter]:
    """Yield the parameters that functions of a motion without phases have inside."""
    ended = [(each.function, 2 if each.when == "joined" else 1) for each in problem.requirements]
    asked = [term.function for _, term in problem.objective.terms]
    laws = [load.law for load in problem.loads if isinstance(load, ForceLaw)]
    asked += [*problem.outputs.values(), *laws]
    for function, ends in (*ended, *((each, 1) for each in asked)):
        with suppress(NotRecordable):
            yield from parameters_of(ca.SX(call_with_symbols(problem, function, ends)[1]))
    for load in problem.loads:
        pushes = (load.force, load.moment) if isinstance(load, Load) else ()
        for push in filter(callable, pushes):
            with suppress(NotRecordable):
                yield from parameters_of(ca.SX(call_of_time(push)[1]))
