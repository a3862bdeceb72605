"""Phases of problems as plain data and back, and the content hash of a statement.

Functions become tapes, which only compute: reading a file runs no code of its writer.
"""

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, cast

import casadi as ca
import numpy as np

from ocp.mechanics.model.loads import Load
from ocp.mechanics.model.tree import Tree
from ocp.mechanics.model.visuals import Visual
from ocp.mechanics.values.types import Matrix, Numbers
from ocp.motion.collocation_mesh import motion_from_data
from ocp.problem.constraint import Constraint, Span
from ocp.problem.contact.complementarity import Touch
from ocp.problem.contact.ground import Ground
from ocp.problem.contact.point_mass import PointMass
from ocp.problem.contact.state_dependent_forces import Acting, ForceLaw
from ocp.problem.objectives import Objective, Term
from ocp.problem.statement import Problem
from ocp.problem.symmetry import Symmetry
from ocp.storage.records_from_data import Data, Record, record_from_data
from ocp.storage.tree_data import tree_data, tree_of
from ocp.transcription.kernels.function_tapes import (
    Played,
    Tape,
    Timed,
    check,
    record,
    record_across,
    record_of_time,
)
from ocp.transcription.kernels.recording_instant import NotRecordable

CONSTRAINTS = 3000  # of a file: a statement has fewer
FREE = ("motion", "outputs", "scenery")  # what asks nothing of the motion, and may differ
LAW_OF = ("q", "qd", "t", "position", "velocity", "angular_velocity", "offset", "frame", "pose")


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Statement:
    """A problem as `data`, in which a function is {"tape": its number in `tapes`}.

    `missing` names constraints and terms that cannot be written as data, and are left out.
    """

    data: Data
    tapes: tuple[Tape, ...]
    missing: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"Statement({len(self.tapes)} functions, missing={self.missing})"

    @property
    def requirements(self) -> Data:
        """Requirements on the motion, functions as tapes: all data but its basis and the
        outputs."""
        asked = _binding_data(self.data)
        asked["phases"] = [_binding_data(phase) for phase in asked["phases"]]
        return cast(Data, _with_tapes(asked, self.tapes)) | {"missing": list(self.missing)}

    @property
    def fingerprint(self) -> str:
        """The hash of what is asked, the same in every process and on every machine."""
        return _data_hash(self.requirements)

    @property
    def digest(self) -> str:
        """The hash of all that it holds, also of its basis, its outputs and what only shows."""
        return _data_hash(_with_tapes(self.data, self.tapes) | {"missing": list(self.missing)})


def write_problem(problem: Problem, tapes: list[Tape]) -> tuple[Data, tuple[str, ...]]:
    """Return a problem as data, its functions as `tapes` that are added, and what is missing."""
    writer = Writer(problem=problem, tapes=tapes)
    loads = [writer.load(load) for load in problem.loads]
    constraints = [
        writer.constraint(each, (problem,) * _ends(each)) for each in problem.constraints
    ]
    terms = [
        {"name": term.name, "kind": term.kind, "weight": float(weight)}
        | ({"instants": term.instants} if term.instants else {})
        | {"function": writer.function_data(f"objective {term.name!r}", term.function)}
        for weight, term in problem.objective.terms
    ]
    missing = tuple(writer.missing)  # outputs ask nothing
    outputs = {
        name: writer.function_data(name, function) for name, function in problem.outputs.items()
    }
    data = {
        "tree": writer.tree(problem.tree),
        "motion": asdict(cast(Any, problem.motion)),
        "duration": problem.duration,
        "loads": loads,
        "ground": None if problem.ground is None else asdict(problem.ground),
        "symmetry": None if problem.symmetry is None else asdict(problem.symmetry),
        "constraints": [each for each in constraints if each["function"] is not None],
        "objective": [each for each in terms if each["function"] is not None],
        "outputs": {name: tape for name, tape in outputs.items() if tape is not None},
    }
    return data | scenery_data(problem), missing


def scenery_data(problem: Problem) -> Data:
    """Return the scenery as data; {} without any."""
    return {"scenery": [asdict(each) for each in problem.scenery]} if problem.scenery else {}


