"""Torque limits of people's joints by sex, age and percentile, over angle and speed.

One number per joint and direction, its isometric best (`capacity`), normalises effort and is what
limits, certificates and pictures go by; `strength="angle"` and "speed" of `human` add what is left
of it elsewhere, as `Strength` elements.
"""

from collections.abc import Collection
from statistics import NormalDist, mean
from typing import Any

import casadi as ca

from ocp import Strength, Tree
from ocp.mechanics import Open, array, expression_of, is_open, nominal
from ocp.models.human.anthropometry import MASS, STATURE
from ocp.models.human.strength.exertions import (
    AGES,
    LIKE,
    LINES,
    ROUNDING_ANGLE,
    SHOULDER,
    TABLE,
    TRUNK,
    Cosine,
    Exertion,
    Hill,
    Line,
)
from ocp.models.human.tables import MOVEMENTS, ROOT

KINDS = ("constant", "angle", "speed")
GRAVITY = 9.81  # m/s2, of the weight that the table is over
YEARS = (5.0, 110.0)  # of children that of young adults, see `children`
PERCENTILES = (1.0, 99.0)
# Women's strength over men's of the same mass times stature: what they have of men's, legs 71.9,
# trunk 63.8 and arms 55.8 % in the mean of nine studies (Laubach 1976), over the median woman's
# mass times stature over the median man's (ANSUR II 2012). Of the same measure women of 18-25 have
# 0.92 to 1.12 of men's strength at hip and knee (Anderson, Madigan & Nussbaum 2007, table 3).
SIZE = (66.8 * 1.626) / (84.6 * 1.755)
STRENGTH = {
    "male": {"leg": 1.0, "trunk": 1.0, "arm": 1.0},
    "female": {"leg": 0.719 / SIZE, "trunk": 0.638 / SIZE, "arm": 0.558 / SIZE},
}
GROUPS = {
    "leg": ("hip_", "knee_", "ankle_", "toe_"),
    "trunk": ("spine", "neck_", "head_"),
    "arm": ("clav_", "shou_", "elb_", "wri_"),
}

# Movements whose limits in MOVEMENTS are means of people; all others are means and a standard
# deviation. That over the mean: of the neck 6 of 30 N m, 11 of 51, 9 of 32 and 5 of 13 in nine men
# (Fice, Siegmund & Blouin 2014), otherwise a quarter, as in the mean of Anderson et al.'s men
# [assumed].
MEANS: tuple[str, ...] = ("hip_rot", "ankle_inv", "wri_", "neck_", "head_")
MEANS += tuple(f"spine{k}_rot" for k in (1, 2, 3, 4))
SPREAD = 0.25
SPREADS = {"flex": (0.22, 0.20), "lat": (0.28, 0.28), "rot": (0.38, 0.38)}  # of the neck, (-, +)
# (mean, standard deviation over it), N m, in place of those: hip abduction 1.29 (0.24) N m/kg at 60
# deg/s (men of 16; Sugimoto et al. 2014), over what is left there of hip flexion's peak, 0.874; the
# adductors as strong, for Cahalan et al. (1989) found them no weaker [derived]; shoulder flexion
# 89.9 N m in the mean of 26 men
BETTER = {
    ("hip_abd", 1): (1.29 / 0.874 * MASS, 0.24 / 1.29),
    ("hip_abd", -1): (1.29 / 0.874 * MASS, 0.24 / 1.29),
    ("shou_flex", 1): (89.9, SPREAD),
}


# Share of youth's strength that is lost in ten years, in place of the table's older rows, in which
# plantar flexors of men and women gain: those of 217 women of 20-89 years lose 7.4 %, their knees'
# extensors 9.3 % (Hunter, Thompson & Adams 2000), plantar flexors of men 39 % from 24 to 77, which
# is 7.4 % too (80 of 132 N m; Simoneau, Martin & Van Hoecke 2005), and 39 % to 70-82 (Morse et al.
# 2004). Hips of 12 older women flex and extend 22 and 31 % less strongly than those of 12 young
# ones (Dean, Kuo & Alexander 2004), over five times ten years [recalled]. So they go on beyond 70
LOSSES = {
    "male": {("ankle_df", -1): 0.074},
    "female": {
        ("ankle_df", -1): 0.074,
        ("knee_flex", -1): 0.093,
        ("hip_flex", 1): 0.22 / 5,
        ("hip_flex", -1): 0.31 / 5,
    },
}


