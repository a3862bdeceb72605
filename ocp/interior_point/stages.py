"""Staged factorisation of a core: its rows and its Hessian are eliminated group by group.

    [H R'] [u]   [g]
    [R 0 ] [l] = [h]

A stage solves its rows for some of its variables, which an orthogonal factorisation finds, and
minimises over the others, of which a Cholesky factor tells whether they have a minimum; what it
leaves is a Hessian and rows of variables that later stages share (Laine & Tomlin 2019, for
arbitrary patterns). All factors exist exactly if H is positive definite in the null space of R.
Rows and variables with small pivots are delayed to the next stage, as they are only small there.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ocp.interior_point.kernels.tall_matrices import Engine, invert_triangle

DEPENDENT = 1e-10  # pivots or singular values of rows over the largest
DELAYED = 1e-3  # and below which a stage that is not the last one leaves them to the next
GROUPS = (8, 12, 16, 24, 32, 48, 64, 96, 128)  # sizes of groups that are tried
DENSE = (0.2, 0.4, 0.7)  # share of variables that one of the border is coupled to, at least
STAGE, ORTHOGONAL = 2.5e5, 6.0  # cost of a stage's calls, and of orthogonal factors, in products


@dataclass(frozen=True, slots=True, kw_only=True)
class StagePattern:
    """Pattern of a stage: variables that it eliminates, `own`, that it leaves, `left`, and `rows`
    that begin in it."""

    own: np.ndarray
    left: np.ndarray
    rows: np.ndarray


def order_stages(hessian: np.ndarray, rows: np.ndarray) -> tuple[StagePattern, ...]:
    """Return the stages that cost the least by masks of a Hessian (k, k) and of rows (m, k).

    Variables are ordered along the band (Cuthill & McKee 1969), those coupled to many last; one
    stage is a dense core.
    """
    size = hessian.shape[0]
    coupled = hessian | hessian.T | (rows.T.astype(np.float32) @ rows.astype(np.float32) > 0)
    best = _stages(coupled, rows, [np.arange(size)])
    lowest, seen = _cost(best), set()
    for share in DENSE:
        border = np.flatnonzero(coupled.sum(axis=1) > share * size)
        if size == 0 or len(border) in seen:
            continue
        seen.add(len(border))
        inside = np.setdiff1d(np.arange(size), border)
        band = inside[_band_order(coupled[np.ix_(inside, inside)])]
        for count in GROUPS:
            if 2 * count > len(band):
                break
            groups = np.array_split(band, len(band) // count)
            groups[-1] = np.concatenate([groups[-1], border])
            stages = _stages(coupled, rows, groups)
            cost = _cost(stages)
            if cost < lowest:
                lowest, best = cost, stages
    return _joined(coupled, rows, best)


def _band_order(coupled: np.ndarray) -> np.ndarray:
    """Return an order of variables in which coupled ones are near each other."""
    degrees, left = coupled.sum(axis=1), np.ones(len(coupled), dtype=bool)
    order: list[int] = []
    while left.any():
        first = int(np.flatnonzero(left)[np.argmin(degrees[left])])
        for _ in range(3):  # a variable as far as possible from the last one is at an end
            first = list(_breadth_first(coupled, left.copy(), first, degrees))[-1]
        found = list(_breadth_first(coupled, left, first, degrees))
        order += found
    return np.array(order, dtype=int)


def _breadth_first(
    coupled: np.ndarray, left: np.ndarray, first: int, degrees: np.ndarray
) -> Iterator[int]:
    """Yield the variables of a component breadth first, and take them from those `left`."""
    queue = [first]
    left[first] = False
    for each in queue:
        yield each
        near = np.flatnonzero(coupled[each] & left)
        left[near] = False
        queue += near[np.argsort(degrees[near], kind="stable")].tolist()


def _stages(
    coupled: np.ndarray, rows: np.ndarray, groups: list[np.ndarray]
) -> tuple[StagePattern, ...]:
    """Return the stages that eliminate groups of variables one after another."""
    done, begun = np.zeros(len(coupled), dtype=bool), np.zeros(len(rows), dtype=bool)
    reached, stages = np.zeros(len(coupled), dtype=bool), []
    for group in groups:
        touched = rows[:, group].any(axis=1) & ~begun
        begun |= touched
        done[group] = True
        reached |= coupled[group].any(axis=0)
        left = np.flatnonzero(reached & ~done)
        stages.append(StagePattern(own=group, left=left, rows=np.flatnonzero(touched)))
    empty = np.flatnonzero(~begun)  # rows without variables
    last = stages[-1]
    stages[-1] = StagePattern(own=last.own, left=last.left, rows=np.concatenate([last.rows, empty]))
    return tuple(stages)


def _cost(stages: tuple[StagePattern, ...]) -> float:
    """Return the cost of stages in products, roughly."""
    cost = 0.0
    for each in stages:
        own, left, rows = len(each.own), len(each.left), len(each.rows)
        free = max(0, own - rows)
        cost += STAGE + ORTHOGONAL * own * own * rows + own * left * (rows + own + 2 * left)
        cost += own * own * free + own**3 / 3
    return cost


def _joined(
    coupled: np.ndarray, rows: np.ndarray, stages: tuple[StagePattern, ...]
) -> tuple[StagePattern, ...]:
    """Return the stages with the last ones as one, as far as that costs less."""
    groups = [each.own for each in stages]
    while len(groups) > 1:
        fewer = [*groups[:-2], np.concatenate(groups[-2:])]
        if _cost(_stages(coupled, rows, fewer)) > _cost(_stages(coupled, rows, groups)):
            break
        groups = fewer
    return _stages(coupled, rows, groups)


@dataclass(frozen=True, slots=True, kw_only=True)
class RowSpace:
    """Subspaces of rows R (m, k): `across` (k, rank) spans the row space that is solved for,
    `along` the null space, `delayed` what small pivots belong to, and `back` (rank, m) is the
    (pseudo-)inverse of R across. `missed` (m, m - rank) combines rows to those not solved for."""

    across: np.ndarray
    along: np.ndarray | None
    delayed: np.ndarray
    back: np.ndarray
    missed: np.ndarray

    def least_solution(self, right: np.ndarray) -> np.ndarray:
        """Return the least-squares u (k,) of R u = right (m,) with the least norm."""
        return self.across @ (self.back @ right)

    def multipliers(self, right: np.ndarray) -> np.ndarray:
        """Return the y (m,) of least norm with R' y = right (k,) in the row space."""
        return self.back.T @ (self.across.T @ right)

    def within(self, matrix: np.ndarray) -> np.ndarray:
        """Return `along` transposed times a matrix or vector (k, ...)."""
        return matrix if self.along is None else self.along.T @ matrix


