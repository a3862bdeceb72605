"""A gymnast in the air: a stretched body that turns any way, and two arms that swing sideways.

Round numbers of an adult in layout, of the order of Yeadon's (1993, "The biomechanics of twisting
somersaults"): to tilt or somersault the body takes some fifteen times as much as to twist. It looks
like the human of its stature, toes pointed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from types import MappingProxyType

import numpy as np

from ocp import Joint, Link, Point, Tree, free, revolute
from ocp.mechanics import Visual, positions
from ocp.models.human import human
from ocp.models.human.body_surface import posed_looks

BODY, ARM = 60.0, 4.0  # kg
INERTIA = 11.5, 11.0, 0.8  # kg m2: of the body to tilt, somersault and twist
LENGTH, REACH = 0.65, 0.3  # m: of an arm, and its centre of mass from the shoulder
STATURE = 1.7  # m, from the head to the feet
POINTED = {"ankle_df_r": -0.8, "ankle_df_l": -0.8}  # rad
AXES = (
    (0.0, 0.0, 1.0),
    (1.0, 0.0, 0.0),
    (0.0, 1.0, 0.0),
)  # a human's left, up, ahead
LIMB = ("shou_rot", "elb_pron", "wri_rad")
HEIGHT, BREADTH = 0.35, 0.19  # m: of the shoulders above the body's centre of mass, and half apart


def gymnast(gravity: float = 9.81, torque: float = 150.0) -> Tree:
    """Return the gymnast: x forward, y to the left, z up along the body.

    `gravity`: its strength (m/s2); `torque`: limit at both shoulders (N m). An arm hangs at 0 and
    points up at pi; rates are not limited. Coordinates: three slides, the body's quaternion, and
    `left` and `right`.
    """
    arm = Link(
        mass=ARM,
        com=(0.0, 0.0, -REACH),
        inertia=((ARM * LENGTH**2 / 12, 0, 0), (0, ARM * LENGTH**2 / 12, 0), (0, 0, 0.004)),
    )
    tilt, somersault, twist = INERTIA
    body = Link(mass=BODY, inertia=((tilt, 0, 0), (0, somersault, 0), (0, 0, twist)))
    looks = _looks()
    shown = [
        replace(link, visuals=looks[name])
        for name, link in (("body", body), ("left", arm), ("right", arm))
    ]
    return Tree(
        links=(Link(), Link(), Link(), *shown),
        joints=(*free("body"), _shoulder("left", 1.0, torque), _shoulder("right", -1.0, torque)),
        points=(
            Point(name="head", link="body", position=(0.0, 0.0, 0.7)),
            Point(name="feet", link="body", position=(0.0, 0.0, -1.0)),
            Point(name="left hand", link="left", position=(0.0, 0.0, -LENGTH)),
            Point(name="right hand", link="right", position=(0.0, 0.0, -LENGTH)),
        ),
        gravity=(0.0, 0.0, -gravity),
    )


@cache
def _looks() -> Mapping[str, Sequence[Visual]]:
    """Return {link: visuals}: those of a human whose shoulders are where the gymnast's are."""
    person = human(STATURE, frozen=())
    shoulder = np.array(positions(person, np.zeros(person.dof), ("shoulder_l",))[0]).ravel()
    frames = {"body": (0.0, shoulder[1] - HEIGHT, 0.0), "left": shoulder}
    frames["right"] = shoulder * (-1.0, 1.0, 1.0)
    limbs = {"left": [f"{each}_l" for each in LIMB], "right": [f"{each}_r" for each in LIMB]}
    rest = {*person.link_names} - {name for names in limbs.values() for name in names}
    parts = {**limbs, "body": [name for name in person.link_names if name in rest]}
    looks = {}
    for name, place in frames.items():
        frame = np.eye(4)
        frame[:3, :3], frame[:3, 3] = AXES, -np.array(AXES) @ place
        looks[name] = tuple(posed_looks(person, parts[name], frame, POINTED))
    return MappingProxyType(looks)


def _shoulder(name: str, side: float, torque: float) -> Joint:
    """Return the shoulder of a side, 1 or -1, that lifts its arm sideways."""
    return revolute(
        name,
        "body",
        axis=(side, 0.0, 0.0),
        home=(0.0, side * BREADTH, HEIGHT),
        position=(0.0, 3.2),
        torque=torque,
    )
