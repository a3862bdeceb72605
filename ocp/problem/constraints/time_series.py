"""Measured time series: samples as they came, and smooth curves through them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from math import inf
from types import MappingProxyType

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from ocp.mechanics.values.types import Matrix, Numbers
from ocp.mechanics.values.validation import check_type, is_rotation, numbers, set_fields
from ocp.motion import cross_validate, fit_samples
from ocp.pickling import portable
from ocp.spelling import suggest_fields, suggestion

DEGREE = 3  # of curves: what is tracked has continuous second derivatives
FEWEST = DEGREE + 2  # samples


@portable
@suggest_fields
@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Series:
    """What was measured of several things: times `t` (N,) in s, `values` {name: (rows, N)} in SI
    units, nan where one was not measured.

    A sample of which one row is missing is missing as a whole. `source` is named in errors, as a
    file that it came from. Raises ValueError for times out of order, sizes that do not fit, and
    for a name of which no sample was measured.
    """

    t: Numbers
    values: Mapping[str, Numbers]
    source: str = "series"

    def __post_init__(self) -> None:
        what = check_type("series: source", self.source, str)
        t = _floats(f"{what}: t", self.t)
        if t.ndim != 1 or not np.isfinite(t).all() or (np.diff(t) <= 0).any():
            raise ValueError(f"{what}: t: expected times (s), each after the last")
        if len(t) < FEWEST:
            raise ValueError(f"{what}: t: expected {FEWEST} or more times (s), got {len(t)}")
        values = {
            check_type(f"{what}: name", name, str): _rows(f"{what}: {name!r}", rows, len(t))
            for name, rows in check_type(f"{what}: values", self.values, Mapping).items()
        }
        if not values:
            raise ValueError(f"{what}: expected at least one thing that was measured, got none")
        set_fields(self, t=t, values=MappingProxyType(values))

    def __repr__(self) -> str:
        span = f"{len(self.t)} times from {self.t[0]:g} to {self.t[-1]:g} s"
        return f"Series({self.source!r}: {span}; {', '.join(self.values)})"

    def only(self, names: Sequence[str]) -> "Series":
        """Return the series of these names alone, in this order.

        Raises ValueError naming an unknown one.
        """
        if isinstance(names, str):
            raise ValueError(f"{self.source}: only: expected a list of names, got {names!r}")
        unknown = [name for name in names if name not in self.values]
        if unknown:
            raise ValueError(
                f"{self.source}: {unknown[0]!r}: not measured"
                f"{suggestion(unknown[0], self.values)}; it has {', '.join(self.values)}"
            )
        return replace(self, values={name: self.values[name] for name in names})

    def between(self, start: float, end: float) -> "Series":
        """Return the samples from `start` to `end` (s), both among them.

        Raises ValueError where there are too few.
        """
        inside = (self.t >= start) & (self.t <= end)
        if inside.sum() < FEWEST:
            raise ValueError(
                f"{self.source}: expected {FEWEST} or more samples from {start:g} to {end:g} s, "
                f"got {inside.sum()} of those from {self.t[0]:g} to {self.t[-1]:g} s"
            )
        values = {name: rows[:, inside] for name, rows in self.values.items()}
        return replace(self, t=self.t[inside], values=values)

    def rotate(self, rotation: Numbers) -> "Series":
        """Return the series in other axes: vectors (3, N), and wrenches (6, N), times a rotation
        (3, 3), as from axes with z up to those with y up.

        Raises ValueError for what is no rotation, and for things of other rows.
        """
        turn = numbers(f"{self.source}: rotation", rotation, (3, 3))
        if not is_rotation(turn):
            raise ValueError(
                f"{self.source}: rotation: expected a matrix that turns and does not mirror, got "
                f"{turn.tolist()}"
            )
        odd = [name for name, rows in self.values.items() if len(rows) not in (3, 6)]
        if odd:
            raise ValueError(
                f"{self.source}: {odd[0]!r}: expected 3 or 6 rows, got {len(self.values[odd[0]])}"
            )
        values = {
            name: np.vstack([turn @ part for part in np.split(rows, len(rows) // 3)])
            for name, rows in self.values.items()
        }
        return replace(self, values=values)

    def at(self, t: np.ndarray) -> dict[str, np.ndarray]:
        """Return {name: (rows, M)} at times (M,), straight between samples; nan in gaps and beyond
        the ends.

        Of samples that follow quicker than these times, those within half a step to either side
        are averaged.
        """
        t = np.asarray(t, dtype=float)
        width = float(np.median(np.diff(t))) if len(t) > 1 else 0.0
        averaged = width > 1.5 * float(np.median(np.diff(self.t)))
        if not averaged:
            return {name: _straight(self.t, rows, t) for name, rows in self.values.items()}
        return {name: _means(self.t, rows, t, width) for name, rows in self.values.items()}

    def gaps(self, name: str) -> tuple[tuple[float, float], ...]:
        """Return the open intervals (s) in which a thing was not measured: from the last sample
        before to the first one after, infinite at the ends."""
        missing = np.isnan(self.values[name]).any(axis=0)
        edges = np.diff(np.concatenate([[0], missing.astype(int), [0]]))
        times = np.concatenate([[-inf], self.t, [inf]])
        starts, ends = np.flatnonzero(edges == 1), np.flatnonzero(edges == -1)
        return tuple((float(times[a]), float(times[b + 1])) for a, b in zip(starts, ends))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Curves:
    """Smooth curves through a series: cubic B-splines on equal segments of `step` (s) from `start`
    (s) on, with `coefficients` (rows, points); `missing` lists (rows, start, end) of gaps."""

    start: float
    step: float
    coefficients: np.ndarray
    missing: tuple[tuple[tuple[int, ...], float, float], ...]

    @property
    def end(self) -> float:
        """The time of the last sample (s)."""
        return self.start + (self.coefficients.shape[1] - DEGREE) * self.step

    def at(self, t: Matrix) -> Matrix:
        """Return the curves' values (rows,) at a time (s), a number or an expression.

        Before the first sample and after the last one they are as there. Every basis function is
        the cardinal spline (max(0, 2 - |x|)^3 - 4 max(0, 1 - |x|)^3) / 6   (Schoenberg 1946).
        """
        count = self.coefficients.shape[1]
        u = ca.fmin(ca.fmax((t - self.start) / self.step, 0), count - DEGREE)
        basis = []
        for k in range(count):
            away = ca.fabs(u - (k - 1))
            wide, narrow = ca.fmax(0, 2 - away), ca.fmax(0, 1 - away)
            basis.append((wide * wide * wide - 4 * narrow * narrow * narrow) / 6)
        return ca.DM(self.coefficients) @ ca.vertcat(*basis)

    def is_measured(self, t: Matrix) -> Matrix:
        """Return (rows,) 1 where something was measured at a time (s), 0 in its gaps."""
        there: list[Matrix] = [1.0] * len(self.coefficients)
        for rows, start, end in self.missing:
            inside = ca.logic_and(t > start, t < end)
            for row in rows:
                there[row] = there[row] - inside
        return ca.vertcat(*there)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class SampleTable:
    """Values (rows, N) at times `t` (N,) s, and nothing between: what the terms of an objective
    look up at its samples."""

    t: np.ndarray
    values: np.ndarray

    def at(self, time: Matrix) -> Matrix:
        """Return the values (rows,) at the time of a sample (s), an expression."""
        apart = float(np.diff(self.t).min()) if len(self.t) > 1 else 1.0
        near = (ca.fmax(0, 1 - ca.fabs(time - each) / apart) for each in self.t.tolist())
        return ca.DM(self.values) @ ca.vertcat(*near)


@lru_cache(maxsize=16)
def curves(series: Series) -> Curves:
    """Return the Curves nearest to all rows of a series, one name after the other.

    How many segments they have is found by generalised cross-validation.
    """
    rows = np.vstack(list(series.values.values()))
    span = float(series.t[-1] - series.t[0])
    s = (series.t - series.t[0]) / span
    basis = cross_validate(s, rows, DEGREE, clamped=False)
    missing = tuple(_row_gaps(series))
    return Curves(
        start=float(series.t[0]),
        step=span / basis.segments,
        coefficients=fit_samples(basis, s, rows),
        missing=missing,
    )


def _row_gaps(series: Series) -> Iterator[tuple[tuple[int, ...], float, float]]:
    first = 0
    for name, rows in series.values.items():
        numbers = tuple(range(first, first + len(rows)))
        yield from ((numbers, start, end) for start, end in series.gaps(name))
        first += len(rows)


def _straight(t: np.ndarray, rows: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Return rows (rows, M) at the wanted times; nan where a neighbour is missing or none is."""
    before = np.clip(np.searchsorted(t, wanted, side="right") - 1, 0, len(t) - 2)
    share = (wanted - t[before]) / (t[before + 1] - t[before])
    exact = np.abs(share - np.round(share)) < 1e-9
    share = np.where(exact, np.round(share), share)
    left, right = rows[:, before], rows[:, before + 1]
    values = np.where(share == 0, left, np.where(share == 1, right, left + share * (right - left)))
    return np.where((share < 0) | (share > 1), np.nan, values)


