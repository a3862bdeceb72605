"""Trees as plain data and back; functions of their force elements become tapes."""

from collections.abc import Callable
from dataclasses import asdict, dataclass, fields, replace
from math import inf
from typing import TypeAlias, cast, get_args

import casadi as ca

from ocp.mechanics.elements import KINDS, Deflections, Element
from ocp.mechanics.elements.smooth_curves import Cubic
from ocp.mechanics.model.quaternions_and_couplings import Follows, Nested, PiecewiseLine, Polynomial
from ocp.mechanics.model.tree import Tree
from ocp.mechanics.muscles.fatigue import Fatigue
from ocp.mechanics.muscles.muscle_paths import GivenPath, PathPoint, PointPath, PolynomialPath
from ocp.mechanics.muscles.simm_splines import SimmSpline
from ocp.mechanics.muscles.wrapping import WrapCylinder, WrapEllipsoid, WrapPast, WrapSphere
from ocp.mechanics.values.types import Matrix
from ocp.storage.records_from_data import Data, record_from_data, register
from ocp.transcription.kernels.function_tapes import Tape, record_of_state
from ocp.transcription.kernels.recording_instant import NotRecordable

RATES = ("jerk", "torque_rate")
MAPPED = ("ball", "follows")  # of a joint that turns or slides otherwise than by its coordinate
SELDOM = ("name", "visuals", "unphysical")  # of a link
Curve: TypeAlias = Polynomial | Cubic | SimmSpline | PiecewiseLine | Nested  # that joints follow
CURVES = {kind.__name__: kind for kind in get_args(Curve)}
NAMES = {kind.__name__: kind for kind in KINDS}
# records in elements
Part: TypeAlias = (
    PointPath
    | Deflections
    | PolynomialPath
    | GivenPath
    | PathPoint
    | WrapCylinder
    | WrapSphere
    | WrapEllipsoid
    | WrapPast
    | Fatigue
)
PARTS: dict[str, type] = {kind.__name__: kind for kind in get_args(Part)}
INFINITE = ("inf", "-inf")  # numbers that files have as words
PART = "part"  # of an element: the key of its kind
FOLLOWS = "follows"  # that of an entry of a position, a function of a coordinate
OF_PLACE = ("energy", "function")  # functions of coordinates alone


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class OfState:
    """A tape as a function of coordinates, and of rates if it asks for these."""

    tape: Tape

    def __eq__(self, other: object) -> bool:
        return isinstance(other, OfState) and self.tape.digest == other.tape.digest

    def __hash__(self) -> int:
        return hash(self.tape.digest)

    def __call__(self, *vectors: Matrix) -> Matrix:
        places = {"q": vectors[0], "qd": vectors[-1]}
        return self.tape(*(ca.vec(places[what]) for _, what in self.tape.questions))


def tree_data(tree: Tree, kept: Callable[[Tape], Data]) -> Data:
    """Return a tree as data, `kept` standing for tapes; of one without stays or elements, of joints
    without limits of rates that turn or slide by their own coordinate, and of links without names,
    visuals and unphysical inertias, as it was before there were any.

    Raises ValueError naming a joint that follows a coordinate by a function of one's own.
    """
    elements = [element_data(each, kept) for each in tree.elements]
    data = asdict(replace(tree, elements=()))
    data["links"] = [
        {key: value for key, value in link.items() if key not in SELDOM or value}
        for link in data["links"]
    ]
    for joint, entry in zip(tree.joints, data["joints"]):
        entry["follows"] = _follows_data(f"joint {joint.name!r}", joint.follows)
    data["joints"] = [
        {
            key: value
            for key, value in joint.items()
            if (key not in RATES or value != (-inf, inf)) and (key not in MAPPED or value)
        }
        for joint in data["joints"]
    ]
    seldom = {"stays": data["stays"], "elements": elements}
    rest = {key: value for key, value in data.items() if key not in seldom}
    return rest | {key: value for key, value in seldom.items() if value}


def tree_of(data: Data, tape_of: Callable[[Data], Tape]) -> Tree:
    """Return the Tree of data; `tape_of` returns the tape that something stands for."""
    elements = tuple(element_of(each, tape_of) for each in data.get("elements", ()))
    return record_from_data(Tree, data | {"elements": elements})