def strength(movement: str, sex: str) -> float:
    """Return the factor of a joint's torque limits, beside mass and stature."""
    for group, starts in GROUPS.items():
        if movement.startswith(starts):
            return STRENGTH[sex][group]
    return 1.0


def torque_range(
    movement: str,
    size: float | Open = 1.0,
    sex: str = "male",
    age: float | None = None,
    percentile: float | Open | None = None,
) -> tuple[Any, Any]:
    """Return the torque limits (N m) of a movement, as "hip_flex", that are constant.

    `size` is mass times stature over those of the tables. Without `age` and `percentile` they are
    those of the tables; otherwise both are `peak`s of the same percentile, by default the mean and
    a standard deviation, at 18-25 years. Raises ValueError for what is not measured.
    """
    if age is None and percentile is None:
        factor, (lower, upper) = size * strength(movement, sex), MOVEMENTS[movement][2]
        return factor * lower, factor * upper
    down, up = (size * peak(movement, way, sex, age, percentile) for way in (-1, 1))
    return -down, up


def peak(
    movement: str,
    way: int,
    sex: str,
    age: float | None = None,
    percentile: float | Open | None = None,
) -> Any:
    """Return the isometric best (N m) in a direction of a movement, for STATURE and MASS; it is
    open where the `percentile` is."""
    z = _deviations(percentile)
    if (movement, way) in TABLE[sex]:
        c1, deviation = _aged_peak(sex, (movement, way), age)
        return (c1 + z * deviation) * GRAVITY * MASS * STATURE
    middle, spread = _distribution(movement, way)
    return middle * (1 + z * spread) * strength(movement, sex) * _ageing(sex, age)


def strengths(
    joints: Collection[str],
    size: float | Open = 1.0,
    sex: str = "male",
    kind: str = "speed",
    age: float | None = None,
    percentile: float | Open | None = None,
) -> tuple[Strength, ...]:
    """Return the strengths of the muscles at the named joints, both ways, over "angle", or that and
    "speed": of the former those joints that are known to differ.

    `size` is mass times stature over those of the tables. Joints of the spine share the trunk's
    flexion. Raises ValueError for an unknown kind and what is not measured.
    """
    if kind not in KINDS:
        raise ValueError(f"human: strength: expected 'constant', 'angle' or 'speed', got {kind!r}")
    if kind == "constant":
        return ()
    bends = sum(name.startswith("spine") and name.endswith("flex") for name in joints)
    elements = []
    for joint in (name for name in joints if name not in ROOT):
        movement = joint[:-2] if joint.endswith(("_r", "_l")) else joint
        for way in (1, -1):
            angle = _at_angle(movement, way, sex, _years(age), bends)
            if kind == "angle" and angle is None:
                continue
            speed = _at_speed(movement, way, sex, _years(age)) if kind == "speed" else None
            best = size * peak(movement, way, sex, age, percentile)
            law = Exertion(peak=best, angle=angle, speed=speed)
            elements.append(Strength(joint=joint, direction=way, capacity=law))
    return tuple(elements)


