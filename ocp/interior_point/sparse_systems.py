"""Linear systems of the interior point as sparse matrices, factorised with their inertia.

    [W + D   J'] [dv]   [a]
    [J      -S ] [dy] = [b]

Unknowns are variables, slacks and multipliers. The multifrontal L D L' of `ocp.solvers.fronts`
finds its order from the pattern: a system banded by time, with borders for durations, parameters
and periodic ends, takes work in proportion to its length. It counts negative eigenvalues; as many
as there are rows are those of a minimum. Rows that depend on each other get S = SOFT.
"""

import ctypes
from dataclasses import dataclass

import numpy as np

from ocp.interior_point.kernels.native_kernels import address_of
from ocp.interior_point.scaled_program import Derivatives, Program
from ocp.solvers import fronts
from ocp.solvers.solver_backend import Unsuited

SOFT = 1e-8  # of rows that make a system singular (Waechter & Biegler 2006, section 3.1)
ROOMS, SINGULAR = -4, 3  # statuses of MA27: of too small a workspace, and of a singular matrix
GROWTH = 1e5  # of an unknown that is solved for, relative to those of later fronts
WORDS = 30  # of whole numbers in each of its lists
SIZES = ("fronts", "runs", "rows", "stored", "pile", "factors", "room", "most_pivots", "most_wide")
FRONT = 14  # numbers of a front
UNUSED = np.zeros(30)
NONE = ctypes.c_void_p(UNUSED.ctypes.data)  # of arguments that are not used


@dataclass(frozen=True, slots=True, kw_only=True)
class FrontPlan:
    """Plan of a pattern's factorisations, as in fronts.h: `sizes` by name, a line of `fronts` for
    each front and one of `runs` for each run, their `rows`, the `entries` in their order and the
    `places` of these."""

    sizes: dict[str, int]
    fronts: np.ndarray
    runs: np.ndarray
    rows: np.ndarray
    entries: np.ndarray
    places: np.ndarray