def scenery_of(data: Data) -> tuple[Visual, ...]:
    """Return the scenery of data."""
    return tuple(record_from_data(Visual, each) for each in data.get("scenery", ()))


@dataclass(frozen=True, slots=True, kw_only=True)
class Writer:
    """Functions of a problem on their way to data; `missing` names those that are none."""

    problem: Problem
    tapes: list[Tape] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)

    def function_data(self, what: str, function: Callable[..., Matrix]) -> Data | None:
        """Return a function of an Instant as data, or None where it is missing."""
        return self.tape_data(what, lambda: record(self.problem, function))

    def tape_data(self, what: str, recording: Callable[[], Tape]) -> Data | None:
        """Return as data what a recording gives, or None where it is missing."""
        try:
            return self.add_tape(recording())
        except NotRecordable as reason:
            self.missing.append(f"{what} ({reason})")
            return None

    def constraint(self, constraint: Constraint, problems: Sequence[Problem]) -> Data:
        """Return a constraint as data, a function of Instants, one of each problem's."""
        what = f"constraint {constraint.name!r}"
        tape = self.tape_data(what, lambda: record_across(problems, constraint.function))
        return constraint_data(constraint) | {"function": tape}

    def tree(self, tree: Tree) -> Data:
        """Return a tree as data; raise ValueError naming an element that cannot be written so."""
        return tree_data(tree, self.add_tape)

    def load(self, load: Acting) -> Data:
        """Return a load as data; raise ValueError naming one that cannot be written so."""
        try:
            if isinstance(load, PointMass):
                return {"point": load.point, "mass": load.mass}
            if isinstance(load, Touch):
                return {"touch": asdict(load)}
            if isinstance(load, ForceLaw):
                return {"point": load.point, "law": self.add_tape(record(self.problem, load.law))}
            pushes = {what: self._push(getattr(load, what)) for what in ("force", "moment")}
            return {"point": load.point} | pushes
        except NotRecordable as reason:
            kind = "force law" if isinstance(load, ForceLaw) else "load"
            what = f"{kind} at {load.point!r}"
            raise ValueError(f"{what}: cannot be written as data: {reason}") from None

    def add_tape(self, tape: Tape) -> Data:
        self.tapes.append(tape)
        return {"tape": len(self.tapes) - 1}

    def _push(self, push: object) -> Any:
        return self.add_tape(record_of_time(push)) if callable(push) else _three(push)


def read_problem(data: Data, tapes: Sequence[Tape]) -> Problem:
    """Return the Problem of data as `write_problem`, and its tapes; raise as `problem_of` does."""
    if len(data["constraints"]) > CONSTRAINTS:
        raise ValueError(f"{len(data['constraints'])} constraints, expected at most {CONSTRAINTS}")
    terms = tuple(
        (
            float(each["weight"]),
            Term(
                name=each["name"],
                kind=each["kind"],
                function=played,
                instants=tuple(each.get("instants", ())),
            ),
        )
        for each in data["objective"]
        for played in [Played(tape=tape_of(each["function"], tapes))]
    )
    outputs = {name: Played(tape=tape_of(each, tapes)) for name, each in data["outputs"].items()}
    problem = Problem(
        tree=tree_of(data["tree"], lambda kept: tape_of(kept, tapes)),
        motion=motion_from_data(data["motion"]),
        duration=data["duration"],
        objective=Objective(terms=terms),
        constraints=tuple(constraint_of(each, tapes) for each in data["constraints"]),
        loads=tuple(_load(each, tapes) for each in data["loads"]),
        ground=optional_record(Ground, data["ground"]),
        symmetry=optional_record(Symmetry, data["symmetry"]),
        outputs=outputs,
        scenery=scenery_of(data),
    )
    for each in problem.constraints:
        check(problem, cast(Played, each.function).tape, _ends(each))
    masses = [load.mass for load in problem.loads if isinstance(load, PointMass) and load.varies]
    laws = [load.law for load in problem.loads if isinstance(load, ForceLaw)]
    asked = (*(term.function for _, term in terms), *problem.outputs.values(), *masses, *laws)
    for function in asked:
        check(problem, cast(Played, function).tape)
    return problem


