"""Motions of phases on one axis of time: their curves in pieces, and where one phase ends."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING

import numpy as np

from ocp.motion import sample
from ocp.plots.canvas import SMALL
from ocp.solution.solution import Solution

if TYPE_CHECKING:
    from matplotlib.axes import Axes

STEPS = 200  # of a curve
CLEAR = 0.016  # of the axis: what a letter of a phase's name takes
TRACE = Callable[[Solution, np.ndarray], np.ndarray]


@dataclass(frozen=True, slots=True)
class Piece:
    """A phase, or a whole motion without any: its `name`, and when it begins (s)."""

    name: str
    motion: Solution
    begin: float

    @property
    def end(self) -> float:
        """When it ends (s)."""
        return self.begin + self.motion.duration


def pieces(solution: Solution) -> Iterator[Piece]:
    """Yield the phases of a motion in time, or the motion itself."""
    begin = 0.0
    for name, motion in solution.parts.items():
        yield Piece(name, motion, begin)
        begin += motion.duration


def piece_mask(piece: Piece, solution: Solution, t: np.ndarray) -> np.ndarray:
    """Return which times (N,), s, of a motion are a piece's; where two meet, the later one's."""
    last = piece.end >= solution.duration * (1 - 1e-12)
    return (piece.begin <= t) & ((t < piece.end) | last)


def curve(solution: Solution, trace: TRACE) -> tuple[np.ndarray, np.ndarray]:
    """Return times (N,), s, that hit the knots, and values (m, N) of trace(motion, its own times).

    Between phases is a gap, not a number, so that what jumps there is not joined.
    """
    parts = list(pieces(solution))
    segments = sum(each.motion.problem.motion.segments for each in parts)
    times: list[np.ndarray] = []
    values: list[np.ndarray] = []
    for each in parts:
        own = each.motion.duration * sample(each.motion.problem.motion, ceil(STEPS / segments))
        traced = np.atleast_2d(trace(each.motion, own))
        if times:
            times.append(np.array([each.begin]))
            values.append(np.full((len(traced), 1), np.nan))
        times.append(each.begin + own)
        values.append(traced)
    return np.concatenate(times), np.hstack(values)


def mark_ends(axes: Axes, solution: Solution, named: bool = False) -> None:
    """Draw the ends of phases, and if `named` their names above, in two rows where they are
    close."""
    parts = list(pieces(solution))
    if len(parts) < 2:
        return
    for each in parts[1:]:
        axes.axvline(each.begin, color="0.45", linewidth=0.8, linestyle=(0, (3, 2)), zorder=1)
    if named:
        for each, row in zip(parts, _rows(parts, solution.duration)):
            axes.annotate(
                each.name,
                ((each.begin + each.end) / 2, 1.0),
                (0, 3 + 8 * row),
                xycoords=axes.get_xaxis_transform(),
                textcoords="offset points",
                ha="center",
                va="bottom",
                fontsize=SMALL,
            )


def _rows(parts: Sequence[Piece], duration: float) -> list[int]:
    """Return in which row above the axes each name stands, so that none covers another."""
    free: list[float] = []
    rows = []
    for each in parts:
        half, middle = CLEAR * len(each.name) / 2, (each.begin + each.end) / 2 / duration
        row = next((k for k, far in enumerate(free) if far <= middle - half), len(free))
        free[row : row + 1] = [middle + half + CLEAR]
        rows.append(row)
    return rows
