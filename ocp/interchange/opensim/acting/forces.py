"""Forces of OpenSim's models as elements: muscles, springs, limits, and what drives coordinates."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import inf
from typing import Any, TypeAlias

import casadi as ca

from ocp.interchange.opensim.acting.contacts import LAWS
from ocp.interchange.opensim.acting.passive_forces import PASSIVE
from ocp.interchange.opensim.acting.paths import LeftOut, Surroundings, free_coordinate, path_of
from ocp.interchange.opensim.acting.wires import ACTUATOR as WIRE
from ocp.interchange.opensim.coordinates import Way, acts
from ocp.interchange.opensim.properties import (
    Objects,
    bound_of,
    flag_of,
    members_of,
    name_of,
    number_of,
    words_of,
)
from ocp.interchange.reader_notes import Remarks
from ocp.interchange.xml_elements import Element
from ocp.mechanics.elements import Damper, PassiveMoment, Spring
from ocp.mechanics.elements import Element as Acting
from ocp.mechanics.muscles.activation_dynamics import SMOOTHING
from ocp.mechanics.muscles.force_curves import FIBRE_STRAIN, TENDON_STRAIN
from ocp.mechanics.muscles.muscle import TENDONS, Muscle
from ocp.mechanics.muscles.thelen_millard import MillardMuscle, ThelenMuscle
from ocp.mechanics.values.types import Matrix

Options: TypeAlias = dict[str, Any]  # fields of a Muscle
DRIVE = "CoordinateActuator"
OTHERS = ("Millard2012EquilibriumMuscle", "Thelen2003Muscle", "RigidTendonMuscle")  # of curves
FORCES = ("Force", "Muscle", "Actuator", "Ligament", "Spring", "Motor")  # ends of their classes
SLACK = 1e12  # strain at which fibres without a passive force bear the largest one
LEAST = 0.01  # of an activation, where a file states none
DEGREES = 180 / ca.pi


def drives_of(
    objects: Objects, ways: Mapping[str, Way]
) -> tuple[dict[str, tuple[float, float]], list[str]]:
    """Return {coordinate: limits (N m or N)} of those that actuators drive, those of several at one
    coordinate added up, and the names of actuators of coordinates that stand or follow others."""
    drives: dict[str, tuple[float, float]] = {}
    idle = []
    for each in objects.of(DRIVE):
        if not acts(each):
            continue
        name = " ".join(words_of(each, "coordinate", "socket_coordinate"))
        name = name.rstrip("/").rpartition("/")[2]
        if name not in ways:
            raise each.wrong(f"<coordinate>: there is no coordinate {name!r}")
        if ways[name].leader != name:
            idle.append(name_of(each))
            continue
        size = number_of(each, "optimal_force", 1.0)
        ends = sorted(
            size * bound_of(each, f"{end}_control", sign * inf) if size else 0.0
            for end, sign in (("min", -1), ("max", 1))
        )
        lower, upper = drives.get(name, (0.0, 0.0))
        drives[name] = lower + ends[0], upper + ends[1]
    return drives, idle


def elements_of(around: Surroundings) -> tuple[list[Acting], Remarks]:
    """Return the elements of the forces of a model, and by kind the remarks on it.

    Raises:
        ValueError: the file states a force wrong; the message names it.
    """
    elements: list[Acting] = []
    left_out, converted, touching = [], [], list[str]()
    for each in _forces(around.objects):
        if each.tag in (DRIVE, WIRE) or not acts(each):
            continue
        if each.tag in CONTACTS:
            touching.append(each.attributes.get("name") or each.tag)
            continue
        try:
            with each.located_errors():
                reader = READERS.get(each.tag)
                if reader is None:
                    raise LeftOut("forces of this class are not read")
                elements += reader(around, each)
        except LeftOut as reason:
            left_out.append(f"{each.attributes.get('name') or each.tag} ({each.tag}): {reason}")
        else:
            converted += [name_of(each)] if each.tag in OTHERS else []
    return elements, {
        "forces are left out": left_out,
        "contacts are no part of a tree, take opensim_contacts": touching,
        "surfaces act between two points alone, and in OpenSim between others too in some of "
        "random postures": around.moved,
        "paths over surfaces go the shorter way, and in OpenSim round the side that the file "
        "states in some of random postures": around.shorter,
        "cylinders have no ends, and in OpenSim paths pass beyond them in some of random "
        "postures": around.longer,
        "activations follow excitations, which the file says they do not": around.slow,
        "muscles of other curves have those of De Groote": converted,
    }


def _forces(objects: Objects) -> list[Element]:
    """Return the forces of a model, in its set or among its components."""
    stated = list(members_of(objects.model, "ForceSet"))
    loose = members_of(objects.model, "components")
    stated += [each for each in loose if each.tag.endswith(FORCES)]
    known = (*READERS, *CONTACTS)
    return stated + [each for each in objects.of(*known) if each not in stated]


# Muscles ------------------------------------------------------------------------------------------


def _muscle(around: Surroundings, element: Element) -> list[Acting]:
    """Return a muscle on De Groote's curves."""
    path = path_of(around, element)
    least = number_of(element, "minimum_activation", LEAST)
    low, high = bound_of(element, "min_control", 0.0), bound_of(element, "max_control", 1.0)
    if flag_of(element, "ignore_activation_dynamics"):
        around.slow.append(name_of(element))
    rigid = flag_of(element, "ignore_tendon_compliance") or element.tag == "RigidTendonMuscle"
    return [
        Muscle(
            name=name_of(element),
            path=path,
            tendon=TENDONS[0 if rigid else 1],
            excitation=(max(low, least), high),
            **MUSCLES[element.tag](element),
        )
    ]


