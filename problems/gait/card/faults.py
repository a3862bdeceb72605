"""Deviations from people's walking, in words, the worst first.

A curve is at fault where it leaves two standard deviations of all its sources, no less than its
`floor`, or runs against them; a number where it leaves what is published of people.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ocp.problems.gait.card.curves import CURVES, PERCENT
from ocp.problems.gait.card.norms import Norms
from ocp.problems.gait.card.numbers import of_either_side

DEVIATIONS = 2.0  # of what people spread: within these is as people do
LEAST_R = 0.5  # mean over the sources: below it a curve follows people's poorly [assumed]
UNIT_R = 0.1  # of r: as bad as one standard deviation [assumed]
LEG = ("hip_flex", "knee_flex", "ankle_df")  # said of stance and swing apart
WHERE = {"hip_flex": "hip", "hip_abd": "hip", "hip_rot": "hip", "knee_flex": "knee"} | {
    "ankle_df": "ankle",
    "pelvis_tilt": "pelvis",
    "pelvis_list": "pelvis",
    "pelvis_rotation": "pelvis",
    "trunk_forward": "trunk leans",
    "trunk_sideways": "trunk leans",
    "shoulder_flex": "shoulder",
    "elbow_flex": "elbow",
}


@dataclass(frozen=True, slots=True)
class Range:
    """Where a number of people's gait lies: from `low` to `high`, whose departures by `unit` are as
    bad as one standard deviation; `text` says it of ours as {0}, `source` whose it is."""

    low: float
    high: float
    unit: float
    text: str
    source: str


STANDS = "a foot stands for {0:.2f} of the stride"
# Of walking at usual speeds, and of running. The trunk leans over a range of 3.3 deg, SD 1.4, half
# of it to a side (Chung et al. 2010, 20 adults at 1.2 m/s), here with two deviations. The centre of
# mass goes up and down by 27 to 48 mm and sideways by 70 to 39 mm at 0.7 to 1.6 m/s (Orendurff et
# al. 2004 [recalled]), here with about two deviations at 1.2 m/s; loaded knee and pelvis as Perry
# 1992 and Winter 1991 have them [quoted], widened; the walk ratio by Inman et al. 1981 [quoted].
WALKING: Mapping[str, Range] = {
    "com_up_mm": Range(
        20.0, 50.0, 5.0, "centre of mass goes up and down by {0:.0f} mm", "20 to 50 mm in people"
    ),
    "com_sideways_mm": Range(
        20.0, 60.0, 5.0, "centre of mass sways by {0:.0f} mm", "20 to 60 mm in people"
    ),
    "trunk_sideways_deg": Range(
        0.0, 3.1, 0.7, "trunk leans sideways by {0:.1f} deg", "up to 3.1 deg in people"
    ),
    "stance_knee_deg": Range(
        8.0, 25.0, 4.0, "knee bends to {0:.0f} deg as it is loaded", "8 to 25 deg in people"
    ),
    "pelvis_rotation_deg": Range(
        0.0, 8.0, 2.0, "pelvis turns by {0:.0f} deg each way", "up to 8 deg in people"
    ),
    "duty_factor": Range(0.56, 0.68, 0.02, STANDS, "0.56 to 0.68 in people who walk"),
    "walk_ratio_m_min": Range(
        0.0058,
        0.0086,
        0.0007,
        "steps are {0:.4f} m long over their rate per minute",
        "0.0072 m min in men, 20 % to either side",
    ),
}
RUNNING: Mapping[str, Range] = {
    "duty_factor": Range(0.2, 0.45, 0.03, STANDS, "0.20 to 0.45 in people who run"),
    "trunk_sideways_deg": WALKING["trunk_sideways_deg"],
}
PEAKS = {"walk": (1.0, 1.25), "run": (2.0, 3.0)}  # BW, of the vertical force, as people have them
VALLEY, VALLEY_AT = (0.6, 0.85), (25.0, 35.0)  # BW, % of the cycle
BOUND = 5.0  # % of the cycle: a joint longer at its bound is held there
ABDUCTION = (0.6, 1.1)  # N m/kg: the largest moment of hip abduction in stance
FORCE, SHIFT = 0.1, 3.0  # BW and % of the cycle that are as bad as one standard deviation


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """A sentence, and how many standard deviations, or what is as bad, it is beyond people."""

    text: str
    weight: float


def faults(
    kind: str,
    said: Mapping[str, Any],
    curves: Mapping[str, np.ndarray],
    known: Mapping[str, Norms],
    r: Mapping[str, float],
    toe_off: float,
) -> list[str]:
    """Return sentences, the worst first, of a "walk" or "run" with numbers `said`, curves (101,)
    and mean `r`; the stance ends at `toe_off` (%). Of runs there are no curves of people here."""
    every = [*_of_numbers(kind, said), *_of_force(kind, said), *_of_bounds(said)]
    if kind == "walk":
        every += [
            *_of_likeness(r, known),
            *_of_curves(curves, known, toe_off),
            *_of_abduction(curves),
        ]
    every.sort(key=lambda fault: -fault.weight)
    return [fault.text for fault in every]


def _of_numbers(kind: str, said: Mapping[str, Any]) -> Iterator[Fault]:
    for name, usual in (WALKING if kind == "walk" else RUNNING).items():
        beyond = max(usual.low - said[name], said[name] - usual.high)
        if beyond > 0.0:
            text = f"{usual.text.format(said[name])}, {usual.source}"
            yield Fault(text=text, weight=DEVIATIONS + beyond / usual.unit)


def _of_force(kind: str, said: Mapping[str, Any]) -> Iterator[Fault]:
    """Yield the faults of the humps of the vertical force."""
    tops, valley = said["vertical_maxima"], said["vertical_valley"]
    places = ", ".join(f"{top['percent']:.0f}" for top in tops)
    counts = (2, 2) if kind == "walk" else (1, 2)
    beyond = max(counts[0] - len(tops), len(tops) - counts[1])
    if beyond > 0:
        usual = "two" if kind == "walk" else "one or two"
        text = f"vertical force has {len(tops)} maxima, at {places} %, where people have {usual}"
        yield Fault(text=text, weight=DEVIATIONS + 2.0 * beyond)
    low, high = PEAKS[kind]
    largest = max((top["BW"] for top in tops), default=0.0)
    off = max(low - largest, largest - high)
    if off > 0.0:
        text = f"vertical force reaches {largest:.2f} BW, {low:g} to {high:g} in people"
        yield Fault(text=text, weight=DEVIATIONS + off / FORCE)
    if kind == "walk" and len(tops) > 1:
        deep = max(VALLEY[0] - valley["BW"], valley["BW"] - VALLEY[1], 0.0)
        late = max(VALLEY_AT[0] - valley["percent"], valley["percent"] - VALLEY_AT[1], 0.0)
        if deep or late:
            text = (
                f"vertical force has its valley of {valley['BW']:.2f} BW at "
                f"{valley['percent']:.0f} %, {VALLEY[0]:g} to {VALLEY[1]:g} BW at "
                f"{VALLEY_AT[0]:.0f} to {VALLEY_AT[1]:.0f} % in people"
            )
            yield Fault(text=text, weight=DEVIATIONS + deep / FORCE + late / SHIFT)


def _of_bounds(said: Mapping[str, Any]) -> Iterator[Fault]:
    for joint, share in of_either_side(said["at_bounds_percent"]).items():
        if share > BOUND:
            text = f"{joint} is at the bound of its range for {share:.0f} % of the cycle"
            yield Fault(text=text, weight=DEVIATIONS + share / 10.0)
    swing = said["arms"]["with_own_leg_r"]
    if swing is not None and swing > -LEAST_R:
        text = f"arms do not swing opposite to the legs (r {swing:+.2f} with the own one)"
        yield Fault(text=text, weight=DEVIATIONS + (swing + LEAST_R) / UNIT_R)


def _of_likeness(r: Mapping[str, float], known: Mapping[str, Norms]) -> Iterator[Fault]:
    """Yield curves unlike people's, of those that in people vary by more than they spread."""
    for name, value in r.items():
        bands = [each.bands[name] for each in known.values() if name in each.bands]
        varied = max(float(np.ptp(band.mean)) for band in bands)
        if value < LEAST_R and varied > DEVIATIONS * CURVES[name].floor:
            title = CURVES[name].title.split(",")[0]
            how = "runs against people's" if value < 0.0 else "follows people's poorly"
            weight = DEVIATIONS + (LEAST_R - value) / UNIT_R
            yield Fault(text=f"{title} {how} (r {value:+.2f})", weight=weight)


