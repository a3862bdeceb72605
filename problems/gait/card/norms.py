"""Normative curves of people, by the names and signs of ours, each with its source.

Winter's adults and Fukuchi's have the sagittal plane, Winter's the forces too; Falisse's one adult
has all planes, trunk, arms, moments and three components of force. Files of one's own may be added.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from ocp.models.human import Normative, normative, normative_file
from ocp.problems.gait.card.curves import PERCENT

SHIPPED = ("winter", "fukuchi", "falisse")
NORMS_FLAG: Mapping[str, Any] = MappingProxyType(  # of commands that take files of one's own
    {
        "action": "append",
        "default": [],
        "metavar": "FILE.csv",
        "help": "people's curves beside those of the house; may be repeated",
    }
)
# Columns of files: ours, and the sign that turns theirs to ours
COLUMNS: Mapping[str, tuple[str, float]] = MappingProxyType(
    {
        "hip_flex_deg": ("hip_flex", 1.0),
        "hip_abd_deg": ("hip_abd", 1.0),
        "hip_rotation_deg": ("hip_rot", 1.0),
        "hip_internal_rot_deg": ("hip_rot", 1.0),
        "knee_flex_deg": ("knee_flex", 1.0),
        "ankle_df_deg": ("ankle_df", 1.0),
        "pelvis_tilt_deg": ("pelvis_tilt", -1.0),  # backward
        "pelvis_ant_tilt_deg": ("pelvis_tilt", 1.0),
        "pelvis_list_deg": ("pelvis_list", -1.0),  # left side up
        "pelvis_obliquity_ipsi_up_deg": ("pelvis_list", 1.0),
        "pelvis_rotation_deg": ("pelvis_rotation", 1.0),
        "pelvis_internal_rot_deg": ("pelvis_rotation", 1.0),
        "arm_flex_deg": ("shoulder_flex", 1.0),
        "elbow_flex_deg": ("elbow_flex", 1.0),
        "grf_vertical_BW": ("force_vertical", 1.0),
        "grf_foreaft_BW": ("force_fore_aft", 1.0),
        "grf_right_BW": ("force_lateral", -1.0),  # outward of the right foot
        "tau_hip_flex_Nm_kg": ("moment_hip_flex", 1.0),
        "tau_hip_abd_Nm_kg": ("moment_hip_abd", 1.0),
        "tau_knee_flex_Nm_kg": ("moment_knee_flex", 1.0),
        "tau_ankle_df_Nm_kg": ("moment_ankle_df", 1.0),
    }
)
# A lean of the trunk in space: what the pelvis does and what the lumbar joint adds, with signs;
# angles are small, so that they add up
LEANS = {
    "trunk_forward": {"pelvis_tilt_deg": -1.0, "lumbar_flex_deg": 1.0},
    "trunk_sideways": {"pelvis_list_deg": 1.0, "lumbar_bending_deg": 1.0},
}
POWERS = {
    "power_hip": ("tau_hip_flex_Nm_kg", "hip_flex_deg"),
    "power_hip_abd": ("tau_hip_abd_Nm_kg", "hip_abd_deg"),
    "power_knee": ("tau_knee_flex_Nm_kg", "knee_flex_deg"),
    "power_ankle": ("tau_ankle_df_Nm_kg", "ankle_df_deg"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Band:
    """What one source has of a curve at 0, 1, .. 100 %: the `mean` (101,), and its standard
    deviation `spread` (101,), None where it is not known."""

    mean: np.ndarray
    spread: np.ndarray | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Norms:
    """A source of people's curves: the `record` it is read from, and `bands` {curve: Band}."""

    record: Normative
    bands: Mapping[str, Band]


def norms(files: Sequence[str | Path] = ()) -> dict[str, Norms]:
    """Return {source: Norms} of those that the house has, and of files of one's own.

    Raises ValueError for a file without a known quantity, or with the name of another source.
    """
    records = [*(normative(name) for name in SHIPPED), *(normative_file(path) for path in files)]
    known: dict[str, Norms] = {}
    for record in records:
        if record.name in known:
            raise ValueError(f"norms: two sources have the name {record.name!r}; rename the file")
        bands = dict(_bands(record))
        if not bands:
            raise ValueError(f"norms: {record.name}: expected some of {', '.join(COLUMNS)}")
        known[record.name] = Norms(record=record, bands=bands)
    return known


def _bands(record: Normative) -> Iterator[tuple[str, Band]]:
    """Yield (curve, Band) of all that a source has, measured or derived."""
    for column, (name, sign) in COLUMNS.items():
        if column in record.curves:
            spread = record.spread(column, PERCENT)
            yield name, Band(mean=sign * record.mean(column, PERCENT), spread=spread)
    for name, parts in LEANS.items():
        if all(part in record.curves for part in parts):
            yield name, _leaning(record, parts)
    for name, (moment, angle) in POWERS.items():
        if record.stride_time and moment in record.curves and angle in record.curves:
            yield name, _powered(record, moment, angle, record.stride_time)


def _leaning(record: Normative, parts: Mapping[str, float]) -> Band:
    """Return the Band of a sum of angles, whose spreads are taken as independent."""
    mean = sum(sign * record.mean(part, PERCENT) for part, sign in parts.items())
    spreads = [record.spread(part, PERCENT) for part in parts]
    known = [spread**2 for spread in spreads if spread is not None]
    spread = np.sqrt(sum(known)) if len(known) == len(parts) else None
    return Band(mean=np.asarray(mean), spread=spread)


def _powered(record: Normative, moment: str, angle: str, time: float) -> Band:
    """Return the Band of a power (W/kg): the mean moment times the rate of the mean angle over
    strides of a time (s); its spread is the moment's times that rate."""
    rate = rates(record.mean(angle, PERCENT), time)
    spread = record.spread(moment, PERCENT)
    return Band(
        mean=record.mean(moment, PERCENT) * rate,
        spread=None if spread is None else np.abs(rate) * spread,
    )


def rates(degrees: np.ndarray, time: float) -> np.ndarray:
    """Return rates (101,; rad/s) of an angle (101,; deg) over a cycle of a time (s): central
    differences, which go on over its end."""
    once = np.radians(degrees[:-1])
    slope = (np.roll(once, -1) - np.roll(once, 1)) / (2.0 * time / len(once))
    return np.append(slope, slope[0])
