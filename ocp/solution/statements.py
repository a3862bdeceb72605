"""Problems as plain data and back, their content hash, and what tells two of them apart.

Functions become tapes, which only compute: whoever wrote a file, reading it runs nothing of theirs.
"""

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from math import inf
from typing import Any, cast

import casadi as ca
import numpy as np

from ocp.mechanics.checks import frozen
from ocp.mechanics.joints import Joint
from ocp.mechanics.loads import Load
from ocp.mechanics.modes import Curve, Modes, Place
from ocp.mechanics.stays import Stay
from ocp.mechanics.tree import Link, Loop, Point, Tree
from ocp.motion.mesh import motion_of
from ocp.problem.complementarity import Complementarity, Touch
from ocp.problem.constraint import Constraint, Span
from ocp.problem.force_law import Acting, ForceLaw
from ocp.problem.ground import Foot, Ground, Pin, Plane, Support
from ocp.problem.point_mass import PointMass
from ocp.problem.statement import Problem
from ocp.problem.symmetry import Symmetry
from ocp.problem.terms import Objective, Term
from ocp.solution.files import plain
from ocp.transcription.listening import NotData
from ocp.transcription.tapes import (
    Played,
    Tape,
    Timed,
    alike,
    check,
    record,
    record_of_time,
)

ROUNDING = 1e-9  # relative: within which numbers of two machines are the same
SHOWN = 3  # differences that an error lists
CONSTRAINTS = 3000  # of a file: a statement has fewer
FREE = ("motion", "outputs")  # what asks nothing of the motion, and may differ
RATES = ("jerk", "torque_rate")
LAW_OF = ("q", "qd", "t", "position", "velocity", "angular_velocity", "offset", "frame", "pose")
Data = dict[str, Any]


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
    def asked(self) -> Data:
        """What is asked of the motion, functions as tapes: all but its basis and the outputs."""
        asked = {key: value for key, value in self.data.items() if key not in FREE}
        return cast(Data, _filled(asked, self.tapes)) | {"missing": list(self.missing)}

    @property
    def fingerprint(self) -> str:
        """The hash of what is asked, the same in every process and on every machine."""
        text = json.dumps(_digested(self.asked), sort_keys=True, allow_nan=False)
        return hashlib.sha256(text.encode()).hexdigest()


def stated(problem: Problem) -> Statement:
    """Return the Statement of a problem.

    Raises ValueError naming a load that cannot be written as data.
    """
    writer = _Writer(problem=problem)
    loads = [writer.load(load) for load in problem.loads]
    constraints = [
        _constraint_data(each)
        | {"function": writer.taped(f"constraint {each.name!r}", each.function, _ends(each))}
        for each in problem.constraints
    ]
    terms = [
        {"name": term.name, "kind": term.kind, "weight": float(weight)}
        | {"function": writer.taped(f"objective {term.name!r}", term.function)}
        for weight, term in problem.objective.terms
    ]
    missing = tuple(writer.missing)  # outputs ask nothing
    outputs = {name: writer.taped(name, function) for name, function in problem.outputs.items()}
    data = {
        "tree": _tree_data(problem.tree),
        "motion": asdict(cast(Any, problem.motion)),
        "duration": problem.duration,
        "loads": loads,
        "ground": None if problem.ground is None else asdict(problem.ground),
        "symmetry": None if problem.symmetry is None else asdict(problem.symmetry),
        "constraints": [each for each in constraints if each["function"] is not None],
        "objective": [each for each in terms if each["function"] is not None],
        "outputs": {name: tape for name, tape in outputs.items() if tape is not None},
    }
    return Statement(data=plain(data), tapes=tuple(writer.tapes), missing=missing)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Writer:
    """Functions of a problem on their way to data; `missing` names those that are none."""

    problem: Problem
    tapes: list[Tape] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)

    def taped(self, what: str, function: Any, ends: int = 1) -> Data | None:
        """Return a function as data, or None where it is missing."""
        try:
            return self._kept(record(self.problem, function, ends))
        except NotData as reason:
            self.missing.append(f"{what} ({reason})")
            return None

    def load(self, load: Acting) -> Data:
        """Return a load as data; raise ValueError naming one that cannot be written so."""
        try:
            if isinstance(load, PointMass):
                return {"point": load.point, "mass": load.mass}
            if isinstance(load, Touch):
                return {"touch": asdict(load)}
            if isinstance(load, ForceLaw):
                return {"point": load.point, "law": self._kept(record(self.problem, load.law))}
            pushes = {what: self._push(getattr(load, what)) for what in ("force", "moment")}
            return {"point": load.point} | pushes
        except NotData as reason:
            kind = "force law" if isinstance(load, ForceLaw) else "load"
            what = f"{kind} at {load.point!r}"
            raise ValueError(f"{what}: cannot be written as data: {reason}") from None

    def _kept(self, tape: Tape) -> Data:
        self.tapes.append(tape)
        return {"tape": len(self.tapes) - 1}

    def _push(self, push: Any) -> Any:
        return self._kept(record_of_time(push)) if callable(push) else _three(push)


