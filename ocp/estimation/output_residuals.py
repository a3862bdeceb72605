"""Residuals between recorded outputs and a problem's outputs, and their noise."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np

from ocp.dynamics.formulation_record import Formulation
from ocp.estimation.recordings import Recording
from ocp.estimation.smoothing import SoughtMotion, smoothing_problem
from ocp.mechanics.values.parameters import Parameter, parameters_of
from ocp.problem.statement import Problem
from ocp.solving.parameter_values import values_of
from ocp.spelling import suggestion
from ocp.transcription.kernels.parameter_outputs import (
    OutputFunctions,
    Stretch,
    output_functions,
    stack_motion,
)

FLOOR = 1e-10  # of the range of an output: no deviation is estimated below it


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Trials:
    """Recordings of a problem, ready to be compared with it at any numbers of its parameters.

    Of each recording its motion in `stretches`, or `sought` where it was measured with noise, what
    was `measured` (m, N), nan where nothing was,
    and the `known` deviations (m,) of its noise, nan where none is given. `free` are the parameters
    sought, which compare by their `sizes` (P,), `start` {parameter: number} all.
    """

    seen: OutputFunctions
    recordings: tuple[Recording, ...]
    stretches: tuple[Stretch, ...]
    sought: tuple[SoughtMotion | None, ...]
    measured: tuple[np.ndarray, ...]
    known: tuple[np.ndarray, ...]
    free: tuple[Parameter, ...]
    start: Mapping[Parameter, float]
    sizes: np.ndarray

    @property
    def first(self) -> np.ndarray:
        """The numbers (P,) at which the search starts."""
        return np.array([self.start[each] for each in self.free])

    @property
    def bounds(self) -> tuple[np.ndarray, np.ndarray]:
        """Lower and upper bounds (P,) of the parameters sought."""
        lower, upper = zip(*((each.lower, each.upper) for each in self.free))
        return np.array(lower), np.array(upper)

    @property
    def complete(self) -> bool:
        """Tell whether the deviations of all noise are given."""
        return not any(np.isnan(known).any() for known in self.known)

    def numbers(self, x: np.ndarray) -> np.ndarray:
        """Return the numbers of all parameters of the outputs, x (P,) of those sought."""
        values = {**self.start, **dict(zip(self.free, x.tolist()))}
        return np.array([values[each] for each in self.seen.parameters])

    def residuals(
        self, x: np.ndarray, deviations: Sequence[np.ndarray]
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return residuals over `deviations` (m,) of each recording, (M,), and slopes (M, P)."""
        parts = [self._residuals(k, x, each) for k, each in enumerate(deviations)]
        return np.concatenate([off for off, _ in parts]), np.concatenate([by for _, by in parts])

    def _residuals(
        self, k: int, x: np.ndarray, deviations: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the residuals and slopes of a recording."""
        weights, course = self._weights(k, deviations), self.sought[k]
        if course is not None:
            return course.eliminate_points(self.fit_points(k, x, deviations)[1])
        values, slopes, _ = self.seen.slopes(self.free)(self.stretches[k], self.numbers(x))
        there = weights > 0
        off = (values - self.measured[k])[there] * weights[there]
        return off, slopes.transpose(0, 2, 1)[there] * weights[there][:, None]

    def _weights(self, k: int, deviations: np.ndarray) -> np.ndarray:
        """Return the weights (m, N) of residuals of a recording, 0 where nothing was measured."""
        weights = np.sqrt(self.recordings[k].shares) / deviations[:, None]
        return np.where(np.isfinite(self.measured[k]), weights, 0.0)

    def fit_points(
        self, k: int, x: np.ndarray, deviations: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the points of a motion that is sought, and the triangle that is left of them."""
        return cast(SoughtMotion, self.sought[k]).fit_points(
            self.seen.slopes_of_motion(self.free),
            self.numbers(x),
            self.measured[k],
            self._weights(k, deviations),
        )

    def by_name(self, rows: np.ndarray) -> dict[str, np.ndarray]:
        """Return {output: its rows} of all rows (m, ..)."""
        ends = np.cumsum(list(self.seen.sizes.values()))[:-1]
        return dict(zip(self.seen.sizes, np.split(rows, ends)))


def sample_count(data: Trials) -> float:
    """Return the number of independent measurements beyond that of control points to be found."""
    outputs = (
        (np.isfinite(measured) * recording.shares).sum()
        for measured, recording in zip(data.measured, data.recordings)
    )
    return float(sum(outputs) + sum(each.freedom for each in data.sought if each is not None))


def output_residuals(
    data: Trials, x: np.ndarray, deviations: Sequence[np.ndarray]
) -> list[np.ndarray]:
    """Return measured less predicted (m, N) of each recording, nan where nothing was."""
    numbers, rows = data.numbers(x), []
    for k, (motion, course) in enumerate(zip(data.stretches, data.sought)):
        if course is not None:
            motion = course.stretch(data.fit_points(k, x, deviations[k])[0])
        rows.append(data.measured[k] - data.seen.values(motion, numbers))
    return rows


def output_ranges(data: Trials) -> np.ndarray:
    """Return the largest range of an output's rows over all recordings, for each row (m,).

    It is 1 where none changes.
    """
    rows = [row[np.isfinite(row)] for row in np.concatenate(data.measured, axis=1)]
    sizes = np.array([np.ptp(row) if len(row) else 0.0 for row in rows])
    largest = [each.max() * np.ones(len(each)) for each in data.by_name(sizes).values()]
    return np.where(np.concatenate(largest) > 0, np.concatenate(largest), 1.0)


def estimate_deviations(
    data: Trials, x: np.ndarray, deviations: Sequence[np.ndarray]
) -> np.ndarray:
    """Return the deviations (m,) of the noise, those of the residuals, from ones before.

    They are of the recordings that tell none; each of the parameters sought costs one of all
    samples.
    """
    squares, counts = np.zeros(len(data.known[0])), np.zeros(len(data.known[0]))
    every = output_residuals(data, x, deviations)
    for each, known, recording in zip(every, data.known, data.recordings):
        there = np.isfinite(each) & np.isnan(known)[:, None]
        squares += np.where(there, each**2 * recording.shares, 0.0).sum(axis=1)
        counts += (there * recording.shares).sum(axis=1)
    left = max(1 - len(x) / max(counts.sum(), 1.0), FLOOR)
    spread = np.sqrt(squares / np.maximum(counts * left, FLOOR))
    return np.maximum(spread, FLOOR * output_ranges(data))


def trials(
    problem: Problem,
    formulation: Formulation,
    recordings: tuple[Recording, ...],
    free: Sequence[str],
    values: Mapping[str, float],
) -> Trials:
    """Return the Trials of recordings, and of the parameters named in `free` or born so.

    Raises ValueError naming the parameter, the recording or the output.
    """
    if not recordings:
        raise ValueError("recordings: expected one or more, got none")
    names = dict.fromkeys(name for recording in recordings for name in recording.outputs)
    if not names:
        raise ValueError(f"{recordings[0].name}: no output was recorded")
    seen = output_functions(problem, formulation, tuple(names))
    chosen, start = _sought_parameters(all_parameters(problem, seen), free, values)
    return Trials(
        seen=seen,
        recordings=recordings,
        stretches=tuple(recorded_motion(problem, each) for each in recordings),
        sought=tuple(
            None if each.encoder is None else smoothing_problem(each) for each in recordings
        ),
        measured=tuple(_measured_rows(seen, each) for each in recordings),
        known=tuple(_given_deviations(seen, each) for each in recordings),
        free=chosen,
        start=start,
        sizes=np.array([_size(each, start[each]) for each in chosen]),
    )


def all_parameters(problem: Problem, seen: OutputFunctions) -> tuple[Parameter, ...]:
    """Return all parameters of a problem and of its outputs.

    Raises ValueError for a name that two of them have.
    """
    known = tuple(dict.fromkeys((*parameters_of(problem), *seen.parameters)))
    names = [each.name for each in known]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"parameter {name!r}: two parameters have this name")
    return known


