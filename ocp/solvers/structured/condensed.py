"""The linear systems of the interior point, condensed to a dense positive definite core.

    (W + D)  dv + J' dy = a
     J dv               = b

Slacks and their rows are diagonal; eliminated equalities leave their null space Z, the rest of
the rows the null space of what they are there. What remains of W + D there is the core, and its
Cholesky factor exists just where the system has the inertia of a minimum.
"""

from dataclasses import dataclass

import numpy as np

from ocp.solvers.structured.elimination import eliminate
from ocp.solvers.structured.nullspace import Basis, tame
from ocp.solvers.structured.products import Sparse, pieces
from ocp.solvers.structured.program import Program, Slopes

GROWTH = 1e8  # of a basis at most
DEPENDENT = 1e-10  # pivots or singular values of rows beside the largest
TRIANGLE = 48  # rows of a triangle that is inverted at once
CORE = 1500  # variables of a core at most


class TooLarge(ValueError):
    """Raised where a program has no small dense core."""


def inverse_of_triangle(lower: np.ndarray) -> np.ndarray:
    """Return the inverse of a lower triangle, by halves."""
    size = len(lower)
    if size <= TRIANGLE:
        return np.tril(np.linalg.inv(lower))
    half = size // 2
    out = np.zeros_like(lower)
    out[:half, :half] = inverse_of_triangle(lower[:half, :half])
    out[half:, half:] = inverse_of_triangle(lower[half:, half:])
    out[half:, :half] = -out[half:, half:] @ (lower[half:, :half] @ out[:half, :half])
    return out


@dataclass(frozen=True, slots=True, kw_only=True)
class Range:
    """The rows R (m, k) of a core: `across` (k, rank) spans what they bind, `along` what they
    leave, and `back` (rank, m) is the inverse, or the pseudo-inverse, of R across."""

    across: np.ndarray
    along: np.ndarray
    back: np.ndarray

    def meet(self, right: np.ndarray) -> np.ndarray:
        """Return the least u (k,) with R u = right (m,), or as near as can be."""
        return self.across @ (self.back @ right)

    def multipliers(self, right: np.ndarray) -> np.ndarray:
        """Return the least y (m,) with R' y as `right` (k,) across."""
        return self.back.T @ (self.across.T @ right)


def range_of(rows: np.ndarray) -> Range:
    """Return the Range of the rows (m, k) of a core: by an orthogonal factorisation, or by singular
    values where rows depend on each other."""
    count = len(rows)
    if count <= rows.shape[1]:
        turned, triangle = np.linalg.qr(rows.T, mode="complete")
        pivots = np.abs(np.diag(triangle))
        if np.min(pivots) > DEPENDENT * max(1.0, np.max(pivots)):
            back = inverse_of_triangle(triangle[:count].T)
            return Range(across=turned[:, :count], along=turned[:, count:], back=back)
    left, scale, right = np.linalg.svd(rows, full_matrices=True)
    rank = int(np.sum(scale > DEPENDENT * max(1.0, np.max(scale, initial=0.0))))
    back = left[:, :rank].T / scale[:rank, None]
    return Range(across=right[:rank].T, along=right[rank:].T, back=back)


