"""Crocoddyl's trot of ANYmal by its FDDP and by our interior point: cost, iterations, seconds.

Seconds are of the processor, on one thread: of the search, and with stating and building. Crocoddyl
runs in a Python of its own, which CROCODDYL_PYTHON names.
"""

import sys
import time
from collections.abc import Sequence

import numpy as np

from ocp import Guess, Solver, prepare, verify
from ocp.cli import DONE, exit_status, refuse
from ocp.problems.benchmarks import program_parser
from ocp.problems.benchmarks.peers.running import OWN, child
from ocp.problems.benchmarks.peers.trot.statement import Answer, standing, trot

STEPS = (0.01, 0.005, 0.0025)  # s, of time; the first is that of its example
POINTS = (12, 18)  # control points of a swing
REPEATS = 3


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a row of each setting and return the exit status."""
    program_parser("benchmarks.peers.trot", __doc__).parse_args(arguments)
    try:
        answers = [child("trot.by_crocoddyl", "trot", {"step": step}, REPEATS) for step in STEPS]
    except RuntimeError as error:
        variable, how = OWN["crocoddyl"]
        return refuse("peers.trot", RuntimeError(f"{error}: {variable} names its Python, {how}"))
    print("who                      cost   iterations  search (s)  whole (s)  certificate")
    for step, answer in zip(STEPS, answers):
        words = f"crocoddyl, {1e3 * step:g} ms"
        print(
            f"{words:21} {answer['objective']:8.3f} {answer['iterations']:12} "
            f"{answer['search']:11.3f} {answer['building'] + answer['search']:10.3f}"
        )
    for points in POINTS:
        print(by_us(answers[0], points))
    return DONE


def by_us(answer: Answer, points: int) -> str:
    """Return the row of our solution on so many control points."""
    begin = time.process_time()
    problem = trot(answer, points)
    plan = prepare(problem, solver=Solver(plugin="structured"))
    posture = standing(answer)
    rest = np.array([posture[joint.name] for joint in problem.tree.moving])
    solution = plan.solve(Guess(q=np.column_stack([rest, rest]))).require(coarse=True)
    whole = time.process_time() - begin
    search = solution.statistics["solve_cpu_seconds"]
    return (
        f"{f'ocp, {points} points':21} {solution.objective:8.3f} "
        f"{solution.statistics['iterations']:12} {search:11.3f} {whole:10.3f}  "
        f"{verify(solution).tightest:.1e}"
    )


if __name__ == "__main__":
    sys.exit(exit_status(main))
