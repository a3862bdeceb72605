"""Volumes of the muscles that turn each joint each way: what an effort by muscle is weighted with.

A muscle counts at every joint and way that it acts in, in full or by the stated part of it: those
that cross two joints count twice, so that the sums of a leg are more than its muscles have.
"""

from typing import Any

from ocp import Tree
from ocp.mechanics import Open
from ocp.models.human.anthropometry import MASS, STATURE
from ocp.models.human.tables import MOVEMENTS

# Handsfield et al. (2014): a leg's 35 muscles have V = 47 cm3/(kg m) mass stature + 1285 cm3, and
# one of them b_1 V + b_2 (cm3), in 16 men and 8 women, as two public scripts have their equations
# and supplement.
LEG_OVER_SIZE, LEG_LEAST = 47.0, 1285.0
LEG = {
    "gluteus_maximus": (0.123, -25.4),
    "adductor_magnus": (0.0793, -4.7),
    "gluteus_medius": (0.0478, -16.9),
    "psoas": (0.055, -117.0),
    "iliacus": (0.0248, 0.383),
    "sartorius": (0.0256, -18.2),
    "adductor_longus": (0.0259, -21.9),
    "gluteus_minimus": (0.0129, 12.6),
    "adductor_brevis": (0.0137, 6.2),
    "gracilis": (0.0138, 6.07),
    "pectineus": (0.0107, -9.94),
    "tensor_fasciae_latae": (0.0136, -31.5),
    "obturator_externus": (0.00349, 28.3),
    "piriformis": (0.00372, 16.2),
    "quadratus_femoris": (0.00475, -1.45),
    "obturator_internus": (0.00252, 8.68),
    "small_rotators": (0.00172, 3.85),
    "vastus_lateralis": (0.125, -55.7),
    "vastus_medialis": (0.0631, -16.3),
    "vastus_intermedius": (0.0273, 76.5),
    "rectus_femoris": (0.0371, 4.97),
    "semimembranosus": (0.0319, 18.2),
    "biceps_femoris_long": (0.0256, 24.3),
    "semitendinosus": (0.0285, -16.8),
    "biceps_femoris_short": (0.016, -13.8),
    "popliteus": (0.00298, 2.11),
    "soleus": (0.0507, 78.2),
    "gastrocnemius_medial": (0.0348, 9.42),
    "gastrocnemius_lateral": (0.0199, 8.21),
    "tibialis_anterior": (0.0161, 20.3),
    "peroneals": (0.0194, -7.43),
    "tibialis_posterior": (0.0104, 30.8),
    "toe_extensors": (0.0132, 8.7),
    "flexor_hallucis": (0.0137, -18.9),
    "flexor_digitorum": (0.00259, 11.6),
}
# Holzbaur et al. (2007): cm3 of the mean of ten subjects [recalled]. They fit what stands in its
# abstract: the deltoid 15.2, muscles of shoulder, elbow and wrist 52.5, 31.4 and 16.0 % of all.
# Taken to be those of the man of STATURE and MASS, in proportion to mass times stature [assumed].
ARM = {
    "deltoid": 380.5,
    "pectoralis_major": 290.0,
    "latissimus_dorsi": 262.2,
    "subscapularis": 164.5,
    "infraspinatus": 118.6,
    "supraspinatus": 50.0,
    "teres_major": 32.7,
    "teres_minor": 28.0,
    "coracobrachialis": 25.2,
    "triceps": 372.1,
    "anconeus": 10.8,
    "biceps": 143.7,
    "brachialis": 143.7,
    "brachioradialis": 65.1,
    "pronators": 49.6,
    "supinator": 19.7,
    "wrist_radial_flexor": 34.8,
    "wrist_ulnar_flexor": 37.1,
    "finger_flexors": 165.8,
    "wrist_radial_extensors": 59.1,
    "wrist_ulnar_extensor": 17.0,
    "finger_extensors": 28.6,
}
HAMSTRINGS = ("semimembranosus", "biceps_femoris_long", "semitendinosus")
VASTI = ("vastus_lateralis", "vastus_medialis", "vastus_intermedius")
CALF = ("soleus", "gastrocnemius_medial", "gastrocnemius_lateral")
TOE_FLEXORS = ("flexor_hallucis", "flexor_digitorum")
ADDUCTORS = ("adductor_longus", "adductor_brevis", "gracilis", "pectineus")
DEEP = ("piriformis", "obturator_externus", "obturator_internus", "quadratus_femoris")
# Of each movement the muscles downwards and upwards: all of each, or (muscle, part of it). Which
# act where is anatomy; what part is [assumed].
THIRD = 1 / 3
ACTING: dict[str, tuple[tuple[Any, ...], tuple[Any, ...]]] = {
    "hip_flex": (
        ("gluteus_maximus", *HAMSTRINGS, ("adductor_magnus", THIRD)),
        ("psoas", "iliacus", "rectus_femoris", "sartorius"),
    ),
    "hip_abd": (
        (*ADDUCTORS, ("adductor_magnus", 2 * THIRD)),
        ("gluteus_medius", "gluteus_minimus", "tensor_fasciae_latae", "piriformis"),
    ),
    "hip_rot": (
        (*DEEP, "small_rotators", ("gluteus_maximus", THIRD)),
        ("gluteus_minimus", "tensor_fasciae_latae", ("gluteus_medius", 0.5)),
    ),
    "knee_flex": (
        (*VASTI, "rectus_femoris"),
        (*HAMSTRINGS, "biceps_femoris_short", "gracilis", "sartorius", "popliteus"),
    ),
    "ankle_df": ((*CALF, *TOE_FLEXORS), ("tibialis_anterior", "toe_extensors")),
    "ankle_inv": (("peroneals",), ("tibialis_posterior", ("tibialis_anterior", 0.5))),
    "toe_ext": (TOE_FLEXORS, ("toe_extensors",)),
    "shou_flex": (
        ("latissimus_dorsi", "teres_major", ("deltoid", THIRD)),
        ("coracobrachialis", ("pectoralis_major", 0.5), ("deltoid", THIRD)),
    ),
    "shou_abd": (
        ("latissimus_dorsi", "teres_major", ("pectoralis_major", 0.5)),
        ("supraspinatus", ("deltoid", 2 * THIRD)),
    ),
    "shou_rot": (
        ("infraspinatus", "teres_minor", ("deltoid", THIRD)),
        ("subscapularis", ("pectoralis_major", 0.5), ("latissimus_dorsi", 0.5)),
    ),
    "elb_flex": (("triceps", "anconeus"), ("biceps", "brachialis", "brachioradialis")),
    "elb_pron": (("supinator", ("biceps", 0.5)), ("pronators",)),
    "wri_flex": (
        ("wrist_radial_extensors", "wrist_ulnar_extensor", "finger_extensors"),
        ("wrist_radial_flexor", "wrist_ulnar_flexor", "finger_flexors"),
    ),
    "wri_rad": (
        ("wrist_ulnar_flexor", "wrist_ulnar_extensor"),
        ("wrist_radial_flexor", "wrist_radial_extensors"),
    ),
}
# Of all joints in a row together, of those that move [assumed]: (cm3 downwards, upwards), of both
# sides in flexion, of one in bending and rotation
ROWS = {
    "spine": {"flex": (1800.0, 700.0), "lat": (1100.0, 1100.0), "rot": (700.0, 700.0)},
    "neck": {"flex": (400.0, 200.0), "lat": (250.0, 250.0), "rot": (200.0, 200.0)},
    "clav": {"elev": (300.0, 300.0), "prot": (300.0, 300.0)},
}


