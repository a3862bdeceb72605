"""Tables over time: columns with labels and units."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from os import PathLike
from types import MappingProxyType

import numpy as np

from ocp.interchange.tables.units import in_si
from ocp.mechanics.values.types import Numbers
from ocp.mechanics.values.validation import check_type, describe_value, set_fields
from ocp.pickling import portable


@portable
@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Table:
    """Columns over time: times `t` (N,) in s, `labels` (m,), `values` (m, N), nan where missing.

    `units` (m,) are SI and radians, "" where none is known; other known units are converted.
    `degrees` tells that turns among the columns without a unit are in degrees. `header` {word:
    text}
    is what else the file says, `source` the file, `lines` (N,) that of each row, both named in
    errors. Raises ValueError naming file, line and column for times that do not increase, labels
    used twice and units that are not known.
    """

    t: Numbers
    labels: Sequence[str]
    values: Numbers
    units: Sequence[str] = ()
    degrees: bool = False
    header: Mapping[str, str] = field(default_factory=dict)
    source: str = "table"
    lines: Sequence[int] = ()

    def __post_init__(self) -> None:
        what = check_type("table: source", self.source, str)
        labels = tuple(check_type(f"{what}: label", label, str) for label in self.labels)
        t = np.array(self.t, dtype=float)
        values = np.array(self.values, dtype=float).reshape(len(labels), -1)
        if values.shape != (len(labels), len(t)):
            raise ValueError(
                f"{what}: expected values ({len(labels)}, {len(t)}), a row for each label and a "
                f"column for each time, got {np.shape(self.values)}"
            )
        twice = next((label for label in labels if labels.count(label) > 1), None)
        if twice is not None:
            raise ValueError(f"{what}: column {twice!r}: the label is used twice")
        units = tuple(self.units) or ("",) * len(labels)
        if len(units) != len(labels):
            raise ValueError(f"{what}: expected {len(labels)} units, got {len(units)}")
        lines = tuple(self.lines) or tuple(range(1, len(t) + 1))
        names, values = _values_in_si(what, labels, units, values, lines)
        _check_times(what, t, lines)
        for array in (t, values):
            array.setflags(write=False)
        set_fields(self, t=t, labels=labels, values=values, units=names, lines=lines)
        set_fields(self, header=MappingProxyType(dict(self.header)))

    def __repr__(self) -> str:
        shown = ", ".join(self.labels[:4]) + (", ..." if len(self.labels) > 4 else "")
        return f"Table({self.source!r}: {len(self.t)} times, {len(self.labels)} columns: {shown})"

    def column(self, label: str) -> np.ndarray:
        """Return the values (N,) of a column; raise ValueError listing them if there is none."""
        if label not in self.labels:
            raise ValueError(f"{self.source}: no column {label!r}; it has {', '.join(self.labels)}")
        return self.values[self.labels.index(label)]

    def only(self, labels: Sequence[str]) -> "Table":
        """Return the table of these columns alone, in this order; raise ValueError as `column`."""
        values = [self.column(label) for label in labels]
        units = [self.units[self.labels.index(label)] for label in labels]
        return replace(self, labels=tuple(labels), values=values, units=tuple(units))


def check_table(what: str, table: object) -> None:
    """Raise ValueError where `what` wants a Table and was given anything else, as a path."""
    if not isinstance(table, Table):
        path = isinstance(table, str | PathLike)
        hint = f"; read_table({str(table)!r}) reads one" if path else ""
        raise ValueError(f"{what}: expected a Table, got {describe_value(table)}{hint}")


def _values_in_si(
    what: str, labels: Sequence[str], units: Sequence[str], values: np.ndarray, lines: Sequence[int]
) -> tuple[tuple[str, ...], np.ndarray]:
    """Return the names of the units in SI, and the values in these."""
    names = []
    for row, (label, unit) in enumerate(zip(labels, units)):
        try:
            name, factor = in_si(unit)
        except ValueError as error:
            raise ValueError(f"{what}: column {label!r}: {error}") from None
        names.append(name)
        values[row] *= factor
        endless = np.flatnonzero(np.isinf(values[row]))
        if len(endless):
            raise ValueError(
                f"{what}: line {lines[endless[0]]}, column {label!r}: expected a finite number, or "
                f"none, got {values[row, endless[0]]}"
            )
    return tuple(names), values


def _check_times(what: str, t: np.ndarray, lines: Sequence[int]) -> None:
    if not len(t):
        raise ValueError(f"{what}: expected rows of numbers, got none")
    bad = np.flatnonzero(~np.isfinite(t))
    if len(bad):
        raise ValueError(f"{what}: line {lines[bad[0]]}: time: expected a number, got {t[bad[0]]}")
    back = np.flatnonzero(np.diff(t) <= 0)
    if len(back):
        k = int(back[0])
        raise ValueError(
            f"{what}: line {lines[k + 1]}: time: {t[k + 1]:g} s does not come after {t[k]:g} s "
            f"of line {lines[k]}"
        )
