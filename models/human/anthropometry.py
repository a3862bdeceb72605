"""How people differ in their bodies: the segments of women and men, a person's own ones, and what sex does to strength.

Masses, centres of mass and radii of gyration: de Leva (1996, table 4). Both sexes have the same skeleton over stature. So do people: in the
means of ANSUR II (2012) of men and women the trochanter stands at 0.513 and 0.519 of the stature, the tibia's top at 0.267 and 0.269, and
upper arm, forearm, hand and foot are 0.191 and 0.191, 0.153 and 0.148, 0.110 and 0.111, 0.154 and 0.151 of it. De Leva's women, of
1.735 m in the mean, have their hip centres at 0.50 of it, and so thighs of 0.212 against the men's 0.243: that landmark is not followed.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields

import numpy as np

from ocp.mechanics.checks import numbers
from ocp.mechanics.tree import Link

STATURE, MASS = 1.75, 75.0  # m, kg: the person of the tables [assumed]
SEXES = ("male", "female")

# Lengths (m) at STATURE between the joints of the model: pelvis from the hips to L5/S1, middle trunk to T11/12, upper trunk to C7/T1, hand to
# the fingertip, foot from heel to toe tip; and of the hand to the third metacarpal's end. They are those of human's JOINTS, with the sources.
LENGTHS = {
    "pelvis": 0.105,
    "middle_trunk": 0.21875,
    "upper_trunk": 0.254625,
    "head_and_neck": 0.244125,
    "upper_arm": 0.28315623,
    "forearm": 0.27029006,
    "hand": 0.18887134,
    "thigh": 0.42875,
    "shank": 0.4305,
    "foot": 0.266,
}
GRIP = 0.0862 / 1.741 * STATURE
LINKS = {
    "pelvis": ("glob_rx",),
    "middle_trunk": ("spine1_rot", "spine2_rot"),
    "upper_trunk": ("spine3_rot", "spine4_rot"),
    "head_and_neck": ("neck_rot", "head_rot"),
    "upper_arm": ("shou_rot",),
    "forearm": ("elb_pron",),
    "hand": ("wri_rad",),
    "thigh": ("hip_rot",),
    "shank": ("knee_flex",),
    "foot": ("ankle_inv", "toe_ext"),
}  # without their sides
PAIRED = ("upper_arm", "forearm", "hand", "thigh", "shank", "foot")
# Limbs: the way from the distal joint, where the link's frame stands, to the proximal one in that frame, and which of the radii, sagittal,
# transverse and longitudinal, its axes have; the palm faces the thigh.
LIMBS = {
    "thigh": ((0, -1, 0), (0, 2, 1)),
    "shank": ((-1, 0, 0), (2, 0, 1)),
    "upper_arm": ((0, 1, 0), (0, 2, 1)),
    "forearm": ((0, 1, 0), (1, 2, 0)),
    "hand": ((-1, 0, 0), (2, 1, 0)),
}

# De Leva (1996), of men (73.0 kg, 1.741 m) and women (61.9 kg, 1.735 m): share of the mass, length (m), centre of mass from the first end point,
# and radii of gyration, sagittal, transverse and longitudinal, over the length. End points: vertex and C7/T1, C7/T1 and xiphion, xiphion and
# navel, navel and mid-hip, joint centres, wrist and third metacarpal, heel and toe tip. The women's shares add up to 0.9999 as published.
HEIGHT = {"male": 1.741, "female": 1.735}
DE_LEVA = {
    "male": {
        "head_and_neck": (0.0694, 0.2429, 0.5002, (0.303, 0.315, 0.261)),
        "upper_trunk": (0.1596, 0.2421, 0.5066, (0.505, 0.320, 0.465)),
        "middle_trunk": (0.1633, 0.2155, 0.4502, (0.482, 0.383, 0.468)),
        "pelvis": (0.1117, 0.1457, 0.6115, (0.615, 0.551, 0.587)),
        "upper_arm": (0.0271, 0.2817, 0.5772, (0.285, 0.269, 0.158)),
        "forearm": (0.0162, 0.2689, 0.4574, (0.276, 0.265, 0.121)),
        "hand": (0.0061, 0.0862, 0.7900, (0.628, 0.513, 0.401)),
        "thigh": (0.1416, 0.4222, 0.4095, (0.329, 0.329, 0.149)),
        "shank": (0.0433, 0.4340, 0.4395, (0.251, 0.246, 0.102)),
        "foot": (0.0137, 0.2581, 0.4415, (0.257, 0.245, 0.124)),
    },
    "female": {
        "head_and_neck": (0.0668, 0.2437, 0.4841, (0.271, 0.295, 0.261)),
        "upper_trunk": (0.1545, 0.2280, 0.5050, (0.466, 0.314, 0.449)),
        "middle_trunk": (0.1465, 0.2053, 0.4512, (0.433, 0.354, 0.415)),
        "pelvis": (0.1247, 0.1815, 0.4920, (0.433, 0.402, 0.444)),
        "upper_arm": (0.0255, 0.2751, 0.5754, (0.278, 0.260, 0.148)),
        "forearm": (0.0138, 0.2643, 0.4559, (0.261, 0.257, 0.094)),
        "hand": (0.0056, 0.0780, 0.7474, (0.531, 0.454, 0.335)),
        "thigh": (0.1478, 0.3685, 0.3612, (0.369, 0.364, 0.162)),
        "shank": (0.0481, 0.4323, 0.4352, (0.267, 0.263, 0.092)),
        "foot": (0.0129, 0.2283, 0.4014, (0.299, 0.279, 0.139)),
    },
}
# Trunk: heights (m) at STATURE of C7/T1, the hips and its links' frames
NECK, HIPS, FRAMES = (
    1.505875,
    0.9275,
    {"pelvis": (1.0325,), "middle_trunk": (1.1375, 1.25125), "upper_trunk": (1.37375, 1.505875)},
)
# [assumed]: the neck a cylinder of this share, radius and height; of the foot the height of its centre, and of the fore part the share, the box
# that it is (ahead, across, up), where its centre stands along it, and how far the ball is from the heel and how high (m)
NECK_SHARE, NECK_RADIUS, NECK_HEIGHT = 0.0135, 0.058, 0.088375
FOOT_HEIGHT, FORE_SHARE, FORE_BOX, FORE_CENTRE, BALL = (
    0.034,
    0.15,
    (0.07448, 0.095, 0.03),
    0.45,
    (0.19152, 0.02),
)

# Women's strength over men's of the same mass times stature: what they have of men's, legs 71.9, trunk 63.8 and arms 55.8 % in the mean of
# nine studies (Laubach 1976), over the median woman's mass times stature over the median man's (ANSUR II 2012). Of the same measure women of
# 18-25 have 0.92 to 1.12 of men's strength at hip and knee (Anderson, Madigan & Nussbaum 2007, table 3).
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """A person's own segment, None where it is as in others of the same sex, stature and mass: `length` (m), `mass` (kg, of one side), `com`,
    the centre of mass from the proximal joint over the length, and `radii` of gyration over it, sagittal, transverse and longitudinal."""

    length: float | None = None
    mass: float | None = None
    com: float | None = None
    radii: tuple | None = None


def bodies(sex):
    """Return {link: (mass (kg), centre of mass (3, m), inertia about it (3, 3, kg m2))} in link axes, of someone of STATURE and MASS, rounded to
    1e-8, masses to 1e-10; both sides alike.

    [derived] from de Leva's table: limbs as they are, fractions being of the model's lengths; head and neck split into a cylinder and a head
    such that the pair has the published centre and radii; middle and upper trunk cut into slabs of equal mass likewise; the lower trunk is
    the pelvis; the foot split into rear and fore part, of which the latter is a box.
    """
    found = {LINKS[name][0]: _limb(sex, name) for name in LIMBS}
    found |= _trunk(sex) | _head(sex) | _foot(sex)
    return {
        name: (round(mass, 10), np.round(com, 8), np.round(inertia, 8))
        for name, (mass, com, inertia) in found.items()
    }


def physique(stature, mass, sex="male", segments=None):
    """Return ({segment: its length over that of the tables}, {link: Link}) of a person of `stature` (m) and `mass` (kg).

    `segments`: {name: Segment, or a mapping of its fields}, on both sides alike. Masses that are given stand, and the others share the rest as
    they share the whole. Lengths that are given stand, and so do the others, so that the body is as tall as they make it. Raises ValueError
    naming the segment and what is wrong with it.
    """
    if sex not in SEXES:
        raise ValueError(f"human: sex: expected 'male' or 'female', got {sex!r}")
    own = {name: _checked(name, entry, stature) for name, entry in (segments or {}).items()}
    lengths = dict.fromkeys(LENGTHS, stature / STATURE)
    lengths |= {
        name: entry.length / LENGTHS[name]
        for name, entry in own.items()
        if entry.length is not None
    }
    given, shares = (
        {name: entry.mass for name, entry in own.items() if entry.mass is not None},
        _shares(sex),
    )
    kept, share = (
        sum((2 if name in PAIRED else 1) * amounts[name] for name in given)
        for amounts in (given, shares)
    )
    if given and (kept >= mass or len(given) == len(LENGTHS)):
        raise ValueError(
            f"human: segments: {', '.join(given)} weigh {kept:g} kg, both sides counted, of {mass:g} kg; expected less, and some "
            "segment without a mass of its own that takes the rest"
        )
    whole, links, rest = bodies(sex), {}, (mass - kept) / (MASS * (1 - share))
    for name, parts in LINKS.items():
        weight, length = (
            given[name] / (MASS * shares[name]) if name in given else rest,
            lengths[name],
        )
        for part in parts:
            amount, com, inertia = whole[part]
            links[part] = Link(
                mass=weight * amount, com=length * com, inertia=weight * length**2 * inertia
            )
        if name in LIMBS and name in own:
            links[parts[0]] = _reshaped(links[parts[0]], name, own[name], length * LENGTHS[name])
    return lengths, links


def strength(movement, sex):
    """Return what a joint's torque limits are multiplied by, beside mass and stature."""
    return next(
        (STRENGTH[sex][group] for group, starts in GROUPS.items() if movement.startswith(starts)),
        1.0,
    )


