"""Results of the default ladder on hard and on broken statements.

Random lifts of the two-link arm with weak motors: every one that a random start solves the ladder
is to solve, and of the others to name the torque limits. Statements broken on purpose: the culprit
is to be among the first rows that the explanation names.
"""

import argparse
import json
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ocp import PLAIN, Guess, Problem, Solver, Transcription, at_end, at_start, solve, torque_limits
from ocp.cli import refuse
from ocp.problems.arms.two_link_lift import problem as two_link_lift
from ocp.problems.benchmarks import Claim, print_claims, program_parser
from ocp.problems.benchmarks.broken import BROKEN, NAMED, is_named
from ocp.storage import write
from ocp.studies import markdown, random_guess

WIDEST = 3.0  # rad: of the angles
WEAKEST, STRONGEST = 1.0, 10.0  # N m: of the torque limits
PLAIN_ITERATIONS = Solver(options={"max_iter": 1000})
QUICKEST = 0.3  # s: of the durations from which random starts begin
LEAST = 28 / 30  # of the broken statements, the share whose culprit is named
KINDS = ("lifts", "broken")
Result = dict[str, Any]


def lift(number: int, seed: int) -> Problem:
    """Return random lift `number`: from rest to rest between any angles, with any torque limit."""
    random = np.random.default_rng((seed, number))
    start, goal = random.uniform(-WIDEST, WIDEST, (2, 2)).tolist()
    stated = two_link_lift(torque=float(random.uniform(WEAKEST, STRONGEST)))
    arm = stated.tree
    ends = at_start(arm, q=start, qd=0.0), at_end(arm, q=goal, qd=0.0)
    return replace(stated, constraints=(*ends, torque_limits(arm)))


def begun(problem: Problem, number: int) -> Guess:
    """Return random start `number`, every other one in a random duration too."""
    guess = random_guess(problem, Transcription(), number)
    if number % 2:
        return guess
    random = np.random.default_rng((len("start"), number))
    most = problem.duration[1]
    return replace(guess, duration=float(np.exp(random.uniform(np.log(QUICKEST), np.log(most)))))


def lifted(number: int, flags: argparse.Namespace) -> Result:
    """Return the results of a lift: by the ladder, and if that fails by single starts."""
    problem, begin = lift(number, flags.seed), time.perf_counter()
    solution = solve(problem)
    seconds = time.perf_counter() - begin
    solving = []
    for start in range(1, flags.starts + 1) if not solution.success else ():
        guess = begun(problem, start)
        if solve(problem, solver=PLAIN_ITERATIONS, guess=guess, attempts=PLAIN).success:
            solving.append(start)
    return {
        "torque": problem.tree.joints[0].torque[1],
        "solved": solution.success,
        "rungs": len(solution.statistics["attempts"]),
        "iterations": solution.statistics["iterations"],
        "seconds": seconds,
        "duration": solution.duration,
        "starts": solving,
        "named": list(solution.explanation[1 : 1 + NAMED]),
    }


def broken(number: int, flags: argparse.Namespace) -> Result:
    """Return the names in the explanation of a broken statement."""
    name, statement = list(BROKEN.items())[number]
    begin = time.perf_counter()
    try:
        solution = solve(statement.problem())
        status, lines = solution.status, solution.explanation
        known = not solution.success and is_named(statement, lines)
    except ValueError as error:  # a statement may be refused before the solve
        status, lines = "refused", ("", str(error))
        known = is_named(statement, lines)
    return {
        "name": name,
        "status": status,
        "known": known,
        "seconds": time.perf_counter() - begin,
        "named": list(lines[1 : 1 + NAMED]),
    }


def lift_lines(results: Mapping[int, Result], flags: argparse.Namespace) -> Iterator[str]:
    """Yield the tables of the lifts."""
    rungs = Counter(one["rungs"] for one in results.values() if one["solved"])
    names = ("the plain attempt", "feasible first", "wandering starts")
    rows = [(name, rungs[k]) for k, name in enumerate(names, 1)]
    rows.append(("none", sum(not one["solved"] for one in results.values())))
    yield markdown(f"{len(results)} lifts, by what solves them", ("rung", "lifts"), rows)
    unsolved = [(number, one) for number, one in results.items() if not one["solved"]]
    lines = [
        (number, f"{one['torque']:.2f}", len(one["starts"]), *(one["named"] or [""])[:1])
        for number, one in unsolved
    ]
    header = ("lift", "limit, N m", f"of {flags.starts} starts solve it", "what is named first")
    yield markdown("lifts that the ladder does not solve", header, lines)


