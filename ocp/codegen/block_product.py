"""Record of a scattered product of small dense matrices, the unit of sparse assembly."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Product:
    """Entries of a derivative over x that are made alike, for pairs of what they stand between: at
    every instant `nonzero` ones of kernels go to the `place`s of (pairs, slots), `shape`, where
    these have several they are summed. That is multiplied by `weight` (N, slots, K), and summed
    over each of the `runs` ((start, end), ...). Results go to `row`, `column` (runs, K, pairs), -1
    for nowhere, times `factor`.
    """

    nonzero: np.ndarray
    place: np.ndarray
    shape: tuple[int, int]
    weight: np.ndarray
    runs: Sequence[tuple[int, int]]
    row: np.ndarray
    column: np.ndarray
    factor: np.ndarray

    def __repr__(self) -> str:
        return f"Product({self.shape[0]} pairs, {self.shape[1]} slots, {len(self.runs)} runs)"