def parsed(text):
    """Return {segment: {field: value}} of a text like "thigh.length=0.45,shank.mass=3.4", with commas or blanks between; the values of `radii`
    stand between slashes. Raises ValueError naming what cannot be read."""
    found = {}
    for item in text.replace(",", " ").split():
        place, equals, value = item.partition("=")
        name, dot, field = place.partition(".")
        try:
            values = tuple(float(part) for part in value.split("/"))
        except ValueError:
            values = ()
        if not (equals and dot and values):
            raise ValueError(
                f"segments: expected SEGMENT.FIELD=VALUE, as in thigh.length=0.45,shank.mass=3.4, got {item!r}"
            )
        if field in found.setdefault(name, {}):
            raise ValueError(f"segments: {name}.{field} is given twice")
        found[name][field] = values if len(values) > 1 else values[0]
    return found


def _checked(name, entry, stature):
    """Return the Segment of an entry; raise ValueError unless a body can have it."""
    if name not in LENGTHS:
        raise ValueError(
            f"human: segments: unknown segment {name!r}; the segments are {', '.join(LENGTHS)}"
        )
    if isinstance(entry, Mapping):
        known = [field.name for field in fields(Segment)]
        odd = [repr(field) for field in entry if field not in known]
        if odd:
            raise ValueError(
                f"human: segments: {name}: unknown field {', '.join(odd)}; the fields are {', '.join(known)}"
            )
        entry = Segment(**entry)
    if not isinstance(entry, Segment):
        raise ValueError(
            f"human: segments: {name}: expected a Segment or a mapping of its fields, got {entry!r}"
        )
    if name not in LIMBS and (entry.com is not None or entry.radii is not None):
        raise ValueError(
            f"human: segments: {name}: com and radii are of {', '.join(LIMBS)} alone; expected length or mass"
        )
    for field, most, unit in (("length", stature, " m"), ("mass", np.inf, " kg"), ("com", 1.0, "")):
        value = getattr(entry, field)
        if (
            value is not None
            and not 0 < float(numbers(f"human: segments: {name}.{field}", value, ())) < most
        ):
            raise ValueError(
                f"human: segments: {name}.{field}: expected more than 0{unit}"
                + (f" and less than {most:g}{unit}" if most < np.inf else "")
                + f", got {value:g}{unit}"
            )
    if entry.radii is not None:
        squares = np.sort(numbers(f"human: segments: {name}.radii", entry.radii, (3,)) ** 2)
        if min(entry.radii) <= 0 or squares[0] + squares[1] < squares[2]:
            raise ValueError(
                f"human: segments: {name}.radii: expected three positive numbers, no square above the sum of the others, "
                f"got {tuple(entry.radii)}"
            )
    return entry


