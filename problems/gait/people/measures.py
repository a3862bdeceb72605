"""Results of each walk that a study of people keeps: numbers by name, and curves."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ocp import NotVerified, Solution, Verification, verify
from ocp.problems.gait.card import report_card
from ocp.problems.gait.card.curves import CURVES, PERCENT

CERTIFIED = 1e-2
BOUNDS = "at_bounds_percent"  # of a report card, by joint
ARMS = ("shoulders", "elbows")
# Of a report card: title, unit, and where it stands
NUMBERS: Mapping[str, tuple[str, str, tuple[str, ...]]] = {
    "speed": ("speed", "m/s", ("speed_m_s",)),
    "cadence": ("cadence", "1/min", ("cadence_steps_min",)),
    "stride": ("stride", "m", ("stride_m",)),
    "first_peak": ("first peak", "BW", ("vertical_first_peak", "BW")),
    "valley": ("valley", "BW", ("vertical_valley", "BW")),
    "second_peak": ("second peak", "BW", ("vertical_second_peak", "BW")),
    "com_up": ("centre of mass, up", "mm", ("com_up_mm",)),
    "com_sideways": ("sideways", "mm", ("com_sideways_mm",)),
    "stance_knee": ("loaded knee", "deg", ("stance_knee_deg",)),
    "pelvis_rotation": ("pelvis turns", "deg", ("pelvis_rotation_deg",)),
    "trunk_sideways": ("trunk leans", "deg", ("trunk_sideways_deg",)),
    "positive_work": ("positive work", "J/kg/m", ("positive_work_J_kg_m",)),
    "metabolic": ("metabolic power", "W/kg", ("metabolic", "net_W_kg")),
    "shared": ("shared by limbs", "W/kg", ("metabolic", "shared_W_kg")),
    "shoulders": ("a shoulder at a bound", "%", (BOUNDS, "shou_")),
    "elbows": ("an elbow at a bound", "%", (BOUNDS, "elb_")),
}
CERTIFICATE = "certified"


def measured(solution: Solution) -> dict[str, float]:
    """Return {name: number} of a walk: NUMBERS of its report card, and every curve's values at 0,
    1, .. 100 % of the cycle as "hip_flex 17"."""
    card = report_card(solution)
    values = {name: _at(card["numbers"], path) for name, (_, _, path) in NUMBERS.items()}
    for name, line in card["curves"].items():
        values |= {f"{name} {percent}": value for percent, value in enumerate(line)}
    return {name: value for name, value in values.items() if value is not None}


def certified(solution: Solution) -> dict[str, float]:
    """Return the `measured` figures, and whether the walk passes its certificate, 1 or 0, with its
    largest relative violation and the distance of its objective from the integral."""
    found = verify(solution)
    worst = max((each.relative for each in found.violations.values()), default=0.0)
    errors = {"worst_violation": worst, "objective_error": found.objective_error}
    known = {name: float(each) for name, each in errors.items() if each is not None}
    return measured(solution) | known | {CERTIFICATE: float(_passes(found))}


def _passes(found: Verification) -> bool:
    try:
        found.require(CERTIFIED)
    except NotVerified:
        return False
    return True


def curves(walks: Sequence[Mapping[str, float]]) -> dict[str, np.ndarray]:
    """Return {curve: (walks, 101)} of what was measured of several."""
    names = {name: [f"{name} {percent}" for percent in range(len(PERCENT))] for name in CURVES}
    return {
        name: np.array([[walk[each] for each in row] for walk in walks])
        for name, row in names.items()
    }


def _at(numbers: Mapping[str, Any], path: Sequence[str]) -> float | None:
    """Return a number of a report card, None where it has none; of bounds the longest time at one
    of the joints whose names begin so."""
    if path[0] == BOUNDS:
        held = (at for name, at in numbers[BOUNDS].items() if name.startswith(path[1]))
        return max(held, default=0.0)
    value: Any = numbers
    for name in path:
        value = None if value is None else value[name]
    return None if value is None else float(value)
