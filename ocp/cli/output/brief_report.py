"""What a run says by default: a report in few lines, the most telling ones, in one column."""

import re
import shutil
import sys
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ocp.report import report
from ocp.report.internal_report import coordinate_words
from ocp.solution.margins import closest_line, reserves_from_data

LINES, COLUMNS = 25, 100  # of what is printed; columns where no terminal says otherwise
ROOMY = 10  # lines, which a report has in any case
NARROWEST = 60  # columns
LABEL, LONGEST = 18, 34  # columns of labels; a longer one has its line to itself
SILENT = 1e-9  # of its bound: violations below are none
SAME = 1e-6  # an objective's integral and sum that differ by less are said once
WORST, TERMS, PRINTED, ROOTS = 5, 3, 3, 4  # rows of violations, terms, published, parameters
OWN = 10  # of the problem's lines: shown before more than the first of these
SPLIT = re.compile(r"(\s*\S.*?)\s{2,}(.*)")
Line = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Section:
    """Lines that belong together, of which `least` are shown wherever there is room at all."""

    lines: Sequence[Line]
    least: int


def brief(
    said: Mapping[str, Any],
    defaults: Mapping[str, Any],
    own: Iterable[str] = (),
    room: int = LINES,
) -> str:
    """Return a report `said` as text of at most `room` lines, the last of which names the rest.

    Arguments are named where they are not the `defaults`; `own` lines are the problem's.
    """
    room = max(room, ROOMY)
    sections = [
        Section(_head(said, defaults), room),
        Section(_certified(said), 4),
        Section(_worst(said["violations"]), 3),
        Section(closest_line(reserves_from_data(said["reserves"])), 1),
        Section([_split(line) for line in own], OWN),
        Section(_published(said["published"]), 2),
    ]
    every = [line for section in sections for line in section.lines]
    blocks = [[_laid(line, _width(every)) for line in section.lines] for section in sections]
    counts = _shared(blocks, [section.least for section in sections], room - 1)
    chosen = [line for section, count in zip(sections, counts) for line in section.lines[:count]]
    shown = [part for line in chosen for part in _laid(line, _width(chosen))]
    return "\n".join([*shown, "--details prints all, --report FILE.json keeps it"])


def _width(lines: Iterable[Line]) -> int:
    """Return the columns of labels, but for those that have their lines to themselves."""
    return 2 + max([LABEL, *(len(label) for label, _ in lines if len(label) <= LONGEST)])


def _head(said: Mapping[str, Any], defaults: Mapping[str, Any]) -> list[Line]:
    """Return what was asked and what came of it."""
    changed = {
        key: value
        for key, value in said["arguments"].items()
        if value not in (None, "") and value != defaults.get(key)
    }
    words = [
        f"{key}={value:g}" if isinstance(value, float) else f"{key}={value}"
        for key, value in changed.items()
    ]
    sizes = f"{coordinate_words(said['coordinates'])}, {said['variables']} variables, "
    sizes += f"{said['constraints']} constraints"
    solver = said["solver"]
    way = f"{solver['plugin']}, {solver['hessian']} Hessian, {solver['dynamics']}, "
    way += f"derivatives {solver['derivatives']}"
    return [
        ("problem", " ".join([said["problem"], *words])),
        ("status", f"{report.status_words(said)}, {said['iterations']} iterations"),
        *report.verdict_lines(said["verification"]),
        ("objective", _objective(said)),
        *_terms(said["objective_terms"]),
        ("duration", _duration(said)),
        *report.bound_lines(said["at_bounds"]),
        *[
            ("parameter", f"{name} {entry['value']:.9g} {entry['unit']}, {entry['how']}")
            for name, entry in said["parameters"].items()
        ][:ROOTS],
        *report.knot_lines(said["knots"], said["duration"]),
        ("solver", f"{way}, {solver['method']}"),
        (
            "size",
            f"{sizes}; build {said['build_seconds']:.3g} s, solve {said['solve_seconds']:.3g} s",
        ),
        *_rounds(said["refinement"]),
    ]


def _objective(said: Mapping[str, Any]) -> str:
    value, integral = said["objective"], said["integral"]
    if integral is None or abs(integral - value) <= SAME * abs(value):
        return f"{value:.9g}"
    return f"{value:.9g} (on a fine grid {integral:.9g})"