def _reshaped(link, name, own, length):
    """Return a limb's link with the centre of mass and the radii of gyration that are its own."""
    way, order = LIMBS[name]
    com = link.com if own.com is None else (1 - own.com) * length * np.array(way)
    inertia = (
        link.inertia
        if own.radii is None
        else link.mass * np.diag((np.array(own.radii)[list(order)] * length) ** 2)
    )
    return Link(mass=link.mass, com=com, inertia=inertia)


def _shares(sex):
    """Shares of the mass, which add up to one."""
    shares = {name: DE_LEVA[sex][name][0] for name in LENGTHS}
    whole = round(sum((2 if name in PAIRED else 1) * share for name, share in shares.items()), 4)
    return {name: share / whole for name, share in shares.items()}


def _limb(sex, name):
    _, published, centre, radii = DE_LEVA[sex][name]
    mass, length, (way, order) = MASS * _shares(sex)[name], LENGTHS[name], LIMBS[name]
    back, radii = (1 - centre) * length, length * np.array(radii)
    if name == "hand":  # of which the fractions are of its part up to the metacarpal's end
        back, radii = length - centre * GRIP, radii * GRIP / length
    if (sex, name) == ("female", "thigh"):  # measured from the knee, in the published length
        short = published / HEIGHT[sex] * STATURE / length
        back, radii = short * back, short * radii
    return mass, back * np.array(way), mass * np.diag(radii[list(order)] ** 2)


