"""Curves of muscle and tendon force, and of metabolic switches, smooth everywhere.

The curves of De Groote, Kinney, Rao & Fregly (2016) with the constants that OpenSim prints for
them, which are not the paper's. Lengths are over the optimal fibre length, those of the tendon over
its slack length, velocities over the largest shortening velocity (shortening is negative), forces
over the largest isometric force. All functions take floats, numpy arrays and CasADi's SX, MX and DM
alike; of complex numbers they give complex ones, so that complex steps differentiate them.
"""

from math import exp, log
from types import ModuleType

import casadi as ca
import numpy as np

from ocp.mechanics.values.types import Matrix

# Heights, centres, widths and slopes of widths of the three bells of the active curve.
BELLS = (
    (0.8150671134243542, 1.055033428970575, 0.162384573599574, 0.063303448465465),
    (0.433004984392647, 0.716775413397760, -0.029947116970696, 0.200356847296188),
    (0.1, 1.0, 0.353553390593274, 0.0),
)
VELOCITY = (-0.3211346127989808, -8.149, -0.374, 0.8825327733249912)
STEEPNESS = 4.0  # of the passive curve
SHORTEST = 0.2  # fibre length at which the passive force is 0
OFFSET = 0.2  # of the tendon's exponential
FIBRE_STRAIN = 0.6  # at which a passive fibre bears the largest isometric force
TENDON_STRAIN = 0.049  # at which a tendon does


def namespace(*values: Matrix) -> ModuleType:
    """Return CasADi if a value is one of its matrices, else numpy: both know exp, sqrt, tanh."""
    symbolic = any(isinstance(each, ca.SX | ca.MX | ca.DM) for each in values)
    return ca if symbolic else np


def active_force(length: Matrix, width: Matrix = 1.0) -> Matrix:
    """Active force of a fibre at full activation, at rest.

    f_L = sum of b1 exp(-((x - b2) / (b3 + b4 x))^2 / 2),   x = (l - 1) / width + 1

    Args:
        length: fibre length over the optimal one.
        width: scale of the curve's width about the optimal length.

    Returns:
        Force over the largest isometric one; 1.0000 at length 1 (De Groote et al. 2016, eq. S2).
    """
    x = (length - 1) / width + 1
    exponential = namespace(x).exp
    first, second, third = (
        height * exponential(-(((x - centre) / (spread + slope * x)) ** 2) / 2)
        for height, centre, spread, slope in BELLS
    )
    return first + second + third


def active_force_slopes(length: Matrix, width: Matrix = 1.0) -> tuple[Matrix, Matrix, Matrix]:
    """Value, slope and curvature of `active_force`, in closed form.

    Of a bell f = b1 exp(-u^2 / 2) with d = b3 + b4 x and u = (x - b2) / d:

    u' = (b3 + b4 b2) / d^2,   u'' = -2 b4 u' / d
    f' = -u u' f,   f'' = -(u'^2 + u u'') f - u u' f'

    Args:
        length: fibre length over the optimal one.
        width: scale of the curve's width about the optimal length.

    Returns:
        The three, by the length.
    """
    x = (length - 1) / width + 1
    exponential = namespace(x).exp
    sums: list[Matrix] = [0.0, 0.0, 0.0]
    for height, centre, spread, slope in BELLS:
        scale = 1 / (spread + slope * x)
        u = (x - centre) * scale
        rise = (spread + slope * centre) * scale**2
        value = height * exponential(-(u**2) / 2)
        first = -u * rise * value
        second = -rise * (rise - 2 * slope * u * scale) * value - u * rise * first
        sums = [total + each for total, each in zip(sums, (value, first, second))]
    return sums[0], sums[1] / width, sums[2] / width**2


def force_velocity(velocity: Matrix) -> Matrix:
    """Factor of the active force by which it falls in shortening and rises in lengthening.

    f_V = d1 asinh(d2 v + d3) + d4;   f_V(-1) = 0, f_V(0) = 1

    Args:
        velocity: fibre velocity over the largest shortening velocity, negative in shortening.

    Returns:
        The factor (De Groote et al. 2016, eq. S4, by asinh).
    """
    scale, slope, shift, level = VELOCITY
    x = slope * velocity + shift
    return scale * (np.arcsinh(x) if namespace(x) is np else ca.asinh(x)) + level


def force_velocity_slopes(velocity: Matrix) -> tuple[Matrix, Matrix, Matrix]:
    """Value, slope and curvature of `force_velocity`, in closed form.

    Args:
        velocity: fibre velocity over the largest shortening velocity, negative in shortening.

    Returns:
        The three, by the velocity.
    """
    scale, slope, shift, _ = VELOCITY
    x = slope * velocity + shift
    root = 1 / namespace(x).sqrt(x**2 + 1)
    first = scale * slope * root
    return force_velocity(velocity), first, -slope * x * root**2 * first