def _follows_data(label: str, follows: Follows | None) -> Data | None:
    """Return a function of a coordinate as data; `label` begins the message of one that cannot be
    written."""
    if follows is None:
        return None
    return {
        "coordinate": follows.coordinate,
        **_curve_data(f"{label}: follows {follows.coordinate!r}", follows.function),
    }


def _curve_data(label: str, curve: Callable) -> Data:
    kind = type(curve)
    if kind not in get_args(Curve):
        raise ValueError(f"{label} by a function of one's own, which cannot be written as data")
    if isinstance(curve, Nested):
        inner, outer = (_curve_data(label, each) for each in (curve.inner, curve.outer))
        return {"kind": kind.__name__, "outer": outer, "inner": inner}
    return {"kind": kind.__name__, **asdict(cast(Curve, curve))}


def _follows(data: Data) -> Follows:
    """Return the Follows of data, its curve one of the closed set."""
    return Follows(coordinate=data["coordinate"], function=_curve_from(data))


def _curve_from(data: Data) -> Curve:
    kind = CURVES.get(data["kind"])
    if kind is None:
        raise ValueError(f"there is no function {data['kind']!r} that a joint follows")
    if kind is Nested:
        return Nested(_curve_from(data["outer"]), _curve_from(data["inner"]))
    return record_from_data(
        kind, {key: data[key] for key in data if key not in ("coordinate", "kind")}
    )


register(Follows, _follows)


def element_data(element: Element, kept: Callable[[Tape], object]) -> Data:
    """Return an element as data; `kept` takes a tape and returns what stands for it.

    Raises ValueError naming one whose functions cannot be written.
    """
    return {"kind": type(element).__name__} | _fields_data(element, element.name, kept)


def _fields_data(record: Element | Part, name: str, kept: Callable[[Tape], object]) -> Data:
    """Return the fields of an element, or of a record in one, as data."""
    data: Data = {}
    for entry in fields(record):
        value: object = getattr(record, entry.name)
        if callable(value):
            size = getattr(record, "size", None) or len(getattr(record, "joints", ("",)))
            vectors = ("q",) if entry.name in OF_PLACE else ("q", "qd")
            try:
                value = kept(record_of_state(value, vectors, size))
            except NotRecordable as reason:
                raise ValueError(
                    f"element {name!r}: {entry.name}: cannot be written as data: {reason}"
                ) from None
        data[entry.name] = _part_data(value, name, kept)
    return data


def _part_data(value: object, name: str, kept: Callable[[Tape], object]) -> object:
    """Return a field as data: of records, and of those in a tuple, their own kinds and fields."""
    if isinstance(value, tuple):
        return tuple(_part_data(each, name, kept) for each in value)
    if isinstance(value, Follows):
        return {PART: FOLLOWS, FOLLOWS: _follows_data(f"element {name!r}: a point", value)}
    if not isinstance(value, Part):
        return value
    return {PART: type(value).__name__} | _fields_data(value, name, kept)


def _part_of(value: object, tape_of: Callable[[Data], Tape]) -> object:
    """Return a field of data."""
    if isinstance(value, list | tuple):
        return tuple(_part_of(each, tape_of) for each in value)
    if not isinstance(value, dict):
        return float(value) if value in INFINITE else value
    if PART not in value:
        return _of_state(OfState(tape=tape_of(value)))
    if value[PART] == FOLLOWS:
        return _follows(value[FOLLOWS])
    kind: type = PARTS[value[PART]]
    return kind(**{key: _part_of(each, tape_of) for key, each in value.items() if key != PART})


def _of_state(function: OfState) -> OfState:
    """Return a function; raise ValueError where it is none of a state of motion."""
    if {(which, what) for which, what, *_ in function.tape.questions} - {(0, "q"), (0, "qd")}:
        raise ValueError("an element is no function of a state of motion")
    return function


def element_of(data: Data, tape_of: Callable[[Data], Tape]) -> Element:
    """Return an element of data; raise ValueError for a kind that there is not."""
    kind: type | None = NAMES.get(data["kind"])
    if kind is None:
        raise ValueError(f"there is no element {data['kind']!r}")
    values = {name: _part_of(value, tape_of) for name, value in data.items() if name != "kind"}
    made: Element = kind(**values)
    return made
