"""Costs of phases: the same motions stated whole and in phases, solved in one run.

`gait` is the step in one phase with a schedule of contact, the same step in phases, both steps of
the stride from the step and its image, and these from standing, by way of one step and without.
`minima` tells of both optima of the stride to second order. `arm` is a swing on one spline, and the
same in three parts of it. `free` finds how long single and double support last and how long steps
are, `both` so of both steps, `prosthetic` with half the strength in the right ankle and 2 kg on
that shank. Seconds are the processor's.
"""

import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from ocp import (
    Attempt,
    BSpline,
    Guess,
    Problem,
    Solution,
    Solver,
    Transcription,
    at_end,
    at_start,
    effort,
    prepare,
    torque_limits,
)
from ocp.certificate import program_variables, violations
from ocp.cli import DONE, FAILED, exit_status
from ocp.models.arms.two_link import two_link
from ocp.models.human import mirror
from ocp.problem import in_phases, mirror_symmetry
from ocp.problems.benchmarks import print_table, program_parser
from ocp.problems.gait import effort_step as problem
from ocp.problems.gait import walk
from ocp.problems.gait.report.phase_report import walk_lines, walk_report
from ocp.problems.gait.solve_step import TUNED
from ocp.problems.gait.statement.mirrored_stride import both_steps
from ocp.solvers import Iterate, Iteration, curvature