class Augmented:
    """Systems of a Program: `update` sets W and J, `factorise` adds diagonals, `solve` solves.

    They are planned for `entries` of the Jacobian.
    """

    def __init__(self, program: Program, entries: np.ndarray) -> None:
        self.program = program
        self.library = ctypes.CDLL(str(fronts.library()))
        self.library.planned_seconds.restype = ctypes.c_double
        size, n, m = program.size, program.variables, program.equalities
        matrix, curve = program.jacobian, program.curvature
        every, rows, slack = np.arange(size), np.arange(program.rows), np.arange(n, size)
        i = [curve.rows, every, size + matrix.rows, size + m + np.arange(size - n), size + rows]
        j = [curve.columns, every, matrix.columns, slack, size + rows]
        ends = np.cumsum([len(each) for each in i])
        self.parts = [slice(end - len(each), end) for each, end in zip(i, ends)]
        self.row, self.column = (
            np.ascontiguousarray(np.concatenate(each) + 1, dtype=np.int32) for each in (i, j)
        )
        self.values = np.zeros(len(self.row))
        self.values[self.parts[3]] = -1.0
        self.unknowns = size + program.rows
        self.size, self.count = (
            np.array([each], dtype=np.int32) for each in (self.unknowns, len(self.row))
        )
        self.plan, self.work, self.info = (np.zeros(WORDS, dtype=np.int32) for _ in range(3))
        self.dual, growth = (np.arange(self.unknowns) >= size).astype(np.int32), np.array([GROWTH])
        self.fixed = growth, self.dual  # kept, as their addresses are
        self._set_factors(len(self.row))
        self.at_size, *_ = self.pattern = _addresses(self.size, self.count, self.row, self.column)
        self.at_plan, self.at_work, self.at_info = _addresses(self.plan, self.work, self.info)
        self.at_weak = _addresses(self.dual, growth)
        self.right, self.left = np.zeros((2, self.unknowns))  # of all solutions
        self.at_right, self.at_left = _addresses(self.right, self.left)
        self.library.ma27ad_(
            *self.pattern,
            NONE,
            NONE,
            self.at_plan,
            NONE,
            NONE,
            NONE,
            NONE,
            NONE,
            self.at_info,
            NONE,
        )
        self.values[self.parts[2]] = entries
        self.factorise(np.ones(size), 0.0)

    def update(self, hessian_entries: np.ndarray, derivatives: Derivatives) -> None:
        """Set the entries of the Hessian, and of the Jacobian at a point."""
        self.hessian_entries = hessian_entries
        self.values[self.parts[0]] = hessian_entries
        self.values[self.parts[2]] = derivatives.entries

    def factorise(self, diagonal: np.ndarray, shift: float, soft: np.ndarray | float = 0.0) -> bool:
        """Add a `diagonal` (size,) and a `shift` of all of it to W and factorise, with S = `soft`.

        Returns whether the system has the inertia of a minimum.
        """
        self.values[self.parts[1]] = diagonal + shift
        self.values[self.parts[4]] = -np.asarray(soft)
        checked = shift == 0.0 and not np.any(soft)
        negative = self._count_negative(checked)
        if negative < self.program.rows:  # too few: rows are dependent, whatever the curvature
            self.values[self.parts[4]] = -np.maximum(soft, SOFT)
            negative = self._count_negative(False)
        return negative == self.program.rows

    def _count_negative(self, checked: bool) -> int:
        """Factorise and return the number of negative eigenvalues, -1 of a singular matrix.

        If it is `checked`, unknowns that were solved for by large numbers go last, until none is.
        """
        if not np.isfinite(self.values).all():
            return self.unknowns
        while True:
            self.library.ma27bd_(
                *self.pattern,
                *(self.at_factors, self.at_room, self.at_work, NONE, self.at_plan),
                *(NONE, NONE, NONE, NONE, NONE, self.at_info),
            )
            status = int(self.info[0])
            if status == ROOMS:
                self._set_factors(int(self.info[1]))
            elif status or not checked or not self._delay_weak():
                break
        if status < 0:
            raise Unsuited(
                f"plugin 'structured': a system of {self.unknowns} unknowns is too large to be "
                "ordered; use IPOPT"
            )
        return -1 if status == SINGULAR else int(self.info[14])

    def _delay_weak(self) -> bool:
        """Let unknowns that were solved for by large numbers go last; tell whether there are any.

        The inertia is counted wrongly, and refinement fails, where such numbers multiply.
        """
        given = self.at_size, self.at_factors, self.at_work, self.at_plan, *self.at_weak
        return bool(self.library.delay_weak_rows(*given))

    def seconds(self) -> float:
        """Return an estimate of the time of a factorisation, after the first one."""
        return float(self.library.planned_seconds(self.at_work))

    def front_plan(self) -> FrontPlan:
        """Return the plan of the last factorisation, as it is written down."""
        sizes = np.zeros(len(SIZES), dtype=np.int64)
        self.library.plan_sizes(self.at_work, *_addresses(sizes))
        named = dict(zip(SIZES, sizes.tolist()))
        fronts = np.zeros((named["fronts"], FRONT), dtype=np.int64)
        runs = np.zeros((named["runs"], 3), dtype=np.int32)
        rows, entries = (np.zeros(each, dtype=np.int32) for each in (named["rows"], len(self.row)))
        places = np.zeros(len(self.row), dtype=np.int64)
        tables = fronts, runs, rows, entries, places
        self.library.plan_tables(self.at_work, *_addresses(*tables))
        return FrontPlan(
            sizes=named, fronts=fronts, runs=runs, rows=rows, entries=entries, places=places
        )

    def solve(self, a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return dv (size,) and dy (rows,) of right-hand sides a (size,) and b (rows,)."""
        self.right[: len(a)], self.right[len(a) :] = a, b
        self.library.ma27cd_(
            *(self.at_size, self.at_factors, NONE, self.at_work, NONE, NONE, NONE),
            *(self.at_right, NONE, NONE, NONE, NONE),
        )
        x = self.right.copy()
        return x[: len(a)], x[len(a) :]

    def solve_precisely(self, a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return dv (size,) and dy (rows,), refined once."""
        self.right[: len(a)], self.right[len(a) :] = a, b
        self.library.solve_precisely(
            *self.pattern, self.at_factors, self.at_work, self.at_right, self.at_left
        )
        x = self.right.copy()
        return x[: len(a)], x[len(a) :]

    def _set_factors(self, count: int) -> None:
        """Make room for values and factors of so many numbers; the values stay."""
        self.factors, self.room = np.zeros(count), np.array([count], dtype=np.int32)
        self.factors[: len(self.row)] = self.values
        self.values = self.factors[: len(self.row)]
        self.at_factors, self.at_room = _addresses(self.factors, self.room)


def _addresses(*arrays: np.ndarray) -> list[ctypes.c_void_p]:
    """Return addresses of arrays, as C takes them."""
    return [ctypes.c_void_p(address_of(each)) for each in arrays]
