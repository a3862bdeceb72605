"""The human skeleton in numbers: joints, ranges, torque limits, points, feet and spheres.

Beside each table stands where it comes from: a publication, [derived] from publications by the
stated rule, [recalled] from one without it at hand, or [assumed] because nothing is published. Of
the man of STATURE and MASS; `ocp.models.human.skeleton` scales them.
"""

from ocp.mechanics import GROUND
from ocp.models.human.anthropometry import LENGTHS

# Three slides, then three turns of the pelvis
ROOT = ("glob_tz", "glob_ty", "glob_tx", "glob_ry", "glob_rz", "glob_rx")
# 17: upper spine, clavicles, wrists, lower neck (after Barman 2020) [derived from counts]
GAIT_FROZEN = (
    *("spine3_flex", "spine3_lat", "spine3_rot", "spine4_flex", "spine4_lat", "spine4_rot"),
    *("clav_elev_r", "clav_prot_r", "clav_elev_l", "clav_prot_l"),
    *("wri_flex_r", "wri_rad_r", "wri_flex_l", "wri_rad_l"),
    *("neck_flex", "neck_lat", "neck_rot"),
)

# Joints: name, parent, DH row (theta deg, d m, a m, alpha deg), and at the base of a branch the
# constant row that stands before it. A link has the name of its joint; links that are in no segment
# have no mass. The row of the hip height, glob_ty, puts the soles on Y = 0. Lengths over stature:
# ankle 0.039, knee 0.285, hip 0.530 high, foot 0.152 long (Drillis & Contini 1966 in Winter 2009);
# C7/T1 0.8605 high, upper arm, forearm and hand 281.7, 268.9 and 187.9 mm of 1741 mm (de Leva 1996;
# lengths [recalled]). De Leva's trunk is scaled by 0.954 so that hip height, trunk, neck and head
# add up to the stature [derived]. Heights of L5/S1 0.590, L2/L3 0.650, T11/T12 0.715, T6/T7 0.785,
# the skull's base 0.911, sternoclavicular 0.8214, shoulder 0.8124, and half widths of hip 0.048 and
# shoulder 0.103 [assumed]; the ball of the foot is 0.020 m high and 0.12635 m ahead of the ankle
# [assumed].
JOINTS = (
    ("glob_tz", GROUND, (0, 0, 0, -90)),
    ("glob_ty", "glob_tz", (-90, 0.9275, 0, -90)),
    ("glob_tx", "glob_ty", (0, 0, 0, 90)),
    ("glob_ry", "glob_tx", (90, 0, 0, 90)),
    ("glob_rz", "glob_ry", (90, 0, 0, 90)),
    ("glob_rx", "glob_rz", (0, 0, 0.105, 0)),
    ("hip_flex_r", "glob_rx", (0, 0, 0, -90), (0, -0.084, -0.105, 180)),
    ("hip_abd_r", "hip_flex_r", (90, 0, 0, 90)),
    ("hip_rot_r", "hip_abd_r", (-90, -0.42875, 0, -90)),
    ("knee_flex_r", "hip_rot_r", (90, 0, 0.4305, 180)),
    ("ankle_df_r", "knee_flex_r", (0, 0, 0, -90)),
    ("ankle_inv_r", "ankle_df_r", (0, 0.12635, 0.04825, 90)),
    ("toe_ext_r", "ankle_inv_r", (90, 0, 0.07448, 0)),
    ("hip_flex_l", "glob_rx", (0, 0, 0, 90), (0, 0.084, -0.105, 180)),
    ("hip_abd_l", "hip_flex_l", (-90, 0, 0, 90)),
    ("hip_rot_l", "hip_abd_l", (90, 0.42875, 0, 90)),
    ("knee_flex_l", "hip_rot_l", (90, 0, 0.4305, 180)),
    ("ankle_df_l", "knee_flex_l", (0, 0, 0, 90)),
    ("ankle_inv_l", "ankle_df_l", (0, -0.12635, 0.04825, -90)),
    ("toe_ext_l", "ankle_inv_l", (90, 0, 0.07448, 0)),
    ("spine1_flex", "glob_rx", (0, 0, 0, -90)),
    ("spine1_lat", "spine1_flex", (-90, 0, 0, -90)),
    ("spine1_rot", "spine1_lat", (-90, 0.105, 0, -90)),
    ("spine2_flex", "spine1_rot", (-90, 0, 0, -90)),
    ("spine2_lat", "spine2_flex", (-90, 0, 0, -90)),
    ("spine2_rot", "spine2_lat", (-90, 0.11375, 0, -90)),
    ("spine3_flex", "spine2_rot", (-90, 0, 0, -90)),
    ("spine3_lat", "spine3_flex", (-90, 0, 0, -90)),
    ("spine3_rot", "spine3_lat", (-90, 0.1225, 0, -90)),
    ("spine4_flex", "spine3_rot", (-90, 0, 0, -90)),
    ("spine4_lat", "spine4_flex", (-90, 0, 0, -90)),
    ("spine4_rot", "spine4_lat", (-90, 0.132125, 0, -90)),
    ("clav_elev_r", "spine4_rot", (90, 0, 0, -90), (90, -0.020125, 0.068425, -90)),
    ("clav_prot_r", "clav_elev_r", (0, -0.01575, 0.160125, 0)),
    ("shou_flex_r", "clav_prot_r", (90, 0, 0, -90), (90, 0, 0, 90)),
    ("shou_abd_r", "shou_flex_r", (90, 0, 0, 90)),
    ("shou_rot_r", "shou_abd_r", (-90, -0.28315623, 0, 90)),
    ("elb_flex_r", "shou_rot_r", (0, 0, 0, -90)),
    ("elb_pron_r", "elb_flex_r", (90, -0.27029006, 0, 90)),
    ("wri_flex_r", "elb_pron_r", (-90, 0, 0, 90)),
    ("wri_rad_r", "wri_flex_r", (0, 0, 0.18887134, 0)),
    ("clav_elev_l", "spine4_rot", (90, 0, 0, 90), (90, 0.020125, 0.068425, 90)),
    ("clav_prot_l", "clav_elev_l", (0, 0.01575, 0.160125, 0)),
    ("shou_flex_l", "clav_prot_l", (90, 0, 0, 90), (90, 0, 0, -90)),
    ("shou_abd_l", "shou_flex_l", (-90, 0, 0, 90)),
    ("shou_rot_l", "shou_abd_l", (90, 0.28315623, 0, -90)),
    ("elb_flex_l", "shou_rot_l", (0, 0, 0, 90)),
    ("elb_pron_l", "elb_flex_l", (90, 0.27029006, 0, -90)),
    ("wri_flex_l", "elb_pron_l", (-90, 0, 0, -90)),
    ("wri_rad_l", "wri_flex_l", (0, 0, 0.18887134, 0)),
    ("neck_flex", "spine4_rot", (-90, 0, 0, -90)),
    ("neck_lat", "neck_flex", (-90, 0, 0, -90)),
    ("neck_rot", "neck_lat", (-90, 0.088375, 0, -90)),
    ("head_flex", "neck_rot", (0, 0, 0, 90)),
    ("head_rot", "head_flex", (0, 0.15575, 0, 0)),
)

