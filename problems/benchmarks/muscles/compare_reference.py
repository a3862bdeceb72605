"""Excitations of 18 muscles along a measured walk, beside the solution that Moco's own test holds.

    python -m problems.benchmarks.muscles.compare_reference --model subject_walk_armless_18musc.osim

The file is of OpenSim's sources, OpenSim/Moco/Test, and so are those beside it: the forces of the
plates and the reference solution (std_testMocoInverse_subject_18musc_solution.sto), whose
coordinates are the motion. `muscle_excitations` takes the model's muscles with exact wraps, their
passive fibres left out as there, and the moments of our inverse dynamics; OpenSim itself is not
needed. Seconds are of the processor.
"""

import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from ocp import measured_torques
from ocp.interchange import Table, load_model, read_table, wrenches
from ocp.mechanics.muscles import muscles_of
from ocp.problems.benchmarks.muscles import moco
from ocp.problems.lab import MuscleExcitations, muscle_excitations
from ocp.problems.lab.muscles.muscle_excitations import NO_FIBRES

REFERENCE = "std_testMocoInverse_subject_18musc_solution.sto"
PLATES = "subject_walk_armless_grfs.mot"
INTERVALS = 22  # of 0.025 s
SAMPLES, DEGREE, RATED = 401, 30, 0.02  # of the motion; weight of speeds (s) beside places
SWITCH = 0.1  # steepness of the muscles' switch between on and off, OpenSim's
RESERVES = {  # N m or N, optimal forces of the model's actuators
    "lumbar_extension": 50.0,
    "lumbar_bending": 50.0,
    "lumbar_rotation": 20.0,
    "pelvis_tilt": 100.0,
    "pelvis_list": 50.0,
    "pelvis_rotation": 25.0,
    "pelvis_tx": 100.0,
    "pelvis_ty": 200.0,
    "pelvis_tz": 50.0,
} | {
    f"hip_{name}_{side}": one
    for name, one in (("flexion", 35.0), ("adduction", 100.0), ("rotation", 35.0))
    for side in "rl"
}


def motion(table: Table, names: Sequence[str]) -> tuple[np.ndarray, tuple[np.ndarray, ...]]:
    """Return times (N,) and the coordinates of the reference with two rates, (n, N) each, by
    polynomials through its values and speeds."""
    chebyshev = np.polynomial.chebyshev
    start, length = table.t[0], float(np.ptp(table.t))
    known = [(ending, rows(table, [f"/{name}/{ending}" for name in names])) for ending in KINDS]
    eye, scale = np.eye(DEGREE + 1), 2 / length
    slopes = chebyshev.chebder(eye, 1, scale, axis=0)
    u = scale * (table.t - start) - 1
    base = np.vstack(
        [chebyshev.chebvander(u, DEGREE), RATED * chebyshev.chebvander(u, DEGREE - 1) @ slopes]
    )
    values = np.vstack([known[0][1].T, RATED * known[1][1].T])
    curves = np.linalg.lstsq(base, values)[0]
    t = np.linspace(start, start + length, SAMPLES)
    u = scale * (t - start) - 1
    found = [chebyshev.chebval(u, chebyshev.chebder(curves, k, scale, axis=0)) for k in range(3)]
    return t, tuple(found)


KINDS = ("value", "speed")


def rows(table: Table, endings: Sequence[str]) -> np.ndarray:
    """Return the columns (k, N) of a table whose labels end so."""
    places = [next(k for k, each in enumerate(table.labels) if each.endswith(e)) for e in endings]
    return np.array([table.values[place] for place in places])


def along_reference(model: Path) -> tuple[MuscleExcitations, float]:
    """Return the muscles along the reference's motion, and the processor time (s) with reading and
    dynamics."""
    begun, folder = time.process_time(), model.parent
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # looks, and curves of muscles
        tree = load_model(model)
    muscles = [replace(e, fibre_strain=NO_FIBRES, smoothing=SWITCH) for e in muscles_of(tree)]
    bare = replace(tree, elements=())
    names = [joint.name for joint in bare.moving]
    t, (q, qd, qdd) = motion(read_table(folder / REFERENCE), names)
    forces = wrenches(read_table(folder / PLATES))
    feet = {plate: f"calcn_{plate[-1]}" for plate in forces.values}
    moments = measured_torques(bare, t, q, qd, qdd, forces, feet)
    whole = replace(tree, elements=tuple(muscles))
    given = {"joints": names, "reserves": RESERVES, "intervals": INTERVALS}
    found = muscle_excitations(whole, t, q, moments, **given)
    return found, time.process_time() - begun


def table_of(model: Path) -> Iterator[str]:
    """Yield the lines: terms of both, and how far states are apart."""
    reference = read_table(model.parent / REFERENCE)
    found, seconds = along_reference(model)
    solution = found.solution
    yield f"ocp: {seconds:.1f} s, {solution.statistics['iterations']} iterations, {solution.status}"
    terms = {name: weight * value for name, value, weight in solution.terms}
    rates = terms.pop("tendon rates")
    ours = {"effort": sum(terms.values()), "rates": rates, "all": solution.objective}
    yield from (apart(name, ours[name], value) for name, value in stated(reference).items())
    for kind, ending in (("activation", "activation"), ("force", "normalized_tendon_force")):
        states = found.states(kind, reference.t)
        theirs = rows(reference, [f"/{name}/{ending}" for name in states])
        both = np.array(list(states.values())), theirs
        rms = np.sqrt(np.mean((both[0] - both[1]) ** 2))
        alike = np.corrcoef(both[0].ravel(), both[1].ravel())[0, 1]
        yield f"{ending}: r {alike:.5f} over all {len(states)}, rms {rms:.4f}"


def stated(reference: Table) -> Mapping[str, float]:
    """Return the terms of the reference's objective, as the head of its file states them."""
    head = reference.header
    return {
        "effort": float(head["objective_excitation_effort"]),
        "rates": float(head["objective_auxiliary_derivatives"]),
        "all": float(head["objective"]),
    }


def apart(name: str, ours: float, theirs: float) -> str:
    """Return the line of a term of both."""
    return f"{name:8}{ours:10.5f}  reference {theirs:.5f}  {100 * (ours / theirs - 1):+.2f} %"


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the comparison."""
    given = moco.parse_command(__doc__, "Test/subject_walk_armless_18musc.osim", arguments)
    if given.model is None:
        print("model: give --model, a file of OpenSim's sources (not part of this package)")
        return
    for line in table_of(given.model):
        print(line, flush=True)


if __name__ == "__main__":
    main()