def row_space(rows: np.ndarray, least: float = 0.0) -> RowSpace:
    """Return the RowSpace of rows (m, k): by QR, or by singular values if they are dependent.

    Pivots below `least` are delayed; `along` is None for the identity, where there are no rows.
    """
    count, size = rows.shape
    nothing = np.zeros((size, 0))
    if not count:
        empty = np.zeros((0, 0))
        return RowSpace(across=nothing, along=None, delayed=nothing, back=empty, missed=empty)
    if count <= size:
        turned, triangle = np.linalg.qr(rows.T, mode="complete")
        pivots = np.abs(np.diag(triangle))
        if np.min(pivots) > max(least, DEPENDENT * max(1.0, np.max(pivots))):
            back = invert_triangle(triangle[:count].T)
            across, along = turned[:, :count], turned[:, count:]
            missed = np.zeros((count, 0))
            return RowSpace(across=across, along=along, delayed=nothing, back=back, missed=missed)
    left, scale, right = np.linalg.svd(rows, full_matrices=True)
    present = int(np.sum(scale > DEPENDENT * max(1.0, np.max(scale, initial=0.0))))
    rank = min(present, int(np.sum(scale > least)))
    return RowSpace(
        across=right[:rank].T,
        along=right[present:].T,
        delayed=right[rank:present].T,
        back=left[:, :rank].T / scale[:rank, None],
        missed=left[:, rank:],
    )


