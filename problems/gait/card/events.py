"""Events of the gait cycle: peaks of forces, bursts of power, angles of the foot, beside people's.

Bursts have the names of Winter (1991) and Eng & Winter (1995): ankles take up (A1) and push off
(A2), knees give way (K1), straighten (K2), give way before the swing (K3) and stop the shank (K4),
hips push (H1), give way (H2) and pull the leg along (H3). Their windows are [assumed].
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from ocp.problems.gait.card.curves import CURVES, PERCENT
from ocp.problems.gait.card.norms import Band, Norms

DEVIATIONS = 2.0  # of a source, that bands have to both sides of its mean
FOOT_PITCH = "foot_pitch"  # of the foot above level ground, toes up positive, in the sagittal plane
LINKS = {"hip_flex": 1.0, "pelvis_tilt": -1.0, "knee_flex": -1.0, "ankle_df": 1.0}  # that make it


@dataclass(frozen=True, slots=True)
class Event:
    """The largest value of a `curve` (`way` 1), or the least (-1), within `low` to `high` % of the
    cycle; `text` says what it is."""

    curve: str
    way: int
    low: float
    high: float
    text: str


EVENTS: Mapping[str, Event] = MappingProxyType(
    {
        "loading_peak": Event("force_vertical", 1, 5, 25, "loading peak of the vertical force"),
        "braking_peak": Event("force_fore_aft", -1, 0, 30, "braking peak"),
        "propulsion_peak": Event("force_fore_aft", 1, 35, 62, "propulsion peak"),
        "A1": Event("power_ankle", -1, 5, 45, "ankle takes up, A1"),
        "A2": Event("power_ankle", 1, 40, 65, "ankle pushes off, A2"),
        "K1": Event("power_knee", -1, 0, 20, "knee gives way as it is loaded, K1"),
        "K2": Event("power_knee", 1, 8, 35, "knee straightens, K2"),
        "K3": Event("power_knee", -1, 40, 70, "knee gives way before the swing, K3"),
        "K4": Event("power_knee", -1, 75, 100, "knee stops the shank, K4"),
        "H1": Event("power_hip", 1, 0, 35, "hip pushes, H1"),
        "H2": Event("power_hip", -1, 25, 60, "hip gives way, H2"),
        "H3": Event("power_hip", 1, 45, 80, "hip pulls the leg along, H3"),
        "strike_pitch": Event(FOOT_PITCH, 1, 0, 0, "toes above the heel at the strike"),
        "lift_pitch": Event(FOOT_PITCH, -1, 50, 75, "heel above the toes as they leave"),
    }
)


def events(ours: Mapping[str, np.ndarray], known: Mapping[str, Norms]) -> dict[str, dict[str, Any]]:
    """Return {event: its value, unit and place} of curves (101,), and beside them people's.

    `measured` has {source: value of its mean curve}, of sources that have it, and `band` the range
    of all of these within DEVIATIONS, no less than the curve's floor; None where no source has it.
    """
    pitched = {**ours, FOOT_PITCH: _pitch(ours)}
    return {name: _event(event, pitched, known) for name, event in EVENTS.items()}


def _event(
    event: Event, ours: Mapping[str, np.ndarray], known: Mapping[str, Norms]
) -> dict[str, Any]:
    """Return one event of ours and of people."""
    at, value = _extreme(event, ours[event.curve])
    measured: dict[str, float] = {}
    ranges: list[tuple[float, float]] = []
    for source, band in _bands(event.curve, known):
        place, theirs = _extreme(event, band.mean)
        spread = 0.0 if band.spread is None else float(band.spread[round(place)])
        away = DEVIATIONS * max(spread, _quantity(event).floor)
        measured[source] = theirs
        ranges.append((theirs - away, theirs + away))
    ends = [min(low for low, _ in ranges), max(high for _, high in ranges)] if ranges else None
    return {
        "value": value,
        "unit": _quantity(event).unit,
        "percent": at,
        "measured": measured,
        "band": ends,
        "text": event.text,
    }


def _quantity(event: Event) -> Any:
    """Return the Quantity of an event's curve; that of the foot's pitch is like an ankle's."""
    return CURVES["ankle_df" if event.curve == FOOT_PITCH else event.curve]


def _extreme(event: Event, values: np.ndarray) -> tuple[float, float]:
    """Return the place (%) of an event in a curve (101,), and its value."""
    inside = np.flatnonzero((event.low <= PERCENT) & (event.high >= PERCENT))
    best = inside[int(np.argmax(event.way * values[inside]))]
    return float(PERCENT[best]), float(values[best])


def _bands(curve: str, known: Mapping[str, Norms]) -> Iterator[tuple[str, Band]]:
    """Yield (source, Band) of a curve."""
    for source, each in known.items():
        if curve == FOOT_PITCH and set(LINKS) <= set(each.bands):
            yield (
                source,
                Band(mean=_pitch({name: each.bands[name].mean for name in LINKS}), spread=None),
            )
        elif curve in each.bands:
            yield source, each.bands[curve]


def _pitch(curves: Mapping[str, np.ndarray]) -> np.ndarray:
    """Return the pitch (101,; deg) of a foot from the angles above it."""
    return np.asarray(sum(sign * np.asarray(curves[name]) for name, sign in LINKS.items()))
