"""Inverse kinematics of a walk whose markers have noise, beside what the noise must do to it.

The predicted step of 38 joints is seen 200 times by a cluster of three markers on every segment,
each coordinate with Gaussian noise, and found again from that, all frames at once: on the step's
own basis, and on the one that cross-validation of the markers chooses.

The table says how long it took (processor), how far angles are off (degrees, root mean square over
joints that turn), how far the least squares' covariance says that they are, the root mean square of
errors over these deviations, which is 1 where it is right, and how many errors are within 1.96 of
them, which 95 % ought to be.
"""

import argparse
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from ocp.models.human.markers import cluster_names, clustered
from ocp.problems.gait import problem, walk

from ocp import BSpline, Series, Solution, Solver, Transcription, inverse_kinematics
from ocp.cli import ended
from ocp.interchange import marker_table, markers
from ocp.studies import markdown

DONE, FRAMES, WIDE = 0, 200, 1.96
HEADER = (
    "basis",
    "seed",
    "seconds",
    "iterations",
    "off (deg)",
    "said (deg)",
    "errors over deviations",
    "within 1.96 (%)",
    "noise (mm)",
)


def seen(solution: Solution) -> Series:
    """Return the markers of a walk without noise."""
    body = clustered(solution.problem.tree)
    marked = replace(solution, problem=replace(solution.problem, tree=body))
    rate = (FRAMES - 1) / solution.duration
    return markers(marker_table(marked, points=cluster_names(body), rate=rate))


def row(
    solution: Solution, exact: Series, basis: BSpline | None, seed: int, noise: float
) -> list[Any]:
    """Return a row of the table: of a basis, by default the one that is chosen, and a seed."""
    rng = np.random.default_rng(seed)
    values = {
        name: rows + noise * rng.standard_normal(rows.shape) for name, rows in exact.values.items()
    }
    body = clustered(solution.problem.tree)
    begin = time.process_time()
    fit = inverse_kinematics(body, replace(exact, values=values), motion=basis)
    seconds = time.process_time() - begin
    error = fit.q - solution.q(fit.t)
    turns = [k for k, joint in enumerate(body.moving) if joint.kind == "revolute"]
    ratio = error / fit.deviations
    return [
        f"{fit.motion.points} points, degree {fit.motion.degree}",
        seed,
        f"{seconds:.2f}",
        fit.iterations if fit.success else fit.status,
        f"{np.degrees(np.sqrt(np.mean(error[turns] ** 2))):.3f}",
        f"{np.degrees(np.sqrt(np.mean(fit.deviations[turns] ** 2))):.3f}",
        f"{np.sqrt(np.mean(ratio**2)):.3f}",
        f"{100 * np.mean(np.abs(ratio) < WIDE):.1f}",
        f"{1e3 * fit.deviation:.3f}",
    ]


def run(arguments: Sequence[str] | None = None) -> int:
    """Print the table as the command line asks and return the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m problems.compare_markers",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--noise", type=float, default=1e-3, help="of markers (m)")
    parser.add_argument("--trials", type=int, default=5, help="how many of each basis")
    flags = parser.parse_args(arguments)
    solution = walk(problem(), Transcription(), Solver()).require()
    exact = seen(solution)
    known = solution.problem.motion
    rows = [
        row(solution, exact, basis, seed, flags.noise)
        for basis in (known, None)
        for seed in range(flags.trials)
    ]
    print(markdown("", HEADER, rows))
    return DONE


if __name__ == "__main__":
    sys.exit(ended(run))
