"""Walks in their conditions as tables, claims and plain data."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ocp.problems.gait.conditions import people
from ocp.problems.gait.conditions.walk_study import (
    Claim,
    Walk,
    solved_claims,
    walks_data,
    walks_table,
)
from ocp.studies import markdown

COLUMNS: Mapping[str, tuple[str, str]] = {  # of the table: name of a number and its format
    "steps/min": ("cadence_steps_min", ".1f"),
    "step (m)": ("step_m", ".3f"),
    "hip (deg)": ("hip_deg", ".0f"),
    "knee": ("knee_deg", ".0f"),
    "ankle": ("ankle_deg", ".0f"),
    "work + (J/kg/m)": ("positive_J_kg_m", ".2f"),
    "-": ("negative_J_kg_m", ".2f"),
    "legs' +": ("legs_positive_J_kg_m", ".2f"),
    "legs' -": ("legs_negative_J_kg_m", ".2f"),
    "metabolic": ("metabolic_J_kg_m", ".2f"),
    "up (mm)": ("up_mm", ".0f"),
    "sideways": ("sideways_mm", ".0f"),
    "r hip": ("r_hip", ".2f"),
    "r knee": ("r_knee", ".2f"),
    "r ankle": ("r_ankle", ".2f"),
    "r abduction": ("r_abduction", ".2f"),
    "r vertical": ("r_vertical", ".2f"),
    "objective off": ("objective_off", ".1e"),
    "violation": ("violation", ".1e"),
    "certified": ("certified", ".0f"),
}
NOTHING = "none"  # that is worn
NEAR, STEEP = 0.10, 0.30  # of a step's length, and of the slope of work, by which they may differ
LIKE = {"hip": 0.90, "knee": 0.90, "vertical": 0.95, "abduction": 0.75}  # least r
LIKE_SPEEDS = (0.6, 0.8, 1.0, 1.2, 1.4, 1.6, 1.8, 2.0)  # m/s
LIKE_SLOPES = (-5.71, 5.71)  # deg: 10 %
STEP_SPEEDS = (0.8, 1.0, 1.2, 1.4, 1.6, 1.8)  # m/s


def table(done: Sequence[Walk]) -> str:
    """Return the table of all walks, a line each."""
    return walks_table("walks", done, COLUMNS)


def steps_table(done: Sequence[Walk]) -> str:
    """Return the table of steps by speed beside those of people."""
    lines = []
    for speed, numbers in along(done, "speed"):
        own = numbers["step_m"]
        relations = [relation(speed) for relation in STEPS.values()]
        pairs = (f"{known:.3f}, {own / known:.2f}" for known in relations)
        lines.append((f"{speed:g}", f"{own:.3f}", *pairs))
    header = ("m/s", "step (m)", *(f"{name}, over it" for name in STEPS))
    return markdown("steps over speed", header, lines)


STEPS = {
    "Inman [quoted]": people.inman_step,
    "Grieve & Gear [recalled]": people.grieve_step,
    "van der Zee": people.measured_step,
}


def along(done: Sequence[Walk], axis: str) -> list[tuple[Any, Mapping[str, float]]]:
    """Return (value, numbers) of the walks that were solved along an axis, in their order, that of
    the usual walk among them."""
    entries = [
        (condition.arguments[axis] or (NOTHING if axis == "load" else 0.0), cell.measured)
        for condition, cell in done
        if cell.solved and condition.axis in (axis, "usual")
    ]
    return entries if axis == "load" else sorted(entries, key=lambda entry: entry[0])


def claims(done: Sequence[Walk]) -> list[Claim]:
    """Return the claims on walks, and whether each holds."""
    return [
        *solved_claims(done),
        *_step_claims(dict(along(done, "speed"))),
        *_work_claims(dict(along(done, "slope"))),
        *_like_claims(done),
        *_load_claims(dict(along(done, "load"))),
    ]


def _step_claims(speeds: Mapping[float, Mapping[str, float]]) -> Iterator[Claim]:
    for speed in STEP_SPEEDS:
        if speed in speeds:
            own = speeds[speed]["step_m"]
            ratios = own / people.inman_step(speed), own / people.grieve_step(speed)
            near = min(abs(ratio - 1.0) for ratio in ratios) <= NEAR
            text = "{:.2f} of Inman's, {:.2f} of Grieve's, asked within 10 % of either"
            yield near, f"{speed:g} m/s: step {own:.3f} m, {text.format(*ratios)}"


def work_over_sine(slopes: Mapping[float, Mapping[str, float]], name: str) -> float:
    """Return by how much a number of walks rises from 10 % down to 10 % up, over the sine."""
    down, up = LIKE_SLOPES
    rise = slopes[up][name] - slopes[down][name]
    return rise / (np.sin(np.radians(up)) - np.sin(np.radians(down)))


def _work_claims(slopes: Mapping[float, Mapping[str, float]]) -> Iterator[Claim]:
    if not set(LIKE_SLOPES) <= set(slopes):
        return
    own, known = work_over_sine(slopes, "positive_J_kg_m"), people.POSITIVE_OVER_SINE
    text = f"positive work rises by {own:.2f} J/kg/m over the sine of the slope, people's by "
    text += f"{known:.2f} (Minetti et al. 1993): {own / known:.2f}, asked within 30 %"
    yield abs(own / known - 1.0) <= STEEP, text


def _like_claims(done: Sequence[Walk]) -> Iterator[Claim]:
    asked = {"speed": LIKE_SPEEDS, "slope": LIKE_SLOPES}
    for axis, values in asked.items():
        for value, numbers in along(done, axis):
            short = {name: numbers[f"r_{name}"] for name, r in LIKE.items()}
            short = {name: r for name, r in short.items() if r < LIKE[name]}
            if value in values:
                words = ", ".join(
                    f"{name} {r:.2f} (asked {LIKE[name]:g})" for name, r in short.items()
                )
                yield not short, f"{axis} {value:g}: r {words or 'as asked'}"


def _load_claims(loads: Mapping[str, Mapping[str, float]]) -> Iterator[Claim]:
    for load, known in people.BROWNING.items():
        if load in loads and NOTHING in loads:
            own = loads[load]["cadence_steps_min"] / loads[NOTHING]["cadence_steps_min"]
            text = f"{load} kg: frequency {own:.3f} of that without, people's {known:.3f}"
            yield abs(own - known) <= NEAR / 2, f"{text} (Browning et al. 2007), asked within 0.05"


def data(done: Sequence[Walk]) -> dict[str, Any]:
    """Return walks, claims and people's numbers as plain data."""
    return {
        **walks_data(done, claims(done), ("axis", "value", "arguments")),
        "people": {
            "stride_Hz_by_speed": {"van der Zee 2022": dict(people.VAN_DER_ZEE)},
            "stride_Hz_by_slope_deg": {"Franz & Kram 2012, 1.25 m/s": dict(people.FRANZ)},
            "stride_Hz_and_J_kg_m_by_grade_percent": {
                "Koelewijn 2019, 1.3 m/s": dict(people.KOELEWIJN)
            },
            "frequency_with_load": {"Browning 2007": dict(people.BROWNING)},
            "net_J_kg_m_by_grade": {"Minetti 2002": dict(people.MINETTI)},
        },
    }
