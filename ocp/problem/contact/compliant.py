"""Compliant contact: spheres that sink into planes, by Hunt and Crossley, with smooth friction.

The force follows from where a sphere is and how it moves, so that nobody says when it touches. It
is smooth, as programs with exact second derivatives want it: Hertz's law and its dissipation as
Serrancoli et al. (2019) smoothed them, friction as Brown & McPhee (2016) have it in place of the
kinked curve of Sherman, Seth & Delp (2011).
"""

from dataclasses import dataclass, fields

import casadi as ca

from ocp.mechanics.elements.smooth_curves import friction
from ocp.mechanics.values.parameters import Number, expression_of, matrix
from ocp.mechanics.values.types import Matrix, Numbers
from ocp.mechanics.values.validation import positive, set_fields
from ocp.problem.motion_state import MotionState
from ocp.spelling import suggest_fields

UNITS = {
    "radius": "m",
    "stiffness": "N/m2",
    "dissipation": "s/m",
    "viscous": "s/m",
    "transition": "m/s",
    "rounding": "m2",
    "closing": "1/m",
    "parting": "s/m",
}
FREE = ("dissipation", "static", "dynamic", "viscous")  # numbers that may be 0


@suggest_fields
@dataclass(frozen=True, slots=True, kw_only=True)
class Compliant:
    """What spheres of a `radius` (m) and the ground are made of.

    `stiffness` (N/m2) is the modulus of both, `dissipation` (s/m) what a blow loses, `static`,
    `dynamic` and `viscous` (s/m) are coefficients of friction, which reaches its peak at a slip of
    `transition` (m/s). By default they are those of the feet of Falisse et al. (2019), radius, and
    of `rounding` (m2), `closing` (1/m) and `parting` (s/m), which smooth the touch, its law of
    Hertz, and the end of its dissipation, those of Serrancoli et al. (2019). Raises ValueError
    naming a number that is negative, or zero where it cannot be.
    """

    radius: Number = 0.032
    stiffness: Number = 1e6
    dissipation: Number = 2.0
    static: Number = 0.8
    dynamic: Number = 0.8
    viscous: Number = 0.5
    transition: Number = 0.2
    rounding: Number = 1e-5
    closing: Number = 300.0
    parting: Number = 50.0

    def __post_init__(self) -> None:
        for entry in fields(self):
            unit = UNITS.get(entry.name, "")
            value = getattr(self, entry.name)
            number = positive(f"compliant: {entry.name}", value, entry.name in FREE, unit)
            set_fields(self, **{entry.name: number})

    def push(self, depth: Matrix, rate: Matrix) -> Matrix:
        """Return the normal force (N) of a sphere that is `depth` (m) in the plane, less than 0
        above it, and sinks at a `rate` (m/s).

            f_H = 4/3 k sqrt(R k) (d^2 + e)^(3/4) (1 + tanh(b_d d)) / 2,   k = E^(2/3) / 2
            f   = f_H (1 + 3/2 c v) (1 + tanh(b_v (v + 2 / (3 c)))) / 2

        (Hunt & Crossley 1975; Sherman, Seth & Delp 2011; smooth: Serrancoli et al. 2019)
        """
        loss = expression_of(self.dissipation)
        modulus = expression_of(self.stiffness) ** (2 / 3) / 2
        hertz = 4 / 3 * modulus * ca.sqrt(self.radius_of * modulus)
        hertz *= (depth**2 + expression_of(self.rounding)) ** 0.75
        hertz *= (1 + ca.tanh(expression_of(self.closing) * depth)) / 2
        if loss.is_zero():
            return hertz
        parted = expression_of(self.parting) * (rate + 2 / (3 * loss))
        return hertz * (1 + 1.5 * loss * rate) * (1 + ca.tanh(parted)) / 2

    def grip(self, slip: Matrix) -> Matrix:
        """Return the friction (3,) per normal force, against a slip (3, m/s).

            f / f_n = mu_d tanh(4 u) + (mu_s - mu_d) u / (u^2 / 4 + 3/4)^2 + mu_v v,   u = v / v_t

        (Brown & McPhee 2016, eq. 9, of a rounded speed v = sqrt(slip^2 + e); viscous friction grows
        with the normal force, as in Sherman, Seth & Delp 2011)
        """
        speed = ca.sqrt(ca.sumsqr(slip) + expression_of(self.rounding))
        share = speed / expression_of(self.transition)
        static, dynamic = expression_of(self.static), expression_of(self.dynamic)
        grip = friction(share, static, dynamic) + expression_of(self.viscous) * speed
        return -grip * slip / speed

    @property
    def radius_of(self) -> Matrix:
        """The radius (m) as an expression."""
        return expression_of(self.radius)


@suggest_fields
@dataclass(frozen=True, slots=True, kw_only=True)
class Sphere:
    """The law of a sphere about the named `point` on the plane through `place` (3, m) with an
    upward unit `normal` (3), of a `material`: the `law` of a ForceLaw. Its `name` tells it apart.

    The force acts midway between the two surfaces (Sherman, Seth & Delp 2011), which is where the
    slip is that of the contact.
    """

    name: str
    point: str
    material: Compliant
    normal: Numbers
    place: Numbers

    def __call__(self, at: MotionState) -> Matrix:
        """Return the force (3, N), and below it its moment (3, N m) about the sphere's centre."""
        normal, material = matrix(self.normal), self.material
        depth = self.depth(at)
        lever = -(material.radius_of - depth / 2) * normal
        velocity = at.velocity(self.point) + ca.cross(at.angular_velocity(self.point), lever)
        rising = ca.dot(velocity, normal)
        push = material.push(depth, -rising)
        force = push * (normal + material.grip(velocity - rising * normal))
        return ca.vertcat(force, ca.cross(lever, force))

    def depth(self, at: MotionState) -> Matrix:
        """Return the depth (m) of the sphere in the plane."""
        height = ca.dot(matrix(self.normal), at.position(self.point) - matrix(self.place))
        return self.material.radius_of - height
