"""The least peak torque of a slider-crank, by one solve, against the mechanism's one coordinate.

That model knows nothing of loops, rows or splines. With the torque P up to a switch and -P after
it, which is what the least peak takes, the kinetic energy follows from the work: the switch is
where both ends are at rest, the time is an integral over the crank's angle, and P is bisected on.
"""

from functools import cache
from math import pi

import numpy as np
import pytest

from ocp import solve, verify
from ocp.models import flat
from ocp.models.mechanisms.slider_crank import LENGTHS
from ocp.problems.mechanisms.slider_crank import problem

CRANK, ROD = LENGTHS
MASSES = flat.DENSITY * CRANK, flat.DENSITY * ROD  # kg
START, TURN, GRAVITY = 0.25 * pi, pi, 9.81


def reduced(angle, slider):
    """Inertia (kg m2) at the crank and potential energy (J) where it stands at an angle."""
    sine, cosine = np.sin(angle), np.cos(angle)
    reach = np.sqrt(ROD**2 - (CRANK * sine) ** 2)
    slide = -CRANK * sine - CRANK**2 * sine * cosine / reach
    turn, middle = CRANK * cosine / reach, ((slide - CRANK * sine) / 2, CRANK * cosine / 2)
    of_crank = MASSES[0] * CRANK**2 / 3
    of_rod = MASSES[1] * (middle[0] ** 2 + middle[1] ** 2 + ROD**2 / 12 * turn**2)
    height = sum(MASSES) * CRANK / 2 * sine
    return of_crank + of_rod + slider * slide**2, GRAVITY * height


def time_of(peak, slider):
    """Time (s) from rest to rest with the largest torque all the way, forward and then back."""
    ends = START, START + TURN
    rise = reduced(ends[1], slider)[1] - reduced(ends[0], slider)[1]
    switch, total = sum(ends) / 2 + rise / (2 * peak), 0.0
    roots, weights = np.polynomial.legendre.leggauss(100)
    for end, torque in zip(ends, (peak, -peak)):
        way = np.sqrt(abs(switch - end)) * (roots + 1) / 2  # of root, so that rates begin smoothly
        angle = end + np.sign(switch - end) * way**2
        inertia, height = reduced(angle, slider)
        energy = torque * (angle - end) - (height - reduced(end, slider)[1])
        if (energy <= 0).any():
            return np.inf
        slowness = np.sqrt(inertia / (2 * energy))
        total += np.sqrt(abs(switch - end)) / 2 * (weights * 2 * way * slowness).sum()
    return total


def least_peak(duration, slider):
    """Least peak torque (N m) for the time, bisected."""
    low, high = 1e-2, 1e3
    for _ in range(80):
        middle = np.sqrt(low * high)
        low, high = (middle, high) if time_of(middle, slider) > duration else (low, middle)
    return high


@cache
def solved(duration, slider):
    return solve(problem(START, TURN, duration, slider, GRAVITY)).require()


@pytest.mark.parametrize(("duration", "slider"), [(0.4, 1.0), (0.25, 0.5)])
def test_the_least_peak_is_that_of_the_mechanisms_one_coordinate(duration, slider):
    solution = solved(duration, slider)
    assert solution.parameters["peak"] == pytest.approx(least_peak(duration, slider), rel=1e-3)
    assert solution.objective == solution.parameters["peak"]


def test_its_torque_is_the_peak_forward_and_then_back():
    solution = solved(0.4, 1.0)
    times = np.array([0.02, 0.1, 0.15, 0.25, 0.3, 0.38])
    torque = solution.tau(times)[0] / solution.parameters["peak"]
    assert np.allclose(torque, [1, 1, 1, -1, -1, -1], atol=0.02)


def test_its_certificate_finds_the_peak_kept_between_the_nodes():
    certificate = verify(solved(0.4, 1.0)).require(1e-3)
    assert certificate.violations["crank torque"].dense < 5e-4
