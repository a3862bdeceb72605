"""Measured walking of people in these conditions, each number with its source.

Those marked [recalled] were not read at their source. Frequencies and metabolic power of van der
Zee's, Koelewijn's, Browning's, Abe's, Gomenuka's and Schertzer's people are as Afschrift et al.
(2025) publish them beside their simulations (github.com/MaartenAfschrift/predsim_benchmark_data,
Abe's in PredSim_gait_conditions, read there).
"""

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np

from ocp.models.human import STATURE
from ocp.problems.gait.report.phase_report import MINUTE, WALK_RATIO

GRAVITY = 9.81  # m/s2
# Of men: strides a minute are 64.8 times the 0.57th power of speed in statures a second (Grieve &
# Gear 1966 [recalled])
GRIEVE, GRIEVE_POWER = 64.8, 0.57
# Strides a second of ten people on a treadmill by speed (m/s): means (van der Zee, Mundinger & Kuo
# 2022, the ten of ExperimentalData/VanDerZee/stridefreq.csv)
VAN_DER_ZEE: Mapping[float, float] = MappingProxyType(
    {0.7: 0.767, 0.9: 0.861, 1.1: 0.972, 1.4: 1.102, 1.6: 1.149, 1.8: 1.206, 2.0: 1.287}
)
# Strides a second at 1.25 m/s by slope (deg), of ten young people (Franz & Kram 2012, table 1)
FRANZ: Mapping[float, float] = MappingProxyType(
    {-9.0: 0.99, -6.0: 0.98, -3.0: 0.95, 0.0: 0.93, 3.0: 0.91, 6.0: 0.91, 9.0: 0.92}
)
FRANZ_SPEEDS: Mapping[float, float] = MappingProxyType({0.75: 0.74, 1.25: 0.93, 1.75: 1.05})
# The same at 1.3 m/s by grade (%), and metabolic power over mass and speed with that of standing
# (J/kg/m) (Koelewijn et al. 2019)
KOELEWIJN: Mapping[float, tuple[float, float]] = MappingProxyType(
    {-8.0: (0.928, 2.06), 0.0: (0.917, 3.22), 8.0: (0.902, 6.02)}
)
# The same at 0.8 m/s
KOELEWIJN_SLOWLY: Mapping[float, tuple[float, float]] = MappingProxyType(
    {-8.0: (0.823, 2.12), 0.0: (0.737, 3.31), 8.0: (0.786, 5.93)}
)
# Metabolic energy of walking by grade (%), J/kg/m: at 1.25 m/s with that of standing (Abe, Fukuoka
# & Horiuchi 2015, oxygen at 21.0 J/ml), at 1.11 m/s (Gomenuka et al. 2014, without a load)
ABE: Mapping[float, float] = MappingProxyType({-5.0: 2.74, 0.0: 3.45, 5.0: 4.96})
GOMENUKA: Mapping[float, float] = MappingProxyType({0.0: 1.69, 7.0: 3.16, 15.0: 5.44})
# The same at 1.39 m/s by the mass at the trunk (kg), W per kg of the body (Schertzer & Riemer 2014)
SCHERTZER: Mapping[float, float] = MappingProxyType({0.0: 4.96, 16.0: 6.02, 22.0: 6.41})
# Frequency with a load over that without, at 1.25 m/s, of five men (Browning et al. 2007); masses
# (kg) of legs on each side
BROWNING: Mapping[str, float] = MappingProxyType(
    {"waist=16": 1.000, "thigh=8": 1.011, "shank=4": 0.989, "foot=2": 0.955, "foot=4": 0.909}
)
# Net metabolic cost of walking (J/kg/m) by grade, the rise over the way along the ground, of ten
# mountain runners (Minetti et al. 2002, abstract: 1.64 +- 0.50 and 0.81 +- 0.37)
MINETTI: Mapping[float, float] = MappingProxyType({-0.10: 0.81, 0.0: 1.64})
# Work of hips, knees and ankles over the stance of level walking (J a step), of 34 people, and net
# over a metre on a ramp of 10 deg (DeVita, Helseth & Hortobagyi 2007, abstract)
DEVITA = {"positive": 50.0, "negative": -34.0, "up": 89.0, "down": -71.0}
# Above a grade of 15 % all external work is positive, below -15 % all of it is negative, and
# internal work does not change with the grade (Minetti, Ardigo & Saibene 1993, summary). In between
# positive work rises from nothing to the gain of height: by half of gravity over the sine
ALL_ONE_WAY = 0.15
POSITIVE_OVER_SINE = GRAVITY / 2.0  # J/kg/m


def inman_step(speed: float) -> float:
    """Return the length (m) of men's steps at a speed (m/s): over their rate it is 0.0072 m min
    (Inman, Ralston & Todd 1981 [quoted])."""
    return float(np.sqrt(MINUTE * speed * WALK_RATIO))


def grieve_step(speed: float, stature: float = STATURE) -> float:
    """Return the length (m) of men's steps at a speed (m/s) by Grieve & Gear (1966) [recalled]."""
    strides = GRIEVE * (speed / stature) ** GRIEVE_POWER
    return MINUTE * speed / (2.0 * strides)


def measured_step(speed: float) -> float:
    """Return the length (m) of steps of van der Zee's people at a speed (m/s), not a number at one
    beyond theirs."""
    steps = [v / (2 * strides) for v, strides in VAN_DER_ZEE.items()]
    return float(np.interp(speed, [*VAN_DER_ZEE], steps, left=np.nan, right=np.nan))
