"""Excitations along the squat's own motion, by this package and by MocoInverse.

    python -m problems.benchmarks.muscles.compare_inverse --model squatToStand_3dof9musc.osim

Nine muscles stand up from a squat (`ocp run squat_to_stand`). Through the motion that is predicted
a polynomial of time is laid, along which both look for the least squared excitations, with reserve
torques that count a unit at 2 N m, ours by `excitation_problem`.
MocoInverse runs in a process of its own, on the model of OpenSim Moco's example (not part of this
package), with muscles of the same numbers: once along OpenSim's own paths, whose lengths are some
mm off where two wraps act at once, and once along the polynomials that ours follow. Both count what
MocoInverse does: excitations, reserves, and squared rates of tendon forces (0.01). The polynomial
goes on for a tenth of a second before and after the motion, as straight as it may: polynomials
oscillate at their ends, and the splines that Moco lays through samples of it, whose third and
fourth derivatives are zero at their ends, are off there. Within the motion these are off by less
than 0.003 rad/s2. Seconds are of the processor, one thread.
"""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from ocp import HermiteSimpson, Problem, Solution, Solver, Transcription, measured_torques, solve
from ocp.mechanics.muscles import muscles_of
from ocp.models.human.muscles.squat_leg import squat_leg
from ocp.problems.benchmarks.muscles.moco import answer_of, parse_command
from ocp.problems.human.squat_to_stand import STRAIN, TASK, WIDTH
from ocp.problems.lab.muscles.muscle_excitations import excitation_problem

