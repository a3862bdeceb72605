"""Steps in real time as C programs beside Python's: the UR5 whose goal jumps, and the cart-pole.

    python -m problems.benchmarks.solvers.steps_in_c [moves] [compiler ...]

Both are written by `export_c`, compiled, and make the moves that `plan.step` makes: the values of
the parameters jump, and at times a part of the motion has passed. Printed are the largest
difference of a variable, relative to the largest of the point, and the processor's time of a Newton
step in C and in Python.
"""

import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from ocp import Problem, Spline, Transcription, prepare
from ocp.interchange import export_c
from ocp.problems.robots import ur5_replan
from ocp.problems.swing_ups import cart_pole_mpc

SEED = 41
COMPILER = ("gcc", "-O3", "-march=native")
FLAGS = ("-std=c99", "-ffp-contract=off")
PROGRAMS = {
    "ur5": (
        ur5_replan.problem,
        Spline(torques="variables", nodes=2),
        ("goal_x", "goal_y", "goal_z"),
    ),
    "cart_pole": (cart_pole_mpc.problem, Spline(), ("place", "angle", "speed", "turning")),
}
JUMP, PASSED, NEWTON = 0.05, 0.01, 5  # m or rad (or their rates), s, Newton steps at most


def compare(
    name: str,
    problem: Problem,
    method: Spline,
    jumping: Sequence[str],
    moves: int,
    compiler: Sequence[str],
) -> str:
    """Return a line on the steps of a plan in C and in Python.

    Args:
        name: of the C program.
        problem, method: of the plan.
        jumping: names of the parameters that jump.
        moves: number of moves.
        compiler: command that compiles C.
    """
    plan = prepare(problem, Transcription(method=method, kernels="assembled"))
    former = plan.solve().require(coarse=True)
    random = np.random.default_rng(SEED)
    own = np.array([former.parameters[each.name] for each in plan.parameters])
    jumps = np.array([each.name in jumping for each in plan.parameters])
    values = own + JUMP * jumps * random.uniform(-1.0, 1.0, (moves, len(own)))
    passed, spent, points, steps = PASSED * (np.arange(moves) % 5 == 4), 0.0, [], []
    step = former
    for given, seconds in zip(values, passed.tolist()):
        begin = time.process_time()
        step = plan.step(step, given, passed=seconds, newton=NEWTON)
        spent += time.process_time() - begin
        points.append(step.x)
        steps.append(step.newton)
    lines = [
        " ".join(map(repr, [seconds, NEWTON, *given]))
        for given, seconds in zip(values.tolist(), passed.tolist())
    ]
    with TemporaryDirectory() as folder:
        export_c(plan, Path(folder) / name, former=former)
        sources = f"{name}.c", "functions.c", "main.c"
        command = [*compiler, *FLAGS, *sources, "-o", "main", "-lm"]
        subprocess.run(command, cwd=Path(folder) / name, check=True)
        done = subprocess.run(
            [Path(folder) / name / "main", "x"],
            input="\n".join(lines),
            capture_output=True,
            text=True,
            check=True,
        )
    table = np.array([line.split() for line in done.stdout.splitlines()], dtype=float)
    expected = np.array(points)
    off = np.abs(table[:, 2:] - expected).max() / np.abs(expected).max()
    same = "the same" if np.array_equal(table[:, 0], steps) else "OTHER"
    in_c = float(done.stderr.split(",")[1].split()[0]) * moves / sum(steps) / 1e3
    return (
        f"{name}: {moves} moves, {sum(steps)} Newton steps, {same} in C; variables differ by "
        f"{off:.1e}; {in_c:.3f} ms a Newton step in C, {1e3 * spent / sum(steps):.3f} in Python"
    )


def main(moves: int = 200, *compiler: str) -> None:
    """Print the lines of both programs."""
    for name, (problem, method, jumping) in PROGRAMS.items():
        print(compare(name, problem(), method, jumping, moves, compiler or COMPILER))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]), *sys.argv[2:])
