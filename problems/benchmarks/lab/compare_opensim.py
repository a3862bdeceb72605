"""Angles and moments of a trial by this package and by OpenSim's own tools, on the same files.

    python -m problems.benchmarks.lab.compare_opensim --model scaled.osim --markers walk.trc
        --forces walk_grf.mot [--static static.trc --stature 1.80 --cutoff 8 --track]

OpenSim's inverse kinematics and dynamics (extra `opensim`, in a process of its own) follow a scaled
model's markers, with the weights of `analyse` and its cutoff; a static trial puts these markers
where they were then, for both. Beside it stands `analyse` on that very model and, with a static
trial, on the human that `scale` makes of it, whose joints are of another kind, and its motion as
the model's joints tell it, which follow the markers that the human carries. Differences are root
mean squares over the middle of the trial: the ends of a filter and of a spline are their own.
`--track` adds the trial tracked with dynamics, and the former and its consistent motion over the
same frames. Seconds are of the processor.
"""

import argparse
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from ocp import MarkerFit, Series
from ocp.estimation import settle_markers
from ocp.interchange import load_model, markers, read_table, wrenches
from ocp.problems.benchmarks.muscles import moco
from ocp.problems.lab import (
    Analysis,
    MeasuredPerson,
    analyse,
    person_of_model,
    scale,
    track,
    weights_of,
)
from ocp.problems.lab.laboratory_axes import recognise_axes
from ocp.problems.lab.trial_analysis import CUTOFF

SCRIPT = Path(__file__).with_name("pipeline_of_opensim.py")
LONGEST = 600  # s
MARGIN = 0.15  # of the trial at each end
COORDINATES = ("hip_flexion", "hip_adduction", "hip_rotation", "knee_angle", "ankle_angle")


def differences(
    found: Analysis,
    theirs: Mapping[str, dict],
    names: Mapping[str, tuple[str, float]],
    span: tuple[float, float] | None = None,
) -> Iterator[str]:
    """Yield a line for each coordinate of a leg: rms of angles (deg) and of moments (% of the range
    of OpenSim's, N m), right and left, in the middle of a span (s), by default of the trial;
    `names` are those of the tree, and signs, where it has others than the model."""
    fit, tree = found.fit, found.person.tree
    start, end = span or (fit.t[0], fit.t[-1])
    middle = (fit.t > start + MARGIN * (end - start)) & (fit.t < end - MARGIN * (end - start))
    t = fit.t[middle]
    for name in COORDINATES:
        words = []
        for side in "rl":
            label = f"{name}_{side}"
            ours, sign = names.get(label, (label, 1.0))
            k = tree.coordinate(ours)
            angles = np.interp(t, theirs["angles"]["time"], theirs["angles"][label])
            moments = np.interp(t, theirs["moments"]["time"], theirs["moments"][f"{label}_moment"])
            angle = np.degrees(sign * fit.q[k][middle]) - angles
            moment = sign * found.torques[k][middle] - moments
            share = 100 * _rms(moment) / np.ptp(moments)
            words.append(f"{_rms(angle):5.2f} deg ({np.mean(angle):+5.2f}) {share:5.1f} %")
        yield f"  {name:14s} " + "   ".join(words)