class Stage:
    """Stage of a staged core: `update` takes its rows, `factorise` its Hessian.

    Its variables are those delayed by the stage before, then its own; what it leaves are `left` of
    its pattern, then those it delays.

    Args:
        pattern: its own.
        before: variables that the stage before leaves.
        last: whether nothing may be delayed.
    """

    def __init__(self, pattern: StagePattern, before: np.ndarray, last: bool) -> None:
        self.pattern, self.last = pattern, last
        self.front = np.concatenate([pattern.own, pattern.left])
        place = {variable: number for number, variable in enumerate(self.front.tolist())}
        self.before = np.array([place[each] for each in before.tolist()], dtype=int)
        self.extra = 0  # variables delayed to this stage
        self.begun = 0  # rows that come from the stage before

    def _places(self) -> np.ndarray:
        """Return places of what comes in within the front."""
        return np.concatenate([self.extra + self.before, np.arange(self.extra)])

    def update(self, rows: np.ndarray, coming: np.ndarray) -> np.ndarray:
        """Solve the rows for some variables; return the rows that are left to the next stage.

        Args:
            rows: all of the core (m, k).
            coming: rows of the stage before.
        """
        pattern = self.pattern
        self.begun, self.extra = len(coming), coming.shape[1] - len(self.before)
        size = self.size = self.extra + len(pattern.own)
        front = np.zeros((self.begun + len(pattern.rows), self.extra + len(self.front)))
        front[: self.begun, self._places()] = coming
        front[self.begun :, self.extra :] = rows[np.ix_(pattern.rows, self.front)]
        own, beside = front[:, :size], front[:, size:]
        largest = np.max(np.abs(front), initial=0.0)
        space = self.space = row_space(own, 0.0 if self.last else DELAYED * largest)
        solved = -space.across @ (space.back @ beside)
        self.along = np.concatenate([solved, space.delayed], axis=1)
        passed = [space.missed.T @ beside, space.missed.T @ (own @ space.delayed)]
        return np.concatenate(passed, axis=1)

    def factorise(self, core: np.ndarray, coming: np.ndarray, engine: Engine) -> np.ndarray:
        """Factorise what the rows leave free; return the Hessian that is left to the next stage.

        Args:
            core: Hessian (k, k).
            coming: what the stage before leaves of it.
            engine: maker of Cholesky factors.

        Raises:
            LinAlgError: if the Hessian is not positive definite in the null space of the rows.
        """
        pattern, size, space = self.pattern, self.size, self.space
        begin = self.extra
        front = np.zeros((begin + len(self.front),) * 2)
        front[begin:size, begin:] = core[np.ix_(pattern.own, self.front)]
        front[size:, begin:size] = front[begin:size, size:].T
        if len(coming):
            place = self._places()
            front[place[:, None], place] += coming
        self.own_hessian = front[:size, :size]
        delayed = np.zeros((size, space.delayed.shape[1]))
        self.beside = np.concatenate([front[:size, size:], delayed], axis=1)
        moved = self.own_hessian @ self.along + self.beside
        left = self.along.T @ moved + self.beside.T @ self.along
        left[: len(front) - size, : len(front) - size] += front[size:, size:]
        core = space.within(self.own_hessian)
        self.factor = engine.cholesky(core if space.along is None else core @ space.along)
        if not np.isfinite(self.factor.lower).all():
            raise np.linalg.LinAlgError("a factor is not finite")
        if left.size:
            self.across = self.factor.inverse @ space.within(moved)
            left -= self.across.T @ self.across
        return left

    def forward(
        self, g: np.ndarray, h: np.ndarray, g_coming: np.ndarray, h_coming: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the right-hand sides that are left to the next stage."""
        size, space = self.size, self.space
        front = np.zeros(self.extra + len(self.front))
        front[self.extra : size] = g[self.pattern.own]
        front[self._places()] += g_coming
        right = np.concatenate([h_coming, h[self.pattern.rows]])
        self.g, self.given = front[:size], space.least_solution(right)
        pulled = self.g - self.own_hessian @ self.given
        self.pulled = space.within(pulled)
        left = self.along.T @ pulled - self.beside.T @ self.given
        left[: len(front) - size] += front[size:]
        if len(left):
            self.pulled = self.factor.inverse @ self.pulled
            left -= self.across.T @ self.pulled
        return left, space.missed.T @ right

    def backward(self, later: np.ndarray, passed: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return its variables and multipliers of its rows.

        Args:
            later: variables that it leaves.
            passed: multipliers of rows that it leaves.
        """
        space = self.space
        if len(later):
            free = self.factor.inverse.T @ (self.pulled - self.across @ later)
        else:
            free = self.factor.solve(self.pulled)
        x = self.given + self.along @ later
        x = x + (free if space.along is None else space.along @ free)
        pulled = self.g - self.own_hessian @ x - self.beside @ later
        return x, space.multipliers(pulled) + space.missed @ passed


class StagedCore:
    """Core that is factorised in stages: `update` sets its rows, `factorise` its Hessian.

    Args:
        hessian, rows: masks of entries (k, k) and (m, k).
        engine: maker of Cholesky factors.
    """

    def __init__(self, hessian: np.ndarray, rows: np.ndarray, engine: Engine) -> None:
        self.shape, self.engine = rows.shape, engine
        patterns = order_stages(hessian, rows)
        self.cost = _cost(patterns)
        before, self.stages = np.zeros(0, dtype=int), []
        for number, each in enumerate(patterns):
            self.stages.append(Stage(each, before, number + 1 == len(patterns)))
            before = each.left

    @property
    def widest(self) -> int:
        """Variables of the widest stage."""
        return max(len(each.front) for each in self.stages)

    def update(self, rows: np.ndarray) -> None:
        """Take the rows (m, k)."""
        coming = np.zeros((0, 0))
        for each in self.stages:
            coming = each.update(rows, coming)

    def factorise(self, core: np.ndarray) -> bool:
        """Factorise a Hessian (k, k), of which the lower triangle counts; tell whether it is
        positive definite in the null space of the rows."""
        if len(self.stages) > 1 or self.shape[0]:
            core = np.tril(core) + np.tril(core, -1).T
        coming = np.zeros((0, 0))
        try:
            for each in self.stages:
                coming = each.factorise(core, coming, self.engine)
        except np.linalg.LinAlgError:
            return False
        return True

    def solve(self, g: np.ndarray, h: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return u (k,) and multipliers (m,) of right-hand sides g (k,) and h (m,)."""
        multipliers, u = np.zeros(self.shape[0]), np.zeros(self.shape[1])
        g_coming, h_coming = np.zeros(0), np.zeros(0)
        for each in self.stages:
            g_coming, h_coming = each.forward(g, h, g_coming, h_coming)
        delayed, passed = np.zeros(0), np.zeros(len(h_coming))
        for each in self.stages[::-1]:
            later = np.concatenate([u[each.pattern.left], delayed])
            x, y = each.backward(later, passed)
            u[each.pattern.own], multipliers[each.pattern.rows] = x[each.extra :], y[each.begun :]
            delayed, passed = x[: each.extra], y[: each.begun]
        return u, multipliers
