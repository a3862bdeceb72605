"""One page per figure: what the paper shows, drawn from our solutions, and how ours differs.

Above the drawing stand the source and a caption in our own words; below it what the paper prints,
what is ours, and what differs.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import wrap
from typing import Any

import numpy as np

from ocp import Solution
from ocp.certificate import violations
from ocp.plots import COLOURS, SMALL, TEXT, WIDTH, picture, snapshots, style

LINE = 0.135  # in: of the text
LETTERS = 130, 117  # of a line of the text above and below
MARGIN = 0.12  # in: above and below each text
FINE = "102 control points, bounds between the knots too"  # what stands behind coarser curves
PRINTED = "0.35"  # colour of what a paper prints
LEAST = 0.1  # of the range of a curve, by which a peak towers
Lines = Mapping[str, np.ndarray]


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A figure or table of a paper, drawn anew from our solutions.

    `name`: of the file, without suffix; `source`: paper and number there; `caption`: what is shown;
    `printed`: what the paper says of it; `draw(figure)`: draws it and returns what is ours, in
    words; `differs`: between ours and the printed; `height`: of the drawing (in).
    """

    name: str
    source: str
    caption: str
    printed: str
    draw: Callable[[Any], str]
    differs: str
    height: float = 3.4


def draw_page(page: Page, path: str | Path | None = None) -> tuple[Any, str]:
    """Return the page as a matplotlib Figure, and what is ours in words.

    It is written to `path`, if any. Raises ValueError naming a suffix that is no picture's.
    """
    head = wrap(page.caption, LETTERS[0])
    with picture(path, WIDTH, page.height) as figure:
        grid = figure.add_gridspec(3, 1)
        top, middle, bottom = (figure.add_subfigure(grid[row]) for row in range(3))
        ours = page.draw(middle)
        parts = {"printed": page.printed, "ours": ours, "differs": page.differs}
        said = {name: wrap(text, LETTERS[1]) for name, text in parts.items()}
        count = sum(map(len, said.values()))
        heights = [LINE * (len(head) + 1.2) + MARGIN, page.height, LINE * (count + 0.6) + MARGIN]
        grid.set_height_ratios(heights)
        figure.set_figheight(sum(heights))
        _write(top, heights[0], [(page.source, head)], beside=False)
        _write(bottom, heights[2], said.items(), beside=True)
    return figure, ours


def _write(
    part: Any, height: float, blocks: Iterable[tuple[str, Sequence[str]]], *, beside: bool
) -> None:
    """Write blocks of lines under or `beside` their bold names into a part of a page."""
    y = 1.0 - 0.5 * MARGIN / height
    look: dict[str, Any] = {"fontsize": SMALL + 0.5, "ha": "left", "va": "top"}
    for name, lines in blocks:
        size = TEXT + 1 if not beside else SMALL + 0.5
        part.text(0.015, y, name, **(look | {"fontsize": size, "fontweight": "bold"}))
        y -= 0.0 if beside else 1.25 * LINE / height
        for line in lines:
            part.text(0.095 if beside else 0.015, y, line, **look)
            y -= LINE / height
        y -= 0.15 * LINE / height


def curves(axes: Any, x: np.ndarray, lines: Lines, labels: Sequence[str], first: int = 0) -> None:
    """Draw named lines over x, dashes with colours, the axes labelled (x, y).

    `first`: which colour begins.
    """
    for k, (name, line) in enumerate(lines.items()):
        dash = ("-", (0, (5, 1.5)), (0, (1.5, 1)), (0, (5, 1.2, 1.2, 1.2)))[k % 4]
        colour = COLOURS[(first + k) % len(COLOURS)]
        axes.plot(x, line, color=colour, linestyle=dash, linewidth=1.4, label=name)
    style(axes, *labels)


def behind(
    axes: Any, x: np.ndarray, lines: Iterable[np.ndarray], label: str, dash: str = "-"
) -> None:
    """Draw lines of a dash faintly behind others, with one label for all."""
    look: dict[str, Any] = {"color": "0.68", "linewidth": 1.0, "linestyle": dash, "zorder": 1}
    for k, line in enumerate(lines):
        axes.plot(x, line, label="_" if k else label, **look)


