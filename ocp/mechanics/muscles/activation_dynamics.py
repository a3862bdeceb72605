"""Activation dynamics of De Groote, Kinney, Rao & Fregly (2016): a muscle's activation follows its
excitation, faster up than down."""

from ocp.mechanics.muscles.curves import namespace
from ocp.mechanics.values.types import Matrix

RISE, FALL, SMOOTHING = 0.015, 0.060, 0.1  # s, s, 1: OpenSim's
NEWTON_STEPS = 8  # from a start good to a factor of two: the sixth is exact to rounding


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
    for _ in range(NEWTON_STEPS):
        switch = tanh(smoothing * gap)
        pace = mean + half_jump * switch
        slope = pace + half_jump * smoothing * gap * (1 - switch**2)
        gap = gap - (gap * pace - rate) / slope
    return activation + gap
