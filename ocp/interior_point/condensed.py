"""The linear systems of the interior point, condensed to a dense positive definite core.

    (W + D)  dv + J' dy = a
     J dv               = b

Slacks and their rows are diagonal; eliminated equalities leave their null space Z, the rest of
the rows the null space of what they are there. What remains of W + D there is the core, and its
Cholesky factor exists just where the system has the inertia of a minimum.
"""

from dataclasses import dataclass

import numpy as np

from ocp.interior_point.elimination import eliminate
from ocp.interior_point.kernels.tall_matrices import Engine, inverse_of_triangle
from ocp.interior_point.nullspace import Basis, tame
from ocp.interior_point.program import Program, Slopes
from ocp.interior_point.reduced_hessian import Curves
from ocp.solvers.backend import Unsuited

GROWTH = 1e8  # of a basis at most
DEPENDENT = 1e-10  # pivots or singular values of rows beside the largest
CORE = 1500  # variables of a core at most


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

    def __init__(self, program: Program, engine: Engine):
        self.program, self.engine = program, engine
        matrix, self.m = program.jacobian, program.equalities
        self.equal = np.flatnonzero(matrix.rows < self.m)
        self.inner = np.flatnonzero(matrix.rows >= self.m)
        n, equal, inner = program.variables, self.equal, self.inner
        shape = program.rows - self.m, n
        self.A = engine.sparse(
            rows=matrix.rows[equal], columns=matrix.columns[equal], shape=(self.m, n)
        )
        self.D = engine.sparse(
            rows=matrix.rows[inner] - self.m, columns=matrix.columns[inner], shape=shape
        )
        self.basis: Basis | None = None

    def at(self, bends: np.ndarray, slopes: Slopes) -> None:
        """Take the Hessian's and the Jacobian's entries of a point."""
        self.slopes, self.bends = slopes, bends
        self.values, self.inner_values = slopes.entries[self.equal], slopes.entries[self.inner]
        self._basis()
        assert self.basis is not None
        self.inner_rows.times(slopes.entries)
        self.curved = self.curves.curved(bends)
        self._shift: np.ndarray | None = None
        self._weighted: tuple[np.ndarray, np.ndarray] | None = None
        self.range: Range | None = None
        if len(self.basis.rest):
            product = self.rest_rows.times(self.values).array
            self.range = range_of(product[:, : len(self.basis.free)])

    def _basis(self) -> None:
        """Make the basis of the values, by another elimination where theirs is a bad one."""
        for _ in range(3):
            if self.basis is not None:
                try:
                    self.basis.make(self.values)
                    if self.basis.largest < GROWTH:
                        return
                except np.linalg.LinAlgError:
                    pass
            self._eliminate()
        assert self.basis is not None
        self.basis.make(self.values)

    def _eliminate(self) -> None:
        """Find an elimination for the values, and the products of it."""
        A, values, engine = self.A, self.values, self.engine
        elimination = tame(eliminate(A.rows, A.columns, values, A.shape), A, values)
        width = len(elimination.free)
        if width > CORE:
            raise Unsuited(
                f"plugin 'structured': a core of {width} variables: more than {CORE}, which is "
                "what dense factors are for; use IPOPT"
            )
        basis = self.basis = Basis(elimination, A, engine)
        matrix, inner = self.program.jacobian, self.inner
        own, wanted = (
            (matrix.rows[inner], matrix.columns[inner]),
            np.arange(self.m, matrix.shape[0]),
        )
        self.inner_rows = engine.multiplied(wanted, *own, inner, basis.tall)
        of_rest = np.zeros(self.m, dtype=bool)
        of_rest[basis.rest] = True
        entries = np.flatnonzero(of_rest[A.rows])
        own = A.rows[entries], A.columns[entries]
        self.rest_rows = engine.multiplied(basis.rest, *own, entries, basis.tall)
        self.curves = Curves(self.program.curvature, basis, engine)
        every = np.arange(len(wanted))
        self.squares = engine.crossed(self.inner_rows.result, every)
        self.own_squares = engine.crossed(basis.tall, basis.basic)

    def factorise(self, diagonal: np.ndarray, shift: float) -> bool:
        """Add a `diagonal` (size,) and a `shift` of all of it to W; tell whether the system has
        the inertia of a minimum."""
        n = self.program.variables
        if self._weighted is None or self._weighted[0] is not diagonal:
            grown = diagonal.copy()
            grown[:n] += self.curves.diagonal(self.bends)
            self._weighted = diagonal, self._grown(self.curved, grown)
        self.diagonal = diagonal + shift
        self.weights = self.diagonal[n:]
        core = self._weighted[1]
        if shift:
            if self._shift is None:
                self._shift = self._grown(np.zeros_like(core), np.ones(len(diagonal)))
            core = core + shift * self._shift
        if not np.isfinite(core).all():
            return False
        if self.range is not None:
            core = np.tril(core) + np.tril(core, -1).T
            core = self.range.along.T @ core @ self.range.along
        try:
            self.factor = self.engine.factor(core)
        except np.linalg.LinAlgError:
            return False
        return bool(np.isfinite(self.factor.lower).all())

    def _grown(self, core: np.ndarray, diagonal: np.ndarray) -> np.ndarray:
        """Return a core with what a diagonal (size,) adds to it, below its diagonal and on it."""
        assert self.basis is not None
        basis, n = self.basis, self.program.variables
        wide, size = np.zeros((basis.tall.width,) * 2), len(basis.free)
        wide[:size, :size] = core
        self.squares.add(wide, diagonal[n:])
        self.own_squares.add(wide, diagonal[basis.basic])
        grown = wide[:size, :size]
        grown[np.diag_indices(size)] += diagonal[basis.free]
        return grown

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
        core = self.factor.solve(reduced)
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
