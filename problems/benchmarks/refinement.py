"""A motion refined by each transcription until its cost settles and its control brings it about."""

import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import inf
from typing import Any

import numpy as np

from ocp import (
    PLAIN,
    Guess,
    HermiteSimpson,
    Integrated,
    Problem,
    Radau,
    Solution,
    Solver,
    Transcription,
    solve,
)
from ocp.certificate import replay
from ocp.mechanics import structure

GOAL = 1e-2  # rad or m and their rates: what a simulated end may err
SETTLED = 2e-4  # relative change of the cost at which sizes stop to grow
FINER, ROUNDS = 4 / 3, 5  # how much larger the next size is; sizes at most
ITERATIONS = 200  # of one solve

Sized = Callable[[Problem, int], tuple[Problem, Transcription]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """One transcription: its `name`, and how its `size` makes a problem and a Transcription.

    `options`: of the solver.
    """

    name: str
    sized: Sized
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """What a transcription came to: the finest `solution`, and all its `sizes`.

    `seconds` and `iterations` for them all; `settled`: whether the cost did; `end`: distances of q
    (rad or m) and of qd (rad/s or m/s) of a forward simulation from the plan's end.
    """

    way: Way
    solution: Solution
    sizes: tuple[int, ...]
    settled: bool
    iterations: int
    seconds: float
    end: tuple[float, float]


def _splined(transcription: Transcription) -> Sized:
    def sized(statement: Problem, size: int) -> tuple[Problem, Transcription]:
        return replace(statement, motion=replace(statement.motion, points=size)), transcription

    return sized


def _meshed(method: type, **settings: Any) -> Sized:
    def sized(statement: Problem, size: int) -> tuple[Problem, Transcription]:
        return statement, Transcription(method=method(intervals=size, **settings))

    return sized


SPLINE = Way(name="B-spline", sized=_splined(Transcription()))
INTEGRATED = Way(
    name="B-spline, integrated",
    sized=_splined(Transcription(method=Integrated(nodes=2))),
    options={"mu_init": 1e-4},
)
HERMITE = Way(name="Hermite-Simpson", sized=_meshed(HermiteSimpson))
RADAU = Way(name="Radau, order 5", sized=_meshed(Radau, order=5))


def rows(
    statement: Problem, guess: Solution | Guess | None, points: int, intervals: int
) -> list[Row]:
    """Return the Rows of all transcriptions from one start, telling each to stderr.

    `points`: first number of control points of splines; `intervals`: of Radau's mesh.
    """
    ways = [(SPLINE, points), (HERMITE, 2 * intervals), (RADAU, intervals)]
    if structure(statement.tree).passive:
        ways.append((INTEGRATED, points))
    measured = []
    for way, size in ways:
        row = refined(statement, way, size, guess)
        line = f"{way.name}: {row.solution.objective:.7g}, {row.seconds:.1f} s"
        print(line, file=sys.stderr, flush=True)
        measured.append(row)
    return measured


def refined(statement: Problem, way: Way, size: int, guess: Solution | Guess | None = None) -> Row:
    """Return the Row of the first size at which the cost settles and the control reaches the goal.

    Each size is FINER times the one before and starts from its solution; a solve that fails ends
    it.
    """
    begin, solver = time.perf_counter(), Solver(options={"max_iter": ITERATIONS} | {**way.options})
    solutions: list[Solution] = []
    sizes: list[int] = []
    settled = False
    while len(sizes) < ROUNDS and not settled:
        problem, transcription = way.sized(statement, size)
        solution = solve(
            problem,
            transcription,
            solver,
            guess=solutions[-1] if solutions else guess,
            attempts=PLAIN,
        )
        end = _end(solution)
        settled = _settled([*solutions, solution]) and max(end) <= GOAL
        solutions.append(solution)
        sizes.append(size)
        if not solution.success:
            break
        size = round(FINER * size)
    return Row(
        way=way,
        solution=solutions[-1],
        sizes=tuple(sizes),
        settled=settled,
        iterations=sum(solution.statistics["iterations"] for solution in solutions),
        end=end,
        seconds=time.perf_counter() - begin,
    )


def _settled(solutions: Sequence[Solution]) -> bool:
    """Whether the last solution has the cost of the one before it."""
    *before, last = solutions
    if not before or not last.success:
        return False
    return abs(last.objective / before[-1].objective - 1) <= SETTLED


def _end(solution: Solution) -> tuple[float, float]:
    """Return the distance of q and qd at the end from the plan when its torques alone drive the
    system."""
    n, T = solution.problem.tree.dof, solution.duration
    gap = np.abs(replay(solution)[:, -1] - np.concatenate([solution.q(T), solution.qd(T)]))
    places, rates = (
        float(part.max()) if np.isfinite(part).all() else inf for part in (gap[:n], gap[n:])
    )
    return places, rates
