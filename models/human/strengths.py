"""What sex does to strength."""

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


def strength(movement: str, sex: str) -> float:
    """Return what a joint's torque limits are multiplied by, beside mass and stature."""
    for group, starts in GROUPS.items():
        if movement.startswith(starts):
            return STRENGTH[sex][group]
    return 1.0
