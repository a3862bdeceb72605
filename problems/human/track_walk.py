"""A walk is followed from files: markers and ground forces, with noise, of somebody else's step.

A woman of median size walks a step, found from its task alone. Her markers, three on every segment,
go into a .trc file and her ground forces into a .mot file, both with noise. A body of her stature
and mass, but of a man's proportions, follows what these files say, as far as its segments, its feet
on the ground and its strength let it.
"""

import atexit
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from typing import Any

import casadi as ca
import numpy as np

from ocp import (
    Problem,
    Series,
    Solution,
    Solver,
    Task,
    Transcription,
    Views,
    dynamic_effort,
    force_tracking,
    marker_tracking,
    read_table,
    save_table,
)
from ocp.cli import main
from ocp.interchange import Table, force_table, marker_table, markers, wrenches
from ocp.models.human import Person, somebody
from ocp.models.human.markers import cluster_names, clustered
from ocp.problem import curves
from ocp.problems.gait import effort_step as gait
from ocp.problems.gait import walk

SPEED, STEP = 1.2, 0.6  # m/s, m
RATES = {"markers": 100.0, "forces": 1000.0}  # Hz
SIZE, FORCE, MOMENT = 0.05, 100.0, 50.0  # m, N, N m: deviations that count alike [assumed]


def problem(
    markers_file: str = "",
    forces_file: str = "",
    recorded: str = "f50",
    noise: float = 0.002,
    force_noise: float = 5.0,
    seed: int = 0,
    stature: float = 0.0,
    mass: float = 0.0,
    effort: float = 0.01,
) -> Problem:
    """`markers_file`: of a step of 0.6 m at 1.2 m/s (.trc, .c3d, .csv), made if none is named;
    `forces_file`: of its ground forces (.mot, .sto, .csv), likewise; `recorded`: who walks in
    files that are made, f5, f50, f95, m5, m50 or m95; `noise`: of markers and centres of pressure
    (m); `force_noise`: of forces (N), and a tenth of it of moments (N m); `seed`: of both;
    `stature`: of the man who follows (m), 0 for that of the one recorded; `mass`: likewise (kg);
    `effort`: weight of the dynamic effort beside the deviations."""
    if bool(markers_file) != bool(forces_file):
        raise ValueError("markers_file, forces_file: expected both, or none")
    if not markers_file:
        markers_file, forces_file = made(recorded, noise, force_noise, seed)
    who = somebody(Person(recorded))
    size = {"stature": stature or who["stature"], "mass": mass or who["mass"]}
    step = gait(speed=SPEED, step=STEP, **size)
    body, ground = clustered(step.tree), step.ground
    seen, pushed = markers(read_table(markers_file)), wrenches(read_table(forces_file))
    follow = marker_tracking(body, seen, size=SIZE)
    follow += force_tracking(ground, pushed, force=FORCE, moment=MOMENT)
    return replace(
        step,
        tree=body,
        objective=follow + effort * dynamic_effort(body),
        outputs={"off_markers": _off_markers(seen), "off_forces": _off_forces(pushed)},
    )


def _off_markers(seen: Series) -> Any:
    """Return the function of an Instant that has how far points are from markers (3 markers,) m."""
    aim = curves(seen)
    return lambda at: ca.vertcat(*(at.position(name) for name in seen.values)) - aim.at(at.t)


def _off_forces(pushed: Series) -> Any:
    """Return the function of an Instant that has by how much forces on feet are off (3 feet,) N."""
    forces = {foot: rows[3:] for foot, rows in pushed.values.items()}
    aim = curves(replace(pushed, values=forces))
    return lambda at: ca.vertcat(*(at.reaction.force(foot) for foot in forces)) - aim.at(at.t)


@cache
def step_of(person: str) -> Solution:
    """Return the step that a person walks, by the task alone."""
    statement = gait(speed=SPEED, step=STEP, person=person)
    return walk(statement, Transcription(), Solver()).require(coarse=True)


@cache
def made(person: str, noise: float, force_noise: float, seed: int) -> tuple[str, str]:
    """Return the files of markers and of ground forces of a person's step, which they are written
    to with noise."""
    solution, rng = step_of(person), np.random.default_rng(seed)
    body = clustered(solution.problem.tree)
    marked = replace(solution, problem=replace(solution.problem, tree=body))
    seen = marker_table(marked, points=cluster_names(body), rate=RATES["markers"])
    pushed = force_table(solution, rate=RATES["forces"])
    sizes = {"m": noise, "N": force_noise, "N m": force_noise / 10}
    folder = Path(mkdtemp(prefix="ocp-walk-"))
    atexit.register(rmtree, folder, ignore_errors=True)
    files = folder / "walk.trc", folder / "forces.mot"
    for table, path in zip((seen, pushed), files):
        save_table(_noisy(table, sizes, rng), path)
    return str(files[0]), str(files[1])


def _noisy(table: Table, sizes: Mapping[str, float], rng: np.random.Generator) -> Table:
    """Return a table with Gaussian noise, whose standard deviation goes by the unit."""
    deviations = np.array([sizes[unit] for unit in table.units])
    return replace(
        table, values=table.values + deviations[:, None] * rng.standard_normal(table.values.shape)
    )


def nearness(solution: Solution) -> dict[str, float]:
    """Return the distance of a motion from its recording: the root mean square distance from a
    marker and the largest (m), and that of the force on a foot (N)."""
    t = solution.times(101)
    far = np.linalg.norm(solution.output("off_markers", t).reshape(-1, 3, len(t)), axis=1)
    push = np.linalg.norm(solution.output("off_forces", t).reshape(-1, 3, len(t)), axis=1)
    return {
        "marker_rms_m": float(np.sqrt(np.mean(far**2))),
        "marker_largest_m": float(far.max()),
        "force_rms_N": float(np.sqrt(np.mean(push**2))),
    }


def nearness_lines(data: Mapping[str, Any]) -> list[str]:
    """Return the lines that tell it."""
    return [
        f"markers        {1e3 * data['marker_rms_m']:.1f} mm off (root mean square), at most "
        f"{1e3 * data['marker_largest_m']:.1f} mm",
        f"ground forces  {data['force_rms_N']:.1f} N off (root mean square)",
    ]


TASK = Task(problem, method=walk, views=Views(report=nearness, lines=nearness_lines))

if __name__ == "__main__":
    main(TASK)
