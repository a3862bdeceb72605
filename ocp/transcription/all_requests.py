"""All requests of a program: constraints of its statement, and laws of its mechanics."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from ocp.mechanics.model.tree import Tree
from ocp.problem.constraint import Constraint
from ocp.problem.reserved_names import PASSIVE
from ocp.transcription.laws.contact_laws import rigid_contact_laws
from ocp.transcription.laws.laws import formulation_range
from ocp.transcription.methods import Method
from ocp.transcription.parameters.open_parameters import soundness_constraints
from ocp.transcription.program import Program
from ocp.transcription.requests import Request, constraint_requests, law_requests


@dataclass(frozen=True, slots=True, kw_only=True)
class Handover:
    """Rows at the start of a phase that the phase before sees to: `holds` {(level, Hold)} of rigid
    contacts, and the lack of torque at `rows` of q."""

    holds: frozenset = frozenset()
    rows: frozenset[int] = frozenset()


def collect_requests(program: Program, method: Method, handover: Handover) -> list[Request]:
    """Return the requests of a motion: those of the statement, then those of the laws."""
    problem, numbers = program.problem, program.layout.problem
    known = formulation_range(numbers.tree, program.formulation)
    sound = soundness_constraints(problem, program.free)
    constraints, nodes = (*method.constraints(problem), *known, *sound), method.grid(numbers)
    laws = method.laws(numbers, program.layout.lifts, program.formulation)
    if handover.rows:
        laws = tuple(_without_handed_rows(laws, numbers.tree, handover.rows))
    if numbers.ground is not None:
        laws += rigid_contact_laws(numbers, problem, program.free, handover.holds)
    return [*constraint_requests(program, constraints, nodes), *law_requests(program, laws)]


def _without_handed_rows(
    stated: Iterable[tuple[Constraint, Sequence[Sequence[float]] | None]],
    tree: Tree,
    rows: frozenset[int],
) -> Iterator[tuple[Constraint, Sequence[Sequence[float]] | None]]:
    """Yield laws (Constraint, instants of every row), at the start without the lack of torque at
    `rows` of q."""
    names = {tree.moving[row].name for row in rows}
    for constraint, instants in stated:
        if instants is not None and constraint.name == PASSIVE:
            instants = tuple(
                own[1:] if label in names and own[:1] == (0.0,) else own
                for label, own in zip(constraint.labels, instants)
            )
        yield constraint, instants
