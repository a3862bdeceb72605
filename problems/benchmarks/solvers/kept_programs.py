"""Programs from kept machine code after random edits of sources and numbers: none may be stale.

Each edit changes a number, an operator or an instant in the text of a problem, or a number of its
record; its program by kept code must have the bits of the virtual machine's, at a random point.
With `--turns`, imports, statement and build of a second gait by kept code are measured instead,
beside those without any.
"""

import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from statistics import median

import numpy as np

from ocp import Problem, Transcription
from ocp.cli import DONE, exit_status
from ocp.codegen import is_kept
from ocp.problems.benchmarks import program_parser
from ocp.transcription import Transcribed, transcribe

TEXT = """
import casadi as ca
from ocp import BSpline, Link, Point, Problem, Tree, at_end, at_start, dh, effort, integral, path
from ocp import torque_limits

link = Link(mass=0.5, com=(-0.2, 0, 0), inertia=((0, 0, 0), (0, 0.1, 0), (0, 0, 0.1)))
joints = (dh("shoulder", a=0.4, torque=10), dh("elbow", "shoulder", a=0.3, torque=8))
arm = Tree(links=(link, link), joints=joints, points=(Point(name="tip", link="elbow"),))
STIFF = 1.5

def stretch(at):
    return ca.sumsqr(at.tau) + STIFF * ca.sin(at.q[0] - 0.25) ** 2

def room(at):
    return at.position("tip")[0] + 0.7 * at.qd[1]

problem = Problem(
    tree=arm,
    motion=BSpline(points=9),
    duration=(0.5, 2.0),
    objective=integral("stretch", stretch),
    constraints=(
        at_start(arm, q=(0.0, -2.0), qd=0.0),
        at_end(arm, q=(1.0, -1.0), qd=0.0),
        torque_limits(arm),
        path("room", room, lower=-0.9),
    ),
)
"""
GAIT = """
import time
from ocp import Solver
from ocp.problems.gait import TASK

solution = TASK.method(TASK.problem(), TASK.transcription, Solver()).require()
print(time.process_time() - solution.statistics["solve_cpu_seconds"])
"""
EDITS = {
    "0.5, com": ("0.6, com", "0.500000000001, com"),
    "a=0.3": ("a=0.31", "a=0.2999999999999"),
    "STIFF = 1.5": ("STIFF = 1.4", "STIFF = 1.5000000000000002"),
    "ca.sin": ("ca.cos", "ca.tanh", "ca.atan"),
    "** 2": ("** 4",),
    "0.7 * at": ("0.7 / at", "-0.7 * at", "0.71 * at"),
    "at.qd[1]": ("at.qd[0]", "at.q[1]", "at.tau[1]"),
    "points=9": ("points=10", "points=9, degree=4"),
    "torque=8": ("torque=9",),
    "lower=-0.9": ("lower=-0.8", "lower=-0.9, when='end'"),
    "(0.5, 2.0)": ("1.1", "(0.4, 2.0)"),
    "ca.sumsqr(at.tau)": ("ca.sumsqr(at.qdd)", "2 * ca.sumsqr(at.tau)"),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Make so many edits, print how many programs were stale, and return the exit status."""
    parser = program_parser("benchmarks.solvers.kept_programs", __doc__)
    parser.add_argument("--edits", type=int, default=1000, help="number of them")
    parser.add_argument("--seed", type=int, default=1, help="of what is drawn")
    parser.add_argument("--turns", type=int, default=0, help="of the gait in place of edits")
    flags = parser.parse_args(arguments)
    if flags.turns:
        return compare_runs(flags.turns)
    chosen, stale, found = random.Random(flags.seed), 0, 0
    with tempfile.TemporaryDirectory() as folder:
        os.environ["OCP_CACHE"] = folder
        if not is_kept():
            print("nothing is kept here: see OCP_KEPT", file=sys.stderr)
        for number in range(flags.edits):
            problem, before = edited(chosen), len(os.listdir(folder))
            slopes = chosen.choice(("ad", "recursive"))
            kept, plain = (
                transcribe(problem, Transcription(kernels=kernels, derivatives=slopes))
                for kernels in ("assembled", "virtual")
            )
            stale += not alike(kept, plain, number)
            found += len(os.listdir(folder)) == before
    print(f"{flags.edits} edits: {stale} stale programs, {found} that were all kept before")
    return DONE if not stale else 1


def compare_runs(turns: int) -> int:
    """Print processor seconds of the gait but for its solver, with kept code and without by turns,
    and the ratio of medians; return the exit status."""
    seconds: dict[str, list[float]] = {"0": [], "1": []}
    with tempfile.TemporaryDirectory() as folder:
        seconds_beside_solver("1", folder)  # keeps what the others find
        for _ in range(turns):
            for kept, own in seconds.items():
                own.append(seconds_beside_solver(kept, folder))
                print(f"OCP_KEPT={kept}: {own[-1]:.2f} s of a processor", flush=True)
    without, second = map(median, seconds.values())
    print(f"medians {without:.2f} s and {second:.2f} s: {second / without:.2f}")
    return DONE


def seconds_beside_solver(kept: str, folder: str) -> float:
    """Return the processor time (s) of the gait in a process of its own, but for its solver."""
    ran = subprocess.run(
        [sys.executable, "-c", GAIT],
        env=os.environ | {"OCP_KEPT": kept, "OCP_CACHE": folder},
        stdout=subprocess.PIPE,
        check=True,
        text=True,
    )
    return float(ran.stdout)


def edited(chosen: random.Random) -> Problem:
    """Return the problem of a text with some edits, and with a number of its record changed."""
    text = TEXT
    for place in chosen.sample([*EDITS], chosen.choice((0, 1, 1, 2, 3))):
        text = text.replace(place, chosen.choice(EDITS[place]))
    names: dict = {}
    exec(compile(text, "edited.py", "exec"), names)  # as a user's file is run
    problem: Problem = names["problem"]
    if chosen.random() < 0.3:
        gravity = np.array(problem.tree.gravity) * (1.0 + 10.0 ** -chosen.uniform(1.0, 15.0))
        problem = replace(problem, tree=replace(problem.tree, gravity=gravity))
    return problem


def alike(one: Transcribed, other: Transcribed, seed: int) -> bool:
    """Tell whether two programs have the same bits in all values, derivatives and bounds."""
    x = one.guess + np.random.default_rng(seed).uniform(0.0, 0.2, len(one.nlp.lower))
    return all(
        np.array_equal(np.array(mine), np.array(theirs), equal_nan=True)
        for mine, theirs in zip(numbers(one, x), numbers(other, x))
    )


def numbers(program: Transcribed, x: np.ndarray) -> list:
    """Return values, derivatives and bounds of a program at x."""
    nlp, pulls = program.nlp, np.linspace(-1, 1, len(program.nlp.g_lower))
    assert nlp.gradient and nlp.jacobian and nlp.hessian
    bounds = nlp.lower, nlp.upper, nlp.g_lower, nlp.g_upper
    derivatives = (
        *nlp.gradient(x, []),
        *nlp.jacobian(x, []),
        nlp.hessian("exact")(x, [], 0.7, pulls),
    )
    return [*bounds, nlp.objective(x), nlp.constraints(x), *derivatives]


if __name__ == "__main__":
    sys.exit(exit_status(main))
