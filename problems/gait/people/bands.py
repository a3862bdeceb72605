"""A study of people's walks as plain data and tables: bands of curves, spreads of numbers."""

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ocp.problems.gait.card.curves import CURVES
from ocp.problems.gait.card.likeness import against, mean_r
from ocp.problems.gait.card.norms import Norms, norms
from ocp.problems.gait.people.measures import ARMS, CERTIFICATE, NUMBERS, curves
from ocp.storage import write
from ocp.studies import Study, markdown

LOW, HIGH = 5.0, 95.0  # percentiles: the ends of a band
REASONS = 10  # that are told of those who were not solved


def summary(study: Study, files: Sequence[str | Path] = ()) -> dict[str, Any]:
    """Return the results of a study of people, plain data ready for JSON.

    `asked`, `solved`, `certified` and `at_bounds`, of shoulders or elbows, count people, None where
    no certificate was asked for; `failed` are arguments and reasons. `curves` {name: {low, median,
    high, mean, deviation}} have 101 values each over the cycle, `r` {name: {low, median, high}} is
    that of each person's curve, the mean over the sources, `within` {name: share} how much of the
    cycle people's own mean lies in our band, and `numbers` {name: {unit, low, median, high}}; all
    None where nobody was solved. `files` are tables of people's curves beside those of the house.
    """
    cells, solved = study.cells, study.solved
    walks = [cell.measured for cell in solved]
    passed = [walk[CERTIFICATE] for walk in walks if CERTIFICATE in walk]
    told: dict[str, Any] = {
        "asked": len(cells),
        "solved": len(solved),
        "certified": round(sum(passed)) if passed else None,
        "at_bounds": sum(any(walk.get(name, 0.0) > 0.0 for name in ARMS) for walk in walks),
        "failed": [
            {"person": _person(cell.parameters), "reason": cell.reason}
            for cell in cells
            if not cell.solved
        ],
        "seconds": sum(cell.seconds or 0.0 for cell in cells),
        "iterations": [cell.statistics.get("iterations") for cell in solved],
    }
    if not walks:
        return told | dict.fromkeys(("curves", "r", "within", "numbers"))
    lines, known = curves(walks), norms(files)
    return told | {
        "curves": {name: _band(values) for name, values in lines.items()},
        "r": _likeness(lines, known),
        "within": {name: _within(values, known, name) for name, values in lines.items()},
        "numbers": {
            name: {"unit": unit} | _ends([walk[name] for walk in walks if name in walk])
            for name, (_, unit, _) in NUMBERS.items()
        },
    }


def _person(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of a person's walk without those of how it is solved."""
    return {name: value for name, value in arguments.items() if "." not in name}


def _band(values: np.ndarray) -> dict[str, list[float]]:
    """Return the band of curves (walks, 101)."""
    low, median, high = np.percentile(values, (LOW, 50.0, HIGH), axis=0)
    mean, deviation = values.mean(axis=0), values.std(axis=0)
    lines = {"low": low, "median": median, "high": high, "mean": mean, "deviation": deviation}
    return {name: [float(value) for value in line] for name, line in lines.items()}


def _ends(values: Sequence[float]) -> dict[str, float | None]:
    """Return the ends and the middle of numbers, None where there are none."""
    names = ("low", "median", "high")
    if not values:
        return dict.fromkeys(names)
    return dict(zip(names, map(float, np.percentile(values, (LOW, 50.0, HIGH)))))


def _likeness(
    lines: Mapping[str, np.ndarray], known: Mapping[str, Norms]
) -> dict[str, dict[str, float | None]]:
    """Return the ends and the middle of r over walks, of curves that some source has."""
    count = len(next(iter(lines.values())))
    each = [
        mean_r(against({name: line[k] for name, line in lines.items()}, known))
        for k in range(count)
    ]
    return {name: _ends([r[name] for r in each if name in r]) for name in each[0]}


def _within(values: np.ndarray, known: Mapping[str, Norms], name: str) -> float | None:
    """Return the share of the cycle in which the mean of the sources of a curve lies in our band,
    of angles whose zero differs after both means are taken out; None without a source."""
    means = [each.bands[name].mean for each in known.values() if name in each.bands]
    if not means:
        return None
    theirs = np.mean(means, axis=0)
    low, middle, high = np.percentile(values, (LOW, 50.0, HIGH), axis=0)
    shift = np.mean(middle - theirs) if CURVES[name].offset else 0.0
    return float(np.mean((theirs + shift >= low) & (theirs + shift <= high)))


def tables(told: Mapping[str, Any]) -> Iterator[str]:
    """Yield a study in words: how many were solved, spreads of numbers and likeness of curves."""
    yield _counted(told)
    for each in told["failed"][:REASONS]:
        who = ", ".join(f"{name} {_word(value)}" for name, value in each["person"].items())
        yield f"not solved: {who}: {each['reason'].partition(chr(10))[0]}"
    if told["numbers"] is None:
        return
    header: tuple[str, ...] = ("quantity", "unit", "5 %", "median", "95 %")
    rows = [
        (NUMBERS[name][0], each["unit"], *(_word(each[end]) for end in ("low", "median", "high")))
        for name, each in told["numbers"].items()
    ]
    yield markdown("", header, rows)
    header = ("curve", "r, 5 %", "median", "95 %", "spread", "people inside (%)")
    yield markdown("", header, _alike(told))


def _counted(told: Mapping[str, Any]) -> str:
    text = f"{told['solved']} of {told['asked']} solved"
    if told["certified"] is not None:
        text += f", {told['certified']} certified"
    text += f", {told['at_bounds']} with a shoulder or an elbow at its bound"
    counts = [count for count in told["iterations"] if count is not None]
    if counts:
        text += f"; {np.median(counts):.0f} iterations in the median, {max(counts)} at most"
    return f"{text}; {told['seconds']:.0f} s of all processes together"


def _alike(told: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    """Yield lines of curves: r, how much they spread in the mean over the cycle, and where people's
    own lie."""
    for name, quantity in CURVES.items():
        spread = f"{np.mean(told['curves'][name]['deviation']):.2g} {quantity.unit}"
        r = told["r"].get(name) or _ends(())
        inside = told["within"][name]
        share = "" if inside is None else f"{100 * inside:.0f}"
        yield name, *(_word(r[end]) for end in ("low", "median", "high")), spread, share


def _word(value: Any) -> str:
    return "" if value is None else f"{value:.3g}" if isinstance(value, float) else str(value)


def write_people(study: Study, path: str | Path) -> None:
    """Write a line for each person: arguments, status and numbers, as comma-separated values."""
    names = list(_person(study.cells[0].parameters))
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*names, "status", "objective", "iterations", "seconds", *NUMBERS])
    for cell in study.cells:
        counts = cell.status, cell.objective, cell.statistics.get("iterations"), cell.seconds
        numbers = (cell.measured.get(name) for name in NUMBERS)
        writer.writerow([*(cell.parameters[name] for name in names), *counts, *numbers])
    write(path, text.getvalue())
