"""The bodies of women and men: sizes, masses, centres of mass and inertias of their segments.

Masses, centres of mass and radii of gyration: de Leva (1996, table 4). Both sexes have the same
skeleton over stature. So do people: in the means of ANSUR II (2012) of men and women the trochanter
stands at 0.513 and 0.519 of the stature, the tibia's top at 0.267 and 0.269, and upper arm,
forearm, hand and foot are 0.191 and 0.191, 0.153 and 0.148, 0.110 and 0.111, 0.154 and 0.151 of it.
De Leva's women, of 1.735 m in the mean, have their hip centres at 0.50 of it, and so thighs of
0.212 against the men's 0.243: that landmark is not followed.
"""

from typing import Any

import numpy as np

STATURE, MASS = 1.75, 75.0  # m, kg: the person of the tables [assumed]
SEXES = ("male", "female")
# Mass over stature squared of people whose muscles are those of the tables, over the man's: women's
# is less as median women's is than median men's (ANSUR II 2012) [derived]
LEANER = {"male": 1.0, "female": (66.8 / 1.626**2) / (84.6 / 1.755**2)}

# Lengths (m) at STATURE between the joints of the model: pelvis from the hips to L5/S1, middle
# trunk to T11/12, upper trunk to C7/T1, hand to the fingertip, foot from heel to toe tip; and of
# the hand to the third metacarpal's end. They are those of human's JOINTS, with the sources.
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
# Limbs: the way from the distal joint, where the link's frame stands, to the proximal one in that
# frame, and which of the radii, sagittal, transverse and longitudinal, its axes have; the palm
# faces the thigh.
LIMBS = {
    "thigh": ((0, -1, 0), (0, 2, 1)),
    "shank": ((-1, 0, 0), (2, 0, 1)),
    "upper_arm": ((0, 1, 0), (0, 2, 1)),
    "forearm": ((0, 1, 0), (1, 2, 0)),
    "hand": ((-1, 0, 0), (2, 1, 0)),
}