def capacity(tree: Tree, joint: str, direction: int) -> Any:
    """Return the strength of a joint's muscles (N m) in a `direction`, 1 or -1: their isometric
    best.

    That is the peak of its strength over angle and speed where the tree has such, otherwise its
    torque limit; it may be open. Raises ValueError for an unknown joint or direction.
    """
    if direction not in (1, -1):
        raise ValueError(f"capacity of {joint!r}: direction: expected 1 or -1, got {direction!r}")
    torque = tree.moving[tree.coordinate(joint)].torque
    for each in tree.elements:
        if not isinstance(each, Strength) or (each.joint, each.direction) != (joint, direction):
            continue
        if isinstance(each.capacity, Exertion):
            return each.capacity.peak
    return direction * torque[(direction + 1) // 2]


def relative_strength(tree: Tree, joint: str) -> Any:
    """Return the strength of a joint's muscles, both ways together, over that of the man of STATURE
    and MASS, a mean and a standard deviation; it may be open."""
    movement = joint[:-2] if joint.endswith(("_r", "_l")) else joint
    own = (capacity(tree, joint, way) for way in (1, -1))
    whole = sum(expression_of(each) if is_open(each) else each for each in own)
    return whole / sum(peak(movement, way, "male") for way in (1, -1))


def over_speed(
    joint: str, elements: Collection[Strength], size: Any, sex: str, **who: Any
) -> tuple[Any, Any]:
    """Return the torque limits (N m) of a joint that cut off nothing of its strength: the largest
    of `elements` over all angles and speeds, where it has none of a direction its `peak`."""
    movement = joint[:-2] if joint.endswith(("_r", "_l")) else joint
    largest = {way: size * peak(movement, way, sex, **who) for way in (-1, 1)}
    for each in elements:
        if each.joint == joint and isinstance(each.capacity, Exertion):
            largest[each.direction] = each.capacity.largest
    return -largest[-1], largest[1]


def _years(age: float | None) -> float:
    """Return the place of an age among AGES: 0, 1 and 2 are theirs."""
    if age is None:
        return 0.0
    if not YEARS[0] <= age <= YEARS[1]:
        raise ValueError(f"human: age: expected {YEARS[0]:g} to {YEARS[1]:g} years, got {age:g}")
    young, middle, old = AGES
    if age < middle:
        return max(age - young, 0.0) / (middle - young)
    return 1.0 + min(age - middle, old - middle) / (old - middle)


def _deviations(percentile: float | Open | None) -> Any:
    """Return the distance of a percentile above the mean in standard deviations, by default 1."""
    if percentile is None:
        return 1.0
    here = nominal(percentile)
    if not PERCENTILES[0] <= here <= PERCENTILES[1]:
        raise ValueError(f"human: percentile: expected 1 to 99, got {here:g}")
    if not is_open(percentile):
        return NormalDist().inv_cdf(here / 100)
    return array(2**0.5 * ca.erfinv(expression_of(percentile / 50 - 1))).item()


def _aged(rows: tuple[tuple[float, ...], ...], share: float) -> tuple[float, ...]:
    """Return the numbers of a table's rows at a place between them."""
    first = min(int(share), len(rows) - 2)
    rest = share - first
    return tuple(
        (1 - rest) * one + rest * other for one, other in zip(rows[first], rows[first + 1])
    )


def _aged_peak(sex: str, key: tuple[str, int], age: float | None) -> tuple[float, float]:
    """Return (mean, standard deviation) of the peak of a movement of the TABLE at an age, over
    weight times height."""
    lost, years = LOSSES[sex].get(key), _years(age)
    middle, deviation, *_ = _aged(TABLE[sex][key], 0.0 if lost else years)
    left = 1.0 - (lost or 0.0) * max((age or 0.0) - AGES[0], 0.0) / 10.0
    return left * middle, left * deviation


def _ageing(sex: str, age: float | None) -> float:
    """Return the share of youth's strength that is left where no table says: the mean of those of
    the leg."""
    return mean(_aged_peak(sex, key, age)[0] / rows[0][0] for key, rows in TABLE[sex].items())


def _distribution(movement: str, way: int) -> tuple[float, float]:
    """Return the mean (N m) of young men, and its standard deviation over it."""
    if (movement, way) in BETTER:
        return BETTER[movement, way]
    limit = abs(MOVEMENTS[movement][2][(way + 1) // 2])
    spread = SPREAD
    if movement.startswith(("neck_", "head_")):
        spread = SPREADS[movement.partition("_")[2]][(way + 1) // 2]
    return (limit if movement.startswith(MEANS) else limit / (1 + spread)), spread


def _at_angle(movement: str, way: int, sex: str, share: float, bends: int) -> Any:
    """Return the share of strength over the angle in a direction, None where it is not known to
    differ."""
    if (movement, way) in TABLE[sex]:
        _, _, narrowing, best, *_ = _aged(TABLE[sex][movement, way], share)
        return Cosine(narrowing=narrowing, best=best)
    if movement.startswith("spine") and movement.endswith("flex"):
        line = LINES["trunk", way]
        points = tuple((place / bends, left) for place, left in line)
        return Line(points=points, rounding=ROUNDING_ANGLE / bends)
    return Line(points=LINES[movement, way]) if (movement, way) in LINES else None


def _at_speed(movement: str, way: int, sex: str, share: float) -> Hill:
    """Return the share of strength over the speed in a direction."""
    key = (movement, way)
    for start, other in LIKE.items():
        key = other if movement.startswith(start) else key
    if key in TABLE[sex]:
        *_, three_quarters, half, eccentric = _aged(TABLE[sex][key], share)
        return Hill(three_quarters=three_quarters, half=half, eccentric=eccentric)
    return TRUNK if movement.startswith(GROUPS["trunk"]) else SHOULDER