class Condensed:
    """The systems of a Program; `at` makes one, `factorise` adds a diagonal, `solve` solves."""

    def __init__(self, program: Program):
        self.program = program
        matrix, self.m = program.jacobian, program.equalities
        self.equal = np.flatnonzero(matrix.rows < self.m)
        self.inner = np.flatnonzero(matrix.rows >= self.m)
        n, equal, inner = program.variables, self.equal, self.inner
        self.A = Sparse(rows=matrix.rows[equal], columns=matrix.columns[equal], shape=(self.m, n))
        self.D = Sparse(
            rows=matrix.rows[inner] - self.m,
            columns=matrix.columns[inner],
            shape=(program.rows - self.m, n),
        )
        self.basis: Basis | None = None

    def at(self, bends: np.ndarray, slopes: Slopes) -> None:
        """Take the Hessian's and the Jacobian's entries of a point."""
        self.slopes, self.bends = slopes, bends
        self.values, self.inner_values = slopes.entries[self.equal], slopes.entries[self.inner]
        self._basis()
        assert self.basis is not None
        basis = self.basis
        inner = self.inner_pieces.times(slopes.entries, basis.Z)
        self.inner_rows = np.empty_like(inner)
        self.inner_rows[self.inner_pieces.order - self.m] = inner
        half = bends.copy()
        half[self.program.curvature.rows == self.program.curvature.columns] *= 0.5
        product = self.half_pieces.times(half, basis.Z)
        core = basis.Z[self.half_pieces.order].T @ product
        self.curved = core + core.T
        self._shift: np.ndarray | None = None
        self._weighted: tuple[np.ndarray, np.ndarray] | None = None
        self.range: Range | None = None
        if len(basis.rest):
            product = self.rest_pieces.times(self.values, basis.Z)
            self.range = range_of(product[np.argsort(self.rest_pieces.order)])

    def _basis(self) -> None:
        """Make the basis of the values, by another elimination where theirs is a bad one."""
        for _ in range(3):
            if self.basis is not None:
                try:
                    self.basis.make(self.values)
                    if np.max(np.abs(self.basis.Z), initial=0.0) < GROWTH:
                        return
                except np.linalg.LinAlgError:
                    pass
            self._eliminate()
        assert self.basis is not None
        self.basis.make(self.values)

    def _eliminate(self) -> None:
        """Find an elimination for the values, and the dense pieces of it."""
        A, values = self.A, self.values
        elimination = tame(eliminate(A.rows, A.columns, values, A.shape), A, values)
        if len(elimination.free) > CORE:
            raise TooLarge(
                f"a core of {len(elimination.free)} variables: more than {CORE}, which is what "
                "dense factors are for; use IPOPT"
            )
        self.basis = Basis(elimination, A)
        width = max(1, len(elimination.free))
        matrix, curve = self.program.jacobian, self.program.curvature
        inner, rest = self.inner, np.isin(A.rows, elimination.rest)
        wanted = np.arange(self.m, self.program.rows)
        self.inner_pieces = pieces(wanted, matrix.rows[inner], matrix.columns[inner], inner, width)
        entries = np.flatnonzero(rest)
        self.rest_pieces = pieces(
            elimination.rest, A.rows[entries], A.columns[entries], entries, width
        )
        every = np.arange(len(curve.rows))
        ways = [(curve.rows, curve.columns), (curve.columns, curve.rows)]
        made = [pieces(np.unique(one), one, other, every, width) for one, other in ways]
        self.half_pieces = min(made, key=lambda way: way.seconds)

    def factorise(self, diagonal: np.ndarray, shift: float) -> bool:
        """Add a `diagonal` (size,) and a `shift` of all of it to W; tell whether the system has
        the inertia of a minimum."""
        if self._weighted is None or self._weighted[0] is not diagonal:
            self._weighted = diagonal, self.curved + self._grown(diagonal)
        self.diagonal = diagonal + shift
        self.weights = self.diagonal[self.program.variables :]
        core = self._weighted[1]
        if shift:
            if self._shift is None:
                self._shift = self._grown(np.ones(len(diagonal)))
            core = core + shift * self._shift
        if self.range is not None:
            core = self.range.along.T @ core @ self.range.along
        if not np.isfinite(core).all():
            return False
        try:
            lower = np.linalg.cholesky(core)
        except np.linalg.LinAlgError:
            return False
        if not np.isfinite(lower).all():
            return False
        self.factor = inverse_of_triangle(lower)
        return True

    def _grown(self, diagonal: np.ndarray) -> np.ndarray:
        """Return what a diagonal (size,) adds to the core."""
        assert self.basis is not None
        basis, n = self.basis, self.program.variables
        scaled = np.sqrt(diagonal[n:])[:, None] * self.inner_rows
        tall = np.sqrt(diagonal[basis.basic])[:, None] * basis.Z[basis.basic]
        core = scaled.T @ scaled + tall.T @ tall
        core[np.diag_indices(len(core))] += diagonal[basis.free]
        return core

    def solve(self, a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return dv (size,) and dy (rows,) of right-hand sides a (size,) and b (rows,)."""
        assert self.basis is not None
        basis, m, n = self.basis, self.m, self.program.variables
        on_slacks, missed = a[n:], b[m:]
        given = self.weights * missed + on_slacks
        right = a[:n] + self._inner_transposed(given)
        x = basis.particular(b[:m])
        if self.range is not None:
            rest = b[basis.rest] - self.A.times(self.values, x)[basis.rest]
            x = x + basis.Z @ self.range.meet(rest)
        reduced = basis.Z.T @ (right - self._curved(x))
        along = None if self.range is None else self.range.along
        reduced = reduced if along is None else along.T @ reduced
        core = self.factor.T @ (self.factor @ reduced)
        x = x + basis.Z @ (core if along is None else along @ core)
        left = right - self._curved(x)
        y = np.zeros(m)
        if self.range is not None:
            y[basis.rest] = self.range.multipliers(basis.Z.T @ left)
            left = left - self.A.transposed(self.values, y)
        y += basis.multipliers(left)
        s = self._inner_times(x) - missed
        return np.concatenate([x, s]), np.concatenate([y, self.weights * s - on_slacks])

    def _curved(self, x: np.ndarray) -> np.ndarray:
        """Return (W + D + J_d' D_s J_d) x."""
        program, n = self.program, self.program.variables
        whole = np.concatenate([x, np.zeros(program.size - n)])
        bent = program.bent_by(self.bends, whole)[:n] + self.diagonal[:n] * x
        return bent + self._inner_transposed(self.weights * self._inner_times(x))

    def _inner_times(self, x: np.ndarray) -> np.ndarray:
        return self.D.times(self.inner_values, x)

    def _inner_transposed(self, y: np.ndarray) -> np.ndarray:
        return self.D.transposed(self.inner_values, y)