def _three(value: Numbers) -> list[float]:
    """Return three numbers; raise NotData for an expression of symbols."""
    column = ca.SX(ca.vec(ca.SX(value))) if hasattr(value, "shape") else ca.SX(list(value))
    if not column.is_constant():
        raise NotRecordable("it depends on symbols of its own")
    return np.array(ca.DM(column)).ravel().tolist()


def _ends(constraint: Constraint) -> int:
    return 2 if constraint.when == "joined" else 1


def constraint_data(constraint: Constraint) -> Data:
    """Return all of a constraint but its function."""
    when = asdict(constraint.when) if isinstance(constraint.when, Span) else constraint.when
    words = {what: getattr(constraint, what) for what in ("name", "lower", "upper", "labels")}
    return words | {"when": when, "units": constraint.units}


def constraint_of(
    data: Data, tapes: Sequence[Tape], kind: Callable[..., object] = Played
) -> Constraint:
    """Return a constraint of data, its function a tape that is played by `kind`."""
    when = data["when"]
    when = record_from_data(Span, when) if isinstance(when, dict) else when
    tape = tape_of(data["function"], tapes)
    constraint = Constraint(**data | {"when": when, "function": kind(tape=tape)})
    constraint.bounds(len(tape.results))
    return constraint


def tape_of(data: Data, tapes: Sequence[Tape]) -> Tape:
    """Return the tape of a function's data; raise ValueError if there is none."""
    number = data["tape"]
    if not isinstance(number, int) or not 0 <= number < len(tapes):
        raise ValueError(f"there is no tape {number!r}")
    return tapes[number]


def _load(data: Data, tapes: Sequence[Tape]) -> Acting:
    if "mass" in data:
        return PointMass(point=data["point"], mass=data["mass"])
    if "touch" in data:
        return record_from_data(Touch, data["touch"])
    if "law" in data:
        return _force_law(data, tapes)

    def push(value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        tape = tape_of(value, tapes)
        if tape.sizes not in ((), (1,)) or len(tape.results) != 3:
            raise ValueError("a load in time is no three numbers of one")
        return Timed(tape=tape)

    return Load(point=data["point"], force=push(data["force"]), moment=push(data["moment"]))


def _force_law(data: Data, tapes: Sequence[Tape]) -> ForceLaw:
    tape = tape_of(data["law"], tapes)
    if len(tape.results) not in (3, 6) or {what for _, what, *_ in tape.questions} - {*LAW_OF}:
        raise ValueError("a force law is no force of a state of motion")
    return ForceLaw(point=data["point"], law=Played(tape=tape))


def optional_record(kind: type[Record], data: Data | None) -> Record | None:
    """Return the record of data, None of none."""
    return None if data is None else record_from_data(kind, data)


def _binding_data(data: Data) -> Data:
    """Return the data that bind the motion."""
    bound = {key: value for key, value in data.items() if key not in FREE}
    tree = bound.get("tree")
    if tree is not None:
        bound["tree"] = tree | {"links": [_without_visuals(link) for link in tree["links"]]}
    return bound


def _without_visuals(link: Data) -> Data:
    """Return a link's data without what only shows it."""
    return {key: value for key, value in link.items() if key != "visuals"}


def _with_tapes(value: object, tapes: Sequence[Tape]) -> Any:
    """Return data with the tapes themselves in place of their numbers."""
    if isinstance(value, dict):
        if set(value) == {"tape"}:
            return tapes[value["tape"]]
        return {key: _with_tapes(entry, tapes) for key, entry in value.items()}
    return [_with_tapes(entry, tapes) for entry in value] if isinstance(value, list) else value


def _data_hash(data: Data) -> str:
    """Return the hash of data that have tapes in them."""
    text = json.dumps(_with_digests(data), sort_keys=True, allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def _with_digests(value: object) -> object:
    """Return data with the digests of tapes in their place."""
    if isinstance(value, Tape):
        return value.digest
    if isinstance(value, dict):
        return {key: _with_digests(entry) for key, entry in value.items()}
    return [_with_digests(entry) for entry in value] if isinstance(value, list) else value