def _terms(terms: Mapping[str, Mapping[str, float]]) -> list[Line]:
    """Return the largest terms of an objective that has several."""
    if len(terms) < 2:
        return []
    size = {name: abs(entry["weight"] * entry["value"]) for name, entry in terms.items()}
    largest = sorted(terms, key=lambda name: -size[name])[:TERMS]
    return [
        (f"  {name}", f"{entry['value']:.9g}, weight {entry['weight']:g}")
        for name, entry in terms.items()
        if name in largest
    ]


def _duration(said: Mapping[str, Any]) -> str:
    parts = [f"{name} {phase['duration']:.5g}" for name, phase in said["phases"].items()]
    return f"{said['duration']:.9g} s" + (f": {', '.join(parts)}" if parts else "")


def _rounds(rounds: Sequence[Mapping[str, Any]]) -> list[Line]:
    if not rounds:
        return []
    last = rounds[-1]
    text = f"{len(rounds)} rounds, at last {last['points']} points, {last['nodes']} nodes, defect"
    return [("refined", f"{text} {last['defect']:.1e}")]


def _certified(said: Mapping[str, Any]) -> list[Line]:
    known = said["verification"]
    return [] if known is None else report.certificate_lines(known)


def _worst(violations: Mapping[str, Mapping[str, Any]]) -> list[Line]:
    """Return a table of the constraints that are violated most, relative to their bounds."""
    order = sorted(violations.values(), key=lambda entry: -entry["relative"])
    names = {id(entry): name for name, entry in violations.items()}
    far = [entry for entry in order if entry["relative"] > SILENT]
    if not far:
        return [("worst violation", f"none of {len(order)} above {SILENT:g} of its bound")]
    some = [entry for entry in far if entry["dense"] > 0][:WORST]
    units = max(len(entry["unit"]) for entry in some)
    rows = [
        (
            f"  {names[id(entry)]}",
            f"{entry['nodes']:8.2e}  {entry['dense']:8.2e}  {entry['unit']:<{units}}  "
            f"{entry['row']}, t = {entry['time']:.4g} s",
        )
        for entry in some
    ]
    count = f"{len(far)} of {len(order)} above {SILENT:g} of their bounds"
    return [("worst violation", f"at nodes  dense      {count}"), *rows]


def _published(published: Mapping[str, Mapping[str, Any]]) -> list[Line]:
    rows = []
    for name, entry in published.items():
        optimum = "" if entry["optimum"] is None else f", true optimum {entry['optimum']:g}"
        text = f"{name}: {entry['value']:g}, ours {entry['ours']:.6g}{optimum}; {entry['remark']}"
        rows.append(("published", text))
    return rows[:PRINTED]


def _split(line: str) -> Line:
    """Return label and text of a line in which they stand in columns."""
    columns = SPLIT.fullmatch(line)
    return (columns[1], columns[2]) if columns else (line, "")


def _laid(line: Line, width: int) -> list[str]:
    """Return a line as it is printed, its text in a column and broken where that ends."""
    label, text = line
    if len(label) > width - 2:
        return textwrap.wrap(f"{label}  {text}", columns(), subsequent_indent=" " * width)
    return textwrap.wrap(
        text,
        columns(),
        initial_indent=f"{label:<{width}}",
        subsequent_indent=" " * width,
        break_on_hyphens=False,
    ) or [label]


def columns() -> int:
    """Return how wide what is printed may be."""
    if sys.stdout is None or not sys.stdout.isatty():
        return COLUMNS
    return max(NARROWEST, shutil.get_terminal_size((COLUMNS, LINES)).columns)


def _shared(
    blocks: Sequence[Sequence[Sequence[str]]], least: Sequence[int], room: int
) -> list[int]:
    """Return how many entries of each block are shown: first the least, then what there is room
    for, in their order."""
    counts = [0] * len(blocks)
    for most in (least, [len(block) for block in blocks]):
        for k, block in enumerate(blocks):
            while counts[k] < min(len(block), most[k]) and len(block[counts[k]]) <= room:
                room -= len(block[counts[k]])
                counts[k] += 1
    return counts
