"""Activation dynamics of De Groote, Kinney, Rao & Fregly (2016): a muscle's activation follows its
excitation, faster up than down."""

import casadi as ca

from ocp.mechanics.muscles.force_curves import namespace
from ocp.mechanics.values.types import Matrix

RISE, FALL, SMOOTHING = 0.015, 0.060, 0.1  # s, s, 1: OpenSim's
NEWTON_STEPS = 8  # from a start good to a factor of two: the sixth is exact to rounding
FLAT, FEW_STEPS = 0.1, 4  # a smoothing up to which so few are, for rates up to 100/s


def activation_pace(
    gap: Matrix,
    activation: Matrix,
    rise: Matrix = RISE,
    fall: Matrix = FALL,
    smoothing: Matrix = SMOOTHING,
) -> Matrix:
    """Rate of activation over the gap between excitation and activation.

    (1/2 + f) / (t_a h) + (1/2 - f) h / t_d,   f = tanh(c (e - a)) / 2,   h = 1/2 + 3/2 a

    Args:
        gap: excitation e less activation a.
        activation: activation a.
        rise: time t_a of coming on (s).
        fall: time t_d of going off (s).
        smoothing: steepness c of the switch between both.

    Returns:
        The pace (1/s) (De Groote et al. 2016, eq. 1-2).
    """
    height = 0.5 + 1.5 * activation
    switch = namespace(gap).tanh(smoothing * gap) / 2
    return (0.5 + switch) / (rise * height) + (0.5 - switch) * height / fall


def activation_rate(
    excitation: Matrix,
    activation: Matrix,
    rise: Matrix = RISE,
    fall: Matrix = FALL,
    smoothing: Matrix = SMOOTHING,
) -> Matrix:
    """Rate of a muscle's activation under its excitation, `activation_pace` times their gap.

    At the default smoothing, which is OpenSim's, the switch is nearly flat and both times act as
    their mean; at 10, which papers suggest, it switches.

    Args:
        excitation: excitation e, between 0 and 1.
        activation: activation a, between 0 and 1.
        rise: time of coming on (s).
        fall: time of going off (s).
        smoothing: steepness of the switch between both.

    Returns:
        da/dt (1/s).
    """
    gap = excitation - activation
    return activation_pace(gap, activation, rise, fall, smoothing) * gap


def excitation_for_rate(
    rate: Matrix,
    activation: Matrix,
    rise: Matrix = RISE,
    fall: Matrix = FALL,
    smoothing: Matrix = SMOOTHING,
) -> Matrix:
    """Excitation under which activation has a rate, the inverse of `activation_rate`.

    In closed form without smoothing; else by Newton steps on x (m + d tanh(c x) / 2) = da/dt, from
    the branch of the switch on which the solution lies.

    Args:
        rate: da/dt (1/s).
        activation: activation a, between 0 and 1.
        rise: time of coming on (s).
        fall: time of going off (s).
        smoothing: steepness of the switch, a number.

    Returns:
        The excitation e, which may lie outside 0 and 1.
    """
    height = 0.5 + 1.5 * activation
    on, off = 1 / (rise * height), height / fall
    mean, half_jump = (on + off) / 2, (on - off) / 2
    gap = rate / mean
    if isinstance(smoothing, int | float) and smoothing == 0:
        return activation + gap
    tanh = namespace(gap, smoothing).tanh
    gap = rate / (mean + half_jump * tanh(smoothing * gap))
    is_flat = isinstance(smoothing, int | float) and smoothing <= FLAT
    for _ in range(FEW_STEPS if is_flat else NEWTON_STEPS):
        switch = tanh(smoothing * gap)
        pace = mean + half_jump * switch
        slope = pace + half_jump * smoothing * gap * (1 - switch**2)
        gap = gap - (gap * pace - rate) / slope
    return activation + gap


def excitation_derivatives(
    rate: Matrix,
    activation: Matrix,
    rise: Matrix = RISE,
    fall: Matrix = FALL,
    smoothing: Matrix = SMOOTHING,
) -> tuple[tuple[Matrix, Matrix], tuple[tuple[Matrix, Matrix], tuple[Matrix, Matrix]]]:
    """First and second derivatives of `excitation_for_rate` by the theorem of implicit functions.

    Of the gap x with p(x, a) = da/dt, p being `activation_pace` times x,

        x_r = 1 / p_x,   x_a = -p_a x_r,   x_rr = -p_xx x_r^3,   x_ra = -(p_xx x_a + p_xa) x_r^2
        x_aa = -(p_xx x_a^2 + 2 p_xa x_a + p_aa) x_r

    Args:
        rate: da/dt (1/s), an expression.
        activation: activation a, an expression.
        rise: time of coming on (s).
        fall: time of going off (s).
        smoothing: steepness of the switch, a number.

    Returns:
        The derivatives by (rate, activation), and those of second order by both.
    """
    symbols = ca.SX.sym("x"), ca.SX.sym("a")
    pace = activation_pace(*symbols, rise, fall, smoothing) * symbols[0]
    hessian, gradient = ca.hessian(pace, ca.vertcat(*symbols))
    gap = excitation_for_rate(rate, activation, rise, fall, smoothing) - activation
    by, bend = ca.substitute([gradient, hessian], [*symbols], [gap, activation])
    by_rate = 1 / by[0]
    by_activation = -by[1] * by_rate
    mixed = bend[0, 0] * by_activation + bend[0, 1]
    both = -mixed * by_rate**2
    twice = -(mixed * by_activation + bend[0, 1] * by_activation + bend[1, 1]) * by_rate
    return (by_rate, 1 + by_activation), ((-bend[0, 0] * by_rate**3, both), (both, twice))
