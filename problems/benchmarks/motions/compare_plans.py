"""Savings by a plan: solves of a problem prepared once, beside solves from nothing.

`gait` walks at 1.2 m/s, then at other speeds: on the plan of that, from its solution; with the
number stated and all built anew from the motion found, to see that it is an optimum there too; and
so from standing, the cold one, which may end in another optimum. `people` walk likewise, each from
the median of their sex. Seconds are the processor's, in one run. Graphs are counted: every symbol,
function and solver that a solve makes.
"""

import argparse
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import casadi as ca

from ocp import NotVerified, Parameter, Plan, Solution, Solver, Transcription, verify
from ocp.cli import DONE, FAILED, exit_status
from ocp.models.human import PEOPLE, SURVEY
from ocp.problems.benchmarks import print_table, program_parser
from ocp.problems.gait import effort_step as problem
from ocp.problems.gait import walk

BEGUN = 1.2  # m/s: where warm solves start from
SPEEDS = (1.25, 1.21)  # m/s
OTHERS = ("m5", "m95")  # people
CERTIFIED = 1e-2  # tolerance of the certificate
MAKERS = ((ca, "nlpsol"), (ca.Function, "__init__"), (ca.SX, "sym"), (ca.MX, "sym"))
HEADER = (
    *("solve", "to foretell", "iterations", "graphs", "seconds", "of the cold one"),
    *("objective", "off the optimum there", "certificate"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A solve: what it is called, how many graphs it made, and its processor time (s)."""

    name: str
    solution: Solution
    graphs: int
    seconds: float


@contextmanager
def counted() -> Iterator[list[str]]:
    """Count what CasADi is asked to make within: a list that grows by the name of each."""
    made: list[str] = []
    makers = [(owner, name, getattr(owner, name)) for owner, name in MAKERS]

    def counting(name: str, maker: Callable[..., Any]) -> Callable[..., Any]:
        def make(*arguments: Any, **options: Any) -> Any:
            made.append(name)
            return maker(*arguments, **options)

        return make

    for owner, name, maker in makers:
        setattr(owner, name, counting(name, maker))
    try:
        yield made
    finally:
        for owner, name, maker in makers:
            setattr(owner, name, maker)


def timed(name: str, solved: Callable[[], Solution]) -> Run:
    """Return the Run of a solve."""
    with counted() as made:
        begin = time.process_time()
        solution = solved()
        seconds = time.process_time() - begin
    return Run(name=name, solution=solution, graphs=len(made), seconds=seconds)


def gait(speeds: Sequence[float]) -> Iterator[tuple[Run, ...]]:
    """Yield the runs of the gait at speeds (m/s)."""
    speed = Parameter("speed", BEGUN, "m/s", lower=0.1, upper=4.0)
    cells = {f"{number:g} m/s": {"speed": number} for number in speeds}
    yield from walked(f"{BEGUN:g} m/s", (speed,), cells)


def people(names: Sequence[str]) -> Iterator[tuple[Run, ...]]:
    """Yield the runs of people by name, as PEOPLE has them, each sex from its median."""
    for sex in SURVEY:
        chosen = {name: PEOPLE[name] for name in names if PEOPLE[name][0] == sex}
        sizes = {name: SURVEY[sex][rank] for name, (_, rank) in chosen.items()}
        stature, mass = SURVEY[sex][50]
        parameters = Parameter("stature", stature, "m"), Parameter("mass", mass, "kg")
        cells = {name: dict(zip(("stature", "mass"), size)) for name, size in sizes.items()}
        if cells:
            yield from walked(f"{sex[0]}50", parameters, cells, sex=sex)


def walked(
    begun: str,
    parameters: Sequence[Parameter],
    cells: Mapping[str, Mapping[str, Any]],
    **settings: Any,
) -> Iterator[tuple[Run, ...]]:
    """Yield the runs of walks: one with the own values of the parameters, called `begun`, then
    those of every cell {name: values}; `settings` are of the problem."""
    own: dict[str, Any] = {each.name: each for each in parameters}
    first = timed(
        f"{begun}, prepared and solved from standing",
        lambda: walk(problem(**own, **settings), Transcription(), Solver()),
    )
    yield (first,)
    plan: Any = first.solution.plan
    near: dict[str, Any] = {each.name: 1.001 * each.value for each in parameters}
    plan.solve(first.solution, **near)  # sets up the solvers of warm starts
    for name, values in cells.items():
        yield tuple(_cell(plan, first.solution, name, values, settings))


def _cell(
    plan: Plan, first: Solution, name: str, values: Mapping[str, Any], settings: Mapping[str, Any]
) -> Iterator[Run]:
    """Yield the runs of a cell: warm, its branch without a plan, and cold."""
    warm = timed(f"{name}, from the solution", lambda: plan.solve(first, **values))
    begun = replace(warm.solution, multipliers={})

    def anew(guess: Solution | None) -> Solution:
        return walk(problem(**values, **settings), Transcription(), Solver(), guess=guess)

    yield warm
    yield timed(f"{name}, stated anew, from that motion", lambda: anew(begun))
    yield timed(f"{name}, stated anew, from standing", lambda: anew(None))


def row(one: Run, runs: Sequence[Run]) -> tuple[str, ...]:
    """Return the row of the table of one of several runs, of which the last is the cold one."""
    done, cold, there = one.solution, runs[-1], runs[-2:][0]
    return (
        one.name,
        str(done.statistics["prediction_iterations"]),
        str(done.statistics["iterations"]) if done.success else done.status,
        str(one.graphs),
        f"{one.seconds:.2f}",
        f"{one.seconds / cold.seconds:.2f}",
        f"{done.objective:.8f}",
        f"{abs(done.objective / there.solution.objective - 1.0):.0e}",
        "holds" if sound(done) else "fails",
    )


def sound(solution: Solution) -> bool:
    """Tell whether a solution's certificate holds."""
    try:
        verify(solution).require(CERTIFIED)
    except NotVerified:
        return False
    return solution.success


def run(arguments: Sequence[str] | None = None) -> int:
    """Print the table that the command line asks for and return the exit status."""
    parser = program_parser("compare_plans", __doc__)
    chosen = parser.add_subparsers(dest="what", required=True)
    walking = chosen.add_parser("gait", help="speeds of walking")
    walking.add_argument("speeds", nargs="*", type=float, default=SPEEDS, help="m/s")
    walkers = chosen.add_parser("people", help="stature and mass of those who walk")
    walkers.add_argument("names", nargs="*", default=OTHERS, help=", ".join(PEOPLE))
    flags = parser.parse_args(arguments)
    runs = gait(flags.speeds) if flags.what == "gait" else people(_known(parser, flags.names))
    verdicts: list[str] = []

    def entries() -> Iterator[Sequence[str]]:
        for several in runs:
            for one in several:
                cells = row(one, several)
                verdicts.append(cells[-1])
                yield cells

    print_table(HEADER, entries())
    return DONE if all(verdict == "holds" for verdict in verdicts) else FAILED


def _known(parser: argparse.ArgumentParser, names: Sequence[str]) -> Sequence[str]:
    """Return names of people, or end with an error naming one that is unknown."""
    for name in names:
        if name not in PEOPLE:
            parser.error(f"expected some of {', '.join(PEOPLE)}, got {name!r}")
    return names


if __name__ == "__main__":
    sys.exit(exit_status(run))