def mark(axes: Any, value: float, label: str, *, across: bool = False) -> None:
    """Mark a printed value on the x axis, or on the y axis (`across`), with its label."""
    draw = axes.axhline if across else axes.axvline
    draw(value, color=PRINTED, linewidth=0.9, linestyle=(0, (3, 2)), zorder=1.5, label=label)


def bounds(axes: Any, limit: float = 10.0) -> None:
    """Draw the bounds of torques, of the same size up and down (N m)."""
    for bound in (-limit, limit):
        axes.axhline(bound, color="0.6", linewidth=0.8)


def legend(part: Any) -> None:
    """Add one legend of all axes below a part of a page, as many columns as fit."""
    handles: dict[str, Any] = {}
    for axes in part.axes:
        for handle, label in zip(*axes.get_legend_handles_labels()):
            handles.setdefault(label, handle)
    columns = max(1, int(WIDTH / (0.5 + 0.062 * max(map(len, handles)))))
    part.legend(
        handles.values(),
        handles,
        loc="outside lower center",
        ncols=min(columns, len(handles)),
        fontsize=SMALL,
        frameon=False,
        handlelength=2.6,
    )


def beside(ours: float, printed: float, unit: str, digits: int = 4) -> str:
    """Return ours in words beside a printed number."""
    share = 100 * (ours / printed - 1)
    return f"{ours:.{digits}f} {unit}, {share:+.2f} % from the printed {printed:g} {unit}"


def turns(t: np.ndarray, line: np.ndarray) -> str:
    """Return in words at which times (s) a curve changes its sign, between its ends."""
    k = np.flatnonzero((line[1:] >= 0) != (line[:-1] >= 0))
    times = t[k] - line[k] * (t[k + 1] - t[k]) / (line[k + 1] - line[k])
    return " and ".join(f"{time:.3f}" for time in times) + " s" if len(k) else "never"


def trajectory(part: Any, solution: Solution, count: int = 9, sides: float = 0.4) -> Any:
    """Draw a motion at `count` equal steps of time into a part of a page; return the axes.

    `sides`: width left free on either side, of that of the drawing.
    """
    grid = part.add_gridspec(1, 3, width_ratios=(sides, 1.0, sides))
    snapshots(part, grid[1], solution, count)
    return part.axes[0]


def excess(solution: Solution) -> str:
    """Return in words how far torques leave their bounds anywhere, on a dense grid."""
    worst = violations(solution)["torque_limits"]
    if worst.dense <= 1e-6:
        return "torques keep their bounds throughout"
    return f"between instants torques leave their bounds by up to {worst.dense:.2g} {worst.unit}"


def path_of_tip(figure: Any, answer: Callable[[], Solution]) -> str:
    """Draw the arm of a solution at equal steps of time, and return the way of its tip."""
    solution = answer()
    trajectory(figure, solution)
    return way_of(solution, "tip")


def way_of(solution: Solution, point: str) -> str:
    """Return in words where a point of a motion starts and ends, and how far it goes."""
    path = solution.trace(lambda at: at.position(point), solution.times(401))
    way = np.linalg.norm(np.diff(path, axis=1), axis=0).sum()
    (x0, y0, z0), (x1, y1, z1) = path[:, 0] + 0.0, path[:, -1] + 0.0
    return (
        f"the {point} goes {way:.3f} m from ({x0:.3f}, {y0:.3f}, {z0:.3f}) to "
        f"({x1:.3f}, {y1:.3f}, {z1:.3f}) m in {solution.duration:.4f} s"
    )


def peaks(line: np.ndarray) -> int:
    """Return the number of maxima of a curve, at its ends too, that tower by LEAST of its range."""
    least, count, rising, extreme = LEAST * np.ptp(line), 0, True, line[0]
    for value in line:
        if (value > extreme) == rising:
            extreme = value
        elif abs(value - extreme) >= least:
            count, rising, extreme = count + rising, not rising, value
    return count + rising