def table(
    model: Path,
    trial: Path,
    plates: Path,
    static: Path | None,
    stature: float | None,
    cutoff: float,
    tracked: bool,
) -> Iterator[str]:
    """Yield the lines: OpenSim's seconds, then the differences of each person."""
    seen, forces = markers(read_table(trial)), wrenches(read_table(plates))
    begun = time.process_time()
    standing = markers(read_table(static)) if static is not None else None
    person = person_of_model(load_model(model), seen, source=str(model), static=standing)
    found = analyse(person, seen, forces, cutoff=cutoff)
    spent = time.process_time() - begun
    feet = {tread.plate: tread.foot for tread in found.treads}
    request = {
        "model": str(model.resolve()),
        "markers": str(trial.resolve()),
        "forces": str(plates.resolve()),
        "weights": weights_of(found.person.table.among(found.fit.residuals)),
        "places": _marker_places(found.fit) if standing is not None else {},
        "plates": {
            plate: (person.feet[foot], [plate_marks(plate, part) for part in ("v", "p", "torque")])
            for plate, foot in feet.items()
        },
        "cutoff": cutoff,
    }
    theirs, both = moco.answer_of(SCRIPT, request, LONGEST)
    yield f"OpenSim: {both:.1f} s, of them {theirs['kinematics']:.1f} s for kinematics"
    yield f"on its model: {spent:.1f} s; right, then left: rms (mean), moments of their range"
    yield from differences(found, theirs, {})
    if tracked:
        begun = time.process_time()
        after = track(found)
        spent = time.process_time() - begun
        yield f"of these, {after}"
        yield from differences(found, theirs, {}, after.span)
        near = found.consistent
        assert near is not None  # or nothing were tracked
        alike = replace(found, fit=replace(found.fit, q=near.q), torques=near.torques)
        yield "their consistent motion"
        yield from differences(alike, theirs, {}, after.span)
        yield f"tracked with dynamics: {spent:.1f} s, {after.data()['certificate']}"
        yield from differences(after.trial, theirs, {}, after.span)
        request["places"] = _marker_places(settle_markers(found.fit))
        least = min(after.noise.markers.values())
        request["weights"] = {name: (least / m) ** 2 for name, m in after.noise.markers.items()}
        alike_theirs, _ = moco.answer_of(SCRIPT, request, LONGEST)
        yield "tracked, beside OpenSim with the places and weights of markers that tracking has"
        yield from differences(after.trial, alike_theirs, {}, after.span)
    if standing is not None and static is not None:
        begun = time.process_time()
        human = scale(standing, mass=person.mass, stature=stature)
        found = analyse(human, seen, forces, cutoff=cutoff)
        yield f"on the human scaled to {static.name}: {time.process_time() - begun:.1f} s"
        yield from differences(found, theirs, person.names)
        yield "the human's motion, told by the joints of the model that follows its markers"
        yield from differences(_followed(person, found, seen, forces, cutoff), theirs, {})


def _marker_places(fit: MarkerFit) -> dict[str, list[float]]:
    """Return {marker: place on its link (m)} as a fit has them."""
    marks = (point for point in fit.tree.points if point.name in fit.residuals)
    return {point.name: [*map(float, point.position)] for point in marks}


def _followed(
    person: MeasuredPerson, found: Analysis, seen: Series, forces: Series, cutoff: float
) -> Analysis:
    """Return the analysis of a model that follows the markers as another body of the same static
    trial carries them: what angles differ by then is no matter of where axes of joints begin."""
    turn = recognise_axes(seen, found.person.table.among(seen.values)).turn
    turned = seen.rotate(turn)
    carried = {name: turned.values[name] - off for name, off in found.fit.residuals.items()}
    return analyse(person, replace(turned, values=carried), forces.rotate(turn), cutoff=cutoff)


def plate_marks(plate: str, part: str) -> str:
    """Return the beginning of a plate's columns in a .mot file: of its force ("v"), point ("p") or
    torque."""
    before, _, after = plate.partition("ground")
    if part == "torque":
        return f"{before}ground_torque{after}_"
    return f"{before}ground_force{after}_{part}"


def _rms(row: np.ndarray) -> float:
    return float(np.sqrt(np.mean(row**2)))


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0], allow_abbrev=False)
    for name in ("model", "markers", "forces"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    parser.add_argument("--static", type=Path)
    parser.add_argument("--stature", type=float)
    parser.add_argument("--cutoff", type=float, default=CUTOFF, help="Hz; running needs 12 or more")
    words = "track the trial with dynamics too"
    parser.add_argument("--track", action="store_true", help=words)
    flags = parser.parse_args(arguments)
    files = flags.model, flags.markers, flags.forces, flags.static
    for line in table(*files, flags.stature, flags.cutoff, flags.track):
        print(line, flush=True)


if __name__ == "__main__":
    main()
