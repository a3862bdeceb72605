"""Joint centres of somebody who stands still, by regression from landmarks.

Hips: Harrington et al. (2007), the equations of one predictor each; knees, ankles, elbows and
wrists: the middle of the two markers, or half a width inward of the lateral one; shoulders: below
the acromion by 0.17 of the distance between both (Rab, Petuskey & Bagley 2002).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from ocp.problems.lab.marker_sets import MarkerSet

# Half widths (m, over stature) where there is no medial marker [assumed]
HALF = {"knee": 0.031, "ankle": 0.021, "elbow": 0.023, "wrist": 0.017}
RAB = 0.17
UP = np.array((0.0, 1.0, 0.0))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Anatomy:
    """Places (3,) m of joint centres {hip_r, knee_r, ...}, the axes (3, 3; columns left, up,
    forward) of the pelvis, lateral ways (3,) of knees {r, l} and ways of feet {r, l} ahead;
    `doubts` say what was assumed."""

    centres: Mapping[str, np.ndarray]
    pelvis: np.ndarray
    knees: Mapping[str, np.ndarray]
    feet: Mapping[str, np.ndarray]
    doubts: tuple[str, ...]


def joint_centres(
    places: Mapping[str, np.ndarray],
    table: MarkerSet,
    stature: float,
    hips: Mapping[str, np.ndarray] = MappingProxyType({}),
) -> Anatomy:
    """Return the Anatomy of mean places {marker: (3,) m} in the human's axes; `hips` {hip_r, hip_l}
    are in place of those of the regression.

    Raises ValueError for landmarks without which nothing can be told.
    """
    marks = {
        mark: places[marker]
        for marker, (_, mark) in table.sites.items()
        if mark and marker in places
    }
    doubts: list[str] = []
    pelvis, centres = _pelvis(marks, doubts)
    centres |= hips
    left = pelvis[:, 0]
    knees, feet = {}, {}
    for side, out in (("r", -left), ("l", left)):
        for joint, above in (("knee", "hip"), ("ankle", "knee")):
            centres[f"{joint}_{side}"] = _between(
                marks, joint, side, centres[f"{above}_{side}"], out, stature, doubts
            )
        own = [marks.get(f"knee_{end}_{side}") for end in ("lat", "med")]
        knees[side] = out if own[0] is None or own[1] is None else _unit(own[0] - own[1])
        heel, toe = marks.get(f"heel_{side}"), marks.get(f"toe_{side}")
        if heel is None or toe is None:
            raise ValueError(
                f"markers: expected markers of heel and toe on the foot, side {side!r}"
            )
        ahead = toe - heel
        feet[side] = _unit(ahead - (ahead @ UP) * UP)
        _arm(marks, side, out, centres, stature, doubts)
    return Anatomy(centres=centres, pelvis=pelvis, knees=knees, feet=feet, doubts=tuple(doubts))


def hip_centres(width: float, depth: float) -> tuple[float, float, float]:
    """Return a hip's places (m) ahead of the middle of the ASIS, above it and to the side, of a
    pelvis `width` wide between them and `depth` (m) to the middle of the PSIS   (Harrington et al.
    2007)."""
    return -0.24 * depth - 9.9e-3, -0.30 * width - 10.9e-3, 0.33 * width + 7.3e-3


def _pelvis(
    marks: Mapping[str, np.ndarray], doubts: list[str]
) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Return the axes of the pelvis, and the centres of both hips."""
    if "hip_r" in marks and "hip_l" in marks and "asis_r" not in marks:
        doubts.append("of the pelvis only hips are seen: it is taken as upright")
        left = _unit(_level(marks["hip_l"] - marks["hip_r"]))
        axes = np.column_stack([left, UP, np.cross(left, UP)])
        return axes, {f"hip_{side}": marks[f"hip_{side}"] for side in "rl"}
    right, other = marks.get("asis_r"), marks.get("asis_l")
    if right is None or other is None:
        raise ValueError("markers: expected both ASIS or both hips among the landmarks")
    if "psis_r" in marks and "psis_l" in marks:
        back = (marks["psis_r"] + marks["psis_l"]) / 2
    elif "sacrum" in marks:
        back = marks["sacrum"]
    else:
        raise ValueError("markers: expected both PSIS or the sacrum among the landmarks")
    front = (right + other) / 2
    left = _unit(other - right)
    ahead = _unit((front - back) - ((front - back) @ left) * left)
    axes = np.column_stack([left, np.cross(ahead, left), ahead])
    width, depth = float(np.linalg.norm(other - right)), float(np.linalg.norm(front - back))
    x, y, z = hip_centres(width, depth)
    hips = {
        f"hip_{side}": front + axes @ np.array((way * z, y, x))
        for side, way in (("r", -1), ("l", 1))
    }
    return axes, hips


def _between(
    marks: Mapping[str, np.ndarray],
    joint: str,
    side: str,
    above: np.ndarray,
    out: np.ndarray,
    stature: float,
    doubts: list[str],
) -> np.ndarray:
    """Return a centre between two markers, or inward of the lateral one, away from the line from
    the joint above."""
    if f"{joint}_{side}" in marks:
        return marks[f"{joint}_{side}"]
    lateral, medial = (marks.get(f"{joint}_{end}_{side}") for end in ("lat", "med"))
    if lateral is None:
        raise ValueError(f"markers: expected a marker of the {joint}, side {side!r}")
    if medial is not None:
        return (lateral + medial) / 2
    doubts.append(f"{joint}_{side}: no medial marker: {HALF[joint]:g} of the stature inward")
    along = _unit(lateral - above)
    return lateral - HALF[joint] * stature * _unit(out - (out @ along) * along)


def _arm(
    marks: Mapping[str, np.ndarray],
    side: str,
    out: np.ndarray,
    centres: dict[str, np.ndarray],
    stature: float,
    doubts: list[str],
) -> None:
    """Add the centres of an arm, as far as markers tell."""
    if f"shoulder_{side}" in marks:
        centres[f"shoulder_{side}"] = marks[f"shoulder_{side}"]
    elif "acromion_r" in marks and "acromion_l" in marks:
        apart = np.linalg.norm(marks["acromion_r"] - marks["acromion_l"])
        centres[f"shoulder_{side}"] = marks[f"acromion_{side}"] - RAB * apart * UP
    for joint, above in (("elbow", "shoulder"), ("wrist", "elbow")):
        seen = {f"{joint}_{side}", f"{joint}_lat_{side}"} & set(marks)
        if f"{above}_{side}" in centres and seen:
            centres[f"{joint}_{side}"] = _between(
                marks, joint, side, centres[f"{above}_{side}"], out, stature, doubts
            )


def _level(way: np.ndarray) -> np.ndarray:
    return way - (way @ UP) * UP


def _unit(way: np.ndarray) -> np.ndarray:
    return way / np.linalg.norm(way)