# Movements: anatomical range, range in level gait (deg, or m in the slides; GAIT_FROZEN joints have
# none), torque limits (N m), sign under reflection in the plane X = 0, and what a positive
# coordinate does; both sides alike. Ranges: limbs and neck near the values of Norkin & White's
# handbook, ankle dorsiflexion 25 so that loaded stances are not cut; spine split after White &
# Panjabi's proportions [assumed]; clavicle, gait and global ranges [assumed]. Torques: hip, knee
# and ankle flexion, mean plus one standard deviation of men of 18-25 (Anderson, Madigan & Nussbaum
# 2007, table 3); spine flexion and bending, shoulder abduction and rotation, elbow, mean plus one
# deviation (Stobbe 1982) [recalled]; spine rotation 1.25 N m/kg in the range of Kumar 1996; neck
# (Vasavada 2001); hip abduction and rotation and wrist per body mass from collected isometric
# studies, inversion in the range of Kaminski 1999; shoulder flexion, pronation and toes [assumed],
# clavicle a placeholder.
FROZEN = None
MOVEMENTS: dict[str, tuple] = {
    "glob_tz": ((-10, 10), (-5, 5), None, +1, "pelvis origin forward (+Z)"),
    "glob_ty": ((-0.8, 0.3), (-0.1, 0.03), None, +1, "pelvis origin up (+Y)"),
    "glob_tx": ((-1, 1), (-0.1, 0.1), None, -1, "pelvis origin to the left (+X)"),
    "glob_ry": ((-60, 60), (-12, 12), None, -1, "pelvis yaw, turn to the left (about +Y)"),
    "glob_rz": ((-30, 30), (-10, 10), None, -1, "pelvis list, left side up (about +Z)"),
    "glob_rx": ((-30, 90), (-10, 15), None, +1, "pelvis forward tilt (about +X)"),
    "hip_flex": ((-30, 120), (-25, 50), (-270, 178), +1, "hip flexion (thigh forward)"),
    "hip_abd": ((-30, 45), (-15, 15), (-81, 97), +1, "hip abduction (thigh outward)"),
    "hip_rot": ((-45, 45), (-15, 15), (-50, 54), +1, "hip internal rotation (toes inward)"),
    "knee_flex": ((0, 140), (0, 75), (-261, 131), +1, "knee flexion (shank backward)"),
    "ankle_df": ((-50, 25), (-30, 25), (-151, 49), +1, "ankle dorsiflexion (toes up)"),
    "ankle_inv": ((-20, 35), (-10, 15), (-32, 35), +1, "inversion (medial border up)"),
    "toe_ext": ((-40, 70), (-10, 50), (-30, 10), +1, "toe (MTP) extension (toes up)"),
    "spine1_flex": ((-12, 25), (-8, 12), (-337, 182), +1, "forward flexion"),
    "spine1_lat": ((-8, 8), (-8, 8), (-209, 209), -1, "lateral bending to the right (about +Z)"),
    "spine1_rot": ((-5, 5), (-5, 5), (-94, 94), -1, "axial rotation to the left (about +Y)"),
    "spine2_flex": ((-12, 25), (-8, 12), (-337, 182), +1, "forward flexion"),
    "spine2_lat": ((-12, 12), (-8, 8), (-209, 209), -1, "lateral bending to the right (about +Z)"),
    "spine2_rot": ((-6, 6), (-6, 6), (-94, 94), -1, "axial rotation to the left (about +Y)"),
    "spine3_flex": ((-8, 18), FROZEN, (-337, 182), +1, "forward flexion"),
    "spine3_lat": ((-12, 12), FROZEN, (-209, 209), -1, "lateral bending to the right (about +Z)"),
    "spine3_rot": ((-14, 14), FROZEN, (-94, 94), -1, "axial rotation to the left (about +Y)"),
    "spine4_flex": ((-8, 17), FROZEN, (-337, 182), +1, "forward flexion"),
    "spine4_lat": ((-10, 10), FROZEN, (-209, 209), -1, "lateral bending to the right (about +Z)"),
    "spine4_rot": ((-20, 20), FROZEN, (-94, 94), -1, "axial rotation to the left (about +Y)"),
    "clav_elev": ((-10, 40), FROZEN, (-150, 150), +1, "clavicle elevation (shoulder up)"),
    "clav_prot": ((-25, 25), FROZEN, (-150, 150), +1, "clavicle protraction (shoulder forward)"),
    "shou_flex": ((-60, 180), (-40, 40), (-100, 92), +1, "shoulder flexion (arm forward)"),
    "shou_abd": ((-30, 150), (0, 20), (-91, 89), +1, "shoulder abduction (arm outward)"),
    "shou_rot": ((-90, 70), (-20, 20), (-42, 69), +1, "shoulder internal rotation"),
    "elb_flex": ((0, 150), (0, 60), (-57, 98), +1, "elbow flexion (forearm forward)"),
    "elb_pron": ((-80, 80), (-20, 20), (-14, 12), +1, "forearm pronation (thumb inward)"),
    "wri_flex": ((-70, 80), FROZEN, (-12, 25), +1, "wrist palmar flexion (hand inward)"),
    "wri_rad": ((-30, 20), FROZEN, (-10, 11), +1, "wrist radial deviation (hand forward)"),
    "neck_flex": ((-45, 40), FROZEN, (-52, 30), +1, "lower neck flexion"),
    "neck_lat": ((-40, 40), FROZEN, (-36, 36), -1, "lower neck lateral bending to the right"),
    "neck_rot": ((-40, 40), FROZEN, (-15, 15), -1, "lower neck axial rotation to the left"),
    "head_flex": ((-20, 15), (-10, 10), (-52, 30), +1, "upper neck flexion (nod)"),
    "head_rot": ((-40, 40), (-10, 10), (-15, 15), -1, "upper neck axial rotation to the left"),
}
# Of the anatomical range, for a joint without one in gait: what neck and forearm have there
GAIT_SHARE = 0.25

