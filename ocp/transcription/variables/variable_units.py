"""Units of kernel inputs: inputs that depend on the same variables.

So q, qd and qdd of a joint depend on its control points. Units of a kind are made of variables of
their own by the same numbers, a dense block of few instants and few variables after the other.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import casadi as ca
import numpy as np

from ocp.index_sets import distinct


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Kind:
    """How the `size` inputs of a unit follow from its variables, in runs of instants that know the
    same ones: `run` (N,) of every instant, `local` (runs, K) the variables that it knows among the
    unit's own, -1 for none, and `weight` (N, size, K)."""

    run: np.ndarray
    local: np.ndarray
    weight: np.ndarray

    @property
    def size(self) -> int:
        """The number of inputs of such a unit."""
        return self.weight.shape[1]

    def __repr__(self) -> str:
        return f"Kind({self.size} inputs, {len(self.local)} runs)"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Units:
    """The units of a kernel's inputs: of every input (width,) its `unit`, -1 where no variable
    makes it, and its `place` there; the `kind` (units,) of each among `kinds`, and its own
    `variables`."""

    unit: np.ndarray
    place: np.ndarray
    kind: np.ndarray
    kinds: tuple[Kind, ...]
    variables: tuple[np.ndarray, ...]

    def __repr__(self) -> str:
        return f"Units({len(self.variables)} units of {len(self.kinds)} kinds)"

    def variables_of(self, kind: int, members: np.ndarray) -> np.ndarray:
        """Return the variables (members, runs, K) that units of a kind know in its runs, -1 for
        none."""
        local = self.kinds[kind].local
        own = np.array([self.variables[unit] for unit in members])
        return np.hstack([own, np.full((len(own), 1), -1)])[:, local]


def units_of(matrix: ca.DM, width: int) -> Units:
    """Return the Units of the inputs that M (N * width, variables) makes."""
    line, variable = (np.array(index, dtype=int) for index in matrix.sparsity().get_triplet())
    value, count = np.array(matrix.nonzeros()), matrix.shape[0] // width
    instant, entry = np.divmod(line, width)
    unit = _number_units(entry, variable, width, matrix.shape[1])
    order = np.lexsort((variable, entry, instant, unit[entry]))
    instant, entry, variable, value = (each[order] for each in (instant, entry, variable, value))
    number = int(unit.max(initial=-1)) + 1
    ends = np.cumsum(np.bincount(unit[entry], minlength=number)).tolist()
    place, inputs = _within(unit, number)
    owner = np.full(matrix.shape[1], -1)
    owner[variable] = unit[entry]
    local, owned = _within(owner, number)
    places, locals_, kind = place[entry], local[variable], []
    kinds: dict[bytes, tuple[int, Kind]] = {}
    for first, last, made, known in zip([0, *ends], ends, inputs, owned):
        part = slice(first, last)
        parts = instant[part], places[part], locals_[part], value[part]
        key = b"".join(each.tobytes() for each in parts)
        if key not in kinds:
            kinds[key] = len(kinds), _kind(*parts, (count, len(made), len(known)))
        kind.append(kinds[key][0])
    return Units(
        unit=unit,
        place=place,
        kind=np.array(kind, dtype=int),
        kinds=tuple(each for _, each in kinds.values()),
        variables=tuple(owned),
    )


def _within(unit: np.ndarray, count: int) -> tuple[np.ndarray, list[np.ndarray]]:
    """Return the place of everything within its unit (of -1 for none: -1), and what each of the
    `count` units has, in order."""
    order = np.argsort(unit, kind="stable")[np.count_nonzero(unit < 0) :]
    sizes = np.bincount(unit[order], minlength=count)
    starts = np.cumsum(sizes) - sizes
    place = np.full(len(unit), -1)
    place[order] = np.arange(len(order)) - np.repeat(starts, sizes)
    return place, np.split(order, starts[1:]) if count else []


def _number_units(entry: np.ndarray, variable: np.ndarray, width: int, size: int) -> np.ndarray:
    """Return the number of the unit of every input (width,), -1 where no variable makes it; inputs
    and variables are joined by what of M is not zero."""
    leader, least = np.arange(width), np.full(size, width)
    while True:
        np.minimum.at(least, variable, leader[entry])
        before = leader.copy()
        np.minimum.at(leader, entry, least[variable])
        if np.array_equal(leader, before):
            break
    unit, made = np.full(width, -1), distinct(entry)[0]
    unit[made] = distinct(leader[made])[1]
    return unit


def _kind(
    instant: np.ndarray,
    place: np.ndarray,
    local: np.ndarray,
    value: np.ndarray,
    shape: tuple[int, int, int],
) -> Kind:
    """Return the Kind of a unit's coefficients, given as triplets; `shape` is the number of
    instants, of inputs and of variables."""
    present = np.zeros((shape[0], shape[2]), dtype=bool)
    present[instant, local] = True
    run, active = _runs(present)
    most = max(map(len, active))
    known = np.array([[*each, *[-1] * (most - len(each))] for each in active], dtype=int)
    at = np.full((len(active), shape[2]), -1)
    for number, each in enumerate(active):
        at[number, each] = np.arange(len(each))
    weight = np.zeros((shape[0], shape[1], most))
    weight[instant, place, at[run[instant], local]] = value
    return Kind(run=run, local=known, weight=weight)


def _runs(present: np.ndarray) -> tuple[np.ndarray, list[list[int]]]:
    """Return the run of every instant (N,), and the variables of each run: neighbours go together
    as long as they know no more variables than one of all instants does alone."""
    most = int(present.sum(axis=1).max())
    run = np.zeros(len(present), dtype=int)
    active: list[set[int]] = []
    for number, row in enumerate(present):
        known = set(np.nonzero(row)[0].tolist())
        if active and len(active[-1] | known) <= most:
            active[-1] |= known
        else:
            active.append(known)
        run[number] = len(active) - 1
    return run, [sorted(each) for each in active]


def common_runs(first: Kind, second: Kind) -> Sequence[tuple[int, int]]:
    """Return (start, end) of the instants in which neither of two kinds changes its run."""
    cuts = np.nonzero(np.diff(first.run) | np.diff(second.run))[0] + 1
    edges = [0, *cuts.tolist(), len(first.run)]
    return list(pairwise(edges))
