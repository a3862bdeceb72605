"""Coordinates of OpenSim's models: free, locked at a value, or coupled to another one."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf

from ocp.interchange.opensim.functions import (
    IDENTITY,
    Curve,
    compose_curves,
    function_in,
    is_constant,
    scale_curve,
    value_at,
)
from ocp.interchange.opensim.properties import (
    Objects,
    flag_of,
    name_of,
    number_of,
    numbers_of,
    words_of,
)
from ocp.interchange.xml_elements import Element
from ocp.mechanics.model.quaternions_and_couplings import Polynomial

FAR = 1e4  # rad or m: ends of a range beyond are none
COUPLER = "CoordinateCouplerConstraint"


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """How a coordinate moves: by a `curve` of the coordinate called `leader`, its own for one that
    is free; without a leader it stands still."""

    leader: str | None
    curve: Curve

    def of(self, outer: Curve) -> "Way":
        """Return the Way of a function of the coordinate."""
        curve = compose_curves(outer, self.curve)
        return Way(leader=None if is_constant(curve) else self.leader, curve=curve)

    @property
    def value(self) -> float:
        """The value of what stands still."""
        return value_at(self.curve, 0.0)


def coordinates_of(joint: Element, count: int | None) -> list[Element]:
    """Return the coordinates that a joint states, `count` of them where that is known."""
    listed = joint.one("coordinates")
    holder = joint.one("CoordinateSet") if listed is None else listed
    inner = None if holder is None else holder.one("objects")
    source = holder if inner is None else inner
    stated = [] if source is None else list(source.every("Coordinate"))
    if count is not None and stated and len(stated) != count:
        raise joint.wrong(f"expected {count} coordinates, got {len(stated)}")
    return stated


def ranges_of(objects: Objects) -> dict[str, tuple[float, float]]:
    """Return {coordinate: range (lower, upper)} (rad or m)."""
    return {name_of(each): _range(each) for each in objects.of("Coordinate")}


def prescribed_of(objects: Objects) -> list[str]:
    """Return the coordinates whose course over time the file prescribes."""
    stated = [each for each in objects.of("Coordinate") if flag_of(each, "prescribed")]
    return [name_of(each) for each in stated if not flag_of(each, "locked")]


def _range(coordinate: Element) -> tuple[float, float]:
    if coordinate.one("range") is None:
        return -inf, inf
    low, high = numbers_of(coordinate, "range", 2)
    if low > high:
        raise coordinate.wrong(f"range: expected lower < upper, got {low:g} and {high:g}")
    if low == high:
        return -inf, inf
    return (-inf if low < -FAR else low), (inf if high > FAR else high)


def ways_of(objects: Objects) -> dict[str, Way]:
    """Return {coordinate: its Way} of a model.

    Raises:
        ValueError: couplers form a circle, or name coordinates that are not there.
    """
    known: dict[str, Element] = {}
    for each in objects.of("Coordinate"):
        name = name_of(each)
        if name in known:
            raise each.wrong(f"the name is used twice, first in line {known[name].line}")
        known[name] = each
    couplers = _couplers(objects, known)
    ways: dict[str, Way] = {}
    for name, element in known.items():
        ways[name] = _way(name, element, known, couplers)
    return ways


def _way(
    name: str,
    element: Element,
    known: Mapping[str, Element],
    couplers: Mapping[str, tuple[Element, str, Curve]],
) -> Way:
    """Return the Way of a coordinate, through all couplers before it."""
    curve: Curve = IDENTITY
    seen = [name]
    while not flag_of(known[name], "locked"):
        if name not in couplers:
            return Way(leader=name, curve=curve)
        coupler, leader, step = couplers[name]
        if leader in seen:
            raise coupler.wrong(f"coordinates {', '.join([*seen, leader])} follow each other")
        seen.append(leader)
        curve, name = compose_curves(curve, step), leader
    still = Polynomial((number_of(known[name], "default_value", 0.0),))
    return Way(leader=None, curve=compose_curves(curve, still))


def _couplers(
    objects: Objects, known: Mapping[str, Element]
) -> dict[str, tuple[Element, str, Curve]]:
    """Return {follower: (coupler, leader, function)} of the couplers that act."""
    couplers: dict[str, tuple[Element, str, Curve]] = {}
    for each in objects.of(COUPLER):
        if not acts(each):
            continue
        leaders = words_of(each, "independent_coordinate_names")
        followers = words_of(each, "dependent_coordinate_name")
        if len(leaders) != 1 or len(followers) != 1:
            raise each.wrong(
                "expected one coordinate that follows one other, got "
                f"{len(followers)} that follow {len(leaders)}"
            )
        for name in (*leaders, *followers):
            if name not in known:
                raise each.wrong(f"there is no coordinate {name!r}")
        if followers[0] in couplers:
            other = couplers[followers[0]][0]
            raise each.wrong(
                f"coordinate {followers[0]!r} follows another already, by line {other.line}"
            )
        curve = function_in(each, "coupled_coordinates_function")
        if curve is None:
            raise each.wrong("<coupled_coordinates_function> is missing")
        curve = scale_curve(curve, number_of(each, "scale_factor", 1.0))
        couplers[followers[0]] = each, leaders[0], curve
    return couplers


def acts(element: Element) -> bool:
    """Tell whether a constraint or a force is switched on."""
    off = flag_of(element, "isDisabled") or not flag_of(element, "isEnforced", True)
    return not off and flag_of(element, "appliesForce", True)
