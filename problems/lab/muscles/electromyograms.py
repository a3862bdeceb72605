"""Electromyograms beside a trial: envelopes of muscles, by the columns of a table."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from ocp import Series
from ocp.interchange import Table
from ocp.spelling import suggestion

WEIGHT = 10.0  # of differences from envelopes beside squared activations [assumed]
# The largest envelope that is one of activations: more than twice the reference contraction is
# told of no muscle in walking, while millivolts and per cent go far beyond [assumed]
LARGEST = 2.0
# Of the highest value: filters of envelopes ring below nought by less, raw signals by as much
# [assumed]
RINGING = 0.1
Columns = Mapping[str, Sequence[str]]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Electromyograms:
    """Envelopes of muscles, in units of activation.

    Attributes:
        envelopes: {muscle: (N,)}, one where the muscle would be fully active; nan where unknown.
        weight: of the squared differences beside the squared activations.
        source: where they come from, for messages.
    """

    envelopes: Mapping[str, np.ndarray]
    weight: float = WEIGHT
    source: str = "emg"

    def rows(self, names: Sequence[str], count: int) -> np.ndarray:
        """Return the envelopes of muscles (count, m), nan where there is none.

        Args:
            names: of all muscles (m).
            count: of times.

        Raises:
            ValueError: an envelope of no muscle, of other times or below 0; a weight of no sense.
        """
        rows = np.full((count, len(names)), np.nan)
        if not 0 < self.weight < np.inf:
            raise ValueError(
                f"{self.source}: weight: expected a number above 0, got {self.weight!r}"
            )
        for name, envelope in self.envelopes.items():
            if name not in names:
                raise ValueError(
                    f"{self.source}: the model has no muscle {name!r}{suggestion(name, names)}; it "
                    f"has {', '.join(names)}"
                )
            if np.shape(envelope) != (count,):
                raise ValueError(
                    f"{self.source}: {name}: expected ({count},), got {np.shape(envelope)}"
                )
            if np.nanmin(envelope, initial=0.0) < 0:
                raise ValueError(f"{self.source}: {name}: expected an envelope, of at least 0")
            rows[:, names.index(name)] = envelope
        return rows


def electromyograms(table: Table, columns: Columns = MappingProxyType({})) -> Series:
    """Return the envelopes {muscle: (1, N)} of a table in units of activation.

    What filters leave a little below nought counts as nought.

    Args:
        table: a column for each muscle, or for several that one electrode sees.
        columns: {column: names of the model's muscles, none to leave it out} where names differ.

    Raises:
        ValueError: a column that the table does not have, a muscle of two columns; raw signals,
            which are negative half of the time, or other units.
    """
    for column in columns:
        if column not in table.labels:
            raise ValueError(
                f"{table.source}: no column {column!r}{suggestion(column, table.labels)}; they are "
                f"{', '.join(table.labels)}"
            )
    found: dict[str, np.ndarray] = {}
    for label, values in zip(table.labels, table.values):
        muscles = columns.get(label, (label,))
        if not muscles:
            continue
        lowest, highest = np.nanmin(values), np.nanmax(values)
        if lowest < -RINGING * max(highest, 0.0):
            raise ValueError(
                f"{table.source}: column {label!r}: expected an envelope of at least 0, got "
                f"{lowest:.3g} beside {highest:.3g}: rectify and filter the raw signal first"
            )
        if highest > LARGEST:
            raise ValueError(
                f"{table.source}: column {label!r}: expected units of activation (1: fully "
                f"active), got up to {highest:.3g}: divide by the value of a full contraction"
            )
        for muscle in muscles:
            if muscle in found:
                raise ValueError(f"{table.source}: muscle {muscle!r} has two columns")
            found[muscle] = np.maximum(values, 0.0)[None, :]
    return Series(t=table.t, values=found, source=table.source)


def envelopes_at(emg: Series, t: np.ndarray) -> Electromyograms:
    """Return the envelopes at times (N,) s, nan where none are known.

    Args:
        emg: {muscle: (1, M)} at times of their own.
        t: times of a trial.

    Raises:
        ValueError: no time of the trial is among theirs.
    """
    if emg.t[0] > t[-1] or emg.t[-1] < t[0]:
        raise ValueError(
            f"{emg.source}: electromyograms from {emg.t[0]:g} to {emg.t[-1]:g} s, markers from "
            f"{t[0]:g} to {t[-1]:g} s: no time in common"
        )
    rows = {name: row[0] for name, row in emg.at(t).items()}
    return Electromyograms(envelopes=rows, source=emg.source)
