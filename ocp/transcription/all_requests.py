"""All that a program asks of a motion: what its problem states, and the laws of its mechanics."""

from dataclasses import dataclass

from ocp.problem.reserved_names import PASSIVE
from ocp.transcription.laws.contact_laws import rigid_contact_laws
from ocp.transcription.laws.laws import formulation_range
from ocp.transcription.parameters.open_parameters import soundness_constraints
from ocp.transcription.requests import Request, constraint_requests, law_requests


@dataclass(frozen=True, slots=True, kw_only=True)
class Handover:
    """What a phase need not ask for at its start, since the one before it sees to that: `holds`
    {(level, Hold)} of rigid contacts, and the lack of torque at `rows` of q."""

    holds: frozenset = frozenset()
    rows: frozenset[int] = frozenset()


def collect_requests(program, method, met: Handover) -> list[Request]:
    """Return all that is asked of the motion: first what the problem states, then the laws."""
    problem, numbers = program.problem, program.layout.problem
    known = formulation_range(numbers.tree, program.formulation)
    sound = soundness_constraints(problem, program.free)
    constraints, nodes = (*method.constraints(problem), *known, *sound), method.grid(numbers)
    own = method.laws(numbers, program.layout.lifts, program.formulation)
    own = _spared(own, numbers.tree, met.rows)
    own = (*own, *rigid_contact_laws(numbers, problem, program.free, met.holds))
    return [*constraint_requests(program, constraints, nodes), *law_requests(program, own)]


def _spared(stated, tree, rows):
    """Yield laws (Constraint, instants of every row), at the start without the lack of torque at
    `rows` of q."""
    names = {tree.moving[row].name for row in rows}
    for constraint, instants in stated:
        if names and constraint.name == PASSIVE:
            instants = tuple(
                own[1:] if label in names and own[:1] == (0.0,) else own
                for label, own in zip(constraint.labels, instants)
            )
        yield constraint, instants
