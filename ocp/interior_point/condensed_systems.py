"""Linear systems of the interior point, condensed to a dense positive definite core.

    (W + D)  dv + J' dy = a
     J dv               = b

Slacks and their rows are diagonal. Eliminated equalities are solved for their variables, which
leaves their null space Z; the other equalities are met within it. W + D in what remains is the
core. Its Cholesky factor exists exactly if the system has the inertia of a minimum.
"""

from dataclasses import dataclass

import numpy as np

from ocp.interior_point.elimination import Elimination, eliminate
from ocp.interior_point.kernels.tall_matrices import invert_triangle
from ocp.interior_point.nullspace import Basis, drop_growing_blocks, is_moderate
from ocp.interior_point.reduced_hessian import ReducedHessian, halves
from ocp.interior_point.scaled_program import Derivatives, Patterns
from ocp.solvers.solver_backend import Unsuited

GROWTH = 1e8  # of a basis at most
DEPENDENT = 1e-10  # pivots or singular values of rows over the largest
REFLECTED = 48  # reflections of a block
CORE = 1500  # variables of a core at most
CALLS, RATE = 2e-3, 4e10  # seconds of a factorisation in calls, and operations a second
QR_RATE = 1e10  # of these in the QR of rows that are left


@dataclass(frozen=True, slots=True, kw_only=True)
class Reflections:
    """Orthogonal matrix Q (k, k), a product of reflections 1 - V T V', in `blocks` of (first row,
    V, T), as Schreiber & Van Loan (1989) keep them."""

    blocks: tuple[tuple[int, np.ndarray, np.ndarray], ...]
    size: int

    def times(self, x: np.ndarray) -> np.ndarray:
        """Return Q x, x (k,) or (k, columns)."""
        x = x.copy()
        for first, V, T in self.blocks[::-1]:
            x[first:] -= V @ (T @ (V.T @ x[first:]))
        return x

    def transposed_times(self, x: np.ndarray) -> np.ndarray:
        """Return Q' x, x (k,)."""
        x = x.copy()
        for first, V, T in self.blocks:
            x[first:] -= V @ (T.T @ (V.T @ x[first:]))
        return x

    def within(self, C: np.ndarray, count: int) -> np.ndarray:
        """Return the rows and columns from `count` on of Q' C Q, C (k, k) symmetric.

        Each block takes (1 - V T V')' C (1 - V T V') = C - U V' - V U' with P = V T, W = C P and
        U = W - V (P' W) / 2, in the rows and columns that it and the later ones change.
        """
        done = 0
        for first, V, T in self.blocks:
            C, done = C[first - done :, first - done :], first
            P = V @ T
            W = C @ P
            U = W - V @ (P.T @ W) / 2
            C = C - np.hstack([U, V]) @ np.hstack([V, U]).T
        return C[count - done :, count - done :]


@dataclass(frozen=True, slots=True, kw_only=True)
class RowSpace:
    """Subspaces of the rows R (m, k) of a core: the first columns of `turned` span their row space,
    the others their null space; `back` (rank, m) is the (pseudo-)inverse of R times the first."""

    turned: Reflections
    back: np.ndarray

    def within(self, core: np.ndarray) -> np.ndarray:
        """Return a symmetric core (k, k) in the null space."""
        return self.turned.within(core, len(self.back))

    def along(self, x: np.ndarray) -> np.ndarray:
        """Return the part of x (k,) in the null space, by its coordinates."""
        return self.turned.transposed_times(x)[len(self.back) :]

    def point(self, coordinates: np.ndarray) -> np.ndarray:
        """Return the vector (k,) of the null space with these coordinates."""
        return self.turned.times(np.concatenate([np.zeros(len(self.back)), coordinates]))

    def least_solution(self, right: np.ndarray) -> np.ndarray:
        """Return the least-squares u (k,) of R u = right (m,) with the least norm."""
        first = self.back @ right
        return self.turned.times(np.append(first, np.zeros(self.turned.size - len(first))))

    def multipliers(self, right: np.ndarray) -> np.ndarray:
        """Return the y (m,) of least norm with R' y = right (k,) in the row space."""
        return self.back.T @ self.turned.transposed_times(right)[: len(self.back)]