RESERVE = 2.0  # N m that count one
DEGREE, SAMPLES = 60, 241  # of the polynomials of time, and of the table that Moco is given
MARGIN = 0.1  # s, by which both go on before and after the motion
CURVED, STRAIGHT = 1e-3, 1e-5  # s2, weights of accelerations beside places, within and beyond
JOINTS = ("ankle", "knee", "hip")
COORDINATES = {  # of Moco's model, and the joints that they are
    "ankle_angle_r": "ankle",
    "knee_angle_r": "knee",
    "knee_angle_r_beta": "knee",
    "hip_flexion_r": "hip",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Motion:
    """Polynomials for each of `JOINTS` over a `duration` (s) and a `margin` (s) before and after:
    `coefficients` (3, degree + 1) of Chebyshev's, upwards."""

    coefficients: np.ndarray
    duration: float
    margin: float = 0.0

    @property
    def scale(self) -> float:
        """Rate (1/s) of the polynomials' argument, which goes from -1 to 1."""
        return 2 / (self.duration + 2 * self.margin)

    def places(self, t: np.ndarray, order: int = 0) -> np.ndarray:
        """Return the coordinates (3, N), or derivatives of an order, at times (s)."""
        chebyshev = np.polynomial.chebyshev
        rows = chebyshev.chebder(self.coefficients, order, self.scale, axis=1)
        return chebyshev.chebval(self.scale * (t - self.duration / 2), rows.T)


def fitted_motion(solution: Solution) -> tuple[Motion, float]:
    """Return polynomials through a solution's joints, and how far they are off (rad) at most.

    They are fitted to places and accelerations within the motion, and to no acceleration beyond.
    """
    duration, n = solution.duration, len(JOINTS)
    begin = Motion(coefficients=np.zeros((n, DEGREE + 1)), duration=duration, margin=MARGIN)
    t = np.linspace(0.0, duration, 20 * DEGREE)
    aside = np.linspace(0.0, MARGIN, DEGREE)
    beyond = np.concatenate([-aside, duration + aside])
    rows = np.vstack(
        [
            _monomials(begin, t, 0),
            CURVED * _monomials(begin, t, 2),
            STRAIGHT * _monomials(begin, beyond, 2),
        ]
    )
    q, qdd = solution.q(t)[:n].T, solution.qdd(t)[:n].T
    values = np.vstack([q, CURVED * qdd, np.zeros((len(beyond), n))])
    motion = replace(begin, coefficients=np.linalg.lstsq(rows, values)[0].T)
    return motion, float(np.abs(motion.places(t) - q.T).max())


def _monomials(motion: Motion, t: np.ndarray, order: int) -> np.ndarray:
    """Return the derivatives (times, degree + 1) of Chebyshev's polynomials at times."""
    chebyshev = np.polynomial.chebyshev
    x = motion.scale * (t - motion.duration / 2)
    slopes = chebyshev.chebder(np.eye(DEGREE + 1), order, motion.scale, axis=0)
    return chebyshev.chebvander(x, DEGREE - order) @ slopes


def along_clock(motion: Motion, duration: float, degree: int = DEGREE) -> Problem:
    """Return the problem of the least excitations along a motion, on a clock that runs."""
    t = np.linspace(0.0, duration, 20 * degree)
    q, qd, qdd = (motion.places(t, order) for order in range(3))
    bodies = squat_leg((1.0, 1.0, 1.0))  # without muscles
    moments = measured_torques(bodies, t, q, qd, qdd)
    leg = squat_leg(width=WIDTH, fibre_strain=STRAIN)
    reserves = dict.fromkeys(JOINTS, RESERVE)
    return excitation_problem(leg, t, q, moments, joints=JOINTS, reserves=reserves, degree=degree)


def polynomials() -> dict[str, dict]:
    """Return the paths of the muscles by name, as OpenSim's polynomials of total degree have them:
    their terms are in the order of ours."""
    names = {joint: coordinate for coordinate, joint in reversed(COORDINATES.items())}
    return {
        f"{muscle.name}_r": {
            "coordinates": [names[joint] for joint in muscle.path.joints],
            "order": int(np.sum(muscle.path.exponents, axis=1).max()),
            "coefficients": list(muscle.path.coefficients),
        }
        for muscle in muscles_of(squat_leg())
    }


def by_moco(
    model: Path, motion: Motion, duration: float, mesh: float, paths: dict[str, dict]
) -> dict:
    """Return the result of MocoInverse along a motion, from a process of its own, with polynomial
    `paths` of some muscles."""
    t = np.linspace(-motion.margin, duration + motion.margin, SAMPLES)
    known = dict(zip(JOINTS, motion.places(t)))
    request = {
        "model": str(model.resolve()),
        "times": t.tolist(),
        "ends": (0.0, duration),
        "motion": {name: known[joint].tolist() for name, joint in COORDINATES.items()},
        "settings": {
            "active_force_width_scale": WIDTH,
            "passive_fiber_strain_at_one_norm_force": STRAIN,
            "fiber_damping": muscles_of(squat_leg())[0].damping,
        },
        "paths": paths,
        "reserve": RESERVE,
        "mesh": mesh,
    }
    return answer_of("inverse_by_moco", request)[0]


def table(model: Path | None, intervals: int) -> Iterator[str]:
    """Yield the lines: the prediction, and both along its motion."""
    predicted = TASK.method(TASK.problem(), TASK.transcription, Solver())
    motion, off = fitted_motion(predicted)
    yield f"motion: polynomials of degree {DEGREE}, within {off:.1e} rad of the one predicted"
    heads = ("excitations", "reserves", "rates", "all", "iterations", "seconds")
    yield f"{'':24}" + "".join(f"{head:>12}" for head in heads)
    problem = along_clock(motion, predicted.duration)
    begun = time.process_time()
    ours = solve(problem, Transcription(method=HermiteSimpson(intervals=intervals)))
    seconds = time.process_time() - begun
    terms = [weight * value for _, value, weight in ours.terms]
    word = "" if ours.success else f"  {ours.status}"
    yield row("ocp", terms, ours.statistics["iterations"], seconds, word)
    if model is None:
        return
    mesh = predicted.duration / intervals
    for which, paths in (("own paths", {}), ("our paths", polynomials())):
        moco = by_moco(model, motion, predicted.duration, mesh, paths)
        word = "" if moco["success"] else "  not converged"
        yield row(f"MocoInverse, {which}", moco["terms"], moco["iterations"], moco["seconds"], word)


def row(name: str, terms: Sequence[float], count: int, seconds: float, word: str) -> str:
    """Return the line of a solve: terms of the objective, their sum, iterations and seconds."""
    numbers = "".join(f"{value:12.4f}" for value in (*terms, sum(terms)))
    return f"{name:24}{numbers}{count:12d}{seconds:12.1f}{word}"


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table."""
    given = parse_command(__doc__, "squatToStand_3dof9musc.osim", arguments, intervals=20)
    for line in table(given.model, given.intervals):
        print(line, flush=True)


if __name__ == "__main__":
    main()
