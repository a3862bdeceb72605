"""Problems as plain data and back: one statement per phase, and their links.

What the problem states for all phases is stored with each of them; a motion without phases has one
of no name.
"""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any, cast

from ocp.mechanics.model.tree import Tree
from ocp.mechanics.values.memoize import memoize
from ocp.problem.constraint import Constraint
from ocp.problem.phases.phase_problems import WHOLE
from ocp.problem.phases.phases import Phase, Transition
from ocp.problem.reserved_names import name_in_phase, phase_label
from ocp.problem.statement import Problem
from ocp.problem.symmetry import Symmetry
from ocp.storage.atomic_files import plain
from ocp.storage.records_from_data import record_from_data
from ocp.storage.single_phase_data import (
    Data,
    Statement,
    Writer,
    constraint_data,
    constraint_of,
    optional_record,
    read_problem,
    scenery_data,
    scenery_of,
    tape_of,
    write_problem,
)
from ocp.storage.tree_data import tree_of
from ocp.transcription.kernels.function_tapes import (
    Lasted,
    Played,
    Tape,
    Varied,
    check,
    check_across,
    check_durations,
    record_of_durations,
)

PHASES = 1000  # of a file: a motion has fewer


@memoize(1)  # a cell of a study is digested, and the same problem kept with what came of it
def problem_data(problem: Problem) -> Statement:
    """Return the Statement of a problem.

    Raises ValueError naming a load or an element that cannot be written as data.
    """
    tapes: list[Tape] = []
    missing: list[str] = []
    phases = []
    for name, part in problem.parts.items():
        try:
            data, lacking = write_problem(part, tapes)
        except ValueError as error:
            raise ValueError(f"{phase_label(name)}{error}") from None
        same = part.tree == problem.tree
        phases.append({"name": name} | data | {"tree": None if same else data["tree"]})
        missing += (name_in_phase(name, what) for what in lacking)
    whole = Writer(problem=problem, tapes=tapes)
    links = [_link_data(whole, problem, link, k) for k, link in enumerate(problem.links)]
    constraints = [_constraint_data(whole, problem, each) for each in _whole_constraints(problem)]
    data = {
        "tree": whole.tree(problem.tree),
        "phases": phases,
        "links": links,
        "symmetry": None
        if problem.single_phase or problem.symmetry is None
        else asdict(problem.symmetry),
        "constraints": [each for each in constraints if each["function"] is not None],
    }
    if not problem.single_phase:
        data |= scenery_data(problem)
    return Statement(
        data=plain(data), tapes=tuple(tapes), missing=(*missing, *map(str, whole.missing))
    )


def problem_from_data(statement: Statement) -> Problem:
    """Return the Problem of a Statement.

    Raises ValueError, KeyError, TypeError, AttributeError or IndexError for what is none.
    """
    data, tapes = statement.data, statement.tapes
    if not 0 < len(data["phases"]) <= PHASES:
        raise ValueError(f"{len(data['phases'])} phases, expected at most {PHASES}")
    tree = tree_of(data["tree"], lambda kept: tape_of(kept, tapes))
    parts = [
        read_problem(each | {"tree": data["tree"] if each["tree"] is None else each["tree"]}, tapes)
        for each in data["phases"]
    ]
    names = [each["name"] for each in data["phases"]]
    if names == [""]:
        return parts[0]
    problem = Problem(
        tree=tree,
        phases=tuple(_phase(name, part, tree) for name, part in zip(names, parts)),
        links=tuple(_link(each, tapes) for each in data["links"]),
        symmetry=optional_record(Symmetry, data["symmetry"]),
        constraints=tuple(
            constraint_of(each, tapes, Lasted if each["when"] == "durations" else Played)
            for each in data["constraints"]
        ),
        outputs={name: _output(name, parts) for name in _shared_outputs(parts)},
        scenery=scenery_of(data),
    )
    _check(problem)
    return problem


def _whole_constraints(problem: Problem) -> Iterator[Constraint]:
    """Yield the constraints that no phase has: of both ends, and of durations."""
    every = () if problem.single_phase else problem.constraints
    return (each for each in every if each.when in WHOLE)


def _constraint_data(writer: Writer, problem: Problem, constraint: Constraint) -> Data:
    if constraint.when == "joined":
        return writer.constraint(constraint, _outer_ends(problem))
    names, what = list(problem.parts), f"constraint {constraint.name!r}"
    tape = writer.tape_data(what, lambda: record_of_durations(names, constraint.function))
    return constraint_data(constraint) | {"function": tape}


def _link_data(writer: Writer, problem: Problem, link: Transition, k: int) -> Data:
    """Return the k-th link as data, its constraints by both phases."""
    ends = _ends(problem, problem.transitions[k])
    constraints = [writer.constraint(each, ends) for each in link.constraints]
    return {
        "name": link.name or problem.transitions[k].name,
        "before": link.before,
        "after": link.after,
        "quantities": link.quantities,
        "symmetry": None if link.symmetry is None else asdict(link.symmetry),
        "strikes": [asdict(strike) for strike in link.strikes],
        "constraints": [each for each in constraints if each["function"] is not None],
    }


def _ends(problem: Problem, transition: Transition) -> tuple[Problem, Problem]:
    """Return the phases before and after a transition, as problems."""
    return problem.parts[transition.before], problem.parts[transition.after]


def _outer_ends(problem: Problem) -> tuple[Problem, Problem]:
    """Return the first and the last phase, as problems."""
    first, *_, last = (*problem.parts.values(),) * 2
    return first, last


def _phase(name: str, part: Problem, tree: Tree) -> Phase:
    return Phase(
        name,
        motion=part.motion,
        duration=part.duration,
        ground=part.ground,
        constraints=part.constraints,
        objective=part.objective,
        loads=part.loads,
        tree=None if part.tree == tree else part.tree,
    )


def _link(data: Data, tapes: Sequence[Tape]) -> Transition:
    constraints = tuple(constraint_of(each, tapes) for each in data["constraints"])
    return record_from_data(Transition, data | {"constraints": constraints})


def _shared_outputs(parts: Sequence[Problem]) -> list[str]:
    """Return the names of the outputs that all phases have as data."""
    return [name for name in parts[0].outputs if all(name in part.outputs for part in parts)]


def _output(name: str, parts: Sequence[Problem]) -> Varied | Played:
    """Return an output of all phases from those of each, which differ where their trees or
    what these stand on do."""
    played = [cast(Played, part.outputs[name]) for part in parts]
    if len({each.tape.digest for each in played}) == 1:
        return played[0]
    return Varied(
        trees=tuple(part.tree for part in parts),
        grounds=tuple(part.ground for part in parts),
        tapes=tuple(each.tape for each in played),
    )


def _check(problem: Problem) -> None:
    """Raise ValueError or LookupError unless phases can answer what joins them."""
    for transition in problem.transitions:
        for constraint in transition.constraints:
            check_across(_ends(problem, transition), constraint.function.tape)  # type: ignore
    for constraint in _whole_constraints(problem):
        function: Any = constraint.function
        if constraint.when == "joined":
            check_across(_outer_ends(problem), function.tape)
        else:
            check_durations(list(problem.parts), function.tape)
    for output in problem.outputs.values():
        if isinstance(output, Played):
            for part in problem.parts.values():
                check(part, output.tape)
