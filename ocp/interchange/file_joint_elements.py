"""Elements that act at the joints of a file: dampers, dry friction, rotors and springs."""

from collections.abc import Iterator
from dataclasses import dataclass

from ocp.mechanics.elements import Armature, Damper, Element, Friction, PassiveMoment, Spring
from ocp.mechanics.model.joints import Joint
from ocp.mechanics.model.quaternions_and_couplings import COMPONENTS, Polynomial, spin_matrix
from ocp.mechanics.values.types import Matrix


@dataclass(frozen=True, slots=True, kw_only=True)
class JointForces:
    """Forces that a file states of a joint; what is 0 is not there.

    `damping` (N m s/rad or N s/m), level of dry `friction` (N m or N), inertia of its rotor
    (`armature`, kg m2 or kg), `stiffness` (N m/rad or N/m), and `rest` of its spring (rad or m).
    """

    damping: float = 0.0
    friction: float = 0.0
    armature: float = 0.0
    stiffness: float = 0.0
    rest: float = 0.0


def joint_elements(joint: Joint, stated: JointForces) -> Iterator[Element]:
    """Yield the elements of a joint, named after it.

    At a joint that follows x by o + r x they act on x, r times as fast: by d r^2, k r^2 about
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
class BallDamper:
    """Moments of a damped ball, -d w with the angular velocity w.

    The quaternion's coordinates p (4,) get their share by the transpose of the map w = S(p) p' of
    rates. `damping`: d (N m s/rad).
    """

    damping: float

    def __call__(self, p: Matrix, rate: Matrix) -> Matrix:
        """Return the moments on p (4,) at its rate (4,)."""
        map_of_rates = spin_matrix(p)
        return -self.damping * (map_of_rates.T @ (map_of_rates @ rate))


def ball_elements(name: str, stated: JointForces) -> Iterator[Element]:
    """Yield the damper of a ball; it has no rotor, spring or dry friction."""
    if stated.damping:
        parts = [f"{name}.{part}" for part in COMPONENTS]
        yield PassiveMoment(name=f"{name} damper", joints=parts, moment=BallDamper(stated.damping))


@dataclass(frozen=True, slots=True)
class FollowerDamper:
    """Damper at a joint that follows x by a curve z(x): -d z'^2 x' on x; d in N m s/rad or N
    s/m."""

    damping: float
    curve: Polynomial

    def __call__(self, x: Matrix, rate: Matrix) -> Matrix:
        """Return the moment or force on x (1,) at its rate (1,)."""
        rising = [power * each for power, each in enumerate(self.curve.coefficients)][1:]
        return -self.damping * Polynomial(rising or (0.0,))(x) ** 2 * rate


@dataclass(frozen=True, slots=True)
class FollowerSpring:
    """Energy of a spring at a joint that follows x by a curve z(x): k (z - z_0)^2 / 2."""

    stiffness: float
    rest: float
    curve: Polynomial

    def __call__(self, x: Matrix) -> Matrix:
        """Return the energy (J) at x (1,)."""
        return self.stiffness * (self.curve(x) - self.rest) ** 2 / 2


def follower_elements(joint: Joint, stated: JointForces) -> Iterator[Element]:
    """Yield damper and spring of a joint that follows another by a polynomial."""
    follows = joint.follows
    if follows is None or not isinstance(follows.function, Polynomial):
        return
    stiff = FollowerSpring(stated.stiffness, stated.rest, follows.function)
    loose = FollowerDamper(stated.damping, follows.function)
    if stated.damping or stated.stiffness:
        yield PassiveMoment(
            name=f"{joint.name} spring and damper",
            joints=[follows.coordinate],
            moment=loose if stated.damping else None,
            energy=stiff if stated.stiffness else None,
        )


def follows_curve(joint: Joint) -> bool:
    """Tell whether a joint follows another by more than a straight line, or by a constant."""
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
