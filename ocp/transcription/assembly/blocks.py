"""Kernels at several instants, with the rows and weights of their values."""

from dataclasses import dataclass

import casadi as ca
import numpy as np

from ocp.transcription.kernels.kernels import Kernel


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Block:
    """A kernel at several instants: `s` (N,), the map M (N * width, variables) as `matrix`, and for
    every value where it goes.

    `target` (m, N) is the row of the assembled vector, -1 for nowhere; values meant for the same
    row are summed with `weight` (m, N).
    """

    kernel: Kernel
    s: np.ndarray
    matrix: ca.DM
    target: np.ndarray
    weight: np.ndarray

    def __repr__(self) -> str:
        return f"Block({self.kernel!r} at {len(self.s)} instants)"
