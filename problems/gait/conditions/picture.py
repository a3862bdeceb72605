"""Walks in their conditions as one page: rhythm, excursions, work and sway over each axis."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ocp.plots import COLOURS, SMALL, TEXT, picture, style
from ocp.problems.gait.conditions import people
from ocp.problems.gait.conditions.design import AXES
from ocp.problems.gait.conditions.tables import NOTHING, Walk, along
from ocp.problems.gait.report.phase_report import MINUTE

TITLES = {
    "speed": "speed (m/s)",
    "slope": "slope (deg)",
    "crouch": "crouch (deg)",
    "load": "load (kg, of legs on each side)",
}
ROWS: dict[str, dict[str, str]] = {  # what is drawn in a row: its words and names of numbers
    "steps per minute": {"ours": "cadence_steps_min"},
    "excursion (deg)": {"hip": "hip_deg", "knee": "knee_deg", "ankle": "ankle_deg"},
    "work (J/kg/m)": {
        "positive": "positive_J_kg_m",
        "negative": "negative_J_kg_m",
        "legs, positive": "legs_positive_J_kg_m",
        "legs, negative": "legs_negative_J_kg_m",
    },
    "centre of mass (mm)": {"up": "up_mm", "sideways": "sideways_mm"},
}
MARKS = ("o", "s", "^", "v")
SIZE = (11.0, 9.5)  # in


def plot_conditions(done: Sequence[Walk], path: str | Path | None = None) -> Any:
    """Return the page of walks in their conditions, written to `path`, if any, as .png, .svg or
    .pdf. Marks that are hollow are of walks that are not certified; grey is people's. Raises
    ValueError naming any other suffix."""
    with picture(path, *SIZE) as figure:
        grid = figure.subplots(len(ROWS), len(AXES), sharex="col", sharey="row")
        for axes, (title, names) in zip(grid, ROWS.items()):
            for panel, axis in zip(axes, AXES):
                _panel(panel, done, axis, names)
                style(panel, "", "")
            axes[0].set_ylabel(title, fontsize=TEXT)
        for panel, axis in zip(grid[-1], AXES):
            panel.set_xlabel(TITLES[axis], fontsize=TEXT)
        for panel, axis in zip(grid[0], AXES):
            _frequencies(panel, done, axis)
        for panel in (*grid[:, 0], grid[0, 1], grid[0, 3]):
            panel.legend(fontsize=SMALL, frameon=False)
        _work(grid[2, 1], done)
    return figure


def _panel(panel: Any, done: Sequence[Walk], axis: str, names: dict[str, str]) -> None:
    """Draw numbers over one axis."""
    entries = along(done, axis)
    places = _places(entries, axis)
    for k, (label, name) in enumerate(names.items()):
        values = [numbers[name] for _, numbers in entries]
        if axis != "load":
            panel.plot(places, values, linewidth=1.0, color=COLOURS[k], label=label)
        for place, value, (_, numbers) in zip(places, values, entries):
            face = COLOURS[k] if numbers["certified"] else "white"
            panel.plot(place, value, MARKS[k], color=COLOURS[k], markerfacecolor=face, markersize=4)
    if axis == "load":
        panel.set_xticks(places, [str(value) for value, _ in entries], rotation=60)


def _places(entries: Sequence[tuple[Any, Any]], axis: str) -> list[float]:
    if axis == "load":
        return [float(k) for k in range(len(entries))]
    return [float(value) for value, _ in entries]


def _frequencies(panel: Any, done: Sequence[Walk], axis: str) -> None:
    """Draw people's frequencies over an axis in grey."""
    if axis == "speed":
        speeds = np.linspace(0.6, 2.0, 29)
        relations = {"Inman": (people.inman_step, "-"), "Grieve": (people.grieve_step, "--")}
        for label, (step, line) in relations.items():
            rates = [MINUTE * speed / step(float(speed)) for speed in speeds]
            panel.plot(speeds, rates, line, color="0.6", linewidth=1.0, label=label)
        both = {"van der Zee": people.VAN_DER_ZEE, "Franz & Kram": people.FRANZ_SPEEDS}
        for mark, (label, known) in zip("xD", both.items()):
            _points(panel, known, mark, label)
    if axis == "slope":
        _points(panel, people.FRANZ, "D", "Franz & Kram, 1.25 m/s")
        grades = {np.degrees(np.arctan(g / 100)): f for g, (f, _) in people.KOELEWIJN.items()}
        _points(panel, grades, "x", "Koelewijn, 1.3 m/s")
    if axis == "load":
        entries = along(done, axis)
        usual = next((one["cadence_steps_min"] for value, one in entries if value == NOTHING), None)
        known = {k: people.BROWNING.get(value) for k, (value, _) in enumerate(entries)}
        shares = {k: share * usual / 120.0 for k, share in known.items() if share and usual}
        _points(panel, shares, "x", "Browning, of ours without")


def _points(panel: Any, strides: Any, mark: str, label: str) -> None:
    """Draw strides a second as steps a minute."""
    rates = [2.0 * MINUTE * strides_s for strides_s in strides.values()]
    panel.plot([*strides], rates, mark, color="0.5", markersize=4, label=label)


def _work(panel: Any, done: Sequence[Walk]) -> None:
    """Draw the rise of positive work with the slope by Minetti et al. (1993), through ours on the
    level."""
    level = dict(along(done, "slope")).get(0.0)
    if level is None:
        return
    slopes = np.array([-8.0, 8.0])
    rise = people.POSITIVE_OVER_SINE * np.sin(np.radians(slopes))
    panel.plot(slopes, level["positive_J_kg_m"] + rise, "--", color="0.6", label="Minetti's rise")
    panel.legend(fontsize=SMALL, frameon=False)