def force_velocity_inverse(force: Matrix) -> Matrix:
    """Fibre velocity at which `force_velocity` has a value, in closed form.

    Args:
        force: the factor of the active force.

    Returns:
        Velocity over the largest shortening velocity, negative in shortening.
    """
    scale, slope, shift, level = VELOCITY
    return (namespace(force).sinh((force - level) / scale) - shift) / slope


def passive_force(length: Matrix, strain: Matrix = FIBRE_STRAIN) -> Matrix:
    """Passive force of a fibre: 0 at length 0.2, 1 at length 1 + strain.

    f_P = (e^{4 (l - 1) / strain} - o) / (e^4 - o),   o = e^{4 (0.2 - 1) / strain}

    Args:
        length: fibre length over the optimal one.
        strain: strain at which the force is the largest isometric one.

    Returns:
        Force over the largest isometric one, slightly negative below length 0.2 (De Groote et al.
        2016, eq. S3, shifted as OpenSim does).
    """
    exponential = namespace(length, strain).exp
    offset = exponential(STEEPNESS * (SHORTEST - 1) / strain)
    rise = exponential(STEEPNESS * (length - 1) / strain)
    return (rise - offset) / (exp(STEEPNESS) - offset)


def passive_force_slopes(
    length: Matrix, strain: Matrix = FIBRE_STRAIN
) -> tuple[Matrix, Matrix, Matrix]:
    """Value, slope and curvature of `passive_force`, in closed form.

    Args:
        length: fibre length over the optimal one.
        strain: strain at which the force is the largest isometric one.

    Returns:
        The three, by the length.
    """
    value, steep = passive_force(length, strain), STEEPNESS / strain
    offset = namespace(length, strain).exp(STEEPNESS * (SHORTEST - 1) / strain)
    first = steep * (value + offset / (exp(STEEPNESS) - offset))
    return value, first, steep * first


def passive_energy(length: Matrix, strain: Matrix = FIBRE_STRAIN) -> Matrix:
    """Energy that passive fibres store: the integral of `passive_force` from length 0.2 on.

    Args:
        length: fibre length over the optimal one.
        strain: strain at which the force is the largest isometric one.

    Returns:
        Energy over the largest isometric force times the optimal length.
    """
    exponential = namespace(length, strain).exp
    offset = exponential(STEEPNESS * (SHORTEST - 1) / strain)
    rise = exponential(STEEPNESS * (length - 1) / strain)
    area = strain / STEEPNESS * (rise - offset) - offset * (length - SHORTEST)
    return area / (exp(STEEPNESS) - offset)


def tendon_stiffness(strain: Matrix = TENDON_STRAIN) -> Matrix:
    """Exponent k_T of the tendon's curve, ln(1 + 1 / 0.2) / strain.

    Args:
        strain: strain at the largest isometric force.

    Returns:
        The exponent; 36.57 at a strain of 0.049.
    """
    return log((1 + OFFSET) / OFFSET) / strain


def tendon_force(length: Matrix, strain: Matrix = TENDON_STRAIN) -> Matrix:
    """Force of a tendon: 0 at its slack length, 1 at length 1 + strain.

    f_T = 0.2 e^{k_T (l - 1)} - 0.2

    Args:
        length: tendon length over the slack length.
        strain: strain at the largest isometric force.

    Returns:
        Force over the largest isometric one, down to -0.2 where it is slack (De Groote et al. 2016,
        eq. S1, with the exponent of OpenSim).
    """
    stretch = tendon_stiffness(strain) * (length - 1)
    return OFFSET * namespace(stretch).exp(stretch) - OFFSET


def tendon_length(force: Matrix, strain: Matrix = TENDON_STRAIN) -> Matrix:
    """Length at which a tendon has a force, the inverse of `tendon_force`.

    Args:
        force: force over the largest isometric one, above -0.2.
        strain: strain at the largest isometric force.

    Returns:
        Length over the slack length.
    """
    return 1 + namespace(force).log((force + OFFSET) / OFFSET) / tendon_stiffness(strain)


def tendon_energy(force: Matrix, strain: Matrix = TENDON_STRAIN) -> Matrix:
    """Energy that a tendon stores: the integral of `tendon_force` over its length from slack on.

    Args:
        force: force over the largest isometric one, above -0.2.
        strain: strain at the largest isometric force.

    Returns:
        Energy over the largest isometric force times the slack length.
    """
    return force / tendon_stiffness(strain) - OFFSET * (tendon_length(force, strain) - 1)
