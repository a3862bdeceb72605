"""Differences between recorded curves and those of a program's variables, with derivatives."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import casadi as ca
import numpy as np

from ocp.estimation.recordings import Recording
from ocp.mechanics.values.types import Matrix
from ocp.problem.instant import Instant
from ocp.problem.statement import Problem
from ocp.spelling import suggestion
from ocp.transcription.parameters.curve_residuals import curve_residuals
from ocp.transcription.transcribe_phase import TranscribedPhase
from ocp.transcription.variables.layout import free_duration

COORDINATES = "q"  # name of a recording's coordinates among its curves
DURATION = "duration"  # and of its duration where that is free
ENDS = np.sqrt(1 / 6)  # of a sampling step: deviation of two ends, each uniform in one


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class MeasuredCurves:
    """Curves of a recording beside those of a program, `name` that of the recording.

    `functions` {curve: function(Instant)}; `measured` (m, N) and `weights` (m, N), 0 where nothing
    was measured, in the order of the functions' `rows` {curve: count}; `instants` (N,) are shares
    of the motion. `time` and `time_weight` are the measured duration (s), of weight 0 where the
    problem's is given.
    """

    name: str
    functions: Mapping[str, Callable[[Instant], Matrix]]
    rows: Mapping[str, int]
    measured: np.ndarray
    weights: np.ndarray
    instants: np.ndarray
    time: float
    time_weight: float

    @property
    def count(self) -> float:
        """Number of independent measurements."""
        return float(np.count_nonzero(self.weights)) + (self.time_weight > 0)

    def residuals(self, transcribed: TranscribedPhase) -> ca.Function:
        """Return the Function x -> (r (M,), dr/dx (M, variables)) of weighted differences."""
        return curve_residuals(
            transcribed,
            self.functions,
            self.instants,
            measured=self.measured,
            weights=self.weights,
            duration=(self.time, self.time_weight),
        )


def measured_curves(
    problem: Problem, recordings: Sequence[Recording]
) -> tuple[tuple[MeasuredCurves, ...], bool]:
    """Return the MeasuredCurves of recordings, and whether all their deviations are given.

    Where one is missing, each curve counts by its root mean square about the means of its rows,
    over all recordings.

    Raises:
        ValueError: naming a recording and an output that the problem does not have, rows that are
            not its coordinates, or a duration that is not that of the problem.
    """
    complete = all(_is_complete(each) for each in recordings)
    sizes = {} if complete else _typical_sizes(recordings)
    return tuple(_curves_of(problem, each, sizes) for each in recordings), complete


def curves_of(recording: Recording) -> dict[str, np.ndarray]:
    """Return {curve: (rows, N)} of all that was recorded, coordinates first."""
    own = {} if recording.q is None else {COORDINATES: recording.q}
    return {**own, **recording.outputs}


def _is_complete(recording: Recording) -> bool:
    known = recording.q is None or recording.encoder is not None
    return known and set(recording.outputs) <= set(recording.deviations)


def _typical_sizes(recordings: Sequence[Recording]) -> dict[str, float]:
    """Return {curve: root mean square about the means of its rows} over all recordings."""
    squares: dict[str, list[np.ndarray]] = {}
    for each in recordings:
        for name, rows in curves_of(each).items():
            off = rows - np.nanmean(rows, axis=1, keepdims=True)
            squares.setdefault(name, []).append(np.ravel(off**2))
    roots = {name: np.sqrt(np.nanmean(np.concatenate(all_of))) for name, all_of in squares.items()}
    return {name: float(root) if root > 0 else 1.0 for name, root in roots.items()}


def _curves_of(
    problem: Problem, recording: Recording, sizes: Mapping[str, float]
) -> MeasuredCurves:
    curves, tree = curves_of(recording), problem.tree
    if not curves:
        raise ValueError(f"{recording.name}: expected coordinates or outputs, got none")
    functions: dict[str, Callable[[Instant], Matrix]] = {}
    deviations = []
    for name, rows in curves.items():
        if name == COORDINATES:
            if len(rows) != tree.dof:
                raise ValueError(
                    f"{recording.name}: q: expected {tree.dof} rows, got {len(rows)}; of some "
                    "coordinates alone make an output of the problem"
                )
            functions[name], known = lambda at: at.q, recording.encoder
        elif name in problem.outputs:
            functions[name], known = problem.outputs[name], recording.deviations.get(name)
        else:
            raise ValueError(
                f"{recording.name}: output {name!r}: the problem has no such output"
                f"{suggestion(name, problem.outputs)}; it has "
                f"{', '.join(problem.outputs) or 'none'}"
            )
        deviations.append(np.full(len(rows), sizes[name]) if sizes else np.asarray(known))
    measured = np.concatenate(list(curves.values()))
    weights = np.sqrt(recording.shares) / np.concatenate(deviations)[:, None]
    there = np.isfinite(measured)
    steps = recording.duration / (len(recording.t) - 1)
    spread = recording.duration if sizes else ENDS * steps
    return MeasuredCurves(
        name=recording.name,
        functions=functions,
        rows={name: len(rows) for name, rows in curves.items()},
        measured=np.where(there, measured, 0.0),
        weights=np.where(there, weights, 0.0),
        instants=recording.instants,
        time=recording.duration,
        time_weight=1 / spread if free_duration(problem) else 0.0,
    )