# Points of the right side and the midline: name, link, position (m, link frame). On the left z
# changes sign. Heel, balls and toe of each foot are its contacts; the widths of the sole and the
# places of heel and toes are [assumed].
POINTS = (
    ("heel_r", "ankle_inv_r", (0.02, -0.17152, 0)),
    ("heel_med_r", "ankle_inv_r", (0.02, -0.18152, -0.028)),
    ("heel_lat_r", "ankle_inv_r", (0.02, -0.18152, 0.028)),
    ("ball_med_r", "toe_ext_r", (-0.07448, -0.02, -0.045)),
    ("ball_lat_r", "toe_ext_r", (-0.07448, -0.02, 0.045)),
    ("toe_r", "toe_ext_r", (-0.01, -0.02, 0)),
    ("toe_med_r", "toe_ext_r", (-0.01, -0.02, -0.03)),
    ("toe_lat_r", "toe_ext_r", (-0.02, -0.02, 0.03)),
    ("ankle_r", "knee_flex_r", (0, 0, 0)),
    ("mid_shank_r", "knee_flex_r", (-0.21525, 0, 0)),
    ("knee_r", "hip_rot_r", (0, 0, 0)),
    ("mid_thigh_r", "hip_rot_r", (0, -0.214375, 0)),
    ("hip_r", "glob_rx", (-0.105, 0, -0.084)),
    ("shoulder_r", "clav_prot_r", (0, 0, 0)),
    ("elbow_r", "shou_rot_r", (0, 0, 0)),
    ("wrist_r", "elb_pron_r", (0, 0, 0)),
    ("grip_r", "wri_rad_r", (-0.10222573, 0, 0)),  # third metacarpal's end (de Leva 1996)
    ("pelvis_origin", "glob_rx", (-0.105, 0, 0)),
    ("L5S1", "glob_rx", (0, 0, 0)),
    ("T6", "spine3_rot", (0, 0, 0)),
    ("C7T1", "spine4_rot", (0, 0, 0)),
    ("head", "head_rot", (0, 0, -0.1)),
    ("head_top", "head_rot", (0, 0, 0)),
)