def _means(t: np.ndarray, rows: np.ndarray, wanted: np.ndarray, width: float) -> np.ndarray:
    """Return the means (rows, M) of samples within half a width of the wanted times."""
    means = np.full((len(rows), len(wanted)), np.nan)
    for k, time in enumerate(wanted):
        near = np.abs(t - time) <= width / 2 * (1 + 1e-9)
        if near.any() and t[0] - 1e-9 <= time <= t[-1] + 1e-9:
            means[:, k] = rows[:, near].mean(axis=1)
    return means


def _floats(what: str, value: ArrayLike) -> np.ndarray:
    try:
        array = np.array(value, dtype=float)
    except (TypeError, ValueError):
        raise ValueError(f"{what}: expected numbers, got {value!r:.80}") from None
    array.setflags(write=False)
    return array


def _rows(what: str, value: ArrayLike, count: int) -> np.ndarray:
    rows = np.atleast_2d(_floats(what, value))
    if rows.ndim != 2 or rows.shape[1] != count:
        raise ValueError(
            f"{what}: expected (rows, {count}), a column for each time, got {rows.shape}"
        )
    if np.isinf(rows).any():
        raise ValueError(f"{what}: expected finite numbers, or nan where nothing was measured")
    whole = np.where(np.isnan(rows).any(axis=0), np.nan, rows)
    if np.isnan(whole).all():
        raise ValueError(f"{what}: all {count} samples are missing")
    whole.setflags(write=False)
    return whole
