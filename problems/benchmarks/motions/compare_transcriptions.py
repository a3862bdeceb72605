"""Underactuated swings by every transcription: the same optimum, and a control that reaches it.

The best of several starts on a coarse mesh is refined by each transcription until its cost settles,
and its control alone, simulated, has to bring the motion about.
"""

import argparse
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ocp import Problem, Radau, Solver, Transcription, solve
from ocp.certificate import violations
from ocp.cli import DONE, FAILED, exit_status, refuse
from ocp.mechanics import structure
from ocp.problems.arms import two_link_effort, two_link_time
from ocp.problems.benchmarks import Claim, program_parser
from ocp.problems.benchmarks.refinement import GOAL, HERMITE, RADAU, SPLINE, Row, rows
from ocp.problems.swing_ups import acrobot_swing, branched_acrobot_swing, cart_pole_swing
from ocp.problems.swing_ups.upright_ends import COARSE, QUICK, ROUGH, SPREAD
from ocp.studies import Optimum, Study, markdown, rank_optima, restarts

SAME = 1e-3  # relative, of equal costs
CONVERGED = 5e-5  # relative: four digits of a cost
# s: minimum time of two_link_time by shooting on the maximum principle; how near to it
FASTEST, NEAR = 0.3918545, 2e-6
SHOWN = 6  # optima whose costs are listed, beside the last one
HEADER = (
    *("transcription", "sizes", "cost", "difference", "iterations", "seconds"),
    *("end, rad or m", "end, their rates", "worst violation"),
)
Choice = Callable[[Sequence[Optimum]], Optimum]


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A problem function with arguments, and the optima of its starts that are refined.

    `chosen`: {what they are: optima -> Optimum}.
    """

    problem: Callable[..., Problem]
    chosen: Mapping[str, Choice]
    arguments: Mapping[str, Any]


def best(optima: Sequence[Optimum]) -> Optimum:
    """Return the best of the optima."""
    return optima[0]


def from_straight(optima: Sequence[Optimum]) -> Optimum:
    """Return the optimum to which the straight motion leads."""
    return next(optimum for optimum in optima if 0 in optimum.starts)


def near_print(optima: Sequence[Optimum]) -> Optimum:
    """Return the optimum with a cost nearest to the printed one."""
    printed = two_link_effort.PUBLISHED[-1].value
    return min(optima, key=lambda optimum: abs(optimum.objective - printed))


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
KNOWN = (*CASES, "two_link_time")


def table(title: str, measured: Sequence[Row]) -> str:
    """Return the Rows as a table; differences are relative to the least cost among them."""
    least = min(row.solution.objective for row in measured)
    lines = []
    for row in measured:
        cost = row.solution.objective
        worst = max(violations(row.solution).values(), key=lambda violation: violation.relative)
        lines.append(
            (
                row.way.name,
                "-".join(map(str, row.sizes)),
                f"{cost:.7g}",
                f"{cost / least - 1:.1e}",
                row.iterations,
                f"{row.seconds:.1f}",
                *(f"{part:.1e}" for part in row.end),
                f"{worst.dense:.1e} {worst.unit} {worst.name}",
            )
        )
    return markdown(title, HEADER, lines)


def spread(study: Study, optima: Sequence[Optimum]) -> str:
    """Return a line on the starts of a study: how many converge, to which optima, how often."""
    costs = [f"{optimum.objective:.5g} ({len(optimum.starts)})" for optimum in optima]
    if len(costs) > SHOWN:
        costs[SHOWN:-1] = ["..."] * (len(costs) > SHOWN + 1)
    return (
        f"starts on a coarse mesh: {len(study.cells)}, of which {len(study.solved)} converge, "
        f"to {len(optima)} optima (by how many starts): {', '.join(costs)}"
    )


def claim(holds: bool, text: str) -> Claim:
    """Return (holds, its line)."""
    return bool(holds), f"{'holds' if holds else 'MISSED'}: {text}"


def agreement(name: str, measured: Sequence[Row]) -> Iterator[Claim]:
    """Yield the claims on the Rows of one optimum."""
    costs = [row.solution.objective for row in measured]
    loose = ", ".join(row.way.name for row in measured if not row.settled)
    gap, end = max(costs) / min(costs) - 1, max(max(row.end) for row in measured)
    yield claim(
        gap <= SAME and not loose,
        f"{name}: {len(measured)} transcriptions, costs within {gap:.1e} (asked {SAME:g}), "
        + (f"not settled: {loose}" if loose else "settled"),
    )
    if structure(measured[0].solution.problem.tree).passive:
        yield claim(
            end <= GOAL,
            f"{name}: simulated, every control ends within {end:.1e} of the goal (asked {GOAL:g})",
        )


def cart_digits(measured: Sequence[Row]) -> Claim:
    """Return the claim on the digits of the cart's cost."""
    costs = [row.solution.objective for row in measured if row.way in (SPLINE, HERMITE, RADAU)]
    return claim(
        max(costs) / min(costs) - 1 <= CONVERGED,
        "cart_pole_swing: B-spline, Hermite-Simpson and Radau agree to 4 digits: "
        + ", ".join(f"{cost:.7g}" for cost in costs),
    )


