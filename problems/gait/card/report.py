"""The report card of a motion of the human that walks or runs, as plain data and in words."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ocp import Solution
from ocp.problems.gait.by_muscles.emg_timing import emg_timing
from ocp.problems.gait.card.curves import CURVES, at_percents, curves
from ocp.problems.gait.card.events import events
from ocp.problems.gait.card.faults import faults
from ocp.problems.gait.card.likeness import against, mean_r
from ocp.problems.gait.card.norms import Norms, norms
from ocp.problems.gait.card.numbers import numbers
from ocp.problems.gait.card.stride import Stride, stride_of
from ocp.problems.gait.report.phase_report import mirrored

RUN = 0.5  # duty factor below which both feet are in the air at times: a run
MEASURED = (1.0, 1.5)  # m/s: speeds about those of people's curves
LEVEL = 0.01  # of the stride: what it climbs or descends at most on level ground


def report_card(solution: Solution, files: Sequence[str | Path] = ()) -> dict[str, Any]:
    """Return the report card of a motion of the human, plain data ready for JSON.

    `files` are tables of people's curves beside those of the house. It has the `kind`, walk or run,
    `numbers`, `curves` {name: 101 values at 0, 1, .. 100 %} of the right leg from its strike and
    their `units`, `against` {curve: {source: likeness}}, `events` {event: value and
    people's}, `r` {curve: mean over its sources}, `muscles`, of walks by muscles when these are on
    beside people's, as `emg_timing` says, `faults`, sentences, the worst first, `sources`
    and `remarks`; `left` is the same of the left
    leg, reflected, of a motion that is not its own image, else None. Raises ValueError for files
    that are no such tables.
    """
    known = norms(files)
    right = _side(stride_of(solution), known)
    alike = solution.problem.symmetry is None or mirrored(solution.problem)
    return {
        **right,
        "units": {name: quantity.unit for name, quantity in CURVES.items()},
        "sources": {name: _source(each) for name, each in known.items()},
        "remarks": [*_remarks(right)],
        "left": None if alike else _side(stride_of(solution, "left"), known),
    }


def _side(stride: Stride, known: Mapping[str, Norms]) -> dict[str, Any]:
    fine = curves(stride)
    said, lines = (
        numbers(stride, fine),
        {name: at_percents(stride, line) for name, line in fine.items()},
    )
    kind = "walk" if said["duty_factor"] > RUN else "run"
    compared = against(lines, known) if kind == "walk" else {}
    r = mean_r(compared)
    return {
        "kind": kind,
        "numbers": said,
        "curves": {name: [float(value) for value in line] for name, line in lines.items()},
        "against": compared,
        "events": events(lines, known) if kind == "walk" else {},
        "r": r,
        "muscles": emg_timing(stride),
        "faults": faults(kind, said, lines, known, r, stride.toe_off),
    }


def _source(each: Norms) -> dict[str, Any]:
    record = each.record
    return {
        "subjects": record.subjects,
        "speed_m_s": record.speed,
        "stride_s": record.stride_time,
        "source": record.source,
        "licence": record.licence,
        "caveats": list(record.caveats),
    }


def _remarks(right: Mapping[str, Any]) -> Iterator[str]:
    """Yield the reasons that make people's curves no measure of this motion."""
    now = right["numbers"]
    if right["kind"] == "run":
        yield "people's curves here are of walking: a run is held to ranges of numbers alone"
        return
    if not MEASURED[0] <= now["speed_m_s"] <= MEASURED[1]:
        speed = f"{now['speed_m_s']:.2f} m/s"
        yield f"people's curves are of 1.2 to 1.33 m/s, and this walk goes {speed}"
    if abs(now["climb_m"]) > LEVEL * now["stride_m"]:
        yield "people's curves are of level walking, and this walk climbs or descends"
