"""Passive forces of OpenSim's models: bushings, springs and ligaments along paths, and formulas."""

from collections.abc import Callable
from dataclasses import dataclass

import casadi as ca

from ocp.interchange.opensim.acting.paths import LeftOut, Surroundings, free_coordinate, path_of
from ocp.interchange.opensim.bodies import STILL, frame_on_link
from ocp.interchange.opensim.constraints import end_frame
from ocp.interchange.opensim.expressions import Expression, expression_in
from ocp.interchange.opensim.functions import Curve, function_in
from ocp.interchange.opensim.properties import (
    flag_of,
    name_of,
    number_of,
    numbers_of,
    pose_of,
    socket_of,
)
from ocp.interchange.xml_elements import Element
from ocp.mechanics.elements import Deflections, PassiveForce, PassiveMoment
from ocp.mechanics.elements import Element as Acting
from ocp.mechanics.muscles.muscle_paths import PathPoint, PointPath
from ocp.mechanics.values.types import Matrix

ANGLES = tuple(f"theta_{axis}" for axis in "xyz")
WAYS = tuple(f"delta_{axis}" for axis in "xyz")
FADE = 0.01  # strain over which a ligament's damping sets in


# Bushings -----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class SpringEnergy:
    """Energy sum of k x^2 / 2 of `stiffness` k (6,)."""

    stiffness: tuple[float, ...]

    def __call__(self, x: Matrix) -> Matrix:
        """Return the energy (J) at deflections x (6,)."""
        return ca.dot(ca.DM(self.stiffness), x**2) / 2


@dataclass(frozen=True, slots=True, kw_only=True)
class BushingForces:
    """Forces -f(x) - d x' of `laws` f, each of all deflections or none, and `damping` d (6,)."""

    damping: tuple[float, ...]
    laws: tuple[Callable[[Matrix], Matrix], ...] = ()

    def __call__(self, x: Matrix, rate: Matrix) -> Matrix:
        """Return the forces (6,) at deflections x (6,) and their rates (6,)."""
        lost = -ca.DM(self.damping) * rate
        return lost - ca.vertcat(*(law(x) for law in self.laws)) if self.laws else lost


@dataclass(frozen=True, slots=True, kw_only=True)
class OfOne:
    """A curve of the number `k` of several."""

    curve: Curve
    k: int

    def __call__(self, x: Matrix) -> Matrix:
        """Return its value at numbers x."""
        return self.curve(x[self.k])


def _six(element: Element, what: str) -> tuple[float, ...]:
    """Return numbers by angles and ways."""
    both = (
        numbers_of(element, f"{kind}_{what}", 3, STILL) for kind in ("rotational", "translational")
    )
    return tuple(number for three in both for number in three)


def _bushing(around: Surroundings, element: Element) -> list[Acting]:
    """Return a bushing of any class."""
    (start, home), (end, pose) = (end_frame(around.objects, element, k) for k in (1, 2))
    if start == end:
        raise LeftOut("both its frames are on one body")
    laws: list[Callable[[Matrix], Matrix]] = []
    if element.tag == "FunctionBasedBushingForce":
        for k, (force, way) in enumerate([*zip("mmm", ANGLES), *zip("fff", WAYS)]):
            curve = function_in(element, f"{force}_{way[-1]}_{way}_function")
            laws.append(OfOne(curve=Expression("0", ("x",)) if curve is None else curve, k=k))
    if element.tag == "ExpressionBasedBushingForce":
        tags = [f"{force}{axis}_expression" for force in "MF" for axis in "xyz"]
        laws += [expression_in(element, tag, *ANGLES, *WAYS) for tag in tags]
    stiffness = _six(element, "stiffness") if element.tag == "BushingForce" else ()
    damping = _six(element, "damping")
    if not any(stiffness) and not any(damping) and not laws:
        return []
    return [
        PassiveForce(
            name=name_of(element),
            over=Deflections(start=start, end=end, home=home, pose=pose),
            energy=SpringEnergy(stiffness=stiffness) if any(stiffness) else None,
            force=BushingForces(damping=damping, laws=tuple(laws))
            if laws or any(damping)
            else None,
        )
    ]