def effort_pair(measured: Sequence[Row], optima: Sequence[Optimum]) -> Claim:
    """Return the claim on the first path and the optimum of the two rods."""
    first = two_link_effort.straight_cost()
    start, least = (published.value for published in two_link_effort.PUBLISHED[:2])
    cost = min(row.solution.objective for row in measured)
    return claim(
        abs(first - 70) < 5 and abs(cost - 10) < 1,
        f"two_link_effort: {first:.2f} -> {cost:.4f}, printed {start:g} -> {least:g}; "
        f"lowest of the starts {optima[0].objective:.4g}",
    )


def minimum_time() -> Claim:
    """Return the claim on two_link_time by Radau collocation."""
    fine, exact = Transcription(method=Radau(intervals=100)), Solver(options={"tol": 1e-10})
    solution = solve(two_link_time.problem(), fine, exact)
    gap = solution.duration - FASTEST
    return claim(
        solution.success and abs(gap) <= NEAR,
        f"two_link_time: T = {solution.duration:.7f} s by Radau, {gap:+.1e} s off {FASTEST} "
        f"(asked {NEAR:g})",
    )


def compared(name: str, flags: argparse.Namespace) -> list[Claim]:
    """Print what a case comes to; return its claims."""
    case = CASES[name]
    claims: list[Claim] = []
    study = restarts(
        case.problem,
        {**case.arguments, "points": ROUGH},
        COARSE,
        QUICK,
        starts=flags.starts,
        seed=flags.seed,
        spread=SPREAD,
        workers=flags.workers,
    )
    optima = rank_optima(study)
    if not optima:
        print(f"{name}: no start converges\n", flush=True)
        return [claim(False, f"{name}: no start converges")]
    print(f"{name}: {spread(study, optima)}\n", flush=True)
    apart: dict[tuple[int, ...], tuple[str, Optimum]] = {}
    for what, choose in case.chosen.items():  # an optimum that is chosen twice counts once
        optimum = choose(optima)
        apart.setdefault(optimum.starts, (what, optimum))
    for what, optimum in apart.values():
        statement = case.problem(**case.arguments)
        measured = rows(statement, optimum.solution, flags.points, flags.intervals)
        print(table(f"{name}, {what}", measured), flush=True)
        claims += agreement(f"{name}, {what}", measured)
    if name == "cart_pole_swing":
        claims.append(cart_digits(measured))
    if name == "two_link_effort":
        claims.append(effort_pair(measured, optima))
    return claims


def run(arguments: Sequence[str] | None = None) -> int:
    """Do what the command line asks for; return the exit status.

    It is 0 if all claims hold, 1 if one is missed, 2 for bad arguments.
    """
    flags = _parser().parse_args(arguments)
    try:
        _check(flags)
    except ValueError as error:
        return refuse("compare_transcriptions", error)
    claims = []
    for name in flags.what or KNOWN:
        claims += [minimum_time()] if name == "two_link_time" else compared(name, flags)
    print("\n".join(line for _, line in claims))
    return DONE if all(holds for holds, _ in claims) else FAILED


def _parser() -> argparse.ArgumentParser:
    parser = program_parser("compare_transcriptions", __doc__)
    parser.add_argument(
        "what", nargs="*", metavar="PROBLEM", help=f"any of {', '.join(KNOWN)} (default: all)"
    )
    for flag, default, text in (
        ("starts", 16, "first guesses of each problem"),
        ("seed", 0, "of the random ones"),
        ("points", 120, "first number of control points"),
        ("intervals", 40, "first number of intervals of Radau"),
        ("workers", 2, "processes for the starts, 0 for none but this one"),
    ):
        words = f"{text} (default: {default})"
        parser.add_argument(f"--{flag}", type=int, default=default, metavar="N", help=words)
    return parser


def _check(flags: argparse.Namespace) -> None:
    """Raise ValueError naming what cannot be met."""
    for name in flags.what:
        if name not in KNOWN:
            raise ValueError(f"unknown problem {name!r}; expected some of {', '.join(KNOWN)}")
    for flag, least in (("starts", 1), ("points", 20), ("intervals", 5), ("workers", 0)):
        if getattr(flags, flag) < least:
            raise ValueError(f"--{flag}: expected at least {least}, got {getattr(flags, flag)}")


if __name__ == "__main__":
    sys.exit(exit_status(run))
