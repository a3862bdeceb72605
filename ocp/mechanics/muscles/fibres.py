"""Fibres and tendon of a muscle: their lengths, velocities and forces, and derivatives of these.

Lengths of the fibre are over its optimal length l_0, those of the tendon over its slack length l_s,
speeds over v_max l_0, forces over the largest isometric force F_0, except where units are said. At
the length L of the path and with the tendon's length l_T, the fibres keep their height (constant
volume), so that with b = L - l_T

    l_M^2 = (l_0 sin alpha_0)^2 + b^2,   cos alpha = b / l_M,   v = b' cos alpha / (v_max l_0)
    f = (a f_L f_V + f_P + beta v) cos alpha

(De Groote, Kinney, Rao & Fregly 2016, with the constants of OpenSim's DeGrooteFregly2016Muscle).
"""

from dataclasses import dataclass
from math import asinh, sin
from typing import Protocol

import casadi as ca

from ocp.mechanics.elements.joint_elements import graph_number
from ocp.mechanics.muscles.force_curves import (
    OFFSET,
    VELOCITY,
    active_force,
    active_force_slopes,
    force_velocity,
    force_velocity_slopes,
    passive_force,
    passive_force_slopes,
    tendon_length,
    tendon_stiffness,
)
from ocp.mechanics.values.parameters import Number
from ocp.mechanics.values.types import Matrix

FASTEST = asinh(1.5 * -VELOCITY[1])  # of the force-velocity curve: beyond it steps are cut
NEWTON_STEPS = 12  # from the curve's own inverse; six are exact to rounding where damping is small


class Contractile(Protocol):
    """Numbers of a muscle on which its fibres and its tendon depend, as `Muscle` has them."""

    @property
    def fibre(self) -> Number: ...
    @property
    def slack(self) -> Number: ...
    @property
    def pennation(self) -> float: ...
    @property
    def tendon_strain(self) -> float: ...
    @property
    def fibre_strain(self) -> float: ...
    @property
    def width(self) -> float: ...
    @property
    def fastest(self) -> float: ...
    @property
    def damping(self) -> float: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Fibre:
    """What a muscle does in a state of motion.

    Attributes:
        length: of the fibre, over the optimal one.
        velocity: of the fibre, over the largest shortening velocity, negative in shortening.
        cosine: of the pennation angle.
        active: active force of the fibre, over F_0.
        passive: passive force of the fibre, damping with it, over F_0.
        pull: force of the fibre along the tendon, over F_0.
        tendon: force of the tendon, over F_0: the pull where it is rigid, and in equilibrium.
    """

    length: Matrix
    velocity: Matrix
    cosine: Matrix
    active: Matrix
    passive: Matrix
    pull: Matrix
    tendon: Matrix


def fibre_at(muscle: Contractile, along: Matrix, rate: Matrix, share: Matrix) -> Fibre:
    """Lengths, velocities and forces of fibres, the tendon's force that of a rigid one.

    Args:
        muscle: the muscle.
        along: b, how far its fibres reach along the tendon (m).
        rate: db/dt (m/s).
        share: of all motor units that is active.

    Returns:
        The Fibre.
    """
    cosine, fibre = fibre_length(muscle, along)
    velocity = rate * cosine / largest_speed(muscle)
    active = share * active_force(fibre, muscle.width) * force_velocity(velocity)
    passive = passive_force(fibre, muscle.fibre_strain) + muscle.damping * velocity
    pull = (active + passive) * cosine
    return Fibre(
        length=fibre,
        velocity=velocity,
        cosine=cosine,
        active=active,
        passive=passive,
        pull=pull,
        tendon=pull,
    )


