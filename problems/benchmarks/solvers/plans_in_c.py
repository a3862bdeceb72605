"""Plans as C programs beside Python's: the UR5 whose goal jumps, and the cart-pole.

    python -m problems.benchmarks.solvers.plans_in_c [moves] [compiler ...]

Both are written by `export_c`, compiled, and make the moves that `plan.step` makes: the values of
the parameters jump, and at times a part of the motion has passed. Printed are the largest
difference of a variable, relative to the largest of the point, and the processor's time of a Newton
step in C and in Python. Then the first SEARCHES of these moves are searched for from the first
guess, in C and by `plan.solve`: the largest relative difference of their objectives, iterations,
and the processor's time of a search.
"""

import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from ocp import Plan, Problem, Solution, Spline, Transcription, prepare
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
SEARCHES, MOST = 20, 500  # and iterations of each at most


def run_in_c(folder: Path, lines: Sequence[str], *words: str) -> tuple[np.ndarray, float]:
    """Return the numbers that a program prints, a row for each line that it reads, and the
    milliseconds of one.

    Args:
        folder: of the program.
        lines: moves, as its `main` reads them.
        words: its arguments.
    """
    given = {"input": "\n".join(lines), "capture_output": True, "text": True, "check": True}
    done = subprocess.run([folder / "main", *words], **given)
    table = np.array([line.split() for line in done.stdout.splitlines()], dtype=float)
    return table, float(done.stderr.splitlines()[-1].split(",")[1].split()[0]) / 1e3


def compare(
    name: str,
    problem: Problem,
    method: Spline,
    jumping: Sequence[str],
    moves: int,
    compiler: Sequence[str],
) -> tuple[str, str]:
    """Return lines on the steps and the searches of a plan in C and in Python.

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
    passed = PASSED * (np.arange(moves) % 5 == 4)
    with TemporaryDirectory() as parent:
        folder = Path(parent) / name
        export_c(plan, folder, former=former)
        sources = f"{name}.c", "functions.c", "main.c"
        subprocess.run([*compiler, *FLAGS, *sources, "-o", "main", "-lm"], cwd=folder, check=True)
        return (
            f"{name}: {_compare_steps(plan, former, values, passed, folder)}",
            f"{name}: {_compare_searches(plan, values[:SEARCHES], folder)}",
        )


def _compare_steps(
    plan: Plan, former: Solution, values: np.ndarray, passed: np.ndarray, folder: Path
) -> str:
    step, spent, points, steps = None, 0.0, [], []
    for given, seconds in zip(values, passed.tolist()):
        begin = time.process_time()
        step = plan.step(step or former, given, passed=seconds, newton=NEWTON)
        spent += time.process_time() - begin
        points.append(step.x)
        steps.append(step.newton)
    lines = [
        " ".join(map(repr, [seconds, NEWTON, *given]))
        for given, seconds in zip(values.tolist(), passed.tolist())
    ]
    table, in_c = run_in_c(folder, lines, "x")
    expected, total = np.array(points), sum(steps)
    off = np.abs(table[:, 2:] - expected).max() / np.abs(expected).max()
    same = "the same" if np.array_equal(table[:, 0], steps) else "OTHER"
    return (
        f"{len(values)} moves, {total} Newton steps, {same} in C; variables differ by {off:.1e}; "
        f"{in_c * len(values) / total:.3f} ms a Newton step in C, {1e3 * spent / total:.3f} in "
        "Python"
    )


def _compare_searches(plan: Plan, values: np.ndarray, folder: Path) -> str:
    names, spent, objectives, iterations = [each.name for each in plan.parameters], 0.0, [], []
    for given in values.tolist():
        begin = time.process_time()
        found = plan.solve(**dict(zip(names, given)), check_mesh=False)
        spent += time.process_time() - begin
        objectives.append(found.objective)
        iterations.append(found.statistics["iterations"])
    lines = [" ".join(map(repr, [0.0, MOST, *given])) for given in values.tolist()]
    table, in_c = run_in_c(folder, lines, "x", "search")
    objective = plan.transcribed.nlp.objective
    reached = np.array([float(objective(x)) for x in table[:, 2:]])
    off = np.abs(reached / objectives - 1).max()
    return (
        f"{len(values)} searches from the first guess; objectives differ by {off:.1e}; in the mean "
        f"{table[:, 0].mean():.1f} iterations and {in_c:.2f} ms in C, {np.mean(iterations):.1f} "
        f"and {1e3 * spent / len(values):.1f} ms in Python"
    )


def main(moves: int = 200, *compiler: str) -> None:
    """Print the lines of both programs."""
    for name, (problem, method, jumping) in PROGRAMS.items():
        for line in compare(name, problem(), method, jumping, moves, compiler or COMPILER):
            print(line)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]), *sys.argv[2:])
