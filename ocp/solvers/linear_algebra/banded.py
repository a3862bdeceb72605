"""Symmetric block-tridiagonal systems: solution, and blocks of the inverse near the diagonal.

Block Cholesky factors D_k = L_k L_k' with D_k = A_kk - C_k C_k', C_k = A_k,k-1 L_k-1^-T; the blocks
of the inverse on and beside the diagonal follow backward (Takahashi, Fagan & Chin 1973).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

Blocks = Sequence[np.ndarray]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Factors:
    """Block Cholesky factors: `lower` L_k (b, b) on the diagonal, `beside` C_k below it."""

    lower: tuple[np.ndarray, ...]
    beside: tuple[np.ndarray, ...]

    def solve(self, right: np.ndarray) -> np.ndarray:
        """Return the solution (blocks, b) of the system for a right side (blocks, b)."""
        forward: list[np.ndarray] = []
        for k, row in enumerate(right):
            known = row - self.beside[k - 1] @ forward[k - 1] if k else row
            forward.append(np.linalg.solve(self.lower[k], known))
        values = np.array(forward)
        for k in reversed(range(len(values))):
            known = values[k]
            if k + 1 < len(values):
                known = known - self.beside[k].T @ values[k + 1]
            values[k] = np.linalg.solve(self.lower[k].T, known)
        return values

    def inverse(self) -> tuple[list[np.ndarray], list[np.ndarray]]:
        """Return blocks (b, b) of the inverse on the diagonal, and right of it."""
        diagonal: list[np.ndarray] = [np.empty(0)] * len(self.lower)
        right: list[np.ndarray] = [np.empty(0)] * (len(self.lower) - 1)
        identity = np.eye(len(self.lower[0]))
        for k in reversed(range(len(self.lower))):
            own = np.linalg.solve(self.lower[k], identity)
            diagonal[k] = own.T @ own
            if k + 1 < len(self.lower):
                across = np.linalg.solve(self.lower[k].T, self.beside[k].T)  # L_k^-T C_k+1'
                right[k] = -across @ diagonal[k + 1]
                diagonal[k] = diagonal[k] - right[k] @ across.T
        return diagonal, right


def factorise(diagonal: Blocks, below: Blocks) -> Factors:
    """Return the Factors of a positive definite matrix with blocks A_kk (b, b) and A_k+1,k below.

    Raises numpy.linalg.LinAlgError if it is not positive definite.
    """
    lower, beside = [np.linalg.cholesky(diagonal[0])], []
    for block, left in zip(diagonal[1:], below):
        beside.append(np.linalg.solve(lower[-1], left.T).T)
        lower.append(np.linalg.cholesky(block - beside[-1] @ beside[-1].T))
    return Factors(lower=tuple(lower), beside=tuple(beside))
