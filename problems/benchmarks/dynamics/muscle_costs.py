"""Costs of derivatives of a step by 92 muscles beside the same step by torques.

    python -m problems.benchmarks.dynamics.muscle_costs [--order 4] [--tendon rigid] [--of effort]

The body is the human of 55 joints. Its muscles are made for this: 46 a side that cross the joints
which those of the legs and the trunk do in OpenSim's gait2392 (Delp et al. 1990), by polynomials of
random coefficients over these coordinates. They cost what true ones do, and move no true body.
Joints keep their drives. Jacobian and Hessian of both programs are evaluated by turns in one run,
in milliseconds of processor time, medians.
"""

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product
from math import factorial

import numpy as np

from ocp import Problem, Transcription
from ocp.mechanics.muscles import Muscle, PolynomialPath
from ocp.problems import gait
from ocp.problems.benchmarks.derivative_costs import microseconds
from ocp.problems.benchmarks.evaluation_costs import wholes
from ocp.transcription import transcribe_phase

ASKED = 3.0  # times the step by torques, at most
HIP, FOOT = ("hip_flex", "hip_abd", "hip_rot"), ("ankle_df", "ankle_inv")
TRUNK = ("spine1_flex", "spine1_lat", "spine1_rot")
CROSSED = {  # joints: muscles of a side that cross them
    HIP: 20,
    (*HIP, "knee_flex"): 7,
    ("knee_flex",): 4,
    ("knee_flex", *FOOT): 2,
    FOOT: 6,
    (*FOOT, "toe_ext"): 4,
    TRUNK: 3,
}
LENGTH, ARM, FALL = 0.3, 0.03, 0.3  # m, m, and of coefficients from order to order
STATED = {"effort": gait.effort_step, "walk": gait.problem}
PARTS = ("jacobian", "hessian")


def muscle_set(order: int, tendon: str = "rigid") -> tuple[Muscle, ...]:
    """Return 92 muscles with polynomial paths of an order."""
    random, made = np.random.default_rng(92), []
    for side, (joints, count) in product("rl", CROSSED.items()):
        names = joints if joints == TRUNK else tuple(f"{joint}_{side}" for joint in joints)
        powers = [
            each for each in product(range(order + 1), repeat=len(joints)) if sum(each) <= order
        ]
        scale = [
            ARM * FALL ** (sum(each) - 1) / np.prod([factorial(power) for power in each])
            for each in powers
        ]
        for k in range(count):
            coefficients = random.uniform(-1, 1, len(powers)) * scale
            coefficients[0] = LENGTH
            path = PolynomialPath(joints=names, exponents=powers, coefficients=coefficients)
            made.append(
                Muscle(
                    name=f"muscle_{len(made)}_{side}{k}",
                    path=path,
                    force=1000.0,
                    fibre=0.1,
                    slack=0.2,
                    pennation=0.2,
                    tendon=tendon,
                )
            )
    return tuple(made)


def with_muscles(problem: Problem, order: int, tendon: str) -> Problem:
    """Return a problem on a tree that has the muscles too; what speaks of symmetry and of single
    coordinates stays as it is."""
    tree = problem.tree
    elements = (*tree.elements, *muscle_set(order, tendon))
    return replace(problem, tree=replace(tree, elements=elements), symmetry=None)


def table(name: str, order: int, tendon: str) -> Iterator[str]:
    """Yield the lines of a problem: by torques, by muscles, and how many times that is."""
    plain = replace(STATED[name](), symmetry=None)
    settings = Transcription()
    both = [
        transcribe_phase(each, settings) for each in (plain, with_muscles(plain, order, tendon))
    ]
    functions = [wholes(each)[part] for each in both for part in PARTS]
    times = [each / 1000 for each in microseconds(functions)]
    sums = sum(times[:2]), sum(times[2:])
    yield f"{name:8} Jacobian (ms)  Hessian (ms)  both (ms)  variables"
    for label, (one, other), total, program in zip(
        ("torques", "muscles"), (times[:2], times[2:]), sums, both
    ):
        yield f"{label:8}{one:14.3f}{other:14.3f}{total:11.3f}{len(program.nlp.lower):11d}"
    yield f"times   {sums[1] / sums[0]:39.2f}  (at most {ASKED:g} asked)"


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--of", default="effort", help="problems, separated by commas")
    parser.add_argument("--order", type=int, default=4, help="of the polynomials")
    parser.add_argument("--tendon", default="rigid", choices=("rigid", "compliant"))
    given = parser.parse_args(arguments)
    for name in given.of.split(","):
        if name not in STATED:
            parser.error(f"of: expected some of {', '.join(STATED)}, got {name!r}")
        print("\n".join(table(name, given.order, given.tendon)), flush=True)


if __name__ == "__main__":
    main()
