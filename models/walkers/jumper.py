"""A human in the sagittal plane: feet, shanks, thighs, head and trunk, arms; both sides as one.

Its links, ranges and torques are those of `human()`, of 1.75 m and 75 kg (de Leva 1996), with the
sum of both sides' strength. Spine, elbows, wrists and toes are stiff.
"""

from math import inf

from ocp import Link, Point, Tree, revolute
from ocp.models.flat import Pair
from ocp.models.human import human
from ocp.models.human.anthropometry import BALL, LENGTHS
from ocp.models.human.sagittal import drive, proximal, together
from ocp.models.walkers.five_link import GRAVITY, planar_root

SIDES = ("_r", "_l")
LEG = ("hip", "knee", "ankle")
TRUNK = ("glob_rx", "spine1_rot", "spine2_rot", "spine3_rot", "spine4_rot", "neck_rot", "head_rot")
LIMBS = {
    "hip": ("hip_rot",),
    "knee": ("knee_flex",),
    "ankle": ("ankle_inv", "toe_ext"),
    "shoulder": ("shou_rot", "elb_pron", "wri_rad"),
}
DRIVES = {
    "hip": ("hip_flex_r", 1),
    "knee": ("knee_flex_r", -1),
    "ankle": ("ankle_df_r", 1),
    "shoulder": ("shou_flex_r", 1),
}  # the skeleton's joint, and the way in which its positive motion turns about z
HEEL = BALL[0] + 0.07448 - LENGTHS["foot"]  # m, ahead of the ankle; the toe's length as in human's


def jumper(speed: float = inf, *, arms: bool = True) -> Tree:
    """Return the tree in the x-y plane, forward along x, with y up and the ground at y = 0.

    Coordinates are the hip's place x, y (m), the trunk's lean backward, the flexions of hip and
    ankle, the negative one of the knee, and that of the shoulder (rad); at zero it hangs straight
    from its hip. Points are heel and ball of the foot, the hip, the head, and the fingertip.
    `speed`: limit of the joints' rates (rad/s); without `arms` that swing they hang still beside
    the trunk, and belong to it.
    """
    person = human(frozen=())
    hip, knee = proximal(person, "thigh"), proximal(person, "shank")
    shoulder = proximal(person, "upper_arm")
    ankle = knee[0], knee[1] - LENGTHS["shank"]
    pivots = {"hip": hip, "knee": knee, "ankle": ankle, "shoulder": shoulder}
    parents = {"hip": ("torso", hip), "knee": ("hip", hip), "ankle": ("knee", knee)}
    parents["shoulder"] = ("torso", hip)
    still = [limb + side for limb in LIMBS["shoulder"] for side in SIDES if not arms]
    joints, links = list(planar_root()), [Link(), Link(), together(person, (*TRUNK, *still), hip)]
    for name in LIMBS if arms else LEG:
        limbs = LIMBS[name]
        parent, before = parents[name]
        x, y = pivots[name][0] - before[0], pivots[name][1] - before[1]
        moved, way = DRIVES[name]
        limits = drive(person, moved, way, len(SIDES))
        joints.append(revolute(name, parent, home=(x, y, 0.0), velocity=speed, **limits))
        names = [limb + side for limb in limbs for side in SIDES]
        links.append(together(person, names, pivots[name]))
    return Tree(
        links=links,
        joints=joints,
        points=(
            Point(name="heel", link="ankle", position=(HEEL, -ankle[1], 0.0)),
            Point(name="ball", link="ankle", position=(BALL[0], -ankle[1], 0.0)),
            Point(name="head", link="torso", position=(0.0, 1.75 - hip[1], 0.0)),
            Point(name="hip", link="torso", position=(0.0, 0.0, 0.0)),
            _fingertip(pivots["shoulder"], hip, arms),
        ),
        gravity=(0.0, -GRAVITY, 0.0),
    )


def _fingertip(shoulder: Pair, hip: Pair, swinging: bool) -> Point:
    """Return the end of the arm, on its own link or, where it hangs still, on the trunk's."""
    arm = LENGTHS["upper_arm"] + LENGTHS["forearm"] + LENGTHS["hand"]
    if swinging:
        return Point(name="fingertip", link="shoulder", position=(0.0, -arm, 0.0))
    place = (shoulder[0] - hip[0], shoulder[1] - hip[1] - arm, 0.0)
    return Point(name="fingertip", link="torso", position=place)
