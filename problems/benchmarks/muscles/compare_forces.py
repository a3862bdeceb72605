"""Activations of 80 muscles along a measured walk: static optimisation beside MocoInverse.

    python -m problems.benchmarks.muscles.compare_forces --model subject_walk_scaled.osim

The folder is that of OpenSim Moco's example (not part of this package). `muscle_forces` takes its
model with our exact wraps, rigid tendons and the example's wider active curves, and the moments of
our inverse dynamics; MocoInverse (extra `opensim`, in a process of its own) has the paths fitted by
functions that the example brings, and activation dynamics. Seconds are of the processor.
"""

import time
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from ocp import BSpline, measured_torques
from ocp.interchange import load_model, read_table, wrenches
from ocp.mechanics.muscles import muscles_of
from ocp.problems.benchmarks.muscles import moco
from ocp.problems.lab import MuscleForces, muscle_forces

SPAN, MESH, WIDTH, RESERVE = (0.48, 1.61), 0.02, 1.5, 1.0  # s, s, -, N m: of the example
STEP, CUTOFF = 0.01, 6.0  # s, Hz: of the spline through its coordinates
JOINTS = ("hip_flexion", "hip_adduction", "hip_rotation", "knee_angle", "ankle_angle")
BUSY = 0.1  # activation of a muscle that counts as active


def shared(model: Path) -> tuple[MuscleForces, float]:
    """Return the muscles along the walk, and the processor time (s) with reading and dynamics."""
    begun, folder = time.process_time(), model.parent
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # curves of muscles, and a header that counts otherwise
        tree, table = load_model(model), read_table(folder / "coordinates.sto")
    muscles = [replace(each, width=WIDTH) for each in muscles_of(tree)]
    bare = replace(tree, elements=())
    place = {label.split("/")[-2]: k for k, label in enumerate(table.labels) if "/" in label}
    known = np.zeros((bare.dof, len(table.t)))
    for row, joint in enumerate(bare.moving):
        if joint.name in place:  # not the toes, which the example has stiff
            known[row] = table.values[place[joint.name]]
    start, length = table.t[0], float(np.ptp(table.t))
    spline = BSpline(points=round(2 * CUTOFF * length) + 5, degree=5)
    points = spline.fit(known, (table.t - start) / length)
    t = np.arange(SPAN[0], SPAN[1] + STEP / 2, STEP)
    q, qd, qdd = (points @ spline.values((t - start) / length, k).T / length**k for k in range(3))
    forces = wrenches(read_table(folder / "grf_walk.mot"))
    feet = {plate: f"calcn_{plate[-1]}" for plate in forces.values}
    moments = measured_torques(bare, t, q, qd, qdd, forces, feet)
    joints = [f"{name}_{side}" for name in JOINTS for side in "rl"]
    whole = replace(tree, elements=tuple(muscles))
    found = muscle_forces(whole, t, q, qd, moments, joints=joints, reserve=RESERVE)
    return found, time.process_time() - begun


def table(model: Path) -> Iterator[str]:
    """Yield the lines: seconds of both, and how alike activations are."""
    found, seconds = shared(model)
    yield f"static optimisation: {seconds:.1f} s, reserves up to {found.largest_reserve:.2f} N m"
    request = {"folder": str(model.parent.resolve()), "span": SPAN, "mesh": MESH}
    request |= {"width": WIDTH, "reserve": RESERVE}
    theirs, spent = moco.answer_of("forces_by_moco", request)
    yield f"MocoInverse: {spent:.1f} s, {theirs['iterations']} iterations, {theirs['success']}"
    rows = [np.interp(found.t, theirs["t"], theirs["activations"][name]) for name in found.names]
    both = list(zip(found.activations, np.array(rows)))
    alike = np.array([np.corrcoef(ours, other)[0, 1] for ours, other in both])
    busy = np.max(rows, axis=1) > BUSY
    whole = np.corrcoef(found.activations.ravel(), np.ravel(rows))[0, 1]
    rms = np.sqrt(np.mean((found.activations - np.array(rows)) ** 2))
    yield f"activations: r {whole:.3f} over all, rms {rms:.3f}"
    worst = int(np.argmin(np.where(busy, alike, 2.0)))
    share = np.mean(alike >= 0.95)
    yield f"of each muscle: median {np.median(alike):.3f}, {share:.0%} at least .95"
    yield (
        f"of the {np.sum(busy)} above {BUSY}: median {np.median(alike[busy]):.3f}, "
        f"least {alike[worst]:.2f} ({found.names[worst]})"
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table."""
    given = moco.parse_command(__doc__, "example3DWalking/subject_walk_scaled.osim", arguments)
    if given.model is None:
        print("model: give --model, a file of Moco's example (not part of this package)")
        return
    for line in table(given.model):
        print(line, flush=True)


if __name__ == "__main__":
    main()
