"""People at random: a Latin hypercube of stature, mass, proportions and strength.

Stature is normal, and mass over the square of stature lognormal and independent of it, which makes
mass as spread as it was measured: medians, 5th and 95th percentiles are those of ANSUR II (2012).
"""

from math import exp, log
from statistics import NormalDist
from typing import Any

from ocp.models.human import SURVEY
from ocp.studies import latin_hypercube

# Standard deviations over the mean, beside stature and mass, each for itself. Lengths: people's
# legs over stature spread by about 3 % (sitting height is 52 % of it, SD 1.4, in adults
# [recalled]), of which thighs and shanks that differ alike are each 4 % [derived]. Masses: 8 % of
# thigh and shank in 13 men, standard errors of 0.23 of 10.27 % and 0.10 of 4.33 % of the mass
# (Clauser et al. 1969 [recalled]).
LENGTH, MASS = 0.04, 0.08
LIMBS = ("thigh", "shank")
WEAKEST, STRONGEST = 1.0, 99.0  # percentiles of strength, evenly drawn
SEXES = ("female", "male")
TAIL = NormalDist().inv_cdf(0.95)
PROPORTIONS = tuple(f"{limb}_{what}" for limb in LIMBS for what in ("length", "mass"))
SHARES = ("stature", "bulk", *PROPORTIONS)
EDGE = 1e-3  # of a distribution: no person is rarer


def people(count: int, seed: int = 0) -> list[dict[str, Any]]:
    """Return the arguments of the walks of `count` people, women and men by turns, the same ones
    for the same `seed`. Raises ValueError for a count below 1."""
    over = dict.fromkeys((*SHARES, "percentile"), (EDGE, 1.0 - EDGE))
    cells = latin_hypercube(over, count, seed)
    return [_person(SEXES[number % 2], cell) for number, cell in enumerate(cells)]


def _person(sex: str, cell: dict[str, float]) -> dict[str, Any]:
    """Return the arguments of a person by shares of people who have less of each."""
    z = {name: NormalDist().inv_cdf(cell[name]) for name in SHARES}
    middle, tall, bulk, bulky = spreads(sex)
    stature = middle + tall * z["stature"]
    limbs = {
        f"{limb}_{what}": max(0.5, 1.0 + deviation * z[f"{limb}_{what}"])
        for limb in LIMBS
        for what, deviation in (("length", LENGTH), ("mass", MASS))
    }
    return {
        "sex": sex,
        "method.sex": sex,
        "stature": stature,
        "mass": bulk * stature**2 * exp(bulky * z["bulk"]),
        **limbs,
        "percentile": WEAKEST + cell["percentile"] * (STRONGEST - WEAKEST),
    }


def spreads(sex: str) -> tuple[float, float, float, float]:
    """Return median (m) and standard deviation (m) of stature, and median (kg/m2) of mass over its
    square and the standard deviation of that's logarithm."""
    (short, light), (middle, usual), (tall, heavy) = (SURVEY[sex][rank] for rank in (5, 50, 95))
    deviation = (tall - short) / (2 * TAIL)
    masses = log(heavy / light) / (2 * TAIL)
    bulky = (masses**2 - (2 * deviation / middle) ** 2) ** 0.5
    return middle, deviation, usual / middle**2, bulky
