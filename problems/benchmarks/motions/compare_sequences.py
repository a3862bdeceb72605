"""Random sequences of contacts of a planar quadruped, all from one crude guess.

It stands on all feet, steps as a drawn sequence says, with feet in the air or all of them, and
stands on all feet again, further on and at rest. When each phase ends, where feet come down and
with what impulses is found; every phase starts from standing.

The table says of each sequence whether it was solved, in how many iterations, how far a forward
simulation leaves the motion (rad or m) and how far it is from an optimum of first order, or which
rows are worst.
"""

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import inf
from typing import Any, TypeAlias

import casadi as ca
import numpy as np

from ocp import (
    BSpline,
    Constraint,
    Ground,
    Guess,
    Parameter,
    Phase,
    Problem,
    Solution,
    Solver,
    Transition,
    Tree,
    at_start,
    continuous,
    effort,
    friction,
    impact,
    joint_limits,
    path,
    point_contact,
    solve,
    torque_limits,
    unilateral,
    verify,
)
from ocp.cli import DONE, FAILED, exit_status
from ocp.models.walkers.quadruped import FEET, HALF, quadruped, standing
from ocp.problems.benchmarks import print_table

Steps: TypeAlias = tuple[frozenset[str], ...]
HEIGHT, FURTHER = 0.28, 0.15  # m: of the hips, and how far it goes
GRIP, POINTS = 0.6, 8
UP = (0.0, 1.0, 0.0)
HIPS = dict(zip(FEET, (HALF, HALF, -HALF, -HALF)))  # m, ahead of the trunk's middle
LIMIT = Solver(options={"max_iter": 1000})
HEADER = ("seed", "feet that stand", "status", "iterations", "seconds", "effort", "certificate")


def drawn(seed: int) -> Steps:
    """Return the feet that stand in each phase: all, two or three drawn ones, all."""
    rng = np.random.default_rng(seed)
    every = frozenset(FEET)
    phases = [every]
    for _ in range(int(rng.integers(2, 4))):
        last = phases[-1]
        while phases[-1] == last:
            there = frozenset(foot for foot in FEET if rng.random() < 0.5)
            if there or last:  # the air is not left for the air
                phases[-1:] = [last, there] if there != last else [last]
    return (*phases, every) if phases[-1] != every else tuple(phases)


def problem(sequence: Steps, further: float = FURTHER, points: int = POINTS) -> Problem:
    """Return the problem of a sequence; `further`: how far it goes (m); `points`: control points
    per joint and phase."""
    tree = quadruped()
    grounds, there = list(_grounds(tree, sequence, further)), (further, HEIGHT, 0.0)
    return Problem(
        tree=tree,
        phases=[
            Phase(
                f"{k + 1}",
                motion=BSpline(points=points),
                duration=(0.04, 0.6),
                ground=ground,
                constraints=_limits(tree, ground, feet),
            )
            for k, (feet, ground) in enumerate(zip(sequence, grounds))
        ],
        links=[_link(before, after) for before, after in pairwise(sequence)],
        constraints=(
            at_start(tree, q=standing(HEIGHT), qd=0.0),
            path("arrived", lambda at: at.q[:3], lower=there, upper=there, when="end"),
            path("at rest", lambda at: at.qd, lower=0.0, upper=0.0, when="end"),
            joint_limits(tree),
            torque_limits(tree),
        ),
        objective=effort(),
    )


def _grounds(tree: Tree, sequence: Steps, further: float) -> Iterator[Ground | None]:
    """Yield the ground of every phase, feet that come down at places that are sought."""
    places: dict[str, Any] = dict(HIPS)
    for k, there in enumerate(sequence):
        for foot in sorted(there - (sequence[k - 1] if k else there)):
            name, about = f"{foot.replace(' ', '_')}_{k + 1}", HIPS[foot] + further / 2
            places[foot] = Parameter(name, about, "m", about - 0.25, about + 0.25, free=True)
        feet = [point_contact(tree, foot, at=(places[foot], 0.0, 0.0)) for foot in sorted(there)]
        yield Ground(feet=feet) if feet else None


def _limits(tree: Tree, ground: Ground | None, there: frozenset[str]) -> list[Constraint]:
    """Return the constraints of a phase: feet push within friction, the others stay above the
    ground."""
    stated = []
    if ground is not None:
        stated += [*unilateral(tree, ground), friction(tree, ground, coefficient=GRIP)]
    above = sorted(set(FEET) - there)
    if above:
        stated.append(
            path(
                "clear",
                lambda at: ca.vertcat(*(at.position(foot)[1] for foot in above)),
                lower=0.0,
                upper=inf,
                labels=above,
                units="m",
            )
        )
    return stated


def _link(before: frozenset[str], after: frozenset[str]) -> Transition:
    """Return the link of two phases: where feet come down, all that then stand are pushed."""
    if after <= before:
        return continuous()
    return impact(*sorted(after), normal=UP, friction=GRIP)


def solved(sequence: Steps) -> Solution:
    """Return the solution from standing still in every phase."""
    stated = problem(sequence)
    still = np.array([standing(HEIGHT), standing(HEIGHT)]).T
    return solve(stated, solver=LIMIT, guess={each.name: Guess(q=still) for each in stated.phases})


def row(seed: int) -> tuple[bool, tuple[str, ...]]:
    """Return whether a sequence was solved, and its row of the table."""
    sequence, begin = drawn(seed), time.perf_counter()
    solution = solved(sequence)
    seconds = time.perf_counter() - begin
    words = " / ".join(_short(there) for there in sequence)
    said = "; ".join(solution.explanation[:2])
    if solution.success:
        certificate = verify(solution)
        said = f"drift {certificate.drift:.1e}, first order {certificate.kkt:.1e}"
    iterations = str(solution.statistics["iterations"])
    entries = (solution.status, iterations, f"{seconds:.1f}", f"{solution.objective:.4g}", said)
    return solution.success, (str(seed), words, *entries)


def _short(there: frozenset[str]) -> str:
    """Return the initials of feet that stand, in their order."""
    return " ".join("".join(w[0] for w in f.split()[:2]) for f in FEET if f in there) or "air"


def main(arguments: Sequence[str] | None = None) -> int:
    """Solve sequences, print their table, and return 0 if eight of ten were solved."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=10, help="sequences, drawn by seeds from")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    flags = parser.parse_args(arguments)
    successes: list[bool] = []

    def entries() -> Iterator[Sequence[str]]:
        for seed in range(flags.first, flags.first + flags.count):
            success, cells = row(seed)
            successes.append(success)
            yield cells

    print_table(HEADER, entries())
    print(f"\n{sum(successes)} of {len(successes)} solved")
    return DONE if sum(successes) >= 0.8 * len(successes) else FAILED


if __name__ == "__main__":
    sys.exit(exit_status(main))