def lift_claims(results: Mapping[int, Result], flags: argparse.Namespace) -> Iterator[Claim]:
    """Yield the claims on the lifts."""
    unsolved = [one for one in results.values() if not one["solved"]]
    missed = sum(bool(one["starts"]) for one in unsolved)
    mute = sum(not _yields_torque(one["named"]) for one in unsolved)
    yield not missed, f"lifts that one of {flags.starts} starts solves and the ladder not: {missed}"
    yield not mute, f"lifts unsolved without torque limits that must give way: {mute}"


def _yields_torque(named: Sequence[str]) -> bool:
    return bool(named) and named[0].startswith("torque_limits") and "must give way by" in named[0]


def broken_lines(results: Mapping[int, Result], flags: argparse.Namespace) -> Iterator[str]:
    """Yield the table of the broken statements."""
    lines = [
        (
            one["name"],
            "yes" if one["known"] else "NO",
            f"{one['seconds']:.1f}",
            "<br>".join(one["named"]),
        )
        for one in results.values()
    ]
    yield markdown("statements broken on purpose", ("broken", "named", "s", "first rows"), lines)


def broken_claims(results: Mapping[int, Result], flags: argparse.Namespace) -> Iterator[Claim]:
    """Yield the claims on the broken statements."""
    known = sum(one["known"] for one in results.values())
    text = f"culprits among the first {NAMED} rows: {known} of {len(results)}"
    yield known >= LEAST * len(results), text


MAKE: dict[str, Callable[..., Result]] = {"lifts": lifted, "broken": broken}
LINES = {"lifts": lift_lines, "broken": broken_lines}
CLAIMS = {"lifts": lift_claims, "broken": broken_claims}


def gathered(kind: str, flags: argparse.Namespace) -> dict[int, Result]:
    """Return {number: result} of the tasks of a kind, those that are kept and those yet to do."""
    count = flags.tasks if kind == "lifts" else min(flags.tasks, len(BROKEN))
    mark = f"{kind}, seed {flags.seed}, starts {flags.starts}" if kind == "lifts" else kind
    kept = json.loads(flags.keep.read_text()) if flags.keep and flags.keep.exists() else {}
    results = {int(number): result for number, result in kept.get(mark, {}).items()}
    begin = time.perf_counter()
    for number in range(count):
        if number in results or time.perf_counter() - begin > flags.seconds:
            continue
        results[number] = MAKE[kind](number, flags)
        print(f"{kind} {number + 1} of {count}", file=sys.stderr, flush=True)
        if flags.keep:
            write(flags.keep, json.dumps(kept | {mark: results}))
    return {number: results[number] for number in range(count) if number in results}


def run(arguments: Sequence[str] | None = None) -> int:
    """Do what the command line asks for; return the exit status.

    It is 0 if all claims hold, 1 if one is missed or tasks are left, 2 for bad arguments.
    """
    flags = _parser().parse_args(arguments)
    try:
        _check(flags)
    except ValueError as error:
        return refuse("compare_ladder", error)
    claims: list[Claim] = []
    for kind in flags.what or KINDS:
        results = gathered(kind, flags)
        print(*LINES[kind](results, flags), sep="\n")
        claims += CLAIMS[kind](results, flags)
    return print_claims(claims)


def _parser() -> argparse.ArgumentParser:
    parser = program_parser("compare_ladder", __doc__)
    words = f"any of {', '.join(KINDS)} (default: all)"
    parser.add_argument("what", nargs="*", metavar="KIND", help=words)
    for flag, default, text in (
        ("tasks", 80, "lifts, or broken statements at most"),
        ("starts", 20, "random starts of a lift that the ladder does not solve"),
        ("seed", 12, "of the lifts"),
    ):
        words = f"{text} (default: {default})"
        parser.add_argument(f"--{flag}", type=int, default=default, metavar="N", help=words)
    parser.add_argument(
        "--seconds",
        type=float,
        default=np.inf,
        metavar="S",
        help="begin no task later than that; with --keep another run goes on from there",
    )
    parser.add_argument("--keep", type=Path, metavar="FILE.json", help="keep results there")
    return parser


def _check(flags: argparse.Namespace) -> None:
    """Raise ValueError naming what cannot be met."""
    for kind in flags.what:
        if kind not in KINDS:
            raise ValueError(f"unknown kind {kind!r}; expected some of {', '.join(KINDS)}")
    for flag, least in (("tasks", 1), ("starts", 0), ("seed", 0)):
        if getattr(flags, flag) < least:
            raise ValueError(f"--{flag}: expected at least {least}, got {getattr(flags, flag)}")


if __name__ == "__main__":
    sys.exit(run())
