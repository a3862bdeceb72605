"""Linear systems of saddle points: LDL' without pivoting, corrected by GMRES.

    [H  A'] [x]   [a]
    [A  -D] [y] = [b]        H (n, n) symmetric, A (m, n), D >= 0 diagonal, 0 unless given

The matrix is equilibrated (Ruiz 2001) and shifted, plus on H and minus on D, so that LDL'
exists in any order (Vanderbei 1995). GMRES with these factors as preconditioner removes the error
of the shift (Saad & Schultz 1986). H, here plus the shift, is positive definite where A x = 0 if
and only if exactly m entries of D are negative (Gould 1985).
"""

from dataclasses import dataclass

import casadi as ca
import numpy as np

SHIFTS = (1e-7, 1e-6, 1e-5, 1e-4)  # of the equilibrated matrix, the first that factorises
PASSES = 6  # of equilibration
PRECISE, MOST = 1e-13, 40  # residual over the right side at which GMRES ends, and its iterations
UNSOLVED = 1e-7  # residual of a system that has no solution
GROWN = 1e12  # size of a solution over the right side that also tells this


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class SaddlePoint:
    """A factorised system: `size` n of H, the equilibrated `matrix`, its `scale` (n + m,), the
    `factors` D, L' and order, and the `shift` that they have."""

    size: int
    matrix: ca.DM
    scale: np.ndarray
    factors: tuple
    shift: float

    def __repr__(self) -> str:
        return f"SaddlePoint({self.size} unknowns, {len(self.scale) - self.size} rows)"

    @property
    def convex(self) -> bool:
        """Whether x'H x > 0 for all x with A x = 0, up to the shift."""
        return int((np.array(self.factors[0]) < 0).sum()) == len(self.scale) - self.size

    def solve(self, right: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return (x, y) stacked (n + m, k) for right sides (n + m, k), and relative residuals (k,).

        A residual well above rounding tells that the system is singular and has no solution.
        """
        scaled = right * self.scale[:, None]
        columns = [self._solve_column(column) for column in scaled.T]
        solved = np.array([column for column, _ in columns]).reshape(scaled.T.shape).T
        return solved * self.scale[:, None], np.array([residual for _, residual in columns])

    def loose(self, rows: bool = False) -> np.ndarray | None:
        """Return a null vector (n + m,) that moves the unknowns, or only `rows`, if there is one.

        It is the residual of a right side from a fixed seed, as no solution can explain it.
        """
        right = np.random.default_rng(0).standard_normal(len(self.scale))
        right[slice(0, self.size) if rows else slice(self.size, None)] = 0.0
        solution, residual = self._solve_column(right)
        if residual <= UNSOLVED and np.linalg.norm(solution) <= GROWN * np.linalg.norm(right):
            return None
        left = right - np.array(self.matrix @ solution).ravel()
        return self.scale * (left if residual > UNSOLVED else solution)

    def _apply_factors(self, right: np.ndarray) -> np.ndarray:
        """Return the solution (n + m,) by the factors alone."""
        return np.array(ca.ldl_solve(ca.DM(right), *self.factors)).ravel()

    def _solve_column(self, right: np.ndarray) -> tuple[np.ndarray, float]:
        """Return the solution (n + m,) of the equilibrated system by GMRES, and its residual."""
        size = float(np.linalg.norm(right))
        solution = np.zeros(len(right))
        if size == 0:
            return solution, 0.0
        residual, left = right, size
        for _ in range(2):  # restarted once, as many steps lose digits
            change = self._gmres(residual, PRECISE * size)
            after = right - np.array(self.matrix @ (solution + change)).ravel()
            if not np.linalg.norm(after) < left:
                break
            solution, residual, left = solution + change, after, float(np.linalg.norm(after))
            if left <= 10 * PRECISE * size:
                break
        return solution, left / size

    def _gmres(self, right: np.ndarray, enough: float) -> np.ndarray:
        """Return the solution of GMRES after at most MOST steps."""
        first = float(np.linalg.norm(right))
        base, mapped, table = [right / first], [], np.zeros((MOST + 1, MOST))
        for k in range(MOST):
            mapped.append(self._apply_factors(base[k]))
            fresh = np.array(self.matrix @ mapped[k]).ravel()
            for _ in range(2):  # twice is enough (Kahan)
                parts = np.array(base) @ fresh
                table[: k + 1, k] += parts
                fresh = fresh - parts @ np.array(base)
            table[k + 1, k] = np.linalg.norm(fresh)
            target = np.append(first, np.zeros(k + 1))
            weights, *_ = np.linalg.lstsq(table[: k + 2, : k + 1], target, rcond=None)
            left = np.linalg.norm(table[: k + 2, : k + 1] @ weights - target)
            if left <= enough or table[k + 1, k] <= PRECISE * first:
                break
            base.append(fresh / table[k + 1, k])
        return weights @ np.array(mapped)


def factorise(hessian: ca.DM, rows: ca.DM, gives: np.ndarray | None = None) -> SaddlePoint:
    """Return the SaddlePoint of H, with both triangles, A, and the diagonal (m,) that `gives`.

    Raises ValueError if no shift makes it regular, as with entries that are not finite.
    """
    count, size = rows.shape
    corner = ca.DM(count, count) if gives is None else -ca.diag(ca.DM(gives))
    matrix = ca.sparsify(ca.blockcat([[hessian, rows.T], [rows, corner]]))
    scale = _scale(matrix)
    matrix = ca.diag(ca.DM(scale)) @ matrix @ ca.diag(ca.DM(scale))
    signs = ca.DM(np.append(np.ones(size), -np.ones(count)))
    for shift in SHIFTS:
        factors = ca.ldl(matrix + ca.diag(shift * signs), True)
        if all(np.isfinite(part.nonzeros()).all() for part in factors[:2]):
            return SaddlePoint(size=size, matrix=matrix, scale=scale, factors=factors, shift=shift)
    raise ValueError("saddle point: the system of first-order conditions cannot be factorised")


def _scale(matrix: ca.DM) -> np.ndarray:
    """Return the scale (n + m,) that makes the largest entry of every line near 1."""
    row, column = (np.array(index, dtype=int) for index in matrix.sparsity().get_triplet())
    entries, scale = np.abs(np.array(matrix.nonzeros())), np.ones(matrix.shape[0])
    for _ in range(PASSES):
        largest = np.zeros(len(scale))
        np.maximum.at(largest, row, entries * scale[row] * scale[column])
        scale = scale / np.sqrt(np.where(largest > 0, largest, 1.0))
    return scale