# Lines --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class LineSpring:
    """Energy k (l - l_0)^2 / 2 of a `stiffness` k and a length at `rest` l_0; only where it is
    longer if it `pulls` alone."""

    stiffness: float
    rest: float
    pulls: bool

    def __call__(self, x: Matrix) -> Matrix:
        """Return the energy (J) at the length x (m)."""
        stretch = x - self.rest
        return self.stiffness * (ca.fmax(stretch, 0) if self.pulls else stretch) ** 2 / 2


@dataclass(frozen=True, slots=True, kw_only=True)
class SpringLoss:
    """Tension k s d l' beside that of a spring of `stiffness` k by its stretch s, with a
    `dissipation` d."""

    stiffness: float
    rest: float
    dissipation: float

    def __call__(self, x: Matrix, rate: Matrix) -> Matrix:
        """Return the force on the length x (m) at its rate (m/s)."""
        return -self.stiffness * self.dissipation * ca.fmax(x - self.rest, 0) * rate


@dataclass(frozen=True, slots=True, kw_only=True)
class CurveTension:
    """Tension F f(l / l_0) beyond the length at `rest` l_0, by a `curve` f and a `force` F."""

    curve: Curve
    rest: float
    force: float

    def __call__(self, x: Matrix, rate: Matrix) -> Matrix:
        """Return the force on the length x (m)."""
        return ca.if_else(x > self.rest, -self.force * self.curve(x / self.rest), 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class LigamentEnergy:
    """Energy of a ligament by its strain e (Blankevoort & Huiskes 1991): its tension is k e^2 / (2
    e_t) up to the strain e_t at `transition`, and k (e - e_t / 2) beyond, of `stiffness` k (N)."""

    stiffness: float
    rest: float
    transition: float

    def __call__(self, x: Matrix) -> Matrix:
        """Return the energy (J) at the length x (m)."""
        strain, toe = ca.fmax(x / self.rest - 1, 0), self.transition
        curved, straight = strain**3 / (6 * toe), toe**2 / 6 + strain * (strain - toe) / 2
        return self.stiffness * self.rest * ca.if_else(strain < toe, curved, straight)


@dataclass(frozen=True, slots=True, kw_only=True)
class LigamentLoss:
    """Tension of a ligament's `damping` (N s) by the rate of its strain while it gets longer."""

    damping: float
    rest: float

    def __call__(self, x: Matrix, rate: Matrix) -> Matrix:
        """Return the force on the length x (m) at its rate (m/s)."""
        t = ca.fmin(ca.fmax((x / self.rest - 1) / FADE, 0), 1)
        share = t**3 * (10 - 15 * t + 6 * t**2)
        return -self.damping * share * ca.fmax(rate / self.rest, 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class FormulaTension:
    """Tension by a `formula` of the length beyond that at `rest`, none below where `clamped`, and
    of its rate."""

    formula: Expression
    rest: float = 0.0
    clamped: bool = False

    def __call__(self, x: Matrix, rate: Matrix) -> Matrix:
        """Return the force on the length x (m) at its rate (m/s)."""
        stretch = x - self.rest
        stretch = ca.fmax(stretch, 0) if self.clamped else stretch
        return -self.formula(ca.vertcat(stretch, rate))


@dataclass(frozen=True, slots=True, kw_only=True)
class FormulaMoment:
    """Moment or force on a coordinate by a `formula` of it and of its rate."""

    formula: Expression

    def __call__(self, x: Matrix, rate: Matrix) -> Matrix:
        """Return the moment (N m) or force (N) on x (1,) at its rate (1,)."""
        return self.formula(ca.vertcat(x, rate))


def _above_zero(element: Element, tag: str, default: float | None = None) -> float:
    number = number_of(element, tag, default)
    if not number > 0:
        raise element.wrong(f"<{tag}>: expected a number above 0, got {number:g}")
    return number


def _path_spring(around: Surroundings, element: Element) -> list[Acting]:
    stiffness, rest = number_of(element, "stiffness"), number_of(element, "resting_length")
    loss = number_of(element, "dissipation", 0.0)
    lost = SpringLoss(stiffness=stiffness, rest=rest, dissipation=loss) if loss else None
    energy = LineSpring(stiffness=stiffness, rest=rest, pulls=True)
    over = path_of(around, element)
    return [PassiveForce(name=name_of(element), over=over, energy=energy, force=lost)]


def _ligament(around: Surroundings, element: Element) -> list[Acting]:
    rest, force = _above_zero(element, "resting_length"), number_of(element, "pcsa_force", 0.0)
    curve = function_in(element, "force_length_curve")
    if curve is None:
        raise LeftOut("it states no <force_length_curve>")
    tension = CurveTension(curve=curve, rest=rest, force=force)
    over = path_of(around, element)
    return [PassiveForce(name=name_of(element), over=over, force=tension)]


def _blankevoort(around: Surroundings, element: Element) -> list[Acting]:
    rest, damping = (
        _above_zero(element, "slack_length"),
        number_of(element, "damping_coefficient", 0.003),
    )
    energy = LigamentEnergy(
        stiffness=number_of(element, "linear_stiffness", 1.0),
        rest=rest,
        transition=_above_zero(element, "transition_strain", 0.06),
    )
    lost = LigamentLoss(damping=damping, rest=rest) if damping else None
    over = path_of(around, element)
    return [PassiveForce(name=name_of(element), over=over, energy=energy, force=lost)]


def _path_formula(around: Surroundings, element: Element) -> list[Acting]:
    tension = FormulaTension(
        formula=expression_in(element, "expression", "s", "ldot"),
        rest=number_of(element, "resting_length", 0.0),
        clamped=flag_of(element, "clamp_stretch", True),
    )
    return [PassiveForce(name=name_of(element), over=path_of(around, element), force=tension)]


def _between_points(around: Surroundings, element: Element) -> PointPath:
    """Return the line between two points of bodies."""
    ends = []
    for k in (1, 2):
        link, pose = frame_on_link(around.objects, element, socket_of(element, f"body{k}"))
        place = pose @ pose_of(numbers_of(element, f"point{k}", 3, STILL), STILL)
        ends.append(PathPoint(link=link, position=place[:3, 3]))
    path = PointPath(points=ends)
    if not path.joints(around.tree):
        raise LeftOut("no joint that moves is between its points")
    return path


def _point_spring(around: Surroundings, element: Element) -> list[Acting]:
    energy = LineSpring(
        stiffness=number_of(element, "stiffness", 1.0),
        rest=number_of(element, "rest_length", 0.0),
        pulls=False,
    )
    over = _between_points(around, element)
    return [PassiveForce(name=name_of(element), over=over, energy=energy)]


def _point_formula(around: Surroundings, element: Element) -> list[Acting]:
    tension = FormulaTension(formula=expression_in(element, "expression", "d", "ddot"))
    over = _between_points(around, element)
    return [PassiveForce(name=name_of(element), over=over, force=tension)]


def _coordinate_formula(around: Surroundings, element: Element) -> list[Acting]:
    joint = free_coordinate(around, element)
    moment = FormulaMoment(formula=expression_in(element, "expression", "q", "qdot"))
    return [PassiveMoment(name=name_of(element), joints=[joint], moment=moment)]


PASSIVE: dict[str, Callable[[Surroundings, Element], list[Acting]]] = {
    "BushingForce": _bushing,
    "FunctionBasedBushingForce": _bushing,
    "ExpressionBasedBushingForce": _bushing,
    "PathSpring": _path_spring,
    "Ligament": _ligament,
    "Blankevoort1991Ligament": _blankevoort,
    "ExpressionBasedPathForce": _path_formula,
    "PointToPointSpring": _point_spring,
    "ExpressionBasedPointToPointForce": _point_formula,
    "ExpressionBasedCoordinateForce": _coordinate_formula,
}
