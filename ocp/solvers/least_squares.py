"""Nonlinear least squares within bounds, and the information that residuals have.

Gauss-Newton steps by singular values, which do not move unobservable directions, damped when they
fail (Levenberg 1944; Marquardt 1963) and projected on the bounds (Kanzow, Yamashita & Fukushima
2004).
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import permutations

import numpy as np

Residuals = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]

BLIND = 1e-8  # of the largest singular value: a direction below it changes no residual
STILL = 1e-10  # of the unknowns' sizes: a step below it ends the search
NEGLIGIBLE = 1e-12  # of the sum of squares: a step that promises less ends it too
FAINT = 1e-6  # of the largest entry of a direction: one below it is zero
DAMPED = 1e-3  # of the largest singular value squared: the first damping after a step that failed
STIFF = 1e12  # the damping, likewise, beyond which no step is left
GAIN = 1e-3  # of the decrease that was promised: what a step must bring
CONVERGED = "converged"


@dataclass(frozen=True, slots=True, kw_only=True)
class LeastSquaresResult:
    """Least sum of squares: unknowns `x` (P,), `residuals` (M,), their `slopes` (M, P), a mask
    `bound` (P,) of unknowns held at bounds, `iterations`, and the final `status`."""

    x: np.ndarray
    residuals: np.ndarray
    slopes: np.ndarray
    bound: np.ndarray
    iterations: int
    status: str

    @property
    def success(self) -> bool:
        """Whether the search converged."""
        return self.status == CONVERGED


@dataclass(frozen=True, slots=True, kw_only=True)
class Information:
    """Information that residuals of standard deviation 1 have about the unknowns.

    `covariance` (P, P) of observable directions, in the unknowns' units; `blind` (k, P), directions
    that change no residual, in multiples of the unknowns' sizes, with few unknowns each;
    `condition` of the others.
    """

    covariance: np.ndarray
    blind: np.ndarray
    condition: float

    def sees(self, gradient: np.ndarray) -> bool:
        """Tell whether a function is observable by its gradient (P,) per size of unknowns."""
        if not len(self.blind):
            return True
        hidden = np.linalg.lstsq(self.blind.T, gradient, rcond=None)[0] @ self.blind
        return bool(np.linalg.norm(hidden) <= np.sqrt(BLIND) * np.linalg.norm(gradient))


def least_squares(
    residuals: Residuals,
    start: np.ndarray,
    bounds: tuple[np.ndarray, np.ndarray],
    sizes: np.ndarray,
    *,
    iterations: int = 100,
    enough: float = 0.0,
) -> LeastSquaresResult:
    """Minimise a sum of squares within bounds.

    Unobservable directions stay as near to the start as they can.

    Args:
        residuals: function of x that returns r (M,) and dr/dx (M, P).
        start: first unknowns (P,).
        bounds: lower and upper (P,).
        sizes: typical sizes of the unknowns (P,), by which they are compared.
        iterations: limit.
        enough: decrease of the sum of squares that is worth no step.

    Raises:
        ValueError: residuals at the start are not finite.
    """
    lower, upper = bounds
    x, damping, status = np.clip(start, lower, upper), 0.0, "too many iterations"
    value, slopes = residuals(x)
    if not (np.isfinite(value).all() and np.isfinite(slopes).all()):
        raise ValueError("least squares: the residuals at the start are not finite")
    count = 0
    while count < iterations:
        free = np.flatnonzero(~at_active_bounds(x, value, slopes, bounds))
        parts = np.linalg.svd(slopes[:, free] * sizes[free], full_matrices=False)
        if _is_negligible(parts, value, enough):
            status = CONVERGED
            break
        count += 1
        step = np.zeros(len(x))
        step[free] = sizes[free] * _step(parts, value, damping)
        step = np.clip(x + step, lower, upper) - x
        promised = value @ value - np.sum((value + slopes @ step) ** 2)
        if enough and damping and promised <= enough:  # the last steps failed: slopes end here
            status = CONVERGED
            break
        trial, trial_slopes = residuals(x + step)
        decrease = value @ value - trial @ trial
        if np.isfinite(decrease) and decrease > GAIN * max(promised, 0.0):
            x, value, slopes = x + step, trial, trial_slopes
            damping = damping / 10 if damping > DAMPED * BLIND else 0.0
        elif damping < STIFF:
            damping = max(10 * damping, DAMPED)
        else:
            status = "no step makes the residuals smaller"
            break
    bound = at_active_bounds(x, value, slopes, bounds)
    return LeastSquaresResult(
        x=x, residuals=value, slopes=slopes, bound=bound, iterations=count, status=status
    )


def at_active_bounds(
    x: np.ndarray, value: np.ndarray, slopes: np.ndarray, bounds: tuple[np.ndarray, np.ndarray]
) -> np.ndarray:
    """Return a mask of the unknowns that residuals push against their bounds.

    A push counts if it is more than rounding.
    """
    lower, upper = bounds
    pull, faint = slopes.T @ value, STILL * np.linalg.norm(slopes, axis=0)
    return ((x <= lower) & (pull > faint)) | ((x >= upper) & (pull < -faint))


def _is_negligible(
    parts: tuple[np.ndarray, np.ndarray, np.ndarray], value: np.ndarray, enough: float
) -> bool:
    """Tell whether a Gauss-Newton step is too short, or promises too little."""
    left, singular, _ = parts
    seen = singular > BLIND * singular.max(initial=0.0)
    promised = left[:, seen].T @ value
    return bool(
        promised @ promised <= max(NEGLIGIBLE * (value @ value), enough)
        or (np.abs(_step(parts, value, 0.0)) <= STILL).all()
    )


def _step(
    parts: tuple[np.ndarray, np.ndarray, np.ndarray], value: np.ndarray, damping: float
) -> np.ndarray:
    """Return the damped Gauss-Newton step of least norm from singular values and vectors.

    The damping is relative to the largest singular value squared.
    """
    left, singular, right = parts
    largest = singular.max(initial=0.0)
    seen = singular > BLIND * largest
    shares = singular[seen] / (singular[seen] ** 2 + damping * largest**2)
    return -right[seen].T @ (shares * (left[:, seen].T @ value))


def information(
    slopes: np.ndarray, sizes: np.ndarray, bound: np.ndarray, blind: float = BLIND
) -> Information:
    """Return the Information of residuals.

    Args:
        slopes: of the residuals (M, P).
        sizes: of the unknowns (P,).
        bound: mask of unknowns held at bounds (P,), which count as known.
        blind: of the largest singular value: a direction below it changes no residual.
    """
    free = np.flatnonzero(~bound)
    square = np.linalg.qr(slopes[:, free] * sizes[free], mode="r")
    _, singular, right = np.linalg.svd(square, full_matrices=True)
    seen = np.zeros(len(free), dtype=bool)
    seen[: len(singular)] = singular > blind * singular.max(initial=0.0)
    spread = right[seen] / singular[seen[: len(singular)]][:, None]
    covariance, hidden = np.zeros((len(sizes),) * 2), np.zeros(((~seen).sum(), len(sizes)))
    covariance[np.ix_(free, free)] = np.outer(sizes[free], sizes[free]) * (spread.T @ spread)
    hidden[:, free] = sparse_basis(right[~seen])
    kept = singular[seen[: len(singular)]]
    condition = float(kept.max() / kept.min()) if len(kept) else np.inf
    return Information(covariance=covariance, blind=hidden, condition=condition)


def sparse_basis(rows: np.ndarray) -> np.ndarray:
    """Return rows (k, P) of the same span with few nonzeros each, the largest of them 1.

    Rows of a reduced echelon form are subtracted from each other while that leaves fewer nonzeros.
    """
    rows, shorter = echelon(rows), True
    while shorter:
        shorter = False
        for row, other in permutations(range(len(rows)), 2):
            for column in np.flatnonzero(rows[row] * rows[other]):
                trial = rows[row] - rows[row, column] / rows[other, column] * rows[other]
                trial = _tidy(trial / np.abs(trial).max())
                if np.count_nonzero(trial) < np.count_nonzero(rows[row]):
                    rows[row], shorter = trial, True
                    break
    return rows


def echelon(rows: np.ndarray) -> np.ndarray:
    """Return rows (k, P) of the same span in reduced echelon form.

    Each has a one where the others have zeros: Gauss-Jordan elimination with full pivoting.
    """
    rows, left = np.array(rows, dtype=float), np.ones(len(rows), dtype=bool)
    for _ in range(len(rows)):
        sizes = np.abs(rows) * left[:, None]
        row, column = np.unravel_index(int(np.argmax(sizes)), sizes.shape)
        left[row] = False
        rows[row] /= rows[row, column]
        others = np.arange(len(rows)) != row
        rows[others] -= np.outer(rows[others, column], rows[row])
    return _tidy(rows)


def _tidy(rows: np.ndarray) -> np.ndarray:
    return np.where(np.abs(rows) < FAINT, 0.0, rows)
