"""Crocoddyl's trot of ANYmal by its FDDP and by our interior point: cost, iterations, seconds.

Seconds are of the processor, on one thread: of the search, and with stating and building. Crocoddyl
runs in a Python of its own, which CROCODDYL_PYTHON names.
"""

import json
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ocp import Guess, Solver, prepare, verify
from ocp.cli import DONE, exit_status
from ocp.problems.benchmarks import program_parser
from ocp.problems.benchmarks.peers.running import LIMIT, ONE_THREAD, OWN, system_python
from ocp.problems.benchmarks.peers.trot.statement import Answer, standing, trot

STEPS = (0.01, 0.005, 0.0025)  # s, of time; the first is that of its example
POINTS = (12, 18)  # control points of a swing
REPEATS = 3


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a row of each setting and return the exit status."""
    program_parser("benchmarks.peers.trot", __doc__).parse_args(arguments)
    print("who                      cost   iterations  search (s)  whole (s)  certificate")
    answers = [by_crocoddyl(step) for step in STEPS]
    for step, answer in zip(STEPS, answers):
        built, searched = answer["seconds"]
        words = f"crocoddyl, {1e3 * step:g} ms"
        print(
            f"{words:21} {answer['objective']:8.3f} {answer['iterations']:12} "
            f"{searched:11.3f} {built + searched:10.3f}"
        )
    for points in POINTS:
        print(by_us(answers[0], points))
    return DONE


def by_crocoddyl(step: float) -> Answer:
    """Return the answer of Crocoddyl on a step of time (s); raise RuntimeError if there is none."""
    command = [system_python("crocoddyl"), str(Path(__file__).parent / "by_crocoddyl.py")]
    run = subprocess.run(
        [*command, str(step), str(REPEATS)],
        env=ONE_THREAD,
        capture_output=True,
        text=True,
        check=False,
        timeout=LIMIT,
    )
    if run.returncode:
        last = (run.stderr.strip().splitlines() or ["no answer"])[-1]
        raise RuntimeError(f"crocoddyl: {last} ({OWN['crocoddyl'][1]})")
    return json.loads(run.stdout.splitlines()[-1])


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
