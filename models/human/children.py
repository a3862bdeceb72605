"""Children to study: girls and boys of 5 to 18 years, of median stature and mass, by name.

They have the shares of mass of their age, and young adults' strength over mass times stature. From
6 to 19 years the largest force on one leg is 3.33 (SD 0.31) times the weight, whatever age and sex
(868 children who hopped on one leg). The knee flexes with 41 N m (mean of 56 children) at medians
of 1.43 m and 35 kg (Hogrel et al. 2012), 0.82 N m/(kg m) against 0.85 of young men (Anderson et al.
2007). Lengths of segments over stature are adults' [assumed], though children's legs are shorter.
"""

from typing import Any

import numpy as np

from ocp.models.human.anthropometry import shares

AGES = tuple(range(5, 19))  # years
# Stature (m) and mass (kg), medians at AGES of the growth charts of the Centers for Disease Control
# and Prevention (2000), between their months on lines
GROWTH: dict[str, tuple[tuple[float, ...], tuple[float, ...]]] = {
    "female": (
        (1.077, 1.147, 1.215, 1.276, 1.329, 1.380, 1.440)
        + (1.512, 1.572, 1.604, 1.619, 1.625, 1.629, 1.631),
        (17.9, 20.2, 22.8, 25.6, 29.0, 32.9, 37.2, 41.6, 45.8, 49.4, 52.0, 53.9, 55.1, 56.2),
    ),
    "male": (
        (1.089, 1.154, 1.218, 1.279, 1.335, 1.386, 1.435)
        + (1.491, 1.561, 1.638, 1.699, 1.735, 1.753, 1.762),
        (18.4, 20.7, 23.1, 25.6, 28.6, 31.9, 35.9, 40.5, 45.6, 51.0, 56.3, 60.9, 64.6, 67.2),
    ),
}
# Of the mass (%), of one side, at 6, 12 and 18 years, boys (Jensen 1986, 1989; as a public
# collection of body segment parameters has them). He cuts segments otherwise than de Leva: what
# changes from 18 years back is taken from him, the rest from her, and the trunk makes up for it
# [derived]. At 5 years as at 6.
GROWN = (6.0, 12.0, 18.0)
JENSEN = {
    "head_and_neck": (18.2, 10.1, 7.0),
    "upper_arm": (2.4, 3.2, 3.6),
    "forearm": (1.3, 1.7, 1.9),
    "hand": (0.8, 0.9, 0.9),
    "thigh": (8.5, 11.0, 11.4),
    "shank": (4.6, 5.3, 4.8),
    "foot": (1.9, 2.1, 1.7),
}
CHILDREN = {
    f"{name}{age}": (sex, age)
    for name, sex in (("girl", "female"), ("boy", "male"))
    for age in AGES
}  # girl5, girl6, ..., boy18


def child(sex: str, age: float, stature: Any = None, mass: Any = None) -> dict[str, Any]:
    """Return {stature (m), mass (kg), sex, segments, muscles (kg)} of a child.

    These are keyword arguments of `human`. `age`: 5 to 18 years; `stature` and `mass` in place of
    the medians. Muscles are those of the median's body-mass index. Raises ValueError for another
    sex or age.
    """
    if sex not in GROWTH or not AGES[0] <= age <= AGES[-1]:
        raise ValueError(
            f"child: expected a sex of {', '.join(GROWTH)} and an age of {AGES[0]} to {AGES[-1]} "
            f"years, got {sex!r} and {age!r}"
        )
    tall, heavy = (float(np.interp(age, AGES, line)) for line in GROWTH[sex])
    stature, mass = (tall if stature is None else stature), (heavy if mass is None else mass)
    muscles = heavy * (stature / tall) ** 2
    usual = shares(sex)
    segments = {
        name: {"mass": usual[name] * float(np.interp(age, GROWN, parts)) / parts[-1] * mass}
        for name, parts in JENSEN.items()
    }
    return {"stature": stature, "mass": mass, "sex": sex, "segments": segments, "muscles": muscles}