WARM = {  # from a solution, whose bounds are those of this start
    "tol": 1e-8,
    "mu_init": 1e-9,
    "bound_push": 1e-9,
    "bound_frac": 1e-9,
    "slack_bound_push": 1e-9,
    "slack_bound_frac": 1e-9,
}
MANY = 100  # iterations at least, of as many solves as that takes, whose time is measured
CHOICES = ("arm", "gait", "minima", "free", "both", "prosthetic")
HEADER = ("motion", "iterations", "objective", "ms an iteration", "seconds in all", "torques off")
OPTIMA = (
    "optimum",
    "objective",
    "open ways",
    "lowest eigenvalue",
    "least multiplier",
    "active rows, of them dependent",
    "sides apart",
)
FULL = {"stride": "full"}
PROSTHETIC = FULL | {"ankle_strength": 0.5, "shank_mass": 2.0}
FREE = {"free_timing": True}
WALKS: Mapping[str, tuple[dict[str, Any], ...]] = {
    "free": (FREE,),
    "both": (FULL | FREE,),
    "prosthetic": (PROSTHETIC, PROSTHETIC | FREE),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A solve: what it is called, its time in all and of an iteration (s)."""

    name: str
    solution: Solution
    seconds: float
    iteration: float


def timed(name: str, stated: Problem, guess: Any = None, options: Any = None) -> Run:
    """Return the Run of a problem, with the processor's time from iteration to iteration."""
    begin = time.process_time()
    plan = prepare(stated)
    attempts = (Attempt(options=TUNED if options is None else options),)
    solution = plan.solve(guess, attempts=attempts)
    seconds, stamps = time.process_time() - begin, Stamps()
    for _ in range(max(1, MANY // solution.statistics["iterations"])):
        plan.solve(guess, attempts=attempts, watch=stamps)
    return Run(name=name, solution=solution, seconds=seconds, iteration=stamps.mean)


class Stamps:
    """The processor's times at which iterations were seen, of several solves one after the
    other."""

    def __init__(self) -> None:
        self.seen: list[tuple[int, float]] = []

    def __call__(self, iteration: Iteration) -> None:
        self.seen.append((iteration.number, time.process_time()))

    @property
    def mean(self) -> float:
        """Mean time (s) from one iteration to the next, but for the first, which is built for."""
        steps = [
            after - before
            for (number, before), (later, after) in pairwise(self.seen)
            if 0 < number < later
        ]
        return float(np.mean(steps)) if steps else float("nan")


def gait() -> Iterator[Run]:
    """Yield the runs of the gait."""
    step, standing = problem(), _standing(problem())
    one = timed("a step in one phase", step, standing)
    yield one
    yield timed("the same in five phases", problem(stride="phases"), standing)
    tight = timed("a step from its solution, tol 1e-8", step, one.solution, TUNED | WARM)
    yield tight
    stride = problem(stride="full")
    both = both_steps(one.solution, stride)
    yield timed("both steps, from it and its image, tol 1e-8", stride, both, TUNED | WARM)
    yield _by_one_step(stride)
    yield timed("both steps, from standing at once", stride, standing)


def _by_one_step(stride: Problem) -> Run:
    """Return the Run of both steps as `walk` solves them, whose iterations are of two programs."""
    begin = time.process_time()
    solution = walk(stride, Transcription(), Solver())
    seconds = time.process_time() - begin
    name = "both steps, from standing by way of one"
    return Run(name=name, solution=solution, seconds=seconds, iteration=float("nan"))


def minima() -> Iterator[tuple[str, ...]]:
    """Yield the second-order conditions of the optima of both steps: that of one step and its
    image, and that from standing at once."""
    step, stride = problem(), problem(stride="full")
    one = _solved(step, _standing(step), {})
    tight = WARM | {"tol": 1e-9}
    yield _bent("a step and its image", _solved(stride, both_steps(one, stride), tight))
    begun = _solved(stride, _standing(stride), {})
    yield _bent("from standing at once", _solved(stride, begun, tight))


def _solved(stated: Problem, guess: Any, options: dict[str, Any]) -> Solution:
    return prepare(stated).solve(guess, attempts=(Attempt(options=TUNED | options),))


def _bent(name: str, solution: Solution) -> tuple[str, ...]:
    """Return the cells of an optimum of both steps."""
    program = prepare(solution.problem).transcribed
    x, x_multipliers, g_multipliers = program_variables(solution, program)
    g = np.array(program.nlp.constraints(x)).ravel()
    point = Iterate(x=x, g=g, x_multipliers=x_multipliers, g_multipliers=g_multipliers)
    bend = curvature(program.nlp, point)
    return (
        name + ("" if solution.success else ", not solved"),
        f"{solution.objective:.8f}",
        str(len(bend.eigenvalues)),
        f"{bend.eigenvalues[0]:.3g}",
        f"{bend.least:.1e} of the largest",
        f"{bend.rows}, {bend.dependent}",
        _apart(solution),
    )


def _apart(solution: Solution) -> str:
    """Return by how much a stride's steps are apart, and which joint's most."""
    tree = solution.problem.tree
    names = list(solution.phases)
    first, second = (solution.phases[names[k]].points for k in (0, len(names) // 2))
    turning = [k for k, joint in enumerate(tree.moving) if joint.kind == "revolute"]
    apart = np.abs(first - mirror_symmetry(tree, *mirror(tree)).image(second)).max(axis=1)[turning]
    worst = int(apart.argmax())
    return f"{np.degrees(apart[worst]):.2g} deg ({tree.moving[turning[worst]].name})"


def _standing(stated: Problem) -> Guess:
    return Guess(q=np.zeros((stated.tree.dof, 2)))


def arm() -> Iterator[Run]:
    """Yield the runs of an arm."""
    tree = two_link(torque=50.0)
    whole = Problem(
        tree=tree,
        motion=BSpline(points=33),
        duration=1.0,
        objective=effort(),
        constraints=(
            at_start(tree, q=(0.0, -2.0), qd=0.0),
            at_end(tree, q=(1.5, -0.5), qd=0.0),
            torque_limits(tree),
        ),
    )
    straight = Guess(q=np.array([(0.0, 1.5), (-2.0, -0.5)]))
    yield timed("an arm in one phase", whole, straight)
    parts = in_phases(whole, {"out": 1 / 3, "over": 2 / 3, "in": 1.0})
    yield timed("the same in three", parts, straight)


def row(run: Run) -> tuple[str, ...]:
    """Return the cells of a run."""
    solution = run.solution
    return (
        run.name,
        str(solution.statistics["iterations"]) + ("" if solution.success else ", not solved"),
        f"{solution.objective:.8f}",
        f"{1e3 * run.iteration:.1f}" if np.isfinite(run.iteration) else "",
        f"{run.seconds:.2f}",
        beyond(solution),
    )


def beyond(solution: Solution) -> str:
    """Return by how much a solution's certificate finds its torques off what the motion needs, of
    the largest at each joint, between the nodes."""
    entries = [entry for name, entry in violations(solution).items() if name.endswith("dynamics")]
    return f"{max((entry.dense for entry in entries), default=0.0):.1e}"


def walks(**changes: Any) -> tuple[Solution, list[str]]:
    """Return a walk, and lines on it."""
    stated = problem(**changes)
    solution = walk(stated, Transcription(), Solver(), feasible=False)
    count = solution.statistics["iterations"]
    known = f"{solution.status}, {count} iterations, torques off between nodes {beyond(solution)}"
    return solution, [known, *walk_lines(walk_report(solution))]


def run(arguments: Sequence[str] | None = None) -> int:
    """Print what the command line asks for and return the exit status."""
    parser = program_parser("compare_phases", __doc__)
    parser.add_argument("what", choices=CHOICES)
    what = parser.parse_args(arguments).what
    if what == "minima":
        print_table(OPTIMA, minima())
        return DONE
    if what in ("arm", "gait"):
        runs: list[Run] = []

        def entries() -> Iterator[Sequence[str]]:
            for run in arm() if what == "arm" else gait():
                runs.append(run)
                yield row(run)

        print_table(HEADER, entries())
        return DONE if all(each.solution.success for each in runs) else FAILED
    solved = []
    for changes in WALKS[what]:
        solution, lines = walks(**changes)
        print("\n".join(lines), flush=True)
        solved.append(solution.success)
    return DONE if all(solved) else FAILED


if __name__ == "__main__":
    sys.exit(exit_status(run))