def row_space(rows: np.ndarray) -> RowSpace:
    """Return the RowSpace of rows (m, k), by QR; of dependent ones, of their singular vectors."""
    if len(rows) <= rows.shape[1]:
        below, lengths = np.linalg.qr(rows.T, mode="raw")
        pivots = np.abs(np.diag(below))
        if np.min(pivots) > DEPENDENT * max(1.0, np.max(pivots)):
            back = invert_triangle(np.tril(below[:, : len(rows)]))
            return RowSpace(turned=_reflections(below.T, lengths), back=back)
    left, scale, right = np.linalg.svd(rows, full_matrices=False)
    rank = int(np.sum(scale > DEPENDENT * max(1.0, np.max(scale, initial=0.0))))
    below, lengths = np.linalg.qr(right[:rank].T, mode="raw")
    back = np.tril(below[:, :rank]).T @ (left[:, :rank].T / scale[:rank, None])
    return RowSpace(turned=_reflections(below.T, lengths), back=back)


def _reflections(below: np.ndarray, lengths: np.ndarray) -> Reflections:
    """Return the Reflections of a QR factorisation (k, m): vectors below its diagonal, and LAPACK's
    tau (m,)."""
    blocks = []
    for first in range(0, len(lengths), REFLECTED):
        tau = lengths[first : first + REFLECTED]
        V = np.tril(below[first:, first : first + len(tau)], -1)
        V[np.diag_indices(len(tau))] = 1.0
        V[:, tau == 0.0] = 0.0  # which reflect nothing
        inverse = np.triu(V.T @ V, 1)
        inverse[np.diag_indices(len(tau))] = 1.0 / np.where(tau == 0.0, 1.0, tau)
        blocks.append((first, V, np.linalg.inv(inverse)))
    return Reflections(blocks=tuple(blocks), size=len(below))


def check_size(elimination: Elimination) -> None:
    """Raise Unsuited for a core that is too large for dense factors."""
    width = len(elimination.free)
    if width > CORE:
        raise Unsuited(
            f"plugin 'structured': a core of {width} variables: more than {CORE}, which is "
            "what dense factors are for; use IPOPT"
        )


