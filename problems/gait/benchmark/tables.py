"""Walks by muscles beside measured people, as a table and as claims."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ocp.problems.gait.conditions.walk_study import (
    Claim,
    Walk,
    solved_claims,
    text,
    walks_data,
    walks_table,
)

COLUMNS: Mapping[str, tuple[str, str]] = {  # of the table: name of a number and its format
    "J/kg/m": ("metabolic_J_kg_m", ".2f"),
    "muscles'": ("muscles_J_kg_m", ".2f"),
    "efficiency": ("efficiency", ".2f"),
    "ground gives": ("given_J_kg_m", ".3f"),
    "and takes": ("taken_J_kg_m", ".3f"),
    "knee (BW)": ("knee_BW", ".2f"),
    "r hip": ("r_hip", ".2f"),
    "knee": ("r_knee", ".2f"),
    "ankle": ("r_ankle", ".2f"),
    "force": ("r_vertical", ".2f"),
    "knee moment": ("r_moment_knee_flex", ".2f"),
    "knee power": ("r_power_knee", ".2f"),
    "ankle power": ("r_power_ankle", ".2f"),
    "peak (W/kg)": ("ankle_W_kg", ".2f"),
    "on as Perry": ("on_Perry", ".2f"),
    "objective off": ("objective_off", ".1e"),
    "violation": ("violation", ".1e"),
    "certified": ("certified", ".0f"),
}
LEVEL, GRADE, LOADS, RATE = 0.30, 0.15, 0.20, 0.05  # of people's, by which walks may differ
PREDSIM = "PredSim's change over slopes is 27 % too small (Afschrift et al. 2025)"


def table(done: Sequence[Walk]) -> str:
    """Return the table of all walks, a line each."""
    people = {"people": lambda condition: text(condition.people, ".2f")}
    return walks_table("walks by muscles", done, COLUMNS, people)


def claims(done: Sequence[Walk]) -> list[Claim]:
    """Return the claims on walks, and whether each holds."""
    return [
        *solved_claims(done),
        *_load_claims(_costs(done, "loads")),
        *_slope_claims(_costs(done, "slopes")),
        *_rate_claims(_costs(done, "rates")),
    ]


def _costs(done: Sequence[Walk], name: str) -> dict[Any, tuple[float, float]]:
    """Return {value: (ours, people's)} of a set, of what was solved."""
    return {
        condition.value: (cell.measured["metabolic_J_kg_m"], condition.people)
        for condition, cell in done
        if condition.set == name and cell.solved and condition.people is not None
    }


def _load_claims(costs: Mapping[str, tuple[float, float]]) -> Iterator[Claim]:
    if "" not in costs:
        return
    own, known = costs[""]
    words = f"1.25 m/s: {own:.2f} J/kg/m, people net {known:.2f} (Browning et al. 2007), asked"
    yield abs(own / known - 1.0) <= LEVEL, f"{words} within {100 * LEVEL:.0f} %"
    for load, (loaded, carried) in costs.items():
        if load:
            yield _change(f"load {load} kg", loaded - own, carried - known, LOADS)


def _slope_claims(costs: Mapping[float, tuple[float, float]]) -> Iterator[Claim]:
    if len(costs) < 2:
        return
    low, high = min(costs), max(costs)
    own, known = (costs[high][k] - costs[low][k] for k in (0, 1))
    holds, words = _change(f"from {low:g} to {high:g} %", own, known, GRADE)
    yield holds, f"{words}; {PREDSIM}"


def _rate_claims(costs: Mapping[float, tuple[float, float]]) -> Iterator[Claim]:
    if len(costs) < 4:
        return
    own, known = (cheapest(list(costs), [pair[k] for pair in costs.values()]) for k in (0, 1))
    words = f"cheapest stride rate {own:+.1f} % from the preferred one, people's {known:+.1f} %"
    words += " (Umberger & Martin 2007), asked within 5 %"
    yield abs((100.0 + own) / (100.0 + known) - 1.0) <= RATE, words


def cheapest(rates: Sequence[float], costs: Sequence[float]) -> float:
    """Return the rate (%) at which a parabola through costs is least; the cheapest of those walked
    where it opens downward."""
    bend, slope, _ = np.polyfit(rates, costs, 2)
    if bend <= 0.0:
        return float(rates[int(np.argmin(costs))])
    return float(-slope / (2.0 * bend))


def _change(what: str, own: float, known: float, near: float) -> Claim:
    """Return the claim that a change of cost is near people's."""
    words = f"{what}: {own:+.2f} J/kg/m, people {known:+.2f}, {own / known:.2f} of it"
    return abs(own / known - 1.0) <= near, f"{words}, asked within {100 * near:.0f} %"


def data(done: Sequence[Walk]) -> dict[str, Any]:
    """Return walks and claims as plain data."""
    return walks_data(done, claims(done), ("arguments", "people"))