def problem_of(statement: Statement) -> Problem:
    """Return the Problem of a Statement.

    Raises ValueError, KeyError, TypeError, AttributeError or IndexError for what is none.
    """
    data, tapes = statement.data, statement.tapes
    if len(data["constraints"]) > CONSTRAINTS:
        raise ValueError(f"{len(data['constraints'])} constraints, expected at most {CONSTRAINTS}")
    terms = tuple(
        (float(each["weight"]), Term(name=each["name"], kind=each["kind"], function=played))
        for each in data["objective"]
        for played in [Played(tape=_tape(each["function"], tapes))]
    )
    problem = Problem(
        tree=_tree(data["tree"]),
        motion=motion_of(data["motion"]),
        duration=data["duration"],
        objective=Objective(terms=terms),
        constraints=tuple(_constraint(each, tapes) for each in data["constraints"]),
        loads=tuple(_load(each, tapes) for each in data["loads"]),
        ground=_ground(data["ground"]),
        symmetry=None if data["symmetry"] is None else Symmetry(**data["symmetry"]),
        outputs={name: Played(tape=_tape(each, tapes)) for name, each in data["outputs"].items()},
    )
    for each in problem.constraints:
        check(problem, cast(Played, each.function).tape, _ends(each))
    laws = [load.law for load in problem.loads if isinstance(load, ForceLaw)]
    asked = (*(term.function for _, term in terms), *problem.outputs.values(), *laws)
    for function in asked:
        check(problem, cast(Played, function).tape)
    return problem


def differences(first: Statement, second: Statement) -> list[str]:
    """Return what the first asks and the second does not, or otherwise, by name; [] if nothing."""
    if first.fingerprint == second.fingerprint:
        return []
    return list(_apart("", _by_name(first.asked), _by_name(second.asked)))


def listed(different: Sequence[str]) -> str:
    """Return differences as a line, the first ones if they are many."""
    rest = len(different) - SHOWN
    return "; ".join(different[:SHOWN]) + (f"; and {rest} more" if rest > 0 else "")


def _three(value: Any) -> list[float]:
    """Return three numbers; raise NotData for an expression of symbols."""
    column = ca.SX(ca.vec(ca.SX(value))) if hasattr(value, "shape") else ca.SX(list(value))
    if not column.is_constant():
        raise NotData("it depends on symbols of its own")
    return np.array(ca.DM(column)).ravel().tolist()


def _ends(constraint: Constraint) -> int:
    return 2 if constraint.when == "joined" else 1


def _constraint_data(constraint: Constraint) -> Data:
    """Return all of a constraint but its function."""
    when = asdict(constraint.when) if isinstance(constraint.when, Span) else constraint.when
    words = {what: getattr(constraint, what) for what in ("name", "lower", "upper", "labels")}
    return words | {"when": when, "units": constraint.units}


def _constraint(data: Data, tapes: Sequence[Tape]) -> Constraint:
    when = Span(**data["when"]) if isinstance(data["when"], dict) else data["when"]
    tape = _tape(data["function"], tapes)
    constraint = Constraint(**data | {"when": when, "function": Played(tape=tape)})
    constraint.bounds(len(tape.results))
    return constraint


def _tape(data: Data, tapes: Sequence[Tape]) -> Tape:
    number = data["tape"]
    if not isinstance(number, int) or not 0 <= number < len(tapes):
        raise ValueError(f"there is no tape {number!r}")
    return tapes[number]


