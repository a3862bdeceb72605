"""Alternatives compared: torques as variables or expressed by the motion, and derivatives by
recursions or automatic, for motions on splines.

All choices of a problem are solved by turns in one process; seconds are those of the processor,
medians. The integral is what the objective names, of the torques that the motion needs.
"""

import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

import numpy as np

from ocp import Problem, Spline, Transcription, solve, verify
from ocp.cli import BAD_ARGUMENTS, DONE, exit_status
from ocp.problems.arms.box_pick import problem as box_pick
from ocp.problems.arms.spring_arm import problem as spring_arm
from ocp.problems.arms.throw import problem as throw
from ocp.problems.arms.two_link_effort import problem as two_link_effort
from ocp.problems.arms.two_link_lift import problem as two_link_lift
from ocp.problems.arms.two_link_time import problem as two_link_time
from ocp.problems.benchmarks import program_parser
from ocp.problems.benchmarks.peers.reach import reach
from ocp.problems.benchmarks.scale.cases.programs import lift
from ocp.problems.mechanisms.five_bar_pick import problem as five_bar
from ocp.problems.mechanisms.four_bar_effort import problem as four_bar
from ocp.problems.robots.ur5_reach import problem as ur5_reach
from ocp.problems.swing_ups.acrobot_swing import problem as acrobot
from ocp.problems.swing_ups.cart_pole_swing import problem as cart_pole
from ocp.studies import markdown

CHOICES = tuple(
    (torques, by) for torques in ("explicit", "variables") for by in ("recursive", "ad")
)
HEADER = ("torques", "derivatives", "objective", "its integral", "iterations", "seconds")


def lifted(shape: str, joints: int, points: int = 8) -> Problem:
    """Return the lift of a tree of that shape and so many joints, on so many control points."""
    return lift(shape, joints, "explicit", points).problem


CASES: Mapping[str, Callable[[], Problem]] = {
    "two_link_time": two_link_time,
    "two_link_lift": two_link_lift,
    "two_link_effort": two_link_effort,
    "spring_arm": spring_arm,
    "box_pick": box_pick,
    "throw": throw,
    "cart_pole_swing": cart_pole,
    "acrobot_swing": acrobot,
    "four_bar_effort": four_bar,
    "five_bar_pick": five_bar,
    "ur5_reach": ur5_reach,
    "ur5_effort": reach,
    "chain of 10": partial(lifted, "chain", 10, 12),
    "chain of 20": partial(lifted, "chain", 20),
    "boughs of 15": partial(lifted, "boughs", 15),
    "boughs of 31": partial(lifted, "boughs", 31),
    "star of 11": partial(lifted, "star", 11),
    "star of 39": partial(lifted, "star", 39),
    "caterpillar of 20": partial(lifted, "caterpillar", 20),
}


def compared(problem: Problem, rounds: int) -> Iterator[tuple[str, ...]]:
    """Yield a line of the table for each of the CHOICES, solved by turns in so many rounds."""
    ways = [Transcription(method=Spline(torques=one), derivatives=by) for one, by in CHOICES]
    seconds: list[list[float]] = [[] for _ in ways]
    for _ in range(rounds):
        solutions = []
        for own, way in zip(seconds, ways):
            begin = time.process_time()
            solutions.append(solve(problem, way))
            own.append(time.process_time() - begin)
    for choice, solution, own in zip(CHOICES, solutions, seconds):
        integral = verify(solution).objective if solution.success else None
        yield (
            *choice,
            f"{solution.objective:.7g}",
            "" if integral is None else f"{integral:.7g}",
            f"{solution.statistics['iterations']}{'' if solution.success else ', not solved'}",
            f"{np.median(own):.2f}",
        )


def run(arguments: Sequence[str] | None = None) -> int:
    """Print the tables that the command line asks for; return the exit status."""
    parser = program_parser("compare_choices", __doc__)
    parser.add_argument("what", nargs="*", help=f"any of {', '.join(CASES)} (default: all)")
    parser.add_argument("--rounds", type=int, default=3, help="solves of each (default: 3)")
    flags = parser.parse_args(arguments)
    unknown = [name for name in flags.what if name not in CASES]
    if unknown or flags.rounds < 1:
        wrong = f"unknown problem {unknown[0]!r}" if unknown else "--rounds: expected 1 at least"
        print(f"compare_choices: error: {wrong}", file=sys.stderr)
        return BAD_ARGUMENTS
    for name in flags.what or CASES:
        problem = CASES[name]()
        title = f"{name}: {problem.tree.dof} coordinates"
        print(markdown(title, HEADER, [*compared(problem, flags.rounds)]), flush=True)
    return DONE


if __name__ == "__main__":
    sys.exit(exit_status(run))