# De Leva (1996), of men (73.0 kg, 1.741 m) and women (61.9 kg, 1.735 m): share of the mass, length
# (m), centre of mass from the first end point, and radii of gyration, sagittal, transverse and
# longitudinal, over the length. End points: vertex and C7/T1, C7/T1 and xiphion, xiphion and navel,
# navel and mid-hip, joint centres, wrist and third metacarpal, heel and toe tip. The women's shares
# add up to 0.9999 as published.
HEIGHT = {"male": 1.741, "female": 1.735}
DE_LEVA: dict[str, dict[str, tuple[float, float, float, Any]]] = {
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
NECK, HIPS = 1.505875, 0.9275
FRAMES = {
    "upper_trunk": (1.37375, 1.505875),
    "middle_trunk": (1.1375, 1.25125),
    "pelvis": (1.0325,),
}
# [assumed]: the neck a cylinder of this share, radius (m) and height (m)
NECK_SHARE, NECK_RADIUS, NECK_HEIGHT = 0.0135, 0.058, 0.088375
# [assumed]: of the foot the height (m) of its centre; of its fore part the share, the box that it
# is (ahead, across, up; m) and where its centre stands along it; how far the ball is from the heel
# and how high (m)
FOOT_HEIGHT, FORE_SHARE = 0.034, 0.15
FORE_BOX, FORE_CENTRE = (0.07448, 0.095, 0.03), 0.45
BALL = (0.19152, 0.02)

Solid = tuple[float, Any, np.ndarray]  # mass (kg), centre of mass (3, m), inertia (3, 3; kg m2)


def usual_mass(stature: Any, sex: str) -> Any:
    """Return the mass (kg) by which the muscles of somebody of a `stature` (m) grow, which may be
    open: that of the tables' body-mass index.

    Mass above or below it is fat, or its want, which changes masses and inertias alone. In women
    who are obese six exertions of the leg are 13 % stronger in the mean, of mass a quarter weaker
    (Koushyar et al. 2017), in men the knee's extensors 20 % and 32 % (Maffiuletti et al. 2007):
    that heavy bodies train their legs is left out.
    """
    return MASS * LEANER[sex] * (stature / STATURE) ** 2


def bodies(sex: str) -> dict[str, Solid]:
    """Return {link: Solid} in link axes, of someone of STATURE and MASS, both sides alike.

    Rounded to 1e-8, masses to 1e-10. [derived] from de Leva's table: limbs as they are, fractions
    being of the model's lengths; head and neck split into a cylinder and a head such that the pair
    has the published centre and radii; middle and upper trunk cut into slabs of equal mass
    likewise; the lower trunk is the pelvis; the foot split into rear and fore part, of which the
    latter is a box.
    """
    solids = {LINKS[name][0]: _limb(sex, name) for name in LIMBS}
    solids |= _trunk(sex) | _head(sex) | _foot(sex)
    return {
        name: (round(mass, 10), np.round(com, 8), np.round(inertia, 8))
        for name, (mass, com, inertia) in solids.items()
    }


def shares(sex: str) -> dict[str, float]:
    """Return {segment: its share of the mass, of one side}, which add up to one."""
    published = {name: DE_LEVA[sex][name][0] for name in LENGTHS}
    both = {name: (2 if name in PAIRED else 1) * share for name, share in published.items()}
    whole = round(sum(both.values()), 4)
    return {name: share / whole for name, share in published.items()}


def _moments(sex: str, name: str, mass: float) -> np.ndarray:
    """Return the moments of inertia (3, kg m2) of a segment as it was measured, at STATURE."""
    _, length, _, radii = DE_LEVA[sex][name]
    return mass * (np.array(radii) * length * STATURE / HEIGHT[sex]) ** 2


def _limb(sex: str, name: str) -> Solid:
    _, published, centre, radii = DE_LEVA[sex][name]
    mass, length, (way, order) = MASS * shares(sex)[name], LENGTHS[name], LIMBS[name]
    back, radii = (1 - centre) * length, length * np.array(radii)
    if name == "hand":  # of which the fractions are of its part up to the metacarpal's end
        back, radii = length - centre * GRIP, radii * GRIP / length
    if (sex, name) == ("female", "thigh"):  # measured from the knee, in the published length
        short = published / HEIGHT[sex] * STATURE / length
        back, radii = short * back, short * radii
    return mass, back * np.array(way), mass * np.diag(radii[list(order)] ** 2)


def _trunk(sex: str) -> dict[str, Solid]:
    """The trunk's links; the longitudinal axis is x, up, in the pelvis and y, down, above it.

    The published lengths are fitted between hips and C7/T1, and the slabs are as thick as they then
    are. Only the women's centres of mass stay as far below C7/T1 as published, since it is the
    lower end, their hip centre, that is not followed.
    """
    lengths = {name: DE_LEVA[sex][name][1] * STATURE / HEIGHT[sex] for name in FRAMES}
    fitted = (NECK - HIPS) / sum(
        lengths[name] for name in ("pelvis", "middle_trunk", "upper_trunk")
    )
    placed = fitted if sex == "male" else 1.0
    solids: dict[str, Solid] = {}
    top = NECK
    for name, frames in FRAMES.items():  # from above
        _, _, centre, radii = DE_LEVA[sex][name]
        length, parts = lengths[name], LINKS[name]
        height, mass = top - placed * centre * length, MASS * shares(sex)[name] / len(parts)
        top -= placed * length
        sagittal, transverse, longitudinal = (np.array(radii) * length) ** 2
        if name == "pelvis":
            moments = (longitudinal, sagittal, transverse)
            solids[parts[0]] = mass, (height - frames[0], 0, 0), mass * np.diag(moments)
            continue
        apart = fitted * length / 4
        moments = sagittal - apart**2, longitudinal, transverse - apart**2
        for part, frame, way in zip(parts, frames, (-1, 1)):
            solids[part] = mass, (0, frame - height - way * apart, 0), mass * np.diag(moments)
    return solids


def _head(sex: str) -> dict[str, Solid]:
    """The neck's frame has y up; the head's has z up, from the vertex."""
    centre = DE_LEVA[sex]["head_and_neck"][2]
    mass, height = MASS * shares(sex)["head_and_neck"], LENGTHS["head_and_neck"]
    neck = NECK_SHARE * MASS
    head, middle = mass - neck, (1 - round(centre, 4)) * height
    up = (middle * mass - neck * NECK_HEIGHT / 2) / head
    across = neck * (3 * NECK_RADIUS**2 + NECK_HEIGHT**2) / 12
    slender = np.array((across, neck * NECK_RADIUS**2 / 2, across))  # about X, Y, Z
    apart = neck * (NECK_HEIGHT / 2 - middle) ** 2 + head * (up - middle) ** 2
    sagittal, transverse, longitudinal = _moments(sex, "head_and_neck", mass)
    x, y, z = np.array((transverse, longitudinal, sagittal)) - slender - np.array((apart, 0, apart))
    return {
        "neck_rot": (neck, (0, NECK_HEIGHT / 2, 0), np.diag(slender)),
        "head_rot": (head, (0, 0, up - height), np.diag((z, x, y))),
    }


def _foot(sex: str) -> dict[str, Solid]:
    """The rear part has the axes down, ahead, across; the fore part ahead, up, across."""
    centre = DE_LEVA[sex]["foot"][2]
    mass = MASS * shares(sex)["foot"]
    fore, rear = FORE_SHARE * mass, (1 - FORE_SHARE) * mass
    ball = np.array((-BALL[1], BALL[0]))  # down, ahead
    whole = np.array((-FOOT_HEIGHT, centre * LENGTHS["foot"]))
    front = ball + (0.0, FORE_CENTRE * FORE_BOX[0])
    back = (mass * whole - fore * front) / rear
    sagittal, transverse, longitudinal = _moments(sex, "foot", mass)
    ahead, across, up = np.array(FORE_BOX) ** 2
    box = fore / 12 * np.array((across + up, ahead + across, ahead + up))  # ahead, up, across
    inertia = np.diag((sagittal, longitudinal, transverse)) - np.diag(box[[1, 0, 2]])
    for share, (down, along) in ((fore, front - whole), (rear, back - whole)):
        turned = -down * along
        inertia -= share * np.array(
            ((along**2, turned, 0), (turned, down**2, 0), (0, 0, down**2 + along**2))
        )
    return {
        "ankle_inv": (rear, (*(back - ball), 0), inertia),
        "toe_ext": (fore, ((FORE_CENTRE - 1) * FORE_BOX[0], 0, 0), np.diag(box)),
    }
