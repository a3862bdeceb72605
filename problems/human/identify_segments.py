"""The masses of a person's segments from the force of the ground on lifts, beside those of tables.

Someone whose segments weigh otherwise than the tables say lifts a box of known mass, from the floor
and from a shelf; the motion, and force and moment under the feet, are measured (Venture, Ayusawa &
Nakamura 2009 identify people so). What was measured is simulated: lifts predicted for that person,
and noise. Lengths, and where in a segment its mass is, are taken as known.
"""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace

import casadi as ca
import numpy as np

from ocp import (
    BSpline,
    Fit,
    Instant,
    NotSolved,
    Parameter,
    Problem,
    Recording,
    Solver,
    fit,
    noisy,
    predict,
)
from ocp.cli import DONE, FAILED, exit_status
from ocp.mechanics import Matrix
from ocp.models.human import human, parsed, segment_masses, weighed
from ocp.problem import PointMass
from ocp.problems.lifting import TASK, Box
from ocp.problems.lifting import problem as lifting
from ocp.studies import markdown

BOX = 9.0  # kg
PERSON = "thigh.mass=12,upper_trunk.mass=10.5,upper_arm.mass=1.7"  # the true one's [assumed]
SHELF = {"start_height": 0.75, "start_ahead": 0.45}  # where the second lift starts (m)
RATE = 200.0  # samples in a second
SMOOTH = BSpline(points=11, degree=5)  # of the predicted lifts
FORCE, MOMENT = 1.0, 0.5  # N, N m: deviations of the plates' noise [assumed]


def statement(box: float = BOX) -> Problem:
    """Return the problem whose parameters are the masses of ten segments, of limbs one side's.

    Their values are those of the tables. Its output, `floor`, is the force (3, N) and the moment
    (3, N m) about the global origin under both feet, while the hands carry half of the box each.
    """
    asked = lifting(Box(mass=box), passive=False)
    body = replace(asked.tree, links=human(frozen=()).links)
    masses = {
        name: Parameter(f"{name}_mass", mass, "kg", lower=0.0)
        for name, mass in segment_masses(body).items()
    }
    return replace(
        asked,
        tree=weighed(body, masses),
        loads=tuple(PointMass(point=f"grip_{side}", mass=box / 2) for side in "rl"),
        constraints=(),
        outputs={"floor": floor},
    )


def floor(at: Instant) -> Matrix:
    """Return force (3, N) and moment (3, N m) of the ground under both feet."""
    return ca.vertcat(at.reaction.force(), at.reaction.moment())


def truth(segments: str = PERSON) -> dict[str, float]:
    """Return {parameter: mass (kg)} of a person of segments of his own."""
    masses = segment_masses(human(segments=parsed(segments), frozen=()))
    return {f"{name}_mass": mass for name, mass in masses.items()}


def lifted(segments: str, **where: float) -> Recording:
    """Return the motion of a predicted lift of such a person, smooth up to its accelerations.

    Raises NotSolved where the prediction fails.
    """
    flags = {"box": BOX, "segments": segments, "passive": False, **where}
    asked = replace(TASK.state(flags), motion=SMOOTH)
    solution = TASK.method(asked, TASK.transcription, Solver()).require(coarse=True)
    t = np.linspace(0.0, solution.duration, round(RATE * solution.duration) + 1)
    return Recording(t=t, q=solution.q(t), qd=solution.qd(t), qdd=solution.qdd(t), outputs={})


def measurable(problem: Problem, motion: Recording, masses: dict[str, float]) -> Recording:
    """Return the plates' measurements of a motion of someone with these masses, without noise."""
    return replace(
        motion,
        outputs=predict(problem, motion, masses, outputs=("floor",)),
        deviations={"floor": 3 * (FORCE,) + 3 * (MOMENT,)},
        bandwidth=RATE / 4,
    )


def identified(problem: Problem, recordings: Sequence[Recording]) -> Fit:
    """Return the masses found from recordings."""
    return fit(problem, recordings, free=tuple(truth()))


def table(answer: Fit, masses: dict[str, float]) -> str:
    """Return the masses found beside true ones and those of the tables, as text."""
    rows = []
    for each in answer.free:
        true, value, error = masses[each.name], answer.values[each.name], answer.errors[each.name]
        off = f"{(value - true) / error:+.2f}" if error else "at its bound"
        rows.append(
            (
                each.name.removesuffix("_mass"),
                *(f"{mass:.3f}" for mass in (each.value, true, value, error)),
                off,
            )
        )
    return markdown("", ("mass (kg)", "tables", "true", "found", "error", "off / error"), rows)


def run(arguments: Sequence[str] | None = None) -> int:
    """Print what is found, and return the exit status."""
    flags = _parser().parse_args(arguments)
    problem, masses = statement(), truth()
    print("predicts two lifts of the true person", file=sys.stderr)
    try:
        motions = [lifted(PERSON), lifted(PERSON, **SHELF)]
    except NotSolved as error:
        print(f"identify_segments: {error}", file=sys.stderr)
        return FAILED
    exact = [measurable(problem, motion, masses) for motion in motions]
    angles_alone = [
        replace(each, qd=None, qdd=None, encoder=flags.encoder or None) for each in exact
    ]
    measured = [noisy(each, flags.seed + k) for k, each in enumerate(angles_alone)]
    if flags.exact:
        measured = [replace(each, encoder=None) for each in measured]
    answer = identified(problem, measured)
    print(table(answer, masses), answer, sep="\n")
    return DONE


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m problems.identify_segments", description=__doc__, allow_abbrev=False
    )
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="of the noise (0)")
    parser.add_argument(
        "--encoder", type=float, default=0.0, metavar="X", help="noise of the angles (0 rad)"
    )
    parser.add_argument("--exact", action="store_true", help="take noisy angles as exact ones")
    return parser


if __name__ == "__main__":
    sys.exit(exit_status(run))