class Condensed:
    """Systems of the Programs of some Patterns: `update` sets W and J, `factorise` adds a diagonal,
    `solve` solves. The basis of one search serves the next."""

    def __init__(self, patterns: Patterns) -> None:
        self.patterns, self.engine = patterns, patterns.engine
        matrix, self.m = patterns.jacobian, patterns.equalities
        self.equal = np.flatnonzero(matrix.rows < self.m)
        self.inner = np.flatnonzero(matrix.rows >= self.m)
        n, equal, inner, engine = patterns.variables, self.equal, self.inner, self.engine
        shape = patterns.rows - self.m, n
        self.A = engine.sparse(
            rows=matrix.rows[equal], columns=matrix.columns[equal], shape=(self.m, n)
        )
        self.D = engine.sparse(
            rows=matrix.rows[inner] - self.m, columns=matrix.columns[inner], shape=shape
        )
        self.basis: Basis | None = None
        self.derivatives: Derivatives | None = None
        self._found: tuple[np.ndarray, Elimination] | None = None

    def elimination(self, entries: np.ndarray) -> Elimination:
        """Return the elimination for `entries` of the Jacobian, kept until others are given.

        That of the last basis is one while none of its blocks grows.
        """
        A, values = self.A, entries[self.equal]
        if self._found is None or self._found[0] is not entries:
            if self.basis is not None and is_moderate(self.basis, values):
                self._found = entries, self.basis.elimination
            else:
                self.basis = None
                found = eliminate(A.rows, A.columns, values, A.shape)
                self._found = entries, drop_growing_blocks(found, A, values)
        return self._found[1]

    def seconds(self, entries: np.ndarray) -> float:
        """Return an estimate of the time of a factorisation, infinite for a core too large.

        Half of the tiles of the basis are taken to be empty in both factors of a product.
        """
        found = self.elimination(entries)
        width, rest, size = len(found.free), len(found.rest), self.patterns.size
        if width > CORE:
            return np.inf
        left = max(width - rest, 0)
        work = left**3 / 3 + (size + self.m) * width**2 / 16 + 2 * (width**3 - left**3)
        return CALLS + work / RATE + 2 * width * rest**2 / QR_RATE

    def update(self, hessian_entries: np.ndarray, derivatives: Derivatives) -> None:
        """Set the entries of the Hessian, and of the Jacobian at a point."""
        if derivatives is not self.derivatives or self.basis is None:
            self._update_rows(derivatives)
        self.hessian_entries = hessian_entries
        self.reduced = self.reduced_hessian.reduce(hessian_entries)
        self._weighted: tuple[np.ndarray, np.ndarray] | None = None

    def _update_rows(self, derivatives: Derivatives) -> None:
        """Compute all that follows from the Jacobian alone."""
        entries = derivatives.entries
        self.values, self.inner_values = entries[self.equal], entries[self.inner]
        self._update_basis(entries)
        assert self.basis is not None
        self.inner_rows.times(entries)
        self._shift: np.ndarray | None = None
        self.range: RowSpace | None = None
        if len(self.basis.rest):
            product = self.rest_rows.times(self.values).array
            self.range = row_space(product[:, : len(self.basis.free)])
        self.derivatives = derivatives

    def _update_basis(self, entries: np.ndarray) -> None:
        """Compute the basis at the values, and eliminate anew where its numbers are too large."""
        for _ in range(3):
            if self.basis is not None:
                try:
                    self.basis.update(self.values)
                    if self.basis.largest < GROWTH:
                        return
                except np.linalg.LinAlgError:
                    pass
                self.basis = None
            self._eliminate(entries)
        assert self.basis is not None
        self.basis.update(self.values)

    def _eliminate(self, jacobian_entries: np.ndarray) -> None:
        """Find an elimination for the values, and set up the products with its basis."""
        A, engine = self.A, self.engine
        elimination = self.elimination(jacobian_entries)
        self._found = None
        check_size(elimination)
        basis = self.basis = Basis(elimination, A, engine)
        matrix, inner = self.patterns.jacobian, self.inner
        own, wanted = (
            (matrix.rows[inner], matrix.columns[inner]),
            np.arange(self.m, matrix.shape[0]),
        )
        self.inner_rows = engine.sparse_times_tall(wanted, *own, inner, basis.tall)
        of_rest = np.zeros(self.m, dtype=bool)
        of_rest[basis.rest] = True
        entries = np.flatnonzero(of_rest[A.rows])
        own = A.rows[entries], A.columns[entries]
        self.rest_rows = engine.sparse_times_tall(basis.rest, *own, entries, basis.tall)
        self.reduced_hessian = ReducedHessian(self.patterns.curvature, basis, engine)
        every = np.arange(len(wanted))
        self.squares = engine.tall_product(self.inner_rows.result, every)
        self.own_squares = engine.tall_product(basis.tall, basis.basic)

    def factorise(self, diagonal: np.ndarray, shift: float) -> bool:
        """Add a `diagonal` (size,) and a `shift` of all of it to W and factorise the core.

        Returns whether the system has the inertia of a minimum.
        """
        n = self.patterns.variables
        if self._weighted is None or self._weighted[0] is not diagonal:
            grown = diagonal.copy()
            grown[:n] += self.reduced_hessian.diagonal(self.hessian_entries)
            self._weighted = diagonal, self._along(self._add_diagonal(self.reduced, grown))
        self.diagonal = diagonal + shift
        self.weights = self.diagonal[n:]
        core = self._weighted[1]
        if not np.isfinite(core).all():
            return False
        if shift:
            if self._shift is None:
                none = np.zeros_like(self.reduced)
                self._shift = self._along(self._add_diagonal(none, np.ones(len(diagonal))))
            core = core + shift * self._shift
        try:
            self.factor = self.engine.cholesky(core)
        except np.linalg.LinAlgError:
            return False
        return bool(np.isfinite(self.factor.lower).all())

    def _along(self, core: np.ndarray) -> np.ndarray:
        """Return a core, of which the lower triangle counts, in the null space of the rows left, or
        as it is without such rows or if it is not finite."""
        if self.range is None or not np.isfinite(core).all():
            return core
        for square, below, above in halves(core):
            square[:] = np.tril(square) + np.tril(square, -1).T
            above[:] = below
        return self.range.within(core)

    def _add_diagonal(self, core: np.ndarray, diagonal: np.ndarray) -> np.ndarray:
        """Return a core plus a diagonal (size,) in its subspace; the lower triangle counts."""
        assert self.basis is not None
        basis, n = self.basis, self.patterns.variables
        size = len(basis.free)
        wide = np.zeros((basis.tall.width,) * 2)
        wide[:size, :size] = core
        self.squares.add(wide, diagonal[n:])
        self.own_squares.add(wide, diagonal[basis.basic])
        grown = wide[:size, :size]
        grown[np.diag_indices(size)] += diagonal[basis.free]
        return grown

    def solve(self, a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return dv (size,) and dy (rows,) of right-hand sides a (size,) and b (rows,)."""
        assert self.basis is not None
        basis, rest, m, n = self.basis, self.range, self.m, self.patterns.variables
        on_slacks, missed = a[n:], b[m:]
        given = self.weights * missed + on_slacks
        right = a[:n] + self.D.transposed_times(self.inner_values, given)
        x = basis.particular(b[:m])
        if rest is not None:
            left = b[basis.rest] - self.A.times(self.values, x)[basis.rest]
            x += basis.times(rest.least_solution(left))
        reduced = basis.transposed_times(right - self._condensed_times(x))
        if rest is None:
            x += basis.times(self.factor.solve(reduced))
        else:
            x += basis.times(rest.point(self.factor.solve(rest.along(reduced))))
        left, y = right - self._condensed_times(x), np.zeros(m)
        if rest is not None:
            y[basis.rest] = rest.multipliers(basis.transposed_times(left))
            left -= self.A.transposed_times(self.values, y)
        y += basis.multipliers(left)
        s = self.D.times(self.inner_values, x) - missed
        return np.concatenate([x, s]), np.concatenate([y, self.weights * s - on_slacks])

    def _condensed_times(self, x: np.ndarray) -> np.ndarray:
        """Return (W + D + J_d' D_s J_d) x, with the slacks of inequalities d condensed."""
        patterns, n = self.patterns, self.patterns.variables
        whole = np.concatenate([x, np.zeros(patterns.size - n)])
        curved = patterns.hessian_times(self.hessian_entries, whole)[:n] + self.diagonal[:n] * x
        weighted = self.weights * self.D.times(self.inner_values, x)
        return curved + self.D.transposed_times(self.inner_values, weighted)

    def solve_precisely(self, a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return dv (size,) and dy (rows,), refined once."""
        dv, dy = self.solve(a, b)
        curved = self.patterns.hessian_times(self.hessian_entries, dv) + self.diagonal * dv
        matrix, slacks = self.patterns.jacobian, dv[self.patterns.variables :]
        assert self.derivatives is not None
        entries = self.derivatives.entries
        pulled = np.concatenate([matrix.transposed_times(entries, dy), -dy[self.m :]])
        moved = matrix.times(entries, dv[: self.patterns.variables])
        moved[self.m :] -= slacks
        more_v, more_y = self.solve(a - curved - pulled, b - moved)
        return dv + more_v, dy + more_y
