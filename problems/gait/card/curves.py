"""The curves of a gait cycle that people's are laid beside: names, units, signs.

Angles are anatomical and alike on both sides (flexion, abduction, internal rotation, dorsiflexion
positive), the pelvis is as the global axes have it, and moments are internal, positive in the
direction of the positive angle.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from ocp.problems.gait.card.stride import Stride

MILLIMETRES = 1000.0
PERCENT = np.arange(101.0)  # of the cycle, where curves are given


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantity:
    """A curve of the gait cycle: its `title`, `unit`, words for `more` and `less` of it than others
    have, and its values (M,) `of` a Stride.

    `floor` is the least standard deviation that bands have, in that unit [assumed]: what one person
    spreads over trials is less than what people do. `offset`: sources differ by a constant, since
    each has its own zero, so that bands are compared without means.
    """

    title: str
    unit: str
    more: str
    less: str
    floor: float
    of: Callable[[Stride], np.ndarray]
    offset: bool = False


def _angle(joint: str) -> Callable[[Stride], np.ndarray]:
    return lambda stride: np.degrees(stride.joint(stride.q, joint))


def _turned(joint: str) -> Callable[[Stride], np.ndarray]:
    return lambda stride: -np.degrees(stride.joint(stride.q, joint))


def _moment(joint: str) -> Callable[[Stride], np.ndarray]:
    return lambda stride: stride.joint(stride.moments, joint) / stride.mass


def _power(joint: str) -> Callable[[Stride], np.ndarray]:
    return lambda stride: (
        stride.joint(stride.moments, joint) * stride.joint(stride.qd, joint) / stride.mass
    )


def _force(row: int) -> Callable[[Stride], np.ndarray]:
    return lambda stride: stride.forces["right"][row]


def _lean(row: int, sign: float) -> Callable[[Stride], np.ndarray]:
    """Return the lean of the trunk (deg) from upright, forward or sideways."""
    return lambda stride: np.degrees(np.arctan2(sign * stride.trunk[row], stride.trunk[1]))


def _swayed(row: int) -> Callable[[Stride], np.ndarray]:
    """Return the distance (mm) of the centre of mass from its mean way."""

    def sway(stride: Stride) -> np.ndarray:
        off = stride.centre[row] - stride.way[row] * stride.percent / 100.0
        return MILLIMETRES * (off - stride.weights @ off)

    return sway


def _entry(words: str, floor: float, of: Callable, offset: bool = False) -> Quantity:
    title, unit, more, less = words.split("; ")
    return Quantity(title=title, unit=unit, more=more, less=less, floor=floor, of=of, offset=offset)


ANGLE, MOMENT, POWER = 3.0, 0.15, 0.4  # deg, N m/kg, W/kg: floors
CURVES: Mapping[str, Quantity] = MappingProxyType(
    {
        "hip_flex": _entry(
            "hip flexion; deg; more flexed; more extended", ANGLE, _angle("hip_flex_r"), True
        ),
        "hip_abd": _entry(
            "hip abduction; deg; more abducted; more adducted", ANGLE, _angle("hip_abd_r")
        ),
        "hip_rot": _entry(
            "hip rotation, inward +; deg; turned further in; turned further out",
            2 * ANGLE,
            _angle("hip_rot_r"),
            True,
        ),
        "knee_flex": _entry(
            "knee flexion; deg; more bent; straighter", ANGLE, _angle("knee_flex_r")
        ),
        "ankle_df": _entry(
            "ankle dorsiflexion; deg; more dorsiflexed; more plantarflexed",
            ANGLE,
            _angle("ankle_df_r"),
        ),
        "pelvis_tilt": _entry(
            "pelvis tilt, forward +; deg; more tilted forward; more tilted backward",
            ANGLE,
            _angle("glob_rx"),
            True,
        ),
        "pelvis_list": _entry(
            "pelvis list, own side up +; deg; higher on the leg's side; lower on the leg's side",
            ANGLE / 2,
            _turned("glob_rz"),
        ),
        "pelvis_rotation": _entry(
            "pelvis rotation, own side ahead +; deg; further ahead on the leg's side; "
            "further back on the leg's side",
            ANGLE,
            _angle("glob_ry"),
        ),
        "trunk_forward": _entry(
            "trunk lean forward; deg; further forward; further back", ANGLE, _lean(2, 1.0), True
        ),
        "trunk_sideways": _entry(
            "trunk lean to the own side; deg; further to the leg's side; further away from the leg",
            ANGLE / 2,
            _lean(0, -1.0),
        ),
        "shoulder_flex": _entry(
            "shoulder flexion; deg; more flexed; more extended",
            2 * ANGLE,
            _angle("shou_flex_r"),
            True,
        ),
        "elbow_flex": _entry(
            "elbow flexion; deg; more bent; straighter", 2 * ANGLE, _angle("elb_flex_r"), True
        ),
        "force_vertical": _entry("vertical force; BW; larger; smaller", 0.05, _force(1)),
        "force_fore_aft": _entry(
            "fore-aft force, forward +; BW; further forward; further back", 0.03, _force(2)
        ),
        "force_lateral": _entry(
            "lateral force, inward +; BW; further inward; further outward", 0.015, _force(0)
        ),
        "moment_hip_flex": _entry(
            "hip flexion moment; N m/kg; more of flexion; more of extension",
            MOMENT,
            _moment("hip_flex_r"),
        ),
        "moment_hip_abd": _entry(
            "hip abduction moment; N m/kg; more of abduction; less of abduction",
            MOMENT,
            _moment("hip_abd_r"),
        ),
        "moment_knee_flex": _entry(
            "knee flexion moment; N m/kg; more of flexion; more of extension",
            MOMENT,
            _moment("knee_flex_r"),
        ),
        "moment_ankle_df": _entry(
            "ankle dorsiflexion moment; N m/kg; less of plantarflexion; more of plantarflexion",
            MOMENT,
            _moment("ankle_df_r"),
        ),
        "power_hip": _entry(
            "sagittal hip power; W/kg; larger; smaller", POWER, _power("hip_flex_r")
        ),
        "power_hip_abd": _entry(
            "frontal hip power; W/kg; larger; smaller", POWER, _power("hip_abd_r")
        ),
        "power_knee": _entry("knee power; W/kg; larger; smaller", POWER, _power("knee_flex_r")),
        "power_ankle": _entry("ankle power; W/kg; larger; smaller", POWER, _power("ankle_df_r")),
        "com_up": _entry("centre of mass, up; mm; higher; lower", 5.0, _swayed(1)),
        "com_sideways": _entry(
            "centre of mass, from the leg +; mm; further from the leg; further over the leg",
            5.0,
            _swayed(0),
        ),
    }
)


def curves(stride: Stride) -> dict[str, np.ndarray]:
    """Return {name: values (M,)} of all CURVES at the percentages of a Stride."""
    return {name: quantity.of(stride) for name, quantity in CURVES.items()}


def at_percents(stride: Stride, values: np.ndarray) -> np.ndarray:
    """Return values (101,) at 0, 1, .. 100 % of values (M,) of a Stride."""
    return np.interp(PERCENT, stride.percent, values)
