"""Lifts one after the other, whose muscles tire: fatigued shares are carried from each to the next.

    python -m problems.benchmarks.dynamics.compare_fatigue [--lifts 20] [--mass 8] [--rest 2]

An arm of two links lifts a load in front of it and holds what height it has reached, by five
muscles of assumed sizes, whose motor units tire and recover by the elbow's rates (Frey-Law, Looft &
Heitsman 2012). Its last posture is free. Each lift is an optimum by itself: it does not spare for
those that come. What is least are cubed activations.
"""

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import exp

import numpy as np

from ocp import (
    BSpline,
    Constraint,
    Link,
    Point,
    Problem,
    Radau,
    Solution,
    Transcription,
    Tree,
    at_end,
    at_start,
    joint_limits,
    revolute,
    solve,
)
from ocp.mechanics.muscles import ELBOW, GivenPath, Muscle
from ocp.problem import muscle_effort

UPPER, FOREARM, DEPTH = 0.3, 0.3, 0.02  # m: links, and of inertia about their axis
MASSES = 2.0, 1.5  # kg
BEGIN, HEIGHT, TIME = (-1.3, 0.4), -0.05, 2.0  # rad; m above the shoulder; s
MUSCLES = {  # force (N), arms at shoulder and elbow (m)
    "deltoid": (1800.0, 0.04, 0.0),
    "latissimus": (1200.0, -0.04, 0.0),
    "biceps": (900.0, 0.02, 0.04),
    "brachialis": (1100.0, 0.0, 0.03),
    "triceps": (1200.0, 0.0, -0.025),
}
FIBRE, SLACK, MIDDLE = 0.15, 0.2, (-0.6, 0.9)  # m, m, and the posture of optimal length (rad)


@dataclass(frozen=True, slots=True, kw_only=True)
class Lift:
    """A lift of a sequence: its solution, and the largest activation and fatigued share."""

    solution: Solution
    activation: float
    fatigued: float


def arm(mass: float) -> Tree:
    """Return the arm with a load (kg) in its hand."""

    def length(arms: tuple[float, float]) -> GivenPath:
        crossed = [k for k in range(2) if arms[k]]
        return GivenPath(
            joints=[("shoulder", "elbow")[k] for k in crossed],
            function=lambda x: (
                SLACK
                + FIBRE
                - sum(arms[k] * (x[place] - MIDDLE[k]) for place, k in enumerate(crossed))
            ),
        )

    muscles = tuple(
        Muscle(name=name, path=length(arms), force=force, fibre=FIBRE, slack=SLACK, fatigue=ELBOW)
        for name, (force, *pair) in MUSCLES.items()
        for arms in [(pair[0], pair[1])]
    )
    own, carried = MASSES[1], MASSES[1] + mass
    centre = (own * FOREARM / 2 + mass * FOREARM) / carried
    spread = own * (FOREARM / 2 - centre) ** 2 + mass * (FOREARM - centre) ** 2
    forearm = own * FOREARM**2 / 12 + spread
    upper = MASSES[0] * UPPER**2 / 12
    return Tree(
        links=(
            Link(mass=MASSES[0], com=(UPPER / 2, 0, 0), inertia=np.diag([DEPTH**2, upper, upper])),
            Link(mass=carried, com=(centre, 0, 0), inertia=np.diag([DEPTH**2, forearm, forearm])),
        ),
        joints=(
            revolute("shoulder", actuated=False, position=(-1.6, 1.0)),
            revolute("elbow", "shoulder", home=(UPPER, 0, 0), actuated=False, position=(0.0, 2.4)),
        ),
        points=(Point(name="hand", link="elbow", position=(FOREARM, 0, 0)),),
        gravity=(0, -9.81, 0),
        elements=muscles,
    )


def lift(tree: Tree, fatigued: dict[str, float]) -> Problem:
    """Return a lift that begins with fatigued shares of muscles."""
    still = {"shoulder": 0.0, "elbow": 0.0}
    begin = dict(zip(still, BEGIN)) | {f"{name}.fatigued": fatigued[name] for name in MUSCLES}
    return Problem(
        tree=tree,
        motion=BSpline(points=16),
        duration=TIME,
        objective=muscle_effort(tree, "activation", power=3),
        constraints=(
            *at_start(tree, q=begin, qd=still),
            *at_end(tree, qd=still),
            Constraint(
                name="height",
                function=lambda at: at.position("hand")[1],
                lower=HEIGHT,
                upper=HEIGHT,
                when=(0.5, 1.0),
            ),
            joint_limits(tree),
        ),
    )


def sequence(lifts: int, mass: float, rest: float) -> Iterator[Lift]:
    """Yield lifts of a mass (kg), the load put down and muscles at rest (s) in between."""
    tree = arm(mass)
    fatigued, before = dict.fromkeys(MUSCLES, 0.0), None
    settings = Transcription(method=Radau(intervals=16))
    for _ in range(lifts):
        before = solve(lift(tree, fatigued), settings, guess=before).require(coarse=True)
        rows = [tree.coordinate(f"{name}.fatigued") for name in MUSCLES]
        ends = before.q(before.duration)[rows]
        peaks = [
            before.q(before.times())[tree.coordinate(f"{name}.activation")].max()
            for name in MUSCLES
        ]
        yield Lift(solution=before, activation=max(peaks), fatigued=float(ends.max()))
        left = exp(-ELBOW.recovery * rest)
        fatigued = {name: float(share) * left for name, share in zip(MUSCLES, ends)}


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a line a lift."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lifts", type=int, default=20, help="how many")
    parser.add_argument("--mass", type=float, default=8.0, help="of the load (kg)")
    parser.add_argument("--rest", type=float, default=2.0, help="between lifts (s)")
    given = parser.parse_args(arguments)
    print("lift       J  activation  fatigued  shoulder (rad)  elbow (rad)")
    for k, each in enumerate(sequence(given.lifts, given.mass, given.rest)):
        shoulder, elbow = each.solution.q(each.solution.duration)[:2]
        print(
            f"{k + 1:4d}{each.solution.objective:8.4f}{each.activation:12.3f}{each.fatigued:10.4f}"
            f"{shoulder:16.4f}{elbow:13.4f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