def volumes(
    tree: Tree, stature: float | Open = STATURE, mass: float | Open = MASS
) -> dict[str, tuple[Any, Any]]:
    """Return {joint: (downwards, upwards)} of a human's driven joints: cm3 of the muscles of a
    person of `stature` (m) and `mass` (kg) that turn it so, of one side."""
    driven = [joint.name for joint in tree.moving if joint.actuated]
    size = (stature / STATURE) * (mass / MASS)
    leg = LEG_OVER_SIZE * mass * stature + LEG_LEAST
    known = {name: slope * leg + least for name, (slope, least) in LEG.items()}
    known |= {name: size * volume for name, volume in ARM.items()}
    turning = {}
    for joint in driven:
        movement = joint[:-2] if joint.endswith(("_r", "_l")) else joint
        if movement in ACTING:
            turning[joint] = tuple(sum(map(_part(known), names)) for names in ACTING[movement])
        elif movement in MOVEMENTS:
            row, kind, _ = _row(joint)
            beside = sum(_row(name) == _row(joint) for name in driven)
            turning[joint] = tuple(size * each / beside for each in ROWS[row][kind])
    return turning


def _part(known: dict[str, Any]) -> Any:
    """Return the function that tells what of a muscle acts: all of it, or the part beside it."""

    def of(entry: Any) -> Any:
        return known[entry] if isinstance(entry, str) else known[entry[0]] * entry[1]

    return of


def _row(joint: str) -> tuple[str, str, str]:
    """Return the row that a joint is of, which of its kinds, and its side, as spine, flex, ""."""
    part, _, rest = joint.partition("_")
    kind, _, side = rest.partition("_")
    return "spine" if part.startswith("spine") else "neck" if part == "head" else part, kind, side