def _of_abduction(curves: Mapping[str, np.ndarray]) -> Iterator[Fault]:
    largest, (low, high) = float(curves["moment_hip_abd"].max()), ABDUCTION
    beyond = max(low - largest, largest - high)
    if beyond > 0.0:
        text = f"hip abduction moment reaches {largest:.2f} N m/kg, {low:g} to {high:g} in people"
        floor = CURVES["moment_hip_abd"].floor
        yield Fault(text=text, weight=DEVIATIONS + beyond / floor)


def _of_curves(
    curves: Mapping[str, np.ndarray], known: Mapping[str, Norms], toe_off: float
) -> Iterator[Fault]:
    """Yield the largest departures of curves from the bands of all sources, of stance and swing at
    most one."""
    stance = toe_off >= PERCENT
    for name, ours in curves.items():
        ends = envelope(name, ours, known)
        if ends is None:
            continue
        spans = (
            (("stance ", stance), ("swing ", ~stance)) if name in LEG else (("", stance | ~stance),)
        )
        for span, inside in spans:
            yield from _beyond(name, ours, ends, span, inside)


def envelope(
    name: str, ours: np.ndarray, known: Mapping[str, Norms]
) -> tuple[np.ndarray, np.ndarray] | None:
    """Return the lowest and highest (101,) of two standard deviations about the means of all
    sources of a curve, shifted to the mean of ours where sources differ by offsets."""
    quantity = CURVES[name]
    bands = [each.bands[name] for each in known.values() if name in each.bands]
    if not bands:
        return None
    lows, highs = [], []
    for band in bands:
        mean = band.mean + (np.mean(ours - band.mean) if quantity.offset else 0.0)
        spread = np.full(len(mean), quantity.floor)
        if band.spread is not None:
            spread = np.maximum(spread, band.spread)
        lows.append(mean - DEVIATIONS * spread)
        highs.append(mean + DEVIATIONS * spread)
    return np.min(lows, axis=0), np.max(highs, axis=0)


def _beyond(
    name: str, ours: np.ndarray, ends: tuple[np.ndarray, np.ndarray], span: str, inside: np.ndarray
) -> Iterator[Fault]:
    quantity, (low, high) = CURVES[name], ends
    over = np.where(inside, np.maximum(ours - high, low - ours), -np.inf)
    k = int(over.argmax())
    if over[k] <= 0.0:
        return
    word = quantity.more if ours[k] > high[k] else quantity.less
    amount = f"{over[k]:.0f}" if quantity.unit in ("deg", "mm") else f"{over[k]:.2f}"
    if amount.strip("0.") == "":
        return
    what = WHERE.get(name, quantity.title.split(",")[0])
    text = f"{span}{what} {amount} {quantity.unit} {word} than the band at {k} %"
    yield Fault(text=text, weight=DEVIATIONS + over[k] / quantity.floor)