def _shape(element: Element) -> Options:
    """Return the strength and the lengths of a muscle."""
    return {
        "force": number_of(element, "max_isometric_force", 1000.0),
        "fibre": number_of(element, "optimal_fiber_length", 0.1),
        "slack": number_of(element, "tendon_slack_length", 0.2),
        "pennation": number_of(element, "pennation_angle_at_optimal", 0.0),
        "fastest": number_of(element, "max_contraction_velocity", 10.0),
    }


def _times(element: Element, rise: float, fall: float) -> Options:
    return {
        "rise": number_of(element, "activation_time_constant", rise),
        "fall": number_of(element, "deactivation_time_constant", fall),
    }


def _strain(element: Element, curve: str, default: float) -> float:
    """Return the strain at the largest isometric force of a curve of Millard's."""
    holder = next((each for each in element.children if each.tag == curve), None)
    return default if holder is None else number_of(holder, "strain_at_one_norm_force", default)


def _de_groote(element: Element) -> Options:
    strains = {
        "tendon_strain": number_of(element, "tendon_strain_at_one_norm_force", TENDON_STRAIN),
        "fibre_strain": number_of(element, "passive_fiber_strain_at_one_norm_force", FIBRE_STRAIN),
    }
    width = number_of(element, "active_force_width_scale", 1.0)
    damping = number_of(element, "fiber_damping", 0.0)
    smoothing = number_of(element, "activation_dynamics_smoothing", SMOOTHING)
    others = {"width": width, "damping": damping, "smoothing": smoothing}
    if flag_of(element, "ignore_passive_fiber_force"):
        strains["fibre_strain"] = SLACK
    return {**_shape(element), **_times(element, 0.015, 0.060), **strains, **others}


def _millard(element: Element) -> Options:
    return MillardMuscle(
        **_shape(element),
        **_times(element, 0.010, 0.040),
        damping=number_of(element, "fiber_damping", 0.1),
        tendon_strain=_strain(element, "TendonForceLengthCurve", 0.049),
        fibre_strain=_strain(element, "FiberForceLengthCurve", 0.7),
    ).options