def pull_derivatives(
    muscle: Contractile, along: Matrix, rate: Matrix, share: Matrix
) -> tuple[Matrix, Matrix]:
    """First and second derivatives of `Fibre.pull`, in closed form.

    With y = (a f_L f_V + f_P + beta v), c = cos alpha, h = l_0 sin alpha_0 and lengths in m,
    dl/db = c, dc/db = h^2 / l^3, and v = b' c / (v_max l_0).

    Args:
        muscle: the muscle.
        along: b, how far its fibres reach along the tendon (m).
        rate: db/dt (m/s).
        share: a, of all motor units that is active.

    Returns:
        Gradient (3,) and Hessian (3, 3) by (along, rate, share).
    """
    optimal, speed = graph_number(muscle.fibre), largest_speed(muscle)
    c, fibre = fibre_length(muscle, along)
    length = fibre * optimal
    turn: Matrix = 0.0  # dc/db, and its slope
    if muscle.pennation:
        turn = (optimal * sin(muscle.pennation)) ** 2 / length**3
    bend = -3 * turn * c / length
    velocity = rate * c / speed
    lengths, speeds = (c / optimal, turn / optimal), (rate * turn / speed, c / speed)
    f_l, f_v, f_p = (
        active_force_slopes(fibre, muscle.width),
        force_velocity_slopes(velocity),
        passive_force_slopes(fibre, muscle.fibre_strain),
    )
    a, beta = share, muscle.damping
    y = a * f_l[0] * f_v[0] + f_p[0] + beta * velocity
    y_l, y_v = a * f_l[1] * f_v[0] + f_p[1], a * f_l[0] * f_v[1] + beta
    y_ll, y_lv, y_vv = a * f_l[2] * f_v[0] + f_p[2], a * f_l[1] * f_v[1], a * f_l[0] * f_v[2]
    y_b, y_r = y_l * lengths[0] + y_v * speeds[0], y_v * speeds[1]
    y_bl, y_bv = (
        y_ll * lengths[0] + y_lv * speeds[0],
        y_lv * lengths[0] + y_vv * speeds[0],
    )
    y_bb = y_bl * lengths[0] + y_bv * speeds[0] + y_l * lengths[1] + y_v * rate * bend / speed
    y_br = y_bv * speeds[1] + y_v * turn / speed
    y_rr = y_vv * speeds[1] ** 2
    y_a, y_ab = f_l[0] * f_v[0], f_l[1] * f_v[0] * lengths[0] + f_l[0] * f_v[1] * speeds[0]
    y_ar = f_l[0] * f_v[1] * speeds[1]
    gradient = ca.vertcat(y_b * c + y * turn, y_r * c, y_a * c)
    both = y_br * c + y_r * turn
    by_share = y_ab * c + y_a * turn, y_ar * c
    hessian = ca.vertcat(
        ca.horzcat(y_bb * c + 2 * y_b * turn + y * bend, both, by_share[0]),
        ca.horzcat(both, y_rr * c, by_share[1]),
        ca.horzcat(*by_share, 0),
    )
    return gradient, ca.sparsify(hessian)


def largest_speed(muscle: Contractile) -> Matrix:
    """Return v_max l_0 (m/s)."""
    return muscle.fastest * graph_number(muscle.fibre)


def fibre_length(muscle: Contractile, along: Matrix) -> tuple[Matrix, Matrix]:
    """Return the cosine of the pennation angle and the fibre's length, over l_0, where it reaches
    so far (m) along the tendon."""
    height = graph_number(muscle.fibre) * sin(muscle.pennation)
    length = ca.sqrt(height**2 + along**2) if muscle.pennation else along
    return along / length if muscle.pennation else 1.0, length / graph_number(muscle.fibre)


def tendon_reach(muscle: Contractile, tension: Matrix) -> Matrix:
    """Return the length (m) of a tendon under a force over F_0."""
    return graph_number(muscle.slack) * tendon_length(tension, muscle.tendon_strain)


def tendon_slope(muscle: Contractile, tension: Matrix) -> Matrix:
    """Return the slope (1/m) of a tendon's force, over F_0, by its length."""
    slope = tendon_stiffness(muscle.tendon_strain) * (tension + OFFSET)
    return slope / graph_number(muscle.slack)


def velocity_in_equilibrium(active: Matrix, damping: float, rest: Matrix) -> Matrix:
    """Return the v at which active f_V(v) + damping v + rest = 0.

    In u = (f_V - d4) / d1 the curve is straight and v = (sinh u - d3) / d2: the sum falls with u,
    and Newton's steps from where it has no damping reach its zero.
    """
    scale, slope, shift, level = VELOCITY
    u = (-rest / active - level) / scale
    if damping:
        u = ca.fmin(ca.fmax(u, -FASTEST), FASTEST)
        for _ in range(NEWTON_STEPS):
            value = active * (scale * u + level) + damping * (ca.sinh(u) - shift) / slope + rest
            u = u - value / (active * scale + damping * ca.cosh(u) / slope)
    return (ca.sinh(u) - shift) / slope
