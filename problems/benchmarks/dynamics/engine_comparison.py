"""Shared parts of comparisons with other engines: random motions, and differences."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

SEED = 1
LEAST = 1e-12  # a size below which differences count as they are
RATE, ACCELERATION = 2.0, 5.0  # of random motions: rad/s or m/s, rad/s2 or m/s2


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """A model's greatest differences from the other engine's, or why it was refused.

    They are of torques over the largest of the same joint, of all else over the largest entry of
    all.
    """

    name: str
    coordinates: int = 0
    repaired: bool = False
    differences: tuple[float, ...] = ()
    refusal: str = ""


def worst(pairs: Sequence[tuple[np.ndarray, np.ndarray]]) -> float:
    """Return the greatest difference of pairs of arrays, over the largest entry of all."""
    size = max((np.abs(theirs).max(initial=0.0) for _, theirs in pairs), default=0.0)
    off = max((np.abs(own - theirs).max(initial=0.0) for own, theirs in pairs), default=0.0)
    return float(off / max(size, LEAST))


def worst_row(pairs: Sequence[tuple[np.ndarray, np.ndarray]]) -> float:
    """Return the greatest difference of pairs of vectors, over the largest of the same entry."""
    own, theirs = (np.array(side) for side in zip(*pairs))
    off, size = np.abs(own - theirs).max(axis=0), np.abs(theirs).max(axis=0)
    return float((off / np.maximum(size, LEAST)).max(initial=0.0))
