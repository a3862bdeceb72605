"""Passive moments of people's joints, as force elements.

Of hip flexion, knee and ankle of a side together (Riener & Edrich 1999), of the lumbar and thoracic
spine by the stiffness of its motion segments, and at both ends of all other ranges by exponentials

    k1 exp(k2 (x - x1)) + k3 exp(k4 (x - x2))        (Anderson 1999, eq. 4.4; Anderson & Pandy 2001)

of the man of STATURE and MASS; all grow with stature and the mass of muscles, as torque limits do.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import degrees, exp, pi, radians
from typing import Any

import casadi as ca

from ocp import Damper, Joint, PassiveMoment, Spring, Tree
from ocp.mechanics import Element, Open, PassiveForce, expression_of, is_open, nominal
from ocp.mechanics.muscles import PointPath
from ocp.models.human.anthropometry import MASS, STATURE
from ocp.models.human.segments import segment_masses
from ocp.models.human.strength.strengths import peak
from ocp.models.human.tables import MOVEMENTS

LEG = ("hip_flex", "knee_flex", "ankle_df")
# Riener & Edrich (1999), with the ankle's sign turned: dorsiflexion is positive here, plantar
# flexion there. Of each joint of LEG: a constant (N m) and terms (sign, exponent at 0, and its
# slopes over hip, knee and ankle, 1/deg), sign exp(exponent). Read in three public implementations
# that agree; the knee's 0.150 stands as 1.50 in a fourth, by which it would vanish within 2 deg.
COUPLED: tuple[tuple[float, Sequence], ...] = (
    (8.072, ((1, 1.4655, (-0.0750, -0.0034, 0.0)), (-1, 1.3403, (0.0305, -0.0226, 0.0)))),
    (
        -4.820,
        (
            (1, 1.800, (0.0217, -0.0352, 0.0460)),
            (-1, -3.971, (-0.0128, 0.0495, 0.0004)),
            (1, 2.220, (0.0, -0.150, 0.0)),
        ),
    ),
    (1.792, ((1, -7.9763, (0.0, 0.0008, -0.1949)), (-1, 2.1016, (0.0, -0.0176, 0.0843)))),
)

# Ends of ranges: (k N m, 1/rad, place rad) upwards, then downwards, of the movements that have
# their own in Anderson (1999, table G.2), as Falisse et al. (2019) carry it in their public code.
# The toes' end downwards, -70.08/rad from 0 there, would be 1e20 N m in the range of this model: it
# is that of the others at the range's end [assumed]. An arm held out, palm up, straightens at the
# elbow under forearm and hand, 3.5 N m about it [derived from their masses].
SOFT, SLOPE = 0.25, 20.36  # N m, 1/rad: the ends of Anderson's back in bending and rotation
ENDS = {
    "hip_abd": ((0.03, 14.94, 0.5), (0.03, 14.94, -0.5)),
    "hip_rot": ((0.03, 14.94, 0.92), (0.03, 14.94, -0.92)),
    "ankle_inv": ((60.21, 16.32, 0.65), (60.21, 16.32, -0.65)),
    "toe_ext": ((0.9, 14.87, 1.134), (SOFT, SLOPE, radians(-40))),
    "elb_flex": ((SOFT, SLOPE, radians(150)), (3.5, SLOPE, 0.0)),
}
# Upwards and downwards (k N m, 1/rad) at the ends of the anatomical ranges of all other joints: in
# spine flexion Anderson's back, elsewhere its bending; its thresholds, of one joint for the whole
# trunk, become the ends of each range [derived], of arms and neck all of it is [assumed].
FLEXION = ((0.25, 20.36), (0.35, 30.72))
OTHERS = ((SOFT, SLOPE), (SOFT, SLOPE))

# Stiffness of a motion segment (N m/deg) in flexion, bending and rotation: lumbar 1.8 in flexion
# and 2.6 in extension, their mean (as public OpenSim models have L2/L3); 2.1 and 7.0 (10.6 N m bend
# one by 5 deg and turn it by 1.5: Schultz et al. 1979 [recalled]); thoracic 3.0, 3.0, 2.6 (Panjabi,
# Brand & White 1976 [recalled]). In bending the six lumbar ones in series have 0.35, and people
# lying on their side 0.25 to 0.31 in the first quarter of their range, 0.6 to 0.75 in the second
# (Gombatto et al. 2008, in Watt et al. 2022, table 3).
LUMBAR = {"flex": 2.2, "lat": 2.1, "rot": 7.0}
THORACIC = {"flex": 3.0, "lat": 3.0, "rot": 2.6}
# How many motion segments each joint of the spine stands for: L5/S1 to L3/L4, to T12/L1, T11/T12 to
# T7/T8, to C7/T1
SEGMENTS = {"spine1": (LUMBAR, 3), "spine2": (LUMBAR, 3), "spine3": (THORACIC, 5)}
SEGMENTS |= {"spine4": (THORACIC, 7)}

# Of spines that bear 500 N over those that bear nothing, the mean of all directions (Gardner-Morse
# & Stokes 2004); weight above the pelvis and muscles beside it press more on them in walking
LOADED = 2.11

# Elements that gather the ends of ranges: their names, and the beginnings of those of joints
GATHERED = {
    "ligaments of leg": ("hip_abd", "hip_rot", "ankle_inv", "toe_ext"),
    "ligaments of arm": ("clav_", "shou_", "elb_", "wri_"),
    "ligaments of spine": ("spine",),
    "ligaments of neck": ("neck_", "head_"),
}
# Of the strength that bends a joint so far, what its tissue holds at the end of its range: of the
# spine fully flexed 120 N m over 182 / 1.25 N m, both in the mean of men (of women 77; Dolan,
# Mannion & Adams 1994), less what its motion segments hold there, 18 N m over the 182 of a strong
# man. For all other joints, which have no such measure here, it is [derived] from that.
HELD = 120 / (182 / 1.25) - 18 / 182
TOE_DAMPING = 0.03 / 25  # s: damping over stiffness of the toes (Sasaki et al. 2009) [recalled]

# Hips in abduction and rotation are as stiff as in flexion when standing, over how far they turn
# [assumed]: the slope of the first of COUPLED is 0.441 N m/deg with all at 0, over 150 deg. So they
# have 0.88 and 0.74 N m/deg. People's resist the first 20 deg of inward rotation (Leite et al.
# 2012), by muscle, for capsules alone leave up to 50 deg free (van Arkel et al. 2015).
HIPS = ("hip_abd", "hip_rot")
# Elbows: stiffness 0.40 to 1.8 N m/rad in 19 people, here its middle, from where they rest, bent by
# 73 deg (Wiegner & Watts 1986: 107 between upper arm and forearm), and damping (N m s/rad), about a
# sixth of the critical one of a hanging forearm [assumed]
ELBOW, ELBOW_REST, ELBOW_DAMPING = 1.1, radians(73), 0.2

# Thighs as round as cylinders of their mass and length, of a density of flesh (kg/m3; Dempster 1955
# [recalled]), which touch along a share of their length [assumed] and begin to within a depth (m)
# [assumed]; flesh keeps its volume
DENSITY, ALONG, DEPTH = 1050.0, 0.5, 0.01
POISSON = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Coupling:
    """The moments (k, N m) of Riener & Edrich (1999) at those of hip flexion, knee and ankle that
    `move`, rows of LEG; the others stand at 0. `size` multiplies them.

    They have no energy: d M_hip / d knee is not d M_knee / d hip.
    """

    move: tuple[int, ...]
    size: Any = 1.0

    def __call__(self, x: Any, rate: Any) -> tuple[Any, ...]:
        """Return the moments at the coordinates x (k,), rad; their `rate` does nothing."""
        turned = {row: degrees(1.0) * x[k] for k, row in enumerate(self.move)}
        size = expression_of(self.size) if is_open(self.size) else self.size
        return tuple(size * _coupled(*COUPLED[row], turned) for row in self.move)


def _coupled(constant: float, terms: Sequence[Any], turned: dict[int, Any]) -> Any:
    """Return a moment (N m) of the coordinates (deg) by rows of LEG."""
    total = constant
    for sign, exponent, slopes in terms:
        total = total + sign * ca.exp(
            sum((slopes[row] * angle for row, angle in turned.items() if slopes[row]), exponent)
        )
    return total


@dataclass(frozen=True, slots=True, kw_only=True)
class Restoring:
    """The energy (J) of moments that grow at both ends of joints' ranges.

        V = sum of (k / c) exp(c (x - x1)) + (k' / c') exp(-c' (x - x2))

    `ends`: of each joint ((k, c, x1), (k', c', x2)), N m, 1/rad and rad, upwards and downwards.
    `size` multiplies it.
    """

    ends: tuple[tuple[tuple[float, float, float], tuple[float, float, float]], ...]
    size: Any = 1.0

    def __call__(self, x: Any) -> Any:
        """Return the stored energy (J) at the coordinates x (k,), rad."""
        total: Any = 0.0
        for k, pair in enumerate(self.ends):
            for way, (moment, slope, place) in zip((1, -1), pair):
                total = total + moment / slope * ca.exp(way * slope * (x[k] - place))
        return (expression_of(self.size) if is_open(self.size) else self.size) * total


@dataclass(frozen=True, slots=True, kw_only=True)
class Touching:
    """The energy (J) of two alike soft cylinders whose middles are l (m) apart.

        V = k d^2 / 2,   d = (c + sqrt(c^2 + e^2)) / 2,   c = 2 r - l
        k = (pi / 4) L E / (2 (1 - n^2)),   r = sqrt(m / (pi rho h))

    Parallel cylinders of a modulus E and a ratio n of Poisson press on each other so along a length
    L (Popov 2010, section 5.4 [recalled]). Each has a `mass` m (kg) and a `length` h (m), of which
    ALONG is L; `modulus` (kPa). The depth d is rounded within e.
    """

    mass: Any
    length: Any
    modulus: Any

    def __call__(self, distance: Any) -> Any:
        """Return the stored energy (J) at a `distance` (m) of the middles."""
        mass, length, modulus = (
            expression_of(each) if is_open(each) else each
            for each in (self.mass, self.length, self.modulus)
        )
        radius = ca.sqrt(mass / (pi * DENSITY * length))
        stiffness = pi / 4 * ALONG * length * 1e3 * modulus / (2 * (1 - POISSON**2))
        over = 2 * radius - distance
        return stiffness * ((over + ca.sqrt(over**2 + DEPTH**2)) / 2) ** 2 / 2


def passive(
    joints: Collection[str],
    stature: float | Open = STATURE,
    mass: float | Open = MASS,
    *,
    toes: float | Open = 0.0,
) -> tuple[Element, ...]:
    """Return the passive tissue of the named `joints` of a person of `stature` (m) and `mass` (kg).

    `joints` are those that move: a law of several takes the others at 0. Elements are "tissue of
    leg r" (Riener & Edrich), "ligaments of leg r", "arm r", "spine", "neck", all but the first
    restoring at the ends of ranges, and "spine1_flex stiffness" and the like; with `toes`, a
    stiffness (N m/rad), "toe_ext_r stiffness" and damping too: plantar tissue that stretches as the
    toes bend, 25 in Sasaki et al. (2009) [recalled]. Names that are no joints of the human's with
    such tissue, as those of the pelvis in space, get none.
    """
    size = _size(stature, mass)
    elements: list[Element] = []
    for side in ("r", "l"):
        elements += _leg(side, joints, size)
    for what, starts in GATHERED.items():
        for side in ("_r", "_l") if what.endswith(("leg", "arm")) else ("",):
            elements += _ligaments(what, side, starts, joints, size)
    elements += _segments(joints, size)
    if is_open(toes) or toes:
        for joint in (name for name in joints if name.startswith("toe_ext")):
            stiffness, damping = size * toes, size * toes * TOE_DAMPING
            elements.append(Spring(joint=joint, stiffness=stiffness, name=f"{joint} stiffness"))
            elements.append(Damper(joint=joint, damping=damping, name=f"{joint} damping"))
    return tuple(elements)


def holding_ends(joints: Iterable[Joint], size: Any, sex: str) -> list[PassiveMoment]:
    """Return tissue that holds who lifts at both ends of the range of each driven joint.

    It gives HELD of the strength of people of this `sex` that bends so far, times `size` (mass
    times stature over those of the man of MASS and STATURE), and grows there as the ends of
    Anderson's (1999) back. Elements are "end of spine1_flex" and the like; joints whose tissue is
    measured (LEG: Riener & Edrich 1999) get none.
    """
    elements = []
    for joint in joints:
        movement = joint.name.removesuffix("_r").removesuffix("_l")
        if joint.actuated and movement not in LEG:
            held = [HELD * peak(movement, way, sex) for way in (1, -1)]
            down, up = nominal(joint.position)
            ends = ((held[0], SLOPE, float(up)), (held[1], SLOPE, float(down)))
            law = Restoring(ends=(ends,), size=size)
            name = f"end of {joint.name}"
            elements.append(PassiveMoment(name=name, joints=(joint.name,), energy=law))
    return elements


def within_ranges(
    joints: Collection[str], stature: float | Open = STATURE, mass: float | Open = MASS
) -> tuple[Element, ...]:
    """Return the tissue of those named `joints` that are hips and elbows within their ranges, of a
    person of `stature` (m) and `mass` (kg), beside that of `passive` at the ends of these.

    Elements are "hip_abd_r stiffness", "elb_flex_r stiffness", "elb_flex_r damping" and the like.
    """
    size = _size(stature, mass)
    elements: list[Element] = []
    for joint in joints:
        movement = joint[:-2] if joint.endswith(("_r", "_l")) else joint
        if movement in HIPS:
            stiffness = size * (_standing_hip() * _turn("hip_flex") / _turn(movement))
            elements.append(Spring(joint=joint, stiffness=stiffness, name=f"{joint} stiffness"))
        if movement == "elb_flex":
            stiff = {"stiffness": size * ELBOW, "rest": ELBOW_REST}
            elements.append(Spring(joint=joint, name=f"{joint} stiffness", **stiff))
            damping = size * ELBOW_DAMPING
            elements.append(Damper(joint=joint, damping=damping, name=f"{joint} damping"))
    return tuple(elements)


def bearing(
    joints: Collection[str], stature: float | Open = STATURE, mass: float | Open = MASS
) -> tuple[Element, ...]:
    """Return the springs that lumbar ones of the named `joints` gain as they bear weight, beside
    those of `passive`, of a person of `stature` (m) and `mass` (kg).

    Elements are "spine1_lat loaded" and the like.
    """
    more = (LOADED - 1.0) * _size(stature, mass)
    return tuple(_segments(joints, more, (LUMBAR,), "loaded"))


def thighs_that_touch(body: Tree, modulus: float | Open) -> PassiveForce:
    """Return the force that keeps the thighs of a `body` apart where they touch, "thighs".

    Their girth follows from their masses; `modulus` (kPa) is Young's of the flesh between them:
    26.1 (SD 19.0) of what lies under the skin at the buttocks of 21 young men, lightly pressed
    (Isogai et al. 2022, abstract). Flesh gives back what it takes, and does not rub [assumed].
    """
    length = -2 * body.point("mid_thigh_r").position[1]  # from the hip down
    law = Touching(mass=segment_masses(body)["thigh"], length=length, modulus=modulus)
    between = PointPath(points=("mid_thigh_r", "mid_thigh_l"))
    return PassiveForce(name="thighs", over=between, energy=law)


def _standing_hip() -> float:
    """Return the stiffness (N m/rad) of hip flexion when hip, knee and ankle are at 0."""
    _, terms = COUPLED[0]
    return -degrees(1.0) * sum(sign * exp(exponent) * slopes[0] for sign, exponent, slopes in terms)


def _turn(movement: str) -> float:
    """Return the range (deg) of a joint's turn."""
    lower, upper = MOVEMENTS[movement][0]
    return upper - lower


def _leg(side: str, joints: Collection[str], size: Any) -> list[Element]:
    """Return the coupled tissue of those joints of a leg that move."""
    move = tuple(row for row, name in enumerate(LEG) if f"{name}_{side}" in joints)
    if not move:
        return []
    names = tuple(f"{LEG[row]}_{side}" for row in move)
    law = Coupling(move=move, size=size)
    return [PassiveMoment(name=f"tissue of leg {side}", joints=names, moment=law)]


def _ligaments(
    what: str, side: str, starts: tuple[str, ...], joints: Collection[str], size: Any
) -> list[Element]:
    """Return the restoring elements at the ends of ranges of those joints of a part that move."""
    names = tuple(name for name in joints if name.startswith(starts) and name.endswith(side))
    if not names:
        return []
    law = Restoring(ends=tuple(_ends(name) for name in names), size=size)
    return [PassiveMoment(name=f"{what}{side.replace('_', ' ')}", joints=names, energy=law)]


def _ends(joint: str) -> Any:
    """Return (k, c, place) upwards and downwards of a joint."""
    movement = joint[:-2] if joint.endswith(("_r", "_l")) else joint
    if movement in ENDS:
        return ENDS[movement]
    lower, upper = (radians(bound) for bound in MOVEMENTS[movement][0])
    flexes = movement.startswith("spine") and movement.endswith("flex")
    above, below = FLEXION if flexes else OTHERS
    return (*above, upper), (*below, lower)


def _segments(
    joints: Collection[str],
    size: Any,
    of: tuple[Mapping[str, float], ...] = (LUMBAR, THORACIC),
    what: str = "stiffness",
) -> list[Element]:
    """Return springs of the spine's joints that move: each as its motion segments in series."""
    springs: list[Element] = []
    for joint in joints:
        part, _, movement = joint.partition("_")
        table, count = SEGMENTS.get(part, ({}, 1))
        if table in of:
            stiffness = size * (degrees(1.0) * table[movement] / count)
            springs.append(Spring(joint=joint, stiffness=stiffness, name=f"{joint} {what}"))
    return springs


def _size(stature: Any, mass: Any) -> Any:
    """Return the factor of moments beside those of the man of STATURE and MASS."""
    return (stature / STATURE) * (mass / MASS)
