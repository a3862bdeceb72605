"""Walks by muscles beside measured people, as a table and as claims."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ocp.problem import LAWS
from ocp.problems.gait.benchmark.design import CHEAPEST, SLOPES
from ocp.problems.gait.conditions.people import KOELEWIJN
from ocp.problems.gait.conditions.walk_study import (
    Claim,
    Walk,
    solved_claims,
    text,
    walks_data,
    walks_table,
)
from ocp.studies import markdown

COLUMNS: Mapping[str, tuple[str, str]] = {  # of the table: name of a number and its format
    "J": ("objective", ".4f"),
    "J/kg/m": ("metabolic_J_kg_m", ".2f"),
    "efficiency": ("efficiency", ".2f"),
    "r hip": ("r_hip", ".2f"),
    "knee": ("r_knee", ".2f"),
    "ankle": ("r_ankle", ".2f"),
    "knee moment": ("r_moment_knee_flex", ".2f"),
    "knee power": ("r_power_knee", ".2f"),
    "ankle power": ("r_power_ankle", ".2f"),
    "peak (W/kg)": ("ankle_W_kg", ".2f"),
    "knee (BW)": ("knee_BW", ".2f"),
    "on as Perry": ("on_Perry", ".2f"),
    "violation": ("violation", ".1e"),
    "gathered": ("gathered", ".1e"),
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
        *_level_claims(_costs(done, "loads")),
        *_change_claims(done),
        *_rate_claims(_costs(done, "rates")),
    ]


def by_laws(done: Sequence[Walk]) -> str:
    """Return the table of what walks cost if muscles spend by each of the LAWS: the first of them,
    the change in each condition over people's, and the cheapest stride rate (1/min)."""
    names = [name for name, _, _ in _changes(done)]
    lines = []
    for law in LAWS:
        first = next((_cost(cell.measured, law) for _, cell in done if cell.solved), None)
        shares = (text(own / known, ".2f") for _, own, known in _changes(done, law))
        best = text(_cheapest_rate(_costs(done, "rates", law)), ".1f")
        lines.append((law, text(first, ".2f"), *shares, best))
    return markdown("change over people's", ("law", "J/kg/m", *names, "cheapest rate"), lines)


def _changes(done: Sequence[Walk], law: str = "") -> Iterator[tuple[str, float, float]]:
    """Yield the name, our change of cost and people's (J/kg/m) with each load and over grades."""
    loads = _costs(done, "loads", law)
    if "" in loads:
        own, known = loads.pop("")
        for load, (loaded, carried) in loads.items():
            yield f"load {load} kg", loaded - own, carried - known
    for name in ("trunk", *SLOPES):
        costs = _costs(done, name, law)
        if len(costs) > 1:
            low, high = min(costs), max(costs)
            own, known = (costs[high][k] - costs[low][k] for k in (0, 1))
            unit = "kg" if name == "trunk" else "%"
            yield f"{name} from {low:g} to {high:g} {unit}", own, known


def _costs(done: Sequence[Walk], name: str, law: str = "") -> dict[Any, tuple[float, float]]:
    """Return {value: (ours, people's)} of a set, of what was solved, by a law of what muscles spend
    or as cards tell it."""
    return {
        condition.value: (_cost(cell.measured, law), condition.people)
        for condition, cell in done
        if condition.set == name and cell.solved and condition.people is not None
    }


def _cost(numbers: Mapping[str, float], law: str) -> float:
    """Return the metabolic cost (J/kg/m) in the numbers of a walk."""
    cost = numbers["metabolic_J_kg_m"]
    return cost + numbers[f"{law}_J_kg_m"] - numbers["muscles_J_kg_m"] if law else cost


def _level_claims(costs: Mapping[str, tuple[float, float]]) -> Iterator[Claim]:
    if "" in costs:
        own, known = costs[""]
        words = f"1.25 m/s: {own:.2f} J/kg/m, people net {known:.2f} (Browning et al. 2007), asked"
        yield abs(own / known - 1.0) <= LEVEL, f"{words} within {100 * LEVEL:.0f} %"


def _change_claims(done: Sequence[Walk]) -> Iterator[Claim]:
    for name, own, known in _changes(done):
        near = GRADE if name.endswith("%") else LOADS
        words = f"{name}: {own:+.2f} J/kg/m, people {known:+.2f}, {own / known:.2f} of it"
        also = f"; {PREDSIM}" if name.endswith("%") else ""
        yield abs(own / known - 1.0) <= near, f"{words}, asked within {100 * near:.0f} %{also}"


def _rate_claims(costs: Mapping[float, tuple[float, float]]) -> Iterator[Claim]:
    own, known = _cheapest_rate(costs), 60.0 * CHEAPEST
    if own is not None:
        words = f"cheapest stride rate {own:.1f} a minute, people's {known:.1f}"
        words += f" (Umberger & Martin 2007), {100.0 * (own / known - 1.0):+.1f} %"
        yield abs(own / known - 1.0) <= RATE, f"{words}, asked within 5 %"


def _cheapest_rate(costs: Mapping[float, tuple[float, float]]) -> float | None:
    """Return the cheapest stride rate (1/min), None of too few."""
    if len(costs) < 4:
        return None
    share = cheapest(list(costs), [own for own, _ in costs.values()])
    return 60.0 * (1.0 + share / 100.0) * KOELEWIJN[0.0][0]


def cheapest(rates: Sequence[float], costs: Sequence[float]) -> float:
    """Return the rate (%) at which a parabola through costs is least; the cheapest of those walked
    where it opens downward."""
    bend, slope, _ = np.polyfit(rates, costs, 2)
    if bend <= 0.0:
        return float(rates[int(np.argmin(costs))])
    return float(-slope / (2.0 * bend))


def data(done: Sequence[Walk]) -> dict[str, Any]:
    """Return walks and claims as plain data."""
    return walks_data(done, claims(done), ("arguments", "people"))