def _load(data: Data, tapes: Sequence[Tape]) -> Acting:
    if "mass" in data:
        return PointMass(point=data["point"], mass=data["mass"])
    if "touch" in data:
        plane = {what: frozen(data["touch"][what]) for what in ("normal", "place", "ways")}
        model = Complementarity(**data["touch"]["model"])
        return Touch(**data["touch"] | plane | {"model": model})
    if "law" in data:
        return _force_law(data, tapes)

    def push(value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        tape = _tape(value, tapes)
        if tape.sizes not in ((), (1,)) or len(tape.results) != 3:
            raise ValueError("a load in time is no three numbers of one")
        return Timed(tape=tape)

    return Load(point=data["point"], force=push(data["force"]), moment=push(data["moment"]))


def _force_law(data: Data, tapes: Sequence[Tape]) -> ForceLaw:
    tape = _tape(data["law"], tapes)
    if len(tape.results) not in (3, 6) or {what for _, what, *_ in tape.questions} - {*LAW_OF}:
        raise ValueError("a force law is no force of a state of motion")
    return ForceLaw(point=data["point"], law=Played(tape=tape))


def _tree_data(tree: Tree) -> Data:
    """Return a tree as data; of one without stays, and of joints without limits of rates, as it was
    before there were any."""
    data = asdict(tree)
    data["joints"] = [
        {key: value for key, value in joint.items() if key not in RATES or value != (-inf, inf)}
        for joint in data["joints"]
    ]
    return data if tree.stays else {key: data[key] for key in data if key != "stays"}


def _tree(data: Data) -> Tree:
    links = tuple(Link(**link | {"modes": _modes(link.get("modes"))}) for link in data["links"])
    return Tree(
        links=links,
        joints=tuple(Joint(**joint) for joint in data["joints"]),
        points=tuple(Point(**point) for point in data["points"]),
        loops=tuple(Loop(**loop) for loop in data["loops"]),
        stays=tuple(Stay(**stay) for stay in data.get("stays", ())),
        gravity=data["gravity"],
    )


def _modes(data: Data | None) -> Modes | None:
    if data is None:
        return None
    curves = tuple(
        Curve(about=curve["about"], value=tuple(curve["value"]), slope=tuple(curve["slope"]))
        for curve in data["curves"]
    )
    return Modes(
        **data | {"places": tuple(Place(**place) for place in data["places"]), "curves": curves}
    )


def _ground(data: Data | None) -> Ground | None:
    if data is None:
        return None
    feet = []
    for foot in data["feet"]:
        supports = [
            Support(**support | {"pins": tuple(Pin(**pin) for pin in support["pins"])})
            for support in foot["supports"]
        ]
        bears = tuple(float(end) for end in foot["bears"])
        plane = None if foot.get("plane") is None else Plane(**foot["plane"])
        made = {"supports": tuple(supports), "bears": bears, "plane": plane}
        feet.append(Foot(**foot | made))
    return Ground(feet=tuple(feet), normal=data["normal"])


def _filled(value: Any, tapes: Sequence[Tape]) -> Any:
    """Return data with the tapes themselves in place of their numbers."""
    if isinstance(value, dict):
        if set(value) == {"tape"}:
            return tapes[value["tape"]]
        return {key: _filled(entry, tapes) for key, entry in value.items()}
    return [_filled(entry, tapes) for entry in value] if isinstance(value, list) else value


def _digested(value: Any) -> Any:
    """Return data with the digests of tapes in their place."""
    if isinstance(value, Tape):
        return value.digest
    if isinstance(value, dict):
        return {key: _digested(entry) for key, entry in value.items()}
    return [_digested(entry) for entry in value] if isinstance(value, list) else value


def _by_name(asked: Data) -> Data:
    """Return what is asked with names in place of numbers: links by their joints, and so on."""
    tree = asked["tree"]
    joints = [joint["name"] for joint in tree["joints"]]
    named = {f"link {name!r}": link for name, link in zip(joints, tree["links"])}
    for kind, entries in (
        ("joint", tree["joints"]),
        ("point", tree["points"]),
        ("loop", tree["loops"]),
        ("stay", tree.get("stays", ())),
        ("constraint", asked["constraints"]),
        ("objective", asked["objective"]),
    ):
        named |= {f"{kind} {entry['name']!r}": entry for entry in entries}
    loads = {f"load {k + 1}": load for k, load in enumerate(asked["loads"])}
    rest = {key: asked[key] for key in ("duration", "ground", "symmetry", "missing")}
    return named | loads | rest | {"gravity": tree["gravity"], "order of joints": joints}


def _apart(where: str, one: Any, other: Any) -> Iterator[str]:
    """Yield where two values of data are different, and how."""
    if isinstance(one, dict) and isinstance(other, dict):
        for key in dict.fromkeys((*one, *other)):
            place = f"{where}: {key}" if where else key
            if key not in one or key not in other:
                there, wanted = ("there", "none") if key in one else ("not there", "it")
                yield f"{place}: {there}, expected {wanted}"
            else:
                yield from _apart(place, one[key], other[key])
    elif isinstance(one, Tape) and isinstance(other, Tape):
        if not alike(one, other):
            yield f"{where}: another function"
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for row, pair in enumerate(zip(one, other)):
            yield from _apart(f"{where}[{row}]", *pair)
    elif not _same(one, other):
        yield f"{where}: {_short(one)}, expected {_short(other)}"


def _same(one: Any, other: Any) -> bool:
    """Tell whether two values are the same but for rounding."""
    numbers = [
        isinstance(each, (int, float)) and not isinstance(each, bool) for each in (one, other)
    ]
    if all(numbers):
        return bool(np.isclose(one, other, rtol=ROUNDING, atol=1e-12))
    return bool(one == other)


def _short(value: Any) -> str:
    text = f"{value:.9g}" if isinstance(value, float) else f"{value}"
    return text if len(text) <= 60 else f"{text[:60]}..."
