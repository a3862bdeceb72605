"""Underactuated swings by every transcription: the same optimum, and a control that alone brings the motion about."""

import argparse
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from ocp.problems import (
    acrobot_swing,
    branched_acrobot_swing,
    cart_pole_swing,
    two_link_effort,
    two_link_time,
)
from ocp.problems.swinging import COARSE, QUICK, ROUGH, SPREAD

from ocp import Solver, Transcription
from ocp.mechanics.structure import structure
from ocp.solution.replay import replay
from ocp.solution.solving import solve
from ocp.solution.violations import violations
from ocp.studies.study import ranked, restarts
from ocp.studies.tables import markdown
from ocp.transcription.methods import Radau
from ocp.transcription.transcribe import transcription_of

HELD, MISSED, BAD_ARGUMENTS = 0, 1, 2
SAME, GOAL = 1e-3, 1e-2  # relative, of equal costs; rad or m and their rates, of a simulated end
SETTLED, FINER, ROUNDS = (
    2e-4,
    4 / 3,
    5,
)  # relative change of the cost, at which sizes stop to grow by this factor; sizes at most
FASTEST, NEAR = (
    0.3918545,
    2e-6,
)  # s: minimum time of two_link_time by shooting on the maximum principle; how near to it
CONVERGED = 5e-5  # relative: four digits of a cost
HEADER = (
    "transcription",
    "sizes",
    "cost",
    "difference",
    "iterations",
    "seconds",
    "end, rad or m",
    "end, their rates",
    "worst violation",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """One transcription: its `name`, how its `size` makes a problem and a Transcription, and `options` of the solver."""

    name: str
    sized: Callable
    options: dict


def _spline(**settings):
    return lambda statement, size: (
        replace(statement, motion=replace(statement.motion, points=size)),
        transcription_of(settings),
    )


def _mesh(**settings):
    return lambda statement, size: (statement, transcription_of({"intervals": size} | settings))


SPLINE = Way(name="B-spline", sized=_spline(), options={})
INTEGRATED = Way(
    name="B-spline, integrated",
    sized=_spline(method="integrated", nodes=2),
    options={"mu_init": 1e-4},
)
HERMITE = Way(name="Hermite-Simpson", sized=_mesh(method="hermite-simpson"), options={})
RADAU = Way(name="Radau, order 5", sized=_mesh(method="radau", order=5), options={})


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """What a transcription came to: the finest Solution, all its `sizes`, `seconds` for them, and the `end` of its forward simulation.

    `end`: distances of q (rad or m) and of qd (rad/s or m/s) from the plan's end.
    """

    way: Way
    solution: object
    sizes: tuple
    settled: bool
    iterations: int
    seconds: float
    end: tuple


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A problem function with arguments, and the optima of its starts that are refined: {what they are: optima -> Optimum}."""

    problem: Callable
    arguments: dict
    chosen: dict


def best(optima):
    """Return the best of the optima."""
    return optima[0]


def from_straight(optima):
    """Return the optimum to which the straight motion leads."""
    return next(optimum for optimum in optima if 0 in optimum.starts)


def near_print(optima):
    """Return the optimum with a cost nearest to the printed one."""
    return min(
        optima, key=lambda optimum: abs(optimum.objective - two_link_effort.PUBLISHED[-1].value)
    )


CASES = {
    "cart_pole_swing": Case(
        problem=cart_pole_swing.problem,
        arguments={},
        chosen={"best": best, "from the straight motion": from_straight},
    ),
    "acrobot_swing": Case(problem=acrobot_swing.problem, arguments={}, chosen={"best": best}),
    "acrobot_swing_low": Case(
        problem=acrobot_swing.problem, arguments={"start": -1.3}, chosen={"best": best}
    ),
    "branched_acrobot_swing": Case(
        problem=branched_acrobot_swing.problem, arguments={}, chosen={"best": best}
    ),
    "two_link_effort": Case(
        problem=two_link_effort.problem, arguments={}, chosen={"nearest to the print": near_print}
    ),
}


# What is measured -----------------------------------------------------------------------------------------------------------


def refined(statement, way, size, guess):
    """Return the Row of the first size from which a finer one changes the cost by SETTLED at most, and whose control reaches the goal.

    Each size is FINER times the one before and starts from its solution; a solve that fails ends it.
    """
    begin, sizes, iterations, last, settled = time.perf_counter(), [], 0, guess, False
    while len(sizes) < ROUNDS and not settled:
        problem, transcription = way.sized(statement, size)
        found = solve(
            problem, transcription, Solver(options={"max_iter": 200} | way.options), guess=last
        )
        end = _end(found)
        settled = (
            bool(sizes)
            and found.success
            and abs(found.objective / last.objective - 1) <= SETTLED
            and max(end) <= GOAL
        )
        sizes, iterations, last = [*sizes, size], iterations + found.statistics["iterations"], found
        if not found.success:
            break
        size = round(FINER * size)
    return Row(
        way=way,
        solution=last,
        sizes=tuple(sizes),
        settled=settled,
        iterations=iterations,
        end=end,
        seconds=time.perf_counter() - begin,
    )


def _end(solution):
    """Return how far q and qd end from the plan when its torques alone drive the system from its start."""
    n, T = solution.problem.tree.dof, solution.duration
    gap = np.abs(replay(solution)[:, -1] - np.concatenate([solution.q(T), solution.qd(T)]))
    return tuple(
        float(part.max()) if np.isfinite(part).all() else np.inf for part in (gap[:n], gap[n:])
    )


def rows(statement, guess, flags):
    """Return the Rows of all transcriptions from one start."""
    ways = [(SPLINE, flags.points), (HERMITE, 2 * flags.intervals), (RADAU, flags.intervals)]
    if structure(statement.tree).passive:
        ways.append((INTEGRATED, flags.points))
    return [_told(refined(statement, way, size, guess)) for way, size in ways]


def _told(row):
    print(
        f"{row.way.name}: {row.solution.objective:.7g}, {row.seconds:.1f} s",
        file=sys.stderr,
        flush=True,
    )
    return row


# What is printed ------------------------------------------------------------------------------------------------------------


def table(title, found):
    """Return the Rows as a table; differences are relative to the least cost among them."""
    least, lines = min(row.solution.objective for row in found), []
    for row in found:
        worst = max(violations(row.solution).values(), key=lambda violation: violation.relative)
        lines.append(
            (
                row.way.name,
                "-".join(map(str, row.sizes)),
                f"{row.solution.objective:.7g}",
                f"{row.solution.objective / least - 1:.1e}",
                row.iterations,
                f"{row.seconds:.1f}",
                *(f"{part:.1e}" for part in row.end),
                f"{worst.dense:.1e} {worst.unit} {worst.name}",
            )
        )
    return markdown(title, HEADER, lines)


def spread(done, optima):
    """Return a line on the starts of a study: how many converge, to which optima, how often."""
    shown = [*optima[:6], *([optima[-1]] if len(optima) > 6 else [])]
    costs = [f"{optimum.objective:.5g} ({len(optimum.starts)})" for optimum in shown]
    costs[6:6] = ["..."] * (len(optima) > 7)
    return (
        f"starts on a coarse mesh: {len(done.cells)}, of which {len(done.solved)} converge, to {len(optima)} optima (by how many starts): "
        + ", ".join(costs)
    )


def claim(holds, text):
    """Return (holds, its line)."""
    return bool(holds), f"{'holds' if holds else 'MISSED'}: {text}"


def agreement(name, found):
    """Return the claims on the Rows of one optimum."""
    costs, sizes = (
        [row.solution.objective for row in found],
        [row for row in found if not row.settled],
    )
    gap, end = max(costs) / min(costs) - 1, max(max(row.end) for row in found)
    yield claim(
        gap <= SAME and not sizes,
        f"{name}: {len(found)} transcriptions, costs within {gap:.1e} (asked {SAME:g}), "
        + ("settled" if not sizes else "not settled: " + ", ".join(row.way.name for row in sizes)),
    )
    if structure(found[0].solution.problem.tree).passive:
        yield claim(
            end <= GOAL,
            f"{name}: simulated, every control ends within {end:.1e} of the goal (asked {GOAL:g})",
        )


def cart_digits(found):
    """Return the claim on the digits of the cart's cost."""
    costs = [row.solution.objective for row in found if row.way in (SPLINE, HERMITE, RADAU)]
    return claim(
        max(costs) / min(costs) - 1 <= CONVERGED,
        "cart_pole_swing: B-spline, Hermite-Simpson and Radau agree to 4 digits: "
        + ", ".join(f"{cost:.7g}" for cost in costs),
    )


def effort_pair(found, optima):
    """Return the claim on the first path and the optimum of the two rods."""
    first, (start, least) = (
        two_link_effort.straight_cost(),
        [entry.value for entry in two_link_effort.PUBLISHED],
    )
    cost = min(row.solution.objective for row in found)
    return claim(
        abs(first - 70) < 5 and abs(cost - 10) < 1,
        f"two_link_effort: {first:.2f} -> {cost:.4f}, printed {start:g} -> {least:g}; lowest of the starts {optima[0].objective:.4g}",
    )


def minimum_time():
    """Return the claim on two_link_time by Radau collocation."""
    solution = solve(
        two_link_time.problem(),
        Transcription(method=Radau(intervals=100)),
        Solver(options={"tol": 1e-10}),
    )
    return claim(
        solution.success and abs(solution.duration - FASTEST) <= NEAR,
        f"two_link_time: T = {solution.duration:.7f} s by Radau, {solution.duration - FASTEST:+.1e} s off {FASTEST} (asked {NEAR:g})",
    )


def compared(name, flags):
    """Print what a case comes to; return its claims."""
    case, claims = CASES[name], []
    done = restarts(
        case.problem,
        case.arguments | {"points": ROUGH},
        COARSE,
        QUICK,
        starts=flags.starts,
        seed=flags.seed,
        spread=SPREAD,
        workers=flags.workers,
    )
    optima = ranked(done)
    print(
        f"{name}: {spread(done, optima)}\n" if optima else f"{name}: no start converges\n",
        flush=True,
    )
    if not optima:
        return [claim(False, f"{name}: no start converges")]
    apart = {
        choose(optima).starts: (what, choose(optima).solution)
        for what, choose in reversed(case.chosen.items())
    }
    for what, guess in reversed(apart.values()):
        found = rows(case.problem(**case.arguments), guess, flags)
        print(table(f"{name}, {what}", found), flush=True)
        claims += agreement(f"{name}, {what}", found)
    if name == "cart_pole_swing":
        claims.append(cart_digits(found))
    if name == "two_link_effort":
        claims.append(effort_pair(found, optima))
    return claims


def run(arguments=None):
    """Do what the command line asks for; return 0 if all claims hold, 1 if one is missed, 2 for bad arguments."""
    known = (*CASES, "two_link_time")
    parser = argparse.ArgumentParser(
        prog="python -m problems.compare_transcriptions", description=__doc__, allow_abbrev=False
    )
    parser.add_argument(
        "what", nargs="*", metavar="PROBLEM", help=f"any of {', '.join(known)} (default: all)"
    )
    for flag, default, text in (
        ("starts", 16, "first guesses of each problem"),
        ("seed", 0, "of the random ones"),
        ("points", 120, "first number of control points"),
        ("intervals", 40, "first number of intervals of Radau"),
        ("workers", 2, "processes for the starts, 0 for none but this one"),
    ):
        parser.add_argument(
            f"--{flag}", type=int, default=default, metavar="N", help=f"{text} (default: {default})"
        )
    flags = parser.parse_args(arguments)
    try:
        for name in flags.what:
            if name not in known:
                raise ValueError(f"unknown problem {name!r}; expected some of {', '.join(known)}")
        for flag, least in (("starts", 1), ("points", 20), ("intervals", 5), ("workers", 0)):
            if getattr(flags, flag) < least:
                raise ValueError(f"--{flag}: expected at least {least}, got {getattr(flags, flag)}")
    except ValueError as error:
        print(f"compare_transcriptions: error: {error}", file=sys.stderr)
        return BAD_ARGUMENTS
    claims = []
    for name in flags.what or known:
        claims += [minimum_time()] if name == "two_link_time" else compared(name, flags)
    print("\n".join(line for _, line in claims))
    return HELD if all(holds for holds, _ in claims) else MISSED


if __name__ == "__main__":
    sys.exit(run())
