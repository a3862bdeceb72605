"""Brief report of a run: the most telling lines of its report, in two columns on one screen."""

import re
import shutil
import sys
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ocp.cli.output.run_report import problem_line, published_lines
from ocp.report import report
from ocp.report.mechanism_report import coordinate_words
from ocp.report.muscle_report import muscle_lines
from ocp.solution.strength_reserves import closest_line, reserves_from_data
from ocp.studies.store.argument_flags import Arguments
from ocp.studies.task import Report

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


def brief(said: Report, defaults: Arguments, own: Iterable[str] = (), room: int = LINES) -> str:
    """Return a report as text, the last line of which names the flags for the rest.

    Args:
        said: the report, as `run_report.describe` returns it.
        defaults: of the problem's arguments, which are named where they are not these.
        own: lines of the problem itself.
        room: lines that the text takes at most.
    """
    room = max(room, ROOMY)
    certificate = said["verification"]
    sections = [
        Section(_head(said, defaults), room),
        Section([] if certificate is None else report.certificate_lines(certificate), 4),
        Section(_worst(said["violations"]), 3),
        Section(closest_line(reserves_from_data(said["reserves"])), 1),
        Section(muscle_lines(said["muscles"]), 3),
        Section([_split_columns(line) for line in own], OWN),
        Section([*published_lines(said)][:PRINTED], 2),
    ]
    every = [line for section in sections for line in section.lines]
    blocks = [[_wrap_line(line, _width(every)) for line in section.lines] for section in sections]
    counts = _share_lines(blocks, [section.least for section in sections], room - 1)
    chosen = [line for section, count in zip(sections, counts) for line in section.lines[:count]]
    shown = [part for line in chosen for part in _wrap_line(line, _width(chosen))]
    return "\n".join([*shown, "--details prints all, --report FILE.json keeps it"])


def _width(lines: Iterable[Line]) -> int:
    """Return the columns of labels, but for those that have their lines to themselves."""
    return 2 + max([LABEL, *(len(label) for label, _ in lines if len(label) <= LONGEST)])


def _head(said: Report, defaults: Arguments) -> list[Line]:
    """Return the lines of the problem, the solver and the result."""
    value, integral = said["objective"], said["integral"]
    objective = f"{value:.9g}"
    if integral is not None and abs(integral - value) > SAME * abs(value):
        objective += f" (on a fine grid {integral:.9g})"
    parts = [f"{name} {phase['duration']:.5g}" for name, phase in said["phases"].items()]
    duration = f"{said['duration']:.9g} s" + (f": {', '.join(parts)}" if parts else "")
    sizes = f"{coordinate_words(said['coordinates'])}, {said['variables']} variables, "
    sizes += f"{said['constraints']} constraints"
    solver = said["solver"]
    way = f"{solver['plugin']}, {solver['hessian']} Hessian, {solver['dynamics']}, "
    way += f"derivatives {solver['derivatives']}"
    return [
        problem_line(said, defaults),
        ("status", f"{report.status_words(said)}, {said['iterations']} iterations"),
        *report.verdict_lines(said["verification"]),
        ("objective", objective),
        *_terms(said["objective_terms"]),
        ("duration", duration),
        *report.bound_lines(said["at_bounds"]),
        *report.limit_lines(said["beyond_limits"]),
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


def _rounds(rounds: Sequence[Report]) -> list[Line]:
    """Return the line of a refinement, if there was any."""
    if not rounds:
        return []
    last = rounds[-1]
    text = f"{len(rounds)} rounds, at last {last['points']} points, {last['nodes']} nodes, defect"
    return [("refined", f"{text} {last['defect']:.1e}")]


def _worst(violations: Mapping[str, Report]) -> list[Line]:
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


def _split_columns(line: str) -> Line:
    """Return label and text of a line in which they stand in columns."""
    columns = SPLIT.fullmatch(line)
    return (columns[1], columns[2]) if columns else (line, "")


def _wrap_line(line: Line, width: int) -> list[str]:
    """Return a line as it is printed, its text in a column of its own."""
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
    """Return the width of the printed text, in letters."""
    if sys.stdout is None or not sys.stdout.isatty():
        return COLUMNS
    return max(NARROWEST, shutil.get_terminal_size((COLUMNS, LINES)).columns)


def _share_lines(
    blocks: Sequence[Sequence[Sequence[str]]], least: Sequence[int], room: int
) -> list[int]:
    """Return the number of shown entries of each block: the least of all, then more in their
    order."""
    counts = [0] * len(blocks)
    for most in (least, [len(block) for block in blocks]):
        for k, block in enumerate(blocks):
            while counts[k] < min(len(block), most[k]) and len(block[counts[k]]) <= room:
                room -= len(block[counts[k]])
                counts[k] += 1
    return counts
