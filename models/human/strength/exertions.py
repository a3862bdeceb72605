"""Strength measured over angle and speed: tables, and the curves through them.

A capacity is its peak times what is left of it at an angle, times what is left at a speed; both are
smooth, positive, and constant where the data end.
"""

from dataclasses import dataclass
from functools import cache
from math import radians
from typing import Any

import casadi as ca

from ocp.mechanics import expression_of, is_open, ramp

# Of the peak, what a cosine and a concentric hyperbola are not left below: there data end
# [assumed]; and over what they come to it
LEAST_AT_ANGLE, LEAST_AT_SPEED = 0.2, 0.05
ROUNDING, ROUNDING_SPEED, ROUNDING_ANGLE = 0.05, 0.2, 5.0  # -, rad/s, deg
# How fast (rad/s) muscle that is drawn out gets no stronger [assumed]: tests were at about 60 deg/s
DRAWN_OUT = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Cosine:
    """What is left of a peak at an angle x (rad): cos(c_2 (x - c_3)), but not less than the floor.

    `narrowing` c_2 (1/rad), `best` c_3 (rad)   (Anderson, Madigan & Nussbaum 2007, eq. 9)
    """

    narrowing: float
    best: float

    def __call__(self, x: Any) -> Any:
        """Return the share at x."""
        return _floored(ca.cos(self.narrowing * (x - self.best)), LEAST_AT_ANGLE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """What is left of a peak at an angle (rad): straight between `points`, (deg, share) each,
    corners rounded over `rounding` (deg), and constant beyond the first and the last."""

    points: tuple[tuple[float, float], ...]
    rounding: float = ROUNDING_ANGLE

    def __call__(self, x: Any) -> Any:
        """Return the share at x."""
        total: Any = self.points[0][1]
        for (here, share), (there, other) in zip(self.points, self.points[1:]):
            rises = [ramp(x - radians(place), radians(self.rounding)) for place in (here, there)]
            slope = (other - share) / radians(there - here)
            total = total + slope * (rises[0] - rises[1])
        return total


@dataclass(frozen=True, slots=True, kw_only=True)
class Hill:
    """What is left of a peak at a speed w (rad/s) with which muscle shortens.

        f = (2 c_4 c_5 + v (c_5 - 3 c_4)) / (2 c_4 c_5 + v (2 c_5 - 4 c_4)),    v = max(w, 0)
        f (1 + c_6 v),                                               v = min(-w, DRAWN_OUT)

    with rounded corners, f not below its floor (Anderson, Madigan & Nussbaum 2007, eq. 9): at the
    speeds c_4 `three_quarters` and c_5 `half` so much is left; c_6 `eccentric` (s/rad). f has no
    pole where c_5 > 2 c_4.
    """

    three_quarters: float
    half: float
    eccentric: float

    def __call__(self, w: Any) -> Any:
        """Return the share at w, 1 at rest."""
        shorter, longer = _above(w), _above(-w)
        longer = DRAWN_OUT * ca.tanh(longer / DRAWN_OUT)
        doing = _floored(self._left(shorter), LEAST_AT_SPEED)
        return doing * self._left(longer) * (1 + self.eccentric * longer)

    def _left(self, speed: Any) -> Any:
        c4, c5 = self.three_quarters, self.half
        return (2 * c4 * c5 + speed * (c5 - 3 * c4)) / (2 * c4 * c5 + speed * (2 * c5 - 4 * c4))


def _floored(share: Any, least: float) -> Any:
    """Return a share that comes smoothly to a floor; 1 stays 1."""
    return (least + ramp(share - least, ROUNDING)) / (least + ramp(1.0 - least, ROUNDING))


def _above(w: Any) -> Any:
    """Return max(w, 0) rounded, nothing at 0 and far below, where it is just below nothing."""
    return ramp(w, ROUNDING_SPEED) - ROUNDING_SPEED**3 / (w**2 + ROUNDING_SPEED**2) / 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Exertion:
    """What muscles on one side of a joint can at most: `peak` (N m), isometric at the best angle,
    times what is left at the angle and at the speed, all of it where there is no such curve."""

    peak: Any
    angle: Cosine | Line | None = None
    speed: Hill | None = None

    def __call__(self, x: Any, w: Any) -> Any:
        """Return the strength (N m) at the angle x (rad), shortening at w (rad/s)."""
        peak = expression_of(self.peak) if is_open(self.peak) else self.peak
        at_angle = 1.0 if self.angle is None else self.angle(x)
        return peak * at_angle * (1.0 if self.speed is None else self.speed(w))

    @property
    def largest(self) -> Any:
        """The largest torque (N m) at any angle and speed: muscle drawn out is stronger."""
        return self.peak if self.speed is None else self.peak * _most(self.speed)


@cache
def _most(speed: Hill) -> float:
    """Return the largest share at any speed, at least 1."""
    shares = speed(ca.linspace(ca.DM(-10 * DRAWN_OUT), ca.DM(0.0), 201))
    return max(1.0, float(ca.mmax(shares)))


# Anderson, Madigan & Nussbaum (2007, table 3), as a public library of torque muscles has it (means
# and standard deviations in Millard's addition to RBDL): by sex, movement and direction, c_1 over
# weight times height and its standard deviation, c_2 to c_6, at 18-25, 55-65 and above 65 years.
# Hip and knee flexion and dorsiflexion are positive there too.
TABLE = {
    "male": {
        ("hip_flex", -1): (
            (0.161, 0.049, 0.958, 0.932, 1.578, 3.19, 0.242),
            (0.171, 0.043, 0.922, 1.176, 1.601, 3.236, 0.32),
            (0.144, 0.039, 0.896, 1.125, 1.561, 3.152, 0.477),
        ),
        ("hip_flex", 1): (
            (0.113, 0.025, 0.738, -0.214, 2.095, 4.267, 0.218),
            (0.107, 0.02, 0.712, -0.192, 2.038, 4.145, 0.206),
            (0.101, 0.025, 0.762, -0.269, 1.875, 3.819, 0.296),
        ),
        ("knee_flex", -1): (
            (0.163, 0.04, 1.258, 1.133, 1.517, 3.952, 0.095),
            (0.156, 0.031, 1.225, 1.173, 1.518, 3.954, 0.266),
            (0.137, 0.017, 1.31, 1.067, 1.141, 3.152, 0.386),
        ),
        ("knee_flex", 1): (
            (0.087, 0.015, 0.869, 0.522, 2.008, 5.233, 0.304),
            (0.081, 0.017, 0.986, 0.523, 1.83, 4.777, 0.23),
            (0.069, 0.022, 0.838, 0.437, 1.718, 4.476, 0.414),
        ),
        ("ankle_df", -1): (
            (0.095, 0.022, 1.391, 0.408, 0.987, 3.558, 0.295),
            (0.114, 0.029, 1.444, 0.551, 0.593, 2.128, 0.35),
            (0.106, 0.035, 1.465, 0.498, 0.49, 1.767, 0.571),
        ),
        ("ankle_df", 1): (
            (0.033, 0.005, 1.51, -0.187, 0.699, 1.94, 0.828),
            (0.028, 0.005, 1.293, -0.284, 0.634, 1.759, 0.999),
            (0.029, 0.002, 1.419, -0.174, 0.561, 1.558, 1.198),
        ),
    },
    "female": {
        ("hip_flex", -1): (
            (0.181, 0.047, 0.697, 1.242, 1.567, 3.164, 0.164),
            (0.14, 0.032, 0.83, 1.241, 1.444, 2.919, 0.317),
            (0.138, 0.003, 0.707, 1.542, 1.613, 3.256, 0.36),
        ),
        ("hip_flex", 1): (
            (0.127, 0.033, 0.65, -0.35, 2.136, 4.349, 0.156),
            (0.091, 0.016, 0.812, -0.196, 2.145, 4.366, 0.186),
            (0.081, 0.008, 0.625, -0.422, 2.084, 4.245, 0.196),
        ),
        ("knee_flex", -1): (
            (0.159, 0.028, 1.187, 1.274, 1.393, 3.623, 0.173),
            (0.128, 0.016, 1.286, 1.141, 1.332, 3.469, 0.233),
            (0.124, 0.018, 1.347, 1.14, 1.066, 2.855, 0.464),
        ),
        ("knee_flex", 1): (
            (0.08, 0.015, 0.873, 0.635, 1.698, 4.412, 0.175),
            (0.06, 0.015, 0.967, 0.402, 1.693, 4.41, 0.349),
            (0.06, 0.005, 0.897, 0.445, 1.121, 2.922, 0.389),
        ),
        ("ankle_df", -1): (
            (0.104, 0.034, 1.399, 0.424, 0.862, 3.109, 0.189),
            (0.093, 0.026, 1.504, 0.381, 0.86, 3.126, 0.349),
            (0.125, 0.006, 1.299, 0.58, 0.587, 1.819, 0.348),
        ),
        ("ankle_df", 1): (
            (0.027, 0.006, 1.079, -0.302, 0.864, 2.399, 0.771),
            (0.024, 0.002, 1.308, -0.254, 0.596, 1.654, 1.006),
            (0.022, 0.003, 1.096, -0.369, 0.458, 1.242, 1.401),
        ),
    },
}
AGES = (21.5, 60.0, 70.0)  # years, which stand for the groups [assumed]; between them on lines

# What is left at an angle (deg): hip abduction from 10 deg of adduction to 40 of abduction, where
# about 0.3 is left (Neumann, Soderberg & Cook 1988 tested there and found lines; the end is
# [recalled]), adduction likewise towards its own shortened end [assumed]; of the trunk flexed by so
# much, flexion best at 20-30 deg, extension at 50, and extension over flexion more than doubled
# from -20 to 50 (Keller & Roy 2002; the shares are [derived] from that); shoulder flexion 68.6 N m
# at 45 against 89.9 at 0 (men of 26 and women of 25 at Kin-Com, in the abstract of "Dynamic
# shoulder flexion strength"); elbow best at 90 [recalled].
LINES = {
    ("hip_abd", 1): ((-10.0, 1.0), (40.0, 0.3)),
    ("hip_abd", -1): ((-30.0, 0.44), (10.0, 1.0)),
    ("trunk", 1): ((-20.0, 0.9), (25.0, 1.0), (50.0, 0.8)),
    ("trunk", -1): ((-20.0, 0.55), (50.0, 1.0)),
    ("shou_flex", 1): ((0.0, 1.0), (45.0, 0.763)),
    ("elb_flex", 1): ((0.0, 0.55), (90.0, 1.0), (130.0, 0.75)),
    ("elb_flex", -1): ((0.0, 0.7), (80.0, 1.0), (130.0, 0.8)),
}

# What is left at a speed. Of hip abduction and rotation as of hip flexion, of inversion as of
# dorsiflexion, of toes as of plantar flexion [assumed]. Of others half is left at 2.6 times the
# speed of three quarters, as at the knee: of the shoulder 46.9 of 68.6 N m at 50 deg/s, and 75.3
# drawn out (the same abstract); of the trunk, and neck, 0.65 at 60 deg/s (60-70 % of the isometric:
# Kumar, Dufresne & Van Schoor 1995, at a speed that is [assumed]); of elbow, forearm and wrist as
# of knee extension [assumed].
LIKE = {
    "hip_abd": ("hip_flex", 1),
    "hip_rot": ("hip_flex", 1),
    "ankle_inv": ("ankle_df", 1),
    "toe_ext": ("ankle_df", -1),
    "elb_": ("knee_flex", -1),
    "wri_": ("knee_flex", -1),
}
SHOULDER = Hill(three_quarters=0.65, half=1.69, eccentric=0.7)
TRUNK = Hill(three_quarters=0.68, half=1.77, eccentric=0.3)