NAMES = tuple(row[0] for row in JOINTS)
# The segments whose lengths the rows of these joints grow with, by the beginnings of their names;
# others, as the clavicles, with stature
GROWING: dict[str, str | tuple[str, ...]] = {
    "pelvis": "glob_rx",
    "middle_trunk": ("spine1", "spine2"),
    "upper_trunk": ("spine3", "spine4"),
    "head_and_neck": ("neck", "head"),
    "upper_arm": "shou",
    "forearm": "elb",
    "hand": "wri",
    "thigh": "hip",
    "shank": "knee",
    "foot": ("ankle", "toe"),
}
# Heights (m, at STATURE) on which the hips stand
LEG = {"foot": 0.06825, "shank": LENGTHS["shank"], "thigh": LENGTHS["thigh"]}

# Links of a foot: rear and fore part. Its contacts: points of heel, ball and toe. Its sole: corners
# of the convex support polygon, in order round it.
FEET = {"right": ("ankle_inv_r", "toe_ext_r"), "left": ("ankle_inv_l", "toe_ext_l")}
CONTACTS = {
    "right": {"H": ("heel_r",), "B": ("ball_med_r", "ball_lat_r"), "T": ("toe_r",)},
    "left": {"H": ("heel_l",), "B": ("ball_med_l", "ball_lat_l"), "T": ("toe_l",)},
}
TOUCHING = {
    side: tuple(name for names in parts.values() for name in names)
    for side, parts in CONTACTS.items()
}  # all points of a foot that may touch the ground
CORNERS = ("heel_med", "heel_lat", "ball_lat", "toe_lat", "toe_med", "ball_med")
SOLES = {side: tuple(f"{corner}_{side[0]}" for corner in CORNERS) for side in FEET}

# Spheres round points (m, at STATURE) that keep off each other or off a carried box [assumed]
SELF_SPHERES = {"wrist_r": 0.03, "wrist_l": 0.03, "hip_r": 0.10, "hip_l": 0.10}
BOX_SPHERES = {
    "knee_r": 0.07,
    "knee_l": 0.07,
    "mid_thigh_r": 0.08,
    "mid_thigh_l": 0.08,
    "hip_r": 0.11,
    "hip_l": 0.11,
    "L5S1": 0.12,
    "T6": 0.13,
    "head": 0.10,
    "mid_shank_r": 0.05,
    "mid_shank_l": 0.05,
    "ankle_r": 0.04,
    "ankle_l": 0.04,
    "toe_r": 0.03,
    "toe_l": 0.03,
}
