"""What acts at a joint of a file by itself, as elements of a tree."""

from collections.abc import Iterator
from dataclasses import dataclass

from ocp.mechanics.elements import Armature, Damper, Element, Friction, PassiveMoment, Spring
from ocp.mechanics.model.coordinates import COMPONENTS, Polynomial, spin
from ocp.mechanics.model.joints import Joint
from ocp.mechanics.values.types import Matrix


@dataclass(frozen=True, slots=True, kw_only=True)
class AtJoint:
    """What a file states of a joint: damping (N m s/rad or N s/m), level of dry friction (N m or
    N), inertia of its rotor (kg m2 or kg), stiffness (N m/rad or N/m) and where its spring rests
    (rad or m). What is 0 is not there."""

    damping: float = 0.0
    friction: float = 0.0
    armature: float = 0.0
    stiffness: float = 0.0
    rest: float = 0.0


def elements_at(joint: Joint, stated: AtJoint) -> Iterator[Element]:
    """Yield the elements of a joint, named after it.

    At one that follows x by o + r x they act on x, r times as fast: by d r^2, k r^2 about
    (x_0 - o) / r, a gear r, and friction f |r| that sets in at v / |r|.
    """
    name, (offset, ratio) = joint.name, _line(joint)
    where = joint.name if joint.follows is None else joint.follows.coordinate
    if stated.damping:
        damping = stated.damping * ratio**2
        yield Damper(joint=where, damping=damping, name=f"{name} damper")
    if stated.friction:
        plain = Friction(joint=where, dynamic=stated.friction * abs(ratio))
        transition = plain.transition / abs(ratio)
        yield Friction(
            joint=where, dynamic=plain.dynamic, transition=transition, name=f"{name} friction"
        )
    if stated.armature:
        yield Armature(joint=where, inertia=stated.armature, gear=ratio, name=f"{name} armature")
    if stated.stiffness:
        yield Spring(
            joint=where,
            stiffness=stated.stiffness * ratio**2,
            rest=(stated.rest - offset) / ratio,
            name=f"{name} spring",
        )


@dataclass(frozen=True, slots=True)
class Drag:
    """The moments of a ball that is damped by d (N m s/rad) times its angular velocity.

    These are -d w, of which the quaternion's coordinates p (4,) get their share by the transpose of
    the map w = S(p) p' of rates.
    """

    damping: float

    def __call__(self, p: Matrix, rate: Matrix) -> Matrix:
        """Return what p gets at its rate (4,)."""
        map_of_rates = spin(p)
        return -self.damping * (map_of_rates.T @ (map_of_rates @ rate))


def elements_at_ball(name: str, stated: AtJoint) -> Iterator[Element]:
    """Yield the damper of a ball; it has no rotor, spring or dry friction."""
    if stated.damping:
        parts = [f"{name}.{part}" for part in COMPONENTS]
        yield PassiveMoment(name=f"{name} damper", joints=parts, moment=Drag(stated.damping))


@dataclass(frozen=True, slots=True)
class CurvedDrag:
    """What a damper (N m s/rad or N s/m) at a joint gives the coordinate x that this follows by a
    curve z(x): -d z'^2 x'."""

    damping: float
    curve: Polynomial

    def __call__(self, x: Matrix, rate: Matrix) -> Matrix:
        """Return what x (1,) gets at its rate (1,)."""
        return -self.damping * _slope(self.curve)(x) ** 2 * rate


@dataclass(frozen=True, slots=True)
class CurvedStretch:
    """What a spring (N m/rad or N/m) that rests where a joint is at z_0 stores if this follows a
    coordinate x by a curve z(x): k (z - z_0)^2 / 2."""

    stiffness: float
    rest: float
    curve: Polynomial

    def __call__(self, x: Matrix) -> Matrix:
        """Return what is stored (J) at x (1,)."""
        return self.stiffness * (self.curve(x) - self.rest) ** 2 / 2


def _slope(curve: Polynomial) -> Polynomial:
    rising = [power * each for power, each in enumerate(curve.coefficients)][1:]
    return Polynomial(rising or (0.0,))


def elements_at_curve(joint: Joint, stated: AtJoint) -> Iterator[Element]:
    """Yield damper and spring of a joint that follows another by a polynomial; there is no rotor
    and no dry friction of such joints."""
    follows = joint.follows
    if follows is None or not isinstance(follows.function, Polynomial):
        return
    stiff = CurvedStretch(stated.stiffness, stated.rest, follows.function)
    loose = CurvedDrag(stated.damping, follows.function)
    if stated.damping or stated.stiffness:
        yield PassiveMoment(
            name=f"{joint.name} spring and damper",
            joints=[follows.coordinate],
            moment=loose if stated.damping else None,
            energy=stiff if stated.stiffness else None,
        )


def is_curved(joint: Joint) -> bool:
    """Tell whether a joint follows another by more than a straight line, or by nothing: where no
    element can act for it."""
    if joint.follows is None:
        return False
    function = joint.follows.function
    if not isinstance(function, Polynomial):
        return True
    _, *slopes = function.coefficients
    return not slopes or slopes[0] == 0 or any(slopes[1:])


def _line(joint: Joint) -> tuple[float, float]:
    """Return o and r of the line o + r x by which a joint moves."""
    if joint.follows is None or not isinstance(joint.follows.function, Polynomial):
        return 0.0, 1.0
    offset, ratio = joint.follows.function.coefficients[:2]
    return offset, ratio