def recorded_motion(problem: Problem, recording: Recording) -> Stretch:
    """Return the motion of a recording as functions of it take it.

    Raises ValueError for coordinates that are not the problem's.
    """
    n = problem.tree.dof
    if recording.q is None:
        raise ValueError(f"{recording.name}: q: expected the motion's coordinates, got None")
    if len(recording.q) != n:
        names = ", ".join(joint.name for joint in problem.tree.moving)
        raise ValueError(
            f"{recording.name}: q: expected {n} rows ({names:.200}), got {len(recording.q)}"
        )
    return stack_motion(recording.instants, recording.duration, recording.curve())


def _sought_parameters(
    known: tuple[Parameter, ...], free: Sequence[str], values: Mapping[str, float]
) -> tuple[tuple[Parameter, ...], dict[Parameter, float]]:
    """Return the parameters sought, and the numbers of all at the start."""
    if isinstance(free, str):
        raise ValueError(f"free: expected a tuple of names, got {free!r}")
    names = [each.name for each in known]
    for name in (*free, *values):
        if name not in names:
            raise ValueError(
                f"parameter {name!r}: the recorded outputs have no such parameter"
                f"{suggestion(name, names)}; they have {', '.join(names) or 'none'}"
            )
    chosen = tuple(each for each in known if each.free or each.name in free)
    if not chosen:
        raise ValueError(
            f"free: no parameter is sought; the outputs have {', '.join(names) or 'none'}"
        )
    return chosen, values_of(known, values)


def _measured_rows(seen: OutputFunctions, recording: Recording) -> np.ndarray:
    """Return all rows (m, N), nan where nothing was measured."""
    rows = []
    for name, size in seen.sizes.items():
        values = recording.outputs.get(name, np.full((size, len(recording.t)), np.nan))
        if len(values) != size:
            raise ValueError(
                f"{recording.name}: output {name!r}: expected {size} rows, got {len(values)}"
            )
        rows.append(values)
    return np.vstack(rows)


def _given_deviations(seen: OutputFunctions, recording: Recording) -> np.ndarray:
    """Return the deviations (m,) that are given, nan where none is, 1 of what was not measured."""
    parts = []
    for name, size in seen.sizes.items():
        missing = 1.0 if name not in recording.outputs else np.nan
        parts.append(recording.deviations.get(name, np.full(size, missing)))
    return np.concatenate(parts)


def _size(parameter: Parameter, value: float) -> float:
    """Return the scale of a parameter: its value, its range, or 1."""
    span = parameter.upper - parameter.lower
    return abs(value) or (span if np.isfinite(span) and span > 0 else 1.0)