def _trunk(sex):
    """The trunk's links, whose frames have the longitudinal axis as x, up, in the pelvis and as y, down, above it, where x is ahead.

    The published lengths are fitted between hips and C7/T1, and the slabs are as thick as they then are. Only the women's centres of mass
    stay as far below C7/T1 as published, since it is the lower end, their hip centre, that is not followed.
    """
    found, top, lengths = (
        {},
        NECK,
        {name: DE_LEVA[sex][name][1] * STATURE / HEIGHT[sex] for name in FRAMES},
    )
    fitted = (NECK - HIPS) / sum(lengths.values())
    placed = fitted if sex == "male" else 1.0
    for name in ("upper_trunk", "middle_trunk", "pelvis"):
        (_, _, centre, radii), length, parts = DE_LEVA[sex][name], lengths[name], LINKS[name]
        height, top, mass = (
            top - placed * centre * length,
            top - placed * length,
            MASS * _shares(sex)[name] / len(parts),
        )
        sagittal, transverse, longitudinal = (np.array(radii) * length) ** 2
        if name == "pelvis":
            found[parts[0]] = (
                mass,
                (height - FRAMES[name][0], 0, 0),
                mass * np.diag((longitudinal, sagittal, transverse)),
            )
            continue
        apart = fitted * length / 4
        moments = sagittal - apart**2, longitudinal, transverse - apart**2
        for part, frame, way in zip(parts, FRAMES[name], (-1, 1)):
            found[part] = mass, (0, frame - height - way * apart, 0), mass * np.diag(moments)
    return found


def _head(sex):
    _, length, centre, radii = DE_LEVA[sex]["head_and_neck"]
    mass, height = MASS * _shares(sex)["head_and_neck"], LENGTHS["head_and_neck"]
    neck = NECK_SHARE * MASS
    head, middle = mass - neck, (1 - round(centre, 4)) * height
    up = (middle * mass - neck * NECK_HEIGHT / 2) / head
    across = neck * (3 * NECK_RADIUS**2 + NECK_HEIGHT**2) / 12
    own = np.array((across, neck * NECK_RADIUS**2 / 2, across))  # about X, Y, Z
    apart = neck * (NECK_HEIGHT / 2 - middle) ** 2 + head * (up - middle) ** 2
    sagittal, transverse, longitudinal = (
        mass * (np.array(radii) * length * STATURE / HEIGHT[sex]) ** 2
    )
    x, y, z = np.array((transverse, longitudinal, sagittal)) - own - np.array((apart, 0, apart))
    return {
        "neck_rot": (neck, (0, NECK_HEIGHT / 2, 0), np.diag(own)),
        "head_rot": (head, (0, 0, up - height), np.diag((z, x, y))),
    }


def _foot(sex):
    """The rear part has the axes down, ahead, across; the fore part ahead, up, across."""
    _, length, centre, radii = DE_LEVA[sex]["foot"]
    mass = MASS * _shares(sex)["foot"]
    fore, rear = FORE_SHARE * mass, (1 - FORE_SHARE) * mass
    whole, front = (
        np.array((-FOOT_HEIGHT, centre * LENGTHS["foot"])),
        np.array((-BALL[1], BALL[0] + FORE_CENTRE * FORE_BOX[0])),
    )
    back = (mass * whole - fore * front) / rear
    sagittal, transverse, longitudinal = (
        mass * (np.array(radii) * length * STATURE / HEIGHT[sex]) ** 2
    )
    ahead, across, up = np.array(FORE_BOX) ** 2
    box = fore / 12 * np.array((across + up, ahead + across, ahead + up))  # ahead, up, across
    inertia = np.diag((sagittal, longitudinal, transverse)) - np.diag(box[[1, 0, 2]])
    for share, (down, along) in ((fore, front - whole), (rear, back - whole)):
        inertia -= share * np.array(
            ((along**2, -down * along, 0), (-down * along, down**2, 0), (0, 0, down**2 + along**2))
        )
    return {
        "ankle_inv": (rear, (*(back - np.array((-BALL[1], BALL[0]))), 0), inertia),
        "toe_ext": (fore, ((FORE_CENTRE - 1) * FORE_BOX[0], 0, 0), np.diag(box)),
    }
