"""Muscle synergies: activations as few nonnegative patterns that rise and fall together.

Activations (m, N) are nearly W h, W (m, k) and h (k, N) at least zero (Tresch, Saltiel & Bizzi
1999): nonnegative factors by hierarchical alternating least squares (Cichocki & Phan 2009), from
those of the singular vectors (Boutsidis & Gallopoulos 2008).
"""

from dataclasses import dataclass

import numpy as np

SWEEPS = 2000
ENOUGH = 1e-9  # of what is left over: a sweep that lessens it by no more is the last
FAINT = 1e-9  # of the largest entry: factors stay above, as nought would never leave it


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Synergies:
    """Patterns of muscles and how much of each there is.

    Attributes:
        weights: (m, k), columns of length one.
        drives: (k, N), nan where activations are.
        accounted: the share of squared activations that they account for, about zero
            (Torres-Oviedo, Macpherson & Ting 2006).
    """

    weights: np.ndarray
    drives: np.ndarray
    accounted: float


def muscle_synergies(activations: np.ndarray, count: int) -> Synergies:
    """Return the synergies that account for the most of activations.

    Args:
        activations: (m, N) of at least zero, nan at times that are not known.
        count: number of synergies.

    Raises:
        ValueError: for fewer than one synergy, or more than muscles or times.
    """
    known = np.isfinite(activations).all(axis=0)
    rows = activations[:, known]
    if not 1 <= count <= min(rows.shape):
        raise ValueError(
            f"synergies: expected 1 to {min(rows.shape)}, of {len(rows)} muscles at "
            f"{rows.shape[1]} times, got {count}"
        )
    weights, drives = _first_factors(rows, count)
    before = float(np.sum(rows**2))
    for _ in range(SWEEPS):
        drives = _improve_factor(drives, weights.T @ rows, weights.T @ weights)
        weights = _improve_factor(weights.T, drives @ rows.T, drives @ drives.T).T
        left = float(np.sum((rows - weights @ drives) ** 2))
        if abs(before - left) <= ENOUGH * before:
            break
        before = left
    lengths = np.linalg.norm(weights, axis=0)
    every = np.full((count, activations.shape[1]), np.nan)
    every[:, known] = lengths[:, None] * drives
    return Synergies(
        weights=weights / lengths, drives=every, accounted=1.0 - left / float(np.sum(rows**2))
    )


def _first_factors(rows: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return factors (m, k) and (k, N): of each pair of singular vectors the positive or the
    negative parts, whichever are larger."""
    left, sizes, right = np.linalg.svd(rows, full_matrices=False)
    least = FAINT * float(rows.max())
    weights, drives = np.empty((len(rows), count)), np.empty((count, rows.shape[1]))
    for k in range(count):
        pairs = [
            (np.maximum(way * left[:, k], 0), np.maximum(way * right[k], 0)) for way in (1, -1)
        ]
        u, v = max(pairs, key=lambda pair: np.linalg.norm(pair[0]) * np.linalg.norm(pair[1]))
        weights[:, k] = np.maximum(np.sqrt(sizes[k]) * u, least)
        drives[k] = np.maximum(np.sqrt(sizes[k]) * v, least)
    return weights, drives


def _improve_factor(factor: np.ndarray, pull: np.ndarray, normal: np.ndarray) -> np.ndarray:
    """Return a factor (k, N) whose rows are the least squares of one after the other."""
    factor = factor.copy()
    for k in range(len(factor)):
        step = (pull[k] - normal[k] @ factor) / max(float(normal[k, k]), np.finfo(float).tiny)
        factor[k] = np.maximum(factor[k] + step, FAINT * float(np.abs(factor).max()))
    return factor