def _thelen(element: Element) -> Options:
    return ThelenMuscle(
        **_shape(element),
        **_times(element, 0.015, 0.050),
        tendon_strain=number_of(element, "FmaxTendonStrain", 0.04),
        fibre_strain=number_of(element, "FmaxMuscleStrain", 0.6),
    ).options


MUSCLES: dict[str, Callable[[Element], Options]] = {
    "DeGrooteFregly2016Muscle": _de_groote,
    "Millard2012EquilibriumMuscle": _millard,
    "Thelen2003Muscle": _thelen,
    "RigidTendonMuscle": _shape,
}


# Coordinates --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitForce:
    """What pushes a coordinate back beyond its limits, by stiffnesses and damping that set in over
    a transition, as OpenSim's CoordinateLimitForce has it.

        -K s_u (x - u) + k s_l (l - x) - d (s_u + s_l) x',   s = 10 t^3 - 15 t^4 + 6 t^5

    Args:
        lower: limit l (rad or m).
        upper: limit u.
        low_stiffness: k (N m/rad or N/m).
        high_stiffness: K.
        damping: d (N m s/rad or N s/m).
        transition: way over which s goes from 0 at a limit to 1 (rad or m).
    """

    lower: float
    upper: float
    low_stiffness: float
    high_stiffness: float
    damping: float
    transition: float

    def __call__(self, x: Matrix, rate: Matrix) -> Matrix:
        """Return the moment or force on x (1,) at its rate (1,)."""
        above, below = self._share(x - self.upper), self._share(self.lower - x)
        push = self.low_stiffness * below * (self.lower - x)
        push = push - self.high_stiffness * above * (x - self.upper)
        return push - self.damping * (above + below) * rate

    def _share(self, depth: Matrix) -> Matrix:
        t = ca.fmin(ca.fmax(depth / self.transition, 0), 1)
        return t**3 * (10 - 15 * t + 6 * t**2)


def _limit(around: Surroundings, element: Element) -> list[Acting]:
    """Return a CoordinateLimitForce, whose numbers are in degrees where the coordinate turns."""
    name = free_coordinate(around, element)
    row = around.tree.coordinate(name)
    joint = around.tree.moving[row]
    turns = joint.kind != "prismatic" and joint.follows is None
    unit = DEGREES if turns else 1.0  # by a curve it does not turn plainly, for OpenSim
    force = LimitForce(
        lower=number_of(element, "lower_limit", 0.0) / unit,
        upper=number_of(element, "upper_limit", 0.0) / unit,
        low_stiffness=number_of(element, "lower_stiffness", 1.0) * unit,
        high_stiffness=number_of(element, "upper_stiffness", 1.0) * unit,
        damping=number_of(element, "damping", 0.001) * unit,
        transition=number_of(element, "transition", 0.1) / unit,
    )
    if not force.transition > 0:
        raise element.wrong(f"<transition>: expected a number above 0, got {force.transition:g}")
    return [PassiveMoment(name=name_of(element), joints=[name], moment=force)]


def _spring(around: Surroundings, element: Element) -> list[Acting]:
    """Return a SpringGeneralizedForce as a spring and a damper."""
    joint, name = free_coordinate(around, element), name_of(element)
    stiffness = number_of(element, "stiffness", 0.0)
    damping = number_of(element, "viscosity", 0.0)
    made: list[Acting] = []
    if stiffness:
        rest = number_of(element, "rest_length", 0.0)
        made.append(Spring(joint=joint, stiffness=stiffness, rest=rest, name=name))
    if damping:
        both = f"{name}_damper" if stiffness else name
        made.append(Damper(joint=joint, damping=damping, name=both))
    return made


READERS: dict[str, Callable[[Surroundings, Element], list[Acting]]] = {
    **dict.fromkeys(MUSCLES, _muscle),
    **PASSIVE,
    "CoordinateLimitForce": _limit,
    "SpringGeneralizedForce": _spring,
}
CONTACTS = tuple(LAWS)
