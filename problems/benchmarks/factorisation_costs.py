"""Steps of walking over speeds and lengths by IPOPT with MUMPS, with our fronts, and by our own
interior point, by turns: iterations, objectives and seconds, cell by cell.

    python -m problems.benchmarks.factorisation_costs [--cells 64] [--people]
        [--objective effort] [--kernels auto] [--by ipopt,fronts,structured]

Speeds of 0.8 to 1.6 m/s by lengths of 0.5 to 0.65 m, eight of each, of which `--cells` are drawn at
random; with `--people` instead women and men of three percentiles. Seconds are of processor time of
the solve alone; all begin from standing, on one program.
"""

import argparse
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ocp import Plan, Solver, Transcription, prepare
from ocp.problems.gait import effort_step
from ocp.problems.gait.solve_step import TUNED, more_and_more_careful, standing
from ocp.transcription import KERNELS

WAYS = {
    "ipopt": Solver(plugin="ipopt"),
    "fronts": Solver(options={"linear_solver": "fronts"}),
    "structured": Solver(plugin="structured"),
}
SPEEDS, LENGTHS = np.linspace(0.8, 1.6, 8), np.linspace(0.5, 0.65, 8)  # m/s, m
PEOPLE = ("f5", "f50", "f95", "m5", "m50", "m95")
SAME = 1e-6  # relative: objectives that count as one


@dataclass(frozen=True, slots=True, kw_only=True)
class Solved:
    """What a solve came to: whether it succeeded, its iterations, objective and seconds."""

    success: bool
    iterations: int
    objective: float
    seconds: float


def by_turns(plan: Plan, start, names: Sequence[str]) -> dict[str, Solved]:
    """Return {way: Solved} of a plan."""
    found = {}
    for name in names:
        begin = time.process_time()
        solution = replace(plan, solver=WAYS[name]).solve(start, certify=False)
        found[name] = Solved(
            success=solution.success,
            iterations=solution.statistics["iterations"],
            objective=solution.objective,
            seconds=time.process_time() - begin,
        )
    return found


def cells(count: int) -> Iterator[tuple[str, dict[str, float]]]:
    """Yield (words, values of parameters) of so many cells."""
    drawn = np.random.default_rng(0).permutation(len(SPEEDS) * len(LENGTHS))[:count]
    for cell in drawn:
        speed, length = SPEEDS[cell // len(LENGTHS)], LENGTHS[cell % len(LENGTHS)]
        yield f"{speed:5.2f} {length:6.3f}", {"speed": speed, "step": length}


def line(words: str, found: Mapping[str, Solved]) -> str:
    """Return the line of a cell that `words` name."""
    first = next(iter(found.values()))
    parts = [f"{words:12}"]
    for each in found.values():
        mark = " " if each.success else "!"
        beside = each.seconds / first.seconds
        parts.append(
            f"{each.iterations:5d}{mark}{each.objective:12.8f}{each.seconds:7.2f}{beside:6.2f}"
        )
    return " ".join(parts)


def summary(every: Sequence[Mapping[str, Solved]]) -> Iterator[str]:
    """Yield lines of what each way came to over all cells."""
    base = next(iter(every[0]))
    for name in every[0]:
        own = [found[name] for found in every]
        counts = np.quantile([each.iterations for each in own], (0.5, 0.9, 1.0))
        ratios = [found[name].seconds / found[base].seconds for found in every]
        low, middle, high = np.quantile(ratios, (0.0, 0.5, 1.0))
        apart = [abs(f[name].objective / f[base].objective - 1.0) for f in every]
        yield (
            f"{name:11} {sum(each.success for each in own)} of {len(own)} solved, "
            f"{sum(gap <= SAME for gap in apart)} at the optimum of {base}; iterations "
            f"{counts[0]:.0f} in the median, {counts[1]:.0f} at 90 %, {counts[2]:.0f} at most; "
            f"seconds {low:.2f} to {high:.2f} of its, {middle:.2f} in the median"
        )


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table."""
    given, names = _given(arguments)
    chosen: Iterator[tuple[str, dict]] = cells(given.cells)
    if given.people:
        chosen = ((who, {"person": who}) for who in PEOPLE)
    print("In order: iterations (! where it failed), objective, seconds, ratio to the first.")
    print(f"{'':14}" + "".join(f"{name:34}" for name in names))
    every = []
    for words, values in chosen:
        stated = effort_step(objective=given.objective, **values)
        made = Transcription(kernels=given.kernels)
        plan = prepare(stated, made, attempts=more_and_more_careful(TUNED))
        found = by_turns(plan, standing(stated), names)
        print(line(words, found), flush=True)
        every.append(found)
    print("\n".join(summary(every)))


def _given(arguments: Sequence[str] | None) -> tuple[argparse.Namespace, list[str]]:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cells", type=int, default=64, help="of 64, drawn at random")
    parser.add_argument("--people", action="store_true", help="in place of cells")
    parser.add_argument("--objective", default="effort", help="as of the gait")
    parser.add_argument("--kernels", default="auto", choices=KERNELS, help="what evaluates them")
    parser.add_argument("--by", default="ipopt,structured", help=f"some of {', '.join(WAYS)}")
    given = parser.parse_args(arguments)
    names = given.by.split(",")
    if not set(names) <= set(WAYS):
        parser.error(f"by: expected some of {', '.join(WAYS)}, got {given.by!r}")
    if not 1 <= given.cells <= len(SPEEDS) * len(LENGTHS):
        parser.error(f"cells: expected 1 to 64, got {given.cells}")
    return given, names


if __name__ == "__main__":
    main()
