"""Inverse kinematics of a walk whose markers have noise, beside what the noise must do to it.

The predicted step of 38 joints is seen 200 times by a cluster of three markers on every segment,
each coordinate with Gaussian noise, and found again from that, all frames at once: on the step's
own basis, and on the one that cross-validation of the markers chooses.

The table says how long it took (processor), how far angles are off (degrees, root mean square over
joints that turn), how far the least squares' covariance says that they are, the root mean square of
errors over these deviations, which is 1 where it is right, and how many errors are within 1.96 of
them, which 95 % ought to be.

With `--lengths 0.1` the body that is seen has segments that are longer or shorter by as much
(standard deviation, both sides alike), and is found by the body that has not, scaled with the
motion: then the table has the errors of the factors of length too.

With `--torques` it has what noise of markers does to joint torques by inverse dynamics, forces of
the ground being known: errors of the driven joints (N m, root mean square) over the whole recording
and over its middle four fifths, the joint that is off most there, and the forces on the root that
are left unexplained.
"""

import argparse
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ocp import (
    BSpline,
    Scaling,
    Series,
    Solution,
    Solver,
    Transcription,
    Tree,
    inverse_kinematics,
    measured_torques,
)
from ocp.cli import exit_status
from ocp.interchange import force_table, marker_table, markers, wrenches
from ocp.mechanics import body_segments, scale_links
from ocp.models.human.markers import cluster_names, clustered
from ocp.problems.benchmarks import print_table
from ocp.problems.gait import effort_step as problem
from ocp.problems.gait import walk

DONE, FRAMES, WIDE = 0, 200, 1.96
SIDES = ("_r", "_l")
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
FORCES = 1000.0  # Hz
TORQUES = (
    "basis",
    "frames",
    "seed",
    "off (N m)",
    "off in the middle (N m)",
    "most (N m)",
    "root (N)",
)
LENGTHS = (
    "seed",
    "seconds",
    "iterations",
    "lengths off (%)",
    "said (%)",
    "errors over deviations",
    "angles off (deg)",
    "errors over deviations",
)


def seen(solution: Solution, body: Tree, frames: int = FRAMES) -> Series:
    """Return the markers of a body that moves as a walk does, in so many frames without noise."""
    marked = replace(solution, problem=replace(solution.problem, tree=body))
    rate = (frames - 1) / solution.duration
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


def scaled_row(solution: Solution, spread: float, seed: int, noise: float) -> list[Any]:
    """Return a row of the table of lengths: of segments that vary by a spread, and a seed."""
    rng = np.random.default_rng(seed)
    body = clustered(solution.problem.tree)
    sizes = {name: 1 + spread * rng.standard_normal() for name in body_segments(body, SIDES)}
    longer = {
        link: sizes[name] for name, links in body_segments(body, SIDES).items() for link in links
    }
    exact = seen(solution, scale_links(body, longer))
    values = {
        name: rows + noise * rng.standard_normal(rows.shape) for name, rows in exact.values.items()
    }
    begin = time.process_time()
    plan = Scaling(sides=SIDES, spread=spread)
    known = solution.problem.motion
    fit = inverse_kinematics(body, replace(exact, values=values), motion=known, scaling=plan)
    seconds = time.process_time() - begin
    off = np.array([fit.lengths[name] - size for name, size in sizes.items()])
    wide = np.array([fit.length_deviations[name] for name in sizes])
    error = fit.q - solution.q(fit.t)
    turns = [k for k, joint in enumerate(body.moving) if joint.kind == "revolute"]
    return [
        seed,
        f"{seconds:.2f}",
        fit.iterations if fit.success else fit.status,
        f"{100 * np.sqrt(np.mean(off**2)):.4f}",
        f"{100 * np.sqrt(np.mean(wide**2)):.4f}",
        f"{np.sqrt(np.mean((off / wide) ** 2)):.3f}",
        f"{np.degrees(np.sqrt(np.mean(error[turns] ** 2))):.3f}",
        f"{np.sqrt(np.mean((error / fit.deviations) ** 2)):.3f}",
    ]


def torque_row(
    solution: Solution, exact: Series, basis: BSpline | None, seed: int, noise: float
) -> list[Any]:
    """Return a row of the table of torques: of a basis, by default the chosen one, and a seed."""
    body, rng = clustered(solution.problem.tree), np.random.default_rng(seed)
    values = {
        name: rows + noise * rng.standard_normal(rows.shape) for name, rows in exact.values.items()
    }
    fit = inverse_kinematics(body, replace(exact, values=values), motion=basis)
    ground = solution.problem.ground
    pushed, links = None, {}
    if ground is not None:
        pushed = wrenches(force_table(solution, rate=FORCES))
        links = {foot.name: foot.supports[0].link for foot in ground.feet if foot.supports}
    tau = measured_torques(body, fit.t, fit.q, fit.qd, fit.qdd, pushed, links)
    off, cut = tau - solution.tau(fit.t), len(fit.t) // 10
    driven = [k for k, joint in enumerate(body.moving) if joint.actuated]
    inner = np.sqrt(np.nanmean(off[:, cut:-cut] ** 2, axis=1))
    worst = max(driven, key=inner.__getitem__)
    root = [k for k in range(body.dof) if k not in driven and body.moving[k].kind == "prismatic"]
    return [
        f"{fit.motion.points} points, degree {fit.motion.degree}",
        len(fit.t),
        seed,
        f"{np.sqrt(np.nanmean(off[driven] ** 2)):.2f}",
        f"{np.sqrt(np.mean(inner[driven] ** 2)):.2f}",
        f"{body.moving[worst].name} {inner[worst]:.2f}",
        f"{np.sqrt(np.mean(inner[root] ** 2)):.1f}" if root else "",
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
    words = "by which segments differ (standard deviation of a factor): they are found too"
    parser.add_argument("--lengths", type=float, help=words)
    parser.add_argument("--torques", action="store_true", help="what noise does to torques")
    parser.add_argument("--frames", type=int, default=FRAMES, help="in which markers are seen")
    flags = parser.parse_args(arguments)
    solution = walk(problem(), Transcription(), Solver()).require()
    if flags.lengths is not None:
        trials = range(flags.trials)
        table = (scaled_row(solution, flags.lengths, seed, flags.noise) for seed in trials)
        print_table(LENGTHS, table)
        return DONE
    exact = seen(solution, clustered(solution.problem.tree), flags.frames)
    known = solution.problem.motion
    make, header = (torque_row, TORQUES) if flags.torques else (row, HEADER)
    rows = (
        make(solution, exact, basis, seed, flags.noise)
        for basis in (known, None)
        for seed in range(flags.trials)
    )
    print_table(header, rows)
    return DONE


if __name__ == "__main__":
    sys.exit(exit_status(run))
