"""Smoothing of recorded motions: control points are found together with the parameters.

Control points are eliminated: for given parameters they are the least-squares ones, and a function
of the parameters alone remains (Golub & Pereyra 1973; Kaufman 1975).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ocp.estimation.recordings import Recording, validated_basis
from ocp.transcription.kernels.parameter_outputs import Stretch

ROUNDS = 20  # Gauss-Newton steps of the points
SPENT = 1e-9  # of squares of residuals over deviations: a step that promises less is the last
Slopes = Callable[[Stretch, np.ndarray], tuple[np.ndarray, np.ndarray, np.ndarray]]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class SoughtMotion:
    """A motion of a basis near to measured coordinates.

    At its instants `s` (N,) `values` (3, N, K) are those of the basis and its derivatives by s. The
    coordinates' noise has `deviations` (n,); their squares over them are those of
    `root` @ points_j - `near`_j (n, K) and of what no points explain, `left`.
    """

    s: np.ndarray
    duration: float
    values: np.ndarray
    root: np.ndarray
    near: np.ndarray
    deviations: np.ndarray
    left: float

    @property
    def freedom(self) -> int:
        """Number of measurements beyond that of control points."""
        return len(self.deviations) * (len(self.s) - self.values.shape[2])

    @property
    def start(self) -> np.ndarray:
        """The control points (n, K) nearest to the coordinates."""
        return np.linalg.solve(self.root, self.near.T).T

    def stretch(self, points: np.ndarray) -> Stretch:
        """Return the motion of control points (n, K) as outputs take it."""
        curves = [points @ values.T for values in self.values]
        return np.vstack([np.full(len(self.s), self.duration), *curves]), self.s

    def fit_points(
        self, slopes: Slopes, numbers: np.ndarray, measured: np.ndarray, weights: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the best points (n, K), and what they leave to the parameters: a triangle.

        It is R of the columns: residuals' slopes by points, by the parameters, and the residuals.
        `weights` (m, N) are those of outputs, zero where nothing was `measured`.
        """
        points, size = self.start, self.near.size
        for _ in range(ROUNDS):
            columns = self._columns(slopes, numbers, measured, weights, points)
            triangle: Any = np.linalg.qr(columns, mode="r")
            toward = triangle[:size, -1]
            step = -np.linalg.solve(triangle[:size, :size], toward)
            points = points + step.reshape(points.shape)
            if toward @ toward <= SPENT:
                break
        return points, triangle

    def _columns(
        self,
        slopes: Slopes,
        numbers: np.ndarray,
        measured: np.ndarray,
        weights: np.ndarray,
        points: np.ndarray,
    ) -> np.ndarray:
        """Return the rows of all residuals over deviations, with their slopes, as `settled`."""
        predicted, by_numbers, by_motion = slopes(self.stretch(points), numbers)
        rows, count = len(predicted), self.near.size
        by_motion = by_motion.reshape((rows, 3, len(points), len(self.s)))
        by_points = np.einsum("mojt,otk->mtjk", by_motion, self.values).reshape(-1, count)
        off = np.where(weights > 0, predicted - np.nan_to_num(measured), 0.0)
        outputs = np.hstack(
            [
                by_points,
                by_numbers.transpose(0, 2, 1).reshape(len(by_points), -1),
                off.reshape(-1, 1),
            ]
        )
        sizes = 1 / np.repeat(self.deviations, self.values.shape[2])
        near = np.zeros((count, outputs.shape[1]))
        near[:, :count] = np.kron(np.eye(len(points)), self.root)
        near[:, -1] = (points @ self.root.T - self.near).ravel()
        return np.vstack([outputs * weights.reshape(-1, 1), near * sizes[:, None]])

    def eliminate_points(self, triangle: Any) -> tuple[np.ndarray, np.ndarray]:
        """Return residuals and their slopes by the parameters, of which points are eliminated."""
        rest = triangle[self.near.size :, self.near.size :]
        still = np.zeros((1, rest.shape[1] - 1))
        return np.append(rest[:, -1], np.sqrt(self.left)), np.vstack([rest[:, :-1], still])


def smoothing_problem(recording: Recording) -> SoughtMotion:
    """Return the motion that is sought of a recording whose coordinates have noise."""
    s, basis = recording.instants, recording.motion or validated_basis(recording)
    values = np.stack([basis.values(s, order) for order in range(3)])
    orthogonal, root = np.linalg.qr(values[0])
    near = recording.q @ orthogonal
    deviations: np.ndarray = np.broadcast_to(recording.encoder, len(recording.q))
    off = (recording.q - near @ orthogonal.T) / deviations[:, None]
    return SoughtMotion(
        s=s,
        duration=recording.duration,
        values=values,
        root=root,
        near=near,
        deviations=deviations,
        left=float(np.sum(off**2)),
    )
